package hlo_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
)

// without returns the places of op's results after result i is gone, for Rebuild.
func without(op *ir.Op, i int) []int {
	results := flow.Positions(op.NumResults())
	results[i] = -1
	for j := range results[i+1:] {
		results[i+1+j]--
	}
	return results
}

// edits change a module at an op, as passes do. They report whether they did.
var edits = []struct {
	name string
	edit func(r *rand.Rand, m *ir.Module, op *ir.Op) bool
}{
	{"mark", changes[0].edit()},
	{"erase", changes[1].edit()},
	{"insert", changes[2].edit()},
	{"duplicate", func(r *rand.Rand, m *ir.Module, op *ir.Op) bool {
		for _, v := range op.ResultList() {
			for u := range v.Uses() {
				if !op.Has(ir.Pure) {
					return false
				}
				n := m.Before(op).Clone(op, map[*ir.Value]*ir.Value{})
				u.Owner().SetOperand(u.Index(), n.Result(v.Index()))
				return true
			}
		}
		return false
	}},
	{"swap", func(r *rand.Rand, m *ir.Module, op *ir.Op) bool {
		if op.NumOperands() < 2 || op.Operand(0) == op.Operand(1) || op.Operand(0).Type() != op.Operand(1).Type() {
			return false
		}
		x, y := op.Operand(0), op.Operand(1)
		op.SetOperand(0, y)
		op.SetOperand(1, x)
		return true
	}},
	{"sink", func(r *rand.Rand, m *ir.Module, op *ir.Op) bool { // to the first user
		first := op.Block().Last()
		for _, v := range op.ResultList() {
			for u := range v.Users() {
				for u.Block() != op.Block() {
					u = u.Parent()
				}
				if u.IsBefore(first) {
					first = u
				}
			}
		}
		if !op.Has(ir.Pure) || op.Next() == first {
			return false
		}
		op.MoveBefore(first)
		return true
	}},
	{"hook", func(r *rand.Rand, m *ir.Module, op *ir.Op) bool {
		v := op.Result(0)
		if _, ok := v.Type().(*ir.TensorType); !ok || op.Parent().Is(stablehlo.Reduce) || op.Parent().Is(stablehlo.AllReduce) {
			return false
		}
		m.After(op).Create(stablehlo.CustomCall, []*ir.Value{v}, nil, ir.NamedAttr{Name: "call_target_name", Attr: ir.NewString("hook")},
			ir.NamedAttr{Name: "has_side_effect", Attr: m.Context().Bool(true)})
		return true
	}},
	{"result", func(r *rand.Rand, m *ir.Module, op *ir.Op) bool {
		f, ok := fn.AsFunc(op.Parent())
		if !ok || f.Symbol() != "main" {
			return false
		}
		ret := f.Body().Last()
		at := r.IntN(ret.NumOperands() + 1)
		ret.SetOperands(slices.Insert(slices.Clone(ret.OperandList()), at, op.Result(0)))
		sign(m, f, func(args, results []*ir.DictAttr) ([]*ir.DictAttr, []*ir.DictAttr) {
			return args, slices.Insert(results, at, nil)
		})
		return true
	}},
	{"argument", func(r *rand.Rand, m *ir.Module, op *ir.Op) bool {
		f, ok := fn.AsFunc(op.Parent())
		if !ok || f.Symbol() != "main" || op.NumOperands() == 0 {
			return false
		}
		at := r.IntN(len(f.Body().Args()) + 1)
		v := f.Body().InsertArg(at, op.Operand(0).Type(), nil)
		op.SetOperand(0, v)
		sign(m, f, func(args, results []*ir.DictAttr) ([]*ir.DictAttr, []*ir.DictAttr) {
			return slices.Insert(args, at, nil), results
		})
		return true
	}},
	{"no argument", func(r *rand.Rand, m *ir.Module, op *ir.Op) bool {
		f, _ := fn.Lookup(m, "main")
		for i, v := range slices.Backward(f.Body().Args()) {
			if !v.HasUses() {
				f.Body().RemoveArg(i)
				sign(m, f, func(args, results []*ir.DictAttr) ([]*ir.DictAttr, []*ir.DictAttr) {
					return slices.Delete(args, i, i+1), results
				})
				return true
			}
		}
		return false
	}},
	{"outside", func(r *rand.Rand, m *ir.Module, op *ir.Op) bool { // a value from outside instead of one of the region
		p := op.Parent()
		if !p.Is(stablehlo.While) && !p.Is(stablehlo.If) && !p.Is(stablehlo.Case) {
			return false
		}
		for i, v := range op.OperandList() {
			for o := range p.Block().Ops() {
				if o == p {
					break
				}
				if o.NumResults() > 0 && o.Result(0).Type() == v.Type() {
					op.SetOperand(i, o.Result(0))
					return true
				}
			}
			for _, a := range p.Block().Args() {
				if a.Type() == v.Type() {
					op.SetOperand(i, a)
					return true
				}
			}
		}
		return false
	}},
	{"tuple", func(r *rand.Rand, m *ir.Module, op *ir.Op) bool { // a part of a tuple from outside instead of a value of the region
		p := op.Parent()
		if !p.Is(stablehlo.While) && !p.Is(stablehlo.If) && !p.Is(stablehlo.Case) {
			return false
		}
		for i, v := range op.OperandList() {
			for _, o := range slices.Concat(p.OperandList(), p.Block().Args()) {
				if o.Type() != v.Type() || o == v {
					continue
				}
				inner := m.Before(p).Create(stablehlo.Tuple, []*ir.Value{o}, []ir.Type{m.Context().Tuple([]ir.Type{o.Type()})}).Result(0)
				outer := m.Before(p).Create(stablehlo.Tuple, []*ir.Value{o, inner}, []ir.Type{m.Context().Tuple([]ir.Type{o.Type(), inner.Type()})}).Result(0)
				part := func(v *ir.Value, index int64, t ir.Type) *ir.Value {
					return m.Before(op).Create(stablehlo.GetTupleElement, []*ir.Value{v}, []ir.Type{t}, ir.NamedAttr{Name: "index", Attr: ir.NewInteger(index, ir.Int(32))}).Result(0)
				}
				if r.IntN(2) == 0 {
					op.SetOperand(i, part(outer, 0, o.Type()))
				} else {
					op.SetOperand(i, part(part(outer, 1, inner.Type()), 0, o.Type()))
				}
				return true
			}
		}
		return false
	}},
	{"carry", func(r *rand.Rand, m *ir.Module, op *ir.Op) bool { // one more value through a loop
		if !op.Is(stablehlo.While) {
			return false
		}
		n := op.NumOperands()
		at, x := r.IntN(n+1), op.Operand(r.IntN(n))
		st := op.State()
		st.Operands = slices.Insert(slices.Clone(st.Operands), at, x)
		st.Types = slices.Insert(slices.Clone(st.Types), at, x.Type())
		results := make([]int, n)
		for i := range results {
			if results[i] = i; i >= at {
				results[i]++
			}
		}
		op = m.Rebuild(op, st, results)
		op.Region(0).Entry().InsertArg(at, x.Type(), nil)
		v := op.Region(1).Entry().InsertArg(at, x.Type(), nil)
		ret := op.Region(1).Entry().Last()
		if t, ok := x.Type().(*ir.TensorType); ok && t.DType().IsFloat() {
			v = m.Before(ret).Create(stablehlo.Negate, []*ir.Value{v}, []ir.Type{t}).Result(0)
		}
		ret.SetOperands(slices.Insert(slices.Clone(ret.OperandList()), at, v))
		return true
	}},
	{"no carry", func(r *rand.Rand, m *ir.Module, op *ir.Op) bool {
		if !op.Is(stablehlo.While) {
			return false
		}
		for i := range op.NumOperands() {
			cond, body := op.Region(0).Entry(), op.Region(1).Entry()
			if op.Result(i).HasUses() || cond.Arg(i).HasUses() || op.NumOperands() == 1 {
				continue
			}
			body.Arg(i).ReplaceAllUsesWith(op.Operand(i))
			cond.RemoveArg(i)
			body.RemoveArg(i)
			body.Last().SetOperands(slices.Delete(slices.Clone(body.Last().OperandList()), i, i+1))
			st := op.State()
			st.Operands = slices.Delete(slices.Clone(st.Operands), i, i+1)
			st.Types = slices.Delete(slices.Clone(st.Types), i, i+1)
			m.Rebuild(op, st, without(op, i))
			return true
		}
		return false
	}},
	{"rotate", func(r *rand.Rand, m *ir.Module, op *ir.Op) bool { // the first carried value becomes the last
		if !op.Is(stablehlo.While) || op.NumOperands() < 2 {
			return false
		}
		rotate := func(list []*ir.Value) []*ir.Value { return append(slices.Clone(list[1:]), list[0]) }
		st := op.State()
		st.Operands = rotate(st.Operands)
		st.Types = append(slices.Clone(st.Types[1:]), st.Types[0])
		n := op.NumResults()
		results := make([]int, n)
		for i := range results {
			results[i] = (i + n - 1) % n
		}
		op = m.Rebuild(op, st, results)
		for i := range 2 {
			b := op.Region(i).Entry()
			v := b.AddArg(b.Arg(0).Type(), nil)
			v.SetOrigin(b.Arg(0).Origin())
			b.Arg(0).ReplaceAllUsesWith(v)
			b.RemoveArg(0)
		}
		ret := op.Region(1).Entry().Last()
		ret.SetOperands(rotate(ret.OperandList()))
		return true
	}},
	{"widen", func(r *rand.Rand, m *ir.Module, op *ir.Op) bool { // a conditional with one more result
		if !op.Is(stablehlo.If) && !op.Is(stablehlo.Case) {
			return false
		}
		st := op.State()
		st.Types = append(slices.Clone(st.Types), op.Operand(0).Type())
		x := op.Operand(0)
		op = m.Rebuild(op, st, nil)
		for _, r := range op.Regions() {
			ret := r.Entry().Last()
			ret.SetOperands(append(slices.Clone(ret.OperandList()), x))
		}
		return true
	}},
	{"hoist", func(r *rand.Rand, m *ir.Module, op *ir.Op) bool { // to the start, or after its last operand
		if !op.Has(ir.Pure) {
			return false
		}
		var last *ir.Op
		for _, v := range op.OperandList() {
			if d := v.DefiningOp(); d != nil && d.Block() == op.Block() && (last == nil || last.IsBefore(d)) {
				last = d
			}
		}
		first := op.Block().First()
		if last != nil {
			first = last.Next()
		}
		if first == op {
			return false
		}
		op.MoveBefore(first)
		return true
	}},
	{"leave", func(r *rand.Rand, m *ir.Module, op *ir.Op) bool { // the region, if its operands are from outside
		p := op.Parent()
		if !op.Has(ir.Pure) || !p.Is(stablehlo.While) && !p.Is(stablehlo.If) && !p.Is(stablehlo.Case) {
			return false
		}
		for _, v := range op.OperandList() {
			if v.Block() == op.Block() || v.DefiningOp() != nil && v.DefiningOp().Block() == op.Block() {
				return false
			}
		}
		op.MoveBefore(p)
		return true
	}},
	{"enter", func(r *rand.Rand, m *ir.Module, op *ir.Op) bool { // the region of its only user
		var in *ir.Op
		for _, v := range op.ResultList() {
			for u := range v.Users() {
				for u.Block() != op.Block() && u.Parent().Block() != op.Block() {
					u = u.Parent()
				}
				if u.Block() == op.Block() || in != nil && in.Block() != u.Block() {
					return false
				}
				if in == nil || u.IsBefore(in) {
					in = u
				}
			}
		}
		if in == nil || !op.Has(ir.Pure) {
			return false
		}
		op.MoveBefore(in)
		return true
	}},
	{"unify", func(r *rand.Rand, m *ir.Module, op *ir.Op) bool { // an earlier value takes the place of the first result
		v := op.Result(0)
		var list []*ir.Value
		for o := range op.Block().Ops() {
			if o == op {
				break
			}
			for _, x := range o.ResultList() {
				if x.Type() == v.Type() {
					list = append(list, x)
				}
			}
		}
		for _, x := range op.Block().Args() {
			if x.Type() == v.Type() {
				list = append(list, x)
			}
		}
		if len(list) == 0 || !v.HasUses() {
			return false
		}
		v.ReplaceAllUsesWith(list[r.IntN(len(list))])
		return true
	}},
	{"repeat", func(r *rand.Rand, m *ir.Module, op *ir.Op) bool { // the op, with its effects, for its later users
		if op.Has(ir.ConstantLike) {
			return false
		}
		n := m.After(op).Clone(op, map[*ir.Value]*ir.Value{})
		for i, v := range op.ResultList() {
			for u := range v.Uses() {
				if u.Owner().Block() == op.Block() && u.Owner() != n && n.IsBefore(u.Owner()) && r.IntN(2) == 0 {
					u.Owner().SetOperand(u.Index(), n.Result(i))
				}
			}
		}
		return true
	}},
	{"retype", func(r *rand.Rand, m *ir.Module, op *ir.Op) bool { // an operand of a call of the host
		if !op.Is(stablehlo.CustomCall) || op.NumOperands() == 0 || op.Attr(stablehlo.AttrOperandLayouts) != nil {
			return false
		}
		for o := op.Block().First(); o != op; o = o.Next() {
			if o.NumResults() > 0 && o.Result(0).Type() != op.Operand(0).Type() && !stablehlo.IsToken(o.Result(0).Type()) {
				op.SetOperand(0, o.Result(0))
				return true
			}
		}
		return false
	}},
	{"no result", func(r *rand.Rand, m *ir.Module, op *ir.Op) bool {
		f, _ := fn.Lookup(m, "main")
		ret := f.Body().Last()
		if ret.NumOperands() < 2 {
			return false
		}
		at := r.IntN(ret.NumOperands())
		ret.SetOperands(slices.Delete(slices.Clone(ret.OperandList()), at, at+1))
		sign(m, f, func(args, results []*ir.DictAttr) ([]*ir.DictAttr, []*ir.DictAttr) {
			return args, slices.Delete(results, at, at+1)
		})
		return true
	}},
	{"narrow", func(r *rand.Rand, m *ir.Module, op *ir.Op) bool { // a conditional without its first unused result
		if !op.Is(stablehlo.If) && !op.Is(stablehlo.Case) {
			return false
		}
		i := slices.IndexFunc(op.ResultList(), func(v *ir.Value) bool { return !v.HasUses() })
		if i < 0 || op.NumResults() == 1 {
			return false
		}
		st := op.State()
		st.Types = slices.Delete(slices.Clone(st.Types), i, i+1)
		op = m.Rebuild(op, st, without(op, i))
		for _, r := range op.Regions() {
			ret := r.Entry().Last()
			ret.SetOperands(slices.Delete(slices.Clone(ret.OperandList()), i, i+1))
		}
		return true
	}},
	{"name", func(r *rand.Rand, m *ir.Module, op *ir.Op) bool {
		m.Op().SetAttr("mhlo.frontend_attributes", ir.NewDict(ir.AttrList{{Name: "changed", Attr: ir.NewString("yes")}}))
		return true
	}},
	{"inline", runs(passes.Inline{})},
	{"cse", runs(passes.CSE{})},
	{"canonicalize", runs(passes.Canonicalize{})},
	{"licm", runs(passes.LICM{})},
	{"unroll-loops", runs(passes.Unroll{})},
	{"sccp", runs(passes.SCCP{})},
	{"remove-dead-values", runs(passes.RemoveDeadValues{})},
	{"outline", runs(passes.Outline{})},
}

