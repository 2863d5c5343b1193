package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"strconv"
)

// Trace writes Chrome's Trace Event Format, which Perfetto and chrome://tracing show: an array with a complete event
// for each event of a hook. A device is a thread; the duration is the time in the hook's handlers.
type Trace struct {
	w       io.WriteCloser
	at      int64        // where the next event goes
	text    bytes.Buffer // since the last flush
	process string
	pids    map[string]int
	threads map[[2]int]bool
	begun   bool
}

// NewTrace returns a sink that writes to w. Close closes w.
func NewTrace(w io.WriteCloser, process string) *Trace {
	return &Trace{w: w, process: process, pids: map[string]int{process: os.Getpid()}, threads: map[[2]int]bool{}}
}

func (*Trace) timed() {}

// entry is an element of the array.
type entry struct {
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Phase    string         `json:"ph"`
	Time     float64        `json:"ts"`            // microseconds
	Duration *float64       `json:"dur,omitempty"` // microseconds
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Args     map[string]any `json:"args,omitempty"`
}

// Write implements Sink.
func (t *Trace) Write(e *Event) error {
	pid, known := t.pids[e.Process]
	if !known {
		pid = len(t.pids)
		t.pids[e.Process] = pid
	}
	if key := [2]int{pid, e.Device}; !t.threads[key] {
		t.threads[key] = true
		name := e.Process
		if name == "" {
			name = "hlocb"
		}
		meta := func(kind string, value any) error {
			return t.add(&entry{Name: kind, Phase: "M", Process: pid, Thread: e.Device, Args: map[string]any{"name": value}})
		}
		if err := errors.Join(meta("process_name", name), meta("thread_name", "device "+strconv.Itoa(e.Device))); err != nil {
			return err
		}
	}
	args := map[string]any{"run": e.Run, "seq": e.Seq, "step": e.Step, "id": e.ID}
	if at := e.location(); at != "" {
		args["location"] = at
	}
	for i := range e.Operands {
		args["operand "+strconv.Itoa(i)] = e.Operands[i].summary()
	}
	took := float64(e.Took) / 1e3
	return t.add(&entry{Name: e.Hook, Category: e.Kind, Phase: "X", Time: float64(e.Time) / 1e3, Duration: &took, Process: pid, Thread: e.Device, Args: args})
}

// summary returns a scalar, or the statistics of another value, as JSON writes them.
func (o *Operand) summary() any {
	if o.Scalar {
		return jsonNumber(o.Number)
	}
	return map[string]any{"type": o.DType.String() + shapeText(o.Shape), "min": jsonNumber(o.Min), "max": jsonNumber(o.Max), "mean": jsonNumber(o.Mean), "nan": o.NaN, "inf": o.Inf}
}

// jsonNumber returns v in the form of docs/events.md: JSON lacks NaN and the infinities.
func jsonNumber(v float64) any {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	}
	return v
}

func (t *Trace) add(x *entry) error {
	text, err := json.Marshal(x)
	if err != nil {
		return err
	}
	before := ",\n"
	if !t.begun {
		t.begun, before = true, "[\n"
	}
	t.text.WriteString(before)
	t.text.Write(text)
	return nil
}

// end closes the array.
func (t *Trace) end() string {
	if !t.begun {
		return "[]\n"
	}
	return "\n]\n"
}

// Flush implements Sink. The array of a file is closed after each flush; the next one opens it again.
func (t *Trace) Flush() error {
	text := t.text.Bytes()
	defer t.text.Reset()
	file, ok := t.w.(io.WriterAt)
	if !ok {
		_, err := t.w.Write(text)
		return err
	}
	_, err := file.WriteAt(append(text, t.end()...), t.at)
	t.at += int64(len(text))
	return err
}

// Close implements Sink.
func (t *Trace) Close() error {
	err := t.Flush()
	if _, ok := t.w.(io.WriterAt); !ok {
		_, end := io.WriteString(t.w, t.end())
		err = errors.Join(err, end)
	}
	return errors.Join(err, t.w.Close())
}
