package shardy

import (
	"strconv"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/sdy"
	hlo "github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
)

// XLA's names for facts of Shardy that it stores outside Shardy's dialect (XLA, service/spmd/shardy/constants.h).
const (
	attrMeshes       = "xla.sdy.meshes"
	attrSharding     = "xla.sdy.sharding"
	attrRule         = "xla.sdy.sharding_rule"
	attrInShardings  = "xla.sdy.in_shardings"
	attrOutShardings = "xla.sdy.out_shardings"
	attrManualAxes   = "xla.sdy.manual_axes"
	attrInlineable   = "inlineable"

	targetSharding      = "Sharding"
	targetFuncResult    = "xla.sdy.FuncResultSharding"
	targetGlobalToLocal = "xla.sdy.GlobalToLocalShape"
	targetLocalToGlobal = "xla.sdy.LocalToGlobalShape"
	manualBody          = "xla.sdy.manual_computation_body"
)

// Used reports whether m has meshes or manual computations of Shardy.
func Used(m *ir.Module) bool {
	used := false
	m.Walk(func(op *ir.Op) bool {
		used = used || op.Is(sdy.Mesh) || op.Is(sdy.ManualComputation)
		return !used
	})
	return used
}

// Call is what is known about the form that a manual computation had when the module was read.
type Call struct {
	Callee     string // the function with the body; "" if the computation did not have such a form
	Take, Join uint32 // the origins of the custom calls that take and join the shards
}

// Export replaces Shardy's ops and attributes by frontend attributes, GSPMD shardings and custom calls, as XLA does
// for plugins that do not know Shardy and for HLO. origin returns the form that a manual computation had; it may be
// nil. The function of such a computation gets its old name and becomes private.
func Export(m *ir.Module, origin func(*ir.Op) Call) error {
	e := &exporter{m: m, meshes: map[string]*sdy.DeviceMesh{}, origin: origin}
	var list ir.AttrList
	for op := range m.Body().Ops() {
		if v, ok := sdy.AsMesh(op); ok {
			e.meshes[v.SymName()] = v.Mesh()
			list = append(list, ir.NamedAttr{Name: v.SymName(), Attr: v.Attr(sdy.AttrMesh)})
			e.meshOps = append(e.meshOps, op)
		}
	}
	m.Op().WalkPost(func(op *ir.Op) bool {
		e.op(op)
		return e.err == nil
	})
	if e.err != nil {
		return e.err
	}
	for _, op := range e.meshOps {
		op.Erase()
	}
	if len(list) > 0 {
		setFrontend(m.Op(), attrMeshes, ir.NewDict(list).String())
	}
	return nil
}

type exporter struct {
	m       *ir.Module
	meshes  map[string]*sdy.DeviceMesh
	meshOps []*ir.Op
	origin  func(*ir.Op) Call
	err     error
}

func (e *exporter) fail(op *ir.Op, format string, args ...any) {
	if e.err == nil {
		e.err = e.m.Errorf(op, format, args...)
	}
}

// setFrontend adds an entry to the frontend attributes of op.
func setFrontend(op *ir.Op, name, value string) {
	op.SetAttr(mhlo.AttrFrontendAttributes, withEntry(op.Attr(mhlo.AttrFrontendAttributes), name, value))
}

// withEntry returns frontend attributes with one more entry.
func withEntry(a ir.Attr, name, value string) ir.Attr {
	var list ir.AttrList
	if d, ok := a.(*ir.DictAttr); ok {
		list = d.Entries()
	}
	return ir.NewDict(list.Set(name, ir.NewString(value), false))
}

func (e *exporter) op(op *ir.Op) {
	switch {
	case op.Is(fn.Func):
		e.function(fn.FuncOp{Op: op})
	case op.Is(sdy.ShardingConstraint):
		v, _ := sdy.AsShardingConstraint(op)
		call := e.call(e.m.Before(op), targetSharding, op.OperandList(), []ir.Type{op.Result(0).Type()}, false, attrSharding, perValue(v.Sharding()))
		call.SetAttr(mhlo.AttrSharding, ir.NewString(e.gspmd(op, v.Sharding())))
		op.ReplaceWith(call.Result(0))
	case op.Is(sdy.ManualComputation):
		e.manual(op)
	case op.Is(sdy.Return) || op.Is(sdy.Mesh):
	case op.Def().Dialect() == sdy.Mesh.Dialect():
		e.fail(op, "'%s' op has no form outside the dialect sdy; portable artifacts of the route xla-mixed keep it", op.Name())
	default:
		if v, ok := ir.DataOf[sdy.PerValue](op.Attr(sdy.AttrValueSharding)); ok {
			setFrontend(op, attrSharding, op.Attr(sdy.AttrValueSharding).String())
			op.SetAttr(mhlo.AttrSharding, ir.NewString(e.gspmdList(op, v.Shardings)))
			op.RemoveAttr(sdy.AttrValueSharding)
		}
		if a := op.Attr(sdy.AttrValueRule); a != nil {
			setFrontend(op, attrRule, a.String())
			op.RemoveAttr(sdy.AttrValueRule)
		}
	}
}

