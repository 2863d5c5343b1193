package kernel

import (
	"sync"
	"unsafe"

	"github.com/hlocb/hlocb/interp/internal/simd/expr"
	"github.com/hlocb/hlocb/interp/internal/simd/machine"
	"github.com/hlocb/hlocb/interp/internal/simd/vec"
	"github.com/hlocb/hlocb/tensor"
)

// code returns the choice as a loop of machine code whose operands are x, i, y and j and whose results are the new x
// and i, or nil.
func (c *Choice) code(value, index tensor.DType) *machine.Code {
	width := value.Size()
	if vec.Bytes() == 0 || index.Size() != width || CompareLanes(value, "LT", false) == nil {
		return nil
	}
	p := expr.New(width)
	var in []*expr.Node
	for _, dt := range []tensor.DType{value, index, value, index} {
		in = append(in, p.Input(Format(dt, width), false))
	}
	x, i, y, j := in[0], in[1], in[2], in[3]
	compare := func(dt tensor.DType, dir string, a, b *expr.Node) *expr.Node {
		return CompareLanes(dt, dir, false).Apply(p, a, b)
	}
	nanX, nanY := compare(value, "NE", x, x), compare(value, "NE", y, y)
	kinds := [Relations]*expr.Node{RelationLess: compare(value, "LT", x, y), RelationEqual: compare(value, "EQ", x, y), RelationGreater: compare(value, "LT", y, x),
		RelationNaNX: p.And(nanX, p.Not(nanY)), RelationNaNY: p.And(nanY, p.Not(nanX)), RelationNaNs: p.And(nanX, nanY)}
	orders := [3]*expr.Node{RelationLess: compare(index, "LT", i, j), RelationEqual: compare(index, "EQ", i, j), RelationGreater: compare(index, "LT", j, i)}
	either := func(a, b *expr.Node) *expr.Node {
		if a == nil || b == nil {
			return first(a, b)
		}
		return p.Or(a, b)
	}
	// kept returns the lanes that keep a part of the pair.
	kept := func(of func(relation, order int) bool) *expr.Node {
		var all *expr.Node
		uniform := func(r int, keep bool) bool { return of(r, 0) == keep && of(r, 1) == keep && of(r, 2) == keep }
		if value.IsFloat() && uniform(RelationNaNX, true) && uniform(RelationNaNs, true) { // shorter than the two
			all = nanX
		}
		for r, kind := range kinds {
			switch {
			case r >= RelationNaNX && !value.IsFloat() || uniform(r, false) || all == nanX && (r == RelationNaNX || r == RelationNaNs):
			case uniform(r, true):
				all = either(all, kind)
			default:
				var some *expr.Node
				for q, order := range orders {
					if of(r, q) {
						some = either(some, order)
					}
				}
				all = either(all, p.And(kind, some))
			}
		}
		if all == nil { // none
			all = p.And(kinds[RelationEqual], p.Not(kinds[RelationEqual]))
		}
		return all
	}
	keepX, keepI := kept(func(r, q int) bool { return c[r][q].X }), kept(func(r, q int) bool { return c[r][q].I })
	p.Output(Format(value, width), p.Select(keepX, x, y))
	p.Output(Format(index, width), p.Select(keepI, i, j))
	code, err := machine.Compile(p, vec.Bytes())
	if err != nil {
		return nil
	}
	return code
}

// first returns a, or b if a is nil.
func first(a, b *expr.Node) *expr.Node {
	if a == nil {
		return b
	}
	return a
}

// chooseTile is the number of rows, and of their elements, that are transposed at a time.
const chooseTile = 64

// chooseBuffer holds the pairs of a tile of rows, element by element, and the chosen pairs.
type chooseBuffer[T, I any] struct {
	values  [chooseTile * chooseTile]T
	indices [chooseTile * chooseTile]I
	x       [chooseTile]T
	i       [chooseTile]I
}

// chooser computes rows of steps * inner elements in lanes. If inner is 1, the lanes are rows.
type chooser[T integer | float, I int32 | int64] struct {
	code         *machine.Code
	steps, inner int
	buffers      sync.Pool
}

// step chooses for n elements, a multiple of the lanes.
func (c *chooser[T, I]) step(x []T, i []I, y []T, j []I, n int) {
	table := [6]unsafe.Pointer{unsafe.Pointer(&x[:n][0]), unsafe.Pointer(&i[:n][0]), unsafe.Pointer(&y[:n][0]), unsafe.Pointer(&j[:n][0])}
	table[4], table[5] = table[0], table[1]
	c.code.Run(&table[0], n)
}

// rows reduces up to chooseTile rows.
func (c *chooser[T, I]) rows(ox []T, oi []I, xs []T, is []I, x0 T, i0 I) {
	b, _ := c.buffers.Get().(*chooseBuffer[T, I])
	if b == nil {
		b = &chooseBuffer[T, I]{}
	}
	defer c.buffers.Put(b)
	lanes := c.code.Lanes()
	n := (len(ox) + lanes - 1) &^ (lanes - 1) // lanes without a row compute anything
	for k := range n {
		b.x[k], b.i[k] = x0, i0
	}
	for from := 0; from < c.steps; from += chooseTile {
		w := min(chooseTile, c.steps-from)
		vec.Transpose(b.values[:], xs[from:], len(ox), w, chooseTile, c.steps)
		vec.Transpose(b.indices[:], is[from:], len(ox), w, chooseTile, c.steps)
		for s := range w {
			c.step(b.x[:], b.i[:], b.values[s*chooseTile:], b.indices[s*chooseTile:], n)
		}
	}
	copy(ox, b.x[:])
	copy(oi, b.i[:])
}
