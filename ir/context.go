package ir

import (
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"github.com/hlocb/hlocb/tensor"
)

// Context owns the interned types of any number of modules, and the registry that defines their ops, attributes and
// types. It is safe for concurrent use. Types of different contexts are never equal, except for scalars (integers of up
// to 64 bits, floats, complex numbers of f32 and f64, index, none). All contexts share the scalars, so dialect
// definitions can hold typed attributes.
type Context struct {
	registry *Registry
	mu       sync.RWMutex
	types    map[string]Type
	text     []byte // spare storage for the text of a type
}

// NewContext returns an empty context. registry may be nil: then no dialect is known.
func NewContext(registry *Registry) *Context {
	return &Context{registry: registry, types: make(map[string]Type)}
}

// Registry returns the registry that defines the ops, attributes and types of the context's modules, or nil.
func (c *Context) Registry() *Registry { return c.registry }

// scalars holds the types that all contexts share. It is never written.
var scalars = func() (t struct {
	floats                [64]*FloatType
	ints                  [3][65]*IntegerType
	index                 *IndexType
	none                  *NoneType
	complex64, complex128 *ComplexType
}) {
	id := typeID(0)
	next := func() typeID {
		id++
		return id
	}
	for d := tensor.F4E2M1FN; d <= tensor.F64; d++ {
		t.floats[d] = &FloatType{typeID: next(), dtype: d}
	}
	for s := range t.ints {
		for w := range t.ints[s] {
			t.ints[s][w] = &IntegerType{typeID: next(), width: w, sign: Signedness(s)}
		}
	}
	t.index, t.none = &IndexType{typeID: next()}, &NoneType{typeID: next()}
	t.complex64 = &ComplexType{next(), t.floats[tensor.F32]}
	t.complex128 = &ComplexType{next(), t.floats[tensor.F64]}
	return t
}()

// Int returns the signless integer type of the given width, at most 64 bits. All contexts share it.
func Int(width int) *IntegerType { return scalars.ints[Signless][width] }

// Float returns the floating-point type for d, or nil if d is not one. All contexts share it.
func Float(d tensor.DType) *FloatType { return scalars.floats[d] }

