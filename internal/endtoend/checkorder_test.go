package endtoend

import (
	"context"
	"fmt"
	"testing"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/internal/randprog"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/tensor"
)

// TestCheckOrderFindsCuts cuts the chain of random programs before each hook in turn. The programs have only taps
// without results, so only the chain orders them and the checker must notice each cut. The exception is a hook that
// no event can precede, according to the program's tree.
func TestCheckOrderFindsCuts(t *testing.T) {
	n := uint64(60)
	if long() {
		n = 2000
	}
	found, harmless := 0, 0
	for seed := range n {
		p := randprog.New(seed+3e6, randprog.Options{Form: randprog.Own, TapsOnly: true})
		m, err := testkit.TryParse("random.mlir", []byte(p.Text()))
		if err != nil {
			t.Fatal(err)
		}
		opts := rewriteOptions(p)
		opts.Alias = hook.AliasNone
		if _, err := passes.Rewrite(context.Background(), m, opts); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, p.Text())
		}
		text := []byte(print.String(m, print.Options{}))
		preceded := p.Preceded()
		for k := range p.Sites {
			m, err := testkit.TryParse("rewritten.mlir", text)
			if err != nil {
				t.Fatal(err)
			}
			site, err := cut(p, m, k)
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, text)
			}
			if site == nil {
				continue
			}
			err = order.Prove(t.Context(), m)
			switch {
			case preceded[site] && err == nil:
				t.Errorf("seed %d: the chain is cut in front of hook %s, and the checker does not see it:\n%s", seed, site.Label, print.String(m, print.Options{}))
			case !preceded[site] && err != nil:
				t.Errorf("seed %d: nothing comes before hook %s, but the checker says %v\n%s", seed, site.Label, err, print.String(m, print.Options{}))
			case err != nil:
				found++
			default:
				harmless++
			}
			if t.Failed() {
				return
			}
		}
	}
	if found < 100 || harmless < 100 {
		t.Errorf("%d cuts found and %d harmless ones are too few to say anything", found, harmless)
	}
	t.Logf("%d cuts found, %d harmless", found, harmless)
}

// cut starts a new chain at the k-th hook of m and returns the hook's site.
func cut(p *randprog.Program, m *ir.Module, k int) (*randprog.Site, error) {
	var call *ir.Op
	n := 0
	m.Walk(func(op *ir.Op) bool {
		if op.Name() == "stablehlo.custom_call" {
			if n == k {
				call = op
			}
			n++
		}
		return true
	})
	if call == nil {
		return nil, nil
	}
	config, ok := call.Attr("backend_config").(*ir.DictAttr)
	if !ok || call.NumResults() != 1 {
		return nil, fmt.Errorf("hook %d is not a tap without results", k)
	}
	b := m.Before(call)
	typ := call.Operand(0).Type()
	var chain *ir.Op
	if stablehlo.IsToken(typ) {
		chain = b.Create(m.Def("stablehlo.create_token"), nil, []ir.Type{typ})
	} else {
		tt := typ.(*ir.TensorType)
		chain = b.Create(m.Def("stablehlo.constant"), nil, []ir.Type{typ}, ir.NamedAttr{Name: "value", Attr: m.Context().DenseFromTensor(tensor.New(tt.DType(), tt.Shape()))})
	}
	call.SetOperand(0, chain.Result(0))
	name, _ := config.Get("name").(*ir.StringAttr)
	return p.SiteOf(&hook.Site{Name: name.Value()}), nil
}
