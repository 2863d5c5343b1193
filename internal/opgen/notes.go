package opgen

const intro = `# Numerics

How far the embedded engine and XLA's CPU plugin are apart, and each from the truth, measured by
` + "`go run ./internal/numerics -o docs/numerics.md`" + ` (%d values per program of a wide type, seed %d; all values, or all pairs of values, of types of up to
8 bits, and all values of 16-bit types for ops of one operand). [accuracy.md](accuracy.md) says by which rules the engine rounds.

## Engine against XLA

Entries are the largest distance in units in the last place (ULPs); of complex numbers, the distance over the unit of the
larger modulus. nN counts results that are infinite or NaN on one side only, zN zeros of different sign. Entries with a
star exceed what two good implementations differ by (0 where IEEE 754 or the specification gives the result; else 1 for types of
up to 8 bits and bf16, 2 for f16, 4 for the others); each is explained below, with the limit that tests hold it to. All NaNs are equal.

Up to %d elements of each kind and program that exceed their bound are checked, those furthest apart first: the test
fails unless one meets the condition of a deviation of XLA that is listed at the end, or the engine is at its true value,
within the bounds that the second table is held to. Further elements are counted, not checked.
What neither the specification nor C99 nor the function's series gives is counted as open: complex functions of infinities and NaN that C99 does not list,
and the signs of their zeros; extrema of complex numbers with NaN parts; complex powers whose angle is above 2^29 or that overflow, where either
part may have either sign; complex atan2 on its branch cuts and at its poles; zeta and polygamma where their series diverge. An element
that is none of these fails the test.

XLA's CPU code runs with denormals off: operands and results below the smallest normal number of bf16, f32 and f64 are zero.
The embedded engine follows the specification and keeps them. Elements with a denormal operand or result are not counted.

`

const truthIntro = `
## Both against the truth

Engine / XLA, in ULPs of each part by itself. The true values come from mpmath with as many digits as it takes, where operands are
not finite from C99 (annex G) as the C library has it, and so are signs of zeros. They were asked for on each op and type at all elements that need a proof
(see above), and at up to %d where the two are furthest apart, %[1]d where only one is infinite or NaN, and %[1]d others. An s counts elements that are infinite or NaN and should not be, or the other way round
(of the engine there are none). Functions that IEEE 754 gives to the bit are not listed. Not asked: powers whose angle is above 2^30, which leaves
few digits; polygamma and zeta where they are not defined by their series. Of atan2 and power on complex numbers the engine computes in two words: a part smaller than
the other by more than those hold has no digits, so that parts below 2^-20 of the modulus (2^-48 in complex<f32>) count in the units of that.

`

