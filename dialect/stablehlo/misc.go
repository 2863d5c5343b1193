package stablehlo

import (
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/ir"
)

var (
	feature1D      = ods.Tensor1D(ods.FP, ods.QTensor)
	batchNormAttrs = []ir.AttrSpec{ods.Required("epsilon", ods.F32Attr), ods.Required("feature_index", ods.I64NonNeg)}
)

// The three parts of batch normalization.
var (
	BatchNormGrad = &ir.Def{
		Name: "stablehlo.batch_norm_grad", Doc: "Computes the gradients of a batch normalization. Spec: batch_norm_grad.",
		Operands:    []ir.Arg{{Name: "operand", Type: ods.Floats}, {Name: "scale", Type: feature1D}, {Name: "mean", Type: feature1D}, {Name: "variance", Type: feature1D}, {Name: "grad_output", Type: ods.Floats}},
		Results:     []ir.Arg{{Name: "grad_operand", Type: ods.Floats}, {Name: "grad_scale", Type: feature1D}, {Name: "grad_offset", Type: feature1D}},
		Attrs:       batchNormAttrs,
		Traits:      ir.Pure,
		ResultNames: namedResults,
		Infer:       infer(inferBatchNormGrad), Verify: verify(compatibleElemTypes, agrees(inferBatchNormGrad)),
		Clauses: ir.Clauses(`
			C1 feature_index is a dimension of operand
			C2 all operands and results have one element type, up to quantization
			C3 operand, grad_output and grad_operand have one shape
			C4 scale, mean, variance, grad_scale and grad_offset have one shape
			C5 scale has an element for each index along feature_index
		`),
	}
	BatchNormInference = &ir.Def{
		Name: "stablehlo.batch_norm_inference", Doc: "Normalizes with a given mean and variance. Spec: batch_norm_inference.",
		Operands: []ir.Arg{{Name: "operand", Type: ods.Floats}, {Name: "scale", Type: feature1D}, {Name: "offset", Type: feature1D}, {Name: "mean", Type: feature1D}, {Name: "variance", Type: feature1D}},
		Results:  []ir.Arg{{Name: "result", Type: ods.Floats}},
		Attrs:    batchNormAttrs,
		Traits:   ir.Pure,
		Infer:    infer(inferBatchNormInference), Verify: verify(compatibleElemTypes, agrees(inferBatchNormInference)),
		Clauses: ir.Clauses(`
			C1 feature_index is a dimension of operand
			C2 all operands and the result have one element type, up to quantization
			C3 scale has an element for each index along feature_index
			C4 offset has an element for each index along feature_index
			C5 mean has an element for each index along feature_index
			C6 variance has an element for each index along feature_index
			C7 the result has the type of operand, up to quantization
		`),
	}
	BatchNormTraining = &ir.Def{
		Name: "stablehlo.batch_norm_training", Doc: "Normalizes with the mean and variance of the batch, and returns both. Spec: batch_norm_training.",
		Operands:    []ir.Arg{{Name: "operand", Type: ods.Floats}, {Name: "scale", Type: feature1D}, {Name: "offset", Type: feature1D}},
		Results:     []ir.Arg{{Name: "output", Type: ods.Floats}, {Name: "batch_mean", Type: feature1D}, {Name: "batch_var", Type: feature1D}},
		Attrs:       batchNormAttrs,
		Traits:      ir.Pure,
		ResultNames: namedResults,
		Infer:       infer(inferBatchNormTraining), Verify: verify(compatibleElemTypes, agrees(inferBatchNormTraining)),
		Clauses: ir.Clauses(`
			C1 feature_index is a dimension of operand
			C2 all operands and results have one element type, up to quantization
			C3 scale has an element for each index along feature_index
			C4 offset has an element for each index along feature_index
			C5 batch_mean has an element for each index along feature_index
			C6 batch_var has an element for each index along feature_index
			C7 output has the type of operand, up to quantization
		`),
	}
)

// Cholesky decomposes matrices.
var Cholesky = &ir.Def{
	Name: "stablehlo.cholesky", Doc: "Computes the Cholesky factors of a batch of matrices. Spec: cholesky.",
	Operands: []ir.Arg{{Name: "a", Type: ods.FPOrComplex}},
	Results:  []ir.Arg{{Name: "result", Type: ods.FPOrComplex}},
	Attrs:    []ir.AttrSpec{ods.Defaulted("lower", ods.BoolAttr, attrFalse)},
	Traits:   ir.Pure | ir.SameShape,
	Format:   "$a (`,` `lower` `=` $lower^)? attr-dict `:` custom<SameOperandsAndResultType>(type($a), type($result))",
	Infer:    infer(inferCholesky), Verify: verify(compatibleElemTypes, agrees(inferCholesky)),
	Clauses: ir.Clauses(`
		C1 the result has the type of a, up to quantization
		C2 a has at least two dimensions
		C3 the last two dimensions of a have one size
	`),
}

