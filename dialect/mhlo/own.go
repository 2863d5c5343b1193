package mhlo

import (
	"github.com/hlocb/hlocb/dialect/chlo"
	hlo "github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

var (
	fpComplex = ods.AnyTensor(ods.FP, ods.Complex)
	operand   = []ir.Arg{{Name: "operand", Type: ods.AnyQuantized}}
	result    = []ir.Arg{{Name: "result", Type: ods.AnyQuantized}}
)

// The operations that StableHLO lacks.
var (
	AddDependency = &ir.Def{
		Name: "mhlo.add_dependency", Doc: "Forwards its operand after a token.",
		Operands: []ir.Arg{{Name: "operand", Type: ods.FlowValue}, {Name: "token", Type: ods.Token}},
		Results:  []ir.Arg{{Name: "output", Type: ods.FlowValue}},
		Traits:   ir.Pure, Format: "operands attr-dict `:` functional-type(operands, results)",
	}
	// AsyncStart has no Flow: it calls a function, but its result is a bundle, not the function's results.
	AsyncStart = &ir.Def{
		Name: "mhlo.async_start", Doc: "Starts a function asynchronously.",
		Operands: []ir.Arg{{Name: "inputs", Type: ods.FlowValue, Mult: ir.Variadic}},
		Results:  []ir.Arg{{Name: "result", Type: bundle}},
		Attrs:    []ir.AttrSpec{{Name: AttrCalledComputation, Type: ods.SymbolRef}, {Name: AttrExecutionThread, Type: ods.StrAttr}},
		Verify:   verifyAsyncStart,
		Clauses:  ir.Clauses("inputs have the types of the arguments of called_computation, a function for execution_thread; the bundle starts with the types of its arguments and of its results"),
	}
	AsyncUpdate = &ir.Def{
		Name: "mhlo.async_update", Doc: "Waits for a part of an asynchronous function.",
		Operands: []ir.Arg{{Name: "bundle", Type: bundle}}, Results: []ir.Arg{{Name: "result", Type: bundle}},
		Verify:  verifyAsyncUpdate,
		Clauses: ir.Clauses("bundle is that of an async_start, and the result has its type"),
	}
	AsyncDone = &ir.Def{
		Name: "mhlo.async_done", Doc: "Waits for an asynchronous function and returns its results.",
		Operands: []ir.Arg{{Name: "bundle", Type: bundle}}, Results: []ir.Arg{{Name: "results", Type: ods.FlowValue, Mult: ir.Variadic}},
		Verify:  verifyAsyncDone,
		Clauses: ir.Clauses("bundle is that of an async_start, and the results have the types of its function's results"),
	}
	Bitcast = &ir.Def{
		Name: "mhlo.bitcast", Doc: "Reads the buffer of the operand as another type.",
		Operands: operand, Results: result, Traits: ir.Pure,
		Format: "operands attr-dict `:` functional-type(operands, results)",
	}
	Copy = &ir.Def{
		Name: "mhlo.copy", Doc: "Copies its operand.",
		Operands: []ir.Arg{{Name: "operand", Type: ods.TupleOrMemref}}, Results: []ir.Arg{{Name: "result", Type: ods.TupleOrMemref}},
		Attrs:  []ir.AttrSpec{{Name: "cross_program_prefetch_index", Type: ods.I32Attr, Optional: true}},
		Traits: ir.Pure, Format: "operands attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))",
	}
	Domain = &ir.Def{
		Name: "mhlo.domain", Doc: "Marks the border between parts of a program with different metadata.",
		Operands: []ir.Arg{{Name: "operand", Type: ods.FlowValue}}, Results: []ir.Arg{{Name: "result", Type: ods.FlowValue}},
		Attrs: []ir.AttrSpec{
			{Name: "kind", Type: ods.Enum(DomainKindEnum, "Kind of domain metadata attached to an HLO domain.")},
			{Name: "entry_metadata", Type: ods.StrAttr}, {Name: "exit_metadata", Type: ods.StrAttr},
		},
		Traits: ir.Pure,
	}
	Exp2   = accurate("exp2", "Computes two to the power of each element.")
	Fusion = &ir.Def{
		Name: "mhlo.fusion", Doc: "Groups operations that are compiled into one kernel.",
		Operands: []ir.Arg{{Name: "inputs", Type: ods.TupleOrMemref, Mult: ir.Variadic}},
		Results:  []ir.Arg{{Name: "results", Type: ods.TupleOrMemref, Mult: ir.Variadic}},
		Attrs: []ir.AttrSpec{
			{Name: "fusion_kind", Type: ods.Enum(FusionKindEnum, "fusion kind"), Optional: true},
			{Name: "output_operand_aliases", Type: ods.ArrayAttr, Optional: true, Default: ir.NewArray(nil)},
		},
		Regions: []ir.RegionSpec{{Name: "fused_computation"}}, Traits: ir.SingleBlock,
	}
	Log2                   = accurate("log2", "Computes the logarithm to the base of two of each element.")
	MinimumBroadcastShapes = &ir.Def{
		Name: "mhlo.minimum_broadcast_shapes", Doc: "Returns smaller shapes that broadcast to the same shape.",
		Operands: []ir.Arg{{Name: "shapes", Type: sizes, Mult: ir.Variadic}}, Results: []ir.Arg{{Name: "results", Type: sizes, Mult: ir.Variadic}},
		Traits: ir.Pure, Format: "$shapes attr-dict `:` type($shapes) `->` type($results)",
		Verify:  verifyMinimumBroadcastShapes,
		Clauses: ir.Clauses("there is a result for each of the shapes"),
	}
	Mulhi = &ir.Def{
		Name: "mhlo.mulhi", Base: chlo.Mulhi, Doc: "Computes the upper half of the product of each pair of integers.",
		Operands: []ir.Arg{{Name: "lhs", Type: ods.RankedInt}, {Name: "rhs", Type: ods.RankedInt}}, Results: []ir.Arg{{Name: "result", Type: ods.RankedInt}},
		Traits: ir.Pure | ir.Elementwise | ir.SameShape | ir.Commutative,
		Format: "$lhs `,` $rhs attr-dict `:` custom<SameOperandsAndResultType>(type($lhs), type($rhs), type($result))",
	}
	RaggedDot = &ir.Def{
		Name: "mhlo.ragged_dot", Base: chlo.RaggedDot, Doc: "Computes a dot product along a ragged dimension that group_sizes divides into groups.",
		Operands: []ir.Arg{{Name: "lhs", Type: ods.AnyRanked}, {Name: "rhs", Type: ods.AnyRanked}, {Name: "group_sizes", Type: ods.AnyRanked}},
		Results:  []ir.Arg{{Name: "result", Type: ods.AnyRanked}},
		Attrs: []ir.AttrSpec{
			{Name: "ragged_dot_dimension_numbers", Type: RaggedDotAttr.Constraint()},
			{Name: hlo.PrecisionConfig.Name, Type: mirrored(hlo.PrecisionConfig.Type), Optional: true},
		},
		Traits: ir.Pure,
		Infer:  chlo.RaggedDot.Infer, Verify: chlo.RaggedDot.Verify, Clauses: chlo.RaggedDot.Clauses,
	}
	RngGetAndUpdateState = &ir.Def{
		Name: "mhlo.xla.rng_get_and_update_state", Doc: "Returns the state of the random number generator and advances it.",
		Results: []ir.Arg{{Name: "result", Type: words}}, Attrs: []ir.AttrSpec{ods.Required("delta", ods.I64Attr)},
		Syntax: "attr-dict",
		Parse:  parseRngState, Print: func(p ir.AsmPrinter, op *ir.Op) { p.PrintAttrDict(op.Attrs()) },
		Infer:   func(c *ir.Context, _ *ir.OpState) ([]ir.Type, error) { return []ir.Type{rngState(c)}, nil },
		Verify:  verifyRngState,
		Clauses: ir.Clauses("the result has two elements"),
	}
	StochasticConvert = &ir.Def{
		Name: "mhlo.stochastic_convert", Doc: "Converts to a narrower type, rounding at random.",
		Operands: []ir.Arg{{Name: "operand", Type: ods.Tensor(ods.FP)}, {Name: "random", Type: ods.Tensor(ods.UInt)}},
		Results:  []ir.Arg{{Name: "result", Type: ods.AnyRanked}}, Traits: ir.Pure | ir.Elementwise | ir.SameShape,
		Verify:  verifyStochasticConvert,
		Clauses: ir.Clauses("operand, random and the result have one shape; the numbers of operand and of random are equally wide"),
	}
	TopK = &ir.Def{
		Name: "mhlo.topk", Doc: "Finds the k greatest or least elements along the last dimension and their indices.",
		Operands: operand, Results: []ir.Arg{{Name: "values", Type: ods.AnyRanked}, {Name: "indices", Type: ods.AnyRanked}},
		Attrs:  []ir.AttrSpec{ods.Required("k", ods.I64Attr), {Name: "largest", Type: ods.BoolAttr, Optional: true, Default: ir.NewInteger(1, ir.Int(1))}, ods.LateDefaulted("is_stable", ods.BoolAttr, ir.NewInteger(1, ir.Int(1)))},
		Traits: ir.Pure,
		Format: "`(` $operand `,` `k` `=` $k (`,` `largest` `=` $largest^)? (`,` `is_stable` `=` $is_stable^)? `)` attr-dict `:` type($operand) `->` `(` type($values) `,` type($indices) `)`",
		ResultNames: func(op *ir.Op, set func(*ir.Value, string)) {
			set(op.Result(0), "values")
			set(op.Result(1), "indices")
		},
		Infer: chlo.TopK.Infer, Verify: chlo.TopK.Verify, Clauses: chlo.TopK.Clauses,
	}
	Trace = &ir.Def{
		Name: "mhlo.trace", Doc: "Shows a value while the program runs.",
		Operands: operand, Attrs: []ir.AttrSpec{{Name: "tag", Type: ods.StrAttr}},
		Format: "$operand `,` $tag attr-dict `:` type($operand)",
	}
	Scan  = mirror(*chlo.Scan, "scan", chlo.Scan)
	Acos  = unary("acos", chlo.Acos, fpComplex)
	Acosh = unary("acosh", chlo.Acosh, fpComplex)
	Asin  = unary("asin", chlo.Asin, fpComplex)
	Asinh = unary("asinh", chlo.Asinh, fpComplex)
	Atanh = unary("atanh", chlo.Atanh, fpComplex)
	Cosh  = unary("cosh", chlo.Cosh, fpComplex)
	Erf   = unary("erf", chlo.Erf, ods.Tensor(ods.FP))
	Sinh  = unary("sinh", chlo.Sinh, fpComplex)
)

var own = []*ir.Def{
	AddDependency, AsyncStart, AsyncUpdate, AsyncDone, Bitcast, Copy, Domain, Exp2, Fusion, Log2, MinimumBroadcastShapes,
	Mulhi, RaggedDot, RngGetAndUpdateState, StochasticConvert, TopK, Trace,
	Scan, Acos, Acosh, Asin, Asinh, Atanh, Cosh, Erf, Sinh,
}

// mirror returns d as the row of MHLO's operation with the given name. The row mirrors base.
func mirror(d ir.Def, name string, base *ir.Def) *ir.Def {
	d.Name, d.Base = "mhlo."+name, base
	return &d
}

// unary returns the row of an element-wise operation that mirrors a CHLO operation.
func unary(name string, base *ir.Def, t ir.Constraint) *ir.Def {
	return mirror(ir.Def{
		Doc:      "Does what chlo." + name + " does.",
		Operands: []ir.Arg{{Name: "operand", Type: t}}, Results: []ir.Arg{{Name: "result", Type: t}},
		Traits: ir.Pure | ir.Elementwise | ir.SameShape,
		Format: "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))",
		Infer:  view.InferFirst,
	}, name, base)
}

// accurate returns the row of an element-wise operation with an accuracy, which only MHLO has.
func accurate(name, doc string) *ir.Def {
	d := unary(name, nil, ods.FPOrComplex)
	e := fromStableHLO(hlo.Exponential)
	d.Doc, d.Attrs, d.Infer, d.Verify, d.Clauses = doc, e.Attrs, e.Infer, e.Verify, e.Clauses
	return d
}

// parseRngState reads the attributes; the result is always tensor<2xui64>.
func parseRngState(p ir.AsmParser, st *ir.OpState) {
	p.ParseOptionalAttrDict(st)
	st.Types = append(st.Types, rngState(p.Context()))
}

func rngState(c *ir.Context) ir.Type { return c.Tensor([]int64{2}, c.Integer(64, ir.Unsigned), nil) }
