package exec_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// newMachine returns a machine in a run with a memory limit; 0 means none.
func newMachine(limit int64, memory exec.Allocator) *exec.Machine {
	token := &exec.Buf{Refs: 1, Fixed: true}
	m := exec.NewMachine(&exec.Program{Token: token, Replicas: 1, Partitions: 1, Memory: memory})
	m.Ctx = context.Background()
	m.Watch = &exec.Watch{Memory: exec.Account{Limit: limit}}
	return m
}

// listOf returns the type of n elements.
func listOf(dt tensor.DType, n int) kernel.Type {
	return kernel.Type{Class: kernel.ClassTensor, DType: dt, Shape: tensor.Shape{int64(n)}, N: n}
}

func alloc(m *exec.Machine, t kernel.Type) *exec.Buf { return m.Alloc(t.DType, t.Shape, t.N) }

// held returns the bytes that the run accounts for.
func held(m *exec.Machine) int64 { return m.Watch.Memory.Held.Load() }

// opsOf returns the ops of the function main, without its return.
func opsOf(t *testing.T, text string) (*ir.Module, []*ir.Op) {
	t.Helper()
	m := testkit.Parse(t, "test.mlir", text)
	var ops []*ir.Op
	for o := range m.Body().First().Region(0).Blocks()[0].Ops() {
		ops = append(ops, o)
	}
	return m, ops[:len(ops)-1]
}

// ledger is an allocator that finds payloads that are freed twice, in part or never.
type ledger struct {
	open  map[*byte]int
	freed []int // the sizes, in order
	fault string
}

func (l *ledger) Alloc(size int) ([]byte, error) {
	if size <= 0 {
		l.fault = "an allocation without a size"
	}
	b := make([]byte, size)
	if l.open == nil {
		l.open = map[*byte]int{}
	}
	l.open[&b[0]] = size
	return b, nil
}

func (l *ledger) Free(b []byte) {
	if len(b) == 0 || l.open[&b[0]] != len(b) {
		l.fault = "a payload is freed that is not allocated"
		return
	}
	delete(l.open, &b[0])
	l.freed = append(l.freed, len(b))
}

// A holder is one reference to a buf, with the group of references that share its payload.
type holder struct {
	b     *exec.Buf
	group *group
}

type group struct {
	holders int
	content byte
	size    int
	fixed   bool
}

