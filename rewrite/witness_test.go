package rewrite_test

import (
	"slices"
	"testing"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/rewrite"
)

// witness compares what a Listener hears with what happens to a module.
type witness struct {
	m      *ir.Module
	before map[*ir.Op]facts
	heard  map[*ir.Op]map[string]bool
}

// facts are the parts of an op whose changes a listener hears.
type facts struct {
	operands []*ir.Value
	attrs    ir.AttrList
	args     []*ir.Value
	types    []ir.Type
	block    *ir.Block
}

func factsOf(op *ir.Op) facts {
	f := facts{operands: op.OperandList(), attrs: op.Attrs(), types: op.ResultTypes(), block: op.Block()}
	for _, r := range op.Regions() {
		for _, b := range r.Blocks() {
			f.args = append(f.args, b.Args()...)
			for _, a := range b.Args() {
				f.types = append(f.types, a.Type())
			}
		}
	}
	return f
}

// watch returns a witness of the changes to m from now on, and the listener to pass to New.
func watch(m *ir.Module) (*witness, *rewrite.Listener) {
	w := &witness{m: m, before: map[*ir.Op]facts{}, heard: map[*ir.Op]map[string]bool{}}
	m.Walk(func(op *ir.Op) bool {
		w.before[op] = factsOf(op)
		return true
	})
	hear := func(what string) func(*ir.Op) {
		return func(op *ir.Op) {
			if w.heard[op] == nil {
				w.heard[op] = map[string]bool{}
			}
			w.heard[op][what] = true
		}
	}
	erased := hear("erased")
	return w, &rewrite.Listener{Created: hear("created"), Changed: hear("changed"), Moved: hear("moved"),
		Replaced: func(op *ir.Op, _ []*ir.Value) { hear("replaced")(op) },
		Erased: func(op *ir.Op) {
			op.Walk(func(o *ir.Op) bool {
				erased(o)
				return true
			})
		}}
}

// compare reports what the listener did not hear, and what it heard wrongly.
func (w *witness) compare(t *testing.T) {
	t.Helper()
	w.m.Walk(func(op *ir.Op) bool {
		heard, old := w.heard[op], w.before[op]
		_, known := w.before[op]
		now := factsOf(op)
		switch {
		case heard["erased"]:
			t.Errorf("heard that '%s' is erased, which is in the module", op.Name())
		case !known && !heard["created"]:
			t.Errorf("did not hear of the new op '%s'", op.Name())
		case !known:
		case old.block != now.block && !heard["moved"]:
			t.Errorf("did not hear that '%s' moved", op.Name())
		case !heard["changed"] && !(slices.Equal(old.operands, now.operands) && slices.Equal(old.args, now.args) && slices.Equal(old.types, now.types) && slices.Equal(old.attrs, now.attrs)):
			t.Errorf("did not hear that '%s' changed", op.Name())
		}
		return true
	})
	for op := range w.before {
		if op.Erased() && !w.heard[op]["erased"] {
			t.Errorf("did not hear that '%s' is erased", op.Name())
		}
	}
	for op, heard := range w.heard {
		if heard["replaced"] && !op.Erased() {
			t.Errorf("heard that '%s' is replaced, which is in the module", op.Name())
		}
	}
}

// TestRebuildTells: Rebuild tells that an op is replaced and erased, and that its regions live on.
func TestRebuildTells(t *testing.T) {
	m := read(t, `func.func @f(%x: tensor<f32>, %c: tensor<i32>) -> tensor<f32> {
  %0:2 = "u.a"(%c) ({
    %2 = stablehlo.abs %x : tensor<f32>
  }) : (tensor<i32>) -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}`)
	w, l := watch(m)
	values := 0
	replaced := l.Replaced
	l.Replaced = func(op *ir.Op, list []*ir.Value) {
		replaced(op, list)
		values = len(list)
		if list[0] != nil || list[1].DefiningOp().Region(0).Entry() == nil || len(op.Regions()) != 0 || op.HasUses() {
			t.Error("the new op does not have the regions and the uses of the old op yet")
		}
	}
	r := rewrite.New(m, l)
	op := m.Body().First().Region(0).Entry().First()
	st := op.State()
	st.Types = st.Types[1:]
	r.Rebuild(op, st, []int{-1, 0})
	if w.compare(t); values != 2 || r.Statistics() != (rewrite.Statistics{Created: 1, Changed: 1, Replaced: 1, Erased: 1}) {
		t.Errorf("heard of %d values, %v", values, r.Statistics())
	}
	if err := ir.Verify(m); err != nil {
		t.Error(err)
	}
}
