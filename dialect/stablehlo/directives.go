package stablehlo

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Directives holds the custom directives of the assembly formats of this dialect, and of dialects with the same
// assembly. The op's row determines the kind of attribute that a directive creates.
var Directives = map[string]*ir.Directive{
	"SameOperandsAndResultType":         {Parse: parseSameType, Print: printSameType, OneType: true},
	"VariadicSameOperandsAndResultType": {Parse: parseVariadicSameType, Print: printVariadicSameType},
	"TupleOpType":                       {Parse: parseTupleType, Print: printTupleType},
	"PairwiseOpType":                    {Parse: parsePairwise, Print: printPairwise},
	"SelectOpType":                      {Parse: parseSelectType, Print: printSelectType},
	"ComplexOpType":                     {Parse: parseComplexType, Print: printComplexType},
	"SliceRanges":                       {Parse: parseSliceRanges, Print: printSliceRanges, ByText: true},
	"ExponentMantissa":                  {Parse: parseExponentMantissa, Print: printExponentMantissa, ByText: true},
	"CustomCallTarget":                  {Parse: parseCallTarget, Print: printCallTarget, ByText: true},
	"VariadicOperandWithAttribute":      {Parse: parseOperandsComma, Print: printOperandsComma},
	"DotDimensionNumbers":               {Parse: parseDotDims, Print: printDotDims, ByText: true},
	"PrecisionConfig":                   {Parse: parsePrecision, Print: printPrecision, ByText: true},
	"ConvolutionDimensions":             {Parse: parseConvDimsOf, Print: printConvDimsOf, ByText: true},
	"WindowAttributes":                  {Parse: parseWindow, Print: printWindow, ByText: true},
}

// constraint returns the constraint of the op's row on the attribute that arg names.
func constraint(st *ir.OpState, arg ir.DirectiveArg) *ir.AttrConstraint {
	return &st.Def.Attrs[arg.Index].Type
}

// The type directives write a single type if all types are equal, and a function type otherwise.

func parseSameType(p ir.AsmParser, st *ir.OpState, args []ir.DirectiveArg) {
	n := len(args) - 1
	t, f := parseTypeOrFunctionOf(p, n)
	if f != nil {
		for i, in := range f.Inputs() {
			args[i].Types = append(args[i].Types, in)
		}
		args[n].Types = f.Results()
		return
	}
	for i := range args {
		args[i].Types = append(args[i].Types, t)
	}
}

func parseTypeOrFunction(p ir.AsmParser) ir.Type {
	if p.Peek("(") {
		return p.ParseFunctionType()
	}
	return p.ParseType()
}

// parseTypeOrFunctionOf reads a type, or the function type f of n operands and one result.
func parseTypeOrFunctionOf(p ir.AsmParser, n int) (t ir.Type, f *ir.FunctionType) {
	pos := p.Pos()
	t = parseTypeOrFunction(p)
	f, ok := t.(*ir.FunctionType)
	if ok && len(f.Inputs()) != n {
		p.ErrorfAt(pos, "%d operands present, but expected %d", n, len(f.Inputs()))
	}
	if ok && len(f.Results()) != 1 {
		p.ErrorfAt(pos, "expected single output")
	}
	return t, f
}

func printSameType(p ir.AsmPrinter, op *ir.Op, args []ir.DirectiveArg) {
	var types []ir.Type
	for _, a := range args {
		types = append(types, a.Types...)
	}
	if allEqual(types) {
		p.PrintType(types[0])
	} else {
		p.PrintFunctionType(types[:len(types)-1], types[len(types)-1:])
	}
}

// parseVariadicSameType: args are ref($operands), type($operands), type($result).
func parseVariadicSameType(p ir.AsmParser, st *ir.OpState, args []ir.DirectiveArg) {
	n := len(args[0].Operands)
	t, f := parseTypeOrFunctionOf(p, n)
	if f != nil {
		args[1].Types, args[2].Types = f.Inputs(), f.Results()
		return
	}
	args[1].Types, args[2].Types = slices.Repeat([]ir.Type{t}, n), []ir.Type{t}
}