// TestBuffers allocates, retains, aliases, writes and releases buffers at random. After each step each buffer has its
// content, only a sole reference is writable, and the run accounts for the most that was ever live of each size.
func TestBuffers(t *testing.T) {
	types := []tensor.DType{tensor.I8, tensor.I32, tensor.F64, tensor.UI8}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var memory exec.Allocator
		books := &ledger{}
		if seed%2 == 1 {
			memory = books
		}
		m := newMachine(0, memory)
		var list []holder
		live, most := map[int]int{}, map[int]int{}
		charged := func() (n int64) {
			for size, count := range most {
				n += int64(size) * int64(count)
			}
			return n
		}
		drop := func(i int) {
			h := list[i]
			list = append(list[:i], list[i+1:]...)
			if h.group.holders--; h.group.holders == 0 && !h.group.fixed {
				live[h.group.size]--
			}
		}
		fill := func(b *exec.Buf, v byte) { kernel.Fill(b.Tensor.Bytes(), []byte{v}) }
		for step := range 400 {
			if len(list) == 0 || rng.IntN(4) == 0 && len(list) < 30 {
				dt := types[rng.IntN(len(types))]
				size := []int{0, 8, 16, 56, 64, 72, 1024, 8192}[rng.IntN(8)]
				g := &group{holders: 1, content: byte(step), size: size, fixed: rng.IntN(8) == 0}
				var b *exec.Buf
				if g.fixed {
					b = &exec.Buf{Refs: 1, Fixed: true, Tensor: *tensor.New(dt, tensor.Shape{int64(size / dt.Size())})}
				} else {
					b = alloc(m, listOf(dt, size/dt.Size()))
					live[size]++
					most[size] = max(most[size], live[size])
				}
				if b.Tensor.DType() != dt || len(b.Tensor.Bytes()) != size || !b.Tensor.Shape().Equal(tensor.Shape{int64(size / dt.Size())}) {
					t.Fatalf("seed %d: %d bytes of %s are a %s%v", seed, size, dt, b.Tensor.DType(), b.Tensor.Shape())
				}
				fill(b, g.content)
				list = append(list, holder{b, g})
			}
			i := rng.IntN(len(list))
			h := list[i]
			switch rng.IntN(5) {
			case 0:
				exec.Retain(h.b)
				h.group.holders++
				list = append(list, h)
			case 1, 2:
				m.Release(h.b)
				drop(i)
			case 3:
				dt := types[rng.IntN(len(types))]
				a := m.Alias(h.b, dt, tensor.Shape{1, int64(h.group.size / dt.Size())})
				if a.Tensor.DType() != dt || a.Tensor.Shape()[1] != int64(h.group.size/dt.Size()) {
					t.Fatalf("seed %d: the alias is a %s%v", seed, a.Tensor.DType(), a.Tensor.Shape())
				}
				list[i].b = a
			case 4:
				if h.b.Writable() {
					h.group.content = byte(step)
					fill(h.b, h.group.content)
				}
			}
			for _, h := range list {
				if sole := h.group.holders == 1 && !h.group.fixed; h.b.Writable() != sole {
					t.Fatalf("seed %d, step %d: writable is %v, with %d references", seed, step, h.b.Writable(), h.group.holders)
				}
				if b := h.b.Tensor.Peek(); len(b) != h.group.size || bytes.Count(b, []byte{h.group.content}) != len(b) {
					t.Fatalf("seed %d, step %d: %d bytes of %d are changed", seed, step, len(b), h.group.content)
				}
			}
			var inUse int64
			for size, n := range live {
				inUse += int64(size) * int64(n)
			}
			if held(m) != charged() || m.Recycled() != charged()-inUse {
				t.Fatalf("seed %d, step %d: %d bytes are held and %d wait; want %d and %d", seed, step, held(m), m.Recycled(), charged(), charged()-inUse)
			}
			if v := m.NewView(); v.Refs != 1 || v.Fixed || v.Elems != nil || !v.Writable() || len(v.Tensor.Peek()) > 0 {
				t.Fatalf("seed %d: a new view is %+v", seed, v)
			} else if rng.IntN(2) == 0 && len(list) > 0 { // as a tuple of the last value
				last := list[len(list)-1].b
				v.Elems = []*exec.Buf{exec.Retain(last), exec.Retain(last)}
				m.Release(exec.Retain(v))
				if v.Elems == nil {
					t.Fatalf("seed %d: a tuple with a reference lost its elements", seed)
				}
				m.Release(v)
			}
		}
		for _, h := range list {
			m.Release(h.b)
		}
		if m.Recycled() != held(m) || held(m) != charged() {
			t.Fatalf("seed %d: %d bytes wait of %d", seed, m.Recycled(), held(m))
		}
		m.Close()
		if m.Recycled() != 0 && memory != nil || len(books.open) > 0 || books.fault != "" {
			t.Fatalf("seed %d: %d bytes wait, %d payloads are open, fault: %s", seed, m.Recycled(), len(books.open), books.fault)
		}
	}
}

// TestCharge: a charge beyond the limit frees recycled buffers first, and fails only if the rest exceeds the limit. A
// failed charge changes nothing.
func TestCharge(t *testing.T) {
	books := &ledger{}
	m := newMachine(10_000, books)
	small, large := alloc(m, listOf(tensor.I8, 64)), alloc(m, listOf(tensor.I8, 6000))
	m.Release(small)
	m.Release(large)
	if m.Charge(10_000-6064) != 3936 || m.Recycled() != 6064 || held(m) != 10_000 {
		t.Errorf("at the limit %d bytes wait of %d", m.Recycled(), held(m))
	}
	m.Charge(1) // too much with the recycled buffers
	if m.Recycled() != 0 || held(m) != 3937 || len(books.freed) != 1 || books.freed[0] != 6000 {
		t.Errorf("%d bytes wait of %d, %v were freed", m.Recycled(), held(m), books.freed)
	}
	m.Charge(6063)
	err := kernel.Try(func() { m.Charge(1) })
	if err == nil || err.Error() != "needs 1 bytes more than the 10000 in use; the memory limit is 10000" {
		t.Errorf("the error is %v", err)
	}
	if held(m) != 10_000 {
		t.Errorf("a failed charge leaves %d bytes", held(m))
	}
	m.Uncharge(10_000)
	if held(m) != 0 {
		t.Errorf("%d bytes are left", held(m))
	}
}

