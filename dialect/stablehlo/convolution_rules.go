package stablehlo

import (
	"cmp"
	"slices"

	"github.com/hlocb/hlocb/dialect/quant"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

func precisionRule(s *subject) error {
	if a, ok := s.attr("precision_config").(*ir.ArrayAttr); ok && len(a.Elems()) > 2 { // (dot_general C11, convolution C24)
		return fail("expects precision config to be empty or have <= 2 elements, got %d", len(a.Elems()))
	}
	return nil
}

// inferDot multiplies vectors and matrices.
func inferDot(s *subject) ([]ir.Type, error) {
	l, r := s.tensor(0), s.tensor(1)
	if n := l.Rank(); n < 1 || n > 2 || r.Rank() < 1 || r.Rank() > 2 || !sameSize(l.Shape()[n-1], r.Shape()[0]) {
		return nil, fail("expected both lhs/rhs ranks to be either 1 or 2") // MLIR's message for unequal sizes, too
	}
	dims := s.dims(2)[:0]
	if l.Rank() == 2 {
		dims = append(dims, dimOf(l, 0))
	}
	if r.Rank() == 2 {
		dims = append(dims, dimOf(r, 1))
	}
	return s.single(s.resultType(0, dims, l.Elem())), nil
}

func dotRule(s *subject) error {
	t, err := inferDot(s)
	if err != nil {
		return err
	}
	return inferredShape(s, t[0], false)
}

// inferDotGeneral: batching dimensions, then the other dimensions of lhs, then the other dimensions of rhs (dot_general
// C12). The element type is lhs's unless the result type specifies another one.
func inferDotGeneral(s *subject) ([]ir.Type, error) {
	l, r := s.tensor(0), s.tensor(1)
	d, ok := ir.DataOf[DotDims](s.attr("dot_dimension_numbers"))
	if !ok {
		return nil, opFail("requires attribute 'dot_dimension_numbers'")
	}
	if err := dotDimsRule(l, r, d); err != nil {
		return nil, err
	}
	dims := s.dims(l.Rank() + r.Rank())[:0]
	for k, i := range d.LHSBatching {
		size, err := mostSpecific(k, dimOf(l, int(i)), dimOf(r, int(d.RHSBatching[k])))
		if err != nil {
			return nil, err
		}
		dims = append(dims, dim{size.size, ir.Dynamic})
	}
	for i, summed := range s.contains(l.Rank(), d.LHSBatching, d.LHSContracting) {
		if !summed {
			dims = append(dims, dim{l.Shape()[i], ir.Dynamic})
		}
	}
	for i, summed := range s.contains(r.Rank(), d.RHSBatching, d.RHSContracting) {
		if !summed {
			dims = append(dims, dim{r.Shape()[i], ir.Dynamic})
		}
	}
	return s.single(s.resultType(0, dims, l.Elem())), nil
}

// dotDimsRule checks dimension numbers against the operands.
func dotDimsRule(l, r *ir.TensorType, d *DotDims) error {
	if len(d.LHSBatching) != len(d.RHSBatching) { // (C1)
		return fail("lhs and rhs should have the same number of batching dimensions")
	}
	if len(d.LHSContracting) != len(d.RHSContracting) { // (C2)
		return fail("lhs and rhs should have the same number of contracting dimensions")
	}
	if err := cmp.Or(
		disjoint(d.LHSBatching, d.LHSContracting, "lhs_batching_dimensions", "lhs_contracting_dimensions"), // (C3)
		disjoint(d.RHSBatching, d.RHSContracting, "rhs_batching_dimensions", "rhs_contracting_dimensions"), // (C4)
	); err != nil {
		return err
	}
	for _, f := range [...]struct {
		name string
		v    []int64
		rank int
	}{
		{"lhs_batching_dimensions", d.LHSBatching, l.Rank()}, {"lhs_contracting_dimensions", d.LHSContracting, l.Rank()}, // (C5, C6)
		{"rhs_batching_dimensions", d.RHSBatching, r.Rank()}, {"rhs_contracting_dimensions", d.RHSContracting, r.Rank()}, // (C7, C8)
	} {
		for _, v := range f.v {
			if v < 0 || v >= int64(f.rank) {
				return fail("%s value: %d is out of range: [0, %d)", f.name, v, f.rank)
			}
		}
	}
	for i := range d.LHSBatching { // (C9)
		if !sameSize(l.Shape()[d.LHSBatching[i]], r.Shape()[d.RHSBatching[i]]) {
			return fail("batching dimension sizes must match for lhs/rhs")
		}
	}
	for i := range d.LHSContracting { // (C10)
		if !sameSize(l.Shape()[d.LHSContracting[i]], r.Shape()[d.RHSContracting[i]]) {
			return fail("contracting dimension sizes must match for lhs/rhs")
		}
	}
	return nil
}

func dotGeneralRule(s *subject) error {
	t, err := inferDotGeneral(s)
	if err != nil {
		return err
	}
	if err := inferredShape(s, t[0], true); err != nil { // (C12)
		return err
	}
	if s.has("algorithm") { // (C21)
		if a, ok := s.attr("precision_config").(*ir.ArrayAttr); ok {
			for _, e := range a.Elems() {
				if e, ok := e.(*ir.EnumAttr); ok && e.Case() != "DEFAULT" {
					return fail("must specify DEFAULT precision config when algorithm is set.")
				}
			}
		}
	}
	d, _ := ir.DataOf[DotDims](s.attr("dot_dimension_numbers"))
	return dotQuantRule(s, d)
}

// dotQuantRule checks a product with quantized operands (dot_general C13 to C20).
func dotQuantRule(s *subject, d *DotDims) error {
	r := s.tensor(1)
	q := quant.Of(r.Elem())
	if q == nil {
		if quant.Of(s.tensor(0).Elem()) != nil || quant.Of(s.result(0).Elem()) != nil {
			return fail("rhs should be quantized for quantized operations and is_quantized(lhs)=is_quantized(result) should hold")
		}
		return nil
	}
	if err := quantProductRule(s); err != nil {
		return err
	}
	for _, z := range q.ZeroPoints { // (C15)
		if z != 0 {
			if q.PerAxis() {
				return fail("Zero points of rhs should be 0")
			}
			return fail("Zero point of rhs should be 0")
		}
	}
	if d != nil && q.PerAxis() && slices.Contains(d.RHSContracting, int64(q.Axis)) { // (C16)
		return fail("Quantization dimension of rhs should not be in the contracting dimension of rhs")
	}
	return nil
}

// quantProductRule checks the element types of a product whose right side is quantized (dot_general C14, C17 to C20;
// convolution C28, C31 to C34).
func quantProductRule(s *subject) error {
	l, r, res := s.tensor(0).Elem(), s.tensor(1).Elem(), s.result(0).Elem()
	ql, qr, qres := quant.Of(l), quant.Of(r), quant.Of(res)
	switch {
	case qr == nil || (ql == nil) != (qres == nil):
		return fail("rhs should be quantized for quantized operations and is_quantized(lhs)=is_quantized(result) should hold")
	case ql == nil:
		if l != qr.Expressed || res != qr.Expressed {
			return fail("mismatched rhs quantization expressed type and lhs and result element type")
		}
		return nil
	case ql.Storage != qr.Storage:
		return fail("mismatched lhs and rhs quantization storage types")
	case ql.Expressed != qr.Expressed || ql.Expressed != qres.Expressed:
		return fail("mismatched lhs, rhs and result quantization expressed types")
	case qr.PerTensor() && qres.PerAxis():
		return fail("mismatched rhs and result quantization granularity")
	}
	return nil
}

// convDimsRule checks dimension numbers against the operands (convolution C1, C10 to C23) and returns the sizes of a
// window.
func convDimsRule(s *subject) (*ConvDims, []int64, error) {
	l, r := s.tensor(0), s.tensor(1)
	c, ok := ir.DataOf[ConvDims](s.attr("dimension_numbers"))
	if !ok {
		return nil, nil, opFail("requires attribute 'dimension_numbers'")
	}
	if l.Rank() != r.Rank() { // (C1)
		return nil, nil, fail("expects convolution arguments to have same number of dimensions. Got: '%s' and '%s'.", l, r)
	}
	if l.Rank() < 2 {
		return nil, nil, fail("expects convolution arguments to have >= 2 dimensions. Got: '%s' and '%s'.", l, r)
	}
	n := l.Rank() - 2
	if len(c.InputSpatial) != len(c.KernelSpatial) || len(c.InputSpatial) != len(c.OutputSpatial) { // (C17, C19)
		return nil, nil, fail("expects the same size for input, kernel and output spatial-dimensions, but got %d, %d, and %d resp.", len(c.InputSpatial), len(c.KernelSpatial), len(c.OutputSpatial))
	}
	if len(c.InputSpatial) != n { // (C12)
		return nil, nil, fail("expects convolution arguments to have %d dimensions. Got: %d", len(c.InputSpatial)+2, l.Rank())
	}
	for _, f := range [...]struct {
		name string
		v    []int64
	}{
		{"input", append([]int64{c.InputBatch, c.InputFeature}, c.InputSpatial...)},
		{"kernel", append([]int64{c.KernelInputFeature, c.KernelOutput}, c.KernelSpatial...)},
		{"output", append([]int64{c.OutputBatch, c.OutputFeature}, c.OutputSpatial...)},
	} {
		for _, v := range f.v { // (C13, C18, C20)
			if v < 0 || v >= int64(l.Rank()) {
				return nil, nil, fail("expects input, kernel, and output dimension-numbers to be in-range [0, %d).", l.Rank())
			}
		}
		if ok, _ := unique(f.v); !ok {
			return nil, nil, fail("expects %s dimension-numbers to be unique, got {%s}.", f.name, joined(f.v))
		}
	}
	fg, bg := s.int("feature_group_count", 1), s.int("batch_group_count", 1)
	if fg <= 0 { // (C21)
		return nil, nil, fail("expects feature_group_count to be a positive number, got %d.", fg)
	}
	if bg <= 0 { // (C22)
		return nil, nil, fail("expects batch_group_count to be a positive number, got %d.", bg)
	}
	if fg > 1 && bg > 1 { // (C23)
		return nil, nil, fail("expects batch_group_count and feature_group_count not to be both greater than 1. Got %d and %d resp.", bg, fg)
	}
	inFeature, inBatch := l.Shape()[c.InputFeature], l.Shape()[c.InputBatch]
	kIn, kOut := r.Shape()[c.KernelInputFeature], r.Shape()[c.KernelOutput]
	if inBatch != ir.Dynamic && inBatch%bg != 0 { // (C10)
		return nil, nil, fail("expects input batch dimension (%d) to be divisible by batch_group_count. Got batch_group_count = %d.", inBatch, bg)
	}
	if inFeature != ir.Dynamic && inFeature%fg != 0 { // (C11)
		return nil, nil, fail("expects input feature dimension (%d) to be a multiple of feature_group_count. Got feature_group_count = %d.", inFeature, fg)
	}
	if inFeature != ir.Dynamic && kIn != ir.Dynamic && inFeature/fg != kIn { // (C14)
		return nil, nil, fail("expects input feature dimension (%d) / feature_group_count = kernel input feature dimension (%d). Got feature_group_count = %d.", inFeature, kIn, fg)
	}
	if kOut != ir.Dynamic && kOut%bg != 0 { // (C15)
		return nil, nil, fail("expects output feature dimension size (%d) to be a multiple of batch_group_count. Got batch_group_count = %d.", kOut, bg)
	}
	if kOut != ir.Dynamic && kOut%fg != 0 { // (C16)
		return nil, nil, fail("expects kernel output feature dimension (%d) to be divisible by feature_group_count. For feature_group_count = %d.", kOut, fg)
	}
	sizes := make([]int64, n)
	for i, k := range c.KernelSpatial {
		sizes[i] = r.Shape()[k]
	}
	return c, sizes, nil
}

// convWindows checks the attributes of windows with the given sizes (convolution C2 to C9).
func convWindows(s *subject, sizes []int64) ([]window, error) {
	return windowsOf(s, sizes, s.ints("window_strides"), s.ints("lhs_dilation"), s.ints("rhs_dilation"), s.ints("window_reversal"))
}

// inferConvolution: convolution C25, C26; the element type is lhs's.
func inferConvolution(s *subject) ([]ir.Type, error) {
	c, sizes, err := convDimsRule(s)
	if err != nil {
		return nil, err
	}
	ws, err := convWindows(s, sizes)
	if err != nil {
		return nil, err
	}
	return []ir.Type{dimsType(s.ctx, convShape(s, c, windowDims(s.tensor(0), c.InputSpatial, ws)), s.tensor(0).Elem())}, nil
}

func convShape(s *subject, c *ConvDims, spatial []dim) []dim {
	l, r := s.tensor(0), s.tensor(1)
	dims := make([]dim, l.Rank())
	for i, o := range c.OutputSpatial {
		dims[o] = spatial[i]
	}
	batch := dimOf(l, int(c.InputBatch))
	if bg := s.int("batch_group_count", 1); batch.size != ir.Dynamic {
		batch.size /= bg
	} else if batch.bound != ir.Dynamic {
		batch.bound /= bg
	}
	dims[c.OutputBatch] = batch
	dims[c.OutputFeature] = dimOf(r, int(c.KernelOutput))
	return dims
}

func convolutionRule(s *subject) error {
	t, err := inferConvolution(s)
	if err != nil {
		return err
	}
	return cmp.Or(precisionRule(s), inferredShape(s, t[0], false), convElemsRule(s)) // (C24), (C25, C26)
}

// convElemsRule checks the element types of a convolution (C27 to C34).
func convElemsRule(s *subject) error {
	l, r, res := s.tensor(0).Elem(), s.tensor(1).Elem(), s.result(0).Elem()
	if quant.Of(l) == nil && quant.Of(r) == nil && quant.Of(res) == nil {
		if l != r { // (C27)
			return fail("expects lhs and rhs to have compatible element type. Got: '%s' and '%s'", l, r)
		}
		return nil
	}
	if err := quantProductRule(s); err != nil {
		return err
	}
	c, _ := ir.DataOf[ConvDims](s.attr("dimension_numbers"))
	if q := quant.Of(r); q.PerAxis() && int64(q.Axis) != c.KernelOutput { // (C29)
		return fail("quantization dimension of rhs should be same with kernel_output_feature_dimension")
	}
	if q := quant.Of(res); q.PerAxis() && int64(q.Axis) != c.OutputFeature { // (C30)
		return fail("quantization dimension of result should be same with output_feature_dimension")
	}
	return nil
}

func dynamicConvRule(s *subject) error {
	_, sizes, err := convDimsRule(s)
	if err != nil {
		return err
	}
	if p := s.tensor(2); s.def.Base == nil && p.Rank() == 2 && (p.Shape()[1] != 2 || p.Shape()[0] != int64(s.tensor(0).Rank()-2)) { // (C4)
		return fail("expects padding to be of shape [%d, 2], but got [%s]", s.tensor(0).Rank()-2, joined(p.Shape()))
	}
	if s.constantInts(2) != nil {
		if _, err := convWindows(s, sizes); err != nil { // (C2 to C9)
			return err
		}
	}
	return cmp.Or(precisionRule(s), convElemsRule(s)) // (C24)
}

// constantInts returns the elements of operand i if a constant defines it, else nil.
func (s *subject) constantInts(i int) []int64 {
	s.readsOps = true
	op := s.operands[i].DefiningOp()
	if op == nil {
		return nil
	}
	switch op.Name() {
	case "stablehlo.constant", "mhlo.constant", "arith.constant":
		return view.Elements(op.Attr("value"))
	}
	return nil
}
