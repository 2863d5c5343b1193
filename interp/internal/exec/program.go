package exec

import (
	"time"

	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
)

// maxCallDepth bounds the nesting of calls while a program runs.
const maxCallDepth = 10000

// Program holds the state that the machines of a compiled module share. It does not change after compilation.
type Program struct {
	Module               *ir.Module
	Token                *Buf // the one value that all tokens share
	Replicas, Partitions int
	Timeout              time.Duration // of a callback; 0 means none
	// Memory allocates the payloads of values; nil means Go's heap. See Machine.Close.
	Memory Allocator
}

// Allocator allocates and frees the payloads of values. Free gets the whole slice that Alloc returned. It is safe for
// concurrent use.
type Allocator interface {
	Alloc(size int) ([]byte, error)
	Free(payload []byte)
}

// Function is the plan of one function.
type Function struct {
	Name    string
	Op      *ir.Op
	Nslots  int
	Args    []kernel.Type
	Results []kernel.Type
	Body    *Block
}

// Block is the plan of one block.
type Block struct {
	Args    []int32
	ArgDead []int32 // unused arguments
	Instrs  []Instr
	Ret     []int32 // operands of the terminator
	RetMove []bool  // whether to move the operand out of its slot
	After   []int32 // slots to release at the end; values that die at an instruction are not among them
}

// Instr is the instruction of one op, or of several fused ops.
type Instr struct {
	Op    *ir.Op
	In    []int32
	Out   []int32
	Types []kernel.Type // result types
	Move  []bool        // operand i dies here and no later operand of the op is the same value
	Dead  []int32       // slots to release afterwards
	Run   Runner
	Notes Notes
}

// Notes say how an instruction executes. Only printed plans use them.
type Notes struct {
	Kernel  *kernel.Kernel
	Fused   []*ir.Op
	Blocks  []*Block  // of the op's regions
	Callee  *Function // the function that the op calls
	Dynamic bool      // compiled when the shapes are known
	Scalars *Scalars  // the form of a loop on registers, in place of its blocks
	Fixed   bool      // the result is part of the plan and never overwritten
}

// Runner executes an instruction. If it fails, it ends the run with kernel.Fail.
type Runner func(m *Machine, fr *Frame, ins *Instr)

// Execute returns the instruction that executes a kernel.
func Execute(k kernel.Kernel) Runner {
	return func(m *Machine, fr *Frame, ins *Instr) { m.Step(fr, ins, &k, ins.Types) }
}
