package hlo

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/wire"
)

// protoLevels limits the nesting of messages; each level of a shape, literal or sharding counts as one.
const protoLevels = 4096

// ParseProto reads an HloModuleProto, or an HloProto, HloSnapshot or HloUnoptimizedSnapshot that contains one, in
// binary or text form. It distinguishes them by the first field: a name in a module, a message in the others. The error
// is a diag.List with one finding, whose position is an offset in the file.
func ParseProto(src *diag.Source) (m *Module, err error) {
	defer catch(&err)
	data := src.Text()
	position := func(out int) int { return out }
	root := textRoot(data)
	if root != nil {
		t := &textProto{src: data, fail: func(at int, format string, args ...any) {
			panic(failure{diag.Errorf(src, diag.At(at), format, args...)})
		}}
		t.fields(root, 0)
		data, position = t.out, t.position
	}
	r := &wire.Reader{Base: data, Text: sharedText(data), Fail: func(at []byte, format string, args ...any) {
		off := 0
		if len(at) > 0 && len(data) > 0 {
			off = min(wire.OffsetOf(data, at), len(data)) // at may be merged from parts of data
		}
		panic(failure{diag.Errorf(src, diag.At(position(off)), format, args...)})
	}, Ints: new(slab[int64]).take}
	message, raw := data, []byte(nil)
	if root == nil {
		message, raw = cutRaw(data)
	}
	module, depth := unwrap(message, root)
	if module == nil {
		r.Fail(data, "this is not an HloModuleProto, HloProto or HloSnapshot")
	}
	c := wire.NewCoder(r)
	c.Load(module)
	d := &protoModule{m: &Module{src: src, replicas: 1, partitions: 1}, r: r}
	d.decode(c)
	d.snapshot(message, depth, raw)
	return d.m, nil
}

// isText reports whether s can be a name. Other messages have a message in the field of the name; its bytes start with
// a control character.
func isText(s []byte) bool {
	return !bytes.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == '�' })
}

// IsProto reports whether a file is a binary proto that ParseProto reads. head is the start of the file and may be
// truncated.
func IsProto(head []byte) bool {
	if isProto(head) {
		return true
	}
	size, n := protowire.ConsumeVarint(head) // see cutRaw
	return n > 0 && size > 0 && isProto(head[n:])
}

// isProto reports whether head is the start of a module or of a message around it.
func isProto(head []byte) bool {
	for range 3 {
		if isModule(head) {
			return true
		}
		num, typ, n := protowire.ConsumeTag(head)
		if n < 0 || num != 1 || typ != protowire.BytesType {
			return false
		}
		_, m := protowire.ConsumeVarint(head[n:])
		if m < 0 {
			return false
		}
		head = head[n+m:]
	}
	return false
}

// ProtoName returns the name of the message that a file is, such as HloSnapshot; "" if ParseProto does not read it.
func ProtoName(data []byte) string {
	if root := textRoot(data); root != nil {
		if root.name == "HloProto" && bytes.Contains(data, []byte("\npartitions ")) {
			return "HloUnoptimizedSnapshot"
		}
		return root.name
	}
	message, _ := cutRaw(data)
	if len(message) < len(data) {
		return "HloUnoptimizedSnapshot"
	}
	switch module, depth := unwrap(data, nil); {
	case module == nil:
		return ""
	case depth == 0:
		return "HloModuleProto"
	case depth == 2:
		return "HloSnapshot"
	}
	// An HloUnoptimizedSnapshot has partitions in field 2 or its version in field 3; there an HloProto has a message.
	for len(data) > 0 {
		num, typ, n := protowire.ConsumeField(data)
		if n < 0 {
			break
		}
		if num == 2 || num == 3 && typ == protowire.VarintType {
			return "HloUnoptimizedSnapshot"
		}
		data = data[n:]
	}
	return "HloProto"
}

// unwrap returns the HloModuleProto in data and how many messages are around it; nil if there is none. A module starts
// with its name, and its field 3 is a computation. An HloProto, HloSnapshot or HloUnoptimizedSnapshot starts with a
// message that is, or contains, the module. A text says which message it is: root.
func unwrap(data []byte, root *textMessage) (module []byte, depth int) {
	for depth := range 3 {
		if root == nil && isModule(data) || root != nil && [3]string{"HloModuleProto", "HloProto", "HloSnapshot"}[depth] == root.name {
			return data, depth
		}
		num, typ, n := protowire.ConsumeTag(data)
		if n < 0 || num != 1 || typ != protowire.BytesType {
			break
		}
		inner, m := protowire.ConsumeBytes(data[n:])
		if m < 0 {
			break
		}
		data = inner
	}
	return nil, 0
}

