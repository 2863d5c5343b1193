package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/sharding"
	"github.com/hlocb/hlocb/tensor"
)

// Placement says which devices of a backend hold a value, and how the value is partitioned among them. The zero value
// is the whole value on device 0.
type Placement struct {
	Devices    []int              // ordinals, replicas outermost; nil is device 0
	Partitions int                // devices per replica; 0 is 1
	Sharding   *sharding.Sharding // the shard of each partition; nil: every device holds the whole value
}

// Whole reports whether every device holds the whole value.
func (p Placement) Whole() bool { return p.Sharding == nil || p.Sharding.Whole() }

// Parts returns the number of devices per replica.
func (p Placement) Parts() int { return max(1, p.Partitions) }

// Ordinals returns the devices.
func (p Placement) Ordinals() []int {
	if len(p.Devices) == 0 {
		return []int{0}
	}
	return p.Devices
}

// Equal reports whether both placements put the same pieces on the same devices.
func (p Placement) Equal(q Placement) bool {
	if !slices.Equal(p.Ordinals(), q.Ordinals()) {
		return false
	}
	if p.Whole() || q.Whole() {
		return p.Whole() == q.Whole()
	}
	return p.Parts() == q.Parts() && p.Sharding.Equal(q.Sharding)
}

// Value describes an argument or a result of a program.
type Value struct {
	Type  hook.TensorType // of the whole value; a dynamic dimension is negative
	Place Placement
	Donor bool // an argument whose memory the program uses for its results
}

// Signature describes how a program runs on buffers.
type Signature struct {
	Backend   Backend
	Arguments []Value // nil if the backend does not know them
	Results   []Value
}

// Memory is a backend's storage of one buffer. Its methods may be called concurrently, Release once and last.
type Memory interface {
	// View calls f with the whole value, without a copy if the host can read the memory. f must not change the tensor
	// or keep it.
	View(f func(*tensor.Tensor) error) error
	// Read returns a copy.
	Read() (*tensor.Tensor, error)
	// Wait returns when the value is computed, with the error of the run that should have computed it.
	Wait() error
	// Release frees the memory.
	Release()
}

// Buffer is a value that stays on the devices of a backend between runs. Its methods may be called concurrently. Close
// every buffer, also after an error: a backend with open buffers cannot be closed.
type Buffer struct {
	backend Backend
	value   Value
	ready   chan struct{} // closed when the value or its error is there

	mu     sync.Mutex
	memory Memory
	err    error // why there is no value
	users  int   // runs and readers that need the memory
	state  bufferState
}

type bufferState uint8

const (
	bufferLive bufferState = iota
	bufferDonated
	bufferClosed
)

// Errors of buffers that hold no value any more.
var (
	ErrDonated = errors.New("the buffer was donated to a run")
	ErrClosed  = errors.New("the buffer is closed")
)

// Put copies a value to devices, or lends it to them if the backend allows that. Do not change t before the buffer and
// the buffers computed from it are closed.
func Put(ctx context.Context, b Backend, t *tensor.Tensor, place Placement) (*Buffer, error) {
	if t == nil {
		return nil, errors.New("no value given")
	}
	if err := place.check(); err != nil {
		return nil, err
	}
	m, err := b.Upload(ctx, t, place)
	if err != nil {
		return nil, err
	}
	buf := newBuffer(b, Value{Type: hook.TypeOf(t), Place: place})
	buf.set(m, nil)
	return buf, nil
}

// check reports mistakes in the list of devices.
func (p Placement) check() error {
	for i, d := range p.Devices {
		if d < 0 || slices.Contains(p.Devices[:i], d) {
			return fmt.Errorf("device %d is negative or named twice", d)
		}
	}
	if n := len(p.Ordinals()); n%p.Parts() != 0 {
		return fmt.Errorf("%d devices do not hold replicas of %d partitions", n, p.Parts())
	}
	return nil
}

func newBuffer(b Backend, v Value) *Buffer {
	v.Donor = false
	return &Buffer{backend: b, value: v, ready: make(chan struct{})}
}

// set makes the buffer ready. The buffer owns m from then on.
func (b *Buffer) set(m Memory, err error) {
	b.change(func() { b.memory, b.err = m, err })
	close(b.ready)
}

