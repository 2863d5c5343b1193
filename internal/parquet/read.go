package parquet

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// File is a table that Open has opened.
type File struct {
	r      io.ReaderAt
	size   int64
	fields []Field
	groups []readGroup
}

type readGroup struct {
	rows   int64
	chunks []chunk
}

// errFooter is the error of a file that has no footer.
var errFooter = errors.New("the Parquet file has no footer")

// Open reads the footer of a file of fields, which are all that it may have. If the process that wrote the file was
// killed while it appended a footer, Open reads the footer before it. A file that ends before the first footer has no
// rows.
func Open(r io.ReaderAt, size int64, fields []Field) (*File, error) {
	if size == int64(len(Magic)) {
		return &File{}, nil
	}
	f := &File{r: r, size: size, fields: fields}
	err := f.footer(size)
	// Each attempt may read as much as the file has.
	for attempts := 0; errors.Is(err, errFooter) && attempts < 100; attempts++ {
		var older int64
		if older, err = lastMagic(r, size-1); err == nil {
			size = older
			err = f.footer(size)
		}
		if older == 0 {
			return nil, errFooter
		}
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// lastMagic returns the end of the last Magic before position end, or 0.
func lastMagic(r io.ReaderAt, end int64) (int64, error) {
	const step = 1 << 16
	for end > int64(len(Magic)) {
		at := max(end-step, 0)
		part := make([]byte, end-at)
		if _, err := r.ReadAt(part, at); err != nil {
			return 0, err
		}
		if i := bytes.LastIndex(part, []byte(Magic)); i >= 0 && at+int64(i) > 0 {
			return at + int64(i+len(Magic)), nil
		}
		if at == 0 {
			break
		}
		end = at + int64(len(Magic)) - 1
	}
	return 0, nil
}

// footer reads the footer that ends at a position.
func (f *File) footer(end int64) error {
	tail := int64(4 + len(Magic))
	var last [8]byte
	if end < int64(len(Magic))+tail {
		return errFooter
	}
	if _, err := f.r.ReadAt(last[:], end-tail); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(last[:]))
	if string(last[4:]) != Magic || n > end-tail-int64(len(Magic)) {
		return errFooter
	}
	b := make([]byte, n)
	if _, err := f.r.ReadAt(b, end-tail-n); err != nil {
		return err
	}
	r := reader{b: b}
	var schema []element
	f.groups = nil
	r.object(thriftStruct, func(id int16, kind byte) bool {
		switch id {
		case 2:
			r.list(kind, func(kind byte) { schema = append(schema, r.element(kind)) })
		case 4:
			r.list(kind, func(kind byte) { f.groups = append(f.groups, r.group(kind)) })
		default:
			return false
		}
		return true
	})
	if r.err != nil || len(schema) == 0 {
		return errFooter
	}
	return f.check(schema[1:])
}

// element is a column of the file.
type element struct {
	name             string
	stored, optional int64
}

func (r *reader) element(kind byte) (e element) {
	r.object(kind, func(id int16, kind byte) bool {
		switch id {
		case 1:
			e.stored = r.integer(kind)
		case 3:
			e.optional = r.integer(kind)
		case 4:
			e.name = r.text(kind)
		default:
			return false
		}
		return true
	})
	return e
}

func (r *reader) group(kind byte) (g readGroup) {
	r.object(kind, func(id int16, kind byte) bool {
		switch id {
		case 1:
			r.list(kind, func(kind byte) {
				var c chunk
				r.object(kind, func(id int16, kind byte) bool {
					if id == 3 {
						r.chunk(kind, &c)
					}
					return id == 3
				})
				g.chunks = append(g.chunks, c)
			})
		case 3:
			g.rows = r.integer(kind)
		default:
			return false
		}
		return true
	})
	return g
}

// chunk reads a ColumnMetaData.
func (r *reader) chunk(kind byte, c *chunk) {
	var dictionary int64
	r.object(kind, func(id int16, kind byte) bool {
		switch id {
		case 1:
			c.stored = r.integer(kind)
		case 3:
			r.list(kind, func(kind byte) { c.name += r.text(kind) })
		case 4:
			c.codec = r.integer(kind)
		case 5:
			c.values = r.integer(kind)
		case 7:
			c.size = r.integer(kind)
		case 9:
			c.offset = r.integer(kind)
		case 11:
			dictionary = r.integer(kind)
		default:
			return false
		}
		return true
	})
	if dictionary > 0 {
		c.offset = min(c.offset, dictionary)
	}
}

// check compares the columns of the file with the fields that it should have.
func (f *File) check(schema []element) error {
	const expected = "expected a table that hlocb has written"
	if len(schema) != len(f.fields) {
		return fmt.Errorf("the Parquet file has %d columns instead of %d: %s", len(schema), len(f.fields), expected)
	}
	for i, e := range schema {
		want := &f.fields[i]
		stored, _ := want.Kind.physical()
		if e.name != want.Name || e.stored != stored || (e.optional == 1) != want.Optional || e.optional > 1 {
			return fmt.Errorf("column %d of the Parquet file is %q, of another name or type than %q: %s", i+1, e.name, want.Name, expected)
		}
	}
	for _, g := range f.groups {
		if g.rows < 0 || g.rows > MaxRows || len(g.chunks) != len(f.fields) {
			return fmt.Errorf("a group of the Parquet file has %d rows of %d columns: %s", g.rows, len(g.chunks), expected)
		}
		for i := range g.chunks {
			c := &g.chunks[i]
			stored, _ := f.fields[i].Kind.physical()
			if c.name != f.fields[i].Name || c.stored != stored || c.values != g.rows || c.codec != codecNone && c.codec != codecGzip {
				return fmt.Errorf("column %q of a group of the Parquet file has the wrong type, number of rows or compression: %s", c.name, expected)
			}
			if c.offset < 0 || c.size < 0 || c.offset > f.size || c.size > f.size-c.offset {
				return fmt.Errorf("column %q of the Parquet file lies outside of the file", c.name)
			}
		}
	}
	return nil
}

// Groups returns the number of groups of rows.
func (f *File) Groups() int { return len(f.groups) }

// Read returns the columns and the number of rows of a group.
func (f *File) Read(group int) ([]Column, int, error) {
	g := &f.groups[group]
	out := make([]Column, len(f.fields))
	for i := range g.chunks {
		if err := f.column(&out[i], &f.fields[i], &g.chunks[i]); err != nil {
			return nil, 0, fmt.Errorf("column %s: %w", f.fields[i].Name, err)
		}
	}
	return out, int(g.rows), nil
}

// page is the header of a page.
type page struct {
	kind, uncompressed, compressed, values, encoding int64
}

func (r *reader) page() (p page) {
	r.object(thriftStruct, func(id int16, kind byte) bool {
		switch id {
		case 1:
			p.kind = r.integer(kind)
		case 2:
			p.uncompressed = r.integer(kind)
		case 3:
			p.compressed = r.integer(kind)
		case 5, 7:
			r.object(kind, func(id int16, kind byte) bool {
				switch id {
				case 1:
					p.values = r.integer(kind)
				case 2:
					p.encoding = r.integer(kind)
				default:
					return false
				}
				return true
			})
		default:
			return false
		}
		return true
	})
	return p
}

// column reads the pages of a column: at most one with a dictionary, and one with values.
func (f *File) column(out *Column, field *Field, c *chunk) error {
	b := make([]byte, c.size)
	if _, err := f.r.ReadAt(b, c.offset); err != nil {
		return err
	}
	r := reader{b: b}
	var dictionary []string
	for {
		p := r.page()
		if r.err != nil || p.compressed < 0 || p.compressed > int64(len(r.b)) || p.uncompressed < 0 || p.uncompressed > maxPage {
			return errPage
		}
		data, err := uncompressed(r.b[:p.compressed], c.codec, int(p.uncompressed))
		if err != nil {
			return err
		}
		r.b = r.b[p.compressed:]
		if p.kind == pageDictionary && field.Kind == String && dictionary == nil && p.encoding == encodingPlain {
			if dictionary, err = readDictionary(data, p.values); err != nil {
				return err
			}
			continue
		}
		if _, encoding := field.Kind.physical(); p.kind != pageData || p.values != c.values || p.encoding != encoding {
			return fmt.Errorf("a page of kind %d has %d values in encoding %d: expected a table that hlocb has written", p.kind, p.values, p.encoding)
		}
		return readPage(out, field, data, int(c.values), dictionary)
	}
}

// uncompressed returns the size bytes of a page.
func uncompressed(b []byte, codec int64, size int) ([]byte, error) {
	if codec == codecNone {
		if len(b) != size {
			return nil, errPage
		}
		return b, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, errPage
	}
	out, err := io.ReadAll(io.LimitReader(z, int64(size)+1))
	if err != nil || len(out) != size {
		return nil, errPage
	}
	return out, nil
}

// readDictionary reads n strings.
func readDictionary(b []byte, n int64) ([]string, error) {
	out := []string{}
	for len(b) >= 4 {
		size := int64(binary.LittleEndian.Uint32(b))
		b = b[4:]
		if size > int64(len(b)) || !utf8.Valid(b[:size]) {
			return nil, errPage
		}
		out = append(out, string(b[:size]))
		b = b[size:]
	}
	if len(b) > 0 || int64(len(out)) != n {
		return nil, errPage
	}
	return out, nil
}

// readPage reads the values of a page.
func readPage(out *Column, field *Field, b []byte, rows int, dictionary []string) error {
	n := rows
	if field.Optional {
		if len(b) < 4 {
			return errPage
		}
		size := int64(binary.LittleEndian.Uint32(b))
		b = b[4:]
		levels := make([]uint64, rows)
		if size > int64(len(b)) || readRuns(levels, b[:size], 1) != nil {
			return errPage
		}
		b = b[size:]
		out.Null = make([]bool, rows)
		for i, level := range levels {
			if out.Null[i] = level == 0; out.Null[i] {
				n--
			}
		}
	}
	switch field.Kind {
	case Double:
		values := make([]float64, n)
		if err := readSplit(values, b); err != nil {
			return err
		}
		out.Doubles = spread(values, out.Null)
	case String:
		if len(b) == 0 || b[0] > 32 {
			return errPage
		}
		indexes := make([]uint64, n)
		if err := readRuns(indexes, b[1:], int(b[0])); err != nil {
			return err
		}
		values := make([]string, n)
		for i, k := range indexes {
			if k >= uint64(len(dictionary)) {
				return errPage
			}
			values[i] = dictionary[k]
		}
		out.Strings = spread(values, out.Null)
	default:
		size := 8
		if field.Kind == Int32 {
			size = 4
		}
		values := make([]int64, n)
		if err := readDelta(values, b, size); err != nil {
			return err
		}
		out.Ints = spread(values, out.Null)
	}
	return nil
}

// spread returns the values in the places of rows that are not null.
func spread[T any](values []T, null []bool) []T {
	if len(values) == len(null) || null == nil {
		return values
	}
	out := slices.Grow([]T(nil), len(null))[:len(null)]
	k := 0
	for i, absent := range null {
		if !absent {
			out[i] = values[k]
			k++
		}
	}
	return out
}
