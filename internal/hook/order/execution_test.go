package order_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
)

// The tests of this file execute random programs of chains, and compare the orders that the package finds with the
// orders of the executions.

// A stmt is a statement of a random program. Values are numbers.
type stmt struct {
	kind    string
	args    []int
	results []int
	bodies  []*body
	callee  *function
	id      int // of a hook, or of a call among all calls
}

type body struct {
	params, returns []int
	list            []*stmt
}

type function struct {
	*body
	name string
}

// A generator makes programs out of statements of some kinds.
type generator struct {
	r      *rand.Rand
	kinds  []string
	values int
	hooks  int
	calls  int
	funcs  []*function
}

func (g *generator) new(n int) []int {
	var out []int
	for range n {
		g.values++
		out = append(out, g.values)
	}
	return out
}

// pick returns n values of a scope, most often the newest.
func (g *generator) pick(scope []int, n int) []int {
	var out []int
	for range n {
		i := len(scope) - 1
		if g.r.IntN(3) == 0 {
			i = g.r.IntN(len(scope))
		}
		out = append(out, scope[i])
	}
	return out
}

// fill appends statements to b, which may use the values of a scope, and returns n values.
func (g *generator) fill(b *body, scope []int, depth, n int) {
	scope = append(slices.Clone(scope), b.params...)
	for range 1 + g.r.IntN(4) {
		s := &stmt{kind: g.kinds[g.r.IntN(len(g.kinds))]}
		if depth == 0 && slices.Contains([]string{"if", "decided", "while", "call"}, s.kind) {
			s.kind = "hook"
		}
		switch s.kind {
		case "hook":
			g.hooks++
			s.id, s.args, s.results = g.hooks, g.pick(scope, 1), g.new(1)
		case "zero":
			s.results = g.new(1)
		case "annotation", "arithmetic":
			s.args, s.results = g.pick(scope, 1), g.new(1)
		case "talk":
			g.hooks++
			s.id, s.args, s.results = g.hooks, g.pick(scope, 2), g.new(2)
		case "join", "first", "second":
			s.args, s.results = g.pick(scope, 2), g.new(1)
		case "nested":
			s.args, s.results = g.pick(scope, 3), g.new(1)
		case "barrier":
			s.args, s.results = g.pick(scope, 2), g.new(2)
		case "if", "decided":
			s.results = g.new(1 + g.r.IntN(2))
			if s.kind == "decided" {
				s.args = g.pick(scope, 1)
			}
			for range 2 {
				in := &body{}
				g.fill(in, scope, depth-1, len(s.results))
				s.bodies = append(s.bodies, in)
			}
		case "while":
			n := 1 + g.r.IntN(2)
			s.args, s.results = g.pick(scope, n), g.new(n)
			in := &body{params: g.new(n)}
			g.fill(in, scope, depth-1, n)
			s.bodies = append(s.bodies, in)
		case "call":
			g.calls++
			s.id = g.calls
			if len(g.funcs) > 0 && g.r.IntN(2) == 0 {
				s.callee = g.funcs[g.r.IntN(len(g.funcs))]
			} else {
				s.callee = &function{body: &body{params: g.new(1 + g.r.IntN(2))}}
				g.fill(s.callee.body, nil, depth-1, 1+g.r.IntN(2))
				s.callee.name = fmt.Sprintf("f%d", len(g.funcs))
				g.funcs = append(g.funcs, s.callee)
			}
			s.args, s.results = g.pick(scope, len(s.callee.params)), g.new(len(s.callee.returns))
		}
		b.list = append(b.list, s)
		scope = append(scope, s.results...)
	}
	b.returns = g.pick(scope, n)
}

// randomProgram returns the body of a main function, whose only parameter is a chain that starts.
func randomProgram(seed uint64, kinds []string) (*generator, *body) {
	g := &generator{r: rand.New(rand.NewPCG(seed, 7)), kinds: kinds}
	main := &body{params: g.new(1)}
	g.fill(main, nil, 3, 0)
	g.hooks++ // a hook at the end waits for the whole program
	all := slices.Clone(main.params)
	for _, s := range main.list {
		all = append(all, s.results...)
	}
	main.list = append(main.list, &stmt{kind: "hook", id: g.hooks, args: g.pick(all, 1), results: g.new(1)})
	return g, main
}

