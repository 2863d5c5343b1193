package endtoend

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestProofHolds runs random lowered modules on XLA. If the proof of order accepts a module, its events must arrive
// in program order, which the embedded engine determines. The chain of each module passes through random ops. XLA
// simplifies some of them away. Hooks wait for slow values at random, so unordered hooks overtake each other.
func TestProofHolds(t *testing.T) {
	label.Once(t)
	engine, cpu := open(t, "interp"), open(t, "cpu")
	n := uint64(600)
	if long() {
		n = 4000
	}
	if label.Less() {
		n = 60
	}
	accepted, refused, reordered := 0, 0, 0
	for seed := range n {
		text := []byte(randomChain(seed))
		m, err := testkit.TryParse("chain.mlir", text)
		if err == nil {
			err = ir.Verify(m)
		}
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		proof := order.Prove(t.Context(), m)
		if proof != nil && seed%4 != 0 {
			refused++
			continue
		}
		manifest, err := format.ManifestOf(m)
		if err != nil {
			t.Fatal(err)
		}
		p := &runtime.Program{Module: m, Manifest: manifest}
		want := arrivals(t, engine, p, 1)[0]
		for _, got := range arrivals(t, cpu, p, 3) {
			switch {
			case got == want:
			case proof == nil:
				t.Fatalf("seed %d: the order is proven, but XLA delivers %s instead of %s:\n%s", seed, got, want, text)
			default:
				reordered++
			}
		}
		if proof == nil {
			accepted++
		} else {
			refused++
		}
	}
	t.Logf("%d modules accepted, %d refused; %d runs of refused modules in another order", accepted, refused, reordered)
	if accepted < 20 || refused < 20 || reordered == 0 {
		t.Errorf("%d accepted, %d refused, %d runs in another order: too few to say anything", accepted, refused, reordered)
	}
}

// arrivals returns the names of the hooks that each run delivers.
func arrivals(t *testing.T, b runtime.Backend, p *runtime.Program, times int) []string {
	t.Helper()
	rec := &recorder{bare: true, answer: passOn}
	e, err := b.Compile(context.Background(), p, runtime.CompileOptions{Handlers: rec.bindings()})
	if err != nil {
		t.Fatalf("%s: %v\n%s", b.Name(), err, moduleText(p))
	}
	defer e.Close()
	args := zeros(t, p.Module)
	for _, a := range args {
		if a.DType() == tensor.I1 {
			a.Bytes()[0] = 1
		}
	}
	var out []string
	for range times {
		if _, err := e.Run(context.Background(), args); err != nil {
			t.Fatalf("%s: %v\n%s", b.Name(), err, moduleText(p))
		}
		var names []string
		for _, ev := range rec.take() {
			names = append(names, ev.site.Name)
		}
		out = append(out, strings.Join(names, ","))
	}
	return out
}

// chainWriter writes a module of hooks whose chain passes through random ops.
type chainWriter struct {
	r     *rand.Rand
	b     strings.Builder
	funcs strings.Builder
	n     int      // values so far
	hooks int      // hooks so far
	older []string // chains before the last
}

// randomChain returns a lowered module. Its main has arguments that XLA cannot know.
func randomChain(seed uint64) string {
	g := &chainWriter{r: rand.New(rand.NewPCG(seed, 7))}
	g.line("%%start = stablehlo.constant dense<0> : tensor<ui64>")
	g.line("%%zero = stablehlo.constant dense<0> : tensor<2xi32>")
	g.line("%%one = stablehlo.constant dense<1> : tensor<2xi32>")
	g.line("%%ones = stablehlo.constant dense<18446744073709551615> : tensor<ui64>")
	g.line("%%true = stablehlo.constant dense<true> : tensor<i1>")
	g.line("%%k0 = stablehlo.constant dense<0> : tensor<i32>")
	g.line("%%k1 = stablehlo.constant dense<1> : tensor<i32>")
	g.line("%%k2 = stablehlo.constant dense<2> : tensor<i32>")
	last := "%m"
	for i := range 3 {
		g.line("%%m%d = stablehlo.dot_general %s, %%m, contracting_dims = [1] x [0] : (tensor<192x192xf32>, tensor<192x192xf32>) -> tensor<192x192xf32>", i, last)
		last = fmt.Sprintf("%%m%d", i)
	}
	g.line("%%ms = stablehlo.slice %s [0:1, 0:2] : (tensor<192x192xf32>) -> tensor<1x2xf32>", last)
	g.line("%%mr = stablehlo.reshape %%ms : (tensor<1x2xf32>) -> tensor<2xf32>")
	g.line("%%slow = stablehlo.convert %%mr : (tensor<2xf32>) -> tensor<2xi32>")
	chain, data := "%start", "%x"
	for range 2 + g.r.IntN(4) {
		g.older = append(g.older, chain)
		next, value := g.passed(chain, data)
		chain, data = g.event(next, value)
	}
	return fmt.Sprintf(`%sfunc.func private @same(%%a: tensor<ui64>) -> tensor<ui64> {
  return %%a : tensor<ui64>
}
func.func private @other(%%a: tensor<ui64>) -> tensor<ui64> {
  %%z = stablehlo.constant dense<0> : tensor<ui64>
  return %%z : tensor<ui64>
}
func.func public @main(%%x: tensor<2xi32>, %%m: tensor<192x192xf32>, %%p: tensor<i1>) -> (tensor<ui64>, tensor<2xi32>) {
%sreturn %s, %s : tensor<ui64>, tensor<2xi32>
}
`, g.funcs.String(), g.b.String(), chain, data)
}

