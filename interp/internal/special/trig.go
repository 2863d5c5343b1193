package special

import (
	"math"
	"math/big"
	"sync"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
)

// Sincos returns sine and cosine. Beyond 2^20, the limit of package vec, it reduces the argument with integers of any
// size.
func Sincos(x float64) (sin, cos float64) {
	if !(math.Abs(x) >= 1<<20) {
		return vec.Sin(x), vec.Cos(x)
	}
	if math.IsInf(x, 0) {
		return math.NaN(), math.NaN()
	}
	r, n := reduceLarge(x)
	return rotate(vec.Sin(r), vec.Cos(r), n)
}

// rotate returns the sine and cosine of the angle plus n quarter turns.
func rotate(s, c float64, n int64) (sin, cos float64) {
	switch n & 3 {
	case 1:
		s, c = c, -s
	case 2:
		s, c = -s, -c
	case 3:
		s, c = -c, s
	}
	return s, c
}

func Sine(x float64) float64 {
	s, _ := Sincos(x)
	return s
}

func Cosine(x float64) float64 {
	_, c := Sincos(x)
	return c
}

func Tangent(x float64) float64 {
	s, c := Sincos(x)
	return s / c
}

// piBits is the number of fraction bits of the fixed-point pi/2: the largest exponent and two mantissas.
const piBits = 1024 + 128

// halfPi is pi/2 in fixed point, by Machin's formula.
var halfPi = sync.OnceValue(func() *big.Int {
	one := new(big.Int).Lsh(big.NewInt(1), piBits+32)
	atanInv := func(n int64) *big.Int { // atan(1/n)
		sum, term := new(big.Int), new(big.Int).Div(one, big.NewInt(n))
		for k := int64(1); term.Sign() != 0; k += 2 {
			t := new(big.Int).Div(term, big.NewInt(k))
			if k&2 == 0 {
				sum.Add(sum, t)
			} else {
				sum.Sub(sum, t)
			}
			term.Div(term, big.NewInt(n*n))
		}
		return sum
	}
	pi := new(big.Int).Mul(atanInv(5), big.NewInt(16))
	pi.Sub(pi, new(big.Int).Mul(atanInv(239), big.NewInt(4)))
	return pi.Rsh(pi, 33)
})

// reduceLarge returns the remainder of x by pi/2, in [-pi/4, pi/4], and the quotient modulo 4. |x| must be at least
// 2^20.
func reduceLarge(x float64) (r float64, n int64) {
	man, exp := math.Frexp(math.Abs(x))
	v := big.NewInt(int64(man * (1 << 53)))
	v.Lsh(v, uint(exp-53+piBits))
	q, rest := new(big.Int), new(big.Int)
	half := halfPi()
	q.QuoRem(v, half, rest)
	if new(big.Int).Lsh(rest, 1).Cmp(half) > 0 {
		rest.Sub(rest, half)
		q.Add(q, big.NewInt(1))
	}
	f := new(big.Float).SetMantExp(new(big.Float).SetInt(rest), -piBits)
	r, _ = f.Float64()
	n = new(big.Int).And(q, big.NewInt(3)).Int64()
	if x < 0 {
		return -r, -n
	}
	return r, n
}
