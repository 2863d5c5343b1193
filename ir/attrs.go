package ir

import (
	"math/big"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/hlocb/hlocb/tensor"
)

// Attr is a compile-time value attached to an op. Attributes are immutable; EqualAttrs compares them. The set
// of implementations is closed; dialects add attributes as EnumAttr and DialectAttr.
type Attr interface {
	// String returns the attribute as MLIR prints it, without aliases.
	String() string
	isAttr()
}

// NamedAttr is one entry of an attribute list. Inherent entries are the op's properties, which MLIR prints in <{...}>
// in generic form; all other entries are discardable.
type NamedAttr struct {
	Name     string
	Attr     Attr
	Inherent bool
}

// AttrList is a list of attributes sorted by name.
type AttrList []NamedAttr

// Get returns the attribute named name, or nil.
func (l AttrList) Get(name string) Attr {
	for i := range l { // lists are short: a scan beats a binary search
		if l[i].Name == name {
			return l[i].Attr
		}
	}
	return nil
}

// Set returns the list with name bound to a. It copies as little as possible.
func (l AttrList) Set(name string, a Attr, inherent bool) AttrList {
	i := sort.Search(len(l), func(i int) bool { return l[i].Name >= name })
	if i < len(l) && l[i].Name == name {
		out := append(AttrList(nil), l...)
		out[i] = NamedAttr{name, a, inherent}
		return out
	}
	out := make(AttrList, 0, len(l)+1)
	out = append(out, l[:i]...)
	out = append(out, NamedAttr{name, a, inherent})
	return append(out, l[i:]...)
}

// Without returns the list without the entry named name.
func (l AttrList) Without(name string) AttrList {
	for i := range l {
		if l[i].Name == name {
			out := make(AttrList, 0, len(l)-1)
			return append(append(out, l[:i]...), l[i+1:]...)
		}
	}
	return l
}

// Sort sorts the list by name. Entries with the same name keep their order.
func (l AttrList) Sort() {
	slices.SortStableFunc(l, func(a, b NamedAttr) int { return strings.Compare(a.Name, b.Name) })
}

// IntegerAttr is an integer of an integer or index type. With type i1 it is a boolean (true, false).
type IntegerAttr struct {
	value int64    // sign-extended for signless and signed types, the bits for unsigned ones
	wide  *big.Int // the value if it does not fit 64 bits, else nil
	typ   Type
}

// FloatAttr is a floating-point number; the value is exact for types up to f64.
type FloatAttr struct {
	bits uint64 // in the format of typ
	typ  *FloatType
}

// StringAttr is a string. It is typed if typ is not nil.
type StringAttr struct {
	value string
	typ   Type
}

// UnitAttr is unit, an attribute that carries no value beyond its presence.
type UnitAttr struct{ _ byte }

// ArrayAttr is [a, b, ...].
type ArrayAttr struct{ elems []Attr }

// DictAttr is {a = x, ...}, sorted by name.
type DictAttr struct{ entries AttrList }

// SymbolRefAttr is @root::@nested...
type SymbolRefAttr struct {
	root   string
	nested []string
}

// TypeAttr is a type used as an attribute.
type TypeAttr struct{ typ Type }

// DenseArrayAttr is array<elem: ...>. It stores integers and booleans as int64, floats as their bits.
type DenseArrayAttr struct {
	elem   Type
	values []int64
}

// DenseAttr is dense<...> : type. It keeps the payload as source bytes until the elements are first requested.
type DenseAttr struct {
	typ  Type   // a TensorType or a vector ShapedType with static shape
	text []byte // the text between dense< and >, nil if made from a tensor

	once   sync.Once
	elems  *tensor.Tensor // one element for a splat
	splat  bool
	err    error
	decode func(*DenseAttr) (*tensor.Tensor, bool, error) // nil once elems is set at construction
}

// ResourceAttr is dense_resource<key> : type.
type ResourceAttr struct {
	key string
	typ Type
}

// EnumAttr is a dialect's enumerated attribute: #stablehlo<comparison_direction LT>.
type EnumAttr struct {
	def  *EnumDef
	code int
}

// DialectAttr is any other attribute of a dialect: #stablehlo.gather<...>. If no definition is known, def is nil and
// the text is kept verbatim.
type DialectAttr struct {
	dialect, name string // "stablehlo", "gather"
	body          string // parameters as canonical text with their brackets, "" if none
	data          any    // the parsed parameters (a pointer to an immutable struct), nil if not parsed
	def           *AttrDef
}

// OpaqueAttr is an attribute that this library does not model (affine maps, sparse elements, distinct attributes). It
// keeps the text verbatim.
type OpaqueAttr struct{ text string }

// LocAttr is a location used as an attribute.
type LocAttr struct{ loc *Loc }

