package ops

import (
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
)

// chooserOf returns what a region of arguments (x, i, y, j) chooses, as argmax and argmin do: its results are x or y
// and i or j, selected by comparisons of x and y and of i and j. It returns false for any other region.
func chooserOf(b *ir.Block) (*kernel.Choice, bool) {
	last := b.Last()
	if len(b.Args()) != 4 || last == nil || !plan.IsReturn(last) || last.NumOperands() != 2 {
		return nil, false
	}
	c := &kernel.Choice{}
	for r := range kernel.Relations {
		for q := range c[r] {
			e := &chooser{b: b, relations: [2]int{r, q}}
			x, i := e.value(last.Operand(0), 0), e.value(last.Operand(1), 0)
			if e.fails || x != b.Arg(0) && x != b.Arg(2) || i != b.Arg(1) && i != b.Arg(3) {
				return nil, false
			}
			c[r][q].X, c[r][q].I = x == b.Arg(0), i == b.Arg(1)
		}
	}
	return c, true
}

// chooser evaluates a region for one relation of x to y and one of i to j.
type chooser struct {
	b         *ir.Block
	relations [2]int
	fails     bool // the region computes something else
}

const chooserDepth = 16 // of expressions

// value returns the argument that v is.
func (e *chooser) value(v *ir.Value, depth int) *ir.Value {
	o := v.DefiningOp()
	if v.Block() == e.b {
		return v
	}
	if o == nil || o.Block() != e.b || plan.OpKind(o) != stablehlo.Select || o.NumOperands() != 3 || depth > chooserDepth {
		e.fails = true
		return nil
	}
	if e.truth(o.Operand(0), depth+1) {
		return e.value(o.Operand(1), depth+1)
	}
	return e.value(o.Operand(2), depth+1)
}

// truth returns the value of a predicate.
func (e *chooser) truth(v *ir.Value, depth int) bool {
	o := v.DefiningOp()
	if o == nil || o.Block() != e.b || depth > chooserDepth {
		e.fails = true
		return false
	}
	of := func(i int) bool { return e.truth(o.Operand(i), depth+1) }
	switch kind := plan.OpKind(o); {
	case kind == stablehlo.Compare && o.NumOperands() == 2:
		return e.compare(o, e.value(o.Operand(0), depth+1), e.value(o.Operand(1), depth+1))
	case o.NumOperands() == 2 && kind == stablehlo.And:
		x, y := of(0), of(1)
		return x && y
	case o.NumOperands() == 2 && kind == stablehlo.Or:
		x, y := of(0), of(1)
		return x || y
	case o.NumOperands() == 2 && kind == stablehlo.Xor:
		return of(0) != of(1)
	case o.NumOperands() == 1 && kind == stablehlo.Not:
		return !of(0)
	}
	e.fails = true
	return false
}

// compare returns the result of a comparison of two arguments of one pair of positions.
func (e *chooser) compare(o *ir.Op, x, y *ir.Value) bool {
	c := plan.Attrs[plan.Comparison](o)
	if x == nil || y == nil || c.Total() {
		e.fails = true
		return false
	}
	nx, ny := x.Index(), y.Index()
	if nx%2 != ny%2 {
		e.fails = true
		return false
	}
	relation := e.relations[nx%2]
	var less, equal, greater bool
	switch nan := relation == kernel.RelationNaNs || relation == kernel.RelationNaNX && (nx < 2 || ny < 2) || relation == kernel.RelationNaNY && (nx >= 2 || ny >= 2); {
	case nan:
	case nx == ny:
		equal = true
	case nx < 2:
		less, equal, greater = relation == kernel.RelationLess, relation == kernel.RelationEqual, relation == kernel.RelationGreater
	default:
		less, equal, greater = relation == kernel.RelationGreater, relation == kernel.RelationEqual, relation == kernel.RelationLess
	}
	switch c.Direction {
	case "LT":
		return less
	case "LE":
		return less || equal
	case "GT":
		return greater
	case "GE":
		return greater || equal
	case "EQ":
		return equal
	case "NE":
		return !equal
	}
	e.fails = true
	return false
}
