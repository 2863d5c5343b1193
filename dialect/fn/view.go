package fn

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// Attributes of func.func and func.call.
const (
	AttrFunctionType  = "function_type"
	AttrSymVisibility = "sym_visibility"
	AttrArgAttrs      = "arg_attrs"
	AttrResAttrs      = "res_attrs"
	AttrCallee        = "callee"
	AttrNoInline      = "no_inline"
)

// FuncOp is a view of a func.func op. It costs nothing and may be made at any time.
type FuncOp struct{ *ir.Op }

// AsFunc returns op as a function. ok is false if op is not a function.
func AsFunc(op *ir.Op) (FuncOp, bool) { return FuncOp{op}, op != nil && op.Name() == "func.func" }

// Funcs returns the functions directly in the module, in order.
func Funcs(m *ir.Module) []FuncOp {
	var out []FuncOp
	for o := range m.Body().Ops() {
		if f, ok := AsFunc(o); ok {
			out = append(out, f)
		}
	}
	return out
}

// Lookup returns the function of the module with the given name.
func Lookup(m *ir.Module, name string) (FuncOp, bool) { return in(m.Op(), name) }

// Named returns the function that name means in an attribute of op: a function of the symbol table around op.
func Named(op *ir.Op, name string) (FuncOp, bool) {
	table := ir.SymbolTableOf(op)
	if table == nil {
		return FuncOp{}, false
	}
	return in(table, name)
}

// in returns the function directly in table with the given name.
func in(table *ir.Op, name string) (FuncOp, bool) {
	for o := range table.Region(0).Entry().Ops() {
		if f, ok := AsFunc(o); ok && f.Symbol() == name {
			return f, true
		}
	}
	return FuncOp{}, false
}

// Entry returns the function of the module that runs: main, or the only function.
func Entry(m *ir.Module) (FuncOp, error) {
	if f, ok := Lookup(m, "main"); ok {
		return f, nil
	}
	if all := Funcs(m); len(all) == 1 {
		return all[0], nil
	}
	return FuncOp{}, m.Errorf(m.Op(), "the module has no function @main")
}

// Symbol returns the function's name without '@'.
func (f FuncOp) Symbol() string { return view.String(f.Attr(ir.SymbolName)) }

// Private reports whether the function is invisible outside its module.
func (f FuncOp) Private() bool { return view.String(f.Attr(AttrSymVisibility)) == "private" }

// External reports whether the function is a declaration without a body.
func (f FuncOp) External() bool { return len(f.Regions()) == 0 || f.Region(0).Entry() == nil }

// Body returns the entry block; the function must not be external.
func (f FuncOp) Body() *ir.Block { return f.Region(0).Entry() }

// Type returns the function's type.
func (f FuncOp) Type() *ir.FunctionType {
	a, _ := f.Attr(AttrFunctionType).(*ir.TypeAttr)
	if a == nil {
		return nil
	}
	t, _ := a.Type().(*ir.FunctionType)
	return t
}

// ArgAttrs returns the attributes of argument i, or nil if it has none.
func (f FuncOp) ArgAttrs(i int) *ir.DictAttr { return dictAt(f.Attr(AttrArgAttrs), i) }

// ResultAttrs returns the attributes of result i, or nil if it has none.
func (f FuncOp) ResultAttrs(i int) *ir.DictAttr { return dictAt(f.Attr(AttrResAttrs), i) }

func dictAt(a ir.Attr, i int) *ir.DictAttr {
	arr, _ := a.(*ir.ArrayAttr)
	if arr == nil || i >= len(arr.Elems()) {
		return nil
	}
	d, _ := arr.Elems()[i].(*ir.DictAttr)
	if d == nil || len(d.Entries()) == 0 {
		return nil
	}
	return d
}

// SetSignature changes the type and the attributes of arguments and results. Each list of attributes is nil or as long
// as the list of types. The caller must update block arguments and returns.
func (f FuncOp) SetSignature(t *ir.FunctionType, args, results []*ir.DictAttr) {
	f.SetAttr(AttrFunctionType, ir.NewTypeAttr(t))
	f.setDicts(AttrArgAttrs, args)
	f.setDicts(AttrResAttrs, results)
}

// setDicts stores one dictionary per entry, or nothing if all are empty.
func (f FuncOp) setDicts(name string, list []*ir.DictAttr) {
	if a := dicts(list); a != nil {
		f.SetAttr(name, a)
	} else {
		f.RemoveAttr(name)
	}
}

