package ir_test

import (
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// TestModules: the modules of testdata are valid, and a clone and bytecode hold all of them.
func TestModules(t *testing.T) {
	files, err := filepath.Glob("../testdata/*/*.mlir")
	if err != nil || len(files) < 10 {
		t.Fatal(err, len(files))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m := read(t, string(text))
		if err := ir.Verify(m); (err != nil) != strings.Contains(file, "bad") {
			t.Errorf("%s: %v", file, err)
		}
		want := print.String(m, print.Options{DebugInfo: true})
		if got := print.String(m.Clone(), print.Options{DebugInfo: true}); got != want {
			t.Errorf("%s: the clone has another text", file)
		}
		raw, err := bytecode.Append(nil, m, bytecode.Options{})
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		n, err := bytecode.Read(diag.NewSource("bytes", raw), ir.NewContext(m.Registry()))
		if err != nil {
			t.Errorf("%s: %v", file, err)
		} else if got := print.String(n, print.Options{}); got != print.String(m, print.Options{}) {
			t.Errorf("%s: bytecode has another text", file)
		}
	}
}

// TestVerifyRows checks operands, results, attributes, regions, blocks and symbols by rows. The words are MLIR's.
func TestVerifyRows(t *testing.T) {
	int32s := ir.Constraint{Summary: "32-bit integer", Check: func(t ir.Type) bool { return t == ir.Type(ir.Int(32)) }}
	one := func(c ir.Constraint) []ir.Arg { return []ir.Arg{{Name: "x", Type: c}} }
	rows := []*ir.Def{
		{Name: "t.none"},
		{Name: "t.one", Operands: one(int32s), Results: one(int32s)},
		{Name: "t.two", Operands: append(one(int32s), one(int32s)...), Results: append(one(int32s), one(int32s)...)},
		{Name: "t.more", Operands: []ir.Arg{{Name: "x"}, {Name: "y", Mult: ir.Variadic, Type: int32s}}},
		{Name: "t.maybe", Operands: []ir.Arg{{Name: "x", Mult: ir.Optional}}},
		{Name: "t.groups", Operands: []ir.Arg{{Name: "x", Mult: ir.Variadic}, {Name: "y", Mult: ir.Variadic}}, Traits: ir.SameVariadicOperands},
		{Name: "t.sized", Operands: []ir.Arg{{Name: "x", Mult: ir.Optional}, {Name: "y", Mult: ir.Variadic, Type: int32s}}, Traits: ir.AttrSizedOperands},
		{Name: "t.attr", Attrs: []ir.AttrSpec{{Name: "value", Type: ir.AttrConstraint{Summary: "a string", Check: func(a ir.Attr) bool { _, ok := a.(*ir.StringAttr); return ok }}}}},
		{Name: "t.region", Regions: []ir.RegionSpec{{Name: "r"}}, Traits: ir.SingleBlock},
		{Name: "t.regions", Regions: []ir.RegionSpec{{Name: "r"}, {Name: "s"}}, Traits: ir.NoTerminator},
		{Name: "t.end", Traits: ir.Terminator},
		{Name: "t.symbol", Traits: ir.Symbol},
		{Name: "t.checked", Verify: func(op *ir.Op, r *ir.Reporter) { r.Errorf(op, "is never right") }},
		{Name: "t.entry", Regions: []ir.RegionSpec{{Name: "r"}}, Traits: ir.NoTerminator, VerifyEntry: func(op *ir.Op, r *ir.Reporter) { r.PlainErrorf(op, "no entry") }},
	}
	registry, err := ir.NewRegistry(&ir.Dialect{Name: "t", Ops: rows, VerifyAttr: func(op *ir.Op, name string, _ ir.Attr, r *ir.Reporter) {
		if name == "t.wrong" {
			r.Errorf(op, "has a wrong attribute")
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`"t.none"() : () -> ()`:                                                         "",
		`"t.none"(%0) : (i32) -> ()`:                                                    "'t.none' op requires zero operands",
		`"t.none"() : () -> i32`:                                                        "'t.none' op requires zero results",
		`"t.one"(%0) : (i32) -> i32`:                                                    "",
		`"t.one"() : () -> i32`:                                                         "'t.one' op requires a single operand",
		`"t.one"(%0) : (i32) -> ()`:                                                     "'t.one' op requires one result",
		`"t.one"(%1) : (i64) -> i32`:                                                    "'t.one' op operand #0 must be 32-bit integer, but got 'i64'",
		`"t.one"(%0) : (i32) -> i64`:                                                    "'t.one' op result #0 must be 32-bit integer, but got 'i64'",
		`"t.two"(%0) : (i32) -> (i32, i32)`:                                             "'t.two' op expected 2 operands, but found 1",
		`"t.two"(%0, %0) : (i32, i32) -> i32`:                                           "'t.two' op expected 2 results, but found 1",
		`"t.more"() : () -> ()`:                                                         "'t.more' op expected 1 or more operands, but found 0",
		`"t.more"(%1, %0, %1) : (i64, i32, i64) -> ()`:                                  "'t.more' op operand #2 must be variadic of 32-bit integer, but got 'i64'",
		`"t.maybe"(%0, %0) : (i32, i32) -> ()`:                                          "'t.maybe' op operand group starting at #0 requires 0 or 1 element, but found 2",
		`"t.groups"(%0, %0, %0) : (i32, i32, i32) -> ()`:                                "'t.groups' op operand count (3) does not divide into 2 groups of one size",
		`"t.groups"(%0, %0) : (i32, i32) -> ()`:                                         "",
		`"t.sized"() : () -> ()`:                                                        "'t.sized' op requires dense i32 array attribute 'operandSegmentSizes'",
		`"t.sized"() {operandSegmentSizes = array<i32: 0>} : () -> ()`:                  "'t.sized' op 'operandSegmentSizes' attribute for specifying operand segments must have 2 elements, but got 1",
		`"t.sized"() {operandSegmentSizes = array<i32: -1, 1>} : () -> ()`:              "'t.sized' op 'operandSegmentSizes' attribute cannot have negative elements",
		`"t.sized"() {operandSegmentSizes = array<i32: 0, 1>} : () -> ()`:               "'t.sized' op operand count (0) does not match with the total size (1) specified in attribute 'operandSegmentSizes'",
		`"t.sized"(%1, %0) {operandSegmentSizes = array<i32: 1, 1>} : (i64, i32) -> ()`: "",
		`"t.sized"(%1, %0) {operandSegmentSizes = array<i32: 0, 2>} : (i64, i32) -> ()`: "'t.sized' op operand #0 must be variadic of 32-bit integer, but got 'i64'",
		`"t.attr"() : () -> ()`:                                                         "'t.attr' op requires attribute 'value'",
		`"t.attr"() {value = 1 : i32} : () -> ()`:                                       "'t.attr' op attribute 'value' failed to satisfy constraint: a string",
		`"t.attr"() {value = "x", t.wrong} : () -> ()`:                                  "'t.attr' op has a wrong attribute",
		`"t.region"() : () -> ()`:                                                       "'t.region' op requires one region",
		`"t.regions"() ({}) : () -> ()`:                                                 "'t.regions' op requires 2 regions",
		`"t.none"() ({}) : () -> ()`:                                                    "'t.none' op requires zero regions",
		`"t.region"() ({ "t.end"() : () -> () }) : () -> ()`:                            "",
		`"t.region"() ({ ^bb0(%a: i32): }) : () -> ()`:                                  "'t.region' op expects a non-empty block",
		`"t.region"() ({ "t.none"() : () -> () }) : () -> ()`:                           "block with no terminator, has 't.none'",
		`"t.region"() ({ "t.end"() : () -> ()
^bb1: "t.end"() : () -> () }) : () -> ()`: "'t.region' op region #0 ('r') failed to verify constraint: region with 1 blocks",
		`"t.end"() : () -> ()
"t.none"() : () -> ()`: "'t.end' op must be the last operation in the parent block",
		`"t.symbol"() {sym_name = "a"} : () -> ()`:                                    "",
		`"t.regions"() ({ "t.symbol"() {sym_name = "a"} : () -> () }, {}) : () -> ()`: "'t.symbol' op symbol's parent must have the SymbolTable trait",
		`"t.checked"() : () -> ()`:                                                    "'t.checked' op is never right",
		`"t.entry"() ({ "t.none"() : () -> () }) : () -> ()`:                          "no entry",
		`"u.a"() ({ "t.end"()[^bb1] : () -> ()
^bb1: "t.end"() : () -> () }) : () -> ()`: "",
	} {
		text = "%0, %1 = \"u.def\"() : () -> (i32, i64)\n" + text
		m, err := parse.Parse(diag.NewSource("text", []byte(text)), ir.NewContext(registry), parse.Options{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := ""
		if err := ir.Verify(m); err != nil {
			got = err.Error()
		}
		if first, _, _ := strings.Cut(got, "\n"); want == "" && got != "" || !strings.HasSuffix(first, want) {
			t.Errorf("%s:\ngot  %s\nwant %s", text, first, want)
		}
	}
}

// TestVerifySymbols: two symbols of one name, with the place of the first.
func TestVerifySymbols(t *testing.T) {
	m := read(t, "func.func private @f()\nfunc.func private @f()")
	err := ir.Verify(m)
	if err == nil || !strings.Contains(err.Error(), "text:2:1: error: redefinition of symbol named 'f'") {
		t.Error(err)
	}
}

// TestVerifyInParallel: large modules give the findings of all goroutines in the order of the text.
// A module that was right is checked again after a move, although no op has changed.
func TestVerifyAfterMove(t *testing.T) {
	m := read(t, `func.func @f(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %a, %a : tensor<f32>
  return %0 : tensor<f32>
}
func.func private @g(%a: tensor<f32>) -> tensor<f32> { return %a : tensor<f32> }`)
	f := m.Body().First()
	g, body := f.Next(), f.Region(0).Entry()
	add := body.First()
	for _, c := range []struct {
		move, back func()
		want       string
	}{
		{func() { g.MoveBefore(add) }, func() { m.Body().Append(g) }, "symbol's parent must have the SymbolTable trait"},
		{func() { body.Append(add) }, func() { add.MoveBefore(body.First()) }, "must be the last operation"},
	} {
		if err := ir.Verify(m); err != nil {
			t.Fatal(err)
		}
		c.move()
		if err := ir.Verify(m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error is %v, want %q", err, c.want)
		}
		c.back()
	}
}

func TestVerifyInParallel(t *testing.T) {
	var text strings.Builder
	for f := range 12 {
		fmt.Fprintf(&text, "func.func @f%d(%%a: tensor<f32>) -> tensor<f32> {\n", f)
		for i := range 1500 {
			fmt.Fprintf(&text, "  %%%d = stablehlo.add %%a, %%a : tensor<f32>\n", i)
		}
		text.WriteString("  return %a : tensor<f32>\n}\n")
	}
	m := read(t, text.String())
	if err := ir.Verify(m); err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for f := range m.Body().Ops() {
		o := f.Region(0).Entry().First()
		for range wrong {
			o = o.Next()
		}
		o.Result(0).SetType(ir.Int(32))
		wrong++
	}
	list, _ := ir.Verify(m).(diag.List)
	if len(list) != wrong {
		t.Fatalf("%d findings, want %d", len(list), wrong)
	}
	for i := 1; i < len(list); i++ {
		if list[i].Pos <= list[i-1].Pos {
			t.Error("the findings are out of order")
		}
	}
}

// TestVerifyEnds: the messages of a check end after 64 MiB, since each can name a type of megabytes. The findings are
// the same ones for any number of goroutines.
func TestVerifyEnds(t *testing.T) {
	text := "!a0 = tuple<i32, i32>\n"
	for i := 1; i < 20; i++ {
		text += fmt.Sprintf("!a%d = tuple<!a%d, !a%[2]d>\n", i, i-1)
	}
	text += "func.func @f(%a: !a19) {\n" + strings.Repeat("  stablehlo.get_tuple_element %a[0] : (!a19) -> !a19\n", 5000) + "  return\n}\n"
	m := read(t, text)
	var findings [2]diag.List
	for i, n := range []int{1, 4} {
		old := goruntime.GOMAXPROCS(n)
		err := ir.Verify(m)
		goruntime.GOMAXPROCS(old)
		findings[i] = diag.ListOf(err)
	}
	size := 0
	for _, d := range findings[0] {
		size += len(d.Message)
	}
	if n := len(findings[0]); n < 2 || size > 1<<27 || len(findings[1]) != n || findings[0][n-1].Pos != findings[1][n-1].Pos {
		t.Errorf("%d messages of %d bytes, %d by several goroutines", n, size, len(findings[1]))
	}
}

// TestForeign: the ops of an outside dialect take the place of foreign ops of their names, whichever comes first.
func TestForeign(t *testing.T) {
	row := &ir.Def{Name: "scf.for"}
	outside, foreign := &ir.Dialect{Name: "scf", Ops: []*ir.Def{row}}, &ir.Dialect{Name: "scf", Foreign: ir.ForeignOps("scf", "for\nif\n")}
	for _, dialects := range [][]*ir.Dialect{{outside, foreign}, {foreign, outside}} {
		r, err := ir.NewRegistry(dialects...)
		if err != nil {
			t.Fatal(err)
		}
		if r.Lookup("scf.for") != row || r.Lookup("scf.if") == nil {
			t.Errorf("scf.for is %v, scf.if %v", r.Lookup("scf.for"), r.Lookup("scf.if"))
		}
	}
}

// TestRegistry registers invalid dialects, some with formats that cannot be compiled.
func TestRegistry(t *testing.T) {
	arg := []ir.Arg{{Name: "x"}, {Name: "ys", Mult: ir.Variadic}}
	row := func(format string) []*ir.Dialect {
		return []*ir.Dialect{{Name: "t", Ops: []*ir.Def{{Name: "t.op", Operands: arg, Results: []ir.Arg{{Name: "r"}}, Format: format,
			Attrs:   []ir.AttrSpec{{Name: "a", Optional: true}, {Name: "u", Type: ir.AttrConstraint{Summary: "unit attribute"}, Optional: true}},
			Regions: []ir.RegionSpec{{Name: "body", Mult: ir.Variadic}}}}}}
	}
	for want, dialects := range map[string][]*ir.Dialect{
		`dialect "t" is registered twice`:                                          {{Name: "t"}, {Name: "t"}},
		`op "t.a" is registered twice`:                                             {{Name: "t", Ops: []*ir.Def{{Name: "t.a"}, {Name: "t.a"}}}},
		`op "u.a" does not belong to dialect "t"`:                                  {{Name: "t", Ops: []*ir.Def{{Name: "u.a"}}}},
		"format of t.op at byte 2: t.op has no operand, attribute or region \"z\"": row("$z"),
		"format of t.op at byte 5: unknown directive \"other\"":                    row("other"),
		"format of t.op at byte 6: expected \"?\"":                                 row("($x^) "),
		"format of t.op at byte 5: an optional group has no anchor":                row("($x)?"),
		"format of t.op at byte 3: expected \")\"":                                 row("($x"),
		"format of t.op at byte 1: expected '`'":                                   row("`x"),
		"format of t.op at byte 8: t.op has no operand or result \"z\"":            row("type($z)"),
		"format of t.op at byte 11: unknown argument \"other\" of type":            row("type(other)"),
		"format of t.op at byte 9: dialect t has no directive \"X\"":               row("custom<X>($x)"),
		"format of t.op at byte 1: expected a name":                                row("$"),
	} {
		_, err := ir.NewRegistry(dialects...)
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	d := row("($x^ `,`)? $ys `:` type($x) type(operands) type(results) ` ` `\\n` operands regions successors functional-type(operands, results) qualified($a) qualified(type($r)) (`unit` $u^):(`none`)? $body attr-dict-with-keyword custom<D>($x, type($ys), ref($a), \"text\", `lit`, $body, attr-dict, operands, regions, type(results))")
	d[0].Directives = map[string]*ir.Directive{"D": {}}
	registry, err := ir.NewRegistry(d...)
	if err != nil {
		t.Fatal(err)
	}
	if f := registry.Kind("t.op").Format; f == nil || len(f.Elems) != 18 || registry.Lookup("t.op") != d[0].Ops[0] || registry.Dialect("t") != d[0] || registry.Dialect("x") != nil {
		t.Error("the registry does not know what it was given")
	}
	if len(registry.Dialects()) != 1 || len(registry.Dialects()[0].Ops) != 1 {
		t.Error("the registry does not list what it was given")
	}
}

func TestSegments(t *testing.T) {
	v, o, x := ir.Arg{Mult: ir.Variadic}, ir.Arg{Mult: ir.Optional}, ir.Arg{}
	sizes := func(list ...int64) ir.Attr { return ir.NewDenseArray(ir.Int(32), list) }
	for _, c := range []struct {
		args  []ir.Arg
		n     int
		sizes ir.Attr
		same  bool
		want  string
	}{
		{[]ir.Arg{x, v, x}, 5, nil, false, "[1 3 1] true"},
		{[]ir.Arg{x, o}, 1, nil, false, "[1 0] true"},
		{[]ir.Arg{x, o}, 3, nil, false, "[1 2] false"},
		{[]ir.Arg{x, o}, 3, sizes(1, 2), false, "[1 2] false"},
		{[]ir.Arg{x, x}, 3, nil, false, "[] false"},
		{[]ir.Arg{v, v}, 4, nil, true, "[2 2] true"},
		{[]ir.Arg{v, v}, 3, nil, true, "[] false"},
		{[]ir.Arg{v, v}, 4, nil, false, "[] false"},
		{[]ir.Arg{v, v}, 4, sizes(1, 3), false, "[1 3] true"},
		{[]ir.Arg{v, v}, 4, sizes(1, 2), false, "[1 2] false"},
		{[]ir.Arg{v, v}, 4, sizes(5, -1), false, "[] false"},
	} {
		def := &ir.Def{Name: "t.op", Operands: c.args}
		if c.same {
			def.Traits |= ir.SameVariadicOperands
		}
		st := &ir.OpState{Def: def, Operands: slices.Repeat([]*ir.Value{nil}, c.n)}
		if c.sizes != nil {
			def.Traits |= ir.AttrSizedOperands
			st.Attrs = ir.AttrList{{Name: "operandSegmentSizes", Attr: c.sizes}}
		}
		m := ir.NewModule(ir.NewContext(nil), nil)
		got, ok := m.AtEnd(m.Body()).Insert(st).OperandSegments(nil)
		if s := fmt.Sprint(got, ok); s != c.want {
			t.Errorf("%d of %v: %s, want %s", c.n, c.args, s, c.want)
		}
	}
}

// TestSizedResults: a builder refuses result types that do not add up to the sizes of the groups.
func TestSizedResults(t *testing.T) {
	def := &ir.Def{Name: "t.op", Results: []ir.Arg{{Name: "a", Mult: ir.Variadic}, {Name: "b", Mult: ir.Variadic}}, Traits: ir.AttrSizedResults}
	m := ir.NewModule(ir.NewContext(nil), nil)
	i1 := ir.Type(ir.Int(1))
	for _, c := range []struct {
		sizes []int64
		want  string
	}{
		{[]int64{1, 2}, "<nil>"},
		{[]int64{2, 2}, "3 results do not divide into the groups of t.op"},
		{[]int64{1, 1}, "3 results do not divide into the groups of t.op"},
	} {
		st := &ir.OpState{Def: def, Types: []ir.Type{i1, i1, i1}}
		st.SetAttr("resultSegmentSizes", ir.NewDenseArray(ir.Int(32), c.sizes))
		if _, err := m.AtEnd(m.Body()).Typed(st); fmt.Sprint(err) != c.want {
			t.Errorf("sizes %v: %v, want %s", c.sizes, err, c.want)
		}
	}
}

func TestBuilder(t *testing.T) {
	m := read(t, "func.func @f(%a: tensor<f32>) -> tensor<f32> {\n  return %a : tensor<f32>\n}")
	entry := m.Body().First().Region(0).Entry()
	ret := entry.First()
	var heard []*ir.Op
	loc := fileLoc("f", 1, 2)
	b := m.Before(ret).At(loc, 7).OnInsert(func(o *ir.Op) { heard = append(heard, o) })
	neg := ir.Must(b.Build(m.Def("stablehlo.negate"), entry.Args()))
	if neg.Loc() != loc || neg.Pos() != 7 || neg.Result(0).Type() != entry.Arg(0).Type() || b.Module() != m || len(heard) != 1 {
		t.Error("the builder made something else")
	}
	if _, err := b.Build(m.Def("u.op"), nil); err == nil || err.Error() != "the result types of u.op cannot be inferred" {
		t.Error(err)
	}
	m.AtStart(entry).Create(m.Def("u.x"), nil, []ir.Type{ir.Int(1)})
	first := entry.First()
	after := m.After(first)
	first.Erase()
	x := after.Create(m.Def("u.y"), nil, nil)
	if entry.First() != x {
		t.Error("a builder after an erased op inserts elsewhere")
	}
	before := m.Before(ret)
	ret.Erase()
	if y := before.Create(m.Def("u.z"), nil, nil, ir.NamedAttr{Name: "k", Attr: ir.NewUnit()}); entry.Last() != y || y.Attr("k") == nil {
		t.Error("a builder before an erased op inserts elsewhere")
	}
	m.AtEnd(entry).Create(m.Def("u.w"), nil, nil)
	for name, place := range map[string]func(at *ir.Op) *ir.Builder{"before": m.Before, "after": func(at *ir.Op) *ir.Builder { return m.After(at.Prev()) }} {
		at := m.AtStart(entry).In(entry).Create(m.Def("u.v"), nil, nil)
		next := m.AtEnd(entry).Create(m.Def("u.v"), nil, nil)
		b := place(at)
		if name == "before" {
			at.Erase()
		} else {
			next = at
		}
		m.Body().Append(next)
		func() {
			defer func() {
				if got, want := recover(), "ir: inserting u.op before u.v, which has left the builder's block"; got != want {
					t.Errorf("%s: got %v, want %s", name, got, want)
				}
			}()
			b.Create(m.Def("u.op"), nil, nil)
		}()
	}
	if d := m.Errorf(x, "wrong %d", 1); d.Message != "wrong 1" {
		t.Error(d)
	}
	defer func() {
		if recover() == nil {
			t.Error("Must accepts an error")
		}
	}()
	ir.Must(b.Build(m.Def("u.op"), nil))
}

func TestRows(t *testing.T) {
	base := &ir.Def{Name: "t.a", Traits: ir.Pure | ir.Commutative, Attrs: []ir.AttrSpec{{Name: "k"}}}
	mirror := &ir.Def{Name: "s.a", Base: base}
	m := ir.NewModule(ir.NewContext(nil), nil)
	x, y, z := m.NewOp(&ir.OpState{Def: base}), m.NewOp(&ir.OpState{Def: mirror}), m.NewOp(&ir.OpState{Def: m.Def("t.a")})
	got := fmt.Sprint(x.Is(base), y.Is(base), z.Is(base), x.IsOrMirrors(base), y.IsOrMirrors(base), z.IsOrMirrors(base), y.IsOrMirrors(nil), z.IsOrMirrors(nil))
	if got != "true false false true true false false false" {
		t.Error(got)
	}
	if !x.Has(ir.Pure|ir.Commutative) || x.Has(ir.Pure|ir.Terminator) || x.MightHave(ir.Terminator) || z.Has(ir.Pure) || !z.MightHave(ir.Terminator) {
		t.Error("traits are wrong")
	}
	if base.Attr("k") == nil || base.Attr("l") != nil || base.Dialect() != "t" || (&ir.Def{Name: "x"}).Dialect() != "" || !base.Known() || z.Def().Known() || m.Def("t.a") != z.Def() {
		t.Error("the row answers wrongly")
	}
	c := ir.Clauses("C1 one\nC2 two -- because\n\nthree")
	if fmt.Sprint(c) != "[{C1 one } {C2 two because} { three }]" {
		t.Error(c)
	}
}

// TestVerifyAgain: Verify repeats the checks of a Pure op if the op, its operands or their defining ops changed, or if
// a check reads the ops around the op.
func TestVerifyAgain(t *testing.T) {
	checks := map[string]int{}
	count := func(op *ir.Op, _ *ir.Reporter) { checks[op.Name()]++ }
	rows := []*ir.Def{
		{Name: "t.source", Results: []ir.Arg{{Name: "x"}}, Traits: ir.Pure, Verify: count},
		{Name: "t.pure", Operands: []ir.Arg{{Name: "x"}}, Results: []ir.Arg{{Name: "y"}}, Traits: ir.Pure, Verify: count},
		{Name: "t.write", Operands: []ir.Arg{{Name: "x"}}, Verify: count},
		{Name: "t.around", Operands: []ir.Arg{{Name: "x"}}, Results: []ir.Arg{{Name: "y"}}, Traits: ir.Pure,
			Verify: func(op *ir.Op, r *ir.Reporter) { count(op, r); r.ReadsAround() }},
	}
	registry, err := ir.NewRegistry(&ir.Dialect{Name: "t", Ops: rows})
	if err != nil {
		t.Fatal(err)
	}
	m, err := parse.Parse(diag.NewSource("text", []byte(`%0 = "t.source"() : () -> i32
%1 = "t.source"() : () -> i32
%2 = "t.pure"(%0) : (i32) -> i32
%3 = "t.around"(%0) : (i32) -> i32
"t.write"(%0) : (i32) -> ()`)), ir.NewContext(registry), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ops := slices.Collect(m.Body().Ops())
	for _, step := range []struct {
		name   string
		change func()
		want   string
	}{
		{"the first time", func() {}, "map[t.around:1 t.pure:1 t.source:2 t.write:1]"},
		{"no change", func() {}, "map[t.around:1 t.write:1]"},
		{"another operand", func() { ops[2].SetOperand(0, ops[1].Result(0)) }, "map[t.around:1 t.pure:1 t.write:1]"},
		{"an attribute of the defining op", func() { ops[1].SetAttr("a", ir.NewUnit()) }, "map[t.around:1 t.pure:1 t.source:1 t.write:1]"},
		{"a type", func() { ops[1].Result(0).SetType(ir.Int(64)) }, "map[t.around:1 t.pure:1 t.source:1 t.write:1]"},
		{"a copy", func() { m = m.Clone() }, "map[t.around:1 t.write:1]"},
		{"a changed copy", func() { m.Body().First().RemoveAttr("a"); m.Body().First().Result(0).SetType(ir.Int(8)) }, "map[t.around:1 t.source:1 t.write:1]"},
	} {
		clear(checks)
		step.change()
		if err := ir.Verify(m); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(checks); got != step.want {
			t.Errorf("%s: checked %s, want %s", step.name, got, step.want)
		}
	}
}

// TestVerifyAlike: Verify repeats the checks of a Pure op for each op that is alike unless they say that they read
// types and attributes alone. Ops that are not alike are checked.
func TestVerifyAlike(t *testing.T) {
	checks := map[string]int{}
	check := func(op *ir.Op, r *ir.Reporter) {
		checks[op.Name()]++
		if op.Attr("bad") != nil || op.Operand(0).Type() != op.Result(0).Type() {
			r.Errorf(op, "is bad")
		}
	}
	arg, result := []ir.Arg{{Name: "x"}}, []ir.Arg{{Name: "y"}}
	rows := []*ir.Def{
		{Name: "t.plain", Operands: arg, Results: result, Traits: ir.Pure},
		{Name: "t.operands", Operands: arg, Results: result, Traits: ir.Pure, Verify: check},
		{Name: "t.types", Operands: arg, Results: result, Traits: ir.Pure, Verify: func(op *ir.Op, r *ir.Reporter) { check(op, r); r.ReadsTypes() }},
		{Name: "t.around", Operands: arg, Results: result, Traits: ir.Pure,
			Verify: func(op *ir.Op, r *ir.Reporter) { check(op, r); r.ReadsAround(); r.ReadsTypes() }},
		{Name: "t.write", Operands: arg, Results: result, Verify: func(op *ir.Op, r *ir.Reporter) { check(op, r); r.ReadsTypes() }},
	}
	registry, err := ir.NewRegistry(&ir.Dialect{Name: "t", Ops: rows})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Builder{}
	text.WriteString("%x = \"t.source\"() : () -> i32\n")
	line := func(name, attrs, result string) {
		fmt.Fprintf(&text, "\"t.%s\"(%%x) {%s} : (i32) -> %s\n", name, attrs, result)
	}
	for range 10 {
		for _, name := range []string{"plain", "operands", "types", "around", "write"} {
			line(name, "", "i32")
			line(name, "a", "i32")
		}
	}
	for _, name := range []string{"operands", "types", "around", "write"} {
		line(name, "bad", "i32")
		line(name, "", "i64")
	}
	m, err := parse.Parse(diag.NewSource("text", []byte(text.String())), ir.NewContext(registry), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = ir.Verify(m)
	if list, ok := err.(diag.List); !ok || len(list) != 8 {
		t.Errorf("errors: %v", err)
	}
	if got, want := fmt.Sprint(checks), "map[t.around:22 t.operands:22 t.types:4 t.write:22]"; got != want {
		t.Errorf("checked %s, want %s", got, want)
	}
}
