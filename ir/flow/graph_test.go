package flow_test

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/print"
)

// shapes is a dialect with one op for each kind of Flow that the dialects of hlocb do not have.
func shapes() *ir.Dialect {
	all := func(name string) []ir.Arg { return []ir.Arg{{Name: name, Mult: ir.Variadic}} }
	regions := []ir.RegionSpec{{Name: "regions", Mult: ir.Variadic}}
	port := func(at ir.Place, region, first int) ir.Port { return ir.Port{At: at, Region: region, First: first} }
	op := func(name string, flow *ir.Flow) *ir.Def {
		return &ir.Def{Name: name, Operands: all("operands"), Results: all("results"), Regions: regions, Flow: flow}
	}
	return &ir.Dialect{Name: "t", Ops: []*ir.Def{
		op("t.plain", nil),
		op("t.once", &ir.Flow{Runs: []ir.Runs{ir.RunsOnce}}),
		// The operands of a call from 1 also become its results from 0.
		op("t.call", &ir.Flow{Callee: "callee", Edges: []ir.FlowEdge{{From: port(ir.AtOperands, 0, 1), To: port(ir.AtResults, 0, 0)}}}),
		// The operands from 1 become the arguments from 2 of all regions; the yields from 1 become the results from 2.
		op("t.switch", &ir.Flow{Runs: []ir.Runs{ir.RunsAtMostOnce}, Control: 1, Edges: []ir.FlowEdge{
			{From: port(ir.AtOperands, 7, 1), To: port(ir.AtArgs, ir.AllRegions, 2)}, // the region of operands has no meaning
			{From: port(ir.AtYields, ir.AllRegions, 1), To: port(ir.AtResults, 7, 2)},
		}}),
		// The first region yields the arguments of the second, which yields the results.
		op("t.steps", &ir.Flow{Runs: []ir.Runs{ir.RunsOnce, ir.RunsUnordered}, Edges: []ir.FlowEdge{
			{From: port(ir.AtOperands, 0, 0), To: port(ir.AtArgs, 0, 0)},
			{From: port(ir.AtYields, 0, 1), To: port(ir.AtArgs, 1, 0)},
			{From: port(ir.AtYields, 1, 0), To: port(ir.AtResults, 0, 0)},
		}}),
		// Only the second region gets the operands.
		op("t.second", &ir.Flow{Runs: []ir.Runs{ir.RunsOnce}, Edges: []ir.FlowEdge{{From: port(ir.AtOperands, 0, 0), To: port(ir.AtArgs, 1, 0)}}}),
		{Name: "t.sized", Operands: []ir.Arg{{Name: "a"}, {Name: "b", Mult: ir.Variadic}, {Name: "c", Mult: ir.Variadic}}, Results: all("results"),
			Traits: ir.AttrSizedOperands, Attrs: []ir.AttrSpec{{Name: "operandSegmentSizes"}},
			Flow: &ir.Flow{Edges: []ir.FlowEdge{{From: port(ir.AtOperands, 0, 2), To: port(ir.AtResults, 0, 0)}}}},
		{Name: "t.mark", Operands: all("operands"), Results: all("results")},
		{Name: "t.yield", Operands: all("operands"), Traits: ir.Terminator | ir.ReturnLike},
		{Name: "t.stop", Operands: all("operands"), Traits: ir.Terminator},
	}}
}

// valueName returns the name of a value in the text of its module. A result has its position if the op has several.
func valueName(v *ir.Value) string {
	if op := v.DefiningOp(); op != nil && op.NumResults() > 1 {
		return fmt.Sprintf("%s#%d", op.Result(0).Name(), v.Index())
	}
	return v.Name()
}

// opName returns the name of an op with the symbol, the first result or the first operand that says which one it is.
func opName(op *ir.Op) string {
	switch s, ok := op.Attr(ir.SymbolName).(*ir.StringAttr); {
	case ok:
		return "@" + s.Value()
	case op.NumResults() > 0:
		return op.Name() + " " + op.Result(0).Name()
	case op.NumOperands() > 0:
		return op.Name() + " of " + valueName(op.Operand(0))
	}
	return op.Name()
}

