package rewrite_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/rewrite"
)

// counted is a context that counts how often it is asked.
type counted struct {
	context.Context
	asked, until int
}

func (c *counted) Err() error {
	if c.asked++; c.until > 0 && c.asked > c.until {
		return context.Canceled
	}
	return nil
}

// abs is a function with n ops stablehlo.abs in a row, and as many constants.
func absOf(n int) string {
	var text strings.Builder
	text.WriteString("func.func @f(%x0: tensor<f32>) -> tensor<f32> {\n")
	for i := range n {
		fmt.Fprintf(&text, "%%c%d = stablehlo.constant dense<1.0> : tensor<f32>\n%%x%d = stablehlo.abs %%x%d : tensor<f32>\n", i, i+1, i)
	}
	fmt.Fprintf(&text, "return %%x%d : tensor<f32>\n}", n)
	return text.String()
}

// TestGreedyWork: Greedy tries only the ops with something to try, asks its context at every 64th of them, and asks
// once per kind of op whether a rule is enabled.
func TestGreedyWork(t *testing.T) {
	tried := 0
	look := &rewrite.Pattern{Name: "look", Rows: []*ir.Def{stablehlo.Abs}, Rewrite: func(*rewrite.Rewriter, *ir.Op) (bool, error) {
		tried++
		return false, nil
	}}
	other := &rewrite.Pattern{Name: "other", Rows: []*ir.Def{stablehlo.Sine}, Rewrite: look.Rewrite}
	for _, c := range []struct {
		patterns              []*rewrite.Pattern
		ops                   int
		tried, asked, enabled int
	}{
		{[]*rewrite.Pattern{look}, 200, 200, 4, 5},
		{[]*rewrite.Pattern{look}, 64, 64, 1, 5},
		{[]*rewrite.Pattern{look}, 65, 65, 2, 5},
		{[]*rewrite.Pattern{other}, 200, 0, 0, 5},
		{nil, 200, 0, 0, 0},
	} {
		m := read(t, absOf(c.ops))
		ctx := &counted{Context: context.Background()}
		enabled := 0
		tried = 0
		res, err := rewrite.Greedy(m.Op(), c.patterns, rewrite.Options{Context: ctx, Enabled: func(string) bool {
			enabled++
			return true
		}})
		if err != nil || !res.Converged || res.Statistics != (rewrite.Statistics{}) {
			t.Errorf("%v, %v", res, err)
		}
		// The kinds are func.func, constant, abs and func.return.
		if tried != c.tried || ctx.asked != c.asked || enabled > 4*max(1, len(c.patterns)) {
			t.Errorf("%d ops: %d tried, the context asked %d times, rules %d times; want %d, %d and at most 4", c.ops, tried, ctx.asked, enabled, c.tried, c.asked)
		}
	}
	ctx := &counted{Context: context.Background(), until: 1}
	tried = 0
	res, err := rewrite.Greedy(read(t, absOf(200)).Op(), []*rewrite.Pattern{look}, rewrite.Options{Context: ctx})
	if !errors.Is(err, context.Canceled) || tried != 64 || res.Converged {
		t.Errorf("%d ops tried before %v", tried, err)
	}
}

// TestGreedyPlacedConstants: constants at the start of their regions stay there, also when they are visited again.
func TestGreedyPlacedConstants(t *testing.T) {
	m := read(t, `func.func @f(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %a = stablehlo.constant dense<1.0> : tensor<f32>
  %b = stablehlo.constant dense<2.0> : tensor<f32>
  %0 = stablehlo.negate %b : tensor<f32>
  %1 = stablehlo.negate %0 : tensor<f32>
  %2 = stablehlo.add %a, %1 : tensor<f32>
  return %2, %b : tensor<f32>, tensor<f32>
}
func.func @g(%x: tensor<f32>) -> tensor<f32> {
  %a = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.add %a, %x : tensor<f32>
  return %0 : tensor<f32>
}`)
	scope := m.Body().First()
	w, l := watch(m)
	res, err := rewrite.Greedy(scope, []*rewrite.Pattern{fold}, rewrite.Options{Constants: true, EraseDead: true, Listeners: []*rewrite.Listener{l}})
	w.compare(t)
	if err != nil || res.Statistics != (rewrite.Statistics{Changed: 1, Replaced: 1, Erased: 2}) {
		t.Errorf("%v, %v", res, err)
	}
}

