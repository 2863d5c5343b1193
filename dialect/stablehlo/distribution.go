package stablehlo

import (
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/ir"
)

// Rows of the operations between the processes of a grid. They affect other processes, so none is Pure.

var (
	replicaGroups = ir.AttrConstraint{Summary: "64-bit signless integer elements attribute or mesh and axes based replica groups representation.", Check: func(a ir.Attr) bool {
		if ods.IsI64Elements(a) {
			return true
		}
		return ReplicaGroupMeshAxesAttr.Is(a)
	}}
	channelHandle = ChannelHandleAttr.Constraint()
)

// AllGather concatenates over processes.
var AllGather = &ir.Def{
	Name: "stablehlo.all_gather", Doc: "Concatenates the operands of the processes of each group along a dimension. Spec: all_gather.",
	Operands: []ir.Arg{{Name: "operands", Type: ods.AnyRanked, Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Type: ods.AnyRanked, Mult: ir.Variadic}},
	Attrs: []ir.AttrSpec{
		ods.Required("all_gather_dim", ods.I64NonNeg), ods.Required("replica_groups", replicaGroups),
		ods.Optional("channel_handle", channelHandle), ods.Optional("use_global_device_ids", ods.UnitAttr),
	},
	Verify: verify(elemsPairwise, groups(true), allGatherRule),
	Clauses: ir.Clauses(`
		C1 all_gather_dim is a dimension of every operand
		C2 no id appears twice in replica_groups
		C3 replica_groups holds an id of every process that takes part -- how many processes there are is not part of a module
		C4 the ids of replica_groups are those from 0 to their number, less one
		C5 use_global_device_ids asks for a channel
		C6 a result has the type of its operand, except for the size along all_gather_dim, which is a multiple of the operand's
	`),
}

// AllReduce reduces over processes.
var AllReduce = &ir.Def{
	Name: "stablehlo.all_reduce", Doc: "Combines the operands of the processes of each group element by element. Spec: all_reduce.",
	Operands: []ir.Arg{{Name: "operands", Type: ods.AnyRanked, Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Type: ods.AnyRanked, Mult: ir.Variadic}},
	Attrs: []ir.AttrSpec{
		ods.Required("replica_groups", replicaGroups), ods.Optional("channel_handle", channelHandle), ods.Optional("use_global_device_ids", ods.UnitAttr),
	},
	Regions: []ir.RegionSpec{{Name: "computation"}},
	Flow:    elementFlow,
	Traits:  ir.SingleBlock,
	Infer:   infer(inferAllReduce), Verify: verify(groups(false), channelRule, reducersRule, agrees(inferAllReduce)),
	Clauses: ir.Clauses(`
		C1 no id appears twice in replica_groups
		C2 replica_groups holds an id of every process that takes part -- how many processes there are is not part of a module
		C3 the ids of replica_groups are those from 0 to their number, less one
		C4 use_global_device_ids asks for a positive channel id
		C5 the computation takes two scalars of one type that the operands can be promoted to, and gives one
		C6 a result has the shape of its operand
		C7 a result has the element type of the computation
	`),
}

// AllToAll exchanges parts.
var AllToAll = &ir.Def{
	Name: "stablehlo.all_to_all", Doc: "Splits the operands and exchanges the parts between the processes of each group. Spec: all_to_all.",
	Operands: []ir.Arg{{Name: "operands", Type: ods.AnyRanked, Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Type: ods.AnyRanked, Mult: ir.Variadic}},
	Attrs: []ir.AttrSpec{
		ods.Required("split_dimension", ods.I64NonNeg), ods.Required("concat_dimension", ods.I64NonNeg), ods.Required("split_count", ods.I64Pos),
		ods.Required("replica_groups", replicaGroups), ods.Optional("channel_handle", channelHandle),
	},
	Infer: infer(inferAllToAll), Verify: verify(elemsPairwise, agrees(inferAllToAll)),
	Clauses: ir.Clauses(`
		C1 split_dimension is a dimension of every operand
		C2 the size along split_dimension is a multiple of split_count
		C3 concat_dimension is a dimension of every operand
		C4 split_count is positive
		C5 no id appears twice in replica_groups
		C6 replica_groups holds an id of every process that takes part -- how many processes there are is not part of a module
		C7 the ids of replica_groups are those from 0 to their number, less one
		C8 a group has split_count processes
		C9 a result has the type of its operand, split_count times smaller along split_dimension and larger along concat_dimension
	`),
}

