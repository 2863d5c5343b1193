package hlo

import (
	"slices"
	"strings"

	"github.com/hlocb/hlocb/ir"
)

// opcode is one row of the table of instructions.
type opcode struct {
	name string
	// operands is the number of operands; -1 for any.
	operands int
	// attrs are the instruction's own attributes and callees in the order in which they are printed.
	attrs []*attrSpec
	// infer computes the shape of the result if the text omits it; nil if the text must state it.
	infer func(in *instr) (*shape, string)
	// accuracy says that the instruction may carry result_accuracy.
	accuracy bool
	blind    bool           // the meaning does not depend on the operands' layouts and memory spaces
	oneDim   bool           // dimensions has exactly one element
	kinds    []typeKind     // element types of operands for which the result's type is inferred; nil for all
	byName   map[string]int // index of an attribute, own and common, in the order of printing
	fields   []protoField   // of attrs; num 0 for callees, which have no field of their own
	def      *ir.Def        // the op of MLIR with the same operands and results and no attributes; nil: there is none
}

func op(name string, operands int, infer func(*instr) (*shape, string), attrs ...*attrSpec) *opcode {
	return &opcode{name: name, operands: operands, infer: infer, attrs: attrs}
}

func accurate(name string) *opcode {
	o := op(name, 1, inferUnary)
	o.accuracy = true
	return o
}

// Attributes that several instructions share.
var (
	aDimensions    = &attrSpec{name: "dimensions", kind: kInts, required: true}
	aOptDimensions = &attrSpec{name: "dimensions", kind: kInts}
	aToApply       = &attrSpec{name: "to_apply", kind: kComputation, required: true}
	aOptToApply    = &attrSpec{name: "to_apply", kind: kComputation}
	aCalls         = &attrSpec{name: "calls", kind: kComputation, required: true}
	aChannel       = &attrSpec{name: "channel_id", kind: kInt}
	aGroups        = &attrSpec{name: "replica_groups", kind: kGroups, always: &replicaGroups{}}
	aConstrain     = &attrSpec{name: "constrain_layout", kind: kBool, omit: isFalse}
	aGlobalIDs     = &attrSpec{name: "use_global_device_ids", kind: kBool, omit: isFalse}
	aMode          = &attrSpec{name: "mode", kind: kEnum, enum: groupModes, omit: always}
	aHostTransfer  = &attrSpec{name: "is_host_transfer", kind: kBool, omit: isFalse}
	aWindow        = &attrSpec{name: "window", kind: kWindow, omit: isEmptyWindow}
	aDimLabels     = &attrSpec{name: "dim_labels", kind: kDimLabels, required: true}
	aOptDimLabels  = &attrSpec{name: "dim_labels", kind: kDimLabels}
	aFeatureGroups = &attrSpec{name: "feature_group_count", kind: kInt, omit: isOne}
	aBatchGroups   = &attrSpec{name: "batch_group_count", kind: kInt, omit: isOne}
	aPrecision     = &attrSpec{name: "operand_precision", kind: kEnums, enum: precisions, anyCase: true, omit: allZero}
	aAlgorithm     = &attrSpec{name: "algorithm", kind: kEnum, enum: algorithms, anyCase: true, omit: isZero}
	aAliasing      = &attrSpec{name: "output_to_operand_aliasing", kind: kAliasing, omit: isEmpty[valueAlias]}
	aLHSBatch      = &attrSpec{name: "lhs_batch_dims", kind: kInts, omit: isEmpty[int64]}
	aLHSContract   = &attrSpec{name: "lhs_contracting_dims", kind: kInts, always: []int64{}}
	aRHSBatch      = &attrSpec{name: "rhs_batch_dims", kind: kInts, omit: isEmpty[int64]}
	aRHSContract   = &attrSpec{name: "rhs_contracting_dims", kind: kInts, always: []int64{}}
	aLower         = &attrSpec{name: "lower", kind: kBool, omit: isFalse}
	aEpsilon       = &attrSpec{name: "epsilon", kind: kFloat, required: true}
	aFeatureIndex  = &attrSpec{name: "feature_index", kind: kInt, required: true}
	aSorted        = &attrSpec{name: "indices_are_sorted", kind: kBool, omit: isFalse}
	aIndexVector   = &attrSpec{name: "index_vector_dim", kind: kInt, required: true}
	aSparsity      = &attrSpec{name: "sparsity_config", kind: kSparsity}
	aBlockScaling  = &attrSpec{name: "block_scaling_config", kind: kBlockScaling}
	aPairs         = &attrSpec{name: "source_target_pairs", kind: kIntLists, required: true}
	aSliceSizes2   = &attrSpec{name: "slice_sizes", kind: kIntLists, omit: isEmpty[[]int64]}
)

