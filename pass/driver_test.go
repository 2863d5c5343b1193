package pass_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/rewrite"
)

func background(m *ir.Module) *pass.Context { return pass.NewContext(context.Background(), m) }

func nothing(*pass.Context, *ir.Module) error { return nil }

// onFunctions is a perFunction with an Info.
type onFunctions struct {
	perFunction
	info pass.Info
}

func (p onFunctions) Info() *pass.Info { return &p.info }

// TestWorkers: as many functions as Workers says are worked on at the same time, and one if the pass is sequential or
// an instrument watches rules.
func TestWorkers(t *testing.T) {
	text := strings.ReplaceAll("func.func @f0() { return } func.func @f1() { return } func.func @f2() { return } func.func @f3() { return }", "} ", "}\n")
	for _, tt := range []struct {
		workers    int
		sequential bool
		rules      bool
		want       int32
	}{
		{1, false, false, 1}, {3, false, false, 3}, {4, false, false, 4}, {9, false, false, 4}, {3, true, false, 1}, {3, false, true, 1}, {3, true, true, 1},
	} {
		var now, most atomic.Int32
		var full sync.WaitGroup // ends when the expected number of functions are worked on
		full.Add(int(tt.want))
		var started atomic.Int32
		p := onFunctions{perFunction{func(*pass.Context, *ir.Op) error {
			most.Store(max(most.Load(), now.Add(1)))
			if started.Add(1) <= tt.want {
				full.Done()
			}
			full.Wait()
			if tt.want == 1 {
				time.Sleep(2 * time.Millisecond) // another worker would start here
			}
			now.Add(-1)
			return nil
		}}, pass.Info{Name: "wait", Anchor: "func.func", Sequential: tt.sequential}}
		d := &pass.Driver{Workers: tt.workers}
		if tt.rules {
			d.Instruments = []pass.Instrument{{}, {Rule: func(pass.Step, string, *ir.Op) {}}}
		}
		if err := d.Run(background(read(t, text)), pass.Pipeline{pass.On("func.func", p)}); err != nil {
			t.Fatal(err)
		}
		if most.Load() != tt.want || started.Load() != 4 {
			t.Errorf("%+v: %d functions at the same time, %d in all", tt, most.Load(), started.Load())
		}
	}
}

// TestReports: remarks and errors of several functions come in program order, and the context's end stops the work.
func TestReports(t *testing.T) {
	fail := func(fail func(ctx *pass.Context, f *ir.Op) error) error {
		p := perFunction{fail}
		return (&pass.Driver{}).Run(background(read(t, two)), pass.Pipeline{pass.On("func.func", p)})
	}
	err := fail(func(ctx *pass.Context, f *ir.Op) error { return ctx.Module().Errorf(f, "bad") })
	if want := "in.mlir:1:1: error: bad\nin.mlir:4:1: error: bad"; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
	err = fail(func(ctx *pass.Context, f *ir.Op) error { return errors.New("no file") })
	var one *pass.Error
	if !errors.As(err, &one) || err.Error() != "no file" || one.Pass != "per-function" || one.Invalid {
		t.Errorf("error is %#v", err)
	}
	err = fail(func(ctx *pass.Context, f *ir.Op) error {
		if f.Next() == nil {
			return errors.New("no file")
		}
		return nil
	})
	if err == nil || err.Error() != "no file" {
		t.Errorf("error is %v", err)
	}
	var said []string
	ctx := background(read(t, two))
	ctx.Report = func(d *diag.Diagnostic) { said = append(said, d.Message) }
	remark := module{&pass.Info{Name: "remark"}, func(ctx *pass.Context, m *ir.Module) error {
		ctx.Emit(m.Errorf(m.Op(), "seen"))
		return nil
	}}
	if err := (&pass.Driver{}).Run(ctx, pass.Pipeline{remark}); err != nil || !slices.Equal(said, []string{"seen"}) {
		t.Errorf("said %q, %v", said, err)
	}
	stopped, stop := context.WithCancel(context.Background())
	ran := 0
	p := perFunction{func(*pass.Context, *ir.Op) error { ran++; stop(); return nil }}
	err = (&pass.Driver{Workers: 1}).Run(pass.NewContext(stopped, read(t, two)), pass.Pipeline{pass.On("func.func", p, p)})
	if !errors.Is(err, context.Canceled) || ran != 1 {
		t.Errorf("%d functions after the end: %v", ran, err)
	}
}

