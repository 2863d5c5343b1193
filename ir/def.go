package ir

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/internal/assembly"
)

// Traits are properties of an op kind that generic code relies on.
type Traits uint32

// Traits of op kinds.
const (
	Pure                 Traits = 1 << iota // no side effects, deterministic: may be removed, merged, moved
	Terminator                              // ends a block
	IsolatedFromAbove                       // regions use no values from outside
	SingleBlock                             // each region has one block
	NoTerminator                            // the blocks of its regions have no terminator
	SymbolTable                             // region 0 holds symbols
	Symbol                                  // has a sym_name
	Commutative                             // operands may be swapped
	Elementwise                             // result element i depends on operand elements i only
	SameShape                               // all operands and results have the same shape
	SameType                                // all operands and results have the same type
	ReturnLike                              // a terminator that passes its operands to the parent op
	AttrSizedOperands                       // operandSegmentSizes holds the number of operands of each Arg
	AttrSizedResults                        // resultSegmentSizes likewise
	SameVariadicOperands                    // all variadic operand Args have the same number of values
	GraphRegion                             // in a region of one block, ops may use values that are defined after them
	NestedEffects                           // no side effects besides those of the ops in its regions
	ConstantLike                            // a Pure op without operands; its result is its first attribute
	ChosenTypes                             // what Infer returns is one choice of several: builders take the result types
)

// Def describes one op kind. It is data in a dialect package and immutable once registered. A nil hook selects the
// documented default.
type Def struct {
	Name     string // full: "stablehlo.add"
	Base     *Def   // the Def in another dialect that this one mirrors: stablehlo.add for mhlo.add; nil for most Defs
	Doc      string // first sentence: the op's result; then the spec section
	Operands []Arg
	Results  []Arg
	Attrs    []AttrSpec // the inherent attributes
	Regions  []RegionSpec
	Traits   Traits
	// Clauses are the constraints of the specification, with its numbers. Constraints, traits, Infer and Verify check
	// them, unless the clause says why not.
	Clauses []Clause

	// Format is the pretty assembly in ODS's declarative assembly format. If it is "" and Parse and Print are nil, the
	// op has only its generic form.
	Format string
	// Parse reads the text after the op's name in pretty form; Print writes it. Syntax documents that form, in the
	// language of Format.
	Syntax string
	Parse  func(p AsmParser, st *OpState)
	Print  func(p AsmPrinter, op *Op)
	// Fits reports whether the pretty form can express op; if not, op is printed in generic form. Nil: always.
	Fits func(op *Op) bool
	// Verify checks the rules that the other fields cannot express. The structure (counts, constraints, traits) has
	// already been checked. The hook of a Pure op calls Reporter.ReadsAround if it reads the ops around it, and may call
	// Reporter.ReadsTypes if it reads only attributes and the types of operands and results.
	Verify func(op *Op, r *Reporter)
	// VerifyEntry checks rules that do not depend on the op's regions, before the ops in the regions are checked.
	VerifyEntry func(op *Op, r *Reporter)
	// Infer computes the result types from operands, attributes and regions. Nil: the types cannot be inferred.
	Infer func(c *Context, st *OpState) ([]Type, error)

	// Effects returns the side effects of op, without those of the ops in its regions. Nil: none if the op is Pure or
	// has NestedEffects, else any.
	Effects func(op *Op) Effects
	// Fold returns what the results of op are equal to, one entry per result, or nil if nothing is known. It holds
	// identities, and computes with the few numbers of a shape; rewrite.Evaluator computes other values. If the op is
	// Commutative too, the driver first moves constant operands after all others.
	Fold func(op *Op) []Folded

	// Flow says how values move through the op's regions or the function it calls. Nil: unknown.
	Flow *Flow

	// ResultNames proposes names for the results when printing (set(v, "cst") for %cst), ArgNames for the block
	// arguments of region r. If an op has several results, set on the first one names the pack that starts there.
	ResultNames func(op *Op, set func(v *Value, name string))
	ArgNames    func(op *Op, r *Region, set func(v *Value, name string))
	// DefaultDialect is the dialect whose prefix may be omitted for ops directly in the regions: "func" in func.func.
	DefaultDialect string

	unknown    bool
	foreign    bool // of Dialect.Foreign; also unknown
	registered bool // also unknown, but the producer of the module knew it
}

// Folded is the value of a result: an existing value, or an attribute. The zero value means unknown.
type Folded struct {
	Value *Value
	Attr  Attr
	// Constant is the row of the op that gives Attr; nil is the constant of the op's dialect.
	Constant *Def
}

