package gen_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/gen"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/ir"
)

// repeat is the row of a loop.
var repeat = &ir.Def{
	Name: "tally.repeat", Doc: "Runs its body a number of times.",
	Operands: []ir.Arg{{Name: "initial", Mult: ir.Variadic}}, Results: []ir.Arg{{Name: "results", Mult: ir.Variadic}},
	Attrs: []ir.AttrSpec{
		ods.Required("times", ods.I64NonNeg),
		ods.Optional("direction", ods.Enum(stablehlo.ComparisonDirectionEnum, "a direction")),
		ods.Optional("order", ods.Enum(order, "an order")),
	},
	Regions: []ir.RegionSpec{{Name: "body"}},
}

var order = &ir.EnumDef{Dialect: "tally", Name: "order", Doc: "The order of trips.", Cases: []string{"up", "down"}}

func dialect() *ir.Dialect {
	return &ir.Dialect{Name: "tally", Ops: []*ir.Def{repeat}, Enums: []*ir.EnumDef{order}}
}

// An op gets a view with methods that read and set its parts, and a builder.
func ExampleViews() {
	text, err := gen.Views(dialect(), gen.Options{})
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "Times(") || strings.Contains(line, "func BuildRepeat") {
			fmt.Print(line)
		}
	}
	// Output:
	// func (v RepeatOp) Times() int64                  { return view.Int(v.Attr("times")) }
	// func (v RepeatOp) SetTimes(value int64)          { view.Set(v.Op, "times", value) }
	// func BuildRepeat(b *ir.Builder, initial []*ir.Value, body *ir.Region, results []ir.Type, a RepeatAttrs) (RepeatOp, error) {
}

// TestEnums: an enumeration of the dialect becomes a Go type, one of another dialect is imported.
func TestEnums(t *testing.T) {
	text, err := gen.Views(dialect(), gen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"OrderUp   Order = 0", "return view.Case[Order](", "SetDirection(value stablehlo.ComparisonDirection)",
		"\"github.com/hlocb/hlocb/dialect/stablehlo\"", `AttrTimes     = "times"`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the code lacks %s:\n%s", want, text)
		}
	}
	named, err := gen.Views(dialect(), gen.Options{Names: map[string]string{"tally.repeat": "Again", "#tally.order": "Way"}, Imports: map[string]string{"stablehlo": "example.com/hlo/stablehlo"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"func BuildAgain(", "WayUp   Way = 0", "\"example.com/hlo/stablehlo\""} {
		if !strings.Contains(string(named), want) {
			t.Errorf("the code lacks %s", want)
		}
	}
}

// TestPage: the page shows an op from the examples, its attributes and constraints.
func TestPage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tally.mlir")
	if err := os.WriteFile(file, []byte("\"tally.repeat\"() <{times = 2 : i64}> ({\n}) : () -> ()"), 0o644); err != nil {
		t.Fatal(err)
	}
	reg, err := ir.NewRegistry(dialect())
	if err != nil {
		t.Fatal(err)
	}
	examples, err := gen.Examples(reg, []string{file})
	if err != nil {
		t.Fatal(err)
	}
	page := string(gen.Page(dialect(), gen.Options{About: "Loops."}, examples))
	for _, want := range []string{"# The tally dialect", "Loops.", "## `tally.repeat`", "<{times = 2 : i64}>", "`times`: 64-bit signless integer attribute whose value is non-negative", "order CASE"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}
