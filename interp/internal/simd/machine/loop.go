package machine

import (
	"encoding/binary"
	"runtime"
	"slices"
	"unsafe"

	"github.com/hlocb/hlocb/interp/internal/simd/expr"
)

// A loop on single values computes on vectors of 128 bits whose lanes are equal, with the instructions of AVX2. rdi
// holds the table of addresses: of the registers in memory, then of the arrays. rsi holds the number of iterations
// that remain, rbx the address of the registers, and rax the index of an element. rdx and r13 are free.

// Loop is a loop on single values in executable memory.
type Loop struct {
	code      *Code
	registers int
}

// LoopState is the number of words after a loop's registers that the loop needs in memory.
const LoopState = 2

// keptValues is the least number of constants and registers that stay in registers of the processor.
const keptValues = 7

// arrayPointers are the registers that hold the addresses of the first arrays.
var arrayPointers = []int{rcx, r8, r9, r10, r11}

// leave is the place of a jump that leaves the loop.
type leave struct{ at, status int }

// CompileLoop returns the code of a loop on single values.
func CompileLoop(l *expr.Loop) (*Loop, error) {
	if !supported {
		return nil, errUnsupported
	}
	text, err := encodeLoop(l)
	if err != nil {
		return nil, err
	}
	c, err := newCode(text, 1)
	if err != nil {
		return nil, err
	}
	return &Loop{c, l.Registers}, nil
}

// Size returns the bytes of executable memory.
func (l *Loop) Size() int { return l.code.size }

// Run executes up to n iterations. The table has the addresses of the registers and of the arrays. The registers have
// LoopState further words. Run returns the number of whole iterations, and the status with which the loop was left,
// or 0.
func (l *Loop) Run(registers []uint64, table []unsafe.Pointer, n int) (done, status int) {
	_ = registers[l.registers+LoopState-1]
	invoke(l.code.entry, &table[0], n)
	runtime.KeepAlive(l)
	runtime.KeepAlive(registers)
	return n - int(registers[l.registers]), int(registers[l.registers+1])
}

func encodeLoop(l *expr.Loop) ([]byte, error) {
	e := newEncoder(&l.Program, 16)
	e.single = l
	if err := e.singleLoop(); err != nil {
		return nil, err
	}
	var keys []value
	for k := range e.reads {
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return e.finish(), nil
	}
	weight := func(k value) reading { // a register that changes is written once more
		r := e.reads[k]
		if k.array >= 0 && slices.Contains(l.Out, l.In[k.array]) {
			r.count += 2
		}
		return r
	}
	slices.SortFunc(keys, func(a, b value) int { return weight(a).compare(weight(b)) })
	kept := map[value]int{}
	for i, k := range keys[:min(max(e.registers-e.most, keptValues), len(keys))] {
		kept[k] = e.registers - 1 - i
	}
	e.again(kept)
	if err := e.singleLoop(); err != nil {
		return nil, err
	}
	return e.finish(), nil
}

// register returns the memory of a register.
func (e *encoder) register(r int) operand { return memory(rbx, -1, 1, int32(8*r)) }

