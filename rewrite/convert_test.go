package rewrite_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/rewrite"
)

// flat returns the types in a tuple, and recursively in its tuples.
func flat(t ir.Type) []ir.Type {
	tuple, ok := t.(*ir.TupleType)
	if !ok {
		return []ir.Type{t}
	}
	var out []ir.Type
	for _, e := range tuple.Elems() {
		out = append(out, flat(e)...)
	}
	return out
}

func flatAll(types []ir.Type) (out []ir.Type) {
	for _, t := range types {
		out = append(out, flat(t)...)
	}
	return out
}

// tuples returns the converter that replaces tuples by their elements.
func tuples(c *ir.Context) *rewrite.Converter {
	return &rewrite.Converter{
		Types: func(t ir.Type) ([]ir.Type, bool) {
			_, ok := t.(*ir.TupleType)
			return flat(t), ok
		},
		Attr: func(op *ir.Op, name string, a ir.Attr) ir.Attr {
			if t, ok := a.(*ir.TypeAttr); ok && name == "function_type" {
				f := t.Type().(*ir.FunctionType)
				return ir.NewTypeAttr(c.Function(flatAll(f.Inputs()), flatAll(f.Results())))
			}
			return a
		},
		Ops: []*rewrite.Conversion{
			{Name: "tuple", Rows: []*ir.Def{stablehlo.Tuple}, Convert: func(r *rewrite.Rewriter, op *ir.Op, operands [][]*ir.Value) ([][]*ir.Value, error) {
				var all []*ir.Value
				for _, vals := range operands {
					all = append(all, vals...)
				}
				return [][]*ir.Value{all}, nil
			}},
			{Name: "element", Rows: []*ir.Def{stablehlo.GetTupleElement}, Convert: func(r *rewrite.Rewriter, op *ir.Op, operands [][]*ir.Value) ([][]*ir.Value, error) {
				elems := op.Operand(0).Type().(*ir.TupleType).Elems()
				i := int(op.Attr("index").(*ir.IntegerAttr).Value())
				at := len(flatAll(elems[:i]))
				return [][]*ir.Value{operands[0][at : at+len(flat(elems[i]))]}, nil
			}},
		},
	}
}

// TestConvert flattens tuples: arguments and results of functions, calls and branches, nested and empty ones.
func TestConvert(t *testing.T) {
	m := read(t, `func.func private @g(%t: tuple<tensor<i32>, tuple<tensor<f32>, tensor<i1>>>) -> (tensor<i32>, tuple<>) {
  %0 = stablehlo.get_tuple_element %t[0] : (tuple<tensor<i32>, tuple<tensor<f32>, tensor<i1>>>) -> tensor<i32>
  %1 = stablehlo.tuple : tuple<>
  return %0, %1 : tensor<i32>, tuple<>
}
func.func @f(%a: tensor<i32>, %b: tuple<tensor<f32>, tensor<i1>>) -> tuple<tensor<f32>, tensor<i1>> {
  %0 = stablehlo.tuple %a, %b : tuple<tensor<i32>, tuple<tensor<f32>, tensor<i1>>>
  %1:2 = call @g(%0) : (tuple<tensor<i32>, tuple<tensor<f32>, tensor<i1>>>) -> (tensor<i32>, tuple<>)
  %2 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<i32>, tuple<tensor<f32>, tensor<i1>>>) -> tuple<tensor<f32>, tensor<i1>>
  %3 = stablehlo.get_tuple_element %2[1] : (tuple<tensor<f32>, tensor<i1>>) -> tensor<i1>
  %4 = "stablehlo.if"(%3) ({
    stablehlo.return %2 : tuple<tensor<f32>, tensor<i1>>
  }, {
    "u.seen"(%b, %1#0) : (tuple<tensor<f32>, tensor<i1>>, tensor<i32>) -> ()
    stablehlo.return %b : tuple<tensor<f32>, tensor<i1>>
  }) : (tensor<i1>) -> tuple<tensor<f32>, tensor<i1>>
  return %4 : tuple<tensor<f32>, tensor<i1>>
}`)
	w, l := watch(m)
	if err := rewrite.Convert(rewrite.New(m, l), m.Op(), tuples(m.Context())); err != nil {
		t.Fatal(err)
	}
	w.compare(t)
	check(t, m, `func.func private @g(%arg0: tensor<i32>, %arg1: tensor<f32>, %arg2: tensor<i1>) -> tensor<i32> {
  return %arg0 : tensor<i32>
}
func.func @f(%arg0: tensor<i32>, %arg1: tensor<f32>, %arg2: tensor<i1>) -> (tensor<f32>, tensor<i1>) {
  %0 = call @g(%arg0, %arg1, %arg2) : (tensor<i32>, tensor<f32>, tensor<i1>) -> tensor<i32>
  %1:2 = "stablehlo.if"(%arg2) ({
    stablehlo.return %arg1, %arg2 : tensor<f32>, tensor<i1>
  }, {
    "u.seen"(%arg1, %arg2, %0) : (tensor<f32>, tensor<i1>, tensor<i32>) -> ()
    stablehlo.return %arg1, %arg2 : tensor<f32>, tensor<i1>
  }) : (tensor<i1>) -> (tensor<f32>, tensor<i1>)
  return %1#0, %1#1 : tensor<f32>, tensor<i1>
}`)
}

