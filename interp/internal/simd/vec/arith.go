package vec

// Loop computes o = x op y for slices of equal length. o may be x or y.
type Loop[T float32 | float64] struct {
	scalar func(o, x, y []T)
	step   int // elements per step of the vector loop; 0 if there is no vector loop
	vector func(o, x, y *T, n int)
}

// Run computes o from x and y.
func (l *Loop[T]) Run(o, x, y []T) {
	n := 0
	if l.step > 0 && len(o) >= l.step {
		n = len(o) - len(o)%l.step
		_, _ = x[n-1], y[n-1]
		l.vector(&o[0], &x[0], &y[0], n)
	}
	l.scalar(o[n:], x[n:], y[n:])
}

func add[T float32 | float64](o, x, y []T) {
	x, y = x[:len(o)], y[:len(o)]
	for i := range o {
		o[i] = x[i] + y[i]
	}
}

func sub[T float32 | float64](o, x, y []T) {
	x, y = x[:len(o)], y[:len(o)]
	for i := range o {
		o[i] = x[i] - y[i]
	}
}

func mul[T float32 | float64](o, x, y []T) {
	x, y = x[:len(o)], y[:len(o)]
	for i := range o {
		o[i] = x[i] * y[i]
	}
}

func div[T float32 | float64](o, x, y []T) {
	x, y = x[:len(o)], y[:len(o)]
	for i := range o {
		o[i] = x[i] / y[i]
	}
}

// The four operations. Each rounds once, in Go and in assembly.
var (
	Add32, Add64 = arith("Add", add[float32], add[float64])
	Sub32, Sub64 = arith("Sub", sub[float32], sub[float64])
	Mul32, Mul64 = arith("Mul", mul[float32], mul[float64])
	Div32, Div64 = arith("Div", div[float32], div[float64])
)