// Clause is one constraint from the specification of an op kind.
type Clause struct {
	No        string // its number in the specification: "C3"; empty if the specification does not number it
	Text      string // what must hold
	Unchecked string // why the verifier does not check it, or only in part; empty if it does
}

// Clauses parses one clause per line: an optional number, the text, and after " -- " the reason why it is not checked.
func Clauses(text string) []Clause {
	var out []Clause
	for line := range strings.Lines(text) {
		var c Clause
		if c.Text = strings.TrimSpace(line); c.Text == "" {
			continue
		}
		if no, rest, _ := strings.Cut(c.Text, " "); clauseNumber(no) {
			c.No, c.Text = no, rest
		}
		c.Text, c.Unchecked, _ = strings.Cut(c.Text, " -- ")
		out = append(out, c)
	}
	return out
}

func clauseNumber(s string) bool {
	return len(s) > 1 && s[0] == 'C' && strings.Trim(s[1:], "0123456789") == ""
}

// Arg is one operand or result of a Def.
type Arg struct {
	Name string
	Type Constraint // zero value: any type
	Mult Multiplicity
}

// Multiplicity says how many values one Arg stands for.
type Multiplicity uint8

// Multiplicities of operands, results and regions.
const (
	One Multiplicity = iota
	Optional
	Variadic
)

// Constraint is a condition on a type. The zero Constraint accepts every type.
type Constraint struct {
	Summary string // completes "must be ..., but got": "ranked tensor of 32-bit float values"
	Check   func(Type) bool
}

// accepts reports whether t meets the condition.
func (c *Constraint) accepts(t Type) bool { return c.Check == nil || c.Check(t) }

// AttrSpec is one inherent attribute of a Def.
type AttrSpec struct {
	Name     string
	Type     AttrConstraint
	Optional bool
	// Late says that older versions of the dialect lack the attribute. Bytecode omits it if the op has no late attribute.
	Late bool
	// Default is the meaning of an absent attribute; formats omit it. If the attribute is not Optional, the reader sets
	// an absent attribute to Default, as MLIR does for DefaultValuedAttr.
	Default Attr
}

// AttrConstraint is a condition on an attribute. The zero value accepts every attribute.
type AttrConstraint struct {
	Summary string // completes "failed to satisfy constraint: ..."
	// Kind is the kind of all attributes that meet the condition, if they have a common one. Views and builders turn the
	// attribute into a Go value of that kind. Enum, Attr and Elem say the same of their kinds.
	Kind  AttrKind
	Check func(Attr) bool
	Enum  *EnumDef        // set for enumerated attributes, which formats write as the bare case
	Attr  *AttrDef        // set for attributes that have an AttrDef
	Elem  *AttrConstraint // of arrays: the condition on each element
	// Form says how formats write the attribute if they name it. FormType is the type of numbers, which Form omits;
	// FormName is the mnemonic.
	Form     AttrForm
	FormType Type
	FormName string
}

// AttrKind says which Go value an attribute stands for.
type AttrKind uint8

// Kinds of attributes.
const (
	KindAny    AttrKind = iota // no common kind
	KindUnit                   // unit: present or not
	KindBool                   // true or false
	KindInt                    // a number of FormType
	KindFloat                  // a number of FormType
	KindString                 // a string
	KindSymbol                 // a flat reference @f
	KindInts                   // array<i64: 1, 2>; FormType is the element type
	KindBools                  // array<i1: true>
	KindArray                  // an array of attributes
)

// AttrForm is a way in which formats write an attribute by name.
type AttrForm uint8

// Forms of attributes in formats.
const (
	FormFull   AttrForm = iota // as everywhere else: 3 : i64
	FormBare                   // without the type, which is FormType: 3
	FormInts                   // array<i64: 1, 2> as [1, 2]; FormType is the element type
	FormSymbol                 // the string "f" as @f
	FormParams                 // #dialect.name<...> as <...>; FormName is the mnemonic, in the dialect of the op
)

// RegionSpec is one region of a Def.
type RegionSpec struct {
	Name string
	Mult Multiplicity
}

// Original returns the Def that d mirrors, or d itself if it mirrors none: stablehlo.add for mhlo.add.
func (d *Def) Original() *Def {
	if d.Base != nil {
		return d.Base
	}
	return d
}

// Known reports whether the kind was registered by a dialect.
func (d *Def) Known() bool { return !d.unknown }

