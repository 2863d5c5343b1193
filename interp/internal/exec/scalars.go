package exec

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/simd/machine"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// MaxRegisters is the largest number of registers of a loop on scalars.
const MaxRegisters = 2048

// Register is the number of a register.
type Register uint16

// Scalars is a loop on values of a few elements. Each element is the low bits of a register. The loop executes without
// frames, buffers and kernels, except for ops that have no code of their own. Iterations load elements of arrays, which
// are larger values, and store elements to them.
type Scalars struct {
	Types    []tensor.DType      // of the registers
	Init     map[Register]uint64 // constants
	Carried  [][]Register        // the registers of each carried value; nil for an array
	Outside  []ScalarsInput
	Arrays   []ScalarArray
	Ops      []ScalarOp // the condition's ops, an exit, the body's ops, stores, and moves to the registers of the carried values
	Calls    []ScalarCall
	Accesses []ScalarAccess
	Coded    bool          // processors with vectors have machine code for the loop
	Code     *machine.Loop // of this processor, or nil
	Wide     bool          // kernels are faster than Ops without Code
	states   sync.Pool
}

// Pays reports whether the loop is faster on registers than by its kernels.
func (s *Scalars) Pays() bool { return s.Code != nil || !s.Wide }

// The statuses with which machine code leaves a loop. After ScalarAgain, Ops execute the iteration.
const (
	ScalarEnd   = 1
	ScalarAgain = 2
)

// ScalarsInput is a value from outside the loop that its regions use.
type ScalarsInput struct {
	Slot int32
	Regs []Register
}

// ScalarArray is a value in memory: carried value number Carried, or if Carried is negative, a value from outside.
type ScalarArray struct {
	Carried int
	Slot    int32
	Type    kernel.Type
	Stored  bool // iterations store elements
}

// ScalarOp sets register D to a function of registers A, B and C. A call, a load and a store have their number in A.
type ScalarOp struct {
	Code       ScalarCode
	D, A, B, C Register
}

// ScalarCall is an op that executes the loop of its kernel on one element.
type ScalarCall struct {
	Op    *ir.Op
	Loop  kernel.ElementLoop
	In    []Register
	Types []tensor.DType // operand types, then the result type
	Lanes *kernel.Lanes  // the op in machine code, or nil
}

// ScalarAccess is a load or a store of the element of an array at the sum of Offset and of the clamped start indices
// times their strides.
type ScalarAccess struct {
	Array  int
	Offset int
	Starts []ScalarStart
	Value  Register // of a store
}

// ScalarStart is a start index of type i32 or i64, which is clamped to the range from 0 to Max.
type ScalarStart struct {
	Reg         Register
	Max, Stride int
}

// ScalarCode is an operation on registers.
type ScalarCode uint8

// W is for 32 bits and L for 64 bits, F for f32 and D for f64, I for signed and U for unsigned integers.
const (
	ScalarCallOp ScalarCode = iota
	ScalarMove
	ScalarExit // leaves the loop if A is 0
	ScalarExitUnlessLessIW
	ScalarAddW
	ScalarSubW
	ScalarMulW
	ScalarAddL
	ScalarSubL
	ScalarMulL
	ScalarAnd
	ScalarOr
	ScalarXor
	ScalarEq
	ScalarNe
	ScalarLessIW
	ScalarLessEqualIW
	ScalarLessIL
	ScalarLessEqualIL
	ScalarLessU
	ScalarLessEqualU
	ScalarAddF
	ScalarSubF
	ScalarMulF
	ScalarDivF
	ScalarLessF
	ScalarLessEqualF
	ScalarEqF
	ScalarNeF
	ScalarAddD
	ScalarSubD
	ScalarMulD
	ScalarDivD
	ScalarLessD
	ScalarLessEqualD
	ScalarEqD
	ScalarNeD
	ScalarSelect
	ScalarConvertIWF
	ScalarSqrtF
	ScalarAbsF
	ScalarAbsD
	ScalarNegateF
	ScalarNegateD
	ScalarLoad
	ScalarStore
)

