package vhlo

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/dialect/builtin"
	"github.com/hlocb/hlocb/ir"
)

// IsVHLO reports whether some operation at the top of a module is a VHLO operation.
func IsVHLO(m *ir.Module) bool {
	for op := range m.Body().Ops() {
		if rows.byDef[op.Def()] != nil {
			return true
		}
	}
	return false
}

// Upgrade converts a VHLO module to a new StableHLO module. It does not change m. It keeps operations of other dialects
// unchanged. The error is a *diag.Diagnostic at the invalid operation.
func Upgrade(m *ir.Module) (*ir.Module, error) {
	t := newTranslator(m, newConverter(m.Context(), Current, true))
	t.up = true
	return t.run()
}

// reference is the version whose writer determines the order of uses: the version in jaxlib 0.10.2. A version change
// leaves no trace on operations that it does not know.
var reference = Version{1, 17, 0}

// Options controls how Downgrade writes.
type Options struct {
	Target Version
	// KeepOthers keeps operations, types and attributes of other dialects. Without it, they are errors if they occur
	// together with VHLO.
	KeepOthers bool
	// StripLocations omits the locations of operations.
	StripLocations bool
}

// Downgrade converts a StableHLO module to a new VHLO module, in the form that o.Target knows. It does not change m.
// The error names the first operation that the target cannot express, and the version that can.
func Downgrade(m *ir.Module, o Options) (*ir.Module, error) {
	if err := o.Target.Check(); err != nil {
		return nil, err
	}
	t := newTranslator(m, newConverter(m.Context(), o.Target, o.KeepOthers))
	t.strip = o.StripLocations
	return t.run()
}

// translator copies a module op by op into the other dialect.
type translator struct {
	*converter
	from, to *ir.Module
	up       bool // from VHLO
	strip    bool
	values   []*ir.Value             // by the ID of the old value
	casts    map[*ir.Value]*ir.Value // by the new value
	folded   map[*ir.Op]bool         // old casts that have no copy
	last     map[*ir.Use]bool        // uses by users of folded casts
	late     []lateOperand
	copies   []opCopy    // all ops, in program order
	used     []*ir.Use   // the last use so far, by the ID of the old value
	disorder []*ir.Value // old values whose uses are not in program order
	blocks   map[*ir.Block]*ir.Block
	st       ir.OpState
	err      error
}

type opCopy struct {
	from, to *ir.Op
	replaced bool // MLIR replaces the op when it changes the version
}

// lateOperand is an operand that comes before the definition of its value.
type lateOperand struct {
	op    *ir.Op
	index int
	value *ir.Value
	vhlo  bool
}

func newTranslator(m *ir.Module, c *converter) *translator {
	return &translator{
		converter: c, from: m, to: ir.NewModule(m.Context(), m.Source()),
		values: make([]*ir.Value, m.NumIDs()), used: make([]*ir.Use, m.NumIDs()), casts: map[*ir.Value]*ir.Value{}, folded: map[*ir.Op]bool{}, last: map[*ir.Use]bool{}, blocks: map[*ir.Block]*ir.Block{},
	}
}

func (t *translator) run() (*ir.Module, error) {
	old, op := t.from.Op(), t.to.Op()
	op.SetAttrs(old.Attrs())
	op.SetLoc(t.loc(old.Loc()))
	op.SetPos(old.Pos())
	t.to.SetResources(t.from.Resources())
	for o := range t.from.Body().Ops() {
		t.op(o, t.to.Body())
		if t.err != nil {
			return nil, t.err
		}
	}
	for _, l := range t.late {
		v := t.use(l.op, l.value, l.vhlo)
		if t.err != nil {
			return nil, t.err
		}
		l.op.SetOperand(l.index, v)
	}
	t.orderUses()
	t.orderVersions()
	return t.to, nil
}

func (t *translator) loc(l *ir.Loc) *ir.Loc {
	if t.strip {
		return nil
	}
	return l
}

// fail records an error at an old op.
func (t *translator) fail(op *ir.Op, format string, args ...any) {
	if t.err == nil {
		t.err = t.from.Errorf(op, format, args...)
	}
}

