package plan

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
)

// Print writes the plan of f and of the functions that it calls, for runs on the given number of cores. A line is one
// instruction: results, ops, operands and result types, then the family of its kernel, the operands that the result
// may overwrite, the bytes of the results, their place in the arena, and the cores that work on it. The numbers are
// slots of the frame. The last lines state the memory that a run needs, with the given bytes of constants.
func Print(w io.Writer, f *exec.Function, constants int64, cores int) error {
	p := &printer{cores: cores}
	p.functions = append(p.functions, f)
	for i := 0; i < len(p.functions); i++ {
		p.function(p.functions[i])
	}
	m := &f.Memory
	fmt.Fprintf(&p.b, "memory: %d bytes of constants, %d in arenas, at most %d from the pool\n", constants, m.Arena, m.Pool)
	if len(m.Largest) > 0 {
		fmt.Fprintf(&p.b, "  the most at %s; the largest values: %s\n", at(m.At), describe(m))
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

type printer struct {
	b         strings.Builder
	cores     int
	functions []*exec.Function
	fixed     map[int32]bool // slots of the function that are never overwritten
}

func (p *printer) function(f *exec.Function) {
	fmt.Fprintf(&p.b, "@%s: %d slots", f.Name, f.Nslots)
	if f.Memory.Arena > 0 {
		fmt.Fprintf(&p.b, ", %d bytes of arena", f.Memory.Arena)
	}
	p.b.WriteByte('\n')
	p.fixed = map[int32]bool{}
	if f == p.functions[0] { // a run does not change its arguments
		for _, s := range f.Body.Args {
			p.fixed[s] = true
		}
	}
	p.block(f.Body, "  ")
}

func (p *printer) block(b *exec.Block, indent string) {
	p.b.WriteString(indent)
	if b.Name != "" {
		p.b.WriteString(b.Name + " ")
	}
	fmt.Fprintf(&p.b, "(%s)\n", slots(b.Args))
	for i := range b.Instrs {
		p.instr(&b.Instrs[i], indent)
	}
	fmt.Fprintf(&p.b, "%sreturn %s\n", indent, slots(b.Ret))
}

func (p *printer) instr(ins *exec.Instr, indent string) {
	p.b.WriteString(indent)
	if len(ins.Out) > 0 {
		p.b.WriteString(slots(ins.Out) + " = ")
	}
	name := ins.Op.Name()
	if ins.Fused != nil {
		var names []string
		for _, o := range ins.Fused {
			names = append(names, o.Name())
		}
		name = strings.Join(names, " + ")
	}
	p.b.WriteString(name)
	if len(ins.In) > 0 {
		p.b.WriteString(" " + slots(ins.In))
	}
	for i, t := range ins.Types {
		p.b.WriteString([]string{" : ", ", "}[min(i, 1)] + t.String())
	}
	var facts []string
	if ins.Fixed {
		facts = append(facts, "part of the plan")
		p.fixed[ins.Out[0]] = true
	}
	if k := ins.Kernel; k != nil {
		facts = append(facts, k.Family)
		if over := p.overwritten(ins, k); over != "" {
			facts = append(facts, "in place of "+over)
		}
		bytes := 0
		for _, t := range ins.Types {
			bytes += t.Bytes()
		}
		fact := fmt.Sprintf("%d bytes", bytes)
		for i, pl := range ins.Places {
			if pl.At >= 0 {
				fact += []string{" at ", " and "}[min(i, 1)] + fmt.Sprint(pl.At)
			}
		}
		facts = append(facts, fact)
		if k.Scratch > 0 {
			facts = append(facts, fmt.Sprintf("%d bytes of scratch", k.Scratch))
		}
		if k.Parts.N > 0 {
			facts = append(facts, fmt.Sprintf("threads %d", k.Parts.Threads(p.cores)))
		}
	}
	if ins.Family != "" {
		facts = append(facts, ins.Family)
	}
	if ins.Scalars != nil {
		facts = append(facts, fmt.Sprintf("%d operations on registers", len(ins.Scalars.Ops)))
		if ins.Scalars.Coded {
			facts = append(facts, "machine code")
		}
	}
	if ins.Scratch > 0 {
		facts = append(facts, fmt.Sprintf("%d bytes of scratch", ins.Scratch))
	}
	if ins.Dynamic {
		facts = append(facts, "compiled when its shapes are known")
	}
	if f := ins.Callee; f != nil {
		facts = append(facts, "calls @"+f.Name)
		if !slices.Contains(p.functions, f) {
			p.functions = append(p.functions, f)
		}
	}
	if len(facts) > 0 {
		p.b.WriteString("  // ")
		if line := lineOf(ins.Op); line > 0 {
			fmt.Fprintf(&p.b, "line %d: ", line)
		}
		p.b.WriteString(strings.Join(facts, ", "))
	}
	p.b.WriteByte('\n')
	if ins.Scalars != nil {
		p.b.WriteString(ins.Scalars.Text(indent + "    "))
		return
	}
	for _, b := range ins.Blocks {
		p.block(b, indent+"    ")
	}
}

// at names an op with its line.
func at(o *ir.Op) string {
	if line := lineOf(o); line > 0 {
		return fmt.Sprintf("%s in line %d", o.Name(), line)
	}
	return o.Name()
}

// overwritten returns the operands whose buffers the results take, or may take if the results come from the pool: the
// operands that die here and that the kernel may overwrite.
func (p *printer) overwritten(ins *exec.Instr, k *kernel.Kernel) string {
	var out []int32
	for i, s := range ins.In {
		for r := range ins.Out {
			pooled := ins.Places == nil || ins.Places[r] == exec.Place{Over: -1, At: -1}
			may := pooled && i < 64 && k.Overwrites(r)&(1<<i) != 0 && ins.Move[i] && !p.fixed[s]
			if (may || !pooled && ins.Places[r].Over == i) && !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return slots(out)
}

func slots(list []int32) string {
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%%%d", s)
	}
	return b.String()
}
