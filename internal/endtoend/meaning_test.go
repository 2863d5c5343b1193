package endtoend

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// differentMeaning returns an op of a that b does not have, nil if the two modules compute the same by the same ops.
// The order of ops, names, places of constants, repeated ops and dead ones do not matter.
func differentMeaning(a, b *ir.Module) *ir.Op {
	x, y := newMeaning(a), newMeaning(b)
	if x.function("main") == y.function("main") {
		return nil
	}
	in := map[string]bool{}
	for _, h := range y.order {
		in[h.hash] = true
	}
	for _, h := range x.order {
		if !in[h.hash] {
			return h.op
		}
	}
	return a.Op()
}

// TestDifferentMeaning: the comparison finds other operands, attributes, callees and effects, and nothing else.
func TestDifferentMeaning(t *testing.T) {
	const text = `func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func public @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %l:3 = stablehlo.while(%i = %n, %v = %x, %w = %y) : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  cond {
    %t = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %u = stablehlo.subtract %v, %w : tensor<4xf32>
    stablehlo.return %j, %u, %w : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  }
  stablehlo.custom_call @show(%l#1) {has_side_effect = true} : (tensor<4xf32>) -> ()
  %r = func.call @f(%l#1) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}`
	for _, c := range []struct {
		old, new string
		same     bool
	}{
		{"subtract %v, %w", "subtract %v, %y", true}, // the loop does not change the value
		{"  %r = func.call", "  %dead = stablehlo.sine %x : tensor<4xf32>\n  %r = func.call", true},
		{"@f(", "@g(", true},
		{"%r = func.call @f(%l#1)", "%q = stablehlo.concatenate %l#1, dim = 0 : (tensor<4xf32>) -> tensor<4xf32>\n  %r = func.call @f(%q)", true},
		{"subtract %v, %w", "subtract %w, %v", false},
		{"compare LT", "compare LE", false},
		{"stablehlo.sine", "stablehlo.cosine", false},
		{"dense<3>", "dense<4>", false},
		{"@show(%l#1)", "@show(%x)", false},
		{"return %r", "return %x", false},
	} {
		other := strings.ReplaceAll(text, c.old, c.new)
		if other == text {
			t.Fatalf("no %s", c.old)
		}
		a, b := testkit.Parse(t, "a.mlir", text), testkit.Parse(t, "b.mlir", other)
		if op := differentMeaning(a, b); (op == nil) != c.same {
			t.Errorf("%s to %s: same is %v", c.old, c.new, op == nil)
		}
	}
}

func newMeaning(m *ir.Module) *meaning {
	return &meaning{m: m, values: map[*ir.Value]string{}, funcs: map[string]string{}}
}

// meaning computes the hashes of a module.
type meaning struct {
	m      *ir.Module
	values map[*ir.Value]string
	funcs  map[string]string
	order  []hashedOp // as visited
}

type hashedOp struct {
	op   *ir.Op
	hash string
}

func hashOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return fmt.Sprintf("%x", sum[:8])
}

func (x *meaning) function(name string) string {
	if h, ok := x.funcs[name]; ok {
		return h
	}
	x.funcs[name] = "open"
	f, ok := fn.Lookup(x.m, name)
	if !ok || f.External() {
		return "none"
	}
	x.funcs[name] = hashOf(f.Type().String(), x.block(f.Body(), 0))
	return x.funcs[name]
}

// block returns the hash of the values that b returns and of its ops with effects. Its arguments get hashes of
// the given level.
func (x *meaning) block(b *ir.Block, level int) string {
	for _, a := range b.Args() {
		x.values[a] = hashOf("arg", strconv.Itoa(level), strconv.Itoa(a.Index()), a.Type().String())
	}
	list := x.ops(b, level)
	if t := b.Last(); t != nil && t.Has(ir.Terminator) {
		list = append(list, x.op(t, level))
	}
	return hashOf(list...)
}

// while returns the hash of a loop and sets those of its results. State that no trip changes is not part of the loop:
// HLO has no other way to pass a value from outside to a loop.
func (x *meaning) while(op *ir.Op, level int) string {
	body := op.Region(1).Entry()
	yields := body.Last().OperandList()
	parts := []string{"while"}
	state := 0
	for i, init := range op.OperandList() {
		if yields[i] == body.Arg(i) {
			continue
		}
		parts = append(parts, x.values[init], init.Type().String())
		for _, r := range op.Regions() {
			x.values[r.Entry().Arg(i)] = hashOf("state", strconv.Itoa(level), strconv.Itoa(state))
		}
		state++
	}
	for i, init := range op.OperandList() {
		if yields[i] == body.Arg(i) {
			x.values[op.Result(i)] = x.values[init]
			for _, r := range op.Regions() {
				x.values[r.Entry().Arg(i)] = x.values[init]
			}
		}
	}
	cond := op.Region(0).Entry()
	parts = append(parts, x.ops(cond, level+1)...)
	parts = append(parts, x.values[cond.Last().Operand(0)])
	parts = append(parts, x.ops(body, level+1)...)
	for i, v := range yields {
		if v != body.Arg(i) {
			parts = append(parts, x.values[v])
		}
	}
	for _, a := range op.Attrs() {
		if a.Name == "mhlo.frontend_attributes" {
			if text := x.attr(a.Attr); text != "" {
				parts = append(parts, text)
			}
		}
	}
	h := hashOf(parts...)
	state = 0
	for i := range op.OperandList() {
		if yields[i] != body.Arg(i) {
			x.values[op.Result(i)] = hashOf(h, strconv.Itoa(state))
			state++
		}
	}
	return h
}

