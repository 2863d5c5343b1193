package hlo

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Export translates a StableHLO module to HLO. Functions and regions become computations; several results become a
// tuple. An op without an equivalent is an error with its position. After passes.PrepareForHLO the result equals XLA's
// own translation.
func Export(m *ir.Module) (out *Module, err error) {
	defer catch(&err)
	if m, err = expandModule(m); err != nil {
		return nil, err
	}
	ex := newExporter(m, &Module{src: m.Source(), replicas: 1, partitions: 1})
	ex.module()
	ex.separateStarts(nil)
	return ex.out, nil
}

func newExporter(m *ir.Module, out *Module) *exporter {
	ex := &exporter{m: m, out: out, funcs: map[string]*computation{}, names: map[string]int{}, live: map[*ir.Op]bool{}}
	ex.values.slots = make([]slot[*instr], m.NumIDs())
	return ex
}

// exporter translates one module.
type exporter struct {
	m       *ir.Module
	out     *Module
	symbols map[string]fn.FuncOp    // nil until one is looked up
	funcs   map[string]*computation // functions by name; nil while one is being translated
	names   map[string]int
	live    map[*ir.Op]bool
	frames  *frameTables // of out; nil as long as no location has a stack

	up    *update    // nil for a module that is translated as a whole
	taken *nameTable // names of the module that is updated

	values table[*instr] // by the IDs of values
	scopes uint32        // the last number of a scope
	slabs  slabs
}

// exportScope is a computation under construction.
type exportScope struct {
	ex     *exporter
	c      *computation
	number uint32    // of the scope, in tables
	op     *ir.Op    // the op that is being translated
	body   *ir.Block // that is being translated
	new    *updated  // nil for a module that is translated as a whole
}

// lookup returns the function called name.
func (ex *exporter) lookup(name string) (fn.FuncOp, bool) {
	if ex.symbols == nil {
		funcs := fn.Funcs(ex.m)
		ex.symbols = make(map[string]fn.FuncOp, len(funcs))
		for _, f := range slices.Backward(funcs) {
			ex.symbols[f.Symbol()] = f
		}
	}
	f, ok := ex.symbols[name]
	return f, ok
}

func (ex *exporter) fail(op *ir.Op, format string, args ...any) {
	d := ex.m.Errorf(op, format, args...)
	if !d.Pos.IsValid() {
		d.Pos = diag.At(0)
	}
	panic(failure{d})
}

// unique returns base with a number that makes the name unique.
func (ex *exporter) unique(base string) string {
	for {
		ex.names[base]++
		name := base + "." + strconv.Itoa(ex.names[base])
		if ex.taken == nil {
			return name
		}
		if e, _ := ex.taken.find(name); e == nil {
			return name
		}
	}
}

func (ex *exporter) module() {
	root := ex.m.Op()
	ex.attributes()
	main, ok := ex.lookup("main")
	if !ok {
		funcs := fn.Funcs(ex.m)
		if len(funcs) != 1 {
			ex.fail(root, "a module without a function main has no entry computation")
		}
		main = funcs[0]
	}
	ex.out.entry = ex.function(main)
	for i := range main.Type().Inputs() {
		ex.argument(main, i)
	}
	ex.out.layout = &entryLayout{result: ex.out.entry.root.shape}
	for _, p := range ex.out.entry.params {
		ex.out.layout.params = append(ex.out.layout.params, p.shape)
	}
}

// attributes copies the attributes of the module.
func (ex *exporter) attributes() {
	root := ex.m.Op()
	ex.out.name = "main"
	if s, ok := root.Attr(ir.SymbolName).(*ir.StringAttr); ok && s.Value() != "" {
		ex.out.name = plainName(s.Value())
	}
	number := func(name string, v *int64) {
		for _, dialect := range []string{"mhlo.", "stablehlo."} {
			if i, ok := root.Attr(dialect + name).(*ir.IntegerAttr); ok {
				*v = i.Value()
			}
		}
	}
	number("num_replicas", &ex.out.replicas)
	number("num_partitions", &ex.out.partitions)
	if d, ok := root.Attr(mhlo.AttrFrontendAttributes).(*ir.DictAttr); ok {
		ex.out.frontend = pairsOf(d)
	}
}

// argument copies the attributes of an argument of main to the entry computation.
func (ex *exporter) argument(main fn.FuncOp, i int) {
	d := main.ArgAttrs(i)
	if d == nil {
		return
	}
	p := ex.out.entry.params[i]
	if out, ok := d.Get(fn.AttrAliasingOutput).(*ir.IntegerAttr); ok {
		a := moduleAlias{valueAlias: valueAlias{number: int64(i)}}
		if ex.out.entry.root.shape.isTuple() {
			a.output = []int64{out.Value()}
		}
		ex.out.aliases = append(ex.out.aliases, a)
	} else if b, ok := d.Get(fn.AttrBufferDonor).(*ir.IntegerAttr); ok && b.Value() != 0 {
		ex.out.donors = append(ex.out.donors, donor{param: int64(i)})
	}
	ex.argumentAttrs(main, i, p)
}

// argumentAttrs copies the attributes of argument i of main to its parameter p.
func (ex *exporter) argumentAttrs(main fn.FuncOp, i int, p *instr) {
	d := main.ArgAttrs(i)
	if s, ok := d.Get(mhlo.AttrSharding).(*ir.StringAttr); ok {
		ex.set(p, cSharding, ex.sharding(main.Op, s.Value()))
	}
	if f, ok := d.Get(mhlo.AttrFrontendAttributes).(*ir.DictAttr); ok {
		ex.set(p, cFrontend, pairsOf(f))
	}
}

func pairsOf(d *ir.DictAttr) []pair {
	var list []pair
	for _, e := range d.Entries() {
		if s, ok := e.Attr.(*ir.StringAttr); ok {
			list = append(list, pair{e.Name, s.Value()})
		} else {
			list = append(list, pair{e.Name, e.Attr.String()})
		}
	}
	return sortPairs(list)
}

// plainName returns s as a name of HLO: letters, digits, dots, dashes and underscores.
func plainName(s string) string {
	b := []byte(s)
	for i, c := range b {
		if !isNameChar(c) {
			b[i] = '_'
		}
	}
	if len(b) == 0 || !isLetter(b[0]) {
		b = append([]byte{'_'}, b...)
	}
	return string(b)
}

// sharding reads the text of an attribute mhlo.sharding.
func (ex *exporter) sharding(op *ir.Op, text string) *sharding {
	s, err := parseSharding(text)
	if err != nil {
		ex.fail(op, "mhlo.sharding cannot be read: %v", mistakeOf(err))
	}
	return s
}

// parseSharding reads a sharding as XLA's translation does (ConvertSharding in
// translate/mhlo_to_hlo/attribute_exporter.cc): an encoded OpSharding, which older frameworks write and which is a
// replicated sharding if it is empty, or its text.
func parseSharding(text string) (s *sharding, err error) {
	if !strings.HasPrefix(text, "{") { // no message starts with this byte
		if s, err := decodeSharding(text); err == nil {
			return s, nil
		}
	}
	defer catch(&err)
	p := &parser{lexer: &lexer{src: diag.NewSource("sharding", []byte(text)), text: text}, m: &Module{}}
	p.next()
	s = p.sharding()
	if !p.at(eofToken) {
		p.failToken("expected the end of the sharding, found %s", p.found())
	}
	return s, nil
}

