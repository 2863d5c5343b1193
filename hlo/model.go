package hlo

import (
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/wire"
)

// Module is an HLO module. It is immutable after it was read or made.
type Module struct {
	src   *diag.Source // nil if the module was not read
	name  string
	comps []*computation // callees before their callers
	entry *computation

	scheduled   bool
	aliases     []moduleAlias
	donors      []donor
	passthrough bool // alias_passthrough_params
	layout      *entryLayout
	spmdParams  []bool // allow_spmd_sharding_propagation_to_parameters
	spmdOutput  []bool // allow_spmd_sharding_propagation_to_output
	replicas    int64  // 1 if the module does not say
	partitions  int64  // 1 if the module does not say
	frontend    []pair
	recovery    []recovery
	config      string // backend_config; "" for none
	debug       []DebugEntry
	frames      stackTables
	rest        wire.Rest
	snapshot    *Snapshot // of the file, nil for none
}

// entryLayout is the layout of the entry computation's parameters and result.
type entryLayout struct {
	params []*shape
	result *shape
}

// moduleAlias says that an output may or must share the memory of a parameter.
type moduleAlias struct {
	valueAlias // of a parameter
	must       bool
}

// donor says that the caller donates the memory of a parameter.
type donor struct {
	param int64
	index []int64
}

// pair is one entry of a map from text to text.
type pair struct{ key, value string }

// recovery says how to compute an original value that the compiler replaced.
type recovery struct {
	replaced, replacing *originArray
	module              string // text of a module; "" for none
}

// stackTables are the tables that stack_frame_id refers to. Ids are one-based; 0 is none.
type stackTables struct {
	files, functions []string
	locations        []fileLocation
	frames           []stackFrame
}

type fileLocation struct{ file, function, line, column, endLine, endColumn int64 }

// stackFrame is a place and the frame that called it; parent 0 is none.
type stackFrame struct{ location, parent int64 }

// computation is a list of instructions with one result.
type computation struct {
	name   string
	instrs []*instr
	params []*instr // by number
	root   *instr
	thread string // execution thread; "" is main
	config string // backend_config; "" for none
	pos    int
	// defined is false as long as a computation was only named.
	defined bool
	id      int64 // in protos; 0 if it was not read from one
	rest    wire.Rest
}

// instr is one instruction.
type instr struct {
	name     string
	op       *opcode
	wrapped  *opcode // of async-start, -update and -done: the op that runs asynchronously, if it is written as sugar
	shape    *shape
	operands []*instr
	attrs    []attr // in the order of printing
	literal  *literal
	param    int64 // number of a parameter
	id       int64
	pos      diag.Pos
	order    int32      // index in the computation
	rest     *wire.Rest // nil for none
}

// number sets the order of the instructions of c.
func (c *computation) number() {
	for i, in := range c.instrs {
		in.order = int32(i)
	}
}

// attr is an attribute of an instruction.
type attr struct {
	spec  *attrSpec
	value any
}

// get returns the value of the attribute spec, nil if in has none.
func (in *instr) get(spec *attrSpec) any {
	for i := range in.attrs {
		if in.attrs[i].spec == spec {
			return in.attrs[i].value
		}
	}
	return nil
}

// attrByName returns the value of the attribute called name, nil if in has none.
func (in *instr) attrByName(name string) any {
	for i := range in.attrs {
		if in.attrs[i].spec.name == name {
			return in.attrs[i].value
		}
	}
	return nil
}

// attrOf returns the value of the attribute called name as a T, the zero T if in has none.
func attrOf[T any](in *instr, name string) T {
	v, _ := in.attrByName(name).(T)
	return v
}

// isAsync reports whether in is one of async-start, async-update and async-done.
func (in *instr) isAsync() bool {
	return in.op == opAsyncStart || in.op == opAsyncUpdate || in.op == opAsyncDone
}

// callees returns the computations that in calls.
func (in *instr) callees() (list []*computation) {
	for _, a := range in.attrs {
		switch v := a.value.(type) {
		case *computation:
			list = append(list, v)
		case []*computation:
			list = append(list, v...)
		}
	}
	return list
}

// callees returns the computations that the instructions of c call.
func (c *computation) callees() (list []*computation) {
	for _, in := range c.instrs {
		list = append(list, in.callees()...)
	}
	return list
}

// branches returns the computations that a conditional chooses from.
func (in *instr) branches() []*computation {
	if c := attrOf[*computation](in, "true_computation"); c != nil {
		return []*computation{c, attrOf[*computation](in, "false_computation")}
	}
	return attrOf[[]*computation](in, "branch_computations")
}

// predecessors returns the control predecessors of in.
func (in *instr) predecessors() []*instr {
	list, _ := in.get(cControl).([]*instr)
	return list
}

// shapesOf returns the types of the results of instructions.
func shapesOf(list []*instr) []*shape {
	shapes := make([]*shape, len(list))
	for i, in := range list {
		shapes[i] = in.shape
	}
	return shapes
}

// window is a window of a convolution or a reduction, one entry per dimension.
type window []windowDim

type windowDim struct {
	size, stride, padLow, padHigh, baseDilation, windowDilation int64
	reversal                                                    bool
}

// paddingDim is the padding of one dimension.
type paddingDim struct{ low, high, interior int64 }

// sliceDim is the range of one dimension.
type sliceDim struct{ start, limit, stride int64 }

// convDims are the dimension numbers of a convolution: a letter for each dimension. Letters are b, f, i, o, digits
// for spatial dimensions, and ? for dimensions without meaning.
type convDims struct{ input, kernel, output string }

// valueAlias says that a part of the result shares the memory of a part of a parameter or an operand.
type valueAlias struct {
	output []int64
	number int64 // of the parameter or operand
	index  []int64
}

// statistics are numbers that tools attach to an instruction.
type statistics struct {
	shown int64 // the number that a graph shows, as an index into list
	list  []statistic
}

type statistic struct {
	name  string
	value float64
}

// accuracy is the value of result_accuracy: a mode, or a tolerance.
type accuracy struct {
	mode             int64
	tolerance        bool
	atol, rtol, ulps float64
}

// sparsity describes the sparsity of one operand of a product or convolution.
type sparsity struct {
	set                     bool
	num, group, dim, stride int64
	index                   int64 // of the operand that holds the metadata; 0 for none
}

type sparsityConfig struct{ lhs, rhs sparsity }

// blockScaling says which operands scale the blocks of one operand of a product or convolution.
type blockScaling struct {
	set            bool
	scale, zero    int64 // indices of the operands with the scales and the zero points; 0 for none
	strides, steps []int64
}

type blockScalingConfig struct{ lhs, rhs blockScaling }

// metadata describes the origin of an instruction.
type metadata struct {
	opType, opName, sourceFile                               string
	sourceLine, sourceEndLine, sourceColumn, sourceEndColumn int64
	profileType                                              []int64
	deduplicatedName, schedulingName                         string
	frame                                                    int64
	payload                                                  *string
	rest                                                     wire.Rest
}

// domain is the sharding at the two sides of a domain instruction.
type domain struct {
	kind        string
	entry, exit *sharding
}

// origin is the value of the original program that an instruction computes.
type origin struct {
	synthetic bool
	tree      *originNode
	calls     string // the calls that lead to the value in the original program
}

// originNode is a tuple of nodes, or a leaf.
type originNode struct {
	isTuple bool
	elems   []*originNode
	leaf    *originArray // nil for an empty leaf
}

// originArray is an array inside the value of an instruction.
type originArray struct {
	name  string
	index []int64
}