// Attributes that every instruction may carry, in the order of printing. parameter_replication and similar attributes
// come after the instruction's own attributes.
var (
	cReplication = &attrSpec{name: "parameter_replication", kind: kBools}
	cSharding    = &attrSpec{name: "sharding", kind: kSharding}
	cFrontend    = &attrSpec{name: "frontend_attributes", kind: kPairs, omit: isEmpty[pair]}
	cControl     = &attrSpec{name: "control-predecessors", kind: kInstrs, omit: isEmpty[*instr]}
	cStatistics  = &attrSpec{name: "statistics", kind: kStatistics, omit: noStatistics}
	cAccuracy    = &attrSpec{name: "result_accuracy", kind: kAccuracy, omit: defaultAccuracy}
	cOrigin      = &attrSpec{name: "origin", kind: kOrigin}
	cMetadata    = &attrSpec{name: "metadata", kind: kMetadata, omit: noMetadata}
	cConfig      = &attrSpec{name: "backend_config", kind: kRaw, omit: isEmptyString}

	commonAttrs = []*attrSpec{cReplication, cSharding, cFrontend, cControl, cStatistics, cAccuracy, cOrigin, cMetadata, cConfig}
)

// Instructions that the package refers to by name.
var (
	opParameter   = op("parameter", 0, nil)
	opConstant    = op("constant", 0, nil)
	opTuple       = op("tuple", -1, inferTuple)
	opGTE         = op("get-tuple-element", 1, inferElement, &attrSpec{name: "index", kind: kInt, required: true})
	opCall        = op("call", -1, inferCall, aToApply, &attrSpec{name: "is_composite", kind: kBool, omit: isFalse})
	opWhile       = op("while", 1, inferWhile, &attrSpec{name: "condition", kind: kComputation, required: true}, &attrSpec{name: "body", kind: kComputation, required: true})
	opConditional = op("conditional", -1, inferConditional, &attrSpec{name: "true_computation", kind: kComputation}, &attrSpec{name: "false_computation", kind: kComputation},
		&attrSpec{name: "branch_computations", kind: kComputations})
	opFusion = op("fusion", -1, nil, &attrSpec{name: "kind", kind: kEnum, enum: fusionKinds, required: true}, aAliasing, aCalls)

	opCustomCall = op("custom-call", -1, nil, &attrSpec{name: "window", kind: kWindow}, aOptDimLabels, aFeatureGroups, aBatchGroups, aPrecision,
		&attrSpec{name: "padding_type", kind: kEnum, enum: paddingTypes, omit: isZero},
		&attrSpec{name: "custom_call_target", kind: kString, required: true},
		&attrSpec{name: "literal", kind: kLiteral},
		&attrSpec{name: "operand_layout_constraints", kind: kShapes},
		&attrSpec{name: "custom_call_has_side_effect", kind: kBool, omit: isFalse},
		aAliasing,
		&attrSpec{name: "schedule", kind: kEnum, enum: schedules, omit: isZero},
		&attrSpec{name: "api_version", kind: kEnum, enum: apiVersions, omit: isOne},
		&attrSpec{name: "called_computations", kind: kComputations, omit: isEmpty[*computation]},
		aOptToApply)

	opAsyncStart = op("async-start", -1, nil, &attrSpec{name: "async_execution_thread", kind: kString, omit: isMainThread},
		&attrSpec{name: "output_to_operand_aliasing", kind: kAliasing, omit: isEmpty[valueAlias]}, aCalls)
	opAsyncUpdate = op("async-update", -1, nil, &attrSpec{name: "async_execution_thread", kind: kString, omit: always}, &attrSpec{name: "calls", kind: kComputation, omit: always})
	opAsyncDone   = op("async-done", -1, nil, &attrSpec{name: "async_execution_thread", kind: kString, omit: always}, &attrSpec{name: "calls", kind: kComputation, omit: always})

	opSend     = op("send", 2, nil, aChannel, aHostTransfer)
	opSendDone = op("send-done", 1, nil, aChannel, aHostTransfer)
	opRecv     = op("recv", 1, nil, aChannel, aHostTransfer)
	opRecvDone = op("recv-done", 1, nil, aChannel, aHostTransfer)
	opOutfeed  = op("outfeed", 2, nil, &attrSpec{name: "outfeed_shape", kind: kShape}, &attrSpec{name: "outfeed_config", kind: kString, omit: isEmptyString})
	opInfeed   = op("infeed", 1, nil, &attrSpec{name: "infeed_config", kind: kString, omit: isEmptyString})
	opCompare  = op("compare", 2, inferCompare, &attrSpec{name: "direction", kind: kEnum, enum: directions, required: true}, &attrSpec{name: "type", kind: kEnum, enum: comparisonTypes},
		&attrSpec{name: "order", kind: kEnum, enum: comparisonOrders})
	opReduceScatter = op("reduce-scatter", -1, nil, aChannel, aGroups, aConstrain, aGlobalIDs, aDimensions, aMode, aToApply)
	opAllReduce     = op("all-reduce", -1, nil, aChannel, aGroups, aConstrain, aGlobalIDs, aMode, aToApply)
	opBroadcast     = op("broadcast", 1, inferBroadcast, aOptDimensions)
	opDynamicSlice  = op("dynamic-slice", -1, nil, &attrSpec{name: "dynamic_slice_sizes", kind: kInts, required: true})
	opDynamicUpdate = op("dynamic-update-slice", -1, nil)
	opReduce        = op("reduce", -1, inferReduce, aDimensions, aToApply)
	opReduceWindow  = op("reduce-window", -1, inferReduceWindow, aWindow, aToApply)
	opDot           = op("dot", -1, inferDot, aLHSBatch, aLHSContract, aRHSBatch, aRHSContract, aPrecision, aAlgorithm, aSparsity, aBlockScaling)
	opConvolution   = op("convolution", -1, inferConvolution, aWindow, aDimLabels, aFeatureGroups, aBatchGroups,
		&attrSpec{name: "convolution_kind", kind: kEnum, enum: convKinds, omit: isZero}, aPrecision, aAlgorithm, aSparsity, aBlockScaling)
	opMap = op("map", -1, inferMap, aOptDimensions, aToApply)
)

