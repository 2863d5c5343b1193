package handlers

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/tensorio"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// Record writes each event as one line of JSON, here broken in two:
//
//	{"seq":0,"run":1,"device":0,"replica":0,"partition":0,"hook":"loss","id":"4d65822107fcfd52","kind":"tap",
//	 "loc":"\"train.py\":12:3","operands":[{"dtype":"f32","shape":[2],"data":[0.5,"nan"]}]}
//
// seq counts per run and device. The lines of one device are in order. Record is safe for concurrent devices. Close
// flushes; call it after a failed run too.
//
// With SetData, large values go to another file as raw bytes, at the disk's speed. "at", the position of the first
// byte, then replaces "data".
type Record struct {
	mu     sync.Mutex
	w      *bufio.Writer
	c      io.Closer
	data   *dataFile // nil if all values are text
	buf    []byte
	closed bool
	start  time.Time             // of the run; zero if events have no time since it
	origin []byte                // see SetProcess
	fixed  map[*hook.Site][]byte // the part that all events of a site share
}

// NewRecord returns a handler that writes to w through a buffer. Close closes w if it is an io.Closer.
func NewRecord(w io.Writer) *Record {
	r := &Record{w: bufio.NewWriterSize(w, 1<<18), fixed: map[*hook.Site][]byte{}}
	r.c, _ = w.(io.Closer)
	return r
}

// DataSuffix follows a recording's name in the name of its file of large values.
const DataSuffix = ".data"

// RawBytes is the default size in bytes from which 'hlocb record' writes values as raw bytes.
const RawBytes = 4096

// SetData makes r write values of at least atLeast bytes to w, row-major and little-endian, one after the other. Call
// it before the first event. Close closes w if it is an io.Closer.
func (r *Record) SetData(w io.Writer, atLeast int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.data = &dataFile{w: bufio.NewWriterSize(w, 1<<18), atLeast: atLeast, sum: sha256.New()}
	r.data.c, _ = w.(io.Closer)
}

// SetProcess adds a name of this process and the time to each event: "process" and "time", in nanoseconds since 1970.
// Call it before the first event.
func (r *Record) SetProcess(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.origin = append(appendJSONString([]byte(`,"process":`), name), `,"time":`...)
}

// dataFile is the file of large values.
type dataFile struct {
	w       *bufio.Writer
	c       io.Closer
	at      int64 // bytes written
	atLeast int
	err     error // the first error of a write
	sum     hash.Hash
}

// appendValue appends a value as JSON, with its elements or the position of its bytes.
func (r *Record) appendValue(b []byte, t *tensor.Tensor) []byte {
	d := r.data
	if d == nil || len(t.Peek()) < max(d.atLeast, 1) {
		return tensorio.AppendJSON(b, t)
	}
	b = strconv.AppendInt(append(tensorio.AppendJSONType(b, t), `,"at":`...), d.at, 10)
	if d.err == nil {
		_, d.err = d.w.Write(t.Peek())
		d.sum.Write(t.Peek())
	}
	d.at += int64(len(t.Peek()))
	return append(b, '}')
}

func (r *Record) appendValues(b []byte, list []*tensor.Tensor) []byte {
	b = append(b, '[')
	for i, t := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = r.appendValue(b, t)
	}
	return append(b, ']')
}

// flush writes the buffers. It writes the values first, so that lines never refer to missing values.
func (r *Record) flush() error {
	if d := r.data; d != nil {
		if err := errors.Join(d.err, d.w.Flush()); err != nil {
			return err
		}
	}
	return r.w.Flush()
}

func newRecord(args string, env *Env) (runtime.Handler, error) {
	raw, name := 0, args
	if rest, ok := strings.CutPrefix(args, "raw="); ok {
		size, file, _ := strings.Cut(rest, ",")
		n, err := strconv.Atoi(size)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("raw=%s: expected a positive number of bytes", size)
		}
		raw, name = n, file
	}
	if name == "" {
		return nil, errors.New("needs a file: record:FILE")
	}
	return CreateRecord(name, raw, env)
}

// CreateRecord returns a handler that writes to a new file. If raw is not 0, values of at least raw bytes go to a
// second file, with DataSuffix after its name.
func CreateRecord(name string, raw int, env *Env) (*Record, error) {
	if env.Create == nil {
		return nil, errors.New("no files can be created here")
	}
	f, err := env.Create(name)
	if err != nil {
		return nil, err
	}
	r := NewRecord(f)
	if raw == 0 {
		return r, nil
	}
	if name == "-" {
		return nil, errors.New("raw values need a second file, which standard output lacks")
	}
	data, err := env.Create(name + DataSuffix)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.SetData(data, raw)
	return r, nil
}

// Handle writes one event.
func (r *Record) Handle(_ context.Context, c *runtime.Call) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.write(c, false)
}

