package parquet

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Encoder writes groups of rows of a table, and footers that refer to them. The caller places them in a file: Magic,
// groups in any order with bytes of any kind between them, and a footer at the end.
type Encoder struct {
	fields  []Field
	out     []byte
	page    []byte
	words   []uint64
	ints    []int64
	floats  []float64
	strings []string
	zip     *gzip.Writer
	zipped  bytes.Buffer
}

// Group describes an encoded group of rows.
type Group struct {
	Offset int64 // of its first byte in the file
	rows   int
	chunks []chunk
}

// NewEncoder returns an encoder of a table.
func NewEncoder(fields []Field) (*Encoder, error) {
	z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	return &Encoder{fields: fields, zip: z}, err
}

// Encode returns the bytes of a group of at most MaxRows rows. They are valid until the next call.
func (e *Encoder) Encode(columns []Column, rows int) ([]byte, *Group, error) {
	if rows > MaxRows || len(columns) != len(e.fields) {
		return nil, nil, fmt.Errorf("%d rows with %d columns, expected at most %d rows with %d columns", rows, len(columns), MaxRows, len(e.fields))
	}
	e.out = e.out[:0]
	g := &Group{rows: rows, chunks: make([]chunk, len(columns))}
	for i := range columns {
		start := len(e.out)
		c, err := e.column(&e.fields[i], &columns[i], rows)
		if err != nil {
			return nil, nil, err
		}
		c.offset, c.size = int64(start), int64(len(e.out)-start)
		g.chunks[i] = c
	}
	return e.out, g, nil
}

// column appends the pages of a column.
func (e *Encoder) column(f *Field, c *Column, rows int) (chunk, error) {
	out := chunk{name: f.Name, values: int64(rows)}
	var encoding int64
	out.stored, encoding = f.Kind.physical()
	e.page = e.page[:0]
	if f.Optional {
		e.levels(c.Null)
		for _, null := range c.Null {
			if null {
				out.absent++
			}
		}
	}
	var dictionary []byte
	entries := 0
	switch f.Kind {
	case Double:
		e.page = appendSplit(e.page, present(&e.floats, c.Doubles, c.Null))
	case String:
		dictionary, entries = e.text(present(&e.strings, c.Strings, c.Null))
	default:
		size := 8
		if f.Kind == Int32 {
			size = 4
		}
		values := present(&e.ints, c.Ints, c.Null)
		e.page = appendDelta(e.page, values, size)
		if len(values) > 0 {
			out.min = binary.LittleEndian.AppendUint64(nil, uint64(slices.Min(values)))[:size]
			out.max = binary.LittleEndian.AppendUint64(nil, uint64(slices.Max(values)))[:size]
		}
	}
	if len(e.page) > maxPage || len(dictionary) > maxPage {
		return out, fmt.Errorf("column %s of %d rows has more than %d bytes", f.Name, rows, maxPage)
	}
	// A chunk is compressed if that saves an eighth or more.
	e.zipped.Reset()
	parts := [2][]byte{dictionary, e.page}
	var ends [2]int
	for i, part := range parts {
		e.zip.Reset(&e.zipped)
		if _, err := e.zip.Write(part); err != nil {
			return out, err
		}
		if err := e.zip.Close(); err != nil {
			return out, err
		}
		ends[i] = e.zipped.Len()
	}
	stored := parts
	if plain := len(dictionary) + len(e.page); e.zipped.Len() < plain-plain/8 {
		out.codec = codecGzip
		stored = [2][]byte{e.zipped.Bytes()[:ends[0]], e.zipped.Bytes()[ends[0]:]}
	}
	start := len(e.out)
	if f.Kind == String {
		e.appendPage(pageDictionary, stored[0], len(dictionary), entries, encodingPlain)
		out.dictionary = int64(len(e.out) - start)
		out.uncompressed = int64(len(e.out) - start - len(stored[0]) + len(dictionary))
	}
	start = len(e.out)
	e.appendPage(pageData, stored[1], len(e.page), rows, encoding)
	out.uncompressed += int64(len(e.out) - start - len(stored[1]) + len(e.page))
	return out, nil
}

// appendPage appends a page with its header.
func (e *Encoder) appendPage(kind int64, data []byte, uncompressed, values int, encoding int64) {
	w := writer{b: e.out}
	w.element(func() {
		w.i32(1, kind)
		w.i32(2, int64(uncompressed))
		w.i32(3, int64(len(data)))
		id := int16(5) // DataPageHeader
		if kind == pageDictionary {
			id = 7
		}
		w.object(id, func() {
			w.i32(1, int64(values))
			w.i32(2, encoding)
			if kind == pageData {
				w.i32(3, encodingRLE)
				w.i32(4, encodingRLE)
			}
		})
	})
	e.out = append(w.b, data...)
}

