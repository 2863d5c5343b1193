package ops

import (
	"errors"

	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/tensor"
)

// planReplicaID and planPartitionID compile replica_id and partition_id (spec, "partition_id", "replica_id").
func planReplicaID(p *plan.Planner, s *plan.Spec) (exec.Runner, error) {
	return planID(s, func(m *exec.Machine) int { return m.Run.Replica })
}

func planPartitionID(p *plan.Planner, s *plan.Spec) (exec.Runner, error) {
	return planID(s, func(m *exec.Machine) int { return m.Run.Partition })
}

func planID(s *plan.Spec, id func(*exec.Machine) int) (exec.Runner, error) {
	t := s.Out[0]
	if t.Class != kernel.ClassTensor || t.N != 1 || t.DType.Size() != 4 {
		return nil, errors.New("expects a result of type tensor<ui32>")
	}
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) error {
		b, err := m.Alloc(t.DType, t.Shape, 1)
		if err != nil {
			return err
		}
		tensor.View[uint32](&b.Tensor)[0] = uint32(id(m))
		fr.Slots[ins.Out[0]] = b
		return nil
	}, nil
}
