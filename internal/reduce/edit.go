package reduce

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// remove removes the ops in list and those that name a removed symbol. Other values take the place of their results; an
// op whose result nothing can replace stays.
func remove(m *ir.Module, ops, list []*ir.Op) bool {
	gone := map[*ir.Op]bool{}
	symbols := map[string]bool{}
	for _, op := range list {
		gone[op] = true
		if name, ok := op.Attr(ir.SymbolName).(*ir.StringAttr); ok && op.Has(ir.Symbol) {
			symbols[name.Value()] = true
		}
	}
	if len(symbols) > 0 {
		for _, op := range ops {
			for _, a := range op.Attrs() {
				if names(a.Attr, symbols) && !isLast(op) {
					gone[op] = true
				}
			}
		}
	}
	called := calledSymbols(ops)
	done := false
	for _, op := range slices.Backward(ops) {
		if gone[op] && !op.Erased() && replaceResults(m, op, called) {
			op.Erase()
			done = true
		}
	}
	return done
}

// names reports whether an attribute refers to one of the symbols.
func names(a ir.Attr, symbols map[string]bool) bool {
	switch a := a.(type) {
	case *ir.SymbolRefAttr:
		return symbols[a.Root()]
	case *ir.ArrayAttr:
		return slices.ContainsFunc(a.Elems(), func(e ir.Attr) bool { return names(e, symbols) })
	case *ir.DictAttr:
		return slices.ContainsFunc(a.Entries(), func(e ir.NamedAttr) bool { return names(e.Attr, symbols) })
	}
	return false
}

// calledSymbols returns the symbols that ops name.
func calledSymbols(ops []*ir.Op) map[string]bool {
	out := map[string]bool{}
	var note func(a ir.Attr)
	note = func(a ir.Attr) {
		switch a := a.(type) {
		case *ir.SymbolRefAttr:
			out[a.Root()] = true
		case *ir.ArrayAttr:
			for _, e := range a.Elems() {
				note(e)
			}
		case *ir.DictAttr:
			for _, e := range a.Entries() {
				note(e.Attr)
			}
		}
	}
	for _, op := range ops {
		for _, a := range op.Attrs() {
			note(a.Attr)
		}
	}
	return out
}

// replaceResults replaces the results of op that have uses.
func replaceResults(m *ir.Module, op *ir.Op, called map[string]bool) bool {
	for _, v := range op.Results() {
		if v.HasUses() {
			w := substitute(m, op, v.Type(), called)
			if w == nil {
				return false
			}
			v.ReplaceAllUsesWith(w)
		}
	}
	return true
}

// substitute returns a value of type t that is available before op, and is not a result of op: an operand of op, an
// argument of its function (a new one if nothing calls the function), or a constant.
func substitute(m *ir.Module, op *ir.Op, t ir.Type, called map[string]bool) *ir.Value {
	for _, v := range op.Operands() {
		if v.Type() == t {
			return v
		}
	}
	outer := op
	for outer.Parent() != nil && !outer.Parent().Has(ir.IsolatedFromAbove) {
		outer = outer.Parent()
	}
	if f, ok := fn.AsFunc(outer.Parent()); ok {
		entry := f.Body()
		for _, a := range entry.Args() {
			if a.Type() == t {
				return a
			}
		}
		if !called[f.Symbol()] {
			args, results := f.ValueAttrs()
			f.SetSignature(m.Context().Function(append(slices.Clone(f.Type().Inputs()), t), f.Type().Results()), append(args, ir.NewDict(nil)), results)
			return entry.AddArg(t, nil)
		}
	}
	if tt, ok := t.(*ir.TensorType); ok && !op.Is(stablehlo.Constant) && tt.Static() {
		if z := zero(tt); z != nil {
			return m.Before(op).Create(stablehlo.Constant, nil, []ir.Type{t}, ir.NamedAttr{Name: stablehlo.AttrValue, Attr: z, Inherent: true}).Result(0)
		}
	}
	return nil
}

// zero returns a literal of zeros, or nil for types that have none.
func zero(t *ir.TensorType) *ir.DenseAttr {
	if t.DType() == tensor.Invalid {
		return nil
	}
	return ir.NewDense(t, tensor.New(t.DType(), nil), true)
}

// unwrap replaces op by the ops of its region k. The region's arguments become op's operands, and op's results what the
// region returns, if the types agree.
func unwrap(m *ir.Module, op *ir.Op, k int) bool {
	called := calledSymbols(opsOf(m))
	blocks := op.Region(k).Blocks()
	if len(blocks) != 1 || blocks[0].Last() == nil {
		return false
	}
	body, end := blocks[0], blocks[0].Last()
	values := make([]*ir.Value, len(body.Args()))
	for i, a := range body.Args() {
		if i < op.NumOperands() && op.Operand(i).Type() == a.Type() {
			values[i] = op.Operand(i)
		} else if values[i] = substitute(m, op, a.Type(), called); values[i] == nil {
			return false
		}
	}
	body.InlineBefore(op, values...)
	for i, v := range op.Results() {
		if v.HasUses() && i < end.NumOperands() && end.Operand(i).Type() == v.Type() {
			v.ReplaceAllUsesWith(end.Operand(i))
		}
	}
	end.Erase()
	if !replaceResults(m, op, called) {
		return false
	}
	op.Erase()
	return true
}

