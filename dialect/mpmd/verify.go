package mpmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// Errors of Shardy's verifier, with its wording.

// Discardable attributes.
const (
	attrTopology    = "topology"     // of a function: the meshes of the program
	attrShape       = "mesh_shape"   // of a function: the mesh on which a fragment runs it
	attrCounter     = "call_counter" // of mpmd.call
	attrMemory      = "mhlo.memory_kind"
	attrArgs        = fn.AttrArgAttrs // of an op: dictionaries for its operands
	attrResults     = fn.AttrResAttrs
	memoryOfHost    = "pinned_host"
	memoryOfDevices = "device"
)

// meshTensorOf returns the parameters of a mesh tensor, or nil for any other type.
func meshTensorOf(t ir.Type) *MeshTensor {
	if d, ok := t.(*ir.DialectType); ok {
		m, _ := d.Data().(*MeshTensor)
		return m
	}
	return nil
}

// within checks that op is directly in a func.func or, if loops is set, in mpmd.for.
func within(op *ir.Op, loops bool, r *ir.Reporter) bool {
	p := op.Parent()
	if p.Is(fn.Func) || loops && p.Name() == nameFor {
		return true
	}
	if loops {
		r.Errorf(op, "expects parent op to be one of 'func.func, mpmd.for'")
	} else {
		r.Errorf(op, "expects parent op 'func.func'")
	}
	return false
}

// function returns the function around op; ok is false if there is none.
func function(op *ir.Op) (f fn.FuncOp, ok bool) {
	for p := op.Parent(); p != nil; p = p.Parent() {
		if f, ok := fn.AsFunc(p); ok {
			return f, true
		}
	}
	return fn.FuncOp{}, false
}

// meshOf returns the mesh of that name in the topology of the function around op. If there is none, it reports an error
// and returns nil.
func meshOf(op *ir.Op, name string, r *ir.Reporter) *sdy.DeviceMesh {
	r.ReadsAround()
	f, ok := function(op)
	if !ok {
		r.Errorf(op, "expects parent op 'func.func'")
		return nil
	}
	topology, ok := ir.DataOf[Topology](f.Attr(attrTopology))
	if !ok {
		r.PlainErrorf(op, "Function does not have a topology attribute: %s", f.Symbol())
		return nil
	}
	for _, m := range topology.Meshes {
		if m.Name == name {
			return m.Mesh
		}
	}
	r.PlainErrorf(op, "Topology doesn't have a mesh with name: %s", name)
	return nil
}

// verifyOnMesh checks that the topology has the mesh of t, and that the sharding of t fits it.
func verifyOnMesh(op *ir.Op, t *MeshTensor, r *ir.Reporter) bool {
	m := meshOf(op, t.Mesh, r)
	return m != nil && (t.Sharding == nil || t.Sharding.VerifyOn(m, t.Tensor, op, r))
}

// verifyReduce accepts an unknown size as any size.
func verifyReduce(op *ir.Op, r *ir.Reporter) {
	if op.NumOperands() == 0 {
		r.Errorf(op, "expected 1 or more operands, but found 0")
		return
	}
	t := op.Result(0).Type().(*ir.TensorType)
	same := func(u *ir.TensorType) bool {
		return t.Elem() == u.Elem() && fmt.Sprint(t.Encoding()) == fmt.Sprint(u.Encoding()) && (!t.Ranked() || !u.Ranked() ||
			slices.EqualFunc(t.Shape(), u.Shape(), func(m, n int64) bool { return m == n || m == ir.Dynamic || n == ir.Dynamic }))
	}
	for _, v := range op.Operands() {
		if !same(v.Type().(*ir.TensorType)) {
			r.Errorf(op, "requires the same type for all operands and results")
			return
		}
	}
	if d, ok := ir.DataOf[Reduction](op.Attr(AttrReduction)); op.NumOperands() > 1 && (!ok || d.Type == reductions[0]) {
		r.PlainErrorf(op, "ReduceOp must have exactly one operand if the reduction type is none")
	}
}