// change changes the buffer, and releases its memory if no run or reader needs it any more.
func (b *Buffer) change(f func()) {
	b.mu.Lock()
	f()
	var unused Memory
	if b.users == 0 && b.state != bufferLive {
		unused, b.memory = b.memory, nil
	}
	b.mu.Unlock()
	if unused != nil {
		unused.Release()
	}
}

// Type returns the element type and shape of the whole value. A dimension that is not known before the run has ended
// is negative until then.
func (b *Buffer) Type() hook.TensorType {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.value.Type
}

// Placement returns the devices of the value and its partitioning.
func (b *Buffer) Placement() Placement { return b.value.Place }

// Backend returns the backend whose devices hold the value.
func (b *Buffer) Backend() Backend { return b.backend }

// Wait returns when the value is computed, with the error of the run that should have computed it, or when ctx ends.
func (b *Buffer) Wait(ctx context.Context) error {
	if err := await(ctx, b.ready); err != nil {
		return err
	}
	b.mu.Lock()
	err := b.err
	b.mu.Unlock()
	if err != nil {
		return err
	}
	if _, err := b.hold(false); err != nil {
		return nil // the memory is gone
	}
	defer b.free()
	return b.memory.Wait()
}

// await waits until done is closed, or returns the reason of ctx if that ends first.
func await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// hold keeps the memory until free is called. If donate is set, further calls of hold fail. shared reports whether
// another run or reader uses the memory.
func (b *Buffer) hold(donate bool) (shared bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch b.state {
	case bufferDonated:
		return false, ErrDonated
	case bufferClosed:
		return false, ErrClosed
	}
	shared = b.users > 0
	b.users++
	if donate {
		b.state = bufferDonated
	}
	return shared, nil
}

func (b *Buffer) free() { b.change(func() { b.users-- }) }

// undonate reverses the donation of a run that did not start.
func (b *Buffer) undonate() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state == bufferDonated {
		b.state = bufferLive
	}
}

// View calls f with the value, without a copy if the host can read the devices' memory. f must not change the tensor or
// keep it.
func (b *Buffer) View(ctx context.Context, f func(*tensor.Tensor) error) error {
	return b.read(ctx, func(m Memory) error { return m.View(f) })
}

// Get returns a copy of the value.
func (b *Buffer) Get(ctx context.Context) (t *tensor.Tensor, err error) {
	err = b.read(ctx, func(m Memory) error {
		t, err = m.Read()
		return err
	})
	return t, err
}

func (b *Buffer) read(ctx context.Context, f func(Memory) error) error {
	if _, err := b.hold(false); err != nil {
		return err
	}
	defer b.free()
	if err := b.Wait(ctx); err != nil {
		return err
	}
	return f(b.memory) // hold keeps it
}

// Copier is a Backend that copies values between its devices without the host.
type Copier interface {
	Backend
	// CopyMemory copies a value of the backend to devices. Callers use Buffer.CopyTo.
	CopyMemory(ctx context.Context, m Memory, place Placement) (Memory, error)
}

// CopyTo copies the value to other devices of its backend, through the host if the backend needs it. Both buffers are
// to be closed.
func (b *Buffer) CopyTo(ctx context.Context, place Placement) (*Buffer, error) {
	if err := place.check(); err != nil {
		return nil, err
	}
	var to *Buffer
	err := b.read(ctx, func(m Memory) error {
		var copied Memory
		if c, ok := b.backend.(Copier); ok {
			var err error
			if copied, err = c.CopyMemory(ctx, m, place); err != nil {
				return err
			}
		} else {
			t, err := m.Read()
			if err != nil {
				return err
			}
			if copied, err = b.backend.Upload(ctx, t, place); err != nil {
				return err
			}
		}
		to = newBuffer(b.backend, Value{Type: b.Type(), Place: place})
		to.set(copied, nil)
		return nil
	})
	return to, err
}

// Close frees the memory after the runs that use it. It may be called again and after a donation.
func (b *Buffer) Close() {
	b.change(func() {
		if b.state == bufferLive {
			b.state = bufferClosed
		}
	})
}