func printVariadicSameType(p ir.AsmPrinter, op *ir.Op, args []ir.DirectiveArg) {
	if allEqual(append(slices.Clip(args[2].Types), args[1].Types...)) {
		p.PrintType(args[2].Types[0])
	} else {
		p.PrintFunctionType(args[1].Types, args[2].Types)
	}
}

func parseTupleType(p ir.AsmParser, st *ir.OpState, args []ir.DirectiveArg) {
	pos := p.Pos()
	t := parseTypeOrFunction(p)
	switch t := t.(type) {
	case *ir.FunctionType:
		if len(t.Results()) != 1 {
			p.ErrorfAt(pos, "expected single output")
		}
		args[0].Types, args[1].Types = t.Inputs(), t.Results()
	case *ir.TupleType:
		args[0].Types, args[1].Types = t.Elems(), []ir.Type{t}
	default:
		p.ErrorfAt(pos, "expected tuple type")
	}
}

func printTupleType(p ir.AsmPrinter, op *ir.Op, args []ir.DirectiveArg) {
	p.PrintType(args[1].Types[0])
}

func parsePairwise(p ir.AsmParser, st *ir.OpState, args []ir.DirectiveArg) {
	types := p.ParseTypes()
	args[0].Types, args[1].Types = types, types
}

func printPairwise(p ir.AsmPrinter, op *ir.Op, args []ir.DirectiveArg) { p.PrintTypes(args[0].Types) }

// parseSelectType: the type of the predicate and the common type of choices and result, or a function type.
func parseSelectType(p ir.AsmParser, st *ir.OpState, args []ir.DirectiveArg) {
	pos := p.Pos()
	var types []ir.Type
	if p.Peek("(") {
		f := p.ParseFunctionType()
		if len(f.Inputs()) != 3 || len(f.Results()) != 1 {
			p.ErrorfAt(pos, "expected functional type or list of two types")
		}
		types = append(append(types, f.Inputs()...), f.Results()...)
	} else {
		types = p.ParseTypes()
		if len(types) != 2 {
			p.ErrorfAt(pos, "expected functional type or list of two types")
		}
		types = append(types, types[1], types[1])
	}
	for i := range args {
		args[i].Types = []ir.Type{types[i]}
	}
}

func printSelectType(p ir.AsmPrinter, op *ir.Op, args []ir.DirectiveArg) {
	pred, a, b, r := args[0].Types[0], args[1].Types[0], args[2].Types[0], args[3].Types[0]
	if a != r || b != r {
		p.PrintFunctionType([]ir.Type{pred, a, b}, []ir.Type{r})
		return
	}
	p.PrintTypes([]ir.Type{pred, r})
}

// parseComplexType: the complex result type, which determines the types of both parts, or a function type.
func parseComplexType(p ir.AsmParser, st *ir.OpState, args []ir.DirectiveArg) {
	pos := p.Pos()
	t, f := parseTypeOrFunctionOf(p, 2)
	if f != nil {
		args[0].Types, args[1].Types, args[2].Types = f.Inputs()[:1], f.Inputs()[1:], f.Results()
		return
	}
	part := partOf(p.Context(), t)
	if part == nil {
		p.ErrorfAt(pos, "expected tensor with complex element type")
	}
	args[0].Types, args[1].Types, args[2].Types = []ir.Type{part}, []ir.Type{part}, []ir.Type{t}
}

// partOf returns the type of the real part of t, or nil if t is not a complex tensor.
func partOf(c *ir.Context, t ir.Type) ir.Type {
	tt, ok := t.(*ir.TensorType)
	if !ok {
		return nil
	}
	ct, ok := tt.Elem().(*ir.ComplexType)
	if !ok {
		return nil
	}
	return withElem(c, tt, ct.Elem())
}

func printComplexType(p ir.AsmPrinter, op *ir.Op, args []ir.DirectiveArg) {
	l, r, res := args[0].Types[0], args[1].Types[0], args[2].Types[0]
	if part := partText(res); part != "" && l.String() == part && r.String() == part {
		p.PrintType(res)
		return
	}
	p.PrintFunctionType([]ir.Type{l, r}, []ir.Type{res})
}

