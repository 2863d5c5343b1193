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
	Poison               bool          // overwrite values in arenas when they die: a test finds a use of dead values
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
	Memory  Memory // what a call needs
}

// Memory is the memory that a call of a function needs, in bytes, with the functions that it calls. Values of unknown
// shape and values in tuples do not count.
type Memory struct {
	Arena int   // of the frame: the values with a Place
	Pool  int64 // for the other values, at most
	Least int64 // for arena and other values, whichever branches the call takes
	Known bool  // false until the function is planned, and if it calls itself

	At      *ir.Op // the op at which the values need the most memory
	Largest []Live // the largest values that are live there
	Others  int    // the number of further ones
}

// Live is a value that is live at an op.
type Live struct {
	Op    *ir.Op // makes the value
	Type  string
	Bytes int
}

// Block is the plan of one block.
type Block struct {
	Name    string // for printed plans
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

	// An instruction executes either Kernel or Run.
	Kernel *kernel.Kernel
	Run    Runner

	Places   []Place   // of the kernel's results; nil: all come from the pool
	Family   string    // the kind of Run, for printed plans
	Effect   Effect    // of Run on memory
	Scratch  int64     // bytes that Run needs besides operands, results and the values of Blocks
	Captures []int32   // slots of outside values that the op's regions use
	Blocks   []*Block  // of the op's regions
	Callee   *Function // the function that the op calls
	Frame    int       // where Callee's arena begins in the arena of this frame; -1: it has its own
	Fused    []*ir.Op  // the ops that execute together; nil if there is only Op
	Scalars  *Scalars  // the form of a loop on registers, in place of its blocks
	Dynamic  bool      // compiled when the shapes are known
	Fixed    bool      // the result is part of the plan and never overwritten
}

// Place says where a result of a kernel is stored.
type Place struct {
	Over int // the operand whose buffer the result takes, or -1
	At   int // otherwise the offset in the frame's arena, or -1: the pool
}

// Effect says what a Runner does with operands and results.
type Effect uint8

const (
	Keeps    Effect = iota // it may keep operands, and results may share memory with operands
	Forwards               // result i has the memory of operand i
	Nests                  // it takes the operands and executes Blocks in its frame
)

// Runner executes an instruction. If it fails, it ends the run with kernel.Fail.
type Runner func(m *Machine, fr *Frame, ins *Instr)
