package stablehlo

import (
	"slices"
	"strconv"

	"github.com/hlocb/hlocb/ir"
)

// The dimension numbers of a convolution print as [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]. Each list names the
// dimensions of input, kernel or output in order. Spatial dimensions appear by number.

// parseConv reads the three lists.
func parseConv(p ir.AsmParser, c *ConvDims) {
	c.InputBatch, c.InputFeature, c.InputSpatial = parseConvDims(p, "b", "f")
	p.ExpectKeyword("x")
	c.KernelInputFeature, c.KernelOutput, c.KernelSpatial = parseConvDims(p, "i", "o")
	p.Expect("->")
	c.OutputBatch, c.OutputFeature, c.OutputSpatial = parseConvDims(p, "b", "f")
}

// parseConvDims reads one list and returns the positions of the two named dimensions and of the spatial ones. '?' marks
// a dimension without a role.
func parseConvDims(p ir.AsmParser, first, second string) (a, b int64, spatial []int64) {
	const missing = -1
	a, b = missing, missing
	at := map[int64]int64{}
	i := int64(0)
	end := p.Pos()
	p.ParseList("[", "]", func() {
		defer func() { i++ }()
		pos := p.Pos()
		if n, ok := p.ParseOptionalInteger(); ok {
			if n < 0 {
				p.ErrorfAt(pos, "Unexpected dimension %d", n)
			}
			if _, dup := at[n]; dup {
				p.ErrorfAt(pos, "Duplicate entries for spatial dimension %d", n)
			}
			at[n] = i
			return
		}
		if p.Accept("?") {
			return
		}
		switch word := p.ParseOptionalKeyword(); word {
		case first:
			if a != missing {
				p.ErrorfAt(pos, "Unexpected dimension %s", word)
			}
			a = i
		case second:
			if b != missing {
				p.ErrorfAt(pos, "Unexpected dimension %s", word)
			}
			b = i
		case "":
			p.Errorf("Unexpected token")
		default:
			p.ErrorfAt(pos, "Unexpected dimension %s", word)
		}
		end = p.Pos()
	})
	for n := int64(0); n < int64(len(at)); n++ {
		v, ok := at[n]
		if !ok {
			p.ErrorfAt(end, "Expected spatial dimension %d", n)
		}
		spatial = append(spatial, v)
	}
	if a == missing {
		p.ErrorfAt(end, "Expected dimension %s", first)
	}
	if b == missing {
		p.ErrorfAt(end, "Expected dimension %s", second)
	}
	return a, b, spatial
}

// parseConvAttr reads <[b, f, 0]x[o, i, 0]->[b, f, 0]> or the form with one named field per role.
func parseConvAttr(p ir.AsmParser, d *ir.AttrDef) any {
	c := &ConvDims{}
	p.Expect("<")
	if !p.AcceptKeyword("raw") {
		parseConv(p, c)
		p.Expect(">")
		return c
	}
	for n := 0; !p.Accept(">"); n++ {
		if n > 0 {
			p.Expect(",")
		}
		i := slices.IndexFunc(d.Fields, func(f ir.Field) bool { return p.AcceptKeyword(f.Name) })
		if i < 0 {
			p.Errorf("expected a dimension of a convolution")
		}
		p.Expect("=")
		d.ParseField(p, c, i)
	}
	return c
}

func printConvAttr(_ *ir.AttrDef, data any) string { return "<" + data.(*ConvDims).text() + ">" }

// text returns the three lists, or the raw form if the numbers have gaps that lists cannot express.
func (c *ConvDims) text() string {
	b := appendConvDims(nil, c.InputBatch, c.InputFeature, c.InputSpatial, "b", "f")
	b = append(b, 'x')
	b = appendConvDims(b, c.KernelInputFeature, c.KernelOutput, c.KernelSpatial, "i", "o")
	b = append(b, "->"...)
	return string(appendConvDims(b, c.OutputBatch, c.OutputFeature, c.OutputSpatial, "b", "f"))
}

func appendConvDims(b []byte, first, second int64, spatial []int64, firstName, secondName string) []byte {
	n := max(first, second)
	for _, s := range spatial {
		n = max(n, s)
	}
	if n > 1<<10 { // no tensor has such a rank; a number in the text must not control the length of the output
		n = 1 << 10
	}
	names := make([]string, n+1)
	set := func(i int64, name string) {
		if i >= 0 && i <= n {
			names[i] = name
		}
	}
	set(first, firstName)
	set(second, secondName)
	for i, s := range spatial {
		set(s, strconv.Itoa(i))
	}
	b = append(b, '[')
	for i, name := range names {
		if i > 0 {
			b = append(b, ", "...)
		}
		if name == "" {
			name = "?"
		}
		b = append(b, name...)
	}
	return append(b, ']')
}