// isModule reports whether data has the first fields of an HloModuleProto: a name, an entry computation's name, and a
// computation.
func isModule(data []byte) bool {
	seen := 0
	for seen < 8 && len(data) > 0 {
		num, typ, n := protowire.ConsumeTag(data)
		if n < 0 {
			return false
		}
		switch num {
		case 1, 2:
			b, m := protowire.ConsumeBytes(data[n:])
			if typ != protowire.BytesType || m < 0 || !isText(b) {
				return false
			}
			data = data[n+m:]
		case 3:
			return typ == protowire.BytesType && startsComputation(data[n:])
		default:
			m := protowire.ConsumeFieldValue(num, typ, data[n:])
			if m < 0 {
				return false
			}
			data = data[n+m:]
		}
		seen++
	}
	return false
}

// startsComputation reports whether a field with a length holds a computation, which starts with its name or an
// instruction. The field may be truncated.
func startsComputation(data []byte) bool {
	_, n := protowire.ConsumeVarint(data)
	if n < 0 || n == len(data) {
		return n == len(data)
	}
	num, typ, _ := protowire.ConsumeTag(data[n:])
	return typ == protowire.BytesType && (num == 1 || num == 2)
}

// IsCompileOptions reports whether a file is a CompileOptionsProto, which XLA writes beside its dumps.
func IsCompileOptions(data []byte) bool {
	found := false
	for len(data) > 0 {
		num, typ, n := protowire.ConsumeTag(data)
		m := -1
		if n > 0 {
			m = protowire.ConsumeFieldValue(num, typ, data[n:])
		}
		if m < 0 || num > 100 {
			return false
		}
		if num == 3 && typ == protowire.BytesType { // executable_build_options: a device, a layout, debug options
			options, _ := protowire.ConsumeBytes(data[n:])
			num, typ, k := protowire.ConsumeTag(options)
			found = k > 0 && (num == 1 && typ == protowire.VarintType || num == 2 || num == 3)
		}
		data = data[n+m:]
	}
	return found
}

// protoModule is a module that is being read from or written to a proto.
type protoModule struct {
	m     *Module
	r     *wire.Reader
	comps map[int64]*computation

	calls []pendingCall
	level int

	shapes  map[string]*shape // shapes by their encoding
	encoded map[*shape][]byte // encodings of shapes
	renamed map[*instr]string // XLA's reader of protos requires names that are unique in the module
	known   map[string]*metadata
	slabs   slabs
	perComputation
	called   []int64  // computations that instructions call; calls refers to it
	payloads []string // texts that instructions name by index
}

// perComputation is memory that the computations share while they are decoded one after the other.
type perComputation struct {
	byID     idTable
	ids      []int64   // operands of the instructions
	operands [][]int64 // by instruction: parts of ids
}

// pendingCall is a call of computations by id. The computations may come after the call.
type pendingCall struct {
	in  *instr
	ids []int64
	raw []byte
}

func (d *protoModule) fail(at []byte, format string, args ...any) { d.r.Fail(at, format, args...) }