// TestOutcome: instruments see what a step did.
func TestOutcome(t *testing.T) {
	var got []string
	watch := pass.Instrument{
		After: func(s pass.Step, o pass.Outcome) {
			got = append(got, fmt.Sprintf("%d %s on %d: changed %v, %v, error %v, took time %v", s.Index, s.Text(), len(s.Ops), o.Changed, o.Counts, o.Err != nil, o.Took > 0))
		},
		Verified: func(took time.Duration, err error) { got = append(got, fmt.Sprintf("verified: %v", err)) },
	}
	count := perFunction{func(ctx *pass.Context, f *ir.Op) error {
		ctx.Count("b", 0)
		ctx.Count("b", 2)
		ctx.Count("a", 1)
		ctx.Count("b", 3)
		return nil
	}}
	changes := module{&pass.Info{Name: "changes"}, func(_ *pass.Context, m *ir.Module) error { m.Op().SetAttr("a.b", ir.NewString("x")); return nil }}
	lies := module{&pass.Info{Name: "lies", ReadOnly: true}, changes.run}
	fails := module{&pass.Info{Name: "fails", ReadOnly: true}, func(_ *pass.Context, m *ir.Module) error {
		m.Op().SetAttr("a.c", ir.NewString("x"))
		return errors.New("failed first")
	}}
	d := &pass.Driver{Instruments: []pass.Instrument{{}, watch}, Verify: ir.VerifyContext}
	m := read(t, two)
	if err := d.Run(background(m), pass.Pipeline{pass.On("func.func", count), changes, module{&pass.Info{Name: "idle"}, nothing}}); err != nil {
		t.Error(err)
	}
	if err := d.Run(background(read(t, two)), pass.Pipeline{lies}); err == nil || err.Error() != "in.mlir: error: pass 'lies' changed the module, though it says that it only reads" {
		t.Errorf("error is %v", err)
	}
	if err := d.Run(background(read(t, two)), pass.Pipeline{fails}); err == nil || err.Error() != "failed first" {
		t.Errorf("error is %v", err)
	}
	refuses := errors.New("refused")
	d.Verify = func(context.Context, *ir.Module) error { return refuses }
	err := d.Run(background(read(t, two)), pass.Pipeline{changes})
	var failed *pass.Error
	if !errors.As(err, &failed) || !failed.Invalid || failed.Pass != "changes" || !errors.Is(err, refuses) || err.Error() != "refused\nnote: pass 'changes' left an invalid module" {
		t.Errorf("error is %v", err)
	}
	want := []string{
		"0 func.func(per-function) on 2: changed false, [{b 10} {a 2}], error false, took time true",
		"1 changes on 1: changed true, [], error false, took time true",
		"verified: <nil>",
		"2 idle on 1: changed false, [], error false, took time true",
		"0 lies on 1: changed true, [], error true, took time true",
		"0 fails on 1: changed true, [], error true, took time true",
		"0 changes on 1: changed true, [], error false, took time true",
		"verified: refused",
	}
	if !slices.Equal(got, want) {
		t.Errorf("saw\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestInvalid: the first error about an invalid module says which pass left it.
func TestInvalid(t *testing.T) {
	breaks := module{&pass.Info{Name: "breaks"}, func(_ *pass.Context, m *ir.Module) error {
		m.Body().First().Region(0).Entry().Last().Erase()
		return nil
	}}
	err := (&pass.Driver{Verify: ir.VerifyContext}).Run(background(read(t, two)), pass.Pipeline{breaks})
	var list diag.List
	if !errors.As(err, &list) || len(list) != 1 || len(list[0].Notes) != 1 || list[0].Notes[0].Message != "pass 'breaks' left an invalid module" {
		t.Errorf("error is %v", err)
	}
}

// TestVerifyLast: with VerifyResult the driver verifies after the last pass that may change the module, in a nested
// pipeline or a group too.
func TestVerifyLast(t *testing.T) {
	var got []string
	step := func(name string, readOnly bool) pass.Pass {
		return onFunctions{perFunction{func(_ *pass.Context, f *ir.Op) error {
			got = append(got, name)
			if !readOnly {
				f.SetAttr("a.b", ir.NewString(name))
			}
			return nil
		}}, pass.Info{Name: name, Anchor: "func.func", ReadOnly: readOnly}}
	}
	a, b, see := step("a", false), step("b", false), step("see", true)
	for _, tt := range []struct {
		p    pass.Pipeline
		want string
	}{
		{pass.Pipeline{pass.On("func.func", a, b)}, "a b verify"},
		{pass.Pipeline{pass.On("func.func", a, b, see)}, "a b verify see"},
		{pass.Pipeline{pass.On("func.func", a), pass.On("func.func", b)}, "a b verify"},
		{pass.Pipeline{pass.On("func.func", both{[]pass.Pass{a, see}}), module{&pass.Info{Name: "idle"}, nothing}}, "a see verify"},
		{pass.Pipeline{pass.On("func.func", see)}, "see"},
		{pass.Pipeline{pass.On("func.func", a), pass.On("func.func")}, "a verify"},
	} {
		got = nil
		d := &pass.Driver{VerifyResult: true, Workers: 1, Verify: func(context.Context, *ir.Module) error { got = append(got, "verify"); return nil }}
		if err := d.Run(background(read(t, "func.func @a() { return }")), tt.p); err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("%v: %v, %v, want %s", tt.p, got, err, tt.want)
		}
	}
}

// TestAnchors: passes run on ops that are isolated and have a name, at any depth.
func TestAnchors(t *testing.T) {
	text := `module @outer {
  module @inner { func.func @a() { return } func.func @b() { return } }
}
func.func @c() { return }
"t.box"() ({}) {sym_name = "box"} : () -> ()`
	var got []string
	see := perFunction{func(ctx *pass.Context, f *ir.Op) error {
		got = append(got, f.Attr(ir.SymbolName).String())
		if ctx.Op() != f {
			t.Error("the context serves another op")
		}
		return nil
	}}
	run := func(p pass.Pass) error {
		got = nil
		return (&pass.Driver{Workers: 1}).Run(background(read(t, text)), pass.Pipeline{p})
	}
	if err := run(pass.On("func.func", see)); err != nil || !slices.Equal(got, []string{`"c"`}) {
		t.Errorf("%v, %v", got, err)
	}
	if err := run(pass.On("builtin.module", pass.On("builtin.module", pass.On("func.func", see)))); err != nil || !slices.Equal(got, []string{`"a"`, `"b"`}) {
		t.Errorf("%v, %v", got, err)
	}
	if err := run(pass.On("sdy.mesh", see)); err != nil || got != nil {
		t.Errorf("%v, %v", got, err)
	}
	for _, tt := range []struct {
		p    pass.Pass
		want string
	}{
		{pass.On("func.fun", see), `passes run on an op named "func.fun", which is unknown; did you mean func.func?`},
		{pass.On("t.box", see), `passes run on an op named "t.box", which is unknown; there are: `},
		{pass.On("func.func", pass.On("stablehlo.while", see)), ""},
		{pass.On("func.func", pass.On("func.func", module{info: &pass.Info{Name: "x"}})), ""},
		{see, `pass "per-function" runs on func.func, not on builtin.module; write func.func(per-function)`},
		{pass.On("func.func", module{&pass.Info{Name: "whole"}, nothing}), `pass "whole" runs on builtin.module and cannot be nested in func.func`},
	} {
		p, want := tt.p, tt.want
		err := run(p)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", pass.Text(p), err, want)
		}
	}
	err := run(pass.On("t.box", see))
	if strings.Contains(fmt.Sprint(err), "stablehlo.while") || !strings.Contains(fmt.Sprint(err), "builtin.module") {
		t.Errorf("error is %v", err)
	}
}

// TestSeparableNested: a separable pass on one function, on several ops or on a module in a module runs on them as they
// are.
func TestSeparableNested(t *testing.T) {
	text := "module @a { func.func @f() { return } } module @b { func.func @g() { return } }"
	for want, p := range map[string]func(pass.Pass) pass.Pass{
		"builtin.module builtin.module": func(p pass.Pass) pass.Pass { return p },
		"\"a\" \"b\"":                   func(p pass.Pass) pass.Pass { return pass.On("builtin.module", p) },
		"\"f\" \"g\"":                   func(p pass.Pass) pass.Pass { return pass.On("builtin.module", pass.On("func.func", p)) },
	} {
		var got []string
		s := separable{true, func(_ *pass.Context, op *ir.Op) error {
			if name := op.Attr(ir.SymbolName); name != nil {
				got = append(got, name.String())
			} else {
				got = append(got, op.Name())
			}
			return nil
		}}
		if err := (&pass.Driver{Workers: 1}).Run(background(read(t, text)), pass.Pipeline{p(s)}); err != nil {
			t.Error(err)
		}
		if want == "builtin.module builtin.module" {
			want = `"a" "b"` // the ops of the module
		}
		if strings.Join(got, " ") != want {
			t.Errorf("ran on %v, want %s", got, want)
		}
	}
}

// TestRequirements: chains of requirements run in order, 100 deep at most, and on the functions of the module.
func TestRequirements(t *testing.T) {
	var got []string
	say := func(name string, requires ...pass.Pass) module {
		i := &pass.Info{Name: name}
		for _, p := range requires {
			i.Requires = append(i.Requires, pass.First(p))
		}
		return module{i, func(*pass.Context, *ir.Module) error { got = append(got, name); return nil }}
	}
	function := onFunctions{perFunction{func(_ *pass.Context, f *ir.Op) error { got = append(got, f.Attr(ir.SymbolName).String()); return nil }}, pass.Info{Name: "function", Anchor: "func.func"}}
	anchored := onModule{say("anchored")}
	if err := (&pass.Driver{Workers: 1}).Run(background(read(t, two)), pass.Pipeline{say("c", say("b", say("a")), function, anchored)}); err != nil {
		t.Fatal(err)
	}
	if want := `a b "a" "b" anchored c`; strings.Join(got, " ") != want {
		t.Errorf("ran %v, want %s", got, want)
	}
	for _, n := range []int{100, 101} {
		p := say("0")
		for i := range n - 1 {
			p = say(fmt.Sprint(i+1), p)
		}
		err := (&pass.Driver{}).Run(background(read(t, two)), pass.Pipeline{p})
		if n == 100 && err != nil || n == 101 && (err == nil || err.Error() != `pass "0" requires itself through other passes`) {
			t.Errorf("%d passes: %v", n, err)
		}
	}
	var many []pass.Pass
	for i := range 150 {
		many = append(many, say(fmt.Sprint("many", i)))
	}
	if err := (&pass.Driver{}).Run(background(read(t, two)), pass.Pipeline{say("wide", many...)}); err != nil {
		t.Error(err)
	}
	fails := module{&pass.Info{Name: "fails"}, func(*pass.Context, *ir.Module) error { return errors.New("no") }}
	err := (&pass.Driver{}).Run(background(read(t, two)), pass.Pipeline{say("x", fails)})
	var failed *pass.Error
	if !errors.As(err, &failed) || failed.Pass != "fails" {
		t.Errorf("error is %v", err)
	}
	plain := &pass.State{Name: "calm", By: say("calm-down"), Check: func(*ir.Module) error { return errors.New("it is not") }}
	calm := &pass.State{Name: "calm", By: say("calm-down"), Check: func(*ir.Module) error { return nil }}
	needs := func(s *pass.State) pass.Pipeline {
		return pass.Pipeline{module{&pass.Info{Name: "needs", Requires: []pass.Requirement{s}}, nothing}}
	}
	if err := (&pass.Driver{}).Run(background(read(t, two)), needs(plain)); err == nil || err.Error() != `pass "needs" requires calm: run calm-down first: it is not` {
		t.Errorf("error is %v", err)
	}
	if err := (&pass.Driver{}).Run(background(read(t, two)), needs(calm)); err != nil {
		t.Error(err)
	}
}

// onModule is a module pass that names the module as its anchor.
type onModule struct{ module }

func (p onModule) Info() *pass.Info { return &pass.Info{Name: "anchored", Anchor: ir.ModuleName} }

// group is a group that cannot expand.
type group struct{}

func (group) Info() *pass.Info { return &pass.Info{Name: "group"} }
func (group) Expand() ([]pass.Pass, error) {
	return []pass.Pass{module{info: &pass.Info{Name: "x"}}}, errors.New("no passes")
}

// TestGroup: a group reports that it cannot expand, when it is read and when it runs.
func TestGroup(t *testing.T) {
	if err := (&pass.Driver{}).Run(background(read(t, two)), pass.Pipeline{group{}}); err == nil || err.Error() != "no passes" {
		t.Errorf("error is %v", err)
	}
	if err := (&pass.Driver{}).Run(background(read(t, two)), pass.Pipeline{pass.On("func.func", group{})}); err == nil || err.Error() != "no passes" {
		t.Errorf("error is %v", err)
	}
	if _, err := pass.Parse("group", table(t, group{})); err == nil || err.Error() != "pipeline:1: error: no passes" {
		t.Errorf("error is %v", err)
	}
}

// TestInner: a pass runs other passes on an op, which count as its own work and verify nothing.
func TestInner(t *testing.T) {
	var rules []string
	inner := pass.Patterns{About: &pass.Info{Name: "inner"}, List: []*rewrite.Pattern{mark("one")}}
	erase := onFunctions{perFunction{func(_ *pass.Context, f *ir.Op) error { f.Erase(); return nil }}, pass.Info{Name: "erase", Anchor: "func.func"}}
	late := onFunctions{perFunction{func(*pass.Context, *ir.Op) error { t.Error("a pass runs on an erased op"); return nil }}, pass.Info{Name: "late", Anchor: "func.func"}}
	outer := module{&pass.Info{Name: "outer"}, func(ctx *pass.Context, m *ir.Module) error {
		f := m.Body().First()
		if err := ctx.Run(f, []pass.Pass{inner}); err != nil {
			return err
		}
		return ctx.Run(m.Body().Last(), []pass.Pass{erase, late})
	}}
	verified := 0
	d := &pass.Driver{Verify: func(context.Context, *ir.Module) error { verified++; return nil }, Instruments: []pass.Instrument{
		{Rule: func(s pass.Step, rule string, op *ir.Op) {
			rules = append(rules, s.Pass.Info().Name+" "+rule+" "+op.Name())
		}},
	}}
	m := read(t, "func.func @a(%x: tensor<f32>) { %0 = stablehlo.abs %x : tensor<f32> return } func.func @b() { return }")
	if err := d.Run(background(m), pass.Pipeline{outer}); err != nil {
		t.Fatal(err)
	}
	if verified != 1 || !slices.Equal(rules, []string{"outer one builtin.module"}) || m.Body().First() != m.Body().Last() {
		t.Errorf("verified %d times, rules %v\n%s", verified, rules, print.String(m, print.Options{}))
	}
}

// mark is a pattern that adds an attribute with the pattern's name to each stablehlo.abs without it.
func mark(name string) *rewrite.Pattern {
	return &rewrite.Pattern{Name: name, Rows: []*ir.Def{stablehlo.Abs}, Rewrite: func(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
		if op.Attr("t."+name) != nil {
			return false, nil
		}
		r.Update(op, func() { op.SetAttr("t."+name, ir.NewString("x")) })
		return true, nil
	}}
}

// TestRules: the options of a pass with patterns select rules, and each application is counted and watched.
func TestRules(t *testing.T) {
	const text = "func.func @a(%x: tensor<f32>) -> tensor<f32> { %0 = stablehlo.abs %x : tensor<f32> return %0 : tensor<f32> }"
	for _, tt := range []struct{ options, want, watched string }{
		{"", "rule one 1, rule two 1, ops changed 2", "one two"},
		{"{enable-patterns=one}", "rule one 1, ops changed 1", "one"},
		{"{enable-patterns=two,one}", "rule one 1, rule two 1, ops changed 2", "one two"},
		{"{disable-patterns=one}", "rule two 1, ops changed 1", "two"},
		{"{enable-patterns=one disable-patterns=one}", "", ""},
		{"{disable-patterns=one,two}", "", ""},
		{"{enable-patterns=fold-arith.addi}", "", ""},
		{"{enable-patterns=constants-last}", "", ""},
		{"{enable-patterns=thre}", `no rule is named "thre"; did you mean three?`, ""},
		{"{disable-patterns=fold-arith.addd}", `no rule is named "fold-arith.addd"; did you mean fold-arith.addi?`, ""},
		{"{disable-patterns=fold-stablehlo.custom_call}", `no rule is named "fold-stablehlo.custom_call"; there are: constants-last, one, two, three, fold-`, ""},
	} {
		tab := table(t, pass.Patterns{About: &pass.Info{Name: "mark"}, List: []*rewrite.Pattern{mark("one"), mark("two"), {Name: "three", Rows: []*ir.Def{stablehlo.Cosine}}}})
		p, err := pass.Parse("mark"+tt.options, tab)
		if err != nil {
			t.Fatal(err)
		}
		var counts, watched []string
		d := &pass.Driver{Workers: 1, Instruments: []pass.Instrument{{
			After: func(_ pass.Step, o pass.Outcome) {
				for _, c := range o.Counts {
					counts = append(counts, fmt.Sprintf("%s %d", c.Name, c.N))
				}
			},
			Rule: func(_ pass.Step, rule string, _ *ir.Op) { watched = append(watched, rule) },
		}}}
		got := ""
		if err := d.Run(background(read(t, text)), p); err != nil {
			got = err.Error()
		} else {
			got = strings.Join(counts, ", ")
		}
		if got != tt.want && (!strings.HasSuffix(tt.want, "-") || !strings.HasPrefix(got, tt.want)) || strings.Join(watched, " ") != tt.watched {
			t.Errorf("mark%s: %s; watched %v, want %s; %s", tt.options, got, watched, tt.want, tt.watched)
		}
	}
	ctx := background(read(t, text))
	ctx.Changes(rewrite.Statistics{Created: 1, Changed: 2, Moved: 3, Erased: 4})
	stopped, stop := context.WithCancel(context.Background())
	stop()
	p := pass.Patterns{About: &pass.Info{Name: "mark"}, List: []*rewrite.Pattern{mark("one")}}
	m := read(t, text)
	if err := p.Run(pass.NewContext(stopped, m), m.Op()); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context the error is %v", err)
	}
}

