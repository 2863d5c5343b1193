package machine

import (
	"encoding/binary"
	"slices"
)

// opcode is an instruction: its prefix (0, 1 for 66, 2 for F3, 3 for F2), its map (1 for 0F, 2 for 0F38, 3 for 0F3A),
// its W bit and its code.
type opcode struct {
	prefix, table, w, code byte
}

// operand is a vector register, or memory.
type operand struct {
	memory bool
	reg    int // of vectors
	// A constant, or base + index*scale + disp. An index below 0 is none.
	constant           int
	base, index, scale int
	disp               int32
}

const noConstant = -1

func register(r int) operand { return operand{reg: r, constant: noConstant} }

func memory(base, index, scale int, disp int32) operand {
	return operand{memory: true, constant: noConstant, base: base, index: index, scale: scale, disp: disp}
}

// assembler encodes instructions.
type assembler struct {
	code      []byte
	wide      bool // AVX-512: instructions have the EVEX prefix, else VEX
	constants [][2]uint64
	fixups    []fixup
}

// fixup is the place of a displacement to a constant. The displacement counts from after.
type fixup struct{ at, after, constant int }

// constantBytes is the size of a constant in memory: a vector of 64 bytes.
const constantBytes = 64

// constant returns the memory of a constant of a lane's width.
func (a *assembler) constant(bits uint64, width int) operand {
	key := [2]uint64{bits, uint64(width)}
	i := slices.Index(a.constants, key)
	if i < 0 {
		i = len(a.constants)
		a.constants = append(a.constants, key)
	}
	return operand{memory: true, constant: i}
}

// finish appends the constants and returns the code.
func (a *assembler) finish() []byte {
	for len(a.code)%constantBytes != 0 {
		a.code = append(a.code, 0xCC)
	}
	begin := len(a.code)
	for _, c := range a.constants {
		v := c[0]
		if c[1] == 4 {
			v = v&0xffffffff | v<<32
		}
		for range constantBytes / 8 {
			a.code = binary.LittleEndian.AppendUint64(a.code, v)
		}
	}
	for _, f := range a.fixups {
		binary.LittleEndian.PutUint32(a.code[f.at:], uint32(begin+f.constant*constantBytes-f.after))
	}
	return a.code
}

func bit(v bool) byte {
	if v {
		return 1
	}
	return 0
}

// The lengths of vectors.
const (
	bits128 = iota
	bits256
	bits512
)

// emit encodes an instruction of the registers reg and vvvv and of rm, with immediates after it. length is a length of
// vectors, mask a mask register or 0; zero clears the lanes whose mask is not set.
func (a *assembler) emit(o opcode, length byte, reg, vvvv int, rm operand, mask int, zero bool, imm ...byte) {
	r, v := byte(reg), byte(vvvv)
	var x, b byte // the high bits of index and base, or of a register
	switch {
	case !rm.memory:
		x, b = byte(rm.reg)>>4&1, byte(rm.reg)>>3&1
	case rm.constant == noConstant:
		b = byte(rm.base) >> 3 & 1
		if rm.index >= 0 {
			x = byte(rm.index) >> 3 & 1
		}
	}
	if a.wide {
		a.code = append(a.code, 0x62, ^(r>>3&1<<7|x<<6|b<<5|r>>4&1<<4)&0xF0|o.table,
			o.w<<7|^v&15<<3|4|o.prefix, bit(zero)<<7|length<<5|(^(v>>4)&1)<<3|byte(mask))
	} else {
		a.vex(o, length, r, v, x, b)
	}
	a.code = append(a.code, o.code)
	a.modrm(r, rm, len(imm))
	a.code = append(a.code, imm...)
}

// vex appends the VEX prefix.
func (a *assembler) vex(o opcode, length, r, v, x, b byte) {
	a.code = append(a.code, 0xC4, ^(r>>3&1<<7|x<<6|b<<5)&0xE0|o.table, o.w<<7|^v&15<<3|length&1<<2|o.prefix)
}

// narrow encodes an instruction with the VEX prefix even if there is AVX-512.
func (a *assembler) narrow(o opcode, length byte, reg, vvvv int, rm operand, imm ...byte) {
	wide := a.wide
	a.wide = false
	a.emit(o, length, reg, vvvv, rm, 0, false, imm...)
	a.wide = wide
}