// fields visits the fields of an HloModuleProto other than its names and computations.
func (d *protoModule) fields(c *wire.Coder) {
	m := d.m
	c.Msg(4, m.layout != nil, func(c *wire.Coder) {
		if m.layout == nil {
			m.layout = &entryLayout{result: tuple()}
		}
		d.programShape(c, m.layout)
		var names []string
		if c.Encode {
			names = d.paramNames(m.entry)
		}
		c.Strs(3, &names)
	})
	c.Msg(8, len(m.aliases) > 0, func(c *wire.Coder) {
		wire.Messages(c, 1, &m.aliases, func(a *moduleAlias, c *wire.Coder) {
			a.fields(c)
			kind := int64(1)
			if a.must {
				kind = 2
			}
			if c.Int(4, &kind); !c.Encode {
				a.must = kind == 2
			}
		})
	})
	c.Msg(18, len(m.donors) > 0, func(c *wire.Coder) {
		wire.Messages(c, 1, &m.donors, func(x *donor, c *wire.Coder) {
			c.Int(1, &x.param)
			c.Ints(2, &x.index)
		})
	})
	t := &m.frames
	c.Msg(17, len(t.files)+len(t.functions)+len(t.locations)+len(t.frames) > 0, func(c *wire.Coder) {
		c.Strs(1, &t.files)
		c.Strs(2, &t.functions)
		wire.Messages(c, 3, &t.locations, func(l *fileLocation, c *wire.Coder) {
			c.Int(1, &l.file)
			c.Int(2, &l.function)
			c.Int(3, &l.line)
			c.Int(4, &l.column)
			c.Int(5, &l.endLine)
			c.Int(6, &l.endColumn)
		})
		wire.Messages(c, 4, &t.frames, func(f *stackFrame, c *wire.Coder) {
			c.Int(1, &f.location)
			c.Int(2, &f.parent)
		})
	})
	c.Msg(19, len(m.frontend) > 0, func(c *wire.Coder) { codePairs(c, &m.frontend) })
	c.Msg(20, len(m.recovery) > 0, func(c *wire.Coder) {
		wire.Messages(c, 1, &m.recovery, func(x *recovery, c *wire.Coder) {
			if x.replaced == nil {
				x.replaced, x.replacing = &originArray{}, &originArray{}
			}
			c.Msg(1, true, x.replaced.fields)
			c.Msg(2, true, x.replacing.fields)
			d.recoveryModule(c, x)
		})
	})
	wire.Messages(c, 24, &m.debug, (*DebugEntry).fields)
	c.Str(25, &m.config)
	if !c.Encode {
		m.debug = sortDebug(m.debug)
	}
}

// nameOf returns the name of in in the proto.
func (d *protoModule) nameOf(in *instr) string {
	if other, ok := d.renamed[in]; ok {
		return other
	}
	return in.name
}

func (d *protoModule) paramNames(c *computation) []string {
	var names []string
	for _, p := range c.params {
		names = append(names, d.nameOf(p))
	}
	return names
}

// recoveryModule codes the module that computes an original value; text holds it as text.
func (d *protoModule) recoveryModule(c *wire.Coder, x *recovery) {
	if c.Encode {
		if x.module == "" {
			return
		}
		if m, err := Parse(diag.NewSource("recovery module", []byte(x.module))); err == nil {
			c.Out = protowire.AppendBytes(protowire.AppendTag(c.Out, 3, protowire.BytesType), m.appendProto(nil))
		}
		return
	}
	if f := c.Get(3); f != nil {
		d.enter(c.Raw(f))
		m := &Module{src: d.m.src, replicas: 1, partitions: 1}
		inner := wire.NewCoder(d.r)
		inner.Load(c.BytesOf(f))
		(&protoModule{m: m, r: d.r, level: d.level}).decode(inner)
		d.level--
		x.module = string(m.AppendText(nil, TextOptions{}))
	}
}

func (d *protoModule) enter(at []byte) {
	if d.level++; d.level > protoLevels {
		d.fail(at, "messages are nested deeper than %d", protoLevels)
	}
}

func (a *originArray) fields(c *wire.Coder) {
	c.Str(1, &a.name)
	c.Ints(2, &a.index)
}

// codePairs codes a map from string to string.
func codePairs(c *wire.Coder, list *[]pair) {
	wire.Messages(c, 1, list, func(p *pair, c *wire.Coder) {
		c.Str(1, &p.key)
		c.Str(2, &p.value)
	})
	if !c.Encode {
		*list = sortPairs(*list)
	}
}

func (d *protoModule) programShape(c *wire.Coder, l *entryLayout) {
	d.shapeList(c, 1, &l.params)
	d.shapeField(c, 2, &l.result)
}

// shapeList codes a repeated field of shapes.
func (d *protoModule) shapeList(c *wire.Coder, num protowire.Number, list *[]*shape) {
	if c.Encode {
		for i := range *list {
			d.shapeField(c, num, &(*list)[i])
		}
		return
	}
	wire.Messages(c, num, list, func(s **shape, c *wire.Coder) { *s = d.shape(c) })
}

// shape decodes a ShapeProto.
func (d *protoModule) shape(c *wire.Coder) *shape {
	if known := d.shapes[string(c.Data)]; known != nil {
		return known
	}
	d.enter(nil)
	defer func() { d.level-- }()
	data := c.Data
	s := &shape{}
	d.shapeFields(c, s)
	d.shapes[string(data)] = s
	return s
}

