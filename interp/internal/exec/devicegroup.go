package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// deviceGroup is a set of devices that execute at the same time, each a machine in its own goroutine. They share the
// meetings of collectives, the channels of send and recv, and the queue that infeed reads.
//
// Devices wait only in deviceGroup's methods. If every unfinished device waits, none can continue, and all of them get
// an error.
type deviceGroup struct {
	Replicas, Partitions int
	Nested               bool // made by interpreter.run_parallel: infeed, send and recv stay inside

	mu       sync.Mutex
	changed  *sync.Cond
	running  int   // devices that have not finished
	waiting  int   // devices that wait for others
	failed   error // ends every wait
	meetings map[meetingKey]meeting
	channels map[ChannelKey][]*tensor.Tensor
	Infeed   [][]*tensor.Tensor
}

// meetingKey identifies a meeting by its op and the first process of the group.
type meetingKey struct {
	at    *ir.Op
	first int
}

// ChannelKey identifies a channel of send and recv by its number and the receiving process. Process -1 means any
// receiver: the first to arrive.
type ChannelKey struct {
	Channel int64
	To      int
}

// meeting collects the operands of one collective, by process. Devices read a complete meeting without the lock.
type meeting map[int][]*tensor.Tensor

func NewDeviceGroup(replicas, partitions int) *deviceGroup {
	w := &deviceGroup{Replicas: replicas, Partitions: partitions, running: replicas * partitions,
		meetings: map[meetingKey]meeting{}, channels: map[ChannelKey][]*tensor.Tensor{}}
	w.changed = sync.NewCond(&w.mu)
	return w
}

// ErrStuck reports that a device waits for devices that will never arrive.
var ErrStuck = errors.New("waits for devices that do not get there: a collective, send or infeed has no counterpart")

// wait waits until ready returns true. The caller holds the lock, also if the run ends.
func (w *deviceGroup) wait(ctx context.Context, ready func() bool) {
	stop := context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.fail(context.Cause(ctx))
	})
	defer stop()
	for !ready() {
		kernel.Fail(w.failed)
		w.waiting++
		if w.waiting == w.running {
			w.fail(ErrStuck)
			continue
		}
		w.changed.Wait()
	}
}

// notify wakes the waiting devices. Each device checks whether it is ready and counts as waiting again if it is not.
// Until a device has checked, it counts as running; otherwise the next device to wait would think that it is the last.
func (w *deviceGroup) notify() {
	w.waiting = 0
	w.changed.Broadcast()
}

func (w *deviceGroup) fail(err error) {
	if w.failed == nil {
		w.failed = err
	}
	w.notify()
}

// Stopped returns the error with which another device ended the run. After that no hook fires.
func (w *deviceGroup) Stopped() error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

// leave marks a device as finished.
func (w *deviceGroup) leave(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running--
	if err != nil {
		w.fail(err)
	}
	if w.running > 0 && w.waiting == w.running {
		w.fail(ErrStuck)
	}
}

// Meet sends the operands of process self to the other members of its group and returns the operands of all members.
func (w *deviceGroup) Meet(m *Machine, at *Instr, self int, group []int, operands []*tensor.Tensor) meeting {
	copies := make([]*tensor.Tensor, len(operands))
	for i, t := range operands {
		copies[i] = t.Clone()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	key := meetingKey{at.Op, group[0]}
	mt := w.meetings[key]
	if mt == nil {
		mt = meeting{}
		w.meetings[key] = mt
	}
	if _, twice := mt[self]; twice {
		kernel.Fail(fmt.Errorf("has process %d twice in a group", self))
	}
	mt[self] = copies
	if len(mt) == len(group) {
		delete(w.meetings, key)
		w.notify()
	}
	w.wait(m.Ctx, func() bool { return len(mt) == len(group) })
	return mt
}

// Send puts values into a channel. They count towards the memory limit until a device receives them.
func (w *deviceGroup) Send(m *Machine, channel ChannelKey, values []*tensor.Tensor) {
	for _, v := range values {
		m.Charge(int64(len(v.Bytes())))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, v := range values {
		w.channels[channel] = append(w.channels[channel], v.Clone())
	}
	w.notify()
}

// Recv waits for n values in a channel and returns them.
func (w *deviceGroup) Recv(m *Machine, channel ChannelKey, n int) []*tensor.Tensor {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wait(m.Ctx, func() bool { return len(w.channels[channel]) >= n })
	out := w.channels[channel][:n:n]
	w.channels[channel] = w.channels[channel][n:]
	for _, v := range out {
		m.Uncharge(int64(len(v.Bytes())))
	}
	return out
}

// NextInfeed removes and returns the next item of the infeed queue.
func (w *deviceGroup) NextInfeed() []*tensor.Tensor {
	w.mu.Lock()
	defer w.mu.Unlock()
	kernel.FailIf(len(w.Infeed) == 0, "reads an empty infeed queue")
	item := w.Infeed[0]
	w.Infeed = w.Infeed[1:]
	return item
}

// Each calls f for every device, at the same time. It returns the error of the first device that failed by itself; the
// other devices' errors follow from it.
func (w *deviceGroup) Each(f func(d int) error) error {
	errs := make([]error, w.Replicas*w.Partitions)
	var wg sync.WaitGroup
	for d := range errs {
		wg.Go(func() {
			errs[d] = runtime.ErrGoexit // unless f returns
			defer func() { w.leave(errs[d]) }()
			errs[d] = f(d)
		})
	}
	wg.Wait()
	var stuck error
	for _, err := range errs {
		if err != nil && !errors.Is(err, ErrStuck) {
			return err
		}
		stuck = cmp.Or(stuck, err)
	}
	return stuck
}

// SubMachine returns the machine of device d of a device group. It is closed with the run; see Watch.CloseMachines.
func SubMachine(m *Machine, w *deviceGroup, d int) *Machine {
	s := NewMachine(m.Prog)
	s.Ctx, s.DeviceGroup = m.Ctx, w
	s.Watch, s.First = m.Watch, m.First && d == 0
	m.Watch.machines.add(s)
	s.Run = RunState{Run: m.Run.Run, Device: d, Replica: d / w.Partitions, Partition: d % w.Partitions}
	return s
}
