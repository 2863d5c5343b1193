package stablehlo

import (
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/ir"
)

// batchNorm checks the rules that the three parts of batch normalization share: the feature dimension exists in the
// operand (batch_norm_training C1), and the vectors, operands 1 to n, have its size (C5, C6). It returns the type of
// the operand and, twice, of vectors of features.
func batchNorm(s *subject, big []int, n int) ([]ir.Type, error) {
	t, k := s.tensor(0), s.int("feature_index", 0)
	if k >= int64(t.Rank()) {
		return nil, fail("expects featureIndex to be smaller than the rank of multi-dimensional operands; got featureIndex %d, and rank %d.", k, t.Rank())
	}
	for _, b := range big {
		if !compatibleShapes(t, s.tensor(b)) {
			return nil, fail("expects multi-dimensional operands to have compatible shapes.")
		}
	}
	for v := 2; v <= n; v++ {
		if !compatibleShapes(s.tensor(1), s.tensor(v)) {
			return nil, fail("expects single-dimensional operands to have compatible shapes.")
		}
	}
	feature := dimOf(t, int(k))
	if n := s.tensor(1).Shape()[0]; !sameSize(n, feature.size) {
		return nil, fail("expects the size of single-dimensional operands to be compatible with feature count, but the size of single-dimensional operands is %d and the feature count is %d.", n, feature.size)
	}
	v := dimsType(s.ctx, []dim{feature}, t.Elem())
	return []ir.Type{t, v, v}, nil
}

func inferBatchNormGrad(s *subject) ([]ir.Type, error) { return batchNorm(s, []int{4}, 3) }

func inferBatchNormInference(s *subject) ([]ir.Type, error) {
	types, err := batchNorm(s, nil, 4)
	if err != nil {
		return nil, err
	}
	return types[:1], nil
}

func inferBatchNormTraining(s *subject) ([]ir.Type, error) { return batchNorm(s, nil, 2) }

// inferCholesky: square matrices (cholesky C1, C2, C3).
func inferCholesky(s *subject) ([]ir.Type, error) {
	t := s.tensor(0)
	n := t.Rank()
	if n < 2 {
		return nil, fail("argument 'a' must have rank >= 2, got shape %s.", joined(t.Shape()))
	}
	if !sameSize(t.Shape()[n-1], t.Shape()[n-2]) {
		return nil, fail("minor dimensions of 'a' must have equal size, got shape %s.", joined(t.Shape()))
	}
	return []ir.Type{t}, nil
}

// inferFft: fft C1 to C5.
func inferFft(s *subject) ([]ir.Type, error) {
	t, length := s.tensor(0), s.ints("fft_length")
	e, _ := s.attr("fft_type").(*ir.EnumAttr)
	if e == nil {
		return nil, opFail("requires attribute 'fft_type'")
	}
	kind := e.Case()
	n := len(length)
	if n < 1 || n > 3 { // (C3)
		return nil, fail("rank must be between 1 and 3, but got %d.", n)
	}
	ct, isC := t.Elem().(*ir.ComplexType)
	if kind == "RFFT" {
		if !ods.FP32.Has(t.Elem()) { // (C2)
			return nil, fail("RFFT requires f32 or f64 input type, but is given '%s'.", t.Elem())
		}
	} else if !isC {
		return nil, fail("FFT/IFFT/IRFFT take a complex tensor as input, but is given '%s'.", t)
	}
	if t.Rank() < n { // (C1)
		return nil, fail("operand rank must not be less than fft rank of %d for operand of type '%s'.", n, t)
	}
	dims := s.dimsOf(t)
	last := t.Rank() - 1
	switch kind {
	case "RFFT":
		for i := range n { // (C4)
			if !sameSize(t.Shape()[t.Rank()-n+i], length[i]) {
				return nil, fail("RFFT requires innermost dimensions to be compatible with fft_length. Got: %s but wanted %s.", joinedRaw(t.Shape()), joined(length))
			}
		}
		if d := length[n-1]; d != 0 {
			dims[last] = dim{d/2 + 1, ir.Dynamic} // (C5)
		}
		return []ir.Type{dimsType(s.ctx, dims, s.ctx.Complex(t.Elem()))}, nil
	case "IRFFT":
		for i := range n - 1 {
			if d := t.Shape()[t.Rank()-n+i]; !sameSize(d, length[i]) {
				return nil, fail("IRFFT requires non-final dimensions to be compatible with fft_length. Got: %s but wanted %s, and %d != %d.", joinedRaw(t.Shape()), joined(length), d, length[i])
			}
		}
		if d := t.Shape()[last]; d != ir.Dynamic && d != 0 && d != length[n-1]/2+1 {
			return nil, fail("IRFFT requires innermost dimension to be compatible with fft_length[-1]/2+1. Got: %d but fft_length is %d.", d, length[n-1])
		}
		dims[last] = dim{length[n-1], ir.Dynamic}
		return []ir.Type{dimsType(s.ctx, dims, ct.Elem())}, nil
	}
	return []ir.Type{t}, nil
}

