package all_test

import (
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/tensor"
)

// products has operations whose element type does not follow from the operands.
const products = `
func.func @main(%x: tensor<2x3xbf16>, %y: tensor<3x4xbf16>, %a: tensor<1x8x8x3xbf16>, %k: tensor<3x3x3x4xbf16>) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] {site = "a"} : (tensor<2x3xbf16>, tensor<3x4xbf16>) -> tensor<2x4xf32>
  %1 = "stablehlo.dot"(%x, %y) {site = "b"} : (tensor<2x3xbf16>, tensor<3x4xbf16>) -> tensor<2x4xf32>
  %2 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, site = "c"} : (tensor<1x8x8x3xbf16>, tensor<3x3x3x4xbf16>) -> tensor<1x6x6x4xf32>
  return
}`

// TestChosenTypes: a product of bf16 values may be f32. The builder gets the type, or that of the op in Like; it
// refuses another shape, and a missing type.
func TestChosenTypes(t *testing.T) {
	m := read(t, registry(t), "products.mlir", products)
	f, _ := fn.Lookup(m, "main")
	build := map[string]func(b *ir.Builder, op *ir.Op, result ir.Type) (*ir.Op, error){
		"stablehlo.dot_general": func(b *ir.Builder, op *ir.Op, result ir.Type) (*ir.Op, error) {
			v, _ := stablehlo.AsDotGeneral(op)
			n, err := stablehlo.BuildDotGeneral(b, v.LHS(), v.RHS(), result, stablehlo.DotGeneralAttrs{Dims: v.Dims()})
			return n.Op, err
		},
		"stablehlo.dot": func(b *ir.Builder, op *ir.Op, result ir.Type) (*ir.Op, error) {
			v, _ := stablehlo.AsDot(op)
			n, err := stablehlo.BuildDot(b, v.LHS(), v.RHS(), result, stablehlo.DotAttrs{})
			return n.Op, err
		},
		"stablehlo.convolution": func(b *ir.Builder, op *ir.Op, result ir.Type) (*ir.Op, error) {
			v, _ := stablehlo.AsConvolution(op)
			n, err := stablehlo.BuildConvolution(b, v.LHS(), v.RHS(), result, stablehlo.ConvolutionAttrs{Dims: v.Dims(), BatchGroupCount: 1, FeatureGroupCount: 1})
			return n.Op, err
		},
	}
	n := 0
	for op := range f.Body().Ops() {
		make := build[op.Name()]
		if make == nil {
			continue
		}
		n++
		was := op.Result(0).Type().(*ir.TensorType)
		given, err := make(m.Before(op), op, was)
		if err != nil || given.Result(0).Type() != ir.Type(was) {
			t.Errorf("%s with a type: %v", op.Name(), err)
		}
		like, err := make(m.Before(op).Like(op), op, nil)
		if err != nil || like.Result(0).Type() != ir.Type(was) || like.Attr("site") == nil {
			t.Errorf("%s like another op: %v", op.Name(), err)
		}
		if _, err := make(m.Before(op), op, nil); err == nil || err.Error() != "the type of result #0 is missing" {
			t.Errorf("%s without a type: %v", op.Name(), err)
		}
		other := m.Context().StaticTensor(tensor.F32, tensor.Shape{7, 7})
		if _, err := make(m.Before(op), op, other); err == nil || !strings.Contains(err.Error(), "differs in shape") {
			t.Errorf("%s of another shape: %v", op.Name(), err)
		}
	}
	if n != 3 {
		t.Fatalf("%d products, want 3", n)
	}
	if err := ir.Verify(m); err != nil {
		t.Error(err)
	}
}

