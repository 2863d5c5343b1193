package bytecode

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/internal/densebytes"
	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Codes of builtin attributes (MLIR, BuiltinDialectBytecode.td).
const (
	codeArray = iota
	codeDict
	codeString
	codeTypedString
	codeFlatSymbol
	codeSymbol
	codeTypeAttr
	codeUnit
	codeInteger
	codeFloat
	codeCallSite
	codeFileLoc
	codeFused
	codeFusedMetadata
	codeNameLoc
	codeUnknownLoc
	codeResource
	codeDenseArray
	codeDense
	codeDenseString
	codeSparse
	codeDistinct
	codeFileRange
)

// Codes of builtin types.
const (
	codeIntegerType = iota
	codeIndex
	codeFunction
	codeBF16
	codeF16
	codeF32
	codeF64
	codeF80
	codeF128
	codeComplex
	codeMemRef
	codeMemRefSpace
	codeNone
	codeTensor
	codeTensorEncoded
	codeTuple
	codeUnrankedMemRef
	codeUnrankedMemRefSpace
	codeUnrankedTensor
	codeVector
	codeScalableVector
	codeTF32
	codeF8E5M2
	codeF8E4M3
	codeF8E4M3FN
	codeF8E5M2FNUZ
	codeF8E4M3FNUZ
	codeF8E4M3B11FNUZ
	codeF8E3M4
	codeF4E2M1FN
	codeF6E2M3FN
	codeF6E3M2FN
	codeF8E8M0FNU
	numBuiltinTypes
)

// floatCodes holds the codes of the floating-point types that tensors compute with.
var floatCodes = map[tensor.DType]int{
	tensor.BF16: codeBF16, tensor.F16: codeF16, tensor.F32: codeF32, tensor.F64: codeF64, tensor.F8E5M2: codeF8E5M2,
	tensor.F8E4M3: codeF8E4M3, tensor.F8E4M3FN: codeF8E4M3FN, tensor.F8E5M2FNUZ: codeF8E5M2FNUZ,
	tensor.F8E4M3FNUZ: codeF8E4M3FNUZ, tensor.F8E4M3B11FNUZ: codeF8E4M3B11FNUZ, tensor.F8E3M4: codeF8E3M4,
	tensor.F4E2M1FN: codeF4E2M1FN, tensor.F6E2M3FN: codeF6E2M3FN, tensor.F6E3M2FN: codeF6E3M2FN,
	tensor.F8E8M0FNU: codeF8E8M0FNU,
}

// foreignCodes holds the codes of the floating-point types that tensors only carry.
var foreignCodes = map[string]int{"f80": codeF80, "f128": codeF128, "tf32": codeTF32}

// builtinAttr reads a builtin attribute with the given code. It returns nil for an unknown code.
func (d *decoder) builtinAttr(code uint64) ir.Attr {
	switch code {
	case codeArray:
		var l []ir.Attr
		d.Attrs(&l)
		return ir.NewArray(l)
	case codeDict:
		return d.dict()
	case codeString:
		return ir.NewString(d.string())
	case codeTypedString:
		s := d.string()
		return ir.NewTypedString(s, d.typ())
	case codeFlatSymbol:
		return ir.NewSymbolRef(part[*ir.StringAttr](d, "a string").Value())
	case codeSymbol:
		return d.symbol()
	case codeTypeAttr:
		return ir.NewTypeAttr(d.typ())
	case codeUnit:
		return ir.NewUnit()
	case codeInteger:
		return d.integer()
	case codeFloat:
		return d.float()
	case codeCallSite:
		l := d.location()
		return loc(d.r.locs.CallSite(l, d.location()))
	case codeFileLoc:
		file := part[*ir.StringAttr](d, "a string").Value()
		line := d.line()
		return loc(d.r.locs.File(file, line, d.line(), 0, 0))
	case codeFused, codeFusedMetadata:
		return d.fused(code == codeFusedMetadata)
	case codeNameLoc:
		return d.nameLoc()
	case codeUnknownLoc:
		return loc(&ir.Loc{})
	case codeResource:
		t := d.typ()
		return ir.NewResource(d.r.handles[d.c.index(len(d.r.handles), "resource")].key, t)
	case codeDenseArray:
		return d.denseArray()
	case codeDense:
		return d.dense()
	case codeDenseString:
		return d.denseString()
	case codeSparse:
		return d.sparse()
	case codeDistinct:
		return d.distinct()
	case codeFileRange:
		return d.fileRange()
	}
	return nil
}

