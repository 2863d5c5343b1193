package interp

import (
	"errors"
	"math"

	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// opKind returns the row that identifies an op to kernels. An MHLO op that mirrors a StableHLO op has the StableHLO
// op's row.
func opKind(o *ir.Op) *ir.Def { return o.Def().Original() }

// planFirst compiles ops whose result is their first operand.
func planFirst(p *planner, s *spec) (control, error) {
	if len(s.in) == 0 || len(s.out) != 1 {
		return nil, errors.New("expects an operand and one result")
	}
	return func(m *machine, fr *frame, ins *instr) error {
		fr.slots[ins.out[0]] = m.take(fr, ins, 0)
		return nil
	}, nil
}

// planMHLOAsyncStart compiles mhlo.async_start. It calls the function at once; the bundle holds its results.
func planMHLOAsyncStart(p *planner, s *spec) (control, error) {
	if len(s.out) != 1 || s.out[0].class != classFuture {
		return nil, errors.New("expects one result, a bundle")
	}
	f, err := p.prog.function(stringAttr(s.op, mhlo.AttrCalledComputation), s.op)
	if err != nil {
		return nil, err
	}
	return planFuture(p, s, f.results, func(inner *spec) (control, error) { return planCallTo(p, inner, f.name) })
}

// planMHLOAsyncDone compiles mhlo.async_done.
func planMHLOAsyncDone(p *planner, s *spec) (control, error) {
	if len(s.in) != 1 || s.in[0].class != classFuture {
		return nil, errors.New("expects a bundle")
	}
	return func(m *machine, fr *frame, ins *instr) error {
		future := fr.slots[ins.in[0]]
		if len(future.elems) != len(ins.out) {
			return errors.New("expects a bundle of as many values as there are results")
		}
		for i, o := range ins.out {
			fr.slots[o] = retain(future.elems[i])
		}
		return nil
	}, nil
}

// makeStochasticConvert compiles mhlo.stochastic_convert to integers. It rounds away from zero if the random number, as
// a fraction of its type's range, is less than the operand's fractional part (XLA's HloEvaluator).
func makeStochasticConvert(s *signature) (kernel, error) {
	if len(s.in) != 2 || len(s.out) != 1 || !s.in[0].dt.IsFloat() || !s.in[1].dt.IsInteger() || s.in[1].dt.Bits() != s.in[0].dt.Bits() ||
		s.in[0].n != s.out[0].n || s.in[1].n != s.out[0].n {
		return kernel{}, errors.New("expects floats, random integers of their width, and one result of the same shape")
	}
	to := s.out[0].dt
	if to.Kind() != tensor.KindSigned && to.Kind() != tensor.KindUnsigned || to == tensor.I1 {
		return kernel{}, unsupported("stochastic conversion to %s", to)
	}
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	if n := to.Bits(); to.Kind() == tensor.KindUnsigned {
		if lo = 0; n < 64 {
			hi = 1<<n - 1
		}
	} else if n < 64 {
		lo, hi = -1<<(n-1), 1<<(n-1)-1
	}
	bits := s.in[0].dt.Bits()
	return kernel{run: func(in, out []*tensor.Tensor) error {
		n := s.out[0].n
		v, result := make([]float64, n), make([]int64, n)
		decode64(in[0].DType(), v, in[0], 0)
		for i, x := range v {
			whole, part := math.Modf(math.Abs(x))
			switch {
			case math.IsNaN(x):
				continue
			case x >= float64(hi):
				result[i] = hi
				continue
			case x <= float64(lo):
				result[i] = lo
				continue
			}
			r := int64(whole)
			if random := bitsAt(in[1], i) & (1<<bits - 1); random < uint64(math.Ldexp(part, bits)) {
				r++
			}
			if x < 0 {
				r = -r
			}
			result[i] = min(max(r, lo), hi)
		}
		encodeInt(to, out[0], 0, result)
		return nil
	}}, nil
}

// asinAcosKernel is the common part of CHLO's asin, acos, asinh and acosh of complex numbers (CHLO,
// "_asin_acos_kernel"): asin z = atan2(Re z, Re w) + i sign(Im z) Im w, with Re w = Re sqrt(1 - z^2).
func asinAcosKernel(z complex128) complex128 {
	x, y := math.Abs(real(z)), math.Abs(imag(z))
	w := complexAsin(complex(x, y))
	switch {
	case math.IsNaN(x) || math.IsNaN(y):
		return complex(math.NaN(), imag(w))
	case x > 1e150 || y > 1e150: // sqrt(1 - z^2) is z rotated by 90 degrees
		return complex(y, imag(w))
	}
	_, _, _, root := hullParts(x, y)
	return complex(root, imag(w))
}
