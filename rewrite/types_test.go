package rewrite_test

import (
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/rewrite"
)

// dotOfTranspose is a product of bf16 numbers that is computed in f32, with an attribute.
const dotOfTranspose = `func.func @f(%a: tensor<2x3xbf16>, %b: tensor<2x4xbf16>) -> tensor<3x4xf32> {
  %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xbf16>) -> tensor<3x2xbf16>
  %0 = stablehlo.dot_general %t, %b, contracting_dims = [1] x [0] {my.attr = 1 : i32} : (tensor<3x2xbf16>, tensor<2x4xbf16>) -> tensor<3x4xf32> loc("dot")
  %1 = stablehlo.convert %0 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}`

// absorb rewrites dot(transpose(x), y) to a dot with other dimensions, built by b and put in place by replace.
func absorb(builder func(r *rewrite.Rewriter, op *ir.Op) *ir.Builder) *rewrite.Pattern {
	return &rewrite.Pattern{Name: "absorb", Rows: []*ir.Def{stablehlo.DotGeneral}, Rewrite: func(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
		t, ok := stablehlo.AsTranspose(op.Operand(0).DefiningOp())
		if !ok {
			return false, nil
		}
		st := &ir.OpState{Def: stablehlo.DotGeneral, Operands: []*ir.Value{t.Operand(0), op.Operand(1)}}
		st.SetAttr(stablehlo.AttrDotDimensionNumbers, stablehlo.DotAttr.New(&stablehlo.DotDims{LHSContracting: []int64{0}, RHSContracting: []int64{0}}))
		st.Types = []ir.Type{r.Module().Context().StaticTensor(t.Operand(0).Type().(*ir.TensorType).DType(), []int64{3, 4})}
		b := builder(r, op)
		if b != nil {
			st.Types = nil
		} else {
			b = r.Before(op)
		}
		r.Replace(op, b.Insert(st).Result(0))
		return true, nil
	}}
}

// TestReplaceChecksTypes: replacing an op by a value of another type is an error at the op that names the pattern. It
// was a valid module with a product in bf16.
func TestReplaceChecksTypes(t *testing.T) {
	m := read(t, dotOfTranspose)
	res, err := rewrite.Greedy(m.Op(), []*rewrite.Pattern{absorb(func(*rewrite.Rewriter, *ir.Op) *ir.Builder { return nil })}, rewrite.Options{})
	const want = "text:3:8: error: result #0 of 'stablehlo.dot_general' is 'tensor<3x4xf32>'; its replacement is 'tensor<3x4xbf16>'"
	list := diag.ListOf(err)
	if len(list) != 1 || list[0].Error() != want || res == nil {
		t.Fatalf("error is %v, expected %s", err, want)
	}
	if notes := list[0].Notes; len(notes) != 2 || notes[1].Message != "pattern absorb" || !strings.Contains(notes[0].Message, "ReplaceRetyped") {
		t.Errorf("the notes are %v", notes)
	}
}

// TestLike: an op built like another has its result type, attributes and location.
func TestLike(t *testing.T) {
	m := read(t, dotOfTranspose)
	if _, err := rewrite.Greedy(m.Op(), []*rewrite.Pattern{absorb((*rewrite.Rewriter).Like)}, rewrite.Options{EraseDead: true}); err != nil {
		t.Fatal(err)
	}
	check(t, m, `func.func @f(%arg0: tensor<2x3xbf16>, %arg1: tensor<2x4xbf16>) -> tensor<3x4xf32> {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [0] x [0] {my.attr = 1 : i32} : (tensor<2x3xbf16>, tensor<2x4xbf16>) -> tensor<3x4xf32>
  %1 = stablehlo.convert %0 : tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}`)
	var dot *ir.Op
	m.Walk(func(op *ir.Op) bool {
		if op.Is(stablehlo.DotGeneral) {
			dot = op
		}
		return true
	})
	if got := dot.Loc().String(); got != `loc("dot")` {
		t.Errorf("the location is %s", got)
	}
}