func (ex *exporter) set(in *instr, spec *attrSpec, v any) {
	if spec.omit != nil && spec.omit(v) {
		return
	}
	order, s := in.lookup(spec.name)
	if s == nil {
		return
	}
	if in.get(s) != nil { // of an instruction that is kept, which may share its attributes with the old one
		in.attrs = slices.DeleteFunc(slices.Clone(in.attrs), func(a attr) bool { return a.spec == s })
	}
	in.set(order, s, v)
}

// function translates a function. Functions that it calls are translated first.
func (ex *exporter) function(f fn.FuncOp) *computation {
	name := f.Symbol()
	if c, ok := ex.funcs[name]; ok {
		if c == nil {
			ex.fail(f.Op, "function %s calls itself", name)
		}
		return c
	}
	if f.External() {
		ex.fail(f.Op, "function %s has no body", name)
	}
	ex.funcs[name] = nil
	s := ex.newScope(f.Op)
	if ex.up != nil {
		if old := ex.up.link.funcs[name]; old != nil {
			if ex.up.function(name) {
				ex.funcs[name] = old.regions[0].comp
				return old.regions[0].comp
			}
			s.attach(old.regions[0])
		}
	}
	s.params(f.Body().Args())
	var shardings []*sharding
	for i := range f.Type().Results() {
		var sh *sharding
		if d := f.ResultAttrs(i); d != nil {
			if text, ok := d.Get(mhlo.AttrSharding).(*ir.StringAttr); ok {
				sh = ex.sharding(f.Op, text.Value())
			}
		}
		shardings = append(shardings, sh)
	}
	s.block(f.Body())
	term := f.Body().Last()
	s.finish(term, name)
	if len(shardings) > 1 && !slices.Contains(shardings, nil) {
		ex.set(s.c.root, cSharding, &sharding{kind: tupleSharding, elems: shardings})
	}
	ex.funcs[name] = s.c
	return s.c
}

// newScope returns the scope of a computation that op, a function or the op around a region, stands for.
func (ex *exporter) newScope(op *ir.Op) *exportScope {
	ex.scopes++
	s := &exportScope{ex: ex, op: op, c: &computation{defined: true}, number: ex.scopes}
	if ex.up != nil {
		s.new = &updated{up: ex.up, number: s.number}
	}
	return s
}

// instrOf returns the instruction that has the value v, nil if there is none yet.
func (s *exportScope) instrOf(v *ir.Value) *instr {
	in, _ := s.ex.values.get(s.number, uint32(v.ID()))
	return in
}

// setValue says that in has the value v.
func (s *exportScope) setValue(v *ir.Value, in *instr) { s.ex.values.set(s.number, uint32(v.ID()), in) }

// params adds parameters for the arguments of a block.
func (s *exportScope) params(args []*ir.Value) {
	if s.new != nil && s.oldParams(args) {
		return
	}
	for _, a := range args {
		s.param(a)
	}
}

// param adds a parameter for v.
func (s *exportScope) param(v *ir.Value) *instr {
	in := &instr{op: opParameter, param: int64(len(s.c.params)), shape: s.ex.shapeOf(s.op, v.Type())}
	in.name = s.ex.unique("Arg_" + strconv.Itoa(len(s.c.params)))
	if m := s.ex.metadataOf(v.Loc()); m != nil && s.new == nil {
		s.ex.set(in, cMetadata, m)
	}
	s.append(in)
	s.c.params = append(s.c.params, in)
	s.setValue(v, in)
	return in
}

// finish makes the terminator's operands the root and adds the computation to the module.
func (s *exportScope) finish(term *ir.Op, name string) {
	if term == nil {
		s.ex.fail(s.op, "a block without a terminator has no equivalent in HLO")
	}
	s.op = term
	s.root(term.OperandList())
	s.close(plainName(name))
}

// close names the computation and adds it to the module.
func (s *exportScope) close(name string) {
	s.c.name = ""
	if s.new != nil {
		s.finishUpdate()
	}
	if s.c.name == "" {
		s.c.name = s.ex.unique(name)
	}
	s.ex.out.comps = append(s.ex.out.comps, s.c)
}

// root makes the results the root.
func (s *exportScope) root(results []*ir.Value) {
	if s.new != nil {
		s.updatedRoot(results)
	} else {
		s.plainRoot(results)
	}
}

// plainRoot makes the results the root: one as it is, several as a tuple.
func (s *exportScope) plainRoot(results []*ir.Value) {
	if len(results) == 1 {
		s.c.root = s.value(results[0])
		return
	}
	list := make([]*instr, len(results))
	for i, v := range results {
		list[i] = s.value(v)
	}
	s.c.root = s.tuple(list)
}

func (s *exportScope) tuple(list []*instr) *instr {
	return s.add(opTuple, tuple(shapesOf(list)...), list)
}

// value returns the instruction of a value, which may come from outside of the computation.
func (s *exportScope) value(v *ir.Value) *instr {
	if in := s.instrOf(v); in != nil {
		return in
	}
	if s.new != nil {
		if in := s.produce(v); in != nil {
			return in
		}
	}
	op := s.op
	if op == nil {
		op = s.ex.m.Op()
	}
	s.ex.fail(op, "an HLO computation cannot use a value that is defined outside of it")
	return nil
}

// add adds an instruction with the metadata of the current op.
func (s *exportScope) add(o *opcode, sh *shape, operands []*instr, attrs ...attr) *instr {
	in := &instr{op: o, shape: sh, operands: operands, name: s.ex.unique(o.name)}
	if s.op != nil {
		in.pos = s.op.Pos()
		if m := s.ex.metadataOf(s.op.Loc()); m != nil {
			attrs = append(attrs, attr{cMetadata, m})
		}
	}
	for _, a := range attrs {
		if v, ok := a.value.(*sharding); ok {
			a.value = v.of(in)
		}
		s.ex.set(in, a.spec, a.value)
	}
	s.append(in)
	return in
}

// named returns an attribute of o by its name.
func named(o *opcode, name string, v any) attr {
	i, ok := o.byName[name]
	if !ok {
		panic("hlo: " + o.name + " has no attribute " + name)
	}
	return attr{o.spec(i), v}
}

// shapeOf returns the shape of a type.
func (ex *exporter) shapeOf(op *ir.Op, t ir.Type) *shape {
	switch t := t.(type) {
	case *ir.TensorType:
		if !t.Ranked() {
			break
		}
		elem := elementTypeOf(t.DType())
		if elem == invalidType {
			break
		}
		s := &shape{elem: elem, dims: slices.Clone(t.Shape()), layout: defaultLayout(t.Rank())}
		bounds := stablehlo.BoundsOf(t)
		for i, d := range s.dims {
			if d == ir.Dynamic {
				if s.dynamic == nil {
					s.dynamic = make([]bool, len(s.dims))
				}
				s.dynamic[i] = true
				s.dims[i] = unboundedSize
				if bounds != nil && bounds[i] != ir.Dynamic {
					s.dims[i] = bounds[i]
				}
			}
		}
		return s
	case *ir.TupleType:
		return ex.tupleOf(op, t.Elems())
	case *ir.DialectType:
		if stablehlo.IsToken(t) {
			return tokenShape
		}
	}
	ex.fail(op, "type %s has no equivalent in HLO", t)
	return nil
}

