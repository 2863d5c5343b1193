package main

import (
	"bytes"
	"fmt"
	"strings"
)

// goTypes returns the names of the types and conversions of lanes in Go, by width.
func (p *program) goTypes() (f, u, bits, from string) {
	if p.width == 4 {
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
	"mand": "M0 && M1", "mor": "M0 || M1", "mnot": "!M0", "i2f": "float32(I0)", "f2i": "truncate(F0)", "mulhi": "uint32(int64(I0) * int64(I1) >> 32)",
}

func (p *program) lower() string { return strings.ToLower(p.name[:1]) + p.name[1:] }

// goName returns the name of the function of one element.
func (p *program) goName() string {
	switch {
	case p.base != "":
		return p.base
	case p.exported:
		return p.name
	}
	return p.lower()
}

func (p *program) goElement(format string) string {
	switch kindOf(format) {
	case mask:
		return "bool"
	case integer:
		return map[int]string{4: "uint32", 8: "uint64"}[p.width]
	}
	f, _, _, _ := p.goTypes()
	return f
}

// goResult returns the type of the result in Go: a bf16 is in the low bits of its lane.
func (p *program) goResult() string {
	if p.format == "bf16" {
		return "uint32"
	}
	return p.goElement(p.format)
}

// writeGo writes the function of one element and its loop.
func (p *program) writeGo(w *bytes.Buffer) {
	if p.element != nil {
		p.element.writeElement(w)
	}
	if p.base == "" {
		p.writeElement(w)
	}
	p.writeLoop(w)
}

func (p *program) writeElement(w *bytes.Buffer) {
	f, u, bits, from := p.goTypes()
	asFloat := func(n *node) string {
		switch {
		case n.op == "const":
			return fmt.Sprintf("%s(%#x)", from, n.bits)
		case n.kind == float:
			return n.name
		}
		return from + "(" + n.name + ")"
	}
	asBits := func(n *node) string {
		switch {
		case n.op == "const":
			return fmt.Sprintf("%s(%#x)", u, n.bits)
		case n.kind == float:
			return bits + "(" + n.name + ")"
		}
		return n.name
	}
	as := func(k kind, n *node) string {
		if k == float {
			return asFloat(n)
		}
		return asBits(n)
	}
	var params []string
	for i, x := range p.in {
		x.name = string("xyz"[i])
		params = append(params, x.name+" "+p.goElement(p.formats[i]))
	}
	fmt.Fprintf(w, "\n// %s is %s.\nfunc %s(%s) %s {\n", p.goName(), p.doc, p.goName(), strings.Join(params, ", "), p.goResult())
	for i, n := range p.live() {
		n.name = fmt.Sprintf("t%d", i)
		a := n.args
		var e string
		switch n.op {
		case "sqrt":
			e = fmt.Sprintf("%s(math.Sqrt(float64(%s)))", f, asFloat(a[0]))
		case "fma":
			e = fmt.Sprintf("%s(%s, %s, %s)", map[int]string{4: "FMA", 8: "math.FMA"}[p.width], asFloat(a[0]), asFloat(a[1]), asFloat(a[2]))
		case "round":
			name := []string{"RoundToEven", "Floor", "Ceil", "Trunc"}[n.imm]
			e = fmt.Sprintf("%s(math.%s(float64(%s)))", f, name, asFloat(a[0]))
		case "shl":
			e = fmt.Sprintf("%s << %d", asBits(a[0]), n.imm)
		case "shr":
			e = fmt.Sprintf("%s >> %d", asBits(a[0]), n.imm)
		case "sel":
			fmt.Fprintf(w, "%s := %s\nif %s {\n%s = %s\n}\n", n.name, as(n.kind, a[2]), a[0].name, n.name, as(n.kind, a[1]))
			continue
		default:
			var words []string
			for k, x := range a {
				at := fmt.Sprint(k)
				words = append(words, "F"+at, asFloat(x), "U"+at, asBits(x), "I"+at, "int"+u[4:]+"("+asBits(x)+")", "M"+at, x.name)
			}
			text := expressions[n.op]
			if n.op == "unord" && a[0] == a[1] {
				text = "F0 != F0"
			}
			e = strings.NewReplacer(words...).Replace(text)
			if n.kind == float {
				e = f + "(" + e + ")" // rounds, which prevents fusing
			}
		}
		fmt.Fprintf(w, "%s := %s\n", n.name, e)
	}
	result := p.out.name
	switch p.goResult() {
	case f:
		result = asFloat(p.out)
	case u:
		result = asBits(p.out)
	}
	fmt.Fprintf(w, "return %s\n}\n", result)
}

func (p *program) writeLoop(w *bytes.Buffer) {
	f, _, _, _ := p.goTypes()
	elements := map[string]string{"f32": "float32", "f64": "float64", "bf16": "uint16", "f16": "uint16", "i32": "uint32", "i64": "uint64", "i1": "uint8"}
	fmt.Fprintf(w, "\nfunc %sLoop(op, xp, yp, zp *byte, n int) {\no := unsafe.Slice((*%s)(unsafe.Pointer(op)), n)\n", p.lower(), elements[p.format])
	var loads []string
	for i, format := range p.formats {
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
		case kindOf(format) == float && sizeOf(format) != p.width:
			e = f + "(" + e + ")"
		}
		loads = append(loads, e)
	}
	e := fmt.Sprintf("%s(%s)", p.goName(), strings.Join(loads, ", "))
	switch {
	case p.format == "i1":
		e = "flag(" + e + ")"
	case p.format == "bf16":
		e = "uint16(" + e + ")"
	case p.format == "f16":
		e = "tensor.F16FromFloat32(" + e + ")"
	case kindOf(p.format) == float && sizeOf(p.format) != p.width:
		e = "float32(" + e + ")"
	}
	fmt.Fprintf(w, "for i := range o {\no[i] = %s\n}\n}\n", e)
}
