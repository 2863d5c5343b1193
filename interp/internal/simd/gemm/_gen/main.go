// Command _gen generates gemm_amd64.s: go run . -out ../gemm_amd64.s -stubs ../stubs_amd64.go -pkg gemm
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	for _, e := range []element{
		{"F32", "float32", 4, VBROADCASTSS, VFMADD231PS, VADDPS},
		{"F64", "float64", 8, VBROADCASTSD, VFMADD231PD, VADDPD},
		{"I32", "int32", 4, VPBROADCASTD, nil, VPADDD},
	} {
		tile("tile"+e.name+"AVX2", e, 6, 2, 32, func() reg.VecVirtual { return YMM() }, 4)
		tile("tile"+e.name+"AVX512", e, 8, 2, 64, func() reg.VecVirtual { return ZMM() }, 4)
	}
	Generate()
}

// element is a type of elements with its instructions.
type element struct {
	name, goType string
	size         int
	broadcast    func(...Op)
	fma          func(...Op) // nil if the kernel uses a product and a sum instead
	add          func(...Op)
}

// tile emits a kernel of rows x vecs vectors. For each k it emits vecs loads of b, rows broadcasts of a, and rows*vecs
// fused multiply-adds into registers. The rows of b lie rowB elements apart.
func tile(name string, e element, rows, vecs, bytes int, vec func() reg.VecVirtual, unroll int) {
	cols := vecs * bytes / e.size
	TEXT(name, NOSPLIT, fmt.Sprintf("func(a, b, c *%s, k, rowB, rowC int, add bool)", e.goType))
	Doc(fmt.Sprintf("%s computes a tile of %d x %d from a packed panel of A and rows of B.", name, rows, cols))
	Pragma("noescape")
	a := Load(Param("a"), GP64())
	b := Load(Param("b"), GP64())
	c := Load(Param("c"), GP64())
	k := Load(Param("k"), GP64())
	line, line3 := Load(Param("rowB"), GP64()), GP64()
	row := Load(Param("rowC"), GP64())
	SHLQ(Imm(map[int]uint64{4: 2, 8: 3}[e.size]), line)
	LEAQ(Mem{Base: line, Index: line, Scale: 2}, line3)
	SHLQ(Imm(map[int]uint64{4: 2, 8: 3}[e.size]), row)
	acc := make([][]reg.VecVirtual, rows)
	for i := range acc {
		for v := 0; v < vecs; v++ {
			r := vec()
			if bytes == 64 {
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
			m := []Mem{{Base: b}, {Base: b, Index: line, Scale: 1}, {Base: b, Index: line, Scale: 2}, {Base: b, Index: line3, Scale: 1}}[at]
			m.Disp = v * bytes
			VMOVUPS(m, y[v])
		}
		for i := range acc {
			x := vec()
			e.broadcast(Mem{Base: a, Disp: (at*rows + i) * e.size}, x)
			for v := range y {
				if e.fma != nil {
					e.fma(y[v], x, acc[i][v])
					continue
				}
				product := vec()
				VPMULLD(y[v], x, product)
				e.add(product, acc[i][v], acc[i][v])
			}
		}
	}
	CMPQ(k, Imm(uint64(unroll)))
	JL(LabelRef(name + "_rest"))
	Label(name + "_loop")
	for u := 0; u < unroll; u++ {
		step(u)
	}
	ADDQ(U32(uint64(unroll*rows*e.size)), a)
	LEAQ(Mem{Base: b, Index: line, Scale: 4}, b)
	SUBQ(Imm(uint64(unroll)), k)
	CMPQ(k, Imm(uint64(unroll)))
	JGE(LabelRef(name + "_loop"))
	Label(name + "_rest")
	TESTQ(k, k)
	JZ(LabelRef(name + "_store"))
	Label(name + "_one")
	step(0)
	ADDQ(Imm(uint64(rows*e.size)), a)
	ADDQ(line, b)
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
			e.add(Mem{Base: p, Disp: v * bytes}, acc[i][v], acc[i][v])
		}
		if i+1 < rows {
			ADDQ(row, p)
		}
	}
	Label(name + "_write")
	for i := range acc {
		for v := range acc[i] {
			VMOVUPS(acc[i][v], Mem{Base: c, Disp: v * bytes})
		}
		if i+1 < rows {
			ADDQ(row, c)
		}
	}
	VZEROUPPER()
	RET()
}