// tupleOf returns the shape of a tuple with elements of the given types.
func (ex *exporter) tupleOf(op *ir.Op, types []ir.Type) *shape {
	s := tuple()
	for _, t := range types {
		s.elems = append(s.elems, ex.shapeOf(op, t))
	}
	return s
}

// elementTypeOf returns the element type of HLO for a type of package tensor.
func elementTypeOf(d tensor.DType) elementType {
	if d == tensor.Invalid {
		return invalidType
	}
	for i := range typeRows {
		if typeRows[i].dtype == d {
			return elementType(i)
		}
	}
	return invalidType
}

// results returns the shape of an op's result: a tuple for several results or none.
func (s *exportScope) results(op *ir.Op) *shape {
	types := op.ResultTypes()
	if len(types) == 1 {
		return s.ex.shapeOf(op, types[0])
	}
	return s.ex.tupleOf(op, types)
}

// bind makes the results of op the result of in, the parts of a tuple if there are several. A computation of the module
// that is updated may return tuples within tuples for them.
func (s *exportScope) bind(op *ir.Op, in *instr) {
	if op.NumResults() == 1 {
		if _, isTuple := op.Result(0).Type().(*ir.TupleType); isTuple || !in.shape.isTuple() {
			s.setValue(op.Result(0), in)
			return
		}
	}
	if s.new != nil {
		s.bindUpdated(op, in)
		return
	}
	for i, r := range op.ResultList() {
		s.setValue(r, s.element(in, int64(i)))
	}
}

// bindData makes the results of op, which receives data and a token, the parts of in: the parts of the data, if one is
// not set, and the token.
func (s *exportScope) bindData(op *ir.Op, in *instr, one bool) {
	if s.new != nil {
		s.bindUpdated(op, in)
		return
	}
	results := op.ResultList()
	data, token := results[:len(results)-1], results[len(results)-1]
	parts := s.element(in, 0)
	if one {
		s.setValue(data[0], parts)
	} else {
		for i, v := range data {
			s.setValue(v, s.element(parts, int64(i)))
		}
	}
	s.setValue(token, s.element(in, 1))
}

func (s *exportScope) element(in *instr, i int64) *instr {
	return s.add(opGTE, in.shape.elems[i], []*instr{in}, attr{opGTE.attrs[0], i})
}

// block translates the ops of a block except its terminator.
func (s *exportScope) block(b *ir.Block) {
	s.body = b
	if s.new != nil {
		s.updateBlock(b)
		return
	}
	for op := range b.Ops() {
		if op.Next() == nil && op.Has(ir.Terminator) {
			break
		}
		if !s.ex.isLive(op) {
			continue
		}
		s.op = op
		s.translate(op)
	}
}

// isLive reports whether op has an effect, or a result that a live op uses. XLA's translation omits other ops.
func (ex *exporter) isLive(op *ir.Op) bool {
	if live, ok := ex.live[op]; ok {
		return live
	}
	live := !op.Has(ir.Pure) || op.Has(ir.Terminator)
	ex.live[op] = live
	for _, r := range op.ResultList() {
		for u := range r.Uses() {
			if live {
				break
			}
			live = ex.isLive(u.Owner())
		}
	}
	ex.live[op] = live
	return live
}

// region translates a region of scalars (a reducer, a comparator) to a computation.
func (s *exportScope) region(r *ir.Region) *computation {
	inner := s.ex.newScope(r.Op())
	scope, c := s.ex.up.regionOf(r)
	if c != nil {
		return c
	}
	inner.attach(scope)
	inner.params(r.Entry().Args())
	inner.block(r.Entry())
	inner.finish(r.Entry().Last(), "region_"+strconv.Itoa(s.ex.names["region"]))
	s.ex.names["region"]++
	return inner.c
}

// operandsOf returns the instructions of op's operands.
func (s *exportScope) operandsOf(op *ir.Op) []*instr { return s.firstOperands(op, op.NumOperands()) }

// firstOperands returns the instructions of the first n operands of op.
func (s *exportScope) firstOperands(op *ir.Op, n int) []*instr {
	list := make([]*instr, n)
	for i, v := range op.OperandList()[:n] {
		list[i] = s.value(v)
		if s.new != nil {
			list[i] = s.plainOperand(list[i], v)
		}
	}
	return list
}

// exportOps finds the instruction for ops that have the same operands and results and no attributes.
var exportOps = func() map[*ir.Def]*opcode {
	m := map[*ir.Def]*opcode{}
	for _, o := range opcodes {
		if o.def != nil {
			m[o.def] = o
		}
	}
	return m
}()

// The helpers below read attributes of the current op.

func (s *exportScope) ints(name string) []int64 {
	switch a := s.op.Attr(name).(type) {
	case *ir.DenseArrayAttr:
		return slices.Clone(a.Values())
	case *ir.DenseAttr:
		v, err := a.Int64s()
		if err == nil {
			return v
		}
	}
	return nil
}

func (s *exportScope) int(name string) int64 {
	a, _ := s.op.Attr(name).(*ir.IntegerAttr)
	if a == nil {
		return 0
	}
	return a.Value()
}

func (s *exportScope) bool(name string) bool {
	switch a := s.op.Attr(name).(type) {
	case *ir.IntegerAttr:
		return a.Value() != 0
	case *ir.UnitAttr:
		return true
	}
	return false
}

func (s *exportScope) str(name string) string {
	if a, ok := s.op.Attr(name).(*ir.StringAttr); ok {
		return a.Value()
	}
	return ""
}

// enum returns the number of the case that an attribute names.
func (s *exportScope) enum(name string, words []string, prefix string) (int64, bool) {
	a, ok := s.op.Attr(name).(*ir.EnumAttr)
	if !ok {
		return 0, false
	}
	i := slices.IndexFunc(words, func(w string) bool { return strings.EqualFold(w, prefix+a.Case()) })
	return int64(i), i >= 0
}