// TestRecycle: a machine keeps up to four payloads of a size for later values.
func TestRecycle(t *testing.T) {
	m := newMachine(0, nil)
	kept := map[*byte]bool{}
	for _, size := range []int64{0, 8, 64, 100} {
		for range 6 {
			x := tensor.New(tensor.UI8, tensor.Shape{size})
			m.Recycle(x)
			if size > 0 {
				kept[&x.Bytes()[0]] = true
			}
		}
	}
	if m.Recycled() != 4*(8+64+100) {
		t.Errorf("%d bytes wait", m.Recycled())
	}
	for _, size := range []int{8, 64, 100} {
		for i := range 5 {
			b := alloc(m, listOf(tensor.UI8, size))
			if kept[&b.Tensor.Bytes()[0]] != (i < 4) || b.Refs != 1 {
				t.Errorf("payload %d of %d bytes: reused %v, %d references", i, size, i >= 4, b.Refs)
			}
		}
	}
	if held(m) != 8+64+100 {
		t.Errorf("%d bytes are held: only new payloads count", held(m))
	}
}

// TestReuse: a result takes the payload of an operand only if the kernel allows it, the operand dies, nothing else
// refers to it and its elements have the same type and number.
func TestReuse(t *testing.T) {
	four := listOf(tensor.F32, 4)
	type operand struct {
		typ             kernel.Type
		keep, fix, more bool // lives on, is fixed, has another reference
	}
	for name, c := range map[string]struct {
		in      []operand
		inplace uint64
		others  []uint64
		out     []kernel.Type
		want    []int // the operand that each result takes, or -1
	}{
		"dies":           {in: []operand{{typ: four}}, inplace: 1, want: []int{0}},
		"lives":          {in: []operand{{typ: four, keep: true}}, inplace: 1, want: []int{-1}},
		"not allowed":    {in: []operand{{typ: four}}, inplace: 2, want: []int{-1}},
		"fixed":          {in: []operand{{typ: four, fix: true}}, inplace: 1, want: []int{-1}},
		"shared":         {in: []operand{{typ: four, more: true}}, inplace: 1, want: []int{-1}},
		"other elements": {in: []operand{{typ: listOf(tensor.I32, 4)}}, inplace: 1, want: []int{-1}},
		"longer":         {in: []operand{{typ: listOf(tensor.F32, 5)}}, inplace: 1, want: []int{-1}},
		"other shape":    {in: []operand{{typ: kernel.Type{Class: kernel.ClassTensor, DType: tensor.F32, Shape: tensor.Shape{2, 2}, N: 4}}}, inplace: 1, want: []int{0}},
		"the second":     {in: []operand{{typ: four, keep: true}, {typ: four}}, inplace: 3, want: []int{1}},
		"the first":      {in: []operand{{typ: four}, {typ: four}}, inplace: 3, want: []int{0}},
		"two results":    {in: []operand{{typ: four}, {typ: four}}, inplace: 3, others: []uint64{3}, out: []kernel.Type{four, four}, want: []int{0, 1}},
		"second result":  {in: []operand{{typ: four}, {typ: four}}, others: []uint64{2}, out: []kernel.Type{four, four}, want: []int{-1, 1}},
		"one for two":    {in: []operand{{typ: four}}, inplace: 1, others: []uint64{1}, out: []kernel.Type{four, four}, want: []int{0, -1}},
	} {
		m := newMachine(0, nil)
		if c.out == nil {
			c.out = []kernel.Type{four}
		}
		fr := &exec.Frame{Slots: make([]*exec.Buf, len(c.in)+len(c.out))}
		ins := &exec.Instr{Types: c.out}
		payloads := []*byte{}
		for i, o := range c.in {
			b := alloc(m, o.typ)
			if b.Fixed = o.fix; o.more {
				exec.Retain(b)
			}
			fr.Slots[i] = b
			payloads = append(payloads, &b.Tensor.Bytes()[0])
			ins.In, ins.Move = append(ins.In, int32(i)), append(ins.Move, !o.keep)
		}
		for i := range c.out {
			ins.Out = append(ins.Out, int32(len(c.in)+i))
		}
		before := held(m)
		var fresh int64
		ins.Kernel = &kernel.Kernel{Inplace: c.inplace, Others: c.others, Scratch: 1000, Run: func(in, out []*tensor.Tensor) {
			if len(in) != len(c.in) || len(out) != len(c.out) {
				t.Fatalf("%s: %d operands and %d results", name, len(in), len(out))
			}
			for i, p := range payloads {
				if &in[i].Peek()[0] != p {
					t.Errorf("%s: operand %d lost its payload", name, i)
				}
			}
			for i, w := range c.want {
				took := -1
				for k, p := range payloads {
					if &out[i].Peek()[0] == p {
						took = k
					}
				}
				if took != w {
					t.Errorf("%s: result %d takes operand %d, want %d", name, i, took, w)
				}
				if took < 0 {
					fresh += 16
				}
				if !out[i].Shape().Equal(c.out[i].Shape) || out[i].DType() != c.out[i].DType {
					t.Errorf("%s: result %d is a %s%v", name, i, out[i].DType(), out[i].Shape())
				}
			}
			if held(m) != before+fresh+1000 {
				t.Errorf("%s: %d bytes are held, before %d", name, held(m), before)
			}
		}}
		m.Execute(fr, ins)
		if held(m) != before+fresh || len(m.Args) != 0 {
			t.Errorf("%s: %d bytes are held, before %d; %d operands are left", name, held(m), before, len(m.Args))
		}
		for i := range c.in {
			if taken := fr.Slots[i] == nil; taken != (c.want[0] == i || len(c.want) > 1 && c.want[1] == i) {
				t.Errorf("%s: slot %d is empty: %v", name, i, taken)
			}
		}
	}
}

