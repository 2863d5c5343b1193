package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hlocb/hlocb/interp/internal/simd/expr"
)

// function is a function that the command writes in Go.
type function struct{ *expr.Function }

// goTypes returns the names of the types and conversions of lanes in Go, by width.
func (p *function) goTypes() (f, u, bits, from string) {
	if p.Width == 4 {
		return "float32", "uint32", "math.Float32bits", "math.Float32frombits"
	}
	return "float64", "uint64", "math.Float64bits", "math.Float64frombits"
}

// expressions are the operations in Go. F, U, I and M with a number are an operand as a float, as bits, as a signed
// integer and as a mask.
var expressions = map[string]string{
	"add": "F0 + F1", "sub": "F0 - F1", "mul": "F0 * F1", "div": "F0 / F1", "lt": "F0 < F1", "le": "F0 <= F1", "eq": "F0 == F1",
	"unord": "F0 != F0 || F1 != F1", "and": "U0 & U1", "or": "U0 | U1", "xor": "U0 ^ U1", "iadd": "U0 + U1", "isub": "U0 - U1", "imul": "U0 * U1",
	"ilt": "I0 < I1", "ieq": "U0 == U1", "vshl": "U0 << U1", "vshr": "U0 >> U1", "vsar": "uint32(I0 >> min(U1, 31))",
	"mand": "M0 && M1", "mor": "M0 || M1", "mnot": "!M0", "i2f": "float32(I0)", "widen": "float64(math.Float32frombits(uint32(U0)))", "narrow": "uint64(math.Float32bits(float32(F0)))", "f2i": "truncate(F0)", "mulhi": "uint32(int64(I0) * int64(I1) >> 32)",
}

// goName returns the name of the function of one element.
func (p *function) goName() string {
	switch {
	case p.Base != "":
		return p.Base
	case p.Exported:
		return p.Name
	}
	return p.Lower()
}

func (p *function) goElement(format string) string {
	switch expr.KindOf(format) {
	case expr.Mask:
		return "bool"
	case expr.Integer:
		return map[int]string{4: "uint32", 8: "uint64"}[p.Width]
	}
	f, _, _, _ := p.goTypes()
	return f
}

// goResult returns the type of the result in Go: a bf16 is in the low bits of its lane.
func (p *function) goResult() string {
	if p.Format == "bf16" {
		return "uint32"
	}
	return p.goElement(p.Format)
}

// writeGo writes the function of one element and its loop.
func (p *function) writeGo(w *bytes.Buffer) {
	if p.Element != nil {
		(&function{p.Element}).writeElement(w)
	}
	if p.Base == "" {
		p.writeElement(w)
	}
	p.writeLoop(w)
}