// dropResult removes result k of an op with regions, with the operand, the arguments and the returned values that
// belong to it.
func dropResult(m *ir.Module, op *ir.Op, k int) bool {
	called := calledSymbols(opsOf(m))
	n := op.NumResults()
	if v := op.Result(k); v.HasUses() {
		w := substitute(m, op, v.Type(), called)
		if w == nil {
			return false
		}
		v.ReplaceAllUsesWith(w)
	}
	carried := op.NumOperands() == n
	for _, g := range op.Regions() {
		for _, b := range g.Blocks() {
			if carried && len(b.Args()) == n {
				if a := b.Arg(k); a.HasUses() {
					if op.Operand(k).Type() != a.Type() {
						return false
					}
					a.ReplaceAllUsesWith(op.Operand(k))
				}
				b.RemoveArg(k)
			}
			if end := b.Last(); end != nil && end.NumOperands() == n && end.Has(ir.Terminator) {
				end.SetOperands(slices.Delete(end.OperandList(), k, k+1))
			}
		}
	}
	st := op.State()
	st.Types = slices.Delete(slices.Clone(st.Types), k, k+1)
	if carried {
		st.Operands = slices.Delete(slices.Clone(st.Operands), k, k+1)
	}
	kept := make([]int, n)
	for i := range kept {
		kept[i] = i
		if i > k {
			kept[i] = i - 1
		}
	}
	kept[k] = -1
	m.Rebuild(op, st, kept)
	return true
}

// calls replaces calls of functions by their bodies.
func (r *reducer) calls() {
	list := func(ops []*ir.Op) []*ir.Op {
		return slices.DeleteFunc(slices.Clone(ops), func(op *ir.Op) bool { return !op.Is(fn.Call) })
	}
	r.tryEach("calls", func() int { return len(list(opsOf(r.best))) }, func(i int) bool {
		return r.try(func(m *ir.Module, ops []*ir.Op) bool {
			call := list(ops)[i]
			f, ok := fn.Named(call, fn.Callee(call))
			if !ok || f.External() || len(f.Region(0).Blocks()) != 1 || f.IsAncestorOf(call) {
				return false
			}
			for _, op := range ops {
				if op != call && op.Is(fn.Call) && fn.Callee(op) == f.Symbol() && ir.SymbolTableOf(op) == ir.SymbolTableOf(f.Op) {
					return false // the body would have to be copied
				}
			}
			body, end := f.Body(), f.Body().Last()
			body.InlineBefore(call, call.OperandList()...)
			for k, v := range call.Results() {
				v.ReplaceAllUsesWith(end.Operand(k))
			}
			end.Erase()
			call.Erase()
			f.Erase()
			return true
		})
	})
}

// signatures removes arguments and results of functions that nothing calls.
func (r *reducer) signatures() {
	free := func(m *ir.Module) []fn.FuncOp {
		called := calledSymbols(opsOf(m))
		return slices.DeleteFunc(fn.Funcs(m), func(f fn.FuncOp) bool { return called[f.Symbol()] || f.External() || f.Type() == nil })
	}
	edit := func(i int, drop func(f fn.FuncOp, args, results []*ir.DictAttr, in, out []ir.Type) ([]*ir.DictAttr, []*ir.DictAttr, []ir.Type, []ir.Type)) bool {
		return r.try(func(m *ir.Module, _ []*ir.Op) bool {
			f := free(m)[i]
			args, results := f.ValueAttrs()
			args, results, in, out := drop(f, args, results, slices.Clone(f.Type().Inputs()), slices.Clone(f.Type().Results()))
			f.SetSignature(m.Context().Function(in, out), args, results)
			return true
		})
	}
	for i := len(free(r.best)) - 1; i >= 0; i-- {
		r.chunks("results of functions", func() int { return len(free(r.best)[i].Type().Results()) }, func(lo, hi int) bool {
			return edit(i, func(f fn.FuncOp, args, results []*ir.DictAttr, in, out []ir.Type) ([]*ir.DictAttr, []*ir.DictAttr, []ir.Type, []ir.Type) {
				for _, b := range f.Region(0).Blocks() {
					if end := b.Last(); end != nil && end.Is(fn.Return) {
						end.SetOperands(slices.Delete(end.OperandList(), lo, hi))
					}
				}
				return args, slices.Delete(results, lo, hi), in, slices.Delete(out, lo, hi)
			})
		})
		r.chunks("arguments", func() int { return len(free(r.best)[i].Body().Args()) }, func(lo, hi int) bool {
			return edit(i, func(f fn.FuncOp, args, results []*ir.DictAttr, in, out []ir.Type) ([]*ir.DictAttr, []*ir.DictAttr, []ir.Type, []ir.Type) {
				for k := hi - 1; k >= lo; k-- {
					if a := f.Body().Arg(k); !a.HasUses() || sameType(f.Body(), a) {
						f.Body().RemoveArg(k)
						args, in = slices.Delete(args, k, k+1), slices.Delete(in, k, k+1)
					}
				}
				return args, results, in, out
			})
		})
	}
}

