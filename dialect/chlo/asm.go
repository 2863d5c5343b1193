package chlo

import (
	"strings"

	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/ir"
)

func parseConstant(p ir.AsmParser, st *ir.OpState) {
	p.ParseOptionalAttrDict(st)
	v := p.ParseAttr(nil)
	st.SetAttr("value", v)
	t := ods.ElementsType(v)
	if t == nil {
		p.Errorf("expected elements attribute")
	}
	st.Types = append(st.Types, t)
}

func printConstant(p ir.AsmPrinter, op *ir.Op) {
	p.PrintAttrDict(op.Attrs(), "value")
	p.Print(" ")
	p.PrintAttr(op.Attr("value"))
}

// parseScan reads (%inputs) inits (%inits) dimension=0 attributes {...} { ^bb0(...): ... } : fn.
func parseScan(p ir.AsmParser, st *ir.OpState) {
	pos := p.Pos()
	var inputs, inits []ir.Operand
	p.ParseList("(", ")", func() { inputs = append(inputs, p.ParseOperand()) })
	p.ExpectKeyword("inits")
	p.ParseList("(", ")", func() { inits = append(inits, p.ParseOperand()) })
	p.ExpectKeyword("dimension")
	p.Expect("=")
	st.SetAttr("dimension", ir.NewInteger(p.ParseInteger(), ir.Int(64)))
	p.ParseOptionalAttrDictWithKeyword(st)
	st.Bodies = append(st.Bodies, p.ParseRegion())
	p.Expect(":")
	f := p.ParseFunctionType()
	p.ResolveOperands(append(append([]ir.Operand{}, inputs...), inits...), f.Inputs(), pos, st)
	st.Types = append(st.Types, f.Results()...)
	sizes := func(a, b int) ir.Attr { return ir.NewDenseArray(ir.Int(32), []int64{int64(a), int64(b)}) }
	if len(f.Results()) < len(inits) {
		p.ErrorfAt(pos, "expected at least %d results", len(inits))
	}
	st.AddAttr(p, "operandSegmentSizes", sizes(len(inputs), len(inits)))
	st.AddAttr(p, "resultSegmentSizes", sizes(len(f.Results())-len(inits), len(inits)))
}

func printScan(p ir.AsmPrinter, op *ir.Op) {
	n, _ := segments(op)
	vals := op.OperandList()
	p.Print("(")
	p.PrintValues(vals[:n])
	p.Print(") inits (")
	p.PrintValues(vals[n:])
	p.Print(") dimension=")
	if d, ok := op.Attr("dimension").(*ir.IntegerAttr); ok {
		p.PrintInt(d.Value())
	}
	p.Print(" ")
	p.PrintAttrDictWithKeyword(op.Attrs(), "dimension", "operandSegmentSizes", "resultSegmentSizes")
	p.Print(" ")
	p.PrintRegion(op.Region(0), true, true)
	p.Print(" : ")
	p.PrintFunctionType(view.Types(vals), op.ResultTypes())
}

// segments returns how many operands are inputs and how many results are outputs.
func segments(op *ir.Op) (inputs, outputs int) {
	first := func(name string, n int) int {
		if d, ok := op.Attr(name).(*ir.DenseArrayAttr); ok && len(d.Values()) == 2 && d.Values()[0] >= 0 && d.Values()[0] <= int64(n) {
			return int(d.Values()[0])
		}
		return n
	}
	return first("operandSegmentSizes", op.NumOperands()), first("resultSegmentSizes", op.NumResults())
}

// scanArgNames proposes %input and %carry for the arguments of the body.
func scanArgNames(op *ir.Op, r *ir.Region, set func(*ir.Value, string)) {
	b := r.Entry()
	if b == nil {
		return
	}
	n, _ := segments(op)
	for i, a := range b.Args() {
		if i < n {
			set(a, "input")
		} else {
			set(a, "carry")
		}
	}
}

// dims lists sizes for messages.
func dims(v []int64) string {
	s := string(mlirtext.AppendShape(nil, v))
	return strings.ReplaceAll(strings.TrimSuffix(s, "x"), "x", ", ")
}
