package order_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/order"
)

// program writes programs of hooks in control flow.
type program struct {
	b     strings.Builder
	funcs []string
	n     int
}

// hook writes a hook that waits for chain and returns its chain.
func (p *program) hook(chain string) string {
	p.n++
	name := fmt.Sprintf("h%d", p.n)
	p.b.WriteString(call(name, chain, "%x", p.n))
	return "%" + name + "#0"
}

// branch writes an if whose regions then and otherwise write.
func (p *program) branch(then, otherwise func() string) string {
	p.n++
	v := fmt.Sprintf("%%f%d", p.n)
	fmt.Fprintf(&p.b, "%s = \"stablehlo.if\"(%%p) ({\n", v)
	fmt.Fprintf(&p.b, "stablehlo.return %s : tensor<ui64>\n}, {\n", then())
	fmt.Fprintf(&p.b, "stablehlo.return %s : tensor<ui64>\n}) : (tensor<i1>) -> tensor<ui64>\n", otherwise())
	return v
}

// loop writes a loop whose body writes.
func (p *program) loop(chain string, body func(chain string) string) string {
	p.n++
	v := fmt.Sprintf("%%l%d", p.n)
	fmt.Fprintf(&p.b, "%s = stablehlo.while(%%c%d = %s) : tensor<ui64>\ncond {\nstablehlo.return %%p : tensor<i1>\n} do {\n", v, p.n, chain)
	fmt.Fprintf(&p.b, "stablehlo.return %s : tensor<ui64>\n}\n", body(fmt.Sprintf("%%c%d", p.n)))
	return v
}

// call writes a function whose body writes, and n calls of it.
func (p *program) call(chain string, n int, body func(chain string) string) string {
	p.n++
	f := fmt.Sprintf("f%d", p.n)
	outer := p.b.String()
	p.b.Reset()
	result := body("%c")
	p.funcs = append(p.funcs, fmt.Sprintf("func.func private @%s(%%c: tensor<ui64>, %%x: tensor<2xi32>, %%p: tensor<i1>) -> tensor<ui64> {\n%sreturn %s : tensor<ui64>\n}\n", f, p.b.String(), result))
	p.b.Reset()
	p.b.WriteString(outer)
	for range n {
		p.n++
		v := fmt.Sprintf("%%k%d", p.n)
		fmt.Fprintf(&p.b, "%s = func.call @%s(%s, %%x, %%p) : (tensor<ui64>, tensor<2xi32>, tensor<i1>) -> tensor<ui64>\n", v, f, chain)
		chain = v
	}
	return chain
}

// text returns the program whose body writes.
func (p *program) text(body func(chain string) string) string {
	body("%start")
	return strings.Join(p.funcs, "") + "func.func public @main(%x: tensor<2xi32>, %p: tensor<i1>) {\n%start = stablehlo.constant dense<0> : tensor<ui64>\n" + p.b.String() + "return\n}\n"
}

// TestChainLeavesNothingOut: without the edges past loops and branches, the chains order the same pairs of hooks, and
// each edge is one of all edges.
func TestChainLeavesNothingOut(t *testing.T) {
	fewer := 0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := &program{}
		var some func(depth int) func(chain string) string
		some = func(depth int) func(chain string) string {
			return func(chain string) string {
				for range r.IntN(4) {
					switch k := r.IntN(6); {
					case depth == 0 || k < 2:
						chain = p.hook(chain)
					case k == 2:
						start := chain
						chain = p.branch(func() string { return some(depth - 1)(start) }, func() string { return some(depth - 1)(start) })
					case k == 3:
						chain = p.call(chain, 1+r.IntN(2), some(depth-1))
					default:
						chain = p.loop(chain, some(depth-1))
					}
				}
				return chain
			}
		}
		text := p.text(some(3))
		paths := order.PathsOf(read(t, text))
		got, all := paths.Chain(), paths.AllEdges()
		for _, e := range got {
			if !slices.Contains(all, e) {
				t.Fatalf("seed %d: edge %v is new\n%s", seed, e, text)
			}
		}
		if len(got) < len(all) {
			fewer++
		}
		next := map[hook.ID][]hook.ID{}
		for _, e := range got {
			next[e.From] = append(next[e.From], e.To)
		}
		for _, e := range all {
			seen, work := map[hook.ID]bool{}, []hook.ID{e.From}
			for len(work) > 0 {
				for _, to := range next[work[0]] {
					if !seen[to] {
						seen[to] = true
						work = append(work, to)
					}
				}
				work = work[1:]
			}
			if !seen[e.To] {
				t.Fatalf("seed %d: nothing leads from %v to %v; all edges are %v, those left %v\n%s", seed, e.From, e.To, all, got, text)
			}
		}
	}
	if fewer < 20 {
		t.Errorf("%d programs have fewer edges", fewer)
	}
}

// TestChainIsLinear counts the values that the paths visit and the edges that they find, for n parts and for 2n.
func TestChainIsLinear(t *testing.T) {
	for name, part := range map[string]func(p *program, chain string) string{
		"hooks": func(p *program, chain string) string { return p.hook(chain) },
		"loops": func(p *program, chain string) string { return p.loop(chain, p.hook) },
		"branches": func(p *program, chain string) string {
			return p.branch(func() string { return p.hook(chain) }, func() string { return chain })
		},
		"branches with hooks": func(p *program, chain string) string {
			return p.branch(func() string { return p.hook(chain) }, func() string { return p.hook(chain) })
		},
		"loops in loops": func(p *program, chain string) string {
			return p.loop(chain, func(chain string) string { return p.hook(p.loop(chain, p.hook)) })
		},
		"loops that call": func(p *program, chain string) string {
			return p.loop(chain, func(chain string) string { return p.call(chain, 1, p.hook) })
		},
		"calls with loops": func(p *program, chain string) string {
			return p.call(chain, 1, func(chain string) string { return p.loop(chain, p.hook) })
		},
		"calls of one function": func(p *program, chain string) string { return p.call(chain, 8, p.hook) },
	} {
		t.Run(name, func(t *testing.T) {
			var work, edges [2]int
			for i := range work {
				p := &program{}
				paths := order.PathsOf(read(t, p.text(func(chain string) string {
					for range 40 << i {
						chain = part(p, chain)
					}
					return chain
				})))
				edges[i] = len(paths.Chain())
				work[i] = paths.Steps()
			}
			if edges[0] == 0 || 10*edges[1] > 22*edges[0] || 10*work[1] > 22*work[0] {
				t.Errorf("%d and %d edges, %d and %d values", edges[0], edges[1], work[0], work[1])
			}
		})
	}
}