// translate adds the instructions of one op.
func (s *exportScope) translate(op *ir.Op) {
	if o := exportOps[op.Def()]; o != nil {
		s.simple(op, o)
		return
	}
	if c := exportCarriers[op.Def()]; c != nil {
		s.carry(op, c)
		return
	}
	switch {
	case op.Is(stablehlo.Constant), op.Is(chlo.Constant):
		d, ok := op.Attr(stablehlo.AttrValue).(*ir.DenseAttr)
		if r, is := op.Attr(stablehlo.AttrValue).(*ir.ResourceAttr); is {
			if r.Key() == ir.Elided {
				in := s.add(opConstant, s.results(op), nil)
				in.literal = &literal{shape: in.shape, elided: true}
				s.bind(op, in)
				return
			}
			v, err := s.ex.m.ResourceElements(r)
			if err != nil {
				s.ex.fail(op, "%v", err)
			}
			d, ok = ir.NewDense(r.Type(), v, false), true
		}
		if !ok {
			s.ex.fail(op, "this constant has no equivalent in HLO")
		}
		s.bind(op, s.constant(op, d))
	case op.Is(stablehlo.Tuple):
		s.setValue(op.Result(0), s.add(opTuple, s.results(op), s.operandsOf(op)))
	case op.Is(stablehlo.GetTupleElement):
		s.setValue(op.Result(0), s.element(s.value(op.Operand(0)), s.int("index")))
	case op.Is(stablehlo.Compare):
		s.compare(op)
	case op.Is(stablehlo.BroadcastInDim):
		s.setValue(op.Result(0), s.broadcastInDim(s.value(op.Operand(0)), s.results(op), s.ints("broadcast_dimensions")))
	case op.Is(stablehlo.Broadcast):
		in := s.value(op.Operand(0))
		out := s.results(op)
		dims := make([]int64, len(in.shape.dims))
		for i := range dims {
			dims[i] = int64(len(out.dims) - len(dims) + i)
		}
		s.setValue(op.Result(0), s.broadcastInDim(in, out, dims))
	case op.Is(stablehlo.Transpose):
		s.transpose(op)
	case op.Is(stablehlo.Concatenate):
		if op.NumOperands() == 1 {
			if in := s.value(op.Operand(0)); sameTypes(in.shape, s.results(op)) {
				s.setValue(op.Result(0), in)
				return
			}
		}
		s.make(op, "concatenate", "dimensions", []int64{s.int("dimension")})
	case op.Is(stablehlo.Slice):
		var list []sliceDim
		limit, stride := s.ints("limit_indices"), s.ints("strides")
		for i, start := range s.ints("start_indices") {
			list = append(list, sliceDim{start, limit[i], stride[i]})
		}
		if in := s.value(op.Operand(0)); sameTypes(in.shape, s.results(op)) { // it has each element, if any
			s.setValue(op.Result(0), in)
			return
		}
		s.make(op, "slice", "slice", list)
	case op.Is(stablehlo.Pad):
		list := []paddingDim{}
		high, interior := s.ints("edge_padding_high"), s.ints("interior_padding")
		for i, low := range s.ints("edge_padding_low") {
			list = append(list, paddingDim{low, high[i], interior[i]})
		}
		s.make(op, "pad", "padding", list)
	case op.Is(stablehlo.DynamicSlice):
		s.make(op, "dynamic-slice", "dynamic_slice_sizes", s.ints("slice_sizes"))
	case op.Is(stablehlo.Gather):
		d, _ := ir.DataOf[stablehlo.GatherDims](op.Attr(stablehlo.AttrDimensionNumbers))
		s.make(op, "gather", "offset_dims", list(d.OffsetDims), "collapsed_slice_dims", list(d.CollapsedSliceDims), "start_index_map", list(d.StartIndexMap),
			"operand_batching_dims", list(d.OperandBatchingDims), "start_indices_batching_dims", list(d.StartIndicesBatchingDims),
			"index_vector_dim", d.IndexVectorDim, "slice_sizes", s.ints("slice_sizes"), "indices_are_sorted", s.bool("indices_are_sorted"))
	case op.Is(stablehlo.Scatter):
		d, _ := ir.DataOf[stablehlo.ScatterDims](op.Attr(stablehlo.AttrScatterDimensionNumbers))
		s.make(op, "scatter", "update_window_dims", list(d.UpdateWindowDims), "inserted_window_dims", list(d.InsertedWindowDims),
			"scatter_dims_to_operand_dims", list(d.ScatterDimsToOperandDims), "input_batching_dims", list(d.InputBatchingDims),
			"scatter_indices_batching_dims", list(d.ScatterIndicesBatchingDim), "index_vector_dim", d.IndexVectorDim,
			"indices_are_sorted", s.bool("indices_are_sorted"), "unique_indices", s.bool("unique_indices"), "to_apply", s.region(op.Region(0)))
	case op.Is(stablehlo.DotGeneral):
		d, _ := ir.DataOf[stablehlo.DotDims](op.Attr(stablehlo.AttrDotDimensionNumbers))
		s.dot(op, *d)
	case op.Is(stablehlo.Dot):
		a := s.ex.shapeOf(op, op.Operand(0).Type())
		s.dot(op, stablehlo.DotDims{LHSContracting: []int64{int64(len(a.dims) - 1)}, RHSContracting: []int64{0}})
	case op.Is(chlo.RaggedDot):
		d, _ := ir.DataOf[chlo.RaggedDotDims](op.Attr(chlo.AttrRaggedDotDimensionNumbers))
		s.make(op, "ragged-dot", "lhs_batch_dims", list(d.LHSBatching), "lhs_contracting_dims", list(d.LHSContracting), "rhs_batch_dims", list(d.RHSBatching),
			"rhs_contracting_dims", list(d.RHSContracting), "lhs_ragged_dims", list(d.LHSRagged), "rhs_group_dims", list(d.RHSGroup), "operand_precision", s.precision())
	case op.Is(chlo.TopK):
		s.topK(op, true)
	case op.Is(mhlo.TopK):
		s.topK(op, op.Attr(mhlo.AttrLargest) == nil || s.bool("largest"))
	case op.Is(chlo.Scan):
		s.scan(op)
	case op.Is(stablehlo.Convolution):
		s.convolution(op)
	case op.Is(stablehlo.Reduce):
		s.make(op, "reduce", "dimensions", s.ints("dimensions"), "to_apply", s.region(op.Region(0)))
	case op.Is(stablehlo.ReduceWindow):
		s.make(op, "reduce-window", "window", s.window("window_dimensions", "base_dilations", "window_dilations"), "to_apply", s.region(op.Region(0)))
	case op.Is(stablehlo.SelectAndScatter):
		s.make(op, "select-and-scatter", "window", s.window("window_dimensions", "", ""), "select", s.region(op.Region(0)), "scatter", s.region(op.Region(1)))
	case op.Is(stablehlo.Map):
		s.make(op, "map", "dimensions", s.ints("dimensions"), "to_apply", s.region(op.Region(0)))
	case op.Is(stablehlo.Sort):
		dim := s.int("dimension")
		if op.Attr(stablehlo.AttrDimension) == nil || dim < 0 { // the last one is the default
			dim = int64(len(s.ex.shapeOf(op, op.Operand(0).Type()).dims)) - max(1, -dim)
		}
		s.make(op, "sort", "dimensions", []int64{dim}, "is_stable", s.bool("is_stable"), "to_apply", s.region(op.Region(0)))
	case op.Is(stablehlo.Rng):
		kind, _ := s.enum("rng_distribution", distributions, "rng_")
		o := opcodes["rng"]
		s.bind(op, s.add(o, s.results(op), s.firstOperands(op, 2), append(s.common(op), named(o, "distribution", kind))...))
	case op.Is(stablehlo.RngBitGenerator):
		kind, _ := s.enum("rng_algorithm", rngAlgorithms, "rng_")
		s.make(op, "rng-bit-generator", "algorithm", kind)
	case op.Is(stablehlo.DynamicReshape) && s.keepsElements(op):
		s.dynamicReshape(op)
	case op.Is(fn.Call):
		s.call(op)
	case op.Is(stablehlo.While):
		s.while(op)
	case op.Is(stablehlo.If), op.Is(stablehlo.Case):
		s.conditional(op)
	case op.IsOrMirrors(stablehlo.CustomCall):
		s.customCall(op)
	case op.Is(stablehlo.CreateToken), op.Is(stablehlo.AfterAll):
		s.make(op, "after-all")
	case op.Is(stablehlo.Infeed):
		s.infeed(op)
	case op.Is(stablehlo.Outfeed):
		s.outfeed(op)
	case op.Is(stablehlo.Send), op.Is(stablehlo.Recv):
		s.transfer(op)
	case op.Is(stablehlo.AllReduce):
		s.collective(op, "all-reduce", "to_apply", s.region(op.Region(0)))
	case op.Is(stablehlo.ReduceScatter):
		s.collective(op, "reduce-scatter", "dimensions", []int64{s.int("scatter_dimension")}, "to_apply", s.region(op.Region(0)))
	case op.Is(stablehlo.AllGather):
		s.collective(op, "all-gather", "dimensions", []int64{s.int("all_gather_dim")})
	case op.Is(stablehlo.AllToAll):
		s.allToAll(op)
	case op.Is(stablehlo.CollectiveBroadcast):
		s.collective(op, "collective-broadcast", "has_dynamic_root", op.Attr(stablehlo.AttrHasDynamicRoot) != nil)
	case op.Is(stablehlo.CollectiveReduce):
		s.collective(op, "collective-reduce", "has_dynamic_root", op.Attr(stablehlo.AttrHasDynamicRoot) != nil, "to_apply", s.region(op.Region(0)))
	case op.Is(stablehlo.CollectivePermute):
		o := opcodes["collective-permute"]
		s.makeWith(op, o, s.channel(o), "source_target_pairs", s.rows("source_target_pairs"))
	case op.Is(stablehlo.Composite):
		s.composite(op)
	default:
		if s.mhloOp(op) {
			return
		}
		s.ex.fail(op, "'%s' has no equivalent in HLO", op.Name())
	}
}

