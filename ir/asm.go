package ir

import (
	"fmt"
	"strings"
	"sync"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/assembly"
)

// AsmParser is the reader that the Parse hooks of Def, AttrDef and TypeDef use, and directives. Its methods return no
// errors. The first mistake is reported with its position and ends the parsing of the op: control does not return to
// the hook, and hooks need no clean-up.
//
// Punctuation is named by its text: ( ) { } [ ] < > , : :: = -> ? * + - | / and a stand-alone #, @ or !.
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
	// AcceptKeyword and ExpectKeyword do the same for a bare word.
	AcceptKeyword(word string) bool
	ExpectKeyword(word string)
	// ParseKeyword reads any bare word (letters, digits, _ . $); ParseOptionalKeyword returns "" if there is none.
	ParseKeyword() string
	ParseOptionalKeyword() string
	// ParseKeywordOrString reads a bare word or a quoted string.
	ParseKeywordOrString() string
	// ParseInteger reads an optionally negative decimal or hexadecimal integer. As in MLIR, true is -1 and false is 0.
	ParseInteger() int64
	ParseOptionalInteger() (value int64, ok bool)
	// ParseEnum reads a bare case of def and returns its code.
	ParseEnum(def *EnumDef) int
	// ParseIntegers reads [1, 2, 3].
	ParseIntegers() []int64
	// ParseIntArray reads the same list as an array attribute; equal texts may share one attribute.
	ParseIntArray(elem Type) Attr
	// ParseFloat reads a decimal number, with or without a fraction.
	ParseFloat() float64
	// ParseString reads a quoted string and returns its bytes; ParseOptionalString returns ok false if there is none.
	ParseString() string
	ParseOptionalString() (s string, ok bool)
	// ParseSymbol reads @name or @"name" and returns the name without '@'.
	ParseSymbol() string
	ParseOptionalSymbol() (name string, ok bool)
	// ParseList reads a possibly empty list of items separated by commas between the brackets open and close. If open
	// is "", there are no brackets and at least one item.
	ParseList(open, close string, item func())

	// ParseType reads a type.
	ParseType() Type
	ParseOptionalType() (t Type, ok bool)
	// ParseTypes reads one or more types separated by commas.
	ParseTypes() []Type
	// ParseShape reads the dimensions before an element type, each followed by x: 4x?x. An open one is Dynamic.
	ParseShape() []int64
	// ParseFunctionType reads (A, B) -> R or (A, B) -> (R, S).
	ParseFunctionType() *FunctionType
	// ParseAttr reads an attribute. If want is not nil, a number or string without ': type' has type want.
	ParseAttr(want Type) Attr
	ParseOptionalAttr(want Type) (a Attr, ok bool)
	// ParseOptionalHash reads #dialect.name<...> or an attribute alias.
	ParseOptionalHash() (a Attr, ok bool)
	// ParseOptionalAttrDict reads {a = x, b} into st if there is one.
	ParseOptionalAttrDict(st *OpState)
	// ParseOptionalAttrDictWithKeyword reads attributes {...} into st if there is one.
	ParseOptionalAttrDictWithKeyword(st *OpState)
	// ParseOptionalLoc reads loc(...) and returns nil if there is none.
	ParseOptionalLoc() *Loc

	// ParseOperand reads %name or %name#1, a use whose type is not yet known.
	ParseOperand() Operand
	ParseOptionalOperand() (o Operand, ok bool)
	// ResolveOperand returns the value that o names, which must have type t.
	ResolveOperand(o Operand, t Type) *Value
	// ResolveOperands appends the values of operands to st.Operands. It reports an error at pos if the number of types
	// differs from the number of operands.
	ResolveOperands(operands []Operand, types []Type, pos diag.Pos, st *OpState)

	// ParseArgument reads %name, or %name: type {attributes} loc(...) if types is set. It reads the attributes only if
	// attrs is set.
	ParseArgument(types, attrs bool) Argument
	ParseOptionalArgument(types, attrs bool) (a Argument, ok bool)
	// ParseRegion reads { ... } and gives the entry block the arguments args. Without args the text may declare them.
	// ParseOptionalRegion returns nil if there is no '{'.
	ParseRegion(args ...Argument) *Region
	ParseOptionalRegion(args ...Argument) *Region
	// ParseSuccessor reads ^bb1.
	ParseSuccessor() *Block
}

// Operand is a use of a value that was read but not resolved, because its type follows later in the text.
type Operand struct {
	Name  []byte // without '%'
	Index int    // 1 of %name#1
	Pos   diag.Pos
}

// Argument declares an entry argument of a region, as the pretty form of an op writes it.
type Argument struct {
	Operand
	Type  Type
	Attrs *DictAttr // nil if there are none
	Loc   *Loc
}

// AsmPrinter is the writer that the Print hooks of Def, AttrDef and TypeDef use, and directives.
type AsmPrinter interface {
	// Print writes s unchanged.
	Print(s string)
	PrintInt(i int64)
	// PrintInts writes [1, 2, 3].
	PrintInts(list []int64)
	// PrintString writes s quoted. PrintSymbol writes @s, quoted if necessary. PrintKeywordOrString writes s bare if it
	// is an identifier, else quoted.
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
	// PrintAttrDict writes ' {a = x, ...}' without the elided names, or nothing if no attribute remains.
	// PrintAttrDictWithKeyword writes ' attributes {...}' instead.
	PrintAttrDict(attrs AttrList, elided ...string)
	PrintAttrDictWithKeyword(attrs AttrList, elided ...string)
	// PrintValue writes the name of v: %0, %cst, %2#1. PrintOperands writes names separated by commas.
	PrintValue(v *Value)
	PrintValues(values []*Value)
	// PrintArgument writes %name: type and, with debug info, the location.
	PrintArgument(v *Value, attrs *DictAttr)
	// PrintRegion writes { ... }. If entryArgs is set, it writes the arguments of the entry block, if any, as
	// ^bb0(...). If terminator is set, it also writes a terminator that has no operands or attributes.
	PrintRegion(r *Region, entryArgs, terminator bool)
	PrintSuccessor(b *Block)
	// Shadow makes the arguments of r's entry block print with the names of values from then on.
	Shadow(r *Region, values []*Value)
	// Newline starts a new line at the indentation of the op.
	Newline()
}

