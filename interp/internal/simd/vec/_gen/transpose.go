package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// head emits the head of a function, tail its end.
func head(name, signature, doc string) {
	TEXT(name, NOSPLIT, signature)
	Doc(doc)
	Pragma("noescape")
}

func tail() {
	VZEROUPPER()
	RET()
}

// writeTranspose emits a loop that transposes blocks of 32 x 32 bytes that lie side by side, and writes each block
// below the previous one.
func writeTranspose(width int) {
	name := fmt.Sprintf("transpose%dAVX2", width*8)
	edge := 32 / width
	head(name, "func(dst, src *byte, dstLine, srcLine, blocks int)", fmt.Sprintf("%s transposes blocks of %d x %d.", name, edge, edge))
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	dl, sl, n := Load(Param("dstLine"), GP64()), Load(Param("srcLine"), GP64()), Load(Param("blocks"), GP64())
	Label(name + "_loop")
	rows := make([]reg.VecVirtual, edge)
	p := GP64()
	MOVQ(src, p)
	for i := range rows {
		rows[i] = YMM()
		VMOVUPS(Mem{Base: p}, rows[i])
		if i+1 < edge {
			ADDQ(sl, p)
		}
	}
	// Interleave the rows in pairs, then pairs of them, then the halves.
	pairs := func(in []reg.VecVirtual, distance int, low, high func(a, b, d reg.VecVirtual)) []reg.VecVirtual {
		out := make([]reg.VecVirtual, len(in))
		for i := range in {
			if i&distance == 0 {
				out[i], out[i|distance] = YMM(), YMM()
				low(in[i], in[i|distance], out[i])
				high(in[i], in[i|distance], out[i|distance])
			}
		}
		return out
	}
	double := func(in []reg.VecVirtual, distance int) []reg.VecVirtual {
		return pairs(in, distance, func(a, b, d reg.VecVirtual) { VUNPCKLPD(b, a, d) }, func(a, b, d reg.VecVirtual) { VUNPCKHPD(b, a, d) })
	}
	if width == 4 {
		rows = pairs(rows, 1, func(a, b, d reg.VecVirtual) { VUNPCKLPS(b, a, d) }, func(a, b, d reg.VecVirtual) { VUNPCKHPS(b, a, d) })
		rows = double(rows, 2)
		rows = []reg.VecVirtual{rows[0], rows[2], rows[1], rows[3], rows[4], rows[6], rows[5], rows[7]}
	} else {
		rows = double(rows, 1)
	}
	rows = pairs(rows, edge/2, func(a, b, d reg.VecVirtual) { VPERM2F128(Imm(0x20), b, a, d) }, func(a, b, d reg.VecVirtual) { VPERM2F128(Imm(0x31), b, a, d) })
	for _, r := range rows {
		VMOVUPS(r, Mem{Base: dst})
		ADDQ(dl, dst)
	}
	ADDQ(Imm(32), src)
	DECQ(n)
	JNZ(LabelRef(name + "_loop"))
	tail()
}
