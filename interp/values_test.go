package interp

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/tensor"
)

func fromHex(like *tensor.Tensor, text string) (*tensor.Tensor, error) {
	want := tensor.New(like.DType(), like.Shape())
	b := want.Bytes()
	if len(text) != 2*len(b) {
		return nil, fmt.Errorf("%d bytes of result, XLA has %d", len(b), len(text)/2)
	}
	_, err := hex.Decode(b, []byte(text))
	return want, err
}

// literal writes values as a dense literal in hexadecimal.
func literal(t *tensor.Tensor) string {
	if t.NumElements() == 0 {
		return "dense<>"
	}
	return fmt.Sprintf("dense<\"0x%X\">", t.Bytes())
}

// samples fills a tensor with edge values of its type and random values.
func samples(rng *rand.Rand, dt tensor.DType, shape ...int64) *tensor.Tensor {
	t := tensor.New(dt, shape)
	n := t.NumElements()
	switch {
	case dt == tensor.I1:
		for i := range t.Bytes() {
			t.Bytes()[i] = uint8(rng.IntN(2))
		}
	case dt.IsFloat():
		edges := []float64{0, -1, 1, 0.5, -0.5, 2, -2, 3.5, -2.5, 1e-3, -7.25, 100, 1e9}
		v := make([]float64, n)
		for i := range v {
			switch rng.IntN(3) {
			case 0:
				v[i] = edges[rng.IntN(len(edges))]
			default:
				v[i] = rng.NormFloat64() * 4
			}
		}
		kernel.Encode64(dt, t, 0, v)
	case dt.IsComplex():
		v := make([]complex128, n)
		for i := range v {
			v[i] = complex(rng.NormFloat64(), rng.NormFloat64())
		}
		kernel.EncodeComplex(dt, t, 0, v)
	default:
		edges := []int64{0, 1, -1, 2, 3, 7, 127, -128, 31, 63, 1 << 40, -(1 << 62)}
		v := make([]int64, n)
		for i := range v {
			if v[i] = int64(rng.IntN(40)) - 15; rng.IntN(3) == 0 {
				v[i] = edges[rng.IntN(len(edges))]
			}
		}
		kernel.EncodeInt(dt, t, 0, v)
	}
	return t
}

func typeText(t *tensor.Tensor) string { return kernel.TypeOfTensor(t).String() }

// oneOp writes a module whose constants are the operands and whose body is one op in generic form.
func oneOp(op, attrs, regions string, operands []*tensor.Tensor, results ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "func.func @main() -> (%s) {\n", strings.Join(results, ", "))
	var names, types []string
	for i, t := range operands {
		fmt.Fprintf(&b, "  %%c%d = stablehlo.constant %s : %s\n", i, literal(t), typeText(t))
		// The barrier keeps XLA from folding the op: XLA's folder uses other arithmetic than its compiled code.
		fmt.Fprintf(&b, "  %%a%d = stablehlo.optimization_barrier %%c%d : %s\n", i, i, typeText(t))
		names = append(names, fmt.Sprintf("%%a%d", i))
		types = append(types, typeText(t))
	}
	var outs []string
	for i := range results {
		outs = append(outs, fmt.Sprintf("%%r#%d", i))
	}
	if attrs != "" {
		attrs = " <{" + attrs + "}>"
	}
	fmt.Fprintf(&b, "  %%r:%d = \"%s\"(%s)%s %s : (%s) -> (%s)\n", len(results), op, strings.Join(names, ", "), attrs, regions, strings.Join(types, ", "), strings.Join(results, ", "))
	fmt.Fprintf(&b, "  return %s : %s\n}\n", strings.Join(outs, ", "), strings.Join(results, ", "))
	return b.String()
}
