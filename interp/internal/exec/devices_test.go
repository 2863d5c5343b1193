package exec_test

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

func number(n int) *tensor.Tensor {
	t := tensor.New(tensor.I64, nil)
	t.SetInt(0, int64(n))
	return t
}

func values(list []*tensor.Tensor) (out []int64) {
	for _, t := range list {
		out = append(out, int64(t.Bits(0)))
	}
	return out
}

// onDevices runs f on each device of a group at the same time.
func onDevices(m *exec.Machine, replicas, partitions int, f func(m *exec.Machine) error) error {
	w := exec.NewDeviceGroup(replicas, partitions)
	return w.Each(func(d int) (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = kernel.Cause(v)
			}
		}()
		return f(exec.SubMachine(m, w, d))
	})
}

// TestMeetings: the members of a group exchange copies of their operands at an op, again and again, and two groups at
// one op do not see each other.
func TestMeetings(t *testing.T) {
	_, ops := opsOf(t, "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n  %b = stablehlo.add %a, %a : tensor<f32>\n  %c = stablehlo.add %b, %a : tensor<f32>\n  return %c : tensor<f32>\n}")
	for _, size := range []int{1, 2, 6} {
		m := newMachine(0, nil)
		m.First = true
		m.Run.Run = 77
		var mu sync.Mutex
		first := 0
		err := onDevices(m, 2, 3, func(m *exec.Machine) error {
			d := m.Run.Device
			if m.Run.Replica != d/3 || m.Run.Partition != d%3 || m.Run.Run != 77 || m.First != (d == 0) || m.Ctx == nil || m.Watch == nil {
				return fmt.Errorf("device %d is %+v", d, m.Run)
			}
			mu.Lock()
			first++
			mu.Unlock()
			var group []int
			for k := range size {
				group = append(group, d/size*size+k)
			}
			for round := range 20 {
				at := &exec.Instr{Op: ops[round%2]}
				mine := []*tensor.Tensor{number(d), number(round)}
				all := m.DeviceGroup.Meet(m, at, d, group, mine)
				mine[0].SetInt(0, -1)
				if len(all) != size {
					return fmt.Errorf("device %d meets %d devices", d, len(all))
				}
				for _, k := range group {
					if got := values(all[k]); !slices.Equal(got, []int64{int64(k), int64(round)}) {
						return fmt.Errorf("device %d reads %v of %d in round %d", d, got, k, round)
					}
				}
			}
			return nil
		})
		if err != nil || first != 6 {
			t.Errorf("groups of %d: %d devices ran, error %v", size, first, err)
		}
	}
	err := onDevices(newMachine(0, nil), 1, 2, func(m *exec.Machine) error {
		if m.Run.Device == 0 {
			m.DeviceGroup.Meet(m, &exec.Instr{Op: ops[0]}, 5, []int{5, 6}, nil)
		}
		for m.DeviceGroup.Stopped() == nil { // until the first device arrived
			m.DeviceGroup.Meet(m, &exec.Instr{Op: ops[0]}, 5, []int{5, 6}, nil)
		}
		return nil
	})
	if err == nil || err.Error() != "has process 5 twice in a group" && !errors.Is(err, exec.ErrStuck) {
		t.Errorf("the error of a process that is twice in a group is %v", err)
	}
}

// TestChannels: values arrive in order, once, and count towards the memory limit on their way.
func TestChannels(t *testing.T) {
	m := newMachine(0, nil)
	const n = 30
	err := onDevices(m, 1, 2, func(m *exec.Machine) error {
		a, b := exec.ChannelKey{Channel: 1, To: 1}, exec.ChannelKey{Channel: 2, To: 1}
		if m.Run.Device == 0 {
			for i := range n {
				x := number(i)
				m.DeviceGroup.Send(m, a, []*tensor.Tensor{x, number(-i)})
				x.SetInt(0, 99)
				m.DeviceGroup.Send(m, b, []*tensor.Tensor{number(100 + i)})
			}
			return nil
		}
		for i := range n {
			if got := values(m.DeviceGroup.Recv(m, b, 1)); !slices.Equal(got, []int64{int64(100 + i)}) {
				return fmt.Errorf("the second channel has %v, not %d", got, 100+i)
			}
			got := values(m.DeviceGroup.Recv(m, a, 1))
			got = append(got, values(m.DeviceGroup.Recv(m, a, 1))...)
			if !slices.Equal(got, []int64{int64(i), int64(-i)}) {
				return fmt.Errorf("the first channel has %v, not %d", got, i)
			}
		}
		m.DeviceGroup.Recv(m, a, 0)
		return nil
	})
	if err != nil || held(m) != 0 {
		t.Errorf("%d bytes are held, error %v", held(m), err)
	}
	m = newMachine(24, nil)
	err = onDevices(m, 1, 1, func(m *exec.Machine) error {
		key := exec.ChannelKey{Channel: 1}
		m.DeviceGroup.Send(m, key, []*tensor.Tensor{number(1), number(2)})
		if held(m) != 16 {
			return fmt.Errorf("%d bytes are held", held(m))
		}
		if got := values(m.DeviceGroup.Recv(m, key, 2)); !slices.Equal(got, []int64{1, 2}) || held(m) != 0 {
			return fmt.Errorf("received %v, %d bytes are held", got, held(m))
		}
		m.DeviceGroup.Send(m, key, []*tensor.Tensor{number(1), number(2), number(3)})
		m.DeviceGroup.Send(m, key, []*tensor.Tensor{number(4)})
		return nil
	})
	if err == nil || err.Error() != "needs 8 bytes more than the 24 in use; the memory limit is 24" {
		t.Errorf("the error beyond the limit is %v", err)
	}
	w := exec.NewDeviceGroup(1, 1)
	w.Infeed = [][]*tensor.Tensor{{number(1), number(2)}, {number(3)}}
	one, two := values(w.NextInfeed()), values(w.NextInfeed())
	if err := kernel.Try(func() { w.NextInfeed() }); !slices.Equal(one, []int64{1, 2}) || !slices.Equal(two, []int64{3}) || err == nil || err.Error() != "reads an empty infeed queue" {
		t.Errorf("the queue has %v and %v, then %v", one, two, err)
	}
}

