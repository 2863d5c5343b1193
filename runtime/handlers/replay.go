package handlers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/words"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// Replay answers each hook with the results that a recording holds for it, in the recording's order. It finds a hook by
// its id and its name, as hook.Index does. A tap or an inout hook that the recording does not have needs no answer.
type Replay struct {
	recorded []*hook.Site
	index    *hook.Index
	manifest bool // recorded lists all hooks, also those without events
	answers  map[replayKey][][]*tensor.Tensor

	mu   sync.Mutex
	next map[replayKey]int
}

// replayKey is a recorded hook on a device.
type replayKey struct {
	site   *hook.Site
	device int
}

// NewReplay reads a recording with results; see ReadRecording.
func NewReplay(r io.Reader, data io.ReaderAt) (*Replay, error) {
	recorded, err := ReadRecording(r, data)
	if err != nil {
		return nil, err
	}
	return recorded.Replay(), nil
}

// Replay returns a handler that answers with the recorded results.
func (r *Recording) Replay() *Replay {
	p := &Replay{answers: map[replayKey][][]*tensor.Tensor{}, next: map[replayKey]int{}, manifest: r.Header.Manifest != nil}
	all, of := r.Sites()
	p.recorded, p.index = all, hook.NewIndex(all)
	for i := range r.Events {
		e := &r.Events[i]
		key := replayKey{of(e), e.Device}
		p.answers[key] = append(p.answers[key], e.Results)
	}
	return p
}

// CheckSite implements runtime.SiteChecker. It refuses a hook that needs an answer and is not in the recording.
func (p *Replay) CheckSite(s *hook.Site) error {
	if p.index.Find(s) != nil || s.Kind == hook.Tap || s.Kind == hook.InOut || !p.manifest {
		return nil
	}
	var names []string
	for _, r := range p.recorded {
		names = append(names, strconv.Quote(r.Name))
	}
	return fmt.Errorf("the recording does not have it; it has %s", words.Shorten(strings.Join(names, ", "), maxErrorText))
}

func newReplay(args string, env *Env) (runtime.Handler, error) {
	if args == "" {
		return nil, errors.New("needs a file: replay:FILE")
	}
	if env.Open == nil {
		return nil, errors.New("no files can be opened here")
	}
	f, err := env.Open(args)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var data io.ReaderAt
	if d, err := env.Open(args + DataSuffix); err == nil {
		defer d.Close()
		data, _ = d.(io.ReaderAt)
	}
	p, err := NewReplay(f, data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", args, err)
	}
	return p, nil
}

// MemoryUse implements runtime.MemoryUser.
func (p *Replay) MemoryUse() runtime.MemoryUse { return runtime.MemoryUse{} }

// Handle writes the next recorded results of the hook on this device.
func (p *Replay) Handle(_ context.Context, c *runtime.Call) error {
	recorded := p.index.Find(c.Site)
	if recorded == nil && (c.Site.Kind == hook.Tap || c.Site.Kind == hook.InOut) {
		return nil // a new hook, whose results are its operands
	}
	key := replayKey{recorded, c.Device}
	p.mu.Lock()
	n := p.next[key]
	p.next[key]++
	all := p.answers[key]
	p.mu.Unlock()
	if n >= len(all) {
		return fmt.Errorf("the recording holds %d events of this hook, this is number %d", len(all), n+1)
	}
	values := all[n]
	if len(values) != len(c.Results) {
		return fmt.Errorf("the recording holds %d results for this event, the hook has %d", len(values), len(c.Results))
	}
	for i, r := range c.Results {
		if !sameType(values[i], r) {
			return fmt.Errorf("result %d of the recording is %s, the hook's is %s", i, hook.TypeOf(values[i]), hook.TypeOf(r))
		}
	}
	for i := range c.Results {
		if err := c.Return(i, values[i]); err != nil {
			return err
		}
	}
	return nil
}
