package vec

import "golang.org/x/sys/cpu"

// pick returns the widest loops that the processor has.
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

// loops are the generated ones.
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