// opcodes are all instructions of HLO.
var opcodes = func() map[string]*opcode {
	ints := func(name string) *attrSpec { return &attrSpec{name: name, kind: kInts, required: true} }
	batching := func(name string) *attrSpec { return &attrSpec{name: name, kind: kInts, omit: isEmpty[int64]} }
	number := func(name string) *attrSpec { return &attrSpec{name: name, kind: kInt, required: true} }
	flag := func(name string) *attrSpec { return &attrSpec{name: name, kind: kBool, omit: isFalse} }
	list := []*opcode{
		opParameter, opConstant, opTuple, opGTE, opCall, opWhile, opConditional, opFusion, opCustomCall, opAsyncStart, opAsyncUpdate,
		opAsyncDone, opSend, opSendDone, opRecv, opRecvDone, opOutfeed, opInfeed, opCompare, opReduceScatter, opAllReduce, opBroadcast, opMap, opDynamicSlice, opDynamicUpdate,
		opReduce, opReduceWindow, opDot, opConvolution,

		op("iota", 0, nil, number("iota_dimension")),
		op("topk", 1, inferTopK, number("k"), &attrSpec{name: "largest", kind: kBool, always: true}, &attrSpec{name: "is_stable", kind: kBool}),
		op("convert", 1, nil),
		op("bitcast-convert", 1, nil),
		op("bitcast", 1, nil),
		op("copy", 1, inferSame),
		op("copy-start", 1, nil, &attrSpec{name: "cross_program_prefetch_index", kind: kInt}),
		op("copy-done", 1, nil),
		op("opt-barrier", 1, inferSame),
		op("complex", 2, inferComplex),
		op("clamp", 3, inferClamp),
		op("select", 3, inferSelect),
		op("stochastic-convert", 2, nil),
		op("reduce-precision", 1, nil, number("exponent_bits"), number("mantissa_bits")),
		op("all-gather", -1, nil, aChannel, aGroups, aConstrain, aDimensions, aGlobalIDs),
		op("all-gather-start", -1, nil, aChannel, aGroups, aConstrain, aDimensions, aGlobalIDs),
		op("all-gather-done", 1, nil),
		op("all-reduce-start", -1, nil, aChannel, aGroups, aConstrain, aGlobalIDs, aMode, aToApply),
		op("all-reduce-done", 1, nil),
		op("all-to-all", -1, nil, aChannel, aGroups, aConstrain, aOptDimensions),
		op("ragged-all-to-all", -1, nil, aChannel, aGroups, &attrSpec{name: "dimensions", kind: kInts, omit: always}),
		op("collective-broadcast", -1, nil, aChannel, aGroups, flag("has_dynamic_root")),
		op("collective-reduce", -1, nil, aChannel, aGroups, aConstrain, aGlobalIDs, &attrSpec{name: "has_dynamic_root", kind: kBool, always: false}, aToApply),
		op("collective-permute", -1, nil, aChannel, aPairs, aSliceSizes2),
		op("collective-permute-start", -1, nil, aChannel, aPairs, aSliceSizes2),
		op("collective-permute-done", 1, nil),
		op("replica-id", 0, inferID),
		op("partition-id", 0, inferID),
		op("dynamic-reshape", -1, nil),
		op("reshape", 1, nil, &attrSpec{name: "inferred_dimension", kind: kInt, omit: isMinusOne}),
		op("after-all", -1, inferToken),
		op("add-dependency", 2, inferSame),
		op("sort", -1, inferTupleOfAll, aDimensions, flag("is_stable"), aToApply),
		op("fft", 1, inferFFT, &attrSpec{name: "fft_type", kind: kEnum, enum: fftTypes, required: true}, ints("fft_length")),
		op("triangular-solve", 2, inferSecond, &attrSpec{name: "left_side", kind: kBool, omit: isFalse}, aLower,
			&attrSpec{name: "unit_diagonal", kind: kBool, omit: isFalse}, &attrSpec{name: "transpose_a", kind: kEnum, enum: transposes, always: int64(1)}),
		op("cholesky", 1, inferCholesky, aLower),
		op("concatenate", -1, inferConcatenate, aDimensions),
		op("scan", -1, inferScan, aDimensions, number("num_carries"), flag("is_reverse"),
			&attrSpec{name: "is_associative", kind: kBool, always: false}, aToApply),
		op("reverse", 1, inferReverse, aDimensions),
		op("select-and-scatter", 3, inferSame, aWindow, &attrSpec{name: "select", kind: kComputation, required: true}, &attrSpec{name: "scatter", kind: kComputation, required: true}),
		op("shuffle", 1, inferShuffle, aDimensions, &attrSpec{name: "mode", kind: kEnum, enum: shuffleModes, required: true}, ints("shifts")),
		op("slice", 1, nil, &attrSpec{name: "slice", kind: kSlice, required: true}),
		op("transpose", 1, inferTranspose, aDimensions),
		op("batch-norm-training", 3, inferBatchNorm, aEpsilon, aFeatureIndex),
		op("batch-norm-inference", 5, inferSame, aEpsilon, aFeatureIndex),
		op("batch-norm-grad", 5, inferBatchNorm, aEpsilon, aFeatureIndex),
		op("pad", 2, inferPad, &attrSpec{name: "padding", kind: kPadding, required: true}),
		op("rng", -1, nil, &attrSpec{name: "distribution", kind: kEnum, enum: distributions, required: true}),
		op("rng-get-and-update-state", 0, nil, number("delta")),
		op("rng-bit-generator", 1, nil, &attrSpec{name: "algorithm", kind: kEnum, enum: rngAlgorithms, required: true}),
		op("get-dimension-size", 1, inferSize, aDimensions),
		op("set-dimension-size", 2, inferSetSize, aDimensions),
		op("ragged-dot", 3, inferRaggedDot, aLHSBatch, aLHSContract, aRHSBatch, aRHSContract, batching("lhs_ragged_dims"), batching("rhs_group_dims"), aPrecision),
		op("scaled-dot", 4, inferScaledDot, aLHSBatch, aLHSContract, aRHSBatch, aRHSContract, aPrecision, aAlgorithm),
		op("gather", 2, inferGather, ints("offset_dims"), ints("collapsed_slice_dims"), ints("start_index_map"),
			batching("operand_batching_dims"), batching("start_indices_batching_dims"), aIndexVector, ints("slice_sizes"), aSorted),
		op("scatter", -1, inferScatter, ints("update_window_dims"), ints("inserted_window_dims"), ints("scatter_dims_to_operand_dims"),
			batching("input_batching_dims"), batching("scatter_indices_batching_dims"), aIndexVector, aSorted, flag("unique_indices"), aToApply),
		op("domain", 1, inferSame, &attrSpec{name: "domain", kind: kDomain, required: true}),
	}
	elementwise := map[string]bool{}
	for _, name := range []string{"acos", "acosh", "asin", "asinh", "atanh", "cbrt", "cosine", "cosh", "erf", "exp2", "exponential", "exponential-minus-one",
		"log", "log-plus-one", "log2", "logistic", "rsqrt", "sine", "sinh", "sqrt", "tan", "tanh"} {
		list = append(list, accurate(name))
		elementwise[name] = true
	}
	for _, name := range []string{"abs", "ceil", "floor", "negate", "not", "sign", "real", "imag", "is-finite", "round-nearest-afz", "round-nearest-even",
		"popcnt", "count-leading-zeros"} {
		list = append(list, op(name, 1, inferUnary))
		elementwise[name] = true
	}
	for _, name := range []string{"add", "subtract", "multiply", "mulhi", "divide", "maximum", "minimum", "power", "remainder", "atan2", "and", "or", "xor",
		"shift-left", "shift-right-arithmetic", "shift-right-logical"} {
		list = append(list, op(name, 2, inferBinary))
		elementwise[name] = true
	}
	oneDim := []string{"all-to-all", "concatenate", "get-dimension-size", "ragged-all-to-all", "reduce-scatter", "scan", "set-dimension-size", "sort"}
	blind := strings.Fields(`add-dependency after-all batch-norm-grad batch-norm-inference batch-norm-training bitcast-convert broadcast cholesky clamp
		compare complex concatenate constant convert convolution copy dot dynamic-reshape dynamic-slice dynamic-update-slice fft gather get-dimension-size
		iota map pad partition-id ragged-dot reduce reduce-precision reduce-window replica-id reshape reverse rng rng-bit-generator
		rng-get-and-update-state scaled-dot scan scatter select select-and-scatter set-dimension-size slice sort stochastic-convert topk transpose
		triangular-solve`)
	kinds := map[string][]typeKind{}
	for _, row := range []struct {
		names string
		kinds []typeKind
	}{
		{"ceil floor round-nearest-afz round-nearest-even is-finite cbrt erf", []typeKind{floatKind}},
		{`acos acosh asin asinh atanh cosine cosh exp2 exponential exponential-minus-one log log-plus-one log2 logistic rsqrt sine sinh sqrt tan tanh
			real imag atan2`, []typeKind{floatKind, complexKind}},
		{"abs sign", []typeKind{signedKind, floatKind, complexKind}},
		{"count-leading-zeros popcnt", []typeKind{signedKind, unsignedKind}},
		{"not and or xor", []typeKind{predKind, signedKind, unsignedKind}},
		{"negate subtract divide power remainder shift-left shift-right-arithmetic shift-right-logical",
			[]typeKind{signedKind, unsignedKind, floatKind, complexKind}},
	} {
		for _, name := range strings.Fields(row.names) {
			kinds[name] = row.kinds
		}
	}
	m := make(map[string]*opcode, len(list))
	for _, o := range list {
		o.kinds = kinds[o.name]
		o.def = simpleOps[o.name]
		o.oneDim = slices.Contains(oneDim, o.name)
		o.blind = slices.Contains(blind, o.name) || elementwise[o.name]
		o.byName = make(map[string]int, len(o.attrs)+len(commonAttrs))
		for i, a := range commonAttrs {
			if a != cAccuracy || o.accuracy {
				o.byName[a.name] = commonOrder + i
			}
		}
		for i, a := range o.attrs {
			o.byName[a.name] = i
			o.fields = append(o.fields, fieldOf(o, a))
		}
		m[o.name] = o
	}
	return m
}()

