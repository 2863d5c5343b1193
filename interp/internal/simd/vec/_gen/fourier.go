package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// registers are the vector registers of AVX2 or AVX-512.
type registers struct {
	wide   bool   // 512 bits, with masks in registers of their own
	suffix string // of the names of functions that use them
	bytes  int    // of a register
	next   func() reg.VecVirtual
}

func registersOf(wide bool) registers {
	if wide {
		return registers{wide, "AVX512", 64, func() reg.VecVirtual { return ZMM() }}
	}
	return registers{wide, "AVX2", 32, func() reg.VecVirtual { return YMM() }}
}

// narrowed emits the conversion of a register or of memory from f64 to f32.
func (r registers) narrowed(v Op) reg.VecVirtual {
	if r.wide {
		h := YMM()
		VCVTPD2PS(v, h)
		return h
	}
	h := XMM()
	VCVTPD2PSY(v, h)
	return h
}

// binary emits an instruction of two operands and returns the register of its result.
func (r registers) binary(f func(...Op), a, b reg.VecVirtual) reg.VecVirtual {
	d := r.next()
	f(b, a, d)
	return d
}

// writeRadix4 emits a pass of a Fourier transform over m groups of s elements. s is a multiple of the lanes. See
// Radix4.
func writeRadix4(wide bool) {
	r := registersOf(wide)
	name, bytes, vec, binary := "radix4"+r.suffix, r.bytes, r.next, r.binary
	head(name, "func(yr, yi, xr, xi, w *float64, m, s int)", fmt.Sprintf("%s computes a pass for s a multiple of %d.", name, bytes/8))
	yr, yi := Load(Param("yr"), GP64()), Load(Param("yi"), GP64())
	xr, xi := Load(Param("xr"), GP64()), Load(Param("xi"), GP64())
	w, m, s := Load(Param("w"), GP64()), Load(Param("m"), GP64()), Load(Param("s"), GP64())
	SHLQ(Imm(3), s)
	s3, far, far3, q := GP64(), GP64(), GP64(), GP64()
	LEAQ(Mem{Base: s, Index: s, Scale: 2}, s3)
	MOVQ(s, far)
	IMULQ(m, far)
	LEAQ(Mem{Base: far, Index: far, Scale: 2}, far3)
	quarter := func(base, step, step3 reg.Register, k int) Mem {
		return []Mem{{Base: base}, {Base: base, Index: step, Scale: 1}, {Base: base, Index: step, Scale: 2}, {Base: base, Index: step3, Scale: 1}}[k]
	}
	Label(name + "_group")
	var f [6]reg.VecVirtual
	for i := range f {
		f[i] = vec()
		VBROADCASTSD(Mem{Base: w, Disp: 8 * i}, f[i])
	}
	ADDQ(Imm(48), w)
	XORQ(q, q)
	Label(name + "_loop")
	var x [4][2]reg.VecVirtual
	for k := range x {
		for part, base := range []reg.Register{xr, xi} {
			x[k][part] = vec()
			VMOVUPD(quarter(base, far, far3, k), x[k][part])
		}
	}
	var sum, diff [2][2]reg.VecVirtual // of elements 0 and 2, and of 1 and 3
	for i := range sum {
		for part := range 2 {
			sum[i][part] = binary(VADDPD, x[i][part], x[i+2][part])
			diff[i][part] = binary(VSUBPD, x[i][part], x[i+2][part])
		}
	}
	// AVX2 has 16 registers. f, sum and diff take 14 of them, so store each element before the next.
	for _, e := range []struct {
		k      int
		re, im func(...Op)
		a, b   [2]reg.VecVirtual
	}{
		{0, VADDPD, VADDPD, sum[0], sum[1]},
		{2, VSUBPD, VSUBPD, sum[0], sum[1]},
		{1, VADDPD, VSUBPD, diff[0], [2]reg.VecVirtual{diff[1][1], diff[1][0]}},
		{3, VSUBPD, VADDPD, diff[0], [2]reg.VecVirtual{diff[1][1], diff[1][0]}},
	} {
		re := binary(e.re, e.a[0], e.b[0])
		if e.k == 0 {
			VMOVUPD(re, quarter(yr, s, s3, 0))
		}
		im := binary(e.im, e.a[1], e.b[1])
		if e.k > 0 {
			wr, wi := f[2*e.k-2], f[2*e.k-1]
			re, im = binary(VSUBPD, binary(VMULPD, re, wr), binary(VMULPD, im, wi)), binary(VADDPD, binary(VMULPD, re, wi), binary(VMULPD, im, wr))
			VMOVUPD(re, quarter(yr, s, s3, e.k))
		}
		VMOVUPD(im, quarter(yi, s, s3, e.k))
	}
	for _, p := range []reg.Register{xr, xi, yr, yi} {
		ADDQ(Imm(uint64(bytes)), p)
	}
	ADDQ(Imm(uint64(bytes)), q)
	CMPQ(q, s)
	JLT(LabelRef(name + "_loop"))
	ADDQ(s3, yr)
	ADDQ(s3, yi)
	DECQ(m)
	JNZ(LabelRef(name + "_group"))
	tail()
}

