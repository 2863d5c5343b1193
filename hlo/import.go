package hlo

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/tensor"
)

// Import translates m to StableHLO, and to CHLO if StableHLO has no equivalent op. Tuples become several values. The
// result is not verified yet; elided constants have the value dense_resource<__elided__>, as MLIR prints them. Ops have
// the positions of their instructions. Facts that StableHLO cannot express are not in the ops: layouts, the schedule,
// memory spaces, names and control predecessors. The origins of the ops lead Update back to them.
func Import(m *Module, ctx *ir.Context) (out *ir.Module, err error) {
	defer catch(&err)
	src := m.src
	if src == nil {
		src = diag.NewSource(m.name, nil)
	}
	if err := m.verify(src); err != nil {
		return nil, err
	}
	im := newImporter(m, ctx, src)
	im.module()
	im.link.attrs, im.link.numIDs = im.m.Op().Attrs(), im.m.NumIDs()
	im.m.SetOrigins(im.link)
	return im.m, nil
}

// minInlined is the number of instructions that the translation of any module may have. A module of n instructions may
// have 8n more. Computations are translated where they are called, so calls of calls multiply.
const minInlined = 1 << 17

func newImporter(m *Module, ctx *ir.Context, src *diag.Source) *importer {
	left := minInlined
	for _, c := range m.comps {
		left += 8 * len(c.instrs)
	}
	return &importer{hlo: m, left: left, ctx: ctx, m: ir.NewModule(ctx, src), attrs: map[string]ir.Attr{}, funcs: map[*computation]string{},
		names: map[string]bool{"main": true}, shapes: map[*shape][]ir.Type{}, logs: requests(m.debug), logged: map[logKey]bool{}, link: &link{hlo: m, funcs: map[string]*linkedOp{}, order: m.ordered()}}
}

// importer translates one module.
type importer struct {
	hlo    *Module
	ctx    *ir.Context
	m      *ir.Module
	attrs  map[string]ir.Attr      // attributes by their text
	funcs  map[*computation]string // functions made from computations
	names  map[string]bool         // names of functions
	locs   ir.LocTable
	stacks []*ir.Loc // the locations of stack frames by id
	depth  int
	left   int // instructions that may still be translated
	logs   []arrayLog
	logged map[logKey]bool
	at     diag.Pos // of the current instruction

	shapes    map[*shape][]ir.Type // types of the parts
	lastShape *shape               // the shape that types was last called for, and its types
	lastTypes []ir.Type

	state    ir.OpState  // of the op that is being made
	operands []*ir.Value // memory for the operands of an op that is being made
	slab     slab[group]

	link *link
}

// value is the translation of an HLO value: one value of MLIR, or the parts of a tuple.
type value struct {
	v     *ir.Value
	elems []value
	tuple bool
}

// flat returns the values of v from left to right.
func (v value) flat() []*ir.Value { return v.appendTo(make([]*ir.Value, 0, v.leaves())) }

// appendTo appends the values of v from left to right.
func (v *value) appendTo(list []*ir.Value) []*ir.Value {
	if !v.tuple {
		return append(list, v.v)
	}
	for i := range v.elems {
		list = v.elems[i].appendTo(list)
	}
	return list
}

// leaves returns the number of values of v.
func (v *value) leaves() int {
	if !v.tuple {
		return 1
	}
	n := 0
	for i := range v.elems {
		n += v.elems[i].leaves()
	}
	return n
}

// unflatten makes a value of shape s from the first values of list and returns the remaining values.
func unflatten(s *shape, list []*ir.Value) (value, []*ir.Value) {
	if !s.isTuple() {
		return value{v: list[0]}, list[1:]
	}
	v := value{tuple: true}
	for _, e := range s.elems {
		var x value
		x, list = unflatten(e, list)
		v.elems = append(v.elems, x)
	}
	return v, list
}

// importScope is a block that is being filled with the translation of a computation.
type importScope struct {
	im      *importer
	b       *ir.Builder
	comp    *computation
	values  []value        // by the order of the instructions
	current *instr         // the instruction that is being translated
	link    *linkedScope   // of the block
	outer   *importScope   // the caller's scope if the computation is translated in place
	regions []*linkedScope // that the next op adopts
	apart   bool           // the computation of a region such as a reducer, whose values cannot be logged
}

// newScope returns a scope that fills a block with the translation of c.
func (im *importer) newScope(c *computation, block *ir.Block) *importScope {
	s := &importScope{im: im, b: im.m.AtEnd(block), comp: c, values: make([]value, len(c.instrs))}
	s.link = &linkedScope{comp: c, values: s.values, groups: make([]*group, len(c.instrs))}
	return s
}

// value returns the translation of in.
func (s *importScope) value(in *instr) value { return s.values[in.order] }

// record links op, which translates the current instruction.
func (s *importScope) record(op *ir.Op, types []ir.Type) {
	o := s.im.link.add(op, s.regions, types)
	s.regions = nil
	at := s
	for at.outer != nil {
		at = at.outer
	}
	g := at.link.groups[at.current.order]
	if g == nil {
		g = s.im.slab.one()
		g.scope, g.in = at.link, at.current
		g.ops = g.first[:0]
		at.link.groups[at.current.order] = g
	}
	o.group, o.place = g, len(g.ops)
	g.ops = append(g.ops, o)
	at.link.ops = append(at.link.ops, o)
}

func (im *importer) fail(in *instr, format string, args ...any) {
	panic(failure{diag.Errorf(im.m.Source(), in.pos, format, args...)})
}

// attr returns the attribute that text spells.
func (im *importer) attr(text string) ir.Attr {
	if a := im.attrs[text]; a != nil {
		return a
	}
	a, err := parse.Attr(diag.NewSource("attribute", []byte(text)), im.ctx)
	if err != nil {
		panic(failure{diag.Errorf(im.m.Source(), im.at, "attribute %s: %s", shorten(text), mistakeOf(err))})
	}
	im.attrs[text] = a
	return a
}

// mistakeOf returns the first message of a list of mistakes.
func mistakeOf(err error) string {
	if list := diag.ListOf(err); len(list) > 0 {
		return list[0].Message
	}
	return err.Error()
}

func (im *importer) named(name, text string) ir.NamedAttr {
	return ir.NamedAttr{Name: name, Attr: im.attr(text)}
}

// module translates the entry computation to main, and the computations that it calls to functions or regions.
func (im *importer) module() {
	m := im.hlo
	root := im.m.Op()
	if name := m.name; name != "" && name != "_" {
		root.SetAttr(ir.SymbolName, ir.NewString(name))
	}
	root.SetAttr(mhlo.AttrNumPartitions, i32Attr(m.partitions))
	root.SetAttr(mhlo.AttrNumReplicas, i32Attr(m.replicas))
	if len(m.frontend) > 0 {
		root.SetAttr(mhlo.AttrFrontendAttributes, dictOf(m.frontend))
	}
	im.function(m.entry, "main", true)
}

