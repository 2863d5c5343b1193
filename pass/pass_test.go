package pass_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/print"
)

// level is an option of an enumerated type.
type level uint8

func (l level) MarshalText() ([]byte, error) { return []byte([]string{"low", "high"}[l]), nil }

func (l *level) UnmarshalText(b []byte) error {
	switch string(b) {
	case "low", "high":
		*l = level(len(b) - 3)
		return nil
	}
	return fmt.Errorf("expected low or high, but got %q", b)
}

// options is a pass with an option of every kind.
type options struct {
	Level level            `pass:"level" doc:"how much"`
	Name  string           `pass:"name" default:"main" doc:"of a function"`
	Limit pass.Opt[int]    `pass:"limit" default:"16" doc:"how often"`
	Ratio float64          `pass:"ratio" doc:"how far"`
	Fast  bool             `pass:"fast" doc:"hurry"`
	Names []string         `pass:"names" doc:"a list"`
	Cache pass.Opt[bool]   `pass:"cache" default:"true" doc:"remember"`
	Tail  pass.Opt[string] `pass:"tail" default:"end" doc:"what follows"`

	_ int // not an option
}

func (options) Info() *pass.Info                        { return &pass.Info{Name: "options", Aliases: []string{"opts"}} }
func (options) Run(_ *pass.Context, _ *ir.Module) error { return nil }

// perFunction is a pass over functions that runs a function.
type perFunction struct {
	run func(ctx *pass.Context, f *ir.Op) error
}

func (perFunction) Info() *pass.Info {
	return &pass.Info{Name: "per-function", Anchor: "func.func"}
}
func (p perFunction) Run(ctx *pass.Context, f *ir.Op) error { return p.run(ctx, f) }

// separable is a pass over any op that runs a function.
type separable struct {
	apart bool
	run   func(ctx *pass.Context, op *ir.Op) error
}

func (separable) Info() *pass.Info                         { return &pass.Info{Name: "separable"} }
func (p separable) Run(ctx *pass.Context, op *ir.Op) error { return p.run(ctx, op) }
func (p separable) Separable() bool                        { return p.apart }

// module is a pass over modules that runs a function.
type module struct {
	info *pass.Info
	run  func(ctx *pass.Context, m *ir.Module) error
}

func (p module) Info() *pass.Info                          { return p.info }
func (p module) Run(ctx *pass.Context, m *ir.Module) error { return p.run(ctx, m) }

// both is a group of passes.
type both struct{ passes []pass.Pass }

func (both) Info() *pass.Info               { return &pass.Info{Name: "both"} }
func (p both) Expand() ([]pass.Pass, error) { return p.passes, nil }

