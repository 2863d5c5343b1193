// Package mhlo is the MHLO dialect, StableHLO's predecessor inside XLA. It has the same operations under another
// prefix, mostly without a pretty form and with integer tensors instead of StableHLO's arrays, and a few of its own.
package mhlo

import (
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/chlo"
	hlo "github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// Enumerated attributes that only MHLO has.
var (
	FusionKindEnum         = &ir.EnumDef{Dialect: "mhlo", Name: "fusion_kind", Binary: []ir.Binary{{Code: 15}}, Doc: "The purpose of a fusion.", Cases: []string{"kLoop", "kInput", "kOutput", "kCustom"}}
	DomainKindEnum         = &ir.EnumDef{Dialect: "mhlo", Name: "kind", Binary: []ir.Binary{{Code: 14}}, Doc: "The metadata of a domain.", Cases: []string{"sharding"}}
	CustomCallScheduleEnum = &ir.EnumDef{Dialect: "mhlo", Name: "custom_call_schedule", Doc: "When a custom_call runs.", Cases: []string{"NONE", "LATEST", "EARLIEST"}}
)

// shared holds the rows of the attributes, enumerations and types that MHLO shares with StableHLO.
var shared = func() *hlo.Mirrored {
	m := hlo.Mirror("mhlo")
	for _, e := range m.Enums {
		e.Angled = e.Base == hlo.RngDistributionEnum || e.Base == hlo.RngAlgorithmEnum
	}
	m.Attrs = slices.DeleteFunc(m.Attrs, func(a *ir.AttrDef) bool {
		return a.Base == hlo.BoundsAttr || a.Base == hlo.MeshAttr || a.Base == hlo.MeshAxisAttr
	}) // type_extensions is the only form of bounds here
	for _, e := range m.Enums {
		e.Binary = sameCode(e.Base.Binary)
	}
	m.Types = slices.DeleteFunc(m.Types, func(t *ir.TypeDef) bool { return t.Base == hlo.FutureType })
	for _, t := range m.Types {
		t.Binary = t.Base.Binary
	}
	for _, a := range m.Attrs {
		switch a.Base {
		case hlo.OutputOperandAliasAttr:
			a.Binary = []ir.Binary{{Code: 16}}
		case hlo.ResultAccuracyModeAttr:
			a.Binary = ir.BinaryData(17, hlo.CodeMode)
		case hlo.ResultAccuracyAttr:
			a.Binary = ir.BinaryData(18, hlo.CodeAccuracy(m.Attr(hlo.ResultAccuracyModeAttr)))
		case hlo.TypeExtensionsAttr:
			a.Binary = []ir.Binary{{Code: 13}}
		case hlo.ReplicaGroupMeshAxesAttr:
			a.Binary = []ir.Binary{{Code: 19, Data: a.Base.Binary[0].Data}}
		case hlo.SubAxisInfoAttr:
			a.Binary = []ir.Binary{{Code: 20, Data: a.Base.Binary[0].Data}}
		case hlo.AxisRefAttr:
			a.Binary = ir.BinaryData(21, hlo.CodeAxisRef(m.Attr(hlo.SubAxisInfoAttr)))
		default:
			a.Binary = sameCode(a.Base.Binary)
		}
	}
	return m
}()

// sameCode returns the encoding of a row of StableHLO if MHLO has the same one. The dialects agree up to code 13
// (mhlo_bytecode.cc).
func sameCode(b []ir.Binary) []ir.Binary {
	if len(b) > 0 && b[0].Code <= 13 {
		return b
	}
	return nil
}

// RaggedDotAttr is the row of #mhlo.ragged_dot<...>. It nests the numbers of the dot itself.
var RaggedDotAttr = func() *ir.AttrDef {
	d := *chlo.RaggedDotAttr.Mirror("mhlo")
	d.Syntax = "<dot_dimension_numbers = <...>, lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>"
	d.Parse = func(p ir.AsmParser, _ *ir.AttrDef) any {
		t := raggedTextAttr.ParseParams(p).Data().(*raggedText)
		return &chlo.RaggedDotDims{DotDims: t.Dot.DotDims, LHSRagged: t.LHSRagged, RHSGroup: t.RHSGroup}
	}
	d.Print = func(_ *ir.AttrDef, data any) string {
		r := data.(*chlo.RaggedDotDims)
		return raggedTextAttr.New(&raggedText{dot{r.DotDims}, r.LHSRagged, r.RHSGroup}).Body()
	}
	return &d
}()

// raggedText holds the parameters of #mhlo.ragged_dot<...> in textual form.
type raggedText struct {
	Dot       dot     `attr:"dot_dimension_numbers,always"`
	LHSRagged []int64 `attr:"lhs_ragged_dimensions"`
	RHSGroup  []int64 `attr:"rhs_group_dimensions"`
}

var raggedTextAttr = ir.NewAttrDef[raggedText](ir.AttrDef{Dialect: "mhlo", Name: "ragged_dot", Partial: true})

// dot is #mhlo.dot<...> as a parameter.
type dot struct{ hlo.DotDims }

func (d *dot) ParseParam(p ir.AsmParser, _ *ir.AttrDef) {
	if x, ok := ir.DataOf[hlo.DotDims](hlo.DotAttr.ParseShort(p)); ok {
		d.DotDims = *x
	}
}

func (d *dot) ParamText(*ir.AttrDef) string { return shared.Attr(hlo.DotAttr).New(&d.DotDims).String() }

// AsyncBundle is the data of !mhlo.async_bundle<...>: the types of a call's operands and results, and of its state.
type AsyncBundle struct{ Types []ir.Type }

// AsyncBundleType is the row of !mhlo.async_bundle<...>.
var AsyncBundleType = view.TextType(ir.TypeDef{
	Dialect: "mhlo", Name: "async_bundle", Doc: "A call in progress.", Syntax: "<type, ...>",
	Binary: ir.BinaryData(1, func(c ir.Coder, b *AsyncBundle) { c.Types(&b.Types) }),
}, func(b *AsyncBundle, t *view.Text) { view.Items(t, "<", ">", &b.Types, t.Type) })

// Attributes that XLA's importer gives to ops of MHLO and no definition has: the layouts of a bitcast, and the aliases
// of a fusion.
const (
	AttrSourceLayout          = "source_layout"
	AttrResultLayout          = "result_layout"
	AttrOutputOperandAliasing = "output_operand_aliasing"
)

// AttrCustomCallSchedule is the attribute that only MHLO's custom_call has.
const AttrCustomCallSchedule = "custom_call_schedule"

// noMHLO lists the operations of StableHLO that MHLO lacks or defines differently.
var noMHLO = map[string]bool{"unary_einsum": true, "async_start": true, "async_done": true}

// genericOnly lists the operations that have a pretty form in StableHLO but not in MHLO.
var genericOnly = map[string]bool{
	"broadcast": true, "broadcast_in_dim": true, "cholesky": true, "concatenate": true, "dot": true,
	"dot_general": true, "dynamic_broadcast_in_dim": true, "dynamic_iota": true, "dynamic_slice": true, "einsum": true,
	"fft": true, "get_dimension_size": true, "iota": true, "pad": true, "reverse": true,
	"rng": true, "rng_bit_generator": true, "set_dimension_size": true, "slice": true, "transpose": true,
	"uniform_quantize": false, "uniform_dequantize": false,
}

var (
	intElements  = ir.AttrConstraint{Summary: "64-bit signless integer elements attribute", Kind: ir.KindInts, Check: elements}
	boolElements = ir.AttrConstraint{Summary: "constant boolean vector/tensor attribute", Kind: ir.KindBools, Check: elements}
)

// elements accepts dense tensors, and the arrays that newer programs use instead.
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
	c.Name, c.Base = "mhlo."+short, d
	c.Doc = "Does what stablehlo." + short + " does. " + d.Doc
	c.Attrs = make([]ir.AttrSpec, len(d.Attrs))
	for i, a := range d.Attrs {
		a.Type = mirrored(a.Type)
		if p, ok := a.Default.(*ir.DialectAttr); ok {
			a.Default = shared.Attr(p.Def()).New(p.Data())
		}
		c.Attrs[i] = a
	}
	switch short {
	case "all_to_all":
		// Without the sizes the op exchanges whole operands, as many as there are participants.
		for i := range c.Attrs {
			a := &c.Attrs[i]
			a.Optional = a.Optional || a.Name == hlo.AttrSplitDimension || a.Name == hlo.AttrConcatDimension || a.Name == hlo.AttrSplitCount
		}
		whole := func(attrs ir.AttrList) bool { return attrs.Get(hlo.AttrSplitCount) == nil }
		c.Infer = func(x *ir.Context, st *ir.OpState) ([]ir.Type, error) {
			if !whole(st.Attrs) {
				return d.Infer(x, st)
			}
			return view.Types(st.Operands), nil
		}
		c.Verify = func(op *ir.Op, r *ir.Reporter) {
			if !whole(op.Attrs()) {
				d.Verify(op, r)
			}
		}
	case "collective_broadcast":
		c.Attrs = slices.DeleteFunc(c.Attrs, func(a ir.AttrSpec) bool { return a.Name == hlo.AttrHasDynamicRoot })
		c.Verify = func(op *ir.Op, r *ir.Reporter) {
			if op.NumOperands() != 1 {
				r.Errorf(op, "requires a single operand")
				return
			}
			d.Verify(op, r)
		}
	case "dynamic_conv":
		c.Attrs = append(c.Attrs, *hlo.Convolution.Attr(hlo.AttrPadding))
		c.Operands = slices.Clone(c.Operands)
		c.Operands[2].Type = ods.AnyRanked
	case "constant":
		c.ResultNames = nil
	case "custom_call":
		c.Attrs = append(c.Attrs, ir.AttrSpec{Name: AttrCustomCallSchedule, Type: ods.Enum(CustomCallScheduleEnum, "Specifies the desired schedule for the custom-call."), Optional: true, Default: ir.NewEnum(CustomCallScheduleEnum, 0)})
	}
	if genericOnly[short] {
		c.Format = ""
	}
	return &c
}

