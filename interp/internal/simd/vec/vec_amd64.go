package vec

import "golang.org/x/sys/cpu"

// pick returns the widest loops that the processor supports.
func pick(name string, scalar func(float64) float64) *Function {
	f := &Function{scalar: scalar}
	switch l := loops[name]; {
	case cpu.X86.HasAVX512F:
		f.lanes, f.f32, f.f64 = 8, l.wide32, l.wide64
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		f.lanes, f.f32, f.f64 = 4, l.narrow32, l.narrow64
	}
	return f
}

type assembly struct {
	narrow32, wide32 func(o, x *float32, n int)
	narrow64, wide64 func(o, x *float64, n int)
}

// loops are the generated loops of one operand.
var loops = map[string]assembly{
	"Exp":      {vExp32AVX2, vExp32AVX512, vExp64AVX2, vExp64AVX512},
	"Expm1":    {vExpm132AVX2, vExpm132AVX512, vExpm164AVX2, vExpm164AVX512},
	"Log":      {vLog32AVX2, vLog32AVX512, vLog64AVX2, vLog64AVX512},
	"Logistic": {vLogistic32AVX2, vLogistic32AVX512, vLogistic64AVX2, vLogistic64AVX512},
	"Rsqrt":    {vRsqrt32AVX2, vRsqrt32AVX512, vRsqrt64AVX2, vRsqrt64AVX512},
	"Sin":      {vSin32AVX2, vSin32AVX512, vSin64AVX2, vSin64AVX512},
	"Cos":      {vCos32AVX2, vCos32AVX512, vCos64AVX2, vCos64AVX512},
	"Tanh":     {vTanh32AVX2, vTanh32AVX512, vTanh64AVX2, vTanh64AVX512},
}

// arithmetic are the generated loops of two operands.
var arithmetic = map[string]struct {
	narrow32, wide32 func(o, x, y *float32, n int)
	narrow64, wide64 func(o, x, y *float64, n int)
}{
	"Add": {vAdd32AVX2, vAdd32AVX512, vAdd64AVX2, vAdd64AVX512},
	"Sub": {vSub32AVX2, vSub32AVX512, vSub64AVX2, vSub64AVX512},
	"Mul": {vMul32AVX2, vMul32AVX512, vMul64AVX2, vMul64AVX512},
	"Div": {vDiv32AVX2, vDiv32AVX512, vDiv64AVX2, vDiv64AVX512},
}

func arith(name string, single func(o, x, y []float32), double func(o, x, y []float64)) (*Loop[float32], *Loop[float64]) {
	f, d := &Loop[float32]{scalar: single}, &Loop[float64]{scalar: double}
	switch l := arithmetic[name]; {
	case cpu.X86.HasAVX512F:
		f.step, f.vector, d.step, d.vector = 64, l.wide32, 32, l.wide64
	case cpu.X86.HasAVX2:
		f.step, f.vector, d.step, d.vector = 32, l.narrow32, 16, l.narrow64
	}
	return f, d
}
