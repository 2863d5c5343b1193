package hlo_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/passes"
)

// allOf returns the ops of m of a row.
func allOf(m *ir.Module, def *ir.Def) []*ir.Op {
	var list []*ir.Op
	m.Walk(func(op *ir.Op) bool {
		if op.Is(def) {
			list = append(list, op)
		}
		return true
	})
	return list
}

// absBefore inserts an abs of an operand.
func absBefore(m *ir.Module, op *ir.Op, operand int) {
	v := op.Operand(operand)
	op.SetOperand(operand, m.Before(op).Create(stablehlo.Abs, []*ir.Value{v}, []ir.Type{v.Type()}).Result(0))
}

// editNamed applies the edit called name at op.
func editNamed(t *testing.T, name string, m *ir.Module, op *ir.Op) {
	t.Helper()
	for _, e := range edits {
		if e.name == name && e.edit(rand.New(rand.NewPCG(1, 0)), m, op) {
			return
		}
	}
	t.Fatalf("no edit %s of %s", name, op.Name())
}

// caseEdits change the modules of testdata/cases.txtar, by the part of the name before a dot.
var caseEdits = map[string]func(t *testing.T, m *ir.Module){
	"nothing":       func(t *testing.T, m *ir.Module) {},
	"abs of a sine": func(t *testing.T, m *ir.Module) { absBefore(m, allOf(m, stablehlo.Sine)[0], 0) },
	"sine is gone":  func(t *testing.T, m *ir.Module) { op := allOf(m, stablehlo.Sine)[0]; op.ReplaceWith(op.Operand(0)) },
	"abs of the start": func(t *testing.T, m *ir.Module) {
		absBefore(m, allOf(m, stablehlo.While)[0], 0)
	},
	"abs of the next": func(t *testing.T, m *ir.Module) {
		absBefore(m, allOf(m, stablehlo.While)[0].Region(1).Entry().Last(), 0)
	},
	"abs of the limit": func(t *testing.T, m *ir.Module) {
		absBefore(m, allOf(m, stablehlo.While)[0].Region(0).Entry().Last().Operand(0).DefiningOp(), 0)
	},
	"abs in the reducer": func(t *testing.T, m *ir.Module) {
		absBefore(m, allOf(m, stablehlo.Maximum)[0], 0)
	},
	"carry":  func(t *testing.T, m *ir.Module) { editNamed(t, "carry", m, allOf(m, stablehlo.While)[0]) },
	"rotate": func(t *testing.T, m *ir.Module) { editNamed(t, "rotate", m, allOf(m, stablehlo.While)[0]) },
	"not": func(t *testing.T, m *ir.Module) {
		op := allOf(m, stablehlo.If)[0]
		v := op.Operand(0)
		op.SetOperand(0, m.Before(op).Create(stablehlo.Not, []*ir.Value{v}, []ir.Type{v.Type()}).Result(0))
	},
	"calls change places": func(t *testing.T, m *ir.Module) {
		list := allOf(m, stablehlo.CustomCall)
		list[1].MoveBefore(list[0])
	},
	"the second call again": func(t *testing.T, m *ir.Module) {
		op := allOf(m, stablehlo.CustomCall)[1]
		m.After(op).Clone(op, map[*ir.Value]*ir.Value{})
	},
	"sine after its user": func(t *testing.T, m *ir.Module) {
		op := allOf(m, stablehlo.Sine)[0]
		op.MoveBefore(op.Block().Last())
	},
	"unrolled": func(t *testing.T, m *ir.Module) { runs(passes.Unroll{})(nil, m, nil) },
	"inlined":  func(t *testing.T, m *ir.Module) { runs(passes.Inline{})(nil, m, nil) },
	"others called": func(t *testing.T, m *ir.Module) {
		list := allOf(m, fn.Call)
		list[0].SetAttr(fn.AttrCallee, list[1].Attr(fn.AttrCallee))
	},
	"first operand of the second": func(t *testing.T, m *ir.Module) {
		list := allOf(m, stablehlo.CustomCall)
		list[0].SetOperand(0, list[1].Operand(0))
	},
	"collectives": func(t *testing.T, m *ir.Module) {
		for _, def := range []*ir.Def{stablehlo.AllReduce, stablehlo.AllGather, stablehlo.CollectivePermute} {
			for _, op := range allOf(m, def) {
				op.SetAttr("mhlo.frontend_attributes", ir.NewDict(ir.AttrList{{Name: "k", Attr: ir.NewString("v")}}))
			}
		}
	},
	"calls marked": func(t *testing.T, m *ir.Module) {
		for _, def := range []*ir.Def{stablehlo.CustomCall, stablehlo.Send, stablehlo.Recv, stablehlo.Infeed} {
			for _, op := range allOf(m, def) {
				op.SetAttr("mhlo.frontend_attributes", ir.NewDict(ir.AttrList{{Name: "k", Attr: ir.NewString("v")}}))
			}
		}
	},
	"module": func(t *testing.T, m *ir.Module) {
		m.Op().SetAttr(ir.SymbolName, ir.NewString("other name"))
		m.Op().SetAttr("mhlo.num_partitions", ir.NewInteger(4, ir.Int(32)))
	},
}

// TestUpdateCases compares the lines that a change of a module adds to its text and removes from it.
func TestUpdateCases(t *testing.T) {
	golden.Texts(t, "testdata/cases.txtar", func(t *testing.T, name, text string) string {
		edit := caseEdits[strings.SplitN(name, ".", 2)[0]]
		if edit == nil {
			t.Fatalf("no edit %s", name)
		}
		old := read(t, text)
		before := string(old.AppendText(nil, hlo.TextOptions{}))
		m, err := hlo.Import(old, ir.NewContext(testkit.Registry(t)))
		if err != nil {
			t.Fatal(err)
		}
		edit(t, m)
		if err := ir.Verify(m); err != nil {
			t.Fatal(err)
		}
		want := meaning(m)
		out, err := hlo.Update(m)
		if err != nil {
			return err.Error()
		}
		after := string(out.AppendText(nil, hlo.TextOptions{}))
		again, err := hlo.Import(read(t, after), ir.NewContext(testkit.Registry(t)))
		if err != nil {
			t.Fatalf("%v\n%s", err, after)
		}
		// Control predecessors are stronger than the places of calls.
		if got := meaning(again); got != want && !strings.HasPrefix(name, "calls change places") {
			t.Errorf("another meaning: %s\n%s", firstDifference(got, want), after)
		}
		return changedLines(before, after)
	})
}

// changedLines returns the lines of before that after lacks, and those that before lacks, each behind the line before
// it in its text.
func changedLines(before, after string) string {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	var out strings.Builder
	only := func(mark string, list, other []string) {
		have := map[string]int{}
		for _, l := range other {
			have[l]++
		}
		for i, l := range list {
			if have[l]--; have[l] >= 0 {
				continue
			}
			if i > 0 && slices.Contains(other, list[i-1]) && mark == "+" {
				fmt.Fprintf(&out, "  after: %s\n", strings.TrimSpace(list[i-1]))
			}
			fmt.Fprintf(&out, "%s %s\n", mark, strings.TrimSpace(l))
		}
	}
	only("-", a, b)
	only("+", b, a)
	if out.Len() == 0 {
		same := slices.Equal(a, b)
		return map[bool]string{true: "the same text", false: "the lines in another order:\n" + after}[same]
	}
	return out.String()
}
