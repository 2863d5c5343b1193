package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// arithmetic emits loops of o = x op y on float32 and float64, four vectors at a time.
func arithmetic() {
	type op struct {
		name   string
		single func(...Op)
		double func(...Op)
	}
	for _, f := range []op{{"Add", VADDPS, VADDPD}, {"Sub", VSUBPS, VSUBPD}, {"Mul", VMULPS, VMULPD}, {"Div", VDIVPS, VDIVPD}} {
		for _, wide := range []bool{false, true} {
			for _, single := range []bool{true, false} {
				arithmeticLoop(f.name, f.single, f.double, wide, single)
			}
		}
	}
}

func arithmeticLoop(op string, f32, f64 func(...Op), wide, single bool) {
	bytes, isa := 32, "AVX2"
	vec := func() reg.VecVirtual { return YMM() }
	if wide {
		bytes, isa = 64, "AVX512"
		vec = func() reg.VecVirtual { return ZMM() }
	}
	elem, size, suffix := "float64", 8, "64"
	if single {
		elem, size, suffix = "float32", 4, "32"
	}
	const unroll = 4
	name := "v" + op + suffix + isa
	TEXT(name, NOSPLIT, fmt.Sprintf("func(o, x, y *%s, n int)", elem))
	Doc(fmt.Sprintf("%s computes n elements, a multiple of %d.", name, unroll*bytes/size))
	Pragma("noescape")
	o, x, y, n := Load(Param("o"), GP64()), Load(Param("x"), GP64()), Load(Param("y"), GP64()), Load(Param("n"), GP64())
	Label(name + "_loop")
	var r []reg.VecVirtual
	for i := range unroll {
		r = append(r, vec())
		VMOVUPS(Mem{Base: x, Disp: i * bytes}, r[i])
	}
	for i := range unroll {
		if single {
			f32(Mem{Base: y, Disp: i * bytes}, r[i], r[i])
		} else {
			f64(Mem{Base: y, Disp: i * bytes}, r[i], r[i])
		}
	}
	for i := range unroll {
		VMOVUPS(r[i], Mem{Base: o, Disp: i * bytes})
	}
	for _, p := range []reg.Register{o, x, y} {
		ADDQ(U32(uint64(unroll*bytes)), p)
	}
	SUBQ(U32(uint64(unroll*bytes/size)), n)
	JNZ(LabelRef(name + "_loop"))
	VZEROUPPER()
	RET()
}
