package exec_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/tensor"
)

// codes are the operations on registers with their functions of the low bits of three registers.
var codes = map[exec.ScalarCode]func(a, b, c uint64) uint64{
	exec.ScalarMove:        func(a, _, _ uint64) uint64 { return a },
	exec.ScalarAddW:        func(a, b, _ uint64) uint64 { return uint64(uint32(int32(a) + int32(b))) },
	exec.ScalarSubW:        func(a, b, _ uint64) uint64 { return uint64(uint32(int32(a) - int32(b))) },
	exec.ScalarMulW:        func(a, b, _ uint64) uint64 { return uint64(uint32(int32(a) * int32(b))) },
	exec.ScalarAddL:        func(a, b, _ uint64) uint64 { return uint64(int64(a) + int64(b)) },
	exec.ScalarSubL:        func(a, b, _ uint64) uint64 { return uint64(int64(a) - int64(b)) },
	exec.ScalarMulL:        func(a, b, _ uint64) uint64 { return uint64(int64(a) * int64(b)) },
	exec.ScalarAnd:         func(a, b, _ uint64) uint64 { return a & b },
	exec.ScalarOr:          func(a, b, _ uint64) uint64 { return a | b },
	exec.ScalarXor:         func(a, b, _ uint64) uint64 { return a ^ b },
	exec.ScalarEq:          func(a, b, _ uint64) uint64 { return bit(a == b) },
	exec.ScalarNe:          func(a, b, _ uint64) uint64 { return bit(a != b) },
	exec.ScalarLessIW:      func(a, b, _ uint64) uint64 { return bit(int32(a) < int32(b)) },
	exec.ScalarLessEqualIW: func(a, b, _ uint64) uint64 { return bit(int32(a) <= int32(b)) },
	exec.ScalarLessIL:      func(a, b, _ uint64) uint64 { return bit(int64(a) < int64(b)) },
	exec.ScalarLessEqualIL: func(a, b, _ uint64) uint64 { return bit(int64(a) <= int64(b)) },
	exec.ScalarLessU:       func(a, b, _ uint64) uint64 { return bit(a < b) },
	exec.ScalarLessEqualU:  func(a, b, _ uint64) uint64 { return bit(a <= b) },
	exec.ScalarAddF:        single(func(a, b float32) float32 { return a + b }),
	exec.ScalarSubF:        single(func(a, b float32) float32 { return a - b }),
	exec.ScalarMulF:        single(func(a, b float32) float32 { return a * b }),
	exec.ScalarDivF:        single(func(a, b float32) float32 { return a / b }),
	exec.ScalarLessF:       func(a, b, _ uint64) uint64 { return bit(f32(a) < f32(b)) },
	exec.ScalarLessEqualF:  func(a, b, _ uint64) uint64 { return bit(f32(a) <= f32(b)) },
	exec.ScalarEqF:         func(a, b, _ uint64) uint64 { return bit(f32(a) == f32(b)) },
	exec.ScalarNeF:         func(a, b, _ uint64) uint64 { return bit(f32(a) != f32(b)) },
	exec.ScalarAddD:        double(func(a, b float64) float64 { return a + b }),
	exec.ScalarSubD:        double(func(a, b float64) float64 { return a - b }),
	exec.ScalarMulD:        double(func(a, b float64) float64 { return a * b }),
	exec.ScalarDivD:        double(func(a, b float64) float64 { return a / b }),
	exec.ScalarLessD:       func(a, b, _ uint64) uint64 { return bit(math.Float64frombits(a) < math.Float64frombits(b)) },
	exec.ScalarLessEqualD:  func(a, b, _ uint64) uint64 { return bit(math.Float64frombits(a) <= math.Float64frombits(b)) },
	exec.ScalarEqD:         func(a, b, _ uint64) uint64 { return bit(math.Float64frombits(a) == math.Float64frombits(b)) },
	exec.ScalarNeD:         func(a, b, _ uint64) uint64 { return bit(math.Float64frombits(a) != math.Float64frombits(b)) },
	exec.ScalarSelect: func(a, b, c uint64) uint64 {
		if a == 0 {
			return c
		}
		return b
	},
	exec.ScalarConvertIWF: func(a, _, _ uint64) uint64 { return uint64(math.Float32bits(float32(int32(a)))) },
	exec.ScalarSqrtF:      single(func(a, _ float32) float32 { return float32(math.Sqrt(float64(a))) }),
	exec.ScalarAbsF:       single(func(a, _ float32) float32 { return float32(math.Abs(float64(a))) }),
	exec.ScalarAbsD:       double(func(a, _ float64) float64 { return math.Abs(a) }),
	exec.ScalarNegateF:    single(func(a, _ float32) float32 { return -a }),
	exec.ScalarNegateD:    double(func(a, _ float64) float64 { return -a }),
}

