package handlers

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/tensorio"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// RecordingVersion is the version of recordings that this package writes. It also reads version 2, whose header has no
// hooks, and version 1, which has no file of large values.
const RecordingVersion = 3

// Recorder writes a recording, a file of JSON lines: a header, an event per line as Record writes them with the
// handler's results and the time since the run started, and the program's results.
//
//	{"recording":3,"module":"SHA-256 of the module's text","backend":"...","start":NS,"manifest":{"hooks":[...],"order":[...]},"args":[...]}
//	{"seq":0,...,"operands":[...],"results":[...],"ns":81250}
//	{"outputs":[...],"data":{"size":40000,"sha256":"..."}}
//
// Another file holds large values, see Record. The last line has its size and its SHA-256, in hexadecimal.
type Recorder struct{ *Record }

// Header is the first line of a recording.
type Header struct {
	Version  int            `json:"recording"`
	Module   string         `json:"module"`   // SHA-256 of the rewritten module's text, hexadecimal
	Backend  string         `json:"backend"`  // the backend's description
	Start    int64          `json:"start"`    // when the run started, in nanoseconds since 1970; 0 is unknown
	Manifest *hook.Manifest `json:"manifest"` // the program's hooks; nil in recordings before version 3
}

// NewRecorder starts a recording of a run with the given arguments, in a new handler.
func NewRecorder(to *Record, h Header, args []*tensor.Tensor) (*Recorder, error) {
	r := &Recorder{to}
	r.start = time.Now()
	b := fmt.Appendf(nil, `{"recording":%d`, RecordingVersion)
	b = appendJSONString(append(b, `,"module":`...), h.Module)
	b = appendJSONString(append(b, `,"backend":`...), h.Backend)
	b = strconv.AppendInt(append(b, `,"start":`...), r.start.UnixNano(), 10)
	if h.Manifest != nil {
		manifest, err := json.Marshal(h.Manifest)
		if err != nil {
			return nil, err
		}
		b = appendPrintable(append(b, `,"manifest":`...), string(manifest))
	}
	b = r.appendValues(append(b, `,"args":`...), args)
	_, err := r.w.Write(append(b, "}\n"...))
	return r, err
}

// Bind makes r record every hook of b with its answers. Call it after the other bindings.
func (r *Recorder) Bind(b *runtime.Bindings) { b.Wrap("*", r.Answers) }

// End writes the program's results.
func (r *Recorder) End(results []*tensor.Tensor) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.appendValues([]byte(`{"outputs":`), results)
	if d := r.data; d != nil && d.at > 0 {
		b = fmt.Appendf(b, `,"data":{"size":%d,"sha256":"%x"}`, d.at, d.sum.Sum(nil))
	}
	_, err := r.w.Write(append(b, "}\n"...))
	return err
}

// Recording is a recording that was read, or a file of events without header and results.
type Recording struct {
	Header  Header
	Args    []*tensor.Tensor
	Events  []Event
	Outputs []*tensor.Tensor
	Ended   bool // the recording holds the program's results

	data io.ReaderAt
	sum  *dataSum
}

// dataSum describes the file of large values in the last line of a recording.
type dataSum struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// check reports whether data is the file of large values.
func (s *dataSum) check(data io.ReaderAt) error {
	if s == nil {
		return nil
	}
	if data == nil {
		return fmt.Errorf("the recording's file of large values is missing: its name ends in %s", DataSuffix)
	}
	sum := sha256.New()
	n, err := io.Copy(sum, io.NewSectionReader(data, 0, s.Size+1))
	if err == nil && (n != s.Size || hex.EncodeToString(sum.Sum(nil)) != s.SHA256) {
		err = errors.New("the file of large values is not of this recording: its size or SHA-256 differs")
	}
	return err
}

// Event is one event.
type Event struct {
	Seq, Run           int64
	Device             int
	Replica, Partition int
	Hook               string
	ID                 hook.ID
	Kind               hook.Kind
	Loc                string
	Operands, Results  []*tensor.Tensor
	Time               time.Duration // since the run started; 0 if not recorded
}