func (p *function) writeElement(w *bytes.Buffer) {
	f, u, bits, from := p.goTypes()
	asFloat := func(n *expr.Node) string {
		switch {
		case n.Op == "const":
			return fmt.Sprintf("%s(%#x)", from, n.Bits)
		case n.Kind == expr.Float:
			return n.Name
		}
		return from + "(" + n.Name + ")"
	}
	asBits := func(n *expr.Node) string {
		switch {
		case n.Op == "const":
			return fmt.Sprintf("%s(%#x)", u, n.Bits)
		case n.Kind == expr.Float:
			return bits + "(" + n.Name + ")"
		}
		return n.Name
	}
	as := func(k expr.Kind, n *expr.Node) string {
		if k == expr.Float {
			return asFloat(n)
		}
		return asBits(n)
	}
	var params []string
	program := p.Program()
	for i, o := range program.In {
		x := o.Node
		x.Name = string("xyz"[i])
		params = append(params, x.Name+" "+p.goElement(p.Formats[i]))
	}
	fmt.Fprintf(w, "\n// %s is %s.\nfunc %s(%s) %s {\n", p.goName(), p.Doc, p.goName(), strings.Join(params, ", "), p.goResult())
	for i, n := range program.Live() {
		n.Name = fmt.Sprintf("t%d", i)
		a := n.Args
		var e string
		switch n.Op {
		case "sqrt":
			e = fmt.Sprintf("%s(math.Sqrt(float64(%s)))", f, asFloat(a[0]))
		case "fma":
			e = fmt.Sprintf("%s(%s, %s, %s)", map[int]string{4: "FMA", 8: "math.FMA"}[p.Width], asFloat(a[0]), asFloat(a[1]), asFloat(a[2]))
		case "round":
			name := []string{"RoundToEven", "Floor", "Ceil", "Trunc"}[n.Imm]
			e = fmt.Sprintf("%s(math.%s(float64(%s)))", f, name, asFloat(a[0]))
		case "shl":
			e = fmt.Sprintf("%s << %d", asBits(a[0]), n.Imm)
		case "shr":
			e = fmt.Sprintf("%s >> %d", asBits(a[0]), n.Imm)
		case "sel":
			fmt.Fprintf(w, "%s := %s\nif %s {\n%s = %s\n}\n", n.Name, as(n.Kind, a[2]), a[0].Name, n.Name, as(n.Kind, a[1]))
			continue
		case "min", "max", "imin", "imax":
			k, less := n.Kind, [2]int{0, 1}
			if strings.HasSuffix(n.Op, "max") {
				less = [2]int{1, 0}
			}
			operand := func(i int) string {
				if k == expr.Integer {
					return "int" + u[4:] + "(" + asBits(a[i]) + ")"
				}
				return asFloat(a[i])
			}
			fmt.Fprintf(w, "%s := %s\nif %s < %s {\n%s = %s\n}\n", n.Name, as(k, a[1]), operand(less[0]), operand(less[1]), n.Name, as(k, a[0]))
			continue
		default:
			var words []string
			for k, x := range a {
				at := fmt.Sprint(k)
				words = append(words, "F"+at, asFloat(x), "U"+at, asBits(x), "I"+at, "int"+u[4:]+"("+asBits(x)+")", "M"+at, x.Name)
			}
			text := expressions[n.Op]
			if n.Op == "unord" && a[0] == a[1] {
				text = "F0 != F0"
			}
			e = strings.NewReplacer(words...).Replace(text)
			if n.Kind == expr.Float {
				e = f + "(" + e + ")" // rounds, which prevents fusing
			}
		}
		fmt.Fprintf(w, "%s := %s\n", n.Name, e)
	}
	out := program.Out[0].Node
	result := out.Name
	switch p.goResult() {
	case f:
		result = asFloat(out)
	case u:
		result = asBits(out)
	}
	fmt.Fprintf(w, "return %s\n}\n", result)
}

func (p *function) writeLoop(w *bytes.Buffer) {
	f, _, _, _ := p.goTypes()
	elements := map[string]string{"f32": "float32", "f64": "float64", "bf16": "uint16", "f16": "uint16", "i32": "uint32", "i64": "uint64", "i1": "uint8"}
	fmt.Fprintf(w, "\nfunc %sLoop(op, xp, yp, zp *byte, n int) {\no := unsafe.Slice((*%s)(unsafe.Pointer(op)), n)\n", p.Lower(), elements[p.Format])
	var loads []string
	for i, format := range p.Formats {
		v := string("xyz"[i])
		fmt.Fprintf(w, "%s := unsafe.Slice((*%s)(unsafe.Pointer(%sp)), n)\n", v, elements[format], v)
		e := v + "[i]"
		switch {
		case format == "i1":
			e += " != 0"
		case format == "bf16":
			e = "tensor.BF16ToFloat32(" + e + ")"
		case format == "f16":
			e = "tensor.F16ToFloat32(" + e + ")"
		case expr.KindOf(format) == expr.Float && expr.Size(format) != p.Width:
			e = f + "(" + e + ")"
		case format == "i32" && p.Width == 8:
			e = "uint64(int64(int32(" + e + ")))"
		}
		loads = append(loads, e)
	}
	e := fmt.Sprintf("%s(%s)", p.goName(), strings.Join(loads, ", "))
	switch {
	case p.Format == "i1":
		e = "flag(" + e + ")"
	case p.Format == "bf16":
		e = "uint16(" + e + ")"
	case p.Format == "f16":
		e = "tensor.F16FromFloat32(" + e + ")"
	case expr.KindOf(p.Format) == expr.Float && expr.Size(p.Format) != p.Width:
		e = "float32(" + e + ")"
	case p.Format == "i32" && p.Width == 8:
		e = "uint32(" + e + ")"
	}
	fmt.Fprintf(w, "for i := range o {\no[i] = %s\n}\n}\n", e)
}
