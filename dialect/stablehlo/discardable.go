package stablehlo

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
	TargetShapeWrapper   = "stablehlo.shape_refinement_operand_wrapper"
)