func (g *chainWriter) line(format string, args ...any) { fmt.Fprintf(&g.b, format+"\n", args...) }

// value returns a new name.
func (g *chainWriter) value() string {
	g.n++
	return fmt.Sprintf("%%v%d", g.n)
}

// call writes one hook and returns its chain and value.
func (g *chainWriter) call(chain, data string) (string, string) {
	v := g.value()
	g.hooks++
	g.line(`%s:2 = stablehlo.custom_call @hlocb_hook(%s, %s) {api_version = 4 : i32, has_side_effect = true,
  backend_config = {abi = 1 : i64, chained = true, id = %d : i64, kind = "call", name = "h%d"},
  output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]}
  : (tensor<ui64>, tensor<2xi32>) -> (tensor<ui64>, tensor<2xi32>)`, v, chain, data, g.hooks, g.hooks)
	return v + "#0", v + "#1"
}

// event writes a hook in line, in a branch, in a loop or in a function, and returns the chain and the value after it.
func (g *chainWriter) event(chain, data string) (string, string) {
	switch g.r.IntN(8) {
	case 0, 1: // in a branch
		pred := "%p"
		if g.r.IntN(2) == 0 {
			pred = g.value()
			direction := []string{"EQ", "EQ", "GE"}[g.r.IntN(3)]
			g.line("%s = stablehlo.compare %s, %s, %%start : (tensor<ui64>, tensor<ui64>) -> tensor<i1>", pred, direction, chain)
		}
		v := g.value()
		g.line(`%s:2 = "stablehlo.if"(%s) ({`, v, pred)
		in := chain
		if g.r.IntN(3) == 0 {
			in = "%start"
		}
		c, d := g.call(g.chain(in), data)
		g.line("stablehlo.return %s, %s : tensor<ui64>, tensor<2xi32>", c, d)
		g.line("}, {")
		c = g.chain(chain)
		g.line("stablehlo.return %s, %s : tensor<ui64>, tensor<2xi32>", c, data)
		g.line("}) : (tensor<i1>) -> (tensor<ui64>, tensor<2xi32>)")
		return v + "#0", v + "#1"
	case 2: // in a loop of two trips
		v, it, k, w, more, next := g.value(), g.value(), g.value(), g.value(), g.value(), g.value()
		g.line("%s:3 = stablehlo.while(%s = %s, %s = %s, %s = %%k0) : tensor<ui64>, tensor<2xi32>, tensor<i32>", v, it, chain, w, data, k)
		g.line("cond {\n%s = stablehlo.compare LT, %s, %%k2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>", more, k)
		g.line("stablehlo.return %s : tensor<i1>\n} do {", more)
		c, d := g.call(g.chain(it), w)
		c = g.chain(c)
		g.line("%s = stablehlo.add %s, %%k1 : tensor<i32>", next, k)
		g.line("stablehlo.return %s, %s, %s : tensor<ui64>, tensor<2xi32>, tensor<i32>\n}", c, d, next)
		return v + "#0", v + "#1"
	case 3: // in a function that is called
		main := g.b
		g.b = strings.Builder{}
		older := g.older
		g.older = nil
		c, d := g.call("%c", "%d")
		f := fmt.Sprintf("@f%d", g.hooks)
		fmt.Fprintf(&g.funcs, "func.func private %s(%%c: tensor<ui64>, %%d: tensor<2xi32>) -> (tensor<ui64>, tensor<2xi32>) {\n%sreturn %s, %s : tensor<ui64>, tensor<2xi32>\n}\n", f, g.b.String(), c, d)
		g.b, g.older = strings.Builder{}, older
		g.b.WriteString(main.String())
		v := g.value()
		g.line("%s:2 = func.call %s(%s, %s) : (tensor<ui64>, tensor<2xi32>) -> (tensor<ui64>, tensor<2xi32>)", v, f, chain, data)
		return v + "#0", v + "#1"
	}
	return g.call(chain, data)
}

