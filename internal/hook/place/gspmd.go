package place

import (
	"strings"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// GSPMD shardings.
const (
	gspmdManual     = "{manual}"
	gspmdReplicated = "{replicated}"
)

// gspmd sets the sharding of h that GSPMD's partitioner requires.
func (p *placer) gspmd(h hookop.HookOp) error {
	h.RemoveAttr(sdy.AttrValueSharding)
	own := view.String(h.Attr(mhlo.AttrSharding))
	if leaves, tuple := mhlo.SplitSharding(own); tuple { // as an outfeed's: of its values and its token
		own = leaves[0]
	}
	own = mhlo.PlainSharding(own)
	if own != "" {
		h.SetAttr(mhlo.AttrSharding, ir.NewString(own))
	}
	if own != gspmdManual && !strings.HasPrefix(own, "{maximal") {
		for i := range h.NumData() { // its values are already shards, even if its sharding says otherwise
			if p.gspmdOf(h.Data(i)) == gspmdManual {
				own = gspmdManual
			}
		}
	}
	switch {
	case own == gspmdManual:
		if p.mode == hook.PerDeviceOnce {
			return p.noWholeValue(h)
		}
		h.SetAttr(mhlo.AttrSharding, ir.NewString(gspmdManual))
		p.enterChain(h)
	case p.onEachDevice(h):
		return p.gspmdEach(h)
	case !strings.HasPrefix(own, "{maximal device="):
		h.SetAttr(mhlo.AttrSharding, ir.NewString("{maximal device=0}"))
	}
	return nil
}

// gspmdEach makes h fire on every device. Its operands keep their shardings, and its results are joined.
func (p *placer) gspmdEach(h hookop.HookOp) error {
	op := h.Op
	chain := op.NumOperands() - h.NumData()
	texts := make([]string, h.NumData())
	operands := op.OperandList()
	b := p.m.Before(op)
	for i := range texts {
		v := operands[chain+i]
		var local ir.Type
		texts[i], local = p.shardOf(v)
		operands[chain+i] = p.enter(b, v, texts[i], local)
	}
	op.SetOperands(operands)
	aliases := h.Aliases()
	for i := range h.NumResultData() {
		v := op.Result(op.NumResults() - h.NumResultData() + i)
		text, local := gspmdReplicated, v.Type()
		switch {
		case i < len(aliases) && aliases[i] >= 0:
			text, local = texts[aliases[i]], operands[chain+aliases[i]].Type()
		case len(texts) == 1 && p.shardType(texts[0], v.Type()) == h.Data(0).Type():
			text, local = texts[0], h.Data(0).Type() // the host computes a shard from a shard
		}
		whole := v.Type()
		v.SetType(local)
		p.exit(v, text, whole)
	}
	p.enterChain(h)
	h.SetAttr(mhlo.AttrSharding, ir.NewString(gspmdManual))
	return nil
}

// enterChain converts the chain of a hook that fires on every device from a whole value to shards and back. A token has
// no sharding.
func (p *placer) enterChain(h hookop.HookOp) {
	if !h.Chained() || stablehlo.IsToken(h.Operand(0).Type()) {
		return
	}
	op := h.Op
	operands := op.OperandList()
	operands[0] = p.enter(p.m.Before(op), operands[0], gspmdReplicated, operands[0].Type())
	op.SetOperands(operands)
	p.exit(op.Result(0), gspmdReplicated, op.Result(0).Type())
}

// enter returns each device's shard of a whole value.
func (p *placer) enter(b *ir.Builder, v *ir.Value, text string, local ir.Type) *ir.Value {
	if stablehlo.IsToken(v.Type()) {
		return v
	}
	return p.annotate(b, "SPMDFullToShardShape", gspmdManual, p.annotate(b, "Sharding", text, v, v.Type()), local)
}

// exit replaces the shards v by the whole value in all users of v.
func (p *placer) exit(v *ir.Value, text string, whole ir.Type) {
	if !v.HasUses() {
		return
	}
	b := p.m.After(v.DefiningOp())
	first := p.annotate(b, "Sharding", gspmdManual, v, v.Type())
	last := p.annotate(b, "SPMDShardToFullShape", text, first, whole)
	v.ReplaceAllUsesWith(last)
	first.DefiningOp().SetOperands([]*ir.Value{v})
}

// annotate creates a custom call that GSPMD's partitioner recognizes.
func (p *placer) annotate(b *ir.Builder, target, text string, v *ir.Value, t ir.Type) *ir.Value {
	return b.Create(stablehlo.CustomCall, []*ir.Value{v}, []ir.Type{t},
		ir.NamedAttr{Name: stablehlo.AttrCallTargetName, Attr: ir.NewString(target)},
		ir.NamedAttr{Name: mhlo.AttrSharding, Attr: ir.NewString(text)}).Result(0)
}

// shardOf returns the sharding of v and the type of a shard. If the sharding is unknown or uneven, v counts as
// replicated.
func (p *placer) shardOf(v *ir.Value) (string, ir.Type) {
	text := p.gspmdOf(v)
	if local := p.shardType(text, v.Type()); local != nil {
		return text, local
	}
	return gspmdReplicated, v.Type()
}

// shardType returns the type of a shard of a value of type t, or nil if the sharding does not fit.
func (p *placer) shardType(text string, t ir.Type) ir.Type {
	tt, ok := t.(*ir.TensorType)
	if !ok || text == "" {
		return nil
	}
	s, err := hlo.ParseSharding(text, int(p.devices))
	if err != nil {
		return nil
	}
	shape, err := s.ShardShape(tt.Shape())
	if err != nil || !s.WholeShape(shape).Equal(tt.Shape()) {
		return nil
	}
	return p.m.Context().Tensor(shape, tt.Elem(), tt.Encoding())
}

// gspmdOf returns the sharding that the module specifies for v, or "" if it specifies none.
func (p *placer) gspmdOf(v *ir.Value) string {
	if s, ok := p.knownText[v]; ok {
		return s
	}
	s := p.findText(v)
	p.knownText[v] = s
	return s
}

func (p *placer) findText(v *ir.Value) string {
	def := v.DefiningOp()
	if def == nil {
		if f, ok := fn.AsFunc(v.Block().Parent()); ok {
			return mhlo.PlainSharding(view.String(f.ArgAttrs(v.Index()).Get(mhlo.AttrSharding)))
		}
		return ""
	}
	if text := mhlo.PlainSharding(view.String(def.Attr(mhlo.AttrSharding))); text != "" {
		if _, tuple := mhlo.SplitSharding(text); tuple || strings.HasPrefix(text, "{maximal") {
			return "" // of a tuple, or of one device
		}
		return text
	}
	manual := ""
	for _, o := range def.Operands() {
		text := p.gspmdOf(o)
		switch {
		case text == gspmdManual: // a computation on shards returns shards
			manual = text
		case text != "" && o.Type() == v.Type() && alike(def):
			return text
		}
	}
	return manual
}