// builtinType reads a builtin type with the given code. It returns nil for an unknown code.
func (d *decoder) builtinType(code uint64) ir.Type {
	switch code {
	case codeIntegerType:
		return d.integerType()
	case codeIndex:
		return d.r.ctx.Index()
	case codeFunction:
		var in, out []ir.Type
		d.Types(&in)
		d.Types(&out)
		return d.r.ctx.Function(in, out)
	case codeComplex:
		return d.complex()
	case codeMemRef:
		return d.memRef(nil)
	case codeMemRefSpace:
		return d.memRef(d.attr())
	case codeNone:
		return d.r.ctx.None()
	case codeTensor:
		return d.tensor(nil)
	case codeTensorEncoded:
		return d.tensor(d.attr())
	case codeTuple:
		var l []ir.Type
		d.Types(&l)
		return d.r.ctx.Tuple(l)
	case codeUnrankedMemRef:
		return d.unrankedMemRef("")
	case codeUnrankedMemRefSpace:
		return d.unrankedMemRef(", " + spaceText(d.attr()))
	case codeUnrankedTensor:
		return d.r.ctx.UnrankedTensor(d.element())
	case codeVector:
		shape := d.shape()
		return d.r.ctx.Shaped(ir.Vector, shape, d.element(), "")
	case codeScalableVector:
		return d.scalableVector()
	}
	for t, c := range floatCodes {
		if uint64(c) == code {
			return ir.Float(t)
		}
	}
	for name, c := range foreignCodes {
		if uint64(c) == code {
			return d.r.ctx.ForeignFloat(name)
		}
	}
	return nil
}

func loc(l *ir.Loc) ir.Attr { return ir.NewLocAttr(l) }

func (d *decoder) dict() ir.Attr {
	list := make(ir.AttrList, d.c.count())
	for i := range list {
		list[i].Name = part[*ir.StringAttr](d, "a string").Value()
		d.Attr(&list[i].Attr)
	}
	list.Sort()
	for i := 1; i < len(list); i++ {
		if list[i].Name == list[i-1].Name {
			d.c.fail("the dictionary has two entries named %q", list[i].Name)
		}
	}
	return ir.NewDict(list)
}

func (d *decoder) symbol() ir.Attr {
	root := part[*ir.StringAttr](d, "a string").Value()
	nested := make([]string, d.c.count())
	for i := range nested {
		nested[i] = part[*ir.SymbolRefAttr](d, "a symbol").Root()
	}
	return ir.NewSymbolRef(root, nested...)
}

// width returns the number of bits in a number of type t.
func (d *decoder) width(t ir.Type) int {
	switch t := t.(type) {
	case *ir.IntegerType:
		return t.Width()
	case *ir.IndexType:
		return 64
	case *ir.FloatType:
		if t.DType() != tensor.Invalid {
			return t.DType().Bits()
		}
		return densebytes.ForeignBits(t)
	}
	d.c.fail("a number of type %.100s", t)
	return 0
}

// wide reads a number of type t, which has w bits, more than 64.
func (d *decoder) wide(t ir.Type, w int) *big.Int {
	words := make([]uint64, d.c.count())
	for i := range words {
		words[i] = uint64(d.c.int())
	}
	v := new(big.Int)
	for i := len(words) - 1; i >= 0; i-- {
		v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(words[i]))
	}
	if v.BitLen() > w {
		d.c.fail("a number of %d bits of type %s", v.BitLen(), t)
	}
	return v
}

