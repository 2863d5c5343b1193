package plan_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/internal/opgen"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/ops"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
	"golang.org/x/tools/txtar"
)

// planOf returns the plan of a module's only function, or of main; nil if the engine refuses the module.
func planOf(m *ir.Module) (f *exec.Function) {
	_ = kernel.Try(func() {
		h := &ops.Host{}
		table := ops.BuildTable(h)
		m = m.Clone()
		if legalize.HasCalls(m) {
			kernel.Fail(legalize.Calls(m))
		}
		plan.Expand(m, func(op *ir.Op) bool { return table[plan.OpKind(op)].Expands(op) })
		if plan.Inlines(m, table) {
			plan.Inline(m, table)
		}
		h.Bind(m, &runtime.Program{Module: m}, runtime.CompileOptions{})
		c := plan.NewCompiler(m, ir.SymbolsOf(m.Op()), table, 0)
		name := "main"
		if list := fn.Funcs(m); c.Symbols[name] == nil && len(list) == 1 {
			name = list[0].Symbol()
		}
		if c.Symbols[name] != nil {
			f = c.Function(name)
		}
	})
	return f
}

// A payload is the memory of one value. The checker knows the place only of a value in the arena.
type payload struct {
	begin, end int // in the arena; equal outside of it
	by         *exec.Instr
	pool       int // bytes from the pool, if a kernel made it
}

// planChecker executes the plan of a function without its numbers: it follows the payloads that slots hold.
type planChecker struct {
	f      *exec.Function
	slots  []map[*payload]bool // nil: the slot is empty
	most   int                 // the end of the last value in the arena
	pool   int64               // the most bytes from the pool that kernels need at a time
	plain  bool                // only kernels and constants execute
	placed int
	seen   map[*exec.Function]bool
	faults []string
}

func (c *planChecker) fault(ins *exec.Instr, format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf("@%s, %s: ", c.f.Name, ins.Op.Name())+fmt.Sprintf(format, args...))
}

// reads returns the payloads of a slot, which must hold a value.
func (c *planChecker) reads(ins *exec.Instr, s int32) map[*payload]bool {
	if c.slots[s] == nil {
		c.fault(ins, "slot %d is empty", s)
	}
	return c.slots[s]
}

func (c *planChecker) fill(ins *exec.Instr, s int32, p map[*payload]bool) {
	if c.slots[s] != nil {
		c.fault(ins, "slot %d still holds a value", s)
	}
	c.slots[s] = p
}

// live returns the payloads in the arena.
func (c *planChecker) live() map[*payload]bool {
	out := map[*payload]bool{}
	for _, s := range c.slots {
		for p := range s {
			if p.end > p.begin {
				out[p] = true
			}
		}
	}
	return out
}

// place checks that nothing lives in a part of the arena, and returns its payload.
func (c *planChecker) place(ins *exec.Instr, at, size int) *payload {
	p := &payload{begin: at, end: at + size, by: ins}
	for o := range c.live() {
		if o.begin < p.end && p.begin < o.end {
			c.fault(ins, "bytes %d to %d of the arena hold a value of %s", max(o.begin, p.begin), min(o.end, p.end), o.by.Op.Name())
		}
	}
	c.most = max(c.most, p.end)
	return p
}

// escapes checks that a value that the plan does not follow lies outside of the arena.
func (c *planChecker) escapes(ins *exec.Instr, slots ...int32) {
	for _, s := range slots {
		for p := range c.reads(ins, s) {
			if p.end > p.begin {
				c.fault(ins, "slot %d, which others may keep, lies in the arena", s)
			}
		}
	}
}

func fresh() map[*payload]bool { return map[*payload]bool{{}: true} }

// block follows a block. Its arguments have payloads outside of the arena. At the end all of its own values are gone.
func (c *planChecker) block(ins *exec.Instr, b *exec.Block) {
	var before []bool
	for _, s := range c.slots {
		before = append(before, s != nil)
	}
	for _, s := range b.Args {
		c.fill(ins, s, fresh())
	}
	for _, s := range b.ArgDead {
		c.reads(ins, s)
		c.slots[s] = nil
	}
	for i := range b.Instrs {
		c.instr(&b.Instrs[i])
	}
	if len(b.Ret) != len(b.RetMove) {
		c.fault(ins, "a block returns %d values and moves %d", len(b.Ret), len(b.RetMove))
	}
	c.escapes(ins, b.Ret...)
	for i, s := range b.Ret {
		if b.RetMove[i] {
			c.slots[s] = nil
		}
	}
	for _, s := range b.After {
		c.reads(ins, s)
		c.slots[s] = nil
	}
	for i, s := range c.slots {
		if full := s != nil; full != before[i] {
			c.fault(ins, "after its block slot %d is full: %v", i, full)
			c.slots[i] = nil
		}
	}
}

