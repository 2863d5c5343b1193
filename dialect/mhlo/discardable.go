package mhlo

import "github.com/hlocb/hlocb/ir"

// Names of discardable attributes. XLA reads them from modules, functions, arguments, results and ops of any dialect.
const (
	AttrNumPartitions      = "mhlo.num_partitions"      // i32, on the module
	AttrNumReplicas        = "mhlo.num_replicas"        // i32, on the module
	AttrSharding           = "mhlo.sharding"            // string, in HLO's syntax
	AttrFrontendAttributes = "mhlo.frontend_attributes" // dictionary of strings
	AttrOriginalValue      = "mhlo.original_value"      // OriginalValue
	AttrBackendConfig      = "mhlo.backend_config"      // dictionary or string, on custom calls
	AttrCallAttributes     = "mhlo.attributes"          // the attributes of the op that a custom call of its name represents
)

// CallFacts returns the names of the discardable attributes with the facts of an HLO custom call that StableHLO's op
// lacks, sorted. Their values are texts of HLO. A literal may be a dense attribute, and the schedule is an enum.
func CallFacts() []string {
	return []string{AttrCustomCallSchedule, "mhlo.batch_group_count", "mhlo.dim_labels", "mhlo.feature_group_count", "mhlo.literal",
		AttrOperandPrecision, "mhlo.padding_type", "mhlo.window"}
}

// AttrOperandPrecision is the attribute of a custom call with one precision for each operand, as HLO writes the list.
const AttrOperandPrecision = "mhlo.operand_precision"

// Frontend returns a frontend attribute of op, or "" if op does not have it.
func Frontend(op *ir.Op, name string) string {
	if d, ok := op.Attr(AttrFrontendAttributes).(*ir.DictAttr); ok {
		if s, ok := d.Get(name).(*ir.StringAttr); ok {
			return s.Value()
		}
	}
	return ""
}
