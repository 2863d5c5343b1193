package plan

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
)

// Print writes the plan of f and of the functions that it calls, for runs on the given number of cores. A line is one
// instruction: results, ops, operands and result types, then the family of its kernel, the operands that the result may
// overwrite, the bytes of the results and the cores that work on it. The numbers are slots of the frame.
func Print(w io.Writer, f *exec.Function, cores int) error {
	p := &printer{cores: cores}
	p.functions = append(p.functions, f)
	for i := 0; i < len(p.functions); i++ {
		p.function(p.functions[i])
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
	fmt.Fprintf(&p.b, "@%s: %d slots\n", f.Name, f.Nslots)
	p.fixed = map[int32]bool{}
	if f == p.functions[0] { // a run does not change its arguments
		for _, s := range f.Body.Args {
			p.fixed[s] = true
		}
	}
	p.block(f.Body, "  ")
}

func (p *printer) block(b *exec.Block, indent string) {
	fmt.Fprintf(&p.b, "%s(%s)\n", indent, slots(b.Args))
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
	n := &ins.Notes
	name := ins.Op.Name()
	if n.Fused != nil {
		var names []string
		for _, o := range n.Fused {
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
	if n.Fixed {
		facts = append(facts, "part of the plan")
		p.fixed[ins.Out[0]] = true
	}
	if k := n.Kernel; k != nil {
		facts = append(facts, k.Family)
		if over := p.overwritten(ins, k); over != "" {
			facts = append(facts, "in place of "+over)
		}
		bytes := 0
		for _, t := range ins.Types {
			bytes += t.Bytes()
		}
		facts = append(facts, fmt.Sprintf("%d bytes", bytes))
		if k.Scratch > 0 {
			facts = append(facts, fmt.Sprintf("%d bytes of scratch", k.Scratch))
		}
		if k.Parts.N > 0 {
			facts = append(facts, fmt.Sprintf("threads %d", k.Parts.Threads(p.cores)))
		}
	}
	if n.Scalars != nil {
		facts = append(facts, fmt.Sprintf("%d operations on registers", len(n.Scalars.Ops)))
	}
	if n.Dynamic {
		facts = append(facts, "compiled when its shapes are known")
	}
	if f := n.Callee; f != nil {
		facts = append(facts, "calls @"+f.Name)
		if !slices.Contains(p.functions, f) {
			p.functions = append(p.functions, f)
		}
	}
	if len(facts) > 0 {
		p.b.WriteString("  // " + strings.Join(facts, ", "))
	}
	p.b.WriteByte('\n')
	for _, b := range n.Blocks {
		p.block(b, indent+"    ")
	}
}

// overwritten returns the operands whose buffers the results may take: the operands that die here and that the kernel
// may overwrite.
func (p *printer) overwritten(ins *exec.Instr, k *kernel.Kernel) string {
	allowed := k.Inplace
	for _, o := range k.Others {
		allowed |= o
	}
	var out []int32
	for i, s := range ins.In {
		if i < 64 && allowed&(1<<i) != 0 && ins.Move[i] && !p.fixed[s] {
			out = append(out, s)
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