// singleLoop encodes the loop.
func (e *encoder) singleLoop() error {
	live := e.p.Live()
	for i, o := range e.p.In {
		e.of(o.Node).array = i
	}
	e.count(live)
	for _, o := range e.p.Out {
		e.read(o.Node, len(live))
	}
	e.loadPointer(rbx, rdi, 0)
	for i, r := range arrayPointers[:min(len(arrayPointers), e.single.Arrays)] {
		e.loadPointer(r, rdi, int32(8*(1+i)))
	}
	homes := map[int]int{} // the processor's registers of registers in memory
	for _, k := range e.keptInOrder() {
		r := e.kept[k]
		if k.array >= 0 {
			homes[e.single.In[k.array]] = r
			e.load(r, e.p.In[k.array].Format, e.register(e.single.In[k.array]))
		} else {
			e.move(r, e.constant(k.bits, k.width))
		}
	}
	begin := len(e.code)
	for i, n := range live {
		e.at = i
		e.locked = e.locked[:0]
		e.node(n)
		e.free()
	}
	e.at = len(live)
	for i, o := range e.p.Out {
		e.locked = e.locked[:0]
		if r, ok := homes[e.single.Out[i]]; ok {
			e.home(r, o)
		} else {
			e.storeSingle(o.Format, e.use(o.Node), e.register(e.single.Out[i]), true)
		}
		for r, n := range e.owner {
			if n == temporary {
				e.drop(r)
			}
		}
	}
	e.decrement(rsi, begin)
	e.setStatus(0)
	var ends []int
	for _, l := range e.leaves {
		binary.LittleEndian.PutUint32(e.code[l.at:], uint32(len(e.code)+5-l.at-4)) // after the jump below
		ends = append(ends, e.jump())
		e.setStatus(l.status)
	}
	for _, at := range ends {
		binary.LittleEndian.PutUint32(e.code[at:], uint32(len(e.code)-at-4))
	}
	for i, r := range e.single.Out {
		if h, ok := homes[r]; ok {
			e.locked = e.locked[:0]
			for k := range e.owner {
				e.drop(k)
			}
			e.keep(e.p.Out[i].Format, h)
			e.storeSingle(e.p.Out[i].Format, h, e.register(r), true)
		}
	}
	e.storePointer(rsi, rbx, int32(8*e.single.Registers))
	e.storePointer(rdx, rbx, int32(8*(e.single.Registers+1)))
	e.end()
	if e.failed || e.slots*e.bytes > spillBytes {
		return errTooLarge
	}
	return nil
}

// home moves a result to the processor's register that holds its value in the next iteration.
func (e *encoder) home(r int, o expr.Operand) {
	e.move(r, e.value(o.Node))
	if o.Format == "bf16" { // a lane holds it as f32
		e.emit(opcode{1, 1, 0, 0x72}, bits128, 6, r, register(r), 0, false, 16)
	}
}

// keep turns the value of a register into the bits of an element.
func (e *encoder) keep(format string, r int) {
	if format == "bf16" {
		e.emit(opcode{1, 1, 0, 0x72}, bits128, 2, r, register(r), 0, false, 16)
	}
}

func (e *encoder) setStatus(v int) { // mov edx, v
	e.code = append(e.code, 0xBA)
	e.code = binary.LittleEndian.AppendUint32(e.code, uint32(v))
}

// jump encodes a jump and returns the place of its distance.
func (e *encoder) jump() int {
	e.code = append(e.code, 0xE9, 0, 0, 0, 0)
	return len(e.code) - 4
}

// fromLane copies the first lane of a vector to a general register, toLane a general register to the first lane.
func (e *encoder) fromLane(general, r int, w byte) {
	e.emit(opcode{1, 1, w, 0x7E}, bits128, r, 0, register(general), 0, false)
}

func (e *encoder) toLane(r, general int, w byte) {
	e.emit(opcode{1, 1, w, 0x6E}, bits128, r, 0, register(general), 0, false)
}

// double copies the first eight bytes of a register to the others, quad the first four bytes.
func (e *encoder) double(r int) {
	e.emit(opcode{3, 1, 0, 0x12}, bits128, r, 0, register(r), 0, false)
}
func (e *encoder) quad(r int) {
	e.emit(opcode{1, 1, 0, 0x70}, bits128, r, 0, register(r), 0, false, 0)
}

