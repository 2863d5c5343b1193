package cli

import (
	"testing"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/tensor"
)

// TestTypedLiteral: numbers and lists are literals of the argument's type; other text stays as it is.
func TestTypedLiteral(t *testing.T) {
	typ := func(d tensor.DType, shape ...int64) hlocb.Type { return hlocb.Type{DType: d, Shape: shape} }
	for _, test := range []struct {
		text string
		typ  hlocb.Type
		want string
	}{
		{"[1, 2, 3]", typ(tensor.F32, 3), "dense<[1.0, 2.0, 3.0]> : tensor<3xf32>"},
		{"[1, 2, 3]", typ(tensor.I32, 3), "dense<[1, 2, 3]> : tensor<3xi32>"},
		{"[[1, -2.5], [1e3, 4]]", typ(tensor.F64, -1, 2), "dense<[[1.0, -2.5], [1.0e3, 4.0]]> : tensor<2x2xf64>"},
		{"[1, 2]", typ(tensor.BF16, -1), "dense<[1.0, 2.0]> : tensor<2xbf16>"},
		{"7", typ(tensor.F32), "dense<7.0> : tensor<f32>"},
		{"7", typ(tensor.UI8, 2), "dense<7> : tensor<2xui8>"},
		{"[true, false]", typ(tensor.I1, 2), "dense<[true, false]> : tensor<2xi1>"},
		{"dense<1> : tensor<2xi32>", typ(tensor.I32, 2), "dense<1> : tensor<2xi32>"},
		{"x.npy", typ(tensor.I32, 2), "x.npy"},
		{"", typ(tensor.I32, 2), ""},
	} {
		got := typedLiteral(test.text, test.typ)
		if got != test.want {
			t.Errorf("%q is %q, expected %q", test.text, got, test.want)
		}
		if got != test.text {
			if _, err := tensor.ParseLiteral(got); err != nil {
				t.Errorf("%q: %v", got, err)
			}
		}
	}
}