// op appends a copy of an op to block.
func (t *translator) op(o *ir.Op, block *ir.Block) {
	if t.up && o.Is(builtin.UnrealizedConversionCast) && t.fold(o) {
		return
	}
	st := &t.st
	*st = ir.OpState{Operands: st.Operands[:0], Types: st.Types[:0], Successors: st.Successors[:0]}
	st.Loc, st.Pos, st.Regions, st.Verbatim = t.loc(o.Loc()), o.Pos(), len(o.Regions()), o.Verbatim()
	vhlo, replaced := t.define(o, st)
	if t.err != nil {
		return
	}
	converted := st.Def != o.Def()
	for i := range o.NumOperands() {
		v := o.Operand(i)
		st.Operands = append(st.Operands, t.values[v.ID()])
		last, u := &t.used[v.ID()], o.OperandUse(i)
		if *last != nil && (*last).Next() != u {
			t.disorder = append(t.disorder, v)
		}
		*last = u
	}
	late := false
	for i, v := range st.Operands {
		if v == nil {
			late = true
		} else if (dataOf(v.Type()) != nil) != vhlo {
			st.Operands[i] = t.use(o, o.Operand(i), vhlo)
		}
	}
	if t.err != nil {
		return
	}
	for i := range o.NumResults() {
		st.Types = append(st.Types, t.typ(o, o.Result(i).Type(), converted))
	}
	for i, b := range o.Successors() {
		if t.blocks[b] == nil { // the input is not verified
			t.fail(o, "branching to block of a different region: successor #%d", i)
		}
		st.Successors = append(st.Successors, t.blocks[b])
	}
	if t.err != nil {
		return
	}
	n := t.to.NewOp(st)
	if late {
		for i := range o.NumOperands() {
			if n.Operand(i) == nil {
				t.late = append(t.late, lateOperand{n, i, o.Operand(i), vhlo})
			}
		}
	}
	block.Append(n)
	t.copies = append(t.copies, opCopy{o, n, replaced})
	for i := range o.NumResults() {
		v := o.Result(i)
		t.values[v.ID()] = n.Result(i)
		n.Result(i).SetName(v.Name())
	}
	for i, r := range o.Regions() {
		for _, b := range r.Blocks() {
			nb := n.Region(i).AddBlock()
			t.blocks[b] = nb
			for _, a := range b.Args() {
				v := nb.AddArg(t.typ(o, a.Type(), converted), t.loc(a.Loc()))
				v.SetName(a.Name())
				t.values[a.ID()] = v
			}
		}
		for k, b := range r.Blocks() {
			nb := n.Region(i).Blocks()[k]
			for x := b.First(); x != nil; x = x.Next() {
				if t.op(x, nb); t.err != nil {
					return
				}
			}
		}
	}
}

// fold removes a cast between VHLO and the type that it represents, and reports whether o is such a cast.
func (t *translator) fold(o *ir.Op) bool {
	if o.NumOperands() != o.NumResults() {
		return false
	}
	for i := range o.NumOperands() {
		a, b := o.Operand(i).Type(), o.Result(i).Type()
		if (dataOf(a) == nil) == (dataOf(b) == nil) || FromType(a) != FromType(b) || t.values[o.Operand(i).ID()] == nil {
			return false
		}
	}
	for i := range o.NumOperands() {
		t.values[o.Result(i).ID()] = t.values[o.Operand(i).ID()]
		t.disorder = append(t.disorder, o.Operand(i))
	}
	t.folded[o] = true
	return true
}

// define sets the definition and attributes of the copy of o. vhlo reports whether its operands have VHLO types.
// replaced reports whether MLIR replaces the op when it changes the version.
func (t *translator) define(o *ir.Op, st *ir.OpState) (vhlo, replaced bool) {
	st.Def, st.Attrs = o.Def(), o.Attrs()
	var err error
	if t.up {
		row := rows.byDef[o.Def()]
		if row == nil {
			return false, false
		}
		name := row.base
		if p := o.Parent(); row.name == "return" && p != nil && rows.byDef[p.Def()] != nil && rows.byDef[p.Def()].name == "func" {
			name = "func.return"
		}
		st.Def = t.to.Def(name)
		if st.Attrs, err = t.attrsFromVHLO(row, st.Def, o.Attrs()); err != nil {
			t.fail(o, "%s", err)
		}
		return false, row.replaced()
	}
	row := latest(o.Name())
	if row == nil || !o.Def().Known() {
		return false, false
	}
	if st.Attrs, err = t.attrsToVHLO(o, row); err != nil {
		t.fail(o, "%s", err)
		return true, false
	}
	for t.target.Less(row.since) {
		older := t.older(o, row, st)
		if older == nil {
			return true, false
		}
		replaced = replaced || !reference.Less(row.since)
		row = older
	}
	st.Def = row.def
	t.check(o, row, st.Attrs)
	return true, replaced
}