// TestTypedRefuses: a builder that takes a type refuses one that the row does not accept, and a wrong number of types.
func TestTypedRefuses(t *testing.T) {
	m := read(t, registry(t), "in.mlir", `func.func @main(%x: tensor<2x3xf32>) { return }`)
	f, _ := fn.Lookup(m, "main")
	b, x := m.AtStart(f.Body()), f.Body().Arg(0)
	if _, err := stablehlo.BuildReshape(b, x, ir.Int(32)); err == nil || !strings.Contains(err.Error(), "result #0 must be") {
		t.Errorf("a reshape to a number: %v", err)
	}
	if _, err := stablehlo.BuildReshape(b, nil, x.Type()); err == nil || err.Error() != "operand #0 is missing" {
		t.Errorf("a reshape of nothing: %v", err)
	}
	if _, err := stablehlo.BuildRngBitGenerator(b, x, []ir.Type{x.Type()}, stablehlo.RngBitGeneratorAttrs{}); err == nil {
		t.Error("an op with one type for two results")
	}
}

// TestSetters: a setter changes an operand or attribute of an op, of one that mirrors it, and of groups with sizes.
func TestSetters(t *testing.T) {
	reg := registry(t)
	m := read(t, reg, "in.mlir", `
func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %i: tensor<i64>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = "mhlo.transpose"(%x) <{permutation = dense<[1, 0]> : tensor<2xi64>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = stablehlo.dynamic_slice %x, %i, %i, sizes = [1, 1] : (tensor<2x3xf32>, tensor<i64>, tensor<i64>) -> tensor<1x1xf32>
  %3:2 = chlo.scan (%x, %y) inits (%0) dimension = 0 {
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>, %c: tensor<3x2xf32>):
    stablehlo.return %a, %c : tensor<3xf32>, tensor<3x2xf32>
  } : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x2xf32>) -> (tensor<2x3xf32>, tensor<3x2xf32>)
  return %0, %1 : tensor<3x2xf32>, tensor<3x2xf32>
}`)
	f, _ := fn.Lookup(m, "main")
	x, y := f.Body().Arg(0), f.Body().Arg(1)
	for op := range f.Body().Ops() {
		if v, ok := stablehlo.AsTranspose(op); ok {
			v.SetInput(y)
			v.SetPermutation([]int64{0, 1})
			if p := v.Permutation(); v.Input() != y || len(p) != 2 || p[0] != 0 {
				t.Errorf("%s has operand %v and permutation %v", op.Name(), v.Input(), p)
			}
			v.SetPermutation([]int64{1, 0})
		}
		if v, ok := stablehlo.AsDynamicSlice(op); ok {
			v.SetInput(y)
			if got := v.StartIndices(); v.Input() != y || len(got) != 2 {
				t.Errorf("dynamic_slice has %d indices", len(got))
			}
		}
		if v, ok := chlo.AsScan(op); ok {
			v.SetInputs([]*ir.Value{x})
			if len(v.Inputs()) != 1 || len(v.Inits()) != 1 || v.Inits()[0].Type().String() != "tensor<3x2xf32>" {
				t.Errorf("scan has inputs %d and inits %d", len(v.Inputs()), len(v.Inits()))
			}
			v.SetInputs([]*ir.Value{x, y})
		}
	}
	if err := ir.Verify(m); err != nil {
		t.Errorf("%v\n%s", err, print.String(m, print.Options{}))
	}
	// A zero removes an optional attribute.
	dot := read(t, reg, "dot.mlir", products)
	f, _ = fn.Lookup(dot, "main")
	v, _ := stablehlo.AsDotGeneral(f.Body().First())
	v.SetPrecisionConfig([]stablehlo.Precision{stablehlo.PrecisionHIGHEST, stablehlo.PrecisionHIGH})
	if got := v.PrecisionConfig(); len(got) != 2 || got[1] != stablehlo.PrecisionHIGH {
		t.Errorf("precision %v", got)
	}
	if v.SetPrecisionConfig(nil); v.Attr(stablehlo.AttrPrecisionConfig) != nil {
		t.Error("the precision is still there")
	}
}
