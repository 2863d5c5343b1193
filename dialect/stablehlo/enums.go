package stablehlo

import "github.com/hlocb/hlocb/ir"

// Enumerated attributes. The codes are the ones that StableHLO fixes.
var (
	PrecisionEnum           = enum("precision", "How exactly a product is computed.", "DEFAULT", "HIGH", "HIGHEST")
	ResultAccuracyModeEnum  = enum("result_accuracy_mode", "How the accuracy of a transcendental function is given.", "DEFAULT", "HIGHEST", "TOLERANCE")
	FftTypeEnum             = enum("fft_type", "The direction of a Fourier transform, and whether one side is real.", "FFT", "IFFT", "RFFT", "IRFFT")
	ComparisonDirectionEnum = enum("comparison_direction", "The relation that compare tests.", "EQ", "NE", "GE", "GT", "LE", "LT")
	ComparisonTypeEnum      = enum("comparison_type", "The order that compare uses.", "NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")
	TransposeEnum           = enum("transpose", "The form in which triangular_solve uses its matrix.", "TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")
	RngDistributionEnum     = enum("rng_distribution", "The distribution of random numbers.", "", "UNIFORM", "NORMAL")
	RngAlgorithmEnum        = enum("rng_algorithm", "The algorithm of random bits.", "DEFAULT", "THREE_FRY", "PHILOX")
)

var enums = []*ir.EnumDef{
	ComparisonDirectionEnum, ComparisonTypeEnum, FftTypeEnum, PrecisionEnum, ResultAccuracyModeEnum, RngAlgorithmEnum,
	RngDistributionEnum, TransposeEnum,
}

func enum(name, doc string, cases ...string) *ir.EnumDef {
	return &ir.EnumDef{Dialect: "stablehlo", Name: name, Doc: doc, Cases: cases}
}

// Versions of the custom-call convention (attribute api_version).
const (
	APIUnspecified        = 0
	APIOriginal           = 1
	APIStatusReturning    = 2
	APIStatusReturningUni = 3
	APITypedFFI           = 4
)

var apiVersionNames = [...]string{"API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"}