// function makes a function from c and returns its name.
func (im *importer) function(c *computation, name string, public bool) string {
	if im.depth++; im.depth > maxNesting {
		im.fail(c.root, "calls are nested deeper than %d", maxNesting)
	}
	defer func() { im.depth-- }()
	region := im.m.NewRegion()
	block := region.AddBlock()
	s := im.newScope(c, block)
	var inputs []ir.Type
	var argAttrs []string
	hasAttrs := false
	var aliases map[int64][]moduleAlias
	var donors map[int64][]donor
	if public {
		aliases, donors = im.hlo.byParameter()
	}
	for i, p := range c.params {
		var args []*ir.Value
		for _, t := range im.types(p, p.shape) {
			v := block.AddArg(t, im.loc(p))
			v.SetPos(p.pos)
			if !p.shape.isTuple() {
				v.SetName(p.name)
			}
			args = append(args, v)
			inputs = append(inputs, t)
		}
		s.values[p.order], _ = unflatten(p.shape, args)
		for j := range args {
			text := im.argAttrs(p, j, public, aliases[int64(i)], donors[int64(i)])
			hasAttrs = hasAttrs || text != "{}"
			argAttrs = append(argAttrs, text)
		}
	}
	s.link.setArgs(block)
	s.body(c)
	results := s.value(c.root).flat()
	im.complete(c.root, results)
	s.link.setResults(results)
	var types []ir.Type
	for _, v := range results {
		types = append(types, v.Type())
	}
	s.b.Create(fn.Return, results, nil)
	st := &ir.OpState{Def: fn.Func, Bodies: []*ir.Region{region}, Pos: diag.At(c.pos)}
	st.SetAttr(ir.SymbolName, ir.NewString(name))
	st.SetAttr(fn.AttrFunctionType, ir.NewTypeAttr(im.ctx.Function(inputs, types)))
	if !public {
		st.SetAttr(fn.AttrSymVisibility, ir.NewString("private"))
	} else {
		st.SetAttr(fn.AttrSymVisibility, ir.NewString("public"))
	}
	if hasAttrs {
		st.SetAttr(fn.AttrArgAttrs, im.attr("["+strings.Join(argAttrs, ", ")+"]"))
	}
	if sh := attrOf[*sharding](c.root, "sharding"); public && sh != nil && len(results) > 0 {
		list := make([]string, len(results))
		for i := range list {
			list[i] = "{}"
			if e := sh; len(results) == 1 || e.kind == tupleSharding && len(e.elems) == len(results) {
				if c.root.shape.isTuple() {
					e = e.elemAt(i)
				}
				list[i] = "{mhlo.sharding = " + mlirtext.Quote(e.String()) + "}"
			}
		}
		st.SetAttr(fn.AttrResAttrs, im.attr("["+strings.Join(list, ", ")+"]"))
	}
	im.link.funcs[name] = im.link.add(im.m.AtEnd(im.m.Body()).Insert(st), []*linkedScope{s.link}, nil)
	return name
}

// byParameter returns the aliases and the donors of m by their parameter.
func (m *Module) byParameter() (map[int64][]moduleAlias, map[int64][]donor) {
	aliases, donors := map[int64][]moduleAlias{}, map[int64][]donor{}
	for _, a := range m.aliases {
		aliases[a.number] = append(aliases[a.number], a)
	}
	for _, d := range m.donors {
		donors[d.param] = append(donors[d.param], d)
	}
	return aliases, donors
}