// A writer writes a program: lowered, with chains of type ui64, or raised, with tokens.
type writer struct {
	strings.Builder
	raised bool
}

func (w *writer) typ() string {
	if w.raised {
		return "!stablehlo.token"
	}
	return "tensor<ui64>"
}

func names(values []int) string {
	var out []string
	for _, v := range values {
		out = append(out, fmt.Sprintf("%%v%d", v))
	}
	return strings.Join(out, ", ")
}

func (w *writer) types(n int) string {
	return strings.TrimSuffix(strings.Repeat(w.typ()+", ", n), ", ")
}

// define writes an op with its results.
func (w *writer) define(s *stmt, format string, args ...any) {
	if len(s.results) > 0 {
		fmt.Fprintf(w, "%s = ", names(s.results))
	}
	fmt.Fprintf(w, format+"\n", args...)
}

func (w *writer) body(b *body) {
	for _, s := range b.list {
		w.stmt(s)
	}
}

func (w *writer) region(b *body) {
	w.body(b)
	fmt.Fprintf(w, "stablehlo.return %s : %s\n", names(b.returns), w.types(len(b.returns)))
}

func (w *writer) stmt(s *stmt) {
	t, args := w.typ(), names(s.args)
	tuple := "tuple<" + w.types(2) + ">"
	switch s.kind {
	case "hook":
		if w.raised {
			w.define(s, `"hlocb.hook"(%s, %%x) {chained, format = "target", has_side_effect, id = %d : i64, kind = "tap", name = "h%[2]d"} : (%s, tensor<2xi32>) -> %[3]s`, args, s.id, t)
		} else {
			w.define(s, `stablehlo.custom_call @hlocb_hook(%s, %%x) {api_version = 4 : i32, has_side_effect = true, `+
				`backend_config = {abi = 1 : i64, chained = true, id = %d : i64, kind = "tap", name = "h%[2]d"}} : (%s, tensor<2xi32>) -> %[3]s`, args, s.id, t)
		}
	case "talk":
		w.define(s, `stablehlo.custom_call @hlocb_hook(%s) {api_version = 4 : i32, has_side_effect = true, `+
			`backend_config = {abi = 1 : i64, chained = true, id = %d : i64, kind = "call", name = "h%[2]d"}} : (%s, %[3]s) -> (%[3]s, %[3]s)`, args, s.id, t)
	case "zero":
		if w.raised {
			w.define(s, "stablehlo.create_token : %s", t)
		} else {
			w.define(s, "stablehlo.constant dense<0> : %s", t)
		}
	case "annotation":
		w.define(s, `stablehlo.custom_call @Sharding(%s) {backend_config = ""} : (%s) -> %[2]s`, args, t)
	case "arithmetic":
		w.define(s, "stablehlo.multiply %s, %[1]s : %s", args, t)
	case "join":
		if w.raised {
			w.define(s, "stablehlo.after_all %s : %s", args, t)
		} else {
			w.define(s, "stablehlo.or %s : %s", args, t)
		}
	case "first", "second":
		fmt.Fprintf(w, "%%t%d = stablehlo.tuple %s : %s\n", s.results[0], args, tuple)
		w.define(s, "stablehlo.get_tuple_element %%t%d[%d] : (%s) -> %s", s.results[0], map[string]int{"second": 1}[s.kind], tuple, t)
	case "nested":
		outer := "tuple<" + t + ", " + tuple + ">"
		n := s.results[0]
		fmt.Fprintf(w, "%%t%d = stablehlo.tuple %s : %s\n", n, names(s.args[:2]), tuple)
		fmt.Fprintf(w, "%%o%d = stablehlo.tuple %s, %%t%d : %s\n", n, names(s.args[2:]), n, outer)
		fmt.Fprintf(w, "%%i%d = stablehlo.get_tuple_element %%o%[1]d[1] : (%s) -> %s\n", n, outer, tuple)
		w.define(s, "stablehlo.get_tuple_element %%i%d[1] : (%s) -> %s", n, tuple, t)
	case "barrier":
		w.define(s, "stablehlo.optimization_barrier %s : %s", args, w.types(2))
	case "if", "decided":
		predicate := "%p"
		if s.kind == "decided" {
			predicate = fmt.Sprintf("%%q%d", s.results[0])
			fmt.Fprintf(w, "%s = stablehlo.compare EQ, %s, %%zero : (%s, %[3]s) -> tensor<i1>\n", predicate, args, t)
		}
		w.define(s, "\"stablehlo.if\"(%s) ({", predicate)
		w.region(s.bodies[0])
		w.WriteString("}, {\n")
		w.region(s.bodies[1])
		fmt.Fprintf(w, "}) : (tensor<i1>) -> (%s)\n", w.types(len(s.results)))
	case "while":
		var carried []string
		for i, p := range s.bodies[0].params {
			carried = append(carried, fmt.Sprintf("%%v%d = %%v%d", p, s.args[i]))
		}
		w.define(s, "stablehlo.while(%s) : %s\ncond {\nstablehlo.return %%p : tensor<i1>\n} do {", strings.Join(carried, ", "), w.types(len(s.args)))
		w.region(s.bodies[0])
		w.WriteString("}\n")
	case "call":
		w.define(s, "func.call @%s(%s, %%x, %%p) : (%s, tensor<2xi32>, tensor<i1>) -> (%s)", s.callee.name, args, w.types(len(s.args)), w.types(len(s.results)))
	}
}

