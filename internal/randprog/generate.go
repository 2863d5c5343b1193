package randprog

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/tensor"
)

// Options limit the generated programs.
type Options struct {
	Form  Form
	Depth int  // of nested control flow; 0 is 3
	Large bool // values of 4 KiB and matrix products, so that XLA's executor runs concurrently
	// TapsOnly omits hooks with results; then no data flows from one hook to another.
	TapsOnly bool
	// NoCond keeps hooks out of conditions.
	NoCond bool
}

// maxEvents bounds the events of one run.
const maxEvents = 400

// New returns the program of a seed. It skips programs without hooks or with too many events.
func New(seed uint64, opts Options) *Program {
	if opts.Depth == 0 {
		opts.Depth = 3
	}
	for try := uint64(0); ; try++ {
		g := &generator{r: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15*(try+1)+uint64(opts.Form))), opts: opts, p: &Program{Seed: seed, Form: opts.Form, streams: 1}}
		p := g.program()
		if len(p.Sites) == 0 {
			continue
		}
		if _, err := p.Eval(); err == nil {
			return p
		}
	}
}

type generator struct {
	r      *rand.Rand
	opts   Options
	p      *Program
	cur    *frameSize
	inCond bool
	// withCond holds functions that are called from conditions.
	calls map[*function]int
	left  int // statements that may still be generated
}

// frameSize counts the values of one function.
type frameSize struct{ n int }

func (g *generator) value(t Type) *value {
	v := &value{typ: t, at: g.cur.n}
	g.cur.n++
	return v
}

func (g *generator) chance(percent int) bool { return g.r.IntN(100) < percent }

var (
	scalarI32 = Type{tensor.I32, nil}
	scalarF32 = Type{tensor.F32, nil}
	scalarI1  = Type{tensor.I1, nil}
)

func (g *generator) shape() tensor.Shape {
	if g.opts.Large {
		switch g.r.IntN(6) {
		case 0:
			return nil
		case 1:
			return tensor.Shape{1024}
		case 2:
			return tensor.Shape{0}
		}
		return tensor.Shape{64, 64}
	}
	switch g.r.IntN(10) {
	case 0, 1, 2:
		return nil
	case 3, 4:
		return tensor.Shape{4}
	case 5:
		return tensor.Shape{2, 3}
	case 6:
		return tensor.Shape{0}
	case 7:
		return tensor.Shape{0, 3}
	case 8:
		return tensor.Shape{1}
	}
	return tensor.Shape{3, 3}
}

func (g *generator) typ() Type {
	switch g.r.IntN(10) {
	case 0:
		return Type{tensor.UI8, g.shape()}
	case 1:
		return Type{tensor.I1, g.shape()}
	case 2, 3, 4, 5:
		return Type{tensor.F32, g.shape()}
	}
	return Type{tensor.I32, g.shape()}
}

func (g *generator) types(most int) []Type {
	var out []Type
	for range g.r.IntN(most + 1) {
		out = append(out, g.typ())
	}
	return out
}

func (g *generator) program() *Program {
	p := g.p
	g.calls = map[*function]int{}
	if p.Form.tokens() && p.Form != EXLAOutfeed && g.chance(40) {
		p.streams = 2
	}
	g.left = 45
	for i := range g.r.IntN(4) {
		p.funcs = append(p.funcs, g.function(fmt.Sprintf("f%d", i), g.types(3), 1+g.r.IntN(2)))
	}
	main := g.function("main", g.types(3), 2)
	p.funcs = append(p.funcs, main)
	for _, a := range main.body.args {
		t := tensor.New(a.typ.DType, a.typ.Shape)
		e := make([]int64, a.typ.elements())
		for i := range e {
			e[i] = g.number(a.typ.DType)
		}
		encode(t, e)
		p.Args = append(p.Args, t)
	}
	return p
}

func (g *generator) number(d tensor.DType) int64 {
	switch d {
	case tensor.I1:
		return int64(g.r.IntN(2))
	case tensor.UI8:
		return int64(g.r.IntN(256))
	case tensor.F32:
		return int64(g.r.IntN(41) - 20)
	}
	return int64(g.r.IntN(201) - 100)
}

func (g *generator) function(name string, args []Type, results int) *function {
	g.cur = &frameSize{}
	f := &function{name: name, body: &block{}}
	for _, t := range args {
		f.body.args = append(f.body.args, g.value(t))
	}
	s := &scope{vals: append([]*value(nil), f.body.args...), block: f.body}
	g.statements(s, g.opts.Depth, 3+g.r.IntN(8))
	for range results {
		f.body.ret = append(f.body.ret, g.pick(s, g.anyType(s)))
	}
	f.hooks = reaches(f.body)
	return f
}

