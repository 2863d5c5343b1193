package ir_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// chain returns a module of one function with n ops in a row, and the ops.
func chain(t testing.TB, n int) (*ir.Module, []*ir.Op) {
	t.Helper()
	var b strings.Builder
	b.WriteString("func.func @f(%x: tensor<f32>) -> tensor<f32> {\n")
	for i := range n {
		fmt.Fprintf(&b, "  %%%d = stablehlo.add %%x, %%x : tensor<f32>\n", i)
	}
	b.WriteString("  return %x : tensor<f32>\n}\n")
	m := read(t, b.String())
	var ops []*ir.Op
	for o := range m.Body().First().Region(0).Entry().Ops() {
		ops = append(ops, o)
	}
	return m, ops[:n]
}

// TestWalkErasesAny: a walk may erase the next op, ops far ahead, the current op and the op around it.
func TestWalkErasesAny(t *testing.T) {
	m, ops := chain(t, 6)
	visited := 0
	m.Walk(func(o *ir.Op) bool {
		if o.Name() == "stablehlo.add" {
			visited++
			if next := o.Next(); next.Name() == "stablehlo.add" {
				next.Erase()
			}
		}
		return true
	})
	if visited != 3 {
		t.Errorf("visited %d ops, want 3: every second one was erased", visited)
	}
	for i, o := range ops {
		if o.Erased() != (i%2 == 1) {
			t.Errorf("op %d is erased: %t", i, o.Erased())
		}
	}

	_, ops = chain(t, 6)
	visited = 0
	for o := range ops[0].Block().Ops() {
		if visited++; visited == 1 {
			for _, x := range ops {
				x.Erase()
			}
		} else if o.Name() != "func.return" {
			t.Error("an erased op was visited")
		}
	}
	if visited != 2 {
		t.Errorf("visited %d ops, want the first and the return", visited)
	}

	m, _ = chain(t, 3)
	var seen []string
	m.Walk(func(o *ir.Op) bool {
		seen = append(seen, o.Name())
		if o.Name() == "stablehlo.add" {
			o.Parent().Erase()
		}
		return true
	})
	if got := fmt.Sprint(seen); got != "[func.func stablehlo.add]" || m.Body().First() != nil {
		t.Errorf("visited %s", got)
	}
}

// TestWalkMoves: a walk may move the current op; its regions are visited at the new place.
func TestWalkMoves(t *testing.T) {
	m, ops := chain(t, 4)
	last := ops[3]
	var order []int
	m.Walk(func(o *ir.Op) bool {
		for i, x := range ops {
			if x == o {
				order = append(order, i)
				if i < 2 {
					o.MoveBefore(last.Next())
				}
			}
		}
		return true
	})
	if got := fmt.Sprint(order[:4]); got != "[0 1 2 3]" {
		t.Errorf("visited %s", got)
	}
}