func bit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

func f32(a uint64) float32 { return math.Float32frombits(uint32(a)) }

func single(f func(a, b float32) float32) func(a, b, _ uint64) uint64 {
	return func(a, b, _ uint64) uint64 { return uint64(math.Float32bits(f(f32(a), f32(b)))) }
}

func double(f func(a, b float64) float64) func(a, b, _ uint64) uint64 {
	return func(a, b, _ uint64) uint64 {
		return math.Float64bits(f(math.Float64frombits(a), math.Float64frombits(b)))
	}
}

// loopOn returns a loop that executes ops n times: register 0 counts, and registers 1 to 5 are carried values 0 to 4.
func loopOn(n uint64, ops ...exec.ScalarOp) *exec.Scalars {
	s := &exec.Scalars{Init: map[exec.Register]uint64{7: n, 8: 1}}
	for range 9 {
		s.Types = append(s.Types, tensor.UI64)
	}
	s.Carried = [][]exec.Register{{0}, {1}, {2}, {3}, {4, 5}}
	s.Ops = append([]exec.ScalarOp{{Code: exec.ScalarLessU, D: 6, A: 0, B: 7}, {Code: exec.ScalarExit, A: 6}}, ops...)
	s.Ops = append(s.Ops, exec.ScalarOp{Code: exec.ScalarAddL, D: 0, A: 0, B: 8})
	return s
}

// wordsOf returns a value of 64-bit words.
func wordsOf(m *exec.Machine, words ...uint64) *exec.Buf {
	b := alloc(m, listOf(tensor.UI64, len(words)))
	copy(tensor.View[uint64](&b.Tensor), words)
	return b
}

// runLoop runs a loop whose operands are in slots 0 to n-1. The results are in the next slots.
func runLoop(m *exec.Machine, s *exec.Scalars, operands []*exec.Buf, outside ...*exec.Buf) []*exec.Buf {
	n := len(operands)
	fr := &exec.Frame{Slots: append(append(append([]*exec.Buf{}, operands...), make([]*exec.Buf, n)...), outside...)}
	ins := &exec.Instr{Scalars: s}
	for i, b := range operands {
		ins.In, ins.Move = append(ins.In, int32(i)), append(ins.Move, true)
		ins.Out = append(ins.Out, int32(n+i))
		ins.Types = append(ins.Types, kernel.Type{DType: b.Tensor.DType(), Shape: b.Tensor.Shape(), N: b.Tensor.NumElements()})
	}
	s.Run(m, fr, ins)
	return fr.Slots[n : 2*n]
}