// scope holds the values that a block under construction can use.
type scope struct {
	vals  []*value
	block *block
}

func (s *scope) child(b *block) *scope {
	c := &scope{vals: append([]*value(nil), s.vals...), block: b}
	c.vals = append(c.vals, b.args...)
	return c
}

func (s *scope) add(st *stmt) {
	s.block.stmts = append(s.block.stmts, st)
	s.vals = append(s.vals, st.out...)
}

// anyType returns the type of some value in scope, or any type.
func (g *generator) anyType(s *scope) Type {
	if len(s.vals) > 0 && g.chance(80) {
		// Prefer recent values, which include the results of hooks.
		i := max(g.r.IntN(len(s.vals)), g.r.IntN(len(s.vals)))
		return s.vals[i].typ
	}
	return g.typ()
}

// pick returns a value of type t: one in scope, or a new constant.
func (g *generator) pick(s *scope, t Type) *value {
	var fit []*value
	for _, v := range s.vals {
		if v.typ.equal(t) {
			fit = append(fit, v)
		}
	}
	if len(fit) > 0 && g.chance(90) {
		return fit[max(g.r.IntN(len(fit)), g.r.IntN(len(fit)))]
	}
	return g.constant(s, t, g.number(t.DType))
}

func (g *generator) constant(s *scope, t Type, n int64) *value {
	st := &stmt{kind: stConst, n: n, out: []*value{g.value(t)}}
	s.add(st)
	return st.out[0]
}

func (g *generator) op(s *scope, name string, t Type, in ...*value) *value {
	st := &stmt{kind: stOp, op: name, in: in, out: []*value{g.value(t)}}
	s.add(st)
	return st.out[0]
}

func (g *generator) statements(s *scope, depth, n int) {
	for range n {
		if g.left--; g.left < 0 {
			return
		}
		switch k := g.r.IntN(100); {
		case k < 30:
			g.plain(s)
		case k < 65:
			if g.inCond && g.opts.NoCond {
				g.plain(s)
			} else {
				g.hook(s)
			}
		case k < 75 && depth > 0:
			g.while(s, depth-1)
		case k < 88 && depth > 0:
			g.branch(s, depth-1)
		default:
			g.call(s)
		}
	}
}

func (g *generator) plain(s *scope) {
	t := g.anyType(s)
	switch t.DType {
	case tensor.I1:
		c := g.typ().DType
		if c == tensor.I1 {
			c = tensor.I32
		}
		u := Type{c, t.Shape}
		g.op(s, "compare "+[...]string{"EQ", "NE", "LT", "GE"}[g.r.IntN(4)], t, g.pick(s, u), g.pick(s, u))
	case tensor.UI8:
		g.op(s, [...]string{"add", "multiply", "xor", "maximum", "and"}[g.r.IntN(5)], t, g.pick(s, t), g.pick(s, t))
	case tensor.F32:
		switch g.r.IntN(7) {
		case 0:
			g.op(s, "minimum", t, g.pick(s, t), g.pick(s, t))
		case 1:
			g.op(s, "convert", t, g.op(s, "and", Type{tensor.I32, t.Shape}, g.pick(s, Type{tensor.I32, t.Shape}), g.constant(s, Type{tensor.I32, t.Shape}, 255)))
		case 2:
			g.op(s, "select", t, g.pick(s, Type{tensor.I1, t.Shape}), g.pick(s, t), g.pick(s, t))
		case 3:
			if len(t.Shape) == 2 && t.Shape[0] == t.Shape[1] {
				g.op(s, "dot", t, g.op(s, "clamp100", t, g.pick(s, t)), g.op(s, "clamp100", t, g.pick(s, t)))
				return
			}
			g.op(s, "maximum", t, g.pick(s, t), g.pick(s, t))
		case 4:
			g.op(s, "clampadd", scalarF32, g.op(s, "sum", scalarF32, g.pick(s, t)), g.pick(s, scalarF32))
		case 5:
			g.op(s, "clampsub", t, g.pick(s, t), g.pick(s, t))
		default:
			g.op(s, "clampadd", t, g.pick(s, t), g.pick(s, t))
		}
	default:
		switch g.r.IntN(8) {
		case 0:
			g.op(s, "broadcast", t, g.pick(s, scalarI32))
		case 1:
			g.op(s, "sum", scalarI32, g.pick(s, t))
		case 2:
			g.op(s, "select", t, g.pick(s, Type{tensor.I1, t.Shape}), g.pick(s, t), g.pick(s, t))
		case 3:
			g.op(s, "convert", t, g.pick(s, Type{tensor.F32, t.Shape}))
		case 4:
			if len(t.Shape) == 2 && t.Shape[0] == t.Shape[1] {
				g.op(s, "dot", t, g.pick(s, t), g.pick(s, t))
				return
			}
			g.op(s, "negate", t, g.pick(s, t))
		default:
			g.op(s, [...]string{"add", "subtract", "multiply", "and", "or", "xor", "maximum", "minimum"}[g.r.IntN(8)], t, g.pick(s, t), g.pick(s, t))
		}
	}
}