// TestErased asks erased ops, blocks and values for everything, and checks that changing them panics.
func TestErased(t *testing.T) {
	m := read(t, `"u.r"(%0) ({
^bb0(%a: i32):
  "u.use"(%a, %0) {name = "x"} : (i32, i32) -> ()
}) : (i32) -> ()
%0 = "u.def"() : () -> i32`)
	r := m.Body().First()
	region, block := r.Region(0), r.Region(0).Entry()
	arg, use := block.Arg(0), block.First()
	slot := use.OperandUse(0)
	r.Erase()
	if !r.Erased() || !region.Erased() || !block.Erased() || !arg.Erased() || !use.Erased() {
		t.Error("not everything is erased")
	}
	if use.Name() != "u.use" || use.Attr("name") == nil || use.Block() != nil || use.Parent() != nil || use.Next() != nil || use.NumOperands() != 0 {
		t.Error("an erased op answers wrongly")
	}
	if arg.Block() != nil || arg.Index() != -1 || arg.Type() != ir.Type(ir.Int(32)) || arg.Loc() != nil || arg.HasUses() {
		t.Error("an erased argument answers wrongly")
	}
	if slot.Owner() != nil || slot.Value() != nil || slot.Index() != -1 {
		t.Error("an operand slot that is gone answers wrongly")
	}
	def := m.Body().First()
	if def.HasUses() {
		t.Error("the erased op still uses a value")
	}
	arg.SetLoc(fileLoc("f", 1, 1)) // a no-op, as for results
	for name, f := range map[string]func(){
		"Erase":       r.Erase,
		"append":      func() { m.Body().Append(r) },
		"SetAttr":     func() { r.SetAttr("a", ir.NewUnit()) },
		"MoveBefore":  func() { r.MoveBefore(def) },
		"beside":      func() { def.MoveBefore(r) },
		"SetOperands": func() { r.SetOperands(nil) },
		"operand":     func() { def.SetOperands([]*ir.Value{arg}) },
		"Set":         func() { slot.Set(def.Result(0)) },
		"AddArg":      func() { block.AddArg(ir.Int(32), nil) },
		"AddBlock":    func() { region.AddBlock() },
		"TakeBlocks":  func() { region.TakeBlocks(m.NewRegion()) },
		"Append":      func() { block.Append(m.NewOp(&ir.OpState{Def: m.Def("u.x")})) },
		"NewOp":       func() { m.NewOp(&ir.OpState{Def: m.Def("u.x"), Bodies: []*ir.Region{region}}) },
		"Rebuild":     func() { m.Rebuild(r, r.State(), nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			f()
		}()
	}
	if err := ir.Verify(m); err != nil {
		t.Error(err)
	}
}

// TestEraseInUse: an op whose result is in use is not erased.
func TestEraseInUse(t *testing.T) {
	m := read(t, `%0 = "u.def"() : () -> i32
"u.use"(%0) : (i32) -> ()`)
	def := m.Body().First()
	defer func() {
		if got := fmt.Sprint(recover()); got != "ir: erasing u.def, whose result 0 is in use" {
			t.Error(got)
		}
		if def.Erased() || def.Block() == nil {
			t.Error("the op is gone")
		}
	}()
	def.Erase()
}

// TestRebuild: handles of the old results answer plainly, and those of other ops are untouched (both were written over
// when results moved in memory).
func TestRebuild(t *testing.T) {
	m := read(t, `func.func @f(%a: tensor<f32>) -> tensor<f32> {
  %0 = "u.op"(%a) ({
  ^bb0(%x: tensor<f32>):
    "u.end"(%x) : (tensor<f32>) -> ()
  }) {k = 1 : i32} : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.multiply %0, %0 : tensor<f32>
  return %1 : tensor<f32>
}`)
	old := m.Body().First().Region(0).Entry().First()
	mul := old.Next()
	v, region := old.Result(0), old.Region(0)
	st := old.State()
	st.Types = append([]ir.Type{ir.Int(32)}, st.Types...)
	n := m.Rebuild(old, st, []int{1})
	v.SetLoc(fileLoc("q", 1, 2))
	v.SetPos(77)
	if !old.Erased() || !v.Erased() || v.DefiningOp() != nil || v.Block() != nil {
		t.Error("the old op or its result is not erased")
	}
	if n.NumResults() != 2 || n.Region(0) != region || region.Op() != n || n.Next() != mul || mul.Operand(0) != n.Result(1) {
		t.Error("the new op is not in the place of the old one")
	}
	if mul.Result(0).Type().String() != "tensor<f32>" || mul.Result(0).DefiningOp() != mul {
		t.Error("the result of another op changed")
	}
	if err := ir.Verify(m); err != nil {
		t.Error(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a result in use was dropped")
		}
		if n.Erased() || n.NumResults() != 2 {
			t.Error("Rebuild changed the op before it refused")
		}
	}()
	m.Rebuild(n, &ir.OpState{Def: n.Def()}, []int{-1, -1})
}

func TestReplaceWith(t *testing.T) {
	m, ops := chain(t, 2)
	neg := m.After(ops[0]).Create(m.Def("stablehlo.negate"), []*ir.Value{ops[0].Result(0)}, []ir.Type{ops[0].Result(0).Type()})
	ops[0].ReplaceWith(ops[0].Operand(0))
	if !ops[0].Erased() || neg.Operand(0) != ops[1].Operand(0) {
		t.Error("the op was not replaced")
	}
	for _, vals := range [][]*ir.Value{nil, {neg.Result(0)}, {nil}} {
		func() {
			defer func() { recover() }()
			neg.ReplaceWith(vals...)
			if vals == nil || vals[0] != nil {
				t.Error("replaced with itself or with too few values")
			}
		}()
	}
}

// TestCloneForwardUses: a copy uses its own values where a use stands before the definition in the text.
func TestCloneForwardUses(t *testing.T) {
	m := read(t, `"a.top"() ({
^bb0:
  "a.br"()[^bb2] : () -> ()
^bb1:
  "a.use"(%x) : (i32) -> ()
  "a.end"() : () -> ()
^bb2:
  %x = "a.def"() : () -> i32
  "a.br"()[^bb1] : () -> ()
}) : () -> ()`)
	c := m.CloneOp(m.Body().First(), map[*ir.Value]*ir.Value{})
	m.Body().Append(c)
	blocks := c.Region(0).Blocks()
	if !c.IsAncestorOf(blocks[1].First().Operand(0).DefiningOp()) {
		t.Error("the copy uses a value of the original")
	}
	if blocks[0].First().Successors()[0] != blocks[2] {
		t.Error("the copy branches to a block of the original")
	}
	if err := ir.Verify(m); err != nil {
		t.Error(err)
	}
}

func TestCloneMaps(t *testing.T) {
	m, ops := chain(t, 2)
	neg := m.After(ops[0]).Create(m.Def("stablehlo.negate"), []*ir.Value{ops[0].Result(0)}, []ir.Type{ops[0].Result(0).Type()})
	values := map[*ir.Value]*ir.Value{ops[0].Result(0): ops[1].Result(0)}
	c := m.CloneOp(neg, values)
	if c.Operand(0) != ops[1].Result(0) || values[neg.Result(0)] != c.Result(0) || c.Block() != nil {
		t.Error("the copy does not follow the mapping")
	}
}

// TestModuleClone: a clone has the same text, and changes of it leave the original alone.
func TestModuleClone(t *testing.T) {
	m := read(t, `module @m attributes {u.a = 1 : i32} {
  func.func @f(%arg0: tensor<2xf32> loc("f":1:2), %arg1: tensor<i1>) -> tensor<2xf32> {
    %0 = "stablehlo.if"(%arg1) ({
      stablehlo.return %arg0 : tensor<2xf32>
    }, {
      %1 = stablehlo.negate %arg0 : tensor<2xf32>
      stablehlo.return %1 : tensor<2xf32>
    }) : (tensor<i1>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  "foreign.op"() : () -> ()
}`)
	opts := print.Options{DebugInfo: true}
	want := print.String(m, opts)
	c := m.Clone()
	if got := print.String(c, opts); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := ir.Verify(c); err != nil {
		t.Error(err)
	}
	if c.Body().First().Module() != c || c.Op().Module() != c || c.Context() != m.Context() || c.Registry() != m.Registry() || c.Source() != m.Source() {
		t.Error("the clone belongs elsewhere")
	}
	c.Body().First().Erase()
	if got := print.String(m, opts); got != want {
		t.Error("a change of the clone changed the original")
	}
}

func TestBlockSurgery(t *testing.T) {
	m := read(t, `"u.r"() ({
^bb0(%a: i32):
  %0 = "u.a"(%a) : (i32) -> i32
  %1 = "u.b"(%0) : (i32) -> i32
  "u.c"(%1) : (i32) -> ()
}) : () -> ()`)
	region := m.Body().First().Region(0)
	first := region.Entry()
	second := first.SplitBefore(first.First().Next())
	br := m.AtEnd(first).Insert(&ir.OpState{Def: m.Def("u.br"), Successors: []*ir.Block{second}})
	third := region.AddBlock()
	br.SetSuccessor(0, second)
	if len(region.Blocks()) != 3 || region.Blocks()[1] != second || br.Successors()[0] != second {
		t.Error("the blocks are not in order")
	}
	if err := ir.Verify(m); err != nil {
		t.Error(err)
	}
	third.Erase()
	br.Erase()
	arg := second.AddArg(ir.Int(32), nil)
	second.First().SetOperand(0, arg)
	m.AtEnd(first).Insert(&ir.OpState{Def: m.Def("u.end")})
	second.InlineBefore(first.Last(), first.First().Result(0))
	if !second.Erased() || !arg.Erased() || len(region.Blocks()) != 1 {
		t.Error("the block was not inlined")
	}
	want := "u.a u.b u.c u.end"
	var got []string
	for o := range first.Ops() {
		got = append(got, o.Name())
	}
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got %s, want %s", s, want)
	}
	if err := ir.Verify(m); err != nil {
		t.Error(err)
	}
}