// argAttrs returns the attributes of part j of parameter p, which has the given aliases and donors, as text.
func (im *importer) argAttrs(p *instr, j int, public bool, aliases []moduleAlias, donors []donor) string {
	var list []string
	if sh := attrOf[*sharding](p, "sharding"); sh != nil {
		if p.shape.isTuple() {
			sh = sh.elemAt(j)
		}
		if sh != nil {
			list = append(list, "mhlo.sharding = "+mlirtext.Quote(sh.String()))
		}
	}
	if public {
		isPart := func(index []int64) bool {
			at, ok := flatIndex(p.shape, index)
			return at == j && (ok || len(index) == 0)
		}
		for _, a := range aliases {
			if isPart(a.index) {
				if out, ok := flatIndex(im.hlo.entry.root.shape, a.output); ok || len(a.output) == 0 {
					list = append(list, fmt.Sprintf("tf.aliasing_output = %d : i32", out))
				}
			}
		}
		for _, d := range donors {
			if isPart(d.index) {
				list = append(list, "jax.buffer_donor = true")
			}
		}
		if f := attrOf[[]pair](p, "frontend_attributes"); len(f) > 0 {
			list = append(list, "mhlo.frontend_attributes = "+dictOf(f).String())
		}
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// call returns the function for c. The first call makes the function.
func (im *importer) call(c *computation) string {
	if name, ok := im.funcs[c]; ok {
		return name
	}
	name := c.name
	for n := 0; im.names[name]; n++ {
		name = c.name + "_" + strconv.Itoa(n)
	}
	im.names[name] = true
	im.funcs[c] = name
	return im.function(c, name, false)
}

// elemType returns the MLIR element type.
func (im *importer) elemType(in *instr, t elementType) ir.Type {
	if d := t.row().dtype; d != tensor.Invalid {
		return ir.ElementOf(d)
	}
	im.fail(in, "type %s has no equivalent in StableHLO", t)
	return nil
}

// typeOf returns the type of a value that is not a tuple.
func (im *importer) typeOf(in *instr, s *shape) ir.Type {
	switch {
	case s.elem == tokenType:
		return stablehlo.TokenType(im.ctx)
	case s.elem == bufferType:
		return im.typeOf(in, s.elems[0])
	case !s.isArray():
		im.fail(in, "type %s has no equivalent in StableHLO", s.elem)
	}
	dims := slices.Clone(s.dims)
	var bounds []string
	bounded := false
	for i, d := range s.dims {
		b := "?"
		if s.isDynamic(i) {
			dims[i] = ir.Dynamic
			if d != unboundedSize {
				b, bounded = strconv.FormatInt(d, 10), true
			}
		}
		bounds = append(bounds, b)
	}
	var encoding ir.Attr
	if bounded {
		encoding = im.attr("#stablehlo.bounds<" + strings.Join(bounds, ", ") + ">")
	}
	return im.ctx.Tensor(dims, im.elemType(in, s.elem), encoding)
}

// types returns the types of the parts of s. The list is shared.
func (im *importer) types(in *instr, s *shape) []ir.Type {
	if s == im.lastShape {
		return im.lastTypes
	}
	list, ok := im.shapes[s]
	if !ok {
		if s.isTuple() {
			list = []ir.Type{}
			for _, e := range s.elems {
				list = append(list, im.types(in, e)...)
			}
		} else {
			list = []ir.Type{im.typeOf(in, s)}
		}
		list = slices.Clip(list)
		im.shapes[s] = list
	}
	im.lastShape, im.lastTypes = s, list
	return list
}

// dictOf returns a dictionary of strings.
func dictOf(list []pair) ir.Attr {
	var entries ir.AttrList
	for _, p := range list {
		entries = append(entries, ir.NamedAttr{Name: p.key, Attr: ir.NewString(p.value)})
	}
	return ir.NewDict(entries)
}

// body translates the instructions of c into s.
func (s *importScope) body(c *computation) {
	outer := s.im.at
	logs := len(s.im.logs) > 0 && !s.apart
	for _, in := range c.instrs {
		if in.op == opParameter {
			if logs {
				s.addLogs(in, s.value(in))
			}
			continue
		}
		if s.im.left--; s.im.left < 0 {
			s.im.fail(in, "the module calls its computations too often: their translation in place is too large")
		}
		s.im.at, s.current = in.pos, in
		v := s.instr(in)
		if !v.tuple && v.v != nil && v.v.Name() == "" {
			v.v.SetName(in.name)
		}
		s.values[in.order] = v
		if logs {
			s.addLogs(in, v)
		}
	}
	s.im.at = outer
}

// region returns a region with one block that holds the translation of c. The block's arguments are the parameters of
// c.
func (s *importScope) region(c *computation) *ir.Region {
	return s.regionOf(c, true, func(block *ir.Block, values []value) {
		for _, p := range c.params {
			arg := block.AddArg(s.im.typeOf(p, p.shape), nil)
			arg.SetName(p.name)
			values[p.order] = value{v: arg}
		}
	})
}

// regionOf is like region, with the arguments that bind adds. apart says that values of the region cannot be logged.
func (s *importScope) regionOf(c *computation, apart bool, bind func(*ir.Block, []value)) *ir.Region {
	im := s.im
	if im.depth++; im.depth > maxNesting {
		im.fail(c.root, "computations are nested deeper than %d", maxNesting)
	}
	defer func() { im.depth-- }()
	region := im.m.NewRegion()
	block := region.AddBlock()
	inner := im.newScope(c, block)
	inner.apart = apart || s.apart
	bind(block, inner.values)
	inner.link.setArgs(block)
	inner.body(c)
	results := inner.value(c.root).flat()
	im.complete(c.root, results)
	inner.link.setResults(results)
	s.regions = append(s.regions, inner.link)
	inner.b.Create(stablehlo.Return, results, nil)
	return region
}

// operands returns the values of all operands of in, tuples flattened.
func (s *importScope) operands(in *instr) []*ir.Value {
	return s.appendOperands(nil, in)
}

func (s *importScope) appendOperands(list []*ir.Value, in *instr) []*ir.Value {
	for _, o := range in.operands {
		if v := &s.values[o.order]; v.tuple {
			list = append(list, v.flat()...)
		} else {
			list = append(list, v.v)
		}
	}
	return list
}

// make makes an op for in with the result types of its shape.
func (s *importScope) make(in *instr, def *ir.Def, operands []*ir.Value, regions []*ir.Region, attrs ...ir.NamedAttr) value {
	return s.makeAs(in, in.shape, def, operands, regions, attrs...)
}

func (s *importScope) makeAs(in *instr, result *shape, def *ir.Def, operands []*ir.Value, regions []*ir.Region, attrs ...ir.NamedAttr) value {
	im := s.im
	im.complete(in, operands)
	types := im.types(in, result)
	st := &im.state
	*st = ir.OpState{Def: def, Operands: operands, Types: types, Bodies: regions, Loc: im.loc(in), Pos: in.pos}
	for _, a := range attrs {
		st.SetAttr(a.Name, a.Attr)
	}
	if sh := attrOf[*sharding](in, "sharding"); sh != nil {
		st.SetAttr(mhlo.AttrSharding, ir.NewString(sh.String()))
	}
	if f := attrOf[[]pair](in, "frontend_attributes"); len(f) > 0 {
		st.SetAttr(mhlo.AttrFrontendAttributes, dictOf(f))
	}
	op := s.b.Insert(st)
	s.record(op, types)
	if !result.isTuple() {
		return value{v: op.Result(0)}
	}
	v, _ := unflatten(result, op.ResultList())
	return v
}

// complete refuses values that exist only inside of a pair such as send and send-done.
func (im *importer) complete(in *instr, list []*ir.Value) {
	if slices.Contains(list, nil) {
		im.fail(in, "%s uses a part of an asynchronous instruction that has no equivalent in StableHLO", in.opName())
	}
}

// part returns part i of the operand of in, which must be the start of a pair.
func (s *importScope) part(in *instr, i int) value {
	v := s.value(in.operands[0])
	if !v.tuple || i >= len(v.elems) {
		s.im.fail(in, "the operand of %s must be the start that it belongs to", in.opName())
	}
	return v.elems[i]
}

// simpleOps are the instructions whose op has the same operands, results and no attributes.
var simpleOps = map[string]*ir.Def{
	"abs": stablehlo.Abs, "add": stablehlo.Add, "and": stablehlo.And, "atan2": stablehlo.Atan2, "bitcast-convert": stablehlo.BitcastConvert,
	"cbrt": stablehlo.Cbrt, "ceil": stablehlo.Ceil, "clamp": stablehlo.Clamp, "complex": stablehlo.Complex, "convert": stablehlo.Convert,
	"cosine": stablehlo.Cosine, "count-leading-zeros": stablehlo.CountLeadingZeros, "divide": stablehlo.Divide, "exponential": stablehlo.Exponential,
	"exponential-minus-one": stablehlo.ExponentialMinusOne, "floor": stablehlo.Floor, "imag": stablehlo.Imag, "is-finite": stablehlo.IsFinite,
	"log": stablehlo.Log, "log-plus-one": stablehlo.LogPlusOne, "logistic": stablehlo.Logistic, "maximum": stablehlo.Maximum, "minimum": stablehlo.Minimum,
	"multiply": stablehlo.Multiply, "negate": stablehlo.Negate, "not": stablehlo.Not, "or": stablehlo.Or, "popcnt": stablehlo.Popcnt, "power": stablehlo.Power,
	"real": stablehlo.Real, "remainder": stablehlo.Remainder, "reshape": stablehlo.Reshape, "round-nearest-afz": stablehlo.RoundNearestAFZ,
	"round-nearest-even": stablehlo.RoundNearestEven, "rsqrt": stablehlo.Rsqrt, "select": stablehlo.Select, "shift-left": stablehlo.ShiftLeft,
	"shift-right-arithmetic": stablehlo.ShiftRightArithmetic, "shift-right-logical": stablehlo.ShiftRightLogical, "sign": stablehlo.Sign,
	"sine": stablehlo.Sine, "sqrt": stablehlo.Sqrt, "subtract": stablehlo.Subtract, "tan": stablehlo.Tan, "tanh": stablehlo.Tanh, "xor": stablehlo.Xor,
	"partition-id": stablehlo.PartitionID, "replica-id": stablehlo.ReplicaID, "dynamic-update-slice": stablehlo.DynamicUpdateSlice,
	"acos": chlo.Acos, "acosh": chlo.Acosh, "asin": chlo.Asin, "asinh": chlo.Asinh, "atanh": chlo.Atanh, "cosh": chlo.Cosh, "sinh": chlo.Sinh, "erf": chlo.Erf,
	"opt-barrier": stablehlo.OptimizationBarrier, "mulhi": chlo.Mulhi, "stochastic-convert": mhlo.StochasticConvert, "exp2": mhlo.Exp2, "log2": mhlo.Log2,
}

// instr translates one instruction.
func (s *importScope) instr(in *instr) value {
	im := s.im
	if in.isAsync() {
		return s.async(in)
	}
	if in.op.def != nil {
		return s.simple(in, in.op.def)
	}
	if c := importCarriers[in.op]; c != nil {
		return s.carry(in, c)
	}
	ints := func(name string) ir.NamedAttr { return inherent(name, i64sAttr(attrOf[[]int64](in, name))) }
	switch in.op.name {
	case "constant":
		return s.constant(in, in.literal)
	case "tuple":
		v := value{tuple: true}
		for _, o := range in.operands {
			v.elems = append(v.elems, s.value(o))
		}
		return v
	case "get-tuple-element":
		v, i := s.value(in.operands[0]), attrOf[int64](in, "index")
		if !v.tuple || i < 0 || i >= int64(len(v.elems)) {
			im.fail(in, "type %s has no element %d", in.operands[0].shape.plain(), i)
		}
		return v.elems[i]
	case "copy", "domain", "add-dependency":
		return s.value(in.operands[0])
	case "compare":
		return s.make(in, stablehlo.Compare, s.operands(in), nil, in.enum("direction", "comparison_direction", stablehlo.ComparisonDirectionEnum),
			inherent("compare_type", ir.NewEnum(stablehlo.ComparisonTypeEnum, int(in.comparison())+1)))
	case "broadcast":
		return s.make(in, stablehlo.BroadcastInDim, s.operands(in), nil, inherent("broadcast_dimensions", i64sAttr(attrOf[[]int64](in, "dimensions"))))
	case "transpose":
		return s.make(in, stablehlo.Transpose, s.operands(in), nil, inherent("permutation", i64sAttr(attrOf[[]int64](in, "dimensions"))))
	case "concatenate":
		return s.make(in, stablehlo.Concatenate, s.operands(in), nil, inherent("dimension", i64Attr(s.oneDim(in))))
	case "slice":
		var start, limit, stride []int64
		for _, d := range attrOf[[]sliceDim](in, "slice") {
			start, limit, stride = append(start, d.start), append(limit, d.limit), append(stride, d.stride)
		}
		return s.make(in, stablehlo.Slice, s.operands(in), nil, inherent("start_indices", i64sAttr(start)), inherent("limit_indices", i64sAttr(limit)),
			inherent("strides", i64sAttr(stride)))
	case "pad":
		var low, high, interior []int64
		for _, d := range attrOf[[]paddingDim](in, "padding") {
			low, high, interior = append(low, d.low), append(high, d.high), append(interior, d.interior)
		}
		return s.make(in, stablehlo.Pad, s.operands(in), nil, inherent("edge_padding_low", i64sAttr(low)), inherent("edge_padding_high", i64sAttr(high)),
			inherent("interior_padding", i64sAttr(interior)))
	case "dynamic-slice":
		return s.make(in, stablehlo.DynamicSlice, s.splitIndices(in, 1), nil, inherent("slice_sizes", i64sAttr(attrOf[[]int64](in, "dynamic_slice_sizes"))))
	case "gather":
		return s.gather(in)
	case "scatter":
		return s.scatter(in)
	case "dot":
		return s.dot(in)
	case "ragged-dot":
		return s.raggedDot(in)
	case "convolution":
		return s.convolution(in)
	case "reduce":
		return s.make(in, stablehlo.Reduce, s.operands(in), []*ir.Region{s.region(attrOf[*computation](in, "to_apply"))}, ints("dimensions"))
	case "reduce-window":
		return s.make(in, stablehlo.ReduceWindow, s.operands(in), []*ir.Region{s.region(attrOf[*computation](in, "to_apply"))}, s.windowAttrs(in, true)...)
	case "select-and-scatter":
		return s.make(in, stablehlo.SelectAndScatter, s.operands(in),
			[]*ir.Region{s.region(attrOf[*computation](in, "select")), s.region(attrOf[*computation](in, "scatter"))}, s.windowAttrs(in, false)...)
	case "map":
		return s.make(in, stablehlo.Map, s.operands(in), []*ir.Region{s.region(attrOf[*computation](in, "to_apply"))}, ints("dimensions"))
	case "sort":
		return s.make(in, stablehlo.Sort, s.operands(in), []*ir.Region{s.region(attrOf[*computation](in, "to_apply"))},
			inherent("dimension", i64Attr(s.oneDim(in))), inherent("is_stable", s.im.ctx.Bool(attrOf[bool](in, "is_stable"))))
	case "scan":
		return s.scan(in)
	case "topk":
		return s.topK(in)
	case "rng":
		return s.rng(in)
	case "rng-bit-generator":
		return s.rngBits(in)
	case "bitcast":
		return s.bitcast(in)
	case "call":
		return s.call(in)
	case "fusion":
		return s.inline(in, attrOf[*computation](in, "calls"), in.operands)
	case "while":
		return s.while(in)
	case "conditional":
		return s.conditional(in)
	case "custom-call":
		return s.customCall(in)
	case "after-all":
		if len(in.operands) == 0 {
			return s.make(in, stablehlo.CreateToken, nil, nil)
		}
		return s.make(in, stablehlo.AfterAll, s.operands(in), nil)
	case "infeed":
		return s.infeed(in)
	case "outfeed":
		return s.make(in, stablehlo.Outfeed, s.operands(in), nil, ir.NamedAttr{Name: stablehlo.AttrOutfeedConfig, Attr: ir.NewString(attrOf[string](in, "outfeed_config"))})
	case "send", "recv", "send-done", "recv-done":
		return s.transfer(in)
	case "copy-start":
		v := s.value(in.operands[0])
		return value{tuple: true, elems: []value{v, v, {}}}
	case "copy-done":
		return s.part(in, 0)
	case "dynamic-reshape":
		return s.dynamicReshape(in)
	}
	if v, ok := s.collective(in); ok {
		return v
	}
	im.fail(in, "%s has no equivalent in StableHLO", in.opName())
	return value{}
}

func inherent(name string, a ir.Attr) ir.NamedAttr { return ir.NamedAttr{Name: name, Attr: a} }

func i32Attr(v int64) ir.Attr { return ir.NewInteger(v, ir.Int(32)) }

func i64Attr(v int64) ir.Attr { return ir.NewInteger(v, ir.Int(64)) }

func i64sAttr(list []int64) ir.Attr { return ir.NewDenseArray(ir.Int(64), list) }

// enum returns the attribute attr of in as the attribute name of an op. The codes are the same.
func (in *instr) enum(attr, name string, row *ir.EnumDef) ir.NamedAttr {
	return inherent(name, ir.NewEnum(row, int(attrOf[int64](in, attr))))
}

// listText formats an attribute's parameters as [1, 2].
func listText(list []int64) string {
	return "[" + string(bytes.ReplaceAll(appendInts(nil, list), []byte(","), []byte(", "))) + "]"
}

// matrix returns rows as a matrix of at least the given width. It fills shorter rows with -1.
func (im *importer) matrix(rows [][]int64, width int) ir.Attr {
	for _, r := range rows {
		width = max(width, len(r))
	}
	var all []int64
	for _, r := range rows {
		all = append(append(all, r...), slices.Repeat([]int64{-1}, width-len(r))...)
	}
	return stablehlo.NewI64Elements(im.ctx, tensor.Shape{int64(len(rows)), int64(width)}, all)
}

// oneDim returns the one dimension of in.
func (s *importScope) oneDim(in *instr) int64 {
	dims := attrOf[[]int64](in, "dimensions")
	if len(dims) != 1 {
		s.im.fail(in, "%s needs exactly one dimension", in.op.name)
	}
	return dims[0]
}

func (s *importScope) simple(in *instr, def *ir.Def) value {
	var attrs []ir.NamedAttr
	if a := attrOf[*accuracy](in, "result_accuracy"); a != nil && def.Attr(stablehlo.AttrResultAccuracy) != nil {
		mode := int(a.mode)
		if a.tolerance {
			mode = int(stablehlo.ResultAccuracyModeTOLERANCE)
		}
		attrs = append(attrs, inherent("result_accuracy", stablehlo.ResultAccuracyAttr.New(&stablehlo.ResultAccuracy{
			Atol: a.atol, Rtol: a.rtol, Ulps: int64(a.ulps), Mode: stablehlo.AccuracyMode{Code: mode},
		})))
	}
	im := s.im
	im.operands = s.appendOperands(im.operands[:0], in)
	operands := im.operands
	if def == stablehlo.DynamicUpdateSlice {
		operands = s.splitIndices(in, 2)
	}
	if len(operands) == 0 && in.op.operands != 0 {
		return value{tuple: true}
	}
	return s.make(in, def, operands, nil, attrs...)
}

// splitIndices returns the operands of in. An older form has all start indices in one array, at operand n.
func (s *importScope) splitIndices(in *instr, n int) []*ir.Value {
	list := s.operands(in)
	if len(in.operands) != n+1 || len(in.operands[n].shape.dims) != 1 {
		return list
	}
	index := in.operands[n].shape
	for i := range index.dims[0] {
		part := s.makeAs(in, array(index.elem, 1), stablehlo.Slice, []*ir.Value{list[n]}, nil, inherent("start_indices", i64sAttr([]int64{i})),
			inherent("limit_indices", i64sAttr([]int64{i + 1})), inherent("strides", i64sAttr([]int64{1})))
		list = append(list, s.makeAs(in, array(index.elem), stablehlo.Reshape, []*ir.Value{part.v}, nil).v)
	}
	return slices.Delete(list, n, n+1)
}

// constant makes constants of a literal.
func (s *importScope) constant(in *instr, v *literal) value {
	im := s.im
	if v.shape.isTuple() {
		out := value{tuple: true}
		for _, e := range v.elems {
			out.elems = append(out.elems, s.constant(in, e))
		}
		return out
	}
	if v.shape.elem == tokenType {
		return s.makeAs(in, v.shape, stablehlo.CreateToken, nil, nil)
	}
	if v.elided {
		return s.makeAs(in, v.shape, stablehlo.Constant, nil, nil, ir.NamedAttr{Name: stablehlo.AttrValue, Attr: ir.NewResource(ir.Elided, im.typeOf(in, v.shape))})
	}
	return s.makeAs(in, v.shape, stablehlo.Constant, nil, nil, ir.NamedAttr{Name: stablehlo.AttrValue, Attr: im.dense(in, v)})
}

// dense returns the attribute for the literal of an array.
func (im *importer) dense(in *instr, v *literal) ir.Attr {
	t := im.typeOf(in, v.shape)
	size := v.shape.elem.size()
	n := int(v.shape.numElements())
	data := v.data
	if len(data) < n*size {
		data = append(slices.Clone(data), make([]byte, n*size-len(data))...)
	}
	splat := n > 1 || n == 1 && len(v.shape.dims) > 0
	for i := 1; splat && i < n; i++ {
		splat = bytes.Equal(data[:size], data[i*size:(i+1)*size])
	}
	shape := tensor.Shape(v.shape.dims)
	if splat {
		shape, data = tensor.Shape{}, data[:size]
	}
	dense, err := tensor.FromBytes(v.shape.elem.row().dtype, shape, data)
	if err != nil {
		im.fail(in, "%v", err)
	}
	return ir.NewDense(t, dense, splat)
}

func (s *importScope) precision(in *instr) ir.NamedAttr {
	parts := make([]ir.Attr, 2)
	for i, p := range append(slices.Clip(attrOf[[]int64](in, "operand_precision")), 0, 0)[:2] {
		parts[i] = ir.NewEnum(stablehlo.PrecisionEnum, int(p))
	}
	return inherent("precision_config", ir.NewArray(parts))
}

func (s *importScope) dot(in *instr) value {
	im := s.im
	s.twoOperands(in)
	dims := in.dotDims()
	attrs := []ir.NamedAttr{inherent("dot_dimension_numbers", stablehlo.DotAttr.New(&dims)), s.precision(in)}
	if a := attrOf[int64](in, "algorithm"); a != 0 {
		algorithm := dotAlgorithm(algorithms[a])
		if algorithm == nil {
			im.fail(in, "algorithm %s has no equivalent in StableHLO", algorithms[a])
		}
		attrs = append(attrs, inherent("algorithm", stablehlo.DotAlgorithmAttr.New(algorithm)))
	}
	return s.make(in, stablehlo.DotGeneral, s.operands(in), nil, attrs...)
}

// dotDims returns the dimension numbers of a product.
func (in *instr) dotDims() stablehlo.DotDims {
	return stablehlo.DotDims{
		LHSBatching: attrOf[[]int64](in, "lhs_batch_dims"), RHSBatching: attrOf[[]int64](in, "rhs_batch_dims"),
		LHSContracting: attrOf[[]int64](in, "lhs_contracting_dims"), RHSContracting: attrOf[[]int64](in, "rhs_contracting_dims"),
	}
}

func (s *importScope) raggedDot(in *instr) value {
	dims := &chlo.RaggedDotDims{DotDims: in.dotDims(), LHSRagged: attrOf[[]int64](in, "lhs_ragged_dims"), RHSGroup: attrOf[[]int64](in, "rhs_group_dims")}
	return s.make(in, chlo.RaggedDot, s.operands(in), nil, inherent("ragged_dot_dimension_numbers", chlo.RaggedDotAttr.New(dims)))
}

// dotAlgorithm returns the data for an algorithm such as dot_bf16_bf16_f32_x3, or nil if StableHLO has none.
func dotAlgorithm(name string) *stablehlo.DotAlgorithm {
	parts := strings.Split(strings.TrimPrefix(name, "dot_"), "_")
	if len(parts) < 3 {
		return nil
	}
	a := &stablehlo.DotAlgorithm{LHSPrecision: parts[0], RHSPrecision: parts[1], Accumulation: parts[2], LHSComponents: 1, RHSComponents: 1, PrimitiveOperations: 1,
		AllowImpreciseAccumulation: strings.HasSuffix(name, "_fast_accum")}
	if strings.HasPrefix(name, "dot_any_f8") {
		a.LHSPrecision, a.RHSPrecision, a.Accumulation = "f8E5M2", "f8E5M2", "f32"
	} else if n, ok := strings.CutPrefix(a.Accumulation, "fp8x"); ok { // as XLA's translation has it
		a.LHSPrecision, a.RHSPrecision, a.Accumulation = "f8E4M3FN", "f8E4M3FN", "f32"
		a.PrimitiveOperations, _ = strconv.ParseInt(n, 10, 64)
	} else if len(parts) == 4 {
		a.PrimitiveOperations, _ = strconv.ParseInt(strings.TrimPrefix(parts[3], "x"), 10, 64)
	}
	return a
}

func (s *importScope) gather(in *instr) value {
	dims := &stablehlo.GatherDims{
		OffsetDims: attrOf[[]int64](in, "offset_dims"), CollapsedSliceDims: attrOf[[]int64](in, "collapsed_slice_dims"),
		OperandBatchingDims: attrOf[[]int64](in, "operand_batching_dims"), StartIndicesBatchingDims: attrOf[[]int64](in, "start_indices_batching_dims"),
		StartIndexMap: attrOf[[]int64](in, "start_index_map"), IndexVectorDim: attrOf[int64](in, "index_vector_dim"),
	}
	return s.make(in, stablehlo.Gather, s.operands(in), nil, inherent("dimension_numbers", stablehlo.GatherAttr.New(dims)),
		inherent("slice_sizes", i64sAttr(attrOf[[]int64](in, "slice_sizes"))), inherent("indices_are_sorted", s.im.ctx.Bool(attrOf[bool](in, "indices_are_sorted"))))
}

func (s *importScope) scatter(in *instr) value {
	dims := &stablehlo.ScatterDims{
		UpdateWindowDims: attrOf[[]int64](in, "update_window_dims"), InsertedWindowDims: attrOf[[]int64](in, "inserted_window_dims"),
		InputBatchingDims: attrOf[[]int64](in, "input_batching_dims"), ScatterIndicesBatchingDim: attrOf[[]int64](in, "scatter_indices_batching_dims"),
		ScatterDimsToOperandDims: attrOf[[]int64](in, "scatter_dims_to_operand_dims"), IndexVectorDim: attrOf[int64](in, "index_vector_dim"),
	}
	return s.make(in, stablehlo.Scatter, s.operands(in), []*ir.Region{s.region(attrOf[*computation](in, "to_apply"))},
		inherent("scatter_dimension_numbers", stablehlo.ScatterAttr.New(dims)), inherent("indices_are_sorted", s.im.ctx.Bool(attrOf[bool](in, "indices_are_sorted"))),
		inherent("unique_indices", s.im.ctx.Bool(attrOf[bool](in, "unique_indices"))))
}

// windowAttrs returns the attributes of a window; dilations only on request.
func (s *importScope) windowAttrs(in *instr, dilations bool) []ir.NamedAttr {
	im := s.im
	w := attrOf[window](in, "window")
	var size, stride, base, win []int64
	pad := [][]int64{}
	padded := false
	for _, d := range w {
		size, stride, base, win = append(size, d.size), append(stride, d.stride), append(base, d.baseDilation), append(win, d.windowDilation)
		pad = append(pad, []int64{d.padLow, d.padHigh})
		padded = padded || d.padLow != 0 || d.padHigh != 0
		if d.reversal {
			im.fail(in, "a reversed window has no equivalent in StableHLO")
		}
	}
	attrs := []ir.NamedAttr{inherent("window_dimensions", i64sAttr(size)), inherent("window_strides", i64sAttr(stride))}
	if dilations {
		attrs = append(attrs, inherent("base_dilations", i64sAttr(base)), inherent("window_dilations", i64sAttr(win)))
	}
	if padded {
		attrs = append(attrs, inherent("padding", im.matrix(pad, 2)))
	}
	return attrs
}

// twoOperands refuses a product or convolution with operands for sparsity or scales.
func (s *importScope) twoOperands(in *instr) {
	if len(in.operands) != 2 {
		s.im.fail(in, "%s with the operands of a sparsity or block scaling has no equivalent in StableHLO", in.op.name)
	}
}

func (s *importScope) convolution(in *instr) value {
	im := s.im
	s.twoOperands(in)
	labels := attrOf[convDims](in, "dim_labels")
	if strings.Contains(labels.input+labels.kernel+labels.output, "?") {
		im.fail(in, "dimensions without a meaning in dim_labels have no equivalent in StableHLO")
	}
	d := &stablehlo.ConvDims{}
	d.InputBatch, d.InputFeature, d.InputSpatial = places(labels.input, 'b', 'f')
	d.KernelInputFeature, d.KernelOutput, d.KernelSpatial = places(labels.kernel, 'i', 'o')
	d.OutputBatch, d.OutputFeature, d.OutputSpatial = places(labels.output, 'b', 'f')
	var stride, base, win, reversal, pad []int64
	for _, x := range attrOf[window](in, "window") {
		stride, base, win = append(stride, x.stride), append(base, x.baseDilation), append(win, x.windowDilation)
		pad = append(pad, x.padLow, x.padHigh)
		reversed := int64(0)
		if x.reversal {
			reversed = 1
		}
		reversal = append(reversal, reversed)
	}
	count := func(name string) ir.NamedAttr {
		n, ok := in.attrByName(name).(int64)
		if !ok {
			n = 1
		}
		return inherent(name, i64Attr(n))
	}
	operands := s.operands(in)
	if len(operands) != 2 {
		im.fail(in, "convolution of a tuple")
	}
	// StableHLO requires operands of one element type.
	a, k := in.operands[0].shape, in.operands[1].shape
	if a.elem != k.elem {
		wide := a
		if k.elem.row().bits > a.elem.row().bits {
			wide = k
		}
		if a.elem != wide.elem {
			operands[0] = s.makeAs(in, a.withElem(wide.elem), stablehlo.Convert, operands[:1:1], nil).v
		} else {
			operands[1] = s.makeAs(in, k.withElem(wide.elem), stablehlo.Convert, operands[1:2:2], nil).v
		}
	}
	return s.make(in, stablehlo.Convolution, operands, nil,
		inherent("dimension_numbers", stablehlo.ConvAttr.New(d)),
		inherent("window_strides", i64sAttr(stride)), inherent("padding", stablehlo.NewI64Elements(im.ctx, tensor.Shape{int64(len(stride)), 2}, pad)), inherent("lhs_dilation", i64sAttr(base)), inherent("rhs_dilation", i64sAttr(win)),
		inherent("window_reversal", ir.NewDenseArray(ir.Int(1), reversal)), count("feature_group_count"), count("batch_group_count"), s.precision(in))
}

// scan becomes chlo.scan, whose body has the same parameters: slices of the inputs, then carries.
func (s *importScope) scan(in *instr) value {
	im := s.im
	carries := int(attrOf[int64](in, "num_carries"))
	inputs, outputs := len(in.operands)-carries, in.shape.leaves()-carries
	if carries < 0 || inputs < 0 || outputs < 0 {
		im.fail(in, "scan has %d carries, %d operands and %d results", carries, len(in.operands), in.shape.leaves())
	}
	attrs := []ir.NamedAttr{
		inherent(chlo.AttrDimension, i64Attr(s.oneDim(in))), inherent("is_reverse", s.im.ctx.Bool(attrOf[bool](in, "is_reverse"))),
		inherent("operandSegmentSizes", ir.NewDenseArray(ir.Int(32), []int64{int64(inputs), int64(carries)})),
		inherent("resultSegmentSizes", ir.NewDenseArray(ir.Int(32), []int64{int64(outputs), int64(carries)})),
	}
	if v, ok := in.attrByName("is_associative").(bool); ok {
		attrs = append(attrs, inherent("is_associative", s.im.ctx.Bool(v)))
	}
	return s.make(in, chlo.Scan, s.operands(in), []*ir.Region{s.region(attrOf[*computation](in, "to_apply"))}, attrs...)
}

func (s *importScope) topK(in *instr) value {
	attrs := []ir.NamedAttr{inherent("k", i64Attr(attrOf[int64](in, "k")))}
	if stable, ok := in.attrByName("is_stable").(bool); ok && !stable {
		attrs = append(attrs, inherent("is_stable", s.im.ctx.Bool(false)))
	}
	if !attrOf[bool](in, "largest") {
		return s.make(in, mhlo.TopK, s.operands(in), nil, append(attrs, inherent("largest", s.im.ctx.Bool(false)))...)
	}
	return s.make(in, chlo.TopK, s.operands(in), nil, attrs...)
}

func (s *importScope) rng(in *instr) value {
	im := s.im
	dims := in.shape.dims
	data := make([]byte, 8*len(dims))
	for i, d := range dims {
		put(data, i, 8, uint64(d))
	}
	sh := s.constant(in, &literal{shape: array(s64, int64(len(dims))), data: data})
	operands := s.operands(in)
	if len(operands) < 2 {
		im.fail(in, "rng has %d operands, expected two", len(operands))
	}
	operands = append(operands[:2:2], sh.v) // XLA ignores other operands
	return s.make(in, stablehlo.Rng, operands, nil, in.enum("distribution", "rng_distribution", stablehlo.RngDistributionEnum))
}

func (s *importScope) rngBits(in *instr) value {
	attr := in.enum("algorithm", "rng_algorithm", stablehlo.RngAlgorithmEnum)
	if !in.shape.isTuple() {
		// The form without a state in its result.
		v := s.makeAs(in, tuple(in.operands[0].shape, in.shape), stablehlo.RngBitGenerator, s.operands(in), nil, attr)
		return v.elems[1]
	}
	return s.make(in, stablehlo.RngBitGenerator, s.operands(in), nil, attr)
}

// bitcast reinterprets the bytes of an array through both layouts: to the physical order of the operand, to the sizes
// of the result, and back to the order that the result's layout says.
func (s *importScope) bitcast(in *instr) value {
	from, to := in.operands[0].shape, in.shape
	v := s.value(in.operands[0])
	if sameShape(from, to) || from.isTuple() {
		return v
	}
	physical := func(sh *shape) (*shape, []int64) {
		perm := slices.Clone(sh.layout.minorToMajor)
		slices.Reverse(perm)
		dims := make([]int64, len(perm))
		for i, d := range perm {
			dims[i] = sh.dims[d]
		}
		return array(sh.elem, dims...), perm
	}
	if !from.isArray() || !to.isArray() || from.dynamic != nil || to.dynamic != nil {
		s.im.fail(in, "a bitcast from %s to %s has no equivalent in StableHLO", from.plain(), to.plain())
	}
	pf, permFrom := physical(from)
	pt, permTo := physical(to)
	if !isIdentity(permFrom) {
		v = s.makeAs(in, pf, stablehlo.Transpose, []*ir.Value{v.v}, nil, inherent("permutation", i64sAttr(permFrom)))
	}
	if from.elem != to.elem {
		if from.elem.row().bits != to.elem.row().bits {
			s.im.fail(in, "a bitcast from %s to %s, of another width, has no equivalent in StableHLO", from.plain(), to.plain())
		}
		v = s.makeAs(in, pf.withElem(to.elem), stablehlo.BitcastConvert, []*ir.Value{v.v}, nil)
	}
	if !slices.Equal(pf.dims, pt.dims) {
		if pf.numElements() != pt.numElements() {
			s.im.fail(in, "a bitcast from %s to %s has no equivalent in StableHLO", from.plain(), to.plain())
		}
		v = s.makeAs(in, pt, stablehlo.Reshape, []*ir.Value{v.v}, nil)
	}
	if !isIdentity(permTo) {
		inverse := make([]int64, len(permTo))
		for i, d := range permTo {
			inverse[d] = int64(i)
		}
		v = s.makeAs(in, to, stablehlo.Transpose, []*ir.Value{v.v}, nil, inherent("permutation", i64sAttr(inverse)))
	}
	return v
}

func isIdentity(perm []int64) bool {
	for i, d := range perm {
		if d != int64(i) {
			return false
		}
	}
	return true
}

// inline translates the computation c in place, with the given operands as its parameters.
func (s *importScope) inline(in *instr, c *computation, operands []*instr) value {
	im := s.im
	if len(operands) != len(c.params) {
		im.fail(in, "%s has %d operands, but computation %s %d parameters", in.opName(), len(operands), c.name, len(c.params))
	}
	if im.depth++; im.depth > maxNesting {
		im.fail(in, "computations are nested deeper than %d", maxNesting)
	}
	defer func() { im.depth-- }()
	inner := &importScope{im: im, b: s.b, comp: c, values: make([]value, len(c.instrs)), outer: s, apart: s.apart}
	for i, p := range c.params {
		inner.values[p.order] = s.value(operands[i])
	}
	inner.body(c)
	return inner.value(c.root)
}

// call calls the function of a computation; a composite stays a composite.
func (s *importScope) call(in *instr) value {
	im := s.im
	c := attrOf[*computation](in, "to_apply")
	name := im.call(c)
	callee := ir.NewSymbolRef(name)
	if attrOf[bool](in, "is_composite") {
		fields := map[string]string{}
		for _, p := range attrOf[[]pair](in, "frontend_attributes") {
			fields[p.key] = p.value
		}
		attrs := []ir.NamedAttr{{Name: stablehlo.AttrName, Attr: ir.NewString(fields[compositeName])}, {Name: stablehlo.AttrDecomposition, Attr: callee}}
		if text := fields[compositeAttributes]; text != "" {
			attrs = append(attrs, im.named("composite_attributes", text))
		}
		if v := fields[compositeVersion]; v != "" {
			attrs = append(attrs, im.named("version", v+" : i32"))
		}
		return s.make(in, stablehlo.Composite, s.operands(in), nil, attrs...)
	}
	return s.make(in, fn.Call, s.operands(in), nil, ir.NamedAttr{Name: fn.AttrCallee, Attr: callee})
}

func (s *importScope) while(in *instr) value {
	im := s.im
	bind := func(c *computation) func(*ir.Block, []value) {
		return func(block *ir.Block, values []value) {
			var args []*ir.Value
			for _, t := range im.types(in, in.shape) {
				args = append(args, block.AddArg(t, nil))
			}
			if len(c.params) == 1 {
				values[c.params[0].order], _ = unflatten(in.shape, args)
			} else {
				im.fail(in, "computation %s of a while has %d parameters, expected one", c.name, len(c.params))
			}
		}
	}
	cond, body := attrOf[*computation](in, "condition"), attrOf[*computation](in, "body")
	return s.make(in, stablehlo.While, s.operands(in), []*ir.Region{s.regionOf(cond, false, bind(cond)), s.regionOf(body, false, bind(body))})
}

// conditional becomes if or case, whose branches use the operands directly.
func (s *importScope) conditional(in *instr) value {
	def := stablehlo.Case
	if in.attrByName("true_computation") != nil {
		def = stablehlo.If
	}
	var regions []*ir.Region
	for i, c := range in.branches() {
		regions = append(regions, s.regionOf(c, false, func(_ *ir.Block, values []value) {
			if len(c.params) != 1 {
				s.im.fail(in, "branch %s has %d parameters, expected one", c.name, len(c.params))
			}
			values[c.params[0].order] = s.value(in.operands[i+1])
		}))
	}
	return s.make(in, def, []*ir.Value{s.value(in.operands[0]).v}, regions)
}

func (s *importScope) customCall(in *instr) value {
	im := s.im
	api := int64(1)
	if v, ok := in.attrByName(stablehlo.AttrAPIVersion).(int64); ok {
		api = v
	}
	attrs := []ir.NamedAttr{
		{Name: stablehlo.AttrCallTargetName, Attr: ir.NewString(attrOf[string](in, "custom_call_target"))},
		inherent("api_version", i32Attr(api)),
	}
	if attrOf[bool](in, "custom_call_has_side_effect") {
		attrs = append(attrs, inherent("has_side_effect", im.ctx.Bool(true)))
	}
	config := attrOf[string](in, "backend_config")
	switch {
	case api == 4:
		if config == "" {
			config = "{}"
		}
		attrs = append(attrs, im.named("backend_config", config))
	case config != "":
		attrs = append(attrs, ir.NamedAttr{Name: stablehlo.AttrBackendConfig, Attr: ir.NewString(config)})
	}
	if comps := attrOf[[]*computation](in, "called_computations"); len(comps) > 0 {
		var names []ir.Attr
		for _, c := range comps {
			names = append(names, ir.NewSymbolRef(im.call(c)))
		}
		attrs = append(attrs, ir.NamedAttr{Name: stablehlo.AttrCalledComputations, Attr: ir.NewArray(names)})
	}
	if constraints, ok := in.attrByName("operand_layout_constraints").([]*shape); ok {
		var operands, results []string
		for _, c := range constraints {
			operands = append(operands, layoutTexts(c)...)
		}
		results = layoutTexts(in.shape)
		attrs = append(attrs, im.named("operand_layouts", "["+strings.Join(operands, ", ")+"]"), im.named("result_layouts", "["+strings.Join(results, ", ")+"]"))
	}
	if list := attrOf[[]valueAlias](in, "output_to_operand_aliasing"); len(list) > 0 {
		attrs = append(attrs, inherent("output_operand_aliases", s.aliases(in, list)))
	}
	return s.make(in, stablehlo.CustomCall, s.operands(in), nil, append(attrs, im.callFacts(in)...)...)
}

// layoutTexts returns the layouts of the parts of a shape as attributes.
func layoutTexts(s *shape) []string {
	switch {
	case s.isTuple():
		var list []string
		for _, e := range s.elems {
			list = append(list, layoutTexts(e)...)
		}
		return list
	case s.layout == nil || len(s.dims) == 0:
		return []string{"dense<> : tensor<0xindex>"}
	}
	return []string{fmt.Sprintf("dense<%s> : tensor<%dxindex>", listText(s.layout.minorToMajor), len(s.dims))}
}

// aliases returns the output_operand_aliases of a custom call, whose operands and results are flat.
func (s *importScope) aliases(in *instr, list []valueAlias) ir.Attr {
	var parts []ir.Attr
	for _, a := range list {
		out, ok := flatIndex(in.shape, a.output)
		if !ok || a.number < 0 || a.number >= int64(len(in.operands)) {
			s.im.fail(in, "output_to_operand_aliasing names a value that does not exist")
		}
		operand := 0
		for _, o := range in.operands[:a.number] {
			operand += o.shape.leaves()
		}
		within, ok := flatIndex(in.operands[a.number].shape, a.index)
		if !ok {
			s.im.fail(in, "output_to_operand_aliasing names a value that does not exist")
		}
		alias := &stablehlo.OutputOperandAlias{OperandIndex: int64(operand + within)}
		if in.shape.leaves() > 1 {
			alias.OutputTupleIndices = []int64{int64(out)}
		}
		parts = append(parts, stablehlo.OutputOperandAliasAttr.New(alias))
	}
	return ir.NewArray(parts)
}

// flatIndex returns the position of the part of s that index names.
func flatIndex(s *shape, index []int64) (int, bool) {
	n := 0
	for _, i := range index {
		if !s.isTuple() || i < 0 || i >= int64(len(s.elems)) {
			return 0, false
		}
		for _, e := range s.elems[:i] {
			n += e.leaves()
		}
		s = s.elems[i]
	}
	return n, !s.isTuple()
}

func (s *importScope) infeed(in *instr) value {
	attrs := []ir.NamedAttr{{Name: stablehlo.AttrInfeedConfig, Attr: ir.NewString(attrOf[string](in, "infeed_config"))}}
	var layouts []string
	plain := true
	var walk func(*shape)
	walk = func(sh *shape) {
		for _, e := range sh.elems {
			walk(e)
		}
		if !sh.isTuple() && sh.isArray() {
			layouts = append(layouts, strings.ReplaceAll("["+string(appendInts(nil, sh.layout.minorToMajor))+"]", ",", ", "))
			plain = plain && sameLayout(sh.layout, defaultLayout(len(sh.dims)))
		}
	}
	walk(in.shape.elems[0])
	if !plain {
		attrs = append(attrs, s.im.named("layout", "["+strings.Join(layouts, ", ")+"]"))
	}
	return s.make(in, stablehlo.Infeed, s.operands(in), nil, attrs...)
}

// transfer translates send and recv together with their -done: StableHLO has one op for the pair.
func (s *importScope) transfer(in *instr) value {
	im := s.im
	switch in.op {
	case opSendDone:
		return s.part(in, 2)
	case opRecvDone:
		return value{tuple: true, elems: []value{s.part(in, 0), s.part(in, 2)}}
	}
	host := attrOf[bool](in, "is_host_transfer")
	channel := &stablehlo.ChannelHandle{Handle: attrOf[int64](in, "channel_id"), Type: stablehlo.ChannelDeviceToDevice}
	def := stablehlo.Send
	if host {
		channel.Type = stablehlo.ChannelDeviceToHost
	}
	if in.op == opRecv {
		def = stablehlo.Recv
		if host {
			channel.Type = stablehlo.ChannelHostToDevice
		}
	}
	attrs := []ir.NamedAttr{
		inherent("channel_handle", stablehlo.ChannelHandleAttr.New(channel)),
		inherent("is_host_transfer", s.im.ctx.Bool(host)),
	}
	context := value{v: nil}
	if in.op == opSend {
		t := s.makeAs(in, tokenShape, def, s.operands(in), nil, attrs...)
		return value{tuple: true, elems: []value{s.value(in.operands[0]), context, t}}
	}
	if !in.shape.isTuple() || len(in.shape.elems) == 0 {
		im.fail(in, "the type of recv must be a tuple of data, u32[] and token[]")
	}
	data := in.shape.elems[0]
	v := s.makeAs(in, tuple(data, tokenShape), def, s.operands(in), nil, attrs...)
	return value{tuple: true, elems: []value{v.elems[0], context, v.elems[1]}}
}

// async places an asynchronous op at its start; the done uses the result.
func (s *importScope) async(in *instr) value {
	switch in.op {
	case opAsyncStart:
		result := in.shape.elems[1]
		var v value
		if in.wrapped != nil {
			op := &instr{name: in.name, op: in.wrapped, shape: result, operands: in.operands, pos: in.pos}
			for _, a := range in.attrs {
				if _, ok := in.wrapped.byName[a.spec.name]; ok {
					op.attrs = append(op.attrs, a)
				}
			}
			v = s.instr(op)
		} else {
			v = s.inline(in, attrOf[*computation](in, "calls"), in.operands)
		}
		operands := value{tuple: true}
		for _, o := range in.operands {
			operands.elems = append(operands.elems, s.value(o))
		}
		return value{tuple: true, elems: []value{operands, v}}
	case opAsyncUpdate:
		return s.value(in.operands[0])
	}
	return s.part(in, 1)
}

func (s *importScope) dynamicReshape(in *instr) value {
	list := s.operands(in)
	if len(list) != len(in.operands) || len(list) == 0 {
		s.im.fail(in, "dynamic-reshape needs an array and its sizes")
	}
	var sizes []*ir.Value
	for i, v := range list[1:] {
		elem := in.operands[i+1].shape.elem
		sizes = append(sizes, s.makeAs(in, array(elem, 1), stablehlo.Reshape, []*ir.Value{v}, nil).v)
	}
	if len(sizes) == 0 {
		return s.make(in, stablehlo.Reshape, list[:1], nil)
	}
	all := s.makeAs(in, array(in.operands[1].shape.elem, int64(len(sizes))), stablehlo.Concatenate, sizes, nil, inherent("dimension", i64Attr(0)))
	return s.make(in, stablehlo.DynamicReshape, []*ir.Value{list[0], all.v}, nil)
}