// keepsElements reports whether op, a dynamic_reshape, has bounds for as many elements as its operand. XLA ends the
// process if a dynamic-reshape changes their number.
func (s *exportScope) keepsElements(op *ir.Op) bool {
	t, ok := op.Result(0).Type().(*ir.TensorType)
	return ok && stablehlo.IsBounded(t) && s.ex.shapeOf(op, t).numElements() == s.ex.shapeOf(op, op.Operand(0).Type()).numElements()
}

// dynamicReshape writes a reshape to sizes up to a bound. In HLO each size is an operand of its own.
func (s *exportScope) dynamicReshape(op *ir.Op) {
	operands := []*instr{s.value(op.Operand(0))}
	list := s.value(op.Operand(1))
	slice, reshape := opcodes["slice"], opcodes["reshape"]
	for i := range list.shape.dims[0] {
		size := list
		if list.shape.dims[0] > 1 {
			size = s.add(slice, array(list.shape.elem, 1), []*instr{list}, named(slice, "slice", []sliceDim{{i, i + 1, 1}}))
		}
		size = s.add(reshape, array(list.shape.elem), []*instr{size})
		if s32 := elementTypeOf(tensor.I32); size.shape.elem != s32 {
			size = s.add(opcodes["convert"], array(s32), []*instr{size})
		}
		operands = append(operands, size)
	}
	s.bind(op, s.add(opcodes["dynamic-reshape"], s.results(op), operands, s.common(op)...))
}

// list returns v, never nil.
func list(v []int64) []int64 {
	if v == nil {
		return []int64{}
	}
	return slices.Clone(v)
}

// make adds the instruction called name with the operands and results of op and the given attributes.
func (s *exportScope) make(op *ir.Op, name string, attrs ...any) {
	s.makeWith(op, opcodes[name], nil, attrs...)
}

// makeWith is make with more attributes, which come first.
func (s *exportScope) makeWith(op *ir.Op, o *opcode, more []attr, attrs ...any) {
	all := append(s.common(op), more...)
	for i := 0; i < len(attrs); i += 2 {
		all = append(all, named(o, attrs[i].(string), attrs[i+1]))
	}
	s.bind(op, s.add(o, s.results(op), s.operandsOf(op), all...))
}

// common returns the attributes that any instruction may have.
func (s *exportScope) common(op *ir.Op) []attr {
	var attrs []attr
	if t, ok := op.Attr(mhlo.AttrSharding).(*ir.StringAttr); ok {
		attrs = append(attrs, attr{cSharding, s.ex.sharding(op, t.Value())})
	}
	if d, ok := op.Attr(mhlo.AttrFrontendAttributes).(*ir.DictAttr); ok {
		attrs = append(attrs, attr{cFrontend, pairsOf(d)})
	}
	if v, ok := ir.DataOf[mhlo.OriginalValue](op.Attr(mhlo.AttrOriginalValue)); ok {
		if o := originOf(v, op.ResultTypes()); o != nil {
			attrs = append(attrs, attr{cOrigin, o})
		}
	}
	return attrs
}

// laidOutAs returns s in the layout that all operands have, if they are arrays of the same dimensions.
func (s *shape) laidOutAs(operands []*instr) *shape {
	for _, o := range operands {
		if !s.isArray() || !slices.Equal(o.shape.dims, s.dims) || !sameLayout(o.shape.layout, operands[0].shape.layout) {
			return s
		}
	}
	if len(operands) == 0 {
		return s
	}
	out := *s
	out.layout = operands[0].shape.layout
	return &out
}

func (s *exportScope) float(name string) float64 {
	if a, ok := s.op.Attr(name).(*ir.FloatAttr); ok {
		return tensor.DecodeFloat(a.Type().DType(), a.Bits())
	}
	return 0
}

func (s *exportScope) simple(op *ir.Op, o *opcode) {
	operands := s.operandsOf(op)
	attrs := s.common(op)
	sh := s.results(op)
	switch {
	case op.Is(stablehlo.OptimizationBarrier):
		if len(operands) != 1 {
			operands = []*instr{s.tuple(operands)}
		}
	case op.Is(stablehlo.Reshape):
		if sameTypes(operands[0].shape, sh) {
			s.setValue(op.Result(0), operands[0])
			return
		}
	case op.Is(stablehlo.Convert):
		if sameTypes(operands[0].shape, sh) {
			s.setValue(op.Result(0), operands[0])
			return
		}
	case op.Is(stablehlo.Clamp), op.Is(stablehlo.Select):
		s.spread(operands)
	}
	if s.new != nil && s.ex.out.scheduled {
		sh = sh.laidOutAs(operands)
	}
	if r, ok := ir.DataOf[stablehlo.ResultAccuracy](op.Attr(stablehlo.AttrResultAccuracy)); ok && o.accuracy {
		a := &accuracy{atol: r.Atol, rtol: r.Rtol, ulps: float64(r.Ulps)}
		if r.Mode.Code == int(stablehlo.ResultAccuracyModeTOLERANCE) {
			a.tolerance = true
		} else {
			a.mode = int64(r.Mode.Code)
		}
		attrs = append(attrs, attr{cAccuracy, a})
	}
	s.bind(op, s.add(o, sh, operands, attrs...))
}

// spread broadcasts the scalar operands of a clamp or a select to the type of the other operands.
func (s *exportScope) spread(operands []*instr) {
	big := operands[1].shape
	for i, in := range operands {
		if len(in.shape.dims) == 0 && len(big.dims) > 0 {
			operands[i] = s.add(opBroadcast, big.withElem(in.shape.elem), []*instr{in}, attr{aOptDimensions, []int64{}})
		}
	}
}