func opNames(ops []*ir.Op) string {
	var out []string
	for _, op := range ops {
		out = append(out, opName(op))
	}
	return strings.Join(out, ", ")
}

// collect returns the elements of a sequence. It checks that each loop over the sequence can end early.
func collect[T any](t *testing.T, seq iter.Seq[T]) []T {
	t.Helper()
	all := slices.Collect(seq)
	for n := range len(all) {
		left := n
		for range seq { // a sequence that goes on after the end of the loop panics
			if left--; left < 0 {
				break
			}
		}
	}
	return all
}

// TestGraph describes all that a graph says about a module.
func TestGraph(t *testing.T) {
	golden.Texts(t, "testdata/graph.txtar", func(t *testing.T, name, text string) string {
		var out strings.Builder
		m := parseText(t, text)
		var visited []*ir.Op
		r := flow.ReachOf(m, func(op *ir.Op) bool { return op.Name() == "t.mark" })
		g := flow.Of(m, func(op *ir.Op) { visited = append(visited, op) })
		var walked, marks []*ir.Op
		m.Walk(func(op *ir.Op) bool {
			walked = append(walked, op)
			if op.Name() == "t.mark" {
				marks = append(marks, op)
			}
			return true
		})
		if !slices.Equal(visited, walked) {
			t.Error("the ops are not visited in the order of Walk")
		}
		recursive := func(ops []*ir.Op) string {
			if f := g.Recursive(ops); f != nil {
				return opName(f)
			}
			return "none"
		}
		fmt.Fprintf(&out, "functions %s; any mark %v; recursive %s\n", opNames(g.Functions()), r.Any(), recursive(marks))
		value := func(indent string, v *ir.Value) {
			var from []string
			for _, u := range collect(t, g.Sources(v)) {
				from = append(from, fmt.Sprintf("operand %d of %s", u.Index(), opName(u.Owner())))
				if !slices.Contains(slices.Collect(g.Targets(u)), v) {
					t.Errorf("%s is made of %s, which does not become it", valueName(v), valueName(u.Value()))
				}
			}
			fmt.Fprintf(&out, "%s  %%%s = %s\n", indent, valueName(v), strings.Join(from, ", "))
		}
		for _, op := range walked {
			depth := 0
			for p := op.Parent(); p.Parent() != nil; p = p.Parent() {
				depth++
			}
			indent := strings.Repeat("    ", depth)
			fmt.Fprintf(&out, "%s%s:", indent, opName(op))
			say := func(format string, args ...any) { fmt.Fprintf(&out, " "+format, args...) }
			if f := flow.FunctionOf(op); f != nil {
				say("in %s", opName(f))
			}
			if f := g.Callee(op); f != nil {
				say("calls %s", opName(f))
			}
			if list := g.Callers(op); len(list) > 0 {
				say("called by %s;", opNames(list))
			}
			if by := g.NamedBy(op); by != nil {
				say("named by %s", opName(by))
			}
			if r.Holds(op) {
				say("holds a mark")
			}
			if r.Reaches(op) {
				say("reaches a mark")
			}
			if op.Name() == "t.mark" {
				say("recursive %s", recursive([]*ir.Op{op}))
			}
			out.WriteString("\n")
			for i := range op.NumOperands() {
				for _, v := range collect(t, g.Targets(op.OperandUse(i))) {
					if !slices.Contains(slices.Collect(g.Sources(v)), op.OperandUse(i)) {
						t.Errorf("operand %d of %s becomes %s, which is not made of it", i, opName(op), valueName(v))
					}
				}
			}
			for _, v := range op.Results() {
				value(indent, v)
			}
			for i, region := range op.Regions() {
				var captured []string
				for _, v := range flow.Captures(region) {
					captured = append(captured, "%"+valueName(v))
				}
				fmt.Fprintf(&out, "%s  region %d: returns %s; captures %s; a mark %v", indent, i, opNames(collect(t, flow.Returns(region))), strings.Join(captured, ", "), r.In(region))
				if op.Def().Flow != nil {
					first, ok := flow.Threads(op, i)
					say("threads from %d %v", first, ok)
				}
				out.WriteString("\n")
				for _, b := range region.Blocks() {
					if region.Entry() == region.Blocks()[0] && flow.Entry(op) != nil && i == 0 && b == flow.Entry(op) {
						fmt.Fprintf(&out, "%s  entry", indent)
					} else {
						fmt.Fprintf(&out, "%s  block", indent)
					}
					fmt.Fprintf(&out, ": in order %v; marks at %s\n", flow.InOrder(b), opNames(r.At(b)))
					for _, v := range b.Args() {
						value(indent, v)
					}
				}
			}
		}
		return out.String()
	})
}

