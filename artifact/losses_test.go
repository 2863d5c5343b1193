package artifact_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// portable writes a module as an artifact and reads it again.
func portable(m *ir.Module) (*ir.Module, error) {
	out, _, err := artifact.Append(nil, m, artifact.Options{Target: vhlo.Current, KeepOthers: true})
	if err != nil {
		return nil, err
	}
	return artifact.Read(diag.NewSource("m.vhlo", out), ir.NewContext(registry))
}

// TestLosses shows each kind of loss: the attributes of an op, in the generic form, before and after it was in an
// artifact.
func TestLosses(t *testing.T) {
	const value = `%0 = "foo.v"() : () -> tensor<2x2xf32> `
	for _, tt := range []struct{ why, before, after string }{
		{"precisions that are all the default",
			value + `%1 = "stablehlo.dot_general"(%0, %0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>`,
			value + `%1 = "stablehlo.dot_general"(%0, %0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>`},
		{"one default precision for two operands",
			value + `%1 = "stablehlo.dot"(%0, %0) <{precision_config = [#stablehlo<precision DEFAULT>]}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>`,
			value + `%1 = "stablehlo.dot"(%0, %0) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>`},
		{"an empty configuration",
			`"stablehlo.custom_call"() <{call_target_name = "c", backend_config = ""}> : () -> ()`,
			`"stablehlo.custom_call"() <{call_target_name = "c"}> : () -> ()`},
		{"an empty configuration of the typed interface",
			`"stablehlo.custom_call"() <{call_target_name = "c", api_version = 4 : i32, backend_config = {}}> : () -> ()`,
			`"stablehlo.custom_call"() <{call_target_name = "c", api_version = 4 : i32}> : () -> ()`},
		{"lists that are empty",
			`"stablehlo.custom_call"() <{call_target_name = "c", called_computations = [], output_operand_aliases = [], operand_layouts = [], result_layouts = []}> : () -> ()`,
			`"stablehlo.custom_call"() <{call_target_name = "c"}> : () -> ()`},
		{"the kind of array of numbers in a dictionary",
			`"stablehlo.custom_call"() <{call_target_name = "c", api_version = 4 : i32, backend_config = {n = array<i64: 1, 2>}}> : () -> ()`,
			`"stablehlo.custom_call"() <{call_target_name = "c", api_version = 4 : i32, backend_config = {n = dense<[1, 2]> : tensor<2xi64>}}> : () -> ()`},
		{"flags that are false",
			value + `%1 = "stablehlo.custom_call"(%0) <{call_target_name = "c", has_side_effect = false}> : (tensor<2x2xf32>) -> tensor<2x2xf32>`,
			value + `%1 = "stablehlo.custom_call"(%0) <{call_target_name = "c"}> : (tensor<2x2xf32>) -> tensor<2x2xf32>`},
		{"strides, dilations and padding that change nothing",
			value + `%1 = stablehlo.constant dense<0.0> : tensor<f32> %2 = "stablehlo.reduce_window"(%0, %1) <{base_dilations = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>}> ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): stablehlo.return %a : tensor<f32> }) : (tensor<2x2xf32>, tensor<f32>) -> tensor<1x1xf32>`,
			value + `%1 = stablehlo.constant dense<0.0> : tensor<f32> %2 = "stablehlo.reduce_window"(%0, %1) <{window_dimensions = array<i64: 2, 2>}> ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): stablehlo.return %a : tensor<f32> }) : (tensor<2x2xf32>, tensor<f32>) -> tensor<1x1xf32>`},
		{"how numbers are compared, if that is left open",
			value + `%1 = "stablehlo.compare"(%0, %0) <{compare_type = #stablehlo<comparison_type NOTYPE>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>`,
			value + `%1 = "stablehlo.compare"(%0, %0) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>`},
		{"the default accuracy",
			value + `%1 = stablehlo.tanh %0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>} : tensor<2x2xf32>`,
			value + `%1 = stablehlo.tanh %0 : tensor<2x2xf32>`},
		{"the type of a channel of a collective operation",
			value + `%1 = "stablehlo.collective_permute"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x2xf32>) -> tensor<2x2xf32>`,
			value + `%1 = "stablehlo.collective_permute"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x2xf32>) -> tensor<2x2xf32>`},
		{"layout and memory space of a memref",
			`func.func @f(%a: memref<2xf32, strided<[2]>, 3>) { return }`,
			`func.func @f(%a: memref<2xf32>) { return }`},
		{"that a discardable attribute is a symbol",
			`func.func @f(%a: tensor<i32>) { %0 = stablehlo.negate %a {x.y = @f} : tensor<i32> return }`,
			`func.func @f(%a: tensor<i32>) { %0 = stablehlo.negate %a {x.y = "f"} : tensor<i32> return }`},
		{"names of values",
			`%name = "foo.v"() : () -> i32`, `%0 = "foo.v"() : () -> i32`},
	} {
		again, err := portable(module(t, tt.before))
		if err != nil {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		if a, b := print.String(again, print.Options{}), print.String(module(t, tt.after), print.Options{}); a != b {
			t.Errorf("%s: after it was in an artifact,\n%s\nis\n%s\nwant\n%s", tt.why, tt.before, a, b)
		}
	}
}

// lost are the attributes that an artifact changes in the modules of TestTestdata, beside those with a default value.
var lost = map[string]string{
	"channel_handle": "the type of a channel",
	"backend_config": "the kind of array in a dictionary",
}

// TestTestdata writes every text as an artifact and reads it again: the module is the same, up to the kinds of loss
// that TestLosses shows.
func TestTestdata(t *testing.T) {
	var paths []string
	for _, dir := range []string{".", "events", "hooks", "order", "ops", "mlir", "passes", "bytecode/*"} {
		list, err := filepath.Glob(filepath.Join("..", "testdata", dir, "*.mlir"))
		if err != nil || len(list) == 0 {
			t.Fatal("no modules in", dir, err)
		}
		paths = append(paths, list...)
	}
	if root := os.Getenv("HLOCB_UPSTREAM"); root != "" {
		list, err := filepath.Glob(filepath.Join(root, "stablehlo", "testdata", "*.mlir"))
		if err != nil || len(list) == 0 {
			t.Fatal("no testdata of StableHLO", err)
		}
		paths = append(paths, list...)
	}
	for _, path := range paths {
		m, err := parse.Parse(diag.NewSource(path, readFile(t, path)), ir.NewContext(registry), parse.Options{})
		if err != nil {
			if !strings.Contains(path, "passes") { // some texts there are invalid
				t.Error(err)
			}
			continue
		}
		again, err := portable(m)
		if err != nil {
			t.Error(err)
			continue
		}
		forget(t, path, m, again)
		if a, b := print.String(again, print.Options{Generic: true}), print.String(m, print.Options{Generic: true}); a != b {
			t.Errorf("%s: %s", path, firstLines(a, b))
		}
	}
}

// forget changes the attributes of m that again lacks: attributes with a default value are absent, and the attributes
// in lost differ.
func forget(t *testing.T, path string, m, again *ir.Module) {
	t.Helper()
	var list []*ir.Op
	again.Walk(func(op *ir.Op) bool {
		list = append(list, op)
		return true
	})
	m.Walk(func(op *ir.Op) bool {
		if len(list) == 0 {
			t.Errorf("%s: operations are missing", path)
			return false
		}
		x := list[0]
		list = list[1:]
		for _, a := range slices.Clone(op.Attrs()) {
			now := x.Attr(a.Name)
			switch {
			case now != nil && now.String() == a.Attr.String():
			case now == nil && isDefault(a):
				op.RemoveAttr(a.Name)
			case now != nil && lost[a.Name] != "":
				op.SetAttr(a.Name, now)
			default:
				t.Errorf("%s: %s of %s is %v after it was in an artifact, before %s", path, a.Name, op.Name(), now, a.Attr)
			}
		}
		return true
	})
}

// isDefault reports whether an attribute has the value that StableHLO assumes if the attribute is absent.
func isDefault(a ir.NamedAttr) bool {
	text := a.Attr.String()
	switch a.Name {
	case "precision_config":
		return text == "[#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]"
	case "backend_config":
		return text == `""`
	case "rhs_dilation", "lhs_dilation", "window_strides":
		return !strings.ContainsAny(strings.TrimPrefix(text, "array<i64"), "023456789")
	}
	return false
}