// codeNames are the operations in printed programs.
var codeNames = [...]string{
	ScalarCallOp: "call", ScalarMove: "move", ScalarExit: "exit unless", ScalarExitUnlessLessIW: "exit unless less i32", ScalarAddW: "add i32", ScalarSubW: "subtract i32",
	ScalarMulW: "multiply i32", ScalarAddL: "add i64", ScalarSubL: "subtract i64", ScalarMulL: "multiply i64", ScalarAnd: "and", ScalarOr: "or",
	ScalarXor: "xor", ScalarEq: "equal", ScalarNe: "not equal", ScalarLessIW: "less i32", ScalarLessEqualIW: "less or equal i32", ScalarLessIL: "less i64",
	ScalarLessEqualIL: "less or equal i64", ScalarLessU: "less unsigned", ScalarLessEqualU: "less or equal unsigned", ScalarAddF: "add f32", ScalarSubF: "subtract f32", ScalarMulF: "multiply f32",
	ScalarDivF: "divide f32", ScalarLessF: "less f32", ScalarLessEqualF: "less or equal f32", ScalarEqF: "equal f32", ScalarNeF: "not equal f32", ScalarAddD: "add f64",
	ScalarSubD: "subtract f64", ScalarMulD: "multiply f64", ScalarDivD: "divide f64", ScalarLessD: "less f64", ScalarLessEqualD: "less or equal f64", ScalarEqD: "equal f64",
	ScalarNeD: "not equal f64", ScalarSelect: "select", ScalarConvertIWF: "convert i32 to f32", ScalarSqrtF: "sqrt f32", ScalarAbsF: "abs f32", ScalarAbsD: "abs f64",
	ScalarNegateF: "negate f32", ScalarNegateD: "negate f64", ScalarLoad: "load", ScalarStore: "store",
}

// Text returns the program: constants, carried values, values from outside, and operations.
func (s *Scalars) Text(indent string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, indent+format+"\n", args...) }
	for i, regs := range s.Carried {
		if regs != nil {
			line("carried %d: %s", i, registers(regs))
		}
	}
	for i, a := range s.Arrays {
		if a.Carried >= 0 {
			line("carried %d: array %d", a.Carried, i)
		} else {
			line("array %d = %%%d", i, a.Slot)
		}
	}
	for _, v := range s.Outside {
		line("%s = %%%d", registers(v.Regs), v.Slot)
	}
	for _, r := range slices.Sorted(maps.Keys(s.Init)) {
		line("r%d = %#x", r, s.Init[r])
	}
	for _, o := range s.Ops {
		name := codeNames[o.Code]
		if o.Code == ScalarCallOp {
			name = s.Calls[o.A].Op.Name()
		}
		switch o.Code {
		case ScalarLoad:
			line("r%d = load %s", o.D, s.element(o))
		case ScalarStore:
			line("store %s to %s", registers([]Register{s.Accesses[o.A].Value}), s.element(o))
		case ScalarExit, ScalarExitUnlessLessIW:
			line("%s %s", name, registers(s.Reads(o)))
		default:
			line("r%d = %s %s", o.D, name, registers(s.Reads(o)))
		}
	}
	return b.String()
}

// element returns the element that an op loads or stores, as text.
func (s *Scalars) element(o ScalarOp) string {
	x := s.Accesses[o.A]
	var b strings.Builder
	fmt.Fprintf(&b, "array %d[%d", x.Array, x.Offset)
	for _, v := range x.Starts {
		fmt.Fprintf(&b, " + clamp(r%d, %d)", v.Reg, v.Max)
		if v.Stride != 1 {
			fmt.Fprintf(&b, "*%d", v.Stride)
		}
	}
	return b.String() + "]"
}

func registers(list []Register) string {
	var b strings.Builder
	for i, r := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "r%d", r)
	}
	return b.String()
}

// Reads returns the registers that an op reads.
func (s *Scalars) Reads(o ScalarOp) []Register {
	switch o.Code {
	case ScalarCallOp:
		return s.Calls[o.A].In
	case ScalarLoad, ScalarStore:
		var out []Register
		for _, v := range s.Accesses[o.A].Starts {
			out = append(out, v.Reg)
		}
		if o.Code == ScalarStore {
			out = append(out, s.Accesses[o.A].Value)
		}
		return out
	case ScalarMove, ScalarExit, ScalarConvertIWF, ScalarSqrtF, ScalarAbsF, ScalarAbsD, ScalarNegateF, ScalarNegateD:
		return []Register{o.A}
	case ScalarSelect:
		return []Register{o.A, o.B, o.C}
	}
	return []Register{o.A, o.B}
}

// Writes reports whether an op sets its register D.
func (o ScalarOp) Writes() bool {
	return o.Code != ScalarExit && o.Code != ScalarExitUnlessLessIW && o.Code != ScalarStore
}

// scalarState holds the registers of one run, the operands and results of its calls, which are views of registers, and
// the arrays.
type scalarState struct {
	file    *tensor.Tensor
	in, out [][]*tensor.Tensor
	arrays  []*Buf
	table   []unsafe.Pointer // of the machine code
}

