package hlo

import (
	"math"
	"slices"
	"strconv"

	"github.com/hlocb/hlocb/tensor"
)

// elementType is an element type of HLO, or the kind of a shape without elements. The values are the numbers of
// PrimitiveType in xla_data.proto.
type elementType uint8

const (
	invalidType   elementType = 0
	pred          elementType = 1
	s32           elementType = 4
	s64           elementType = 5
	u32           elementType = 8
	u64           elementType = 9
	f32           elementType = 11
	tupleType     elementType = 13
	opaqueType    elementType = 14
	c64           elementType = 15
	tokenType     elementType = 17
	c128          elementType = 18
	f8e8m0        elementType = 33
	bufferType    elementType = 34
	numTypes                  = 37
	unboundedSize int64       = math.MinInt64
)

// typeKind groups element types by the syntax of their literals.
type typeKind uint8

const (
	noElements typeKind = iota
	predKind
	signedKind
	unsignedKind
	floatKind
	complexKind
)

// typeRow describes one element type.
type typeRow struct {
	name  string
	kind  typeKind
	bits  int
	dtype tensor.DType // tensor.Invalid if package tensor has no such type
	// digits is the precision that literals are printed with (std::numeric_limits::max_digits10); 0 for f32, f64 and
	// complex numbers, which are printed with the fewest of two precisions that read back.
	digits int
	// literalField is the field of LiteralProto that holds the elements.
	literalField int
}

var typeRows = [numTypes]typeRow{
	1:  {"pred", predKind, 8, tensor.I1, 0, 2},
	2:  {"s8", signedKind, 8, tensor.I8, 0, 15},
	3:  {"s16", signedKind, 16, tensor.I16, 0, 17},
	4:  {"s32", signedKind, 32, tensor.I32, 0, 4},
	5:  {"s64", signedKind, 64, tensor.I64, 0, 5},
	6:  {"u8", unsignedKind, 8, tensor.UI8, 0, 3},
	7:  {"u16", unsignedKind, 16, tensor.UI16, 0, 16},
	8:  {"u32", unsignedKind, 32, tensor.UI32, 0, 6},
	9:  {"u64", unsignedKind, 64, tensor.UI64, 0, 7},
	10: {"f16", floatKind, 16, tensor.F16, 5, 11},
	11: {"f32", floatKind, 32, tensor.F32, 0, 8},
	12: {"f64", floatKind, 64, tensor.F64, 0, 9},
	13: {name: "tuple"},
	14: {name: "opaque"},
	15: {"c64", complexKind, 64, tensor.Complex64, 0, 12},
	16: {"bf16", floatKind, 16, tensor.BF16, 4, 13},
	17: {name: "token"},
	18: {"c128", complexKind, 128, tensor.Complex128, 0, 18},
	19: {"f8e5m2", floatKind, 8, tensor.F8E5M2, 2, 19},
	20: {"f8e4m3fn", floatKind, 8, tensor.F8E4M3FN, 3, 20},
	21: {"s4", signedKind, 4, tensor.I4, 0, 21},
	22: {"u4", unsignedKind, 4, tensor.UI4, 0, 22},
	23: {"f8e4m3b11fnuz", floatKind, 8, tensor.F8E4M3B11FNUZ, 3, 23},
	24: {"f8e5m2fnuz", floatKind, 8, tensor.F8E5M2FNUZ, 2, 24},
	25: {"f8e4m3fnuz", floatKind, 8, tensor.F8E4M3FNUZ, 3, 25},
	26: {"s2", signedKind, 2, tensor.I2, 0, 26},
	27: {"u2", unsignedKind, 2, tensor.UI2, 0, 27},
	28: {"f8e4m3", floatKind, 8, tensor.F8E4M3, 3, 28},
	29: {"f8e3m4", floatKind, 8, tensor.F8E3M4, 3, 29},
	30: {"s1", signedKind, 1, tensor.Invalid, 0, 30},
	31: {"u1", unsignedKind, 1, tensor.Invalid, 0, 31},
	32: {"f4e2m1fn", floatKind, 4, tensor.F4E2M1FN, 2, 32},
	33: {"f8e8m0fnu", floatKind, 8, tensor.F8E8M0FNU, 2, 33},
	34: {name: "b"},
	35: {"f6e3m2fn", floatKind, 6, tensor.F6E3M2FN, 2, 36},
	36: {"f6e2m3fn", floatKind, 6, tensor.F6E2M3FN, 3, 35},
}

func (t elementType) row() *typeRow { return &typeRows[t] }

func (t elementType) String() string { return typeRows[t].name }

// size returns the bytes of an element in a literal: one for types narrower than a byte.
func (t elementType) size() int { return (typeRows[t].bits + 7) / 8 }

// typesByName finds the types that text can name: all except tuples and buffers, which are written with brackets.
var typesByName = func() map[string]elementType {
	m := map[string]elementType{}
	for t, row := range typeRows {
		if row.name != "" && elementType(t) != tupleType && elementType(t) != bufferType {
			m[row.name] = elementType(t)
		}
	}
	return m
}()