// TestArena: results lie at their places in the arena of the frame, which is a part of the caller's or its own. A dead
// value of an arena is poisoned if the program asks for it.
func TestArena(t *testing.T) {
	for _, poison := range []bool{false, true} {
		m := newMachine(0, nil)
		m.Prog.Poison = poison
		write := func(v byte) *kernel.Kernel {
			return &kernel.Kernel{Inplace: 1, Run: func(in, out []*tensor.Tensor) { kernel.Fill(out[0].Bytes(), []byte{v}) }}
		}
		typ := listOf(tensor.UI8, 16)
		inner := &exec.Function{Name: "inner", Nslots: 2, Memory: exec.Memory{Arena: 64}}
		outer := &exec.Function{Name: "outer", Nslots: 4, Memory: exec.Memory{Arena: 192}}
		none := &exec.Function{Name: "none"}
		fr := m.Enter(outer, nil, nil)
		if held(m) != 192 {
			t.Errorf("an arena holds %d bytes", held(m))
		}
		m.Execute(fr, &exec.Instr{Out: []int32{0}, Types: []kernel.Type{typ}, Kernel: write(1), Places: []exec.Place{{Over: -1, At: 16}}})
		m.Execute(fr, &exec.Instr{Out: []int32{1}, Types: []kernel.Type{typ}, Kernel: write(2), Places: []exec.Place{{Over: -1, At: 32}}})
		m.Execute(fr, &exec.Instr{Out: []int32{2}, Types: []kernel.Type{typ}, Kernel: write(3), Places: []exec.Place{{Over: -1, At: -1}}})
		called := m.Enter(inner, fr, &exec.Instr{Frame: 128})
		m.Execute(called, &exec.Instr{Out: []int32{0}, Types: []kernel.Type{typ}, Kernel: write(4), Places: []exec.Place{{Over: -1, At: 48}}})
		if held(m) != 192+16 {
			t.Errorf("%d bytes are held", held(m))
		}
		own := m.Enter(inner, fr, &exec.Instr{Frame: -1})
		if held(m) != 192+16+64 {
			t.Errorf("%d bytes are held with a second arena", held(m))
		}
		m.Leave(inner, own)
		m.Leave(none, m.Enter(none, fr, &exec.Instr{Frame: 0}))
		if again := m.Enter(inner, nil, nil); again != own {
			t.Error("the frame of a call that ended is not reused")
		} else {
			m.Leave(inner, again)
			m.Leave(inner, m.Enter(inner, fr, &exec.Instr{Frame: 128}))
		}
		// The payload in the arena is written in place, and cannot be reused without a place.
		payload := fr.Slots[1].Tensor.Bytes()
		typ32 := listOf(tensor.I32, 4)
		m.Execute(fr, &exec.Instr{In: []int32{1}, Move: []bool{true}, Out: []int32{3}, Types: []kernel.Type{typ32}, Kernel: write(5), Places: []exec.Place{{Over: 0, At: -1}}})
		b := fr.Slots[3]
		if fr.Slots[1] != nil || &b.Tensor.Bytes()[0] != &payload[0] || b.Tensor.DType() != tensor.I32 || b.Writable() {
			t.Errorf("a result over an operand is %v, writable %v", b.Tensor.DType(), b.Writable())
		}
		arena := payload[:16:16]
		if fr.Slots[0].Tensor.Bytes()[0] != 1 || arena[15] != 5 || called.Slots[0].Tensor.Bytes()[15] != 4 {
			t.Error("the values of an arena overlap")
		}
		alias := m.Alias(exec.Retain(b), tensor.UI8, tensor.Shape{16})
		if alias.Writable() {
			t.Error("an alias of a placed value is writable")
		}
		m.Release(b)
		if arena[0] != 5 {
			t.Error("a value dies before its alias")
		}
		m.Release(alias)
		if dead := arena[0] == 0xa5 && arena[15] == 0xa5; dead != poison {
			t.Errorf("a dead value has the bytes %x", arena)
		}
		for _, s := range []int{0, 2} {
			m.Release(fr.Slots[s])
		}
		m.Release(called.Slots[0])
		m.Leave(inner, called)
		m.Leave(outer, fr)
		if held(m) != m.Recycled() {
			t.Errorf("%d bytes are held, %d wait", held(m), m.Recycled())
		}
		for range 3 {
			if v := m.NewView(); v.Fixed || !v.Writable() || len(v.Tensor.Peek()) > 0 {
				t.Error("the view of a placed value is not clean")
			}
		}
	}
}

