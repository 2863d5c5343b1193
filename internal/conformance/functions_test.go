package conformance_test

import (
	"fmt"
	"testing"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
)

// functionModules returns modules whose functions, calls and attributes are right or wrong.
func functionModules() []string {
	const callee = "func.func private @c(tensor<2xf32>) -> tensor<3xf32>\n"
	var out []string
	for _, body := range []string{
		`%0 = "func.call"(%a) <{callee = @c}> : (tensor<2xf32>) -> tensor<3xf32>`,
		`%0 = "func.call"(%a) <{callee = @d}> : (tensor<2xf32>) -> tensor<3xf32>`,
		`%0 = "func.call"(%a) <{callee = @c::@d}> : (tensor<2xf32>) -> tensor<3xf32>`,
		`%0 = "func.call"(%a) <{callee = "c"}> : (tensor<2xf32>) -> tensor<3xf32>`,
		`%0 = "func.call"(%a) : (tensor<2xf32>) -> tensor<3xf32>`,
		`%0 = "func.call"(%a, %a) <{callee = @c}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>`,
		`%0 = "func.call"(%a) <{callee = @c}> : (tensor<2xf32>) -> tensor<2xf32>`,
		`"func.call"(%a) <{callee = @c}> : (tensor<2xf32>) -> ()`,
		`%0 = "func.constant"() <{value = @c}> : () -> ((tensor<2xf32>) -> tensor<3xf32>)`,
		`%0 = "func.constant"() <{value = @d}> : () -> ((tensor<2xf32>) -> tensor<3xf32>)`,
		`%0 = "func.constant"() <{value = @c}> : () -> ((tensor<2xf32>) -> tensor<2xf32>)`,
		`%0 = "func.constant"() <{value = @c}> : () -> tensor<2xf32>`,
		`func.func @g() { return }`,
	} {
		out = append(out, callee+"func.func @f(%a: tensor<2xf32>) {\n"+body+"\nreturn\n}")
	}
	for _, attrs := range []string{
		``, `, sym_visibility = "private"`, `, sym_visibility = "nested"`, `, sym_visibility = "x"`, `, sym_visibility = 1 : i32`, `, no_inline`, `, no_inline = 1`,
		`, arg_attrs = []`, `, arg_attrs = [1 : i32]`, `, arg_attrs = [{a = 1}]`, `, arg_attrs = [{x.a = 1}]`, `, arg_attrs = "x"`,
		`, res_attrs = [{x.a = 1}]`, `, res_attrs = [{x.a = 1}, {}]`, `, res_attrs = [{a}]`,
	} {
		for _, body := range []string{``, `^bb0(%a: tensor<f32>): "func.return"(%a) : (tensor<f32>) -> ()`} {
			out = append(out, fmt.Sprintf(`"func.func"() <{function_type = (tensor<f32>) -> tensor<f32>, sym_name = "f"%s}> ({%s}) : () -> ()`, attrs, body))
		}
	}
	return append(out,
		"func.func @a() { return }\nfunc.func @a() { return }",
		"func.func @a()",
		"func.func private @a() { return }",
		`"func.func"() <{function_type = tensor<2xf32>, sym_name = "f"}> ({}) : () -> ()`,
		`"func.func"() <{function_type = () -> ()}> ({}) : () -> ()`,
		`"func.func"() <{function_type = () -> (), sym_name = "f"}> : () -> ()`,
		`"func.func"() <{function_type = (tensor<f32>) -> (), sym_name = "f"}> ({^bb0(%a: tensor<i32>): "func.return"() : () -> ()}) : () -> ()`,
		`"func.func"() <{function_type = (tensor<f32>) -> (), sym_name = "f"}> ({^bb0: "func.return"() : () -> ()}) : () -> ()`,
		"func.func @f() -> tensor<f32> { return }",
		"func.func @f(%a: tensor<2xf32>) { return %a : tensor<2xf32> }",
		"func.func @f(%a: tensor<2xf32>) -> tensor<3xf32> { return %a : tensor<2xf32> }",
		"module { module { func.func @a() { return } } func.func @b() { func.call @a() : () -> ()\nreturn } }",
		`"func.return"() : () -> ()`,
		"module attributes {a = 1} {}",
		"module attributes {x.a = 1} {}",
		"module @a { module @a {} module @a {} }",
	)
}

// TestFunctionsAsMLIR checks that hlocb refuses the functions and modules that jaxlib refuses.
func TestFunctionsAsMLIR(t *testing.T) {
	peer.Each(t, label.Part, checkFunctionsAsMLIR)
}

func checkFunctionsAsMLIR(t *testing.T, p *peer.Interpreter) {
	py := p
	texts := functionModules()
	sameRefusals(t, texts, verdicts(t, py, texts))
}
