package machine

import (
	"runtime"
	"unsafe"

	"github.com/hlocb/hlocb/interp/internal/simd/expr"
)

// FoldBytes is the size of the accumulators of a fold.
const FoldBytes = 128

// Fold is a loop in executable memory that folds rows to one element each.
type Fold struct{ code *Code }

// CompileFold returns the loop that folds rows with a function whose first operand is the accumulator. The accumulators
// start as the row's first elements, or as 0 if the function says so or has a third operand: an element of y. The loop
// then folds the accumulators by halves with combine.
func CompileFold(f, combine *expr.Function, vector int) (*Fold, error) {
	if !supported {
		return nil, errUnsupported
	}
	text, err := encodeFold(f, combine, vector)
	if err != nil {
		return nil, err
	}
	c, err := newCode(text, vector/f.Width)
	if err != nil {
		return nil, err
	}
	return &Fold{c}, nil
}

// Run folds rows of n elements, which lie line bytes apart at x, to one element each at o. n is a multiple of the
// accumulators; it is at least their number if they start as 0, else at least twice their number.
func (f *Fold) Run(o, x, y unsafe.Pointer, n, rows, line int) {
	counts := [3]int{n, rows, line}
	table := [4]unsafe.Pointer{o, x, y, unsafe.Pointer(&counts)}
	invoke(f.code.entry, &table[0], 0)
	runtime.KeepAlive(f)
}

// folder encodes a fold.
type folder struct {
	assembler
	bytes int
	err   error
}

func encodeFold(f, combine *expr.Function, bytes int) ([]byte, error) {
	a := &folder{bytes: bytes}
	a.wide = bytes == 64
	length := byte(bits256)
	if a.wide {
		length = bits512
	}
	const o, x, y, n, rows, line = rbx, rcx, r8, r9, r10, r11
	for i, r := range []int{o, x, y, rax} {
		a.loadPointer(r, rdi, int32(8*i))
	}
	for i, r := range []int{n, rows, line} {
		a.loadPointer(r, rax, int32(8*i))
	}
	count := FoldBytes / bytes
	step := int32(FoldBytes / f.Width)
	zero := f.Zero || len(f.Formats) > 2
	row := len(a.code)
	a.clear(rdx)
	start := newEncoder(f.Program(), bytes)
	start.lowest = count
	for i := range count {
		if zero {
			a.emit(opcode{1, 1, 0, 0xEF}, length, i, i, register(i), 0, false)
		} else {
			start.assembler = a.assembler
			start.load(i, f.Formats[1], memory(x, -1, 1, int32(i*bytes/f.Width*expr.Size(f.Formats[1]))))
			a.assembler = start.assembler
		}
	}
	if !zero {
		a.addImmediate(rdx, step)
	}
	loop := len(a.code)
	for i := range count {
		in := []operand{register(i)}
		for k, base := range []int{x, y}[:len(f.Formats)-1] {
			size := expr.Size(f.Formats[1+k])
			in = append(in, memory(base, rdx, size, int32(i*bytes/f.Width*size)))
		}
		a.apply(f, count, i, in...)
	}
	a.addImmediate(rdx, step)
	a.jumpLess(rdx, n, loop)
	for h := count / 2; h > 0; h /= 2 {
		for i := range h {
			a.apply(combine, count, i, register(i), register(h+i))
		}
	}
	// The upper half of the remaining elements moves to the lower half of another register.
	const v, u = 0, 1
	if a.wide {
		a.emit(opcode{1, 3, 1, 0x1B}, bits512, v, 0, register(u), 0, false, 1)
		a.apply(combine, 2, v, register(v), register(u))
	}
	a.emit(opcode{1, 3, 0, 0x19}, bits256, v, 0, register(u), 0, false, 1)
	a.apply(combine, 2, v, register(v), register(u))
	a.emit(opcode{1, 3, bit(a.wide), 0x05}, bits128, u, 0, register(v), 0, false, 1)
	a.apply(combine, 2, v, register(v), register(u))
	if f.Width == 4 {
		a.emit(opcode{2, 1, 0, 0x16}, bits128, u, 0, register(v), 0, false)
		a.apply(combine, 2, v, register(v), register(u))
		a.emit(opcode{2, 1, 0, 0x11}, bits128, v, 0, memory(o, -1, 1, 0), 0, false)
	} else {
		a.emit(opcode{3, 1, bit(a.wide), 0x11}, bits128, v, 0, memory(o, -1, 1, 0), 0, false)
	}
	a.addImmediate(o, int32(f.Width))
	a.add(x, line)
	a.decrement(rows, row)
	a.end()
	return a.finish(), a.err
}

// apply encodes the function of vectors and moves the result to register d. Registers below lowest keep their values.
func (a *folder) apply(f *expr.Function, lowest, d int, in ...operand) {
	p := f.Program()
	e := newEncoder(p, a.bytes)
	e.assembler, e.lowest = a.assembler, lowest
	live := p.Live()
	e.count(live)
	out := p.Out[0].Node
	e.read(out, len(live))
	for i, x := range in {
		node := p.In[i].Node
		r := e.allocate(node)
		if x.memory {
			e.load(r, f.Formats[i], x)
		} else {
			e.move(r, x)
		}
	}
	for i, n := range live {
		e.at, e.locked = i, e.locked[:0]
		e.node(n)
		e.free()
	}
	e.locked = e.locked[:0]
	e.move(d, register(e.use(out)))
	if e.failed || e.slots > 0 {
		a.err = errTooLarge
	}
	a.assembler = e.assembler
}
