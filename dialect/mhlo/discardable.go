package mhlo

// Names of discardable attributes. XLA reads them from modules, functions, arguments, results and ops of any dialect.
const (
	AttrNumPartitions      = "mhlo.num_partitions"      // i32, on the module
	AttrNumReplicas        = "mhlo.num_replicas"        // i32, on the module
	AttrSharding           = "mhlo.sharding"            // string, in HLO's syntax
	AttrFrontendAttributes = "mhlo.frontend_attributes" // dictionary of strings
	AttrBackendConfig      = "mhlo.backend_config"      // dictionary or string, on custom calls
	AttrCallAttributes     = "mhlo.attributes"          // the attributes of the op that a custom call of its name represents
)