// bodyTypes returns the types of the body's arguments and of the values that it returns. If the body does not end with
// mpmd.return, it reports an error.
func bodyTypes(op *ir.Op, r *ir.Reporter) (args, yields []ir.Type, ok bool) {
	b := op.Region(0).Entry()
	last := b.Last()
	if last == nil {
		return nil, nil, false // the block is rejected
	}
	if last.Name() != "mpmd.return" {
		r.Errorf(op, "expects regions to end with 'mpmd.return', found '%s'", last.Name()).
			Note(op.Pos(), "in custom textual format, the absence of terminator implies 'mpmd.return'")
		return nil, nil, false
	}
	return view.Types(b.Args()), view.Types(last.OperandList()), true
}

// verifyCount checks that there are as many values inside as outside.
func verifyCount(op *ir.Op, inner, outer []ir.Type, in, out string, r *ir.Reporter) bool {
	if len(inner) != len(outer) {
		r.PlainErrorf(op, "number of %ss must match the number of %ss respectively: %d != %d", in, out, len(inner), len(outer))
		return false
	}
	return true
}

func verifyNamed(op *ir.Op, r *ir.Reporter) {
	args, yields, ok := bodyTypes(op, r)
	if !ok {
		return
	}
	agree := func(inner, outer []ir.Type, in, out string) bool {
		if !verifyCount(op, inner, outer, in, out, r) {
			return false
		}
		for i, t := range inner {
			if t != outer[i] {
				r.PlainErrorf(op, "expected the type of the %s to match the type of %s: '%s', got: '%s'", in, out, t, outer[i])
				return false
			}
		}
		return true
	}
	_ = agree(args, view.Types(op.OperandList()), "block argument", "operand") && agree(yields, op.ResultTypes(), "returned value", "result")
}

func verifyFragment(op *ir.Op, r *ir.Reporter) {
	if !within(op, true, r) {
		return
	}
	if args, yields, ok := bodyTypes(op, r); ok {
		verifyOfFragment(op, args, yields, r)
	}
}

// verifyOfFragment checks the operands and results of a fragment or of a call of one: mesh tensors are on its mesh, and
// the values inside are whole tensors.
func verifyOfFragment(op *ir.Op, args, yields []ir.Type, r *ir.Reporter) bool {
	mesh, _ := op.Attr(AttrMeshName).(*ir.StringAttr)
	agree := func(inner, outer []ir.Type, in, out string) bool {
		if !verifyCount(op, inner, outer, in, out, r) {
			return false
		}
		for i, t := range inner {
			m := meshOf(op, mesh.Value(), r)
			outside := meshTensorOf(outer[i])
			switch {
			case m == nil:
				return false
			case outside == nil && t == outer[i]: // a token
				continue
			case outside == nil:
				r.PlainErrorf(op, "expected the type of the %s to match the %s: '%s', got: '%s'", in, out, outer[i], t)
				return false
			case outside.Mesh != mesh.Value():
				r.PlainErrorf(op, "expected the mesh name of the %s to match that of the fragment op: %s != %s", out, outside.Mesh, mesh.Value())
				return false
			case outside.Sharding != nil && !outside.Sharding.VerifyOn(m, outside.Tensor, op, r):
				return false
			case t != ir.Type(outside.Tensor):
				r.PlainErrorf(op, "expected the type of the %s to be global tensor type %s: '%s', got: '%s'", in, out, outside.Tensor, t)
				return false
			}
		}
		return true
	}
	return agree(args, view.Types(op.OperandList()), "block argument", "operand") && agree(yields, op.ResultTypes(), "returned value", "result")
}

// callee returns the function that op calls and its type. If there is none, it reports an error.
func callee(op *ir.Op, r *ir.Reporter) (f fn.FuncOp, t *ir.FunctionType) {
	root := op
	for root.Parent() != nil {
		root = root.Parent()
	}
	name := op.Attr(AttrCallee).(*ir.SymbolRefAttr).Root()
	if f, ok := fn.AsFunc(r.Symbols(root)[name]); ok && f.Type() != nil {
		return f, f.Type()
	}
	r.PlainErrorf(op, "'%s' does not reference a valid function", name)
	return fn.FuncOp{}, nil
}

