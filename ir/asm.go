package ir

import (
	"fmt"
	"strings"
	"sync"

	"github.com/hlocb/hlocb/diag"
)

// AsmParser is what the Parse hook of a Def, the ParseType and ParseAttr hooks of a Dialect, and directives read
// with. Its methods do not return errors: the first mistake is reported with its position and ends the op; hooks
// need no clean-up, they are simply not returned to.
//
// Punctuation is given by its text: ( ) { } [ ] < > , : :: = -> ? * + - | / and #, @, ! where they stand alone.
type AsmParser interface {
	Context() *Context
	// Module returns the module that is being read.
	Module() *Module
	// Pos returns the position of the current token.
	Pos() diag.Pos
	// Errorf reports a mistake at the current token and does not return.
	Errorf(format string, args ...any)
	// ErrorfAt reports a mistake at pos and does not return.
	ErrorfAt(pos diag.Pos, format string, args ...any)

	// Peek reports whether the current token is the given punctuation.
	Peek(punct string) bool
	// Accept consumes the given punctuation if it is next.
	Accept(punct string) bool
	// Expect consumes the given punctuation or fails: expected ','.
	Expect(punct string)
	// PeekKeyword, AcceptKeyword and ExpectKeyword do the same for a bare word.
	PeekKeyword(word string) bool
	AcceptKeyword(word string) bool
	ExpectKeyword(word string)
	// ParseKeyword reads any bare word (letters, digits, _ . $); ParseOptionalKeyword returns "" where there is none.
	ParseKeyword() string
	ParseOptionalKeyword() string
	// ParseKeywordOrString reads a bare word or a quoted string.
	ParseKeywordOrString() string
	// ParseInteger reads an optionally negative decimal or hexadecimal integer. As in MLIR, true is -1 and false is 0.
	ParseInteger() int64
	ParseOptionalInteger() (value int64, ok bool)
	// ParseIntegers reads [1, 2, 3].
	ParseIntegers() []int64
	// ParseIntArray reads the same as an array attribute; equal texts may give one attribute.
	ParseIntArray(elem Type) Attr
	// ParseFloat reads a decimal number, with or without a fraction.
	ParseFloat() float64
	// ParseString reads a quoted string and returns its bytes; ParseOptionalString has ok false where there is none.
	ParseString() string
	ParseOptionalString() (s string, ok bool)
	// ParseSymbol reads @name or @"name" and returns the name without '@'.
	ParseSymbol() string
	ParseOptionalSymbol() (name string, ok bool)
	// ParseList reads items separated by commas between the brackets open and close, possibly none; with open
	// "" there are no brackets and at least one item.
	ParseList(open, close string, item func())

	// ParseType reads a type.
	ParseType() Type
	ParseOptionalType() (t Type, ok bool)
	// ParseTypes reads types separated by commas, at least one.
	ParseTypes() []Type
	// ParseFunctionType reads (A, B) -> R or (A, B) -> (R, S).
	ParseFunctionType() *FunctionType
	// ParseAttr reads an attribute. Where want is not nil, a number or string without ': type' has that type.
	ParseAttr(want Type) Attr
	ParseOptionalAttr(want Type) (a Attr, ok bool)
	// ParseOptionalHash reads #dialect.name<...> or an alias of an attribute.
	ParseOptionalHash() (a Attr, ok bool)
	// ParseOptionalAttrDict reads {a = x, b} into st if there is one.
	ParseOptionalAttrDict(st *OpState)
	// ParseOptionalAttrDictWithKeyword reads attributes {...} into st if there is one.
	ParseOptionalAttrDictWithKeyword(st *OpState)
	// ParseOptionalLoc reads loc(...), nil where there is none.
	ParseOptionalLoc() *Loc

	// ParseOperand reads %name or %name#1, a use whose type is not known yet.
	ParseOperand() Operand
	ParseOptionalOperand() (o Operand, ok bool)
	// ParseOperands reads uses separated by commas, possibly none.
	ParseOperands() []Operand
	// ResolveOperand returns the value that o names, which must have type t.
	ResolveOperand(o Operand, t Type) *Value
	// ResolveOperands appends the values of operands to st.Operands. Another number of types is an error at pos.
	ResolveOperands(operands []Operand, types []Type, pos diag.Pos, st *OpState)

	// ParseArgument reads %name, and with types set %name: type {attributes} loc(...), where the attributes are
	// read only if attrs is set.
	ParseArgument(types, attrs bool) Argument
	ParseOptionalArgument(types, attrs bool) (a Argument, ok bool)
	// ParseRegion reads { ... } whose entry block has the given arguments; with none the block may name its own.
	// ParseOptionalRegion returns nil where there is no '{'.
	ParseRegion(args ...Argument) *Region
	ParseOptionalRegion(args ...Argument) *Region
	// ParseSuccessor reads ^bb1.
	ParseSuccessor() *Block
}