// Registered reports whether bytecode marks ops of the kind as registered: hlocb knows their attributes, or the
// producer of the module did.
func (d *Def) Registered() bool { return !d.unknown || d.foreign || d.registered }

// Has reports whether every op of the kind has all traits t. It is false for an unknown kind.
func (d *Def) Has(t Traits) bool { return !d.unknown && d.Traits&t == t }

// Attr returns the specification of the inherent attribute named name, or nil.
func (d *Def) Attr(name string) *AttrSpec {
	for i := range d.Attrs {
		if d.Attrs[i].Name == name {
			return &d.Attrs[i]
		}
	}
	return nil
}

// Dialect returns the namespace: "stablehlo" of "stablehlo.add", or "" if the name has none.
func (d *Def) Dialect() string {
	for i := 0; i < len(d.Name); i++ {
		if d.Name[i] == '.' {
			return d.Name[:i]
		}
	}
	return ""
}

// Dialect is the contribution of a dialect package to a Registry.
type Dialect struct {
	Name  string
	Ops   []*Def
	Attrs []*AttrDef
	Enums []*EnumDef
	Types []*TypeDef
	// Foreign lists ops with their inherent attributes, for bytecode. Other code does not know them. A dialect with
	// nothing else stays unknown, and the Ops of another dialect of its name take their place.
	Foreign []*Def
	// OpenOps says that MLIR accepts operations of the dialect that it does not know.
	OpenOps bool
	// ClosedTypes makes any type of the dialect that Types does not list an error. Otherwise its text is kept verbatim.
	ClosedTypes bool
	// CheckEncoding returns a message if an attribute of the dialect is not a valid encoding for a tensor type of the
	// given shape, else "". Nil: all are valid.
	CheckEncoding func(a *DialectAttr, shape []int64, elem Type) string
	// VerifyAttr checks a discardable attribute of the dialect's namespace ("sdy.sharding") on an op of any kind,
	// before the op's other checks. It also gets an attribute without a prefix on an op of the dialect, and then reads no
	// more than the op's own attributes and types. VerifyValueAttr checks an attribute of the namespace on function
	// argument or result i, of type t. Nil: such attributes are always valid.
	VerifyAttr      func(op *Op, name string, a Attr, r *Reporter)
	VerifyValueAttr func(op *Op, result bool, i int, t Type, name string, a Attr, r *Reporter)
	// RemapAttr returns what becomes of a discardable attribute when the results of op change, or nil to remove the
	// attribute. The attribute is of the dialect's namespace, or has no prefix and op is of the dialect. The new results
	// have the given types. New result i is result from[i] of op, or part
	// of that result if several new results come from one tuple, or new if from[i] is -1. Nil: no attribute of the
	// dialect depends on results.
	RemapAttr func(op *Op, name string, a Attr, types []Type, from []int) Attr
	// Directives are the custom directives that the formats of Ops use, by name.
	Directives map[string]*Directive
}

// Registry holds the known dialects. After the last Add it may be read by several goroutines.
type Registry struct {
	dialects map[string]*Dialect
	order    []*Dialect
	kinds    map[string]*Kind
	uses     []DirectiveUse
}

// Kind is a registered op kind, with what the parser and the printer need of its row.
type Kind struct {
	Def      *Def
	Format   *assembly.Format // nil if the row has none
	Defaults []*AttrSpec      // attributes that every op has: their Default if the text has none
}

// NewRegistry returns a registry of the given dialects. It is an error to register a name twice.
func NewRegistry(dialects ...*Dialect) (*Registry, error) {
	r := &Registry{dialects: map[string]*Dialect{}, kinds: map[string]*Kind{}}
	for _, d := range dialects {
		for _, def := range d.Foreign {
			if r.kinds[def.Name] == nil { // a row says more
				r.kinds[def.Name] = NewKind(def)
			}
		}
		if d.Foreign != nil && d.Ops == nil && d.Attrs == nil && d.Types == nil {
			continue
		}
		if r.dialects[d.Name] != nil {
			return nil, fmt.Errorf("dialect %q is registered twice", d.Name)
		}
		r.dialects[d.Name] = d
		r.order = append(r.order, d)
		for _, def := range d.Ops {
			if old := r.kinds[def.Name]; old != nil && !old.Def.foreign {
				return nil, fmt.Errorf("op %q is registered twice", def.Name)
			}
			if def.Dialect() != d.Name {
				return nil, fmt.Errorf("op %q does not belong to dialect %q", def.Name, d.Name)
			}
			k := NewKind(def)
			if def.Format != "" {
				var err error
				if k.Format, err = assembly.Compile(r.formatOf(def, d), def.Format); err != nil {
					return nil, err
				}
				if err := complete(def, k.Format); err != nil {
					return nil, err
				}
			}
			r.kinds[def.Name] = k
		}
	}
	return r, nil
}

