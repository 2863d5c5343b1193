package bytecode

import (
	"math"
	"slices"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// States of an attribute or type entry.
const (
	unread = iota
	reading
	read
)

// entry is the position of an attribute or type in the file.
type entry struct {
	span
	size    int64 // approximate length of its text, once read
	dialect int32
	coded   bool // in the dialect's binary form; otherwise as text
	state   uint8
}

type attrEntry struct {
	entry
	attr ir.Attr
}

type typeEntry struct {
	entry
	typ     ir.Type
	problem string // why values cannot have the type, for a translator; "" if they can
}

// readAttrTypes locates the attributes and types and reads them all.
func (r *reader) readAttrTypes(offsets, data *cursor) {
	numAttrs, numTypes := offsets.count(), offsets.count()
	if uint64(numAttrs)+uint64(numTypes) > uint64(offsets.end-offsets.pos) {
		offsets.fail("%d attributes and %d types, but %d bytes are left", numAttrs, numTypes, offsets.end-offsets.pos)
	}
	r.attrs = make([]attrEntry, numAttrs)
	r.types = make([]typeEntry, numTypes)
	next := func(list int, set func(i int) *entry) {
		for i := 0; i < list; {
			d := offsets.index(len(r.dialects), "dialect")
			for range offsets.count() {
				if i == list {
					offsets.fail("a group of attributes or types is too long")
				}
				size, coded := offsets.flagged()
				b := data.take(size)
				*set(i) = entry{span: span{data.pos - len(b), data.pos}, dialect: int32(d), coded: coded}
				i++
			}
		}
	}
	next(numAttrs, func(i int) *entry { return &r.attrs[i].entry })
	next(numTypes, func(i int) *entry { return &r.types[i].entry })
	offsets.done("the offsets of attributes and types")
	data.done("the attributes and types")
	for i := range r.types {
		r.typeAt(data, i)
	}
	for i := range r.attrs {
		r.attrAt(data, i)
	}
}

// attr reads the number of an attribute and returns the attribute.
func (r *reader) attr(c *cursor) ir.Attr {
	i := c.index(len(r.attrs), "attribute")
	if e := &r.attrs[i]; e.state == read {
		return e.attr
	}
	return r.attrAt(c, i)
}

// attrAt returns attribute i. c holds the reference to it.
func (r *reader) attrAt(c *cursor, i int) ir.Attr {
	e := &r.attrs[i]
	if r.begin(c, &e.entry, "attribute", i) {
		d := decoder{r: r, c: cursor{r.data, e.pos, e.end}}
		if e.coded {
			e.attr = d.codedAttr(&r.dialects[e.dialect])
		} else {
			e.attr = d.textAttr()
		}
		r.finish(&e.entry, &d, !r.keepsParts(e.attr))
	}
	return e.attr
}

func (r *reader) typeAt(c *cursor, i int) ir.Type {
	e := &r.types[i]
	if r.begin(c, &e.entry, "type", i) {
		d := decoder{r: r, c: cursor{r.data, e.pos, e.end}}
		if e.coded {
			e.typ = d.codedType(&r.dialects[e.dialect])
		} else {
			e.typ = d.textType()
		}
		r.finish(&e.entry, &d, !r.keepsParts(e.typ))
	}
	return e.typ
}

// begin reports whether an entry still has to be read, and marks it.
func (r *reader) begin(c *cursor, e *entry, noun string, i int) bool {
	switch e.state {
	case read:
		return false
	case reading:
		c.fail("%s %d is part of itself", noun, i)
	}
	e.state = reading
	r.deeper(c)
	return true
}

// keepsParts reports whether an attribute or type stores its parts, and no text of them.
func (r *reader) keepsParts(x any) bool {
	switch x := x.(type) {
	case *ir.ArrayAttr, *ir.DictAttr, *ir.TypeAttr, *ir.LocAttr, *ir.ComplexType, *ir.FunctionType, *ir.TupleType:
		return true
	case *ir.TensorType:
		return x.Encoding() == nil
	case *ir.DialectAttr:
		return x.Def() != nil && x.Def().Lazy
	case *ir.DialectType:
		d := r.m.Registry().Dialect(x.Dialect())
		return d != nil && slices.ContainsFunc(d.Types, func(t *ir.TypeDef) bool { return t.Parts != nil && t.Is(x) })
	}
	return false
}

// finish checks that an entry was read completely. text reports whether the entry stores its text.
func (r *reader) finish(e *entry, d *decoder, text bool) {
	d.c.done("an attribute or type")
	r.depth--
	e.state = read
	e.size = d.size + int64(e.end-e.pos) + 8
	if text && e.size > 1<<12 {
		if r.copied += e.size; r.copied > r.maxExpansion() {
			d.c.fail("more than %d bytes when the attributes and types are written out", r.maxExpansion())
		}
	}
}

// decoder reads one attribute or type. It implements ir.Coder.
type decoder struct {
	r    *reader
	c    cursor
	size int64 // total of the texts of its parts
}

func (d *decoder) Context() *ir.Context             { return d.r.ctx }
func (d *decoder) Failf(format string, args ...any) { d.c.fail(format, args...) }
func (d *decoder) Int(v *int64)                     { *v = d.c.int() }
func (d *decoder) Uint(v *uint64)                   { *v = d.c.uint() }
func (d *decoder) Len(v *int)                       { *v = d.c.count() }
func (d *decoder) String(v *string)                 { *v = d.r.string(&d.c); d.size += int64(len(*v)) }
func (d *decoder) Bytes(v *[]byte)                  { *v = d.c.take(d.c.uint()); d.size += int64(len(*v)) }

func (d *decoder) Bool(v *bool) {
	at := d.c.pos
	b := d.c.byte()
	if b > 1 {
		d.c.failAt(at, "expected 0 or 1, found %d", b)
	}
	*v = b == 1
}

func (d *decoder) Float64(v *float64) { *v = math.Float64frombits(uint64(d.c.int())) }

func (d *decoder) Bits(v *uint64, width int) {
	switch {
	case width <= 8:
		*v = uint64(d.c.byte())
	case width <= 64:
		*v = uint64(d.c.int())
	default:
		d.c.fail("a number of %d bits", width)
	}
}

func (d *decoder) Attr(v *ir.Attr) {
	at := d.c.pos
	i := d.c.index(len(d.r.attrs), "attribute")
	next := d.c.pos
	d.c.pos = at
	*v = d.r.attrAt(&d.c, i)
	d.c.pos = next
	d.grow(d.r.attrs[i].size)
}

// grow adds the length of a part's text.
func (d *decoder) grow(size int64) {
	if d.size += size; d.size > d.r.maxExpansion() {
		d.c.fail("more than %d bytes when the attribute or type is written out", d.r.maxExpansion())
	}
}

func (d *decoder) OptionalAttr(v *ir.Attr) {
	at := d.c.pos
	n, ok := d.c.flagged()
	if !ok {
		*v = nil
		return
	}
	i := d.c.below(at, n, len(d.r.attrs), "attribute")
	*v = d.r.attrAt(&d.c, i)
	d.grow(d.r.attrs[i].size)
}

func (d *decoder) Type(v *ir.Type) { *v = d.typ() }

// typ reads the number of a type and returns the type.
func (d *decoder) typ() ir.Type {
	i := d.c.index(len(d.r.types), "type")
	t := d.r.typeAt(&d.c, i)
	d.grow(d.r.types[i].size)
	return t
}

// attr reads the number of an attribute and returns the attribute.
func (d *decoder) attr() (a ir.Attr) {
	d.Attr(&a)
	return a
}

// string reads the number of a string and returns the string.
func (d *decoder) string() (s string) {
	d.String(&s)
	return s
}

func (d *decoder) Ints(v *[]int64) {
	n := d.c.count()
	*v = make([]int64, n)
	for i := range *v {
		(*v)[i] = d.c.int()
	}
}

func (d *decoder) Attrs(v *[]ir.Attr) {
	n := d.c.count()
	*v = make([]ir.Attr, n)
	for i := range *v {
		d.Attr(&(*v)[i])
	}
}

func (d *decoder) Types(v *[]ir.Type) {
	n := d.c.count()
	*v = make([]ir.Type, n)
	for i := range *v {
		d.Type(&(*v)[i])
	}
}

// part reads an attribute that must have type T.
func part[T ir.Attr](d *decoder, noun string) T {
	at := d.c.pos
	a := d.attr()
	t, ok := a.(T)
	if !ok {
		d.c.failAt(at, "expected %s, found the attribute %.100s", noun, a)
	}
	return t
}

// text returns the text of an entry without a binary form.
func (d *decoder) text() []byte {
	b := d.c.take(uint64(d.c.end - d.c.pos))
	if len(b) == 0 || b[len(b)-1] != 0 {
		d.c.fail("expected text that ends with a zero byte")
	}
	return b[:len(b)-1]
}

func (d *decoder) textAttr() ir.Attr {
	at := d.c.pos
	return d.parseAttr(at, d.text())
}

// parseAttr parses an attribute from the text of the entry at a position, or text that the decoder built.
func (d *decoder) parseAttr(at int, text []byte) ir.Attr {
	a, err := parse.Attr(diag.NewSource(d.r.src.Name(), text), d.r.ctx)
	if err != nil {
		d.c.failAt(at, "%s", message(err))
	}
	return a
}

func (d *decoder) textType() ir.Type {
	at := d.c.pos
	t, err := parse.Type(diag.NewSource(d.r.src.Name(), d.text()), d.r.ctx)
	if err != nil {
		d.c.failAt(at, "%s", message(err))
	}
	return t
}

// message returns the text of an error without its position, which refers to the attribute's text.
func message(err error) string {
	if d, ok := err.(*diag.Diagnostic); ok {
		return d.Message
	}
	return err.Error()
}

func (d *decoder) codedAttr(dia *dialect) ir.Attr {
	at := d.c.pos
	code := d.c.uint()
	switch {
	case dia.name == "builtin":
		if x := d.builtinAttr(code); x != nil {
			return x
		}
	case dia.known != nil:
		if x := d.rowAttr(dia.known, code); x != nil {
			return x
		}
	}
	d.c.failAt(at, "unknown code %d of an attribute of dialect %q", code, dia.name)
	return nil
}

func (d *decoder) codedType(dia *dialect) ir.Type {
	at := d.c.pos
	code := d.c.uint()
	switch {
	case dia.name == "builtin":
		if x := d.builtinType(code); x != nil {
			return x
		}
	case dia.known != nil:
		for _, row := range dia.known.Types {
			if b := binaryWith(row.Binary, code); b != nil {
				return readType(d, row, b)
			}
		}
	}
	d.c.failAt(at, "unknown code %d of a type of dialect %q", code, dia.name)
	return nil
}

// rowAttr reads an attribute of a dialect as its row defines. It returns nil if no row has the code.
func (d *decoder) rowAttr(dia *ir.Dialect, code uint64) ir.Attr {
	for _, row := range dia.Attrs {
		if b := binaryWith(row.Binary, code); b != nil {
			return readAttr(d, row, b)
		}
	}
	for _, row := range dia.Enums {
		if binaryWith(row.Binary, code) == nil {
			continue
		}
		v := d.c.uint()
		if v >= uint64(len(row.Cases)) || row.Cases[v] == "" {
			d.c.fail("%d is not a case of %s.%s", v, row.Dialect, row.Name)
		}
		return ir.NewEnum(row, int(v))
	}
	return nil
}

// binaryWith returns the form with the given code, or nil.
func binaryWith(forms []ir.Binary, code uint64) *ir.Binary {
	for i := range forms {
		if uint64(forms[i].Code) == code {
			return &forms[i]
		}
	}
	return nil
}