// TestReadersDoNotWrite: any number of goroutines may read a module, also one that was just changed. The race detector
// judges.
func TestReadersDoNotWrite(t *testing.T) {
	m, ops := chain(t, 50)
	for i := range 20 {
		ops[i].MoveBefore(ops[49-i])
	}
	var wait sync.WaitGroup
	want := print.String(m, print.Options{})
	for range 4 {
		wait.Go(func() {
			for i := range ops {
				ops[i].IsBefore(ops[(i*7)%50])
			}
			if err := ir.Verify(m); err != nil {
				t.Error(err)
			}
			if print.String(m, print.Options{}) != want {
				t.Error("two goroutines print different texts")
			}
			m.Clone()
		})
	}
	wait.Wait()
}

// TestFunctionsInParallel: goroutines may change different ops that are IsolatedFromAbove. The race detector judges.
func TestFunctionsInParallel(t *testing.T) {
	var text strings.Builder
	const n = 8
	for i := range n {
		fmt.Fprintf(&text, "func.func @f%d(%%a: tensor<f32>) -> tensor<f32> {\n  %%0 = stablehlo.negate %%a : tensor<f32>\n  return %%0 : tensor<f32>\n}\n", i)
	}
	m := read(t, text.String())
	var wait sync.WaitGroup
	for f := range m.Body().Ops() {
		wait.Go(func() {
			neg := f.Region(0).Entry().First()
			for i := range 200 {
				b := m.Before(neg)
				typ := m.Context().Tensor([]int64{int64(i % 50)}, ir.Int(32), nil)
				o := b.Create(m.Def(fmt.Sprintf("u.op%d", i%5)), []*ir.Value{neg.Operand(0)}, []ir.Type{typ})
				o.SetAttr("t", ir.NewTypeAttr(typ))
				if i%3 == 0 {
					c := m.CloneOp(o, map[*ir.Value]*ir.Value{})
					c.MoveBefore(neg)
				}
				if i%2 == 0 {
					o.Erase()
				}
			}
			f.SetAttr("u.done", ir.NewUnit())
		})
	}
	wait.Wait()
	if err := ir.Verify(m); err != nil {
		t.Error(err)
	}
	ids := map[int]bool{}
	m.Walk(func(o *ir.Op) bool {
		for _, v := range o.Results() {
			if ids[v.ID()] {
				t.Errorf("two values have ID %d", v.ID())
			}
			ids[v.ID()] = true
		}
		return true
	})
}

