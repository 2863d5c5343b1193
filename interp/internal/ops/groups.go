package ops

import (
	"errors"
	"slices"

	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/sharding"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
)

// A process has the number replica * partitions + partition.

// groupRule determines how attributes such as replica_groups map to groups of processes (spec, "Grouping in
// StableHLO").
type groupRule uint8

const (
	crossReplica groupRule = iota
	crossPartition
	crossReplicaAndPartition
	flattenedIDs
)

// groupsAttr reads an attribute such as replica_groups: one row per group, with short rows padded with -1.
func groupsAttr(op *ir.Op, name string) [][]int64 {
	a, ok := op.Attr(name).(*ir.DenseAttr)
	kernel.UnsupportedIf(!ok, "%s of this form", name)
	t := kernel.Must(a.Tensor())
	v := kernel.Must(t.Int64s())
	if len(v) == 0 { // also dense<> : tensor<0xi64>
		return nil
	}
	kernel.FailIf(len(t.Shape()) != 2, "expects %s of rank 2", name)
	width := int(t.Shape()[1])
	var out [][]int64
	for i := 0; i < len(v); i += max(width, 1) {
		var g []int64
		for _, id := range v[i : i+width] {
			if id >= 0 {
				g = append(g, id)
			}
		}
		out = append(out, g)
	}
	return out
}

// groupsOf reads replica_groups: lists of processes, or mesh axes along which the processes of a group differ.
func groupsOf(p *plan.Planner, op *ir.Op) [][]int64 {
	d, ok := op.Attr(stablehlo.AttrReplicaGroups).(*ir.DialectAttr)
	if !ok {
		return groupsAttr(op, stablehlo.AttrReplicaGroups)
	}
	g, ok := d.Data().(*stablehlo.ReplicaGroupMeshAxes)
	kernel.UnsupportedIf(!ok, "replica_groups of this form")
	mesh := groupMesh(p.Prog.Symbols, g.Mesh)
	var parts []sharding.Part
	for _, a := range g.AxisRefs() {
		part := sharding.Part{Axis: a.Name}
		if a.Sub != nil {
			part.Before, part.Count = a.Sub.PreSize, a.Sub.Size
		}
		parts = append(parts, part)
	}
	groups, err := mesh.Groups(parts)
	kernel.FailIf(err != nil, "has invalid replica_groups: %w", err)
	return groups
}

// groupMesh returns the mesh of replica_groups: a symbol that names an op with a mesh, or #stablehlo.mesh itself.
func groupMesh(symbols ir.Symbols, a ir.Attr) *sharding.Mesh {
	if ref, ok := a.(*ir.SymbolRefAttr); ok {
		op := symbols[ref.Root()]
		kernel.FailIf(op == nil, "has replica_groups on mesh '%s', which the module lacks", ref.Root())
		if a = op.Attr(sdy.AttrMesh); a == nil {
			a = op.Attr(stablehlo.AttrMesh)
		}
	}
	d, ok := a.(*ir.DialectAttr)
	kernel.UnsupportedIf(!ok, "replica_groups on a mesh of this form")
	out := &sharding.Mesh{}
	switch m := d.Data().(type) {
	case *stablehlo.Mesh:
		for _, x := range m.Axes {
			out.Names, out.Sizes = append(out.Names, x.Name), append(out.Sizes, x.Size)
		}
		if ids, ok := m.DeviceIDs.(*ir.DenseAttr); ok {
			t := kernel.Must(ids.Tensor())
			out.IDs = kernel.Must(t.Int64s())
		}
	case *sdy.DeviceMesh:
		return meshFrom(m)
	default:
		kernel.Fail(kernel.Unsupported("replica_groups on a mesh of this form"))
	}
	return out
}

// groupSize returns the number of processes in the first group of all_gather or reduce_scatter.
func groupSize(s *plan.Spec) int64 {
	rule := reductionRule(s.Op)
	groups := groupsOf(s.Planner, s.Op)
	n := s.Planner.Prog.Replicas
	switch {
	case len(groups) > 0:
		n = len(groups[0])
	case rule == flattenedIDs:
		n *= s.Planner.Prog.Partitions
	}
	if rule == crossReplicaAndPartition {
		n *= s.Planner.Prog.Partitions
	}
	return int64(max(1, n))
}

func channelOf(op *ir.Op) int64 {
	if c := plan.Attrs[plan.Channel](op).Handle; c != nil {
		return c.Handle
	}
	return 0
}

// reductionRule returns the rule of all_gather, all_reduce and reduce_scatter.
func reductionRule(op *ir.Op) groupRule {
	global := plan.Attrs[plan.Channel](op).Global
	switch channel := channelOf(op) > 0; {
	case channel && global:
		return flattenedIDs
	case channel:
		return crossReplicaAndPartition
	case global:
		kernel.Fail(errors.New("has use_global_device_ids without a channel"))
	}
	return crossReplica
}

// exchangeRule returns the rule of all_to_all, collective_broadcast and collective_permute.
func exchangeRule(op *ir.Op) groupRule {
	if channelOf(op) > 0 {
		return crossPartition
	}
	return crossReplica
}

// group returns the processes in the group of a process, or nil if the process is in no group.
func (r groupRule) group(groups [][]int64, replicas, partitions, replica, partition int) []int {
	limit := [...]int{replicas, partitions, replicas, replicas * partitions}[r]
	if len(groups) == 0 {
		var all []int64
		for id := range limit {
			all = append(all, int64(id))
		}
		groups = [][]int64{all}
	}
	for _, g := range groups {
		var out []int
		for _, id := range g {
			kernel.FailIf(id >= int64(limit), "names process %d of %d", id, limit)
			switch r {
			case crossReplica:
				out = append(out, int(id)*partitions+partition)
			case crossPartition:
				out = append(out, replica*partitions+int(id))
			case flattenedIDs:
				out = append(out, int(id))
			}
		}
		if r == crossReplicaAndPartition {
			for p := range partitions {
				for _, id := range g {
					out = append(out, int(id)*partitions+p)
				}
			}
		}
		if slices.Contains(out, replica*partitions+partition) {
			return out
		}
	}
	return nil
}