// write appends the event of c, with its results if results is set.
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
	b = r.appendValues(b, c.Operands)
	if results {
		b = r.appendValues(append(b, `,"results":`...), c.Results)
	}
	if !r.start.IsZero() {
		b = strconv.AppendInt(append(b, `,"ns":`...), int64(time.Since(r.start)), 10)
	}
	if r.origin != nil {
		b = strconv.AppendInt(append(b, r.origin...), time.Now().UnixNano(), 10)
	}
	b = append(b, '}', '\n')
	r.buf = b
	if r.data != nil && r.data.err != nil {
		return r.data.err
	}
	_, err := r.w.Write(b)
	return err
}

func appendSite(b []byte, s *hook.Site) []byte {
	b = appendJSONString(append(b, `,"hook":`...), s.Name)
	b = appendJSONString(append(b, `,"id":`...), s.ID.String())
	b = appendJSONString(append(b, `,"kind":`...), s.Kind.String())
	b = appendPlace(b, s)
	for _, name := range []string{hook.AttrProbe, hook.AttrOf} {
		if text, err := strconv.Unquote(s.Attrs[name]); err == nil {
			b = append(append(append(b, ',', '"'), name...), '"', ':')
			b = appendJSONString(b, text)
		}
	}
	return append(b, `,"operands":`...)
}

// appendPlace appends the location of a hook, and the function and the kind of callback that it names.
func appendPlace(b []byte, s *hook.Site) []byte {
	b = appendJSONString(append(b, `,"loc":`...), s.Loc)
	if p, ok := hook.PlaceOf(s.Loc); ok && p.File != "" {
		b = appendJSONString(append(b, `,"place":`...), p.Position())
	}
	if s.Function != "" {
		b = appendJSONString(append(b, `,"function":`...), s.Function)
	}
	if s.Callback != "" {
		b = appendJSONString(append(b, `,"callback":`...), s.Callback)
	}
	return b
}

// appendJSONString appends s as JSON. Characters that do not print (control characters, including Unicode's, and
// marks that change the direction of text) become escapes, so a terminal can show a recording.
func appendJSONString(b []byte, s string) []byte {
	var w strings.Builder
	e := json.NewEncoder(&w)
	e.SetEscapeHTML(false)
	e.Encode(s) // a string never fails to encode
	return appendPrintable(b, strings.TrimSuffix(w.String(), "\n"))
}

// appendPrintable appends JSON with escapes for the characters that do not print.
func appendPrintable(b []byte, s string) []byte {
	for _, r := range s {
		switch {
		case unicode.IsPrint(r):
			b = utf8.AppendRune(b, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return b
}

// Flush writes the buffered data.
func (r *Record) Flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.flush()
}

// Close flushes and closes the file. The handler refuses later events.
func (r *Record) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	err := r.flush()
	if r.data != nil && r.data.c != nil {
		err = errors.Join(err, r.data.c.Close())
	}
	if r.c != nil {
		err = errors.Join(err, r.c.Close())
	}
	return err
}

// wrapped is a responder inside another handler, or nil for a hook without one.
type wrapped struct{ responder runtime.Handler }

// MemoryUse adds row-major host views to the responder's memory use.
func (w wrapped) MemoryUse() runtime.MemoryUse {
	use := runtime.UseOf(w.responder)
	use.HostViews, use.Layouts = true, false
	return use
}

// call calls the responder. It refuses a responder whose results the host cannot see.
func (w wrapped) call(ctx context.Context, c *runtime.Call) error {
	if w.responder == nil {
		return nil
	}
	if use := runtime.UseOf(w.responder); use.DevicePointers && !use.HostViews {
		return errors.New("a handler with only device pointers can neither be recorded nor fail by injection: the host does not see its results")
	}
	plain := *c
	plain.Remote = nil // the results are to be seen here
	return runtime.Handle(ctx, w.responder, &plain)
}

// Answers returns a handler that calls inner and then records the call with its results. inner may be nil for hooks
// without a responder.
func (r *Record) Answers(inner runtime.Handler) runtime.Handler {
	return &recordingHandler{wrapped{inner}, r}
}

// recordingHandler is a handler whose calls are recorded.
type recordingHandler struct {
	wrapped
	to *Record
}

// Handle calls the handler and records the call.
func (h *recordingHandler) Handle(ctx context.Context, c *runtime.Call) error {
	// The results of an inout hook overwrite its operands, so copy the operands before the call.
	before := *c
	if c.Site.Kind == hook.InOut && h.responder != nil {
		before.Operands = nil
		for _, t := range c.Operands {
			before.Operands = append(before.Operands, t.Clone())
		}
	}
	if err := h.call(ctx, c); err != nil {
		return err
	}
	h.to.mu.Lock()
	defer h.to.mu.Unlock()
	return h.to.write(&before, true)
}