// TestCodes: each operation on registers computes its function, on special and on random bits, also of a register that
// it overwrites. Its text names the registers that it reads.
func TestCodes(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	special := []uint64{0, 1, 2, 1 << 31, 1<<31 - 1, 1<<32 - 1, 1 << 63, 1<<63 - 1, 1<<64 - 1, 0x7f800000, 0xff800000, 0x7fc00000, 0x3f800000, 0xc0490fdb,
		0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x3ff0000000000000, 0xc00921fb54442d18}
	value := func() uint64 {
		if rng.IntN(2) == 0 {
			return special[rng.IntN(len(special))]
		}
		return rng.Uint64() >> (8 * rng.IntN(8))
	}
	for code, f := range codes {
		op := exec.ScalarOp{Code: code, D: 4, A: 1, B: 2, C: 3}
		over := exec.ScalarOp{Code: code, D: 1, A: 1, B: 2, C: 3}
		s := loopOn(1, op, over)
		if !op.Writes() {
			t.Errorf("operation %d sets no register", code)
		}
		for range 200 {
			m := newMachine(0, nil)
			a, b, c := value(), value(), value()
			if rng.IntN(5) == 0 {
				b = a
			}
			if code == exec.ScalarAbsF || code == exec.ScalarNegateF { // the other bits of an f32 are 0, and stay so
				a = uint64(uint32(a))
			}
			out := runLoop(m, s, []*exec.Buf{wordsOf(m, 0), wordsOf(m, a), wordsOf(m, b), wordsOf(m, c), wordsOf(m, 9, 10)})
			w := func(i int) []uint64 { return tensor.View[uint64](&out[i].Tensor) }
			if want := f(a, b, c); w(4)[0] != want && !nans(w(4)[0], want) || w(1)[0] != w(4)[0] {
				t.Fatalf("operation %d of %#x, %#x and %#x is %#x and %#x, want %#x", code, a, b, c, w(4)[0], w(1)[0], want)
			}
			if w(0)[0] != 1 || w(2)[0] != b || w(3)[0] != c || w(4)[1] != 10 {
				t.Fatalf("operation %d changes other registers: %v", code, out)
			}
		}
	}
}

// nans reports whether both are NaNs, whose bits depend on the processor.
func nans(a, b uint64) bool {
	return f32(a) != f32(a) && f32(b) != f32(b) || math.IsNaN(math.Float64frombits(a)) && math.IsNaN(math.Float64frombits(b))
}

