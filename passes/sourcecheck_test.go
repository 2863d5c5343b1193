package passes_test

import (
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/internal/testkit"
)

// TestSourceOrderCheck checks results that keep the source's order, lose it, keep it only by ops that XLA removes, and
// impose a stronger order.
func TestSourceOrderCheck(t *testing.T) {
	source := func(second string) string {
		return `func.func public @main(%x: tensor<4xf32>) {
  %t = stablehlo.create_token : !stablehlo.token
  %u = stablehlo.create_token : !stablehlo.token
  %t1 = "stablehlo.outfeed"(%x, %t) {outfeed_config = "a"} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  %t2 = "stablehlo.outfeed"(%x, ` + second + `) {outfeed_config = "b"} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return
}`
	}
	call := func(result, operand, id, typ string) string {
		return result + ` = stablehlo.custom_call @hlocb_hook(` + operand + `, %x) {api_version = 4 : i32, has_side_effect = true, backend_config = {abi = 1 : i64, id = ` + id +
			` : i64, name = "h", kind = "tap", chained = true}} : (` + typ + `, tensor<4xf32>) -> ` + typ + "\n"
	}
	result := func(typ, start, between, second string, ids [2]string) string {
		return "func.func public @main(%x: tensor<4xf32>) {\n" + start + call("%c1", "%c", ids[0], typ) + between + call("%c2", second, ids[1], typ) + "return\n}"
	}
	const state, zero = "%c = stablehlo.constant dense<0> : tensor<ui64>\n", "%c = stablehlo.constant dense<> : tensor<0xui64>\n"
	for _, c := range []struct {
		name, source, typ, start, between, second, want string
	}{
		{"kept", "%t1", "tensor<ui64>", state, "", "%c1", ""},
		{"apart", "%u", "tensor<ui64>", state, "", "%c", ""},
		{"lost", "%t1", "tensor<ui64>", state, "", "%c", "the source orders hook"},
		{"imposed", "%u", "tensor<ui64>", state, "", "%c1", "the result orders hook"},
		{"barrier", "%t1", "tensor<ui64>", state, "%b = stablehlo.optimization_barrier %c1 : tensor<ui64>\n", "%b", ""},
		{"barrier of another value", "%t1", "tensor<ui64>", state, "%b:2 = stablehlo.optimization_barrier %c1, %c : tensor<ui64>, tensor<ui64>\n", "%b#1", "the source orders hook"},
		{"no elements", "%t1", "tensor<0xui64>", zero, "%b = stablehlo.optimization_barrier %c1 : tensor<0xui64>\n", "%b", "the source orders hook"},
	} {
		m, err := testkit.TryParse("source.mlir", []byte(source(c.source)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := format.Raise(m, format.RaiseOptions{}); err != nil {
			t.Fatal(err)
		}
		manifest, err := format.ManifestOf(m)
		if err != nil {
			t.Fatal(err)
		}
		var ids [2]string
		for i := range ids {
			ids[i] = "0x" + manifest.Sites[i].ID.String()
		}
		want := order.SourceOf(m)
		lowered, err := testkit.TryParse("lowered.mlir", []byte(result(c.typ, c.start, c.between, c.second, ids)))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		err = want.Prove(t.Context(), lowered)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error is %v, want %q", c.name, err, c.want)
		}
	}
}
