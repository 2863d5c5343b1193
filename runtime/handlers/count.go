package handlers

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/runtime"
)

// Count counts the events of each hook. It is safe for concurrent devices.
type Count struct {
	w      io.Writer
	mu     sync.Mutex
	counts map[string]int64
}

// NewCount returns a counter. Close prints its counts to w, which may be nil.
func NewCount(w io.Writer) *Count { return &Count{w: w, counts: map[string]int64{}} }

func newCount(_ string, env *Env) (runtime.Handler, error) { return NewCount(env.Out), nil }

// MemoryUse implements runtime.MemoryUser: Count needs no value.
func (n *Count) MemoryUse() runtime.MemoryUse { return runtime.MemoryUse{} }

// Handle counts one event.
func (n *Count) Handle(_ context.Context, c *runtime.Call) error {
	n.mu.Lock()
	n.counts[c.Site.Name]++
	n.mu.Unlock()
	return nil
}

// Counts returns the number of events by hook.
func (n *Count) Counts() map[string]int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.counts)
}

// Close prints a line per hook, sorted by name.
func (n *Count) Close() error {
	if n.w == nil {
		return nil
	}
	counts := n.Counts()
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		events := "events"
		if counts[name] == 1 {
			events = "event"
		}
		if _, err := fmt.Fprintf(n.w, "%s: %d %s\n", diag.Escape(name), counts[name], events); err != nil {
			return err
		}
	}
	return nil
}
