package stablehlo

// Names of discardable attributes. Modules of later versions of StableHLO have these instead of those of MHLO.
const (
	AttrNumPartitions = "stablehlo.num_partitions" // i32, on the module
	AttrNumReplicas   = "stablehlo.num_replicas"   // i32, on the module
	AttrMesh          = "stablehlo.mesh"           // #stablehlo.mesh, on a mesh symbol
)