// Fft computes Fourier transforms.
var Fft = &ir.Def{
	Name: "stablehlo.fft", Doc: "Computes discrete Fourier transforms, complex or real, forward or inverse. Spec: fft.",
	Operands: []ir.Arg{{Name: "operand", Type: ods.Tensor(ods.FP, ods.Complex)}},
	Results:  []ir.Arg{{Name: "result", Type: ods.Tensor(ods.FP, ods.Complex)}},
	Attrs:    []ir.AttrSpec{ods.Required("fft_type", ods.Enum(FftTypeEnum, "XLA fast fourier transform type.")), ods.Required("fft_length", ods.I64Array)},
	Traits:   ir.Pure,
	Format:   "$operand `,` `type` `=` $fft_type `,` `length` `=` $fft_length attr-dict `:` functional-type(operands, results)",
	Infer:    infer(inferFft), Verify: verify(agrees(inferFft)),
	Clauses: ir.Clauses(`
		C1 fft_length has at most as many elements as operand has dimensions
		C2 FFT and IFFT take and give one complex type, RFFT takes its real type and gives it, IRFFT the other way round
		C3 fft_length has one to three elements
		C4 the real side has the sizes of fft_length along its last dimensions
		C5 the result has the shape of operand, but RFFT gives, and IRFFT takes, half of the last dimension and one
	`),
}

// Rng and RngBitGenerator generate random numbers.
var (
	Rng = &ir.Def{
		Name: "stablehlo.rng", Doc: "Fills a tensor of a computed shape with random numbers of a distribution. Spec: rng.",
		Operands: []ir.Arg{{Name: "a", Type: ods.Scalar(ods.Pred, ods.Int, ods.FP)}, {Name: "b", Type: ods.Scalar(ods.Pred, ods.Int, ods.FP)}, {Name: "shape", Type: ods.ShapeTensor}},
		Results:  []ir.Arg{{Name: "result", Type: ods.Tensor(ods.Pred, ods.Int, ods.FP)}},
		Attrs:    []ir.AttrSpec{ods.Required("rng_distribution", ods.Enum(RngDistributionEnum, "XLA PRNG distribution to be used."))},
		Format:   "$a `,` $b `,` $shape `,` `distribution` `=` $rng_distribution attr-dict `:` functional-type(operands, results)",
		Infer:    infer(inferRng), Verify: verify(sameElements(2, "a, b, result"), agrees(inferRng)),
		Clauses: ir.Clauses(`
			C1 a, b and the result have one element type
			C2 a normal distribution has floats
			C3 the result has the shape that shape says if it is constant
		`),
	}
	RngBitGenerator = &ir.Def{
		Name: "stablehlo.rng_bit_generator", Doc: "Fills a tensor with random bits and returns the next state. Spec: rng_bit_generator.",
		Operands:    []ir.Arg{{Name: "initial_state", Type: ods.Tensor(ods.Int, ods.FP)}},
		Results:     []ir.Arg{{Name: "output_state", Type: ods.Tensor(ods.Int, ods.FP)}, {Name: "output", Type: ods.StaticTensor(ods.Int, ods.FP)}},
		Attrs:       []ir.AttrSpec{ods.Required("rng_algorithm", ods.Enum(RngAlgorithmEnum, "XLA PRNG algorithm to be used."))},
		Traits:      ir.Pure,
		Format:      "$initial_state `,` `algorithm` `=` $rng_algorithm attr-dict `:` functional-type(operands, results)",
		Verify:      verify(rngBitGeneratorRule),
		ResultNames: namedResults,
		Clauses: ir.Clauses(`
			C1 output_state has the type of initial_state
			C2 the state has two numbers for THREE_FRY, two or three for PHILOX -- MLIR takes a state of any size
		`),
	}
)

// TriangularSolve solves triangular systems.
var TriangularSolve = &ir.Def{
	Name: "stablehlo.triangular_solve", Doc: "Solves systems of linear equations with triangular matrices. Spec: triangular_solve.",
	Operands: []ir.Arg{{Name: "a", Type: ods.Tensor(ods.FP, ods.Complex)}, {Name: "b", Type: ods.Tensor(ods.FP, ods.Complex)}},
	Results:  []ir.Arg{{Name: "result", Type: ods.Tensor(ods.FP, ods.Complex)}},
	Attrs: []ir.AttrSpec{
		ods.Required("left_side", ods.BoolAttr), ods.Required("lower", ods.BoolAttr), ods.Required("unit_diagonal", ods.BoolAttr), ods.Required("transpose_a", ods.Enum(TransposeEnum, "Transpose options")),
	},
	Traits: ir.Pure,
	Infer:  infer(inferTriangularSolve), Verify: verify(compatibleElemTypes, agrees(inferTriangularSolve)),
	Clauses: ir.Clauses(`
		C1 a and b have one element type, up to quantization
		C2 a and b have one rank, of at least two
		C3 a is square in its last dimensions, which b shares on the side of left_side, and both have the same batch
		C4 the result has the type of b, up to quantization
	`),
}

// namedResults proposes the row's names for several results.
func namedResults(op *ir.Op, set func(*ir.Value, string)) {
	for i, v := range op.Results() {
		if i < len(op.Def().Results) {
			set(v, op.Def().Results[i].Name)
		}
	}
}
