package ops

import (
	"errors"
	"fmt"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// planScan compiles chlo.scan (CHLO, "scan"). The body executes once per index of the scanned dimension. Its arguments
// are the slices of the inputs at that index, without the scanned dimension, and the carried values. It returns slices
// of the outputs and the new carried values. The op's results are the outputs, then the last carried values.
func planScan(p *plan.Planner, s *plan.Spec) (exec.Runner, error) {
	inputs, outputs, err := scanSegments(s)
	if err != nil {
		return nil, err
	}
	dim := int(plan.IntAttr(s.Op, stablehlo.AttrDimension, 0))
	steps := int(plan.IntAttr(s.Op, chlo.AttrScanDimSize, -1))
	whole := append(append([]kernel.Type{}, s.In[:inputs]...), s.Out[:outputs]...)
	for _, t := range whole {
		if t.Class != kernel.ClassTensor || dim < 0 || dim >= len(t.Shape) {
			return nil, fmt.Errorf("scans dimension %d of %s", dim, t)
		}
		if n := int(t.Shape[dim]); steps < 0 {
			steps = n
		} else if n != steps {
			return nil, fmt.Errorf("scans %d and %d slices", steps, n)
		}
	}
	if steps < 0 {
		return nil, errors.New("has neither inputs, outputs nor scan_dim_size")
	}
	body, err := regionOf(p, s.Op, 0, len(s.In), len(s.Out))
	if err != nil {
		return nil, err
	}
	slice := make([]kernel.Type, len(whole))
	for i, t := range whole {
		slice[i] = kernel.TensorType(t.DType, append(append(tensor.Shape{}, t.Shape[:dim]...), t.Shape[dim+1:]...)...)
	}
	for i, v := range s.Op.Region(0).Entry().Args() {
		want := s.In[i]
		if i < inputs {
			want = slice[i]
		}
		if t, err := p.TypeOf(v); err != nil || t.DType != want.DType || !kernel.Fits(t, want.Shape) {
			return nil, fmt.Errorf("has a body whose argument %d is not %s", i, want)
		}
	}
	reverse := plan.BoolAttr(s.Op, chlo.AttrIsReverse, false)
	carries := len(s.In) - inputs
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		for i := range outputs {
			t := s.Out[i]
			b := m.Alloc(t.DType, t.Shape, t.N)
			fr.Slots[ins.Out[i]] = b
		}
		from := m.Refs(inputs)
		for i := range from {
			from[i] = m.Take(fr, ins, i)
		}
		carried := m.Refs(carries)
		for i := range carried {
			carried[i] = m.Take(fr, ins, inputs+i)
		}
		given := m.Refs(len(s.Out))
		for step := range steps {
			m.Poll()
			at := step
			if reverse {
				at = steps - 1 - step
			}
			for i := range inputs {
				b := m.Alloc(slice[i].DType, slice[i].Shape, slice[i].N)
				eachPiece(s.In[i], dim, at, func(piece, n, offset int) {
					copy(b.Tensor.Bytes()[piece:piece+n], from[i].Tensor.Bytes()[offset:])
				})
				fr.Slots[body.Args[i]] = b
			}
			for i, b := range carried {
				fr.Slots[body.Args[inputs+i]] = b
			}
			m.Block(fr, body, given)
			for i, b := range given[:outputs] {
				if b.Tensor.DType() != slice[inputs+i].DType || !b.Tensor.Shape().Equal(slice[inputs+i].Shape) {
					kernel.Fail(fmt.Errorf("has a body whose result %d is %s, not %s", i, kernel.TypeOfTensor(&b.Tensor), slice[inputs+i]))
				}
				eachPiece(s.Out[i], dim, at, func(piece, n, offset int) {
					copy(fr.Slots[ins.Out[i]].Tensor.Bytes()[offset:offset+n], b.Tensor.Bytes()[piece:])
				})
				m.Release(b)
			}
			copy(carried, given[outputs:])
		}
		for i, b := range carried {
			fr.Slots[ins.Out[outputs+i]] = b
		}
		for _, b := range from {
			m.Release(b)
		}
		m.DropRefs(inputs + carries + len(given))
	}, nil
}

// eachPiece calls f for each contiguous run of bytes in the slice of t at index at of dimension dim. A run has n bytes.
// It starts at byte piece of the slice and at byte offset of t.
func eachPiece(t kernel.Type, dim, at int, f func(piece, n, offset int)) {
	n := int(t.Shape[dim+1:].NumElements()) * t.DType.Size()
	for i := range int(t.Shape[:dim].NumElements()) {
		f(i*n, n, (i*int(t.Shape[dim])+at)*n)
	}
}

// scanSegments returns the number of inputs among the operands and the number of outputs among the results.
func scanSegments(s *plan.Spec) (inputs, outputs int, err error) {
	for _, x := range []struct {
		name  string
		total int
		first *int
	}{{"operandSegmentSizes", len(s.In), &inputs}, {"resultSegmentSizes", len(s.Out), &outputs}} {
		v, err := plan.IntsAttr(s.Op, x.name)
		if err != nil {
			return 0, 0, err
		}
		if v == nil { // without the attribute, all belong to the first segment
			*x.first = x.total
			continue
		}
		if len(v) != 2 || v[0] < 0 || v[1] < 0 || int(v[0]+v[1]) != x.total {
			return 0, 0, fmt.Errorf("expects two parts in %s", x.name)
		}
		*x.first = int(v[0])
	}
	if len(s.In)-inputs != len(s.Out)-outputs {
		return 0, 0, errors.New("expects as many carries as inits")
	}
	return inputs, outputs, nil
}

// scanShape is the shape function of scan. The outputs have the inputs' size in the scanned dimension; their other
// sizes come from the body's return. The carries have the shapes of the inits.
func scanShape(s *plan.Spec, in []*tensor.Tensor) error {
	inputs, outputs, err := scanSegments(s)
	if err != nil {
		return err
	}
	for i := outputs; i < len(s.Out); i++ {
		s.Out[i].Shape = in[inputs+i-outputs].Shape()
	}
	dim := int(plan.IntAttr(s.Op, stablehlo.AttrDimension, 0))
	steps := plan.IntAttr(s.Op, chlo.AttrScanDimSize, -1)
	if inputs > 0 && dim < len(in[0].Shape()) {
		steps = in[0].Shape()[dim]
	}
	term := s.Op.Region(0).Entry().Last()
	for i := range outputs {
		if s.Out[i].N >= 0 {
			continue
		}
		t, ok := term.Operand(i).Type().(*ir.TensorType)
		if !ok || !t.Static() || dim > len(t.Shape()) || steps < 0 {
			return kernel.Unsupported("the dynamic shape of output %d", i)
		}
		shape := append(append(tensor.Shape{}, t.Shape()[:dim]...), steps)
		s.Out[i].Shape = append(shape, t.Shape()[dim:]...)
	}
	return nil
}
