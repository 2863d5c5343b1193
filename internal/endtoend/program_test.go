package endtoend

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/hlocb/hlocb/dialect/hlocb"
)

// width is the length of the vectors that random programs compute with.
const width = 4

// program is a random program. Its main takes two vectors and a number and returns two vectors.
type program struct {
	funcs []*function // main first; each calls later ones only
}

// function takes two vectors (v0, v1) and a number (n) and returns a vector; main returns two.
type function struct {
	name string
	body []stmt
	ret  []string
}

// stmt is one statement. Names of vectors are unique in the program.
type stmt interface{}

type (
	// arith is dst = a + b, or dst = a / 2 where b is empty.
	arith struct{ dst, a, b string }
	// hookStmt is a hook in one of the formats.
	hookStmt struct {
		name    string
		format  string
		kind    hlocb.Kind
		ops     []string // vectors; "n" or a counter is a number
		results []string
	}
	// loop runs body trips times; the carried vectors start as init and become next. The condition has hooks of its
	// own, which see the counter and the first carried vector.
	loop struct {
		counter string
		trips   int
		carried []string
		init    []string
		next    []string
		result  []string
		cond    []*hookStmt
		body    []stmt
	}
	// branch chooses by n or a counter being below limit.
	branch struct {
		on        string
		limit     int
		then, els []stmt
		thenValue string
		elseValue string
		dst       string
		asCase    bool
	}
	// call calls a function.
	call struct {
		f      *function
		a, b   string
		n      string
		result string
	}
)

// generator makes programs.
type generator struct {
	r    *rand.Rand
	p    *program
	next int
}

func generate(seed uint64) *program {
	g := &generator{r: rand.New(rand.NewPCG(seed, 7)), p: &program{}}
	n := 1 + g.r.IntN(4)
	for i := range n {
		name := "main"
		if i > 0 {
			name = fmt.Sprintf("f%d", i)
		}
		g.p.funcs = append(g.p.funcs, &function{name: name})
	}
	for i := n - 1; i >= 0; i-- {
		f := g.p.funcs[i]
		scope := []string{f.name + "v0", f.name + "v1"}
		f.body, scope = g.block(scope, []string{f.name + "n"}, 3, g.p.funcs[i+1:])
		f.ret = []string{scope[len(scope)-1]}
		if i == 0 {
			f.ret = append(f.ret, scope[g.r.IntN(len(scope))])
		}
	}
	return g.p
}

func (g *generator) fresh(prefix string) string {
	g.next++
	return fmt.Sprintf("%s%d", prefix, g.next)
}

func (g *generator) pick(list []string) string { return list[g.r.IntN(len(list))] }

// block makes statements; numbers are the counters in scope, callees what may be called.
func (g *generator) block(scope, numbers []string, depth int, callees []*function) ([]stmt, []string) {
	scope = append([]string(nil), scope...)
	var out []stmt
	for range 1 + g.r.IntN(5) {
		switch k := g.r.IntN(10); {
		case k < 2:
			a := &arith{dst: g.fresh("x"), a: g.pick(scope)}
			if g.r.IntN(2) == 0 {
				// Halving the sum keeps values bounded, so that they stay exact.
				b := &arith{dst: g.fresh("x"), a: g.pick(scope), b: a.a}
				out = append(out, b)
				a.a = b.dst
			}
			out, scope = append(out, a), append(scope, a.dst)
		case k < 6 || depth == 0:
			h := g.hook(scope, numbers, "")
			out, scope = append(out, h), append(scope, h.results...)
		case k < 7 && len(callees) > 0:
			c := &call{f: callees[g.r.IntN(len(callees))], a: g.pick(scope), b: g.pick(scope), n: g.pick(numbers), result: g.fresh("x")}
			out, scope = append(out, c), append(scope, c.result)
		case k < 9:
			l := g.loop(scope, numbers, depth, callees)
			out, scope = append(out, l), append(scope, l.result...)
		default:
			b := g.branch(scope, numbers, depth, callees)
			out, scope = append(out, b), append(scope, b.dst)
		}
	}
	return out, scope
}