// TestLikeRefuses: a builder that infers types refuses an op whose types cannot be those of the op to replace.
func TestLikeRefuses(t *testing.T) {
	m := read(t, `func.func @f(%a: tensor<2xf32>, %b: tensor<2xi32>, %c: tensor<?xf32>) -> (tensor<2xf32>, tensor<3xf32>) {
  %0 = stablehlo.negate %a : tensor<2xf32>
  %1 = "test.op"(%0) : (tensor<2xf32>) -> tensor<3xf32>
  return %0, %1 : tensor<2xf32>, tensor<3xf32>
}`)
	body := m.Body().First().Region(0).Entry()
	a, b, c := body.Arg(0), body.Arg(1), body.Arg(2)
	neg, end := body.First(), body.Last()
	r := rewrite.New(m)
	for _, tt := range []struct {
		like *ir.Op
		of   *ir.Value
		want string
	}{
		{neg, a, ""},
		{neg, c, ""}, // tensor<?xf32> may be tensor<2xf32>
		{neg, b, "result #0 of stablehlo.abs is tensor<2xi32>, and that of stablehlo.negate, which it replaces, is tensor<2xf32>"},
		{neg.Next(), a, "result #0 of stablehlo.abs is tensor<2xf32>, and that of test.op, which it replaces, is tensor<3xf32>"},
		{end, a, "stablehlo.abs has 1 results, and func.return, which it replaces, has 0"},
	} {
		n, err := r.Like(tt.like).Build(stablehlo.Abs, []*ir.Value{tt.of})
		got := ""
		if err != nil {
			got = err.Error()
		} else if n.Result(0).Type() != tt.like.Result(0).Type() {
			t.Errorf("the type is %s", n.Result(0).Type())
		}
		if got != tt.want {
			t.Errorf("like %s: error %q, expected %q", tt.like.Name(), got, tt.want)
		}
	}
}

// TestTypesOfRebuildAndUses: the other ways to replace values refuse other types, too, and have a way to say so.
func TestTypesOfRebuildAndUses(t *testing.T) {
	const text = `func.func @f(%a: tensor<2xf32>, %b: tensor<?xf32>) -> tensor<2xf32> {
  %0 = stablehlo.negate %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}`
	fault := func(f func(r *rewrite.Rewriter, body *ir.Block)) (out string) {
		m := read(t, text)
		defer func() {
			if d, ok := recover().(*diag.Diagnostic); ok {
				out = d.Message
			}
		}()
		f(rewrite.New(m), m.Body().First().Region(0).Entry())
		return ""
	}
	for _, tt := range []struct {
		want string
		f    func(r *rewrite.Rewriter, body *ir.Block)
	}{
		{"region argument #0 of 'func.func' is 'tensor<2xf32>'; its replacement is 'tensor<?xf32>'", func(r *rewrite.Rewriter, b *ir.Block) { r.ReplaceUses(b.Arg(0), b.Arg(1), nil) }},
		{"", func(r *rewrite.Rewriter, b *ir.Block) { r.RetypeUses(b.Arg(0), b.Arg(1), nil) }},
		{"", func(r *rewrite.Rewriter, b *ir.Block) { r.ReplaceRetyped(b.First(), b.Arg(1)) }},
		{"'stablehlo.negate' has 1 results; 2 values replace them", func(r *rewrite.Rewriter, b *ir.Block) { r.Replace(b.First(), b.Arg(0), b.Arg(0)) }},
		{"result #0 of 'stablehlo.negate' is 'tensor<2xf32>'; its replacement is 'tensor<?xf32>'", func(r *rewrite.Rewriter, b *ir.Block) {
			st := b.First().State()
			st.Types = []ir.Type{b.Arg(1).Type()}
			r.Rebuild(b.First(), st, nil)
		}},
		{"'func.return' has 0 results; 1 values replace them", func(r *rewrite.Rewriter, b *ir.Block) { r.Replace(b.Last(), b.Arg(0)) }},
	} {
		if got := fault(tt.f); got != tt.want {
			t.Errorf("got %q, expected %q", got, tt.want)
		}
	}
}
