package pjrt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// foreign returns the definition of an op that no dialect registered.
func foreign(name string) *ir.Def { return ir.NewModule(ir.NewContext(nil), nil).Def(name) }

// module builds a module of operations without operands from their names and attributes.
func module(ops ...ir.OpState) *ir.Module {
	m := ir.NewModule(ir.NewContext(&ir.Registry{}), nil)
	for i := range ops {
		m.AtEnd(m.Body()).Insert(&ops[i])
	}
	return m
}

func TestCheckRefuses(t *testing.T) {
	alias := ir.NewArray([]ir.Attr{ir.NewDialectAttr("stablehlo", "output_operand_alias", "", nil)})
	for _, c := range []struct {
		op   ir.OpState
		want string // empty: accepted
	}{
		{ir.OpState{Def: foreign("stablehlo.outfeed")}, "nothing drains the outfeed"},
		{ir.OpState{Def: foreign("mhlo.infeed")}, "nothing fills the infeed"},
		{ir.OpState{Def: foreign("stablehlo.send")}, "no host answers"},
		{ir.OpState{Def: foreign("stablehlo.recv")}, "no host answers"},
		{ir.OpState{Def: foreign("stablehlo.custom_call"), Attrs: ir.AttrList{{Name: "output_operand_aliases", Attr: alias}}}, "crashes XLA"},
		{ir.OpState{Def: foreign("stablehlo.custom_call"), Attrs: ir.AttrList{{Name: "output_operand_aliases", Attr: ir.NewArray(nil)}}}, ""},
		{ir.OpState{Def: foreign("stablehlo.custom_call")}, ""},
		{ir.OpState{Def: foreign("mine.outfeed")}, ""},
	} {
		err := Check(module(c.op))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v, expected to be accepted", c.op.Def.Name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error is %v, expected %q", c.op.Def.Name, err, c.want)
		}
	}
}

func TestCheckReportsAll(t *testing.T) {
	m := module(ir.OpState{Def: foreign("stablehlo.outfeed")}, ir.OpState{Def: foreign("stablehlo.infeed")})
	list, ok := Check(m).(diag.List)
	if !ok || len(list) != 2 {
		t.Errorf("Check returned %v, expected two diagnostics", list)
	}
}

// TestCheckCallDepth: a chain of calls that would overflow the stack of XLA's compiler is refused where it starts.
func TestCheckCallDepth(t *testing.T) {
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{maxCallDepth, maxCallDepth + 1} {
		var text strings.Builder
		text.WriteString("func.func @main(%x: tensor<f32>) -> tensor<f32> {\n %r = func.call @f1(%x) : (tensor<f32>) -> tensor<f32>\n return %r : tensor<f32>\n}\n")
		for i := 1; i < n; i++ {
			fmt.Fprintf(&text, "func.func private @f%d(%%x: tensor<f32>) -> tensor<f32> {\n %%r = func.call @f%d(%%x) : (tensor<f32>) -> tensor<f32>\n return %%r : tensor<f32>\n}\n", i, i+1)
		}
		fmt.Fprintf(&text, "func.func private @f%d(%%x: tensor<f32>) -> tensor<f32> {\n return %%x : tensor<f32>\n}\n", n)
		m, err := parse.Parse(diag.NewSource("m.mlir", []byte(text.String())), ir.NewContext(reg), parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = Check(m)
		if n <= maxCallDepth && err != nil {
			t.Errorf("%d calls: %v", n, err)
		}
		if want := "m.mlir:2:7: error: calls nest deeper than 500 functions"; n > maxCallDepth && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%d calls: error is %v, expected %q", n, err, want)
		}
	}
}

