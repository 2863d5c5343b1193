package hlo

import (
	"slices"

	"github.com/hlocb/hlocb/diag"
)

// verify compares every type that m states with the type that its operands imply. It covers instructions that vanish or
// change in the translation, which StableHLO cannot check. The rules are those of xla/service/hlo_verifier.cc.
func (m *Module) verify(src *diag.Source) error {
	v := &verifier{src: src}
	for _, c := range m.comps {
		v.comp, v.uses = c, nil
		for _, in := range c.instrs {
			if v.instr(in); v.err != nil {
				return v.err
			}
		}
	}
	if l := m.layout; l != nil {
		v.same(m.entry.root, "the result in entry_computation_layout", l.result, m.entry.root.shape)
		for i, p := range m.entry.params {
			if i < len(l.params) {
				v.same(p, "the parameter in entry_computation_layout", l.params[i], p.shape)
			}
		}
	}
	return v.err
}

type verifier struct {
	src  *diag.Source
	comp *computation // that is being checked
	uses []int32      // how often its instructions are used, by their order; nil until a start asks
	err  error
}

func (v *verifier) fail(in *instr, format string, args ...any) {
	if v.err == nil {
		v.err = diag.Errorf(v.src, in.pos, format, args...)
	}
}

// same refuses two types of one value that differ in more than their layouts. A dynamic size matches every size.
func (v *verifier) same(in *instr, subject string, got, want *shape) {
	if !matches(got, want) {
		v.fail(in, "%s: %s has type %s, expected %s", in.opName(), subject, got.plain(), want.plain())
	}
}

// matches reports whether a value of type a can be one of type b.
func matches(a, b *shape) bool {
	if a == b {
		return true
	}
	if a.elem != b.elem || len(a.dims) != len(b.dims) || len(a.elems) != len(b.elems) {
		return false
	}
	for i, n := range a.dims {
		if n != b.dims[i] && !a.isDynamic(i) && !b.isDynamic(i) {
			return false
		}
	}
	for i, e := range a.elems {
		if !matches(e, b.elems[i]) {
			return false
		}
	}
	return true
}

// untranslated lists the instructions that the translation replaces by their operands or parts of them.
var untranslated = map[string]bool{"copy": true, "domain": true, "add-dependency": true, "opt-barrier": true, "tuple": true, "get-tuple-element": true,
	"after-all": true}

func (v *verifier) instr(in *instr) {
	switch {
	case untranslated[in.op.name]:
		want, why := in.op.infer(in)
		if why != "" {
			v.fail(in, "%s: %s", in.opName(), why)
			return
		}
		v.same(in, "the result", in.shape, want)
	case in.isAsync():
		v.async(in)
	}
	switch name := in.op.name; name {
	case "fusion":
		v.called(in, attrOf[*computation](in, "calls"), in.operands, in.shape)
	case "call":
		v.called(in, attrOf[*computation](in, "to_apply"), in.operands, in.shape)
	case "while":
		v.called(in, attrOf[*computation](in, "body"), in.operands, in.shape)
		v.called(in, attrOf[*computation](in, "condition"), in.operands, array(pred))
	case "conditional":
		for i, c := range in.branches() {
			if i+1 < len(in.operands) {
				v.called(in, c, in.operands[i+1:i+2], in.shape)
			}
		}
	case "compare":
		v.compare(in)
	case "dot", "convolution":
		v.extraOperands(in)
	case "copy-start", "all-reduce-start", "collective-permute-start":
		v.start(in, name[:len(name)-len("start")]+"done")
	case "copy-done", "all-reduce-done", "all-gather-done", "collective-permute-done":
		if o, start := in.operands[0], name[:len(name)-len("done")]+"start"; o.op.name != start {
			v.fail(in, "the operand of %s must be %s, found %s", name, start, o.opName())
		}
	case "all-gather", "reduce-scatter":
		v.groups(in)
	}
	if attrOf[bool](in, "use_global_device_ids") && in.attrByName("channel_id") == nil {
		v.fail(in, "%s has use_global_device_ids without a channel_id", in.opName())
	}
}