func table(t *testing.T, passes ...pass.Pass) *pass.Table {
	t.Helper()
	out, err := pass.NewTable(passes...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t *testing.T, text string) *ir.Module {
	t.Helper()
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	m, err := parse.Parse(diag.NewSource("in.mlir", []byte(text)), ir.NewContext(reg), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const two = `func.func @a() {
  return
}
func.func @b() {
  return
}`

// TestText: a pipeline that was read or built prints as text that reads as the same pipeline.
func TestText(t *testing.T) {
	tab := table(t, options{}, perFunction{})
	for _, c := range []struct{ in, out string }{
		{"", "builtin.module()"},
		{"options", "builtin.module(options)"},
		{" builtin.module( options { level=high\tlimit=3 } , func.func( per-function,per-function ) ) ", "builtin.module(options{level=high limit=3},func.func(per-function,per-function))"},
		{"options{level=low name=main limit=16}", "builtin.module(options)"},
		{"options{fast names={a,b} ratio=0.5 name=\"two words\"}", "builtin.module(options{name={two words} ratio=0.5 fast=true names=a,b})"},
		{"opts{cache=false}", "builtin.module(options{cache=false})"},
		{"opts{cache=true limit=16 tail=end}", "builtin.module(options)"},
		{"opts{limit=0 tail= names= cache=false ratio=0}", "builtin.module(options{limit=0 cache=false tail={}})"},
		{"opts{ limit=-1   tail={} }", "builtin.module(options{limit=-1 tail={}})"},
		{"options{names=tensor<2xf32,#a<1,2>>,b}", "builtin.module(options{names={tensor<2xf32,#a<1,2>>,b}})"},
		{"func.func(per-function),func.func()", "builtin.module(func.func(per-function),func.func())"},
	} {
		p, err := pass.Parse(c.in, tab)
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		if p.String() != c.out {
			t.Errorf("%q prints as %q, expected %q", c.in, p, c.out)
		}
		again, err := pass.Parse(p.String(), tab)
		if err != nil || again.String() != p.String() {
			t.Errorf("%q reads back as %q, %v", p, again, err)
		}
	}
	built := pass.Pipeline{options{Level: 1, Names: []string{"x"}}, pass.On("func.func", perFunction{})}
	if want := "builtin.module(options{level=high names=x},func.func(per-function))"; built.String() != want {
		t.Errorf("a pipeline built in Go prints as %q, expected %q", built, want)
	}
}

// TestBadText: errors name the column and suggest names.
func TestBadText(t *testing.T) {
	tab := table(t, options{}, perFunction{}, module{info: &pass.Info{Name: "whole"}})
	for in, want := range map[string]string{
		"optoins":                         `pipeline:1: error: unknown pass "optoins"; did you mean options?`,
		"whole, zzz":                      `pipeline:8: error: unknown pass "zzz"; there are: options, per-function, whole`,
		"options{levle=high}":             `pipeline:9: error: pass "options" has no option "levle"; did you mean level?`,
		"options{level=mid}":              `pipeline:9: error: option "level" of pass "options": expected low or high, but got "mid"`,
		"options{limit=many}":             `pipeline:9: error: option "limit" of pass "options": expected a number, but got "many"`,
		"options{fast=perhaps}":           `pipeline:9: error: option "fast" of pass "options": expected true or false, but got "perhaps"`,
		"options{name=}":                  `pipeline:9: error: option "name" of pass "options": expected a value; the default is main`,
		"opst":                            `pipeline:1: error: unknown pass "opst"; did you mean opts?`,
		"options{limit=1 limit=2}":        `pipeline:17: error: option "limit" is given twice`,
		"options{limit=1":                 `pipeline:15: error: expected '}' after the options`,
		"options{=1}":                     `pipeline:9: error: expected the name of an option or '}'`,
		"options,":                        `pipeline:9: error: expected the name of a pass`,
		"options)":                        `pipeline:8: error: expected ',' or the end of the pipeline, but got ")"`,
		"builtin.module(options":          `pipeline:23: error: expected ')'`,
		"per-function":                    `pipeline:1: error: pass "per-function" runs on func.func, not on builtin.module; write func.func(per-function)`,
		"func.func(whole)":                `pipeline:11: error: pass "whole" runs on builtin.module and cannot be nested in func.func`,
		"options(whole)":                  `pipeline:1: error: expected the name of an op, such as func.func, before '(', but got "options"`,
		"options{name='a}":                `pipeline:14: error: quote is not closed`,
		strings.Repeat("func.func(", 101): `pipeline:1001: error: passes are nested too deeply`,
	} {
		if _, err := pass.Parse(in, tab); err == nil || err.Error() != want {
			t.Errorf("%q: error is\n%v, expected\n%s", in, err, want)
		}
	}
}

// TestNested: a pass on functions gets one function at a time, all functions before the next pass.
func TestNested(t *testing.T) {
	var got []string
	var mu sync.Mutex
	step := func(name string) pass.Pass {
		return perFunction{func(_ *pass.Context, f *ir.Op) error {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, name+" "+f.Attr(ir.SymbolName).String())
			return nil
		}}
	}
	m := read(t, two)
	p := pass.Pipeline{pass.On("func.func", step("first"), step("second"))}
	if err := (&pass.Driver{}).Run(pass.NewContext(context.Background(), m), p); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got[:2])
	slices.Sort(got[2:])
	if want := []string{`first "a"`, `first "b"`, `second "a"`, `second "b"`}; !slices.Equal(got, want) {
		t.Errorf("ran %q, expected %q", got, want)
	}
	loop := read(t, "func.func @a(%x: tensor<i1>) {\n  \"stablehlo.while\"(%x) ({\n  ^bb0(%c: tensor<i1>):\n    stablehlo.return %c : tensor<i1>\n  }, {\n  "+
		"^bb0(%c: tensor<i1>):\n    stablehlo.return %c : tensor<i1>\n  }) : (tensor<i1>) -> tensor<i1>\n  return\n}")
	any := module{info: &pass.Info{Name: "any"}}
	err := (&pass.Driver{}).Run(pass.NewContext(context.Background(), loop), pass.Pipeline{pass.On("func.func", pass.On("stablehlo.while", any))})
	if want := "in.mlir:2:3: error: passes cannot run on 'stablehlo.while': its regions use values from outside"; err == nil || err.Error() != want {
		t.Errorf("error is %v, expected %s", err, want)
	}
}

// TestParallel: functions are changed at the same time, findings and statistics are in program order, and the errors of
// several functions are one list. The race detector checks the rest.
func TestParallel(t *testing.T) {
	const n = 200
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "func.func @f%03d(%%x: tensor<4xf32>) -> tensor<4xf32> {\n  %%0 = stablehlo.add %%x, %%x : tensor<4xf32>\n  return %%0 : tensor<4xf32>\n}\n", i)
	}
	size := &pass.Analysis[int]{Name: "size", Compute: func(op *ir.Op) (int, error) {
		n := 0
		op.Walk(func(*ir.Op) bool { n++; return true })
		return n, nil
	}}
	double := perFunction{func(ctx *pass.Context, f *ir.Op) error {
		before, err := size.Of(ctx)
		if err != nil {
			return err
		}
		m := ctx.Module()
		add := f.Region(0).Entry().First()
		st := &ir.OpState{Def: add.Def(), Operands: add.OperandList(), Types: []ir.Type{add.Result(0).Type()}}
		twice := m.After(add).Insert(st)
		add.Result(0).ReplaceAllUsesWith(twice.Result(0))
		ctx.Emit(m.Errorf(f, "%d ops", before))
		ctx.Count("ops made", 1)
		if strings.HasSuffix(f.Attr(ir.SymbolName).String(), `9"`) {
			return m.Errorf(f, "ends in nine")
		}
		return nil
	}}
	run := func(workers int) (string, string, []pass.Count, error) {
		m := read(t, text.String())
		ctx := pass.NewContext(context.Background(), m)
		var said strings.Builder
		ctx.Report = func(d *diag.Diagnostic) { fmt.Fprintln(&said, d) }
		var counts []pass.Count
		d := &pass.Driver{Verify: ir.VerifyContext, Workers: workers, Instruments: []pass.Instrument{{After: func(_ pass.Step, o pass.Outcome) { counts = o.Counts }}}}
		err := d.Run(ctx, pass.Pipeline{pass.On("func.func", double)})
		return print.String(m, print.Options{}), said.String(), counts, err
	}
	text1, said1, counts1, err1 := run(1)
	text8, said8, counts8, err8 := run(8)
	if text1 != text8 || said1 != said8 || !slices.Equal(counts1, counts8) || fmt.Sprint(err1) != fmt.Sprint(err8) {
		t.Errorf("8 workers differ from 1:\n%s\n%s\n%v %v\n%v\n%v", said1, said8, counts1, counts8, err1, err8)
	}
	var list diag.List
	if !errors.As(err8, &list) || len(list) != n/10 || strings.Count(text8, "stablehlo.add") != 2*n || len(counts8) != 1 || counts8[0].N != n {
		t.Errorf("%d errors, counts %v", len(list), counts8)
	}
}