// modrm appends the operands' bytes. trailing is the number of bytes that follow them.
func (a *assembler) modrm(r byte, rm operand, trailing int) {
	r = r & 7 << 3
	switch {
	case !rm.memory:
		a.code = append(a.code, 0xC0|r|byte(rm.reg)&7)
	case rm.constant != noConstant:
		a.code = append(a.code, r|5, 0, 0, 0, 0)
		a.fixups = append(a.fixups, fixup{len(a.code) - 4, len(a.code) + trailing, rm.constant})
	default:
		index, scale := byte(4), byte(0)
		if rm.index >= 0 {
			index = byte(rm.index) & 7
			scale = map[int]byte{1: 0, 2: 1, 4: 2, 8: 3}[rm.scale]
		}
		a.code = append(a.code, 0x80|r|4, scale<<6|index<<3|byte(rm.base)&7)
		a.code = binary.LittleEndian.AppendUint32(a.code, uint32(rm.disp))
	}
}

// The general registers by number.
const (
	rax, rcx, rdx, rbx = 0, 1, 2, 3
	rsi, rdi           = 6, 7
	r8, r9, r10, r11   = 8, 9, 10, 11
	r12, r13           = 12, 13
)

// loadPointer loads a general register from memory at base + disp.
func (a *assembler) loadPointer(reg, base int, disp int32) {
	a.code = append(a.code, 0x48|byte(reg)>>3<<2|byte(base)>>3, 0x8B)
	a.modrm(byte(reg), memory(base, -1, 1, disp), 0)
}

// storePointer stores a general register in memory at base + disp.
func (a *assembler) storePointer(reg, base int, disp int32) {
	a.code = append(a.code, 0x48|byte(reg)>>3<<2|byte(base)>>3, 0x89)
	a.modrm(byte(reg), memory(base, -1, 1, disp), 0)
}

// storeLow stores a vector's first four or eight bytes with the VEX prefix.
func (a *assembler) storeLow(bytes, reg int, m operand) {
	if bytes == 4 {
		a.narrow(opcode{1, 1, 0, 0x7E}, bits128, reg, 0, m)
	} else {
		a.narrow(opcode{1, 1, 0, 0xD6}, bits128, reg, 0, m)
	}
}

func (a *assembler) clear(reg int) { // xor reg, reg of 64 bits
	a.code = append(a.code, 0x48|byte(reg)>>3<<2|byte(reg)>>3, 0x31, 0xC0|byte(reg)&7<<3|byte(reg)&7)
}

func (a *assembler) addImmediate(reg int, v int32) {
	a.code = append(a.code, 0x48|byte(reg)>>3, 0x81, 0xC0|byte(reg)&7)
	a.code = binary.LittleEndian.AppendUint32(a.code, uint32(v))
}

func (a *assembler) add(to, reg int) {
	a.code = append(a.code, 0x48|byte(reg)>>3<<2|byte(to)>>3, 0x01, 0xC0|byte(reg)&7<<3|byte(to)&7)
}

// jumpLess compares two general registers and jumps to an earlier place if x < y.
func (a *assembler) jumpLess(x, y, to int) {
	a.code = append(a.code, 0x48|byte(y)>>3<<2|byte(x)>>3, 0x39, 0xC0|byte(y)&7<<3|byte(x)&7, 0x0F, 0x8C)
	a.code = binary.LittleEndian.AppendUint32(a.code, uint32(to-len(a.code)-4))
}

// jumpUnlessLess compares two general registers and jumps to a later place, which land sets, unless x < y.
func (a *assembler) jumpUnlessLess(x, y int) int {
	a.code = append(a.code, 0x48|byte(y)>>3<<2|byte(x)>>3, 0x39, 0xC0|byte(y)&7<<3|byte(x)&7, 0x0F, 0x8D, 0, 0, 0, 0)
	return len(a.code)
}

func (a *assembler) land(from int) {
	binary.LittleEndian.PutUint32(a.code[from-4:], uint32(len(a.code)-from))
}

// decrement subtracts one from a register and jumps to an earlier place if it is not 0.
func (a *assembler) decrement(reg, to int) {
	a.addImmediate(reg, -1)
	a.code = append(a.code, 0x0F, 0x85)
	a.code = binary.LittleEndian.AppendUint32(a.code, uint32(to-len(a.code)-4))
}

// end returns from the code.
func (a *assembler) end() { a.code = append(a.code, 0xC5, 0xF8, 0x77, 0xC3) } // vzeroupper; ret