func (c *planChecker) instr(ins *exec.Instr) {
	if len(ins.Move) != len(ins.In) && len(ins.In) > 0 {
		c.fault(ins, "%d operands, %d moves", len(ins.In), len(ins.Move))
		return
	}
	for _, s := range slices.Concat(ins.In, ins.Captures) {
		c.reads(ins, s)
	}
	if s := ins.Scalars; s != nil {
		c.registers(ins, s)
	}
	for i, s := range ins.In {
		if ins.Move[i] && slices.Contains(ins.In[i+1:], s) {
			c.fault(ins, "slot %d moves before its last place", s)
		}
	}
	results := make([]map[*payload]bool, len(ins.Out))
	move := func() {
		for i, s := range ins.In {
			if ins.Move[i] {
				c.slots[s] = nil
			}
		}
	}
	switch {
	case ins.Kernel != nil:
		taken := map[*payload]bool{}
		for i, t := range ins.Types {
			results[i] = fresh()
			if ins.Places == nil || ins.Places[i] == (exec.Place{Over: -1, At: -1}) {
				results[i] = c.reuse(ins, i, taken)
				continue
			}
			switch at := ins.Places[i]; {
			case at.Over >= 0:
				c.placed++
				over := c.slots[ins.In[at.Over]]
				if !ins.Move[at.Over] || ins.Kernel.Overwrites(i)&(1<<at.Over) == 0 {
					c.fault(ins, "result %d takes operand %d", i, at.Over)
				}
				for p := range over {
					if p.end-p.begin != t.Bytes() {
						c.fault(ins, "result %d of %d bytes takes an operand of %d", i, t.Bytes(), p.end-p.begin)
					}
					for k, s := range c.slots {
						if s[p] && k != int(ins.In[at.Over]) {
							c.fault(ins, "result %d takes operand %d, which slot %d reads", i, at.Over, k)
						}
					}
				}
				results[i] = over
			case at.At >= 0:
				c.placed++
				if at.At%64 != 0 {
					c.fault(ins, "result %d is at %d", i, at.At)
				}
				results[i] = map[*payload]bool{c.place(ins, at.At, t.Bytes()): true}
				for k := range i {
					for o := range results[k] {
						for p := range results[i] {
							if o.begin < p.end && p.begin < o.end {
								c.fault(ins, "results %d and %d overlap", k, i)
							}
						}
					}
				}
			}
		}
		c.count(ins, results)
		for i, s := range ins.In {
			if c.takes(ins, i) || len(c.slots[s]) > 0 && slices.ContainsFunc(results, func(r map[*payload]bool) bool {
				for p := range c.slots[s] {
					return taken[p] && r[p] && ins.Move[i]
				}
				return false
			}) {
				c.slots[s] = nil
			}
		}
	case ins.Effect == exec.Forwards:
		for i := range ins.Out {
			results[i] = c.slots[ins.In[i]]
		}
		move()
	case ins.Effect == exec.Nests:
		c.escapes(ins, ins.In...)
		move()
		for _, b := range ins.Blocks {
			c.block(ins, b)
		}
	default:
		c.escapes(ins, slices.Concat(ins.In, ins.Captures)...)
		move()
	}
	for i := range results {
		if results[i] == nil {
			results[i] = fresh()
		}
	}
	if f := ins.Callee; f != nil {
		if f.Memory.Known && f.Memory.Arena > 0 && ins.Frame >= 0 {
			c.place(ins, ins.Frame, f.Memory.Arena)
		}
		c.function(f)
	}
	for i, s := range ins.Out {
		c.fill(ins, s, results[i])
	}
	for _, s := range ins.Dead {
		c.slots[s] = nil
	}
	for i, s := range ins.In {
		if ins.Move[i] && c.slots[s] != nil && !slices.Contains(ins.Out, s) {
			c.fault(ins, "slot %d dies here and is still full", s)
		}
	}
}

