package stablehlo_test

import (
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// attrOf reads text as an attribute of a module.
func attrOf(t *testing.T, text string) (ir.Attr, error) {
	t.Helper()
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	m, err := parse.Parse(diag.NewSource("in.mlir", []byte("module attributes {test.a = "+text+"} {}")), ir.NewContext(reg), parse.Options{})
	if err != nil {
		return nil, err
	}
	return m.Op().Attr("test.a"), nil
}

// The text that is written differs from the text that was read only if parameters may be missing or have a long form.
func TestAttrs(t *testing.T) {
	for in, want := range map[string]string{
		"#stablehlo.gather<index_vector_dim = 1, offset_dims = [0, 2], slice = []>":       "expected one of: `offset_dims`",
		"#stablehlo.gather<index_vector_dim = 1, offset_dims = [0, 2],>":                  "#stablehlo.gather<offset_dims = [0, 2], index_vector_dim = 1>",
		"#stablehlo.gather<offset_dims = [0], offset_dims = [0]>":                         "duplicated `offset_dims` entry",
		"#stablehlo.channel_handle<type = 2, handle = 1>":                                 "#stablehlo.channel_handle<handle = 1, type = 2>",
		"#stablehlo.channel_handle<type = 2>":                                             "struct is missing required parameter: handle",
		"#stablehlo.output_operand_alias<operand_index = 3>":                              "#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 3, operand_tuple_indices = []>",
		"#stablehlo.type_extensions<bounds = [3, ?]>":                                     "#stablehlo.bounds<3, ?>",
		"#mhlo.type_extensions<bounds = [3, ?]>":                                          "#mhlo.type_extensions<bounds = [3, ?]>",
		"#stablehlo.result_accuracy<ulps = 2, mode = <TOLERANCE>>":                        "#stablehlo.result_accuracy<ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>",
		"#mhlo.result_accuracy<mode = #mhlo.result_accuracy_mode<HIGHEST>>":               "#mhlo.result_accuracy<mode = #mhlo.result_accuracy_mode<HIGHEST>>",
		"#stablehlo.axis_ref<name = \"x\", sub_axis_info = (2)4>":                         "#stablehlo.axis_ref<name = \"x\", sub_axis_info = (2)4>",
		"#chlo.ragged_dot<lhs_ragged_dimensions = [1], lhs_contracting_dimensions = [0]>": "#chlo.ragged_dot<lhs_contracting_dimensions = [0], lhs_ragged_dimensions = [1]>",
		"#mhlo.ragged_dot<dot_dimension_numbers = <lhs_contracting_dimensions = [0]>>":    "#mhlo.ragged_dot<dot_dimension_numbers = #mhlo.dot<lhs_contracting_dimensions = [0]>>",
		"#stablehlo<rng_distribution NORMAL>":                                             "#stablehlo<rng_distribution NORMAL>",
		"#stablehlo<rng_distribution OTHER>":                                              "expected ::mlir::stablehlo::RngDistribution to be one of: UNIFORM, NORMAL",
	} {
		a, err := attrOf(t, in)
		switch {
		case err != nil && !strings.Contains(err.Error(), want):
			t.Errorf("%s: %v", in, err)
		case err == nil && a.String() != want:
			t.Errorf("%s is written as %s", in, a)
		}
	}
}

// Both readers of an enumeration, of an attribute and of an op's format, give one message.
func TestEnumMessage(t *testing.T) {
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	const text = `func.func @f(%a: tensor<f32>, %s: tensor<1xi64>) { %0 = stablehlo.rng %a, %a, %s, distribution = OTHER : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<1xf32> }`
	_, err = parse.Parse(diag.NewSource("in.mlir", []byte(text)), ir.NewContext(reg), parse.Options{})
	if want := "expected ::mlir::stablehlo::RngDistribution to be one of: UNIFORM, NORMAL"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Rows are made once, and MHLO's know those that they mirror.
func TestRows(t *testing.T) {
	a, b := mhlo.Dialect().Ops, mhlo.Dialect().Ops
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("two rows of %s", a[i].Name)
		}
	}
	if row := mhlo.Row(stablehlo.While); row == nil || row.Original() != stablehlo.While {
		t.Error("mhlo.while does not mirror stablehlo.while")
	}
	if mhlo.AsyncStart.Original() != mhlo.AsyncStart {
		t.Error("mhlo.async_start is an operation of its own")
	}
}