// shapeField codes a field that holds a shape. Equal encodings give one shape.
func (d *protoModule) shapeField(c *wire.Coder, num protowire.Number, s **shape) bool {
	if c.Encode {
		if *s == nil {
			return false
		}
		c.Out = protowire.AppendBytes(protowire.AppendTag(c.Out, num, protowire.BytesType), d.encoding(*s))
		return true
	}
	f := c.Get(num)
	if f == nil {
		return false
	}
	c.Want(f, protowire.BytesType)
	if known := d.shapes[string(c.BytesOf(f))]; known != nil {
		*s = known
		return true
	}
	c.Read(f, func(c *wire.Coder) { *s = d.shape(c) })
	return true
}

// encoding returns the encoding of s.
func (d *protoModule) encoding(s *shape) []byte {
	data, ok := d.encoded[s]
	if !ok {
		c := &wire.Coder{Encode: true}
		d.shapeFields(c, s)
		data = c.Out
		d.encoded[s] = data
	}
	return data
}

func (d *protoModule) shapeFields(c *wire.Coder, s *shape) {
	elem := int64(s.elem)
	c.Int(2, &elem)
	if !c.Encode {
		if elem <= 0 || elem >= numTypes || typeRows[elem].name == "" {
			d.fail(nil, "unknown element type %d", elem)
		}
		s.elem = elementType(elem)
	}
	c.Ints(3, &s.dims)
	dynamic := s.dynamic
	if c.Encode && s.isArray() && dynamic == nil {
		dynamic = make([]bool, len(s.dims))
	}
	c.Bools(6, &dynamic)
	d.shapeList(c, 4, &s.elems)
	l := s.layout
	if c.Encode && l != nil && s.isArray() {
		own := *l // modules share layouts, and fields writes
		l = &own
	} else if c.Encode {
		l = nil
	}
	has := c.Msg(5, l != nil, func(c *wire.Coder) {
		if l == nil {
			l = &layout{tailPadding: 1}
		}
		l.fields(c)
	})
	if c.Encode {
		return
	}
	if slices.Contains(dynamic, true) {
		if len(dynamic) != len(s.dims) {
			d.fail(nil, "a shape has %d dimensions, but %d say whether they are dynamic", len(s.dims), len(dynamic))
		}
		s.dynamic = dynamic
	}
	switch {
	case s.elem == bufferType && (len(s.elems) != 1 || !s.elems[0].isArray()):
		d.fail(nil, "a buffer must hold one array")
	case !s.isArray() && len(s.dims) > 0, s.isArray() && len(s.elems) > 0:
		d.fail(nil, "a shape of type %s has dimensions and elements that do not belong to it", s.elem)
	case s.isArray() && !has:
		s.layout = defaultLayout(len(s.dims))
	case s.isArray():
		if len(l.minorToMajor) != len(s.dims) {
			d.fail(nil, "a layout of %d dimensions for %d dimensions", len(l.minorToMajor), len(s.dims))
		}
		seen := make([]bool, len(s.dims))
		for _, x := range l.minorToMajor {
			if x < 0 || x >= int64(len(seen)) || seen[x] {
				d.fail(nil, "the dimensions of a layout must be a permutation")
			}
			seen[x] = true
		}
		s.layout = l
	}
	for _, x := range s.dims {
		if x < 0 && x != unboundedSize {
			d.fail(nil, "a dimension has size %d", x)
		}
	}
}

func (l *layout) fields(c *wire.Coder) {
	c.Ints(1, &l.minorToMajor)
	wire.Messages(c, 6, &l.tiles, func(tile *[]int64, c *wire.Coder) { c.Ints(1, tile) })
	padding := l.tailPadding
	if padding == 1 && c.Encode {
		padding = 0
	}
	c.Int(16, &padding)
	if l.tailPadding = padding; padding == 0 {
		l.tailPadding = 1
	}
	c.Int(7, &l.elementBits)
	c.Int(8, &l.memorySpace)
	index, pointer := int64(l.indexType), int64(l.pointerType)
	c.Int(11, &index)
	c.Int(12, &pointer)
	l.indexType, l.pointerType = elementType(index%numTypes), elementType(pointer%numTypes)
	c.Int(15, &l.prefixBytes)
	wire.Messages(c, 17, &l.splits, func(s *splitConfig, c *wire.Coder) {
		c.Int(1, &s.dim)
		c.Ints(2, &s.indices)
	})
}

