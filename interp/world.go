package interp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// world is a set of devices that execute at the same time, each a machine in its own goroutine. They share the meetings
// of collectives, the channels of send and recv, and the queue that infeed reads.
//
// Devices wait only in world's methods. If every unfinished device waits, none can continue, and all of them get an
// error.
type world struct {
	replicas, partitions int
	nested               bool // made by interpreter.run_parallel: infeed, send and recv stay inside

	mu       sync.Mutex
	changed  *sync.Cond
	running  int   // devices that have not finished
	waiting  int   // devices that wait for others
	failed   error // ends every wait
	meetings map[meetingKey]*meeting
	channels map[channelKey][]*tensor.Tensor
	infeed   [][]*tensor.Tensor
}

// meetingKey identifies a meeting by its op and the first process of the group.
type meetingKey struct {
	at    *ir.Op
	first int
}

// channelKey identifies a channel of send and recv by its number and the receiving process. Process -1 means any
// receiver: the first to arrive.
type channelKey struct {
	channel int64
	to      int
}

// meeting collects the operands of one collective. Once it is complete it is read without the lock.
type meeting struct {
	operands map[int][]*tensor.Tensor // by process
	complete bool
}

func newWorld(replicas, partitions int) *world {
	w := &world{replicas: replicas, partitions: partitions, running: replicas * partitions,
		meetings: map[meetingKey]*meeting{}, channels: map[channelKey][]*tensor.Tensor{}}
	w.changed = sync.NewCond(&w.mu)
	return w
}

// errStuck reports that a device waits for devices that will never arrive.
var errStuck = errors.New("waits for devices that do not get there: a collective, send or infeed has no counterpart")

// wait waits until ready returns true. The caller holds the lock.
func (w *world) wait(ctx context.Context, ready func() bool) error {
	stop := context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.fail(context.Cause(ctx))
	})
	defer stop()
	for !ready() {
		if w.failed != nil {
			return w.failed
		}
		w.waiting++
		if w.waiting == w.running {
			w.fail(errStuck)
			return w.failed
		}
		w.changed.Wait()
	}
	return nil
}

// notify wakes the waiting devices. Each device checks whether it is ready and counts as waiting again if it is not.
// Until a device has checked, it counts as running; otherwise the next device to wait would think that it is the last.
func (w *world) notify() {
	w.waiting = 0
	w.changed.Broadcast()
}

func (w *world) fail(err error) {
	if w.failed == nil {
		w.failed = err
	}
	w.notify()
}

// stopped returns the error with which another device ended the run. After that no hook fires.
func (w *world) stopped() error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

// leave marks a device as finished. The device calls it when it ends.
func (w *world) leave(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running--
	if err != nil {
		w.fail(err)
	}
	if w.running > 0 && w.waiting == w.running {
		w.fail(errStuck)
	}
}

// meet sends the operands of process self to the other members of its group and returns the operands of all members.
func (w *world) meet(m *machine, at *instr, self int, group []int, operands []*tensor.Tensor) (map[int][]*tensor.Tensor, error) {
	copies := make([]*tensor.Tensor, len(operands))
	for i, t := range operands {
		copies[i] = t.Clone()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	key := meetingKey{at.op, group[0]}
	mt := w.meetings[key]
	if mt == nil {
		mt = &meeting{operands: map[int][]*tensor.Tensor{}}
		w.meetings[key] = mt
	}
	if _, twice := mt.operands[self]; twice {
		return nil, fmt.Errorf("has process %d twice in a group", self)
	}
	mt.operands[self] = copies
	if len(mt.operands) == len(group) {
		mt.complete = true
		delete(w.meetings, key)
		w.notify()
	}
	if err := w.wait(m.ctx, func() bool { return mt.complete }); err != nil {
		return nil, err
	}
	return mt.operands, nil
}

// send puts values into a channel. They count towards the memory limit until a device receives them.
func (w *world) send(m *machine, channel channelKey, values []*tensor.Tensor) error {
	for _, v := range values {
		if err := m.charge(int64(len(v.Bytes()))); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, v := range values {
		w.channels[channel] = append(w.channels[channel], v.Clone())
	}
	w.notify()
	return nil
}

// recv waits for n values in a channel and returns them.
func (w *world) recv(m *machine, channel channelKey, n int) ([]*tensor.Tensor, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.wait(m.ctx, func() bool { return len(w.channels[channel]) >= n }); err != nil {
		return nil, err
	}
	out := w.channels[channel][:n:n]
	w.channels[channel] = w.channels[channel][n:]
	for _, v := range out {
		m.uncharge(int64(len(v.Bytes())))
	}
	return out, nil
}

// nextInfeed removes and returns the next item of the infeed queue.
func (w *world) nextInfeed() ([]*tensor.Tensor, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.infeed) == 0 {
		return nil, errors.New("reads an empty infeed queue")
	}
	item := w.infeed[0]
	w.infeed = w.infeed[1:]
	return item, nil
}
