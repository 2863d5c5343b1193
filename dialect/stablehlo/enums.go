package stablehlo

import "github.com/hlocb/hlocb/ir"

// Enumerated attributes. The codes are the ones that StableHLO fixes.
var (
	Precision           = &ir.EnumDef{Dialect: "stablehlo", Name: "precision", Cases: []string{"DEFAULT", "HIGH", "HIGHEST"}}
	ResultAccuracyMode  = &ir.EnumDef{Dialect: "stablehlo", Name: "result_accuracy_mode", Cases: []string{"DEFAULT", "HIGHEST", "TOLERANCE"}}
	FftType             = &ir.EnumDef{Dialect: "stablehlo", Name: "fft_type", Cases: []string{"FFT", "IFFT", "RFFT", "IRFFT"}}
	ComparisonDirection = &ir.EnumDef{Dialect: "stablehlo", Name: "comparison_direction", Cases: []string{"EQ", "NE", "GE", "GT", "LE", "LT"}}
	ComparisonType      = &ir.EnumDef{Dialect: "stablehlo", Name: "comparison_type", Cases: []string{"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"}}
	Transpose           = &ir.EnumDef{Dialect: "stablehlo", Name: "transpose", Cases: []string{"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}}
	RngDistribution     = &ir.EnumDef{Dialect: "stablehlo", Name: "rng_distribution", Cases: []string{"", "UNIFORM", "NORMAL"}}
	RngAlgorithm        = &ir.EnumDef{Dialect: "stablehlo", Name: "rng_algorithm", Cases: []string{"DEFAULT", "THREE_FRY", "PHILOX"}}
)

// Enums lists the enumerated attributes of the dialect.
func Enums() []*ir.EnumDef {
	return []*ir.EnumDef{Precision, ResultAccuracyMode, FftType, ComparisonDirection, ComparisonType, Transpose, RngDistribution, RngAlgorithm}
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