// AppendProto appends m as an HloModuleProto. It returns an error at the first instruction that a proto cannot express.
func (m *Module) AppendProto(b []byte) ([]byte, error) {
	if err := m.checkProto(); err != nil {
		return nil, err
	}
	return m.appendProto(b), nil
}

func (m *Module) appendProto(b []byte) []byte {
	c := &wire.Coder{Encode: true, Out: b}
	d := &protoModule{m: m, encoded: map[*shape][]byte{}}
	d.encode(c)
	return c.Out
}

// checkProto refuses modules that XLA cannot read as a proto: those with elided constants, with channel 0, which means
// no channel, with an end of a transfer whose operand is not a start, with composites that lack their attributes, and
// with constants and strings of more than 2 GiB, the largest length of a message.
func (m *Module) checkProto() error {
	if err := m.CheckElided(); err != nil {
		return err
	}
	size := 0
	for _, c := range m.comps {
		for _, in := range c.instrs {
			if size += in.dataSize(); size > math.MaxInt32 {
				return diag.Errorf(m.src, in.pos, "a proto has at most 2 GiB; the constants and strings up to here have %d bytes", size)
			}
			if why := noProto(in); why != "" {
				return diag.Errorf(m.src, in.pos, "a proto cannot hold %s: %s", in.opName(), why)
			}
		}
	}
	return nil
}

// dataSize returns the number of bytes of the literal and of the strings of in, which instructions can share.
func (in *instr) dataSize() int {
	n := 0
	if in.literal != nil {
		n = in.literal.size()
	}
	for i := range in.attrs {
		switch v := in.attrs[i].value.(type) {
		case string:
			n += len(v)
		case []pair:
			for _, p := range v {
				n += len(p.key) + len(p.value)
			}
		case *literal:
			n += v.size()
		}
	}
	return n
}

// noProto says why XLA cannot read in as a proto, "" if it can.
func noProto(in *instr) string {
	if id, ok := in.attrByName("channel_id").(int64); ok && id == 0 {
		return "it does not distinguish channel_id=0 from no channel_id"
	}
	switch in.op {
	case opSendDone:
		if len(in.operands) != 1 || in.operands[0].op != opSend {
			return "its operand must be a send"
		}
	case opRecvDone:
		if len(in.operands) != 1 || in.operands[0].op != opRecv {
			return "its operand must be a recv"
		}
	case opCall:
		if attrOf[bool](in, "is_composite") {
			return noComposite(attrOf[[]pair](in, "frontend_attributes"))
		}
	}
	if n := len(attrOf[[][]int64](in, "slice_sizes")); n > 0 && len(in.operands) > 0 && in.operands[0].shape.isTuple() && n != in.operands[0].shape.leaves() {
		return "slice_sizes must have an entry for each operand"
	}
	return ""
}

// noComposite names the frontend attributes that a composite lacks.
func noComposite(fields []pair) string {
	values := map[string]string{}
	for _, f := range fields {
		values[f.key] = f.value
	}
	for _, key := range []string{compositeAttributes, compositeName} {
		if values[key] == "" {
			return "a composite must have the frontend attribute " + key
		}
	}
	if v, ok := values[compositeVersion]; ok {
		if n, err := strconv.ParseInt(v, 10, 64); err != nil || n < 0 {
			return compositeVersion + " must be a number of 0 or more"
		}
	}
	return ""
}

// Frontend attributes of a call that is a composite.
const (
	compositeName       = "composite.name"
	compositeAttributes = "composite.attributes"
	compositeVersion    = "composite.version"
)

// CheckElided returns an error that names the first constant of m whose elements the text omitted, or nil if there is
// none. Runs and protos need all elements.
func (m *Module) CheckElided() error {
	for _, c := range m.comps {
		for _, in := range c.instrs {
			v, ok := in.attrByName("literal").(*literal)
			if in.literal != nil && in.literal.hasElided() || ok && v.hasElided() {
				return diag.List{diag.Errorf(m.src, in.pos, elidedMessage)}
			}
		}
	}
	return nil
}

const elidedMessage = "the elements of this constant are elided as {...}; dump the module with --xla_dump_large_constants, or print it with print_large_constants"

// protoIDs numbers computations and instructions as XLA does: an instruction's id is its computation's id times 2^32
// plus its index.
type protoIDs struct {
	comp map[*computation]int64
}

