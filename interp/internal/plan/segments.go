package plan

import (
	"slices"
	"unsafe"

	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/simd/expr"
	"github.com/hlocb/hlocb/interp/internal/simd/machine"
	"github.com/hlocb/hlocb/interp/internal/simd/vec"
	"github.com/hlocb/hlocb/tensor"
)

// Consecutive steps of a chain that compute on lanes of one width become one loop of machine code. Values that only the
// loop uses stay in registers. The loop computes whole vectors; it computes the elements after the last one in a vector
// of their own. The steps compute all elements if there is no code.

// segmentSteps is the maximum number of steps of a segment.
const segmentSteps = 64

// segment is a range of steps, with code or without.
type segment struct {
	from, to int
	arrays   []segmentArray // the operands of the code, then its results
	code     *machine.Code
}

// segmentArray is a view that the code reads or writes.
type segmentArray struct {
	view, size int // of an element
	same       bool
	result     bool
}

// run computes the n elements of a block, or returns false if there is no code.
func (g *segment) run(s *fusedState, n int) bool {
	if g.code == nil {
		return false
	}
	whole := n &^ (g.code.Lanes() - 1)
	if whole > 0 {
		s.table = s.table[:0]
		for _, a := range g.arrays {
			s.table = append(s.table, unsafe.Pointer(unsafe.SliceData(s.views[a.view].Bytes())))
		}
		g.code.Run(&s.table[0], whole)
	}
	if whole < n {
		g.rest(s, whole, n)
	}
	return true
}

// rest computes the elements [from, to), which are fewer than the lanes.
func (g *segment) rest(s *fusedState, from, to int) {
	if len(s.rest) < len(g.arrays) {
		s.rest = make([][machine.MaxVector]byte, len(g.arrays))
	}
	s.table = s.table[:0]
	for i, a := range g.arrays {
		b := s.views[a.view].Bytes()
		at := unsafe.Pointer(unsafe.SliceData(b))
		if !a.same {
			at = unsafe.Pointer(&s.rest[i])
			if !a.result {
				copy(s.rest[i][:], b[from*a.size:to*a.size])
			}
		}
		s.table = append(s.table, at)
	}
	g.code.Run(&s.table[0], g.code.Lanes())
	for i, a := range g.arrays {
		if a.result {
			copy(s.views[a.view].Bytes()[from*a.size:to*a.size], s.rest[i][:])
		}
	}
}

// split divides the steps into segments. same holds the scratch blocks with equal elements.
func (f *fused) split(same map[int]bool) {
	for from := 0; from < len(f.steps); {
		width, to := 0, from
		for ; to < len(f.steps) && to < from+segmentSteps; to++ {
			l := f.steps[to].lanes
			if l == nil || width != 0 && l.Width != 0 && l.Width != width {
				break
			}
			width = max(width, l.Width)
		}
		if width == 0 {
			width = 4
		}
		g := segment{from: from, to: max(to, from+1)}
		if to > from+1 || f.brain(f.steps[from]) {
			for g.code = f.compile(&g, width, same); g.code == nil && g.to-from > 8 && vec.Bytes() > 0; g.code = f.compile(&g, width, same) {
				g.to = from + (g.to-from)/2 // too many registers
			}
		}
		f.segments = append(f.segments, g)
		from = g.to
	}
	for _, loads := range [][]fusedStep{f.splats, f.loads} {
		for l := range loads {
			loads[l].code = true
			for _, g := range f.segments {
				for _, st := range f.steps[g.from:g.to] {
					loads[l].code = loads[l].code && (g.code != nil || !slices.Contains(st.in, loads[l].out))
				}
			}
		}
	}
}

// brain reports whether a step computes on bf16 in lanes. Alone, its kernel would widen, compute and round in a loop
// each: the sums of 1024 x 1024 bf16 take 0.63 ms of processor time in one loop, 1.5 in several.
func (f *fused) brain(st fusedStep) bool {
	return st.lanes != nil && slices.ContainsFunc(st.in, func(i int) bool { return f.typeOf(i) == tensor.BF16 })
}

// typeOf returns the element type of a view.
func (f *fused) typeOf(i int) tensor.DType {
	switch base := len(f.in) + len(f.out); {
	case i < len(f.in):
		return f.in[i].DType
	case i < base:
		return f.out[i-len(f.in)].DType
	default:
		return f.scratch[i-base]
	}
}

// compile returns the code of a segment, or nil.
func (f *fused) compile(g *segment, width int, same map[int]bool) *machine.Code {
	if vec.Bytes() == 0 {
		return nil
	}
	p := expr.New(width)
	now := map[int]*expr.Node{} // the values that the views hold
	g.arrays = nil
	var written []int
	for _, st := range f.steps[g.from:g.to] {
		var x []*expr.Node
		for _, i := range st.in {
			if now[i] == nil {
				format := kernel.Format(f.typeOf(i), width)
				if format == "" {
					return nil
				}
				now[i] = p.Input(format, same[i])
				g.arrays = append(g.arrays, segmentArray{view: i, size: f.typeOf(i).Size(), same: same[i]})
			}
			x = append(x, now[i])
		}
		if kernel.Format(f.typeOf(st.out), width) == "" {
			return nil
		}
		now[st.out] = st.lanes.Apply(p, x...)
		written = append(written, st.out)
	}
	stored := map[int]bool{}
	for _, i := range written {
		if stored[i] || !f.read(i, g.to) {
			continue
		}
		stored[i] = true
		p.Output(kernel.Format(f.typeOf(i), width), now[i])
		g.arrays = append(g.arrays, segmentArray{view: i, size: f.typeOf(i).Size(), result: true})
	}
	code, err := machine.Compile(p, vec.Bytes())
	if err != nil {
		return nil
	}
	return code
}

// read reports whether the value of a view before a step is a result, or whether that step or a later one reads it.
func (f *fused) read(i, step int) bool {
	if i < len(f.in)+len(f.out) {
		return true
	}
	for _, st := range f.steps[step:] {
		for _, x := range st.in {
			if x == i && st.load == nil {
				return true
			}
		}
		if st.out == i {
			return false
		}
	}
	return false
}