// Operand is a use of a value that has been read but not resolved, because its type stands further right.
type Operand struct {
	Name  []byte // without '%'
	Index int    // 1 of %name#1
	Pos   diag.Pos
}

// Argument is the declaration of a region's entry argument as an op's pretty form writes it.
type Argument struct {
	Operand
	Type  Type
	Attrs *DictAttr // nil for none
	Loc   *Loc
}

// AsmPrinter is what the Print hook of a Def, the print hooks of a Dialect, and directives write with.
type AsmPrinter interface {
	// Print writes s as it is.
	Print(s string)
	PrintInt(i int64)
	// PrintInts writes [1, 2, 3].
	PrintInts(list []int64)
	// PrintString writes s quoted; PrintSymbol writes @s, quoted where it must be; PrintKeywordOrString writes s
	// bare where it is an identifier.
	PrintString(s string)
	PrintSymbol(s string)
	PrintKeywordOrString(s string)
	PrintType(t Type)
	// PrintTypes writes types separated by commas.
	PrintTypes(types []Type)
	// PrintFunctionType writes (inputs) -> results; a single result has no parentheses.
	PrintFunctionType(inputs, results []Type)
	PrintAttr(a Attr)
	// PrintAttrWithoutType writes a without its trailing ': type'.
	PrintAttrWithoutType(a Attr)
	// PrintAttrDict writes ' {a = x, ...}' less the elided names, nothing where none is left.
	// PrintAttrDictWithKeyword writes ' attributes {...}' instead.
	PrintAttrDict(attrs AttrList, elided ...string)
	PrintAttrDictWithKeyword(attrs AttrList, elided ...string)
	// PrintValue writes the name of v: %0, %cst, %2#1. PrintOperands writes names separated by commas.
	PrintValue(v *Value)
	PrintValues(values []*Value)
	// PrintArgument writes %name: type and, with debug info, the location.
	PrintArgument(v *Value, attrs *DictAttr)
	// PrintRegion writes { ... }. entryArgs: the entry block's arguments are written as ^bb0(...), where there are
	// any; terminator: a terminator without operands and attributes is not left out.
	PrintRegion(r *Region, entryArgs, terminator bool)
	PrintSuccessor(b *Block)
	// Shadow makes the arguments of r's entry block print with the names of values from now on.
	Shadow(r *Region, values []*Value)
	// Newline starts a new line at the indentation of the op.
	Newline()
	// DebugInfo reports whether locations are written.
	DebugInfo() bool
}

// Directive is a custom directive of assembly formats: custom<Name>($a, type($b)).
type Directive struct {
	// Parse fills args (or st) from the text. Operands are stored unresolved in the Operands of their argument,
	// types in the Types of theirs, attributes in Attr or directly in st, regions in Regions.
	Parse func(p AsmParser, st *OpState, args []DirectiveArg)
	// Print writes the text. Values, Types, Attr and Regions of args hold what op has. A leading space is the
	// caller's business.
	Print func(p AsmPrinter, op *Op, args []DirectiveArg)
	// OneType says that all args are types of one operand or result each, and that a single type in the text is that of
	// them all: readers need not call Parse unless the text goes on with '('.
	OneType bool
}

