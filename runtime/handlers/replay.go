package handlers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// Replay answers each hook with the results that a recording holds for it, in the recording's order.
type Replay struct {
	mu      sync.Mutex
	answers map[replayKey][][]*tensor.Tensor
	next    map[replayKey]int
}

type replayKey struct {
	id     hook.ID
	device int
}

// NewReplay reads a recording with results, as 'hlocb record' writes it; see ReadRecording.
func NewReplay(r io.Reader, data io.ReaderAt) (*Replay, error) {
	recorded, err := ReadRecording(r, data)
	if err != nil {
		return nil, err
	}
	return recorded.Replay(), nil
}

// Replay returns a handler that answers with what was recorded.
func (r *Recorded) Replay() *Replay {
	p := &Replay{answers: map[replayKey][][]*tensor.Tensor{}, next: map[replayKey]int{}}
	for i := range r.Events {
		key := replayKey{r.Events[i].ID, r.Events[i].Device}
		p.answers[key] = append(p.answers[key], r.Events[i].Results)
	}
	return p
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

// Handle gives the next recorded results of the hook on this device.
func (p *Replay) Handle(_ context.Context, c *runtime.Call) error {
	key := replayKey{c.Site.ID, c.Device}
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
			return fmt.Errorf("result %d of the recording is %s, the hook's is %s", i, appendType(nil, values[i]), appendType(nil, r))
		}
	}
	for i := range c.Results {
		if err := c.SetResult(i, values[i]); err != nil {
			return err
		}
	}
	return nil
}
