package machine

import (
	"runtime"
	"unsafe"

	"github.com/hlocb/hlocb/interp/internal/simd/expr"
)

// Rows is a loop in executable memory that combines rows of two arrays, one after another.
type Rows struct{ code *Code }

// CompileRows returns the loop for a function of two operands. The first operand has the result's format.
func CompileRows(f *expr.Function, vector int) (*Rows, error) {
	if !supported {
		return nil, errUnsupported
	}
	text, err := encodeRows(f, vector)
	if err != nil {
		return nil, err
	}
	c, err := newCode(text, vector/f.Width)
	if err != nil {
		return nil, err
	}
	return &Rows{c}, nil
}

// Lanes returns the number of elements of a vector.
func (r *Rows) Lanes() int { return r.code.lanes }

// Run sets rows of n elements, a positive multiple of the lanes, to the function of themselves and of rows of x. The
// places are pairs: the bytes of a row after o, and of the other row after x.
func (r *Rows) Run(o, x unsafe.Pointer, places []int, n int) {
	counts := [2]int{n, len(places) / 2}
	table := [4]unsafe.Pointer{o, x, unsafe.Pointer(unsafe.SliceData(places)), unsafe.Pointer(&counts)}
	invoke(r.code.entry, &table[0], 0)
	runtime.KeepAlive(r)
}

func encodeRows(f *expr.Function, bytes int) ([]byte, error) {
	p := f.Program()
	e := newEncoder(p, bytes)
	const o, x, places, n, rows = rbx, rcx, r8, r9, r10
	for i, r := range []int{o, x, places, rax} {
		e.loadPointer(r, rdi, int32(8*i))
	}
	for i, r := range []int{n, rows} {
		e.loadPointer(r, rax, int32(8*i))
	}
	row := len(e.code)
	e.loadPointer(rsi, places, 0)
	e.add(rsi, o)
	e.loadPointer(r11, places, 8)
	e.add(r11, x)
	e.clear(rdx)
	loop := len(e.code)
	live, out := p.Live(), p.Out[0].Node
	e.count(live)
	e.read(out, len(live))
	to := memory(rsi, rdx, expr.Size(f.Format), 0)
	e.load(e.allocate(p.In[0].Node), f.Formats[0], to)
	e.load(e.allocate(p.In[1].Node), f.Formats[1], memory(r11, rdx, expr.Size(f.Formats[1]), 0))
	for i, n := range live {
		e.at, e.locked = i, e.locked[:0]
		e.node(n)
		e.free()
	}
	e.locked = e.locked[:0]
	e.storeTo(f.Format, e.use(out), to)
	e.addImmediate(rdx, int32(bytes/f.Width))
	e.jumpLess(rdx, n, loop)
	e.addImmediate(places, 16)
	e.decrement(rows, row)
	e.end()
	if e.failed || e.slots > 0 {
		return nil, errTooLarge
	}
	return e.finish(), nil
}

// Gather is a loop in executable memory that reads elements of an array in any order.
type Gather struct{ code *Code }

// GatherLanes is the number of elements of a Gather's vector.
const GatherLanes = 8

// CompileGather returns the loop for elements of two, four or eight bytes. It has the instructions of AVX2.
func CompileGather(size int) (*Gather, error) {
	if !supported {
		return nil, errUnsupported
	}
	c, err := newCode(encodeGather(size), GatherLanes)
	if err != nil {
		return nil, err
	}
	return &Gather{c}, nil
}

// Run sets n elements of o, a positive multiple of GatherLanes, to the elements of x at the indices, clamped to [0,
// limit], times stride. The address of x is a multiple of four.
func (g *Gather) Run(o, x unsafe.Pointer, index *int32, limit, stride int32, n int) {
	terms := [2]int32{limit, stride}
	table := [4]unsafe.Pointer{o, x, unsafe.Pointer(index), unsafe.Pointer(&terms)}
	invoke(g.code.entry, &table[0], n)
	runtime.KeepAlive(g)
}

