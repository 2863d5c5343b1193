package ir

import (
	"fmt"
	"strings"
)

// Traits are facts of an op kind that generic code relies on.
type Traits uint32

// Traits of op kinds.
const (
	Pure                 Traits = 1 << iota // no side effects, same operands same results: may be removed, merged, moved
	Terminator                              // ends a block
	IsolatedFromAbove                       // regions use no values from outside
	SingleBlock                             // each region holds at most one block
	NoTerminator                            // the blocks of its regions end with no terminator
	SymbolTable                             // region 0 holds symbols
	Symbol                                  // has a sym_name
	Commutative                             // operands may be swapped
	Elementwise                             // result element i depends on operand elements i only
	SameShape                               // all operands and results have one shape
	SameType                                // all operands and results have one type
	ReturnLike                              // a terminator that hands its operands to the parent op
	AttrSizedOperands                       // operandSegmentSizes tells how many operands each Arg has
	AttrSizedResults                        // resultSegmentSizes likewise
	SameVariadicOperands                    // all variadic Args among the operands have the same number
	GraphRegion                             // in a region of one block, ops may use values that are defined after them
)

// Def says everything known of one op kind. It is a row of data in a dialect package and immutable once
// registered. A nil hook means the documented default.
type Def struct {
	Name     string // full: "stablehlo.add"
	Base     *Def   // the row of another dialect that this row mirrors: of mhlo.add, stablehlo.add; nil for most rows
	Doc      string // first sentence: what it computes; then the spec section
	Operands []Arg
	Results  []Arg
	Attrs    []AttrSpec // the inherent attributes
	Regions  []RegionSpec
	Traits   Traits
	// Clauses are the constraints of the specification, by its numbers. Constraints, traits, Infer and Verify check
	// them, unless a clause says why they do not.
	Clauses []Clause

	// Format is the pretty assembly in the language of format.go; "" means that the op has only its generic
	// form, unless Parse and Print are set.
	Format string
	// Parse reads what follows the op's name in pretty form; Print writes it. Syntax describes that form to readers, in
	// the language of Format.
	Syntax string
	Parse  func(p AsmParser, st *OpState)
	Print  func(p AsmPrinter, op *Op)
	// Verify checks what rows cannot say; the structure (counts, constraints, traits) was checked before.
	Verify func(op *Op, r *Reporter)
	// VerifyEntry checks what relies on nothing inside the op, before anything there is checked.
	VerifyEntry func(op *Op, r *Reporter)
	// Infer computes the result types from operands, attributes and regions. Nil: cannot be inferred.
	Infer func(c *Context, st *OpState) ([]Type, error)

	// Flow says how values move through the op's regions or the function it calls. Nil: nothing is known.
	Flow *Flow

	// ResultNames proposes names for the results when printing (set(v, "cst") for %cst), ArgNames for the
	// arguments of the blocks of region r. For several results, set the first names the pack that starts there.
	ResultNames func(op *Op, set func(v *Value, name string))
	ArgNames    func(op *Op, r *Region, set func(v *Value, name string))
	// DefaultDialect is the dialect whose prefix ops directly in the regions may leave out: "func" in func.func.
	DefaultDialect string

	unknown bool
}

// Clause is one constraint that the specification of an op kind states.
type Clause struct {
	No        string // its number there: "C3"; empty where the specification numbers nothing
	Text      string // what must hold
	Unchecked string // why the verifier takes what breaks it, at least in part; empty where it does not
}

// Clauses reads one clause per line: its number, if it has one, its text, and behind " -- " why it is not checked.
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

// accepts reports whether t fulfils the condition.
func (c *Constraint) accepts(t Type) bool { return c.Check == nil || c.Check(t) }

// AttrSpec is one inherent attribute of a Def.
type AttrSpec struct {
	Name     string
	Type     AttrConstraint
	Optional bool
	// Late says that StableHLO 1.17 has no such attribute: bytecode leaves it out if the op has no late attribute.
	Late bool
	// Default is what an absent attribute means; formats leave it out. Where the attribute is not Optional, reading an
	// op without it sets it, as MLIR does for DefaultValuedAttr.
	Default Attr
}

// AttrConstraint is a condition on an attribute. The zero value accepts every attribute.
type AttrConstraint struct {
	Summary string // completes "failed to satisfy constraint: ..."
	Check   func(Attr) bool
	Enum    *EnumDef        // set for enumerated attributes, which formats write as the bare case
	Attr    *AttrDef        // set for attributes that have a row
	Elem    *AttrConstraint // of arrays: the condition on each element
	// Form says how formats write the attribute where they name it; FormType is the type of numbers that Form
	// leaves out, FormName the mnemonic.
	Form     AttrForm
	FormType Type
	FormName string
}

// AttrForm is a way in which formats write an attribute that they name.
type AttrForm uint8