func verifyFragmentCall(op *ir.Op, r *ir.Reporter) {
	if !within(op, false, r) {
		return
	}
	f, t := callee(op, r)
	if t == nil || !verifyOfFragment(op, t.Inputs(), t.Results(), r) {
		return
	}
	mesh, ok := ir.DataOf[sdy.DeviceMesh](f.Attr(attrShape))
	if !ok {
		r.PlainErrorf(f.Op, "Function does not have a mesh_shape attribute: %s", f.Symbol())
		return
	}
	name, _ := op.Attr(AttrMeshName).(*ir.StringAttr)
	if own := meshOf(op, name.Value(), r); own != nil && own.String() != mesh.String() {
		r.PlainErrorf(op, "Expected mesh of fragment call and callee function to match: %s vs %s", sdy.MeshAttr.New(own), sdy.MeshAttr.New(mesh))
	}
}

func verifyCall(op *ir.Op, r *ir.Reporter) {
	if a, ok := op.Attr(attrCounter).(*ir.IntegerAttr); ok && !ui32.Check(a) {
		r.PlainErrorf(op, "call_counter must be an uint32, got '%s'", a.Type())
		return
	}
	root := op.Attr(AttrCallee).(*ir.SymbolRefAttr).Root()
	if p := op.Parent(); !p.Is(fn.Func) && p.Name() != nameFor {
		r.PlainErrorf(op, `Mpmd CallOp on "%s" can only be used in a function or for_op block but was called from inside op %s`, root, p.Name())
		return
	}
	if in, ok := function(op); ok && in.Attr(attrTopology) != nil && !public(in) {
		r.PlainErrorf(op, `Mpmd CallOp on "%s" in an Mpmd function can only be used directly by the entrypoint function, i.e. the main function, but was called from "%s".`, root, in.Symbol())
		return
	}
	f, t := callee(op, r)
	if t == nil {
		return
	}
	for _, side := range [...]struct {
		name       string
		want, have []ir.Type
	}{{"operand", t.Inputs(), view.Types(op.OperandList())}, {"result", t.Results(), op.ResultTypes()}} {
		for i, w := range side.want { // Shardy accepts other numbers of values
			if i < len(side.have) && w != side.have[i] {
				r.PlainErrorf(op, "Type mismatch. Expected call %s to have type '%s' but got '%s'", side.name, w, side.have[i])
				return
			}
		}
	}
	if f.Attr(attrTopology) != nil && !f.Private() {
		r.PlainErrorf(op, "MPMD CallOp callee with topology must also have visibility set to private, as public functions with topologies are assumed to be entry point functions.")
	}
}

// public reports whether f can be called from outside its module.
func public(f fn.FuncOp) bool {
	v, ok := f.Attr(fn.AttrSymVisibility).(*ir.StringAttr)
	return !ok || v.Value() == "public"
}

func verifyTransfer(op *ir.Op, r *ir.Reporter) {
	from, to := meshTensorOf(op.Operand(0).Type()), meshTensorOf(op.Result(0).Type())
	if !within(op, false, r) || !verifyOnMesh(op, from, r) || !verifyOnMesh(op, to, r) {
		return
	}
	if from.Tensor != to.Tensor {
		r.PlainErrorf(op, "cannot perform transfer between given types '%s' and '%s': global tensor types are different", op.Operand(0).Type(), op.Result(0).Type())
		return
	}
	for _, t := range [...]*MeshTensor{from, to} {
		if k := t.MemoryKind; k != nil && k.Value() != memoryOfHost && k.Value() != memoryOfDevices {
			r.PlainErrorf(op, "memory kind must be either 'pinned_host' or 'device'. Found '%s'.", k.Value())
			return
		}
	}
	if memoryOf(op.Operand(0)) == memoryOfHost {
		r.PlainErrorf(op, "Transfers from host with attributes are not supported. Memory kinds must be expressed in the type.")
	} else if memoryOf(op.Result(0)) == memoryOfHost {
		r.PlainErrorf(op, "Transfers to host with attributes are not supported. Memory kinds must expressed be in the type.")
	}
}

