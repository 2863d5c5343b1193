package rewrite_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/rewrite"
)

// folds are dialects whose ops fold to values: c has constants, n has none.
func folds() []*ir.Dialect {
	list := func(name string) []ir.Arg { return []ir.Arg{{Name: name, Mult: ir.Variadic}} }
	op := func(name string, fold func(*ir.Op) []ir.Folded) *ir.Def {
		return &ir.Def{Name: name, Operands: list("operands"), Results: list("results"), Traits: ir.Pure, Fold: fold}
	}
	attr := func(op *ir.Op) []ir.Folded { return []ir.Folded{{Attr: op.Attr("value")}} }
	with := func(op *ir.Op) []ir.Folded {
		return []ir.Folded{{Attr: op.Attr("value"), Constant: stablehlo.Constant}}
	}
	return []*ir.Dialect{
		{Name: "c", Ops: []*ir.Def{
			op("c.same", func(op *ir.Op) []ir.Folded { return []ir.Folded{{Value: op.Operand(0)}} }),
			op("c.never", func(*ir.Op) []ir.Folded { return nil }),
			op("c.half", func(op *ir.Op) []ir.Folded { return []ir.Folded{{Value: op.Operand(0)}, {}} }),
			op("c.pair", func(op *ir.Op) []ir.Folded { return []ir.Folded{{Value: op.Operand(1)}, {Attr: op.Attr("value")}} }),
			op("c.value", attr), op("c.with", with),
			{Name: "c.constant", Results: []ir.Arg{{Name: "result"}}, Attrs: []ir.AttrSpec{{Name: "value"}}, Traits: ir.Pure | ir.ConstantLike},
		}},
		{Name: "n", Ops: []*ir.Def{op("n.value", attr), op("n.with", with)}},
	}
}

func readFolds(t *testing.T, text string) *ir.Module {
	t.Helper()
	registry, err := ir.NewRegistry(append(all.Dialects(), folds()...)...)
	if err != nil {
		t.Fatal(err)
	}
	m, err := parse.Parse(diag.NewSource("text", []byte(text)), ir.NewContext(registry), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestGreedyOptions shows what Greedy does to a module with each set of options.
func TestGreedyOptions(t *testing.T) {
	cases := []struct {
		name string
		o    rewrite.Options
	}{
		{"patterns", rewrite.Options{}},
		{"constants", rewrite.Options{Constants: true}},
		{"constants dead", rewrite.Options{Constants: true, EraseDead: true}},
		{"last", rewrite.Options{ConstantsLast: true}},
		{"dead", rewrite.Options{EraseDead: true}},
		{"dead, blocks stay", rewrite.Options{EraseDead: true, KeepBlocks: true}},
		{"bottom up", rewrite.Options{BottomUp: true, EraseDead: true}},
		{"stop after 1", rewrite.Options{StopAfter: 1, EraseDead: true}},
		{"stop after 3", rewrite.Options{StopAfter: 3, EraseDead: true}},
		{"one iteration", rewrite.Options{MaxIterations: 1, EraseDead: true}},
		{"without fold-c.same", rewrite.Options{Constants: true, Enabled: func(rule string) bool { return rule != "fold-c.same" }}},
		{"only constants-last", rewrite.Options{Constants: true, ConstantsLast: true, Enabled: func(rule string) bool { return rule == rewrite.ConstantsLast }}},
		{"between", rewrite.Options{EraseDead: true, Between: func(r *rewrite.Rewriter) {
			if n := r.Statistics().Created; n < 20 {
				r.AtStart(r.Module().Body()).Create(r.Module().Def("u.between"), nil, nil)
			}
		}}},
	}
	golden.Texts(t, "testdata/greedy.txtar", func(t *testing.T, name, text string) string {
		var out strings.Builder
		last := ""
		for _, c := range cases {
			m := readFolds(t, text)
			fmt.Fprintf(&out, "=== %s; applied:", c.name)
			c.o.Applied = func(rule string) { fmt.Fprintf(&out, " %s", rule) }
			res, err := rewrite.Greedy(m.Op(), []*rewrite.Pattern{double, fold}, c.o)
			fmt.Fprintf(&out, "\n%v; converged %v, error %v\n", res.Statistics, res.Converged, err)
			for _, rule := range slices.Sorted(maps.Keys(res.Applied)) {
				fmt.Fprintf(&out, "%s %d\n", rule, res.Applied[rule])
			}
			if after := print.String(m, print.Options{}); after != last {
				out.WriteString(after)
				last = after
			}
		}
		return out.String()
	})
}

// TestGreedyLong: long lists of ops are processed to the end, whatever is forgotten of them on the way.
func TestGreedyLong(t *testing.T) {
	const n = 9000
	var text strings.Builder
	text.WriteString("func.func @f(%x0: tensor<f32>) -> tensor<f32> {\n")
	for i := range n {
		fmt.Fprintf(&text, "%%x%d = stablehlo.abs %%x%d : tensor<f32>\n%%d%d = stablehlo.sine %%x%d : tensor<f32>\n", i+1, i, i, i)
	}
	fmt.Fprintf(&text, "return %%x%d : tensor<f32>\n}", n)
	m := read(t, text.String())
	seen := 0
	look := &rewrite.Pattern{Name: "look", Rows: []*ir.Def{stablehlo.Abs}, Rewrite: func(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
		if op.Attr("u.seen") != nil {
			return false, nil
		}
		seen++
		r.Update(op, func() { op.SetAttr("u.seen", ir.NewUnit()) })
		return true, nil
	}}
	res, err := rewrite.Greedy(m.Op(), []*rewrite.Pattern{look}, rewrite.Options{EraseDead: true})
	if err != nil || seen != n || res.Erased != n || !res.Converged {
		t.Errorf("%d ops seen, %v, %v", seen, res.Statistics, err)
	}
	short := read(t, "func.func @f(%x: tensor<f32>) { %0 = stablehlo.sine %x : tensor<f32> return }")
	if res, err := rewrite.Greedy(short.Op(), nil, rewrite.Options{}); err != nil || res.Erased != 0 {
		t.Errorf("without EraseDead %d ops are erased, %v", res.Erased, err)
	}
}

// TestConstantOf reads the attributes of constants.
func TestConstantOf(t *testing.T) {
	m := readFolds(t, `func.func @f(%x: tensor<i32>) {
  %ints = stablehlo.constant dense<[1, -2]> : tensor<2xi32>
  %floats = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %abs = stablehlo.abs %x : tensor<i32>
  %none = "c.constant"() {value = "text"} : () -> tensor<i32>
  return
}`)
	entry := m.Body().First().Region(0).Entry()
	var got []string
	for op := range entry.Ops() {
		if op.NumResults() == 1 {
			list, ok := rewrite.ConstantInts(op.Result(0))
			got = append(got, fmt.Sprint(rewrite.IsConstant(op), rewrite.ConstantOf(op.Result(0)) != nil, list, ok))
		}
	}
	want := []string{"true true [1 -2] true", "true true [] false", "false false [] false", "true true [] false"}
	if !slices.Equal(got, want) || rewrite.ConstantOf(entry.Arg(0)) != nil || rewrite.IsConstant(nil) {
		t.Errorf("got %q, want %q", got, want)
	}
}