// shape is the shape of a value. Shapes are immutable and shared.
type shape struct {
	elem elementType
	dims []int64 // unboundedSize for '?'
	// dynamic says which dimensions are bounds; nil if none is.
	dynamic []bool
	// elems are the shapes of a tuple's elements, or the one shape of a buffer.
	elems  []*shape
	layout *layout // nil for tuples, buffers, tokens, opaque values, and arrays whose layout has not been chosen
}

// layout is the physical form of an array. Layouts are immutable and shared.
type layout struct {
	minorToMajor []int64
	tiles        [][]int64
	tailPadding  int64 // alignment in elements; 1: none
	indexType    elementType
	pointerType  elementType
	elementBits  int64
	memorySpace  int64
	splits       []splitConfig
	prefixBytes  int64 // of dynamic shape metadata
}

// splitConfig lists the indices of a dimension at which the memory of an array is split.
type splitConfig struct {
	dim     int64
	indices []int64
}

// combineDim is '*' in a tile: the dimension is combined with the next one.
const combineDim = math.MinInt64

func (s *shape) isTuple() bool  { return s.elem == tupleType }
func (s *shape) isArray() bool  { return typeRows[s.elem].kind != noElements }
func (s *shape) isScalar() bool { return s.isArray() && len(s.dims) == 0 }
func (s *shape) isDynamic(i int) bool {
	return s.dynamic != nil && s.dynamic[i]
}

// numElements returns the product of the dimensions, bounds counted as sizes.
func (s *shape) numElements() int64 {
	n := int64(1)
	for _, d := range s.dims {
		n *= d
	}
	return n
}

// leaves returns the number of arrays, tokens and the like in s.
func (s *shape) leaves() int {
	if !s.isTuple() {
		return 1
	}
	n := 0
	for _, e := range s.elems {
		n += e.leaves()
	}
	return n
}

// compatible reports whether a and b have the same types and dimensions. It ignores layouts and whether a dimension
// is a bound.
func compatible(a, b *shape) bool {
	return a == b || a.elem == b.elem && slices.Equal(a.dims, b.dims) && slices.EqualFunc(a.elems, b.elems, compatible)
}

// sameTypes reports whether a and b have the same types, dimensions and bounds. It ignores layouts.
func sameTypes(a, b *shape) bool {
	return a == b || a.elem == b.elem && slices.Equal(a.dims, b.dims) && (a.dynamic == nil && b.dynamic == nil || slices.Equal(a.dynamicList(), b.dynamicList())) &&
		slices.EqualFunc(a.elems, b.elems, sameTypes)
}

func (s *shape) dynamicList() []bool {
	if s.dynamic != nil {
		return s.dynamic
	}
	return make([]bool, len(s.dims))
}

// sameShape reports whether a and b are the same shape, layouts included.
func sameShape(a, b *shape) bool {
	return a == b || sameTypes(a, b) && sameLayout(a.layout, b.layout) && slices.EqualFunc(a.elems, b.elems, sameShape)
}

func sameLayout(a, b *layout) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.Equal(a.minorToMajor, b.minorToMajor) && slices.EqualFunc(a.tiles, b.tiles, slices.Equal) &&
		a.tailPadding == b.tailPadding && a.indexType == b.indexType && a.pointerType == b.pointerType &&
		a.elementBits == b.elementBits && a.memorySpace == b.memorySpace && a.prefixBytes == b.prefixBytes &&
		slices.EqualFunc(a.splits, b.splits, func(x, y splitConfig) bool {
			return x.dim == y.dim && slices.Equal(x.indices, y.indices)
		})
}

// defaultLayouts are the layouts of arrays of few dimensions whose last dimension is minor, by rank.
var defaultLayouts = func() (list [9]*layout) {
	for rank := range list {
		list[rank] = newDefaultLayout(rank)
	}
	return list
}()

func newDefaultLayout(rank int) *layout {
	l := &layout{tailPadding: 1, minorToMajor: make([]int64, rank)}
	for i := range l.minorToMajor {
		l.minorToMajor[i] = int64(rank - 1 - i)
	}
	return l
}

func defaultLayout(rank int) *layout {
	if rank < len(defaultLayouts) {
		return defaultLayouts[rank]
	}
	return newDefaultLayout(rank)
}

// array returns the shape of an array in the default layout.
func array(t elementType, dims ...int64) *shape {
	return &shape{elem: t, dims: dims, layout: defaultLayout(len(dims))}
}

// tokenShape is token[].
var tokenShape = &shape{elem: tokenType}

func tuple(elems ...*shape) *shape { return &shape{elem: tupleType, elems: elems} }

// withDims returns an array of s's element type in the default layout.
func (s *shape) withDims(dims []int64, dynamic []bool) *shape {
	if !slices.Contains(dynamic, true) {
		dynamic = nil
	}
	return &shape{elem: s.elem, dims: dims, dynamic: dynamic, layout: defaultLayout(len(dims))}
}

