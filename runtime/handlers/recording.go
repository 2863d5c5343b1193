package handlers

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hlocb/hlocb/dialect/hlocb"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// RecordingVersion is the version of recordings that this package reads and writes.
const RecordingVersion = 1

// A Recording is a file of JSON lines: a header, an event per line as Record writes them with the results that the
// handler gave and the time since the run began, and the program's results.
//
//	{"recording":1,"module":"SHA-256 of the module's text","backend":"...","args":[...]}
//	{"seq":0,...,"operands":[...],"results":[...],"ns":81250}
//	{"outputs":[...]}
type Recording struct {
	*Record
	start time.Time
}

// Header is the first line of a recording.
type Header struct {
	Version int    `json:"recording"`
	Module  string `json:"module"`  // SHA-256 of the rewritten module's text, hexadecimal
	Backend string `json:"backend"` // as it describes itself
}

// NewRecording begins a recording of a run with the given arguments.
func NewRecording(w io.Writer, h Header, args []*tensor.Tensor) (*Recording, error) {
	r := &Recording{Record: NewRecord(w), start: time.Now()}
	r.Record.start = r.start
	b := fmt.Appendf(nil, `{"recording":%d`, RecordingVersion)
	b = appendJSONString(append(b, `,"module":`...), h.Module)
	b = appendJSONString(append(b, `,"backend":`...), h.Backend)
	b = appendTensors(append(b, `,"args":`...), args)
	_, err := r.w.Write(append(b, "}\n"...))
	return r, err
}

// Bind makes r record every hook of b, with what answers it. It is to be called after the other bindings.
func (r *Recording) Bind(b *runtime.Bindings) { b.Wrap("*", r.Answers) }

// End writes the program's results.
func (r *Recording) End(results []*tensor.Tensor) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := appendTensors([]byte(`{"outputs":`), results)
	_, err := r.w.Write(append(b, "}\n"...))
	return err
}

func appendTensors(b []byte, list []*tensor.Tensor) []byte {
	b = append(b, '[')
	for i, t := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = t.AppendJSON(b)
	}
	return append(b, ']')
}

// Recorded is a recording that was read. Files of Record, without header and results, can be read too.
type Recorded struct {
	Header  Header
	Args    []*tensor.Tensor
	Events  []RecordedEvent
	Outputs []*tensor.Tensor
	Ended   bool // the recording holds the program's results
}

// RecordedEvent is one event.
type RecordedEvent struct {
	Seq, Run           int64
	Device             int
	Replica, Partition int
	Hook               string
	ID                 hlocb.ID
	Kind               hlocb.Kind
	Loc                string
	Operands, Results  []*tensor.Tensor
	Time               time.Duration // since the run began; 0 where not recorded
}

// ReadRecording reads a recording or a file of events.
func ReadRecording(r io.Reader) (*Recorded, error) {
	out := &Recorded{}
	in := bufio.NewReaderSize(r, 1<<16)
	for line := 1; ; line++ {
		text, err := in.ReadBytes('\n')
		if len(text) > 1 {
			if err := out.line(text, line); err != nil {
				return nil, fmt.Errorf("line %d: %w", line, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (r *Recorded) line(text []byte, number int) error {
	var l struct {
		Header
		Args, Outputs      []json.RawMessage
		Seq, Run, NS       int64
		Device             int
		Replica, Partition int
		Hook, Loc          string
		ID                 *hlocb.ID
		Kind               hlocb.Kind
		Operands, Results  []json.RawMessage
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	var err error
	switch {
	case l.Version != 0:
		if number != 1 {
			return errors.New("header inside of the recording")
		}
		if l.Version != RecordingVersion {
			return fmt.Errorf("recording of version %d, this program reads version %d", l.Version, RecordingVersion)
		}
		r.Header = l.Header
		r.Args, err = readTensors(l.Args)
	case l.Outputs != nil:
		r.Ended = true
		r.Outputs, err = readTensors(l.Outputs)
	case l.ID == nil:
		return errors.New("neither a header nor an event nor results")
	default:
		e := RecordedEvent{Seq: l.Seq, Run: l.Run, Device: l.Device, Replica: l.Replica, Partition: l.Partition, Hook: l.Hook, ID: *l.ID,
			Kind: l.Kind, Loc: l.Loc, Time: time.Duration(l.NS)}
		if e.Operands, err = readTensors(l.Operands); err == nil {
			e.Results, err = readTensors(l.Results)
		}
		r.Events = append(r.Events, e)
	}
	return err
}

func readTensors(list []json.RawMessage) ([]*tensor.Tensor, error) {
	out := make([]*tensor.Tensor, len(list))
	for i, raw := range list {
		var err error
		if out[i], err = tensor.FromJSON(raw); err != nil {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
	}
	return out, nil
}