// joinedRaw lists sizes and shows unknown ones as their internal number, like MLIR's messages about fft.
func joinedRaw(v []int64) string {
	return strings.ReplaceAll(joined(v), "?", "-9223372036854775808")
}

// inferRng: a tensor of the computed shape (rng C1, C2, C3).
func inferRng(s *subject) ([]ir.Type, error) {
	a, b := s.tensor(0), s.tensor(1)
	if a.Elem() != b.Elem() { // (C1)
		return nil, fail("requires the same element type for all operands")
	}
	if n := s.tensor(2).Shape()[0]; n != ir.Dynamic {
		shape := s.constantInts(2)
		if len(shape) != int(n) {
			if n > 1<<16 {
				return nil, fail("shape has %d dimensions", n)
			}
			shape = slices.Repeat([]int64{ir.Dynamic}, int(n))
		}
		if e, ok := s.attr("rng_distribution").(*ir.EnumAttr); ok && e.Case() == "NORMAL" && !ods.IsFloat(a.Elem()) { // (C2)
			return nil, fail("mu and sigma must be floats")
		}
		return []ir.Type{s.ctx.Tensor(shape, a.Elem(), nil)}, nil
	}
	return []ir.Type{s.ctx.UnrankedTensor(a.Elem())}, nil
}

// rngBitGeneratorRule: the state keeps its type (rng_bit_generator C1).
func rngBitGeneratorRule(s *subject) error {
	if a, b := s.tensor(0), s.result(0); !Compatible(a, b) {
		return fail("output state shape must be compatible with initial state shape. Got: '%s' and '%s'", a, b)
	}
	return nil
}

// inferTriangularSolve: triangular_solve C1 to C4.
func inferTriangularSolve(s *subject) ([]ir.Type, error) {
	a, b := s.tensor(0), s.tensor(1)
	if a.Elem() != b.Elem() { // (C1)
		return nil, fail("requires the same element type for all operands and results")
	}
	n := a.Rank()
	if n < 2 { // (C2)
		return nil, fail("operand 'a' must have rank >= 2, but got '%s'", a)
	}
	if !sameSize(a.Shape()[n-2], a.Shape()[n-1]) { // (C3)
		return nil, fail("two minor dimensions of operand 'a' must be compatible, but got '%s'", a)
	}
	if b.Rank() != n {
		return nil, fail("operands must have equal rank, but got '%s' and '%s'", a, b)
	}
	shared := n - 2
	if !s.bool("left_side") {
		shared = n - 1
	}
	if !sameSize(a.Shape()[n-1], b.Shape()[shared]) {
		return nil, fail("shared dimension of operands 'a' and 'b' must be compatible, but got '%s' and '%s'", a, b)
	}
	if !sameDims(a.Shape()[:n-2], b.Shape()[:n-2]) {
		return nil, fail("batch dimensions of the operands must be compatible, but got '%s' and '%s'", a, b)
	}
	if e, ok := s.attr("transpose_a").(*ir.EnumAttr); ok && e.Case() == "TRANSPOSE_INVALID" { // (C4)
		return nil, fail("Invalid transpose option value for triangular solve")
	}
	return []ir.Type{b}, nil
}