// ReadRecording reads a recording or a file of events. Large values come from data, which may be nil if there are none.
func ReadRecording(r io.Reader, data io.ReaderAt) (*Recording, error) {
	out := &Recording{data: data}
	in := bufio.NewReaderSize(r, 1<<16)
	for line := 1; ; line++ {
		text, err := in.ReadBytes('\n')
		if len(text) > 1 {
			if err := out.line(text, line); err != nil {
				return nil, fmt.Errorf("line %d: %w", line, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return out, out.sum.check(data)
		}
		if err != nil {
			return nil, err
		}
	}
}

func (r *Recording) line(text []byte, number int) error {
	var l struct {
		Header
		Args, Outputs      []json.RawMessage
		Seq, Run, NS       int64
		Device             int
		Replica, Partition int
		Hook, Loc          string
		ID                 *hook.ID
		Kind               hook.Kind
		Operands, Results  []json.RawMessage
		Data               *dataSum
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return fmt.Errorf("a recording consists of lines of JSON: %w", err)
	}
	var err error
	switch {
	case l.Version != 0:
		if number != 1 {
			return errors.New("header inside of the recording")
		}
		if l.Version < 1 || l.Version > RecordingVersion {
			return fmt.Errorf("recording of version %d, this program reads versions 1 to %d", l.Version, RecordingVersion)
		}
		r.Header = l.Header
		r.Args, err = r.readTensors(l.Args)
	case l.Outputs != nil:
		r.Ended, r.sum = true, l.Data
		r.Outputs, err = r.readTensors(l.Outputs)
	case l.ID == nil:
		return errors.New("neither a header nor an event nor results")
	default:
		e := Event{Seq: l.Seq, Run: l.Run, Device: l.Device, Replica: l.Replica, Partition: l.Partition, Hook: l.Hook, ID: *l.ID,
			Kind: l.Kind, Loc: l.Loc, Time: time.Duration(l.NS)}
		if e.Operands, err = r.readTensors(l.Operands); err == nil {
			e.Results, err = r.readTensors(l.Results)
		}
		r.Events = append(r.Events, e)
	}
	return err
}

// Sites returns the hooks of the recording: the hooks of its header, and the hooks that only events mention. The
// function of returns the hook of an event.
func (r *Recording) Sites() (all []*hook.Site, of func(*Event) *hook.Site) {
	type key struct {
		id   hook.ID
		name string
	}
	known := map[key]*hook.Site{}
	add := func(s *hook.Site) {
		if k := (key{s.ID, s.Name}); known[k] == nil {
			known[k] = s
			all = append(all, s)
		}
	}
	if m := r.Header.Manifest; m != nil {
		for i := range m.Sites {
			add(&m.Sites[i])
		}
	}
	for i := range r.Events {
		e := &r.Events[i]
		add(&hook.Site{ID: e.ID, Name: e.Hook, Kind: e.Kind, Loc: e.Loc})
	}
	return all, func(e *Event) *hook.Site { return known[key{e.ID, e.Hook}] }
}

func (r *Recording) readTensors(list []json.RawMessage) ([]*tensor.Tensor, error) {
	out := make([]*tensor.Tensor, len(list))
	for i, raw := range list {
		var err error
		if out[i], err = r.readTensor(raw); err != nil {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
	}
	return out, nil
}

// readTensor reads a value, from the file of large values if the line refers to it.
func (r *Recording) readTensor(raw json.RawMessage) (*tensor.Tensor, error) {
	var v struct {
		DType string       `json:"dtype"`
		Shape tensor.Shape `json:"shape"`
		At    *int64       `json:"at"`
	}
	// Do not parse large values in text form twice: look for "at" only near the beginning.
	if bytes.Contains(raw[:min(len(raw), 4096)], []byte(`"data"`)) {
		return tensorio.FromJSON(raw)
	}
	if err := json.Unmarshal(raw, &v); err != nil || v.At == nil {
		return tensorio.FromJSON(raw)
	}
	d, ok := tensor.ParseDType(v.DType)
	if !ok {
		return nil, fmt.Errorf("unknown element type %q", v.DType)
	}
	if r.data == nil {
		return nil, fmt.Errorf("the recording's file of large values is missing: its name ends in %s", DataSuffix)
	}
	if v.Shape == nil {
		v.Shape = tensor.Shape{}
	}
	n := v.Shape.NumElements()
	if n < 0 || *v.At < 0 || n > math.MaxInt64/16-*v.At {
		return nil, fmt.Errorf("shape %v at %d is not a value", []int64(v.Shape), *v.At)
	}
	// Read the last byte first: a line with a wrong shape then allocates no memory.
	size := n * int64(d.Size())
	var last [1]byte
	if size > 0 {
		if _, err := r.data.ReadAt(last[:], *v.At+size-1); err != nil {
			return nil, fmt.Errorf("the file of large values ends before byte %d", *v.At+size)
		}
	}
	t := tensor.New(d, v.Shape)
	if _, err := r.data.ReadAt(t.Bytes(), *v.At); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return t, nil
}
