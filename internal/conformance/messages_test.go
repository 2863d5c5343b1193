package conformance_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
)

// mlirError matches the place and the message in the text of an MLIRError.
var mlirError = regexp.MustCompile(`error: "-":(\d+:\d+): (.*)`)

// TestErrorsAsMLIR checks that hlocb refuses broken texts with MLIR's message at MLIR's place. Each text has one
// mistake.
func TestErrorsAsMLIR(t *testing.T) {
	peer.Each(t, label.Part, checkErrorsAsMLIR)
}

func checkErrorsAsMLIR(t *testing.T, python *peer.Interpreter) {
	texts := map[string]string{}
	for i, s := range []string{
		"func.func @f() { return",
		"func.func @f() {\n  return\n",
		"func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {\n  %0 = stablehlo.add %a, %b : tensor<2xf32>\n  return %0 : tensor<2xf32>\n}",
		"func.func @f(%a: tensor<2xf32>) {\n  %0 = stablehlo.abs %a : tensor<3xf32>\n  return\n}",
		"func.func @f(%a: i32, %a: i32) {\n  return\n}",
		"func.func @f() {\n  %0 = stablehlo.nothing\n  return\n}",
		"func.func @f() {\n  nothing\n}",
		"\"a.b\"(",
		"\"a.b\"() : ()",
		"\"a.b\"() : i32",
		"\"a.b\"() : () -> (",
		"\"a.b\"() {a = } : () -> ()",
		"\"a.b\"() {a = 1, a = 2} : () -> ()",
		"\"a.b\"() {1 = 2} : () -> ()",
		"\"a.b\"() {a = [1, } : () -> ()",
		"\"a.b\"() {a = #undefined} : () -> ()",
		"\"a.b\"() {a = !undefined} : () -> ()",
		"\"a.b\"() {a = dense<[1, 2> : tensor<2xi8>} : () -> ()",
		"\"a.b\"() {a = dense<1>} : () -> ()",
		"\"a.b\"() {a = tensor<2xf32} : () -> ()",
		"\"a.b\"() {a = tensor<2x>} : () -> ()",
		"\"a.b\"() {a = tensor<2f32>} : () -> ()",
		"\"a.b\"() {a = complex<tensor<f32>>} : () -> ()",
		"\"a.b\"() {a = i99999999999} : () -> ()",
		"\"a.b\"() {a = 300 : i8} : () -> ()",
		"\"a.b\"() {a = 1 : f32} : () -> ()",
		"\"a.b\"() {a = 1.0 : i32} : () -> ()",
		"\"a.b\"() {a = \"x} : () -> ()",
		"\"a.b\"() {a = \"\\q\"} : () -> ()",
		"\"a.b\"() {a = @} : () -> ()",
		"\"a.b\"() {a = array<i64: 1, x>} : () -> ()",
		"\"a.b\"() {a = array<tensor<1xi8>: 1>} : () -> ()",
		"\"a.b\"() {a = loc(1)} : () -> ()",
		"\"a.b\"() : () -> () loc(\"f\":1)",
		"\"a.b\"() : () -> () loc(#nowhere)",
		"\"a.b\"()[^bb1] : () -> ()",
		"\"a.b\"() ({ ^bb0: \"c.d\"()[^bb9] : () -> () }) : () -> ()",
		"\"a.b\"() ({ ^bb0: \"c.d\"() : () -> ()\n^bb0: \"c.d\"() : () -> () }) : () -> ()",
		"%0 = \"a.b\"() : () -> ()",
		"%0:2 = \"a.b\"() : () -> i32",
		"%0, %1 = \"a.b\"() : () -> i32",
		"%0 \"a.b\"() : () -> i32",
		"%0:0 = \"a.b\"() : () -> i32",
		"%0 = \"a.b\"() : () -> i32\n\"c.d\"(%0#1) : (i32) -> ()",
		"%0 = \"a.b\"() : () -> i32\n%0 = \"a.b\"() : () -> i32",
		"%0 = \"a.b\"() : () -> i32\n\"c.d\"(%0) : (i64) -> ()",
		"\"c.d\"(%0) : (i64) -> ()",
		"\"c.d\"(%0, %1) : (i64) -> ()",
		"#a = 1\n#a = 2",
		"#a.b = 1",
		"!a = i32\n!a = i32",
		"}",
		"func.func @f() -> tensor<f32> {\n  %0 = stablehlo.constant dense<1> : tensor<f32>\n  return %0 : tensor<f32>\n}",
		"func.func @f(%a: tensor<4xf32>) {\n  %0 = stablehlo.iota dim = x : tensor<4xf32>\n  return\n}",
		"func.func @f(%a: tensor<4xf32>) {\n  %0 = stablehlo.iota : tensor<4xf32>\n  return\n}",
		"func.func @f(%a: tensor<4xf32>) {\n  %0 = stablehlo.compare XX, %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>\n  return\n}",
		"func.func @f(%a: tensor<4xf32>) {\n  %0 = stablehlo.add %a %a : tensor<4xf32>\n  return\n}",
		"func.func @f(%a: tensor<4xf32>) {\n  %0 = stablehlo.add %a, %a\n  return\n}",
		"func.func (%a: tensor<4xf32>) {\n  return\n}",
		"func.func @f(%a) {\n  return\n}",
		"{-# nothing: {} #-}",
		"func.func @f(%a: tensor<2x2xf32>) {\n  %0 = stablehlo.transpose %a, dims = [1, x] : (tensor<2x2xf32>) -> tensor<2x2xf32>\n  return\n}",
		"func.func @f(%a: tensor<2x2xf32>) {\n  %0 = stablehlo.transpose %a, dims = [1, ] : (tensor<2x2xf32>) -> tensor<2x2xf32>\n  return\n}",
		"func.func @f(%a: tensor<2x2xf32>) {\n  %0 = stablehlo.transpose %a, dims = 1 : (tensor<2x2xf32>) -> tensor<2x2xf32>\n  return\n}",
		"func.func @f(%a: tensor<2x2xf32>) {\n  %0 = stablehlo.transpose %a, dims = [1 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>\n  return\n}",
		"func.func @f(%a: tensor<2x2xf32>) {\n  %0 = stablehlo.transpose %a, dims = [1, 99999999999999999999] : (tensor<2x2xf32>) -> tensor<2x2xf32>\n  return\n}",
		"func.func @f(%a: tensor<2x2xf32>) {\n  %0 = stablehlo.transpose %a, dims = [1, -0] : (tensor<2x2xf32>) -> tensor<2x2xf32>\n  return\n}",
		"func.func @f(%a: tensor<2x2xf32>) {\n  %0 = stablehlo.transpose %a, dims = [1, 0x0] : (tensor<2x2xf32>) -> tensor<2x2xf32>\n  return\n}",
		"func.func @f(%a: tensor<2x2xf32>) {\n  %0 = stablehlo.transpose %a, dims = [1 // ]\n, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>\n  return\n}",
		"\"a.b\"() {a = [1, ]} : () -> ()",
		"\"a.b\"() {a = {b = 1, }} : () -> ()",
		"\"a.b\"() {a = [1 2]} : () -> ()",
		"\"a.b\"() {a, } : () -> ()",
		"\"a.b\"() : () -> () loc(fused[\"a\", ])",
		"\"a.b\"() ({ ^bb0(%a: i1, ): \"c.d\"() : () -> () }) : () -> ()",
		"\"a.b\"() : (i1, ) -> ()",
		"\"a.b\"() : (i32 -> ()",
		"func.func @f(%a: tensor<?x?xf32>, %b: tensor<f32>) -> tensor<?xf32> {\n  %0 = stablehlo.reduce(%a init: %b) applies stablehlo.divide across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>\n  return %0 : tensor<?xf32>\n}",
		"func.func @f(%a: tensor<?x?xf32>, %b: tensor<f32>) -> tensor<?xf32> {\n  %0 = stablehlo.reduce(%a init: %b) applies stablehlo.not across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>\n  return %0 : tensor<?xf32>\n}",
		"func.func @f(%a: tensor<?x?xf32>, %b: tensor<f32>) -> tensor<?xf32> {\n  %0 = stablehlo.reduce(%a init: %b) applies other.add across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>\n  return %0 : tensor<?xf32>\n}",
		"func.func @f(%a: tensor<?x?xf32>, %b: tensor<f32>) -> tensor<?xf32> {\n  %0 = stablehlo.reduce(%a init: %b) applies stablehlo.compare across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>\n  return %0 : tensor<?xf32>\n}",
		"func.func @f(%a: tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>> {\n  %0 = \"stablehlo.async_start\"(%a) ({\n  ^bb0(%b: tensor<4xf32>):\n    %1 = stablehlo.add %b, %b : tensor<4xf32>\n    stablehlo.return %1 : tensor<4xf32>\n  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>\n  return %0 : !stablehlo.future<tensor<4xf32>>\n}",
		"func.func @f(%a: tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>> {\n  %0 = \"stablehlo.async_start\"(%a) ({\n  ^bb0(%b: tensor<4xf32>):\n    stablehlo.return %b : tensor<4xf32>\n  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>\n  return %0 : !stablehlo.future<tensor<4xf32>>\n}",
		"func.func @f(%a: tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>> {\n  %0 = \"stablehlo.async_start\"(%a) ({\n  ^bb0(%b: tensor<4xf32>):\n    %1 = stablehlo.slice %b [0:2] : (tensor<4xf32>) -> tensor<2xf32>\n    stablehlo.return %1 : tensor<2xf32>\n  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>\n  return %0 : !stablehlo.future<tensor<4xf32>>\n}",
		"func.func @f(%a: tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>> {\n  %0 = \"stablehlo.async_start\"(%a) ({\n  ^bb0(%b: tensor<4xf32>):\n    %1 = stablehlo.slice %b [0:4] : (tensor<4xf32>) -> tensor<4xf32>\n    stablehlo.return %1, %1 : tensor<4xf32>, tensor<4xf32>\n  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>\n  return %0 : !stablehlo.future<tensor<4xf32>>\n}",
		"func.func @f(%a: tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>> {\n  %0 = \"stablehlo.async_start\"(%a) ({\n  ^bb0(%b: tensor<?xf32>):\n    %1 = stablehlo.slice %b [0:4] : (tensor<?xf32>) -> tensor<4xf32>\n    stablehlo.return %1 : tensor<4xf32>\n  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>\n  return %0 : !stablehlo.future<tensor<4xf32>>\n}",
		"func.func @f(%a: tensor<4xf32>) -> !stablehlo.future<tensor<2xf32>> {\n  %0 = \"stablehlo.async_start\"(%a) ({\n  ^bb0(%b: tensor<4xf32>):\n    %1 = stablehlo.slice %b [0:2] : (tensor<4xf32>) -> tensor<2xf32>\n    stablehlo.return %1 : tensor<2xf32>\n  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<2xf32>>\n  return %0 : !stablehlo.future<tensor<2xf32>>\n}",
		"func.func @f(%a: tensor<16x8xf32>) -> tensor<16x16xf32> {\n  %0 = \"stablehlo.all_gather\"(%a) {all_gather_dim = 1 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @missing, axes = [#stablehlo.axis_ref<name = \"x\">]>} : (tensor<16x8xf32>) -> tensor<16x16xf32>\n  return %0 : tensor<16x16xf32>\n}",
		"func.func @f(%a: tensor<4x6xf32>, %s: tensor<2x3xf32>, %z: tensor<f32>) -> tensor<4x6xf32> {\n  %0 = \"stablehlo.select_and_scatter\"(%a, %s, %z) ({\n  ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n    %c = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>\n    stablehlo.return %c : tensor<i1>\n  }, {\n  ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n    %d = stablehlo.add %x, %y : tensor<f32>\n    stablehlo.return %d : tensor<f32>\n  }) {window_strides = array<i64: 2, 2>} : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>\n  return %0 : tensor<4x6xf32>\n}",
	} {
		texts[fmt.Sprintf("%02d", i)] = s
	}
	reg := testkit.Registry(t)
	same := 0
	for name, want := range jaxlib(t, python, texts) {
		m := mlirError.FindStringSubmatch(want.Error)
		module, err := read(t, reg, texts[name])
		if err == nil {
			err = ir.Verify(module)
		}
		list := listOf(err)
		if m == nil {
			if want.Error == "" && len(list) > 0 {
				t.Errorf("%q: MLIR reads it: got %v", texts[name], list)
			}
			continue
		}
		if len(list) == 0 {
			t.Errorf("%q: nothing is wrong, MLIR says %s %s", texts[name], m[1], m[2])
			continue
		}
		line, col := list[0].Source.LineColumn(list[0].Pos)
		got := fmt.Sprintf("%d:%d %s", line, col, list[0].Message)
		if got != m[1]+" "+m[2] {
			t.Errorf("%q:\n  got  %s\n  MLIR %s", texts[name], got, m[1]+" "+m[2])
			continue
		}
		same++
	}
	t.Logf("%d of %d with MLIR's words at MLIR's place", same, len(texts))
}
