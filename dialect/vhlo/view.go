package vhlo

import "github.com/hlocb/hlocb/ir"

// Upgrader converts ops to current StableHLO one by one while a file is read. It accepts files whose ops are all VHLO,
// without operations that MLIR replaces during an upgrade. Upgrade handles all other files.
type Upgrader struct {
	c *converter
	m *ir.Module
}

// NewUpgrader returns an upgrader for the ops of m.
func NewUpgrader(m *ir.Module) *Upgrader {
	return &Upgrader{newConverter(m.Context(), Current, true), m}
}

// Accept reports whether the upgrader can convert ops of the given kinds.
func (u *Upgrader) Accept(defs []*ir.Def) bool {
	for _, d := range defs {
		row := rows.byDef[d]
		if row == nil && d.Name != "builtin.module" || row != nil && row.replaced() {
			return false
		}
	}
	return len(defs) > 1
}

// replaced reports whether MLIR replaces the op during an upgrade.
func (r *opRow) replaced() bool { return r.until != Version{} && !reference.Less(r.until) }

// Op returns the definition and attributes of the op that a VHLO op represents. parent is the kind of the enclosing op.
func (u *Upgrader) Op(def *ir.Def, attrs ir.AttrList, parent *ir.Def) (*ir.Def, ir.AttrList, error) {
	row := rows.byDef[def]
	if row == nil {
		return def, attrs, nil
	}
	name := row.base
	if row.name == "return" && parent != nil && parent.Name == "func.func" {
		name = "func.return"
	}
	to := u.m.Def(name)
	attrs, err := u.c.attrsFromVHLO(row, to, attrs)
	return to, attrs, err
}

// Type returns the type that a VHLO type represents, or a description of the type's error.
func (u *Upgrader) Type(t ir.Type) (v ir.Type, problem string) {
	return FromType(t), u.c.typeProblem(t)
}

// View presents the ops of a StableHLO module to writers as VHLO. It accepts modules whose ops are all StableHLO,
// without operations that MLIR replaces for the target. Downgrade handles all other modules.
type View struct {
	t  *translator
	st ir.OpState
	// Refused is the error for modules that only Downgrade handles.
	refused error
}

// NewView returns a view of m for a target. refused is the error for modules that the view cannot present.
func NewView(m *ir.Module, target Version, refused error) *View {
	return &View{t: &translator{converter: newConverter(m.Context(), target, false), from: m}, refused: refused}
}

// Op returns the definition and attributes of an op.
func (v *View) Op(op *ir.Op) (*ir.Def, ir.AttrList, error) {
	if latest(op.Name()) == nil || !op.Def().Known() {
		if op.NumOperands() == 0 && op.NumResults() == 0 && op.Name() == "builtin.module" {
			return op.Def(), op.Attrs(), nil
		}
		return nil, nil, v.refused
	}
	v.st.Def, v.st.Attrs = nil, nil
	_, replaced := v.t.define(op, &v.st)
	if v.t.err != nil {
		return nil, nil, v.t.err
	}
	if replaced {
		return nil, nil, v.refused
	}
	return v.st.Def, v.st.Attrs, nil
}

// Type returns the type of a value of op.
func (v *View) Type(op *ir.Op, t ir.Type) (ir.Type, error) {
	if rows := latest(op.Name()); rows == nil {
		return t, nil
	}
	x := v.t.typ(op, t, true)
	return x, v.t.err
}
