// Package mhlo is the MHLO dialect, StableHLO's predecessor inside XLA: the same operations under another prefix,
// mostly without a pretty form and with tensors of integers where StableHLO has arrays, and a few of its own.
package mhlo

import (
	"strings"

	hlo "github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/ir"
)

// Enumerated attributes of MHLO alone.
var (
	FusionKindEnum         = &ir.EnumDef{Dialect: "mhlo", Name: "fusion_kind", Cases: []string{"kLoop", "kInput", "kOutput", "kCustom"}}
	DomainKindEnum         = &ir.EnumDef{Dialect: "mhlo", Name: "kind", Cases: []string{"sharding"}}
	CustomCallScheduleEnum = &ir.EnumDef{Dialect: "mhlo", Name: "custom_call_schedule", Cases: []string{"NONE", "LATEST", "EARLIEST"}}
)

// noMHLO are the operations of StableHLO that MHLO lacks or defines in another way.
var noMHLO = map[string]bool{"unary_einsum": true, "collective_reduce": true, "async_start": true, "async_done": true}

// genericOnly are the operations that have a pretty form in StableHLO and none here.
var genericOnly = map[string]bool{
	"broadcast": true, "broadcast_in_dim": true, "cholesky": true, "composite": true, "concatenate": true, "dot": true,
	"dot_general": true, "dynamic_broadcast_in_dim": true, "dynamic_iota": true, "dynamic_slice": true, "einsum": true,
	"fft": true, "get_dimension_size": true, "iota": true, "pad": true, "real_dynamic_slice": true, "reverse": true,
	"rng": true, "rng_bit_generator": true, "set_dimension_size": true, "slice": true, "transpose": true,
	"uniform_quantize": false, "uniform_dequantize": false,
}

var (
	intElements  = ir.AttrConstraint{Summary: "64-bit signless integer elements attribute", Check: elements}
	boolElements = ir.AttrConstraint{Summary: "constant boolean vector/tensor attribute", Check: elements}
)

// elements accepts dense tensors, and the arrays that newer programs have in their place.
func elements(a ir.Attr) bool {
	switch a.(type) {
	case *ir.DenseAttr, *ir.DenseArrayAttr:
		return true
	}
	return false
}

// fromStableHLO returns MHLO's row of a StableHLO operation.
func fromStableHLO(d *ir.Def) *ir.Def {
	short := strings.TrimPrefix(d.Name, "stablehlo.")
	if noMHLO[short] {
		return nil
	}
	c := *d
	c.Name = "mhlo." + short
	c.Doc = "Does what stablehlo." + short + " does. " + d.Doc
	c.Attrs = make([]ir.AttrSpec, len(d.Attrs))
	for i, a := range d.Attrs {
		if a.Type.Enum != nil {
			a.Type = ods.Enum(hlo.EnumIn(a.Type.Enum, "mhlo"), a.Type.Summary)
		}
		if a.Type.Form == ir.FormInts {
			if a.Type.FormType == ir.Type(ir.Int(1)) {
				a.Type = boolElements
			} else {
				a.Type = intElements
			}
		}
		if p, ok := a.Default.(*ir.DialectAttr); ok {
			a.Default = ir.NewDialectAttr("mhlo", p.Name(), strings.ReplaceAll(p.Body(), "#stablehlo.", "#mhlo."), p.Data())
		}
		c.Attrs[i] = a
	}
	switch short {
	case "constant":
		c.ResultNames = nil
	case "custom_call":
		c.Attrs = append(c.Attrs, ir.AttrSpec{Name: "custom_call_schedule", Type: ods.Enum(CustomCallScheduleEnum, "Specifies the desired schedule for the custom-call."), Optional: true, Default: ir.NewEnum(CustomCallScheduleEnum, 0)})
	}
	if genericOnly[short] {
		c.Format = ""
	}
	return &c
}

// Ops returns the rows of all operations of the dialect.
func Ops() []*ir.Def {
	var out []*ir.Def
	for _, d := range hlo.Ops() {
		if m := fromStableHLO(d); m != nil {
			out = append(out, m)
		}
	}
	return append(out, own()...)
}

// Dialect returns the dialect.
func Dialect() *ir.Dialect {
	shared := hlo.AttrParser("mhlo")
	own := map[string]*ir.EnumDef{FusionKindEnum.Name: FusionKindEnum, DomainKindEnum.Name: DomainKindEnum, CustomCallScheduleEnum.Name: CustomCallScheduleEnum}
	return &ir.Dialect{
		Name: "mhlo",
		Ops:  Ops(),
		ParseType: func(p ir.AsmParser, name string) ir.Type {
			if name == "async_bundle" {
				var body []string
				var types []ir.Type
				p.ParseList("<", ">", func() {
					t := p.ParseType()
					types = append(types, t)
					body = append(body, t.String())
				})
				return p.Context().DialectType("mhlo", "async_bundle", "<"+strings.Join(body, ", ")+">", &AsyncBundle{types})
			}
			return hlo.ParseTypeIn("mhlo")(p, name)
		},
		ParseAttr: func(p ir.AsmParser, name string) ir.Attr {
			if e := own[name]; e != nil {
				word := p.ParseKeyword()
				code, ok := e.Parse(word)
				if !ok {
					p.Errorf("expected %s to be one of: %s", name, strings.Join(e.Cases, ", "))
				}
				return ir.NewEnum(e, code)
			}
			return shared(p, name)
		},
		Directives: hlo.Directives("mhlo"),
	}
}

// AsyncBundle is !mhlo.async_bundle<...>.
type AsyncBundle struct{ Types []ir.Type }
