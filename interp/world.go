package interp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// world is several devices that execute at the same time, each a machine on a goroutine of its own, and what
// they share: meetings of collectives, channels of send and recv, the queue that infeed reads.
//
// Devices only ever wait here. So when every device that still runs is waiting, none will ever go on, and all
// of them get an error instead.
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

// meetingKey names a meeting: the op, and the first process of the group.
type meetingKey struct {
	at    *ir.Op
	first int
}

// channelKey names a channel of send and recv: its number, and the process that receives; -1 is whichever comes first.
type channelKey struct {
	channel int64
	to      int
}

// meeting gathers the operands of one collective. Once it is complete it is read without the lock.
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

// errStuck says that a device waits for others that will never come.
var errStuck = errors.New("waits for devices that do not get there: a collective, send or infeed has no counterpart")

// wait waits, under the lock, until ready.
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

// notify wakes the waiting devices: each looks whether it is ready, and counts as waiting again if not. Until it
// has looked it counts as running, lest a device that waits next thinks itself the last.
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

// stopped returns why another device ended the run: no hook fires any more.
func (w *world) stopped() error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

// leave is called by a device that ends.
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

// meet hands the operands of process self to the other members of its group and returns those of all.
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

// send puts values into a channel, where they are charged to the memory limit until somebody takes them.
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

// recv takes n values from a channel, waiting for them.
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

// nextInfeed takes the next item of the infeed queue.
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