// Callee returns the name of the function that a func.call op calls.
func Callee(call *ir.Op) string { return view.Symbol(call.Attr(AttrCallee)) }

// remapSignature updates the type of a function, and the attributes of its arguments and results, after its body
// changed. args holds the former position of each argument of the body, and results holds the former position of each
// returned value. New ones have position -1. An argument that donates its memory to a result follows the result. If the
// result is gone, the argument keeps its memory.
func remapSignature(m *ir.Module, op *ir.Op, args, results []int) error {
	f := FuncOp{op}
	outputs := f.Type().Results()
	for _, b := range f.Region(0).Blocks() {
		if t := b.Last(); t != nil && t.Has(ir.ReturnLike) {
			outputs = view.Types(t.OperandList())
		}
	}
	pick := func(from []int, old func(int) *ir.DictAttr) []*ir.DictAttr {
		list := make([]*ir.DictAttr, len(from))
		for i, k := range from {
			if k >= 0 {
				list[i] = old(k)
			}
		}
		return list
	}
	argAttrs, resultAttrs := pick(args, f.ArgAttrs), pick(results, f.ResultAttrs)
	for i, d := range argAttrs {
		n, ok := d.Get(AttrAliasingOutput).(*ir.IntegerAttr)
		if !ok {
			continue
		}
		if k := slices.Index(results, int(n.Value())); k < 0 {
			argAttrs[i] = ir.NewDict(d.Entries().Without(AttrAliasingOutput))
		} else if int64(k) != n.Value() {
			argAttrs[i] = ir.NewDict(d.Entries().Set(AttrAliasingOutput, ir.NewInteger(int64(k), n.Type()), false))
		}
	}
	if a := op.Attr(view.ResultLayouts); a != nil {
		if moved := view.MoveLayouts(m.Context(), a, f.Type().Results(), outputs, results); moved != nil {
			op.SetAttr(view.ResultLayouts, moved)
		} else {
			op.RemoveAttr(view.ResultLayouts)
		}
	}
	f.SetSignature(m.Context().Function(view.Types(f.Body().Args()), outputs), argAttrs, resultAttrs)
	return nil
}

// RemapAttrs is the Remap of a call: it updates the dictionaries for its operands and results, if the op has them.
func RemapAttrs(_ *ir.Module, op *ir.Op, operands, results []int) error {
	remap := func(name string, from []int) {
		list, ok := op.Attr(name).(*ir.ArrayAttr)
		if !ok {
			return
		}
		moved := make([]ir.Attr, len(from))
		for i, k := range from {
			if moved[i] = ir.NewDict(nil); k >= 0 && k < len(list.Elems()) {
				moved[i] = list.Elems()[k]
			}
		}
		op.SetAttr(name, ir.NewArray(moved))
	}
	remap(AttrArgAttrs, operands)
	remap(AttrResAttrs, results)
	return nil
}

// SetPrivate names the function and makes it invisible outside its module.
func (f FuncOp) SetPrivate(name string) {
	f.SetAttr(ir.SymbolName, ir.NewString(name))
	f.SetAttr(AttrSymVisibility, ir.NewString("private"))
}

// NewCall creates a call of f.
func NewCall(b *ir.Builder, f FuncOp, operands []*ir.Value) *ir.Op {
	return b.Create(Call, operands, f.Type().Results(), ir.NamedAttr{Name: AttrCallee, Attr: ir.NewSymbolRef(f.Symbol())})
}

// ValueAttrs returns the attributes of all arguments and results. No entry is nil.
func (f FuncOp) ValueAttrs() (args, results []*ir.DictAttr) {
	list := func(n int, at func(int) *ir.DictAttr) []*ir.DictAttr {
		out := make([]*ir.DictAttr, n)
		for i := range out {
			if out[i] = at(i); out[i] == nil {
				out[i] = ir.NewDict(nil)
			}
		}
		return out
	}
	return list(len(f.Type().Inputs()), f.ArgAttrs), list(len(f.Type().Results()), f.ResultAttrs)
}

// EditArg changes the attributes of argument i.
func (f FuncOp) EditArg(i int, edit func(ir.AttrList) ir.AttrList) {
	args, results := f.ValueAttrs()
	args[i] = ir.NewDict(edit(args[i].Entries()))
	f.SetSignature(f.Type(), args, results)
}