// typ returns the type of a value of the copy of o.
func (t *translator) typ(o *ir.Op, x ir.Type, converted bool) ir.Type {
	if t.up {
		if converted {
			if problem := t.typeProblem(x); problem != "" {
				t.fail(o, "a value of %s: %s", o.Name(), problem)
			}
		}
		return FromType(x)
	}
	if !converted {
		return x
	}
	v := t.typeTo(x)
	if v == nil {
		if t.keepOthers {
			return x
		}
		t.fail(o, "VHLO has no form for the type %.100s of %s", x, o.Name())
		return x
	}
	if problem := t.typeFault(v); problem != "" {
		t.fail(o, "%s: %s", o.Name(), problem)
	}
	return v
}

// use returns the copy of old value v in the form that op needs. It adds a cast if v has the other form.
func (t *translator) use(op *ir.Op, v *ir.Value, vhlo bool) *ir.Value {
	n := t.values[v.ID()]
	if n == nil {
		t.fail(op, "an operand of %s is defined in no block around it", op.Name())
		return nil
	}
	if t.up || (dataOf(n.Type()) != nil) == vhlo {
		return n
	}
	to := FromType(n.Type())
	if vhlo {
		if to = t.typeTo(n.Type()); to == nil {
			if !t.keepOthers {
				t.fail(op, "VHLO has no form for the type %.100s of an operand of %s", n.Type(), op.Name())
			}
			return n
		}
	}
	if !t.keepOthers {
		at := op
		if vhlo {
			if d := v.DefiningOp(); d != nil {
				at = d
			}
		}
		t.fail(at, "VHLO has no form for %s; only the routes xla and xla-mixed lower it or keep it", at.Name())
		return n
	}
	if c := t.casts[n]; c != nil {
		return c
	}
	var after *ir.Op
	loc := n.Loc()
	if d := n.DefiningOp(); d != nil {
		after, loc = d, d.Loc()
	} else { // casts of arguments are in reverse order
		for x := n.ParentBlock().First(); x != nil && x.Is(builtin.UnrealizedConversionCast) && t.casts[x.Operand(0)] == x.Result(0) && x.Operand(0).Index() > n.Index(); x = x.Next() {
			after = x
		}
	}
	b := t.to.AtStart(n.ParentBlock())
	if after != nil {
		b = t.to.After(after)
	}
	if vhlo { // MLIR creates it for the user
		loc = t.loc(op.Loc())
	}
	b.At(loc, op.Pos())
	c := b.Create(builtin.UnrealizedConversionCast, []*ir.Value{n}, []ir.Type{to}).Result(0)
	t.casts[n] = c
	t.disorder = append(t.disorder, v)
	return c
}

// older returns the version before row that target may know, and removes the parts that this version lacks.
func (t *translator) older(o *ir.Op, row *opRow, st *ir.OpState) *opRow {
	list := rows.byName[row.name]
	i := slices.Index(list, row)
	need := func(feature string) *opRow {
		t.fail(o, "%s%s needs StableHLO %s; the target is %s", o.Name(), feature, row.since, t.target)
		return nil
	}
	if i == 0 {
		return need("")
	}
	old := list[i-1]
	out := make(ir.AttrList, 0, len(st.Attrs))
	for _, a := range st.Attrs {
		if slices.Contains(old.attrs, a.Name) || !slices.Contains(row.attrs, a.Name) {
			out = append(out, a)
			continue
		}
		if !isNone(a.Attr) && !isEmptyDense(a.Attr) && !isDefault(row.name, a.Name, a.Attr) {
			return need(" with " + a.Name)
		}
	}
	switch row.name {
	case "all_gather", "all_reduce", "all_to_all", "collective_broadcast":
		if o.NumOperands() != 1 {
			return need(" with several operands")
		}
	case "composite":
		if len(o.Regions()) > 0 {
			return need(" with regions")
		}
	case "dynamic_conv":
		out = append(out, ir.NamedAttr{Name: "padding", Attr: t.noPadding(windowRank(o)), Inherent: true})
		out.Sort()
	}
	st.Attrs = out
	return old
}