// partText spells the type of the real part of a complex tensor type. It returns "" for other types.
func partText(t ir.Type) string {
	tt, ok := t.(*ir.TensorType)
	if !ok {
		return ""
	}
	if _, ok := tt.Elem().(*ir.ComplexType); !ok {
		return ""
	}
	s := t.String()
	i := strings.Index(s, "complex<")
	j := i + strings.IndexByte(s[i:], '>')
	return s[:i] + s[i+len("complex<"):j] + s[j+1:]
}

// parseSliceRanges reads [start:limit:stride, ...]. The stride is optional.
func parseSliceRanges(p ir.AsmParser, st *ir.OpState, args []ir.DirectiveArg) {
	start, limit, stride := []int64{}, []int64{}, []int64{}
	p.ParseList("[", "]", func() {
		start = append(start, p.ParseInteger())
		p.Expect(":")
		limit = append(limit, p.ParseInteger())
		if p.Accept(":") {
			stride = append(stride, p.ParseInteger())
		} else {
			stride = append(stride, 1)
		}
	})
	args[0].Attr, args[1].Attr, args[2].Attr = ir.NewDenseArray(i64, start), ir.NewDenseArray(i64, limit), ir.NewDenseArray(i64, stride)
}

func printSliceRanges(p ir.AsmPrinter, op *ir.Op, args []ir.DirectiveArg) {
	start, limit, stride := view.Ints(args[0].Attr), view.Ints(args[1].Attr), view.Ints(args[2].Attr)
	p.Print("[")
	if len(start) == len(limit) && len(start) == len(stride) {
		for i := range start {
			if i > 0 {
				p.Print(", ")
			}
			p.PrintInt(start[i])
			p.Print(":")
			p.PrintInt(limit[i])
			if stride[i] != 1 {
				p.Print(":")
				p.PrintInt(stride[i])
			}
		}
	} else {
		// MLIR prints an invalid op in this form.
		p.Print("start_indices: ")
		p.PrintInts(start)
		p.Print(", limit_indices: ")
		p.PrintInts(limit)
		p.Print(", strides: ")
		p.PrintInts(stride)
	}
	p.Print("]")
}

