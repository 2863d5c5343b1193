package interp

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"

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