// runs returns an edit that runs passes on the module.
func runs(list ...pass.Pass) func(*rand.Rand, *ir.Module, *ir.Op) bool {
	return func(_ *rand.Rand, m *ir.Module, _ *ir.Op) bool {
		before := print.String(m, print.Options{})
		d := &pass.Driver{Workers: 1}
		return d.Run(pass.NewContext(context.Background(), m), list) == nil && print.String(m, print.Options{}) != before
	}
}

// edit returns the change as an edit.
func (c change) edit() func(*rand.Rand, *ir.Module, *ir.Op) bool {
	return func(_ *rand.Rand, m *ir.Module, op *ir.Op) bool { return c.change(m, op) }
}

// sign sets the signature of f after a change of its arguments or results.
func sign(m *ir.Module, f fn.FuncOp, remap func(args, results []*ir.DictAttr) ([]*ir.DictAttr, []*ir.DictAttr)) {
	var in, out []ir.Type
	for _, v := range f.Body().Args() {
		in = append(in, v.Type())
	}
	for _, v := range f.Body().Last().OperandList() {
		out = append(out, v.Type())
	}
	args, results := f.ValueAttrs()
	args, results = remap(slices.Clone(args), slices.Clone(results))
	f.SetSignature(m.Context().Function(in, out), args, results)
}