// TestReferences lists the symbols that attributes name.
func TestReferences(t *testing.T) {
	for text, want := range map[string]string{
		`@a`:                                  "ref @a",
		`@a::@b::@c`:                          "ref @a::@b::@c",
		`[@a, [@b], 1 : i32]`:                 "ref @a, ref @b",
		`{x = @a, y = {z = [@b]}}`:            "ref @a, ref @b",
		`"@a"`:                                "",
		`#t.x<@a>`:                            "text a",
		`#t.x<@a, @"b c", [@d_$.-0Zz9A::@e]>`: "text a, text b c, text d_$.-0Zz9A, text e",
		`#t.x<"@">`:                           "",
	} {
		m := parseText(t, "module attributes {t.a = "+text+"} {}")
		var got []string
		flow.References(m.Op().Attr("t.a"), func(s *ir.SymbolRefAttr) { got = append(got, "ref "+s.String()) }, func(s string) { got = append(got, "text "+s) })
		if strings.Join(got, ", ") != want {
			t.Errorf("%s refers to %q, want %s", text, got, want)
		}
	}
	for text, want := range map[string][]string{
		"@a":            {"a"},
		"x@a~@b@c":      {"a", "b", "c"},
		`@"a b`:         nil,
		`@"a" @"" @b/c`: {"a", "", "b"},
		"@~a":           {""},
		"none":          nil,
		"":              nil,
	} {
		var got []string
		flow.Symbols(ir.NewOpaque(text), func(s string) { got = append(got, s) })
		if !slices.Equal(got, want) {
			t.Errorf("%q names %q, want %q", text, got, want)
		}
	}
	var got []string
	flow.Symbols(parseText(t, "module attributes {t.a = @a::@b::@c} {}").Op().Attr("t.a"), func(s string) { got = append(got, s) })
	if want := []string{"a", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("the reference names %q, want %q", got, want)
	}
}

// TestCarryText carries the result of t.mark through each op with the attribute carry. It shows what Carry returns, and
// the module.
func TestCarryText(t *testing.T) {
	golden.Texts(t, "testdata/carry.txtar", func(t *testing.T, name, text string) string {
		m := parseText(t, text)
		var out strings.Builder
		var ops []*ir.Op
		var v *ir.Value
		m.Walk(func(op *ir.Op) bool {
			if op.Attr("carry") != nil {
				ops = append(ops, op)
			}
			if op.Name() == "t.mark" {
				v = op.Result(0)
			}
			return true
		})
		for _, op := range ops {
			op.RemoveAttr("carry")
			n, result, in, err := flow.Carry(m, op, v)
			fmt.Fprintf(&out, "%s:", n.Name())
			if err != nil {
				fmt.Fprintf(&out, " error: %v", err)
			}
			if result != nil {
				fmt.Fprintf(&out, " result %d", result.Index())
			}
			for i, r := range n.Regions() {
				if in[i] == v {
					fmt.Fprintf(&out, " region %d captures it", i)
				} else {
					fmt.Fprintf(&out, " region %d has argument %d", i, in[i].Index())
				}
				_, ok := flow.Threads(n, i)
				for t := range flow.Returns(r) {
					if ok || n.Def().Flow.Function {
						flow.Yield(t, in[i])
					}
				}
			}
			out.WriteString("\n")
		}
		return out.String() + print.String(m, print.Options{})
	})
}
