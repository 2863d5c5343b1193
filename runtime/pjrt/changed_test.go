//go:build cgo

package pjrt

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// sorted is a sort whose comparator computes %c of its arguments, the pairs %a, %b and %p, %q, and of booleans: %y is
// true for equal arguments and %n is false. %u, %w and %e are not known: an argument, its negation, and a comparison.
func sorted(ops string) string {
	return `func.func @main(%x: tensor<9xf32>, %z: tensor<9xf32>, %u: tensor<i1>) -> tensor<9xf32> {
  %0:2 = "stablehlo.sort"(%x, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %p: tensor<f32>, %q: tensor<f32>):
    %w = stablehlo.not %u : tensor<i1>
    %y = stablehlo.compare EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %n = stablehlo.compare NE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %e = stablehlo.compare LE, %a, %p : (tensor<f32>, tensor<f32>) -> tensor<i1>
    ` + ops + `
    stablehlo.return %c : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<9xf32>, tensor<9xf32>) -> (tensor<9xf32>, tensor<9xf32>)
  return %0#0 : tensor<9xf32>
}
`
}

// TestComparators compares what is known of a comparator of equal elements with a truth table of three values: a value
// is known if both possibilities of what is not known give it. Check refuses a comparator that is always true.
func TestComparators(t *testing.T) {
	possible := map[string][]bool{"y": {true}, "n": {false}, "u": {false, true}, "w": {false, true}, "e": {false, true}}
	values := slices.Sorted(maps.Keys(possible))
	check := func(ops string, refused bool) {
		t.Helper()
		if err := Check(parsed(t, sorted(ops)).Module); (err != nil) != refused {
			t.Errorf("%s: %v", ops, err)
		}
	}
	for _, op := range []struct {
		name string
		of   func(a, b bool) bool
	}{
		{"and", func(a, b bool) bool { return a && b }},
		{"or", func(a, b bool) bool { return a || b }},
		{"xor", func(a, b bool) bool { return a != b }},
	} {
		for _, a := range values {
			for _, b := range values {
				always, never := true, true
				for _, p := range possible[a] {
					for _, q := range possible[b] {
						always, never = always && op.of(p, q), never && !op.of(p, q)
					}
				}
				for mirror, refused := range map[string]bool{"stablehlo": always, "mhlo": never} {
					made := fmt.Sprintf("\"%s.%s\"(%%%s, %%%s) : (tensor<i1>, tensor<i1>) -> tensor<i1>\n", mirror, op.name, a, b)
					if mirror == "mhlo" {
						check("%d = "+made+"%c = stablehlo.not %d : tensor<i1>", refused)
					} else {
						check("%c = "+made, refused)
					}
				}
			}
		}
	}
	for _, p := range values {
		for _, a := range values {
			for _, b := range values {
				refused := p == "y" && a == "y" || p == "n" && b == "y"
				check(fmt.Sprintf("%%c = stablehlo.select %%%s, %%%s, %%%s : tensor<i1>, tensor<i1>", p, a, b), refused)
			}
		}
	}
	compare := func(defined, lhs, rhs string) string {
		return fmt.Sprintf("%s\n%%c = stablehlo.compare GE, %s, %s : (tensor<f32>, tensor<f32>) -> tensor<i1>", defined, lhs, rhs)
	}
	for ops, refused := range map[string]bool{
		"%c = stablehlo.not %y : tensor<i1>":                                                                                            false,
		"%c = stablehlo.not %n : tensor<i1>":                                                                                            true,
		"%c = stablehlo.not %u : tensor<i1>":                                                                                            false,
		"%c = stablehlo.not %w : tensor<i1>":                                                                                            false,
		"%c = stablehlo.constant dense<false> : tensor<i1>":                                                                             false,
		"%c = stablehlo.constant dense<true> : tensor<i1>":                                                                              true,
		"%c = \"foo.bar\"(%y) : (tensor<i1>) -> tensor<i1>":                                                                             false,
		"%c = \"foo.bar\"(%n) : (tensor<i1>) -> tensor<i1>":                                                                             false,
		"%c = \"foo.bar\"(%y, %y) : (tensor<i1>, tensor<i1>) -> tensor<i1>":                                                             false,
		"%c = \"foo.bar\"(%y, %n) : (tensor<i1>, tensor<i1>) -> tensor<i1>":                                                             false,
		"%c = \"foo.bar\"(%y, %y, %y) : (tensor<i1>, tensor<i1>, tensor<i1>) -> tensor<i1>":                                             false,
		"%c = \"stablehlo.not\"() : () -> tensor<i1>":                                                                                   false,
		"%c = \"stablehlo.and\"(%y) : (tensor<i1>) -> tensor<i1>":                                                                       false,
		"%c = \"stablehlo.or\"(%y) : (tensor<i1>) -> tensor<i1>":                                                                        false,
		"%c = \"stablehlo.xor\"(%y) : (tensor<i1>) -> tensor<i1>":                                                                       false,
		"%c = \"stablehlo.select\"(%y, %y) : (tensor<i1>, tensor<i1>) -> tensor<i1>":                                                    false,
		"%c = \"foo.bar\"() : () -> tensor<i1>":                                                                                         false,
		compare("", "%a", "%a"):                                                                                                         true,
		compare("%s = stablehlo.abs %a : tensor<f32>", "%s", "%a"):                                                                      false,
		compare("%s = stablehlo.add %a, %b : tensor<f32>\n%t = stablehlo.add %b, %a : tensor<f32>", "%s", "%t"):                         true,
		compare("%s = stablehlo.add %a, %b : tensor<f32>\n%t = stablehlo.subtract %b, %a : tensor<f32>", "%s", "%t"):                    false,
		compare("%s = stablehlo.add %a, %p : tensor<f32>\n%t = stablehlo.add %a, %q : tensor<f32>", "%s", "%t"):                         true,
		compare("%s = stablehlo.add %a, %p : tensor<f32>\n%t = stablehlo.add %b, %a : tensor<f32>", "%s", "%t"):                         false,
		compare("%k = stablehlo.convert %u : (tensor<i1>) -> tensor<f32>", "%a", "%k"):                                                  false,
		compare("%k = stablehlo.constant dense<1.0> : tensor<f32>\n%l = stablehlo.constant dense<2.0> : tensor<f32>", "%k", "%l"):       false,
		compare("%k = stablehlo.constant dense<2.0> : tensor<f32>\n%l = stablehlo.constant dense<2.0> : tensor<f32>", "%k", "%l"):       true,
		compare("%k = \"foo.bar\"(%a) : (tensor<f32>) -> tensor<f32>\n%l = \"foo.bar\"(%b) : (tensor<f32>) -> tensor<f32>", "%k", "%l"): false,
	} {
		check(ops, refused)
	}
}