func (d *decoder) integer() ir.Attr {
	t := d.typ()
	it, _ := t.(*ir.IntegerType)
	if _, isIndex := t.(*ir.IndexType); it == nil && !isIndex {
		d.c.fail("an integer of type %.100s", t)
	}
	w := d.width(t)
	if w > 64 {
		v := d.wide(t, w)
		if it.Signedness() != ir.Unsigned && v.BitLen() == w {
			v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(w)))
		}
		return ir.NewWideInteger(v, t)
	}
	var bits uint64
	d.Bits(&bits, w)
	return ir.NewInteger(extend(bits, w, it), t)
}

// extend returns the value of an integer of w bits in the form that attributes store: zero-extended for unsigned and
// one-bit numbers, and sign-extended for the rest.
func extend(bits uint64, w int, t *ir.IntegerType) int64 {
	if w == 0 {
		return 0
	}
	if t != nil && (t.Signedness() == ir.Unsigned || w == 1 && t.Signedness() == ir.Signless) {
		return int64(bits << (64 - w) >> (64 - w))
	}
	return int64(bits<<(64-w)) >> (64 - w)
}

func (d *decoder) float() ir.Attr {
	t := d.typ()
	f, ok := t.(*ir.FloatType)
	if !ok {
		d.c.fail("a floating-point number of type %.100s", t)
	}
	w := d.width(t)
	if w > 64 {
		return densebytes.NewForeignFloat(d.wide(t, w), f)
	}
	var bits uint64
	d.Bits(&bits, w)
	if f.DType() != tensor.Invalid {
		return ir.NewFloatBits(bits<<(64-w)>>(64-w), f)
	}
	v := new(big.Int).SetUint64(bits)
	if v.BitLen() > w {
		d.c.fail("a number of %d bits of type %s", v.BitLen(), t)
	}
	return densebytes.NewForeignFloat(v, f)
}

func (d *decoder) location() *ir.Loc { return part[*ir.LocAttr](d, "a location").Loc() }

// checkLoc fails for a location whose text is too long or too deeply nested.
func (d *decoder) checkLoc(l *ir.Loc) ir.Attr {
	if int64(l.Size()) > d.r.maxExpansion() || l.Depth() > maxDepth {
		d.c.fail("a location is longer than %d bytes or deeper than %d levels", d.r.maxExpansion(), maxDepth)
	}
	return loc(l)
}

func (d *decoder) line() uint32 {
	v := d.c.uint()
	if v>>32 != 0 {
		d.c.fail("line or column %d", v)
	}
	return uint32(v)
}

// fileRange reads a file and up to four numbers: line, column, end line if it differs, end column.
func (d *decoder) fileRange() ir.Attr {
	file := part[*ir.StringAttr](d, "a string").Value()
	n := d.c.count()
	if n > 4 {
		d.c.fail("a location of %d numbers", n)
	}
	var v [4]uint32
	for i := range n {
		v[i] = d.line()
	}
	switch n {
	case 2:
		return loc(d.r.locs.File(file, v[0], v[1], v[0], v[1]))
	case 3:
		return loc(d.r.locs.File(file, v[0], v[1], v[0], v[2]))
	case 4:
		return loc(d.r.locs.File(file, v[0], v[1], v[2], v[3]))
	}
	return loc(d.r.locs.File(file, v[0], 0, 0, 0))
}

func (d *decoder) nameLoc() ir.Attr {
	name := part[*ir.StringAttr](d, "a string").Value()
	child := d.location()
	if child.Kind() == ir.LocUnknown {
		child = nil
	}
	return d.checkLoc(d.r.locs.Name(name, child))
}

func (d *decoder) fused(metadata bool) ir.Attr {
	list := make([]*ir.Loc, d.c.count())
	for i := range list {
		list[i] = d.location()
	}
	var meta ir.Attr
	before := d.size
	if metadata {
		meta = d.attr()
	}
	return d.checkLoc(d.r.locs.Fused(meta, d.size-before, list))
}

