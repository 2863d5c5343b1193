package stablehlo

import (
	"strconv"
	"strings"
)

// Names of discardable attributes. Modules of later versions of StableHLO have these instead of those of MHLO.
const (
	AttrNumPartitions = "stablehlo.num_partitions" // i32, on the module
	AttrNumReplicas   = "stablehlo.num_replicas"   // i32, on the module
	AttrMesh          = "stablehlo.mesh"           // #stablehlo.mesh, on a mesh symbol
)

// Discardable attributes and targets of custom calls about shapes.
const (
	AttrErrorMessage     = "error_message"             // of shape_assertion: text with {0}, {1}, ... for its operands after the first
	AttrShapeOperands    = "indices_of_shape_operands" // tensor<?xi64>, the operand with the shape of each result
	TargetShapeAssertion = "shape_assertion"           // fails if its first operand is false
	TargetRaggedAllToAll = "ragged_all_to_all"         // XLA's ragged-all-to-all
	TargetShapeWrapper   = "stablehlo.shape_refinement_operand_wrapper"
)

// AssertionMessage returns the message of a shape_assertion, with the values of its operands after the first in place
// of {0}, {1}, ...
func AssertionMessage(message string, values []int64) string {
	var pairs []string
	for i, v := range values {
		pairs = append(pairs, "{"+strconv.Itoa(i)+"}", strconv.FormatInt(v, 10))
	}
	return strings.NewReplacer(pairs...).Replace(message)
}

// Targets of custom calls that represent ops. The attributes of approximate ones are in mhlo.backend_config.
const (
	TargetTopK                = "TopK"       // values and indices of the elements that a comparator puts first, along the last dimension
	TargetApproxTopK          = "ApproxTopK" // the same along a dimension, for several operands, with fewer correct results
	TargetDynamicApproxTopK   = "stablehlo.dynamic_approx_top_k"
	TargetDynamicTopK         = "stablehlo.dynamic_top_k"             // the second operand is k
	TargetDynamicReduceWindow = "stablehlo.dynamic_reduce_window"     // the last operands are the attributes
	TargetDynamicRngBits      = "stablehlo.dynamic_rng_bit_generator" // the second operand is the shape
	TargetSliceToDynamic      = "SliceToDynamic"                      // a padded value and its sizes become a value of dynamic size
	TargetPadToStatic         = "PadToStatic"                         // the inverse
	AttrReductionDim          = "reduction_dim"                       // of an approximate top-k
)

// Targets of custom calls that say in which memory of a device a value lies. They return their operand.
const (
	TargetPlacement    = "annotate_device_placement"
	TargetMoveToHost   = "MoveToHost"
	TargetMoveToDevice = "MoveToDevice"
)
