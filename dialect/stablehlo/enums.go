package stablehlo

import "github.com/hlocb/hlocb/ir"

// Enumerated attributes. StableHLO fixes the codes.
var (
	PrecisionEnum           = enum(8, "precision", "How exactly a product is computed.", "DEFAULT", "HIGH", "HIGHEST")
	ResultAccuracyModeEnum  = enum(-1, "result_accuracy_mode", "How the accuracy of a transcendental function is given.", "DEFAULT", "HIGHEST", "TOLERANCE")
	FftTypeEnum             = enum(6, "fft_type", "The direction of a Fourier transform, and whether one side is real.", "FFT", "IFFT", "RFFT", "IRFFT")
	ComparisonDirectionEnum = enum(2, "comparison_direction", "The relation that compare tests.", "EQ", "NE", "GE", "GT", "LE", "LT")
	ComparisonTypeEnum      = enum(3, "comparison_type", "The order that compare uses.", "NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")
	TransposeEnum           = enum(12, "transpose", "The form in which triangular_solve uses its matrix.", "TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")
	RngDistributionEnum     = enum(10, "rng_distribution", "The distribution of random numbers.", "", "UNIFORM", "NORMAL")
	RngAlgorithmEnum        = enum(9, "rng_algorithm", "The algorithm of random bits.", "DEFAULT", "THREE_FRY", "PHILOX")
)

var enums = []*ir.EnumDef{
	ComparisonDirectionEnum, ComparisonTypeEnum, FftTypeEnum, PrecisionEnum, ResultAccuracyModeEnum, RngAlgorithmEnum,
	RngDistributionEnum, TransposeEnum,
}

// enum returns the row of an enumeration; code is its code in bytecode, -1 for none.
func enum(code int, name, doc string, cases ...string) *ir.EnumDef {
	e := &ir.EnumDef{Dialect: "stablehlo", Name: name, Doc: doc, Cases: cases}
	if code >= 0 {
		e.Binary = []ir.Binary{{Code: code}}
	}
	return e
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
