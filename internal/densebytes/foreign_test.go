package densebytes

import (
	"strings"
	"testing"

	"github.com/hlocb/hlocb/ir"
)

// TestForeignFloats compares the bits of numbers with those that jaxlib stores, and reads their text again.
func TestForeignFloats(t *testing.T) {
	c := ir.NewContext(nil)
	for _, tt := range []struct{ typ, number, bits, text string }{
		{"tf32", "1.0", "1fc00", "1.000000e+00"},
		{"tf32", "-1.5", "5fe00", "-1.500000e+00"},
		{"tf32", "1.0e300", "3fc00", "0x3FC00"},
		{"tf32", "1.0e-300", "0", "0.000000e+00"},
		{"tf32", "0x7FC00", "7fc00", "0x7FC00"},
		{"f80", "1.0", "3fff8000000000000000", "1.000000e+00"},
		{"tf32", "0.1", "1ee66", "9.997550e-02"},
		{"tf32", "1.0e-40", "9", "1.033150e-40"},
		{"f80", "0.1", "3ffbccccccccccccd000", "0.100000000000000005551"},
		{"f80", "1.0e300", "43e3bf21e44003ace000", "1.0000000000000000525E+300"},
		{"f80", "0.001", "3ff583126e978d4fe000", "0.00100000000000000002082"},
		{"f80", "0x3ffbcccccccccccccccd", "3ffbcccccccccccccccd", "0x3FFBCCCCCCCCCCCCCCCD"}, // MLIR: 1.000000e-01, which it reads as f64
		{"f128", "123456789.125", "4019d6f3454800000000000000000000", "123456789.125"},
		{"f128", "4.9e-324", "3bcd0000000000000000000000000000", "4.94065645841246544176568792868221372E-324"},
		{"f128", "-1.7e308", "c3fee42d130773b76000000000000000", "-1.69999999999999993883079578865998174E+308"},
		{"f80", "-0.0", "80000000000000000000", "-0.000000e+00"},
		{"f128", "-1.5", "bfff8000000000000000000000000000", "-1.500000e+00"},
	} {
		typ := c.ForeignFloat(tt.typ)
		bits, ok := ParseForeign(tt.number, typ)
		if !ok || bits.Text(16) != tt.bits {
			t.Errorf("%s : %s has the bits %x, %v, want %s", tt.number, tt.typ, bits, ok, tt.bits)
			continue
		}
		a := NewForeignFloat(bits, typ)
		if word, _, _ := strings.Cut(a.String(), " : "); word != tt.text {
			t.Errorf("%s : %s is printed as %s, want %s", tt.number, tt.typ, word, tt.text)
		}
		if again, b := ForeignFloat(a, c); again != typ || b.Cmp(bits) != 0 {
			t.Errorf("%s is read as %x of %v", a, b, again)
		}
	}
	if _, ok := ParseForeign("0x80000", c.ForeignFloat("tf32")); ok {
		t.Error("20 bits are a number of tf32")
	}
}