func encodeGather(size int) []byte {
	var a assembler
	const o, x, index, terms = rbx, rcx, r8, r9
	for i, r := range []int{o, x, index, terms} {
		a.loadPointer(r, rdi, int32(8*i))
	}
	const at, mask, to, limit, stride, zero, shift = 0, 1, 2, 3, 4, 5, 6
	op := func(o opcode, d, v int, rm operand, imm ...byte) { a.emit(o, bits256, d, v, rm, 0, false, imm...) }
	xor, equal := opcode{1, 1, 0, 0xEF}, opcode{1, 1, 0, 0x76}
	op(opcode{1, 2, 0, 0x58}, limit, 0, memory(terms, -1, 1, 0))
	op(opcode{1, 2, 0, 0x58}, stride, 0, memory(terms, -1, 1, 4))
	op(xor, zero, zero, register(zero))
	a.clear(rdx)
	loop := len(a.code)
	op(opcode{1, 2, 0, 0x3D}, at, zero, memory(index, rdx, 4, 0))
	op(opcode{1, 2, 0, 0x39}, at, at, register(limit))
	op(opcode{1, 2, 0, 0x40}, at, at, register(stride))
	// The instruction clears the mask. to would wait for the last gather.
	gather := func(o opcode, index int) {
		op(equal, mask, mask, register(mask))
		op(xor, to, to, register(to))
		op(o, to, mask, memory(x, index, map[int]int{2: 4, 4: 4, 8: 8}[size], 0))
	}
	dwords, qwords := opcode{1, 2, 0, 0x90}, opcode{1, 2, 1, 0x90}
	move := opcode{0, 1, 0, 0x11}
	switch size {
	case 8:
		gather(qwords, at)
		op(move, to, 0, memory(o, rdx, 8, 0))
		op(opcode{1, 3, 0, 0x39}, at, 0, register(at), 1)
		gather(qwords, at)
		op(move, to, 0, memory(o, rdx, 8, 32))
	case 4:
		gather(dwords, at)
		op(move, to, 0, memory(o, rdx, 4, 0))
	default: // the half of an aligned word that the lowest bit of the index chooses
		const left, right = 6, 2                                     // digits of shifts
		op(opcode{1, 1, 0, 0x72}, left, shift, register(at), 31)     // the bit
		op(opcode{1, 1, 0, 0x72}, right, shift, register(shift), 27) // times 16
		op(opcode{1, 1, 0, 0x72}, right, at, register(at), 1)
		gather(dwords, at)
		op(opcode{1, 2, 0, 0x45}, to, to, register(shift))
		op(opcode{1, 1, 0, 0x72}, left, to, register(to), 16)
		op(opcode{1, 1, 0, 0x72}, right, to, register(to), 16)
		op(opcode{1, 3, 0, 0x39}, to, 0, register(at), 1)
		a.emit(opcode{1, 2, 0, 0x2B}, bits128, to, to, register(at), 0, false)
		a.emit(move, bits128, to, 0, memory(o, rdx, 2, 0), 0, false)
	}
	a.addImmediate(rdx, GatherLanes)
	a.jumpLess(rdx, rsi, loop)
	a.end()
	return a.finish()
}

// Reverse is a loop in executable memory that reverses the order of elements.
type Reverse struct {
	code *Code
	size int
}

// CompileReverse returns the loop for elements of two, four or eight bytes. It has the instructions of AVX2.
func CompileReverse(size int) (*Reverse, error) {
	if !supported {
		return nil, errUnsupported
	}
	c, err := newCode(encodeReverse(size), 32/size)
	if err != nil {
		return nil, err
	}
	return &Reverse{c, size}, nil
}

// Lanes returns the number of elements of a vector.
func (r *Reverse) Lanes() int { return r.code.lanes }

// Run writes n elements of x, a positive multiple of the lanes, to o in the opposite order.
func (r *Reverse) Run(o, x unsafe.Pointer, n int) {
	table := [2]unsafe.Pointer{o, unsafe.Add(x, n*r.size-32)}
	invoke(r.code.entry, &table[0], n)
	runtime.KeepAlive(r)
}

func encodeReverse(size int) []byte {
	var a assembler
	const o, x, v = rbx, rcx, 0
	a.loadPointer(o, rdi, 0)
	a.loadPointer(x, rdi, 8)
	op := func(o opcode, rm operand, imm ...byte) { a.emit(o, bits256, v, 0, rm, 0, false, imm...) }
	a.clear(rdx)
	loop := len(a.code)
	op(opcode{1, 3, 1, 0x00}, memory(x, -1, 1, 0), 0x1B) // words of eight bytes
	if size == 4 {
		op(opcode{1, 1, 0, 0x70}, register(v), 0xB1)
	} else if size == 2 {
		op(opcode{3, 1, 0, 0x70}, register(v), 0x1B)
		op(opcode{2, 1, 0, 0x70}, register(v), 0x1B)
	}
	op(opcode{0, 1, 0, 0x11}, memory(o, rdx, size, 0))
	a.addImmediate(x, -32)
	a.addImmediate(rdx, int32(32/size))
	a.jumpLess(rdx, rsi, loop)
	a.end()
	return a.finish()
}
