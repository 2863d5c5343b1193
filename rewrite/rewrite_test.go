package rewrite_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/rewrite"
)

func read(t testing.TB, text string) *ir.Module {
	t.Helper()
	registry, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	m, err := parse.Parse(diag.NewSource("text", []byte(text)), ir.NewContext(registry), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// check compares the text of a valid module, without the lines of the module op.
func check(t *testing.T, m *ir.Module, want string) {
	t.Helper()
	if err := ir.Verify(m); err != nil {
		t.Error(err)
	}
	var got strings.Builder
	for op := range m.Body().Ops() {
		got.WriteString(print.Op(m, op, print.Options{}))
	}
	if strings.TrimSpace(got.String()) != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

// double rewrites x + x to x - (-x).
var double = &rewrite.Pattern{
	Name: "double",
	Rows: []*ir.Def{stablehlo.Add},
	Rewrite: func(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
		x := op.Operand(0)
		if x != op.Operand(1) {
			return false, nil
		}
		b := r.Before(op)
		neg, err := b.Build(stablehlo.Negate, []*ir.Value{x})
		if err != nil {
			return false, err
		}
		sub, err := b.Build(stablehlo.Subtract, []*ir.Value{x, neg.Result(0)})
		if err != nil {
			return false, err
		}
		r.Replace(op, sub.Result(0))
		return true, nil
	},
}

// fold rewrites negate(negate(x)) to x.
var fold = &rewrite.Pattern{
	Name: "fold",
	Rows: []*ir.Def{stablehlo.Negate},
	Rewrite: func(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
		inner := op.Operand(0).DefiningOp()
		if inner == nil || !inner.Is(stablehlo.Negate) {
			return false, nil
		}
		r.Replace(op, inner.Operand(0))
		return true, nil
	},
}

func TestGreedy(t *testing.T) {
	m := read(t, `func.func @f(%x: tensor<f32>, %c: tensor<i1>) -> tensor<f32> {
  %0 = stablehlo.negate %x : tensor<f32>
  %1 = "stablehlo.if"(%c) ({
    %3 = stablehlo.add %0, %0 : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }, {
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %1 : tensor<f32>
}`)
	res, err := rewrite.Greedy(m.Op(), []*rewrite.Pattern{double, fold}, rewrite.Options{EraseDead: true})
	if err != nil {
		t.Fatal(err)
	}
	check(t, m, `func.func @f(%arg0: tensor<f32>, %arg1: tensor<i1>) -> tensor<f32> {
  %0 = stablehlo.negate %arg0 : tensor<f32>
  %1 = "stablehlo.if"(%arg1) ({
    %2 = stablehlo.subtract %0, %arg0 : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }, {
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %1 : tensor<f32>
}`)
	if got := fmt.Sprint(res.Applied, res.Statistics); got != "map[double:1 fold:1] 2 created, 2 changed, 0 moved, 2 replaced, 2 erased" {
		t.Error(got)
	}
}

// sum is a commutative op of any number of operands.
var sum = &ir.Def{Name: "t.sum", Operands: []ir.Arg{{Name: "in", Mult: ir.Variadic}}, Results: []ir.Arg{{Name: "out"}}, Traits: ir.Pure | ir.Commutative,
	Fold: func(*ir.Op) []ir.Folded { return nil }}

// TestConstantsLast: constant operands of a commutative op move to the end; all operands stay.
func TestConstantsLast(t *testing.T) {
	registry, err := ir.NewRegistry(append(all.Dialects(), &ir.Dialect{Name: "t", Ops: []*ir.Def{sum}})...)
	if err != nil {
		t.Fatal(err)
	}
	for operands, want := range map[string]string{
		"": "", "%c": "%cst", "%x": "%arg0", "%c, %x": "%arg0, %cst", "%x, %c": "%arg0, %cst", "%c, %d": "%cst, %cst_0",
		"%c, %x, %y": "%arg0, %arg1, %cst", "%y, %d, %x, %c, %y": "%arg1, %arg0, %arg1, %cst_0, %cst", "%c, %c, %x": "%arg0, %cst, %cst",
	} {
		var types []string
		for range strings.Fields(operands) {
			types = append(types, "tensor<f32>")
		}
		m, err := parse.Parse(diag.NewSource("text", fmt.Appendf(nil, `func.func @f(%%x: tensor<f32>, %%y: tensor<f32>) -> tensor<f32> {
  %%c = stablehlo.constant dense<1.0> : tensor<f32>
  %%d = stablehlo.constant dense<2.0> : tensor<f32>
  "u.use"(%%c, %%d) : (tensor<f32>, tensor<f32>) -> ()
  %%0 = "t.sum"(%s) : (%s) -> tensor<f32>
  return %%0 : tensor<f32>
}`, operands, strings.Join(types, ", "))), ir.NewContext(registry), parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rewrite.Greedy(m.Op(), nil, rewrite.Options{Constants: true}); err != nil {
			t.Fatal(err)
		}
		if text := print.String(m, print.Options{}); ir.Verify(m) != nil || !strings.Contains(text, `"t.sum"(`+want+") :") {
			t.Errorf("%s becomes, instead of %s,\n%s", operands, want, text)
		}
	}
}

// TestGreedyEnds: patterns that undo each other are stopped, with the place.
func TestGreedyEnds(t *testing.T) {
	swap := func(name string, from, to *ir.Def) *rewrite.Pattern {
		return &rewrite.Pattern{Name: name, Rows: []*ir.Def{from}, Rewrite: func(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
			n, err := r.Before(op).Build(to, op.OperandList())
			if err != nil {
				return false, err
			}
			r.Replace(op, n.Result(0))
			return true, nil
		}}
	}
	m := read(t, `func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.negate %x : tensor<f32>
  return %0 : tensor<f32>
}`)
	patterns := []*rewrite.Pattern{swap("there", stablehlo.Negate, stablehlo.Abs), swap("back", stablehlo.Abs, stablehlo.Negate)}
	_, err := rewrite.Greedy(m.Op(), patterns, rewrite.Options{MaxRewrites: 7})
	if want := "text:2:8: error: rewriting does not end: 7 rewrites, and pattern back still has to be tried on 'stablehlo.abs'"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := ir.Verify(m); err != nil {
		t.Error(err)
	}
}

// TestGreedyContract: a pattern must report what it does.
func TestGreedyContract(t *testing.T) {
	for _, c := range []struct {
		rewrite func(r *rewrite.Rewriter, op *ir.Op) (bool, error)
		want    string
	}{
		{func(r *rewrite.Rewriter, op *ir.Op) (bool, error) { return true, nil },
			"pattern p on 'stablehlo.negate' reports a change that the rewriter did not make"},
		{func(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
			r.Update(op, func() { op.SetAttr("u.seen", ir.NewUnit()) })
			return false, nil
		}, "pattern p on 'stablehlo.negate' changed the module and reports that it did not"},
		{func(r *rewrite.Rewriter, op *ir.Op) (bool, error) { return false, errors.New("out of luck") },
			"pattern p on 'stablehlo.negate': out of luck"},
		{func(r *rewrite.Rewriter, op *ir.Op) (bool, error) { return false, r.Module().Errorf(op, "own words") }, "own words"},
	} {
		m := read(t, "func.func @f(%x: tensor<f32>) -> tensor<f32> {\n  %0 = stablehlo.negate %x : tensor<f32>\n  return %0 : tensor<f32>\n}")
		_, err := rewrite.Greedy(m.Op(), []*rewrite.Pattern{{Name: "p", Rows: []*ir.Def{stablehlo.Negate}, Rewrite: c.rewrite}}, rewrite.Options{})
		if want := "text:2:8: error: " + c.want; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestLocations: a new op has the locations of the ops that it replaces, or their positions in the text.
func TestLocations(t *testing.T) {
	pair := &rewrite.Pattern{Name: "pair", Rows: []*ir.Def{stablehlo.Negate}, Rewrite: func(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
		inner := op.Operand(0).DefiningOp()
		if inner == nil || !inner.Is(stablehlo.Abs) {
			return false, nil
		}
		sign, err := r.Before(op).Build(stablehlo.Sign, inner.OperandList())
		if err != nil {
			return false, err
		}
		r.Replace(op, sign.Result(0))
		r.Erase(inner)
		return true, nil
	}}
	for _, c := range []struct{ outer, inner, want string }{
		{`loc("a.py":1:2)`, `loc("b.py":3:4)`, `loc(fused["a.py":1:2, "b.py":3:4])`},
		{`loc("a.py":1:2)`, `loc("a.py":1:2)`, `loc("a.py":1:2)`},
		{`loc("a.py":1:2)`, ``, `loc(fused["a.py":1:2, "text":2:8])`},
		{``, ``, `loc(fused["text":3:8, "text":2:8])`},
		{`loc(fused["x", "y"])`, `loc(unknown)`, `loc(fused["x", "y"])`},
	} {
		m := read(t, fmt.Sprintf("func.func @f(%%x: tensor<f32>) -> tensor<f32> {\n  %%0 = stablehlo.abs %%x : tensor<f32> %s\n  %%1 = stablehlo.negate %%0 : tensor<f32> %s\n  return %%1 : tensor<f32>\n}", c.inner, c.outer))
		if _, err := rewrite.Greedy(m.Op(), []*rewrite.Pattern{pair}, rewrite.Options{}); err != nil {
			t.Fatal(err)
		}
		sign := m.Body().First().Region(0).Entry().First()
		if got := sign.Loc().String(); sign.Name() != "stablehlo.sign" || got != c.want {
			t.Errorf("%s with location %s, want %s", sign.Name(), got, c.want)
		}
	}
}

// TestListener: listeners receive every change.
func TestListener(t *testing.T) {
	m := read(t, `func.func @f(%x: tensor<f32>, %c: tensor<i32>) -> tensor<f32> {
  %0 = stablehlo.negate %x : tensor<f32>
  %1 = "stablehlo.case"(%c) ({
    %2 = stablehlo.abs %0 : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  return %1 : tensor<f32>
}`)
	var heard []string
	hear := func(what string) func(*ir.Op) {
		return func(op *ir.Op) { heard = append(heard, what+" "+strings.TrimPrefix(op.Name(), "stablehlo.")) }
	}
	r := rewrite.New(m, &rewrite.Listener{Created: hear("created"), Changed: hear("changed"), Moved: hear("moved"), Erased: hear("erased"),
		Replaced: func(op *ir.Op, _ []*ir.Value) { hear("replaced")(op) }}, &rewrite.Listener{})
	expect := func(want string) {
		t.Helper()
		if got := strings.Join(heard, ", "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if heard = nil; ir.Verify(m) != nil {
			t.Error(ir.Verify(m))
		}
	}
	entry := m.Body().First().Region(0).Entry()
	neg, branch := entry.First(), entry.First().Next()
	body := branch.Region(0).Entry()
	abs := body.First()

	r.Update(neg, func() { neg.SetAttr("u.a", ir.NewUnit()) })
	expect("changed negate")
	c := r.Before(neg).Clone(neg, map[*ir.Value]*ir.Value{})
	expect("created negate")
	r.ReplaceUses(neg.Result(0), c.Result(0), nil)
	expect("changed abs")
	r.MoveBefore(c, branch)
	r.MoveBefore(c, neg)
	expect("moved negate, moved negate")
	r.Erase(neg)
	expect("erased negate")
	ret := body.Last()
	out := ret.Operand(0)
	r.Erase(ret)
	r.InlineBefore(body, branch)
	r.Replace(branch, out)
	expect("erased return, moved abs, changed case, changed func.return, replaced case, erased case")
	st := abs.State()
	st.Def = stablehlo.Sign
	r.Rebuild(abs, st, nil)
	expect("created sign, changed func.return, replaced abs, erased abs")
	if s := r.Statistics(); s != (rewrite.Statistics{Created: 2, Changed: 5, Moved: 3, Replaced: 2, Erased: 4}) {
		t.Error(s)
	}
	x := m.AtEnd(m.Body()).Insert(&ir.OpState{Def: m.Def("u.x"), Regions: 2})
	b := x.Region(0).AddBlock()
	op := r.AtEnd(b).Create(m.Def("u.y"), nil, nil)
	r.AtStart(b).Create(m.Def("u.z"), nil, nil)
	r.SplitBefore(op)
	r.TakeBlocks(x.Region(1), x.Region(0))
	r.After(x).Create(m.Def("u.w"), nil, nil)
	expect("created u.y, created u.z, moved u.y, moved u.z, moved u.y, changed u.x, changed u.x, created u.w")
}

// TestFunctionsInParallel rewrites the functions of one module at once, for the race detector.
func TestFunctionsInParallel(t *testing.T) {
	var text, want strings.Builder
	for i := range 6 {
		fmt.Fprintf(&text, "func.func @f%d(%%x: tensor<f32>) -> tensor<f32> {\n  %%0 = stablehlo.add %%x, %%x : tensor<f32>\n  return %%0 : tensor<f32>\n}\n", i)
		fmt.Fprintf(&want, "func.func @f%d(%%arg0: tensor<f32>) -> tensor<f32> {\n  %%0 = stablehlo.negate %%arg0 : tensor<f32>\n  %%1 = stablehlo.subtract %%arg0, %%0 : tensor<f32>\n  return %%1 : tensor<f32>\n}\n", i)
	}
	m := read(t, text.String())
	var wait sync.WaitGroup
	for f := range m.Body().Ops() {
		wait.Go(func() {
			if _, err := rewrite.Greedy(f, []*rewrite.Pattern{double, fold}, rewrite.Options{EraseDead: true}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	check(t, m, want.String())
}

// TestInlineEmpty inlines a block without ops: the listeners receive no op.
func TestInlineEmpty(t *testing.T) {
	m := read(t, `func.func @f() { "test.op"() ({}) : () -> () func.return }`)
	var op *ir.Op
	m.Walk(func(o *ir.Op) bool {
		if o.Name() == "test.op" {
			op = o
		}
		return true
	})
	b := op.Region(0).AddBlock()
	r := rewrite.New(m)
	r.InlineBefore(b, op)
	if s := r.Statistics(); s.Moved != 0 || b.Region() != nil {
		t.Errorf("%v, in a region: %v", s, b.Region() != nil)
	}
}