// CollectiveBroadcast sends one process's value to all.
var CollectiveBroadcast = &ir.Def{
	Name: "stablehlo.collective_broadcast", Doc: "Sends the operand of the first process of each group to the others. Spec: collective_broadcast.",
	Operands: []ir.Arg{{Name: "operands", Type: ods.AnyRanked, Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Type: ods.AnyRanked, Mult: ir.Variadic}},
	Attrs: []ir.AttrSpec{
		ods.Required("replica_groups", replicaGroups), ods.Optional("channel_handle", channelHandle), ods.Late("has_dynamic_root", ods.UnitAttr),
	},
	Infer: infer(inferRooted), Verify: verify(agrees(inferRooted), collectiveBroadcastRule),
	Clauses: ir.Clauses(`
		C1 no id appears twice in replica_groups
		C2 the ids of replica_groups are not negative, and those of processes -- how many processes there are is not part of a module
		C3 a result has the type of its operand
	`),
}

// CollectiveReduce reduces to one process.
var CollectiveReduce = &ir.Def{
	Name: "stablehlo.collective_reduce", Doc: "Combines the operands of the processes of each group on one of them. Spec: collective_reduce.",
	Operands: []ir.Arg{{Name: "operands", Type: ods.AnyRanked, Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Type: ods.AnyRanked, Mult: ir.Variadic}},
	Attrs: []ir.AttrSpec{
		ods.Required("replica_groups", replicaGroups), ods.Optional("channel_handle", channelHandle),
		ods.Optional("use_global_device_ids", ods.UnitAttr), ods.Optional("has_dynamic_root", ods.UnitAttr),
	},
	Regions: []ir.RegionSpec{{Name: "computation"}},
	Flow:    elementFlow,
	Traits:  ir.SingleBlock,
	Infer:   infer(inferCollectiveReduce), Verify: verify(agrees(inferCollectiveReduce), groups(false), channelRule, reducersRule),
	Clauses: ir.Clauses(`
		C1 no id appears twice in replica_groups
		C2 the ids of replica_groups are those from 0 to their number, less one
		C3 use_global_device_ids asks for a positive channel id
		C4 the computation takes two scalars of one type that the operands can be promoted to, and gives one
		C5 a result has the shape of its operand
		C6 a result has the element type of the computation
	`),
}

// CollectivePermute sends along pairs.
var CollectivePermute = &ir.Def{
	Name: "stablehlo.collective_permute", Doc: "Sends the operand of each source process to its target. Spec: collective_permute.",
	Operands: []ir.Arg{{Name: "operand", Type: ods.AnyRanked}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyRanked}},
	Attrs:    []ir.AttrSpec{ods.Required("source_target_pairs", ods.I64Elems), ods.Optional("channel_handle", channelHandle)},
	Infer:    infer(inferSame), Verify: verify(agrees(inferSame), pairsRule),
	Clauses: ir.Clauses(`
		C1 source_target_pairs are pairs
		C2 no process sends twice
		C3 no process receives twice
		C4 the ids of source_target_pairs are not negative, and those of processes
		C5 the result has the type of operand
	`),
}

// CrossReplicaSum is the all_reduce of old programs; its name has hyphens.
var CrossReplicaSum = &ir.Def{
	Name: "stablehlo.cross-replica-sum", Doc: "Adds up the operands of the replicas of each group. Not in the specification; use all_reduce.",
	Operands: []ir.Arg{{Name: "operand", Type: ods.AnyRanked}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyRanked}},
	Attrs:    []ir.AttrSpec{ods.Required("replica_groups", ods.I64Elems)},
	Infer:    infer(inferSame), Verify: verify(compatibleTypes),
}