// singleNode encodes an operation that only loops on single values have. It returns false for other operations.
func (e *encoder) singleNode(n *expr.Node) bool {
	a := n.Args
	e.width = n.Width
	if n.Kind == expr.Mask && len(a) > 0 {
		e.width = a[0].Width
	}
	convert := func(o opcode) int {
		v := e.value(a[0])
		d := e.result(n, false)
		e.emit(o, bits128, d, 0, v, 0, false)
		return d
	}
	switch n.Op {
	case "leave":
		e.emit(opcode{0, 1, 0, 0x50}, bits128, rdx, 0, register(e.use(a[0])), 0, false)
		e.code = append(e.code, 0xF6, 0xC2, 1, 0x0F, 0x84, 0, 0, 0, 0) // test dl, 1; jz
		e.leaves = append(e.leaves, leave{len(e.code) - 4, int(n.Imm)})
	case "load":
		m := e.element(n, a[0])
		d := e.allocate(n)
		e.load(d, n.Format, m)
	case "store":
		m := e.element(n, a[1])
		e.storeSingle(n.Format, e.use(a[0]), m, false)
	case "f2d":
		convert(opcode{0, 1, 0, 0x5A})
	case "d2f":
		e.double(convert(opcode{1, 1, 0, 0x5A}))
	case "i2l":
		convert(opcode{1, 2, 0, 0x25})
	case "u2l":
		convert(opcode{1, 2, 0, 0x35})
	case "i2d":
		convert(opcode{2, 1, 0, 0xE6})
	case "l2i":
		v := e.value(a[0])
		e.emit(opcode{1, 1, 0, 0x70}, bits128, e.result(n, false), 0, v, 0, false, 0)
	case "l2d", "l2f":
		e.fromLane(rax, e.use(a[0]), 1)
		e.index = nil
		d := e.allocate(n)
		e.emit(instructions["xor"][0], bits128, d, d, register(d), 0, false)
		if n.Op == "l2d" {
			e.emit(opcode{3, 1, 1, 0x2A}, bits128, d, d, register(rax), 0, false)
			e.double(d)
		} else {
			e.emit(opcode{2, 1, 1, 0x2A}, bits128, d, d, register(rax), 0, false)
			e.quad(d)
		}
	case "product", "quotient":
		e.fromLane(rax, e.use(a[0]), 1)
		e.fromLane(r13, e.use(a[1]), 1)
		e.index = nil
		switch {
		case n.Op == "product":
			e.code = append(e.code, 0x49, 0x0F, 0xAF, 0xC5) // imul rax, r13
		case n.Imm == 0:
			e.code = append(e.code, 0x48, 0x99, 0x49, 0xF7, 0xFD) // cqo; idiv r13
		default:
			e.code = append(e.code, 0x31, 0xD2, 0x49, 0xF7, 0xF5) // xor edx, edx; div r13
		}
		d := e.result(n, false)
		e.toLane(d, rax, 1)
		e.double(d)
	default:
		return false
	}
	return true
}

// element returns the memory of an element of an array.
func (e *encoder) element(n, index *expr.Node) operand {
	size := expr.Size(n.Format)
	offset := int(n.Imm)
	base := rdx
	if n.Array < len(arrayPointers) {
		base = arrayPointers[n.Array]
	} else {
		e.loadPointer(rdx, rdi, int32(8*(1+n.Array)))
	}
	if index.Op == "const" {
		return memory(base, -1, 1, int32((int(index.Bits)+offset)*size))
	}
	if e.index != index {
		e.fromLane(rax, e.use(index), 0)
		e.index = index
	}
	return memory(base, rax, size, int32(offset*size))
}

// loadSingle encodes the load of one element into all lanes of register d.
func (e *encoder) loadSingle(d int, format string, m operand) {
	switch format {
	case "i1":
		e.emit(opcode{1, 2, 0, 0x78}, bits128, d, 0, m, 0, false)
		zero := e.allocate(temporary)
		e.emit(instructions["xor"][0], bits128, zero, zero, register(zero), 0, false)
		e.emit(greater[0], bits128, d, d, register(zero), 0, false)
		if !slices.Contains(e.locked, d) { // before the loop
			e.drop(zero)
		}
	case "bf16":
		e.emit(opcode{1, 2, 0, 0x79}, bits128, d, 0, m, 0, false)
		e.emit(opcode{1, 1, 0, 0x72}, bits128, 6, d, register(d), 0, false, 16)
	case "f32", "i32":
		e.emit(opcode{1, 2, 0, 0x18}, bits128, d, 0, m, 0, false)
	default:
		e.emit(opcode{3, 1, 0, 0x12}, bits128, d, 0, m, 0, false)
	}
}

// storeSingle encodes the store of one element. whole stores all bytes of a register in memory.
func (e *encoder) storeSingle(format string, r int, m operand, whole bool) {
	if format == "i1" {
		b := e.allocate(temporary)
		e.emit(opcode{1, 1, 0, 0x72}, bits128, 2, b, register(r), 0, false, 31)
		r = b
	}
	switch size := expr.Size(format); {
	case size == 8:
		e.emit(opcode{1, 1, 0, 0xD6}, bits128, r, 0, m, 0, false)
	case size == 4 || whole:
		e.emit(opcode{1, 1, 0, 0x7E}, bits128, r, 0, m, 0, false)
	case size == 2:
		e.emit(opcode{1, 3, 0, 0x15}, bits128, r, 0, m, 0, false, 0)
	default:
		e.emit(opcode{1, 3, 0, 0x14}, bits128, r, 0, m, 0, false, 0)
	}
}
