package vec

import (
	"sync"
	"unsafe"

	"github.com/hlocb/hlocb/interp/internal/simd/expr"
	"github.com/hlocb/hlocb/interp/internal/simd/machine"
)

// Quotients sets each element of o to x/y. The function divide computes the quotients that the loop leaves NaN.
func Quotients(divide func(x, y complex128) complex128) func(o, x, y []complex64) {
	const block = 512
	return func(o, x, y []complex64) {
		var r [block]complex64 // o may be x or y
		for len(o) > 0 {
			n := min(block, len(o))
			DivC64Loop.run(at(r[:]), at(x[:n]), at(y[:n]), nil, n)
			for i, v := range r[:n] {
				if re, im := real(v), imag(v); re != re || im != im {
					r[i] = complex64(divide(complex128(x[i]), complex128(y[i])))
				}
			}
			copy(o, r[:n])
			o, x, y = o[n:], x[n:], y[n:]
		}
	}
}

var (
	productCode  = sync.OnceValue(func() *machine.Code { return compile(expr.ComplexProduct(), Bytes()) })
	quotientCode = sync.OnceValue(func() *machine.Code { return compile(expr.ComplexQuotient(), Bytes()) })
)

// Products128 returns a loop that sets each element of o to x*y. The function multiply computes the products whose
// parts are not finite, and every product without vectors.
func Products128(multiply func(x, y complex128) complex128) func(o, x, y []complex128) {
	return wideComplex(productCode, multiply)
}

// Quotients128 is Products128 for x/y.
func Quotients128(divide func(x, y complex128) complex128) func(o, x, y []complex128) {
	return wideComplex(quotientCode, divide)
}

// wideComplex returns the loop of a program of parts, and of f for the elements that the program leaves.
func wideComplex(code func() *machine.Code, f func(x, y complex128) complex128) func(o, x, y []complex128) {
	const block = 256
	return func(o, x, y []complex128) {
		c := code()
		if c == nil || len(o) < 8 {
			for i := range o {
				o[i] = f(x[i], y[i])
			}
			return
		}
		var parts [6][block]float64 // of x, of y and of the result
		var table [6]unsafe.Pointer
		for i := range table {
			table[i] = unsafe.Pointer(&parts[i])
		}
		a, b, y0, y1, re, im := &parts[0], &parts[1], &parts[2], &parts[3], &parts[4], &parts[5]
		for len(o) > 0 {
			n := min(block, len(o))
			for i, v := range x[:n] {
				a[i], b[i] = real(v), imag(v)
			}
			for i, v := range y[:n] {
				y0[i], y1[i] = real(v), imag(v)
			}
			c.Run(&table[0], (n+c.Lanes()-1)&^(c.Lanes()-1))
			for i := range n {
				if re[i]-re[i] == 0 && im[i]-im[i] == 0 { // both are finite
					o[i] = complex(re[i], im[i])
				} else {
					o[i] = f(x[i], y[i])
				}
			}
			o, x, y = o[n:], x[n:], y[n:]
		}
	}
}