// TestLargeComparators: a comparator may use its booleans and its numbers many times. Before, each use of a boolean was
// evaluated anew.
func TestLargeComparators(t *testing.T) {
	for value, refused := range map[string]bool{"y": true, "n": false, "u": false} {
		var ops strings.Builder
		last := "%" + value
		for i := range 100 {
			next := "%s" + fmt.Sprint(i)
			fmt.Fprintf(&ops, "%s = stablehlo.%s %s, %s : tensor<i1>\n", next, []string{"and", "or"}[i%2], last, last)
			last = next
		}
		within(t, 10*time.Second, "Check", func() {
			if err := Check(parsed(t, sorted(ops.String()+"%c = stablehlo.or "+last+", "+last+" : tensor<i1>")).Module); (err != nil) != refused {
				t.Errorf("%s: %v", value, err)
			}
		})
	}
	var ops strings.Builder
	for _, v := range []string{"a", "b"} {
		last := "%" + v
		for i := range 100 {
			next := fmt.Sprintf("%%%s%d", v, i)
			fmt.Fprintf(&ops, "%s = stablehlo.add %s, %s : tensor<f32>\n", next, last, last)
			last = next
		}
	}
	within(t, 10*time.Second, "Check", func() {
		for direction, refused := range map[string]bool{"LE": true, "LT": false} {
			text := sorted(ops.String() + "%c = stablehlo.compare " + direction + ", %a99, %b99 : (tensor<f32>, tensor<f32>) -> tensor<i1>")
			if err := Check(parsed(t, text).Module); (err != nil) != refused {
				t.Errorf("%s: %v", direction, err)
			}
		}
	})
}

// sitesOf binds h to the sites.
func sitesOf(t *testing.T, use runtime.MemoryUse, sites ...hook.Site) *siteTable {
	t.Helper()
	var b runtime.Bindings
	b.Answer("*", pointerHandler{use, func(*runtime.Call) error { return nil }})
	bound, err := b.Bind(&hook.Manifest{Sites: sites})
	if err != nil {
		t.Fatal(err)
	}
	return newSiteTable(bound)
}