// formats are what hooks are written in, with what they can do.
var formats = []struct {
	name string
	kind hlocb.Kind
}{
	{"raw-outfeed", hlocb.Tap}, {"raw-outfeed", hlocb.Tap}, {"raw-infeed", hlocb.Feed},
	{"hcb", hlocb.Tap}, {"hcb", hlocb.Call},
	{"jax", hlocb.Tap}, {"jax", hlocb.Call}, {"jax", hlocb.Feed},
	{"descriptor", hlocb.Tap}, {"descriptor", hlocb.Call},
	{"target", hlocb.Tap}, {"target", hlocb.InOut}, {"target", hlocb.Call},
	{"sendrecv", hlocb.Tap}, {"sendrecv", hlocb.Call},
}

func (g *generator) hook(scope, numbers []string, format string) *hookStmt {
	f := formats[g.r.IntN(len(formats))]
	if format != "" {
		f.name, f.kind = format, hlocb.Tap
	}
	h := &hookStmt{format: f.name, kind: f.kind}
	if f.kind != hlocb.Feed {
		for range 1 + g.r.IntN(2) {
			h.ops = append(h.ops, g.pick(scope))
		}
		if f.kind == hlocb.Tap && g.r.IntN(2) == 0 {
			h.ops = append(h.ops, g.pick(numbers))
		}
	}
	switch f.kind {
	case hlocb.Call, hlocb.Feed:
		for range 1 + g.r.IntN(2) {
			h.results = append(h.results, g.fresh("x"))
		}
	case hlocb.InOut:
		for range h.ops {
			h.results = append(h.results, g.fresh("x"))
		}
	}
	return h
}

func (g *generator) loop(scope, numbers []string, depth int, callees []*function) *loop {
	l := &loop{counter: g.fresh("i"), trips: g.r.IntN(4)}
	for range 1 + g.r.IntN(2) {
		l.carried, l.init, l.result = append(l.carried, g.fresh("x")), append(l.init, g.pick(scope)), append(l.result, g.fresh("x"))
	}
	inner := append(append([]string(nil), scope...), l.carried...)
	for range g.r.IntN(3) {
		if g.r.IntN(2) == 0 {
			l.cond = append(l.cond, g.hook(inner, append(append([]string(nil), numbers...), l.counter), "raw-outfeed"))
		}
	}
	var after []string
	l.body, after = g.block(inner, append(append([]string(nil), numbers...), l.counter), depth-1, callees)
	for range l.carried {
		l.next = append(l.next, g.pick(after))
	}
	return l
}

func (g *generator) branch(scope, numbers []string, depth int, callees []*function) *branch {
	b := &branch{on: g.pick(numbers), limit: g.r.IntN(3), dst: g.fresh("x"), asCase: g.r.IntN(2) == 0}
	var after []string
	b.then, after = g.block(scope, numbers, depth-1, callees)
	b.thenValue = g.pick(after)
	if g.r.IntN(3) == 0 {
		b.elseValue = g.pick(scope)
	} else {
		b.els, after = g.block(scope, numbers, depth-1, callees)
		b.elseValue = g.pick(after)
	}
	return b
}

// text writes the program as MLIR and names its hooks in the order they stand in the text, as a rewrite does with
// those whose format has no names.
func (p *program) text() string {
	w := &writer{}
	w.line("module @random {")
	for i, f := range p.funcs {
		vis := "private"
		ret := "tensor<4xf32>"
		if i == 0 {
			vis, ret = "public", "(tensor<4xf32>, tensor<4xf32>)"
		}
		w.line("func.func %s @%s(%%%sv0: tensor<4xf32>, %%%sv1: tensor<4xf32>, %%%sn: tensor<i32>) -> %s {", vis, f.name, f.name, f.name, f.name, ret)
		w.block(f.body)
		var vals, types []string
		for _, v := range f.ret {
			vals, types = append(vals, "%"+v), append(types, "tensor<4xf32>")
		}
		w.line("func.return %s : %s", strings.Join(vals, ", "), strings.Join(types, ", "))
		w.line("}")
	}
	w.line("}")
	return w.b.String()
}

