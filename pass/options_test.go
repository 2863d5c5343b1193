package pass_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// shared are options that several passes embed.
type shared struct {
	Depth int8 `pass:"depth" doc:"how deep"`
}

// kinds is a pass by pointer with options of all types.
type kinds struct {
	shared
	I8    int8              `pass:"i8"`
	U16   uint16            `pass:"u16"`
	F32   float32           `pass:"f32"`
	OptU  pass.Opt[uint8]   `pass:"optu" default:"7"`
	OptF  pass.Opt[float64] `pass:"optf" default:"1.5"`
	OptL  pass.Opt[mode]    `pass:"optl" default:"b"`
	Mode  mode              `pass:"mode" default:"a"`
	Ints  []int             `pass:"ints"`
	Modes []mode            `pass:"modes" default:"a,b"`
	plain int
}

// mode is a text with a list of values.
type mode string

func (mode) Values() []string { return []string{"a", "b"} }

func (*kinds) Info() *pass.Info                        { return &pass.Info{Name: "kinds"} }
func (*kinds) Run(_ *pass.Context, _ *ir.Module) error { return nil }

// TestOptionKinds: each type of option is set from text, refuses other text, and prints.
func TestOptionKinds(t *testing.T) {
	tab := table(t, &kinds{plain: 3})
	for in, want := range map[string]string{
		"depth=-128":                         "",
		"depth=128":                          `expected a number, but got "128"`,
		"i8=127":                             "",
		"i8=-129":                            `expected a number, but got "-129"`,
		"u16=65535":                          "",
		"u16=65536":                          `expected a number from 0, but got "65536"`,
		"u16=-1":                             `expected a number from 0, but got "-1"`,
		"f32=1e+38":                          "",
		"f32=1e39":                           `expected a number, but got "1e39"`,
		"optu=0":                             "",
		"optu=256":                           `expected a number from 0, but got "256"`,
		"optf=0":                             "",
		"optf=x":                             `expected a number, but got "x"`,
		"optl=":                              "optl={}",
		"ints=1,-2,3":                        "",
		"ints={ 1 , 2 }":                     "ints=1,2",
		"ints=1,x":                           `expected a number, but got "x"`,
		"modes=b":                            "",
		"depth=1 i8=2 u16=3 f32=0.5 mode=b":  "",
		"mode=b optl=a depth=1":              "depth=1 optl=a mode=b",
		"u16=7 optu=7 optf=1.5 optl=b f32=0": "u16=7",
	} {
		p, err := pass.Parse("kinds{"+in+"}", tab)
		got := ""
		if err != nil {
			_, got, _ = strings.Cut(err.Error(), `of pass "kinds": `)
		} else {
			got = strings.TrimSuffix(strings.TrimPrefix(p.String(), "builtin.module(kinds{"), "})")
			if got == in {
				got = ""
			}
			if k := p[0].(*kinds); k.plain != 3 {
				t.Errorf("%s: another field became %d", in, k.plain)
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	var names []string
	for _, o := range pass.Options(&kinds{}) {
		names = append(names, strings.TrimSpace(o.Name+" "+o.Default+" "+o.Doc+" "+strings.Join(o.Values, "|")))
	}
	if got, want := strings.Join(names, "; "), "depth 0 how deep; i8 0; u16 0; f32 0; optu 7; optf 1.5; optl b  a|b; mode a  a|b; ints; modes a,b"; got != want {
		t.Errorf("the options are %s, want %s", got, want)
	}
	given := &kinds{}
	filled := pass.Defaults(given)
	if given.Mode != "" || filled.Mode != "a" || filled.OptU.Get() != 7 || !reflect.DeepEqual(filled.Modes, []mode{"a", "b"}) || filled == given {
		t.Errorf("the defaults of %+v are %+v", given, filled)
	}
}

// number is a pass without options: it has no fields.
type number int

func (number) Info() *pass.Info { return &pass.Info{Name: "number"} }

type repeated struct {
	X int `pass:"x"`
	Y int `pass:"x"`
}
type hidden struct {
	x int `pass:"x"`
}
type badInt struct {
	X int `pass:"x" default:"1"`
}
type badUint struct {
	X uint8 `pass:"x" default:"1"`
}
type badFloat struct {
	X float32 `pass:"x" default:"1"`
}
type badType struct {
	X map[string]int `pass:"x" default:"1"`
}

func (repeated) Info() *pass.Info { return &pass.Info{Name: "bad"} }
func (hidden) Info() *pass.Info   { return &pass.Info{Name: "bad"} }
func (badInt) Info() *pass.Info   { return &pass.Info{Name: "bad"} }
func (badUint) Info() *pass.Info  { return &pass.Info{Name: "bad"} }
func (badFloat) Info() *pass.Info { return &pass.Info{Name: "bad"} }
func (badType) Info() *pass.Info  { return &pass.Info{Name: "bad"} }

// TestWrongOptions: a table refuses each kind of wrong declaration.
func TestWrongOptions(t *testing.T) {
	for want, p := range map[string]pass.Pass{
		`two fields have this name`:                                 repeated{},
		`field x is not exported`:                                   hidden{x: 1},
		`a int whose default is not 0 is a pass.Opt[int]`:           badInt{},
		`a uint8 whose default is not 0 is a pass.Opt[uint8]`:       badUint{},
		`a float32 whose default is not 0 is a pass.Opt[float32]`:   badFloat{},
		`default: options of type map[string]int are not supported`: badType{},
	} {
		if _, err := pass.NewTable(p); err == nil || err.Error() != `pass "bad": option "x": `+want {
			t.Errorf("error is %v, expected %s", err, want)
		}
	}
	if list := pass.Options(number(1)); list != nil {
		t.Errorf("a number has the options %v", list)
	}
}

// TestTable: a table finds passes by name and alias, and suggests names.
func TestTable(t *testing.T) {
	tab := table(t, options{Fast: true}, number(4))
	more, err := tab.With(perFunction{})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(tab.Names(), " ") + "; " + strings.Join(more.Names(), " "); got != "options number; options number per-function" {
		t.Errorf("the names are %s", got)
	}
	if list := more.Passes(); len(list) != 3 || list[1] != pass.Pass(number(4)) {
		t.Errorf("the passes are %v", list)
	}
	for _, name := range []string{"options", "opts"} {
		if p, err := tab.Find(name); err != nil || !p.(options).Fast {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	for name, want := range map[string]string{
		"optiosn": `unknown pass "optiosn"; did you mean options?`,
		"optz":    `unknown pass "optz"; did you mean opts?`,
		"zzzzz":   `unknown pass "zzzzz"; there are: options, number`,
	} {
		if _, err := tab.Find(name); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if _, err := table(t).Find("a"); err == nil || err.Error() != `unknown pass "a"` {
		t.Errorf("an empty table says %v", err)
	}
	if _, err := tab.With(options{}); err == nil || err.Error() != `pass "options" is listed twice` {
		t.Errorf("error is %v", err)
	}
}

// nested is a pass with a pipeline in an option.
type nested struct {
	Text string `pass:"pipeline"`
	list []pass.Pass
}

func (nested) Info() *pass.Info                        { return &pass.Info{Name: "nested"} }
func (nested) Run(_ *pass.Context, _ *ir.Module) error { return nil }
func (n nested) Resolve(t *pass.Table) (pass.Pass, error) {
	var err error
	n.list, err = pass.ParseOn("func.func", n.Text, t)
	return n, err
}

// TestResolve: Parse resolves the pipelines in options, and reports their errors.
func TestResolve(t *testing.T) {
	tab := table(t, nested{}, perFunction{}, options{}, number(1), both{[]pass.Pass{module{info: &pass.Info{Name: "whole"}}}})
	p, err := pass.Parse("nested{pipeline={per-function , per-function }}", tab)
	if err != nil || len(p[0].(nested).list) != 2 {
		t.Errorf("%+v, %v", p, err)
	}
	for in, want := range map[string]string{
		"nested{pipeline={per-function,x}}":   `pipeline:1: error: pipeline:14: error: unknown pass "x"; there are: nested, per-function, options, number, both`,
		"nested{pipeline={per-function x}}":   `pipeline:1: error: pipeline:14: error: expected ',' or the end of the pipeline, but got "x"`,
		"nested{pipeline={options}}":          `pipeline:1: error: pipeline:1: error: pass "options" runs on builtin.module and cannot be nested in func.func`,
		"nested{pipeline=options.x(options)}": `pipeline:1: error: pipeline:11: error: pass "options" runs on builtin.module and cannot be nested in options.x`,
		" number":                             `pipeline:2: error: pass "number" has no method Run(*pass.Context, *ir.Module) error, Run(*pass.Context, *ir.Op) error or Expand() ([]pass.Pass, error)`,
		"func.func(both)":                     `pipeline:11: error: pass "both" runs on builtin.module and cannot be nested in func.func`,
		"builtin.module()x":                   `pipeline:17: error: expected ',' or the end of the pipeline, but got "x"`,
		"func.func(per-function":              `pipeline:23: error: expected ')'`,
		"options{name}x":                      `pipeline:14: error: expected ',' or the end of the pipeline, but got "x"`,
		"options{name=a ":                     `pipeline:16: error: expected the name of an option or '}'`,
		"options{name={a}":                    `pipeline:14: error: expected '}' after the options`,
		`options{name="a`:                     `pipeline:14: error: quote is not closed`,
		`options{name="a\"`:                   `pipeline:14: error: quote is not closed`,
	} {
		if _, err := pass.Parse(in, tab); err == nil || err.Error() != want {
			t.Errorf("%s: error is\n%v, expected\n%s", in, err, want)
		}
	}
	wide := strings.TrimSuffix(strings.Repeat("func.func(per-function),", 150), ",")
	if p, err := pass.Parse(wide, tab); err != nil || len(p) != 150 {
		t.Errorf("a list of %d passes: %v", len(p), err)
	}
	deep := strings.Repeat("func.func(", 99) + strings.Repeat(")", 99)
	if _, err := pass.Parse(deep, tab); err != nil {
		t.Error(err)
	}
}

// TestValues reads values with quotes, braces and brackets.
func TestValues(t *testing.T) {
	tab := table(t, options{})
	for in, want := range map[string]string{
		"a}":               "a",
		"{a b}}":           "a b",
		"{a}b}":            "{a}b",
		"a{b}}":            "a{b}",
		"'a b'}":           "a b",
		"'a'b}":            "'a'b",
		"a'b'}":            "a'b'",
		`"a\"b\\"}`:        `a"b\`,
		`"a"b}`:            `"a"b`,
		`'a\'}`:            `a\`,
		"(a b)[c d]<e f>}": "(a b)[c d]<e f>",
		"{}}":              "",
		"''}":              "",
		`""}`:              "",
		"-> fast}":         "->",
		"a\tfast}":         "a",
		"a\nfast}":         "a",
		"a\rfast}":         "a",
		"{}{}}":            "}{",
	} {
		p, err := pass.Parse("options{tail="+in, tab)
		if err != nil {
			t.Errorf("%s: %v", in, err)
		} else if got := p[0].(options).Tail.Get(); got != want {
			t.Errorf("%s is %q, want %q", in, got, want)
		}
	}
}