// mirrored returns MHLO's attribute constraint for StableHLO's.
func mirrored(c ir.AttrConstraint) ir.AttrConstraint {
	switch {
	case c.Enum != nil:
		return ods.Enum(shared.Enum(c.Enum), c.Summary)
	case c.Attr != nil:
		return shared.Attr(c.Attr).Constraint()
	case c.Elem != nil:
		return ods.ArrayOf(mirrored(*c.Elem), c.Summary)
	case c.Form != ir.FormInts:
		return c
	case c.FormType == ir.Type(ir.Int(1)):
		return boolElements
	}
	return intElements
}

var rows = func() map[*ir.Def]*ir.Def {
	out := map[*ir.Def]*ir.Def{}
	for _, d := range hlo.Ops() {
		if m := fromStableHLO(d); m != nil {
			out[d] = m
		}
	}
	return out
}()

var ops = func() []*ir.Def {
	var out []*ir.Def
	for _, d := range hlo.Ops() {
		if m := rows[d]; m != nil {
			out = append(out, m)
		}
	}
	return append(out, own...)
}()

// Row returns the row that mirrors a row of StableHLO, or nil if MHLO lacks the operation.
func Row(d *ir.Def) *ir.Def { return rows[d] }

// Dialect returns the dialect.
func Dialect() *ir.Dialect {
	return &ir.Dialect{
		Name: "mhlo", Ops: ops, Directives: hlo.Directives,
		Attrs: append([]*ir.AttrDef{OriginalArrayAttr, OriginalElementAttr, OriginalValueAttr, RaggedDotAttr}, shared.Attrs...),
		Enums: append([]*ir.EnumDef{FusionKindEnum, DomainKindEnum, CustomCallScheduleEnum}, shared.Enums...),
		Types: append([]*ir.TypeDef{AsyncBundleType}, shared.Types...), ClosedTypes: true,
		VerifyAttr: verifyAttr, RemapAttr: remapAttr,
	}
}
