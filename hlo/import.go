package hlo

import (
	"bytes"
	"errors"
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
// the positions of their instructions. Import drops facts that StableHLO cannot express: layouts, the schedule, memory
// spaces, names, and control predecessors between instructions without side effects.
func Import(m *Module, ctx *ir.Context, reg *ir.Registry) (out *ir.Module, err error) {
	defer catch(&err)
	src := m.src
	if src == nil {
		src = diag.NewSource(m.name, nil)
	}
	if err := m.verify(src); err != nil {
		return nil, err
	}
	im := newImporter(m, ctx, reg, src)
	im.module()
	return im.m, nil
}

// minInlined is the number of instructions that the translation of any module may have. A module of n instructions may
// have 8n more. Computations are translated where they are called, so calls of calls multiply.
const minInlined = 1 << 17

func newImporter(m *Module, ctx *ir.Context, reg *ir.Registry, src *diag.Source) *importer {
	left := minInlined
	for _, c := range m.comps {
		left += 8 * len(c.instrs)
	}
	return &importer{hlo: m, left: left, ctx: ctx, reg: reg, m: ir.NewModule(ctx, reg, src), attrs: map[string]ir.Attr{}, funcs: map[*computation]string{},
		names: map[string]bool{"main": true}, onOp: func(*importScope, *ir.Op) {}, onBlock: func(*importScope, *ir.Block) {}}
}

// importer translates one module.
type importer struct {
	hlo    *Module
	ctx    *ir.Context
	reg    *ir.Registry
	m      *ir.Module
	attrs  map[string]ir.Attr      // attributes by their text
	funcs  map[*computation]string // functions made from computations
	names  map[string]bool         // names of functions
	locs   ir.LocTable
	stacks []*ir.Loc // the locations of stack frames by id
	depth  int
	left   int      // instructions that may still be translated
	at     diag.Pos // of the current instruction

	onOp    func(*importScope, *ir.Op)    // called for each op
	onBlock func(*importScope, *ir.Block) // called for each block that a computation fills
}

// value is the translation of an HLO value: one value of MLIR, or the parts of a tuple.
type value struct {
	v     *ir.Value
	elems []value
	tuple bool
}

// flat returns the values of v from left to right.
func (v value) flat() []*ir.Value {
	if !v.tuple {
		return []*ir.Value{v.v}
	}
	var list []*ir.Value
	for _, e := range v.elems {
		list = append(list, e.flat()...)
	}
	return list
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
	values  map[*instr]value
	current *instr       // the instruction that is being translated
	outer   *importScope // the caller's scope if the computation is translated in place
}

func (im *importer) fail(in *instr, format string, args ...any) {
	panic(failure{diag.Errorf(im.m.Source(), in.pos, format, args...)})
}

// attr returns the attribute that text spells.
func (im *importer) attr(text string) ir.Attr {
	if a := im.attrs[text]; a != nil {
		return a
	}
	m, err := parse.Parse(diag.NewSource("attribute", []byte(`"hlo.attr"() {a = `+text+`} : () -> ()`)), im.ctx, im.reg, parse.Options{})
	if err != nil {
		panic(failure{diag.Errorf(im.m.Source(), im.at, "attribute %s: %s", shorten(text), mistakeOf(err))})
	}
	a := m.Body().First().Attr("a")
	im.attrs[text] = a
	return a
}

// mistakeOf returns the first message of a list of mistakes.
func mistakeOf(err error) string {
	var list diag.List
	if errors.As(err, &list) && len(list) > 0 {
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
	root.SetAttr(mhlo.AttrNumPartitions, im.attr(fmt.Sprintf("%d : i32", m.partitions)))
	root.SetAttr(mhlo.AttrNumReplicas, im.attr(fmt.Sprintf("%d : i32", m.replicas)))
	if len(m.frontend) > 0 {
		root.SetAttr(mhlo.AttrFrontendAttributes, im.pairs(m.frontend))
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
	s := &importScope{im: im, b: im.m.AtEnd(block), comp: c, values: map[*instr]value{}}
	im.onBlock(s, block)
	var inputs []ir.Type
	var argAttrs []string
	hasAttrs := false
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
		s.values[p], _ = unflatten(p.shape, args)
		for j := range args {
			text := im.argAttrs(p, int64(i), j, public)
			hasAttrs = hasAttrs || text != "{}"
			argAttrs = append(argAttrs, text)
		}
	}
	s.body(c)
	results := s.values[c.root].flat()
	im.complete(c.root, results)
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
	im.m.AtEnd(im.m.Body()).Insert(st)
	return name
}

// argAttrs returns the attributes of part j of parameter i as text.
func (im *importer) argAttrs(p *instr, i int64, j int, public bool) string {
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
		for _, a := range im.hlo.aliases {
			if a.number == i && (len(a.index) == 0 && j == 0 || len(a.index) == 1 && a.index[0] == int64(j)) && len(a.output) <= 1 {
				out := int64(0)
				if len(a.output) == 1 {
					out = a.output[0]
				}
				list = append(list, fmt.Sprintf("tf.aliasing_output = %d : i32", out))
			}
		}
		for _, d := range im.hlo.donors {
			if d.param == i && (len(d.index) == 0 && j == 0 || len(d.index) == 1 && d.index[0] == int64(j)) {
				list = append(list, "jax.buffer_donor = true")
			}
		}
		if f := attrOf[[]pair](p, "frontend_attributes"); len(f) > 0 {
			list = append(list, "mhlo.frontend_attributes = "+im.pairs(f).String())
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

// types returns the types of the parts of s.
func (im *importer) types(in *instr, s *shape) []ir.Type {
	if !s.isTuple() {
		return []ir.Type{im.typeOf(in, s)}
	}
	var list []ir.Type
	for _, e := range s.elems {
		list = append(list, im.types(in, e)...)
	}
	return list
}

func (im *importer) pairs(list []pair) ir.Attr {
	var parts []string
	for _, p := range list {
		parts = append(parts, mlirtext.Quote(p.key)+" = "+mlirtext.Quote(p.value))
	}
	return im.attr("{" + strings.Join(parts, ", ") + "}")
}

// body translates the instructions of c into s.
func (s *importScope) body(c *computation) {
	outer := s.im.at
	for _, in := range c.instrs {
		if _, done := s.values[in]; done {
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
		s.values[in] = v
	}
	s.im.at = outer
}

// region returns a region with one block that holds the translation of c. The block's arguments are the parameters of
// c.
func (s *importScope) region(c *computation) *ir.Region {
	return s.regionOf(c, func(block *ir.Block, values map[*instr]value) {
		for _, p := range c.params {
			arg := block.AddArg(s.im.typeOf(p, p.shape), nil)
			arg.SetName(p.name)
			values[p] = value{v: arg}
		}
	})
}

// regionOf is like region, with the arguments that bind adds.
func (s *importScope) regionOf(c *computation, bind func(*ir.Block, map[*instr]value)) *ir.Region {
	im := s.im
	if im.depth++; im.depth > maxNesting {
		im.fail(c.root, "computations are nested deeper than %d", maxNesting)
	}
	defer func() { im.depth-- }()
	region := im.m.NewRegion()
	block := region.AddBlock()
	inner := &importScope{im: im, b: im.m.AtEnd(block), comp: c, values: map[*instr]value{}}
	im.onBlock(inner, block)
	bind(block, inner.values)
	inner.body(c)
	results := inner.values[c.root].flat()
	im.complete(c.root, results)
	inner.b.Create(stablehlo.Return, results, nil)
	return region
}

// operands returns the values of all operands of in, tuples flattened.
func (s *importScope) operands(in *instr) []*ir.Value {
	var list []*ir.Value
	for _, o := range in.operands {
		list = append(list, s.values[o].flat()...)
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
	st := &ir.OpState{Def: def, Operands: operands, Types: im.types(in, result), Bodies: regions, Loc: im.loc(in), Pos: in.pos}
	for _, a := range attrs {
		st.SetAttr(a.Name, a.Attr)
	}
	if sh := attrOf[*sharding](in, "sharding"); sh != nil {
		st.SetAttr(mhlo.AttrSharding, ir.NewString(sh.String()))
	}
	if f := attrOf[[]pair](in, "frontend_attributes"); len(f) > 0 {
		st.SetAttr(mhlo.AttrFrontendAttributes, im.pairs(f))
	}
	op := s.b.Insert(st)
	im.onOp(s, op)
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
	v := s.values[in.operands[0]]
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
	"opt-barrier": stablehlo.OptimizationBarrier, "mulhi": chlo.Mulhi, "stochastic-convert": mhlo.StochasticConvert,
}

// instr translates one instruction.
func (s *importScope) instr(in *instr) value {
	im := s.im
	if in.isAsync() {
		return s.async(in)
	}
	if def := simpleOps[in.op.name]; def != nil {
		return s.simple(in, def)
	}
	ints := func(name string) ir.NamedAttr { return im.named(name, intsText(attrOf[[]int64](in, name))) }
	switch in.op.name {
	case "constant":
		return s.constant(in, in.literal)
	case "tuple":
		v := value{tuple: true}
		for _, o := range in.operands {
			v.elems = append(v.elems, s.values[o])
		}
		return v
	case "get-tuple-element":
		v, i := s.values[in.operands[0]], attrOf[int64](in, "index")
		if !v.tuple || i < 0 || i >= int64(len(v.elems)) {
			im.fail(in, "type %s has no element %d", in.operands[0].shape.plain(), i)
		}
		return v.elems[i]
	case "copy", "domain", "add-dependency":
		return s.values[in.operands[0]]
	case "iota":
		return s.make(in, stablehlo.Iota, nil, nil, im.named("iota_dimension", intText(attrOf[int64](in, "iota_dimension"))))
	case "compare":
		attrs := []ir.NamedAttr{im.named("comparison_direction", "#stablehlo<comparison_direction "+directions[attrOf[int64](in, "direction")]+">")}
		kind, ok := in.attrByName("type").(int64)
		if !ok {
			kind = in.operands[0].shape.defaultComparison()
		}
		attrs = append(attrs, im.named("compare_type", "#stablehlo<comparison_type "+comparisonTypes[kind]+">"))
		return s.make(in, stablehlo.Compare, s.operands(in), nil, attrs...)
	case "broadcast":
		return s.make(in, stablehlo.BroadcastInDim, s.operands(in), nil, im.named("broadcast_dimensions", intsText(attrOf[[]int64](in, "dimensions"))))
	case "transpose":
		return s.make(in, stablehlo.Transpose, s.operands(in), nil, im.named("permutation", intsText(attrOf[[]int64](in, "dimensions"))))
	case "reverse":
		return s.make(in, stablehlo.Reverse, s.operands(in), nil, ints("dimensions"))
	case "concatenate":
		return s.make(in, stablehlo.Concatenate, s.operands(in), nil, im.named("dimension", intText(s.oneDim(in))))
	case "slice":
		var start, limit, stride []int64
		for _, d := range attrOf[[]sliceDim](in, "slice") {
			start, limit, stride = append(start, d.start), append(limit, d.limit), append(stride, d.stride)
		}
		return s.make(in, stablehlo.Slice, s.operands(in), nil, im.named("start_indices", intsText(start)), im.named("limit_indices", intsText(limit)),
			im.named("strides", intsText(stride)))
	case "pad":
		var low, high, interior []int64
		for _, d := range attrOf[[]paddingDim](in, "padding") {
			low, high, interior = append(low, d.low), append(high, d.high), append(interior, d.interior)
		}
		return s.make(in, stablehlo.Pad, s.operands(in), nil, im.named("edge_padding_low", intsText(low)), im.named("edge_padding_high", intsText(high)),
			im.named("interior_padding", intsText(interior)))
	case "dynamic-slice":
		return s.make(in, stablehlo.DynamicSlice, s.splitIndices(in, 1), nil, im.named("slice_sizes", intsText(attrOf[[]int64](in, "dynamic_slice_sizes"))))
	case "reduce-precision":
		return s.make(in, stablehlo.ReducePrecision, s.operands(in), nil,
			im.named("exponent_bits", fmt.Sprintf("%d : i32", attrOf[int64](in, "exponent_bits"))),
			im.named("mantissa_bits", fmt.Sprintf("%d : i32", attrOf[int64](in, "mantissa_bits"))))
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
			im.named("dimension", intText(s.oneDim(in))), im.named("is_stable", strconv.FormatBool(attrOf[bool](in, "is_stable"))))
	case "scan":
		return s.scan(in)
	case "topk":
		return s.topK(in)
	case "fft":
		return s.make(in, stablehlo.Fft, s.operands(in), nil, im.named("fft_type", "#stablehlo<fft_type "+fftTypes[attrOf[int64](in, "fft_type")]+">"), ints("fft_length"))
	case "cholesky":
		return s.make(in, stablehlo.Cholesky, s.operands(in), nil, im.named("lower", strconv.FormatBool(attrOf[bool](in, "lower"))))
	case "triangular-solve":
		return s.make(in, stablehlo.TriangularSolve, s.operands(in), nil,
			im.named("left_side", strconv.FormatBool(attrOf[bool](in, "left_side"))), im.named("lower", strconv.FormatBool(attrOf[bool](in, "lower"))),
			im.named("unit_diagonal", strconv.FormatBool(attrOf[bool](in, "unit_diagonal"))),
			im.named("transpose_a", "#stablehlo<transpose "+transposes[attrOf[int64](in, "transpose_a")]+">"))
	case "batch-norm-training", "batch-norm-inference", "batch-norm-grad":
		def := map[string]*ir.Def{"batch-norm-training": stablehlo.BatchNormTraining, "batch-norm-inference": stablehlo.BatchNormInference,
			"batch-norm-grad": stablehlo.BatchNormGrad}[in.op.name]
		eps := appendFloat(nil, f32, uint64(float32Bits(attrOf[float64](in, "epsilon"))))
		text := string(eps)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		} else if i := strings.IndexByte(text, 'e'); i > 0 && !strings.Contains(text, ".") {
			text = text[:i] + ".0" + text[i:]
		}
		return s.make(in, def, s.operands(in), nil, im.named("epsilon", text+" : f32"), im.named("feature_index", intText(attrOf[int64](in, "feature_index"))))
	case "rng":
		return s.rng(in)
	case "rng-bit-generator":
		return s.rngBits(in)
	case "rng-get-and-update-state":
		return s.make(in, mhlo.RngGetAndUpdateState, nil, nil, im.named("delta", intText(attrOf[int64](in, "delta"))))
	case "get-dimension-size":
		return s.make(in, stablehlo.GetDimensionSize, s.operands(in), nil, im.named("dimension", intText(s.oneDim(in))))
	case "set-dimension-size":
		return s.make(in, stablehlo.SetDimensionSize, s.operands(in), nil, im.named("dimension", intText(s.oneDim(in))))
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
		v := s.values[in.operands[0]]
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

func intText(v int64) string { return strconv.FormatInt(v, 10) + " : i64" }

func intsText(list []int64) string {
	if len(list) == 0 {
		return "array<i64>"
	}
	return "array<i64: " + string(bytes.ReplaceAll(appendInts(nil, list), []byte(","), []byte(", "))) + ">"
}

// listText formats an attribute's parameters as [1, 2].
func listText(list []int64) string {
	return "[" + string(bytes.ReplaceAll(appendInts(nil, list), []byte(","), []byte(", "))) + "]"
}

// matrixText formats rows as dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>. It fills shorter rows with -1.
func matrixText(rows [][]int64) string {
	n := 0
	for _, r := range rows {
		n = max(n, len(r))
	}
	if len(rows) == 0 || n == 0 {
		return fmt.Sprintf("dense<> : tensor<%dx%dxi64>", len(rows), n)
	}
	var parts []string
	for _, r := range rows {
		r = slices.Clone(r)
		for len(r) < n {
			r = append(r, -1)
		}
		parts = append(parts, listText(r))
	}
	return fmt.Sprintf("dense<[%s]> : tensor<%dx%dxi64>", strings.Join(parts, ", "), len(rows), n)
}

// pairsText is matrixText for rows of two.
func pairsText(rows [][]int64) string {
	if len(rows) == 0 {
		return "dense<> : tensor<0x2xi64>"
	}
	return matrixText(rows)
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
	im := s.im
	var attrs []ir.NamedAttr
	if a := attrOf[*accuracy](in, "result_accuracy"); a != nil && def.Attr(stablehlo.AttrResultAccuracy) != nil {
		mode := "TOLERANCE"
		if !a.tolerance {
			mode = strings.ToUpper(accuracyModes[a.mode])
		}
		attrs = append(attrs, im.named("result_accuracy", fmt.Sprintf("#stablehlo.result_accuracy<atol = %s, rtol = %s, ulps = %d, mode = #stablehlo.result_accuracy_mode<%s>>",
			mlirFloat(a.atol), mlirFloat(a.rtol), int64(a.ulps), mode)))
	}
	operands := s.operands(in)
	if def == stablehlo.DynamicUpdateSlice {
		operands = s.splitIndices(in, 2)
	}
	if len(operands) == 0 && in.op.operands != 0 {
		return value{tuple: true}
	}
	return s.make(in, def, operands, nil, attrs...)
}

// mlirFloat returns v as MLIR spells a float.
func mlirFloat(v float64) string {
	text := strconv.FormatFloat(v, 'e', -1, 64)
	if i := strings.IndexByte(text, 'e'); !strings.Contains(text[:i], ".") {
		text = text[:i] + ".0" + text[i:]
	}
	return text
}

// splitIndices returns the operands of in. An older form has all start indices in one array, at operand n.
func (s *importScope) splitIndices(in *instr, n int) []*ir.Value {
	list := s.operands(in)
	if len(in.operands) != n+1 || len(in.operands[n].shape.dims) != 1 {
		return list
	}
	index := in.operands[n].shape
	for i := range index.dims[0] {
		part := s.makeAs(in, array(index.elem, 1), stablehlo.Slice, []*ir.Value{list[n]}, nil, s.im.named("start_indices", intsText([]int64{i})),
			s.im.named("limit_indices", intsText([]int64{i + 1})), s.im.named("strides", intsText([]int64{1})))
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
	t := im.typeOf(in, v.shape)
	if v.elided {
		return s.makeAs(in, v.shape, stablehlo.Constant, nil, nil, ir.NamedAttr{Name: stablehlo.AttrValue, Attr: ir.NewResource(ir.Elided, t)})
	}
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
	if splat || n == 1 {
		return s.makeAs(in, v.shape, stablehlo.Constant, nil, nil, ir.NamedAttr{Name: stablehlo.AttrValue, Attr: ir.NewDense(t, dense, splat)})
	}
	return s.makeAs(in, v.shape, stablehlo.Constant, nil, nil, ir.NamedAttr{Name: stablehlo.AttrValue, Attr: ir.NewDense(t, dense, false)})
}

func (s *importScope) precision(in *instr) ir.NamedAttr {
	list := attrOf[[]int64](in, "operand_precision")
	var parts []string
	for i := range 2 {
		p := int64(0)
		if i < len(list) {
			p = list[i]
		}
		parts = append(parts, "#stablehlo<precision "+strings.ToUpper(precisions[p])+">")
	}
	return s.im.named("precision_config", "["+strings.Join(parts, ", ")+"]")
}

func (s *importScope) dot(in *instr) value {
	im := s.im
	dims := fmt.Sprintf("#stablehlo.dot<lhs_batching_dimensions = %s, rhs_batching_dimensions = %s, lhs_contracting_dimensions = %s, rhs_contracting_dimensions = %s>",
		listText(attrOf[[]int64](in, "lhs_batch_dims")), listText(attrOf[[]int64](in, "rhs_batch_dims")),
		listText(attrOf[[]int64](in, "lhs_contracting_dims")), listText(attrOf[[]int64](in, "rhs_contracting_dims")))
	attrs := []ir.NamedAttr{im.named("dot_dimension_numbers", dims), s.precision(in)}
	if a := attrOf[int64](in, "algorithm"); a != 0 {
		text := dotAlgorithm(algorithms[a])
		if text == "" {
			im.fail(in, "algorithm %s has no equivalent in StableHLO", algorithms[a])
		}
		attrs = append(attrs, im.named("algorithm", text))
	}
	return s.make(in, stablehlo.DotGeneral, s.operands(in), nil, attrs...)
}

func (s *importScope) raggedDot(in *instr) value {
	list := func(name string) string { return listText(attrOf[[]int64](in, name)) }
	text := fmt.Sprintf("#chlo.ragged_dot<lhs_batching_dimensions = %s, rhs_batching_dimensions = %s, lhs_contracting_dimensions = %s, rhs_contracting_dimensions = %s, lhs_ragged_dimensions = %s, rhs_group_dimensions = %s>",
		list("lhs_batch_dims"), list("rhs_batch_dims"), list("lhs_contracting_dims"), list("rhs_contracting_dims"), list("lhs_ragged_dims"), list("rhs_group_dims"))
	return s.make(in, chlo.RaggedDot, s.operands(in), nil, s.im.named("ragged_dot_dimension_numbers", text))
}

// dotAlgorithm returns the attribute for an algorithm such as dot_bf16_bf16_f32_x3, or "" if the algorithm has none.
func dotAlgorithm(name string) string {
	parts := strings.Split(strings.TrimPrefix(name, "dot_"), "_")
	fast := strings.HasSuffix(name, "_fast_accum")
	if strings.HasPrefix(name, "dot_any_f8") {
		return fmt.Sprintf("#stablehlo.dot_algorithm<lhs_precision_type = f8E5M2, rhs_precision_type = f8E5M2, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = %t>", fast)
	}
	if len(parts) < 3 {
		return ""
	}
	ops := 1
	if len(parts) == 4 {
		ops, _ = strconv.Atoi(strings.TrimPrefix(parts[3], "x"))
	}
	return fmt.Sprintf("#stablehlo.dot_algorithm<lhs_precision_type = %s, rhs_precision_type = %s, accumulation_type = %s, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = %d, allow_imprecise_accumulation = %t>",
		parts[0], parts[1], parts[2], ops, fast)
}

func (s *importScope) gather(in *instr) value {
	im := s.im
	text := fmt.Sprintf("#stablehlo.gather<offset_dims = %s, collapsed_slice_dims = %s, operand_batching_dims = %s, start_indices_batching_dims = %s, start_index_map = %s, index_vector_dim = %d>",
		listText(attrOf[[]int64](in, "offset_dims")), listText(attrOf[[]int64](in, "collapsed_slice_dims")), listText(attrOf[[]int64](in, "operand_batching_dims")),
		listText(attrOf[[]int64](in, "start_indices_batching_dims")), listText(attrOf[[]int64](in, "start_index_map")), attrOf[int64](in, "index_vector_dim"))
	return s.make(in, stablehlo.Gather, s.operands(in), nil, im.named("dimension_numbers", text), im.named("slice_sizes", intsText(attrOf[[]int64](in, "slice_sizes"))),
		im.named("indices_are_sorted", strconv.FormatBool(attrOf[bool](in, "indices_are_sorted"))))
}

func (s *importScope) scatter(in *instr) value {
	im := s.im
	text := fmt.Sprintf("#stablehlo.scatter<update_window_dims = %s, inserted_window_dims = %s, input_batching_dims = %s, scatter_indices_batching_dims = %s, scatter_dims_to_operand_dims = %s, index_vector_dim = %d>",
		listText(attrOf[[]int64](in, "update_window_dims")), listText(attrOf[[]int64](in, "inserted_window_dims")), listText(attrOf[[]int64](in, "input_batching_dims")),
		listText(attrOf[[]int64](in, "scatter_indices_batching_dims")), listText(attrOf[[]int64](in, "scatter_dims_to_operand_dims")), attrOf[int64](in, "index_vector_dim"))
	return s.make(in, stablehlo.Scatter, s.operands(in), []*ir.Region{s.region(attrOf[*computation](in, "to_apply"))}, im.named("scatter_dimension_numbers", text),
		im.named("indices_are_sorted", strconv.FormatBool(attrOf[bool](in, "indices_are_sorted"))),
		im.named("unique_indices", strconv.FormatBool(attrOf[bool](in, "unique_indices"))))
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
	attrs := []ir.NamedAttr{im.named("window_dimensions", intsText(size)), im.named("window_strides", intsText(stride))}
	if dilations {
		attrs = append(attrs, im.named("base_dilations", intsText(base)), im.named("window_dilations", intsText(win)))
	}
	if padded {
		attrs = append(attrs, im.named("padding", pairsText(pad)))
	}
	return attrs
}

func (s *importScope) convolution(in *instr) value {
	im := s.im
	d := attrOf[convDims](in, "dim_labels")
	side := func(labels string) string {
		var parts []string
		for i := range len(labels) {
			if labels[i] == '?' {
				im.fail(in, "dimensions without a meaning in dim_labels have no equivalent in StableHLO")
			}
			parts = append(parts, labels[i:i+1])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	var stride, base, win []int64
	var reversal []string
	pad := [][]int64{}
	for _, x := range attrOf[window](in, "window") {
		stride, base, win = append(stride, x.stride), append(base, x.baseDilation), append(win, x.windowDilation)
		pad = append(pad, []int64{x.padLow, x.padHigh})
		reversal = append(reversal, strconv.FormatBool(x.reversal))
	}
	count := func(name string) ir.NamedAttr {
		n, ok := in.attrByName(name).(int64)
		if !ok {
			n = 1
		}
		return im.named(name, intText(n))
	}
	rev := "array<i1>"
	if len(reversal) > 0 {
		rev = "array<i1: " + strings.Join(reversal, ", ") + ">"
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
		im.named("dimension_numbers", "#stablehlo.conv<"+side(d.input)+"x"+side(d.kernel)+"->"+side(d.output)+">"),
		im.named("window_strides", intsText(stride)), im.named("padding", pairsText(pad)), im.named("lhs_dilation", intsText(base)), im.named("rhs_dilation", intsText(win)),
		im.named("window_reversal", rev), count("feature_group_count"), count("batch_group_count"), s.precision(in))
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
		im.named(chlo.AttrDimension, intText(s.oneDim(in))), im.named("is_reverse", strconv.FormatBool(attrOf[bool](in, "is_reverse"))),
		im.named("operandSegmentSizes", fmt.Sprintf("array<i32: %d, %d>", inputs, carries)),
		im.named("resultSegmentSizes", fmt.Sprintf("array<i32: %d, %d>", outputs, carries)),
	}
	if v, ok := in.attrByName("is_associative").(bool); ok {
		attrs = append(attrs, im.named("is_associative", strconv.FormatBool(v)))
	}
	return s.make(in, chlo.Scan, s.operands(in), []*ir.Region{s.region(attrOf[*computation](in, "to_apply"))}, attrs...)
}

func (s *importScope) topK(in *instr) value {
	if !attrOf[bool](in, "largest") {
		return s.make(in, mhlo.TopK, s.operands(in), nil, s.im.named("k", intText(attrOf[int64](in, "k"))), s.im.named("largest", "false"))
	}
	return s.make(in, chlo.TopK, s.operands(in), nil, s.im.named("k", intText(attrOf[int64](in, "k"))))
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
	kind := strings.ToUpper(strings.TrimPrefix(distributions[attrOf[int64](in, "distribution")], "rng_"))
	return s.make(in, stablehlo.Rng, operands, nil, im.named("rng_distribution", "#stablehlo<rng_distribution "+kind+">"))
}

func (s *importScope) rngBits(in *instr) value {
	im := s.im
	alg := strings.ToUpper(strings.TrimPrefix(rngAlgorithms[attrOf[int64](in, "algorithm")], "rng_"))
	attr := im.named("rng_algorithm", "#stablehlo<rng_algorithm "+alg+">")
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
	v := s.values[in.operands[0]]
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
		v = s.makeAs(in, pf, stablehlo.Transpose, []*ir.Value{v.v}, nil, s.im.named("permutation", intsText(permFrom)))
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
		v = s.makeAs(in, to, stablehlo.Transpose, []*ir.Value{v.v}, nil, s.im.named("permutation", intsText(inverse)))
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
	inner := &importScope{im: im, b: s.b, comp: c, values: make(map[*instr]value, len(c.instrs)), outer: s}
	for i, p := range c.params {
		inner.values[p] = s.values[operands[i]]
	}
	inner.body(c)
	return inner.values[c.root]
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
	bind := func(c *computation) func(*ir.Block, map[*instr]value) {
		return func(block *ir.Block, values map[*instr]value) {
			var args []*ir.Value
			for _, t := range im.types(in, in.shape) {
				args = append(args, block.AddArg(t, nil))
			}
			if len(c.params) == 1 {
				values[c.params[0]], _ = unflatten(in.shape, args)
			} else {
				im.fail(in, "computation %s of a while has %d parameters, expected one", c.name, len(c.params))
			}
		}
	}
	cond, body := attrOf[*computation](in, "condition"), attrOf[*computation](in, "body")
	return s.make(in, stablehlo.While, s.operands(in), []*ir.Region{s.regionOf(cond, bind(cond)), s.regionOf(body, bind(body))})
}

// conditional becomes if or case, whose branches use the operands directly.
func (s *importScope) conditional(in *instr) value {
	def := stablehlo.Case
	if in.attrByName("true_computation") != nil {
		def = stablehlo.If
	}
	var regions []*ir.Region
	for i, c := range in.branches() {
		regions = append(regions, s.regionOf(c, func(_ *ir.Block, values map[*instr]value) {
			if len(c.params) != 1 {
				s.im.fail(in, "branch %s has %d parameters, expected one", c.name, len(c.params))
			}
			values[c.params[0]] = s.values[in.operands[i+1]]
		}))
	}
	return s.make(in, def, []*ir.Value{s.values[in.operands[0]].v}, regions)
}

func (s *importScope) customCall(in *instr) value {
	im := s.im
	api := int64(1)
	if v, ok := in.attrByName(stablehlo.AttrAPIVersion).(int64); ok {
		api = v
	}
	attrs := []ir.NamedAttr{
		{Name: stablehlo.AttrCallTargetName, Attr: ir.NewString(attrOf[string](in, "custom_call_target"))},
		im.named("api_version", fmt.Sprintf("%d : i32", api)),
	}
	if attrOf[bool](in, "custom_call_has_side_effect") {
		attrs = append(attrs, im.named("has_side_effect", "true"))
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
		attrs = append(attrs, im.named("output_operand_aliases", s.aliases(in, list)))
	}
	return s.make(in, stablehlo.CustomCall, s.operands(in), nil, attrs...)
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
func (s *importScope) aliases(in *instr, list []valueAlias) string {
	var parts []string
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
		index := "[]"
		if in.shape.leaves() > 1 {
			index = "[" + strconv.Itoa(out) + "]"
		}
		parts = append(parts, fmt.Sprintf("#stablehlo.output_operand_alias<output_tuple_indices = %s, operand_index = %d, operand_tuple_indices = []>", index, operand+within))
	}
	return "[" + strings.Join(parts, ", ") + "]"
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
	kind := 1
	def := stablehlo.Send
	if host {
		kind = 2
	}
	if in.op == opRecv {
		def = stablehlo.Recv
		if host {
			kind = 3
		}
	}
	attrs := []ir.NamedAttr{
		im.named("channel_handle", fmt.Sprintf("#stablehlo.channel_handle<handle = %d, type = %d>", attrOf[int64](in, "channel_id"), kind)),
		im.named("is_host_transfer", strconv.FormatBool(host)),
	}
	context := value{v: nil}
	if in.op == opSend {
		t := s.makeAs(in, tokenShape, def, s.operands(in), nil, attrs...)
		return value{tuple: true, elems: []value{s.values[in.operands[0]], context, t}}
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
			operands.elems = append(operands.elems, s.values[o])
		}
		return value{tuple: true, elems: []value{operands, v}}
	case opAsyncUpdate:
		return s.values[in.operands[0]]
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
	all := s.makeAs(in, array(in.operands[1].shape.elem, int64(len(sizes))), stablehlo.Concatenate, sizes, nil, s.im.named("dimension", intText(0)))
	return s.make(in, stablehlo.DynamicReshape, []*ir.Value{list[0], all.v}, nil)
}