// writeUntangle emits Untangle over m pairs of groups of s elements. s is a multiple of the lanes.
func writeUntangle(wide bool) {
	r := registersOf(wide)
	name, bytes, vec, binary := "untangle"+r.suffix, r.bytes, r.next, r.binary
	head(name, "func(lowR, lowI, highR, highI, w *float64, m, s int)", fmt.Sprintf("%s computes Untangle for s a multiple of %d.", name, bytes/8))
	lr, li := Load(Param("lowR"), GP64()), Load(Param("lowI"), GP64())
	hr, hi := Load(Param("highR"), GP64()), Load(Param("highI"), GP64())
	w, m, s := Load(Param("w"), GP64()), Load(Param("m"), GP64()), Load(Param("s"), GP64())
	SHLQ(Imm(3), s)
	scale, wr, wi, q, back := vec(), vec(), vec(), GP64(), GP64()
	VBROADCASTSD(Mem{Base: w}, scale)
	LEAQ(Mem{Base: s, Index: s, Scale: 1}, back)
	load := func(p reg.Register) reg.VecVirtual {
		d := vec()
		VMOVUPD(Mem{Base: p}, d)
		return d
	}
	Label(name + "_group")
	VBROADCASTSD(Mem{Base: w, Disp: 8}, wr)
	VBROADCASTSD(Mem{Base: w, Disp: 16}, wi)
	ADDQ(Imm(16), w)
	XORQ(q, q)
	Label(name + "_loop")
	ar, ai, cr, ci := load(lr), load(li), load(hr), load(hi)
	er, ei := binary(VMULPD, binary(VADDPD, ar, cr), scale), binary(VMULPD, binary(VSUBPD, ai, ci), scale)
	dr, di := binary(VSUBPD, ar, cr), binary(VADDPD, ai, ci)
	or := binary(VADDPD, binary(VMULPD, wr, di), binary(VMULPD, wi, dr))
	oi := binary(VSUBPD, binary(VMULPD, wi, di), binary(VMULPD, wr, dr))
	VMOVUPD(binary(VSUBPD, er, or), Mem{Base: hr})
	VMOVUPD(binary(VSUBPD, oi, ei), Mem{Base: hi})
	VMOVUPD(binary(VADDPD, er, or), Mem{Base: lr})
	VMOVUPD(binary(VADDPD, ei, oi), Mem{Base: li})
	for _, p := range []reg.Register{lr, li, hr, hi} {
		ADDQ(Imm(uint64(bytes)), p)
	}
	ADDQ(Imm(uint64(bytes)), q)
	CMPQ(q, s)
	JLT(LabelRef(name + "_loop"))
	SUBQ(back, hr)
	SUBQ(back, hi)
	DECQ(m)
	JNZ(LabelRef(name + "_group"))
	tail()
}

// writeSplit emits SplitRows and JoinRows.
func writeSplit(wide bool) {
	r := registersOf(wide)
	name, bytes, vec := r.suffix, r.bytes, r.next
	for _, split := range []bool{true, false} {
		kind := map[bool]string{true: "split", false: "join"}[split]
		head(kind+name, "func(re, im *float64, x *float32, n int)", kind+name+" computes n pairs of rows.")
		re, im := Load(Param("re"), GP64()), Load(Param("im"), GP64())
		x, n := Load(Param("x"), GP64()), Load(Param("n"), GP64())
		Label(kind + name + "_loop")
		for part, p := range []reg.Register{re, im} {
			for at := 0; at < 64; at += bytes {
				far, near, v := Mem{Base: p, Disp: at}, Mem{Base: x, Disp: 32*part + at/2}, vec()
				switch {
				case split:
					VCVTPS2PD(near, v)
					VMOVUPD(v, far)
				case wide:
					VMOVUPD(far, v)
					VMOVUPS(r.narrowed(v), near)
				default:
					VMOVUPS(r.narrowed(far), near)
				}
			}
			ADDQ(Imm(64), p)
		}
		ADDQ(Imm(64), x)
		DECQ(n)
		JNZ(LabelRef(kind + name + "_loop"))
		tail()
	}
}