// text returns the program as MLIR.
func (g *generator) text(main *body, raised bool) string {
	w := &writer{raised: raised}
	zero := ""
	if !raised {
		zero = "%zero = stablehlo.constant dense<0> : tensor<ui64>\n"
	}
	for _, f := range g.funcs {
		fmt.Fprintf(w, "func.func private @%s(", f.name)
		for _, p := range f.params {
			fmt.Fprintf(w, "%%v%d: %s, ", p, w.typ())
		}
		fmt.Fprintf(w, "%%x: tensor<2xi32>, %%p: tensor<i1>) -> (%s) {\n%s", w.types(len(f.returns)), zero)
		w.body(f.body)
		fmt.Fprintf(w, "return %s : %s\n}\n", names(f.returns), w.types(len(f.returns)))
	}
	w.WriteString("func.func public @main(%x: tensor<2xi32>, %p: tensor<i1>) {\n" + zero)
	w.stmt(&stmt{kind: "zero", results: main.params})
	w.body(main)
	w.WriteString("return\n}\n")
	return w.String()
}

// set is a set of numbers below 256.
type set [4]uint64

func (s set) has(n int) bool { return s[n/64]>>(n%64)&1 != 0 }

func (s set) with(n int) set {
	s[n/64] |= 1 << (n % 64)
	return s
}

func (s set) or(o set) set {
	for i := range s {
		s[i] |= o[i]
	}
	return s
}

// A value of an execution. Results of arithmetic, and of joins with them, are mixed: they wait for nothing.
type value struct {
	waits set // the executed hooks that the value waits for
	last  set // the events that it comes from directly
	mixed bool
}

// called is a function in one of its calls.
type called struct {
	events map[int]int // of its hooks
	calls  map[int]*called
}

// An execution executes a program, with random numbers of trips and branches.
type execution struct {
	r       *rand.Rand
	hooks   []int // of each event: its hook
	env     map[int]value
	in      *called
	decides set // what the surrounding branches wait for
	count   int // of the hooks executed so far

	disorder string          // the first hook that does not wait for the hook before it
	edges    map[[2]int]bool // between events
	inexact  bool            // whether a loop is in a branch whose predicate orders its hooks
}

const limit = 200 // of the hooks of an execution

// number numbers the events of b in program order.
func (e *execution) number(b *body, in *called) {
	for _, s := range b.list {
		switch {
		case s.kind == "hook", s.kind == "talk":
			in.events[s.id] = len(e.hooks)
			e.hooks = append(e.hooks, s.id)
		case s.callee != nil:
			in.calls[s.id] = newCalled()
			e.number(s.callee.body, in.calls[s.id])
		}
		for _, b := range s.bodies {
			e.number(b, in)
		}
	}
}

func newCalled() *called { return &called{map[int]int{}, map[int]*called{}} }

func (e *execution) values(list []int) []value {
	var out []value
	for _, v := range list {
		out = append(out, e.env[v])
	}
	return out
}