func isEmptyDense(a ir.Attr) bool {
	d, ok := ir.DataOf[dense](a)
	return ok && d.elems.NumElements() == 0
}

// lastRule is the last version with a rule in check and typeFault: no type, attribute or feature of an operation is
// newer.
var lastRule = Version{1, 17, 0}

// check fails if an op of a version that the target knows uses a feature that the target does not know.
func (t *translator) check(o *ir.Op, row *opRow, attrs ir.AttrList) {
	need := func(feature string, since Version) {
		if t.target.Less(since) {
			t.fail(o, "%s with %s needs StableHLO %s; the target is %s", o.Name(), feature, since, t.target)
		}
	}
	if !t.target.Less(lastRule) {
		return
	}
	for _, a := range attrs {
		if problem := t.attrFault(a.Attr); problem != "" {
			t.fail(o, "%s with %s: %s", o.Name(), a.Name, problem)
		}
	}
	for i := range o.NumOperands() {
		if v := t.typeTo(o.Operand(i).Type()); v != nil {
			if problem := t.typeFault(v); problem != "" {
				t.fail(o, "%s: %s", o.Name(), problem)
			}
		}
	}
	switch row.name {
	case "reduce", "all_reduce", "reduce_scatter", "reduce_window", "scatter", "select_and_scatter":
		for i := range min(o.NumOperands(), o.NumResults()) {
			if element(o.Operand(i).Type()) != element(o.Result(i).Type()) {
				need("results of another element type than its operands", Version{0, 17, 0})
			}
		}
	case "custom_call":
		if _, ok := ir.DataOf[dictionary](attrs.Get("backend_config")); ok {
			need("a dictionary as backend_config", Version{1, 3, 0})
		}
		if isTypedFFI(attrs.Get("api_version")) {
			need("API_VERSION_TYPED_FFI", Version{1, 3, 0})
		}
		for i := range o.NumOperands() {
			if v := dataOf(t.typeTo(o.Operand(i).Type())); v != nil && v.row.Name == "future_v1" {
				need("operands that are futures", Version{1, 17, 0})
			}
		}
	}
}

func element(t ir.Type) ir.Type {
	if x, ok := t.(*ir.TensorType); ok {
		return x.Elem()
	}
	return t
}

// typeFault names the feature of a VHLO type that the target does not know, or returns "".
func (c *converter) typeFault(t ir.Type) string {
	if !c.target.Less(lastRule) {
		return ""
	}
	if s, ok := c.wrong[t]; ok {
		return s
	}
	s := ""
	if d := dataOf(t); d != nil {
		if c.target.Less(d.since) {
			s = fmt.Sprintf("the type %.100s needs StableHLO %s; the target is %s", d.builtin, d.since, c.target)
		}
		if d.row.Name != "future_v1" && d.row.Name != "quant_per_axis_v1" { // upstream does not check those
			for _, p := range d.parts {
				if s == "" {
					s = c.typeFault(p)
				}
			}
		}
	}
	c.wrong[t] = s
	return s
}

// attrFault names the feature of a VHLO attribute that the target does not know, or returns "".
func (c *converter) attrFault(a ir.Attr) string {
	if s, ok := c.faults[a]; ok {
		return s
	}
	s := ""
	if since := attrSince(a); c.target.Less(since) {
		s = fmt.Sprintf("%.100s needs StableHLO %s; the target is %s", fromAttr(c.ctx, a), since, c.target)
	}
	each := func(list ...ir.Attr) {
		for _, x := range list {
			if s == "" && x != nil {
				s = c.attrFault(x)
			}
		}
	}
	if d, ok := a.(*ir.DialectAttr); ok && s == "" {
		switch d := d.Data().(type) {
		case *array:
			each(d.elems...)
		case *dictionary:
			each(d.values...)
		case *float:
			s = c.typeFault(d.typ)
		case *integer:
			s = c.typeFault(d.typ)
		case *dense:
			s = c.typeFault(d.typ)
		case *typeRef:
			s = c.typeFault(d.typ)
		}
	}
	c.faults[a] = s
	return s
}