func (s *Scalars) state() *scalarState {
	if st, ok := s.states.Get().(*scalarState); ok {
		return st
	}
	n := len(s.Types)
	st := &scalarState{file: tensor.New(tensor.UI64, tensor.Shape{int64(n + machine.LoopState)}), arrays: make([]*Buf, len(s.Arrays))}
	bytes := st.file.Bytes()
	view := func(r Register, dt tensor.DType) *tensor.Tensor {
		t := &tensor.Tensor{}
		t.Borrow(dt, nil, bytes[8*int(r):8*int(r)+dt.Size()])
		return t
	}
	results := make([]Register, len(s.Calls))
	for _, o := range s.Ops {
		if o.Code == ScalarCallOp {
			results[o.A] = o.D
		}
	}
	for i, c := range s.Calls {
		var in []*tensor.Tensor
		for k, r := range c.In {
			in = append(in, view(r, c.Types[k]))
		}
		st.in = append(st.in, in)
		st.out = append(st.out, []*tensor.Tensor{view(results[i], c.Types[len(c.In)])})
	}
	registers := tensor.View[uint64](st.file)
	for r, v := range s.Init {
		registers[r] = v
	}
	return st
}

// Run executes the loop as the instruction ins, a while.
func (s *Scalars) Run(m *Machine, fr *Frame, ins *Instr) {
	st := s.state()
	defer s.states.Put(st)
	r := tensor.View[uint64](st.file)
	for i, regs := range s.Carried {
		if regs == nil {
			continue
		}
		b := m.Take(fr, ins, i)
		for k, reg := range regs {
			r[reg] = b.Tensor.Bits(k)
		}
		m.Release(b)
	}
	for _, v := range s.Outside {
		for k, reg := range v.Regs {
			r[reg] = fr.Slots[v.Slot].Tensor.Bits(k)
		}
	}
	st.table = append(st.table[:0], unsafe.Pointer(unsafe.SliceData(r)))
	for i, a := range s.Arrays {
		b := fr.Slots[max(a.Slot, 0)]
		if a.Carried >= 0 {
			b = m.Take(fr, ins, a.Carried)
		}
		if a.Stored && !b.Writable() {
			c := m.Alloc(a.Type.DType, a.Type.Shape, a.Type.N)
			copy(c.Tensor.Bytes(), b.Tensor.Peek())
			m.Release(b)
			b = c
		}
		st.arrays[i] = b
		payload := b.Tensor.Peek()
		if a.Stored {
			payload = b.Tensor.Bytes()
		}
		st.table = append(st.table, unsafe.Pointer(unsafe.SliceData(payload)))
	}
	observed := m.Watch.Observed && m.First && m.Loops == 0
	for more := true; more; {
		m.Poll()
		var n int
		n, more = s.iterate(r, st)
		if observed {
			m.Watch.Loops.Add(int64(n))
		}
	}
	for i, regs := range s.Carried {
		if regs == nil {
			continue
		}
		t := &ins.Types[i]
		b := m.Alloc(t.DType, t.Shape, t.N)
		for k, reg := range regs {
			b.Tensor.SetBits(k, r[reg])
		}
		fr.Slots[ins.Out[i]] = b
	}
	for i, a := range s.Arrays {
		if a.Carried >= 0 {
			fr.Slots[ins.Out[a.Carried]] = st.arrays[i]
		}
	}
	clear(st.arrays)
	clear(st.table)
}

// at returns the index of the element that an access loads or stores.
func (x *ScalarAccess) at(s *Scalars, r []uint64) int {
	at := x.Offset
	for _, v := range x.Starts {
		i := int(r[v.Reg])
		if s.Types[v.Reg] == tensor.I32 {
			i = int(int32(i))
		}
		at += min(max(i, 0), v.Max) * v.Stride
	}
	return at
}

// turns is the number of iterations between two looks at the cancellation of the run.
const turns = 1024

// iterate executes up to turns iterations. It returns the number of started iterations and whether the loop continues.
func (s *Scalars) iterate(r []uint64, st *scalarState) (n int, more bool) {
	if s.Code == nil {
		return s.interpret(r, st, turns)
	}
	for n < turns {
		done, status := s.Code.Run(r, st.table, turns-n)
		n += done
		switch status {
		case ScalarEnd:
			return n, false
		case ScalarAgain:
			done, more = s.interpret(r, st, 1)
			n += done
			if !more {
				return n, false
			}
		}
	}
	return n, true
}