// levels appends which rows have a value, after the number of bytes that say so.
func (e *Encoder) levels(null []bool) {
	e.words = e.words[:0]
	for _, absent := range null {
		level := uint64(1)
		if absent {
			level = 0
		}
		e.words = append(e.words, level)
	}
	start := len(e.page)
	e.page = appendRuns(append(e.page, 0, 0, 0, 0), e.words, 1)
	binary.LittleEndian.PutUint32(e.page[start:], uint32(len(e.page)-start-4))
}

// present returns the values that are not null. buffer keeps memory for them.
func present[T any](buffer *[]T, values []T, null []bool) []T {
	if null == nil {
		return values
	}
	out := (*buffer)[:0]
	for i, v := range values {
		if !null[i] {
			out = append(out, v)
		}
	}
	*buffer = out
	return out
}

// text appends the indexes of strings to the page and returns the bytes and the size of their dictionary.
func (e *Encoder) text(values []string) (dictionary []byte, entries int) {
	index := map[string]uint64{}
	e.words = e.words[:0]
	last, known := uint64(0), false
	for i, s := range values {
		if i == 0 || s != values[i-1] {
			if last, known = index[s]; !known {
				last = uint64(len(index))
				index[s] = last
				dictionary = append(binary.LittleEndian.AppendUint32(dictionary, uint32(len(s))), s...)
			}
		}
		e.words = append(e.words, last)
	}
	width := bits.Len(uint(max(len(index), 1) - 1))
	e.page = appendRuns(append(e.page, byte(width)), e.words, width)
	return dictionary, len(index)
}

// Footer returns the footer of a file with some groups.
func (e *Encoder) Footer(groups []Group) []byte {
	var w writer
	w.element(func() {
		w.i32(1, 2) // the version of the format
		w.list(2, thriftStruct, len(e.fields)+1, func(i int) {
			if i == 0 {
				w.element(func() {
					w.text(4, "schema")
					w.i32(5, int64(len(e.fields)))
				})
				return
			}
			w.element(func() { writeField(&w, &e.fields[i-1]) })
		})
		rows := int64(0)
		for i := range groups {
			rows += int64(groups[i].rows)
		}
		w.i64(3, rows)
		w.list(4, thriftStruct, len(groups), func(i int) { w.element(func() { e.writeGroup(&w, &groups[i], i) }) })
		w.text(6, "hlocb")
		w.list(7, thriftStruct, len(e.fields), func(int) { // the order of minima and maxima: that of the types
			w.element(func() { w.object(1, func() {}) })
		})
	})
	w.b = binary.LittleEndian.AppendUint32(w.b, uint32(len(w.b)))
	return append(w.b, Magic...)
}

// writeField writes a SchemaElement.
func writeField(w *writer, f *Field) {
	stored, _ := f.Kind.physical()
	w.i32(1, stored)
	optional := int64(0)
	if f.Optional {
		optional = 1
	}
	w.i32(3, optional)
	w.text(4, f.Name)
	switch f.Kind {
	case String:
		w.i32(6, 0) // UTF8, for old readers
		w.object(10, func() { w.object(1, func() {}) })
	case Time:
		w.object(10, func() {
			w.object(8, func() {
				w.field(1, thriftTrue)
				w.object(2, func() { w.object(3, func() {}) }) // nanoseconds
			})
		})
	}
}

// writeGroup writes a RowGroup.
func (e *Encoder) writeGroup(w *writer, g *Group, number int) {
	var size, uncompressed int64
	for i := range g.chunks {
		size += g.chunks[i].size
		uncompressed += g.chunks[i].uncompressed
	}
	w.list(1, thriftStruct, len(g.chunks), func(i int) {
		c := &g.chunks[i]
		at := g.Offset + c.offset
		w.element(func() {
			w.i64(2, at)
			w.object(3, func() {
				_, encoding := e.fields[i].Kind.physical()
				list := []int64{encoding, encodingRLE}
				if c.dictionary > 0 {
					list = append(list, encodingPlain)
				}
				w.i32(1, c.stored)
				w.list(2, thriftI32, len(list), func(k int) { w.b = binary.AppendVarint(w.b, list[k]) })
				w.list(3, thriftBinary, 1, func(int) { w.string(c.name) })
				w.i32(4, c.codec)
				w.i64(5, c.values)
				w.i64(6, c.uncompressed)
				w.i64(7, c.size)
				w.i64(9, at+c.dictionary)
				if c.dictionary > 0 {
					w.i64(11, at)
				}
				w.object(12, func() {
					w.i64(3, c.absent)
					if c.min != nil {
						w.text(5, string(c.max))
						w.text(6, string(c.min))
					}
				})
			})
		})
	})
	w.i64(2, uncompressed)
	w.i64(3, int64(g.rows))
	w.i64(5, g.Offset)
	w.i64(6, size)
	w.integer(7, thriftI16, int64(min(number, math.MaxInt16)))
}
