package exec

import (
	"errors"
)

// FirstCause returns the error of the first device that failed by itself. The other devices' errors follow from it.
func FirstCause(errs []error) error {
	var stuck error
	for _, err := range errs {
		if err == nil {
			continue
		}
		if !errors.Is(err, ErrStuck) {
			return err
		}
		if stuck == nil {
			stuck = err
		}
	}
	return stuck
}

// SubMachine returns the machine of device d of a device group.
func SubMachine(m *Machine, w *deviceGroup, d int) *Machine {
	s := NewMachine(m.Prog)
	s.Ctx, s.DeviceGroup = m.Ctx, w
	s.Watch, s.First = m.Watch, m.First && d == 0
	s.Run = RunState{Run: m.Run.Run, Device: d, Replica: d / w.Partitions, Partition: d % w.Partitions}
	return s
}
