package handlers

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hlocb/hlocb/dialect/hlocb"
	"github.com/hlocb/hlocb/runtime"
)

// Record writes each event as one line of JSON:
//
//	{"seq":0,"run":1,"device":0,"replica":0,"partition":0,"hook":"loss","id":"4d65822107fcfd52","kind":"tap",
//	 "loc":"\"train.py\":12:3","operands":[{"dtype":"f32","shape":[2],"data":[0.5,"nan"]}]}
//
// (without the line break). seq counts per run and device. The lines of one device are in order. It is safe for
// concurrent devices; Close flushes, and must be called after a failed run as well.
type Record struct {
	mu     sync.Mutex
	w      *bufio.Writer
	c      io.Closer
	buf    []byte
	closed bool
	start  time.Time              // of the run; zero where events get no time
	fixed  map[*hlocb.Site][]byte // what does not change between the events of a site
}

// NewRecord returns a handler that writes to w through a buffer. Close closes w where it is an io.Closer.
func NewRecord(w io.Writer) *Record {
	r := &Record{w: bufio.NewWriterSize(w, 1<<18), fixed: map[*hlocb.Site][]byte{}}
	r.c, _ = w.(io.Closer)
	return r
}

func newRecord(args string, env *Env) (runtime.Handler, error) {
	if args == "" {
		return nil, errors.New("needs a file: record:FILE")
	}
	if env.Create == nil {
		return nil, errors.New("no files can be created here")
	}
	f, err := env.Create(args)
	if err != nil {
		return nil, err
	}
	return NewRecord(f), nil
}

// Handle writes one event.
func (r *Record) Handle(_ context.Context, c *runtime.Call) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.write(c, false)
}

// write appends the event of c, with its results where results is set.
func (r *Record) write(c *runtime.Call, results bool) error {
	if r.closed {
		return errors.New("recording is closed")
	}
	fixed, ok := r.fixed[c.Site]
	if !ok {
		fixed = appendSite(nil, c.Site)
		r.fixed[c.Site] = fixed
	}
	b := append(r.buf[:0], `{"seq":`...)
	b = strconv.AppendInt(b, c.Seq, 10)
	b = append(b, `,"run":`...)
	b = strconv.AppendInt(b, c.Run, 10)
	b = append(b, `,"device":`...)
	b = strconv.AppendInt(b, int64(c.Device), 10)
	b = append(b, `,"replica":`...)
	b = strconv.AppendInt(b, int64(c.Replica), 10)
	b = append(b, `,"partition":`...)
	b = strconv.AppendInt(b, int64(c.Partition), 10)
	b = append(b, fixed...)
	for i, t := range c.Operands {
		if i > 0 {
			b = append(b, ',')
		}
		b = t.AppendJSON(b)
	}
	b = append(b, ']')
	if results {
		b = append(b, `,"results":[`...)
		for i, t := range c.Results {
			if i > 0 {
				b = append(b, ',')
			}
			b = t.AppendJSON(b)
		}
		b = append(b, ']')
	}
	if !r.start.IsZero() {
		b = strconv.AppendInt(append(b, `,"ns":`...), int64(time.Since(r.start)), 10)
	}
	b = append(b, '}', '\n')
	r.buf = b
	_, err := r.w.Write(b)
	return err
}

func appendSite(b []byte, s *hlocb.Site) []byte {
	b = appendJSONString(append(b, `,"hook":`...), s.Name)
	b = appendJSONString(append(b, `,"id":`...), s.ID.String())
	b = appendJSONString(append(b, `,"kind":`...), s.Kind.String())
	b = appendJSONString(append(b, `,"loc":`...), s.Loc)
	return append(b, `,"operands":[`...)
}

// appendJSONString appends s as JSON without the escapes that only HTML needs. Control characters are escaped,
// so that a recording may be shown on a terminal.
func appendJSONString(b []byte, s string) []byte {
	var w strings.Builder
	e := json.NewEncoder(&w)
	e.SetEscapeHTML(false)
	e.Encode(strings.ReplaceAll(s, "\x7f", "\uFFFD")) // a string never fails to encode
	return append(b, strings.TrimSuffix(w.String(), "\n")...)
}

// Flush writes what is buffered.
func (r *Record) Flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.w.Flush()
}

// Close flushes, and closes the file. Later events are refused.
func (r *Record) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	err := r.w.Flush()
	if r.c != nil {
		err = errors.Join(err, r.c.Close())
	}
	return err
}

// Answers returns a handler that lets inner answer and then records the call with the results it gave. inner may be nil
// for hooks that nobody answers.
func (r *Record) Answers(inner runtime.Handler) runtime.Handler {
	return runtime.HandlerFunc(func(ctx context.Context, c *runtime.Call) error {
		// An inout hook's operands are overwritten by its results, so the operands are copied before.
		before := *c
		if c.Site.Kind == hlocb.InOut && inner != nil {
			before.Operands = nil
			for _, t := range c.Operands {
				before.Operands = append(before.Operands, t.Clone())
			}
		}
		if inner != nil {
			if err := inner.Handle(ctx, c); err != nil {
				return err
			}
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.write(&before, true)
	})
}