// ReduceScatter reduces and splits.
var ReduceScatter = &ir.Def{
	Name: "stablehlo.reduce_scatter", Doc: "Combines the operands of the processes of each group and returns one part to each process. Spec: reduce_scatter.",
	Operands: []ir.Arg{{Name: "operand", Type: ods.AnyRanked}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyRanked}},
	Attrs: []ir.AttrSpec{
		ods.Required("scatter_dimension", ods.I64NonNeg), ods.Required("replica_groups", replicaGroups),
		ods.Optional("channel_handle", channelHandle), ods.Optional("use_global_device_ids", ods.UnitAttr),
	},
	Regions: []ir.RegionSpec{{Name: "computation"}},
	Flow:    elementFlow,
	Traits:  ir.SingleBlock,
	Verify:  verify(groups(true), channelRule, reducersRule, reduceScatterRule),
	Clauses: ir.Clauses(`
		C1 the size along scatter_dimension is a multiple of the number of processes in a group
		C2 scatter_dimension is a dimension of operand
		C3 no id appears twice in replica_groups
		C4 replica_groups holds an id of every process that takes part -- how many processes there are is not part of a module
		C5 the ids of replica_groups are those from 0 to their number, less one
		C6 use_global_device_ids asks for a positive channel id
		C7 the computation takes two scalars of one type that operand can be promoted to, and gives one
		C8 the result has the shape of operand, except for the size along scatter_dimension, which divides the operand's
		C9 the result has the element type of the computation
	`),
}

// PartitionID and ReplicaID return the numbers of the executing process.
var (
	PartitionID = &ir.Def{
		Name: "stablehlo.partition_id", Doc: "Returns the partition of the process that executes. Spec: partition_id.",
		Results: []ir.Arg{{Name: "result", Type: ods.Tensor(ods.UI32)}},
		Traits:  ir.Pure,
		Format:  "attr-dict `:` type(results)",
		Infer:   infer(inferUI32), Verify: verify(agrees(inferUI32)),
	}
	ReplicaID = &ir.Def{
		Name: "stablehlo.replica_id", Doc: "Returns the replica of the process that executes. Spec: replica_id.",
		Results: []ir.Arg{{Name: "result", Type: ods.Tensor(ods.UI32)}},
		Traits:  ir.Pure,
		Format:  "attr-dict `:` type(results)",
		Infer:   infer(inferUI32), Verify: verify(agrees(inferUI32)),
	}
)

// AsyncStart and AsyncDone start and finish an asynchronous operation.
var (
	AsyncStart = &ir.Def{
		Name: "stablehlo.async_start", Doc: "Starts the collective operation in its body and returns a future of its results. Spec: async_start.",
		Operands: []ir.Arg{{Name: "operands", Type: ods.AnyRanked, Mult: ir.Variadic}},
		Results:  []ir.Arg{{Name: "result", Type: future}},
		Regions:  []ir.RegionSpec{{Name: "body"}},
		Flow:     elementFlow,
		Traits:   ir.SingleBlock,
		Verify:   verify(asyncStartRule),
		Clauses: ir.Clauses(`
			C1 the body takes the operands
			C2 the future holds the values that the body returns
		`),
	}
	AsyncDone = &ir.Def{
		Name: "stablehlo.async_done", Doc: "Waits for a future and returns its values. Spec: async_done.",
		Operands: []ir.Arg{{Name: "operand", Type: future}},
		Results:  []ir.Arg{{Name: "results", Type: ods.AnyRanked, Mult: ir.Variadic}},
		Infer:    infer(inferAsyncDone), Verify: verify(asyncDoneRule),
		Clauses: ir.Clauses(`
			C1 the results have the types in the future
		`),
	}
)