func (*IntegerAttr) isAttr()    {}
func (*FloatAttr) isAttr()      {}
func (*StringAttr) isAttr()     {}
func (*UnitAttr) isAttr()       {}
func (*ArrayAttr) isAttr()      {}
func (*DictAttr) isAttr()       {}
func (*SymbolRefAttr) isAttr()  {}
func (*TypeAttr) isAttr()       {}
func (*DenseArrayAttr) isAttr() {}
func (*DenseAttr) isAttr()      {}
func (*ResourceAttr) isAttr()   {}
func (*EnumAttr) isAttr()       {}
func (*DialectAttr) isAttr()    {}
func (*OpaqueAttr) isAttr()     {}
func (*LocAttr) isAttr()        {}

// NewInteger returns an integer attribute of type t, an IntegerType or the IndexType.
func NewInteger(value int64, t Type) *IntegerAttr { return &IntegerAttr{value: value, typ: t} }

// NewWideInteger returns an integer attribute whose value may need more than 64 bits.
func NewWideInteger(value *big.Int, t Type) *IntegerAttr {
	if value.IsInt64() {
		return NewInteger(value.Int64(), t)
	}
	if value.IsUint64() {
		if it, ok := t.(*IntegerType); ok && it.width <= 64 {
			return NewInteger(int64(value.Uint64()), t)
		}
	}
	return &IntegerAttr{wide: value, typ: t}
}

// Bool returns the i1 attribute true or false.
func (c *Context) Bool(v bool) *IntegerAttr {
	if v {
		return NewInteger(1, Int(1))
	}
	return NewInteger(0, Int(1))
}

// Value returns the value: sign-extended for signless and signed types, the bits for unsigned ones.
func (a *IntegerAttr) Value() int64 { return a.value }

// Wide returns the value if it does not fit 64 bits, else nil.
func (a *IntegerAttr) Wide() *big.Int { return a.wide }

// Type returns the integer or index type.
func (a *IntegerAttr) Type() Type { return a.typ }

// NewFloatBits returns a float attribute from its bits in the format of t.
func NewFloatBits(bits uint64, t *FloatType) *FloatAttr { return &FloatAttr{bits: bits, typ: t} }

// Bits returns the bits in the format of the type.
func (a *FloatAttr) Bits() uint64 { return a.bits }

// Type returns the floating-point type.
func (a *FloatAttr) Type() *FloatType { return a.typ }

// NewString returns an untyped string attribute.
func NewString(s string) *StringAttr { return &StringAttr{value: s} }

// NewTypedString returns a string attribute with a type.
func NewTypedString(s string, t Type) *StringAttr { return &StringAttr{value: s, typ: t} }

// Value returns the string's bytes.
func (a *StringAttr) Value() string { return a.value }

// Type returns the string's type, or nil if it is untyped.
func (a *StringAttr) Type() Type { return a.typ }

// NewUnit returns unit.
func NewUnit() *UnitAttr { return &UnitAttr{} }

// NewArray returns [elems...]. It keeps elems.
func NewArray(elems []Attr) *ArrayAttr { return &ArrayAttr{elems} }

// Elems returns the elements; the caller must not change them.
func (a *ArrayAttr) Elems() []Attr { return a.elems }

// NewDict returns a dictionary of the entries. It keeps and sorts entries.
func NewDict(entries AttrList) *DictAttr {
	entries.Sort()
	return &DictAttr{entries}
}

// Entries returns the entries sorted by name; the caller must not change them. A nil dictionary has none.
func (a *DictAttr) Entries() AttrList {
	if a == nil {
		return nil
	}
	return a.entries
}

// Get returns the entry named name, or nil. A nil dictionary has no entries.
func (a *DictAttr) Get(name string) Attr {
	if a == nil {
		return nil
	}
	return a.entries.Get(name)
}

// NewSymbolRef returns @root::@nested...
func NewSymbolRef(root string, nested ...string) *SymbolRefAttr { return &SymbolRefAttr{root, nested} }

// Root returns the first symbol.
func (a *SymbolRefAttr) Root() string { return a.root }

// Nested returns the symbols after the root.
func (a *SymbolRefAttr) Nested() []string { return a.nested }

// NewTypeAttr returns t as an attribute.
func NewTypeAttr(t Type) *TypeAttr { return &TypeAttr{t} }

// Type returns the type.
func (a *TypeAttr) Type() Type { return a.typ }

// NewDenseArray returns array<elem: values...>. It keeps values. Pass floats as their bits.
func NewDenseArray(elem Type, values []int64) *DenseArrayAttr { return &DenseArrayAttr{elem, values} }

// Elem returns the element type.
func (a *DenseArrayAttr) Elem() Type { return a.elem }