func (e *execution) body(b *body, params []value) []value {
	for i, p := range b.params {
		e.env[p] = params[i]
	}
	for _, s := range b.list {
		if e.count >= limit {
			break
		}
		for i, v := range e.stmt(s, e.values(s.args)) {
			e.env[s.results[i]] = v
		}
	}
	return e.values(b.returns)
}

func (e *execution) stmt(s *stmt, args []value) []value {
	switch s.kind {
	case "hook", "talk":
		event := e.in.events[s.id]
		waits := e.decides
		for _, v := range args { // the chain, and the data of a talk
			waits = waits.or(v.waits)
		}
		if e.count > 0 && !waits.has(e.count) && e.disorder == "" {
			e.disorder = fmt.Sprint("h", s.id)
		}
		for i := range e.hooks {
			if args[0].last.has(i) {
				e.edges[[2]int{i, event}] = true
			}
		}
		e.count++
		waits = waits.with(e.count)
		return []value{{waits: waits, last: set{}.with(event)}, {waits: waits}}[:len(s.results)]
	case "zero":
		return []value{{}}
	case "arithmetic":
		return []value{{mixed: true}}
	case "join":
		if args[0].mixed || args[1].mixed {
			return []value{{mixed: true}}
		}
		return []value{{waits: args[0].waits.or(args[1].waits), last: args[0].last.or(args[1].last)}}
	case "second", "nested":
		return args[1:2]
	case "if", "decided":
		outer := e.decides
		if s.kind == "decided" {
			e.decides = e.decides.or(args[0].waits)
		}
		out := e.body(s.bodies[e.r.IntN(2)], nil)
		e.decides = outer
		return out
	case "while":
		e.inexact = e.inexact || e.decides != set{}
		for range e.r.IntN(4) {
			args = e.body(s.bodies[0], args)
		}
	case "call":
		env, in := e.env, e.in
		e.env, e.in = map[int]value{}, in.calls[s.id]
		args = e.body(s.callee.body, args)
		e.env, e.in = env, in
	}
	return args[:len(s.results)]
}

// execute executes a program n times, or until a hook does not wait for the hook before it if proof is set. It returns
// nil for a program with too many events.
func execute(main *body, n int, proof bool) *execution {
	e := &execution{r: rand.New(rand.NewPCG(1, 1)), in: newCalled(), edges: map[[2]int]bool{}}
	e.number(main, e.in)
	if len(e.hooks) > 255 {
		return nil
	}
	for range n {
		e.env, e.count = map[int]value{}, 0
		e.body(main, []value{{}})
		if proof && e.disorder != "" {
			break
		}
	}
	return e
}

// closure returns the pairs of events that edges order, directly or through other events. Edges have the form "a > b".
func closure(edges []string) []string {
	next := map[string][]string{}
	for _, e := range edges {
		from, to, _ := strings.Cut(e, " > ")
		next[from] = append(next[from], to)
	}
	var out []string
	for from := range next {
		seen, work := map[string]bool{}, []string{from}
		for len(work) > 0 {
			for _, to := range next[work[0]] {
				if !seen[to] {
					seen[to] = true
					work = append(work, to)
					out = append(out, from+" > "+to)
				}
			}
			work = work[1:]
		}
	}
	slices.Sort(out)
	return out
}

// event names an event: a hook, and its number among the events of the hook.
func event(id, n uint64) string { return fmt.Sprintf("h%d call %d", id, n) }

// pairs returns the pairs of events that the executions order.
func (e *execution) pairs() []string {
	var names, edges []string
	calls := map[int]uint64{}
	for _, id := range e.hooks {
		names = append(names, event(uint64(id), calls[id]))
		calls[id]++
	}
	for p := range e.edges {
		edges = append(edges, names[p[0]]+" > "+names[p[1]])
	}
	return closure(edges)
}

var (
	control = []string{"hook", "hook", "hook", "hook", "zero", "barrier", "if", "while", "call"}
	joins   = []string{"join"}
	talk    = []string{"talk", "talk"} // hooks that receive and return a chain and data
	tuples  = []string{"first", "second", "nested"}
	chains  = slices.Concat(control, joins, tuples)
)