// TestUpdateRandom changes modules at random places. The updated HLO must mean the same as the changed module, and each
// change has the same effect on the text as before.
func TestUpdateRandom(t *testing.T) {
	texts := map[string]string{"scheduled": scheduled, "nested": nested, "sharded": sharded, "pairs": pairs, "chained": chained, "ordered": ordered,
		"channels": channels, "fused": fused}
	files, err := filepath.Glob("testdata/update/*.hlo")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[strings.TrimSuffix(filepath.Base(path), ".hlo")] = string(text)
	}
	reg := testkit.Registry(t)
	golden.Fingerprints(t, "testdata/random.txt", func(add func(name, text string)) {
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			old := read(t, texts[name])
			var all strings.Builder
			fmt.Fprintf(&all, "%s", old.AppendText(nil, hlo.TextOptions{}))
			for seed := range uint64(80) {
				r := rand.New(rand.NewPCG(seed, 0))
				m, err := hlo.Import(old, ir.NewContext(reg))
				if err != nil {
					t.Fatal(err)
				}
				var done []string
				for range 100 {
					if len(done) == 1+int(seed%4) {
						break
					}
					var ops []*ir.Op
					m.Walk(func(op *ir.Op) bool {
						if op.NumResults() > 0 {
							ops = append(ops, op)
						}
						return true
					})
					if len(ops) == 0 { // all are erased
						break
					}
					op, e := ops[r.IntN(len(ops))], edits[r.IntN(len(edits))]
					what := fmt.Sprintf("%s %s", e.name, op.Name())
					if e.edit(r, m, op) {
						done = append(done, what)
					}
				}
				what := fmt.Sprintf("%s %d (%s)", name, seed, strings.Join(done, ", "))
				if err := ir.Verify(m); err != nil {
					t.Errorf("%s: the changed module is wrong: %v", what, err)
					continue
				}
				want := meaning(m)
				out, err := hlo.Update(m)
				if err != nil {
					fmt.Fprintf(&all, "%s: %v\n", what, err)
					continue
				}
				updated := string(out.AppendText(nil, hlo.TextOptions{}))
				fmt.Fprintf(&all, "// %s\n%s", what, updated)
				again, err := hlo.Import(read(t, updated), ir.NewContext(reg))
				if err == nil {
					err = ir.Verify(again)
				}
				if err != nil {
					t.Errorf("%s: %v\n%s", what, err, updated)
				} else if got := meaning(again); got != want {
					t.Errorf("%s has another meaning: %s\n%s", what, firstDifference(got, want), updated)
				}
			}
			add(name, all.String())
		}
	})
}

