//go:build cgo

package pjrt

import (
	"strings"
	"testing"

	"github.com/hlocb/hlocb/print"
)

// TestRepaired compares repaired programs with the programs that they should be. A program that needs no repair stays.
func TestRepaired(t *testing.T) {
	const typed = "api_version = 4 : i32"
	for name, c := range map[string]struct {
		platform  string // "cpu" if empty
		ops, want string // want is empty if the program stays
	}{
		"nothing": {"", "%r = stablehlo.abs %x : tensor<2xf32>", ""},
		"a call's own configuration": {"", `%r = stablehlo.custom_call @f(%x) {` + typed + `, mhlo.backend_config = {a = 1 : i64}} : (tensor<2xf32>) -> tensor<2xf32>`,
			`%r = stablehlo.custom_call @f(%x) {` + typed + `, backend_config = {a = 1 : i64}} : (tensor<2xf32>) -> tensor<2xf32>`},
		"an empty configuration beside": {"", `%r = stablehlo.custom_call @f(%x) {` + typed + `, backend_config = {}, mhlo.backend_config = {a = 1 : i64}} : (tensor<2xf32>) -> tensor<2xf32>`,
			`%r = stablehlo.custom_call @f(%x) {` + typed + `, backend_config = {a = 1 : i64}} : (tensor<2xf32>) -> tensor<2xf32>`},
		"two configurations": {"", `%r = stablehlo.custom_call @f(%x) {` + typed + `, backend_config = {b = 2 : i64}, mhlo.backend_config = {a = 1 : i64}} : (tensor<2xf32>) -> tensor<2xf32>`, ""},
		"an untyped call":    {"", `%r = stablehlo.custom_call @f(%x) {mhlo.backend_config = {a = 1 : i64}} : (tensor<2xf32>) -> tensor<2xf32>`, ""},
		"an untyped comparison of signed integers": {"", `%r = stablehlo.compare LT, %i, %i : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>`,
			`%r = stablehlo.compare LT, %i, %i, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>`},
		"a typed comparison":               {"", `%r = stablehlo.compare LT, %i, %i, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>`, ""},
		"an untyped comparison of floats":  {"", `%r = stablehlo.compare LT, %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>`, ""},
		"an untyped comparison, unsigned":  {"", `%r = stablehlo.compare LT, %s, %s : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xi1>`, ""},
		"a comparison of booleans":         {"", `%r = stablehlo.compare EQ, %b, %b : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>`, ""},
		"random bits of an unsigned type":  {"", `%t, %r = stablehlo.rng_bit_generator %s, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)`, ""},
		"random bits of a type of no size": {"", `%t, %r = stablehlo.rng_bit_generator %s, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xi4>)`, ""},
		"random bits of a signed type": {"", `%t, %r = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY {mhlo.sharding = "{replicated}"} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xi32>)`,
			`%t, %u = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY {mhlo.sharding = "{replicated}"} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)
			%r = stablehlo.bitcast_convert %u : (tensor<3xui32>) -> tensor<3xi32>`},
		"random bits of a float": {"", `%t, %r = stablehlo.rng_bit_generator %s, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xbf16>)`,
			`%t, %u = stablehlo.rng_bit_generator %s, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui16>)
			%r = stablehlo.bitcast_convert %u : (tensor<3xui16>) -> tensor<3xbf16>`},
		"an op of CHLO by its name in MHLO": {"", `%r = stablehlo.custom_call @mhlo.erf_inv(%x) : (tensor<2xf32>) -> tensor<2xf32>`,
			`%r = chlo.erf_inv %x : tensor<2xf32> -> tensor<2xf32>`},
		"an op of MHLO": {"", `%r = stablehlo.custom_call @mhlo.erf(%x) : (tensor<2xf32>) -> tensor<2xf32>`, ""},
		"a real part": {"", `%c = stablehlo.complex %x, %x : tensor<2xcomplex<f32>>
			%r = stablehlo.convert %c : (tensor<2xcomplex<f32>>) -> tensor<2xf64>`,
			`%c = stablehlo.complex %x, %x : tensor<2xcomplex<f32>>
			%1 = stablehlo.real %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
			%r = stablehlo.convert %1 : (tensor<2xf32>) -> tensor<2xf64>`},
		"complex numbers": {"", `%c = stablehlo.complex %x, %x : tensor<2xcomplex<f32>>
			%r = stablehlo.convert %c : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f64>>`, ""},
		"a fusion": {"", `%r = "mhlo.fusion"(%x) ({
			^bb0(%a: tensor<2xf32>):
				%1 = stablehlo.abs %a : tensor<2xf32>
				%2 = stablehlo.negate %1 : tensor<2xf32>
				mhlo.return %2 : tensor<2xf32>
			}) : (tensor<2xf32>) -> tensor<2xf32>`, "%1 = stablehlo.abs %x : tensor<2xf32>\n%r = stablehlo.negate %1 : tensor<2xf32>"},
		"a dependency":                  {"", `%r = "mhlo.add_dependency"(%x, %t0) : (tensor<2xf32>, !stablehlo.token) -> tensor<2xf32>`, "%r = %x"},
		"a domain":                      {"", `%r = "mhlo.domain"(%x) : (tensor<2xf32>) -> tensor<2xf32>`, "%r = %x"},
		"a dependency of another type":  {"", `%r = "mhlo.add_dependency"(%x, %t0) : (tensor<2xf32>, !stablehlo.token) -> tensor<2xi32>`, ""},
		"a dependency without operands": {"", `%r = "mhlo.add_dependency"() : () -> tensor<2xf32>`, ""},
		"an op of MHLO that computes":   {"", `%r = "mhlo.foo"(%x) : (tensor<2xf32>) -> tensor<2xf32>`, ""},
		"an asynchronous call": {"", `%0 = "mhlo.async_start"(%x) {called_computation = @f, execution_thread = "main"} : (tensor<2xf32>) -> !mhlo.async_bundle<tensor<2xf32>, tensor<2xf32>, tensor<i32>>
			%1 = "mhlo.async_update"(%0) {called_computation = @f, execution_thread = "main"} : (!mhlo.async_bundle<tensor<2xf32>, tensor<2xf32>, tensor<i32>>) -> !mhlo.async_bundle<tensor<2xf32>, tensor<2xf32>, tensor<i32>>
			%2 = stablehlo.negate %x : tensor<2xf32>
			%r = "mhlo.async_done"(%1) {called_computation = @f, execution_thread = "main"} : (!mhlo.async_bundle<tensor<2xf32>, tensor<2xf32>, tensor<i32>>) -> tensor<2xf32>`,
			`%r = func.call @f(%x) : (tensor<2xf32>) -> tensor<2xf32>
			%2 = stablehlo.negate %x : tensor<2xf32>`},
		"an asynchronous call that starts elsewhere": {"", `%0 = "foo.start"() : () -> !mhlo.async_bundle<tensor<2xf32>>
			%r = "mhlo.async_done"(%0) {called_computation = @f} : (!mhlo.async_bundle<tensor<2xf32>>) -> tensor<2xf32>`, ""},
		"a fusion of other operands": {"", `%r = "mhlo.fusion"(%x) ({
			^bb0(%a: tensor<2xi32>):
				%1 = stablehlo.convert %a : (tensor<2xi32>) -> tensor<2xf32>
				mhlo.return %1 : tensor<2xf32>
			}) : (tensor<2xf32>) -> tensor<2xf32>`, ""},
		"a fusion of other results": {"", `%r = "mhlo.fusion"(%i) ({
			^bb0(%a: tensor<2xi32>):
				mhlo.return %a : tensor<2xi32>
			}) : (tensor<2xi32>) -> tensor<2xf32>`, ""},
		"a fusion of two blocks": {"", `%r = "mhlo.fusion"(%x) ({
			^bb0(%a: tensor<2xf32>):
				"cf.br"()[^bb1] : () -> ()
			^bb1:
				mhlo.return %x : tensor<2xf32>
			}) : (tensor<2xf32>) -> tensor<2xf32>`, ""},
		"a part of a complex number as integers": {"", `%c = stablehlo.complex %x, %x : tensor<2xcomplex<f32>>
			%r = stablehlo.convert %c : (tensor<2xcomplex<f32>>) -> tensor<2xi32>`,
			`%c = stablehlo.complex %x, %x : tensor<2xcomplex<f32>>
			%1 = stablehlo.real %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
			%r = stablehlo.convert %1 : (tensor<2xf32>) -> tensor<2xi32>`},
		"a complex number of a number": {"", `%r = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xcomplex<f32>>`, ""},
		"two moves":                    {"", `%q, %r = stablehlo.custom_call @MoveToDevice(%i, %x) : (tensor<2xi32>, tensor<2xf32>) -> (tensor<2xi32>, tensor<2xf32>)`, "%r = %x"},
		"another call":                 {"", `%r = stablehlo.custom_call @Move(%x) : (tensor<2xf32>) -> tensor<2xf32>`, ""},
		"a placement":                  {"", `%r = stablehlo.custom_call @annotate_device_placement(%x) : (tensor<2xf32>) -> tensor<2xf32>`, "%r = %x"},
		"a move":                       {"", `%r = stablehlo.custom_call @MoveToHost(%x) : (tensor<2xf32>) -> tensor<2xf32>`, "%r = %x"},
		"a move to another type":       {"", `%r = stablehlo.custom_call @MoveToHost(%x) : (tensor<2xf32>) -> tensor<2xi32>`, ""},
		"a move on a GPU":              {"cuda", `%r = stablehlo.custom_call @MoveToHost(%x) : (tensor<2xf32>) -> tensor<2xf32>`, ""},
		"a bitcast":                    {"cuda", `%r = "mhlo.bitcast"(%x) : (tensor<2xf32>) -> tensor<2x1xf32>`, "%r = stablehlo.reshape %x : (tensor<2xf32>) -> tensor<2x1xf32>"},
		"a foreign op in the body":     {"", "%r = stablehlo.abs %x : tensor<2xf32>\n\"foo.bar\"() : () -> ()", ""},
	} {
		text := func(ops string) string {
			value := "%r"
			if before, ok := strings.CutSuffix(ops, "%r = %x"); ok {
				ops, value = before, "%x"
			}
			last, _, _ := strings.Cut(ops[max(0, strings.LastIndex(ops, "%r")):], "\n")
			typ := "tensor<2xf32>"
			if i := strings.LastIndex(last, "-> "); value == "%r" && i > 0 {
				typ = strings.TrimSuffix(last[i+3:], ")")
				if j := strings.LastIndex(typ, ", "); j > 0 {
					typ = typ[j+2:]
				}
			}
			return "func.func public @main(%x: tensor<2xf32>, %i: tensor<2xi32>, %s: tensor<2xui64>, %b: tensor<2xi1>, %t0: !stablehlo.token) -> " + typ + " {\n" + ops + "\nreturn " + value + " : " + typ +
				"\n}\nfunc.func private @f(%x: tensor<2xf32>) -> tensor<2xf32> {\nreturn %x : tensor<2xf32>\n}"
		}
		if c.platform == "" {
			c.platform = "cpu"
		}
		p := parsed(t, text(c.ops))
		before := print.String(p.Module, print.Options{})
		got := (&Client{platform: c.platform}).repaired(p)
		if print.String(p.Module, print.Options{}) != before {
			t.Errorf("%s: the program itself changes", name)
		}
		if c.want == "" {
			if got != p {
				t.Errorf("%s: the program becomes\n%s", name, print.String(got.Module, print.Options{}))
			}
			continue
		}
		if want := print.String(parsed(t, text(c.want)).Module, print.Options{}); print.String(got.Module, print.Options{}) != want {
			t.Errorf("%s: the program becomes\n%s\nwant\n%s", name, print.String(got.Module, print.Options{}), want)
		}
	}
	for ops, stays := range map[string]bool{"\"foo.bar\"() : () -> ()\n": false, "\"foo.bar\"() {sym_name = \"f\"} : () -> ()\n": true} {
		p := parsed(t, ops+"func.func public @main() {\n  return\n}")
		if got := (&Client{platform: "cpu"}).repaired(p); (got == p) != stays || strings.Contains(print.String(got.Module, print.Options{}), "foo.bar") != stays {
			t.Errorf("%s becomes\n%s", ops, print.String(got.Module, print.Options{}))
		}
	}
	p := parsed(t, "func.func public @main() {\n  return\n}")
	p.Module = nil
	if got := (&Client{}).repaired(p); got != p {
		t.Error("a program without a module changes")
	}
}