// TestStatisticsOnTheDevice: only the hooks whose handlers need statistics, and no values, get one more operand: five
// numbers for each operand.
func TestStatisticsOnTheDevice(t *testing.T) {
	v := tt(tensor.F32, 2)
	s := hookSite(7, "h", hook.Tap, []hook.TensorType{v, v}, []hook.TensorType{v, v})
	none := hookSite(8, "none", hook.Tap, nil, nil)
	p := program("(%x: tensor<2xf32>) -> tensor<2xf32>", hookCall("%n", none, "%c0")+hookCall("%r", s, "%n", "%x", "%x")+"return %r#1 : tensor<2xf32>\n", s, none)
	for _, c := range []struct {
		use  runtime.MemoryUse
		want string // the types of the operands
	}{
		{runtime.MemoryUse{}, ""},
		{runtime.MemoryUse{Statistics: true}, "(tensor<ui64>, tensor<2xf32>, tensor<2xf32>, tensor<10xf64>)"},
		{runtime.MemoryUse{HostViews: true}, ""},
		{runtime.MemoryUse{Statistics: true, HostViews: true}, ""},
	} {
		got := sitesOf(t, c.use, s, none).withStatistics(p)
		if c.want == "" {
			if got != p {
				t.Errorf("%+v: the program changes", c.use)
			}
			continue
		}
		if text := print.String(got.Module, print.Options{}); !strings.Contains(text, ": "+c.want) || !strings.Contains(text, ": (tensor<ui64>) -> tensor<ui64>") {
			t.Errorf("%+v: expected a call with %s:\n%s", c.use, c.want, text)
		}
	}
}

// TestPadHooks: a value of bounded shape comes whole with its size after the operands; a tap's users get the operand.
// Static values and other calls stay.
func TestPadHooks(t *testing.T) {
	const bounded = "tensor<?xf32, #stablehlo.bounds<4>>"
	call := func(target, operands, types, results string) string {
		return `%r = stablehlo.custom_call @` + target + `(` + operands + `) {api_version = 4 : i32, has_side_effect = true, backend_config = {abi = 1 : i64, id = 7 : i64, name = "h", kind = "tap", chained = false},
  output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (` + types + `) -> ` + results + "\n"
	}
	for _, c := range []struct{ name, call, want string }{
		{"static", call("hlocb_hook", "%s", "tensor<3xf32>", "tensor<3xf32>"), ""},
		{"another call", call("other", "%x", bounded, bounded), ""},
		{"bounded", call("hlocb_hook", "%x", bounded, bounded), ": (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>"},
		{"both", call("hlocb_hook", "%s, %x, %x", "tensor<3xf32>, "+bounded+", "+bounded, "tensor<3xf32>"),
			": (tensor<3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i32>, tensor<i32>) -> tensor<3xf32>"},
	} {
		typ := strings.TrimSpace(c.call[strings.LastIndex(c.call, "-> ")+3:])
		p := parsed(t, "func.func @main(%x: "+bounded+", %s: tensor<3xf32>) -> "+typ+" {\n"+c.call+"return %r : "+typ+"\n}\n")
		before := print.String(p.Module, print.Options{})
		PadHooks(p.Module)
		after := print.String(p.Module, print.Options{})
		if c.want == "" {
			if after != before {
				t.Errorf("%s: the module becomes\n%s", c.name, after)
			}
			continue
		}
		if !strings.Contains(after, c.want) || strings.Contains(after, "return %arg0 ") != (typ == bounded) {
			t.Errorf("%s: expected a call %s:\n%s", c.name, c.want, after)
		}
	}
}

// callOf returns the operands' types and the attributes of the hook's call in a program that has one.
func callOf(t *testing.T, p *runtime.Program) (types string, attrs map[string]string) {
	t.Helper()
	attrs = map[string]string{}
	p.Module.Walk(func(op *ir.Op) bool {
		if call, ok := stablehlo.AsCustomCall(op); ok && call.CallTargetName() == hook.Target {
			for _, v := range op.OperandList() {
				types += v.Type().String() + " "
			}
			for _, a := range op.Attrs() {
				attrs[a.Name] = a.Attr.String()
			}
		}
		return true
	})
	return strings.TrimSpace(types), attrs
}

