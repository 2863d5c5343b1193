package stablehlo

import "github.com/hlocb/hlocb/ir"

// Enumerated attributes. The codes are the ones that StableHLO fixes.
var (
	PrecisionEnum           = &ir.EnumDef{Dialect: "stablehlo", Name: "precision", Cases: []string{"DEFAULT", "HIGH", "HIGHEST"}}
	ResultAccuracyModeEnum  = &ir.EnumDef{Dialect: "stablehlo", Name: "result_accuracy_mode", Cases: []string{"DEFAULT", "HIGHEST", "TOLERANCE"}}
	FftTypeEnum             = &ir.EnumDef{Dialect: "stablehlo", Name: "fft_type", Cases: []string{"FFT", "IFFT", "RFFT", "IRFFT"}}
	ComparisonDirectionEnum = &ir.EnumDef{Dialect: "stablehlo", Name: "comparison_direction", Cases: []string{"EQ", "NE", "GE", "GT", "LE", "LT"}}
	ComparisonTypeEnum      = &ir.EnumDef{Dialect: "stablehlo", Name: "comparison_type", Cases: []string{"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"}}
	TransposeEnum           = &ir.EnumDef{Dialect: "stablehlo", Name: "transpose", Cases: []string{"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}}
	RngDistributionEnum     = &ir.EnumDef{Dialect: "stablehlo", Name: "rng_distribution", Cases: []string{"", "UNIFORM", "NORMAL"}}
	RngAlgorithmEnum        = &ir.EnumDef{Dialect: "stablehlo", Name: "rng_algorithm", Cases: []string{"DEFAULT", "THREE_FRY", "PHILOX"}}
)

// Enums lists the enumerated attributes of the dialect.
func Enums() []*ir.EnumDef {
	return []*ir.EnumDef{PrecisionEnum, ResultAccuracyModeEnum, FftTypeEnum, ComparisonDirectionEnum, ComparisonTypeEnum, TransposeEnum, RngDistributionEnum, RngAlgorithmEnum}
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