type writer struct {
	b     strings.Builder
	next  int
	hooks int
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.b, format+"\n", args...) }

func (w *writer) tmp() string {
	w.next++
	return fmt.Sprintf("%%t%d", w.next)
}

func typeOf(name string) string {
	if strings.HasPrefix(name, "i") || strings.HasSuffix(name, "n") {
		return "tensor<i32>"
	}
	return "tensor<4xf32>"
}

func (w *writer) block(body []stmt) {
	for _, s := range body {
		switch s := s.(type) {
		case *arith:
			if s.b != "" {
				w.line("%%%s = stablehlo.add %%%s, %%%s : tensor<4xf32>", s.dst, s.a, s.b)
			} else {
				half := w.tmp()
				w.line("%s = stablehlo.constant dense<0.5> : tensor<4xf32>", half)
				w.line("%%%s = stablehlo.multiply %%%s, %s : tensor<4xf32>", s.dst, s.a, half)
			}
		case *hookStmt:
			w.hook(s)
		case *call:
			w.line("%%%s = func.call @%s(%%%s, %%%s, %%%s) : (tensor<4xf32>, tensor<4xf32>, tensor<i32>) -> tensor<4xf32>", s.result, s.f.name, s.a, s.b, s.n)
		case *loop:
			w.loop(s)
		case *branch:
			w.branch(s)
		}
	}
}

func (w *writer) loop(l *loop) {
	zero, limit, res := w.tmp(), w.tmp(), w.tmp()
	w.line("%s = stablehlo.constant dense<0> : tensor<i32>", zero)
	inits, types := []string{fmt.Sprintf("%%%s = %s", l.counter, zero)}, []string{"tensor<i32>"}
	for i, c := range l.carried {
		inits, types = append(inits, fmt.Sprintf("%%%s = %%%s", c, l.init[i])), append(types, "tensor<4xf32>")
	}
	w.line("%s:%d = stablehlo.while(%s) : %s", res, len(types), strings.Join(inits, ", "), strings.Join(types, ", "))
	w.line("cond {")
	for _, h := range l.cond {
		w.hook(h)
	}
	w.line("%s = stablehlo.constant dense<%d> : tensor<i32>", limit, l.trips)
	p := w.tmp()
	w.line("%s = stablehlo.compare LT, %%%s, %s : (tensor<i32>, tensor<i32>) -> tensor<i1>", p, l.counter, limit)
	w.line("stablehlo.return %s : tensor<i1>", p)
	w.line("} do {")
	w.block(l.body)
	one, inc := w.tmp(), w.tmp()
	w.line("%s = stablehlo.constant dense<1> : tensor<i32>", one)
	w.line("%s = stablehlo.add %%%s, %s : tensor<i32>", inc, l.counter, one)
	vals := []string{inc}
	for _, v := range l.next {
		vals = append(vals, "%"+v)
	}
	w.line("stablehlo.return %s : %s", strings.Join(vals, ", "), strings.Join(types, ", "))
	w.line("}")
	// Results get names of their own, so that a vector is always one name.
	for i, r := range l.result {
		z := w.tmp()
		w.line("%s = stablehlo.constant dense<1.0> : tensor<4xf32>", z)
		w.line("%%%s = stablehlo.multiply %s#%d, %s : tensor<4xf32>", r, res, i+1, z)
	}
}

