package sdy

import (
	"slices"
	"strconv"
	"strings"

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
var PropagationEdgesAttr = attr(ir.AttrDef{
	Name: "propagation_edges", Summary: "Propagation edge metadata for all propagation steps.",
	Doc:    "How a sharding reached the values of an operation, by steps of the propagation.",
	Syntax: `<[{step-0 = [{"x" = operand-0 -> [result-0]}]}]>`,
}, parseEdges)

func parseEdges(p ir.AsmParser) *PropagationEdges {
	start := p.Pos()
	e := &PropagationEdges{}
	some := func(item func()) {
		p.Expect("[")
		p.ParseList("", "", item)
		p.Expect("]")
	}
	p.Expect("<")
	some(func() {
		p.Expect("{")
		p.ExpectKeyword("step")
		p.Expect("-")
		s := PropagationStep{Index: p.ParseInteger()}
		p.Expect("=")
		some(func() {
			p.Expect("{")
			f := AxisFlow{Axis: parseAxisRef(p)}
			p.Expect("=")
			f.Source = parseValueRef(p)
			p.Expect("->")
			some(func() { f.To = append(f.To, parseValueRef(p)) })
			p.Expect("}")
			s.Axes = append(s.Axes, f)
		})
		p.Expect("}")
		e.Steps = append(e.Steps, s)
	})
	p.Expect(">")
	fail := func(format string, args ...any) { p.ErrorfAt(start, "propagation edges have "+format, args...) }
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
	return e
}

func parseValueRef(p ir.AsmParser) ValueRef {
	var v ValueRef
	pos := p.Pos()
	switch p.ParseKeywordOrString() {
	case "operand":
	case "result":
		v.Result = true
	default:
		p.ErrorfAt(pos, "expected ::mlir::sdy::EdgeNodeType to be one of: operand, result")
	}
	p.Expect("-")
	v.Index = p.ParseInteger()
	return v
}

func (v ValueRef) String() string {
	if v.Result {
		return "result-" + strconv.FormatInt(v.Index, 10)
	}
	return "operand-" + strconv.FormatInt(v.Index, 10)
}

// String returns <[{step-0 = [{"x" = operand-0 -> [result-0]}]}]>.
func (e *PropagationEdges) String() string {
	var steps []string
	for _, s := range e.Steps {
		var axes []string
		for _, f := range s.Axes {
			var to []string
			for _, v := range f.To {
				to = append(to, v.String())
			}
			axes = append(axes, "{"+f.Axis.String()+" = "+f.Source.String()+" -> ["+strings.Join(to, ", ")+"]}")
		}
		steps = append(steps, "{step-"+strconv.FormatInt(s.Index, 10)+" = ["+strings.Join(axes, ", ")+"]}")
	}
	return "<[" + strings.Join(steps, ", ") + "]>"
}

// check checks that the values exist, and that the axes are in the mesh of their shardings.
func (e *PropagationEdges) check(op *ir.Op, r *ir.Reporter) {
	var shardings []*Sharding
	flows := func(each func(f AxisFlow, v ValueRef) bool) bool {
		for _, s := range e.Steps {
			for _, f := range s.Axes {
				for _, v := range append([]ValueRef{f.Source}, f.To...) {
					if !each(f, v) {
						return false
					}
				}
			}
		}
		return true
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
