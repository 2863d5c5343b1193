package events

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"strconv"
)

// Trace writes Chrome's Trace Event Format, which Perfetto and chrome://tracing show: an array with a complete event for
// each event of a hook. A device is a thread; the duration is the time in the hook's handlers.
type Trace struct {
	w       *bufio.Writer
	c       io.Closer
	process string
	pids    map[string]int
	threads map[[2]int]bool
	begun   bool
	buf     []byte
}

// NewTrace returns a sink that writes to w. Close closes w.
func NewTrace(w io.WriteCloser, process string) *Trace {
	return &Trace{w: bufio.NewWriterSize(w, 1<<16), c: w, process: process, pids: map[string]int{process: os.Getpid()}, threads: map[[2]int]bool{}}
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
	if _, err := t.w.WriteString(before); err != nil {
		return err
	}
	_, err = t.w.Write(text)
	return err
}

// Flush implements Sink. A file without its last bracket is valid, too.
func (t *Trace) Flush() error { return t.w.Flush() }

// Close implements Sink.
func (t *Trace) Close() error {
	end := "\n]\n"
	if !t.begun {
		end = "[]\n"
	}
	_, err := t.w.WriteString(end)
	return errors.Join(err, t.w.Flush(), t.c.Close())
}