func (d *decoder) denseArray() ir.Attr {
	t := d.typ()
	n := d.c.uint()
	at := d.c.pos
	var b []byte
	d.Bytes(&b)
	w := 0
	switch t.(type) {
	case *ir.IntegerType, *ir.FloatType:
		w = (d.width(t) + 7) / 8
	}
	if w == 0 || w > 8 || uint64(len(b)) != n*uint64(w) || n > uint64(len(b)) {
		d.c.failAt(at, "%d bytes do not hold %d elements of type %.100s", len(b), n, t)
	}
	it, _ := t.(*ir.IntegerType)
	values := make([]int64, n)
	for i := range values {
		bits := uint64(0)
		for k := range w {
			bits |= uint64(b[i*w+k]) << (8 * k)
		}
		if it != nil {
			values[i] = extend(bits, it.Width(), it)
		} else {
			values[i] = int64(bits)
		}
	}
	return ir.NewDenseArray(t, values)
}

// shapeOf returns the shape and the element type of a type that dense elements can have.
func (d *decoder) shapeOf(t ir.Type) (shape tensor.Shape, elem ir.Type) {
	switch t := t.(type) {
	case *ir.TensorType:
		if t.Static() {
			return t.Shape(), t.Elem()
		}
	case *ir.ShapedType:
		if t.Kind() == ir.Vector && t.Rest() == "" {
			return t.Shape(), t.Elem()
		}
	}
	d.c.fail("dense elements of type %.100s, which has no static shape", t)
	return nil, nil
}

func (d *decoder) dense() ir.Attr {
	t := d.typ()
	at := d.c.pos
	var b []byte
	d.Bytes(&b)
	shape, elem := d.shapeOf(t)
	a, problem := densebytes.Attr(t, shape, elem, b)
	if problem != "" {
		d.c.failAt(at, "%s", problem)
	}
	return a
}

func (d *decoder) denseString() ir.Attr {
	t := d.typ()
	splat := d.c.uint() != 0
	shape, _ := d.shapeOf(t)
	n := shape.NumElements()
	if splat {
		n = min(n, 1)
	}
	if n < 0 || n > int64(d.c.end-d.c.pos) {
		d.c.fail("%d strings, but %d bytes are left", n, d.c.end-d.c.pos)
	}
	b := []byte("dense<")
	list := make([]string, n)
	for i := range list {
		d.String(&list[i])
	}
	if splat && n == 1 {
		b = mlirtext.AppendQuoted(b, list[0])
	} else {
		b = appendNested(b, list, shape)
	}
	b = append(b, "> : "...)
	return d.parseAttr(d.c.pos, append(b, t.String()...))
}

// appendNested appends strings as nested lists of the given shape.
func appendNested(b []byte, list []string, shape tensor.Shape) []byte {
	if len(shape) == 0 {
		if len(list) > 0 {
			b = mlirtext.AppendQuoted(b, list[0])
		}
		return b
	}
	b = append(b, '[')
	step := 0
	if shape[0] > 0 {
		step = len(list) / int(shape[0])
	}
	for i := range int(shape[0]) {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendNested(b, list[i*step:(i+1)*step], shape[1:])
	}
	return append(b, ']')
}

func (d *decoder) sparse() ir.Attr {
	t := d.typ()
	body := func() string {
		s := part[*ir.DenseAttr](d, "dense elements").String()
		s = s[:strings.LastIndex(s, " : ")]
		return strings.TrimSuffix(strings.TrimPrefix(s, "dense<"), ">")
	}
	indices := body()
	return ir.NewOpaque("sparse<" + indices + ", " + body() + "> : " + t.String())
}

func (d *decoder) distinct() ir.Attr {
	a := d.attr()
	d.r.distinct++
	return ir.NewOpaque("distinct[" + strconv.Itoa(d.r.distinct-1) + "]<" + a.String() + ">")
}

func (d *decoder) integerType() ir.Type {
	v := d.c.uint()
	if v&3 == 3 || v>>2 > 1<<24-1 {
		d.c.fail("an integer type of %d bits and signedness %d", v>>2, v&3)
	}
	return d.r.ctx.Integer(int(v>>2), ir.Signedness(v&3))
}