// TestOrder: IsBefore is right after many insertions at one place, at the front and at the end.
func TestOrder(t *testing.T) {
	m := ir.NewModule(ir.NewContext(nil), nil)
	b := m.Body()
	def := m.Def("u.op")
	mid := m.AtEnd(b).Create(def, nil, nil)
	m.AtEnd(b).Create(def, nil, nil)
	for i := range 3000 {
		o := m.NewOp(&ir.OpState{Def: def})
		switch i % 3 {
		case 0:
			o.MoveBefore(mid)
		case 1:
			o.MoveBefore(mid.Next())
		case 2:
			o.MoveBefore(b.First())
		}
	}
	for o := b.First(); o.Next() != nil; o = o.Next() {
		if !o.IsBefore(o.Next()) || o.Next().IsBefore(o) {
			t.Fatal("the order is wrong")
		}
	}
}

// TestTakeModule: a region takes the blocks of another module, with new IDs and with its own definitions of unknown
// kinds.
func TestTakeModule(t *testing.T) {
	ctx := ir.NewContext(testRegistry(t))
	m, from := ir.NewModule(ctx, nil), ir.NewModule(ctx, nil)
	block := m.Body()
	old := m.AtEnd(block).Create(anyOp, nil, []ir.Type{ir.Int(8)})
	user := m.AtEnd(block).Create(anyOp, []*ir.Value{old.Result(0)}, nil)
	result, use := old.Result(0), user.OperandUse(0)
	moved := from.AtEnd(from.Body()).Create(anyOp, nil, []ir.Type{ir.Int(8)})
	inner := from.AtEnd(from.Body()).Insert(&ir.OpState{Def: from.RegisteredDef("u.op"), Regions: 1}).Region(0).AddBlock(ir.Int(8))
	m.Op().Region(0).TakeBlocks(from.Op().Region(0))
	block.Erase()
	if u := inner.Parent(); !u.Is(m.Def("u.op")) || !u.Def().Registered() || u.Module() != m || inner.Arg(0).ID() != 2 || moved.Result(0).ID() != 1 || m.NumIDs() != 3 {
		t.Errorf("the moved ops are not like those of the module: %v, IDs %d and %d", u.Is(m.Def("u.op")), moved.Result(0).ID(), inner.Arg(0).ID())
	}
	if !old.Erased() || !user.Erased() || !block.Erased() || !result.Erased() || result.HasUses() || use.Value() != nil || use.Owner() != nil {
		t.Errorf("op, user, block or value are not erased, or the use is not empty: %t %t %t %t %v", old.Erased(), user.Erased(), block.Erased(), result.Erased(), use.Value())
	}
	if got := m.Body().First(); got != moved || moved.Module() != m || from.Op().Region(0).Entry() != nil {
		t.Errorf("the body holds %v of %p, want the moved op of %p", got, moved.Module(), m)
	}
	if err := ir.Verify(m); err != nil {
		t.Error(err)
	}
}