func (d *protoModule) encode(c *wire.Coder) {
	comps := d.m.comps
	extra := map[*instr]*computation{}
	if slices.ContainsFunc(comps, hasSugar) {
		comps = nil
		for _, comp := range d.m.comps {
			for _, in := range comp.instrs {
				if in.wrapped != nil && in.op == opAsyncStart {
					w := wrapAsync(in)
					extra[in] = w
					comps = append(comps, w)
				}
			}
			comps = append(comps, comp)
		}
	}
	ids := protoIDs{comp: make(map[*computation]int64, len(comps))}
	d.renamed = map[*instr]string{}
	// Large shapes and constants are counted, so that the output need not be copied while it grows.
	n, size := 0, 0
	for _, comp := range comps {
		n += len(comp.instrs)
		for _, in := range comp.instrs {
			if size += len(d.encoding(in.shape)); in.literal != nil {
				size += len(in.literal.data)
			}
		}
		for _, p := range comp.params {
			size += len(d.encoding(p.shape))
		}
		size += len(d.encoding(comp.root.shape))
	}
	if l := d.m.layout; l != nil {
		for _, s := range append(slices.Clone(l.params), l.result) {
			size += len(d.encoding(s))
		}
	}
	c.Out = slices.Grow(c.Out, 96*n+size)
	used, counts := make(map[string]struct{}, n), map[string]int{}
	for i, comp := range comps {
		ids.comp[comp] = int64(i + 1)
		for _, in := range comp.instrs {
			name := in.name
			before := len(used)
			if used[name] = struct{}{}; len(used) > before {
				continue
			}
			root := nameRoot(name)
			for before == len(used) {
				counts[root]++
				name = root + "." + strconv.Itoa(counts[root])
				used[name] = struct{}{}
			}
			d.renamed[in] = name
		}
	}
	// Write the names first: they distinguish a module from messages that contain one.
	c.Str(1, &d.m.name)
	c.Str(2, &d.m.entry.name)
	fused := map[*computation]bool{}
	for _, comp := range comps {
		for _, in := range comp.instrs {
			if in.op == opFusion {
				fused[attrOf[*computation](in, "calls")] = true
			}
		}
	}
	for _, comp := range comps {
		c.Write(3, func(c *wire.Coder) { d.encodeComputation(c, comp, ids, fused[comp], extra) })
	}
	d.fields(c)
	id := int64(1)
	c.Int(5, &id)
	entry := ids.comp[d.m.entry]
	c.Int(6, &entry)
	if d.m.scheduled {
		c.Write(7, func(c *wire.Coder) {
			for _, comp := range comps {
				if fused[comp] {
					continue // XLA schedules fusions as a whole
				}
				c.Write(1, func(c *wire.Coder) {
					id := ids.comp[comp]
					c.Int(1, &id)
					c.Write(2, func(c *wire.Coder) {
						list := make([]int64, len(comp.instrs))
						for i, in := range comp.instrs {
							list[i] = id<<32 + int64(in.order)
						}
						c.Ints(1, &list)
					})
				})
			}
		})
	}
	c.Rest(&d.m.rest)
}

// nameRoot returns name without its final number: "add" for "add.12".
func nameRoot(name string) string {
	i := len(name)
	for i > 0 && isDigit(name[i-1]) {
		i--
	}
	if i > 1 && i < len(name) && name[i-1] == '.' {
		return name[:i-1]
	}
	return name
}

func hasSugar(c *computation) bool {
	return slices.ContainsFunc(c.instrs, func(in *instr) bool { return in.wrapped != nil && in.op == opAsyncStart })
}

// wrapAsync makes the computation that an async-start written as sugar calls.
func wrapAsync(start *instr) *computation {
	c := &computation{name: "async_wrapped." + start.name, thread: attrOf[string](start, "async_execution_thread"), defined: true}
	root := &instr{name: "wrapped." + start.name, op: start.wrapped, shape: start.shape.elems[1]}
	// The parameters are made from the operands, as XLA does: its reader does not compare these with the start's shape.
	for i, operand := range start.operands {
		p := &instr{name: fmt.Sprintf("async_param.%d.%s", i, start.name), op: opParameter, shape: operand.shape, param: int64(i)}
		c.instrs = append(c.instrs, p)
		c.params = append(c.params, p)
		root.operands = append(root.operands, p)
	}
	for _, a := range start.attrs {
		if i, ok := start.wrapped.byName[a.spec.name]; ok && a.spec != cControl && a.spec != cSharding {
			root.attrs = append(root.attrs, attr{start.wrapped.spec(i), a.value})
		}
	}
	c.instrs = append(c.instrs, root)
	c.root = root
	c.number()
	return c
}