// TestArraysOfLoops: a loop loads and stores elements at clamped indices. It writes a copy of an array that somebody
// else can read, and the array itself otherwise. It accounts for what it holds.
func TestArraysOfLoops(t *testing.T) {
	program := func() *exec.Scalars {
		s := &exec.Scalars{Init: map[exec.Register]uint64{4: 5, 5: 1}, Carried: [][]exec.Register{{0}, nil, {1}}}
		for range 8 {
			s.Types = append(s.Types, tensor.I64)
		}
		s.Types[6] = tensor.I32
		words := kernel.Type{Class: kernel.ClassTensor, DType: tensor.UI64, Shape: tensor.Shape{12}, N: 12}
		s.Outside = []exec.ScalarsInput{{Slot: 6, Regs: []exec.Register{6}}}
		s.Arrays = []exec.ScalarArray{{Carried: 1, Slot: -1, Type: words, Stored: true}, {Carried: -1, Slot: 7, Type: words}}
		s.Accesses = []exec.ScalarAccess{
			{Array: 1, Offset: 2, Starts: []exec.ScalarStart{{Reg: 0, Max: 3, Stride: 2}, {Reg: 6, Max: 1, Stride: 1}}},
			{Array: 0, Offset: 1, Starts: []exec.ScalarStart{{Reg: 0, Max: 9, Stride: 1}}, Value: 2},
		}
		s.Calls = []exec.ScalarCall{{In: []exec.Register{2, 1}, Types: []tensor.DType{tensor.UI64, tensor.UI64, tensor.UI64},
			Loop: func(in, out []*tensor.Tensor, lo, hi int) {
				if lo != 0 || hi != 1 {
					t.Errorf("the elements are %d to %d", lo, hi)
				}
				out[0].SetBits(0, in[0].Bits(0)*10+in[1].Bits(0)%2)
			}}}
		s.Ops = []exec.ScalarOp{
			{Code: exec.ScalarExitUnlessLessIW, A: 0, B: 4},
			{Code: exec.ScalarLoad, D: 2, A: 0},
			{Code: exec.ScalarStore, A: 1},
			{Code: exec.ScalarCallOp, D: 3, A: 0},
			{Code: exec.ScalarMove, D: 1, A: 3},
			{Code: exec.ScalarAddL, D: 0, A: 0, B: 5},
		}
		return s
	}
	s := program()
	for _, c := range []struct {
		first, side uint64
		want        []uint64 // the array afterwards
		last        uint64
	}{
		// loads elements 2 + 2*clamp(i, 3) + clamp(side, 1) of the outside array, whose element k is 100+k
		{0, 0, []uint64{0, 102, 104, 106, 108, 108, 0, 0, 0, 0, 0, 0}, 1080},
		{3, 0xffffffff, []uint64{0, 0, 0, 0, 108, 108, 0, 0, 0, 0, 0, 0}, 1080},
		{2, 7, []uint64{0, 0, 0, 107, 109, 109, 0, 0, 0, 0, 0, 0}, 1090},
		{1<<64 - 2, 1, []uint64{0, 103, 105, 107, 109, 109, 0, 0, 0, 0, 0, 0}, 1090},
		{5, 1, make([]uint64, 12), 0},
	} {
		for _, shared := range []bool{false, true} {
			m := newMachine(0, nil)
			lookup := wordsOf(m, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111)
			side := alloc(m, listOf(tensor.I32, 1))
			side.Tensor.SetBits(0, c.side)
			array := wordsOf(m, make([]uint64, 12)...)
			if shared {
				exec.Retain(array)
			}
			payload := &array.Tensor.Bytes()[0]
			out := runLoop(m, s, []*exec.Buf{wordsOf(m, c.first), array, wordsOf(m, 0)}, side, lookup)
			got := tensor.View[uint64](&out[1].Tensor)
			for i, w := range c.want {
				if got[i] != w {
					t.Fatalf("from %d: the array is %v, want %v", int64(c.first), got, c.want)
				}
			}
			if last := out[2].Tensor.Bits(0); last != c.last || max(int64(c.first), 5) != int64(out[0].Tensor.Bits(0)) {
				t.Errorf("from %d: the last value is %d, want %d; %d iterations", int64(c.first), last, c.last, out[0].Tensor.Bits(0))
			}
			if (&out[1].Tensor.Bytes()[0] == payload) == shared || out[1].Refs != 1 {
				t.Errorf("from %d: the array is copied: %v, %d references", int64(c.first), !shared, out[1].Refs)
			}
			if shared {
				for _, v := range tensor.View[uint64](&array.Tensor) {
					if v != 0 {
						t.Error("an array that others read is written")
					}
				}
				m.Release(array)
			}
			for _, b := range append(out, lookup, side) {
				m.Release(b)
			}
			if want := int64(8 + 8 + 96 + 96 + 4); held(m)-m.Recycled() != 0 || !shared && held(m) != want || shared && held(m) != want+96 {
				t.Errorf("%d bytes are held, %d wait; want %d", held(m), m.Recycled(), want)
			}
		}
	}
	want := `> carried 0: r0
> carried 2: r1
> carried 1: array 0
> array 1 = %7
> r6 = %6
> r4 = 0x5
> r5 = 0x1
> exit unless less i32 r0, r4
> r2 = load array 1[2 + clamp(r0, 3)*2 + clamp(r6, 1)]
> store r2 to array 0[1 + clamp(r0, 9)]
> r1 = move r3
> r0 = add i64 r0, r5
`
	text := program()
	text.Ops = append(text.Ops[:3], text.Ops[4:]...)
	if got := text.Text("> "); got != want {
		t.Errorf("the program is\n%s, want\n%s", got, want)
	}
}