// ops returns the hashes of the ops of b with effects, sorted: HLO orders them by values alone. It leaves out the
// terminator. The arguments have hashes.
func (x *meaning) ops(b *ir.Block, level int) (list []string) {
	for op := range b.Ops() {
		if op.Has(ir.Terminator) {
			break
		}
		var h string
		switch {
		case op.Is(stablehlo.While):
			h = x.while(op, level)
		case isOperand(op):
			x.values[op.Result(0)] = x.values[op.Operand(0)]
			continue
		default:
			h = x.op(op, level)
			for i, v := range op.ResultList() {
				x.values[v] = hashOf(h, strconv.Itoa(i))
			}
		}
		x.order = append(x.order, hashedOp{op, h})
		if !op.Removable() {
			list = append(list, h)
		}
	}
	slices.Sort(list)
	return list
}

// isOperand reports whether op is its only operand, which HLO writes in its place.
func isOperand(op *ir.Op) bool {
	if b, ok := stablehlo.AsBroadcastInDim(op); ok {
		return slices.IsSorted(b.BroadcastDimensions()) && op.Operand(0).Type() == op.Result(0).Type()
	}
	if !op.Is(stablehlo.Concatenate) && !op.Is(stablehlo.Slice) && !op.Is(stablehlo.Reshape) && !op.Is(stablehlo.Convert) {
		return false
	}
	return op.NumOperands() == 1 && op.Operand(0).Type() == op.Result(0).Type()
}

// isSplat reports whether op repeats its operand if it is a scalar: HLO writes a constant that repeats one element as
// the broadcast of a scalar, or as its reshape to one element.
func isSplat(op *ir.Op) bool {
	return op.Is(stablehlo.BroadcastInDim) || op.Is(stablehlo.Reshape) && isScalar(op.Operand(0))
}

func isScalar(v *ir.Value) bool {
	t, ok := v.Type().(*ir.TensorType)
	return ok && t.Ranked() && len(t.Shape()) == 0
}

func (x *meaning) op(op *ir.Op, level int) string {
	if op.Is(stablehlo.Constant) {
		return constant(op, op.Result(0).Type())
	}
	if isSplat(op) {
		c := op.Operand(0).DefiningOp()
		for c != nil && isSplat(c) {
			c = c.Operand(0).DefiningOp()
		}
		if c != nil && c.Is(stablehlo.Constant) {
			if one, _ := oneElement(c); one != nil {
				return constant(c, op.Result(0).Type())
			}
		}
	}
	parts := []string{op.Name()}
	if op.Is(stablehlo.AfterAll) && op.NumOperands() == 0 { // HLO has one instruction for both ops
		parts[0] = stablehlo.CreateToken.Name
	}
	for _, a := range op.Attrs() {
		if (a.Inherent || a.Name == "mhlo.frontend_attributes") && !(a.Name == "result_accuracy" || a.Name == "composite_attributes" && a.Attr.String() == "{}") {
			if text := x.attr(a.Attr); text != "" {
				parts = append(parts, a.Name+" "+text)
			}
		}
	}
	slices.Sort(parts[1:])
	for _, v := range op.OperandList() {
		parts = append(parts, x.values[v])
	}
	for _, v := range op.ResultList() {
		parts = append(parts, v.Type().String())
	}
	for i, r := range op.Regions() {
		for _, b := range r.Blocks() {
			parts = append(parts, strconv.Itoa(i), x.block(b, level+1))
		}
	}
	return hashOf(parts...)
}

// constant returns the hash of a constant, broadcast to type t.
func constant(op *ir.Op, t ir.Type) string {
	v, text := oneElement(op)
	if v != nil {
		text = fmt.Sprint(v.Bytes())
	}
	return hashOf("constant", text, t.String())
}

// oneElement returns the element that a constant repeats, nil if it has others, and the text of its value.
func oneElement(op *ir.Op) (*tensor.Tensor, string) {
	a := op.Attr(stablehlo.AttrValue)
	if d, ok := a.(*ir.DenseAttr); ok {
		if v, splat, err := d.Elements(); err == nil && (splat || v.NumElements() == 1) {
			return v, ""
		}
	}
	return nil, a.String()
}

// attr returns the text of an attribute. A called function stands for its meaning.
func (x *meaning) attr(a ir.Attr) string {
	switch a := a.(type) {
	case *ir.SymbolRefAttr:
		return x.function(a.Root())
	case *ir.DictAttr: // without the description of a composite, which HLO keeps here
		var list []string
		for _, e := range a.Entries() {
			if !strings.HasPrefix(e.Name, "composite.") {
				list = append(list, e.Name, x.attr(e.Attr))
			}
		}
		if len(list) == 0 {
			return ""
		}
		return hashOf(list...)
	case *ir.ArrayAttr:
		var list []string
		for _, e := range a.Elems() {
			list = append(list, x.attr(e))
		}
		return hashOf(list...)
	}
	return a.String()
}