// TestGreedyHomes: the constants of a scope in no block, of its branches and of an op that is isolated inside it.
func TestGreedyHomes(t *testing.T) {
	m := read(t, `"u.keep"() ({
  %c = "u.cond"() : () -> tensor<i1>
  %0 = "stablehlo.if"(%c) ({
    "u.use"() : () -> ()
    %a = stablehlo.constant dense<1.0> : tensor<f32>
    %b = stablehlo.constant dense<1.0> : tensor<f32>
    %d = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %d : tensor<f32>
  }, {
    %a = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %a : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
}) : () -> ()`)
	st := m.Body().First().Region(0).Entry().Last().State()
	st.Operands, st.Bodies = []*ir.Value{nil}, m.Body().First().Region(0).Entry().Last().DetachRegions()
	branch := m.NewOp(st)
	res, err := rewrite.Greedy(branch, nil, rewrite.Options{Constants: true})
	if err != nil || res.Statistics != (rewrite.Statistics{Changed: 1, Moved: 1, Replaced: 1, Erased: 1}) {
		t.Errorf("%v, %v", res, err)
	}
	var got []string
	for _, r := range branch.Regions() {
		for op := range r.Entry().Ops() {
			got = append(got, op.Name())
		}
	}
	if want := "stablehlo.constant u.use stablehlo.add stablehlo.return stablehlo.constant stablehlo.return"; strings.Join(got, " ") != want {
		t.Errorf("got %s", got)
	}
}

// TestGreedyScope: Greedy changes the ops inside its scope, and never applies a pattern to the scope.
func TestGreedyScope(t *testing.T) {
	m := read(t, absOf(2))
	var seen []string
	visit := &rewrite.Pattern{Name: "visit", Rewrite: func(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
		seen = append(seen, strings.TrimPrefix(op.Name(), "stablehlo."))
		if op.Attr("u.seen") != nil {
			return false, nil
		}
		r.Update(op, func() { op.SetAttr("u.seen", ir.NewUnit()) })
		scope := m.Body().First()
		r.Update(scope, func() { scope.SetAttr("u.inside", ir.NewUnit()) })
		return true, nil
	}}
	res, err := rewrite.Greedy(m.Body().First(), []*rewrite.Pattern{visit}, rewrite.Options{})
	// Each op is tried at first, once more after its change, and in the iteration that finds nothing to do.
	const want = "constant abs constant abs func.return constant abs constant abs func.return constant abs constant abs func.return"
	if err != nil || strings.Join(seen, " ") != want || res.Changed != 10 || !m.Body().First().Is(fn.Func) || m.Body().First().Attr("u.seen") != nil {
		t.Errorf("%v, %v: %s", res, err, strings.Join(seen, " "))
	}
}