// TestBlocks: a block releases values where the plan says so, and moves or retains the values that it returns.
func TestBlocks(t *testing.T) {
	m := newMachine(0, nil)
	typ := listOf(tensor.UI8, 8)
	fr := &exec.Frame{Slots: make([]*exec.Buf, 6)}
	var seen string
	note := func(name string, f func()) exec.Runner {
		return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
			for i, b := range fr.Slots {
				if b != nil {
					name += " " + string(rune('0'+i))
				}
			}
			seen += name + "\n"
			if f != nil {
				f()
			}
		}
	}
	for i := range 5 {
		fr.Slots[i] = alloc(m, typ)
	}
	kept, moved := fr.Slots[2], fr.Slots[3]
	b := &exec.Block{ArgDead: []int32{0}, Instrs: []exec.Instr{
		{Run: note("first", func() { fr.Slots[5] = alloc(m, typ) }), Dead: []int32{1}},
		{Run: note("second", nil), Dead: []int32{1, 5}},
		{Run: note("third", nil)},
	}, Ret: []int32{2, 3}, RetMove: []bool{false, true}, After: []int32{4}}
	out := m.PushRefs(2)
	m.RunBlock(fr, b, out)
	if want := "first 1 2 3 4\nsecond 2 3 4 5\nthird 2 3 4\n"; seen != want {
		t.Errorf("the full slots are\n%s, want\n%s", seen, want)
	}
	if out[0] != kept || kept.Refs != 2 || out[1] != moved || moved.Refs != 1 || fr.Slots[3] != nil || fr.Slots[4] != nil || fr.Slots[2] != kept {
		t.Errorf("the block returns bufs with %d and %d references", kept.Refs, moved.Refs)
	}
	more := m.PushRefs(3)
	if more[0] = kept; out[0] != kept || len(more) != 3 || cap(more) != 3 {
		t.Error("references overlap")
	}
	m.PopRefs(3)
	if again := m.PushRefs(3); again[0] != nil {
		t.Error("references are not empty")
	}
	m.PopRefs(3)
	m.PopRefs(2)
	m.Release(kept)
	m.Release(kept)
	m.Release(moved)
	m.Release(nil)
	if held(m) != 5*8 || m.Recycled() != 5*8 {
		t.Errorf("%d bytes are held, %d wait", held(m), m.Recycled())
	}
	// A buf without a payload is used again.
	shared := alloc(m, typ)
	view := m.Alias(exec.Retain(shared), tensor.I8, tensor.Shape{8})
	m.Release(view)
	m.Release(shared)
	if m.NewView() != view {
		t.Error("a view is not reused")
	}
	view.Elems = []*exec.Buf{m.Token()}
	m.Release(view)
	if m.NewView() != view {
		t.Error("a tuple is not reused")
	}
	// Take moves a value that dies, and retains another.
	fr.Slots[0] = alloc(m, typ)
	ins := &exec.Instr{In: []int32{0, 0}, Move: []bool{false, true}}
	first := m.Take(fr, ins, 0)
	if first.Refs != 2 || m.Take(fr, ins, 1) != first || first.Refs != 2 || fr.Slots[0] != nil {
		t.Errorf("taken values have %d references", first.Refs)
	}
	one := m.CopyScalar(&first.Tensor, 3)
	if one.Tensor.NumElements() != 1 || one.Tensor.DType() != tensor.UI8 || len(one.Tensor.Shape()) != 0 || &one.Tensor.Bytes()[0] == &first.Tensor.Bytes()[3] {
		t.Error("a scalar is no copy")
	}
	first.Tensor.Bytes()[3] = 7
	if two := m.CopyScalar(&first.Tensor, 3); two.Tensor.Bytes()[0] != 7 || exec.Element(&first.Tensor, 3)[0] != 7 {
		t.Error("the element is not the fourth")
	}
}