// call creates a custom call with one frontend attribute.
func (e *exporter) call(b *ir.Builder, target string, operands []*ir.Value, types []ir.Type, effect bool, name, value string) *ir.Op {
	attrs := []ir.NamedAttr{{Name: hlo.AttrAPIVersion, Attr: ir.NewInteger(1, ir.Int(32))}, {Name: hlo.AttrCallTargetName, Attr: ir.NewString(target)}}
	if effect {
		attrs = append(attrs, ir.NamedAttr{Name: hlo.AttrHasSideEffect, Attr: e.m.Context().Bool(true)})
	}
	op := b.Create(hlo.CustomCall, operands, types, attrs...)
	setFrontend(op, name, value)
	return op
}

func perValue(list ...*sdy.Sharding) string {
	return sdy.PerValueAttr.New(&sdy.PerValue{Shardings: list}).String()
}

// function writes the shardings of arguments and results. A custom call before the return keeps a result's sharding.
func (e *exporter) function(f fn.FuncOp) {
	edit := func(d *ir.DictAttr, result bool) *ir.DictAttr {
		if d == nil {
			return nil
		}
		s, ok := ir.DataOf[sdy.Sharding](d.Get(sdy.AttrValueSharding))
		if !ok {
			return d
		}
		list := ir.AttrList(d.Entries()).Without(sdy.AttrValueSharding).Set(mhlo.AttrSharding, ir.NewString(e.gspmd(f.Op, s)), false)
		if !result {
			frontend := withEntry(d.Get(mhlo.AttrFrontendAttributes), attrSharding, d.Get(sdy.AttrValueSharding).String())
			list = list.Set(mhlo.AttrFrontendAttributes, frontend, false)
		}
		return ir.NewDict(list)
	}
	args, results := f.ValueAttrs()
	for i, d := range results {
		if d == nil || f.External() {
			continue
		}
		s, ok := ir.DataOf[sdy.Sharding](d.Get(sdy.AttrValueSharding))
		if !ok {
			continue
		}
		for _, b := range f.Region(0).Blocks() {
			if last := b.Last(); last.Is(fn.Return) {
				v := last.Operand(i)
				last.SetOperand(i, e.call(e.m.Before(last), targetFuncResult, []*ir.Value{v}, []ir.Type{v.Type()}, true, attrSharding, perValue(s)).Result(0))
			}
		}
	}
	for i := range args {
		args[i] = edit(args[i], false)
	}
	for i := range results {
		results[i] = edit(results[i], true)
	}
	f.SetSignature(f.Type(), args, results)
}

// manual moves the body of a manual computation into a function. Custom calls take the shards and join them.
func (e *exporter) manual(op *ir.Op) {
	v, _ := sdy.AsManualComputation(op)
	at := op
	for !at.Is(fn.Func) {
		if at = at.Parent(); at == nil {
			e.fail(op, "%s is outside a function", op.Name())
			return
		}
	}
	body := v.Body().Entry()
	var local []ir.Type
	for _, a := range body.Args() {
		local = append(local, a.Type())
	}
	ret := body.Last()
	var inner, outer []ir.Type
	for i := range ret.NumOperands() {
		inner, outer = append(inner, ret.Operand(i).Type()), append(outer, op.Result(i).Type())
	}
	axes, b := op.Attr(sdy.AttrManualAxes).String(), e.m.Before(op)
	var origin Call
	if e.origin != nil {
		origin = e.origin(op)
	}
	operands := op.OperandList()
	if len(operands) > 0 {
		call := e.call(b, targetGlobalToLocal, operands, local, true, attrInShardings, op.Attr(sdy.AttrInShardings).String())
		setFrontend(call, attrManualAxes, axes)
		if origin.Callee != "" {
			call.SetOrigin(origin.Take)
		}
		operands = call.ResultList()
	}
	e.m.Before(ret).Create(fn.Return, ret.OperandList(), nil)
	ret.Erase()
	region := e.m.NewRegion()
	region.TakeBlocks(v.Body())
	st := &ir.OpState{Def: fn.Func, Bodies: []*ir.Region{region}}
	st.SetAttr(fn.AttrFunctionType, ir.NewTypeAttr(e.m.Context().Function(local, inner)))
	name := manualBody
	if origin.Callee != "" {
		name = origin.Callee
		st.SetAttr(fn.AttrSymVisibility, ir.NewString("private"))
	}
	st.SetAttr(ir.SymbolName, ir.NewString(e.unique(name)))
	f := fn.FuncOp{Op: e.m.After(at).Insert(st)}
	call := fn.NewCall(b, f, operands)
	setFrontend(call, attrInlineable, "false")
	results := call.ResultList()
	if len(results) > 0 {
		last := e.call(b, targetLocalToGlobal, results, outer, true, attrManualAxes, axes)
		setFrontend(last, attrOutShardings, op.Attr(sdy.AttrOutShardings).String())
		if origin.Callee != "" {
			last.SetOrigin(origin.Join)
		}
		results = last.ResultList()
	}
	op.ReplaceWith(results...)
}

// unique returns a symbol that the module does not have.
func (e *exporter) unique(name string) string {
	for i := 0; ; i++ {
		s := name
		if i > 0 {
			s += "_" + strconv.Itoa(i-1)
		}
		if _, ok := fn.Lookup(e.m, s); !ok {
			return s
		}
	}
}