// constant makes a constant of dense elements. A large constant that repeats one element becomes a broadcast.
func (s *exportScope) constant(op *ir.Op, d *ir.DenseAttr) *instr {
	sh := s.ex.shapeOf(op, d.Type())
	t, splat, err := d.Elements()
	if err != nil {
		s.ex.fail(op, "the constant cannot be read: %v", err)
	}
	// XLA's translation keeps the sharding and drops frontend attributes.
	sharding := slices.DeleteFunc(s.common(op), func(a attr) bool { return a.spec != cSharding })
	if splat && sh.numElements() > 1 {
		in := s.add(opConstant, array(sh.elem), nil)
		in.literal = &literal{shape: in.shape, data: t.Bytes()}
		return s.add(opBroadcast, sh, []*instr{in}, append(sharding, attr{aOptDimensions, []int64{}})...)
	}
	if splat && sh.numElements() == 0 {
		t = tensor.New(t.DType(), tensor.Shape(sh.dims))
	}
	in := s.add(opConstant, sh, nil, sharding...)
	in.literal = &literal{shape: sh, data: t.Bytes()}
	return in
}

func (s *exportScope) compare(op *ir.Op) {
	direction, _ := s.enum("comparison_direction", directions, "")
	o := opCompare
	attrs := append(s.common(op), attr{o.attrs[0], direction})
	operands := s.operandsOf(op)
	if kind, ok := s.enum("compare_type", comparisonTypes, ""); ok && kind != operands[0].shape.defaultComparison() {
		attrs = append(attrs, attr{o.attrs[1], kind})
	}
	s.bind(op, s.add(o, s.results(op), operands, attrs...))
}

// broadcastInDim is XlaBuilder::BroadcastInDim: a broadcast to the sizes of the operand at the given dimensions, and,
// if sizes of 1 grow, a reshape that drops them and another broadcast.
func (s *exportScope) broadcastInDim(in *instr, out *shape, dims []int64) *instr {
	if in.shape.dynamic == nil && out.dynamic == nil && in.shape.numElements() == out.numElements() && slices.IsSorted(dims) {
		if slices.Equal(in.shape.dims, out.dims) {
			return in
		}
		return s.add(opcodes["reshape"], out, []*instr{in}, s.common(s.op)...)
	}
	sizes := slices.Clone(out.dims)
	for i, d := range dims {
		sizes[d] = in.shape.dims[i]
	}
	first := out.withDims(sizes, out.dynamicList())
	v := s.add(opBroadcast, first, []*instr{in}, append(s.common(s.op), attr{aOptDimensions, list(dims)})...)
	if slices.Equal(sizes, out.dims) {
		return v
	}
	var kept, keptDims []int64
	for i, n := range sizes {
		if n == out.dims[i] {
			kept, keptDims = append(kept, int64(i)), append(keptDims, n)
		}
	}
	r := s.add(opcodes["reshape"], array(out.elem, keptDims...), []*instr{v})
	return s.add(opBroadcast, out, []*instr{r}, attr{aOptDimensions, list(kept)})
}

func (s *exportScope) transpose(op *ir.Op) {
	s.bind(op, s.transposed(s.value(op.Operand(0)), list(s.ints("permutation")), s.common(op)))
}

// transposed adds a transpose. Its result has the layout that leaves the elements where they are.
func (s *exportScope) transposed(in *instr, perm []int64, attrs []attr) *instr {
	o := opcodes["transpose"]
	attrs = append(attrs, attr{o.attrs[0], perm})
	sh, why := inferTranspose(&instr{op: o, operands: []*instr{in}, attrs: attrs})
	if why != "" {
		s.ex.fail(s.op, "%s", why)
	}
	return s.add(o, sh, []*instr{in}, attrs...)
}

// precision returns the precision of the operands of a product.
func (s *exportScope) precision() []int64 {
	a, ok := s.op.Attr(stablehlo.AttrPrecisionConfig).(*ir.ArrayAttr)
	if !ok {
		return []int64{}
	}
	var out []int64
	for _, e := range a.Elems() {
		if p, ok := e.(*ir.EnumAttr); ok {
			out = append(out, int64(p.Code()))
		}
	}
	return list(out)
}

func (s *exportScope) dot(op *ir.Op, d stablehlo.DotDims) {
	attrs := []any{"lhs_batch_dims", list(d.LHSBatching), "lhs_contracting_dims", list(d.LHSContracting), "rhs_batch_dims", list(d.RHSBatching),
		"rhs_contracting_dims", list(d.RHSContracting), "operand_precision", s.precision()}
	if a, ok := ir.DataOf[stablehlo.DotAlgorithm](op.Attr(stablehlo.AttrAlgorithm)); ok {
		name := "dot_" + strings.ToLower(a.LHSPrecision+"_"+a.RHSPrecision+"_"+a.Accumulation)
		if strings.HasPrefix(strings.ToLower(a.LHSPrecision), "f8") {
			name = "dot_any_f8_any_f8_f32"
			if a.AllowImpreciseAccumulation {
				name += "_fast_accum"
			} else if a.PrimitiveOperations > 1 {
				name = "dot_bf16_bf16_fp8"
			}
		}
		if n := a.PrimitiveOperations; strings.HasSuffix(name, "fp8") {
			name += "x" + strconv.FormatInt(n, 10)
		} else if n > 1 {
			name += "_x" + strconv.FormatInt(n, 10)
		}
		i := slices.Index(algorithms, name)
		if i < 0 {
			s.ex.fail(op, "the algorithm has no equivalent in HLO")
		}
		attrs = append(attrs, "algorithm", int64(i))
	}
	s.make(op, "dot", attrs...)
}

// window makes a window from the attributes with the given names.
func (s *exportScope) window(sizeName, baseName, winName string) window {
	return newWindow(s.ints(sizeName), s.ints("window_strides"), s.ints(baseName), s.ints(winName), s.rows("padding"))
}

// rows returns the rows of the matrix of integers called name.
func (s *exportScope) rows(name string) [][]int64 {
	return s.matrix(s.op.Attr(name), name == "padding")
}