// TestStatistics: each number of changes has its name.
func TestStatistics(t *testing.T) {
	change := module{&pass.Info{Name: "change"}, func(ctx *pass.Context, _ *ir.Module) error {
		ctx.Changes(rewrite.Statistics{Created: 1, Changed: 2, Moved: 3, Erased: 4})
		ctx.Applied("r")
		return nil
	}}
	var got []pass.Count
	d := &pass.Driver{Instruments: []pass.Instrument{{After: func(_ pass.Step, o pass.Outcome) { got = o.Counts }}}}
	if err := d.Run(background(read(t, two)), pass.Pipeline{change}); err != nil {
		t.Fatal(err)
	}
	if want := "[{ops created 1} {ops changed 2} {ops moved 3} {ops erased 4} {rule r 1}]"; fmt.Sprint(got) != want {
		t.Errorf("counts are %v, want %s", got, want)
	}
}

// TestInvalidation: a change on a function drops the analyses of this function, of the ops in it and of the ops around
// it, and no others.
func TestInvalidation(t *testing.T) {
	m := read(t, "module { module @m { func.func @a() { return } func.func @b() { return } } }")
	inner := m.Body().First()
	a := inner.Region(0).Entry().First()
	b := a.Next()
	ops := []*ir.Op{m.Op(), inner, a, a.Region(0).Entry().First(), b}
	computed := 0
	facts := &pass.Analysis[int]{Name: "facts", Compute: func(*ir.Op) (int, error) { computed++; return 0, nil }}
	kept := &pass.Analysis[int]{Name: "kept", Compute: func(*ir.Op) (int, error) { computed++; return 0, nil }}
	fails := &pass.Analysis[int]{Name: "fails", Compute: func(*ir.Op) (int, error) { computed++; return 0, errors.New("no") }}
	ctx := background(m)
	ask := func(k *pass.Analysis[int]) string {
		var out []string
		for i, op := range ops {
			before := computed
			_, _ = k.Of(ctx.On(op))
			if computed > before {
				out = append(out, fmt.Sprint(i))
			}
		}
		return strings.Join(out, " ")
	}
	change := func(which string) {
		p := onFunctions{perFunction{func(_ *pass.Context, f *ir.Op) error {
			if f.Attr(ir.SymbolName).String() == which {
				f.SetAttr("t.x", ir.NewString(fmt.Sprint(computed)))
			}
			return nil
		}}, pass.Info{Name: "change", Anchor: "func.func", Preserves: []pass.AnalysisKey{kept}}}
		err := (&pass.Driver{Workers: 1}).Run(ctx.On(m.Op()), pass.Pipeline{pass.On("builtin.module", pass.On("func.func", p))})
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := ask(facts); got != "0 1 2 3 4" {
		t.Errorf("first computed for %s", got)
	}
	ask(kept)
	if got := ask(facts) + ask(kept); got != "" {
		t.Errorf("computed again for %s", got)
	}
	change(`"none"`)
	if got := ask(facts); got != "" {
		t.Errorf("computed again without a change for %s", got)
	}
	change(`"a"`) // the step runs on both functions
	if got := ask(facts) + ";" + ask(kept); got != "0 1 2 3 4;" {
		t.Errorf("computed again for %s after a change", got)
	}
	whole := module{&pass.Info{Name: "whole"}, func(_ *pass.Context, m *ir.Module) error { m.Op().SetAttr("t.y", ir.NewString("x")); return nil }}
	if err := (&pass.Driver{}).Run(ctx, pass.Pipeline{whole}); err != nil {
		t.Fatal(err)
	}
	if got := ask(facts) + ";" + ask(kept); got != "0 1 2 3 4;0 1 2 3 4" {
		t.Errorf("computed again for %s after a change of the module", got)
	}
	if got := ask(fails) + ";" + ask(fails); got != "0 1 2 3 4;0 1 2 3 4" {
		t.Errorf("what failed is computed again for %s", got)
	}
}

// TestPanicIn: a panic with a finding keeps its place; an op without a place gets the start of the file.
func TestPanicIn(t *testing.T) {
	m := read(t, two)
	finds := module{&pass.Info{Name: "finds"}, func(_ *pass.Context, m *ir.Module) error {
		panic(m.Errorf(m.Body().Last(), "not like this"))
	}}
	err := (&pass.Driver{}).Run(background(m), pass.Pipeline{finds})
	var d *diag.Diagnostic
	if !errors.As(err, &d) || d.Message != "not like this" || len(d.Notes) != 1 || d.Notes[0].Message != "pass 'finds'" {
		t.Errorf("error is %v", err)
	}
}