// intern returns the type stored under key. If there is none, it stores the type that make returns. The methods of
// typeKey build keys.
func intern[T Type](c *Context, key typeKey, make func() T) T {
	c.mu.RLock()
	old, ok := c.types[string(key)]
	c.mu.RUnlock()
	if ok {
		return old.(T)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.types[string(key)]; ok {
		return old.(T)
	}
	t := make()
	t.setNumber(firstTypeID + typeID(len(c.types)))
	c.types[string(key)] = t
	return t
}

// firstTypeID is above the IDs of the shared types.
const firstTypeID = 1 << 10

// typeKey identifies a type within a context by its own bytes and the IDs of its component types. Its length does not
// grow with the nesting depth.
type typeKey []byte

func (k typeKey) typ(t Type) typeKey {
	if t == nil {
		return k.num(0)
	}
	return k.num(int64(t.number()))
}

func (k typeKey) num(v int64) typeKey { return binary.LittleEndian.AppendUint64(k, uint64(v)) }

func (k typeKey) nums(list []int64) typeKey {
	k = k.num(int64(len(list)))
	for _, v := range list {
		k = k.num(v)
	}
	return k
}

func (k typeKey) typs(list []Type) typeKey {
	k = k.num(int64(len(list)))
	for _, t := range list {
		k = k.typ(t)
	}
	return k
}

// Integer returns the integer type of the given width in bits.
func (c *Context) Integer(width int, sign Signedness) *IntegerType {
	if width < len(scalars.ints[sign]) {
		return scalars.ints[sign][width]
	}
	t := &IntegerType{width: width, sign: sign}
	return intern(c, typeKey(t.String()), func() *IntegerType { return t })
}

// ForeignFloat returns a floating-point type that hlocb keeps but does not compute with: f80, f128 or tf32.
func (c *Context) ForeignFloat(name string) *FloatType {
	return intern(c, typeKey(name), func() *FloatType { return &FloatType{name: name} })
}

// Index returns the index type.
func (c *Context) Index() *IndexType { return scalars.index }

// None returns the none type.
func (c *Context) None() *NoneType { return scalars.none }

// Complex returns complex<elem>.
func (c *Context) Complex(elem Type) *ComplexType {
	switch elem {
	case scalars.complex64.elem:
		return scalars.complex64
	case scalars.complex128.elem:
		return scalars.complex128
	}
	return intern(c, typeKey("C").typ(elem), func() *ComplexType { return &ComplexType{elem: elem} })
}

// Tensor returns the ranked tensor type with the given shape (Dynamic for unknown sizes), element type and encoding
// (may be nil).
func (c *Context) Tensor(shape []int64, elem Type, encoding Attr) *TensorType {
	var buf [96]byte
	key := append(typeKey(buf[:0]), 'T').typ(elem).nums(shape)
	if encoding != nil {
		key = append(key, encoding.String()...)
	}
	return intern(c, key, func() *TensorType {
		t := &TensorType{shape: append([]int64{}, shape...), elem: elem, encoding: encoding, ranked: true}
		switch elem.(type) {
		case *IntegerType, *FloatType, *IndexType, *ComplexType:
			if encoding == nil {
				c.text = plain.AppendType(c.text[:0], t)
				t.text = string(c.text)
			}
		}
		return t
	})
}

// StaticTensor returns the tensor type with the given element type and static shape.
func (c *Context) StaticTensor(d tensor.DType, shape tensor.Shape) *TensorType {
	return c.Tensor(shape, ElementOf(d), nil)
}

// UnrankedTensor returns tensor<*xelem>.
func (c *Context) UnrankedTensor(elem Type) *TensorType {
	return intern(c, typeKey("U").typ(elem), func() *TensorType { return &TensorType{elem: elem} })
}

// Shaped returns a memref or vector type. rest is the verbatim text after the element type (layout, memory space) with
// its leading comma, or empty. Shaped keeps shape.
func (c *Context) Shaped(kind ShapedKind, shape []int64, elem Type, rest string) *ShapedType {
	key := append(append(typeKey("S"), byte(kind)).typ(elem).nums(shape), rest...)
	return intern(c, key, func() *ShapedType { return &ShapedType{kind: kind, shape: shape, elem: elem, rest: rest} })
}

// Tuple returns tuple<elems...>.
func (c *Context) Tuple(elems []Type) *TupleType {
	var buf [256]byte
	key := append(typeKey(buf[:0]), 'P').typs(elems)
	return intern(c, key, func() *TupleType { return &TupleType{elems: slices.Clone(elems)} })
}

// Function returns (inputs) -> results.
func (c *Context) Function(inputs, results []Type) *FunctionType {
	var buf [256]byte
	key := append(typeKey(buf[:0]), 'F').typs(inputs).typs(results)
	return intern(c, key, func() *FunctionType {
		return &FunctionType{inputs: slices.Clone(inputs), results: slices.Clone(results)}
	})
}

// DialectType returns !dialect.name followed by body, the canonical text of its parameters with the angle brackets (""
// if none). data holds the parsed parameters, nil if not parsed. The type keeps the data of the first call that makes
// it.
func (c *Context) DialectType(dialect, name, body string, data any) *DialectType {
	key := typeKey("!" + dialect + "." + name + body)
	return intern(c, key, func() *DialectType {
		return &DialectType{dialect: strings.Clone(dialect), name: strings.Clone(name), body: strings.Clone(body), data: data}
	})
}

// ElementOf returns the type of elements of type d, or nil for tensor.Invalid. All contexts share it.
func ElementOf(d tensor.DType) Type {
	switch d {
	case tensor.Complex64:
		return scalars.complex64
	case tensor.Complex128:
		return scalars.complex128
	}
	switch d.Kind() {
	case tensor.KindBool, tensor.KindSigned:
		return scalars.ints[Signless][d.Bits()]
	case tensor.KindUnsigned:
		return scalars.ints[Unsigned][d.Bits()]
	case tensor.KindFloat:
		return scalars.floats[d]
	case tensor.KindIndex:
		return scalars.index
	}
	return nil
}