// TestConvertBranches: values that blocks use before the text defines them, and arguments of blocks.
func TestConvertBranches(t *testing.T) {
	m := read(t, `"u.r"() ({
  "u.br"()[^bb2] : () -> ()
^bb1(%a: tuple<i32, i64>):
  "u.use"(%x, %a) : (tuple<i32, i64>, tuple<i32, i64>) -> ()
  "u.use"(%x) : (tuple<i32, i64>) -> ()
^bb2:
  %x = "u.def"() : () -> tuple<i32, i64>
  "u.br"(%x)[^bb1] : (tuple<i32, i64>) -> ()
}) : () -> ()`)
	w, l := watch(m)
	if err := rewrite.Convert(rewrite.New(m, l), m.Op(), tuples(m.Context())); err != nil {
		t.Fatal(err)
	}
	w.compare(t)
	check(t, m, `"u.r"() ({
  "u.br"()[^bb2] : () -> ()
^bb1(%0: i32, %1: i64):  // pred: ^bb2
  "u.use"(%2#0, %2#1, %0, %1) : (i32, i64, i32, i64) -> ()
  "u.use"(%2#0, %2#1) : (i32, i64) -> ()
^bb2:  // pred: ^bb0
  %2:2 = "u.def"() : () -> (i32, i64)
  "u.br"(%2#0, %2#1)[^bb1] : (i32, i64) -> ()
}) : () -> ()`)
}

// TestConvertSegments: the sizes of operand and result groups follow.
func TestConvertSegments(t *testing.T) {
	sized := &ir.Def{Name: "t.sized", Traits: ir.AttrSizedOperands | ir.AttrSizedResults,
		Operands: []ir.Arg{{Name: "a", Mult: ir.Variadic}, {Name: "b", Mult: ir.Variadic}},
		Results:  []ir.Arg{{Name: "c", Mult: ir.Variadic}, {Name: "d", Mult: ir.Variadic}},
		Attrs:    []ir.AttrSpec{{Name: "operandSegmentSizes"}, {Name: "resultSegmentSizes"}}}
	registry, err := ir.NewRegistry(&ir.Dialect{Name: "t", Ops: []*ir.Def{sized}})
	if err != nil {
		t.Fatal(err)
	}
	c := ir.NewContext(registry)
	m := ir.NewModule(c, nil)
	b := m.AtEnd(m.Body())
	pair := c.Tuple([]ir.Type{ir.Int(8), ir.Int(16)})
	v := b.Create(m.Def("u.def"), nil, []ir.Type{pair}).Result(0)
	st := &ir.OpState{Def: sized, Operands: []*ir.Value{v, v, v}, Types: []ir.Type{pair, ir.Int(1)}}
	st.SetAttr("operandSegmentSizes", ir.NewDenseArray(ir.Int(32), []int64{1, 2}))
	st.SetAttr("resultSegmentSizes", ir.NewDenseArray(ir.Int(32), []int64{2, 0}))
	b.Insert(st)
	if err := rewrite.Convert(rewrite.New(m), m.Op(), tuples(c)); err != nil {
		t.Fatal(err)
	}
	op := m.Body().Last()
	got := op.Attr("operandSegmentSizes").String() + " " + op.Attr("resultSegmentSizes").String()
	if want := "array<i32: 2, 4> array<i32: 3, 0>"; got != want || op.NumOperands() != 6 || op.NumResults() != 3 {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := ir.Verify(m); err != nil {
		t.Error(err)
	}
}

func TestConvertErrors(t *testing.T) {
	const text = `%0 = "u.def"() : () -> tuple<i32>
"u.in"() ({
  "u.use"(%0) : (tuple<i32>) -> ()
  %1 = stablehlo.tuple : tuple<>
}) : () -> ()`
	m := read(t, text)
	err := rewrite.Convert(rewrite.New(m), m.Body().First().Next(), tuples(m.Context()))
	if want := "text:3:3: error: an op uses a value of type 'tuple<i32>' that is defined outside of the converted op"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	for want, f := range map[string]func(op *ir.Op) ([][]*ir.Value, error){
		"text:4:8: error: conversion tuple of 'stablehlo.tuple': no":       func(*ir.Op) ([][]*ir.Value, error) { return nil, errors.New("no") },
		"text:4:8: error: 'stablehlo.tuple' has 1 results, converted to 0": func(*ir.Op) ([][]*ir.Value, error) { return nil, nil },
		"text:4:8: error: result 0 of 'stablehlo.tuple' is converted to 1 values, not 0": func(op *ir.Op) ([][]*ir.Value, error) {
			return [][]*ir.Value{{op.Result(0)}}, nil
		},
	} {
		m := read(t, text)
		c := tuples(m.Context())
		c.Ops = []*rewrite.Conversion{{Name: "tuple", Rows: []*ir.Def{stablehlo.Tuple}, Convert: func(_ *rewrite.Rewriter, op *ir.Op, _ [][]*ir.Value) ([][]*ir.Value, error) { return f(op) }}}
		if err := rewrite.Convert(rewrite.New(m), m.Op(), c); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