func (d *protoModule) encodeComputation(c *wire.Coder, comp *computation, ids protoIDs, fused bool, extra map[*instr]*computation) {
	c.Str(1, &comp.name)
	id := ids.comp[comp]
	for _, in := range comp.instrs {
		c.Write(2, func(c *wire.Coder) { d.encodeInstr(c, in, id<<32, ids, extra) })
	}
	c.Write(4, func(c *wire.Coder) {
		l := entryLayout{result: comp.root.shape}
		for _, p := range comp.params {
			l.params = append(l.params, p.shape)
		}
		d.programShape(c, &l)
		names := d.paramNames(comp)
		c.Strs(3, &names)
	})
	root := id<<32 + int64(comp.root.order)
	c.Int(5, &id)
	c.Int(6, &root)
	c.Bool(7, &fused)
	thread := comp.thread
	if thread == "" {
		thread = mainThread
	}
	c.Str(8, &thread)
	c.Str(9, &comp.config)
	c.Rest(&comp.rest)
}

// decode reads the module in c.
func (d *protoModule) decode(c *wire.Coder) {
	m := d.m
	d.shapes = map[string]*shape{}
	d.comps, d.known = map[int64]*computation{}, map[string]*metadata{}
	c.Str(1, &m.name)
	c.Strs(22, &d.payloads)
	d.fields(c)
	var entry string
	var entryID, id int64
	c.Str(2, &entry)
	c.Int(6, &entryID)
	c.Int(5, &id)
	schedule := map[int64][]int64{}
	m.scheduled = c.Msg(7, false, func(c *wire.Coder) {
		c.DecodeEach(1, func(c *wire.Coder) {
			var id int64
			var list []int64
			c.Int(1, &id)
			c.Msg(2, false, func(c *wire.Coder) { c.Ints(1, &list) })
			schedule[id] = list
		})
	})
	c.DecodeEach(3, d.decodeComputation)
	c.Rest(&m.rest)
	if len(m.comps) == 0 {
		d.fail(nil, "the module has no computation")
	}
	for _, call := range d.calls {
		d.bindCalls(call)
	}
	for _, comp := range m.comps {
		for _, in := range comp.instrs {
			if why := checkDecoded(in); why != "" {
				d.fail(nil, "instruction %s: %s", shorten(in.name), why)
			}
		}
	}
	if entryID != 0 {
		m.entry = d.comps[entryID]
	} else {
		for _, comp := range m.comps {
			if comp.name == entry {
				m.entry = comp
			}
		}
	}
	if m.entry == nil {
		d.fail(nil, "the module has no entry computation")
	}
	m.sortComputations()
	d.applySchedule(schedule)
	for _, comp := range m.comps {
		comp.number()
	}
	if m.layout == nil {
		m.layout = entryLayoutOf(m.entry)
	}
	m.readableNames()
}

// applySchedule puts the instructions of each computation in the order of its schedule. Without one, operands come
// before their uses.
func (d *protoModule) applySchedule(schedule map[int64][]int64) {
	for _, comp := range d.m.comps {
		list := schedule[comp.id]
		if list == nil {
			comp.sortInstrs(func(in *instr) { d.fail(nil, "instruction %s depends on itself", shorten(in.name)) })
			continue
		}
		byID := &d.byID
		byID.clear(len(comp.instrs))
		for _, in := range comp.instrs {
			in.order = -1 // not yet in the schedule
			byID.set(in)
		}
		out := d.slabs.pointers.take(len(comp.instrs))[:0]
		for _, id := range list {
			in := byID.get(id)
			if in == nil {
				in = byID.get(comp.id<<32 | id&0xffffffff)
			}
			if in == nil || in.order >= 0 {
				d.fail(nil, "the schedule of computation %s names an instruction %d that it does not have", shorten(comp.name), id)
			}
			in.order = int32(len(out))
			out = append(out, in)
		}
		if n := len(comp.instrs) - len(out); n > 0 {
			d.fail(nil, "the schedule of computation %s leaves out %d instructions", shorten(comp.name), n)
		}
		comp.instrs = out
	}
}

