// Command _gen generates gemm_amd64.s: go run . -out ../gemm_amd64.s -stubs ../stubs_amd64.go -pkg gemm
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	tile("tileAVX2", 6, 2, 8, func() reg.VecVirtual { return YMM() }, 4)
	tile("tileAVX512", 8, 2, 16, func() reg.VecVirtual { return ZMM() }, 4)
	Generate()
}

// tile emits a kernel of rows x (vecs*lanes). For each k it emits vecs loads of b, rows broadcasts of a, and rows*vecs
// fused multiply-adds into registers.
func tile(name string, rows, vecs, lanes int, vec func() reg.VecVirtual, unroll int) {
	TEXT(name, NOSPLIT, "func(a, b, c *float32, k, rowC int, add bool)")
	Doc(fmt.Sprintf("%s computes a tile of %d x %d from packed panels.", name, rows, vecs*lanes))
	Pragma("noescape")
	a := Load(Param("a"), GP64())
	b := Load(Param("b"), GP64())
	c := Load(Param("c"), GP64())
	k := Load(Param("k"), GP64())
	row := Load(Param("rowC"), GP64())
	SHLQ(Imm(2), row)
	acc := make([][]reg.VecVirtual, rows)
	for i := range acc {
		for v := 0; v < vecs; v++ {
			r := vec()
			if lanes == 16 {
				VPXORD(r, r, r)
			} else {
				VXORPS(r, r, r)
			}
			acc[i] = append(acc[i], r)
		}
	}
	step := func(at int) {
		y := make([]reg.VecVirtual, vecs)
		for v := range y {
			y[v] = vec()
			VMOVUPS(Mem{Base: b, Disp: (at*vecs + v) * lanes * 4}, y[v])
		}
		for i := range acc {
			x := vec()
			VBROADCASTSS(Mem{Base: a, Disp: (at*rows + i) * 4}, x)
			for v := range y {
				VFMADD231PS(y[v], x, acc[i][v])
			}
		}
	}
	CMPQ(k, Imm(uint64(unroll)))
	JL(LabelRef(name + "_rest"))
	Label(name + "_loop")
	for u := 0; u < unroll; u++ {
		step(u)
	}
	ADDQ(Imm(uint64(unroll*rows*4)), a)
	ADDQ(U32(uint64(unroll*vecs*lanes*4)), b)
	SUBQ(Imm(uint64(unroll)), k)
	CMPQ(k, Imm(uint64(unroll)))
	JGE(LabelRef(name + "_loop"))
	Label(name + "_rest")
	TESTQ(k, k)
	JZ(LabelRef(name + "_store"))
	Label(name + "_one")
	step(0)
	ADDQ(Imm(uint64(rows*4)), a)
	ADDQ(U32(uint64(vecs*lanes*4)), b)
	DECQ(k)
	JNZ(LabelRef(name + "_one"))
	Label(name + "_store")
	add := Load(Param("add"), GP8())
	TESTB(add, add)
	JZ(LabelRef(name + "_write"))
	p := GP64()
	MOVQ(c, p)
	for i := range acc {
		for v := range acc[i] {
			VADDPS(Mem{Base: p, Disp: v * lanes * 4}, acc[i][v], acc[i][v])
		}
		if i+1 < rows {
			ADDQ(row, p)
		}
	}
	Label(name + "_write")
	for i := range acc {
		for v := range acc[i] {
			VMOVUPS(acc[i][v], Mem{Base: c, Disp: v * lanes * 4})
		}
		if i+1 < rows {
			ADDQ(row, c)
		}
	}
	VZEROUPPER()
	RET()
}