// TestStuck: devices that wait for each other in vain get an error, also if the last one ends instead of waiting. The
// error of a device that failed by itself comes first. A cancelled run ends every wait.
func TestStuck(t *testing.T) {
	own := errors.New("fails by itself")
	wait := func(m *exec.Machine) { m.DeviceGroup.Recv(m, exec.ChannelKey{Channel: 1, To: m.Run.Device}, 1) }
	for name, c := range map[string]struct {
		devices int
		f       func(m *exec.Machine, arrived *sync.WaitGroup) error
		want    error
	}{
		"all wait":  {3, func(m *exec.Machine, _ *sync.WaitGroup) error { wait(m); return nil }, exec.ErrStuck},
		"one waits": {1, func(m *exec.Machine, _ *sync.WaitGroup) error { wait(m); return nil }, exec.ErrStuck},
		"the last ends": {3, func(m *exec.Machine, arrived *sync.WaitGroup) error {
			if m.Run.Device == 2 {
				arrived.Wait()
				time.Sleep(5 * time.Millisecond)
				return nil
			}
			arrived.Done()
			wait(m)
			return nil
		}, exec.ErrStuck},
		"the last fails": {3, func(m *exec.Machine, arrived *sync.WaitGroup) error {
			if m.Run.Device == 2 {
				arrived.Wait()
				return own
			}
			arrived.Done()
			wait(m)
			return nil
		}, own},
		"the first fails": {3, func(m *exec.Machine, arrived *sync.WaitGroup) error {
			if m.Run.Device == 0 {
				return own
			}
			wait(m)
			return nil
		}, own},
		"one ends its goroutine": {2, func(m *exec.Machine, _ *sync.WaitGroup) error {
			if m.Run.Device == 0 {
				goruntime.Goexit()
			}
			wait(m)
			return nil
		}, runtime.ErrGoexit},
		"the last of three fails, the others end": {3, func(m *exec.Machine, _ *sync.WaitGroup) error {
			if m.Run.Device == 2 {
				return own
			}
			return nil
		}, own},
		"one fails because it waits in vain": {2, func(m *exec.Machine, _ *sync.WaitGroup) error {
			err := kernel.Try(func() { wait(m) })
			if m.Run.Device == 1 {
				return own
			}
			return err
		}, own},
		"one is served": {3, func(m *exec.Machine, arrived *sync.WaitGroup) error {
			switch m.Run.Device {
			case 0:
				wait(m)
				m.DeviceGroup.Send(m, exec.ChannelKey{Channel: 1, To: 1}, []*tensor.Tensor{number(1)})
			case 1:
				wait(m)
			case 2:
				time.Sleep(2 * time.Millisecond)
				m.DeviceGroup.Send(m, exec.ChannelKey{Channel: 1, To: 0}, []*tensor.Tensor{number(1)})
			}
			return nil
		}, nil},
	} {
		var arrived sync.WaitGroup
		arrived.Add(c.devices - 1)
		if err := onDevices(newMachine(0, nil), 1, c.devices, func(m *exec.Machine) error { return c.f(m, &arrived) }); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: the error is %v, want %v", name, err, c.want)
		}
	}
	// If no device waits, the end of a run fails none.
	ended, end := context.WithCancel(context.Background())
	after := newMachine(0, nil)
	after.Ctx = ended
	if err := onDevices(after, 1, 1, func(m *exec.Machine) error {
		m.DeviceGroup.Send(m, exec.ChannelKey{Channel: 1}, []*tensor.Tensor{number(1)})
		wait(m)
		end()
		time.Sleep(5 * time.Millisecond)
		return m.DeviceGroup.Stopped()
	}); err != nil {
		t.Errorf("after a wait, the end of the run is an error: %v", err)
	}
	cause := errors.New("enough")
	m := newMachine(0, nil)
	ctx, cancel := context.WithCancelCause(context.Background())
	m.Ctx = ctx
	release := make(chan bool)
	time.AfterFunc(10*time.Millisecond, func() { cancel(cause) })
	err := onDevices(m, 1, 2, func(m *exec.Machine) error {
		if m.Run.Device == 1 {
			<-release // neither waits nor ends
			return m.DeviceGroup.Stopped()
		}
		defer close(release)
		if err := m.DeviceGroup.Stopped(); err != nil {
			return err
		}
		wait(m)
		return nil
	})
	if !errors.Is(err, cause) {
		t.Errorf("the error of a cancelled run is %v", err)
	}
	if m.DeviceGroup.Stopped() != nil {
		t.Error("a machine without a group is stopped")
	}
}

// TestMachinesAreClosed: the run closes the machines of all its devices.
func TestMachinesAreClosed(t *testing.T) {
	books := &ledger{}
	m := newMachine(0, books)
	w := exec.NewDeviceGroup(1, 3)
	for d := range 3 {
		alloc(exec.SubMachine(m, w, d), listOf(tensor.UI8, 10))
	}
	m.Watch.CloseMachines()
	if len(books.open) != 0 || books.fault != "" {
		t.Errorf("%d payloads are open, fault: %s", len(books.open), books.fault)
	}
}
