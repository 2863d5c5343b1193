package vec

import "math"

// Function is one function with its loops. The slices have equal length; the result may be the operand.
type Function struct {
	scalar func(float64) float64
	limit  float64 // beyond computes magnitudes from limit on; 0 means no limit
	beyond func(float64) float64

	lanes int // elements of a vector; 0 if there are no vector loops
	f32   func(o, x *float32, n int)
	f64   func(o, x *float64, n int)
}

// At returns the function of one number.
func (f *Function) At(x float64) float64 {
	if f.limit != 0 && !(math.Abs(x) < f.limit) {
		return f.beyond(x)
	}
	return f.scalar(x)
}

// Beyond returns a function that uses g for magnitudes from limit on.
func (f Function) Beyond(limit float64, g func(float64) float64) *Function {
	f.limit, f.beyond = limit, g
	return &f
}

// Portable returns the function without vector instructions.
func (f Function) Portable() *Function {
	f.lanes = 0
	return &f
}

// Float32 computes o from x.
func (f *Function) Float32(o, x []float32) { apply(f, f.f32, o, x) }

// Float64 computes o from x.
func (f *Function) Float64(o, x []float64) { apply(f, f.f64, o, x) }

// block is the number of elements computed between two checks for magnitudes beyond the limit.
const block = 512

// apply computes o from x. loop is the vector loop for the element type.
func apply[T float32 | float64](f *Function, loop func(o, x *T, n int), o, x []T) {
	if f.limit == 0 {
		near(f, loop, o, x)
		return
	}
	var far [block]T
	for len(x) > 0 {
		n := min(block, len(x))
		copy(far[:n], x)
		near(f, loop, o[:n], x[:n])
		for i, v := range far[:n] {
			if !(math.Abs(float64(v)) < f.limit) {
				o[i] = T(f.beyond(float64(v)))
			}
		}
		o, x = o[n:], x[n:]
	}
}

// near computes o from x below the limit: first whole vectors, then the remaining elements.
func near[T float32 | float64](f *Function, loop func(o, x *T, n int), o, x []T) {
	n := 0
	if f.lanes > 0 && len(x) >= f.lanes {
		n = len(x) &^ (f.lanes - 1)
		_ = o[n-1]
		loop(&o[0], &x[0], n)
	}
	for i := n; i < len(x); i++ {
		o[i] = T(f.scalar(float64(x[i])))
	}
}
