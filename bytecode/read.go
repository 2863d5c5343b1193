package bytecode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// IsBytecode reports whether data starts as MLIR bytecode does.
func IsBytecode(data []byte) bool {
	return len(data) >= len(magic) && string(data[:len(magic)]) == magic
}

// Producer returns the producer and the format version in a bytecode file. ok is false for any other data.
func Producer(data []byte) (producer string, version int, ok bool) {
	defer func() {
		if _, isFault := recover().(fault); isFault {
			ok = false
		}
	}()
	if !IsBytecode(data) {
		return "", 0, false
	}
	c := cursor{data, len(magic), len(data)}
	v := c.uint()
	return c.cstring(), int(min(v, math.MaxInt32)), true
}

// cstring reads a string and its terminating zero byte.
func (c *cursor) cstring() string {
	n := bytes.IndexByte(c.data[c.pos:c.end], 0)
	if n < 0 {
		c.fail("expected a string that ends with a zero byte")
	}
	s := str(c.data[c.pos : c.pos+n])
	c.pos += n + 1
	return s
}

// Read returns the module of a bytecode file. It keeps operations, attributes and types of dialects that the registry
// of ctx does not know. The module refers to the bytes of src.
//
// The error is a *diag.Diagnostic with the offset in src.
func Read(src *diag.Source, ctx *ir.Context) (*ir.Module, error) {
	return ReadPart(src, 0, len(src.Text()), ctx)
}

// ReadPart is like Read for the bytes of src from offset start up to end.
func ReadPart(src *diag.Source, start, end int, ctx *ir.Context) (m *ir.Module, err error) {
	return ReadAs(src, start, end, ctx, nil)
}

// Translator converts the ops of a file while it is read.
type Translator interface {
	// Accept reports whether the translator can convert a file with ops of these kinds.
	Accept(defs []*ir.Def) bool
	// Op returns the definition and attributes of the converted op. def and attrs are the original's; parent is the
	// kind of the converted enclosing op.
	Op(def *ir.Def, attrs ir.AttrList, parent *ir.Def) (*ir.Def, ir.AttrList, error)
	// Type returns the converted type of a value of type t, or the error of values of this type.
	Type(t ir.Type) (converted ir.Type, problem string)
}

// ErrRefused says that a translator does not accept a file or module.
var ErrRefused = errors.New("the translator does not accept the operations")

// ReadAs is like ReadPart, but the translator that translate returns converts the ops. A nil function converts none.
// ReadAs returns ErrRefused if the translator does not accept the ops of the file.
func ReadAs(src *diag.Source, start, end int, ctx *ir.Context, translate func(m *ir.Module) Translator) (m *ir.Module, err error) {
	r := &reader{cursor: cursor{src.Text(), start, end}, start: start, src: src, ctx: ctx, reg: ctx.Registry(), translate: translate}
	defer func() {
		switch x := recover().(type) {
		case nil:
		case fault:
			m, err = nil, diag.Errorf(src, diag.At(x.off), "%s", x.msg)
		case refusal:
			m, err = nil, ErrRefused
		default:
			// A bug in this package or in a hook of a dialect: return an error with the offset instead of the panic.
			m, err = nil, diag.Errorf(src, diag.At(r.pos), "internal error while reading: %v", x)
		}
	}()
	r.file()
	return r.m, nil
}

// maxDepth limits the nesting of regions, types, attributes and locations.
const maxDepth = 10000

// refusal is the panic value if the translator does not accept the ops.
type refusal struct{}

// reader reads one file.
type reader struct {
	cursor
	start int // offset of the file in src
	src   *diag.Source
	ctx   *ir.Context
	reg   *ir.Registry
	m     *ir.Module

	translate  func(m *ir.Module) Translator
	translator Translator // nil for none

	version  int
	producer string
	strings  []string
	dialects []dialect
	ops      []opName
	attrs    []attrEntry
	types    []typeEntry
	props    []span
	handles  []resource

	depth    int
	distinct int   // distinct attributes read so far
	copied   int64 // bytes of text that attributes and types hold
	locs     ir.LocTable
	irReader
}

// span is a part of the file.
type span struct{ pos, end int }