// commonOrder is the position of the common attributes among an instruction's own attributes.
const commonOrder = 100

// spec returns the attribute at index i of o's order of printing.
func (o *opcode) spec(i int) *attrSpec {
	if i >= commonOrder {
		return commonAttrs[i-commonOrder]
	}
	return o.attrs[i]
}

// attrNames returns the names of the attributes that o may carry, sorted.
func (o *opcode) attrNames() []string {
	var names []string
	for name := range o.byName {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// notAsync are the instructions whose asynchronous forms have opcodes of their own.
var notAsync = map[string]bool{"all-gather": true, "all-reduce": true, "collective-permute": true, "copy": true, "recv": true, "send": true}

// Enumerations, in the order of their numbers in the protos. An empty name has no text.
var (
	groupModes       = []string{"cross_replica", "cross_partition", "cross_replica_and_partition", "flattened_id"}
	precisions       = []string{"default", "high", "highest"}
	fusionKinds      = []string{"kLoop", "kInput", "kOutput", "kCustom"}
	paddingTypes     = []string{"PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"}
	schedules        = []string{"SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"}
	apiVersions      = []string{"API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"}
	directions       = []string{"EQ", "NE", "GE", "GT", "LE", "LT"}
	comparisonTypes  = []string{"FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"}
	comparisonOrders = []string{"PARTIAL", "TOTAL"}
	shuffleModes     = []string{"rotate"}
	convKinds        = []string{"unset", "fprop", "dgrad", "wgrad"}
	fftTypes         = []string{"FFT", "IFFT", "RFFT", "IRFFT"}
	transposes       = []string{"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}
	distributions    = []string{"rng_invalid", "rng_uniform", "rng_normal"}
	rngAlgorithms    = []string{"rng_default", "rng_three_fry", "rng_philox"}
	accuracyModes    = []string{"default", "highest"}
	algorithms       = []string{"", "dot_any_f8_any_f8_f32", "dot_any_f8_any_f8_f32_fast_accum", "dot_f16_f16_f16", "dot_f16_f16_f32", "dot_bf16_bf16_bf16",
		"dot_bf16_bf16_f32", "dot_bf16_bf16_f32_x3", "dot_bf16_bf16_f32_x6", "dot_tf32_tf32_f32", "dot_tf32_tf32_f32_x3", "dot_f32_f32_f32", "dot_f64_f64_f64",
		"dot_bf16_bf16_f32_x9", "dot_bf16_bf16_fp8x3", "dot_bf16_bf16_fp8x4"}
)
