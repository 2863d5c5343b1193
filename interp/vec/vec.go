package vec

import "math"

// Function is one function with its loops. Slices have one length; the result may be the operand.
type Function struct {
	scalar func(float64) float64
	limit  float64 // magnitudes from which on beyond computes; 0 is none
	beyond func(float64) float64

	lanes int // of a vector, 0 where there are none
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

// Beyond returns a function that leaves magnitudes from limit on to g.
func (f Function) Beyond(limit float64, g func(float64) float64) *Function {
	f.limit, f.beyond = limit, g
	return &f
}

// Portable returns the function without vector instructions.
func (f Function) Portable() *Function {
	f.lanes = 0
	return &f
}

// block is how many elements are computed between looks for those beyond the limit.
const block = 512

// Float32 computes o from x.
func (f *Function) Float32(o, x []float32) {
	if f.limit != 0 {
		var far [block]float32
		for len(x) > 0 {
			n := min(block, len(x))
			copy(far[:n], x)
			f.near32(o[:n], x[:n])
			for i, v := range far[:n] {
				if !(math.Abs(float64(v)) < f.limit) {
					o[i] = float32(f.beyond(float64(v)))
				}
			}
			o, x = o[n:], x[n:]
		}
		return
	}
	f.near32(o, x)
}

func (f *Function) near32(o, x []float32) {
	n := 0
	if f.lanes > 0 && len(x) >= f.lanes {
		n = len(x) &^ (f.lanes - 1)
		_ = o[n-1]
		f.f32(&o[0], &x[0], n)
	}
	for i := n; i < len(x); i++ {
		o[i] = float32(f.scalar(float64(x[i])))
	}
}

// Float64 computes o from x.
func (f *Function) Float64(o, x []float64) {
	if f.limit != 0 {
		var far [block]float64
		for len(x) > 0 {
			n := min(block, len(x))
			copy(far[:n], x)
			f.near64(o[:n], x[:n])
			for i, v := range far[:n] {
				if !(math.Abs(v) < f.limit) {
					o[i] = f.beyond(v)
				}
			}
			o, x = o[n:], x[n:]
		}
		return
	}
	f.near64(o, x)
}

func (f *Function) near64(o, x []float64) {
	n := 0
	if f.lanes > 0 && len(x) >= f.lanes {
		n = len(x) &^ (f.lanes - 1)
		_ = o[n-1]
		f.f64(&o[0], &x[0], n)
	}
	for i := n; i < len(x); i++ {
		o[i] = f.scalar(x[i])
	}
}