// groups refuses a group whose size is not the number of parts that all-gather joins or reduce-scatter makes. With a
// channel but without global ids, a group counts replicas and the partitions are added: not checked.
func (v *verifier) groups(in *instr) {
	g := attrOf[*replicaGroups](in, "replica_groups")
	dims := attrOf[[]int64](in, "dimensions")
	if g == nil || len(g.lists) == 0 || len(dims) != 1 || len(in.operands) != 1 || in.attrByName("channel_id") != nil && !attrOf[bool](in, "use_global_device_ids") {
		return
	}
	whole, part := in.shape, in.operands[0].shape
	if in.op.name == "reduce-scatter" {
		whole, part = part, whole
	}
	d, n := dims[0], int64(len(g.lists[0]))
	if n > 1 && d >= 0 && d < int64(len(whole.dims)) && d < int64(len(part.dims)) && part.dims[d]*n != whole.dims[d] {
		v.fail(in, "%s in groups of %d turns size %d into size %d", in.opName(), n, in.operands[0].shape.dims[d], in.shape.dims[d])
	}
}

// called compares the computation that in calls with in's operands and result.
func (v *verifier) called(in *instr, c *computation, operands []*instr, result *shape) {
	if c == nil || !c.defined || len(c.params) != len(operands) {
		return // the translation says so
	}
	for i, p := range c.params {
		v.same(in, "the parameter "+p.name+" of "+c.name, p.shape, operands[i].shape)
	}
	v.same(in, "the result of "+c.name, c.root.shape, result)
}

// start refuses the start of a pair that nothing, or more than one instruction, waits for.
func (v *verifier) start(in *instr, done string) {
	if v.uses == nil {
		v.uses = make([]int32, len(v.comp.instrs))
		for _, x := range v.comp.instrs {
			for _, o := range x.operands {
				v.uses[o.order]++
			}
		}
	}
	if n := v.uses[in.order]; n != 1 {
		v.fail(in, "%s must have one user, the %s; found %d", in.opName(), done, n)
	}
}

// async checks async-start, async-update and async-done: types ((operands), result, ...), and a computation of one
// instruction.
func (v *verifier) async(in *instr) {
	switch in.op {
	case opAsyncStart:
		v.start(in, "update or done")
		if !in.shape.isTuple() || len(in.shape.elems) < 2 || !in.shape.elems[0].isTuple() || len(in.shape.elems[0].elems) != len(in.operands) {
			v.fail(in, "%s must have the type ((operands), result)", in.opName())
			return
		}
		for i, o := range in.operands {
			v.same(in, "the operand in the result", in.shape.elems[0].elems[i], o.shape)
		}
		if c := attrOf[*computation](in, "calls"); c != nil && c.defined {
			v.called(in, c, in.operands, in.shape.elems[1])
			if len(c.instrs) != len(c.params)+1 && !in.groupsCollectives(c) {
				v.fail(in, "computation %s of %s must hold one instruction besides its parameters", c.name, in.opName())
			}
		}
	case opAsyncUpdate:
		v.same(in, "the result", in.shape, in.operands[0].shape)
	case opAsyncDone:
		if s := in.operands[0].shape; s.isTuple() && len(s.elems) > 1 {
			v.same(in, "the result", in.shape, s.elems[1])
		}
	}
}

// compare refuses a type of comparison that the element type does not have.
func (v *verifier) compare(in *instr) {
	kind, ok := in.attrByName("type").(int64)
	s := in.operands[0].shape
	if !ok || !s.isArray() {
		return
	}
	want := s.defaultComparison()
	if name := comparisonTypes[kind]; kind != want && !(comparisonTypes[want] == "FLOAT" && name == "TOTALORDER") {
		v.fail(in, "compare of %s with type %s, expected %s", s.plain(), name, comparisonTypes[want])
	}
}

// extraOperands checks that a product or convolution has two operands and those that its configurations name.
func (v *verifier) extraOperands(in *instr) {
	var named []int64
	if c := attrOf[*sparsityConfig](in, aSparsity.name); c != nil {
		named = append(named, c.lhs.index, c.rhs.index)
	}
	if c := attrOf[*blockScalingConfig](in, aBlockScaling.name); c != nil {
		named = append(named, c.lhs.scale, c.lhs.zero, c.rhs.scale, c.rhs.zero)
	}
	slices.Sort(named)
	named = slices.DeleteFunc(slices.Compact(named), func(i int64) bool { return i == 0 })
	for _, i := range named {
		if i < 2 || i >= int64(len(in.operands)) {
			v.fail(in, "%s has %d operands, but a configuration names operand %d", in.op.name, len(in.operands), i)
		}
	}
	if extra := len(in.operands) - 2; extra != len(named) {
		v.fail(in, "%s has %d operands, but its configurations name %d operands after the first two", in.op.name, len(in.operands), len(named))
	}
}