// Forms of attributes in formats.
const (
	FormFull   AttrForm = iota // as anywhere: 3 : i64
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

// Original returns the row that d mirrors, or d itself if it mirrors none: stablehlo.add's row of mhlo.add's.
func (d *Def) Original() *Def {
	if d.Base != nil {
		return d.Base
	}
	return d
}

// Known reports whether the kind was registered by a dialect.
func (d *Def) Known() bool { return !d.unknown }

// Has reports whether every op of the kind certainly has all traits t; an unknown kind has none.
func (d *Def) Has(t Traits) bool { return !d.unknown && d.Traits&t == t }

// MightHave reports whether an op of the kind may have traits t; an unknown kind may have any.
func (d *Def) MightHave(t Traits) bool { return d.unknown || d.Traits&t == t }

// IsInherent reports whether name is an inherent attribute of the kind.
func (d *Def) IsInherent(name string) bool { return d.Attr(name) != nil }

// Attr returns the specification of the inherent attribute named name, or nil.
func (d *Def) Attr(name string) *AttrSpec {
	for i := range d.Attrs {
		if d.Attrs[i].Name == name {
			return &d.Attrs[i]
		}
	}
	return nil
}

// Dialect returns the namespace: "stablehlo" of "stablehlo.add", "" where the name has none.
func (d *Def) Dialect() string {
	for i := 0; i < len(d.Name); i++ {
		if d.Name[i] == '.' {
			return d.Name[:i]
		}
	}
	return ""
}

// Dialect is what a dialect package contributes to a Registry.
type Dialect struct {
	Name  string
	Ops   []*Def
	Attrs []*AttrDef
	Enums []*EnumDef
	Types []*TypeDef
	// ClosedTypes: a type of the dialect that is not one of Types is an error. Otherwise its text is carried.
	ClosedTypes bool
	// CheckEncoding says what is wrong with an attribute of the dialect as the encoding of a tensor type of the given
	// shape, "" for nothing. Nil: nothing ever is.
	CheckEncoding func(a *DialectAttr, shape []int64, elem Type) string
	// VerifyAttr checks a discardable attribute of the dialect's namespace ("sdy.sharding") on an op of any kind, before
	// anything else of the op is checked; VerifyValueAttr such an attribute of argument or result i of a function, of
	// type t. Nil: such attributes are always right.
	VerifyAttr      func(op *Op, name string, a Attr, r *Reporter)
	VerifyValueAttr func(op *Op, result bool, i int, t Type, name string, a Attr, r *Reporter)
	// Directives are the custom directives that the formats of Ops use, by name.
	Directives map[string]*Directive
}

// Registry holds the known dialects. It is filled by Add and then only read; reading is safe from several
// goroutines.
type Registry struct {
	dialects   map[string]*Dialect
	order      []*Dialect
	defs       map[string]*Def
	formats    map[*Def]*Format
	directives int      // uses of directives in formats
	names      []string // op names in the order of registration
}

// NewRegistry returns a registry of the given dialects. A name that is registered twice is an error.
func NewRegistry(dialects ...*Dialect) (*Registry, error) {
	r := &Registry{dialects: map[string]*Dialect{}, defs: map[string]*Def{}, formats: map[*Def]*Format{}}
	for _, d := range dialects {
		if r.dialects[d.Name] != nil {
			return nil, fmt.Errorf("dialect %q is registered twice", d.Name)
		}
		r.dialects[d.Name] = d
		r.order = append(r.order, d)
		for _, def := range d.Ops {
			if r.defs[def.Name] != nil {
				return nil, fmt.Errorf("op %q is registered twice", def.Name)
			}
			if def.Dialect() != d.Name {
				return nil, fmt.Errorf("op %q does not belong to dialect %q", def.Name, d.Name)
			}
			if def.Format != "" {
				f, err := compileFormat(def, d, &r.directives)
				if err != nil {
					return nil, err
				}
				r.formats[def] = f
			}
			r.defs[def.Name] = def
			r.names = append(r.names, def.Name)
		}
	}
	return r, nil
}

// Lookup returns the definition of the op named name, nil where none is registered. It does not allocate.
func (r *Registry) Lookup(name []byte) *Def { return r.defs[string(name)] }

// Format returns the compiled assembly format of def, nil where it has none.
func (r *Registry) Format(def *Def) *Format { return r.formats[def] }

// Dialect returns the dialect named name, or nil.
func (r *Registry) Dialect(name string) *Dialect { return r.dialects[name] }

// NumDirectives returns how many uses of directives the formats have; FormatElem.ID is below it.
func (r *Registry) NumDirectives() int { return r.directives }

// Dialects returns the dialects in the order of registration.
func (r *Registry) Dialects() []*Dialect { return r.order }

// OpNames returns the names of all registered ops in the order of registration.
func (r *Registry) OpNames() []string { return r.names }

// UnknownDef returns a definition for an op kind that no dialect registered. Two calls for one name give two
// definitions; a module keeps one per name (see Module.UnknownDef).
func UnknownDef(name string) *Def { return &Def{Name: name, unknown: true} }