// TestCheckRefusesWhatCrashesXLA: programs on which XLA's compiler or its programs end the process are located errors.
func TestCheckRefusesWhatCrashesXLA(t *testing.T) {
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	bitcast := func(from, to string) string {
		return fmt.Sprintf("func.func @main(%%x: tensor<%s>) -> tensor<%s> {\n  %%0 = stablehlo.bitcast_convert %%x : (tensor<%[1]s>) -> tensor<%[2]s>\n  return %%0 : tensor<%[2]s>\n}\n", from, to)
	}
	sort := func(comparator string) string {
		return strings.ReplaceAll(`func.func @main(%x: tensor<9xf32>) -> tensor<9xf32> {
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    COMPARATOR
    stablehlo.return %c : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<9xf32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}
`, "COMPARATOR", comparator)
	}
	compare := func(direction string) string {
		return sort("%c = stablehlo.compare " + direction + ", %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>")
	}
	logic := func(op string) string { // of a > b, and of |a| = |b|
		return sort(`%g = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %s = stablehlo.abs %a : tensor<f32>
    %t = stablehlo.abs %b : tensor<f32>
    %e = stablehlo.compare EQ, %s, %t : (tensor<f32>, tensor<f32>) -> tensor<i1>
    ` + op)
	}
	sharded := func(meshes, argument string) string {
		return fmt.Sprintf("module attributes {mhlo.frontend_attributes = {%s}} {\nfunc.func @main(%%x: tensor<4xf32> {mhlo.frontend_attributes = {%s}}) -> tensor<4xf32> {\n  return %%x : tensor<4xf32>\n}\n}\n", meshes, argument)
	}
	withOp := func(name, text string) string { // the mesh is an op at the end of the module
		return strings.TrimSuffix(text, "}\n") + "sdy.mesh @" + name + ` = <["x"=2]>` + "\n}\n"
	}
	const mesh, on = `xla.sdy.meshes = "{mesh = #sdy.mesh<[\"x\"=2]>, other = #sdy.mesh<[\"y\"=2, \"z\"=1]>}"`, `xla.sdy.sharding = "#sdy.sharding<@mesh, [{\"x\"}]>"`
	for _, c := range []struct{ text, want string }{
		{bitcast("3xi8", "3x8xi1"), "m.mlir:2:8: error: 'stablehlo.bitcast_convert' op changes the width of i1"},
		{bitcast("8xi1", "i8"), "changes the width of i1"},
		{bitcast("64xi1", "ui64"), "changes the width of i1"},
		{bitcast("3xi8", "3x2xi4"), ""},
		{bitcast("3xi1", "3xi1"), ""},
		{compare("LE"), "m.mlir:4:10: error: the comparator is true for equal elements"},
		{compare("GE"), "the comparator is true for equal elements"},
		{compare("EQ"), "the comparator is true for equal elements"},
		{compare("LT"), ""},
		{compare("GT"), ""},
		{logic("%c = stablehlo.or %g, %e : tensor<i1>"), "m.mlir:8:10: error: the comparator is true for equal elements"},
		{logic("%c = stablehlo.not %g : tensor<i1>"), "the comparator is true for equal elements"},
		{logic("%c = stablehlo.xor %g, %e : tensor<i1>"), "the comparator is true for equal elements"},
		{logic("%c = stablehlo.select %e, %e, %g : tensor<i1>, tensor<i1>"), "the comparator is true for equal elements"},
		{logic("%c = stablehlo.constant dense<true> : tensor<i1>"), "the comparator is true for equal elements"},
		{logic("%c = stablehlo.and %g, %e : tensor<i1>"), ""},
		{logic("%c = stablehlo.select %e, %g, %e : tensor<i1>, tensor<i1>"), ""},
		{logic("%c = stablehlo.compare LE, %a, %t : (tensor<f32>, tensor<f32>) -> tensor<i1>"), ""},
		{sharded("", on), "m.mlir:2:1: error: argument 0: xla.sdy.sharding names mesh @mesh"},
		{sharded(strings.Replace(mesh, "mesh =", "mash =", 1), on), "names mesh @mesh"},
		{sharded(`xla.sdy.meshes = "{mesh = #sdy.mesh<"`, ""), "xla.sdy.meshes cannot be read as an attribute of Shardy"},
		{sharded(mesh, on), ""},
		{sharded(mesh, strings.ReplaceAll(on, "mesh", "other")), `m.mlir:2:1: error: argument 0: xla.sdy.sharding: unknown axis name: "x"`},
		{sharded(mesh, `xla.sdy.sharding = "#sdy.sharding<@other, [{\"y\"}], replicated={\"z\"}>"`), ""},
		{withOp("mesh", sharded("", on)), ""},
		{withOp("other", sharded("", on)), "names mesh @mesh, which neither xla.sdy.meshes of the module nor an sdy.mesh defines"},
		{withOp("op", sharded(mesh, on)), ""},
		{withOp("mesh", sharded("", strings.ReplaceAll(on, `\"x\"`, `\"u\"`))), `unknown axis name: "u"`},
	} {
		m, err := parse.Parse(diag.NewSource("m.mlir", []byte(c.text)), ir.NewContext(reg), parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(m); (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, expected %q", c.text, err, c.want)
		}
	}
}