// TestErrorsHaveLocations: an error has the location of the instruction that failed, of the loop that a stopped run
// executes, or of the function.
func TestErrorsHaveLocations(t *testing.T) {
	mod, ops := opsOf(t, `func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %b = stablehlo.add %a, %a : tensor<f32>
  %c = stablehlo.multiply %b, %a : tensor<f32>
  return %c : tensor<f32>
}`)
	f := &exec.Function{Name: "main", Op: mod.Body().First(), Body: &exec.Block{}}
	newRun := func() *exec.Machine {
		m := newMachine(0, nil)
		m.Prog.Module = mod
		return m
	}
	fails := func(*exec.Machine, *exec.Frame, *exec.Instr) { kernel.Fail(errors.New("is wrong")) }
	nothing := func(*exec.Machine, *exec.Frame, *exec.Instr) {}
	check := func(err error, want string) {
		t.Helper()
		if err == nil || err.Error() != want {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
	f.Body.Instrs = []exec.Instr{{Op: ops[0], Run: nothing}, {Op: ops[1], Run: fails}}
	_, err := newRun().RunMain(context.Background(), f, nil)
	check(err, "test.mlir:3:8: error: 'stablehlo.multiply' op is wrong")
	var located *exec.OpError
	if !errors.As(err, &located) || located.Op != "stablehlo.multiply" || located.Cause.Error() != "is wrong" {
		t.Errorf("the error is %#v", err)
	}
	var text strings.Builder
	located.Render(&text)
	if !strings.Contains(text.String(), "stablehlo.multiply %b, %a") {
		t.Errorf("the rendered error is %s", text.String())
	}
	if again := exec.Locate(mod, ops[0], err); again != err {
		t.Errorf("the error gets a second location: %v", again)
	}
	f.Body.Instrs[1].Run = func(*exec.Machine, *exec.Frame, *exec.Instr) { panic("oh") }
	_, err = newRun().RunMain(context.Background(), f, nil)
	check(err, "test.mlir:3:8: error: 'stablehlo.multiply' op internal error: oh")

	// A block inside an instruction: the error of a stopped run has the location of the outer one.
	inside := &exec.Block{Instrs: []exec.Instr{{Op: ops[1], Run: nothing}}}
	var m *exec.Machine
	var cancel context.CancelCauseFunc
	stop := func() {
		cancel(errors.New("enough"))
		for kernel.Try(m.Poll) == nil {
			time.Sleep(time.Millisecond)
		}
	}
	f.Body.Instrs = []exec.Instr{{Op: ops[0], Run: func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		m.RunBlock(fr, inside, nil)
		stop()
		m.RunBlock(fr, inside, nil)
	}}}
	run := func() error {
		m = newRun()
		ctx, c := context.WithCancelCause(context.Background())
		cancel = c
		ctx, end := m.Watch.Start(ctx, mod.Source(), 0, nil, 0)
		defer end()
		_, err := m.RunMain(ctx, f, nil)
		return err
	}
	check(run(), "test.mlir:2:8: error: 'stablehlo.add' op enough")
	f.Body.Instrs = []exec.Instr{{Op: ops[0], Run: func(*exec.Machine, *exec.Frame, *exec.Instr) { stop() }}, {Op: ops[1], Run: fails}}
	check(run(), "test.mlir:2:8: error: 'stablehlo.add' op enough")
	f.Body.Instrs = nil
	f.Args = []kernel.Type{{Class: kernel.ClassTuple}}
	_, err = newRun().RunMain(context.Background(), f, nil)
	check(err, "test.mlir:1:1: error: 'func.func' op has a tuple argument")
}

// TestArguments: a run takes the tensors among the arguments, checks their number and types, counts and overwrites only
// donated ones, and returns the tensors in tuples as separate results.
func TestArguments(t *testing.T) {
	typ := listOf(tensor.F32, 2)
	open := kernel.Type{Class: kernel.ClassTensor, DType: tensor.F32, Shape: tensor.Shape{-1 << 63}, N: -1}
	token := kernel.Type{Class: kernel.ClassToken}
	pair := kernel.Type{Class: kernel.ClassTuple, Elems: []kernel.Type{typ, token, typ}}
	m := newMachine(0, nil)
	f := &exec.Function{Name: "main", Nslots: 4, Args: []kernel.Type{token, typ, typ}, Results: []kernel.Type{pair, typ}}
	f.Body = &exec.Block{Args: []int32{0, 1, 2}, Ret: []int32{3, 2}, RetMove: []bool{true, true}}
	f.Body.Instrs = []exec.Instr{{Run: func(m *exec.Machine, fr *exec.Frame, _ *exec.Instr) {
		if fr.Slots[0] != m.Token() || !fr.Slots[1].Fixed || fr.Slots[2].Fixed {
			t.Error("a token, a lent and a donated argument are expected")
		}
		if held(m) != 8 {
			t.Errorf("the run holds %d bytes of the donated argument", held(m))
		}
		p := m.NewView()
		p.Elems = []*exec.Buf{fr.Slots[1], m.Token(), alloc(m, typ)}
		tensor.View[float32](&p.Elems[2].Tensor)[0] = 5
		fr.Slots[1], fr.Slots[3] = nil, p
	}}}
	x, y := tensor.New(tensor.F32, tensor.Shape{2}), tensor.New(tensor.F32, tensor.Shape{2})
	x.SetFloat(0, 3)
	y.SetFloat(1, 4)
	m.Donated = []bool{false, true}
	out, err := m.RunMain(context.Background(), f, []*tensor.Tensor{x, y})
	if err != nil || len(out) != 3 {
		t.Fatalf("%d results, error %v", len(out), err)
	}
	if tensor.View[float32](out[0])[0] != 3 || tensor.View[float32](out[1])[0] != 5 || tensor.View[float32](out[2])[1] != 4 {
		t.Error("the results are in another order")
	}
	if &out[0].Peek()[0] == &x.Peek()[0] || &out[2].Peek()[0] != &y.Peek()[0] {
		t.Error("a lent argument is copied, a donated one returned")
	}
	if held(m) != m.Recycled() {
		t.Errorf("%d bytes are held, %d wait", held(m), m.Recycled())
	}
	f = &exec.Function{Name: "main", Nslots: 2, Args: []kernel.Type{token, open}, Body: &exec.Block{Args: []int32{0, 1}, ArgDead: []int32{0, 1}}}
	wide := tensor.New(tensor.F32, tensor.Shape{2, 2})
	for _, c := range []struct {
		args []*tensor.Tensor
		want string
	}{
		{nil, "function @main takes 1 arguments, not 0"},
		{[]*tensor.Tensor{x, x}, "function @main takes 1 arguments, not 2"},
		{[]*tensor.Tensor{wide}, "argument 0 is tensor<2x2xf32>, but function @main takes tensor<?xf32>"},
		{[]*tensor.Tensor{tensor.New(tensor.I32, tensor.Shape{2})}, "argument 0 is tensor<2xi32>, but function @main takes tensor<?xf32>"},
		{[]*tensor.Tensor{x}, ""},
	} {
		_, err := newMachine(0, nil).RunMain(context.Background(), f, c.args)
		if got := map[bool]string{false: "", true: "error"}[err != nil]; got == "" && c.want != "" || err != nil && err.Error() != c.want {
			t.Errorf("the error is %v, want %q", err, c.want)
		}
	}
}

// TestPayloads: with an allocator, large payloads are freed when the run ends and small ones stay for the next run. The
// caller owns results and gives away donated arguments.
func TestPayloads(t *testing.T) {
	books := &ledger{}
	m := newMachine(0, books)
	typ := listOf(tensor.UI8, 5000)
	sizes := []int{4096, 4097, 64, 0, 5000, 5000}
	f := &exec.Function{Name: "main", Nslots: 3, Args: []kernel.Type{typ, typ}, Results: []kernel.Type{typ, typ}}
	f.Body = &exec.Block{Args: []int32{0, 1}, ArgDead: []int32{1}, Ret: []int32{0, 2}, RetMove: []bool{true, true}}
	f.Body.Instrs = []exec.Instr{{Run: func(m *exec.Machine, fr *exec.Frame, _ *exec.Instr) {
		for _, n := range sizes {
			defer m.Release(alloc(m, listOf(tensor.UI8, n)))
		}
		fr.Slots[2] = alloc(m, typ)
	}}}
	give := func() *tensor.Tensor {
		data, _ := books.Alloc(5000)
		x, err := tensor.FromBytes(tensor.UI8, tensor.Shape{5000}, data)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for range 2 {
		books.freed = nil
		m.Donated = []bool{true, true, true} // the plan may know more arguments
		args := []*tensor.Tensor{give(), give()}
		before := held(m)
		out, err := m.RunMain(context.Background(), f, args)
		if err != nil {
			t.Fatal(err)
		}
		// The second argument dies first, so that a value reuses its payload.
		if len(books.open) != 2+2 || m.Recycled() != 4096+64 || books.fault != "" {
			t.Errorf("%d payloads are open, %d bytes wait, fault: %s", len(books.open), m.Recycled(), books.fault)
		}
		if before == 0 && held(m) != 4096+64+4097+2*5000 && held(m) != 4096+64 {
			t.Errorf("%d bytes are held", held(m))
		}
		if &out[0].Peek()[0] != &args[0].Peek()[0] {
			t.Error("the donated argument is copied")
		}
		for _, r := range out {
			books.Free(r.Bytes())
		}
		m.Watch.Memory.Held.Store(m.Recycled())
	}
	m.Close()
	if len(books.open) != 0 || books.fault != "" || m.Recycled() != 0 {
		t.Errorf("%d payloads are open, fault: %s", len(books.open), books.fault)
	}
	// A payload that the machine does not own is copied into a result and never freed.
	m = newMachine(0, books)
	lent := tensor.New(tensor.UI8, tensor.Shape{5000})
	out := m.Result(nil, typ, &exec.Buf{Refs: 1, Tensor: *lent})
	if &out[0].Peek()[0] == &lent.Peek()[0] || len(books.open) != 1 {
		t.Errorf("a lent payload becomes a result; %d payloads are open", len(books.open))
	}
	m.Close()
	if len(books.open) != 1 {
		t.Error("a result is freed")
	}
}

// TestDepth: calls nest up to 10,000 deep, and a call that ends makes room for the next.
func TestDepth(t *testing.T) {
	m := newMachine(0, nil)
	f := &exec.Function{}
	var frames []*exec.Frame
	for range 10_000 {
		frames = append(frames, m.Enter(f, nil, nil))
	}
	err := kernel.Try(func() { m.Enter(f, nil, nil) })
	if err == nil || err.Error() != "calls nest deeper than 10000" {
		t.Errorf("the error is %v", err)
	}
	m.Leave(f, frames[0])
	if again := m.Enter(f, nil, nil); again != frames[0] {
		t.Error("the frame of a call that ended is not reused")
	}
}
