package passes_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
)

// runPipeline runs a pipeline of this package on a text.
func runPipeline(name, text, pipeline string, reg *ir.Registry) (string, error) {
	m, err := parse.Parse(diag.NewSource(name, []byte(text)), ir.NewContext(reg), parse.Options{})
	if err != nil {
		return "", err
	}
	p, err := pass.Parse(pipeline, passes.Builtin(passes.Host{ParseType: parseType}))
	if err != nil {
		return "", err
	}
	if err := (&pass.Driver{Verify: ir.VerifyContext}).Run(pass.NewContext(context.Background(), m), p); err != nil {
		return "", err
	}
	return print.String(m, print.Options{}), nil
}

// TestExpansionsMatchJaxlib compares the expansions of ops with jaxlib's, one op at a time. Package
// internal/transforms does this for whole modules.
func TestExpansionsMatchJaxlib(t *testing.T) {
	peer.EachPart(t, label.Part, checkExpansionsMatchJaxlib)
}

func checkExpansionsMatchJaxlib(t *testing.T, python *peer.Interpreter, part func(first bool) bool) {
	reg := testkit.Registry(t)
	for _, c := range []struct {
		pipeline string
		texts    map[string]string
	}{
		{"builtin.module(func.func(chlo-legalize-to-stablehlo))", everyCHLO()},
		{"builtin.module(func.func(stablehlo-complex-math-expander))", functionsOf("bf16", "f32", "complex<f32>", "complex<f64>")},
		{"builtin.module(stablehlo-compatibility-expander{target=1.0.0})", functionsOf("f32", "complex<f64>")},
	} {
		t.Run(c.pipeline, func(t *testing.T) {
			for i, name := range slices.Sorted(maps.Keys(c.texts)) {
				if !part(i%4 == 0) {
					delete(c.texts, name)
				}
			}
			equal, refused, unread := 0, 0, 0
			for name, want := range python.Passes(t, c.pipeline, false, c.texts) {
				got, err := runPipeline(name, c.texts[name], c.pipeline, reg)
				switch {
				case want.Unread:
					unread++
				case want.Error != "" && err != nil:
					refused++
				case want.Error != "":
					t.Errorf("%s: jaxlib refuses it: %s\n%s", name, want.Error, got)
				case err != nil:
					t.Errorf("%s: %v", name, err)
				case got != want.Text && python.Differs("expansion of "+name) == "":
					t.Errorf("%s differs: %s", name, firstDifference(got, want.Text))
				case got == want.Text:
					equal++
				}
			}
			t.Logf("%d ops: %d equal, %d refused by both, %d that jaxlib cannot read", len(c.texts), equal, refused, unread)
			if equal == 0 {
				t.Error("no op is equal")
			}
		})
	}
}

// firstDifference returns the first line that differs.
func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return "line " + strconv.Itoa(i+1) + "\n" + a[i] + "\ninstead of\n" + strings.Join(b[min(i, len(b)):min(i+1, len(b))], "")
		}
	}
	return "the end"
}

// everyCHLO returns modules with one CHLO op each: every element-wise op, with the element types and shapes that choose
// its expansion, and products of integers.
func everyCHLO() map[string]string {
	out := map[string]string{}
	add := func(op, attrs string, operands []string, result string) {
		args, names := "", ""
		for i, t := range operands {
			args += fmt.Sprintf(", %%%d: %s", i, t)
			names += fmt.Sprintf(", %%%d", i)
		}
		name := fmt.Sprintf("%s%s %s", op, attrs, strings.Join(operands, " "))
		out[name] = fmt.Sprintf("func.func @f(%s) -> %s {\n  %%r = %q(%s) %s : (%s) -> %s\n  return %%r : %s\n}",
			strings.TrimPrefix(args, ", "), result, op, strings.TrimPrefix(names, ", "), attrs, strings.Join(operands, ", "), result, result)
	}
	shapes := []string{"", "3x", "2x0x", "?x2x"}
	for _, row := range chlo.Ops() {
		broadcasts := row.Attr(chlo.AttrBroadcastDimensions) != nil
		for _, elem := range []string{"f8E4M3FN", "f8E5M2", "bf16", "f16", "f32", "f64", "complex<f32>", "complex<f64>", "i1", "i8", "ui16", "i32", "ui64", "i64"} {
			result := elem
			switch {
			case row == chlo.IsInf || row == chlo.IsNegInf || row == chlo.IsPosInf || row == chlo.BroadcastCompare:
				result = "i1"
			case row == chlo.BroadcastComplex:
				result = "complex<" + elem + ">"
			}
			if !broadcasts {
				for _, shape := range shapes {
					t := "tensor<" + shape + elem + ">"
					switch {
					case row == chlo.BroadcastSelect:
						add(row.Name, "", []string{"tensor<i1>", t, t}, t)
						add(row.Name, "", []string{"tensor<3xi1>", "tensor<" + elem + ">", "tensor<?x1x" + elem + ">"}, "tensor<?x3x"+elem+">")
					case len(row.Attrs) == 0 && len(row.Regions) == 0:
						operands := []string{t, t}[:len(row.Operands)]
						add(row.Name, "", operands, "tensor<"+shape+result+">")
					}
				}
				bounded := "tensor<?x2x" + elem + ", #stablehlo.bounds<5, ?>>"
				if len(row.Attrs) == 0 && len(row.Operands) == 1 {
					add(row.Name, "", []string{bounded}, strings.Replace(bounded, elem, result, 1))
				}
				continue
			}
			attrs := ""
			if row == chlo.BroadcastCompare {
				attrs = "{comparison_direction = #chlo<comparison_direction LE>}"
			}
			for _, c := range [][3]string{
				{"", "", ""}, {"3x", "3x", "3x"}, {"2x1x", "3x", "2x3x"}, {"", "4x", "4x"}, {"?x", "4x", "?x"}, {"?x", "2x?x", "2x?x"}, {"?x1x", "?x4x", "?x4x"},
			} {
				add(row.Name, attrs, []string{"tensor<" + c[0] + elem + ">", "tensor<" + c[1] + elem + ">"}, "tensor<"+c[2]+result+">")
			}
			b := ", #stablehlo.bounds<2, ?>>"
			add(row.Name, attrs, []string{"tensor<?x3x" + elem + b, "tensor<3x" + elem + ">"}, "tensor<?x3x"+result+b)
			add(row.Name, attrs, []string{"tensor<?x3x" + elem + b, "tensor<?x3x" + elem + b}, "tensor<?x3x"+result+b)
		}
	}
	return out
}

// functionsOf returns modules with one function of StableHLO each, of tensors with the given element types.
func functionsOf(elems ...string) map[string]string {
	out := map[string]string{}
	for _, row := range stablehlo.Ops() {
		for _, elem := range elems {
			for _, t := range []string{"tensor<" + elem + ">", "tensor<3x" + elem + ">", "tensor<?x" + elem + ">"} {
				if row.Attr(stablehlo.AttrResultAccuracy) != nil {
					out[row.Name+" "+t] = fmt.Sprintf("func.func @f(%%x: %s) -> %[1]s {\n  %%y = %s %%x : %[1]s\n  return %%y : %[1]s\n}", t, row.Name)
				}
			}
		}
	}
	return out
}
