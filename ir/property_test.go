package ir_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// The shadow model: the same modules as plain slices and pointers, changed by the obvious code. Everything that ever
// was in a module stays in the lists of model, with the handle that the module gave for it.
type (
	model struct {
		m       *ir.Module
		rng     *rand.Rand
		top     *sOp
		ops     []*sOp
		values  []*sValue
		uses    []*sUse
		blocks  []*sBlock
		regions []*sRegion
		step    string
		free    bool // the module need not stay valid
	}
	sOp struct {
		h        *ir.Op
		def      *ir.Def
		operands []*sUse
		results  []*sValue
		regions  []*sRegion
		succ     []*sBlock
		attrs    map[string]int64
		block    *sBlock
		loc      *ir.Loc
		pos      diag.Pos
		erased   bool
	}
	sValue struct {
		h     *ir.Value
		id    int
		typ   ir.Type
		op    *sOp
		block *sBlock
		loc   *ir.Loc
		pos   diag.Pos
		name  string
		uses  []*sUse
	}
	sUse struct {
		h     *ir.Use
		owner *sOp
		val   *sValue
	}
	sBlock struct {
		h      *ir.Block
		region *sRegion
		args   []*sValue
		ops    []*sOp
		erased bool
	}
	sRegion struct {
		h      *ir.Region
		op     *sOp
		blocks []*sBlock
		erased bool
	}
)

var (
	anyOp   = &ir.Def{Name: "t.any", Operands: []ir.Arg{{Name: "in", Mult: ir.Variadic}}, Results: []ir.Arg{{Name: "out", Mult: ir.Variadic}}, Regions: []ir.RegionSpec{{Name: "r", Mult: ir.Variadic}}, Traits: ir.NoTerminator}
	isoOp   = &ir.Def{Name: "t.iso", Operands: anyOp.Operands, Results: anyOp.Results, Regions: anyOp.Regions, Traits: ir.NoTerminator | ir.IsolatedFromAbove}
	graphOp = &ir.Def{Name: "t.graph", Operands: anyOp.Operands, Results: anyOp.Results, Regions: anyOp.Regions, Traits: ir.NoTerminator | ir.GraphRegion}
	nestOp  = &ir.Def{Name: "t.nest", Operands: anyOp.Operands, Results: anyOp.Results, Regions: anyOp.Regions, Traits: ir.NoTerminator | ir.NestedEffects}
	branch  = &ir.Def{Name: "t.br", Operands: anyOp.Operands, Traits: ir.Terminator}
	locs    = []*ir.Loc{nil, fileLoc("f", 1, 2), fileLoc("g", 3, 4)}
	defs    = []*ir.Def{anyOp, anyOp, isoOp, graphOp, nestOp, ir.NewModule(ir.NewContext(nil), nil).Def("u.op"), branch, branch}
)

func fileLoc(file string, line, col uint32) *ir.Loc {
	return new(ir.LocTable).File(file, line, col, 0, 0)
}