// idTable finds the instructions of a computation by id. Most ids are dense: ids near the first one are indices of a
// list.
type idTable struct {
	base  int64
	list  []*instr
	other map[int64]*instr
	empty bool
}

func (t *idTable) get(id int64) *instr {
	if i := id - t.base; i >= 0 && i < int64(len(t.list)) {
		return t.list[i]
	}
	return t.other[id]
}

// clear makes the table one of a computation with n instructions.
func (t *idTable) clear(n int) {
	if n = 2*n + 16; cap(t.list) < n {
		t.list = make([]*instr, n)
	}
	t.list, t.other, t.empty = t.list[:n], nil, true
	clear(t.list)
}

func (t *idTable) set(in *instr) {
	if t.empty {
		t.base, t.empty = in.id&^0xffffffff, false
	}
	if i := in.id - t.base; i >= 0 && i < int64(len(t.list)) {
		t.list[i] = in
		return
	}
	if t.other == nil {
		t.other = map[int64]*instr{}
	}
	t.other[in.id] = in
}

func (d *protoModule) decodeComputation(c *wire.Coder) {
	comp := d.slabs.comps.one()
	comp.defined = true
	c.Str(1, &comp.name)
	c.Int(5, &comp.id)
	var root int64
	c.Int(6, &root)
	hasRoot := c.Has(6)
	var fused bool
	c.Bool(7, &fused)
	if c.Str(8, &comp.thread); comp.thread == mainThread {
		comp.thread = ""
	}
	c.Str(9, &comp.config)
	n := c.Count(2)
	comp.instrs = d.slabs.pointers.take(n)[:0]
	byID := &d.byID
	byID.clear(n)
	d.ids = d.ids[:0]
	operands := d.operands[:0]
	type predecessors struct {
		of  *instr
		ids []int64
	}
	var control []predecessors
	c.DecodeEach(2, func(c *wire.Coder) {
		in, ops, pred := d.decodeInstr(c)
		if byID.get(in.id) != nil {
			d.fail(nil, "two instructions of computation %s have id %d", shorten(comp.name), in.id)
		}
		byID.set(in)
		comp.instrs = append(comp.instrs, in)
		operands = append(operands, ops)
		if len(pred) > 0 {
			control = append(control, predecessors{in, pred})
		}
	})
	c.Get(4) // the program shape repeats facts of the instructions
	c.Rest(&comp.rest)
	if len(comp.instrs) == 0 {
		d.fail(nil, "computation %s has no instructions", shorten(comp.name))
	}
	find := func(in *instr, id int64) *instr {
		o := byID.get(id)
		if o == nil {
			// Ids may be local to the computation or to the module.
			if o = byID.get(comp.id<<32 | id&0xffffffff); o == nil {
				o = byID.get(id & 0xffffffff)
			}
		}
		if o == nil {
			d.fail(nil, "instruction %s of computation %s names an instruction %d that does not exist", shorten(in.name), shorten(comp.name), id)
		}
		return o
	}
	params := 0
	for i, in := range comp.instrs {
		if ids := operands[i]; len(ids) > 0 {
			in.operands = d.slabs.pointers.take(len(ids))
			for j, id := range ids {
				in.operands[j] = find(in, id)
			}
		}
		if in.op == opParameter {
			params++
		}
	}
	comp.params = d.slabs.pointers.take(params)[:0]
	for _, in := range comp.instrs {
		if in.op == opParameter {
			comp.params = append(comp.params, in)
		}
	}
	for _, p := range control {
		var list []*instr
		for _, id := range p.ids {
			list = append(list, find(p.of, id))
		}
		order, spec := p.of.lookup("control-predecessors")
		p.of.set(order, spec, list)
	}
	d.operands = operands
	slices.SortStableFunc(comp.params, func(a, b *instr) int { return int(a.param) - int(b.param) })
	for i, in := range comp.params {
		if in.param != int64(i) {
			d.fail(nil, "computation %s has no parameter number %d, or two", shorten(comp.name), i)
		}
	}
	if hasRoot {
		comp.root = find(comp.instrs[0], root)
	} else {
		// The writer omits an id of zero.
		if comp.root = byID.get(0); comp.root == nil {
			comp.root = comp.instrs[len(comp.instrs)-1]
		}
	}
	if d.comps[comp.id] != nil {
		d.fail(nil, "two computations have id %d", comp.id)
	}
	d.comps[comp.id] = comp
	d.m.comps = append(d.m.comps, comp)
}