// reuse returns the payload of result i from the pool: of an operand that dies here and that the kernel may overwrite,
// or a new one.
func (c *planChecker) reuse(ins *exec.Instr, i int, taken map[*payload]bool) map[*payload]bool {
	t := &ins.Types[i]
	for k, s := range ins.In {
		if k >= 64 || ins.Kernel.Overwrites(i)&(1<<k) == 0 || !ins.Move[k] || len(c.slots[s]) != 1 {
			continue
		}
		for p := range c.slots[s] {
			shared := slices.ContainsFunc(c.slots, func(o map[*payload]bool) bool { return o[p] && !maps.Equal(o, c.slots[s]) })
			if p.pool == t.Bytes() && p.pool > 0 && p.by != nil && p.by.Types[0].DType == t.DType && !taken[p] && !shared {
				taken[p] = true
				return c.slots[s]
			}
		}
	}
	return map[*payload]bool{{by: ins, pool: t.Bytes()}: true}
}

// count counts the bytes from the pool at a kernel.
func (c *planChecker) count(ins *exec.Instr, results []map[*payload]bool) {
	all := map[*payload]bool{}
	for _, s := range slices.Concat(c.slots, results) {
		maps.Copy(all, s)
	}
	n := ins.Kernel.Scratch
	for p := range all {
		n += int64(p.pool)
	}
	c.pool = max(c.pool, n)
}

// takes reports whether a result of a kernel takes the buffer of operand i.
func (c *planChecker) takes(ins *exec.Instr, i int) bool {
	return slices.ContainsFunc(ins.Places, func(p exec.Place) bool { return p.Over == i })
}

// registers checks a loop on registers: each register is set before an operation reads it, and no operation sets a
// constant or a value from outside.
func (c *planChecker) registers(ins *exec.Instr, s *exec.Scalars) {
	known := map[exec.Register]bool{}
	fixed := map[exec.Register]bool{}
	for r := range s.Init {
		known[r], fixed[r] = true, true
	}
	for _, o := range s.Outside {
		c.reads(ins, o.Slot)
		for _, r := range o.Regs {
			known[r], fixed[r] = true, true
		}
	}
	for _, regs := range s.Carried {
		for _, r := range regs {
			known[r] = true
		}
	}
	for _, a := range s.Arrays {
		if a.Carried < 0 {
			c.reads(ins, a.Slot)
			if a.Stored {
				c.fault(ins, "stores to a value from outside")
			}
		}
	}
	for _, o := range s.Ops {
		for _, r := range s.Reads(o) {
			if !known[r] {
				c.fault(ins, "register %d has no value", r)
			}
		}
		if o.Writes() {
			if fixed[o.D] {
				c.fault(ins, "register %d is overwritten", o.D)
			}
			known[o.D] = true
		}
	}
	for _, x := range s.Accesses {
		last := x.Offset
		for _, v := range x.Starts {
			last += v.Max * v.Stride
		}
		if x.Offset < 0 || last >= s.Arrays[x.Array].Type.N {
			c.fault(ins, "element %d of %d is accessed", last, s.Arrays[x.Array].Type.N)
		}
	}
}

// function checks the plan of a function, and of those that it calls.
func (c *planChecker) function(f *exec.Function) {
	if c.seen[f] || f.Body == nil {
		return
	}
	c.seen[f] = true
	inner := &planChecker{f: f, slots: make([]map[*payload]bool, f.Nslots), seen: c.seen}
	inner.plain = !slices.ContainsFunc(f.Body.Instrs, func(ins exec.Instr) bool { return ins.Kernel == nil && !ins.Fixed || len(ins.Out) > 1 })
	inner.block(&exec.Instr{Op: f.Op}, f.Body)
	if m := f.Memory.Pool; inner.plain && m != inner.pool {
		inner.faults = append(inner.faults, fmt.Sprintf("@%s: at most %d bytes from the pool, but %d are needed", f.Name, m, inner.pool))
	}
	if aligned := (inner.most + 63) &^ 63; aligned != f.Memory.Arena {
		inner.faults = append(inner.faults, fmt.Sprintf("@%s: an arena of %d bytes, with values up to %d", f.Name, f.Memory.Arena, inner.most))
	}
	c.faults, c.placed = append(c.faults, inner.faults...), c.placed+inner.placed
}

