package opgen

const intro = `# Numerics

How far the embedded engine and XLA's CPU plugin are apart, measured by ` + "`go run ./internal/numerics -o docs/numerics.md`" + `
(%d values per program of a wide type, seed %d; all values, or all pairs of values, of types of up to 8 bits, and all values of
16-bit types for ops of one operand).

Entries are the largest distance in units in the last place (ULPs); of complex numbers, the distance over the unit of the
larger modulus. nN counts results that are infinite or NaN on one side only, zN zeros of different sign. Entries with a
star exceed what two good implementations differ by (0 where IEEE 754 or the specification gives the result; else 1 for types of
up to 8 bits and bf16, 2 for f16, 4 for the others) and are explained below; those with ! are not explained yet. NaNs are not told apart. [accuracy.md](accuracy.md) says by which rules the engine rounds.

XLA's CPU code runs with denormals off: operands and results below the smallest normal number of bf16, f32 and f64 are zero.
The embedded engine follows the specification and keeps them. Elements with a denormal operand or result are not counted.

`

const outro = `
Programs of the other ops (data movement, gather, scatter, reductions, windows, products, convolutions, sorting, linear algebra, FFT)
are made at random by ` + "`go test ./internal/opgen`" + ` (10,000 with HLOCB_LONG=1). What only moves elements, and integer
arithmetic, must be the same to the bit; sums may differ by the rounding errors of their terms.
`

// Columns by kind.
var (
	narrow  = []int{1, 2, 3}
	reals   = []int{4, 5}
	f64Only = []int{5}
)

func cols(lists ...[]int) []int {
	var out []int
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// Notes explains, op by op, what lies above the bounds. Where a note says who is nearer the true value, 40-digit
// arithmetic was asked on samples of the elements more than 2 ULP apart.
func Notes() []Note {
	noNaN := "f4E2M1FN has no NaN: what would be NaN is 0 here and -0 in XLA"
	cbrt := "the engine is within 0.6 ULP of the true value; XLA computes a power of 1/3 (up to 11 ULP off in f32, 77 in f64)"
	hyper := "the engine is within 1.6 ULP of the true value; XLA subtracts or adds exponentials of shifted arguments (up to 22 ULP off in f32, 411 in f64)"
	fastMinMax := "XLA's CPU code takes minima and maxima without regard to NaN in the second operand and to the sign of zeros (its option " +
		"xla_cpu_enable_fast_min_max); the engine propagates NaN and orders -0 before 0, as IEEE 754 says"
	return []Note{
		{"stablehlo.cbrt", []int{2, 4, 5}, cbrt},
		{"stablehlo.convert", []int{1, 2, 3, 4, 5}, noNaN + "; and XLA takes 6, the largest f4E2M1FN, for too large to be an integer and gives the largest integer"},
		{"stablehlo.divide", []int{1}, noNaN},
		{"stablehlo.sqrt", []int{1}, noNaN},
		{"stablehlo.rsqrt", []int{1}, noNaN},
		{"stablehlo.exponential_minus_one", []int{4}, "the engine is within 0.5 ULP of the true value, XLA within 3.5"},
		{"stablehlo.log_plus_one", f64Only, "the engine is within 0.5 ULP of the true value; XLA is up to 58 ULP off where the argument is far from zero"},
		{"stablehlo.logistic", []int{2}, "XLA computes 1/(1+exp(-x)) with every step rounded to f16; the engine rounds once"},
		{"stablehlo.maximum", cols(narrow, reals), fastMinMax},
		{"stablehlo.minimum", cols(narrow, reals), fastMinMax},
		{"stablehlo.multiply", []int{3}, "a product just below the smallest normal number, which XLA flushes before it is rounded to bf16"},
		{"stablehlo.popcnt", []int{0}, "of a negative i4, XLA counts the bits of the byte it is kept in"},
		{"stablehlo.power", []int{0}, "XLA looks at the low six bits of an integer exponent only: 2^64 is 1"},
		{"stablehlo.power", []int{1}, noNaN},
		{"stablehlo.reduce_precision", cols(narrow, reals), "with no bit of mantissa NaN becomes infinite, as upstream's interpreter has it; in XLA it stays NaN"},
		{"chlo.acos", f64Only, "the engine's own error, up to 11 ULP near 1; XLA is within 1"},
		{"chlo.asin", []int{3, 4, 5}, "of arguments near the smallest normal number XLA flushes an intermediate result to zero; the engine is exact there"},
		{"chlo.atanh", f64Only, "the engine is within 0.8 ULP of the true value, XLA up to 86 off"},
		{"chlo.cosh", reals, hyper},
		{"chlo.sinh", reals, hyper},
		{"chlo.digamma", []int{2, 4}, "the engine is within 0.4 ULP of the true value in f32; XLA loses digits near the zeros (29 ULP and more)"},
		{"chlo.digamma", f64Only, "both lose digits near the zeros: the engine up to 28 ULP, XLA up to 114 and more"},
		{"chlo.erfc", reals, "the engine is within 0.5 ULP of the true value in f32 and 1.9 in f64; XLA within 6 in the samples"},
		{"chlo.lgamma", []int{2, 3, 4, 5}, "the engine is within 1.5 ULP of the true value; XLA loses all digits near 1 and 2 (lgamma(1) is 4.8e-7 in f32, not 0)"},
		{"chlo.is_inf", []int{1}, noNaN + ", nor infinities: XLA compares with an infinity that is rounded to 0"},
		{"chlo.is_pos_inf", []int{1}, "as chlo.is_inf"},
		{"chlo.is_neg_inf", []int{1}, "as chlo.is_inf"},
	}
}