// ArgKind says what an argument of a directive stands for.
type ArgKind uint8

// Kinds of directive arguments.
const (
	OperandArg     ArgKind = iota // $operand: Operands when parsing, Values when printing
	OperandTypeArg                // type($operand), type(operands): Types
	ResultTypeArg                 // type($result), type(results): Types
	AttrArg                       // $attr: Attr
	RegionArg                     // $region: Regions
	LiteralArg                    // `text` or "text": Name
	AttrDictArg                   // attr-dict: read and written by the directive
)

// DirectiveArg is one argument of a directive, resolved by name. While parsing, the directive sets the fields of
// the argument's kind; those of an argument in ref(...) hold what was read before and are not to be changed.
type DirectiveArg struct {
	Kind  ArgKind
	Name  string       // of the operand, result, attribute or region
	Mult  Multiplicity // of the operand or result
	Ref   bool         // written ref(...)
	Index int          // position among the Def's operands, results, attributes or regions; -1 for all

	Operands []Operand
	Values   []*Value
	Types    []Type
	Attr     Attr
	Regions  []*Region
}

// Reporter collects what is found wrong with a module.
type Reporter struct {
	ctx      *Context
	src      *diag.Source
	registry *Registry // nil where the module has none
	list     diag.List
	symbols  *symbolCache
	scratch  any
}

// symbolCache holds what was asked for of the symbols, for all reporters of one check.
type symbolCache struct {
	mu     sync.Mutex
	tables map[*Op]Symbols
}

// Symbols returns the symbols of table as they were when first asked for.
func (r *Reporter) Symbols(table *Op) Symbols {
	c := r.symbols
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.tables[table]
	if !ok {
		s = SymbolsOf(table)
		if c.tables == nil {
			c.tables = map[*Op]Symbols{}
		}
		c.tables[table] = s
	}
	return s
}

// Scratch returns a place for what the Verify hooks of a dialect want to use again from op to op. It belongs to one
// goroutine, and starts as nil; a hook may find there what another dialect left.
func (r *Reporter) Scratch() *any { return &r.scratch }

// Context returns the context of the types of the module that is checked.
func (r *Reporter) Context() *Context { return r.ctx }

// VerifyValueAttrs has the dialects check the discardable attributes of argument or result i of a function, of type t,
// and reports whether they are right.
func (r *Reporter) VerifyValueAttrs(op *Op, result bool, i int, t Type, attrs []NamedAttr) bool {
	before := len(r.list)
	for _, a := range attrs {
		if d := r.dialectOf(a.Name); d != nil && d.VerifyValueAttr != nil {
			d.VerifyValueAttr(op, result, i, t, a.Name, a.Attr, r)
		}
	}
	return len(r.list) == before
}

// dialectOf returns the dialect in whose namespace an attribute's name is, nil where it is in none that is registered.
func (r *Reporter) dialectOf(name string) *Dialect {
	if i := strings.IndexByte(name, '.'); i > 0 && r.registry != nil {
		return r.registry.dialects[name[:i]]
	}
	return nil
}

// PlainErrorf reports an error at op in the given words alone.
func (r *Reporter) PlainErrorf(op *Op, format string, args ...any) *diag.Diagnostic {
	d := diag.Errorf(r.src, op.pos, format, args...)
	r.list.Add(d)
	return d
}

// Errorf reports an error at op. As in MLIR the message starts with the op's name: 'stablehlo.add' op ...
func (r *Reporter) Errorf(op *Op, format string, args ...any) *diag.Diagnostic {
	d := diag.Errorf(r.src, op.pos, "'%s' op %s", op.def.Name, fmt.Sprintf(format, args...))
	r.list.Add(d)
	return d
}
