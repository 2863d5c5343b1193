//go:build cgo

package pjrt

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
)

// liveRuns finds the session of a running program by its launch id, without a lock. The C handler has no user data,
// so the table is global. A launch id consists of the number of a slot and a count of the slot's uses, so a late call
// of an ended run finds nothing.
var liveRuns struct {
	mu    sync.Mutex
	free  []uint16
	used  int
	slots [slotCount]slot
}

const (
	slotBits  = 16
	slotCount = 1 << slotBits
)

type slot struct {
	session atomic.Pointer[session]
	times   uint16 // guarded by liveRuns.mu
}

// errTooManyRuns says that the table of live runs is full.
var errTooManyRuns = errors.New("more than 65535 programs are running at once")

// enter assigns a launch id to the session.
func enter(s *session) error {
	liveRuns.mu.Lock()
	defer liveRuns.mu.Unlock()
	var n uint16
	if len(liveRuns.free) > 0 {
		n = liveRuns.free[len(liveRuns.free)-1]
		liveRuns.free = liveRuns.free[:len(liveRuns.free)-1]
	} else {
		if liveRuns.used == slotCount-1 {
			return errTooManyRuns
		}
		liveRuns.used++
		n = uint16(liveRuns.used) // slot 0 is never used: launch id 0 means unset
	}
	slot := &liveRuns.slots[n]
	slot.times = (slot.times + 1) & 0x7fff
	s.launchID = int32(slot.times)<<slotBits | int32(n)
	slot.session.Store(s)
	return nil
}

// leave releases the launch id. Hooks that still arrive with it find no session.
func leave(s *session) {
	for i := range s.devices {
		s.devices[i].keep(nil, nil)
	}
	n := uint16(s.launchID)
	liveRuns.slots[n].session.Store(nil)
	liveRuns.mu.Lock()
	defer liveRuns.mu.Unlock()
	liveRuns.free = append(liveRuns.free, n)
}

// find returns the session with the launch id, or nil.
func find(launchID int64) *session {
	s := liveRuns.slots[uint16(launchID)].session.Load()
	if s == nil || int64(s.launchID) != launchID {
		return nil
	}
	return s
}

// session receives the hooks of one run.
type session struct {
	launchID int32
	number   int64 // counts the executable's runs
	program  string
	level    int // number of handlers around the run
	ctx      context.Context
	sites    *siteTable
	devices  []deviceState
	position []int32 // of a device ordinal in devices; nil is the identity
	parts    int     // partitions per replica
	several  bool    // it runs on more than one device
	timeout  time.Duration
	stopped  atomic.Bool
	failures []atomic.Pointer[failure] // the first of each device
	cause    atomic.Pointer[failure]   // why the run was cancelled; a hook's failure takes precedence
	race     *race                     // of the attempts of a reentrant run; nil otherwise
	failed   func(error)               // of an interposed program: receives the failure
	memory   DeviceMemory              // of the devices
	anywhere bool                      // the run has one device, of any ordinal

	spare bool // the attempt runs on the spare client

	ended, abandoned bool // guarded by the backend's mu: the program has ended; its caller has returned
}

// newSession creates the session of a run on some devices. A replica has parts devices.
func newSession(ctx context.Context, sites *siteTable, devices, parts int) *session {
	return &session{ctx: ctx, sites: sites, memory: hostMemory{}, parts: parts, several: devices > 1, devices: make([]deviceState, devices), failures: make([]atomic.Pointer[failure], devices)}
}

// deviceState counts the hooks of a device. It fills a cache line.
type deviceState struct {
	seq      atomic.Int64 // hooks that arrived
	finished atomic.Int64 // hooks whose handlers have ended
	// The call of the last hook that was alone on the device, and its site. A hook that is alone owns them.
	call *call
	site atomic.Pointer[site]
	_    [32]byte
}

// keep replaces the device's call. The former call returns to its site.
func (d *deviceState) keep(s *site, c *call) {
	if d.call != nil {
		d.site.Load().calls.Put(d.call)
	}
	d.call = c
	d.site.Store(s)
}

type failure struct{ err error }

// fail records the first failure of a device and stops the hooks of the whole run.
func (s *session) fail(device int, err error) {
	s.failures[device].CompareAndSwap(nil, &failure{err})
	s.stopped.Store(true)
}

// cancel makes the run's next hook fail. A running hook with a time limit ends through the run's context.
func (s *session) cancel(cause error) {
	s.cause.CompareAndSwap(nil, &failure{cause})
	s.stopped.Store(true)
}

// err returns the failure to report: the failure of the first device that failed, or else the cause of the
// cancellation.
func (s *session) err() error {
	if !s.stopped.Load() {
		return nil
	}
	for i := range s.failures {
		if f := s.failures[i].Load(); f != nil {
			return f.err
		}
	}
	if f := s.cause.Load(); f != nil {
		return f.err
	}
	return nil
}

// siteTable finds a hook by its id: a hash table with linear probing. Ids are bits of a SHA-256 and need no other hash.
type siteTable struct {
	mask    uint64
	entries []*site
	all     []*site
}

// site is a hook of an executable with its handlers.
type site struct {
	id       uint64
	chained  bool
	overlaps bool // results of a call lie in the memory of its operands
	kind     hook.Kind
	bound    runtime.Bound
	use      runtime.MemoryUse
	sized    [][2]int  // operand and dimension of each size that the program sets
	calls    sync.Pool // of *call
}

func newSiteTable(bound []runtime.Bound) *siteTable {
	size := uint64(4)
	for size < 2*uint64(len(bound)) {
		size *= 2
	}
	t := &siteTable{mask: size - 1, entries: make([]*site, size)}
	for _, b := range bound {
		h := b.Site()
		s := &site{id: uint64(h.ID), chained: h.Chained, kind: h.Kind, bound: b, use: b.Use()}
		for _, operand := range h.Aliases {
			s.overlaps = s.overlaps || operand >= 0 && s.kind == hook.Call
		}
		for i, t := range h.Operands {
			for k, d := range t.Shape {
				if d < 0 {
					s.sized = append(s.sized, [2]int{i, k})
				}
			}
		}
		if len(s.sized) > 0 {
			s.use.HostViews = true // to leave out what is beyond the sizes
		}
		s.calls.New = func() any { return newCall(s) }
		t.all = append(t.all, s)
		at := s.id & t.mask
		for t.entries[at] != nil {
			at = (at + 1) & t.mask
		}
		t.entries[at] = s
	}
	return t
}

func (t *siteTable) find(id uint64) *site {
	for at := id & t.mask; ; at = (at + 1) & t.mask {
		if s := t.entries[at]; s == nil || s.id == id {
			return s
		}
	}
}