// TestOtherModule: parts of one module cannot be put into another one.
func TestOtherModule(t *testing.T) {
	ctx := ir.NewContext(testRegistry(t))
	m, n := ir.NewModule(ctx, nil), ir.NewModule(ctx, nil)
	in := m.AtEnd(m.Body()).Insert(&ir.OpState{Def: anyOp, Regions: 1})
	other := n.AtEnd(n.Body()).Insert(&ir.OpState{Def: anyOp, Regions: 1})
	detached := n.NewOp(&ir.OpState{Def: anyOp, Regions: 1})
	block := other.Region(0).AddBlock()
	foreign := ir.NewModule(ir.NewContext(ctx.Registry()), nil)
	def := func(m *ir.Module) *ir.Value {
		return m.NewOp(&ir.OpState{Def: anyOp, Types: []ir.Type{ir.Int(1)}}).Result(0)
	}
	own, loose, arg := def(m), def(n), block.AddArg(ir.Int(1), nil)
	user := m.AtStart(m.Body()).Insert(&ir.OpState{Def: anyOp, Operands: []*ir.Value{own}, Types: []ir.Type{ir.Int(1)}})
	uses := n.AtEnd(block).Insert(&ir.OpState{Def: anyOp, Operands: []*ir.Value{arg, arg}})
	jump := m.NewOp(&ir.OpState{Def: branch, Successors: []*ir.Block{m.NewBlock()}})
	target := m.NewBlock(ir.Int(1))
	target.Append(m.NewOp(&ir.OpState{Def: anyOp, Operands: target.Args()}))
	simple := n.NewOp(&ir.OpState{Def: anyOp})
	for name, f := range map[string]func(){
		"operand of NewOp":     func() { m.NewOp(&ir.OpState{Def: anyOp, Operands: []*ir.Value{own, arg}}) },
		"operand of Insert":    func() { m.AtEnd(m.Body()).Create(anyOp, []*ir.Value{loose}, nil) },
		"operand of Rebuild":   func() { m.Rebuild(in, &ir.OpState{Def: anyOp, Operands: []*ir.Value{arg}}, nil) },
		"successor of NewOp":   func() { m.NewOp(&ir.OpState{Def: branch, Successors: []*ir.Block{block}}) },
		"SetSuccessor":         func() { jump.SetSuccessor(0, block) },
		"SetOperand":           func() { user.SetOperand(0, arg) },
		"SetOperand, loose":    func() { user.SetOperand(0, loose) },
		"SetOperands":          func() { user.SetOperands([]*ir.Value{own, arg}) },
		"Use.Set":              func() { user.OperandUse(0).Set(arg) },
		"ReplaceAllUsesWith":   func() { own.ReplaceAllUsesWith(arg) },
		"ReplaceWith":          func() { user.ReplaceWith(arg) },
		"Clone":                func() { m.AtEnd(m.Body()).Clone(uses, map[*ir.Value]*ir.Value{}) },
		"Clone with a mapping": func() { n.AtEnd(block).Clone(uses, map[*ir.Value]*ir.Value{arg: own}) },
		"value of a block":     func() { target.InlineBefore(in, arg) },
		"detached op":          func() { m.Body().Append(simple) },
		"builder at an op":     func() { m.Before(uses).Create(anyOp, nil, nil) },
		"builder at a block":   func() { m.AtEnd(block).Create(anyOp, nil, nil) },
		"MoveBefore":           func() { in.MoveBefore(other) },
		"Append":               func() { m.Body().Append(detached) },
		"InsertBlock":          func() { in.Region(0).InsertBlock(0, n.NewBlock()) },
		"InlineBefore":         func() { block.InlineBefore(in) },
		"NewOp":                func() { m.NewOp(&ir.OpState{Def: anyOp, Bodies: []*ir.Region{n.NewRegion()}}) },
		"TakeBlocks":           func() { in.Region(0).TakeBlocks(foreign.Op().Region(0)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s took a part of another module", name)
				}
			}()
			f()
		}()
	}
	var users int
	for range arg.Users() {
		users++
	}
	if users != 2 || !own.HasOneUse() || loose.HasUses() || in.Erased() || user.Operand(0) != own || target.Arg(0).HasOneUse() == false {
		t.Error("what was refused changed a module")
	}
	user.Erase()
	for _, m := range []*ir.Module{m, n} {
		if err := ir.Verify(m); err != nil {
			t.Error(err)
		}
	}
}

// TestModuleOp: the op of a module stays where it is, and a builder says that its place is gone.
func TestModuleOp(t *testing.T) {
	m := read(t, `"u.r"() ({ "u.a"() : () -> () }) : () -> ()`)
	r := m.Body().First()
	inner := r.Region(0).Entry().First()
	r.Erase()
	for want, f := range map[string]func(){
		"ir: erasing the module op":                          m.Op().Erase,
		"ir: detaching the region of the module op":          func() { m.Op().DetachRegions() },
		"ir: inserting the module op into a block":           func() { m.NewBlock().Append(m.Op()) },
		"ir: inserting u.b beside an op that is in no block": func() { m.Before(inner).Create(m.Def("u.b"), nil, nil) },
		"ir: inserting u.c beside an op that is in no block": func() { m.After(m.NewOp(&ir.OpState{Def: m.Def("u.b")})).Create(m.Def("u.c"), nil, nil) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("got %v, want %s", got, want)
				}
			}()
			f()
		}()
	}
	m.Body().Erase()
	if err := ir.Verify(m); err == nil || !strings.Contains(err.Error(), "'builtin.module' op region #0 ('bodyRegion') failed to verify constraint: region with 1 blocks") {
		t.Error(err)
	}
}