// Lookup returns the definition of the op named name, or nil if none is registered or r is nil. A definition in
// Dialect.Foreign is not Known.
func (r *Registry) Lookup(name string) *Def {
	if k := r.Kind(name); k != nil {
		return k.Def
	}
	return nil
}

// Kind returns the kind of the op named name, or nil if none is registered or r is nil.
func (r *Registry) Kind(name string) *Kind {
	if r == nil {
		return nil
	}
	return r.kinds[name]
}

// NewKind returns the kind of def without a format.
func NewKind(def *Def) *Kind {
	k := &Kind{Def: def}
	for i := range def.Attrs {
		if a := &def.Attrs[i]; a.Default != nil && !a.Optional {
			k.Defaults = append(k.Defaults, a)
		}
	}
	return k
}

// DirectiveUse is one use of a directive in the format of an op.
type DirectiveUse struct {
	*Directive
	Args []DirectiveArg // before they are read or printed
}

// DirectiveUses returns the uses of directives in formats, by the ID of the element. The caller must not change them.
func (r *Registry) DirectiveUses() []DirectiveUse { return r.uses }

// formatOf returns the names that the format of def, an op of dialect d, can refer to.
func (r *Registry) formatOf(def *Def, d *Dialect) assembly.Op {
	op := assembly.Op{Name: def.Name, Dialect: d.Name, Directive: func(name string, args []assembly.Arg) (int, bool) {
		use := DirectiveUse{Directive: d.Directives[name]}
		for _, a := range args {
			use.Args = append(use.Args, DirectiveArg{Kind: ArgKind(a.Kind), Name: a.Text, Index: a.Index, Mult: Multiplicity(a.Mult), Ref: a.Ref})
		}
		r.uses = append(r.uses, use)
		return len(r.uses) - 1, use.Directive != nil
	}}
	args := func(list []Arg) (out []assembly.Name) {
		for i := range list {
			out = append(out, assembly.Name{Name: list[i].Name, Mult: uint8(list[i].Mult)})
		}
		return out
	}
	op.Operands, op.Results = args(def.Operands), args(def.Results)
	for i := range def.Attrs {
		a := &def.Attrs[i]
		n := assembly.Name{Name: a.Name, Mult: uint8(One), Unit: a.Type.Kind == KindUnit}
		if a.Optional {
			n.Mult = uint8(Optional)
		}
		op.Attrs = append(op.Attrs, n)
	}
	for i := range def.Regions {
		op.Regions = append(op.Regions, assembly.Name{Name: def.Regions[i].Name, Mult: uint8(def.Regions[i].Mult)})
	}
	return op
}

// Dialect returns the dialect named name, or nil if there is none or r is nil.
func (r *Registry) Dialect(name string) *Dialect {
	if r == nil {
		return nil
	}
	return r.dialects[name]
}

// Dialects returns the dialects in the order of registration.
func (r *Registry) Dialects() []*Dialect { return r.order }

// unknownDef returns a new definition for an op kind that no dialect registered. A module keeps one per name.
func unknownDef(name string) *Def { return &Def{Name: name, unknown: true} }

// ForeignOps returns the kinds of ops for Dialect.Foreign. Each line of text names one without its dialect, then its
// inherent attributes, optional ones with "?" after the name. "operands:3" or "results:3" stands for the attribute with
// the sizes of three groups.
func ForeignOps(dialect, text string) []*Def {
	var out []*Def
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		d := &Def{Name: dialect + "." + words[0], unknown: true, foreign: true}
		for _, w := range words[1:] {
			name, num, groups := strings.Cut(w, ":")
			n, _ := strconv.Atoi(num)
			switch {
			case groups && name == "operands":
				d.Operands, d.Traits = make([]Arg, n), d.Traits|AttrSizedOperands
				d.Attrs = append(d.Attrs, AttrSpec{Name: "operandSegmentSizes"})
			case groups:
				d.Results, d.Traits = make([]Arg, n), d.Traits|AttrSizedResults
				d.Attrs = append(d.Attrs, AttrSpec{Name: "resultSegmentSizes"})
			default:
				name, optional := strings.CutSuffix(w, "?")
				d.Attrs = append(d.Attrs, AttrSpec{Name: name, Optional: optional})
			}
		}
		out = append(out, d)
	}
	return out
}
