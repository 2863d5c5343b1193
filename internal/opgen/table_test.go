package opgen_test

import (
	"context"
	"math"
	"os"
	"testing"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/opgen"
	"github.com/hlocb/hlocb/tensor"
)

// elementwise returns the programs of TestNumerics.
func elementwise(g *opgen.Generator) []*opgen.Program {
	if long() {
		return g.Elementwise(20000)
	}
	var out []*opgen.Program
	for i, p := range opgen.Sample(g.Elementwise(1000)) {
		if i%3 == 0 {
			out = append(out, p)
		}
	}
	return out
}

// TestNumerics compares the engine with XLA on element-wise ops and groups of types: an op with defined results must
// return the same bits, except for the known deviations, and a function must keep its bound. XLA takes long to compile;
// without HLOCB_LONG=1 the test compares each op on a third of the groups, and on one type of each group.
func TestNumerics(t *testing.T) {
	label.Slow(t)
	t.Parallel()
	engine, _ := engines(t)
	g, err := opgen.New(seed(t))
	if err != nil {
		t.Fatal(err)
	}
	ops, deviations, entries := map[string]bool{}, map[string]int{}, 0
	series{kind: "elementwise", seed: seed(t), count: len(elementwise(g))}.onXLA(t, func(_ int, p *opgen.Program, o *outcome) {
		if o.Err != "" {
			return // TestRandomPrograms judges refusals
		}
		want := o.tensors()
		got, err := p.Outcome(context.Background(), engine)
		if err != nil {
			t.Error(err)
			return
		}
		ops[p.Op] = true
		entries++
		v, err := opgen.Judge(p, got, want, again(p, engine))
		if err != nil {
			hint := ""
			if p.Rule.Exact && p.DType.IsFloat() {
				hint = "; bounds.txt has no bound for this op and type, which requires the same bits"
			}
			t.Errorf("%s on %s: %v%s", p.Op, p.DType, err, hint)
		}
		for name := range v {
			deviations[name]++
		}
	})
	logDeviations(t, deviations)
	t.Logf("%d programs of %d ops", entries, len(ops))
	if len(ops) < 60 || entries < 100 {
		t.Errorf("only %d programs of %d ops were compared", entries, len(ops))
	}
}

// TestTruth compares the engine with true values, which mpmath computed: testdata/truth.txt.
func TestTruth(t *testing.T) {
	engine := openEngine(t)
	text, err := os.ReadFile("testdata/truth.txt")
	if err != nil {
		t.Fatal(err)
	}
	list, err := opgen.ReadTruth(string(text))
	if err != nil {
		t.Fatal(err)
	}
	type key struct {
		op string
		d  tensor.DType
	}
	groups := map[key][]opgen.Known{}
	for _, k := range list {
		at := key{k.Op, k.Args[0].DType()}
		groups[at] = append(groups[at], k)
	}
	g, err := opgen.New(1)
	if err != nil {
		t.Fatal(err)
	}
	for k, list := range groups {
		args := make([]*tensor.Tensor, len(list[0].Args))
		for i := range args {
			args[i] = tensor.New(k.d, tensor.Shape{int64(len(list))})
			size := k.d.Size()
			for j, one := range list {
				copy(args[i].Bytes()[j*size:], one.Args[i].Bytes())
			}
		}
		p, err := g.Function(k.op, args)
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Outcome(context.Background(), engine)
		if err != nil {
			t.Fatal(err)
		}
		limit := opgen.EngineBound(k.op, opgen.Column(k.d))
		for j, one := range list {
			if e := one.Value.Error(out[0], j); e.ULP > limit || !math.IsInf(limit, 1) && !opgen.FollowsXLA(k.op, opgen.Column(k.d)) && (e.Special || e.Sign) {
				t.Errorf("%s on %s: element %d is off by %.3g ULP, at most %g (infinite or NaN on one side: %v, sign of zero: %v)\n%s",
					k.op, k.d, j, e.ULP, limit, e.Special, e.Sign, opgen.Text(p, out, j))
			}
		}
	}
	t.Logf("%d values of %d functions and types", len(list), len(groups))
	if len(list) < 1500 || len(groups) < 180 {
		t.Errorf("only %d values of %d functions and types", len(list), len(groups))
	}
}