// TestGreedyFails: after an error nothing else changes, not even blocks that no branch reaches.
func TestGreedyFails(t *testing.T) {
	const text = `func.func @f(%x: tensor<f32>) {
  "u.region"() ({
    %last = stablehlo.sine %x : tensor<f32>
    stablehlo.return
  ^bb1:
    %use = stablehlo.cosine %last : tensor<f32>
    stablehlo.return %use : tensor<f32>
  ^bb3:
    %0 = stablehlo.negate %x : tensor<f32>
    %1 = stablehlo.add %0, %2 : tensor<f32>
    stablehlo.return
  ^bb2:
    %2 = stablehlo.abs %0 : tensor<f32>
    stablehlo.return
  }) : () -> ()
  return
}`
	for _, fails := range []bool{true, false} {
		m := read(t, text)
		p := &rewrite.Pattern{Name: "p", Rows: []*ir.Def{stablehlo.Negate}, Rewrite: func(*rewrite.Rewriter, *ir.Op) (bool, error) {
			if fails {
				return false, errors.New("no")
			}
			return false, nil
		}}
		w, l := watch(m)
		res, err := rewrite.Greedy(m.Op(), []*rewrite.Pattern{p}, rewrite.Options{EraseDead: true, Listeners: []*rewrite.Listener{l}})
		w.compare(t)
		want, blocks := rewrite.Statistics{Erased: 8}, 1
		if fails {
			want, blocks = rewrite.Statistics{}, 4
		}
		region := m.Body().First().Region(0).Entry().First().Region(0)
		if (err != nil) != fails || res.Statistics != want || len(region.Blocks()) != blocks || ir.Verify(m) != nil || res.Converged == fails {
			t.Errorf("%v, %v, %d blocks, %v, %v", res, err, len(region.Blocks()), ir.Verify(m), res.Converged)
		}
	}
}