// dialect is one dialect of the file.
type dialect struct {
	name    string
	version []uint64 // nil for none
	known   *ir.Dialect
}

// resource is one handle of a dialect's resource.
type resource struct {
	dialect string
	key     string
}

// section reads the header of a section and returns its number and its bytes.
func (c *cursor) section() (id int, data cursor) {
	b := c.byte()
	n := c.uint()
	if b&0x80 != 0 {
		at := c.pos
		align := c.uint()
		c.checkAlignment(at, align)
		for uint64(c.pos)%align != 0 {
			if c.byte() != pad {
				c.pos--
				c.fail("expected padding up to a multiple of %d", align)
			}
		}
	}
	body := c.take(n)
	return int(b & 0x7f), cursor{c.data, c.pos - len(body), c.pos}
}

// checkAlignment fails at a position unless align is a power of two.
func (c *cursor) checkAlignment(at int, align uint64) {
	if align == 0 || align&(align-1) != 0 || align > 1<<31 {
		c.failAt(at, "alignment %d is not a power of two", align)
	}
}

// file reads a whole file.
func (r *reader) file() {
	if r.pos += len(magic); r.pos > r.end || !IsBytecode(r.data[r.start:]) {
		r.failAt(r.start, "expected MLIR bytecode, which starts with ML\\xEFR")
	}
	at := r.pos
	v := r.uint()
	if v > maxVersion {
		r.failAt(at, "bytecode version %d is newer than version %d, the newest that hlocb reads", v, maxVersion)
	}
	r.version = int(v)
	r.producer = r.cstring()
	var secs [numSections]*cursor
	for !r.empty() {
		at := r.pos
		id, c := r.section()
		if id >= numSections || id == secDialectVersions {
			r.failAt(at, "unknown section %d", id)
		}
		if secs[id] != nil {
			r.failAt(at, "section %d appears twice", id)
		}
		secs[id] = &c
	}
	for id, c := range secs {
		need := id <= secIR || id == secProperties && r.version >= 5
		if c == nil && need {
			r.fail("section %d is missing", id)
		}
	}
	if (secs[secResources] == nil) != (secs[secResourceOffsets] == nil) {
		r.fail("a file has both section %d and section %d, or neither", secResources, secResourceOffsets)
	}
	r.m = ir.NewModule(r.ctx, r.src)
	r.readStrings(secs[secStrings])
	r.readDialects(secs[secDialects])
	if r.translate != nil {
		defs := make([]*ir.Def, len(r.ops))
		for i := range r.ops {
			defs[i] = r.kind(i).def
		}
		if r.translator = r.translate(r.m); !r.translator.Accept(defs) {
			panic(refusal{})
		}
	}
	if r.version >= 5 {
		r.readProperties(secs[secProperties])
	}
	if c := secs[secResourceOffsets]; c != nil {
		r.readResources(c, secs[secResources])
	}
	r.readAttrTypes(secs[secAttrTypeOffsets], secs[secAttrTypes])
	if r.translator != nil {
		for i := range r.types {
			e := &r.types[i]
			e.typ, e.problem = r.translator.Type(e.typ)
		}
	}
	r.readIR(secs[secIR])
}

// done fails if bytes are left in a section.
func (c *cursor) done(noun string) {
	if !c.empty() {
		c.fail("%d unexpected bytes at the end of %s", c.end-c.pos, noun)
	}
}

// readStrings reads the strings: their lengths in reverse order, including the zero byte, then their bytes.
func (r *reader) readStrings(c *cursor) {
	n := c.count()
	lengths := make([]uint64, n)
	for i := range lengths {
		lengths[n-1-i] = c.uint()
	}
	r.strings = make([]string, n)
	for i, l := range lengths {
		b := c.take(l)
		if l == 0 || b[l-1] != 0 {
			c.fail("expected a string that ends with a zero byte")
		}
		r.strings[i] = str(b[:l-1])
	}
	c.done("the strings")
}

// string reads the number of a string and returns the string.
func (r *reader) string(c *cursor) string { return r.strings[c.index(len(r.strings), "string")] }