// TestChangedCalls: what a plugin gets instead of a hook's call. A program that needs no change stays, and the program
// itself never changes.
func TestChangedCalls(t *testing.T) {
	const alias = "#stablehlo.output_operand_alias<output_tuple_indices = [%d], operand_index = %d, operand_tuple_indices = []>"
	both := "[" + fmt.Sprintf(alias, 0, 0) + ", " + fmt.Sprintf(alias, 1, 1) + "]"
	chain := "[" + fmt.Sprintf(alias, 0, 0) + "]"
	const bounded = "tensor<?xf32, #stablehlo.bounds<4>>"
	text := func(id int, target, x, attrs string) string {
		return "func.func @main(%s: tensor<ui64>, %x: " + x + ", %t: !stablehlo.token) -> tensor<ui64> {\n" +
			"%o = stablehlo.custom_call @other(%x) {api_version = 4 : i32, has_side_effect = true, backend_config = {id = 7 : i64}} : (" + x + ") -> tensor<ui64>\n" +
			fmt.Sprintf("%%r:2 = stablehlo.custom_call @%s(%%s, %%x, %%t) {api_version = 4 : i32, has_side_effect = true, backend_config = {abi = 1 : i64, id = %d : i64, name = \"h\", kind = \"x\", chained = true, attrs = {a = 1 : i64}}%s} : (tensor<ui64>, %s, !stablehlo.token) -> (tensor<ui64>, tensor<4xf32>)\n", target, id, attrs, x) +
			"return %r#0 : tensor<ui64>\n}\n"
	}
	layouts := ", operand_layouts = [dense<> : tensor<0xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], result_layouts = [dense<> : tensor<0xindex>, dense<0> : tensor<1xindex>]"
	site := func(change func(*hook.Site)) hook.Site {
		s := hookSite(7, "h", hook.Call, []hook.TensorType{tt(tensor.F32, 4)}, []hook.TensorType{tt(tensor.F32, 4)})
		change(&s)
		return s
	}
	aliased := func(s *hook.Site) { s.Aliases = []int{0} }
	named := func(s *hook.Site) { s.Attrs = map[string]string{"a": "1 : i64"} }
	sized := func(s *hook.Site) { s.Operands = []hook.TensorType{tt(tensor.F32, -1)} }
	copies, stats, sizes, attrs := (*siteTable).withoutCopies, (*siteTable).withStatistics, (*siteTable).withSizes, (*siteTable).withoutAttrs
	const plain, types = "tensor<4xf32>", "tensor<ui64> tensor<4xf32> !stablehlo.token"
	for i, c := range []struct {
		change func(*siteTable, *runtime.Program) *runtime.Program
		site   hook.Site
		use    runtime.MemoryUse
		text   string
		types  string // of the operands; empty: the program stays
		attr   string // and what it becomes
		want   string
	}{
		{copies, site(aliased), runtime.MemoryUse{HostViews: true}, text(7, "hlocb_hook", plain, ", output_operand_aliases = "+both), types, "output_operand_aliases", chain},
		{copies, site(func(s *hook.Site) { aliased(s); s.Chained = false }), runtime.MemoryUse{HostViews: true}, text(7, "hlocb_hook", plain, ", output_operand_aliases = "+both), types, "output_operand_aliases", "[]"},
		{copies, site(aliased), runtime.MemoryUse{HostViews: true}, text(7, "hlocb_hook", plain, ""), types, "output_operand_aliases", ""},
		{copies, site(aliased), runtime.MemoryUse{HostViews: true, DevicePointers: true}, text(7, "hlocb_hook", plain, ", output_operand_aliases = "+both), "", "", ""},
		{copies, site(func(s *hook.Site) {}), runtime.MemoryUse{HostViews: true}, text(7, "hlocb_hook", plain, ", output_operand_aliases = "+both), "", "", ""},
		{copies, site(func(s *hook.Site) { s.Aliases = []int{-1} }), runtime.MemoryUse{}, text(7, "hlocb_hook", plain, ", output_operand_aliases = "+both), "", "", ""},
		{copies, site(func(s *hook.Site) { aliased(s); s.Kind = hook.InOut }), runtime.MemoryUse{}, text(7, "hlocb_hook", plain, ", output_operand_aliases = "+both), "", "", ""},
		{copies, site(aliased), runtime.MemoryUse{}, text(8, "hlocb_hook", plain, ", output_operand_aliases = "+both), types, "output_operand_aliases", both},
		{stats, site(aliased), runtime.MemoryUse{Statistics: true}, text(7, "hlocb_hook", plain, ""), types + " tensor<5xf64>", "operand_layouts", ""},
		{stats, site(func(s *hook.Site) { s.Chained = false }), runtime.MemoryUse{Statistics: true}, text(7, "hlocb_hook", plain, ""), types + " tensor<10xf64>", "operand_layouts", ""},
		{stats, site(aliased), runtime.MemoryUse{Statistics: true}, text(7, "hlocb_hook", plain, layouts), types, "operand_layouts", "[dense<> : tensor<0xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>]"},
		{sizes, site(sized), runtime.MemoryUse{}, text(7, "hlocb_hook", bounded, ""), types + " tensor<i32>", "operand_layouts", ""},
		{sizes, site(sized), runtime.MemoryUse{}, text(7, "hlocb_hook", bounded, layouts), types + " tensor<i32>", "operand_layouts",
			"[dense<> : tensor<0xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>, dense<> : tensor<0xindex>]"},
		{sizes, site(aliased), runtime.MemoryUse{}, text(7, "hlocb_hook", bounded, ""), "", "", ""},
		{attrs, site(named), runtime.MemoryUse{}, text(7, "hlocb_hook", plain, ""), types, "backend_config", `{abi = 1 : i64, chained = true, id = 7 : i64, kind = "x", name = "h"}`},
		{attrs, site(aliased), runtime.MemoryUse{}, text(7, "hlocb_hook", plain, ""), "", "", ""},
	} {
		p := parsed(t, c.text)
		before := print.String(p.Module, print.Options{})
		got := c.change(sitesOf(t, c.use, c.site), p)
		if print.String(p.Module, print.Options{}) != before {
			t.Errorf("case %d: the program itself changes", i)
		}
		if (got == p) != (c.types == "") {
			t.Errorf("case %d: the program stays is %t", i, got == p)
		}
		if types, attrs := callOf(t, got); c.types != "" && (types != c.types || attrs[c.attr] != c.want) {
			t.Errorf("case %d: the call has operands %s and %s %s, expected %s and %s", i, types, c.attr, attrs[c.attr], c.types, c.want)
		}
	}
	table := sitesOf(t, runtime.MemoryUse{Statistics: true}, site(aliased))
	if p := (&runtime.Program{}); table.withStatistics(p) != p {
		t.Error("a program without a module changes")
	}
}