func (g *generator) hook(s *scope) {
	g.makeHook(s, nil)
}

// kinds returns the kinds of hooks that a format can express.
func kinds(f Form) []hook.Kind {
	switch f {
	case Own, Target:
		return []hook.Kind{hook.Tap, hook.Tap, hook.InOut, hook.Call, hook.Feed}
	case JAX, HCB, SendRecv, Descriptor:
		return []hook.Kind{hook.Tap, hook.Tap, hook.Call, hook.Feed}
	case Outfeed, EXLAOutfeed:
		return []hook.Kind{hook.Tap, hook.Tap, hook.Feed}
	}
	return []hook.Kind{hook.InOut, hook.InOut, hook.Call} // EXLA
}

// makeHook adds a hook; want fixes its result types, nil leaves them free.
func (g *generator) makeHook(s *scope, want []Type) []*value {
	site := &Site{number: len(g.p.Sites) + 1, Label: fmt.Sprintf("h%d", len(g.p.Sites)), Stream: -1, InCond: g.inCond, form: g.p.Form}
	if g.p.Form == Mixed {
		site.form = mixable[g.r.IntN(len(mixable))]
	}
	form := site.form
	if !g.opts.TapsOnly {
		list := kinds(form)
		site.Kind = list[g.r.IntN(len(list))]
	} else {
		site.Kind = hook.Tap
	}
	if want != nil {
		site.Kind = hook.Call
		if form == Outfeed || form == EXLAOutfeed {
			site.Kind = hook.Feed
		}
	}
	if site.Kind == hook.Call && (form == Own || form == JAX || form == Descriptor) && want == nil && g.chance(20) {
		site.Pure = true
	}
	g.order(site)
	var in []*value
	if site.Kind != hook.Feed {
		for range 1 + g.r.IntN(3) {
			in = append(in, g.pick(s, g.anyType(s)))
		}
		if form == Target && in[0].typ.elements() == 0 {
			in[0] = g.pick(s, scalarI32) // it would read as a call with an empty chain
		}
		if form == SendRecv && len(in) == 1 && in[0].typ.equal(Type{tensor.F32, tensor.Shape{1}}) {
			in = append(in, g.pick(s, scalarI32)) // a single zero of this type means that no operand is sent
		}
		if (form == JAX || form == Descriptor) && site.Kind == hook.Tap && g.chance(10) {
			in = nil
		}
	}
	for _, v := range in {
		site.Operands = append(site.Operands, v.typ)
	}
	switch {
	case want != nil:
		site.Results = want
	case site.Kind == hook.InOut:
		site.Results = append([]Type(nil), site.Operands...)
	case site.Kind == hook.Call || site.Kind == hook.Feed:
		site.Results = append([]Type{g.anyType(s)}, g.types(1)...)
		if form == EXLAOutfeed {
			site.Results = site.Results[:1]
		}
		if form == SendRecv && len(site.Results) == 1 && site.Results[0].equal(scalarF32) {
			site.Results = append(site.Results, scalarI32) // a single unused result of this type means that no result is received
		}
	}
	st := &stmt{kind: stHook, in: in, site: site, hooks: !site.Pure}
	for _, t := range site.Results {
		st.out = append(st.out, g.value(t))
	}
	g.p.Sites = append(g.p.Sites, site)
	s.add(st)
	return st.out
}

// order chooses how the hook is ordered: by one of the program's token streams, by a token of its own, or not at all.
func (g *generator) order(site *Site) {
	if !site.form.tokens() || site.Pure {
		return
	}
	site.Stream = g.r.IntN(g.p.streams)
	switch site.form {
	case JAX, Descriptor:
		if g.chance(30) {
			site.Stream = -1 // unordered: only data orders it
		}
	case SendRecv:
		site.newToken, site.fanOut = g.chance(30), g.chance(40)
	case HCB:
		site.newToken = g.p.Form == Mixed && g.chance(30)
	case Outfeed:
		// In a stream with other hooks, an infeed could be read as the answer to an outfeed before it.
		site.newToken = g.p.Form == Mixed
	}
	if site.newToken {
		site.Stream = -1
	}
}