// Values returns the values (floats as bits); the caller must not change them.
func (a *DenseArrayAttr) Values() []int64 { return a.values }

// NewDense returns the dense attribute of type t with the elements of v. If splat is set, v holds the single element
// that fills the shape.
func NewDense(t Type, v *tensor.Tensor, splat bool) *DenseAttr {
	return &DenseAttr{typ: t, elems: v, splat: splat}
}

// DenseFromTensor returns the dense attribute of v's type.
func (c *Context) DenseFromTensor(v *tensor.Tensor) *DenseAttr {
	return NewDense(c.StaticTensor(v.DType(), v.Shape()), v, v.NumElements() == 1)
}

// NewLazyDense returns a dense attribute that decodes its elements from text on first request. decode returns the
// elements (one for a splat); it is called once, from any goroutine.
func NewLazyDense(t Type, text []byte, decode func(*DenseAttr) (*tensor.Tensor, bool, error)) *DenseAttr {
	return &DenseAttr{typ: t, text: text, decode: decode}
}

// Type returns the shaped type.
func (a *DenseAttr) Type() Type { return a.typ }

// Text returns the source text of the payload, or nil if the attribute was made from a tensor.
func (a *DenseAttr) Text() []byte { return a.text }

// Elements returns the decoded elements. If splat is true, v holds one element that fills the whole shape. The caller
// must not change the tensor.
func (a *DenseAttr) Elements() (v *tensor.Tensor, splat bool, err error) {
	a.once.Do(func() {
		if a.elems == nil && a.decode != nil {
			a.elems, a.splat, a.err = a.decode(a)
		}
	})
	return a.elems, a.splat, a.err
}

// Tensor returns all elements, with a splat expanded. The caller must not change the tensor.
func (a *DenseAttr) Tensor() (*tensor.Tensor, error) {
	v, splat, err := a.Elements()
	if err != nil || !splat {
		return v, err
	}
	var shape []int64
	switch t := a.typ.(type) {
	case *TensorType:
		shape = t.shape
	case *ShapedType:
		shape = t.shape
	}
	if n := tensor.Shape(shape).NumElements(); n == 1 {
		return v.Reshape(shape), nil
	}
	full := tensor.New(v.DType(), shape)
	one, all := v.Bytes(), full.Bytes()
	n := copy(all, one)
	for n > 0 && n < len(all) { // double the filled part until all is filled
		n += copy(all[n:], all[:n])
	}
	return full, nil
}

// Int64s returns the elements of an integer, boolean or index dense attribute, splats expanded.
func (a *DenseAttr) Int64s() ([]int64, error) {
	t, err := a.Tensor()
	if err != nil {
		return nil, err
	}
	return t.Int64s()
}

// Elided is the key of a resource that stands for elements that a printer left out.
const Elided = "__elided__"

// NewResource returns dense_resource<key> : t.
func NewResource(key string, t Type) *ResourceAttr { return &ResourceAttr{key, t} }

// Key returns the resource's name.
func (a *ResourceAttr) Key() string { return a.key }

// Type returns the shaped type.
func (a *ResourceAttr) Type() Type { return a.typ }

// NewEnum returns the case with the given code.
func NewEnum(def *EnumDef, code int) *EnumAttr { return &EnumAttr{def, code} }

// Enum returns the definition of the enumeration.
func (a *EnumAttr) Enum() *EnumDef { return a.def }

// Code returns the case's number.
func (a *EnumAttr) Code() int { return a.code }

// Case returns the case's spelling: "LT".
func (a *EnumAttr) Case() string { return a.def.Cases[a.code] }

// NewDialectAttr returns #dialect.name followed by body, the canonical text of the parameters with brackets. data holds
// the parsed parameters, nil if not parsed.
func NewDialectAttr(dialect, name, body string, data any) *DialectAttr {
	return &DialectAttr{dialect: dialect, name: name, body: body, data: data}
}

// Dialect returns the namespace.
func (a *DialectAttr) Dialect() string { return a.dialect }

// Body returns the parameters as text with their brackets.
func (a *DialectAttr) Body() string {
	if a.def != nil && a.def.Lazy {
		return a.def.text(a.data)
	}
	return a.body
}

// Def returns the definition that the attribute was made with, or nil if there is none.
func (a *DialectAttr) Def() *AttrDef { return a.def }

// Data returns the parsed parameters, or nil if there are none.
func (a *DialectAttr) Data() any { return a.data }

// NewOpaque returns an attribute that keeps text verbatim.
func NewOpaque(text string) *OpaqueAttr { return &OpaqueAttr{text} }

// NewLocAttr returns a location as an attribute.
func NewLocAttr(l *Loc) *LocAttr { return &LocAttr{l} }

// Loc returns the location.
func (a *LocAttr) Loc() *Loc { return a.loc }
