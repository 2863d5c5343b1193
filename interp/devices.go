package interp

import (
	"context"
	"sync"

	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/tensor"
)

// runDevices executes the program on several devices.
func (e *Executable) runDevices(ctx context.Context, m *exec.Machine, args []*tensor.Tensor) ([]*tensor.Tensor, error) {
	n := e.replicas * e.partitions
	w := exec.NewDeviceGroup(e.replicas, e.partitions)
	results := make([][]*tensor.Tensor, n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for d := range n {
		device := exec.SubMachine(m, w, d)
		device.Run.Device = device.Run.Replica*e.prog.Partitions + device.Run.Partition
		wg.Add(1)
		go func() {
			defer wg.Done()
			results[d], errs[d] = device.Main(ctx, e.entry, args)
			w.Leave(errs[d])
		}()
	}
	wg.Wait()
	if err := exec.FirstCause(errs); err != nil {
		return nil, err
	}
	return results[0], nil
}