// TestGreedyOrder: only ConstantsLast and Constants, of ops that fold, move the constants of commutative ops.
func TestGreedyOrder(t *testing.T) {
	registry, err := ir.NewRegistry(append(all.Dialects(), &ir.Dialect{Name: "t", Ops: []*ir.Def{sum}})...)
	if err != nil {
		t.Fatal(err)
	}
	text := `func.func @f(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.add %c, %x : tensor<f32>
  %1 = "t.sum"(%c, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}`
	never := func(rule string) bool { return rule != rewrite.ConstantsLast }
	for _, c := range []struct {
		o    rewrite.Options
		want string
	}{
		{rewrite.Options{}, "false false"},
		{rewrite.Options{EraseDead: true}, "false false"},
		{rewrite.Options{Constants: true}, "false true"},
		{rewrite.Options{ConstantsLast: true}, "true true"},
		{rewrite.Options{Constants: true, ConstantsLast: true, Enabled: never}, "false false"},
	} {
		m, err := parse.Parse(diag.NewSource("text", []byte(text)), ir.NewContext(registry), parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = rewrite.Greedy(m.Op(), nil, c.o)
		var got []string
		for _, v := range m.Body().First().Region(0).Entry().Last().Operands() {
			got = append(got, fmt.Sprint(v.DefiningOp().Operand(1).DefiningOp() != nil))
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %s, %v; want %s", c.o, got, err, c.want)
		}
	}
}

// TestReplaceBySame: a value that replaces itself changes nothing.
func TestReplaceBySame(t *testing.T) {
	m := read(t, absOf(1))
	r := rewrite.New(m)
	x := m.Body().First().Region(0).Entry().Arg(0)
	r.ReplaceUses(x, x, nil)
	if s := r.Statistics(); s != (rewrite.Statistics{}) || !x.HasUses() {
		t.Error(s)
	}
}

// TestOwnLocations: a pattern may set locations; ops without one get that of the replaced op, all of them.
func TestOwnLocations(t *testing.T) {
	m := read(t, `func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.negate %x : tensor<f32> loc("old")
  return %0 : tensor<f32>
}`)
	var locs ir.LocTable
	own := locs.File("own", 1, 2, 0, 0)
	p := &rewrite.Pattern{Name: "p", Rows: []*ir.Def{stablehlo.Negate}, Rewrite: func(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
		v := op.Operand(0)
		for i, row := range []*ir.Def{stablehlo.Abs, stablehlo.Sine, stablehlo.Cosine, stablehlo.Sign} {
			n, err := r.Before(op).Build(row, []*ir.Value{v})
			if err != nil {
				return false, err
			}
			if v = n.Result(0); i%2 == 0 {
				n.SetLoc(own)
			}
		}
		gone := r.Before(op).Create(m.Def("u.gone"), nil, nil)
		r.Erase(gone)
		r.Replace(op, v)
		return true, nil
	}}
	if _, err := rewrite.Greedy(m.Op(), []*rewrite.Pattern{p}, rewrite.Options{}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for op := range m.Body().First().Region(0).Entry().Ops() {
		got = append(got, fmt.Sprint(op.Loc()))
	}
	if want := `loc("own":1:2) loc("old") loc("own":1:2) loc("old") loc(unknown)`; strings.Join(got, " ") != want {
		t.Errorf("got %s", got)
	}
}

// TestLocationsOfBuilt: ops that no text has, without positions, leave no part in a location.
func TestLocationsOfBuilt(t *testing.T) {
	m := read(t, absOf(1))
	entry := m.Body().First().Region(0).Entry()
	x := entry.Arg(0)
	b := m.Before(entry.Last()).At(nil, 0)
	inner := b.Create(stablehlo.Abs, []*ir.Value{x}, []ir.Type{x.Type()})
	outer := b.Create(stablehlo.Negate, []*ir.Value{inner.Result(0)}, []ir.Type{x.Type()})
	var locs ir.LocTable
	inner.SetLoc(locs.File("inner", 1, 2, 0, 0))
	m.Before(entry.Last()).Create(m.Def("u.use"), []*ir.Value{outer.Result(0)}, nil)
	p := &rewrite.Pattern{Name: "p", Rows: []*ir.Def{stablehlo.Negate}, Rewrite: func(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
		n, err := r.Before(op).Build(stablehlo.Sign, []*ir.Value{x})
		if err != nil {
			return false, err
		}
		r.Replace(op, n.Result(0))
		r.Erase(inner)
		return true, nil
	}}
	if _, err := rewrite.Greedy(m.Op(), []*rewrite.Pattern{p}, rewrite.Options{}); err != nil {
		t.Fatal(err)
	}
	if sign := entry.Last().Prev().Prev(); !sign.Is(stablehlo.Sign) || fmt.Sprint(sign.Loc()) != `loc("inner":1:2)` {
		t.Errorf("%s has location %v", sign.Name(), sign.Loc())
	}
}

// TestConvertNothing: converting a module without values to convert changes nothing, and hears nothing.
func TestConvertNothing(t *testing.T) {
	for path, text := range testkit.Texts(t, testkit.Testdata("programs", "*.mlir")) {
		m := read(t, text)
		r := rewrite.New(m)
		c := tuples(m.Context())
		c.Attr = nil
		if err := rewrite.Convert(r, m.Op(), c); err != nil || r.Statistics() != (rewrite.Statistics{}) {
			t.Errorf("%s: %v, %v", path, r.Statistics(), err)
		}
	}
}

// TestConvertLocations: ops that a conversion makes get the locations of the ops that they replace, also the rebuilt
// ones, and their attributes.
func TestConvertLocations(t *testing.T) {
	m := read(t, `func.func @f() {
  %0 = "u.def"() {a = 1 : i32} : () -> tuple<i32, i64> loc("def")
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<i32, i64>) -> i64 loc("element")
  "u.use"(%0) {a = 1 : i32, b = 2 : i32} : (tuple<i32, i64>) -> () loc("use")
  return
}`)
	c := tuples(m.Context())
	applied := 0
	c.Applied = func(rule string) { applied++ }
	element := c.Ops[1]
	c.Ops[1] = &rewrite.Conversion{Name: element.Name, Rows: element.Rows, Convert: func(r *rewrite.Rewriter, op *ir.Op, operands [][]*ir.Value) ([][]*ir.Value, error) {
		r.Before(op).Create(m.Def("u.beside"), nil, nil)
		return element.Convert(r, op, operands)
	}}
	r := rewrite.New(m)
	if err := rewrite.Convert(r, m.Op(), c); err != nil {
		t.Fatal(err)
	}
	var got []string
	for op := range m.Body().First().Region(0).Entry().Ops() {
		got = append(got, fmt.Sprint(op.Name(), " ", op.Loc()))
	}
	if want := `u.def loc("def"), u.beside loc("element"), u.use loc("use"), func.return loc(unknown)`; strings.Join(got, ", ") != want || applied != 1 {
		t.Errorf("%d applied: %s", applied, strings.Join(got, ", "))
	}
	// The function gets its type anew, the use other operands, and the element loses its own.
	if s := r.Statistics(); s != (rewrite.Statistics{Created: 2, Changed: 3, Erased: 2}) {
		t.Error(s)
	}
	loose := r.Before(m.Body().First().Region(0).Entry().First()).Create(m.Def("u.loose"), nil, nil)
	if loose.Loc() != nil {
		t.Errorf("an op that is created later has location %s", loose.Loc())
	}
}

// TestConvertEnds: Convert asks its context at each op.
func TestConvertEnds(t *testing.T) {
	m := read(t, absOf(3))
	c := tuples(m.Context())
	ctx := &counted{Context: context.Background(), until: 3}
	c.Context = ctx
	if err := rewrite.Convert(rewrite.New(m), m.Op(), c); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	ctx.until = 0
	if err := rewrite.Convert(rewrite.New(m), m.Op(), c); err != nil {
		t.Error(err)
	}
}

// TestConvertUsedOutside: a value or an argument that is converted has no use outside of the converted op.
func TestConvertUsedOutside(t *testing.T) {
	m := read(t, `"u.in"() ({
  %0 = "u.def"() : () -> tuple<i32>
}) : () -> ()
"u.use"() : () -> ()`)
	in := m.Body().First()
	in.Next().SetOperands([]*ir.Value{in.Region(0).Entry().First().Result(0)})
	err := rewrite.Convert(rewrite.New(m), in, tuples(m.Context()))
	if want := "text:2:8: error: 'u.def' is converted, but an op outside of the converted op uses it"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	m = read(t, `"u.in"() ({
^bb0(%a: tuple<i32>):
  "u.end"() : () -> ()
}) : () -> ()
"u.use"() : () -> ()`)
	in = m.Body().First()
	in.Next().SetOperands([]*ir.Value{in.Region(0).Entry().Arg(0)})
	err = rewrite.Convert(rewrite.New(m), in, tuples(m.Context()))
	if want := "text:1:1: error: a region argument of type 'tuple<i32>' is converted, but an op still uses it"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestConvertTypes: a conversion gives the types that the converter chose.
func TestConvertTypes(t *testing.T) {
	m := read(t, `%0 = "u.def"() : () -> i32
%1 = stablehlo.tuple %0 : tuple<i32>`)
	c := tuples(m.Context())
	c.Types = func(t ir.Type) ([]ir.Type, bool) {
		_, ok := t.(*ir.TupleType)
		return []ir.Type{ir.Int(8)}, ok
	}
	err := rewrite.Convert(rewrite.New(m), m.Op(), c)
	if want := "text:2:6: error: result 0 of 'stablehlo.tuple' is converted to type 'i32', not 'i8'"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestConstantLocations: a constant that stands for several ops has no location; a folded one has that of its op.
func TestConstantLocations(t *testing.T) {
	m := readFolds(t, `func.func @f(%x: tensor<i32>) {
  %a = stablehlo.constant dense<1> : tensor<i32> loc("a")
  %b = stablehlo.constant dense<1> : tensor<i32> loc("b")
  %c = stablehlo.constant dense<2> : tensor<i32> loc("c")
  %d = "c.value"() {value = dense<3> : tensor<i32>} : () -> tensor<i32> loc("d")
  "u.use"(%a, %b, %c, %d) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
  %e = stablehlo.constant dense<4> : tensor<i32> loc("e")
  "u.use"(%e) : (tensor<i32>) -> ()
  return
}`)
	res, err := rewrite.Greedy(m.Op(), nil, rewrite.Options{Constants: true})
	// Changed are the constants with values 1 and 4, whose locations go, and twice the use.
	if want := (rewrite.Statistics{Created: 1, Changed: 4, Moved: 1, Replaced: 2, Erased: 2}); err != nil || res.Statistics != want {
		t.Errorf("%v, %v", res, err)
	}
	var got []string
	for op := range m.Body().First().Region(0).Entry().Ops() {
		if rewrite.IsConstant(op) {
			got = append(got, fmt.Sprint(op.Attr("value"), " ", op.Loc()))
		}
	}
	if want := `dense<3> : tensor<i32> loc("d"), dense<4> : tensor<i32> loc(unknown), dense<1> : tensor<i32> loc(unknown), dense<2> : tensor<i32> loc("c")`; strings.Join(got, ", ") != want {
		t.Errorf("got %s", strings.Join(got, ", "))
	}
}

// TestStatistics adds and prints counts.
func TestStatistics(t *testing.T) {
	s := rewrite.Statistics{Created: 1, Changed: 2, Moved: 3, Replaced: 4, Erased: 5}
	s.Add(rewrite.Statistics{Created: 10, Changed: 20, Moved: 30, Replaced: 40, Erased: 50})
	if got := s.String(); got != "11 created, 22 changed, 33 moved, 44 replaced, 55 erased" {
		t.Error(got)
	}
}

// TestConvertKeepsAttributes: a changed attribute stays inherent or discardable.
func TestConvertKeepsAttributes(t *testing.T) {
	m := read(t, `func.func @f(%a: tuple<i32>) attributes {u.type = tuple<i32>} { return }`)
	f := m.Body().First()
	f.SetAttr("u.type", ir.NewTypeAttr(ir.Int(8)))
	c := tuples(m.Context())
	functionType := c.Attr
	c.Attr = func(op *ir.Op, name string, a ir.Attr) ir.Attr {
		if name == "u.type" {
			return ir.NewTypeAttr(ir.Int(16))
		}
		return functionType(op, name, a)
	}
	if err := rewrite.Convert(rewrite.New(m), m.Op(), c); err != nil {
		t.Fatal(err)
	}
	for _, a := range m.Body().First().Attrs() {
		if a.Inherent == strings.HasPrefix(a.Name, "u.") {
			t.Errorf("%s: inherent is %v", a.Name, a.Inherent)
		}
	}
	if got := m.Body().First().Attr("u.type").String(); got != "i16" {
		t.Error(got)
	}
}

// TestGreedyErasures: dead ops that are erased lead to another iteration only if Between may see the module.
func TestGreedyErasures(t *testing.T) {
	for _, between := range []func(*rewrite.Rewriter){nil, func(*rewrite.Rewriter) {}} {
		m := read(t, "func.func @f(%x: tensor<f32>) { %0 = stablehlo.sine %x : tensor<f32> return }")
		res, err := rewrite.Greedy(m.Op(), nil, rewrite.Options{EraseDead: true, MaxIterations: 1, Between: between})
		if err != nil || res.Erased != 1 || res.Converged != (between == nil) {
			t.Errorf("%+v, %v", res, err)
		}
	}
}

// TestGreedyTriesConstants: patterns see the constants that stay, in each iteration.
func TestGreedyTriesConstants(t *testing.T) {
	m := read(t, absOf(2))
	tried := 0
	p := &rewrite.Pattern{Name: "p", Rows: []*ir.Def{stablehlo.Constant}, Rewrite: func(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
		if tried++; tried > 1 {
			return false, nil
		}
		r.Update(op, func() { op.SetAttr("u.seen", ir.NewUnit()) })
		return true, nil
	}}
	res, err := rewrite.Greedy(m.Op(), []*rewrite.Pattern{p}, rewrite.Options{Constants: true})
	if err != nil || tried != 3 || res.Erased != 1 {
		t.Errorf("%d tried, %v, %v", tried, res, err)
	}
}
