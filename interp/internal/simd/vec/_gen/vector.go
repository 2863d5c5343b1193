package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// constants is the table of constants. Each is repeated to the width of a vector.
type constants struct {
	at   map[[2]uint64]int
	list [][2]uint64 // bits and width
}

func (t *constants) mem(n *node) Op {
	key := [2]uint64{n.bits, uint64(n.width)}
	i, ok := t.at[key]
	if !ok {
		i = len(t.list)
		t.at[key] = i
		t.list = append(t.list, key)
	}
	return NewDataAddr(NewStaticSymbol("constants"), i*64)
}

func (t *constants) write() {
	GLOBL("constants", attr.RODATA|attr.NOPTR)
	for i, v := range t.list {
		for k := range 8 {
			if v[1] == 4 {
				v[0] |= v[0] << 32
			}
			DATA(i*64+k*8, U64(v[0]))
		}
	}
}

// instructions are the operations with two operands, on lanes of four and of eight bytes.
var instructions = map[string][2]func(...Op){
	"add": {VADDPS, VADDPD}, "sub": {VSUBPS, VSUBPD}, "mul": {VMULPS, VMULPD}, "div": {VDIVPS, VDIVPD},
	"iadd": {VPADDD, VPADDQ}, "isub": {VPSUBD, VPSUBQ}, "imul": {VPMULLD, nil}, "vshl": {VPSLLVD, VPSLLVQ}, "vshr": {VPSRLVD, VPSRLVQ}, "vsar": {VPSRAVD, nil},
}

var commutes = map[string]bool{"add": true, "mul": true, "iadd": true, "and": true, "or": true, "xor": true}

// emitter writes one function.
type emitter struct {
	p     *program
	table *constants
	registers
	values map[*node]reg.Register
}

// lanes returns the number of elements of a vector.
func (e *emitter) lanes() int { return e.bytes / e.p.width }

// val returns a register or the address of a constant; reg returns a register.
func (e *emitter) val(a *node) Op {
	if a.op == "const" {
		return e.table.mem(a)
	}
	return e.values[a]
}

func (e *emitter) reg(a *node) Op {
	if a.op != "const" {
		return e.values[a]
	}
	r := e.next()
	VMOVUPS(e.table.mem(a), r)
	return r
}

// pick returns the function for the width of the lanes.
func pick[F any](e *emitter, four, eight F) F {
	if e.p.width == 4 {
		return four
	}
	return eight
}

// body emits the operations.
func (e *emitter) body() {
	wide := e.wide
	for _, nd := range e.p.live() {
		a := nd.args
		if nd.kind == mask {
			e.mask(nd)
			continue
		}
		d := e.next()
		e.values[nd] = d
		commute := func() (m, r Op) {
			if commutes[nd.op] && a[0].op == "const" {
				return e.val(a[0]), e.reg(a[1])
			}
			return e.val(a[1]), e.reg(a[0])
		}
		switch nd.op {
		case "sqrt":
			pick(e, VSQRTPS, VSQRTPD)(e.val(a[0]), d)
		case "fma":
			VMOVUPS(e.val(a[2]), d)
			if a[0].op == "const" {
				a[0], a[1] = a[1], a[0]
			}
			pick(e, VFMADD231PS, VFMADD231PD)(e.val(a[1]), e.reg(a[0]), d)
		case "and", "or", "xor":
			m, r := commute()
			e.bitwise(nd.op, m, r, d)
		case "shl":
			pick(e, VPSLLD, VPSLLQ)(Imm(nd.imm), e.reg(a[0]), d)
		case "shr":
			pick(e, VPSRLD, VPSRLQ)(Imm(nd.imm), e.reg(a[0]), d)
		case "round":
			if wide {
				pick(e, VRNDSCALEPS, VRNDSCALEPD)(Imm(nd.imm), e.val(a[0]), d)
			} else {
				pick(e, VROUNDPS, VROUNDPD)(Imm(nd.imm), e.val(a[0]), d)
			}
		case "i2f":
			VCVTDQ2PS(e.val(a[0]), d)
		case "f2i":
			VCVTTPS2DQ(e.val(a[0]), d)
		case "mulhi":
			// Products of the even and of the odd lanes; their high halves are blended.
			x, y := e.next(), e.next()
			VPSRLQ(Imm(32), e.reg(a[0]), x)
			VPSRLQ(Imm(32), e.reg(a[1]), y)
			VPMULDQ(x, y, x)
			VPMULDQ(e.reg(a[0]), e.reg(a[1]), d)
			VPSRLQ(Imm(32), d, d)
			high := e.table.mem(&node{bits: 0xffffffff << 32, width: 8})
			e.bitwise("and", high, x, x)
			e.bitwise("or", x, d, d)
		case "sel":
			switch {
			case wide:
				pick(e, VBLENDMPS, VBLENDMPD)(e.val(a[1]), e.reg(a[2]), e.values[a[0]], d)
			default:
				pick(e, VBLENDVPS, VBLENDVPD)(e.values[a[0]], e.val(a[1]), e.reg(a[2]), d)
			}
		default:
			m, r := commute()
			pick(e, instructions[nd.op][0], instructions[nd.op][1])(m, r, d)
		}
	}
}