// passed returns the chain and the value that the next hook receives.
func (g *chainWriter) passed(chain, data string) (string, string) {
	value := []string{"%slow", "%x", data}[g.r.IntN(3)]
	if g.r.IntN(4) == 0 { // data alone may impose an order
		return "%start", g.data(data)
	}
	return g.chain(chain), value
}

// chain writes ops on a chain and returns a chain: mostly the same one.
func (g *chainWriter) chain(c string) string {
	for range g.r.IntN(3) {
		c = g.chainOp(c)
	}
	return c
}

func (g *chainWriter) chainOp(c string) string {
	v := g.value()
	switch g.r.IntN(17) {
	case 0, 1:
		g.line("%s = func.call @same(%s) : (tensor<ui64>) -> tensor<ui64>", v, c)
	case 2, 3:
		t := g.value()
		at := min(1, g.r.IntN(5)) // mostly the right element
		g.line("%s = stablehlo.tuple %%start, %s : tuple<tensor<ui64>, tensor<ui64>>", t, c)
		g.line("%s = stablehlo.get_tuple_element %s[%d] : (tuple<tensor<ui64>, tensor<ui64>>) -> tensor<ui64>", v, t, at)
	case 4, 5:
		w, k, more, it, next := g.value(), g.value(), g.value(), g.value(), g.value()
		g.line("%s:2 = stablehlo.while(%s = %s, %s = %%k0) : tensor<ui64>, tensor<i32>", w, it, c, k)
		g.line("cond {\n%s = stablehlo.compare LT, %s, %%k2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>", more, k)
		g.line("stablehlo.return %s : tensor<i1>\n} do {\n%s = stablehlo.add %s, %%k1 : tensor<i32>", more, next, k)
		carried := it
		if g.r.IntN(5) == 0 {
			carried = "%start"
		}
		g.line("stablehlo.return %s, %s : tensor<ui64>, tensor<i32>\n}", carried, next)
		return w + "#0"
	case 6, 7:
		other := c
		if g.r.IntN(4) == 0 {
			other = "%start"
		}
		g.line(`%s = "stablehlo.if"(%%p) ({`, v)
		g.line("stablehlo.return %s : tensor<ui64>\n}, {\nstablehlo.return %s : tensor<ui64>\n}) : (tensor<i1>) -> tensor<ui64>", other, c)
	case 8, 9:
		with := "%start"
		if len(g.older) > 0 {
			with = g.older[g.r.IntN(len(g.older))]
		}
		g.line("%s = stablehlo.or %s, %s : tensor<ui64>", v, with, c)
	case 10:
		g.line("%s = stablehlo.or %s, %%ones : tensor<ui64>", v, c)
	case 11:
		g.line("%s = stablehlo.%s %s, %s : tensor<ui64>", v, []string{"subtract", "xor"}[g.r.IntN(2)], c, c)
	case 12:
		g.line("%s = stablehlo.%s %s, %%start : tensor<ui64>", v, []string{"and", "multiply"}[g.r.IntN(2)], c)
	case 13:
		g.line("%s = stablehlo.select %%true, %%start, %s : tensor<i1>, tensor<ui64>", v, c)
	case 14:
		g.line("%s = stablehlo.optimization_barrier %s : tensor<ui64>", v, c)
	case 15:
		at := min(1, g.r.IntN(5)) // mostly the chain
		g.line("%s:3 = stablehlo.optimization_barrier %%start, %s, %%slow : tensor<ui64>, tensor<ui64>, tensor<2xi32>", v, c)
		return fmt.Sprintf("%s#%d", v, at)
	default:
		g.line("%s = func.call @other(%s) : (tensor<ui64>) -> tensor<ui64>", v, c)
	}
	return v
}

// data writes ops on a value that a hook returned.
func (g *chainWriter) data(d string) string {
	v, t := g.value(), g.value()
	switch g.r.IntN(8) {
	case 0, 1, 2:
		return d
	case 3:
		g.line("%s = stablehlo.tuple %s, %%x : tuple<tensor<2xi32>, tensor<2xi32>>", t, d)
		g.line("%s = stablehlo.get_tuple_element %s[%d] : (tuple<tensor<2xi32>, tensor<2xi32>>) -> tensor<2xi32>", v, t, g.r.IntN(2))
	case 4:
		g.line("%s = stablehlo.multiply %s, %%zero : tensor<2xi32>", v, d)
	case 5:
		g.line("%s = stablehlo.remainder %s, %%one : tensor<2xi32>", v, d)
	case 6:
		g.line("%s = stablehlo.concatenate %s, %%x, dim = 0 : (tensor<2xi32>, tensor<2xi32>) -> tensor<4xi32>", t, d)
		g.line("%s = stablehlo.slice %s [2:4] : (tensor<4xi32>) -> tensor<2xi32>", v, t)
	default:
		g.line("%s = stablehlo.clamp %%zero, %s, %%zero : tensor<2xi32>", v, d)
	}
	return v
}