// interpret executes up to limit iterations.
func (s *Scalars) interpret(r []uint64, st *scalarState, limit int) (n int, more bool) {
	f := func(i Register) float32 { return math.Float32frombits(uint32(r[i])) }
	d := func(i Register) float64 { return math.Float64frombits(r[i]) }
	ops := s.Ops
	for i := 0; ; i++ {
		if i == len(ops) {
			if n++; n == limit {
				return n, true
			}
			i = 0
		}
		o := &ops[i]
		switch o.Code {
		case ScalarCallOp:
			s.Calls[o.A].Loop(st.in[o.A], st.out[o.A], 0, 1)
		case ScalarMove:
			r[o.D] = r[o.A]
		case ScalarExit:
			if r[o.A] == 0 {
				return n, false
			}
		case ScalarExitUnlessLessIW:
			if int32(r[o.A]) >= int32(r[o.B]) {
				return n, false
			}
		case ScalarAddW:
			r[o.D] = uint64(uint32(r[o.A]) + uint32(r[o.B]))
		case ScalarSubW:
			r[o.D] = uint64(uint32(r[o.A]) - uint32(r[o.B]))
		case ScalarMulW:
			r[o.D] = uint64(uint32(r[o.A]) * uint32(r[o.B]))
		case ScalarAddL:
			r[o.D] = r[o.A] + r[o.B]
		case ScalarSubL:
			r[o.D] = r[o.A] - r[o.B]
		case ScalarMulL:
			r[o.D] = r[o.A] * r[o.B]
		case ScalarAnd:
			r[o.D] = r[o.A] & r[o.B]
		case ScalarOr:
			r[o.D] = r[o.A] | r[o.B]
		case ScalarXor:
			r[o.D] = r[o.A] ^ r[o.B]
		case ScalarEq:
			r[o.D] = flag(r[o.A] == r[o.B])
		case ScalarNe:
			r[o.D] = flag(r[o.A] != r[o.B])
		case ScalarLessIW:
			r[o.D] = flag(int32(r[o.A]) < int32(r[o.B]))
		case ScalarLessEqualIW:
			r[o.D] = flag(int32(r[o.A]) <= int32(r[o.B]))
		case ScalarLessIL:
			r[o.D] = flag(int64(r[o.A]) < int64(r[o.B]))
		case ScalarLessEqualIL:
			r[o.D] = flag(int64(r[o.A]) <= int64(r[o.B]))
		case ScalarLessU:
			r[o.D] = flag(r[o.A] < r[o.B])
		case ScalarLessEqualU:
			r[o.D] = flag(r[o.A] <= r[o.B])
		case ScalarAddF:
			r[o.D] = uint64(math.Float32bits(f(o.A) + f(o.B)))
		case ScalarSubF:
			r[o.D] = uint64(math.Float32bits(f(o.A) - f(o.B)))
		case ScalarMulF:
			r[o.D] = uint64(math.Float32bits(f(o.A) * f(o.B)))
		case ScalarDivF:
			r[o.D] = uint64(math.Float32bits(f(o.A) / f(o.B)))
		case ScalarLessF:
			r[o.D] = flag(f(o.A) < f(o.B))
		case ScalarLessEqualF:
			r[o.D] = flag(f(o.A) <= f(o.B))
		case ScalarEqF:
			r[o.D] = flag(f(o.A) == f(o.B))
		case ScalarNeF:
			r[o.D] = flag(f(o.A) != f(o.B))
		case ScalarAddD:
			r[o.D] = math.Float64bits(d(o.A) + d(o.B))
		case ScalarSubD:
			r[o.D] = math.Float64bits(d(o.A) - d(o.B))
		case ScalarMulD:
			r[o.D] = math.Float64bits(d(o.A) * d(o.B))
		case ScalarDivD:
			r[o.D] = math.Float64bits(d(o.A) / d(o.B))
		case ScalarLessD:
			r[o.D] = flag(d(o.A) < d(o.B))
		case ScalarLessEqualD:
			r[o.D] = flag(d(o.A) <= d(o.B))
		case ScalarEqD:
			r[o.D] = flag(d(o.A) == d(o.B))
		case ScalarNeD:
			r[o.D] = flag(d(o.A) != d(o.B))
		case ScalarSelect:
			v := r[o.C]
			if r[o.A] != 0 {
				v = r[o.B]
			}
			r[o.D] = v
		case ScalarConvertIWF:
			r[o.D] = uint64(math.Float32bits(float32(int32(r[o.A]))))
		case ScalarAbsF:
			r[o.D] = r[o.A] &^ (1 << 31)
		case ScalarAbsD:
			r[o.D] = r[o.A] &^ (1 << 63)
		case ScalarNegateF:
			r[o.D] = r[o.A] ^ 1<<31
		case ScalarNegateD:
			r[o.D] = r[o.A] ^ 1<<63
		case ScalarLoad:
			x := &s.Accesses[o.A]
			r[o.D] = st.arrays[x.Array].Tensor.Bits(x.at(s, r))
		case ScalarStore:
			x := &s.Accesses[o.A]
			st.arrays[x.Array].Tensor.SetBits(x.at(s, r), r[x.Value])
		case ScalarSqrtF:
			r[o.D] = uint64(math.Float32bits(float32(math.Sqrt(float64(f(o.A))))))
		}
	}
}

func flag(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}
