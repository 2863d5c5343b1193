package interp

import (
	"errors"
	"fmt"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// planScan compiles chlo.scan (CHLO, "scan"). The body executes once per index of the scanned dimension. Its arguments
// are the slices of the inputs at that index, without the scanned dimension, and the carried values. It returns slices
// of the outputs and the new carried values. The op's results are the outputs, then the last carried values.
func planScan(p *planner, s *spec) (control, error) {
	inputs, outputs, err := scanSegments(s)
	if err != nil {
		return nil, err
	}
	dim := int(intAttr(s.op, stablehlo.AttrDimension, 0))
	steps := int(intAttr(s.op, chlo.AttrScanDimSize, -1))
	whole := append(append([]vtype{}, s.in[:inputs]...), s.out[:outputs]...)
	for _, t := range whole {
		if t.class != classTensor || dim < 0 || dim >= len(t.shape) {
			return nil, fmt.Errorf("scans dimension %d of %s", dim, t)
		}
		if n := int(t.shape[dim]); steps < 0 {
			steps = n
		} else if n != steps {
			return nil, fmt.Errorf("scans %d and %d slices", steps, n)
		}
	}
	if steps < 0 {
		return nil, errors.New("has neither inputs, outputs nor scan_dim_size")
	}
	body, err := p.region(s.op, 0)
	if err != nil {
		return nil, err
	}
	if len(body.args) != len(s.in) || len(body.ret) != len(s.out) {
		return nil, errors.New("has a body that does not fit its operands and results")
	}
	slice := make([]vtype, len(whole))
	for i, t := range whole {
		slice[i] = tensorType(t.dt, append(append(tensor.Shape{}, t.shape[:dim]...), t.shape[dim+1:]...)...)
	}
	for i, v := range s.op.Region(0).Entry().Args() {
		want := s.in[i]
		if i < inputs {
			want = slice[i]
		}
		if t, err := p.typeOf(v); err != nil || t.dt != want.dt || !fits(t, want.shape) {
			return nil, fmt.Errorf("has a body whose argument %d is not %s", i, want)
		}
	}
	reverse := boolAttr(s.op, chlo.AttrIsReverse, false)
	carries := len(s.in) - inputs
	return func(m *machine, fr *frame, ins *instr) error {
		for i := range outputs {
			t := s.out[i]
			b, err := m.alloc(t.dt, t.shape, t.n)
			if err != nil {
				return err
			}
			fr.slots[ins.out[i]] = b
		}
		from := m.refs(inputs)
		for i := range from {
			from[i] = m.take(fr, ins, i)
		}
		carried := m.refs(carries)
		for i := range carried {
			carried[i] = m.take(fr, ins, inputs+i)
		}
		given := m.refs(len(s.out))
		for step := range steps {
			if err := m.poll(); err != nil {
				return err
			}
			at := step
			if reverse {
				at = steps - 1 - step
			}
			for i := range inputs {
				b, err := m.alloc(slice[i].dt, slice[i].shape, slice[i].n)
				if err != nil {
					return err
				}
				eachPiece(s.in[i], dim, at, func(piece, n, offset int) {
					copy(b.t.Bytes()[piece:piece+n], from[i].t.Bytes()[offset:])
				})
				fr.slots[body.args[i]] = b
			}
			for i, b := range carried {
				fr.slots[body.args[inputs+i]] = b
			}
			if err := m.block(fr, body, given); err != nil {
				return err
			}
			for i, b := range given[:outputs] {
				if b.t.DType() != slice[inputs+i].dt || !b.t.Shape().Equal(slice[inputs+i].shape) {
					return fmt.Errorf("has a body whose result %d is %s, not %s", i, typeOfTensor(&b.t), slice[inputs+i])
				}
				eachPiece(s.out[i], dim, at, func(piece, n, offset int) {
					copy(fr.slots[ins.out[i]].t.Bytes()[offset:offset+n], b.t.Bytes()[piece:])
				})
				m.release(b)
			}
			copy(carried, given[outputs:])
		}
		for i, b := range carried {
			fr.slots[ins.out[outputs+i]] = b
		}
		for _, b := range from {
			m.release(b)
		}
		m.dropRefs(inputs + carries + len(given))
		return nil
	}, nil
}

// eachPiece calls f for each contiguous run of bytes in the slice of t at index at of dimension dim. A run has n bytes;
// it begins at byte piece of the slice and at byte offset of t.
func eachPiece(t vtype, dim, at int, f func(piece, n, offset int)) {
	n := int(t.shape[dim+1:].NumElements()) * t.dt.Size()
	for i := range int(t.shape[:dim].NumElements()) {
		f(i*n, n, (i*int(t.shape[dim])+at)*n)
	}
}

// scanSegments returns the number of inputs among the operands and the number of outputs among the results.
func scanSegments(s *spec) (inputs, outputs int, err error) {
	for _, x := range []struct {
		name  string
		total int
		first *int
	}{{"operandSegmentSizes", len(s.in), &inputs}, {"resultSegmentSizes", len(s.out), &outputs}} {
		v, err := intsAttr(s.op, x.name)
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
	if len(s.in)-inputs != len(s.out)-outputs {
		return 0, 0, errors.New("expects as many carries as inits")
	}
	return inputs, outputs, nil
}

// scanShape is the shape function of scan. The outputs have the inputs' size in the scanned dimension; their other
// sizes come from the body's return. The carries have the shapes of the inits.
func scanShape(s *spec, in []*tensor.Tensor) error {
	inputs, outputs, err := scanSegments(s)
	if err != nil {
		return err
	}
	for i := outputs; i < len(s.out); i++ {
		s.out[i].shape = in[inputs+i-outputs].Shape()
	}
	dim := int(intAttr(s.op, stablehlo.AttrDimension, 0))
	steps := intAttr(s.op, chlo.AttrScanDimSize, -1)
	if inputs > 0 && dim < len(in[0].Shape()) {
		steps = in[0].Shape()[dim]
	}
	term := s.op.Region(0).Entry().Last()
	for i := range outputs {
		if s.out[i].n >= 0 {
			continue
		}
		t, ok := term.Operand(i).Type().(*ir.TensorType)
		if !ok || !t.Static() || dim > len(t.Shape()) || steps < 0 {
			return unsupported("the dynamic shape of output %d", i)
		}
		shape := append(append(tensor.Shape{}, t.Shape()[:dim]...), steps)
		s.out[i].shape = append(shape, t.Shape()[dim:]...)
	}
	return nil
}
