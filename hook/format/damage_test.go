package format_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
)

// changesOf returns attributes that are nearly a: with a number one larger, a longer text, or an element fewer or more.
func changesOf(a ir.Attr) map[string]ir.Attr {
	out := map[string]ir.Attr{"removed": nil}
	switch a := a.(type) {
	case *ir.IntegerAttr:
		out["+1"], out["-1"] = ir.NewInteger(a.Value()+1, a.Type()), ir.NewInteger(a.Value()-1, a.Type())
	case *ir.StringAttr:
		out["longer"], out["empty"] = ir.NewString(a.Value()+"1"), ir.NewString("")
		if s := a.Value(); s != "" {
			out["shorter"] = ir.NewString(s[:len(s)-1])
		}
	case *ir.ArrayAttr:
		if list := a.Elems(); len(list) > 0 {
			out["an element fewer"] = ir.NewArray(list[:len(list)-1])
			out["an element twice"] = ir.NewArray(append(list[:len(list):len(list)], list[0]))
			for kind, first := range changesOf(list[0]) {
				if first != nil {
					out["first "+kind] = ir.NewArray(append([]ir.Attr{first}, list[1:]...))
				}
			}
		}
	case *ir.DictAttr:
		for _, e := range a.Entries() {
			for kind, v := range changesOf(e.Attr) {
				if v == nil {
					out[e.Name+" "+kind] = ir.NewDict(a.Entries().Without(e.Name))
				} else {
					out[e.Name+" "+kind] = ir.NewDict(a.Entries().Set(e.Name, v, false))
				}
			}
		}
	}
	return out
}

// changesAt calls each with every small change of op: of one attribute, or of its operands.
func changesAt(op *ir.Op, each func(name string, change func(op *ir.Op))) {
	for _, a := range op.Attrs() {
		for kind, n := range changesOf(a.Attr) {
			each(a.Name+" "+kind, func(op *ir.Op) {
				if n == nil {
					op.RemoveAttr(a.Name)
				} else {
					op.SetAttr(a.Name, n)
				}
			})
		}
	}
	if op.NumOperands() > 0 {
		each("last operand removed", func(op *ir.Op) { op.SetOperands(op.OperandList()[:op.NumOperands()-1]) })
		each("first operand removed", func(op *ir.Op) { op.SetOperands(op.OperandList()[1:]) })
		each("last operand twice", func(op *ir.Op) { op.SetOperands(append(op.OperandList(), op.Operand(op.NumOperands()-1))) })
	}
	if op.NumOperands() > 1 {
		each("first operands swapped", func(op *ir.Op) {
			list := op.OperandList()
			list[0], list[1] = list[1], list[0]
			op.SetOperands(list)
		})
	}
}

// raised describes the hooks of m, or the error.
func raised(m *ir.Module) string {
	if _, err := format.Raise(m, format.RaiseOptions{Targets: []string{"my_hook", "report"}}); err != nil {
		if d, ok := err.(*diag.Diagnostic); ok {
			return "error: " + d.Message
		}
		return "error: " + err.Error()
	}
	manifest, err := format.ManifestOf(m)
	if err != nil {
		return "manifest: " + err.Error()
	}
	var out []string
	for _, s := range manifest.Sites {
		var in, results []string
		for _, t := range s.Operands {
			in = append(in, fmt.Sprint(t))
		}
		for _, t := range s.Results {
			results = append(results, fmt.Sprint(t))
		}
		text := fmt.Sprintf("%s %s %q effect=%v (%s)->(%s) aliases=%v", s.Format, s.Kind, s.SourceID, s.SideEffect, strings.Join(in, ","), strings.Join(results, ","), s.Aliases)
		if len(s.OperandLayouts)+len(s.ResultLayouts) > 0 {
			text += fmt.Sprintf(" layouts=%v,%v", s.OperandLayouts, s.ResultLayouts)
		}
		if len(s.Attrs) > 0 {
			text += fmt.Sprintf(" %v", s.Attrs)
		}
		out = append(out, text)
	}
	if len(out) == 0 {
		return "no hooks"
	}
	return strings.Join(out, "; ")
}

// TestDamaged changes one attribute or operand of one op at a time, in a program of each format. The result is the
// error, or the hooks that are left if they are others than before. Changes that the verifier refuses are left out.
func TestDamaged(t *testing.T) {
	golden.Texts(t, "testdata/damaged/*.txtar", func(t *testing.T, _, text string) string {
		path := testkit.Testdata("hooks", strings.TrimSpace(text))
		lines := map[string][]string{}
		var order []string
		before := raised(testkit.ParseFile(t, path))
		row := func(result, name string) {
			if result == before {
				result = "as before"
			}
			if lines[result] == nil {
				order = append(order, result)
			}
			lines[result] = append(lines[result], name)
		}
		at := func(m *ir.Module, n int) (found *ir.Op) {
			m.Walk(func(op *ir.Op) bool {
				if n == 0 {
					found = op
				}
				n--
				return found == nil
			})
			return found
		}
		source := testkit.ParseFile(t, path)
		counts := map[string]int{}
		for n := 0; at(source, n) != nil; n++ {
			op := at(source, n)
			if op.Is(stablehlo.Constant) || !strings.HasPrefix(op.Name(), "stablehlo.") {
				continue
			}
			counts[op.Name()]++
			label := fmt.Sprintf("%s %d", strings.TrimPrefix(op.Name(), "stablehlo."), counts[op.Name()])
			changes := map[string]func(*ir.Op){}
			changesAt(op, func(name string, change func(*ir.Op)) { changes[name] = change })
			for _, name := range slices.Sorted(maps.Keys(changes)) {
				m := testkit.ParseFile(t, path)
				changes[name](at(m, n))
				if ir.Verify(m) == nil {
					row(raised(m), label+": "+name)
				}
			}
		}
		var out strings.Builder
		fmt.Fprintf(&out, "before: %s\n", before)
		for _, result := range order {
			fmt.Fprintf(&out, "%s\n", result)
			for _, name := range lines[result] {
				fmt.Fprintf(&out, "    %s\n", name)
			}
		}
		return out.String()
	})
}