// meaning returns the effects and the results of main as expressions.
func meaning(m *ir.Module) string {
	main, _ := fn.Lookup(m, "main")
	var args []string
	for i := range main.Body().Args() {
		args = append(args, fmt.Sprint("argument ", i))
	}
	e := &expressions{m: m, values: map[*ir.Value]string{}, tuples: map[string][]string{}}
	results := e.block(main.Body(), args)
	var list []string // HLO has one result, whose tuples Import takes apart
	var add func(results []string)
	add = func(results []string) {
		for _, s := range results {
			if parts, ok := e.tuples[s]; ok {
				add(parts)
			} else {
				list = append(list, s)
			}
		}
	}
	add(results)
	return e.text.String() + strings.Join(list, " ") + "\n"
}

// expressions names equal expressions equally.
type expressions struct {
	m      *ir.Module
	values map[*ir.Value]string
	tuples map[string][]string // the parts of tuples
	text   strings.Builder
	depth  int
}

// block evaluates the ops of b and returns the operands of its terminator. Ops without effects are
// named when they are used.
func (e *expressions) block(b *ir.Block, args []string) []string {
	for i, v := range b.Args() {
		e.values[v] = args[i]
	}
	for op := range b.Ops() {
		if op == b.Last() {
			break
		}
		if !op.Has(ir.Pure) || len(op.Regions()) > 0 {
			e.op(op)
		}
	}
	var out []string
	for _, v := range b.Last().OperandList() {
		out = append(out, e.value(v))
	}
	return out
}

