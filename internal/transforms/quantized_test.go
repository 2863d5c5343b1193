package transforms_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// toMath returns the pipeline that expresses quantized programs by StableHLO on integers and floats.
func toMath(t *testing.T) pass.Pipeline {
	p, err := pass.Parse("func.func(stablehlo-legalize-quant-to-math,chlo-legalize-to-stablehlo)", passes.Builtin(passes.Host{}))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// results runs main on the engine.
func results(m *ir.Module, args []*tensor.Tensor) ([]*tensor.Tensor, error) {
	exe, err := interp.New(interp.Options{}).Compile(context.Background(), &runtime.Program{Module: m}, runtime.CompileOptions{})
	if err != nil {
		return nil, err
	}
	return exe.Run(context.Background(), args)
}

// TestQuantToMathChecks runs StableHLO's quantized programs, which check their results, as integers and floats.
func TestQuantToMathChecks(t *testing.T) {
	dir := filepath.Join(testkit.Upstream(t), "stablehlo", "testdata", "quantized")
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	pipeline, ran := toMath(t), 0
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range boundary.Split(string(text), -1) {
			if !strings.Contains(part, "quant.uniform") || !strings.Contains(part, "@main()") {
				continue
			}
			m, err := testkit.TryParse(f.Name(), part)
			if err != nil {
				t.Errorf("%s: %v", f.Name(), err)
				continue
			}
			if err := (&pass.Driver{Verify: ir.VerifyContext}).Run(pass.NewContext(context.Background(), m), pipeline); err != nil {
				t.Errorf("%s: %v", f.Name(), err)
				continue
			}
			if _, err := results(m, nil); err != nil {
				t.Errorf("%s: %v", f.Name(), err)
			}
			ran++
		}
	}
	t.Logf("%d programs", ran)
}