// TestNeedsHLO: only values of dynamic size with a bound, and calls with facts that StableHLO lacks, need HLO.
func TestNeedsHLO(t *testing.T) {
	for typ, want := range map[string]bool{
		"tensor<4xf32>":                            false,
		"tensor<?xf32>":                            false,
		"tensor<?xf32, #stablehlo.bounds<4>>":      true,
		"tensor<2x?xf32, #stablehlo.bounds<?, 4>>": true,
		"!stablehlo.token":                         false,
	} {
		p := parsed(t, "func.func @main(%x: "+typ+") -> "+typ+" {\nreturn %x : "+typ+"\n}\n")
		if got := needsHLO(p.Module); got != want {
			t.Errorf("an argument %s needs HLO: %t", typ, got)
		}
		p = parsed(t, "func.func @main() -> "+typ+" {\n%r = \"foo.bar\"() : () -> "+typ+"\nreturn %r : "+typ+"\n}\n")
		if got := needsHLO(p.Module); got != want {
			t.Errorf("a result %s needs HLO: %t", typ, got)
		}
	}
	const call = "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n%r = OP\nreturn %r : tensor<f32>\n}\n"
	for op, want := range map[string]bool{
		"stablehlo.custom_call @f(%x) : (tensor<f32>) -> tensor<f32>":                                        false,
		"stablehlo.custom_call @f(%x) {mhlo.padding_type = \"PADDING_SAME\"} : (tensor<f32>) -> tensor<f32>": true,
		"stablehlo.abs %x {mhlo.padding_type = \"PADDING_SAME\"} : tensor<f32>":                              false,
	} {
		if got := needsHLO(parsed(t, strings.Replace(call, "OP", op, 1)).Module); got != want {
			t.Errorf("%s needs HLO: %t", op, got)
		}
	}
	if needsHLO(nil) {
		t.Error("no module needs HLO")
	}
}