func (e *emitter) bitwise(op string, m, r, d Op) {
	if e.wide {
		map[string]func(...Op){"and": VPANDD, "or": VPORD, "xor": VPXORD}[op](m, r, d)
	} else {
		map[string]func(_, _, _ Op){"and": VPAND, "or": VPOR, "xor": VPXOR}[op](m, r, d)
	}
}

// mask emits an operation whose result is a mask.
func (e *emitter) mask(nd *node) {
	a := nd.args
	if e.wide {
		k := K()
		e.values[nd] = k
		switch nd.op {
		case "mand":
			KANDW(e.values[a[0]], e.values[a[1]], k)
		case "mor":
			KORW(e.values[a[0]], e.values[a[1]], k)
		case "mnot":
			KNOTW(e.values[a[0]], k)
		case "ilt":
			pick(e, VPCMPD, VPCMPQ)(Imm(1), e.val(a[1]), e.reg(a[0]), k)
		case "ieq":
			pick(e, VPCMPD, VPCMPQ)(Imm(0), e.val(a[1]), e.reg(a[0]), k)
		default:
			pick(e, VCMPPS, VCMPPD)(predicate(nd.op), e.val(a[1]), e.reg(a[0]), k)
		}
		return
	}
	d := YMM()
	e.values[nd] = d
	switch nd.op {
	case "mand":
		VPAND(e.values[a[0]], e.values[a[1]], d)
	case "mor":
		VPOR(e.values[a[0]], e.values[a[1]], d)
	case "mnot":
		VPXOR(e.table.mem(&node{bits: 1<<64 - 1, width: 8}), e.values[a[0]], d)
	case "ilt":
		pick(e, VPCMPGTD, VPCMPGTQ)(e.val(a[0]), e.reg(a[1]), d)
	case "ieq":
		pick(e, VPCMPEQD, VPCMPEQQ)(e.val(a[1]), e.reg(a[0]), d)
	default:
		pick(e, VCMPPS, VCMPPD)(predicate(nd.op), e.val(a[1]), e.reg(a[0]), d)
	}
}

func predicate(op string) Op {
	return Imm(map[string]uint64{"eq": 0, "unord": 3, "lt": 17, "le": 18}[op])
}

// load emits the load of a vector.
func (e *emitter) load(format string, m Mem) reg.Register {
	d := e.next()
	switch format {
	case "i1":
		pick(e, VPMOVZXBD, VPMOVZXBQ)(m, d)
		if e.wide {
			k := K()
			pick(e, VPTESTMD, VPTESTMQ)(d, d, k)
			return k
		}
		zero := YMM()
		VPXOR(zero, zero, zero)
		pick(e, VPCMPGTD, VPCMPGTQ)(zero, d, d)
	case "bf16":
		VPMOVZXWD(m, d)
		VPSLLD(Imm(16), d, d)
	case "f16":
		VCVTPH2PS(m, d)
	case "f32":
		if e.p.width == 8 {
			VCVTPS2PD(m, d)
			break
		}
		VMOVUPS(m, d)
	default:
		VMOVUPS(m, d)
	}
	return d
}

// store emits the store of the result. The program has rounded it to its format; its bits are in the low part of a
// lane.
func (e *emitter) store(format string, v reg.Register, m Mem) {
	switch {
	case format == "i1" && e.wide:
		b := XMM()
		VMOVDQU8_Z(e.table.mem(&node{bits: 0x0101010101010101, width: 8}), v, b)
		if e.p.width == 8 {
			VMOVQ(b, m)
		} else {
			VMOVDQU(b, m)
		}
	case format == "i1":
		x, h := v.(reg.VecVirtual).AsX(), XMM()
		VEXTRACTI128(Imm(1), v, h)
		VPACKSSDW(h, x, h)
		if e.p.width == 8 {
			VPACKSSDW(h, h, h)
		}
		VPACKSSWB(h, h, h)
		VPAND(e.table.mem(&node{bits: 0x0101010101010101, width: 8}), h, h)
		if e.p.width == 4 {
			VMOVQ(h, m)
		} else {
			VMOVD(h, m)
		}
	case format == "bf16" && e.wide:
		VPMOVDW(v, m)
	case format == "bf16":
		x, h := v.(reg.VecVirtual).AsX(), XMM()
		VEXTRACTI128(Imm(1), v, h)
		VPACKUSDW(h, x, h)
		VMOVDQU(h, m)
	case format == "f16":
		VCVTPS2PH(Imm(0), v, m)
	case format == "f32" && e.p.width == 8:
		VMOVUPS(e.narrowed(v), m)
	default:
		VMOVUPS(v, m)
	}
}

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