func (e *expressions) value(v *ir.Value) string {
	if s, ok := e.values[v]; ok {
		return s
	}
	e.op(v.DefiningOp())
	return e.values[v]
}

// op names the results of op.
func (e *expressions) op(op *ir.Op) {
	var operands []string
	for _, v := range op.OperandList() {
		operands = append(operands, e.value(v))
	}
	set := func(results []string) {
		for i, v := range op.ResultList() {
			e.values[v] = results[i]
		}
	}
	switch {
	case op.Is(stablehlo.Tuple):
		whole := e.id(append([]string{"tuple"}, operands...)...)
		e.tuples[whole] = operands
		set([]string{whole})
		return
	case op.Is(stablehlo.GetTupleElement):
		if parts, ok := e.tuples[operands[0]]; ok {
			set([]string{parts[op.Attr("index").(*ir.IntegerAttr).Value()]})
			return
		}
	}
	if op.Is(fn.Call) {
		f, _ := fn.Lookup(e.m, fn.Callee(op))
		set(e.copied(f.Body(), operands))
		return
	}
	var attrs []string
	for _, a := range op.Attrs() {
		if n := a.Name; !strings.HasPrefix(n, "mhlo.") && !strings.HasPrefix(n, "xla") && n != "operand_layouts" && n != "result_layouts" && n != "channel_handle" &&
			n != "api_version" && n != "backend_config" {
			attrs = append(attrs, n+"="+a.Attr.String())
		}
	}
	slices.Sort(attrs)
	var inside []string
	for i, r := range op.Regions() {
		args := make([]string, len(r.Entry().Args()))
		for j := range args {
			args[j] = fmt.Sprintf("argument %d of level %d", j, e.depth)
			if op.Is(stablehlo.While) {
				args[j] = fmt.Sprintf("carried %s at level %d", operands[j], e.depth)
				if v := op.Region(1).Entry(); v.Last().Operand(j) == v.Arg(j) { // never changes
					args[j] = operands[j]
				}
			}
		}
		before := e.text.Len()
		e.depth++
		results := e.block(r.Entry(), args)
		e.depth--
		effects := e.text.String()[before:]
		old := e.text.String()[:before]
		e.text.Reset()
		e.text.WriteString(old)
		if op.Is(stablehlo.While) && i == 1 || op.Is(stablehlo.If) || op.Is(stablehlo.Case) {
			inside = append(inside, "{"+effects+"}")
			for j := range operands {
				if i == 1 && op.Is(stablehlo.While) {
					operands[j] = operands[j] + "->" + results[j]
				}
			}
			if !op.Is(stablehlo.While) {
				inside = append(inside, strings.Join(results, ","))
			}
		} else {
			inside = append(inside, "{"+effects+strings.Join(results, " ")+"}")
		}
	}
	results := make([]string, op.NumResults())
	if op.Is(stablehlo.While) {
		b := op.Region(1).Entry()
		for j := range results {
			if results[j] = e.id("loop", inside[0], operands[j]); b.Last().Operand(j) == b.Arg(j) {
				results[j] = e.value(op.Operand(j))
			}
		}
		if len(inside[1]) > 2 {
			fmt.Fprintf(&e.text, "loop %s\n", strings.Join(inside, " "))
		}
		set(results)
		return
	}
	if op.Is(stablehlo.If) || op.Is(stablehlo.Case) {
		if effects := strings.Join(inside, " "); strings.Contains(effects, "effect") {
			fmt.Fprintf(&e.text, "branches of effect %s %s\n", operands[0], effects)
		}
		for j := range results {
			var parts []string
			for i := 1; i < len(inside); i += 2 {
				parts = append(parts, strings.Split(inside[i], ",")[j])
			}
			results[j] = e.id("branch", operands[0], strings.Join(parts, " "))
		}
		set(results)
		return
	}
	whole := e.id(slices.Concat([]string{op.Name()}, operands, attrs, inside)...)
	if !op.Has(ir.Pure) && op.NumOperands() > 0 && op.Is(stablehlo.CustomCall) {
		fmt.Fprintf(&e.text, "effect %s\n", whole)
	}
	for i, t := range op.ResultTypes() {
		results[i] = fmt.Sprintf("%s#%d:%s", whole, i, t)
	}
	set(results)
}

// copied evaluates a function's body once more.
func (e *expressions) copied(b *ir.Block, args []string) []string {
	inner := &expressions{m: e.m, values: map[*ir.Value]string{}, tuples: e.tuples, depth: e.depth}
	out := inner.block(b, args)
	e.text.WriteString(inner.text.String())
	return out
}

// id returns a short name for an expression.
func (e *expressions) id(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, " ")))
	return hex.EncodeToString(sum[:6])
}
