package legalize_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/internal/opgen"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/rewrite"
)

// counted runs f and returns the changes that it makes through the driver.
func counted(f func(apply rewrite.Driver) error) (any, error) {
	var s rewrite.Statistics
	err := f(func(scope *ir.Op, patterns []*rewrite.Pattern, o rewrite.Options) (*rewrite.Result, error) {
		res, err := rewrite.Greedy(scope, patterns, o)
		s.Add(res.Statistics)
		return res, err
	})
	return s, err
}

// whole are the functions of this package that change a module, by name.
var whole = map[string]func(m *ir.Module) (any, error){
	"chlo": func(m *ir.Module) (any, error) {
		return counted(func(apply rewrite.Driver) error { return legalize.CHLO(m.Op(), nil, apply) })
	},
	"chlo-keep": func(m *ir.Module) (any, error) {
		return counted(func(apply rewrite.Driver) error { return legalize.CHLO(m.Op(), legalize.InHLO, apply) })
	},
	"xla":       eachFunc(legalize.CHLOOfXLA),
	"quantized": eachFunc(legalize.Quantized),
	"shape":     eachFunc(legalize.Shape),
	"complex":   eachFunc(func(f *ir.Op) error { return legalize.Complex(f, rewrite.Greedy) }),
	"deprecated": func(m *ir.Module) (any, error) {
		return counted(func(apply rewrite.Driver) error { return legalize.Deprecated(m.Op(), apply) })
	},
	"composites": func(m *ir.Module) (any, error) { return nil, legalize.Composites(m) },
	"calls":      func(m *ir.Module) (any, error) { return legalize.HasDynamicCalls(m), legalize.Calls(m) },
	"mhlo-calls": func(m *ir.Module) (any, error) { return legalize.HasCalls(m), legalize.MHLOCalls(m) },
	"1.0.0":      compatible(0), "1.3.0": compatible(3), "1.8.0": compatible(8), "1.15.0": compatible(15), "1.17.0": compatible(17),
}

func eachFunc(f func(*ir.Op) error) func(m *ir.Module) (any, error) {
	return func(m *ir.Module) (any, error) {
		for _, x := range fn.Funcs(m) {
			if err := f(x.Op); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
}

func compatible(minor int) func(m *ir.Module) (any, error) {
	return func(m *ir.Module) (any, error) {
		err := legalize.Compatible(m, vhlo.Version{Major: 1, Minor: minor}, rewrite.Greedy)
		return nil, err
	}
}

// result describes a changed module.
func result(m *ir.Module, about any, err error) string {
	return fmt.Sprint(print.String(m, print.Options{DebugInfo: true}), about, "\n", err, "\n", ir.Verify(m), "\n")
}

// TestFingerprints: the modules of testdata become the same modules. Each op of a sample has the same expansion, alone
// and with other element types.
func TestFingerprints(t *testing.T) {
	types := []*strings.Replacer{strings.NewReplacer(), strings.NewReplacer("f32", "f64", "i32", "i8"), strings.NewReplacer("f32", "bf16", "i32", "ui64"),
		strings.NewReplacer("f32", "f16", "i32", "ui8"), strings.NewReplacer("xf32>", "xcomplex<f32>>", "xi32>", "xi1>"), strings.NewReplacer("4x", "?x"), strings.NewReplacer("xf32>", "xf8E5M2>", "xi32>", "xi4>")}
	golden.Fingerprints(t, "testdata/fingerprints.txt", func(add func(name, text string)) {
		for seed := range uint64(4) { // random programs of each structural op
			g, err := opgen.New(seed)
			if err != nil {
				t.Fatal(err)
			}
			programs, err := g.EveryMaker()
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range programs {
				name := fmt.Sprintf("random/%d.%d", seed, i)
				legalized(p.Run.Module, name, add, "quantized", "1.0.0")
				expanded(p.Run.Module.Clone(), name, add)
			}
		}
		for s, m := range testkit.Valid(testkit.Sources(t)) {
			legalized(m, s.Name, add, slices.Sorted(maps.Keys(whole))...)
			if !strings.HasPrefix(s.Name, "ops/") {
				continue
			}
			seen := map[string]int{}
			for _, a := range alone(m) {
				op, plain := a.op, a.text
				if seen[a.op]++; seen[a.op] > 1 {
					op = fmt.Sprintf("%s#%d", a.op, seen[a.op])
				}
				for i, r := range types {
					if text := r.Replace(plain); i == 0 || text != plain {
						if m, err := testkit.TryParse(s.Name, text); err == nil && ir.Verify(m) == nil {
							name := fmt.Sprintf("%s/%s.%d", s.Name, op, i)
							legalized(m, name, add, "chlo", "quantized", "complex", "1.0.0")
							expanded(m, name, add)
						}
					}
				}
			}
		}
	})
}

// single is a module with one op.
type single struct{ op, text string }

// alone returns a module for each op without regions that computes something.
func alone(m *ir.Module) (out []single) {
	m.Walk(func(op *ir.Op) bool {
		if len(op.Regions()) > 0 || len(op.ResultTypes()) == 0 {
			return true
		}
		var params, args, types, results, names, attrs []string
		for i, v := range op.OperandList() {
			args, types = append(args, fmt.Sprintf("%%a%d", i)), append(types, v.Type().String())
			params = append(params, fmt.Sprintf("%%a%d: %s", i, v.Type()))
		}
		for i, t := range op.ResultTypes() {
			results, names = append(results, t.String()), append(names, fmt.Sprintf("%%r#%d", i))
		}
		for _, a := range op.Attrs() {
			attrs = append(attrs, fmt.Sprintf("%s = %s", a.Name, a.Attr))
		}
		list := func(l []string) string { return strings.Join(l, ", ") }
		out = append(out, single{op.Name(), fmt.Sprintf("func.func @f(%s) -> (%s) {\n  %%r:%d = %q(%s) {%s} : (%s) -> (%s)\n  return %s : %s\n}\n",
			list(params), list(results), len(results), op.Name(), list(args), list(attrs), list(types), list(results), list(names), list(results))})
		return true
	})
	return out
}

// legalized adds the results of those functions that change the module.
func legalized(m *ir.Module, name string, add func(name, text string), functions ...string) {
	before := print.String(m, print.Options{DebugInfo: true})
	for _, pass := range functions {
		out := m.Clone()
		about, err := whole[pass](out)
		if err != nil || print.String(out, print.Options{DebugInfo: true}) != before {
			add(name+"/"+pass, result(out, about, err))
		}
	}
}

// expanded adds the expansion of the module's only op.
func expanded(m *ir.Module, name string, add func(name, text string)) {
	var chosen *ir.Op
	fn.Funcs(m)[0].Op.Walk(func(op *ir.Op) bool {
		if chosen == nil && op.Def().Dialect() != "func" {
			chosen = op
		}
		return true
	})
	if uncovered, err := legalize.Expand(m, func(op *ir.Op) bool { return op == chosen }); uncovered == nil || err != nil {
		add(name+"/expand", result(m, nil, err))
	}
}

// TestBroken: samples of ops with one wrong type, operand, result or number are refused, or compile, as before.
func TestBroken(t *testing.T) {
	label.Elsewhere(t, "interp/internal/ops")
	golden.Broken(t)
}