const outro = `
## Other ops

Programs of the other ops (data movement, gather, scatter, reductions, windows, products, convolutions, sorting, linear algebra, FFT,
random bits, control flow, calls, chains of element-wise ops, all of CHLO) are made at random by ` + "`go test ./internal/opgen`" + ` (10,000 with HLOCB_LONG=1), on
shapes with zeros and edge values of every type. What only moves elements, and integer arithmetic, must be the same to the bit; sums may differ by the rounding errors of
their terms, functions as far as the notes above let them where that is up to 128 ULP, else by 16 (lgamma and digamma, which have zeros among ordinary values, by 64). A test lists which ops are in the programs, on which types, and which are not, each with the reason.
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

// Notes explains, op by op, the measurements above the bounds.
func Notes() []Note {
	var (
		noNaN = "f4E2M1FN has no NaN: what would be NaN is 0 here and -0 in XLA"
		cubes = "XLA computes a power of 1/3, which is rounded: the larger the logarithm, the more that counts"
		sums  = "near modulus 1 of the sum XLA's real part cancels; NaN as in log"
		lost  = "of arguments near the smallest normal number XLA flushes an intermediate result to zero"
		zeros = "XLA loses digits near the zeros, where the terms of its sums and of the reflection cancel"
		ones  = "XLA loses all digits near 1 and 2 (lgamma(1) is 4.8e-7 in f32, not 0), and near the zeros below -2"
		hyper = "XLA subtracts or adds exponentials of shifted arguments"
		fast  = "XLA's CPU code takes minima and maxima without regard to NaN in the second operand and to the sign of zeros (its option " +
			"xla_cpu_enable_fast_min_max); the engine propagates NaN and orders -0 before 0, as IEEE 754 says"
		parts = "XLA computes the parts from e^x and e^-x, whose difference has no digits left near zero and overflows before the product with " +
			"a sine or cosine does; zeros lose their sign"
		inverse = "on the branch cuts XLA does not look at the sign of a zero part, and of operands with a NaN part it gives finite parts where C99 has NaN"
		flushed = "where a product of parts is below the smallest normal number XLA takes it for zero"
		product = "XLA overflows where a product of parts does but a part of the result is finite, and rounds each product, so that a part that cancels loses its digits " +
			"(not by this measure, which is by the modulus); the engine carries the rounding errors along"
		c = []int{6, 7}
	)
	return []Note{
		{"stablehlo.abs", c, 4, true, false, "of an operand with a NaN part XLA gives the other part times the square root of 2; C99 says NaN, or infinity beside an infinite part"},
		{"stablehlo.atan2", c, Any, true, true, "XLA computes log((x + iy) / sqrt(x^2 + y^2)) as it stands: squares overflow and vanish, and what is small beside 1 is lost. The engine computes both parts from products of the operands' parts"},
		{"stablehlo.cbrt", []int{2}, 3, false, false, cubes},
		{"stablehlo.cbrt", []int{4}, 16, false, false, cubes},
		{"stablehlo.cbrt", f64Only, 128, false, false, cubes},
		{"stablehlo.convert", []int{0}, 1, false, false, "XLA rounds integers of 32 bits to bf16 twice, by way of f32: -1606418381 becomes -1610612736, though -1602224128 is nearer"},
		{"stablehlo.convert", []int{1, 2, 3, 4, 5}, Any, false, true, noNaN + "; and XLA takes 6, the largest f4E2M1FN, for too large to be an integer and gives the largest integer"},
		{"stablehlo.cosine", c, 1 << 14, true, true, parts},
		{"stablehlo.sine", c, Any, true, true, parts},
		{"stablehlo.divide", []int{1}, 0, false, true, noNaN},
		{"stablehlo.divide", c, Any, true, true, flushed + "; at infinities and zeros the engine follows C99"},
		{"stablehlo.sqrt", []int{1}, 1, false, true, "XLA computes in f16 and so rounds twice: of 0.96875 (f6E2M3FN and others) it gives 1, where 0.96875 is nearer to 0.98425; " + noNaN},
		{"stablehlo.sqrt", c, Any, true, true, "of an operand with a NaN or infinite part XLA gives parts that C99 does not have, and of negative real numbers it loses the sign of the imaginary part's zero"},
		{"stablehlo.rsqrt", []int{1}, 0, false, true, noNaN},
		{"stablehlo.rsqrt", c, 4, true, true, "XLA takes the modulus to the power of -1/2 and turns it by half the angle, whose cosine has no digits left near the negative axis"},
		{"stablehlo.exponential", c, 4, true, true, "e^x of an infinite or NaN part by other rules than C99's; zeros lose their sign"},
		{"stablehlo.exponential_minus_one", []int{4}, 8, false, false, "XLA's own error"},
		{"stablehlo.exponential_minus_one", c, Any, true, true, "where e^x cos y is near 1 XLA's real part cancels; the engine computes it in two words there. Infinities and zeros as in exponential"},
		{"stablehlo.log", []int{6}, 4, true, false, "of an operand with a NaN part XLA gives the logarithm of the other"},
		{"stablehlo.log", []int{7}, 128, true, false, "near modulus 1 XLA's real part cancels; of an operand with a NaN part it gives the logarithm of the other"},
		{"stablehlo.log_plus_one", f64Only, 128, false, false, "XLA is off where the argument is far from zero"},
		{"stablehlo.log_plus_one", []int{6}, 8, true, true, sums},
		{"stablehlo.log_plus_one", []int{7}, 128, true, true, sums},
		{"stablehlo.logistic", []int{2}, 255, false, false, "XLA computes 1/(1+exp(-x)) with every step rounded to f16, where exp(-x) becomes infinite before the quotient is 0; the engine rounds once"},
		{"stablehlo.logistic", c, Any, true, true, "XLA divides 1 by a sum whose parts may cancel; the engine divides by the square of its modulus, which has no difference in it"},
		{"stablehlo.maximum", cols(narrow, reals), 0, true, true, fast},
		{"stablehlo.minimum", cols(narrow, reals), 0, true, true, fast},
		{"stablehlo.maximum", c, Any, true, true, "the engine orders by real part, then by imaginary part (specification, \"maximum\"); where the real parts are equal, or zeros, XLA takes the first or the second without a look at the imaginary ones"},
		{"stablehlo.minimum", c, Any, true, true, "as stablehlo.maximum"},
		{"stablehlo.multiply", []int{3}, 128, false, false, "a product just below the smallest normal number, which XLA flushes before it is rounded to bf16"},
		{"stablehlo.multiply", c, Any, true, true, flushed + ", which counts where the result is hardly larger; " + product},
		{"chlo.square", c, Any, true, true, product + "; " + flushed},
		{"stablehlo.popcnt", []int{0}, 12, false, false, "of a negative i4, XLA counts the bits of the byte it is kept in"},
		{"stablehlo.power", []int{0}, Any, false, false, "XLA looks at the low six bits of an integer exponent only: 2^64 is 1"},
		{"stablehlo.power", []int{1}, 1, true, true, noNaN},
		{"stablehlo.power", cols([]int{2, 3}, reals), 1, true, false, "powers by exponents above 2^24 of bases next to 1: XLA's own error where the result over- or underflows"},
		{"stablehlo.power", c, Any, true, true, "XLA multiplies a rounded logarithm by the exponent: of a large angle no digits are left. The engine multiplies in two words, which keeps f32's digits up to angles of 2^75 and f64's up to 2^50"},
		{"stablehlo.reduce_precision", cols(narrow, reals), 0, true, false, "with no bit of mantissa NaN becomes infinite, as upstream's interpreter has it; in XLA it stays NaN"},
		{"stablehlo.sign", c, Any, true, true, "XLA divides by the modulus, as the engine does, but of numbers whose modulus over- or underflows, or that have an infinite or NaN part, it gets 0 or NaN"},
		{"stablehlo.tan", c, 64, true, true, "XLA loses digits near the poles, and gives NaN where C99 has a NaN and a zero part; zeros lose their sign"},
		{"chlo.tan", c, 32, true, true, "as stablehlo.tan"},
		{"stablehlo.tanh", c, 64, true, true, "as stablehlo.tan; at large imaginary parts XLA reduces the doubled angle, not the angle"},
		{"stablehlo.tanh", f64Only, 6, false, false, "XLA's own error, and the engine's on the other side"},
		{"chlo.acos", []int{1}, 5, false, false, "f4E2M1FN has no NaN: of arguments beyond 1 and -1 the engine gives 0, XLA 3"},
		{"chlo.acosh", []int{1, 2, 3}, 3, false, true, "XLA computes with every step rounded to the type, or f16 for the narrowest: up to 2.8 ULP off in f16"},
		{"chlo.asin", []int{1}, 5, true, false, "f4E2M1FN as in acos; f8E8M0FNU as in asinh"},
		{"chlo.asin", []int{3}, 255, false, false, lost},
		{"chlo.asin", reals, Any, false, false, lost},
		{"chlo.asinh", []int{1}, 1, true, false, "f8E8M0FNU: XLA gets 0 in between, which the type lacks, and makes it NaN"},
		{"chlo._asin_acos_kernel", c, Any, true, false, "of an operand with a NaN part XLA gives a finite part where C99's asin has NaN; within 1e-37 of 1 and -1 it flushes an intermediate result to zero"},
		{"chlo.atan", c, Any, true, true, inverse},
		{"chlo.atanh", []int{1}, 2, true, true, "f8E8M0FNU: XLA gets 0 in between, which the type lacks, and makes it NaN; " + noNaN},
		{"chlo.atanh", f64Only, 128, false, false, "XLA's own error"},
		{"chlo.atanh", c, Any, true, true, inverse},
		{"chlo.acos", c, Any, true, true, inverse},
		{"chlo.acosh", c, Any, true, true, inverse},
		{"chlo.asin", c, Any, true, true, inverse},
		{"chlo.asinh", c, Any, true, true, inverse},
		{"chlo.bessel_i1e", []int{3}, 128, false, false, lost},
		{"chlo.bessel_i1e", reals, 8, false, false, "XLA's own error"},
		{"chlo.cosh", []int{4}, 32, false, false, hyper},
		{"chlo.cosh", f64Only, 512, false, false, hyper},
		{"chlo.sinh", []int{4}, 32, false, false, hyper},
		{"chlo.sinh", f64Only, 512, false, false, hyper},
		{"chlo.cosh", c, Any, true, true, parts},
		{"chlo.sinh", c, Any, true, true, parts},
		{"chlo.digamma", []int{2}, 3, false, false, zeros},
		{"chlo.digamma", reals, Any, false, false, zeros},
		{"chlo.erf_inv", []int{1}, 0, true, false, lost + ", in f8E8M0FNU then NaN"},
		{"chlo.erf_inv", []int{3}, 128, false, false, lost},
		{"chlo.erf_inv", []int{4}, 64, false, false, "XLA's own error"},
		{"chlo.erf_inv", f64Only, 1024, false, false, "XLA's own error"},
		{"chlo.erfc", []int{4}, 64, false, false, "XLA's own error"},
		{"chlo.erfc", f64Only, 512, false, false, "XLA's own error"},
		{"chlo.lgamma", []int{1}, 0, true, false, "f8E8M0FNU has no 0: lgamma(1) is NaN; in XLA it is 4.8e-7, which is its error, not 0"},
		{"chlo.lgamma", []int{2}, 12, false, false, ones},
		{"chlo.lgamma", []int{3}, 13568, false, false, ones + ": in bf16 lgamma(1) and lgamma(2), which are 0"},
		{"chlo.lgamma", reals, Any, false, false, ones},
		{"chlo.next_after", []int{1}, 126, false, false, "XLA takes the code 0 of f8E8M0FNU, which is 2^-127, for zero, and the first bit for a sign"},
		{"chlo.is_inf", []int{1}, 1, false, false, noNaN + ", nor infinities: the expansion of CHLO compares with the largest number"},
		{"chlo.is_pos_inf", []int{1}, 1, false, false, "as chlo.is_inf"},
		{"chlo.is_neg_inf", []int{1}, 1, false, false, "as chlo.is_inf"},
		{"chlo.polygamma", cols(narrow, reals), Any, true, true, "XLA adds up Hurwitz zetas without regard to overflow: of high orders, whose factorial is infinite, it gives NaN; next to half-integers below zero terms cancel, for large arguments powers vanish before their product does. In the narrowest types every step is rounded"},
		{"chlo.zeta", cols(narrow, reals), Any, true, true, "as chlo.polygamma: powers overflow or vanish in between, and XLA gives NaN or 0; of orders below 1 and of poles at and below 0 both give NaN or infinity, by different rules"},
	}
}