// sameType replaces an argument by an earlier one of its type, if there is one.
func sameType(b *ir.Block, a *ir.Value) bool {
	for _, x := range b.Args()[:a.Index()] {
		if x.Type() == a.Type() {
			a.ReplaceAllUsesWith(x)
			return true
		}
	}
	return false
}

// literals makes literals splats of their first element.
func (r *reducer) literals() {
	many := func(m *ir.Module) []*ir.Op {
		return slices.DeleteFunc(opsOf(m), func(op *ir.Op) bool {
			d, ok := op.Attr(stablehlo.AttrValue).(*ir.DenseAttr)
			if !ok || d.NumElements() < 2 {
				return true
			}
			_, splat, err := d.Elements()
			return err != nil || splat
		})
	}
	r.tryEach("literals", func() int { return len(many(r.best)) }, func(i int) bool {
		return r.try(func(m *ir.Module, _ []*ir.Op) bool {
			op := many(m)[i]
			d := op.Attr(stablehlo.AttrValue).(*ir.DenseAttr)
			t, ok := d.Type().(*ir.TensorType)
			if !ok {
				return false
			}
			z := zero(t)
			if z == nil {
				return false
			}
			op.SetAttr(stablehlo.AttrValue, z)
			return true
		})
	})
}

var dimension = regexp.MustCompile(`[<x]([0-9]+)x`)

// shapes replaces a number that is a dimension somewhere by a smaller one wherever it stands alone in the text.
func (r *reducer) shapes() {
	r.status.Step = "shapes"
	seen := map[int]bool{}
	for {
		largest := 0
		for _, m := range dimension.FindAllSubmatch(r.text, -1) {
			// The matches of '4x8x' overlap in the 'x': look at the text after each, too.
			if n, err := strconv.Atoi(string(m[1])); err == nil && n > largest && !seen[n] {
				largest = n
			}
		}
		for _, m := range regexp.MustCompile(`x([0-9]+)x`).FindAllSubmatch(bytes.ReplaceAll(r.text, []byte("x"), []byte("xx")), -1) {
			if n, err := strconv.Atoi(string(m[1])); err == nil && n > largest && !seen[n] {
				largest = n
			}
		}
		if largest < 2 {
			return
		}
		seen[largest] = true
		for _, to := range [...]int{1, 2, 3, 4, 8} {
			if to >= largest {
				break
			}
			text := replaceNumber(r.text, largest, to)
			m, err := r.o.Parse(text)
			if err != nil || string(textOf(m)) == string(r.text) {
				continue
			}
			if r.offerSmaller(m, largest, to) {
				break
			}
		}
	}
}

// offerSmaller keeps m, which has a smaller shape and as many ops as the best module.
func (r *reducer) offerSmaller(m *ir.Module, from, to int) bool {
	text := textOf(m)
	if s := sizeOf(m, 0); s.ops > r.size.ops || s.values > r.size.values || to >= from || !r.test(text) {
		return false
	}
	r.set(m, text)
	if r.o.Better != nil {
		if err := r.o.Better(text, r.status); err != nil {
			panic(stopError{err})
		}
	}
	return true
}

// replaceNumber replaces a number by another one wherever it is a token or a dimension, but not in strings and names.
func replaceNumber(text []byte, from, to int) []byte {
	old, replacement := strconv.Itoa(from), strconv.Itoa(to)
	var out []byte
	for i := 0; i < len(text); {
		switch {
		case text[i] == '"':
			j := i + 1
			for j < len(text) && text[j] != '"' {
				if text[j] == '\\' {
					j++
				}
				j++
			}
			j = min(j+1, len(text))
			out = append(out, text[i:j]...)
			i = j
		case bytes.HasPrefix(text[i:], []byte(old)) && !partOfWord(text, i-1, true) && !partOfWord(text, i+len(old), false):
			out = append(out, replacement...)
			i += len(old)
		default:
			out = append(out, text[i])
			i++
		}
	}
	return out
}

// partOfWord reports whether the byte at i continues a name or a number that begins or ends beside it. An 'x' between
// dimensions does not.
func partOfWord(text []byte, i int, before bool) bool {
	if i < 0 || i >= len(text) {
		return false
	}
	c := text[i]
	if c == 'x' {
		if !before {
			return false
		}
		return i == 0 || !('0' <= text[i-1] && text[i-1] <= '9' || text[i-1] == '?')
	}
	return c == '_' || c == '.' || c == '%' || c == '#' || c == '@' || c == '!' || c == '$' ||
		'0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