// memoryOf returns the kind of memory of v by attributes, or "".
func memoryOf(v *ir.Value) string {
	def, list := v.DefiningOp(), attrResults
	if def == nil {
		def, list = v.Block().Parent(), attrArgs
		if v.Block() != def.Region(0).Entry() {
			return ""
		}
	}
	var a ir.Attr
	if def.Name() == nameTransfer {
		a = def.Attr(attrMemory)
	} else if values, ok := def.Attr(list).(*ir.ArrayAttr); ok && v.Index() < len(values.Elems()) {
		if d, ok := values.Elems()[v.Index()].(*ir.DictAttr); ok {
			a = d.Get(attrMemory)
		}
	}
	return view.String(a)
}

func verifyAssign(op *ir.Op, r *ir.Reporter) {
	verifyAssignment(op, op.Operand(0).Type(), op.Result(0).Type(), r)
}

func verifyUnassign(op *ir.Op, r *ir.Reporter) {
	verifyAssignment(op, op.Result(0).Type(), op.Operand(0).Type(), r)
}

// verifyAssignment checks that a value is replicated on its mesh and has the type local without the mesh.
func verifyAssignment(op *ir.Op, local, onMesh ir.Type, r *ir.Reporter) {
	t := meshTensorOf(onMesh)
	if !within(op, true, r) || !verifyOnMesh(op, t, r) {
		return
	}
	if t.Sharding != nil && slices.ContainsFunc(t.Sharding.Dims, func(d sdy.DimSharding) bool { return len(d.Axes) > 0 }) {
		r.PlainErrorf(op, "MeshTensorType should be fully replicated: '%s'", onMesh)
	} else if local != ir.Type(t.Tensor) {
		r.PlainErrorf(op, "mismatch between the given local type '%s' and mesh_type ranked tensor type: '%s'", local, t.Tensor)
	}
}

func verifyFor(op *ir.Op, r *ir.Reporter) {
	args, yields, ok := bodyTypes(op, r)
	if !ok {
		return
	}
	values := view.Types(op.OperandList())
	if len(values) != op.NumResults() {
		r.Errorf(op, "requires the same number of operands and results")
		return
	}
	for i, t := range values {
		if t != op.Result(i).Type() {
			r.Errorf(op, "requires the same type for operand and result at index %d", i)
			return
		}
	}
	if len(args) != len(values)+1 {
		r.PlainErrorf(op, "wrong number of arguments for region")
		return
	}
	for i, t := range values {
		if t != args[i] {
			r.PlainErrorf(op, "wrong argument type at argument no. %d", i)
			return
		}
	}
	if !isIndex(args[len(values)]) {
		r.PlainErrorf(op, "index must have a 32-bit integer rank-0 tensor type")
		return
	}
	if !slices.Equal(yields, values) {
		r.PlainErrorf(op, "type mismatch for result of region")
		return
	}
	for _, t := range values {
		if kind(t) != kind(values[0]) {
			r.PlainErrorf(op, "type ids in operands/results are not identical")
			return
		}
	}
	n, factor := view.IntOr(op.Attr(AttrIterations), 1), view.IntOr(op.Attr(AttrUnrollFactor), 1)
	if n <= 0 {
		r.PlainErrorf(op, "number of iterations must be greater than zero")
	} else if factor == 0 || n%factor != 0 {
		r.PlainErrorf(op, "number of iterations %d isn't divisible by unroll factor %d", n, factor)
	}
}

// isIndex reports whether t can be the type of a loop's index: a 32-bit integer. On a mesh, Shardy accepts integers of
// any width and shape.
func isIndex(t ir.Type) bool {
	m := meshTensorOf(t)
	if m != nil {
		t = m.Tensor
	}
	tensor, ok := t.(*ir.TensorType)
	if !ok || !tensor.Ranked() {
		return false
	}
	i, ok := tensor.Elem().(*ir.IntegerType)
	return ok && (m != nil || tensor.Rank() == 0 && i.Width() == 32)
}

// kind returns the text before the parameters of a type: values of a loop have one kind.
func kind(t ir.Type) string {
	name, _, _ := strings.Cut(t.String(), "<")
	return name
}
