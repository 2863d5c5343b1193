package hookop

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// Attributes of hlocb.hook.
const (
	AttrID          = "id"              // i64, the two's complement of the ID
	AttrName        = "name"            // string, unique in the module
	AttrKind        = "kind"            // string, see Kind
	AttrFormat      = "format"          // string, the input format the hook was written in
	AttrSourceID    = "source_id"       // string, its identity in that format; absent if there is none
	AttrSideEffect  = "has_side_effect" // unit; without it, the hook may be removed, merged and moved
	AttrChained     = "chained"         // unit; operand 0 and result 0 are a token or the chain
	AttrAliases     = "aliases"         // array<i64>, for each data result its data operand, -1 for none
	AttrLayouts     = "layouts"         // unit; the source specifies (row-major) layouts
	AttrPartitioned = "partitioned"     // unit; the source fires on every device with its shard
	AttrAttrs       = "attrs"           // dictionary, further attributes of the source

	// The layouts that the source asks for, unless all are row-major: array<i64>, the dimensions of each data operand or
	// result from minor to major, one after another.
	AttrOperandLayouts = "operand_layouts"
	AttrResultLayouts  = "result_layouts"
)

// Hook is hlocb.hook: a place where the program talks to its host, independent of its format in the source.
//
// Operands are the chain (if chained) and the data; results are the chain (if chained) and the data.
var Hook = &ir.Def{
	Name:     "hlocb.hook",
	Doc:      "Passes the operands to the host, which may supply the results.",
	Operands: []ir.Arg{{Name: "operands", Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Mult: ir.Variadic}},
	Attrs: []ir.AttrSpec{
		{Name: AttrAliases, Optional: true},
		{Name: AttrAttrs, Optional: true},
		{Name: AttrChained, Optional: true},
		{Name: AttrFormat},
		{Name: AttrSideEffect, Optional: true},
		{Name: AttrID},
		{Name: AttrKind},
		{Name: AttrLayouts, Optional: true},
		{Name: AttrName},
		{Name: AttrOperandLayouts, Optional: true},
		{Name: AttrPartitioned, Optional: true},
		{Name: AttrResultLayouts, Optional: true},
		{Name: AttrSourceID, Optional: true},
	},
	Effects: func(op *ir.Op) ir.Effects {
		if h := (HookOp{op}); h.SideEffect() || h.Chained() {
			return ir.AllEffects
		}
		return 0
	},
	Verify: verifyHook,
}

// Dialect returns the hlocb dialect.
func Dialect() *ir.Dialect {
	return &ir.Dialect{Name: "hlocb", Ops: []*ir.Def{Hook}}
}

// verifyHook checks the operands and results against the rules for the hook's kind.
func verifyHook(op *ir.Op, r *ir.Reporter) {
	h := HookOp{op}
	k := h.Kind()
	if k == 0 {
		r.Errorf(op, "expects kind to be tap, inout, call or feed, but got %s", attrText(op.Attr(AttrKind)))
		return
	}
	if h.Chained() {
		if op.NumOperands() == 0 || op.NumResults() == 0 || op.Operand(0).Type() != op.Result(0).Type() {
			r.Errorf(op, "is chained, but operand 0 and result 0 are not a pair of one type")
			return
		}
	}
	aliases := h.Aliases()
	if len(aliases) != h.NumResultData() {
		r.Errorf(op, "has %d aliases for %d data results", len(aliases), h.NumResultData())
		return
	}
	for i, a := range aliases {
		if a < 0 {
			if k == hook.Tap || k == hook.InOut {
				r.Errorf(op, "is of kind %s, but data result %d is aliased to no operand", k, i)
			}
			continue
		}
		if a >= h.NumData() {
			r.Errorf(op, "aliases data result %d to data operand %d of %d", i, a, h.NumData())
		} else if h.Data(a).Type() != h.ResultData(i).Type() {
			r.Errorf(op, "aliases data result %d of type %s to data operand %d of type %s", i, h.ResultData(i).Type(), a, h.Data(a).Type())
		}
	}
	if k == hook.Feed && h.NumData() > 0 {
		r.Errorf(op, "is a feed, but has data operands")
	}
}