func (d *decoder) complex() ir.Type {
	t := d.typ()
	switch t.(type) {
	case *ir.IntegerType, *ir.FloatType:
		return d.r.ctx.Complex(t)
	}
	d.c.fail("a complex type of %.100s", t)
	return nil
}

// element reads the element type of a tensor or buffer.
func (d *decoder) element() ir.Type {
	t := d.typ()
	switch t.(type) {
	case *ir.FunctionType, *ir.NoneType, *ir.TupleType, *ir.TensorType:
		d.c.fail("an element of type %.100s", t)
	}
	return t
}

func (d *decoder) shape() []int64 {
	var shape []int64
	at := d.c.pos
	d.Ints(&shape)
	for _, n := range shape {
		if n < 0 && n != ir.Dynamic {
			d.c.failAt(at, "a dimension of %d", n)
		}
	}
	return shape
}

func (d *decoder) tensor(encoding ir.Attr) ir.Type {
	shape := d.shape()
	elem := d.element()
	if a, ok := encoding.(*ir.DialectAttr); ok && d.r.reg != nil {
		if dia := d.r.reg.Dialect(a.Dialect()); dia != nil && dia.CheckEncoding != nil {
			if problem := dia.CheckEncoding(a, shape, elem); problem != "" {
				d.c.fail("%s", problem)
			}
		}
	}
	return d.r.ctx.Tensor(shape, elem, encoding)
}

// memRef reads a memref in a memory space, nil for the default one.
func (d *decoder) memRef(space ir.Attr) ir.Type {
	shape := d.shape()
	elem := d.element()
	rest := ""
	if layout := d.layout(); layout != identityMap(len(shape)) {
		rest = ", " + layout
	}
	if space != nil {
		rest += ", " + spaceText(space)
	}
	return d.r.ctx.Shaped(ir.MemRef, shape, elem, rest)
}

// layout reads the layout of a memref and returns its text: an affine map, strides, or an attribute of a dialect.
func (d *decoder) layout() string {
	a := d.attr()
	text := a.String()
	if _, ok := a.(*ir.DialectAttr); !ok && !strings.HasPrefix(text, "affine_map<") && !strings.HasPrefix(text, "strided<") {
		d.c.fail("a memref with the layout %.100s", text)
	}
	return text
}

// spaceText returns the text of a memory space in a type. MLIR omits i64 there.
func spaceText(a ir.Attr) string {
	if n, ok := a.(*ir.IntegerAttr); ok {
		if t, ok := n.Type().(*ir.IntegerType); ok && t == ir.Int(64) {
			return strings.TrimSuffix(a.String(), " : i64")
		}
	}
	return a.String()
}

// identityMap returns the text of the default layout of memrefs with n dimensions.
func identityMap(n int) string {
	dims := make([]string, n)
	for i := range dims {
		dims[i] = "d" + strconv.Itoa(i)
	}
	list := "(" + strings.Join(dims, ", ") + ")"
	return "affine_map<" + list + " -> " + list + ">"
}

func (d *decoder) unrankedMemRef(rest string) ir.Type {
	return d.r.ctx.Shaped(ir.MemRef, nil, d.r.ctx.None(), "*x"+d.element().String()+rest)
}

func (d *decoder) scalableVector() ir.Type {
	scalable := make([]bool, d.c.count())
	for i := range scalable {
		d.Bool(&scalable[i])
	}
	shape := d.shape()
	if len(shape) != len(scalable) {
		d.c.fail("%d dimensions, but %d say whether they are scalable", len(shape), len(scalable))
	}
	b := []byte{}
	for i, n := range shape {
		if scalable[i] {
			b = append(strconv.AppendInt(append(b, '['), n, 10), "]x"...)
		} else {
			b = append(strconv.AppendInt(b, n, 10), 'x')
		}
	}
	return d.r.ctx.Shaped(ir.Vector, nil, d.r.ctx.None(), string(b)+d.element().String())
}