// TestSeparable: a separable pass runs on the functions of a module, in order with one worker, or else on the module.
// An instrument sees one step on the module either way.
func TestSeparable(t *testing.T) {
	const global = "\"t.global\"() : () -> ()\n"
	for _, tt := range []struct {
		text  string
		apart bool
		want  string
	}{
		{two, true, "@a @b"},
		{two, false, "builtin.module"},
		{two + "\n" + global, true, "builtin.module"},
		{"", true, "builtin.module"},
	} {
		var seen, steps []string
		p := separable{tt.apart, func(ctx *pass.Context, op *ir.Op) error {
			if name := op.Attr(ir.SymbolName); name != nil {
				seen = append(seen, "@"+name.(*ir.StringAttr).Value())
			} else {
				seen = append(seen, op.Name())
			}
			return nil
		}}
		d := &pass.Driver{Workers: 1, Instruments: []pass.Instrument{{Before: func(s pass.Step) {
			for _, op := range s.Ops {
				steps = append(steps, op.Name())
			}
		}}}}
		if err := d.Run(pass.NewContext(context.Background(), read(t, tt.text)), pass.Pipeline{p}); err != nil {
			t.Fatal(err)
		}
		if strings.Join(seen, " ") != tt.want || strings.Join(steps, " ") != "builtin.module" {
			t.Errorf("%q, separable %v: ran on %v in steps on %v, want %s", tt.text, tt.apart, seen, steps, tt.want)
		}
	}
}