func testRegistry(t testing.TB) *ir.Registry {
	t.Helper()
	reg, err := ir.NewRegistry(
		&ir.Dialect{Name: "t", Ops: []*ir.Def{anyOp, isoOp, graphOp, nestOp, branch}},
		&ir.Dialect{Name: "builtin", Ops: []*ir.Def{{Name: "builtin.module", Regions: []ir.RegionSpec{{Name: "body"}}, Traits: ir.NoTerminator | ir.SymbolTable | ir.IsolatedFromAbove | ir.GraphRegion}}})
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

// TestRandomMutations applies random sequences of all public mutations, legal or not, to a module and to the shadow
// model, and compares every method of every handle ever given after every step.
func TestRandomMutations(t *testing.T) {
	reg := testRegistry(t)
	sequences := 10000
	if label.Less() {
		sequences = 500
	}
	done := map[string]int{}
	for seed := range sequences {
		m := ir.NewModule(ir.NewContext(reg), nil)
		s := &model{m: m, rng: rand.New(rand.NewPCG(uint64(seed), 1)), free: seed%4 == 0}
		s.top = &sOp{h: m.Op(), def: m.Op().Def()}
		s.ops = append(s.ops, s.top)
		s.addRegion(s.top, m.Op().Region(0))
		s.addBlock(s.regions[0], m.Body())
		s.ops = append(s.ops, &sOp{h: m.NewOp(&ir.OpState{Def: anyOp}), def: anyOp})
		func() {
			defer func() {
				if r := recover(); r != nil {
					t.Fatalf("seed %d, %s: %v", seed, s.step, r)
				}
			}()
			for range 50 {
				if s.mutate() {
					done[s.step]++
				}
				s.compare()
			}
			if !s.free {
				s.roundTrip(reg)
			}
		}()
	}
	t.Log(done)
	for _, what := range mutations {
		if n := done[what]; n < sequences/50 {
			t.Errorf("%s was done %d times", what, n)
		}
	}
}

var mutations = []string{"NewOp", "NewRegion", "NewBlock", "AddBlock", "InsertBlock", "Append", "MoveBefore", "Erase",
	"SetOperand", "Use.Set", "SetOperands", "SetType", "ReplaceAllUsesWith", "Set each", "ReplaceWith", "Rebuild", "DetachRegions", "CloneOp", "InsertArg", "RemoveArg",
	"Block.Erase", "TakeBlocks", "SplitBefore", "InlineBefore", "SetSuccessor", "SetAttr", "RemoveAttr", "SetAttrs", "SetLoc", "SetPos", "SetName", "SortUses"}

// TestRandomMutationsAskAll: the test above calls every method of every kind of handle.
func TestRandomMutationsAskAll(t *testing.T) {
	text, err := os.ReadFile("property_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []any{&ir.Op{}, &ir.Value{}, &ir.Use{}, &ir.Block{}, &ir.Region{}} {
		for typ, i := reflect.TypeOf(h), 0; i < typ.NumMethod(); i++ {
			if name := typ.Method(i).Name; !regexp.MustCompile(`h(Op\(o\))?\.` + name + `\b`).Match(text) {
				t.Errorf("no handle is asked for %s.%s", typ, name)
			}
		}
	}
}

// setPlace sets the position, and the origin to the same number.
func setPlace(h interface {
	SetPos(diag.Pos)
	SetOrigin(uint32)
}, pos diag.Pos) {
	h.SetPos(pos)
	h.SetOrigin(uint32(pos))
}

func pick[T any](s *model, list []T) (x T) {
	if len(list) > 0 {
		x = list[s.rng.IntN(len(list))]
	}
	return x
}

// alive prefers things that are not erased.
func (s *model) op() *sOp {
	for range 4 {
		if o := pick(s, s.ops); o != s.top && !o.erased {
			return o
		}
	}
	return s.ops[1+s.rng.IntN(len(s.ops)-1)]
}

func (s *model) block() *sBlock {
	for range 4 {
		if b := pick(s, s.blocks); !b.erased {
			return b
		}
	}
	return pick(s, s.blocks)
}

func (s *model) value() *sValue {
	for range 4 {
		if v := pick(s, s.values); v != nil && !v.erased() {
			return v
		}
	}
	return pick(s, s.values)
}

func (v *sValue) erased() bool { return v.op == nil && v.block == nil }

func (s *model) someValues() (list []*sValue, handles []*ir.Value) {
	for range s.rng.IntN(3) {
		if v := s.value(); v != nil {
			list, handles = append(list, v), append(handles, v.h)
		}
	}
	return list, handles
}

func (s *model) typ() ir.Type { return ir.Int(8 + s.rng.IntN(2)) }

// refused runs f, which must panic exactly if legal is false.
func (s *model) refused(legal bool, f func()) {
	defer func() {
		if r := recover(); (r == nil) != legal {
			panic(fmt.Sprintf("legal: %t, panic: %v", legal, r))
		}
	}()
	f()
}

// mutate does one random thing, and reports whether it was legal.
func (s *model) mutate() bool {
	if s.step = pick(s, mutations); s.rng.IntN(4) == 0 {
		s.step = pick(s, []string{"NewOp", "NewOp", "NewOp", "AddBlock", "SplitBefore", "InlineBefore", "SetSuccessor", "SetOperand"})
	}
	restore := s.save()
	do, refused := s.plan()
	if do == nil {
		return false
	}
	if refused { // by the model: so must the module
		s.refused(false, do)
		return false
	}
	if !s.free && s.valid() != nil { // legal, but the module would no longer be valid
		restore()
		return false
	}
	s.refused(true, do)
	s.adopt()
	return true
}

// plan changes the model and returns a function that changes the module in the same way. If the mutation is illegal,
// refused is true and the model is unchanged. The function is nil if the mutation has nothing to change.
func (s *model) plan() (do func(), refused bool) {
	switch s.step {
	case "NewOp":
		vals, hs := s.someValues()
		o := &sOp{def: pick(s, defs), attrs: map[string]int64{}}
		st := &ir.OpState{Def: o.def, Operands: hs}
		for _, v := range vals {
			if v.erased() {
				return func() { s.m.NewOp(st) }, true
			}
		}
		for i := s.rng.IntN(3); i > 0 && o.def != branch; i-- {
			st.Types = append(st.Types, s.typ())
			o.results = append(o.results, &sValue{op: o, typ: st.Types[len(st.Types)-1], id: -1})
		}
		for i := s.rng.IntN(3); i > 0 && o.def != branch; i-- {
			r := &sRegion{op: o}
			if old := pick(s, s.regions); s.rng.IntN(2) == 0 && old.op == nil && !old.erased && !slices.Contains(st.Bodies, old.h) {
				st.Bodies = append(st.Bodies, old.h)
				old.op = o
				o.regions = slices.Insert(o.regions, len(st.Bodies)-1, old)
				continue
			}
			st.Regions++
			o.regions = append(o.regions, r)
		}
		if o.def == branch {
			for range s.rng.IntN(3) {
				if b := s.block(); !b.erased {
					o.succ, st.Successors = append(o.succ, b), append(st.Successors, b.h)
				}
			}
		}
		s.setOperands(o, vals)
		s.ops = append(s.ops, o)
		var to *sBlock
		if b := s.block(); !b.erased && s.rng.IntN(4) > 0 && (b.region == nil || !o.contains(b.region.op)) {
			to = b
			o.block = b
			b.ops = append(b.ops, o)
		}
		return func() {
			o.h = s.m.NewOp(st)
			if to != nil {
				to.h.Append(o.h)
			}
		}, false
	case "NewRegion":
		r := &sRegion{}
		s.regions = append(s.regions, r)
		return func() { r.h = s.m.NewRegion() }, false
	case "NewBlock":
		b := s.newBlock(nil, 0)
		t := s.typ()
		b.args = append(b.args, s.newArg(b, t))
		return func() { b.h = s.m.NewBlock(t) }, false
	case "AddBlock":
		r := pick(s, s.regions)
		if r.erased {
			return func() { r.h.AddBlock() }, true
		}
		b := s.newBlock(r, len(r.blocks))
		return func() { b.h = r.h.AddBlock() }, false
	case "InsertBlock":
		r, b := pick(s, s.regions), s.block()
		i := s.rng.IntN(len(r.blocks) + 1)
		do := func() { r.h.InsertBlock(i, b.h) }
		if r.erased || b.erased || b.region != nil || b.contains(r.op) {
			return do, true
		}
		r.blocks = slices.Insert(slices.Clone(r.blocks), i, b)
		b.region = r
		return do, false
	case "Append":
		o, b := s.op(), s.block()
		do := func() { b.h.Append(o.h) }
		if o == s.top || o.erased || b.erased || b.region != nil && o.contains(b.region.op) {
			return do, o != s.top
		}
		o.unlink()
		b.ops, o.block = append(slices.Clone(b.ops), o), b
		return do, false
	case "MoveBefore":
		o, p := s.op(), s.op()
		do := func() { o.h.MoveBefore(p.h) }
		if o.erased || p.block == nil || o != p && o.contains(p) {
			return do, true
		}
		if o != p {
			o.unlink()
			i := slices.Index(p.block.ops, p)
			p.block.ops, o.block = slices.Insert(slices.Clone(p.block.ops), i, o), p.block
		}
		return do, false
	case "Erase":
		o := s.op()
		if o.erased || o.used() {
			return o.h.Erase, true
		}
		o.unlink()
		o.erase()
		return o.h.Erase, false
	case "SetOperand", "Use.Set":
		v := s.value()
		if len(s.uses) == 0 || v == nil {
			return nil, false
		}
		u := pick(s, s.uses)
		do := func() { u.h.Set(v.h) }
		if s.step == "SetOperand" && u.owner != nil {
			i := slices.Index(u.owner.operands, u)
			do = func() { u.owner.h.SetOperand(i, v.h) }
		}
		if u.owner == nil || v.erased() {
			return do, true
		}
		u.set(v)
		return do, false
	case "SetOperands":
		o := s.op()
		vals, hs := s.someValues()
		do := func() { o.h.SetOperands(hs) }
		if o.erased || slices.ContainsFunc(vals, (*sValue).erased) {
			return do, true
		}
		if o == s.top {
			return nil, false
		}
		s.setOperands(o, vals)
		return do, false
	case "SetType":
		v := s.value()
		if v == nil {
			return nil, false
		}
		v.typ = s.typ()
		return func() { v.h.SetType(v.typ) }, false
	case "ReplaceAllUsesWith", "Set each":
		v, w := s.value(), s.value()
		if v == nil {
			return nil, false
		}
		keep := func(o *sOp) bool { return s.step == "ReplaceAllUsesWith" || slices.Index(s.ops, o)%2 == 0 }
		handles := map[*ir.Op]bool{}
		any := false
		for _, u := range v.uses {
			handles[u.owner.h] = keep(u.owner)
			any = any || keep(u.owner)
		}
		do := func() { v.h.ReplaceAllUsesWith(w.h) }
		if s.step == "Set each" {
			do = func() {
				for u := range v.h.Uses() {
					if handles[u.Owner()] {
						u.Set(w.h)
					}
				}
			}
		}
		if w.erased() && any {
			return do, true
		}
		for _, u := range slices.Clone(v.uses) {
			if keep(u.owner) && (v != w || s.step == "Set each") {
				u.set(w)
			}
		}
		return do, false
	case "ReplaceWith":
		o := s.op()
		var vals []*sValue
		var hs []*ir.Value
		for range o.results {
			v := s.value()
			if v == nil {
				return nil, false
			}
			vals, hs = append(vals, v), append(hs, v.h)
		}
		if o.erased || slices.ContainsFunc(vals, func(v *sValue) bool { return v.erased() || v.op == o }) {
			return func() { o.h.ReplaceWith(hs...) }, true
		}
		for i, v := range vals {
			if v.typ != o.results[i].typ {
				return func() { o.h.ReplaceWith(hs...) }, true
			}
		}
		if o == s.top {
			return nil, false
		}
		for i, v := range vals {
			for _, u := range slices.Clone(o.results[i].uses) {
				u.set(v)
			}
		}
		o.unlink()
		o.erase()
		return func() { o.h.ReplaceWith(hs...) }, false
	case "Rebuild":
		return s.rebuild()
	case "DetachRegions":
		o := s.op()
		do := func() { o.h.DetachRegions() }
		if o.erased || o == s.top {
			return do, true
		}
		for _, r := range o.regions {
			r.op = nil
		}
		o.regions = nil
		return do, false
	case "CloneOp":
		o := s.op()
		if o.erased || o == s.top || o.size() > 12 {
			return nil, false
		}
		if o.branchesToErased() { // a detached op can outlive the block
			return func() { s.m.CloneOp(o.h, map[*ir.Value]*ir.Value{}) }, true
		}
		c := &copier{s: s, values: map[*sValue]*sValue{}, blocks: map[*sBlock]*sBlock{}}
		n := c.op(o)
		for _, p := range c.ops {
			for i, u := range p[0].operands {
				v := u.val
				if w := c.values[v]; w != nil {
					v = w
				}
				p[1].operands[i].set(v)
			}
		}
		return func() { n.h = s.m.CloneOp(o.h, map[*ir.Value]*ir.Value{}) }, false
	case "InsertArg":
		b := s.block()
		i, t := s.rng.IntN(len(b.args)+1), s.typ()
		if b.erased {
			return func() { b.h.InsertArg(i, t, nil) }, true
		}
		a := s.newArg(b, t)
		a.pos = diag.Pos(s.rng.IntN(3))
		b.args = slices.Insert(slices.Clone(b.args), i, a)
		return func() {
			if i == len(b.args)-1 {
				setPlace(b.h.AddArg(t, nil), a.pos)
			} else {
				setPlace(b.h.InsertArg(i, t, nil), a.pos)
			}
		}, false
	case "RemoveArg":
		b := s.block()
		if len(b.args) == 0 {
			return nil, false
		}
		i := s.rng.IntN(len(b.args))
		if len(b.args[i].uses) > 0 {
			return func() { b.h.RemoveArg(i) }, true
		}
		b.args[i].erase()
		b.args = slices.Delete(slices.Clone(b.args), i, i+1)
		return func() { b.h.RemoveArg(i) }, false
	case "Block.Erase":
		b := s.block()
		if b.region != nil && b.region.op == s.top {
			return nil, false
		}
		do := b.h.Erase
		if b.erased || b.needed() {
			return do, true
		}
		if b.region != nil {
			b.region.blocks = slices.DeleteFunc(slices.Clone(b.region.blocks), func(x *sBlock) bool { return x == b })
			b.region = nil
		}
		b.erase()
		return do, false
	case "TakeBlocks":
		to, from := pick(s, s.regions), pick(s, s.regions)
		if from.op == s.top || to.op == s.top {
			return nil, false
		}
		do := func() { to.h.TakeBlocks(from.h) }
		if to == from {
			return do, false
		}
		if to.erased || slices.ContainsFunc(from.blocks, func(b *sBlock) bool { return b.contains(to.op) }) {
			return do, true
		}
		for _, b := range from.blocks {
			b.region = to
		}
		to.blocks, from.blocks = slices.Concat(to.blocks, from.blocks), nil
		return do, false
	case "SplitBefore":
		o, b := s.op(), s.block()
		if s.rng.IntN(4) > 0 && o.block != nil {
			b = o.block
		}
		if b.region != nil && b.region.op == s.top {
			return nil, false
		}
		if o == s.top || o.block != b || b.region == nil {
			return func() { b.h.SplitBefore(o.h) }, true
		}
		n := s.newBlock(b.region, slices.Index(b.region.blocks, b)+1)
		i := slices.Index(b.ops, o)
		n.ops, b.ops = slices.Clone(b.ops[i:]), slices.Clone(b.ops[:i])
		for _, x := range n.ops {
			x.block = n
		}
		return func() { n.h = b.h.SplitBefore(o.h) }, false
	case "InlineBefore":
		b, o := s.block(), s.op()
		if b.region != nil && b.region.op == s.top {
			return nil, false
		}
		var vals []*sValue
		var hs []*ir.Value
		for range b.args {
			v := s.value()
			vals, hs = append(vals, v), append(hs, v.h)
		}
		do := func() { b.h.InlineBefore(o.h, hs...) }
		wrong := slices.ContainsFunc(vals, func(v *sValue) bool { return v.erased() || v.block == b })
		if wrong || b.erased || o.block == nil || b.contains(o) || b.isTarget() {
			return do, true
		}
		for i, a := range b.args {
			for _, u := range slices.Clone(a.uses) {
				u.set(vals[i])
			}
		}
		i := slices.Index(o.block.ops, o)
		o.block.ops = slices.Insert(slices.Clone(o.block.ops), i, b.ops...)
		for _, x := range b.ops {
			x.block = o.block
		}
		b.ops = nil
		if b.region != nil {
			b.region.blocks = slices.DeleteFunc(slices.Clone(b.region.blocks), func(x *sBlock) bool { return x == b })
		}
		b.erase()
		return do, false
	case "SetSuccessor":
		o, b := s.op(), s.block()
		if len(o.succ) == 0 {
			return nil, false
		}
		i := s.rng.IntN(len(o.succ))
		if b.erased {
			return func() { o.h.SetSuccessor(i, b.h) }, true
		}
		o.succ = slices.Clone(o.succ)
		o.succ[i] = b
		return func() { o.h.SetSuccessor(i, b.h) }, false
	case "SetAttr", "RemoveAttr", "SetAttrs":
		o, name, n := s.op(), pick(s, []string{"a", "b", "c"}), int64(s.rng.IntN(5))
		value := ir.NewInteger(n, ir.Int(64))
		do := func() { o.h.SetAttr(name, value) }
		switch s.step {
		case "RemoveAttr":
			do = func() { o.h.RemoveAttr(name) }
		case "SetAttrs":
			do = func() { o.h.SetAttrs(ir.AttrList{{Name: name, Attr: value}}) }
		}
		if o.erased {
			return do, true
		}
		attrs := map[string]int64{}
		for k, v := range o.attrs {
			if s.step != "SetAttrs" {
				attrs[k] = v
			}
		}
		attrs[name] = n
		if s.step == "RemoveAttr" {
			delete(attrs, name)
		}
		o.attrs = attrs
		return do, false
	case "SetLoc":
		o, v, loc := s.op(), s.value(), pick(s, locs)
		if v != nil && s.rng.IntN(2) == 0 {
			if v.block != nil { // a result has the location of its op
				v.loc = loc
			}
			return func() { v.h.SetLoc(loc) }, false
		}
		o.loc = loc
		return func() { o.h.SetLoc(loc) }, false
	case "SetPos":
		o, v, pos := s.op(), s.value(), diag.Pos(s.rng.IntN(9))
		if v != nil && s.rng.IntN(2) == 0 {
			if v.block != nil {
				v.pos = pos
			}
			return func() { setPlace(v.h, pos) }, false
		}
		o.pos = pos
		return func() { setPlace(o.h, pos) }, false
	case "SortUses":
		v, other := s.value(), pick(s, s.uses)
		if v == nil {
			return nil, false
		}
		uses := slices.Clone(v.uses)
		s.rng.Shuffle(len(uses), func(i, j int) { uses[i], uses[j] = uses[j], uses[i] })
		list := handles(uses, func(u *sUse) *ir.Use { return u.h })
		switch {
		case s.rng.IntN(4) > 0:
			v.uses = uses
			return func() { v.h.SortUses(list) }, false
		case len(list) > 0 && s.rng.IntN(2) == 0:
			list[0] = list[len(list)-1] // twice, or the only one
			if len(list) == 1 {
				list = nil
			}
			return func() { v.h.SortUses(list) }, true
		case other != nil && other.val != v:
			return func() { v.h.SortUses(append(list, other.h)) }, true
		}
		return nil, false
	case "SetName":
		v := s.value()
		if v == nil {
			return nil, false
		}
		v.name = pick(s, []string{"x", "y", ""})
		return func() { v.h.SetName(v.name) }, false
	}
	panic("no such mutation")
}

// rebuild plans Rebuild with an operand and a result more in front.
func (s *model) rebuild() (func(), bool) {
	o := s.op()
	if o == s.top || o.erased || o.block == nil || slices.ContainsFunc(o.succ, func(b *sBlock) bool { return b.erased }) {
		if o == s.top {
			return nil, false
		}
		return func() { s.m.Rebuild(o.h, o.h.State(), nil) }, true
	}
	st := o.h.State()
	n := &sOp{def: o.def, attrs: o.attrs, succ: o.succ, block: o.block, loc: o.loc, pos: o.pos, regions: o.regions}
	var results []int // nil for a branch, which has none
	if o.def != branch {
		st.Types = append([]ir.Type{s.typ()}, st.Types...)
		n.results = append(n.results, &sValue{op: n, typ: st.Types[0], id: -1})
	}
	for i, v := range o.results {
		n.results = append(n.results, &sValue{op: n, typ: v.typ, name: v.name, id: -1})
		results = append(results, i+1)
	}
	var vals []*sValue
	for _, u := range o.operands {
		vals = append(vals, u.val)
	}
	if v := s.value(); v != nil && !v.erased() {
		vals = append([]*sValue{v}, vals...)
		st.Operands = append([]*ir.Value{v.h}, st.Operands...)
	}
	s.setOperands(n, vals)
	s.ops = append(s.ops, n)
	i := slices.Index(o.block.ops, o)
	o.block.ops = slices.Clone(o.block.ops)
	o.block.ops[i] = n
	for _, r := range o.regions {
		r.op = n
	}
	for i, v := range o.results {
		for _, u := range slices.Clone(v.uses) {
			u.set(n.results[i+1])
		}
	}
	o.regions, o.block = nil, nil
	o.erase()
	return func() { n.h = s.m.Rebuild(o.h, st, results) }, false
}

// copier copies ops of the model.
type copier struct {
	s      *model
	values map[*sValue]*sValue
	blocks map[*sBlock]*sBlock
	ops    [][2]*sOp
}

func (c *copier) op(o *sOp) *sOp {
	n := &sOp{def: o.def, attrs: o.attrs, loc: o.loc, pos: o.pos}
	c.s.ops = append(c.s.ops, n)
	c.ops = append(c.ops, [2]*sOp{o, n})
	c.s.setOperands(n, make([]*sValue, len(o.operands)))
	for _, b := range o.succ {
		if t := c.blocks[b]; t != nil {
			b = t
		}
		n.succ = append(n.succ, b)
	}
	for _, v := range o.results {
		w := &sValue{op: n, typ: v.typ, name: v.name, id: -1}
		c.values[v] = w
		n.results = append(n.results, w)
	}
	for _, r := range o.regions {
		nr := &sRegion{op: n}
		n.regions = append(n.regions, nr)
		c.s.regions = append(c.s.regions, nr)
		for _, b := range r.blocks {
			nb := c.s.newBlock(nr, len(nr.blocks))
			c.blocks[b] = nb
			for _, a := range b.args {
				na := c.s.newArg(nb, a.typ)
				na.name, na.loc, na.pos = a.name, a.loc, a.pos
				nb.args = append(nb.args, na)
				c.values[a] = na
			}
		}
		for _, b := range r.blocks {
			for _, x := range b.ops {
				nx := c.op(x)
				nx.block = c.blocks[b]
				nx.block.ops = append(nx.block.ops, nx)
			}
		}
	}
	return n
}

func (s *model) setOperands(o *sOp, vals []*sValue) {
	for _, u := range o.operands {
		u.set(nil)
		u.owner = nil
	}
	o.operands = nil
	for _, v := range vals {
		u := &sUse{owner: o}
		u.set(v)
		o.operands = append(o.operands, u)
		s.uses = append(s.uses, u)
	}
}

func (s *model) newBlock(r *sRegion, i int) *sBlock {
	b := &sBlock{region: r}
	s.blocks = append(s.blocks, b)
	if r != nil {
		r.blocks = slices.Insert(slices.Clone(r.blocks), i, b)
	}
	return b
}

func (s *model) newArg(b *sBlock, t ir.Type) *sValue {
	return &sValue{block: b, typ: t, id: -1}
}

func (u *sUse) set(v *sValue) {
	if u.val != nil {
		u.val.uses = slices.DeleteFunc(slices.Clone(u.val.uses), func(x *sUse) bool { return x == u })
	}
	u.val = v
	if v != nil {
		v.uses = append(slices.Clone(v.uses), u)
	}
}

func (o *sOp) unlink() {
	if b := o.block; b != nil {
		b.ops = slices.DeleteFunc(slices.Clone(b.ops), func(x *sOp) bool { return x == o })
		o.block = nil
	}
}

func (o *sOp) used() bool {
	return slices.ContainsFunc(o.results, func(v *sValue) bool { return len(v.uses) > 0 })
}

func (o *sOp) erase() {
	for _, u := range o.operands {
		u.set(nil)
		u.owner = nil
	}
	for _, v := range o.results {
		v.erase()
	}
	for _, r := range o.regions {
		for _, b := range r.blocks {
			b.erase()
		}
		r.op, r.blocks, r.erased = nil, nil, true
	}
	o.operands, o.results, o.regions, o.succ, o.block, o.erased = nil, nil, nil, nil, nil, true
}

func (v *sValue) erase() {
	for _, u := range v.uses {
		u.val = nil
	}
	v.uses, v.op, v.block, v.loc, v.pos = nil, nil, nil, nil, 0
}

func (b *sBlock) erase() {
	for _, o := range b.ops {
		o.erase()
	}
	for _, a := range b.args {
		a.erase()
	}
	b.region, b.args, b.ops, b.erased = nil, nil, nil, true
}

// contains reports whether o is x or around it.
func (o *sOp) contains(x *sOp) bool {
	for ; x != nil; x = x.parent() {
		if x == o {
			return true
		}
	}
	return false
}

func (b *sBlock) contains(x *sOp) bool {
	for ; x != nil; x = x.parent() {
		if x.block == b {
			return true
		}
	}
	return false
}

func (o *sOp) parent() *sOp {
	if o.block == nil || o.block.region == nil {
		return nil
	}
	return o.block.region.op
}

func (o *sOp) size() int {
	n := 1
	for _, r := range o.regions {
		for _, b := range r.blocks {
			for _, x := range b.ops {
				n += x.size()
			}
		}
	}
	return n
}

// branchesToErased reports whether o or an op inside it has an erased successor.
func (o *sOp) branchesToErased() bool {
	if slices.ContainsFunc(o.succ, func(b *sBlock) bool { return b.erased }) {
		return true
	}
	for _, r := range o.regions {
		for _, b := range r.blocks {
			if slices.ContainsFunc(b.ops, (*sOp).branchesToErased) {
				return true
			}
		}
	}
	return false
}

// isTarget reports whether the last op of another block branches to b.
func (b *sBlock) isTarget() bool {
	if b.region == nil {
		return false
	}
	return slices.ContainsFunc(b.region.blocks, func(p *sBlock) bool { return p != b && slices.Contains(p.successors(), b) })
}

// needed reports whether b cannot be erased.
func (b *sBlock) needed() bool {
	vals := slices.Clone(b.args)
	for _, o := range b.ops {
		vals = append(vals, o.results...)
	}
	return b.isTarget() || slices.ContainsFunc(vals, func(v *sValue) bool {
		return slices.ContainsFunc(v.uses, func(u *sUse) bool { return !b.contains(u.owner) })
	})
}

func (b *sBlock) successors() []*sBlock {
	if len(b.ops) == 0 {
		return nil
	}
	return b.ops[len(b.ops)-1].succ
}

// save returns a function that restores all fields of the model.
func (s *model) save() func() {
	state := *s
	var back []func()
	keep := func(f func()) { back = append(back, f) }
	for _, o := range s.ops {
		c := *o
		keep(func() { *o = c })
	}
	for _, v := range s.values {
		c := *v
		keep(func() { *v = c })
	}
	for _, u := range s.uses {
		c := *u
		keep(func() { *u = c })
	}
	for _, b := range s.blocks {
		c := *b
		keep(func() { *b = c })
	}
	for _, r := range s.regions {
		c := *r
		keep(func() { *r = c })
	}
	return func() {
		step := s.step
		*s = state
		s.step = step
		for _, f := range back {
			f()
		}
	}
}

// adopt takes the handles of new ops, blocks and values from the module, by their places.
func (s *model) adopt() {
	for _, o := range slices.Clone(s.ops) {
		if o.h != nil {
			s.adoptOp(o)
		}
	}
	for _, r := range slices.Clone(s.regions) {
		if r.h != nil {
			s.adoptRegion(r)
		}
	}
	for _, b := range slices.Clone(s.blocks) {
		if b.h != nil {
			s.adoptBlock(b)
		}
	}
}

func (s *model) adoptOp(o *sOp) {
	for k, u := range o.operands {
		if u.h == nil {
			u.h = o.h.OperandUse(k)
		}
	}
	for k, v := range o.results {
		s.addValue(v, o.h.Result(k))
	}
	for k, r := range o.regions {
		if r.h == nil {
			r.h = o.h.Region(k)
		}
		if !slices.Contains(s.regions, r) {
			s.regions = append(s.regions, r)
		}
		s.adoptRegion(r)
	}
}

func (s *model) adoptRegion(r *sRegion) {
	for k, b := range r.blocks {
		if b.h == nil {
			b.h = r.h.Blocks()[k]
		}
		s.adoptBlock(b)
	}
}

func (s *model) adoptBlock(b *sBlock) {
	for k, v := range b.args {
		s.addValue(v, b.h.Arg(k))
	}
	for k, o := range b.ops {
		if o.h == nil {
			o.h = nth(b.h, k)
			s.adoptOp(o)
		}
	}
}

func nth(b *ir.Block, k int) *ir.Op {
	o := b.First()
	for range k {
		o = o.Next()
	}
	return o
}

func (s *model) addValue(v *sValue, h *ir.Value) {
	if v.h == nil {
		v.h, v.id = h, h.ID()
		s.values = append(s.values, v)
	}
}

func (s *model) addRegion(o *sOp, h *ir.Region) {
	r := &sRegion{h: h, op: o}
	o.regions = append(o.regions, r)
	s.regions = append(s.regions, r)
}

func (s *model) addBlock(r *sRegion, h *ir.Block) {
	b := &sBlock{h: h, region: r}
	r.blocks = append(r.blocks, b)
	s.blocks = append(s.blocks, b)
}

// valid returns the first error in the module.
func (s *model) valid() error { return s.validOp(s.top) }

func (s *model) validOp(o *sOp) error {
	for _, r := range o.regions {
		for _, b := range r.blocks {
			for i, x := range b.ops {
				if x.def == branch && i < len(b.ops)-1 {
					return fmt.Errorf("%v is not last", x)
				}
				for _, t := range x.succ {
					if t.region != r || t == r.blocks[0] {
						return fmt.Errorf("%v branches to a wrong block", x)
					}
				}
				for _, u := range x.operands {
					if u.val == nil || !dominates(u.val, x) && (reachable(r, b, nil) || u.val.parent() != b) {
						return fmt.Errorf("%v uses a value that is not there", x)
					}
				}
				if err := s.validOp(x); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// reachable reports whether a way leads from the entry of r to b that does not go through without.
func reachable(r *sRegion, b, without *sBlock) bool {
	seen := map[*sBlock]bool{}
	var visit func(x *sBlock) bool
	visit = func(x *sBlock) bool {
		if seen[x] || x == without || x.region != r {
			return false
		}
		seen[x] = true
		return x == b || slices.ContainsFunc(x.successors(), visit)
	}
	return visit(r.blocks[0])
}

// dominates is dominance by its definition: no way from the entry that avoids the block of v.
func dominates(v *sValue, o *sOp) bool {
	from := v.parent()
	if from == nil {
		return false
	}
	for p := o; p != nil && p.block != nil; p = p.parent() {
		switch {
		case p.block == from:
			if v.op == nil || slices.Index(from.ops, v.op) < slices.Index(from.ops, p) {
				return true
			}
			return from.region != nil && from.region.op != nil && len(from.region.blocks) == 1 && (!from.region.op.def.Known() || from.region.op.def.Traits&ir.GraphRegion != 0)
		case from.region != nil && p.block.region == from.region:
			return !reachable(from.region, p.block, from)
		}
		if parent := p.parent(); parent == nil || parent.def.Traits&ir.IsolatedFromAbove != 0 {
			return false
		}
	}
	return false
}

func (v *sValue) parent() *sBlock {
	if v.op != nil {
		return v.op.block
	}
	return v.block
}

func (o *sOp) String() string { return o.def.Name }

// same panics where two answers differ.
func same[T comparable](what string, got, want T) {
	if got != want {
		panic(fmt.Sprintf("%s: %v, want %v", what, got, want))
	}
}

func sameList[T comparable](what string, got, want []T) {
	if !slices.Equal(got, want) {
		panic(fmt.Sprintf("%s: %v, want %v", what, got, want))
	}
}

func hOp(o *sOp) *ir.Op {
	if o == nil {
		return nil
	}
	return o.h
}

func hBlock(b *sBlock) *ir.Block {
	if b == nil {
		return nil
	}
	return b.h
}

func hRegion(r *sRegion) *ir.Region {
	if r == nil {
		return nil
	}
	return r.h
}

func hValue(v *sValue) *ir.Value {
	if v == nil {
		return nil
	}
	return v.h
}

func handles[S, H any](list []S, h func(S) H) (out []H) {
	for _, x := range list {
		out = append(out, h(x))
	}
	return out
}

func collect[T any](seq func(func(T) bool)) []T { return slices.Collect(seq) }

// compare asks every method of every handle ever given.
func (s *model) compare() {
	for _, o := range s.ops {
		s.compareOp(o)
	}
	for _, v := range s.values {
		s.compareValue(v)
	}
	for _, u := range s.uses {
		same("Use.Value", u.h.Value(), hValue(u.val))
		same("Use.Owner", u.h.Owner(), hOp(u.owner))
		index := -1
		if u.owner != nil {
			index = slices.Index(u.owner.operands, u)
		}
		same("Use.Index", u.h.Index(), index)
		var next *ir.Use
		if u.val != nil {
			if i := slices.Index(u.val.uses, u) + 1; i < len(u.val.uses) {
				next = u.val.uses[i].h
			}
		}
		same("Use.Next", u.h.Next(), next)
	}
	for _, b := range s.blocks {
		same("Block.Erased", b.h.Erased(), b.erased)
		same("Block.Region", b.h.Region(), hRegion(b.region))
		var parent *sOp
		if b.region != nil {
			parent = b.region.op
		}
		same("Block.Parent", b.h.Parent(), hOp(parent))
		same("NumArgs", len(b.h.Args()), len(b.args))
		sameList("Args", b.h.Args(), handles(b.args, hValue))
		ops := handles(b.ops, hOp)
		sameList("Ops", collect(b.h.Ops()), ops)
		var first, last, term *ir.Op
		if len(ops) > 0 {
			first, last = ops[0], ops[len(ops)-1]
			if last.MightHave(ir.Terminator) {
				term = last
			}
		}
		same("First", b.h.First(), first)
		same("Last", b.h.Last(), last)
		same("Terminator", b.h.Terminator(), term)
		same("Reachable", b.h.Reachable(), b.region == nil || reachable(b.region, b, nil))
	}
	for _, r := range s.regions {
		same("Region.Erased", r.h.Erased(), r.erased)
		same("Region.Op", r.h.Op(), hOp(r.op))
		sameList("Blocks", r.h.Blocks(), handles(r.blocks, hBlock))
		var entry *ir.Block
		if len(r.blocks) > 0 {
			entry = r.blocks[0].h
		}
		same("Entry", r.h.Entry(), entry)
	}
	want := s.valid()
	if got := ir.Verify(s.m); (got == nil) != (want == nil) {
		panic(fmt.Sprintf("verified: %v, want %v", got, want))
	}
}

func (s *model) compareOp(o *sOp) {
	h := o.h
	same("Op.Erased", h.Erased(), o.erased)
	same("Def", h.Def(), o.def)
	same("Name", h.Name(), o.def.Name)
	same("Op.Block", h.Block(), hBlock(o.block))
	same("Op.Parent", h.Parent(), hOp(o.parent()))
	same("Op.Loc", h.Loc(), o.loc)
	same("Op.Pos", h.Pos(), o.pos)
	same("Op.Origin", h.Origin(), uint32(o.pos))
	var next, prev *sOp
	if o.block != nil {
		i := slices.Index(o.block.ops, o)
		if i > 0 {
			prev = o.block.ops[i-1]
		}
		if i+1 < len(o.block.ops) {
			next = o.block.ops[i+1]
		}
	}
	same("Next", h.Next(), hOp(next))
	same("Prev", h.Prev(), hOp(prev))
	var m *ir.Module
	if !o.erased {
		m = s.m
	}
	same("Op.Module", h.Module(), m)
	same("NumOperands", h.NumOperands(), len(o.operands))
	vals := handles(o.operands, func(u *sUse) *ir.Value { return hValue(u.val) })
	sameList("OperandList", h.OperandList(), vals)
	for i, v := range h.Operands() {
		same("Operands", v, vals[i])
		same("Operand", h.Operand(i), vals[i])
		same("OperandUse", h.OperandUse(i), o.operands[i].h)
	}
	results := handles(o.results, hValue)
	same("NumResults", h.NumResults(), len(results))
	sameList("ResultList", h.ResultList(), results)
	sameList("ResultTypes", h.ResultTypes(), handles(o.results, func(v *sValue) ir.Type { return v.typ }))
	for i, v := range h.Results() {
		same("Results", v, results[i])
		same("Result", h.Result(i), results[i])
	}
	same("Op.HasUses", h.HasUses(), o.used())
	sameList("Regions", h.Regions(), handles(o.regions, hRegion))
	sameList("Successors", h.Successors(), handles(o.succ, hBlock))
	same("attributes", len(h.Attrs()), len(o.attrs))
	for name, n := range o.attrs {
		same("Attr", h.Attr(name).(*ir.IntegerAttr).Value(), n)
	}
	other := pick(s, s.ops)
	before := o.block != nil && o.block == other.block && slices.Index(o.block.ops, o) < slices.Index(o.block.ops, other)
	same("IsBefore", h.IsBefore(other.h), before)
	same("IsAncestorOf", h.IsAncestorOf(other.h), o.contains(other))
	var walked, post []*ir.Op
	h.Walk(func(x *ir.Op) bool { walked = append(walked, x); return true })
	h.WalkPost(func(x *ir.Op) bool { post = append(post, x); return true })
	sameList("Walk", walked, o.walk(false))
	if o.erased {
		same("WalkPost", len(post), 0)
	} else {
		sameList("WalkPost", post, o.walk(true))
	}
	same("State", h.State().Def, o.def)
	terminator := o.def.Known() && o.def.Traits&ir.Terminator != 0
	same("Def", h.Def(), o.def)
	same("Is", h.Is(o.def) && h.IsOrMirrors(o.def) && !h.Is(other.def) == (o.def != other.def), true)
	same("Has", h.Has(ir.Terminator), terminator)
	same("MightHave", h.MightHave(ir.Terminator), terminator || !o.def.Known())
	same("Effects", h.Effects(), o.effects())
	same("Removable", h.Removable(), o.effects() == 0 && !terminator)
	same("Verbatim", len(h.Verbatim()), 0)
	segments := func(n int, args []ir.Arg, counts []int, ok bool) {
		same("segments", ok, len(args) == 1 || n == 0)
		if ok && len(args) == 1 {
			sameList("segments", counts, []int{n})
		}
	}
	counts, ok := h.OperandSegments(nil)
	segments(len(o.operands), o.def.Operands, counts, ok)
	counts, ok = h.ResultSegments(nil)
	segments(len(o.results), o.def.Results, counts, ok)
	if v := s.value(); v != nil {
		same("Dominates", v.h.Dominates(h), dominates(v, o))
	}
}

// effects returns any effect for ops of all kinds except nestOp, which has the effects of the ops in it.
func (o *sOp) effects() ir.Effects {
	if o.def != nestOp {
		return ir.AllEffects
	}
	var e ir.Effects
	for _, r := range o.regions {
		for _, b := range r.blocks {
			for _, x := range b.ops {
				e |= x.effects()
			}
		}
	}
	return e
}

func (o *sOp) walk(post bool) []*ir.Op {
	var out []*ir.Op
	if !post {
		out = append(out, o.h)
	}
	for _, r := range o.regions {
		for _, b := range r.blocks {
			for _, x := range b.ops {
				out = append(out, x.walk(post)...)
			}
		}
	}
	if post {
		out = append(out, o.h)
	}
	return out
}

func (s *model) compareValue(v *sValue) {
	h := v.h
	same("Type", h.Type(), v.typ)
	same("Value.Erased", h.Erased(), v.erased())
	same("DefiningOp", h.DefiningOp(), hOp(v.op))
	same("Value.Block", h.Block(), hBlock(v.block))
	parent, index := v.block, -1
	if v.op != nil {
		parent, index = v.op.block, slices.Index(v.op.results, v)
	} else if v.block != nil {
		index = slices.Index(v.block.args, v)
	}
	same("ParentBlock", h.ParentBlock(), hBlock(parent))
	same("Value.Index", h.Index(), index)
	same("ID", h.ID(), v.id)
	same("ID below NumIDs", h.ID() < s.m.NumIDs(), true)
	same("Value.Name", h.Name(), v.name)
	same("Value.Loc", h.Loc(), v.loc)
	same("Value.Pos", h.Pos(), v.pos)
	same("Value.Origin", h.Origin(), uint32(v.pos))
	same("HasUses", h.HasUses(), len(v.uses) > 0)
	same("HasOneUse", h.HasOneUse(), len(v.uses) == 1)
	sameList("Uses", collect(h.Uses()), handles(v.uses, func(u *sUse) *ir.Use { return u.h }))
	sameList("Users", collect(h.Users()), handles(v.uses, func(u *sUse) *ir.Op { return u.owner.h }))
}

// roundTrip prints the module, reads the text and prints it again, in both forms, and clones it.
func (s *model) roundTrip(reg *ir.Registry) {
	for _, o := range []print.Options{{}, {Generic: true}} {
		text := print.String(s.m, o)
		m, err := parse.Parse(diag.NewSource("text", []byte(text)), ir.NewContext(reg), parse.Options{})
		if err != nil {
			panic(fmt.Sprintf("%v in\n%s", err, text))
		}
		if again := print.String(m, o); again != text {
			panic(fmt.Sprintf("printed\n%s\nread and printed again\n%s", text, again))
		}
		if c := print.String(s.m.Clone(), o); c != text {
			panic(fmt.Sprintf("printed\n%s\nclone\n%s", text, c))
		}
	}
}
