package special

import (
	"fmt"
	"math"
	"testing"
)

// TestComplexCbrt: the sign of a zero decides the side of the branch cut; infinities and NaN pass through.
func TestComplexCbrt(t *testing.T) {
	inf, nan, minus := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	for _, c := range []struct{ in, want complex128 }{
		{0, 0}, {complex(0, minus), complex(0, minus)}, {complex(minus, minus), complex(0, minus)},
		{complex(27, minus), complex(3, minus)}, {complex(inf, 1), complex(inf, 0)}, {complex(inf, -1), complex(inf, minus)},
		{complex(inf, inf), complex(inf, inf)}, {complex(-inf, 0), complex(inf, inf)}, {complex(1, -inf), complex(inf, -inf)},
		{complex(nan, 1), complex(nan, nan)}, {complex(1, nan), complex(nan, nan)},
	} {
		if got := ComplexCbrt(c.in); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("cbrt(%v) is %v, not %v", c.in, got, c.want)
		}
	}
	for _, v := range []complex128{-8, 8i, complex(1e100, -2e90), complex(-3e-200, 5e-201)} {
		w := ComplexCbrt(v)
		if d := ComplexDiv(w*w*w, v); math.Hypot(real(d)-1, imag(d)) > 1e-15 || math.Abs(angle(w)) > math.Pi/3 {
			t.Errorf("cbrt(%v) is %v", v, w)
		}
	}
}

func angle(v complex128) float64 { return math.Atan2(imag(v), real(v)) }