func (g *generator) while(s *scope, depth int) {
	// The counter and its bound (a constant, or data masked to 0..3) come first, then the other carried values.
	var bound *value
	if g.chance(50) {
		bound = g.op(s, "and", scalarI32, g.pick(s, scalarI32), g.constant(s, scalarI32, 3))
	} else {
		bound = g.constant(s, scalarI32, int64(g.r.IntN(4)))
	}
	st := &stmt{kind: stWhile, in: []*value{g.constant(s, scalarI32, 0), bound}}
	for range g.r.IntN(3) {
		st.in = append(st.in, g.pick(s, g.anyType(s)))
	}
	cond, body := &block{}, &block{}
	for _, v := range st.in {
		cond.args = append(cond.args, g.value(v.typ))
		body.args = append(body.args, g.value(v.typ))
	}
	cs := s.child(cond)
	was := g.inCond
	g.inCond = true
	less := g.op(cs, "compare LT", scalarI1, cond.args[0], cond.args[1])
	if g.chance(35) && !g.opts.NoCond {
		g.statements(cs, min(depth, 1), 1+g.r.IntN(2))
		if g.chance(50) && !g.opts.TapsOnly {
			r := g.makeHook(cs, []Type{scalarI32})[0]
			more := g.op(cs, "compare NE", scalarI1, g.op(cs, "and", scalarI32, r, g.constant(cs, scalarI32, 7)), g.constant(cs, scalarI32, 0))
			less = g.op(cs, "and", scalarI1, less, more)
		}
	}
	g.inCond = was
	cond.ret = []*value{less}
	bs := s.child(body)
	g.statements(bs, depth, 1+g.r.IntN(5))
	body.ret = []*value{g.op(bs, "add", scalarI32, body.args[0], g.constant(bs, scalarI32, 1)), body.args[1]}
	for _, a := range body.args[2:] {
		body.ret = append(body.ret, g.pick(bs, a.typ))
	}
	st.blocks = []*block{cond, body}
	st.hooks = reaches(cond) || reaches(body)
	for _, v := range st.in {
		st.out = append(st.out, g.value(v.typ))
	}
	s.add(st)
}

func (g *generator) branch(s *scope, depth int) {
	st := &stmt{kind: stIf, op: "if"}
	n := 2
	if g.chance(35) {
		st.op, n = "case", 1+g.r.IntN(3)
		st.in = []*value{g.op(s, "and", scalarI32, g.pick(s, scalarI32), g.constant(s, scalarI32, 3))}
	} else {
		st.in = []*value{g.pick(s, scalarI1)}
	}
	var types []Type
	for range 1 + g.r.IntN(2) {
		types = append(types, g.anyType(s))
	}
	for range n {
		b := &block{}
		bs := s.child(b)
		g.statements(bs, depth, g.r.IntN(4))
		for _, t := range types {
			b.ret = append(b.ret, g.pick(bs, t))
		}
		st.blocks = append(st.blocks, b)
		st.hooks = st.hooks || reaches(b)
	}
	for _, t := range types {
		st.out = append(st.out, g.value(t))
	}
	s.add(st)
}

func (g *generator) call(s *scope) {
	if len(g.p.funcs) == 0 {
		g.plain(s)
		return
	}
	f := g.p.funcs[g.r.IntN(len(g.p.funcs))]
	if g.inCond && f.hooks && g.opts.NoCond {
		return
	}
	if g.inCond {
		markCond(f.body)
	}
	st := &stmt{kind: stCall, fn: f, hooks: f.hooks}
	for _, a := range f.body.args {
		st.in = append(st.in, g.pick(s, a.typ))
	}
	for _, r := range f.body.ret {
		st.out = append(st.out, g.value(r.typ))
	}
	g.calls[f]++
	s.add(st)
}

// markCond marks the hooks that b reaches as reached from a condition.
func markCond(b *block) {
	for _, st := range b.stmts {
		if st.site != nil {
			st.site.InCond = true
		}
		if st.fn != nil {
			markCond(st.fn.body)
		}
		for _, c := range st.blocks {
			markCond(c)
		}
	}
}

func reaches(b *block) bool {
	for _, st := range b.stmts {
		if st.hooks {
			return true
		}
	}
	return false
}

// encode writes e, one number per element, into t.
func encode(t *tensor.Tensor, e []int64) {
	b := t.Bytes()
	for i, v := range e {
		switch t.DType() {
		case tensor.I32:
			binary.LittleEndian.PutUint32(b[4*i:], uint32(v))
		case tensor.F32:
			binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(float32(v)))
		default:
			b[i] = byte(v)
		}
	}
}

// decode reads a tensor that encode wrote.
func decode(t *tensor.Tensor) []int64 {
	b := t.Bytes()
	e := make([]int64, t.Shape().NumElements())
	for i := range e {
		switch t.DType() {
		case tensor.I32:
			e[i] = int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
		case tensor.F32:
			e[i] = int64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
		default:
			e[i] = int64(b[i])
		}
	}
	return e
}