// parseExponentMantissa reads e5m10.
func parseExponentMantissa(p ir.AsmParser, st *ir.OpState, args []ir.DirectiveArg) {
	pos := p.Pos()
	word := p.ParseKeyword()
	e, m, ok := strings.Cut(strings.TrimPrefix(word, "e"), "m")
	if !strings.HasPrefix(word, "e") || !ok || !digits(e) || !digits(m) {
		p.ErrorfAt(pos, "expected exponent mantissa in format e#m#, saw %s", word)
	}
	bits := func(width, s string) ir.Attr {
		v, err := strconv.ParseInt(s, 10, 32)
		if err != nil {
			p.ErrorfAt(pos, "unable to parse %s '%s'", width, s)
		}
		return ir.NewInteger(v, i32)
	}
	args[0].Attr, args[1].Attr = bits("exponent", e), bits("mantissa", m)
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func printExponentMantissa(p ir.AsmPrinter, op *ir.Op, args []ir.DirectiveArg) {
	p.Print("e")
	p.PrintInt(view.Int(args[0].Attr))
	p.Print("m")
	p.PrintInt(view.Int(args[1].Attr))
}

func parseCallTarget(p ir.AsmParser, st *ir.OpState, args []ir.DirectiveArg) {
	args[0].Attr = ir.NewString(p.ParseSymbol())
}

func printCallTarget(p ir.AsmPrinter, op *ir.Op, args []ir.DirectiveArg) {
	if s, ok := args[0].Attr.(*ir.StringAttr); ok {
		p.PrintSymbol(s.Value())
	}
}

// parseOperandsComma reads operands that are each followed by a comma: %a, %b, dim = 0.
func parseOperandsComma(p ir.AsmParser, st *ir.OpState, args []ir.DirectiveArg) {
	for {
		o, ok := p.ParseOptionalOperand()
		if !ok {
			return
		}
		args[0].Operands = append(args[0].Operands, o)
		p.Expect(",")
	}
}

func printOperandsComma(p ir.AsmPrinter, op *ir.Op, args []ir.DirectiveArg) {
	p.PrintValues(args[0].Values)
	if len(args[0].Values) > 0 {
		p.Print(",")
	}
}

// short is batching_dims = [0] x [0], contracting_dims = [1] x [1].
func (d *DotDims) short(t *view.Text) {
	pair := func(a, b *[]int64) {
		t.Lit(" = ")
		t.Ints(a)
		t.Lit(" x ")
		t.Ints(b)
	}
	if t.Opt(len(d.LHSBatching) > 0 || len(d.RHSBatching) > 0, "batching_dims") || t.Opt(false, "batch_dims") {
		pair(&d.LHSBatching, &d.RHSBatching)
		t.Lit(", ")
	}
	t.Lit("contracting_dims")
	pair(&d.LHSContracting, &d.RHSContracting)
}

func parseDotDims(p ir.AsmParser, st *ir.OpState, args []ir.DirectiveArg) {
	d := &DotDims{}
	d.short(&view.Text{P: p})
	args[0].Attr = constraint(st, args[0]).Attr.New(d)
}

func printDotDims(p ir.AsmPrinter, op *ir.Op, args []ir.DirectiveArg) {
	if d, ok := ir.DataOf[DotDims](args[0].Attr); ok {
		d.short(&view.Text{W: p})
	}
}

// parsePrecision reads the optional parts , precision = [DEFAULT, HIGHEST] and , algorithm = <...>. Only dot_general
// has an algorithm.
func parsePrecision(p ir.AsmParser, st *ir.OpState, args []ir.DirectiveArg) {
	if !p.Accept(",") {
		return
	}
	if len(args) == 1 || !p.AcceptKeyword("algorithm") {
		p.ExpectKeyword("precision")
		p.Expect("=")
		def := constraint(st, args[0]).Elem.Enum
		elems := []ir.Attr{}
		p.ParseList("[", "]", func() { elems = append(elems, ir.NewEnum(def, p.ParseEnum(def))) })
		args[0].Attr = ir.NewArray(elems)
		if len(args) == 1 || !p.Accept(",") {
			return
		}
		p.ExpectKeyword("algorithm")
	}
	p.Expect("=")
	args[1].Attr = constraint(st, args[1]).Attr.ParseShort(p)
}

func printPrecision(p ir.AsmPrinter, op *ir.Op, args []ir.DirectiveArg) {
	if a, ok := args[0].Attr.(*ir.ArrayAttr); ok {
		p.Print(", precision = [")
		for i, e := range a.Elems() {
			if i > 0 {
				p.Print(", ")
			}
			if e, ok := e.(*ir.EnumAttr); ok {
				p.Print(e.Case())
			} else {
				p.PrintAttr(a.Elems()[i])
			}
		}
		p.Print("]")
	}
	if len(args) > 1 {
		if d, ok := args[1].Attr.(*ir.DialectAttr); ok && DotAlgorithmAttr.Is(d) {
			p.Print(", algorithm = " + d.Body())
		}
	}
}

func parseConvDimsOf(p ir.AsmParser, st *ir.OpState, args []ir.DirectiveArg) {
	c := &ConvDims{}
	parseConv(p, c)
	args[0].Attr = constraint(st, args[0]).Attr.New(c)
}

func printConvDimsOf(p ir.AsmPrinter, op *ir.Op, args []ir.DirectiveArg) {
	if c, ok := ir.DataOf[ConvDims](args[0].Attr); ok {
		p.Print(c.text())
	}
}

var windowNames = [...]string{"stride", "pad", "lhs_dilate", "rhs_dilate", "reverse"}

// list returns values in the form that the op's row requires: an array or, in MHLO, a tensor.
func list(c *ir.Context, t *ir.AttrConstraint, elem *ir.IntegerType, values []int64) ir.Attr {
	switch {
	case t.Form == ir.FormInts:
		return ir.NewDenseArray(elem, values)
	case elem == i1:
		return boolElements(c, values)
	}
	return NewI64Elements(c, tensor.Shape{int64(len(values))}, values)
}

func boolElements(c *ir.Context, v []int64) ir.Attr {
	t := tensor.New(tensor.I1, tensor.Shape{int64(len(v))})
	for i, b := range v {
		tensor.View[uint8](t)[i] = uint8(b)
	}
	return ir.NewDense(c.Tensor(t.Shape(), i1, nil), t, false)
}

// parseWindow reads the content of window = {...}: any of stride, pad, lhs_dilate, rhs_dilate and reverse.
func parseWindow(p ir.AsmParser, st *ir.OpState, args []ir.DirectiveArg) {
	var seen [len(windowNames)]bool
	for more := !p.Peek("}"); more; more = p.Accept(",") && !p.Peek("}") { // as MLIR, with a comma at the end
		pos := p.Pos()
		which := -1
		for i, name := range windowNames {
			if p.AcceptKeyword(name) {
				which = i
				break
			}
		}
		if which < 0 {
			if w := p.ParseOptionalKeyword(); w != "" {
				p.ErrorfAt(pos, "Unexpected keyword %s", w)
			}
			p.Errorf("expected valid keyword")
		}
		if seen[which] {
			p.ErrorfAt(pos, "Duplicate keyword %s", windowNames[which])
		}
		seen[which] = true
		p.Expect("=")
		switch windowNames[which] {
		case "pad":
			args[which].Attr = parsePadding(p)
		case "reverse":
			vals := []int64{}
			p.ParseList("[", "]", func() {
				v := int64(0)
				if n, ok := p.ParseOptionalInteger(); ok {
					if n != 0 {
						v = 1
					}
				} else if p.AcceptKeyword("true") {
					v = 1
				} else if !p.AcceptKeyword("false") {
					p.Errorf("expected boolean value")
				}
				vals = append(vals, v)
			})
			args[which].Attr = list(p.Context(), constraint(st, args[which]), i1, vals)
		default:
			args[which].Attr = list(p.Context(), constraint(st, args[which]), i64, p.ParseIntegers())
		}
	}
}

// parsePadding reads [[low, high], ...].
func parsePadding(p ir.AsmParser) ir.Attr {
	var vals []int64
	n := int64(0)
	p.ParseList("[", "]", func() {
		pos := p.Pos()
		pair := p.ParseIntegers()
		if len(pair) != 2 {
			p.ErrorfAt(pos, "Expected array with 2 elements, got %d elements instead", len(pair))
		}
		vals = append(vals, pair...)
		n++
	})
	return NewI64Elements(p.Context(), tensor.Shape{n, 2}, vals)
}

// NewI64Elements returns dense<...> : tensor<shape x i64>.
func NewI64Elements(c *ir.Context, shape tensor.Shape, vals []int64) *ir.DenseAttr {
	splat := len(vals) > 0
	for _, v := range vals {
		splat = splat && v == vals[0]
	}
	t := c.Tensor(shape, i64, nil)
	if splat {
		v := tensor.New(tensor.I64, nil)
		tensor.View[int64](v)[0] = vals[0]
		return ir.NewDense(t, v, true)
	}
	v := tensor.New(tensor.I64, shape)
	copy(tensor.View[int64](v), vals)
	return ir.NewDense(t, v, false)
}

func printWindow(p ir.AsmPrinter, op *ir.Op, args []ir.DirectiveArg) {
	first := true
	for i, a := range args {
		if a.Attr == nil {
			continue
		}
		if !first {
			p.Print(", ")
		}
		first = false
		p.Print(windowNames[i] + " = ")
		switch windowNames[i] {
		case "pad":
			vals := view.Elements(a.Attr)
			p.Print("[")
			for j := 0; j+1 < len(vals); j += 2 {
				if j > 0 {
					p.Print(", ")
				}
				p.PrintInts(vals[j : j+2])
			}
			p.Print("]")
		case "reverse":
			p.Print("[")
			for j, v := range view.Ints(a.Attr) {
				if j > 0 {
					p.Print(", ")
				}
				p.Print(strconv.FormatBool(v != 0))
			}
			p.Print("]")
		default:
			p.PrintInts(view.Ints(a.Attr))
		}
	}
}