// TestFirst: the driver runs a required pass unless it ran since the last change.
func TestFirst(t *testing.T) {
	var got []string
	say := func(name string) module {
		return module{&pass.Info{Name: name}, func(_ *pass.Context, m *ir.Module) error {
			got = append(got, name)
			if name == "change" {
				m.Op().SetAttr("my.mark", ir.NewString("x"))
			}
			return nil
		}}
	}
	a, quiet, change := say("a"), say("quiet"), say("change")
	needs := say("needs")
	needs.info.Requires = []pass.Requirement{pass.First(a)}
	circle := say("circle")
	circle.info.Requires = []pass.Requirement{pass.First(circle)}
	if err := (&pass.Driver{}).Run(pass.NewContext(context.Background(), read(t, two)), pass.Pipeline{needs, quiet, needs, change, needs}); err != nil {
		t.Fatal(err)
	}
	if want := "a needs quiet needs change a needs"; strings.Join(got, " ") != want {
		t.Errorf("ran %v, expected %s", got, want)
	}
	err := (&pass.Driver{}).Run(pass.NewContext(context.Background(), read(t, two)), pass.Pipeline{circle})
	if want := `pass "circle" requires itself through other passes`; err == nil || err.Error() != want {
		t.Errorf("error is %v, expected %s", err, want)
	}
}

// counted is a pass with a field beside its option.
type counted struct {
	By *int
	N  int `pass:"n"`
}

func (counted) Info() *pass.Info { return &pass.Info{Name: "counted"} }

func (c counted) Run(*pass.Context, *ir.Module) error { *c.By++; return nil }

// TestFirstFields: a pass that ran with another value of a field, or of an option, is not the pass that is required.
func TestFirstFields(t *testing.T) {
	var x, y int
	needs := module{&pass.Info{Name: "needs", Requires: []pass.Requirement{pass.First(counted{By: &x, N: 1})}}, func(*pass.Context, *ir.Module) error { return nil }}
	run := func(p ...pass.Pass) {
		t.Helper()
		if err := (&pass.Driver{}).Run(pass.NewContext(t.Context(), read(t, two)), p); err != nil {
			t.Fatal(err)
		}
	}
	run(counted{By: &y, N: 1}, needs)
	run(counted{By: &x}, needs)
	if x != 3 || y != 1 {
		t.Errorf("the required pass ran %d times and the other %d times, want 3 and 1", x, y)
	}
	run(counted{By: &x, N: 1}, needs, needs)
	if x != 4 {
		t.Errorf("the required pass ran %d times, want 4", x)
	}
}

type badBool struct {
	X bool `pass:"x" default:"true"`
}
type badDefault struct {
	X pass.Opt[int] `pass:"x" default:"a"`
}

func (badBool) Info() *pass.Info    { return &pass.Info{Name: "bad"} }
func (badDefault) Info() *pass.Info { return &pass.Info{Name: "bad"} }

// TestBadOptions: a table refuses passes that declare options wrongly.
func TestBadOptions(t *testing.T) {
	for want, p := range map[string]pass.Pass{
		`pass "bad": option "x": a bool whose default is not false is a pass.Opt[bool]`: badBool{},
		`pass "bad": option "x": default: expected a number, but got "a"`:               badDefault{},
	} {
		if _, err := pass.NewTable(p); err == nil || err.Error() != want {
			t.Errorf("error is %v, expected %s", err, want)
		}
	}
	if _, err := pass.NewTable(options{}, module{info: &pass.Info{Name: "opts"}}); err == nil || err.Error() != `pass "opts" is listed twice` {
		t.Errorf("error is %v", err)
	}
}

// TestDefaults: zero fields of a pass built in Go mean the defaults.
func TestDefaults(t *testing.T) {
	if got := pass.Defaults(options{}); got.Limit.Get() != 16 || got.Name != "main" || !got.Cache.Get() {
		t.Errorf("defaults are %+v", got)
	}
	if got := pass.Defaults(options{Limit: pass.Set(0), Name: "f", Tail: pass.Set("")}); got.Limit.Get() != 0 || got.Name != "f" || got.Tail.Get() != "" {
		t.Errorf("defaults replace what is set: %+v", got)
	}
}