func attrText(a ir.Attr) string {
	if a == nil {
		return "none"
	}
	return a.String()
}

// HookOp is a view of an hlocb.hook op. It costs nothing and may be made at any time.
type HookOp struct{ *ir.Op }

// AsHook returns op as a hook. ok is false if op is not a hook.
func AsHook(op *ir.Op) (HookOp, bool) { return HookOp{op}, op != nil && op.Name() == Hook.Name }

// HooksOf returns the hooks of a module, in program order.
func HooksOf(m *ir.Module) []HookOp {
	var hooks []HookOp
	m.Walk(func(op *ir.Op) bool {
		if h, ok := AsHook(op); ok {
			hooks = append(hooks, h)
		}
		return true
	})
	return hooks
}

// HookName returns the hook's name.
func (h HookOp) HookName() string { return view.String(h.Attr(AttrName)) }

// Format returns the name of the input format the hook was written in.
func (h HookOp) Format() string { return view.String(h.Attr(AttrFormat)) }

// SourceID returns the hook's identity in its source, or "" if it has none.
func (h HookOp) SourceID() string { return view.String(h.Attr(AttrSourceID)) }

// Kind returns the kind, or 0 if the attribute is missing or unknown.
func (h HookOp) Kind() hook.Kind {
	k, _ := hook.ParseKind(view.String(h.Attr(AttrKind)))
	return k
}

// ID returns the hook's id.
func (h HookOp) ID() hook.ID { return hook.ID(view.Int(h.Attr(AttrID))) }

// Chained reports whether operand 0 and result 0 are a token or the chain.
func (h HookOp) Chained() bool { return h.Attr(AttrChained) != nil }

// SideEffect reports whether the hook must fire whenever the program reaches it.
func (h HookOp) SideEffect() bool { return h.Attr(AttrSideEffect) != nil }

// Layouts reports whether the source specifies layouts.
func (h HookOp) Layouts() bool { return h.Attr(AttrLayouts) != nil }

// SourceAttrs returns the source's further attributes, or nil if it has none.
func (h HookOp) SourceAttrs() *ir.DictAttr {
	d, _ := h.Attr(AttrAttrs).(*ir.DictAttr)
	return d
}

func (h HookOp) skip() int {
	if h.Chained() {
		return 1
	}
	return 0
}

// NumData returns the number of operands that the host sees.
func (h HookOp) NumData() int { return h.NumOperands() - h.skip() }

// Data returns operand i in the host's numbering.
func (h HookOp) Data(i int) *ir.Value { return h.Operand(h.skip() + i) }

// NumResultData returns the number of results that the host sees.
func (h HookOp) NumResultData() int { return h.NumResults() - h.skip() }

// ResultData returns result i in the host's numbering.
func (h HookOp) ResultData(i int) *ir.Value { return h.Result(h.skip() + i) }

// Aliases returns, for each data result, the data operand whose memory it shares, or -1.
func (h HookOp) Aliases() []int {
	a, ok := h.Attr(AttrAliases).(*ir.DenseArrayAttr)
	if !ok {
		return slices.Repeat([]int{-1}, max(0, h.NumResultData()))
	}
	out := make([]int, len(a.Values()))
	for i, v := range a.Values() {
		out[i] = int(v)
	}
	return out
}

// SetAliases sets, for each data result, the data operand that it aliases, or -1.
func (h HookOp) SetAliases(aliases []int) {
	if a := AliasAttr(aliases); a != nil {
		h.SetAttr(AttrAliases, a)
	} else {
		h.RemoveAttr(AttrAliases)
	}
}

// AliasAttr returns the attribute that holds aliases (see HookOp.Aliases), or nil if there are none.
func AliasAttr(aliases []int) ir.Attr {
	values, any := make([]int64, len(aliases)), false
	for i, a := range aliases {
		values[i] = int64(a)
		any = any || a >= 0
	}
	if !any {
		return nil
	}
	return ir.NewDenseArray(ir.Int(64), values)
}