// Directive is a custom directive of assembly formats: custom<Name>($a, type($b)).
type Directive struct {
	// Parse fills args (or st) from the text. It stores unresolved operands in the Operands of their argument, types in
	// its Types, attributes in its Attr or directly in st, and regions in its Regions.
	Parse func(p AsmParser, st *OpState, args []DirectiveArg)
	// Print writes the text. The Values, Types, Attr and Regions of args hold the parts of op. The caller writes the
	// leading space.
	Print func(p AsmPrinter, op *Op, args []DirectiveArg)
	// OneType says that each arg is the type of one operand or result, and that a single type in the text stands for
	// all of them. Readers need not call Parse unless the text continues with '('.
	OneType bool
	// ByText says that the arguments are attributes that depend on the text alone. Readers may then reuse the attributes
	// of equal text without calling Parse.
	ByText bool
}

// ArgKind is the kind of the thing that an argument of a directive names.
type ArgKind uint8

// Kinds of directive arguments.
const (
	OperandArg     = ArgKind(assembly.Operand)     // $operand: Operands when parsing, Values when printing
	OperandTypeArg = ArgKind(assembly.OperandType) // type($operand), type(operands): Types
	ResultTypeArg  = ArgKind(assembly.ResultType)  // type($result), type(results): Types
	AttrArg        = ArgKind(assembly.Attr)        // $attr: Attr
	RegionArg      = ArgKind(assembly.Region)      // $region: Regions
	LiteralArg     = ArgKind(assembly.Literal)     // `text` or "text": Name
	AttrDictArg    = ArgKind(assembly.AttrDict)    // attr-dict: read and written by the directive
)

// DirectiveArg is one argument of a directive, resolved by name. While parsing, the directive sets the fields for the
// argument's kind. An argument in ref(...) holds a value that was read earlier; the directive must not change it.
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

// Reporter collects the errors found in a module.
type Reporter struct {
	ctx     *Context
	src     *diag.Source
	list    diag.List
	size    int // length of the messages of list, and of those that a verifier found before them
	symbols *symbolCache
	scratch any
	reads   scope // what the checks of the current op read
}

// symbolCache holds the symbols looked up so far, shared by all reporters of one check.
type symbolCache struct {
	mu     sync.Mutex
	tables map[*Op]Symbols
}

// scope is the part of a module that the checks of an op without regions read.
type scope int

const (
	readsTypes    scope = iota // the attributes of the op and the types of its operands and results
	readsOperands              // also the ops that define its operands
	readsAround                // more
)

// ReadsAround says that a check of a Pure op reads more than the op and the ops that define its operands. Verify then
// repeats it even if these did not change.
func (r *Reporter) ReadsAround() { r.reads = readsAround }

// ReadsTypes says that the checks of a Pure op read only its attributes and the types of its operands and results.
// Verify then need not repeat them for another op that has the same.
func (r *Reporter) ReadsTypes() {
	if r.reads == readsOperands {
		r.reads = readsTypes
	}
}

// Symbols returns the symbols of table as they were at the first call.
func (r *Reporter) Symbols(table *Op) Symbols {
	r.ReadsAround()
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

// Scratch returns storage that the Verify hooks of a dialect can reuse from op to op. It belongs to one goroutine and
// starts as nil. A hook may find a value that another dialect stored there.
func (r *Reporter) Scratch() *any { return &r.scratch }

// Context returns the type context of the module under check.
func (r *Reporter) Context() *Context { return r.ctx }

// VerifyValueAttrs has the dialects check the discardable attributes of function argument or result i, of type t, and
// reports whether they are valid.
func (r *Reporter) VerifyValueAttrs(op *Op, result bool, i int, t Type, attrs []NamedAttr) bool {
	before := len(r.list)
	for _, a := range attrs {
		if d := r.dialectOf(a.Name); d != nil && d.VerifyValueAttr != nil {
			d.VerifyValueAttr(op, result, i, t, a.Name, a.Attr, r)
		}
	}
	return len(r.list) == before
}

// dialectOf returns the registered dialect that the attribute name's prefix names, or nil.
func (r *Reporter) dialectOf(name string) *Dialect { return r.ctx.registry.dialectOf(name) }

func (r *Registry) dialectOf(name string) *Dialect {
	if i := strings.IndexByte(name, '.'); i > 0 && r != nil {
		return r.dialects[name[:i]]
	}
	return nil
}

// PlainErrorf reports an error at op without adding the op's name to the message.
func (r *Reporter) PlainErrorf(op *Op, format string, args ...any) *diag.Diagnostic {
	return r.add(diag.Errorf(r.src, op.pos, format, args...))
}

// Errorf reports an error at op. As in MLIR the message starts with the op's name: 'stablehlo.add' op ...
func (r *Reporter) Errorf(op *Op, format string, args ...any) *diag.Diagnostic {
	return r.add(diag.Errorf(r.src, op.pos, "'%s' op %s", op.def.Name, fmt.Sprintf(format, args...)))
}

// add adds a finding.
func (r *Reporter) add(d *diag.Diagnostic) *diag.Diagnostic {
	r.list.Add(d)
	r.size += len(d.Message)
	return d
}
