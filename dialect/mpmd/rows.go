package mpmd

import (
	"errors"

	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Names of ops that the rules check for.
const (
	nameFor      = "mpmd.for"
	nameTransfer = "mpmd.transfer"
)

// Constraints on types and attributes.
var (
	meshTensor = ir.Constraint{Summary: "mesh tensor type", Check: MeshTensorType.Is}
	anyTensor  = ir.Constraint{Summary: "tensor of any non-token type values", Check: func(t ir.Type) bool { _, ok := t.(*ir.TensorType); return ok }}
	onMesh     = ods.AnyOf(meshTensor, ods.Token)
	anyPlace   = ods.AnyOf(anyTensor, meshTensor)
	hloValue   = ods.AnyOf(ods.AnyRanked, ods.Token)

	origins = ods.ArrayOf(UserOriginAttr.Constraint(), "array of origin infos")
	ui32    = ir.AttrConstraint{Summary: "32-bit unsigned integer attribute", Kind: ir.KindInt, FormType: ir.ElementOf(tensor.UI32), Check: func(a ir.Attr) bool {
		i, ok := a.(*ir.IntegerAttr)
		return ok && i.Type() == ir.ElementOf(tensor.UI32)
	}}
)

// Return is mpmd.return.
var Return = &ir.Def{
	Name:     "mpmd.return",
	Doc:      "Ends the body of an operation with its results.",
	Operands: []ir.Arg{{Name: "results", Mult: ir.Variadic}},
	Traits:   ir.Pure | ir.Terminator | ir.ReturnLike,
	Format:   "attr-dict $results (`:` type($results)^)?",
}

// NamedComputation is mpmd.named_computation.
var NamedComputation = &ir.Def{
	Name:     "mpmd.named_computation",
	Doc:      "Runs its body under a name, which can be assigned to a mesh.",
	Operands: []ir.Arg{{Name: "tensors", Type: hloValue, Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Type: hloValue, Mult: ir.Variadic}},
	Attrs:    []ir.AttrSpec{{Name: AttrOrigin, Type: UserOriginAttr.Constraint()}},
	Regions:  []ir.RegionSpec{{Name: "region"}},
	Traits:   ir.SingleBlock | ir.IsolatedFromAbove | ir.NestedEffects,
	Format:   "`` `<` custom<Origin>($origin) `>` `(` $tensors `)` attr-dict custom<Body>($region) `:` functional-type(operands, results)",
	Flow:     view.ComputationFlow(remap),
	Verify:   verifyNamed,
	Clauses:  ir.Clauses("the body takes the operands and gives the results"),
}

// NamedTensor is mpmd.named_tensor.
var NamedTensor = &ir.Def{
	Name:     "mpmd.named_tensor",
	Doc:      "Gives a value a name, which can be assigned to a mesh.",
	Operands: []ir.Arg{{Name: "tensor", Type: anyTensor}},
	Results:  []ir.Arg{{Name: "result", Type: anyTensor}},
	Attrs:    []ir.AttrSpec{{Name: "name", Type: ods.StrAttr}},
	Traits:   ir.Pure | ir.SameType,
	Format:   "$tensor `name` `` `=` `` $name attr-dict `:` custom<SameType>(type($tensor), type($result))",
	Infer:    view.InferFirst,
	Verify:   view.VerifySame,
}

// Fragment is mpmd.fragment.
var Fragment = &ir.Def{
	Name:     "mpmd.fragment",
	Doc:      "Runs its body on one mesh of the topology.",
	Operands: []ir.Arg{{Name: "inputs", Type: onMesh, Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Type: onMesh, Mult: ir.Variadic}},
	Attrs: []ir.AttrSpec{
		{Name: AttrInShardings, Type: sdy.PerValueAttr.Constraint(), Optional: true},
		{Name: AttrMeshName, Type: ods.StrAttr},
		{Name: AttrOrigin, Type: origins},
		{Name: AttrOutShardings, Type: sdy.PerValueAttr.Constraint(), Optional: true},
		{Name: AttrStageID, Type: ods.I64Attr, Optional: true},
	},
	Regions: []ir.RegionSpec{{Name: "region"}},
	Traits:  ir.SingleBlock | ir.IsolatedFromAbove | ir.NestedEffects,
	Format: "`` `<` `mesh` `` `=` `` $mesh_name `,` `origin` `` `=` `` custom<Origins>($origin) `` custom<Placed>($stage_id, $in_shardings, $out_shardings) `>` " +
		"`(` $inputs `)` attr-dict custom<Body>($region) `:` functional-type(operands, results)",
	Flow:   view.ComputationFlow(remap),
	Verify: verifyFragment,
	Clauses: ir.Clauses(`
		it is in a function with a topology, or in mpmd.for
		its operands and results are on its mesh, which is in the topology, and their shardings are right for the mesh
		the body takes the whole tensors of the operands and gives those of the results
		in_shardings and out_shardings are right for the operands and results -- Shardy does not check them either
	`),
}

// FragmentCall is mpmd.fragment_call. It has no Flow: the types of its operands differ from its function's.
var FragmentCall = &ir.Def{
	Name:     "mpmd.fragment_call",
	Doc:      "Calls the function that holds the body of a fragment.",
	Operands: []ir.Arg{{Name: "tensors", Type: meshTensor, Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Type: meshTensor, Mult: ir.Variadic}},
	Attrs: []ir.AttrSpec{
		{Name: AttrCallee, Type: ods.SymbolRef},
		{Name: AttrMeshName, Type: ods.StrAttr},
		{Name: AttrOrigin, Type: origins},
	},
	Format: "`` `<` `mesh` `` `=` `` $mesh_name `,` `origin` `` `=` `` custom<Origins>($origin) `>` $callee `(` $tensors `)` attr-dict `:` functional-type(operands, results)",
	Verify: verifyFragmentCall,
	Clauses: ir.Clauses(`
		it is in a function with a topology
		its operands and results are on its mesh, which is in the topology, and their shardings are right for the mesh
		the callee is a function that takes the whole tensors of the operands and gives those of the results
		mesh_shape of the callee is that mesh
	`),
}

// Transfer is mpmd.transfer.
var Transfer = &ir.Def{
	Name:     nameTransfer,
	Doc:      "Moves a value to another mesh, sharding or kind of memory.",
	Operands: []ir.Arg{{Name: "tensor", Type: meshTensor}},
	Results:  []ir.Arg{{Name: "result", Type: meshTensor}},
	Traits:   ir.Pure,
	Format:   "attr-dict $tensor `:` functional-type(operands, results)",
	Verify:   verifyTransfer,
	Clauses: ir.Clauses(`
		it is in a function with a topology, whose meshes include those of operand and result
		the shardings are right for their meshes, and the whole tensors are the same
		memory kinds are device or pinned_host, and pinned_host is part of the type
	`),
}

// Assign is mpmd.assign.
var Assign = &ir.Def{
	Name:     "mpmd.assign",
	Doc:      "Puts a value on a mesh, replicated.",
	Operands: []ir.Arg{{Name: "tensor", Type: anyTensor}},
	Results:  []ir.Arg{{Name: "result", Type: meshTensor}},
	Attrs:    []ir.AttrSpec{{Name: AttrOrigin, Type: ods.StrAttr, Optional: true}},
	Traits:   ir.Pure,
	Format:   "attr-dict $tensor `:` functional-type(operands, results)",
	Verify:   verifyAssign,
	Clauses: ir.Clauses(`
		it is in a function with a topology, or in mpmd.for
		the mesh of the result is in the topology
		the result is replicated, and its whole tensor is the operand's
	`),
}

// Unassign is mpmd.unassign.
var Unassign = &ir.Def{
	Name:     "mpmd.unassign",
	Doc:      "Takes a replicated value from its mesh.",
	Operands: []ir.Arg{{Name: "tensor", Type: meshTensor}},
	Results:  []ir.Arg{{Name: "result", Type: anyTensor}},
	Attrs:    []ir.AttrSpec{{Name: AttrOrigin, Type: ods.StrAttr, Optional: true}},
	Traits:   ir.Pure,
	Format:   "attr-dict $tensor `:` functional-type(operands, results)",
	Infer: func(_ *ir.Context, st *ir.OpState) ([]ir.Type, error) {
		t := meshTensorOf(st.Operands[0].Type())
		if t == nil {
			return nil, errors.New("the operand is not on a mesh")
		}
		return []ir.Type{t.Tensor}, nil
	},
	Verify: verifyUnassign,
	Clauses: ir.Clauses(`
		it is in a function with a topology, or in mpmd.for
		the mesh of the operand is in the topology
		the operand is replicated, and its whole tensor is the result
	`),
}

// Call is mpmd.call.
var Call = &ir.Def{
	Name:     "mpmd.call",
	Doc:      "Calls a function, such as the body of a loop.",
	Operands: []ir.Arg{{Name: "tensors", Type: anyPlace, Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Type: anyPlace, Mult: ir.Variadic}},
	Attrs:    []ir.AttrSpec{{Name: AttrCallee, Type: ods.SymbolRef}},
	Format:   "$callee `(` $tensors `)` attr-dict `:` functional-type(operands, results)",
	Flow:     &ir.Flow{Callee: AttrCallee, Remap: remap},
	Verify:   verifyCall,
	Clauses: ir.Clauses(`
		it is in a function or in mpmd.for; a function with a topology is public
		the callee is a function that takes and gives values of the same types, private if it has a topology
		call_counter is a ui32
	`),
}

// For is mpmd.for.
var For = &ir.Def{
	Name:     nameFor,
	Doc:      "Runs its body a fixed number of times. The last argument of the body is the index.",
	Operands: []ir.Arg{{Name: "tensors", Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Mult: ir.Variadic}},
	Attrs:    []ir.AttrSpec{{Name: AttrIterations, Type: ui32}, {Name: AttrUnrollFactor, Type: ui32, Optional: true}},
	Regions:  []ir.RegionSpec{{Name: "region"}},
	Traits:   ir.SingleBlock | ir.NestedEffects,
	Format:   "` ` `(` $tensors `)` attr-dict custom<Body>($region) `:` custom<SameTypes>(type($tensors), type($results))",
	Fits:     func(op *ir.Op) bool { return op.NumResults() > 0 }, // MLIR reads no empty list of types
	Flow: &ir.Flow{
		Runs: []ir.Runs{ir.RunsRepeated},
		Edges: []ir.FlowEdge{
			{From: ir.Port{At: ir.AtOperands}, To: ir.Port{At: ir.AtArgs}},
			{From: ir.Port{At: ir.AtYields}, To: ir.Port{At: ir.AtArgs}},
			{From: ir.Port{At: ir.AtYields}, To: ir.Port{At: ir.AtResults}},
		},
		Remap: remap,
	},
	ArgNames: func(op *ir.Op, r *ir.Region, set func(*ir.Value, string)) {
		if b := r.Entry(); b != nil && len(b.Args()) > 0 {
			set(b.Arg(len(b.Args())-1), "index")
		}
	},
	Verify: verifyFor,
	Clauses: ir.Clauses(`
		operands, results, returned values and the body's arguments before the index have the same types, all of one kind
		the index is a 32-bit integer
		iterations is positive, and unroll_factor divides it
	`),
}

// Broadcast is mpmd.broadcast.
var Broadcast = &ir.Def{
	Name:     "mpmd.broadcast",
	Doc:      "Lets a value move to each mesh that uses it.",
	Operands: []ir.Arg{{Name: "tensor", Type: anyTensor}},
	Results:  []ir.Arg{{Name: "result", Type: anyTensor}},
	Traits:   ir.Pure | ir.SameType,
	Format:   "attr-dict $tensor `:` custom<SameType>(type($tensor), type($result))",
	Infer:    view.InferFirst,
	Verify:   view.VerifySame,
}

// Reduce is mpmd.reduce.
var Reduce = &ir.Def{
	Name:     "mpmd.reduce",
	Doc:      "Reduces values of several meshes to one that each mesh can use.",
	Operands: []ir.Arg{{Name: "tensors", Type: anyTensor, Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "result", Type: anyTensor}},
	Attrs:    []ir.AttrSpec{{Name: AttrReduction, Type: ReductionAttr.Constraint(), Default: ReductionAttr.New(&Reduction{reductions[0]})}},
	Traits:   ir.Pure | ir.SameType,
	Format:   "`` $reduction attr-dict $tensors `:` functional-type(operands, results)",
	Verify:   verifyReduce,
	Clauses:  ir.Clauses("a reduction of type none has one operand"),
}

// Dialect returns the dialect.
func Dialect() *ir.Dialect {
	return &ir.Dialect{
		Name: "mpmd",
		Ops: []*ir.Def{
			Assign, Broadcast, Call, For, Fragment, FragmentCall, NamedComputation, NamedTensor, Reduce, Return, Transfer, Unassign,
		},
		Attrs: []*ir.AttrDef{
			MeshWithOriginsAttr, MeshesWithOriginsAttr, NamedMeshAttr, OriginAttr, ReductionAttr, TopologyAttr, UserOriginAttr,
		},
		Types:      []*ir.TypeDef{MeshTensorType},
		Directives: directives,
	}
}