// matrix returns the rows of a matrix of integers. Unless negative, numbers below 0 only fill short rows.
func (s *exportScope) matrix(attr ir.Attr, negative bool) [][]int64 {
	a, ok := attr.(*ir.DenseAttr)
	if !ok {
		return nil
	}
	t, ok := a.Type().(*ir.TensorType)
	if !ok || t.Rank() != 2 {
		return nil
	}
	v, err := a.Int64s()
	if err != nil {
		return nil
	}
	n := int(t.Shape()[1])
	rows := [][]int64{}
	for i := range int(t.Shape()[0]) {
		row := []int64{}
		for _, x := range v[i*n : (i+1)*n] {
			if x >= 0 || negative {
				row = append(row, x)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func (s *exportScope) convolution(op *ir.Op) {
	d, _ := ir.DataOf[stablehlo.ConvDims](op.Attr(stablehlo.AttrDimensionNumbers))
	operands := s.operandsOf(op)
	side := func(rank int, a int64, first byte, b int64, second byte, spatial []int64) string {
		out := []byte(strings.Repeat("?", rank))
		out[a], out[b] = first, second
		for i, x := range spatial {
			out[x] = '0' + byte(i)
		}
		return string(out)
	}
	sh := s.results(op)
	labels := convDims{
		side(len(operands[0].shape.dims), d.InputBatch, 'b', d.InputFeature, 'f', d.InputSpatial),
		side(len(operands[1].shape.dims), d.KernelInputFeature, 'i', d.KernelOutput, 'o', d.KernelSpatial),
		side(len(sh.dims), d.OutputBatch, 'b', d.OutputFeature, 'f', d.OutputSpatial),
	}
	size := make([]int64, len(d.KernelSpatial))
	for i, k := range d.KernelSpatial {
		size[i] = operands[1].shape.dims[k]
	}
	w := newWindow(size, s.ints("window_strides"), s.ints("lhs_dilation"), s.ints("rhs_dilation"), s.rows("padding"))
	for i, n := range s.ints("window_reversal") {
		w[i].reversal = n != 0
	}
	s.make(op, "convolution", "window", w, "dim_labels", labels, "feature_group_count", s.int("feature_group_count"), "batch_group_count", s.int("batch_group_count"),
		"operand_precision", s.precision())
}

func (s *exportScope) call(op *ir.Op) {
	f, ok := s.ex.lookup(fn.Callee(op))
	if !ok {
		s.ex.fail(op, "function %s does not exist", fn.Callee(op))
	}
	outer := s.op
	c := s.ex.function(f)
	s.op = outer
	s.bind(op, s.add(opCall, c.root.shape, s.arguments(op, c), append(s.common(op), named(opCall, "to_apply", c))...))
}

// arguments returns the operands of op as arguments of c, which may be tuples of them if c is a computation of the
// module that is updated.
func (s *exportScope) arguments(op *ir.Op, c *computation) []*instr {
	list := s.operandsOf(op)
	parts := 0
	for _, p := range c.params {
		parts += p.shape.leaves()
	}
	if s.new == nil || parts != len(list) {
		return list
	}
	values := op.OperandList()
	out := make([]*instr, len(c.params))
	for i, p := range c.params {
		n := p.shape.leaves()
		if !p.shape.isTuple() && sameShape(list[0].shape, p.shape) {
			out[i] = list[0]
		} else {
			out[i] = s.fit(p.shape, values[:n:n], true)
		}
		list, values = list[n:], values[n:]
	}
	return out
}

// topK leaves is_stable out of a stable selection: XLA before 0.12 does not read it.
func (s *exportScope) topK(op *ir.Op, largest bool) {
	fields := []any{"k", s.int("k"), "largest", largest}
	if op.Attr(chlo.AttrIsStable) != nil && !s.bool(chlo.AttrIsStable) {
		fields = append(fields, chlo.AttrIsStable, false)
	}
	s.make(op, "topk", fields...)
}

// scan orders operands and results as HLO does: inputs and outputs first, then carried values.
func (s *exportScope) scan(op *ir.Op) {
	inputs := s.ints("operandSegmentSizes")
	if len(inputs) != 2 {
		s.ex.fail(op, "this scan has no equivalent in HLO")
	}
	s.make(op, "scan", "dimensions", []int64{s.int("dimension")}, "num_carries", inputs[1], "is_reverse", s.bool("is_reverse"),
		"is_associative", s.bool("is_associative"), "to_apply", s.region(op.Region(0)))
}

// raggedAllToAll is the instruction for the custom call of that name.
func (s *exportScope) raggedAllToAll(op *ir.Op, config *ir.DictAttr) {
	attrs := []any{"replica_groups", &replicaGroups{lists: s.matrix(config.Get("replica_groups"), false)}}
	if id, ok := config.Get("channel_id").(*ir.IntegerAttr); ok && id.Value() > 0 {
		attrs = append(attrs, "channel_id", id.Value())
	}
	s.make(op, "ragged-all-to-all", attrs...)
}

// composite becomes a call of its decomposition, with the composite's name and attributes on the call.
func (s *exportScope) composite(op *ir.Op) {
	ref, ok := op.Attr(stablehlo.AttrDecomposition).(*ir.SymbolRefAttr)
	var f fn.FuncOp
	if ok {
		f, ok = s.ex.lookup(ref.Root())
	}
	if !ok {
		s.ex.fail(op, "the composite has no decomposition")
	}
	c := s.ex.function(f)
	s.op = op
	fields := []pair{{compositeAttributes, "{}"}, {compositeName, s.str("name")}, {compositeVersion, strconv.FormatInt(s.int("version"), 10)}}
	if d, ok := op.Attr(stablehlo.AttrCompositeAttributes).(*ir.DictAttr); ok {
		fields[0].value = d.String()
	}
	s.bind(op, s.add(opCall, c.root.shape, s.arguments(op, c), named(opCall, "to_apply", c), named(opCall, "is_composite", true), attr{cFrontend, fields}))
}

// callees translates the functions that attributes of op name.
func (s *exportScope) callees(op *ir.Op) []*computation {
	var comps []*computation
	var visit func(a ir.Attr)
	visit = func(a ir.Attr) {
		switch a := a.(type) {
		case *ir.SymbolRefAttr:
			f, ok := s.ex.lookup(a.Root())
			if !ok {
				s.ex.fail(op, "function %s does not exist", a.Root())
			}
			comps = append(comps, s.ex.function(f))
		case *ir.ArrayAttr:
			for _, e := range a.Elems() {
				visit(e)
			}
		}
	}
	for _, a := range op.Attrs() {
		visit(a.Attr)
	}
	return comps
}

func (s *exportScope) customCall(op *ir.Op) {
	if config, ok := op.Attr(stablehlo.AttrBackendConfig).(*ir.DictAttr); ok && s.str("call_target_name") == stablehlo.TargetRaggedAllToAll && op.NumOperands() == 6 {
		s.raggedAllToAll(op, config)
		return
	}
	o := opCustomCall
	attrs := append(s.common(op), named(o, "custom_call_target", s.str("call_target_name")), named(o, "custom_call_has_side_effect", s.bool("has_side_effect")))
	v := s.int("api_version")
	if op.Attr(stablehlo.AttrAPIVersion) == nil {
		v = int64(stablehlo.APIOriginal)
	}
	if v >= 0 && v < int64(len(apiVersions)) {
		attrs = append(attrs, named(o, "api_version", v))
	}
	switch c := op.Attr(stablehlo.AttrBackendConfig).(type) {
	case *ir.StringAttr:
		attrs = append(attrs, attr{cConfig, c.Value()})
	case *ir.DictAttr:
		attrs = append(attrs, attr{cConfig, c.String()})
	}
	if _, ok := op.Attr(stablehlo.AttrCalledComputations).(*ir.ArrayAttr); ok {
		if comps := s.callees(op); len(comps) > 0 {
			attrs = append(attrs, named(o, "called_computations", comps))
		}
		s.op = op
	}
	operands := s.operandsOf(op)
	layouts, _ := op.Attr(stablehlo.AttrOperandLayouts).(*ir.ArrayAttr)
	if s.new != nil { // a handler reads the bytes
		for i, v := range op.OperandList() {
			sh := s.ex.shapeOf(op, v.Type())
			if layouts != nil {
				sh = withLayout(sh, layouts.Elems()[i])
			}
			operands[i] = s.relayoutTo(operands[i], sh, v)
		}
	}
	sh := s.results(op)
	if layouts != nil {
		var shapes []*shape
		for i, e := range layouts.Elems() {
			shapes = append(shapes, withLayout(operands[i].shape, e))
		}
		attrs = append(attrs, named(o, "operand_layout_constraints", shapes))
	}
	if layouts, ok := op.Attr(stablehlo.AttrResultLayouts).(*ir.ArrayAttr); ok {
		if list := layouts.Elems(); op.NumResults() == 1 && len(list) == 1 {
			sh = withLayout(sh, list[0])
		} else if sh.isTuple() && len(list) == len(sh.elems) {
			out := &shape{elem: tupleType}
			for i, e := range sh.elems {
				out.elems = append(out.elems, withLayout(e, list[i]))
			}
			sh = out
		}
	}
	if list, ok := op.Attr(stablehlo.AttrOutputOperandAliases).(*ir.ArrayAttr); ok {
		var aliases []valueAlias
		for _, e := range list.Elems() {
			if a, ok := ir.DataOf[stablehlo.OutputOperandAlias](e); ok {
				aliases = append(aliases, valueAlias{a.OutputTupleIndices, a.OperandIndex, a.OperandTupleIndices})
			}
		}
		attrs = append(attrs, named(o, "output_to_operand_aliasing", aliases))
	}
	s.bind(op, s.add(o, sh, operands, append(attrs, s.callFacts(op)...)...))
}

// withLayout returns s in the layout that an attribute lists, minor dimension first.
func withLayout(s *shape, a ir.Attr) *shape {
	d, ok := a.(*ir.DenseAttr)
	if !ok || !s.isArray() {
		return s
	}
	dims, err := d.Int64s()
	if err != nil || len(dims) != len(s.dims) {
		return s
	}
	out := *s
	out.layout = &layout{tailPadding: 1, minorToMajor: slices.Clone(dims)}
	return &out
}

func (s *exportScope) infeed(op *ir.Op) {
	types := op.ResultTypes()
	data := s.ex.tupleOf(op, types[:len(types)-1])
	if list, ok := op.Attr(stablehlo.AttrLayout).(*ir.ArrayAttr); ok && len(list.Elems()) == len(data.elems) {
		for i, e := range list.Elems() {
			if dims, ok := e.(*ir.ArrayAttr); ok && len(dims.Elems()) == len(data.elems[i].dims) && data.elems[i].isArray() {
				l := &layout{tailPadding: 1}
				for _, d := range dims.Elems() {
					if v, ok := d.(*ir.IntegerAttr); ok {
						l.minorToMajor = append(l.minorToMajor, v.Value())
					}
				}
				out := *data.elems[i]
				out.layout = l
				data.elems[i] = &out
			}
		}
	}
	in := s.add(opInfeed, tuple(data, tokenShape), s.operandsOf(op), append(s.common(op), named(opInfeed, "infeed_config", s.str("infeed_config")))...)
	s.bindData(op, in, false)
}

func (s *exportScope) outfeed(op *ir.Op) {
	operands := s.operandsOf(op)
	n := len(operands) - 1
	data := operands[:n]
	v := s.tuple(data)
	attrs := append(s.common(op), named(opOutfeed, "outfeed_shape", v.shape), named(opOutfeed, "outfeed_config", s.str("outfeed_config")))
	s.bind(op, s.add(opOutfeed, tokenShape, []*instr{v, operands[n]}, attrs...))
}

// transfer makes a send or recv and its -done.
func (s *exportScope) transfer(op *ir.Op) {
	host := s.bool("is_host_transfer")
	operands := s.operandsOf(op)
	pairs := s.rows(stablehlo.AttrSourceTargetPairs)
	attrs := func(o *opcode) []attr {
		return withPairs(append(append(s.common(op), s.channel(o)...), named(o, "is_host_transfer", host)), pairs)
	}
	if op.Is(stablehlo.Send) {
		n := len(operands) - 1
		data := operands[0]
		if n != 1 {
			data = s.tuple(operands[:n])
		}
		start := s.add(opSend, tuple(data.shape, array(u32), tokenShape), []*instr{data, operands[n]}, attrs(opSend)...)
		s.setValue(op.Result(0), s.add(opSendDone, tokenShape, []*instr{start}, attrs(opSendDone)...))
		return
	}
	types := op.ResultTypes()
	n := len(types) - 1
	data := s.ex.tupleOf(op, types[:n])
	if n == 1 {
		data = data.elems[0]
	}
	start := s.add(opRecv, tuple(data, array(u32), tokenShape), operands, attrs(opRecv)...)
	done := s.add(opRecvDone, tuple(data, tokenShape), []*instr{start}, attrs(opRecvDone)...)
	s.bindData(op, done, n == 1)
}

// sourceTargetPairs is the frontend attribute in which XLA keeps the pairs of devices of a send or recv.
const sourceTargetPairs = "_xla_send_recv_source_target_pairs"

// withPairs adds the pairs of a transfer to attrs. A frontend attribute of the op has precedence, as in XLA.
func withPairs(attrs []attr, pairs [][]int64) []attr {
	if len(pairs) == 0 {
		return attrs
	}
	all := []pair{{sourceTargetPairs, string(appendLists(nil, pairs))}}
	for i, a := range attrs {
		if a.spec == cFrontend {
			attrs[i].value = sortPairs(append(all, a.value.([]pair)...))
			return attrs
		}
	}
	return append(attrs, attr{cFrontend, all})
}

// channel returns the channel of a collective or a transfer.
func (s *exportScope) channel(o *opcode) []attr {
	var attrs []attr
	_, global := o.byName["use_global_device_ids"]
	global = global && s.bool("use_global_device_ids")
	if h, ok := ir.DataOf[stablehlo.ChannelHandle](s.op.Attr(stablehlo.AttrChannelHandle)); ok && (h.Handle > 0 || global) {
		attrs = append(attrs, named(o, "channel_id", h.Handle))
	}
	if global {
		attrs = append(attrs, named(o, "use_global_device_ids", true))
	}
	return attrs
}

// collective makes a collective with replica groups.
func (s *exportScope) collective(op *ir.Op, name string, attrs ...any) {
	o := opcodes[name]
	s.makeWith(op, o, append(s.channel(o), s.groups(o)), attrs...)
}

// groups returns the replica groups of a collective.
func (s *exportScope) groups(o *opcode) attr {
	return named(o, "replica_groups", &replicaGroups{lists: s.rows("replica_groups")})
}

// allToAll uses the form with one dimension if the split dimension is also the joined one. Otherwise it reshapes the
// array before and after the exchange.
func (s *exportScope) allToAll(op *ir.Op) {
	split, concat := s.int("split_dimension"), s.int("concat_dimension")
	if split == concat {
		s.collective(op, "all-to-all", "dimensions", []int64{split})
		return
	}
	if op.NumOperands() != 1 {
		s.ex.fail(op, "this all_to_all has no equivalent in HLO")
	}
	in := s.value(op.Operand(0))
	out := s.results(op)
	n := s.int("split_count")
	// Split the dimension into two, exchange over the first, then move that one before the joined dimension.
	dims := slices.Clone(in.shape.dims)
	dims[split] /= n
	dims = slices.Insert(dims, int(split), n)
	v := s.add(opcodes["reshape"], array(in.shape.elem, dims...), []*instr{in})
	o := opcodes["all-to-all"]
	attrs := append(s.channel(o), s.groups(o), named(o, "dimensions", []int64{split}))
	v = s.add(o, v.shape, []*instr{v}, attrs...)
	var perm []int64
	for d := range int64(len(in.shape.dims)) {
		axis := d
		if axis >= split {
			axis++
		}
		if d == concat {
			perm = append(perm, split)
		}
		perm = append(perm, axis)
	}
	s.setValue(op.Result(0), s.add(opcodes["reshape"], out, []*instr{s.transposed(v, perm, nil)}))
}
