package vhlo

import (
	"slices"

	hlo "github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// omission is the value in VHLO of an attribute that StableHLO's ops may omit. VHLO's ops always have it.
type omission struct {
	fill func(c *converter, n int) ir.Attr // n is the number of dimensions of the op's windows
	is   func(a ir.Attr) bool              // reports whether StableHLO omits a
}

// attrOf identifies an attribute of an op, or of all ops if op is "".
type attrOf struct{ op, attr string }

// omissions holds the attributes that an op may omit.
var omissions = func() map[attrOf]omission {
	noText := omission{func(c *converter, _ int) ir.Attr { return c.name("") }, isEmptyText}
	noDict := omission{func(c *converter, _ int) ir.Attr { return c.empty(ir.NewDict(nil)) }, isEmptyDict}
	noList := omission{func(c *converter, _ int) ir.Attr { return c.empty(ir.NewArray(nil)) }, isEmptyArray}
	noInts := omission{func(c *converter, _ int) ir.Attr { return c.list(nil) }, isEmptyDense}
	noFlag := omission{func(c *converter, _ int) ir.Attr { return c.truth(false) }, func(a ir.Attr) bool {
		b, ok := ir.DataOf[boolean](a)
		return ok && !b.value
	}}
	ones := omission{func(c *converter, n int) ir.Attr { return c.list(slices.Repeat([]int64{1}, n)) }, func(a ir.Attr) bool { return isAll(a, 1) }}
	isZeros := func(a ir.Attr) bool { return isAll(a, 0) }
	number := func(v int64) omission {
		return omission{func(c *converter, _ int) ir.Attr { return c.i64(v) }, func(a ir.Attr) bool { return is(a, v) }}
	}
	enum := func(row *ir.EnumDef, code int) omission {
		return omission{func(*converter, int) ir.Attr { return ir.NewEnum(row, code) }, func(a ir.Attr) bool { return isCase(a, code) }}
	}
	// attrsFromVHLO omits the layouts only together.
	layouts := omission{noList.fill, func(ir.Attr) bool { return false }}
	return map[attrOf]omission{
		{"", "sym_visibility"}: noText, {"", "infeed_config"}: noText, {"", "outfeed_config"}: noText,
		{"", "backend_config"}: {noText.fill, func(a ir.Attr) bool { return isEmptyText(a) || isEmptyDict(a) }},
		{"", "arg_attrs"}:      noList, {"", "res_attrs"}: noList, {"", "called_computations"}: noList, {"", "output_operand_aliases"}: noList,
		{"", "result_tilings"}: noList, {"", "layout"}: noList, {"", "operand_layouts"}: layouts, {"", "result_layouts"}: layouts,
		{"", "use_global_device_ids"}: noFlag, {"", "has_dynamic_root"}: noFlag, {"", "has_side_effect"}: noFlag, {"", "indices_are_sorted"}: noFlag,
		{"", "unique_indices"}: noFlag, {"", "is_host_transfer"}: noFlag, {"", "is_stable"}: noFlag, {"cholesky", "lower"}: noFlag,
		{"", "compare_type"}: enum(comparisonEnum, 0), {"", "api_version"}: enum(apiEnum, hlo.APIOriginal),
		{"composite", "version"}: number(0), {"sort", "dimension"}: number(-1), {"", "composite_attributes"}: noDict,
		{"", "precision_config"}: {func(*converter, int) ir.Attr {
			d := ir.NewEnum(precisionEnum, 0)
			return arrayAttr.New(&array{[]ir.Attr{d, d}})
		}, func(a ir.Attr) bool {
			l, ok := ir.DataOf[array](a)
			return ok && !slices.ContainsFunc(l.elems, func(x ir.Attr) bool { return !isCase(x, 0) })
		}},
		{"", "result_accuracy"}: {func(*converter, int) ir.Attr { return accuracyAttr.New(&accuracy{mode: ir.NewEnum(modeEnum, 0)}) }, func(a ir.Attr) bool {
			d, ok := ir.DataOf[accuracy](a)
			return ok && isCase(d.mode, 0) && d.atol == 0 && d.rtol == 0 && d.ulps == 0
		}},
		{"", "known_expanding_dimensions"}: noInts, {"", "known_nonexpanding_dimensions"}: noInts,
		{"send", "source_target_pairs"}: noInts, {"recv", "source_target_pairs"}: noInts,
		{"", "window_strides"}: ones, {"", "lhs_dilation"}: ones, {"", "rhs_dilation"}: ones, {"", "base_dilations"}: ones, {"", "window_dilations"}: ones,
		{"", "window_reversal"}: {func(c *converter, n int) ir.Attr { return c.attrTo(ir.NewDenseArray(ir.Int(1), make([]int64, n))) }, isZeros},
		{"", "padding"}:         {(*converter).noPadding, isZeros},
	}
}()

// omissionOf returns the omission of an attribute, a zero one if the attribute is required.
func omissionOf(op, attr string) omission {
	if o, ok := omissions[attrOf{"", attr}]; ok {
		return o
	}
	return omissions[attrOf{op, attr}]
}

// isDefault reports whether StableHLO omits a value because it is the default.
func isDefault(op, attr string, a ir.Attr) bool {
	o := omissionOf(op, attr)
	return o.is != nil && o.is(a)
}

// noPadding returns the padding of windows of n dimensions that have none.
func (c *converter) noPadding(n int) ir.Attr {
	return c.attrTo(hlo.NewI64Elements(c.ctx, tensor.Shape{int64(n), 2}, make([]int64, 2*n)))
}

func isEmptyText(a ir.Attr) bool {
	s, ok := ir.DataOf[text](a)
	return ok && s.value == ""
}

func isEmptyDict(a ir.Attr) bool {
	d, ok := ir.DataOf[dictionary](a)
	return ok && len(d.names) == 0
}

func isEmptyArray(a ir.Attr) bool {
	l, ok := ir.DataOf[array](a)
	return ok && len(l.elems) == 0
}

// isCase reports whether a is the case of an enumeration with the given code.
func isCase(a ir.Attr, code int) bool {
	e, ok := a.(*ir.EnumAttr)
	return ok && e.Code() == code
}

// isAll reports whether all elements of a are v.
func isAll(a ir.Attr, v int64) bool {
	d, ok := ir.DataOf[dense](a)
	if !ok {
		return false
	}
	if d.elems.NumElements() == 0 {
		return true
	}
	t, _, err := d.elems.Elements() // one element of a splat
	if err != nil {
		return false
	}
	for i := range t.NumElements() {
		if t.IntAt(i) != v {
			return false
		}
	}
	return true
}