// orderUses sorts the uses of the copied values as in the original. Casts and the users of folded casts are in the
// order that MLIR leaves: the cast is the last use of a VHLO value, and the first use of another value, whose other
// uses follow in program order. Users of folded casts come last, those in StableHLO reversed.
func (t *translator) orderUses() {
	if len(t.disorder) == 0 && len(t.casts) == 0 {
		return
	}
	ops := make(map[*ir.Op]*ir.Op, len(t.copies))
	position := make(map[*ir.Op]int, len(t.copies))
	for i, c := range t.copies {
		ops[c.from] = c.to
		position[c.to] = i
	}
	done := map[*ir.Value]bool{}
	for _, v := range t.disorder {
		n := t.values[v.ID()]
		if done[v] || n == nil || t.folded[v.DefiningOp()] {
			continue
		}
		done[v] = true
		var list, late []*ir.Use
		var walk func(v *ir.Value, folded bool)
		walk = func(v *ir.Value, folded bool) {
			for u := range v.Uses() {
				o := ops[u.Owner()]
				switch {
				case o == nil:
					walk(u.Owner().Result(u.Index()), true)
				case o.Operand(u.Index()) != n: // of a cast
				case folded:
					late = append(late, o.OperandUse(u.Index()))
				default:
					list = append(list, o.OperandUse(u.Index()))
				}
			}
		}
		walk(v, false)
		if dataOf(v.Type()) != nil {
			slices.Reverse(late)
		}
		for _, u := range late {
			t.last[u] = true
		}
		list = append(list, late...)
		if c := t.casts[n]; c != nil {
			u := c.DefiningOp().OperandUse(0)
			if dataOf(n.Type()) != nil {
				list = append(list, u)
			} else {
				slices.SortFunc(list, func(a, b *ir.Use) int {
					return cmp.Or(cmp.Compare(position[a.Owner()], position[b.Owner()]), cmp.Compare(a.Index(), b.Index()))
				})
				list = slices.Insert(list, 0, u)
				uses := slices.Collect(c.Uses())
				slices.Reverse(uses)
				c.SortUses(uses)
			}
		}
		n.SortUses(list)
	}
}

// orderVersions sorts the uses of values as MLIR leaves them. MLIR replaces each op whose version changes. The results
// of such an op have the uses by all other ops in reverse order, and each of its operands has the uses by replaced ops
// last.
func (t *translator) orderVersions() {
	var position map[*ir.Op]int // of replaced ops, in program order
	for i, c := range t.copies {
		if c.replaced {
			if position == nil {
				position = map[*ir.Op]int{}
			}
			position[c.to] = i
		}
	}
	if position == nil {
		return
	}
	order := func(v *ir.Value, replaced bool) {
		if !v.HasUses() || v.HasOneUse() {
			return
		}
		var moved, keepOthers, last []*ir.Use
		for u := range v.Uses() {
			if t.last[u] {
				last = append(last, u)
			} else if _, ok := position[u.Owner()]; ok {
				moved = append(moved, u)
			} else {
				keepOthers = append(keepOthers, u)
			}
		}
		slices.SortFunc(moved, func(a, b *ir.Use) int {
			if a.Owner() != b.Owner() {
				return position[a.Owner()] - position[b.Owner()]
			}
			return a.Index() - b.Index()
		})
		if replaced {
			slices.Reverse(keepOthers)
			v.SortUses(slices.Concat(moved, keepOthers, last))
		} else {
			v.SortUses(slices.Concat(keepOthers, moved, last))
		}
	}
	done := map[*ir.Value]bool{}
	for _, c := range t.copies {
		if !c.replaced {
			continue
		}
		for i := range c.to.NumOperands() {
			v := c.to.Operand(i)
			if done[v] {
				continue
			}
			done[v] = true
			d := v.DefiningOp()
			_, replaced := position[d]
			order(v, d != nil && replaced)
		}
		for i := range c.to.NumResults() {
			if v := c.to.Result(i); !done[v] {
				done[v] = true
				order(v, true)
			}
		}
	}
}
