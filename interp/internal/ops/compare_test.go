package ops_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/hlocb/hlocb/tensor"
)

// TestCompareComplex: ops compare the real parts of complex numbers first, then the imaginary parts (spec, "compare").
func TestCompareComplex(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	pairs := [][2]complex128{{1, 2}, {2, 1}, {1 + 2i, 1 + 3i}, {1 + 3i, 1 + 2i}, {1 + 2i, 1 + 2i}, {complex(nan, 0), 1}, {complex(1, nan), complex(1, 1)}, {complex(1, nan), complex(2, 1)}, {complex(inf, 1), complex(inf, 0)}, {0, complex(math.Copysign(0, -1), 0)}}
	want := map[string]string{"LT": "1010000100", "LE": "1010100101", "GT": "0101000010", "GE": "0101100011", "EQ": "0000100001", "NE": "1111011110"}
	for _, d := range []tensor.DType{tensor.Complex64, tensor.Complex128} {
		x, y := tensor.New(d, tensor.Shape{int64(len(pairs))}), tensor.New(d, tensor.Shape{int64(len(pairs))})
		for i, p := range pairs {
			x.SetComplex(i, p[0])
			y.SetComplex(i, p[1])
		}
		for dir, w := range want {
			out := run(t, fmt.Sprintf(`func.func @main(%%x: tensor<10x%[1]s>, %%y: tensor<10x%[1]s>) -> tensor<10xi1> {
  %%0 = stablehlo.compare %[2]s, %%x, %%y : (tensor<10x%[1]s>, tensor<10x%[1]s>) -> tensor<10xi1>
  return %%0 : tensor<10xi1>
}`, d, dir), x, y)
			got := ""
			for _, b := range out[0].Bytes() {
				got += fmt.Sprint(b)
			}
			if got != w {
				t.Errorf("%s on %s gives %s, not %s", dir, d, got, w)
			}
		}
	}
}