// static returns s with the bounds as sizes, also in tuples: a constant has the size that its literal has.
func (s *shape) static() *shape {
	if !s.bounded() {
		return s
	}
	out := *s
	out.dynamic, out.elems = nil, slices.Clone(s.elems)
	for i, e := range out.elems {
		out.elems[i] = e.static()
	}
	return &out
}

// bounded reports whether a dimension of s, or of a part of s, is a bound.
func (s *shape) bounded() bool {
	return s.dynamic != nil || slices.ContainsFunc(s.elems, (*shape).bounded)
}

func (s *shape) withElem(t elementType) *shape {
	out := *s
	out.elem = t
	if s.layout != nil && s.layout.elementBits != 0 && t.row().bits >= 8 {
		l := *s.layout
		l.elementBits = 0
		out.layout = &l
	}
	return &out
}

// descending returns s with the default order of dimensions in memory; tiles and memory spaces stay.
func (s *shape) descending() *shape {
	out := *s
	if s.layout != nil {
		l := *s.layout
		l.minorToMajor = defaultLayout(len(s.dims)).minorToMajor
		out.layout = &l
	}
	out.elems = nil
	for _, e := range s.elems {
		out.elems = append(out.elems, e.descending())
	}
	return &out
}

// String returns the shape with its layout.
func (s *shape) String() string { return string(appendShape(nil, s, true)) }

// plain returns the shape without layouts.
func (s *shape) plain() string { return string(appendShape(nil, s, false)) }

// appendShape appends s as XLA prints it: with layouts on request, and in tuples with an index comment at every fifth
// element.
func appendShape(b []byte, s *shape, layouts bool) []byte {
	switch s.elem {
	case tupleType:
		b = append(b, '(')
		for i, e := range s.elems {
			b = appendIndexComment(b, i)
			b = appendShape(b, e, layouts)
		}
		return append(b, ')')
	case bufferType:
		b = append(b, "b("...)
		b = appendShape(b, s.elems[0], layouts)
		return append(b, ')')
	}
	b = append(b, typeRows[s.elem].name...)
	b = append(b, '[')
	for i, d := range s.dims {
		if i > 0 {
			b = append(b, ',')
		}
		switch {
		case d == unboundedSize:
			b = append(b, '?')
			continue
		case s.isDynamic(i):
			b = append(b, "<="...)
		}
		b = strconv.AppendInt(b, d, 10)
	}
	b = append(b, ']')
	if layouts && s.layout != nil && s.isArray() {
		b = appendLayout(b, s.layout)
	}
	return b
}

// appendIndexComment appends the text before element i of a list: a comma, and an index comment every five elements.
func appendIndexComment(b []byte, i int) []byte {
	if i == 0 {
		return b
	}
	b = append(b, ", "...)
	if i%5 == 0 {
		b = append(b, "/*index="...)
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(b, "*/"...)
	}
	return b
}

// appendLayout appends {minor,to,major:rest}, nothing for a scalar's plain layout.
func appendLayout(b []byte, l *layout) []byte {
	start := len(b)
	b = append(b, '{')
	b = appendInts(b, l.minorToMajor)
	rest := len(b)
	b = append(b, ':')
	if len(l.tiles) > 0 {
		b = append(b, 'T')
		for _, t := range l.tiles {
			b = appendJoined(append(b, '('), ",", t, func(b []byte, d int64) []byte {
				if d == combineDim {
					return append(b, '*')
				}
				return strconv.AppendInt(b, d, 10)
			})
			b = append(b, ')')
		}
	}
	if l.tailPadding != 1 {
		b = appendParen(b, "L", l.tailPadding)
	}
	if l.indexType != invalidType {
		b = append(append(append(b, "#("...), l.indexType.String()...), ')')
	}
	if l.pointerType != invalidType {
		b = append(append(append(b, "*("...), l.pointerType.String()...), ')')
	}
	if l.elementBits != 0 {
		b = appendParen(b, "E", l.elementBits)
	}
	if l.memorySpace != 0 {
		b = appendParen(b, "S", l.memorySpace)
	}
	if len(l.splits) > 0 {
		b = append(b, "SC"...)
		for _, s := range l.splits {
			b = append(b, '(')
			b = strconv.AppendInt(b, s.dim, 10)
			b = append(b, ':')
			b = appendInts(b, s.indices)
			b = append(b, ')')
		}
	}
	if l.prefixBytes != 0 {
		b = appendParen(b, "M", l.prefixBytes)
	}
	if len(b) == rest+1 {
		b = b[:rest]
		if len(l.minorToMajor) == 0 {
			return b[:start]
		}
	}
	return append(b, '}')
}

func appendParen(b []byte, name string, v int64) []byte {
	b = append(append(b, name...), '(')
	b = strconv.AppendInt(b, v, 10)
	return append(b, ')')
}

// appendInts appends integers separated by commas.
func appendInts[T int64 | int](b []byte, list []T) []byte {
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(v), 10)
	}
	return b
}