// begin emits the head of a function of pointers.
func (e *emitter) begin(name, doc string) (o reg.Register, in []reg.Register, n reg.Register) {
	head(name, "func(o, x, y, z *byte, n int)", doc)
	o = Load(Param("o"), GP64())
	for i := range e.p.formats {
		in = append(in, Load(Param(string("xyz"[i])), GP64()))
	}
	n = Load(Param("n"), GP64())
	e.values = map[*node]reg.Register{}
	return o, in, n
}

// writeVector emits a loop over n elements. n is a positive multiple of the lanes.
func (p *program) writeVector(table *constants, wide bool) {
	e := &emitter{p: p, table: table, registers: registersOf(wide)}
	name := p.lower() + e.suffix
	o, in, n := e.begin(name, fmt.Sprintf("%s computes %s, for n elements, a multiple of %d.", name, p.doc, e.lanes()))
	at := GP64()
	XORQ(at, at)
	Label(name + "_loop")
	for i, format := range p.formats {
		e.values[p.in[i]] = e.load(format, Mem{Base: in[i], Index: at, Scale: uint8(sizeOf(format))})
	}
	e.body()
	e.store(p.format, e.values[p.out], Mem{Base: o, Index: at, Scale: uint8(sizeOf(p.format))})
	ADDQ(Imm(uint64(e.lanes())), at)
	CMPQ(at, n)
	JLT(LabelRef(name + "_loop"))
	tail()
}

// foldBytes is the size of the accumulators of a fold.
const foldBytes = 128

// writeFold emits a loop that folds rows of n elements, a positive multiple of the accumulators, that lie line bytes
// apart. The program's first operand is the accumulator, which starts as the row's first elements, or as 0 if the
// program has a further operand, at y for each row. combine then folds the accumulators by halves to one element at o.
func (p *program) writeFold(table *constants, wide bool, combine *program) {
	e := &emitter{p: p, table: table, registers: registersOf(wide)}
	name := p.lower() + "Fold" + e.suffix
	head(name, "func(o, x, y *byte, n, rows, line int)", fmt.Sprintf("%s folds rows of n elements, a multiple of %d, to one element each.", name, foldBytes/p.width))
	o, x, y := Load(Param("o"), GP64()), Load(Param("x"), GP64()), Load(Param("y"), GP64())
	n, rows, line := Load(Param("n"), GP64()), Load(Param("rows"), GP64()), Load(Param("line"), GP64())
	e.values = map[*node]reg.Register{}
	at := GP64()
	acc := make([]reg.VecVirtual, foldBytes/e.bytes)
	Label(name + "_row")
	XORQ(at, at)
	for i := range acc {
		acc[i] = e.next()
		if len(p.in) > 2 {
			VXORPS(acc[i].AsX(), acc[i].AsX(), acc[i].AsX())
		} else {
			VMOVUPS(Mem{Base: x, Disp: i * e.bytes}, acc[i])
		}
	}
	if len(p.in) == 2 {
		ADDQ(Imm(uint64(foldBytes/p.width)), at)
		CMPQ(at, n)
		JGE(LabelRef(name + "_halves"))
	}
	Label(name + "_loop")
	for i := range acc {
		e.values[p.in[0]] = acc[i]
		for k, v := range p.in[1:] {
			e.values[v] = e.load(p.format, Mem{Base: []reg.Register{x, y}[k], Index: at, Scale: uint8(p.width), Disp: i * e.bytes})
		}
		e.body()
		VMOVUPS(e.values[p.out], acc[i])
	}
	ADDQ(Imm(uint64(foldBytes/p.width)), at)
	CMPQ(at, n)
	JLT(LabelRef(name + "_loop"))
	Label(name + "_halves")
	h := &emitter{p: combine, table: table, registers: e.registers, values: map[*node]reg.Register{}}
	fold := func(a, b reg.Register) reg.VecVirtual {
		h.values[combine.in[0]], h.values[combine.in[1]] = a, b
		h.body()
		return h.values[combine.out].(reg.VecVirtual)
	}
	for len(acc) > 1 {
		half := len(acc) / 2
		for i := range half {
			acc[i] = fold(acc[i], acc[half+i])
		}
		acc = acc[:half]
	}
	// The upper half of the remaining elements moves to the lower half of another register.
	v := acc[0]
	if wide {
		u := ZMM()
		VEXTRACTF64X4(Imm(1), v, u.AsY())
		v = fold(v, u)
	}
	u := e.next()
	if wide {
		VEXTRACTF32X4(Imm(1), v.AsY(), u.AsX())
	} else {
		VEXTRACTF128(Imm(1), v.AsY(), u.AsX())
	}
	v = fold(v, u)
	u = e.next()
	VPERMILPD(Imm(1), v.AsX(), u.AsX())
	v = fold(v, u)
	if p.width == 4 {
		u = e.next()
		VMOVSHDUP(v.AsX(), u.AsX())
		v = fold(v, u)
		VMOVSS(v.AsX(), Mem{Base: o})
	} else {
		VMOVSD(v.AsX(), Mem{Base: o})
	}
	ADDQ(Imm(uint64(p.width)), o)
	ADDQ(line, x)
	DECQ(rows)
	JNZ(LabelRef(name + "_row"))
	tail()
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
