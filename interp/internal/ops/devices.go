package ops

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// maxDevices bounds the goroutines of a run.
const maxDevices = 4096

// Grid returns the numbers of replicas and partitions of a module. They come from the options, else from the module,
// else from the mesh of its first manual computation.
func Grid(mod *ir.Module, symbols ir.Symbols, ownReplicas, ownPartitions int, opts runtime.CompileOptions) (replicas, partitions int) {
	replicas, partitions = mhlo.Devices(mod)
	replicas = max(1, cmp.Or(opts.Replicas, ownReplicas, replicas))
	partitions = cmp.Or(opts.Partitions, ownPartitions, partitions)
	if partitions == 0 {
		partitions = 1
		mod.Walk(func(op *ir.Op) bool {
			if !op.Is(sdy.ManualComputation) {
				return true
			}
			for _, s := range append(perValue(op, sdy.AttrInShardings), perValue(op, sdy.AttrOutShardings)...) {
				if mesh := deviceMesh(symbols, s); mesh != nil && meshFrom(mesh).Devices() > 0 {
					partitions = int(meshFrom(mesh).Devices())
					return false
				}
			}
			return true
		})
	}
	kernel.FailIf(replicas > maxDevices || partitions > maxDevices/replicas,
		"%d replicas of %d partitions are more than %d devices", replicas, partitions, maxDevices)
	return replicas, partitions
}

// Spans reports whether any op in the module executes per partition. If none does, one device executes the module on
// whole values for all partitions.
func Spans(mod *ir.Module, symbols ir.Symbols) bool {
	found := false
	mod.Walk(func(op *ir.Op) bool {
		switch name := op.Name(); name[strings.IndexByte(name, '.')+1:] {
		case "manual_computation", "partition_id", "all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_permute",
			"collective_reduce", "reduce_scatter", "send", "recv":
			found = true
		case "custom_call":
			switch view.String(op.Attr(stablehlo.AttrCallTargetName)) {
			case "SPMDFullToShardShape", "SPMDShardToFullShape":
				found = true
			}
			fallthrough
		case "hook", "outfeed", "infeed":
			found = found || firesOn(symbols, op) != place{}
		}
		return !found
	})
	return found
}

// place selects the devices on which an op communicates with the host, if its values are whole.
type place struct {
	each   bool // {manual}: on every device
	device int  // otherwise on this partition
}

// firesOn returns the place from the op's sharding: {manual}, {maximal device=1} or a mesh of one device. The default
// is device 0.
func firesOn(symbols ir.Symbols, op *ir.Op) place {
	if text := mhlo.PlainSharding(view.String(op.Attr(mhlo.AttrSharding))); text == "{manual}" {
		return place{each: true}
	} else if rest, ok := strings.CutPrefix(text, "{maximal device="); ok {
		if n, err := strconv.Atoi(strings.TrimSuffix(rest, "}")); err == nil {
			return place{device: n}
		}
	}
	if list := perValue(op, sdy.AttrValueSharding); len(list) > 0 { // all results have the same sharding
		if mesh := deviceMesh(symbols, list[0]); mesh != nil && len(mesh.Axes) == 0 && len(mesh.DeviceIDs) == 1 {
			return place{device: int(mesh.DeviceIDs[0])}
		}
	}
	return place{}
}

// firesAlone reports whether this device communicates with the host itself: it is the only device, or each device has
// values of its own.
func firesAlone(m *exec.Machine, at place) bool {
	return m.DeviceGroup == nil || m.DeviceGroup.Nested || m.DeviceGroup.Partitions == 1 || m.Manual > 0 || at.each
}

// fireOnce executes an op that communicates with the host. If values are whole, one device of each replica fires and
// forwards the host's answer to the other devices. If values are per device, every device fires.
func fireOnce(m *exec.Machine, ins *exec.Instr, at place, results []*tensor.Tensor, fire func()) {
	w := m.DeviceGroup
	if firesAlone(m, at) {
		fire()
		return
	}
	kernel.FailIf(at.device >= w.Partitions, "is on device %d of %d", at.device, w.Partitions)
	mine := m.Run.Partition == at.device
	if mine {
		fire()
	}
	if len(results) == 0 {
		return
	}
	var give []*tensor.Tensor
	if mine {
		give = results
	}
	got := meetPartitions(m, ins, upTo(w.Partitions), give)[at.device]
	kernel.FailIf(len(got) != len(results), "gives other values on each device")
	for i, t := range got {
		if !mine {
			copy(results[i].Bytes(), t.Bytes())
		}
	}
}

// planReplicaID and planPartitionID compile replica_id and partition_id (spec, "partition_id", "replica_id").
func planReplicaID(p *plan.Planner, s *plan.Spec) exec.Runner {
	p.Describe("number of the replica")
	return planID(s, func(m *exec.Machine) int { return m.Run.Replica })
}

func planPartitionID(p *plan.Planner, s *plan.Spec) exec.Runner {
	p.Describe("number of the partition")
	return planID(s, func(m *exec.Machine) int { return m.Run.Partition })
}

func planID(s *plan.Spec, id func(*exec.Machine) int) exec.Runner {
	t := s.Out[0]
	kernel.FailIf(t.Class != kernel.ClassTensor || t.N != 1 || t.DType.Size() != 4, "expects a result of type tensor<ui32>")
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		b := m.Alloc(t.DType, t.Shape, 1)
		tensor.View[uint32](&b.Tensor)[0] = uint32(id(m))
		fr.Slots[ins.Out[0]] = b
	}
}
