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
		runs("runs"+e.name+"AVX2", e, 6, 2, 32, func() reg.VecVirtual { return YMM() }, 4)
		runs("runs"+e.name+"AVX512", e, 8, 2, 64, func() reg.VecVirtual { return ZMM() }, 4)
		runs("line"+e.name+"AVX2", e, 1, 4, 32, func() reg.VecVirtual { return YMM() }, 4)
		runs("line"+e.name+"AVX512", e, 1, 2, 64, func() reg.VecVirtual { return ZMM() }, 4)
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
	acc := accumulators(rows, vecs, bytes, vec)
	step := func(at int) {
		y := make([]Mem, vecs)
		for v := range y {
			y[v] = []Mem{{Base: b}, {Base: b, Index: line, Scale: 1}, {Base: b, Index: line, Scale: 2}, {Base: b, Index: line3, Scale: 1}}[at]
			y[v].Disp = v * bytes
		}
		multiply(e, acc, y, vec, func(i int) Mem { return Mem{Base: a, Disp: (at*rows + i) * e.size} })
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
	store(name, e, acc, bytes, c, row)
}

// accumulators returns rows x vecs registers that hold zeros.
func accumulators(rows, vecs, bytes int, vec func() reg.VecVirtual) [][]reg.VecVirtual {
	acc := make([][]reg.VecVirtual, rows)
	for i := range acc {
		for range vecs {
			r := vec()
			if bytes == 64 {
				VPXORD(r, r, r)
			} else {
				VXORPS(r, r, r)
			}
			acc[i] = append(acc[i], r)
		}
	}
	return acc
}

// multiply emits the products of one k: of the vectors y and of the element x of each row.
func multiply(e element, acc [][]reg.VecVirtual, y []Mem, vec func() reg.VecVirtual, x func(row int) Mem) {
	line := make([]reg.VecVirtual, len(y))
	for v, m := range y {
		line[v] = vec()
		VMOVUPS(m, line[v])
	}
	for i := range acc {
		one := vec()
		e.broadcast(x(i), one)
		for v := range line {
			if e.fma != nil {
				e.fma(line[v], one, acc[i][v])
				continue
			}
			product := vec()
			VPMULLD(line[v], one, product)
			e.add(product, acc[i][v], acc[i][v])
		}
	}
}

// store emits the end of a kernel: it writes the tile to c, whose rows lie row bytes apart, or adds to c.
func store(name string, e element, acc [][]reg.VecVirtual, bytes int, c, row reg.Register) {
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
		if i+1 < len(acc) {
			ADDQ(row, p)
		}
	}
	Label(name + "_write")
	for i := range acc {
		for v := range acc[i] {
			VMOVUPS(acc[i][v], Mem{Base: c, Disp: v * bytes})
		}
		if i+1 < len(acc) {
			ADDQ(row, c)
		}
	}
	VZEROUPPER()
	RET()
}

// runs emits a kernel that reads the rows of A in place: each row is a sequence of runs, which lie at the same offsets
// from the starts of all rows.
func runs(name string, e element, rows, vecs, bytes int, vec func() reg.VecVirtual, unroll int) {
	cols := vecs * bytes / e.size
	TEXT(name, NOSPLIT, fmt.Sprintf("func(a **%[1]s, runs *[2]int, n int, b, c *%[1]s, rowB, rowC int, add bool)", e.goType))
	Doc(fmt.Sprintf("%s computes a tile of %d x %d from runs of the rows of A and rows of B.", name, rows, cols))
	Pragma("noescape")
	shift := Imm(map[int]uint64{4: 2, 8: 3}[e.size])
	table := Load(Param("a"), GP64())
	start := make([]reg.Register, rows)
	for i := range start {
		start[i] = GP64()
		MOVQ(Mem{Base: table, Disp: 8 * i}, start[i])
	}
	run := Load(Param("runs"), GP64())
	n := Load(Param("n"), GP64())
	b := Load(Param("b"), GP64())
	line := Load(Param("rowB"), GP64())
	SHLQ(shift, line)
	acc := accumulators(rows, vecs, bytes, vec)
	at, k := GP64(), GP64()
	step := func(u int) {
		y := make([]Mem, vecs)
		for v := range y {
			y[v] = Mem{Base: b, Disp: v * bytes}
		}
		multiply(e, acc, y, vec, func(i int) Mem { return Mem{Base: start[i], Index: at, Scale: 1, Disp: u * e.size} })
		ADDQ(line, b)
	}
	Label(name + "_run")
	MOVQ(Mem{Base: run}, at)
	MOVQ(Mem{Base: run, Disp: 8}, k)
	SHLQ(shift, at)
	CMPQ(k, Imm(uint64(unroll)))
	JL(LabelRef(name + "_rest"))
	Label(name + "_loop")
	for u := range unroll {
		step(u)
	}
	ADDQ(Imm(uint64(unroll*e.size)), at)
	SUBQ(Imm(uint64(unroll)), k)
	CMPQ(k, Imm(uint64(unroll)))
	JGE(LabelRef(name + "_loop"))
	Label(name + "_rest")
	TESTQ(k, k)
	JZ(LabelRef(name + "_next"))
	Label(name + "_one")
	step(0)
	ADDQ(Imm(uint64(e.size)), at)
	DECQ(k)
	JNZ(LabelRef(name + "_one"))
	Label(name + "_next")
	ADDQ(Imm(16), run)
	DECQ(n)
	JNZ(LabelRef(name + "_run"))
	c := Load(Param("c"), GP64())
	row := Load(Param("rowC"), GP64())
	SHLQ(shift, row)
	store(name, e, acc, bytes, c, row)
}
