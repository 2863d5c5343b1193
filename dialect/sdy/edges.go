package sdy

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// PropagationEdges is #sdy.propagation_edges<[...]>: how a sharding reached an operation's values, by steps.
type PropagationEdges struct {
	Steps []PropagationStep
}

// PropagationStep is {step-0 = [...]}.
type PropagationStep struct {
	Index int64
	Axes  []AxisFlow
}

// AxisFlow is {"x" = operand-0 -> [result-0]}: the values that received an axis from a value.
type AxisFlow struct {
	Axis   AxisRef
	Source ValueRef
	To     []ValueRef
}

// ValueRef is operand-0 or result-0.
type ValueRef struct {
	Result bool
	Index  int64
}

// PropagationEdgesAttr is the row of #sdy.propagation_edges. Bytecode has it as text.
var PropagationEdgesAttr = view.TextAttr(ir.AttrDef{
	Dialect: "sdy", Name: "propagation_edges", Summary: "Propagation edge metadata for all propagation steps.",
	Doc:    "How a sharding reached the values of an operation, by steps of the propagation.",
	Syntax: `<[{step-0 = [{"x" = operand-0 -> [result-0]}]}]>`,
}, (*PropagationEdges).text)

// text is <[{step-0 = [{"x" = operand-0 -> [result-0]}]}]>.
func (e *PropagationEdges) text(t *view.Text) {
	start := t.Pos()
	t.Lit("<")
	view.Some(t, "[", "]", &e.Steps, func(s *PropagationStep) {
		t.Lit("{step-")
		t.Int(&s.Index)
		t.Lit(" = ")
		view.Some(t, "[", "]", &s.Axes, func(f *AxisFlow) {
			t.Lit("{")
			f.Axis.text(t)
			t.Lit(" = ")
			f.Source.text(t)
			t.Lit(" -> ")
			view.Some(t, "[", "]", &f.To, func(v *ValueRef) { v.text(t) })
			t.Lit("}")
		})
		t.Lit("}")
	})
	t.Lit(">")
	fail := func(format string, args ...any) { t.Failf(start, "propagation edges have "+format, args...) }
	seen := map[int64]bool{}
	for _, s := range e.Steps {
		if s.Index < 0 {
			fail("negative step index: %d", s.Index)
		}
		if seen[s.Index] {
			fail("duplicate step index: %d", s.Index)
		}
		seen[s.Index] = true
		for _, f := range s.Axes {
			for i, to := range f.To {
				if to == f.Source {
					fail("a source that is the same as a target")
				}
				if slices.Contains(f.To[:i], to) {
					fail("duplicate targets for step index: %d and axis: %s", s.Index, f.Axis.Name)
				}
			}
		}
	}
}

// text is operand-0 or result-0.
func (v *ValueRef) text(t *view.Text) {
	word := "operand"
	if v.Result {
		word = "result"
	}
	if t.P == nil {
		t.Lit(word)
	} else {
		pos := t.Pos()
		if word = t.P.ParseKeywordOrString(); word != "operand" && word != "result" {
			t.Failf(pos, "expected ::mlir::sdy::EdgeNodeType to be one of: operand, result")
		}
		v.Result = word == "result"
	}
	t.Lit("-")
	t.Int(&v.Index)
}

// check checks that the values exist, and that the axes are in the mesh of their shardings.
func (e *PropagationEdges) check(op *ir.Op, r *ir.Reporter) {
	var shardings []*Sharding
	flows := func(each func(f AxisFlow, v ValueRef) bool) {
		for _, s := range e.Steps {
			for _, f := range s.Axes {
				for _, v := range append([]ValueRef{f.Source}, f.To...) {
					if !each(f, v) {
						return
					}
				}
			}
		}
	}
	value := func(v ValueRef) *ir.Value {
		switch {
		case v.Index < 0:
		case v.Result && v.Index < int64(op.NumResults()):
			return op.Result(int(v.Index))
		case !v.Result && v.Index < int64(op.NumOperands()):
			return op.Operand(int(v.Index))
		}
		return nil
	}
	flows(func(_ AxisFlow, v ValueRef) bool {
		if x := value(v); x != nil {
			if s := shardingOf(x, r); s != nil {
				shardings = append(shardings, s)
			}
		}
		return true
	})
	if len(shardings) == 0 {
		r.Errorf(op, "expected propagation edges attr to reference a sharding.")
		return
	}
	for _, s := range shardings {
		if meshOf(s, op, r) == nil {
			return // the sharding is rejected
		}
	}
	mesh := commonMesh(shardings, op, r)
	if mesh == nil {
		r.Errorf(op, "expected a common mesh for propagation edges attr.")
		return
	}
	flows(func(f AxisFlow, v ValueRef) bool {
		switch {
		case mesh.index(f.Axis.Name) < 0:
			r.Errorf(op, "expected axis ref to be in one of the meshes")
		case value(v) != nil:
			return true
		case v.Result:
			r.Errorf(op, "expected a value ref to have a result index in range [0, %d), got: %d", op.NumResults(), v.Index)
		default:
			r.Errorf(op, "expected a value ref to have an operand index in range [0, %d), got: %d", op.NumOperands(), v.Index)
		}
		return false
	})
}