// readDialects reads the dialects, and the names of the ops in one group per dialect.
func (r *reader) readDialects(c *cursor) {
	n := c.count()
	r.dialects = make([]dialect, n)
	for i := range r.dialects {
		d := &r.dialects[i]
		if r.version == 0 {
			d.name = r.string(c)
		} else {
			at := c.pos
			name, versioned := c.flagged()
			d.name = r.strings[c.below(at, name, len(r.strings), "string")]
			if versioned {
				at := c.pos
				id, v := c.section()
				if id != secDialectVersions {
					c.failAt(at, "expected section %d with the version of dialect %q", secDialectVersions, d.name)
				}
				d.version = []uint64{}
				for !v.empty() {
					d.version = append(d.version, v.uint())
				}
			}
		}
		if r.reg != nil {
			d.known = r.reg.Dialect(d.name)
		}
	}
	if r.version >= 4 {
		r.ops = make([]opName, 0, c.count())
	}
	for !c.empty() {
		d := c.index(n, "dialect")
		for range c.count() {
			at := c.pos
			name, registered := c.uint(), true
			if r.version >= 5 {
				name, registered = name>>1, name&1 != 0
			}
			full := r.dialects[d].name // of an op whose name has no dot
			if rest := r.strings[c.below(at, name, len(r.strings), "string")]; rest != "" {
				full += "." + rest
			}
			if full == "" {
				c.failAt(at, "an operation without a name")
			}
			r.ops = append(r.ops, opName{name: full, registered: registered, dialect: d})
		}
	}
}

// readProperties locates the properties. They are read with their ops.
func (r *reader) readProperties(c *cursor) {
	r.props = make([]span, c.count())
	for i := range r.props {
		b := c.take(c.uint())
		r.props[i] = span{c.pos - len(b), c.pos}
	}
	c.done("the properties")
}

// Kinds of resources.
const (
	resourceBlob = iota
	resourceBool
	resourceString
)

// readResources reads the resources: offsets holds groups of keys, and data holds their contents.
func (r *reader) readResources(offsets, data *cursor) {
	external := offsets.count()
	var all []ir.Resource
	for group := 0; !offsets.empty(); group++ {
		res := ir.Resource{Section: "external_resources"}
		if group < external {
			res.Dialect = r.string(offsets)
		} else {
			res.Section = "dialect_resources"
			res.Dialect = r.dialects[offsets.index(len(r.dialects), "dialect")].name
		}
		for range offsets.count() {
			res.Key = r.string(offsets)
			size := offsets.uint()
			kind := offsets.byte()
			b := data.take(size)
			if group >= external {
				r.handles = append(r.handles, resource{res.Dialect, res.Key})
				if size == 0 { // declared without data
					continue
				}
			}
			body := cursor{data.data, data.pos - len(b), data.pos}
			res.Text = r.resource(&body, kind)
			all = append(all, res)
		}
	}
	data.done("the resources")
	r.m.SetResources(all)
}

// resource reads one resource and returns its text.
func (r *reader) resource(c *cursor, kind byte) string {
	switch kind {
	case resourceBlob:
		align := c.uint()
		size := c.uint()
		if align == 0 && size == 0 { // as MLIR writes an empty resource
			align = 1
		}
		c.checkAlignment(c.pos, align)
		for uint64(c.pos)%align != 0 {
			c.byte()
		}
		head := binary.LittleEndian.AppendUint32(nil, uint32(align))
		text := tensor.AppendHex(tensor.AppendHex([]byte(`"0x`), head), c.take(size))
		c.done("a resource")
		return string(append(text, '"'))
	case resourceBool:
		if c.byte() != 0 {
			return "true"
		}
		return "false"
	case resourceString:
		return mlirtext.Quote(r.string(c))
	}
	c.fail("unknown kind %d of a resource", kind)
	return ""
}

// maxExpansion limits the length of the text of one attribute or type, and of all text that is copied. Without a limit,
// a few bytes can name a type with 2 to the 50 parts. Uses of an attribute share it, so they have no limit. The limit
// is four times as large as that of a text, since each part counts with the bytes of its encoding, too.
func (r *reader) maxExpansion() int64 { return 1<<30 + 32*int64(r.end-r.start) }

func (r *reader) deeper(c *cursor) {
	if r.depth++; r.depth > maxDepth {
		c.fail("nesting is deeper than %d levels", maxDepth)
	}
}
