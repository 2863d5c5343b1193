package mpmd

import (
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/ir"
)

// parseMeshAndOrigin reads mesh="m1", origin=["f"(1)].
func parseMeshAndOrigin(p ir.AsmParser, st *ir.OpState) {
	p.ExpectKeyword("mesh")
	p.Expect("=")
	st.SetAttr(attrMesh, parseName(p))
	p.Expect(",")
	p.ExpectKeyword(attrOrigin)
	p.Expect("=")
	var origins []ir.Attr
	p.ParseList("[", "]", func() { origins = append(origins, UserOriginAttr.New(parseUserOrigin(p))) })
	st.SetAttr(attrOrigin, ir.NewArray(origins))
}

func printMeshAndOrigin(p ir.AsmPrinter, op *ir.Op) {
	p.Print("<mesh=")
	p.PrintAttr(op.Attr(attrMesh))
	var origins []string
	if list, ok := op.Attr(attrOrigin).(*ir.ArrayAttr); ok {
		for _, a := range list.Elems() {
			origins = append(origins, shortOrigin(a))
		}
	}
	p.Print(", origin=[" + strings.Join(origins, ", ") + "]")
}

func shortOrigin(a ir.Attr) string {
	if o, ok := ir.DataOf[UserOrigin](a); ok {
		return o.short()
	}
	return ""
}

// parseFragment reads <mesh="m1", origin=[], stage=1, in_shardings=[...], out_shardings=[...]> and the computation.
func parseFragment(p ir.AsmParser, st *ir.OpState) {
	p.Expect("<")
	parseMeshAndOrigin(p, st)
	more := p.Accept(",")
	if more && p.AcceptKeyword("stage") {
		p.Expect("=")
		st.SetAttr(attrStage, p.ParseAttr(ir.Int(64)))
		more = p.Accept(",")
	}
	for _, name := range [...]string{attrIn, attrOut} {
		if more && p.AcceptKeyword(name) {
			p.Expect("=")
			st.SetAttr(name, sdy.PerValueAttr.New(sdy.ParsePerValue(p)))
			more = p.Accept(",")
		}
	}
	p.Expect(">")
	parseComputation(p, st)
}

func printFragment(p ir.AsmPrinter, op *ir.Op) {
	printMeshAndOrigin(p, op)
	if i, ok := op.Attr(attrStage).(*ir.IntegerAttr); ok {
		p.Print(", stage=" + strconv.FormatInt(i.Value(), 10))
	}
	for _, name := range [...]string{attrIn, attrOut} {
		if v, ok := ir.DataOf[sdy.PerValue](op.Attr(name)); ok {
			p.Print(", " + name + "=" + v.List())
		}
	}
	p.Print(">")
	printComputation(p, op, attrMesh, attrOrigin, attrStage, attrIn, attrOut)
}

// parseNamed reads <"f"(1)> and the computation.
func parseNamed(p ir.AsmParser, st *ir.OpState) {
	p.Expect("<")
	st.SetAttr(attrOrigin, UserOriginAttr.New(parseUserOrigin(p)))
	p.Expect(">")
	parseComputation(p, st)
}

func printNamed(p ir.AsmPrinter, op *ir.Op) {
	p.Print("<" + shortOrigin(op.Attr(attrOrigin)) + ">")
	printComputation(p, op, attrOrigin)
}

// parseFor reads (%a) {attributes} (%b: type, %index: tensor<ui32>) { body } : types.
func parseFor(p ir.AsmParser, st *ir.OpState) {
	operands := parseBody(p, st)
	pos := p.Pos()
	types := p.ParseTypes()
	p.ResolveOperands(operands, types, pos, st)
	st.Types = append(st.Types, types...)
}

func printFor(p ir.AsmPrinter, op *ir.Op) {
	printBody(p, op)
	p.PrintTypes(op.ResultTypes())
}

// parseComputation reads (%a) {attributes} (%b: type) { body } : type.
func parseComputation(p ir.AsmParser, st *ir.OpState) {
	parseSignature(p, st, parseBody(p, st))
}

func printComputation(p ir.AsmPrinter, op *ir.Op, elided ...string) {
	printBody(p, op, elided...)
	printSignature(p, op)
}

// parseBody reads (%a) {attributes} (%b: type) { body } and the colon. It returns the operands.
func parseBody(p ir.AsmParser, st *ir.OpState) []ir.Operand {
	operands := parseOperands(p)
	p.ParseOptionalAttrDict(st)
	var args []ir.Argument
	p.ParseList("(", ")", func() { args = append(args, p.ParseArgument(true, false)) })
	st.Bodies = append(st.Bodies, p.ParseRegion(args...))
	p.Expect(":")
	return operands
}

func printBody(p ir.AsmPrinter, op *ir.Op, elided ...string) {
	p.Print(" (")
	p.PrintValues(op.OperandList())
	p.Print(")")
	p.PrintAttrDict(op.Attrs(), elided...)
	p.Print(" (")
	if b := op.Region(0).Entry(); b != nil {
		for i, a := range b.Args() {
			if i > 0 {
				p.Print(", ")
			}
			p.PrintArgument(a, nil)
		}
	}
	p.Print(") ")
	p.PrintRegion(op.Region(0), false, true)
	p.Print(" : ")
}

// parseFragmentCall reads <mesh="m1", origin=[]> @f(%a) {attributes} : type.
func parseFragmentCall(p ir.AsmParser, st *ir.OpState) {
	p.Expect("<")
	parseMeshAndOrigin(p, st)
	p.Expect(">")
	st.SetAttr(attrCallee, ir.NewSymbolRef(p.ParseSymbol()))
	operands := parseOperands(p)
	p.ParseOptionalAttrDict(st)
	p.Expect(":")
	parseSignature(p, st, operands)
}

func printFragmentCall(p ir.AsmPrinter, op *ir.Op) {
	printMeshAndOrigin(p, op)
	p.Print("> ")
	p.PrintAttr(op.Attr(attrCallee))
	p.Print("(")
	p.PrintValues(op.OperandList())
	p.Print(")")
	p.PrintAttrDict(op.Attrs(), attrMesh, attrOrigin, attrCallee)
	p.Print(" : ")
	printSignature(p, op)
}

func parseOperands(p ir.AsmParser) (operands []ir.Operand) {
	p.ParseList("(", ")", func() { operands = append(operands, p.ParseOperand()) })
	return operands
}

// parseSignature reads the types of the operands and results.
func parseSignature(p ir.AsmParser, st *ir.OpState, operands []ir.Operand) {
	pos := p.Pos()
	t := p.ParseFunctionType()
	p.ResolveOperands(operands, t.Inputs(), pos, st)
	st.Types = append(st.Types, t.Results()...)
}

func printSignature(p ir.AsmPrinter, op *ir.Op) {
	p.PrintFunctionType(typesOf(op.Operands()), op.ResultTypes())
}
