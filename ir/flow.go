package ir

// Flow describes how values move through an op: into its regions, out of them, from one run of a region to the next, or
// through the function that the op calls. Analyses and rewrites use Flow instead of the op's name, so they also support
// a loop of an outside dialect. An op without Flow forwards nothing, and its regions are unknown to analyses. Package
// flow follows values along Flow.
type Flow struct {
	// Runs says how often each region runs. The last entry also stands for all regions after it.
	Runs []Runs
	// Edges lists which values become which other values, unchanged.
	Edges []FlowEdge
	// Control is the number of leading operands that decide which regions run, and how often.
	Control int
	// Select returns the region that runs if the first operand is the constant v, nil for none. ok is false if v does
	// not say. Nil: no single operand selects one region.
	Select func(op *Op, v Attr) (r *Region, ok bool)
	// Callee is the attribute that names the called function. Operand i becomes argument i of the function, and the
	// function's return value i becomes result i.
	Callee string
	// Inline says that the called function's body may replace the op.
	Inline bool
	// Function says that the op is a function: the operands of its callers become its arguments, and its return values
	// become the callers' results.
	Function bool
	// Remap updates the attributes of an op whose operands and results changed. operands[i] is the former position of
	// operand i, or -1 for a new operand; results is the same for results. For a function, they are its arguments and
	// return values. The attributes with segment sizes need no Remap. Nil: no other attribute depends on positions.
	Remap func(m *Module, op *Op, operands, results []int) error
}

// Runs says how often a region runs per execution of its op.
type Runs uint8

// Numbers of runs.
const (
	RunsUnordered Runs = iota // any number of times, in no order, for example once per element: its ops have no place in program order
	RunsOnce
	RunsAtMostOnce
	RunsRepeated // any number of times, one run after another
	RunsTest     // as RunsRepeated; the first value that the region returns decides whether the loop continues
)

// Place is one of the lists of values of an op.
type Place uint8

// Places. Args are the arguments of a region's first block. Yields are the operands of a region's terminators that
// return to the op.
const (
	AtOperands Place = iota
	AtResults
	AtArgs
	AtYields
)

// AllRegions in a Port stands for every region of the op.
const AllRegions = -1

// Port is the tail of a list of values, from position First.
type Port struct {
	At     Place
	Region int // for AtArgs and AtYields
	First  int
}

// FlowEdge says that the values at From become the values at To, position by position.
type FlowEdge struct{ From, To Port }

// Run returns how often region i runs.
func (f *Flow) Run(i int) Runs {
	if f == nil || len(f.Runs) == 0 {
		return RunsUnordered
	}
	return f.Runs[min(i, len(f.Runs)-1)]
}
