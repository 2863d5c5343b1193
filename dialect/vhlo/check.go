package vhlo

import (
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// The parts of VHLO attributes, types and ops are VHLO's. Artifacts of mixed dialects also hold attributes and types
// that VHLO has no form for. The readers of attributes and types check their parts, and the converter checks those of
// ops. All rules of upgrades rely on it.

// failer is the part of an ir.Coder that reports mistakes.
type failer interface {
	Context() *ir.Context
	Failf(format string, args ...any)
}

// asmFailer reports mistakes at a position of a text.
type asmFailer struct {
	p   ir.AsmParser
	pos diag.Pos
}

func (f asmFailer) Context() *ir.Context             { return f.p.Context() }
func (f asmFailer) Failf(format string, args ...any) { f.p.ErrorfAt(f.pos, format, args...) }

// checker is the data of an attribute with parts.
type checker interface{ check(f failer) }

func isVHLO(a ir.Attr) bool {
	switch a := a.(type) {
	case *ir.DialectAttr:
		return a.Dialect() == "vhlo"
	case *ir.EnumAttr:
		return a.Enum().Dialect == "vhlo"
	}
	return false
}

// attrProblem returns the error for an attribute that must be VHLO's and is not, or "".
func (c *converter) attrProblem(a ir.Attr) string {
	if isVHLO(a) || c.newAttr(a) == nil {
		return ""
	}
	return fmt.Sprintf("expected an attribute of VHLO, found %.100s", a)
}

// typeProblem is misplaced for the type of a value.
func (c *converter) typeProblem(t ir.Type) string {
	if dataOf(t) != nil || c.typeTo(t) == nil {
		return ""
	}
	return fmt.Sprintf("expected a type of VHLO, found %.100s", t)
}

// requireVHLO fails if an attribute of a list is misplaced.
func requireVHLO(f failer, list ...ir.Attr) {
	for _, a := range list {
		if isVHLO(a) {
			continue
		}
		if problem := newConverter(f.Context(), Current, true).attrProblem(a); problem != "" {
			f.Failf("%s", problem)
		}
	}
}

// part fails if the data of an attribute is not a T.
func part[T any](f failer, a ir.Attr, noun string) {
	if _, ok := ir.DataOf[T](a); !ok {
		f.Failf("expected %s of VHLO, found %.100s", noun, a)
	}
}

func parts[T any](f failer, a ir.Attr, noun string) {
	part[array](f, a, "a list")
	for _, x := range elems(a) {
		part[T](f, x, noun)
	}
}

func (d *array) check(f failer) { requireVHLO(f, d.elems...) }

func (d *dictionary) check(f failer) {
	for _, n := range d.names {
		part[text](f, n, "a string")
	}
	requireVHLO(f, d.values...)
}

func (d *typeRef) check(f failer) {
	if dataOf(d.typ) == nil {
		f.Failf("expected a type of VHLO, found %.100s", d.typ)
	}
}

func (d *float) check(f failer) {
	if _, ok := FromType(d.typ).(*ir.FloatType); !ok {
		f.Failf("expected a floating-point type of VHLO, found %.100s", d.typ)
	}
}

func (d *integer) check(f failer) {
	if _, ok := FromType(d.typ).(*ir.FloatType); ok {
		f.Failf("expected an integer type of VHLO, found %.100s", d.typ)
	}
}

func (d *accuracy) check(f failer) {
	if e, ok := d.mode.(*ir.EnumAttr); !ok || e.Enum() != modeEnum {
		f.Failf("expected the mode of an accuracy of VHLO, found %.100s", d.mode)
	}
}

func (d *axisRef) check(f failer) {
	part[text](f, d.name, "a string")
	if d.sub != nil {
		part[subAxis](f, d.sub, "a part of an axis")
	}
}

func (d *groups) check(f failer) {
	requireVHLO(f, d.mesh)
	parts[axisRef](f, d.axes, "an axis")
}

func (d *meshAxis) check(f failer) { part[text](f, d.name, "a string") }

func (d *mesh) check(f failer) {
	parts[meshAxis](f, d.axes, "an axis")
	if d.devices != nil {
		requireVHLO(f, d.devices)
	}
}