// TestQuoting: every string survives the text of a pipeline.
func TestQuoting(t *testing.T) {
	tab := table(t, options{})
	for _, s := range []string{"a", "two words", "{a}", "{a}{b}", "a}b", "{", `"`, "'", `a"b'c\\`, `\`, "tensor<?xf32>", "(f32) -> f32", "a=b,c", "<", "->", "<->"} {
		p := pass.Pipeline{options{Name: s}}
		again, err := pass.Parse(p.String(), tab)
		if err != nil || again[0].(options).Name != s {
			t.Errorf("%q prints as %s and reads as %+v, %v", s, p, again, err)
		}
	}
}

// TestListQuoting: every list of strings survives the text of a pipeline.
func TestListQuoting(t *testing.T) {
	tab := table(t, options{})
	rng := rand.New(rand.NewPCG(1, 1))
	for range 3000 {
		list := make([]string, rng.IntN(4))
		for i := range list {
			for range rng.IntN(5) {
				list[i] += string("ab,, \"'{}()<>[]\\-=\t"[rng.IntN(19)])
			}
		}
		p := pass.Pipeline{options{Names: list, Name: cmp.Or(strings.Join(list, ""), "main")}}
		again, err := pass.Parse(p.String(), tab)
		if err != nil || !slices.Equal(again[0].(options).Names, list) || list != nil && again[0].(options).Name != p[0].(options).Name && p[0].(options).Name != "main" {
			t.Fatalf("%q prints as %s and reads as %+v, %v", list, p, again, err)
		}
	}
	for in, want := range map[string][]string{`"a,b"`: {"a", "b"}, `{"a,b"}`: {"a,b"}, `'"a,b"'`: {"a,b"}, `{"a,b", c}`: {"a,b", "c"}, "a,b": {"a", "b"}} {
		p, err := pass.Parse("options{names="+in+"}", tab)
		if err != nil || !slices.Equal(p[0].(options).Names, want) {
			t.Errorf("%s reads as %+v, %v", in, p, err)
		}
	}
}

// TestFirstErases: a pass does not run on ops that a pass it requires erased.
func TestFirstErases(t *testing.T) {
	erase := module{&pass.Info{Name: "erase"}, func(_ *pass.Context, m *ir.Module) error {
		m.Body().First().Erase()
		return nil
	}}
	for text, want := range map[string]int{two: 1, "func.func @a() {\n  return\n}": 0} {
		ran := 0
		p := required{perFunction{func(_ *pass.Context, f *ir.Op) error {
			ran++
			if f.Erased() {
				t.Error("a pass runs on an op that is erased")
			}
			return nil
		}}, []pass.Requirement{pass.First(erase)}}
		for _, p := range []pass.Pass{p, both{[]pass.Pass{p}}} {
			ran = 0
			m := read(t, text)
			if err := (&pass.Driver{Workers: 1}).Run(pass.NewContext(t.Context(), m), pass.Pipeline{pass.On("func.func", p)}); err != nil || ran != want {
				t.Errorf("ran %d times, expected %d, %v", ran, want, err)
			}
		}
	}
}

// required is a perFunction with requirements.
type required struct {
	perFunction
	requires []pass.Requirement
}

func (r required) Info() *pass.Info {
	return &pass.Info{Name: "required", Anchor: "func.func", Requires: r.requires}
}

// TestPanic: a panic in a pass is an error at the op that names the pass.
func TestPanic(t *testing.T) {
	m := read(t, two)
	p := pass.Pipeline{pass.On("func.func", perFunction{func(_ *pass.Context, f *ir.Op) error {
		if f.Next() == nil {
			panic("lost")
		}
		return nil
	}})}
	err := (&pass.Driver{}).Run(pass.NewContext(context.Background(), m), p)
	if want := "in.mlir:4:1: error: pass 'per-function' failed: lost"; err == nil || err.Error() != want {
		t.Errorf("error is %v, expected %s", err, want)
	}
	whole := module{&pass.Info{Name: "whole"}, func(*pass.Context, *ir.Module) error { panic("gone") }}
	first := (&pass.Driver{}).Run(pass.NewContext(context.Background(), m), pass.Pipeline{whole})
	if want := "in.mlir:1:1: error: pass 'whole' failed: gone"; first == nil || first.Error() != want {
		t.Errorf("error is %v, expected %s", first, want)
	}
	var failed *pass.Error
	if !errors.As(err, &failed) || failed.Pass != "per-function" || len(failed.Stack) == 0 {
		t.Errorf("error is %#v", err)
	}
}

// TestStates: the driver refuses to run a pass on a module that is not in the states it requires.
func TestStates(t *testing.T) {
	by := func(name string) pass.Pass { return module{info: &pass.Info{Name: name}} }
	tidy := &pass.State{Name: "a tidy module", By: by("tidy")}
	checked := &pass.State{Name: "a checked module", By: by("check"), Check: func(m *ir.Module) error { return m.Errorf(m.Op(), "it is not") }}
	set := func(name string, s *pass.State, holds bool) pass.Pass {
		return module{&pass.Info{Name: name}, func(c *pass.Context, _ *ir.Module) error { c.Set(s, holds); return nil }}
	}
	need := func(s *pass.State) pass.Pass {
		return module{&pass.Info{Name: "need", Requires: []pass.Requirement{s}}, func(*pass.Context, *ir.Module) error { return nil }}
	}
	once := module{&pass.Info{Name: "once", Excludes: []*pass.State{tidy}}, func(*pass.Context, *ir.Module) error { return nil }}
	for _, c := range []struct {
		passes pass.Pipeline
		want   string
	}{
		{pass.Pipeline{set("tidy", tidy, true), need(tidy)}, ""},
		{pass.Pipeline{need(tidy)}, `pass "need" requires a tidy module: run tidy first`},
		{pass.Pipeline{set("tidy", tidy, true), set("mess", tidy, false), need(tidy)}, `pass "need" requires a tidy module: run tidy first`},
		{pass.Pipeline{need(checked)}, "in.mlir: error: it is not\nnote: pass 'need' requires a checked module: run check first"},
		{pass.Pipeline{set("check", checked, true), need(checked)}, ""},
		{pass.Pipeline{once, set("tidy", tidy, true)}, ""},
		{pass.Pipeline{set("tidy", tidy, true), once}, `pass "once" cannot run on a module with a tidy module: tidy ran already`},
		{pass.Pipeline{both{[]pass.Pass{set("tidy", tidy, true), need(tidy)}}}, ""},
	} {
		err := (&pass.Driver{}).Run(pass.NewContext(context.Background(), read(t, two)), c.passes)
		got := fmt.Sprint(err)
		var d *diag.Diagnostic
		if errors.As(err, &d) {
			for _, n := range d.Notes {
				got += "\nnote: " + n.Message
			}
		}
		if got != c.want && !(err == nil && c.want == "") {
			t.Errorf("%v: error is\n%s, expected\n%s", c.passes, got, c.want)
		}
	}
}

// TestCallGraph: passes share the call graph until one of them changes the module, and a pass on a function gets none.
func TestCallGraph(t *testing.T) {
	var graphs []*flow.Graph
	look := func(change bool) pass.Pass {
		return module{&pass.Info{Name: "look"}, func(c *pass.Context, m *ir.Module) error {
			g, err := pass.CallGraph.Of(c)
			graphs = append(graphs, g)
			if change {
				m.Op().SetAttr("my.mark", ir.NewString("x"))
			}
			return err
		}}
	}
	m := read(t, two)
	if err := (&pass.Driver{}).Run(pass.NewContext(t.Context(), m), pass.Pipeline{look(false), look(true), look(false)}); err != nil {
		t.Fatal(err)
	}
	if len(graphs) != 3 || graphs[0] != graphs[1] || graphs[1] == graphs[2] || len(graphs[0].Functions()) != 2 {
		t.Errorf("the graphs are %v", graphs)
	}
	err := (&pass.Driver{}).Run(pass.NewContext(t.Context(), m), pass.Pipeline{pass.On("func.func", perFunction{func(c *pass.Context, _ *ir.Op) error {
		_, err := pass.CallGraph.Of(c)
		return err
	}})})
	if want := "the call graph is that of a module; a pass on one function must not read the others"; err == nil || err.Error() != want {
		t.Errorf("error is %v, expected %s", err, want)
	}
}

// TestAnalysis: an analysis is computed once until a pass changes the module and does not preserve it.
func TestAnalysis(t *testing.T) {
	computed := 0
	count := &pass.Analysis[int]{Name: "functions", Compute: func(op *ir.Op) (int, error) {
		computed++
		n := 0
		for range op.Region(0).Entry().Ops() {
			n++
		}
		return n, nil
	}}
	found := pass.NewResult[int]("found")
	ask := module{&pass.Info{Name: "ask", ReadOnly: true}, func(c *pass.Context, _ *ir.Module) error {
		n, err := count.Of(c)
		found.Put(c, n)
		return err
	}}
	erase := func(preserves ...pass.AnalysisKey) pass.Pass {
		return module{&pass.Info{Name: "erase", Preserves: preserves}, func(_ *pass.Context, m *ir.Module) error {
			if len(preserves) == 0 {
				m.Body().Last().Erase()
			}
			return nil
		}}
	}
	c := pass.NewContext(context.Background(), read(t, two))
	if _, ok := found.Get(c); ok {
		t.Error("a result is there before a pass stored one")
	}
	p := pass.Pipeline{ask, ask, erase(count), ask, erase(), ask}
	if err := (&pass.Driver{}).Run(c, p); err != nil {
		t.Fatal(err)
	}
	if n, ok := found.Get(c); !ok || n != 1 || computed != 2 {
		t.Errorf("found %d, %v after computing %d times, expected 1 after 2", n, ok, computed)
	}
}

// TestDriver: verification and instruments around passes, in order.
func TestDriver(t *testing.T) {
	var got []string
	say := func(format string, args ...any) { got = append(got, fmt.Sprintf(format, args...)) }
	named := func(name string, readOnly bool) pass.Pass {
		return module{&pass.Info{Name: name, ReadOnly: readOnly}, func(_ *pass.Context, m *ir.Module) error {
			say("run %s", name)
			if !readOnly {
				m.Op().SetAttr("my.mark", ir.NewString(name))
			}
			return nil
		}}
	}
	watch := func(who string) pass.Instrument {
		return pass.Instrument{
			Before: func(s pass.Step) { say("%s before %d %s", who, s.Index, s.Pass.Info().Name) },
			After:  func(s pass.Step, o pass.Outcome) { say("%s after %d %v", who, s.Index, o.Err) },
		}
	}
	p := pass.Pipeline{named("a", false), both{[]pass.Pass{named("b", false), named("c", true)}}}
	for _, c := range []struct {
		result bool
		want   []string
	}{
		{false, []string{"x before 0 a", "y before 0 a", "run a", "y after 0 <nil>", "x after 0 <nil>", "verify",
			"x before 1 b", "y before 1 b", "run b", "y after 1 <nil>", "x after 1 <nil>", "verify",
			"x before 2 c", "y before 2 c", "run c", "y after 2 <nil>", "x after 2 <nil>"}},
		{true, []string{"x before 0 a", "y before 0 a", "run a", "y after 0 <nil>", "x after 0 <nil>",
			"x before 1 b", "y before 1 b", "run b", "y after 1 <nil>", "x after 1 <nil>", "verify",
			"x before 2 c", "y before 2 c", "run c", "y after 2 <nil>", "x after 2 <nil>"}},
	} {
		got = nil
		d := &pass.Driver{Verify: func(context.Context, *ir.Module) error { say("verify"); return nil }, VerifyResult: c.result, Instruments: []pass.Instrument{watch("x"), watch("y")}}
		if err := d.Run(pass.NewContext(context.Background(), read(t, two)), p); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("only the result %v:\n%q, expected\n%q", c.result, got, c.want)
		}
	}
	breaks := module{&pass.Info{Name: "breaks"}, func(_ *pass.Context, m *ir.Module) error {
		m.Body().First().Region(0).Entry().Last().Erase()
		return nil
	}}
	err := (&pass.Driver{Verify: ir.VerifyContext}).Run(pass.NewContext(context.Background(), read(t, two)), pass.Pipeline{breaks})
	if err == nil || !strings.HasSuffix(err.Error(), "note: pass 'breaks' left an invalid module") {
		t.Errorf("error is %v", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if err := (&pass.Driver{}).Run(pass.NewContext(ctx, read(t, two)), p); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, expected that the context ended", err)
	}
}

// TestVerifyEnds: the driver returns the error of its context if the context ends during a verification, and does not
// blame the pass.
func TestVerifyEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	verify := func(ctx context.Context, _ *ir.Module) error {
		cancel()
		return ctx.Err()
	}
	changes := module{&pass.Info{Name: "changes"}, func(_ *pass.Context, m *ir.Module) error {
		m.Op().SetAttr("u.changed", ir.NewUnit())
		return nil
	}}
	err := (&pass.Driver{Verify: verify}).Run(pass.NewContext(ctx, read(t, two)), pass.Pipeline{changes})
	if err != context.Canceled {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
