package ir

import (
	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/tensor"
)

// Type is the type of a value. Types are immutable and interned: two types of one Context are equal if and only if ==
// holds. The set of implementations is closed; dialects add types as DialectType.
type Type interface {
	// String returns the type as MLIR prints it, without aliases.
	String() string
	number() typeID
	setNumber(typeID)
}

// typeID identifies an interned type. Scalars have small numbers; the types of a context have the numbers after them.
type typeID uint64

func (id *typeID) number() typeID { return *id }

func (id *typeID) setNumber(n typeID) { *id = n }

// Dynamic is the size of an unknown dimension, written '?'.
const Dynamic = mlirtext.Dynamic

// Signedness says how an integer type treats its sign.
type Signedness uint8

// Signedness of integer types: i32, si32, ui32.
const (
	Signless Signedness = iota
	Signed
	Unsigned
)

// IntegerType is iN, siN or uiN.
type IntegerType struct {
	typeID
	width int
	sign  Signedness
}

// FloatType is a floating-point type.
type FloatType struct {
	typeID
	dtype tensor.DType // Invalid for types that hlocb keeps but does not compute with
	name  string       // of such a type: f80, f128, tf32
}

// IndexType is index.
type IndexType struct{ typeID }

// NoneType is none.
type NoneType struct{ typeID }

// ComplexType is complex<elem>.
type ComplexType struct {
	typeID
	elem Type
}

// TensorType is a ranked or unranked tensor type.
type TensorType struct {
	typeID
	text     string // as Text writes it; "" if the element type or the encoding may have an alias, or be long
	shape    []int64
	elem     Type
	encoding Attr
	ranked   bool
}

// ShapedKind distinguishes the shaped types that hlocb keeps but does not compute with.
type ShapedKind uint8

// Kinds of ShapedType.
const (
	MemRef ShapedKind = iota
	Vector
)

// ShapedType is a memref or vector type.
type ShapedType struct {
	typeID
	kind  ShapedKind
	shape []int64
	elem  Type
	rest  string
}

// TupleType is tuple<elems...>.
type TupleType struct {
	typeID
	elems []Type
}

// FunctionType is (inputs) -> results.
type FunctionType struct {
	typeID
	inputs, results []Type
}

// DialectType is a type of a dialect, known or unknown: !stablehlo.token, !quant.uniform<...>.
type DialectType struct {
	typeID
	dialect, name, body string
	data                any
	def                 *TypeDef // of a type that stores no text, otherwise nil
}

// Width returns the width in bits.
func (t *IntegerType) Width() int { return t.width }

// Signedness returns how the type treats its sign.
func (t *IntegerType) Signedness() Signedness { return t.sign }

// DType returns the tensor element type that computes with this type.
func (t *FloatType) DType() tensor.DType { return t.dtype }

// Elem returns the type of the real and imaginary parts.
func (t *ComplexType) Elem() Type { return t.elem }

// Ranked reports whether the shape is known at all.
func (t *TensorType) Ranked() bool { return t.ranked }

// Shape returns the dimensions; unknown sizes are Dynamic. The caller must not change them.
func (t *TensorType) Shape() []int64 { return t.shape }

// Rank returns the number of dimensions, 0 for an unranked tensor.
func (t *TensorType) Rank() int { return len(t.shape) }

// Elem returns the element type.
func (t *TensorType) Elem() Type { return t.elem }

// Encoding returns the encoding attribute, or nil if there is none.
func (t *TensorType) Encoding() Attr { return t.encoding }

// Static reports whether the tensor is ranked and all its sizes are known.
func (t *TensorType) Static() bool {
	for _, d := range t.shape {
		if d == Dynamic {
			return false
		}
	}
	return t.ranked
}

// DType returns the tensor element type of the tensor's elements, or tensor.Invalid if there is none (quantized and
// foreign element types).
func (t *TensorType) DType() tensor.DType { return ElementDType(t.elem) }

// Kind says whether the type is a memref or a vector.
func (t *ShapedType) Kind() ShapedKind { return t.kind }

// Shape returns the dimensions; unknown sizes are Dynamic.
func (t *ShapedType) Shape() []int64 { return t.shape }

// Elem returns the element type.
func (t *ShapedType) Elem() Type { return t.elem }

// Rest returns the text after the element type, with its leading comma.
func (t *ShapedType) Rest() string { return t.rest }

// Elems returns the types of the elements.
func (t *TupleType) Elems() []Type { return t.elems }

// Inputs returns the argument types.
func (t *FunctionType) Inputs() []Type { return t.inputs }

// Results returns the result types.
func (t *FunctionType) Results() []Type { return t.results }

// Dialect returns the namespace: "stablehlo" of !stablehlo.token.
func (t *DialectType) Dialect() string { return t.dialect }

// Name returns the mnemonic: "token" of !stablehlo.token.
func (t *DialectType) Name() string { return t.name }

// Data returns the parsed parameters, or nil if there are none.
func (t *DialectType) Data() any { return t.data }

// ElementDType returns the tensor element type for values of type t, or for their elements if t is a tensor, vector or
// memref. It returns tensor.Invalid if there is none.
func ElementDType(t Type) tensor.DType {
	switch t := t.(type) {
	case *TensorType:
		return ElementDType(t.elem)
	case *ShapedType:
		return ElementDType(t.elem)
	case *FloatType:
		return t.dtype
	case *IndexType:
		return tensor.Index
	case *IntegerType:
		if t.width < len(integerDTypes[t.sign]) {
			return integerDTypes[t.sign][t.width]
		}
	case *ComplexType:
		switch ElementDType(t.elem) {
		case tensor.F32:
			return tensor.Complex64
		case tensor.F64:
			return tensor.Complex128
		}
	}
	return tensor.Invalid
}

// integerDTypes holds the element types of integers by their signedness and width.
var integerDTypes = [...][65]tensor.DType{
	Signless: {1: tensor.I1, 2: tensor.I2, 4: tensor.I4, 8: tensor.I8, 16: tensor.I16, 32: tensor.I32, 64: tensor.I64},
	Signed:   {},
	Unsigned: {2: tensor.UI2, 4: tensor.UI4, 8: tensor.UI8, 16: tensor.UI16, 32: tensor.UI32, 64: tensor.UI64},
}

func (t *IntegerType) String() string { return string(plain.AppendType(nil, t)) }
func (t *FloatType) String() string   { return string(plain.AppendType(nil, t)) }
func (t *IndexType) String() string   { return "index" }
func (t *NoneType) String() string    { return "none" }
func (t *ComplexType) String() string { return string(plain.AppendType(nil, t)) }
func (t *TensorType) String() string {
	if t.text != "" {
		return t.text
	}
	return string(plain.AppendType(nil, t))
}
func (t *ShapedType) String() string   { return string(plain.AppendType(nil, t)) }
func (t *TupleType) String() string    { return string(plain.AppendType(nil, t)) }
func (t *FunctionType) String() string { return string(plain.AppendType(nil, t)) }
func (t *DialectType) String() string  { return string(plain.AppendType(nil, t)) }
