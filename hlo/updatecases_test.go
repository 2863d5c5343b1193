package hlo_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
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

// markAll gives the ops of m of some rows a frontend attribute.
func markAll(m *ir.Module, defs ...*ir.Def) {
	for _, def := range defs {
		for _, op := range allOf(m, def) {
			op.SetAttr("mhlo.frontend_attributes", ir.NewDict(ir.AttrList{{Name: "k", Attr: ir.NewString("v")}}))
		}
	}
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
		markAll(m, stablehlo.AllReduce, stablehlo.AllGather, stablehlo.CollectivePermute)
	},
	"calls marked": func(t *testing.T, m *ir.Module) {
		markAll(m, stablehlo.CustomCall, stablehlo.Send, stablehlo.Recv, stablehlo.Infeed, stablehlo.Concatenate)
	},
	"calls again": func(t *testing.T, m *ir.Module) { markAll(m, fn.Call) },
	"new state": func(t *testing.T, m *ir.Module) { // an argument in the place of the one that the loop had
		absBefore(m, allOf(m, stablehlo.Sine)[0], 0)
		for _, r := range allOf(m, stablehlo.While)[0].Regions() {
			b := r.Entry()
			b.Arg(0).ReplaceAllUsesWith(b.AddArg(b.Arg(0).Type(), nil))
			b.RemoveArg(0)
		}
	},
	"new argument": func(t *testing.T, m *ir.Module) {
		absBefore(m, allOf(m, stablehlo.Sine)[0], 0)
		f, _ := fn.Lookup(m, "one")
		f.Body().Arg(0).ReplaceAllUsesWith(f.Body().AddArg(f.Body().Arg(0).Type(), nil))
		f.Body().RemoveArg(0)
	},
	"more results": func(t *testing.T, m *ir.Module) {
		f, _ := fn.Lookup(m, "one")
		ret := f.Body().Last()
		ret.SetOperands(append(slices.Clone(ret.OperandList()), f.Body().Arg(0)))
		sign(m, f, func(args, results []*ir.DictAttr) ([]*ir.DictAttr, []*ir.DictAttr) { return args, append(results, nil) })
	},
	"other type": func(t *testing.T, m *ir.Module) {
		f, _ := fn.Lookup(m, "main")
		f.Body().Arg(0).SetType(m.Context().Tensor([]int64{2, 2}, f.Body().Arg(0).Type().(*ir.TensorType).Elem(), nil))
		sign(m, f, func(args, results []*ir.DictAttr) ([]*ir.DictAttr, []*ir.DictAttr) { return args, results })
	},
	"sharded results": func(t *testing.T, m *ir.Module) {
		absBefore(m, allOf(m, stablehlo.Sine)[0], 0)
		f, _ := fn.Lookup(m, "main")
		sign(m, f, func(args, results []*ir.DictAttr) ([]*ir.DictAttr, []*ir.DictAttr) {
			for i := range results {
				results[i] = ir.NewDict(ir.AttrList{{Name: "mhlo.sharding", Attr: ir.NewString("{replicated}")}})
			}
			return args, results
		})
	},
	"channels": func(t *testing.T, m *ir.Module) {
		list := allOf(m, stablehlo.AllReduce)
		list[0].SetAttr(stablehlo.AttrChannelHandle, stablehlo.ChannelHandleAttr.New(&stablehlo.ChannelHandle{Handle: 9, Type: 1}))
		list[2].RemoveAttr(stablehlo.AttrChannelHandle)
	},
	"one more result": func(t *testing.T, m *ir.Module) { // before the others
		op := allOf(m, stablehlo.CustomCall)[0]
		st := op.State()
		st.Types = append([]ir.Type{op.Operand(0).Type()}, st.Types...)
		results := make([]int, op.NumResults())
		for i := range results {
			results[i] = i + 1
		}
		m.Rebuild(op, st, results)
	},
	"new function": func(t *testing.T, m *ir.Module) { // a copy of the one that the first call names
		op := allOf(m, fn.Call)[0]
		f, _ := fn.Lookup(m, fn.Callee(op))
		n := m.After(f.Op).Clone(f.Op, map[*ir.Value]*ir.Value{})
		n.SetAttr(ir.SymbolName, ir.NewString("copy"))
		op.SetAttr(fn.AttrCallee, ir.NewSymbolRef("copy"))
	},
	"argument attributes": func(t *testing.T, m *ir.Module) {
		f, _ := fn.Lookup(m, "main")
		sign(m, f, func(args, results []*ir.DictAttr) ([]*ir.DictAttr, []*ir.DictAttr) {
			args[0] = ir.NewDict(ir.AttrList{{Name: "mhlo.sharding", Attr: ir.NewString("{replicated}")}, {Name: fn.AttrBufferDonor, Attr: m.Context().Bool(false)}})
			args[1] = ir.NewDict(ir.AttrList{{Name: fn.AttrBufferDonor, Attr: m.Context().Bool(true)}})
			return args, results
		})
	},
	"abs result": func(t *testing.T, m *ir.Module) { // an op that is new, as a result of main
		f, _ := fn.Lookup(m, "main")
		ret := f.Body().Last()
		v := ret.Operand(1)
		n := m.Before(ret).Create(stablehlo.Abs, []*ir.Value{v}, []ir.Type{v.Type()}).Result(0)
		ret.SetOperands(append(slices.Clone(ret.OperandList()), n))
		sign(m, f, func(args, results []*ir.DictAttr) ([]*ir.DictAttr, []*ir.DictAttr) { return args, append(results, nil) })
	},
	"arguments change places": func(t *testing.T, m *ir.Module) {
		f, _ := fn.Lookup(m, "main")
		first := f.Body().Arg(0)
		v := f.Body().AddArg(first.Type(), nil)
		v.SetOrigin(first.Origin())
		first.ReplaceAllUsesWith(v)
		f.Body().RemoveArg(0)
		sign(m, f, func(args, results []*ir.DictAttr) ([]*ir.DictAttr, []*ir.DictAttr) {
			return append(slices.Clone(args[1:]), args[0]), results
		})
	},
	"no body": func(t *testing.T, m *ir.Module) {
		f, _ := fn.Lookup(m, "one")
		f.Body().Erase()
		f.Op.SetAttr("sym_visibility", ir.NewString("private"))
	},
	"rotate but the condition": func(t *testing.T, m *ir.Module) { // which reads another value of the same type
		editNamed(t, "rotate", m, allOf(m, stablehlo.While)[0])
		b := allOf(m, stablehlo.While)[0].Region(0).Entry()
		b.Arg(1).ReplaceAllUsesWith(b.Arg(0))
		b.Arg(0).SetOrigin(b.Arg(1).Origin())
	},
	"new state of the body": func(t *testing.T, m *ir.Module) {
		b := allOf(m, stablehlo.While)[0].Region(1).Entry()
		b.Arg(0).SetOrigin(0)
		absBefore(m, allOf(m, stablehlo.Abs)[0], 0)
	},
	"inlined and marked": func(t *testing.T, m *ir.Module) {
		runs(passes.Inline{})(nil, m, nil)
		markAll(m, stablehlo.CustomCall)
	},
	"argument is gone": func(t *testing.T, m *ir.Module) {
		f, _ := fn.Lookup(m, "one")
		f.Body().RemoveArg(1)
		sign(m, f, func(args, results []*ir.DictAttr) ([]*ir.DictAttr, []*ir.DictAttr) { return args[:1], results })
	},
	"another result": func(t *testing.T, m *ir.Module) {
		f, _ := fn.Lookup(m, "one")
		f.Body().Last().SetOperands([]*ir.Value{f.Body().Arg(1)})
		sign(m, f, func(args, results []*ir.DictAttr) ([]*ir.DictAttr, []*ir.DictAttr) { return args, results })
	},
	"used result": func(t *testing.T, m *ir.Module) { // one more, before the others, which main returns
		op := allOf(m, stablehlo.CustomCall)[0]
		st := op.State()
		st.Types = append([]ir.Type{op.Operand(0).Type()}, st.Types...)
		op = m.Rebuild(op, st, []int{1, 2})
		f, _ := fn.Lookup(m, "main")
		f.Body().Last().SetOperand(0, op.Result(0))
	},
	"without origins": func(t *testing.T, m *ir.Module) {
		m.Walk(func(op *ir.Op) bool {
			op.SetOrigin(0)
			return true
		})
		absBefore(m, allOf(m, stablehlo.Reduce)[0], 0)
	},
	"origin of another": func(t *testing.T, m *ir.Module) {
		op := allOf(m, stablehlo.Reduce)[0]
		op.SetOrigin(allOf(m, stablehlo.Sine)[0].Origin())
		absBefore(m, op, 0)
	},
	"an operand from outside": func(t *testing.T, m *ir.Module) {
		op := allOf(m, stablehlo.Multiply)[0]
		op.SetOperand(1, op.Next().Operand(1))
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
		out, err := hlo.Update(m)
		if err != nil {
			return err.Error()
		}
		if strings.HasPrefix(name, "nothing.") && out != old {
			t.Error("Update returned another module")
		}
		want := meaning(m)
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

// afterEdit returns the text of Update's module after an edit of what old imports to.
func afterEdit(t *testing.T, old *hlo.Module, edit func(m *ir.Module)) string {
	t.Helper()
	m, err := hlo.Import(old, ir.NewContext(testkit.Registry(t)))
	if err != nil {
		t.Fatal(err)
	}
	edit(m)
	out, err := hlo.Update(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(out.AppendText(nil, hlo.TextOptions{}))
}

// TestUpdateWaits: control predecessors join across many instructions that are gone, each once.
func TestUpdateWaits(t *testing.T) {
	var text strings.Builder
	text.WriteString("HloModule waits\n\nENTRY main {\n  x = f32[] parameter(0)\n  a0 = f32[] sine(x)\n  b0 = f32[] cosine(x)\n")
	const n = 40
	for i := range n {
		for _, name := range []string{"a", "b"} {
			fmt.Fprintf(&text, "  %s%d = f32[] abs(x), control-predecessors={a%d, b%d}\n", name, i+1, i, i)
		}
	}
	fmt.Fprintf(&text, "  last = f32[] tanh(x), control-predecessors={a%d, b%d}\n  ROOT all = (f32[], f32[], f32[]) tuple(a0, b0, last)\n}\n", n, n)
	got := afterEdit(t, read(t, text.String()), func(m *ir.Module) {
		for _, op := range allOf(m, stablehlo.Abs) {
			op.Erase()
		}
	})
	if !strings.Contains(got, "%last = f32[] tanh(%x), control-predecessors={%a0, %b0}\n") || strings.Contains(got, "abs") {
		t.Errorf("the text is\n%s", got)
	}
}

// TestUpdateWaitsForLater: an instruction moves before those that it waited for, which many paths reach.
func TestUpdateWaitsForLater(t *testing.T) {
	var text strings.Builder
	text.WriteString("HloModule waits\n\nENTRY main {\n  x = f32[] parameter(0)\n  a0 = f32[] sine(x)\n")
	const n = 40
	for i := range n {
		fmt.Fprintf(&text, "  a%d = f32[] add(a%d, a%d)\n", i+1, i, i)
	}
	fmt.Fprintf(&text, "  last = f32[] tanh(x), control-predecessors={a%d}\n  ROOT all = (f32[], f32[]) tuple(a%d, last)\n}\n", n, n)
	got := afterEdit(t, read(t, text.String()), func(m *ir.Module) {
		op := allOf(m, stablehlo.Tanh)[0]
		op.MoveBefore(op.Block().First())
		absBefore(m, op, 0)
	})
	if !strings.Contains(got, "%last = f32[] tanh(%abs.1), control-predecessors={%a40}\n") {
		t.Errorf("the text is\n%s", got)
	}
}

// TestUpdateRepeatedNames: a proto may have a name twice, in one computation or in two. Update writes it once in each.
func TestUpdateRepeatedNames(t *testing.T) {
	old := read(t, `HloModule repeated

one {
  same1 = f32[] parameter(0)
  ROOT cosine = f32[] cosine(same1)
}

ENTRY main {
  x = f32[] parameter(0)
  same2 = f32[] sine(x)
  same3 = f32[] negate(same2)
  same4 = f32[] call(same3), to_apply=one
  ROOT last = f32[] tanh(same4)
}
`)
	data, err := old.AppendProto(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"same2", "same3", "same4"} {
		data = bytes.ReplaceAll(data, []byte(name), []byte("same1"))
	}
	if old, err = hlo.ParseProto(diag.NewSource("repeated", data)); err != nil {
		t.Fatal(err)
	}
	got := afterEdit(t, old, func(m *ir.Module) { absBefore(m, allOf(m, stablehlo.Tanh)[0], 0) })
	const want = `  %x = f32[] parameter(0)
  %same1 = f32[] sine(%x)
  %negate.1 = f32[] negate(%same1)
  %call.1 = f32[] call(%negate.1), to_apply=%one
  %abs.1 = f32[] abs(%call.1)
  ROOT %last = f32[] tanh(%abs.1)
`
	if !strings.Contains(got, want) {
		t.Errorf("the text is\n%s", got)
	}
}

// changedLines returns the lines of before that after lacks, and those that before lacks, each after the line before
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