// TestTextOfCodes: an operation is printed with the registers that it reads.
func TestTextOfCodes(t *testing.T) {
	s := &exec.Scalars{Ops: []exec.ScalarOp{
		{Code: exec.ScalarExit, D: 1, A: 2, B: 3, C: 4}, {Code: exec.ScalarMove, D: 1, A: 2, B: 3, C: 4}, {Code: exec.ScalarConvertIWF, D: 1, A: 2, B: 3, C: 4},
		{Code: exec.ScalarSqrtF, D: 1, A: 2, B: 3, C: 4}, {Code: exec.ScalarAbsF, D: 1, A: 2, B: 3, C: 4}, {Code: exec.ScalarAbsD, D: 1, A: 2, B: 3, C: 4},
		{Code: exec.ScalarNegateF, D: 1, A: 2, B: 3, C: 4}, {Code: exec.ScalarNegateD, D: 1, A: 2, B: 3, C: 4}, {Code: exec.ScalarSelect, D: 1, A: 2, B: 3, C: 4},
		{Code: exec.ScalarXor, D: 1, A: 2, B: 3, C: 4}, {Code: exec.ScalarLessEqualIW, D: 10, A: 20, B: 20},
	}}
	want := `exit unless r2
r1 = move r2
r1 = convert i32 to f32 r2
r1 = sqrt f32 r2
r1 = abs f32 r2
r1 = abs f64 r2
r1 = negate f32 r2
r1 = negate f64 r2
r1 = select r2, r3, r4
r1 = xor r2, r3
r10 = less or equal i32 r20, r20
`
	if got := s.Text(""); got != want {
		t.Errorf("the program is\n%s, want\n%s", got, want)
	}
	for _, code := range []exec.ScalarCode{exec.ScalarExit, exec.ScalarExitUnlessLessIW, exec.ScalarStore} {
		if (exec.ScalarOp{Code: code}).Writes() {
			t.Errorf("operation %d sets a register", code)
		}
	}
	for wide, pays := range map[bool]bool{false: true, true: false} {
		if (&exec.Scalars{Wide: wide}).Pays() != pays {
			t.Errorf("wide %v: pays %v", wide, !pays)
		}
	}
}

// TestIterationsAreCounted: an observed run counts the iterations of an outermost loop of its first device, and a
// stopped one ends after at most 1,024 more.
func TestIterationsAreCounted(t *testing.T) {
	for _, c := range []struct {
		observed, first bool
		loops           int
		want            int64
	}{{true, true, 0, 3000}, {false, true, 0, 0}, {true, false, 0, 0}, {true, true, 1, 0}} {
		m := newMachine(0, nil)
		m.Watch.Observed, m.First, m.Loops = c.observed, c.first, c.loops
		runLoop(m, loopOn(3000), []*exec.Buf{wordsOf(m, 0), wordsOf(m, 1), wordsOf(m, 2), wordsOf(m, 3), wordsOf(m, 4, 5)})
		if n := m.Watch.Loops.Load(); n != c.want {
			t.Errorf("%+v: %d iterations", c, n)
		}
	}
	m := newMachine(0, nil)
	ctx, cancel := context.WithCancelCause(context.Background())
	var end func()
	m.Ctx, end = m.Watch.Start(ctx, nil, 0, nil, 0)
	defer end()
	m.Watch.Observed, m.First = true, true
	s := loopOn(1<<62, exec.ScalarOp{Code: exec.ScalarCallOp, D: 2})
	calls := 0
	s.Calls = []exec.ScalarCall{{Types: []tensor.DType{tensor.UI64}, Loop: func(_, _ []*tensor.Tensor, _, _ int) {
		if calls++; calls == 5 {
			cancel(errors.New("enough"))
			for kernel.Try(m.Poll) == nil {
			}
		}
	}}}
	err := kernel.Try(func() {
		runLoop(m, s, []*exec.Buf{wordsOf(m, 0), wordsOf(m, 1), wordsOf(m, 2), wordsOf(m, 3), wordsOf(m, 4, 5)})
	})
	if err == nil || err.Error() != "enough" || calls != 1024 || m.Watch.Loops.Load() != 1024 {
		t.Errorf("%d calls and %d iterations, error %v", calls, m.Watch.Loops.Load(), err)
	}
}