func (w *writer) branch(b *branch) {
	limit, p := w.tmp(), w.tmp()
	w.line("%s = stablehlo.constant dense<%d> : tensor<i32>", limit, b.limit)
	w.line("%s = stablehlo.compare LT, %%%s, %s : (tensor<i32>, tensor<i32>) -> tensor<i1>", p, b.on, limit)
	first, second := b.then, b.els
	v1, v2 := b.thenValue, b.elseValue
	if b.asCase { // case takes the branch of the number: 0 is false
		index := w.tmp()
		w.line("%s = stablehlo.convert %s : (tensor<i1>) -> tensor<i32>", index, p)
		first, second, v1, v2 = second, first, v2, v1
		w.line("%%%s = \"stablehlo.case\"(%s) ({", b.dst, index)
	} else {
		w.line("%%%s = \"stablehlo.if\"(%s) ({", b.dst, p)
	}
	w.block(first)
	w.line("stablehlo.return %%%s : tensor<4xf32>", v1)
	w.line("}, {")
	w.block(second)
	w.line("stablehlo.return %%%s : tensor<4xf32>", v2)
	w.line("}) : (tensor<%s>) -> tensor<4xf32>", map[bool]string{true: "i32", false: "i1"}[b.asCase])
}

const token = "!stablehlo.token"

// hook writes a hook in its format.
func (w *writer) hook(h *hookStmt) {
	h.name = fmt.Sprintf("hook%d", w.hooks)
	w.hooks++
	var ops, types, results, resultTypes []string
	for _, o := range h.ops {
		ops, types = append(ops, "%"+o), append(types, typeOf(o))
	}
	for _, r := range h.results {
		results, resultTypes = append(results, "%"+r), append(resultTypes, "tensor<4xf32>")
	}
	join := func(list ...string) string { return strings.Join(list, ", ") }
	lhs := ""
	if len(results) > 0 {
		lhs = join(results...) + " = "
	}
	newToken := func() string {
		t := w.tmp()
		w.line("%s = stablehlo.create_token : %s", t, token)
		return t
	}
	switch h.format {
	case "raw-outfeed":
		t := newToken()
		w.line("%s = \"stablehlo.outfeed\"(%s) {outfeed_config = %q} : (%s) -> %s", w.tmp(), join(append(ops, t)...), h.name, join(append(types, token)...), token)
	case "raw-infeed":
		t := newToken()
		w.line("%s = \"stablehlo.infeed\"(%s) {infeed_config = %q} : (%s) -> (%s)", join(append(results, w.tmp())...), t, h.name, token, join(append(resultTypes, token)...))
	case "hcb":
		t, c, t1, t2 := newToken(), w.tmp(), w.tmp(), w.tmp()
		w.line("%s = stablehlo.constant dense<[271828, 5]> : tensor<2xui32>", c)
		w.line("%s = \"stablehlo.outfeed\"(%s, %s) : (tensor<2xui32>, %s) -> %s", t1, c, t, token, token)
		w.line("%s = \"stablehlo.outfeed\"(%s) : (%s) -> %s", t2, join(append(ops, t1)...), join(append(types, token)...), token)
		if h.kind == hlocb.Call {
			w.line("%s = \"stablehlo.infeed\"(%s) : (%s) -> (%s)", join(append(results, w.tmp())...), t2, token, join(append(resultTypes, token)...))
		}
	case "jax":
		w.line("%sstablehlo.custom_call @xla_ffi_python_cpu_callback(%s) {backend_config = \"\", has_side_effect = true, mhlo.backend_config = {index = 3 : ui64}} : (%s) -> (%s)",
			lhs, join(ops...), join(types...), join(resultTypes...))
	case "descriptor":
		c, tuple := w.tmp(), w.tmp()
		w.line("%s = stablehlo.constant dense<1234> : tensor<i64>", c)
		w.line("%s = stablehlo.custom_call @xla_python_cpu_callback(%s) {api_version = 2 : i32, backend_config = \"1234\", has_side_effect = true} : (%s) -> tuple<%s>",
			tuple, join(append([]string{c}, ops...)...), join(append([]string{"tensor<i64>"}, types...)...), join(resultTypes...))
		for i, r := range results {
			w.line("%s = stablehlo.get_tuple_element %s[%d] : (tuple<%s>) -> tensor<4xf32>", r, tuple, i, join(resultTypes...))
		}
	case "target":
		aliases := ""
		if h.kind == hlocb.InOut {
			var list []string
			for i := range results {
				path := fmt.Sprint(i)
				if len(results) == 1 {
					path = ""
				}
				list = append(list, fmt.Sprintf("#stablehlo.output_operand_alias<output_tuple_indices = [%s], operand_index = %d, operand_tuple_indices = []>", path, i))
			}
			aliases = ", output_operand_aliases = [" + join(list...) + "]"
		}
		w.line("%sstablehlo.custom_call @test_hook(%s) {api_version = 4 : i32, backend_config = {name = %q}, has_side_effect = true%s} : (%s) -> (%s)",
			lhs, join(ops...), h.name, aliases, join(types...), join(resultTypes...))
	case "sendrecv":
		t := newToken()
		channel := 0
		attrs := func(kind int) string {
			channel++
			return fmt.Sprintf("{channel_handle = #stablehlo.channel_handle<handle = %d, type = %d>, is_host_transfer = true}", channel, kind)
		}
		for i, o := range ops {
			n := w.tmp()
			w.line("%s = \"stablehlo.send\"(%s, %s) %s : (%s, %s) -> %s", n, o, t, attrs(2), types[i], token, token)
			t = n
		}
		for i, r := range results {
			n := w.tmp()
			w.line("%s, %s = \"stablehlo.recv\"(%s) %s : (%s) -> (%s, %s)", r, n, t, attrs(3), token, resultTypes[i], token)
			t = n
		}
	}
}