// TestProveAsExecuted: the order is proven if and only if each hook waits for the hook before it in each execution. A
// proof may fail for ordered programs that join elements of tuples, or mix chains with arithmetic.
func TestProveAsExecuted(t *testing.T) {
	proven, refused := 0, 0
	for seed := range uint64(600) {
		mixed := seed%4 == 3
		kinds := [][]string{
			slices.Concat(joins, control),
			slices.Concat(tuples, control, talk, []string{"annotation"}),
			slices.Concat(joins, control, []string{"annotation", "decided", "decided"}),
			slices.Concat(joins, tuples, control, []string{"arithmetic", "annotation"}),
		}[seed%4]
		g, main := randomProgram(seed, kinds)
		e := execute(main, 100, true)
		if e == nil {
			continue
		}
		text := g.text(main, false)
		err := order.Prove(t.Context(), read(t, text))
		switch {
		case err == nil && e.disorder != "":
			t.Fatalf("seed %d: the order is proven, but %s need not wait\n%s", seed, e.disorder, text)
		case err != nil && e.disorder == "" && !e.inexact && !mixed:
			t.Fatalf("seed %d: %v, but all hooks wait\n%s", seed, err, text)
		case err == nil:
			proven++
		default:
			refused++
		}
	}
	if proven < 100 || refused < 100 {
		t.Errorf("%d programs are proven, %d refused", proven, refused)
	}
}

// TestSourceAsExecuted: the order of the source is the order of the executions: for chains beside data, and for tokens.
// The result keeps the order of tokens for both kinds of chain, and has no token in it if its chain is a state.
func TestSourceAsExecuted(t *testing.T) {
	for seed := range uint64(120) {
		kinds, raised := chains, true
		if seed%3 == 0 {
			kinds, raised = slices.Concat(control, tuples, talk), false
		}
		g, main := randomProgram(seed, kinds)
		e := execute(main, 200, false)
		if e == nil {
			continue
		}
		want := e.pairs()
		text := g.text(main, raised)
		check := func(name string, m *ir.Module) {
			var edges []string
			pairs := order.SourceOf(m).Pairs()
			for i, p := range pairs {
				edges = append(edges, event(p[0], p[1])+" > "+event(p[2], p[3]))
				if i > 0 && slices.Compare(pairs[i-1][:], p[:]) >= 0 {
					t.Errorf("seed %d: %v comes before %v", seed, pairs[i-1], p)
				}
			}
			if got := closure(edges); !slices.Equal(got, want) {
				t.Fatalf("seed %d, %s: the pairs are\n%s\nnot\n%s\n%s", seed, name, strings.Join(got, ", "), strings.Join(want, ", "), print.String(m, print.Options{}))
			}
		}
		m := read(t, text)
		check("source", m)
		if !raised {
			continue
		}
		for _, chain := range []hook.Chain{hook.ChainState, hook.ChainToken} {
			m := read(t, text)
			if err := order.Thread(t.Context(), m, hook.OrderSource, chain); err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, text)
			}
			if err := ir.Verify(m); err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, text)
			}
			check(chain.String(), m)
			if chain == hook.ChainState {
				noTokens(t, m)
			}
		}
	}
}

// noTokens checks that no value of m is or holds a token.
func noTokens(t *testing.T, m *ir.Module) {
	t.Helper()
	m.Walk(func(op *ir.Op) bool {
		for _, v := range slices.Concat(op.OperandList(), op.ResultList()) {
			if irutil.HoldsToken(v.Type()) || stablehlo.IsToken(v.Type()) {
				t.Errorf("'%s' has a token", op.Name())
			}
		}
		return true
	})
}

// TestProgramOrder: whatever the tokens order, the rewrite puts all hooks in program order, and proves it.
func TestProgramOrder(t *testing.T) {
	for seed := range uint64(150) {
		g, main := randomProgram(seed, chains)
		for _, chain := range []hook.Chain{hook.ChainState, hook.ChainToken} {
			text := g.text(main, true)
			if _, err := passes.Rewrite(t.Context(), read(t, text), passes.RewriteHooks{Chain: chain}); err != nil {
				t.Fatalf("seed %d, %v: %v\n%s", seed, chain, err, text)
			}
		}
	}
}