// TestQuantToMathKeepsResults runs quantized programs in two forms: unchanged, which the engine computes on real
// numbers, and as integers and floats. The stored results differ by at most one, because of rounding. Products have
// results of 32 bits, because StableHLO's integers do not saturate there.
func TestQuantToMathKeepsResults(t *testing.T) {
	const header = "!a = !quant.uniform<i8:f32, 0.5:3>\n!b = !quant.uniform<i8:f32, 0.25:-7>\n!o32 = !quant.uniform<i32:f32, 0.5:140>\n!c = !quant.uniform<i8:f32, 0.25>\n!u = !quant.uniform<u8:f32, 0.5:140>\n" +
		"!w = !quant.uniform<i8:f32:1, {0.5, 0.25, 0.125}>\n!o = !quant.uniform<i32:f32:1, {0.25, 0.125, 0.0625}>\n"
	for name, body := range map[string]string{
		"add":        "%0 = stablehlo.add %a, %b : (tensor<2x3x!a>, tensor<2x3x!b>) -> tensor<2x3x!a>\nreturn %0 : tensor<2x3x!a>",
		"multiply":   "%0 = stablehlo.multiply %a, %b : (tensor<2x3x!a>, tensor<2x3x!b>) -> tensor<2x3x!b>\nreturn %0 : tensor<2x3x!b>",
		"maximum":    "%0 = stablehlo.maximum %a, %a : tensor<2x3x!a>\nreturn %0 : tensor<2x3x!a>",
		"requantize": "%0 = stablehlo.uniform_quantize %a : (tensor<2x3x!a>) -> tensor<2x3x!b>\nreturn %0 : tensor<2x3x!b>",
		"unsigned":   "%0 = stablehlo.uniform_quantize %a : (tensor<2x3x!a>) -> tensor<2x3x!u>\nreturn %0 : tensor<2x3x!u>",
		"from unsigned": "%0 = stablehlo.uniform_quantize %a : (tensor<2x3x!a>) -> tensor<2x3x!u>\n" +
			"%1 = stablehlo.uniform_quantize %0 : (tensor<2x3x!u>) -> tensor<2x3x!b>\nreturn %1 : tensor<2x3x!b>",
		"dot": "%c = stablehlo.uniform_quantize %b : (tensor<2x3x!b>) -> tensor<2x3x!c>\n%t = stablehlo.transpose %c, dims = [1, 0] : (tensor<2x3x!c>) -> tensor<3x2x!c>\n" +
			"%0 = stablehlo.dot_general %a, %t, contracting_dims = [1] x [0] : (tensor<2x3x!a>, tensor<3x2x!c>) -> tensor<2x2x!o32>\nreturn %0 : tensor<2x2x!o32>",
		"batched dot": "%c = stablehlo.uniform_quantize %b : (tensor<2x3x!b>) -> tensor<2x3x!c>\n" +
			"%0 = stablehlo.dot_general %a, %c, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x3x!a>, tensor<2x3x!c>) -> tensor<2x!o32>\nreturn %0 : tensor<2x!o32>",
		"per axis dot": "%w = stablehlo.constant() {value = dense<[[1, 2, 3], [-4, 5, -6], [7, -8, 9]]> : tensor<3x3xi8>} : () -> tensor<3x3x!w>\n" +
			"%0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<2x3x!a>, tensor<3x3x!w>) -> tensor<2x3x!o>\nreturn %0 : tensor<2x3x!o>",
		"hybrid dot": "%w = stablehlo.constant() {value = dense<[[1, 2, 3], [-4, 5, -6], [7, -8, 9]]> : tensor<3x3xi8>} : () -> tensor<3x3x!w>\n" +
			"%f = stablehlo.uniform_dequantize %a : (tensor<2x3x!a>) -> tensor<2x3xf32>\n" +
			"%0 = stablehlo.dot_general %f, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x3x!w>) -> tensor<2x3xf32>\n" +
			"%1 = stablehlo.uniform_quantize %0 : (tensor<2x3xf32>) -> tensor<2x3x!b>\nreturn %1 : tensor<2x3x!b>",
		"convolution": "%x = stablehlo.reshape %a : (tensor<2x3x!a>) -> tensor<1x2x3x1x!a>\n" +
			"%w = stablehlo.constant() {value = dense<[[[[1]], [[-2]]], [[[3]], [[4]]]]> : tensor<2x2x1x1xi8>} : () -> tensor<2x2x1x1x!quant.uniform<i8:f32, 0.5>>\n" +
			"%0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 0], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : " +
			"(tensor<1x2x3x1x!a>, tensor<2x2x1x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x2x3x1x!o32>\nreturn %0 : tensor<1x2x3x1x!o32>",
		"sine": "%0 = stablehlo.sine %a : tensor<2x3x!a>\nreturn %0 : tensor<2x3x!a>",
	} {
		t.Run(name, func(t *testing.T) {
			typ := strings.TrimPrefix(body[strings.LastIndex(body, " : "):], " : ")
			text := header + "func.func @main(%a: tensor<2x3x!a>, %b: tensor<2x3x!b>) -> " + typ + " {\n" + body + "\n}"
			m, err := testkit.TryParse(name, text)
			if err != nil {
				t.Fatal(err)
			}
			if err := ir.Verify(m); err != nil {
				t.Fatal(err)
			}
			var args []*tensor.Tensor
			for _, l := range []string{"dense<[[3, 11, -5], [120, -128, 0]]> : tensor<2x3xi8>", "dense<[[-7, 9, 101], [-20, 127, 2]]> : tensor<2x3xi8>"} {
				v, err := tensor.ParseLiteral(l)
				if err != nil {
					t.Fatal(err)
				}
				args = append(args, v)
			}
			want, err := results(m.Clone(), args)
			if err != nil {
				t.Fatal(err)
			}
			if err := (&pass.Driver{Verify: ir.VerifyContext}).Run(pass.NewContext(context.Background(), m), toMath(t)); err != nil {
				t.Fatal(err)
			}
			got, err := results(m, args)
			if err != nil {
				t.Fatal(err)
			}
			for i := range want[0].NumElements() {
				if d := want[0].IntAt(i) - got[0].IntAt(i); d < -1 || d > 1 {
					t.Errorf("element %d: %d on real numbers, %d as integers", i, want[0].IntAt(i), got[0].IntAt(i))
				}
			}
		})
	}
}