// meaning executes the program as its text, which was written before, reads and returns its events and results.
func (p *program) meaning(a, b []float32, n int32) ([]event, [][]float32) {
	m := &machine{}
	results := m.call(p.funcs[0], a, b, n)
	return m.events, results
}

type machine struct{ events []event }

func (m *machine) call(f *function, a, b []float32, n int32) [][]float32 {
	env := map[string][]float32{f.name + "v0": a, f.name + "v1": b, f.name + "n": {float32(n)}}
	m.block(env, f.body)
	var out [][]float32
	for _, v := range f.ret {
		out = append(out, env[v])
	}
	return out
}

func (m *machine) block(env map[string][]float32, body []stmt) {
	for _, s := range body {
		switch s := s.(type) {
		case *arith:
			v := make([]float32, width)
			for j := range v {
				if s.b != "" {
					v[j] = env[s.a][j] + env[s.b][j]
				} else {
					v[j] = env[s.a][j] * 0.5
				}
			}
			env[s.dst] = v
		case *hookStmt:
			m.hook(env, s)
		case *call:
			env[s.result] = m.call(s.f, env[s.a], env[s.b], int32(env[s.n][0]))[0]
		case *loop:
			m.loop(env, s)
		case *branch:
			if env[s.on][0] < float32(s.limit) {
				m.block(env, s.then)
				env[s.dst] = env[s.thenValue]
			} else {
				m.block(env, s.els)
				env[s.dst] = env[s.elseValue]
			}
		}
	}
}

func (m *machine) loop(env map[string][]float32, l *loop) {
	vals := make([][]float32, len(l.carried))
	for i, v := range l.init {
		vals[i] = env[v]
	}
	for n := 0; ; n++ {
		env[l.counter] = []float32{float32(n)}
		for i, c := range l.carried {
			env[c] = vals[i]
		}
		for _, h := range l.cond {
			m.hook(env, h)
		}
		if n >= l.trips {
			break
		}
		m.block(env, l.body)
		for i, v := range l.next {
			vals[i] = env[v]
		}
	}
	for i, r := range l.result {
		env[r] = vals[i]
	}
}

func (m *machine) hook(env map[string][]float32, h *hookStmt) {
	e := event{hook: h.name}
	for _, o := range h.ops {
		e.operands = append(e.operands, append([]float32(nil), env[o]...))
	}
	seq := int64(len(m.events))
	m.events = append(m.events, e)
	for k, v := range answer(h.kind, seq, e.operands, len(h.results)) {
		env[h.results[k]] = v
	}
}