// TestPlans follows the values of all plans: an instruction reads only slots that hold a value, all values die, values
// in an arena do not overlap, and a result takes only an operand that nothing else reads.
func TestPlans(t *testing.T) {
	plans, placed := 0, 0
	check := func(name string, m *ir.Module) {
		f := planOf(m)
		if f == nil {
			return
		}
		c := &planChecker{seen: map[*exec.Function]bool{}}
		c.function(f)
		for i, s := range c.faults {
			if i < 3 {
				t.Errorf("%s: %s", name, s)
			}
		}
		plans, placed = plans+1, placed+c.placed
	}
	sources := testkit.Sources(t)
	for _, file := range []string{"testdata/plans.txtar", "testdata/registers.txtar", "../exec/testdata/flow.txtar", "../ops/testdata/samples.txtar"} {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			sources = append(sources, testkit.Source{Name: file + "/" + f.Name, Text: string(f.Data)})
		}
	}
	for i, text := range captures {
		sources = append(sources, testkit.Source{Name: fmt.Sprint("captures ", i), Text: text})
	}
	for s, m := range testkit.Valid(sources) {
		check(s.Name, m)
	}
	for seed := range uint64(150) {
		g, err := opgen.New(seed)
		if err != nil {
			t.Fatal(err)
		}
		p, err := g.Random()
		if err != nil {
			t.Fatal(err)
		}
		check(fmt.Sprint("random ", seed), p.Run.Module)
	}
	if plans < 400 || placed < 500 {
		t.Errorf("only %d plans, with %d values in arenas", plans, placed)
	}
}

// TestRegisterForms: each loop of testdata/registers.txtar yields what its kernels yield.
func TestRegisterForms(t *testing.T) {
	a, err := txtar.ParseFile("testdata/registers.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		if !strings.HasSuffix(f.Name, ".mlir") {
			continue
		}
		fast, err := compileText(t, string(f.Data))
		if err != nil {
			t.Fatal(err)
		}
		slow, err := compileWith(t, string(f.Data), interp.Options{Profile: &interp.Profile{}}, runtime.CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for round := range 3 {
			var args []*tensor.Tensor
			for _, v := range fast.Signature().Arguments {
				x := tensor.New(v.Type.DType, v.Type.Shape)
				for i := range x.NumElements() {
					n := (i*i*7+len(args)*5+round*11)%23 - 9*(round%2)
					switch d := v.Type.DType; {
					case d.IsFloat() || d.IsComplex():
						x.SetFloat(i, float64(n)/8)
					case d.Kind() == tensor.KindSigned:
						x.SetInt(i, int64(n))
					default:
						x.SetInt(i, int64(n)&1)
					}
				}
				args = append(args, x)
			}
			got, err := fast.Run(t.Context(), args)
			if err != nil {
				t.Fatal(err)
			}
			want, err := slow.Run(t.Context(), args)
			if err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if !bytes.Equal(got[i].Bytes(), want[i].Bytes()) {
					t.Errorf("%s: result %d is %s, its kernels yield %s", f.Name, i, got[i].AppendLiteral(nil, 99), want[i].AppendLiteral(nil, 99))
				}
			}
		}
	}
}

// captures are modules with regions that read values from outside, which others may keep, and with arguments that a
// call may overwrite.
var captures = []string{`func.func public @main(%x: tensor<64xf32>, %z: tensor<f32>) -> tensor<f32> {
  %a = stablehlo.sine %x : tensor<64xf32>
  %s = stablehlo.slice %a [3:4] : (tensor<64xf32>) -> tensor<1xf32>
  %k = stablehlo.reshape %s : (tensor<1xf32>) -> tensor<f32>
  %m = stablehlo.sine %k : tensor<f32>
  %r = stablehlo.reduce(%a init: %z) across dimensions = [0] : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
   reducer(%p: tensor<f32>, %q: tensor<f32>) {
    %t = stablehlo.multiply %p, %m : tensor<f32>
    %u = stablehlo.add %t, %q : tensor<f32>
    stablehlo.return %u : tensor<f32>
  }
  %v = stablehlo.add %r, %m : tensor<f32>
  return %v : tensor<f32>
}`, `func.func public @main(%x: tensor<64xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<64xf32>) -> tensor<64xf32> {
  %a = stablehlo.sine %x : tensor<64xf32>
  %b = stablehlo.add %a, %y : tensor<64xf32>
  %c = func.call @twice(%b, %a) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %d = func.call @twice(%c, %y) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %d : tensor<64xf32>
}
func.func private @twice(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %a = stablehlo.cosine %x : tensor<64xf32>
  %b = stablehlo.subtract %a, %y : tensor<64xf32>
  %c = stablehlo.tanh %b : tensor<64xf32>
  %d = stablehlo.multiply %c, %b : tensor<64xf32>
  %e = stablehlo.add %d, %a : tensor<64xf32>
  return %e : tensor<64xf32>
}`}
