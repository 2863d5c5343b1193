package handlers_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
)

// files is a directory in memory.
type files map[string]*bytes.Buffer

type closed struct{ *bytes.Buffer }

func (closed) Close() error { return nil }

type reader struct{ *bytes.Reader }

func (reader) Close() error { return nil }

func (f files) env() *handlers.Env {
	return &handlers.Env{
		Create: func(name string) (io.WriteCloser, error) {
			f[name] = new(bytes.Buffer)
			return closed{f[name]}, nil
		},
		Open: func(name string) (io.ReadCloser, error) {
			if f[name] == nil {
				return nil, fmt.Errorf("%s is not there", name)
			}
			return reader{bytes.NewReader(f[name].Bytes())}, nil
		},
	}
}

// recordSome records three events of a hook that answers with twice the operand, and returns the operands.
func recordSome(t *testing.T, r *handlers.Record) []*tensor.Tensor {
	t.Helper()
	recording, err := handlers.NewRecorder(r, handlers.Header{Module: "abc", Backend: "none"}, []*tensor.Tensor{f32s(tensor.Shape{1000}, 7)})
	if err != nil {
		t.Fatal(err)
	}
	double := recording.Answers(runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		for i, v := range tensor.View[float32](c.Operands[0]) {
			tensor.View[float32](c.Results[0])[i] = 2 * v
		}
		return nil
	}))
	s := site("h", hook.Call)
	var operands []*tensor.Tensor
	for i, n := range []int64{3, 5000, 0} {
		x := tensor.New(tensor.F32, tensor.Shape{n})
		for k := range tensor.View[float32](x) {
			tensor.View[float32](x)[k] = float32(k) / 3
		}
		if n > 0 {
			tensor.View[float32](x)[0] = float32(math.Inf(1))
		}
		operands = append(operands, x)
		c := call(s, []*tensor.Tensor{x}, []*tensor.Tensor{tensor.New(tensor.F32, tensor.Shape{n})})
		c.Seq = int64(i)
		handle(t, double, c)
	}
	if err := recording.End([]*tensor.Tensor{f32s(tensor.Shape{2000}, 9)}); err != nil {
		t.Fatal(err)
	}
	if err := recording.Close(); err != nil {
		t.Fatal(err)
	}
	return operands
}

func sameValue(a, b *tensor.Tensor) bool {
	return a.DType() == b.DType() && a.Shape().Equal(b.Shape()) && bytes.Equal(a.Bytes(), b.Bytes())
}

// TestRawRecording: large values go to another file, bit by bit; they are read, replayed and compared like other
// values.
func TestRawRecording(t *testing.T) {
	dir := files{}
	r, err := handlers.CreateRecord("raw.jsonl", 4096, dir.env())
	if err != nil {
		t.Fatal(err)
	}
	operands := recordSome(t, r)
	text, err := handlers.CreateRecord("text.jsonl", 0, dir.env())
	if err != nil {
		t.Fatal(err)
	}
	recordSome(t, text)

	if got, want := dir["raw.jsonl.data"].Len(), 2*4*5000+4*2000; got != want { // args of 4000 bytes stay text
		t.Errorf("%d bytes are raw, expected %d", got, want)
	}
	if !bytes.Equal(dir["raw.jsonl.data"].Bytes()[:4*5000], operands[1].Bytes()) {
		t.Error("the large operand is not in the file of large values")
	}
	lines := strings.Split(dir["raw.jsonl"].String(), "\n")
	if !strings.Contains(lines[1], `"operands":[{"dtype":"f32","shape":[3],"data":["inf",`) || !strings.Contains(lines[2], `"operands":[{"dtype":"f32","shape":[5000],"at":0}],"results":[{"dtype":"f32","shape":[5000],"at":20000}]`) {
		t.Errorf("the lines are\n%.300s\n%.300s", lines[1], lines[2])
	}

	read := func(name string) *handlers.Recording {
		rec, err := handlers.ReadRecording(dir[name], nil)
		if data := dir[name+handlers.DataSuffix]; data != nil {
			rec, err = handlers.ReadRecording(bytes.NewReader([]byte(strings.Join(lines, "\n"))), bytes.NewReader(data.Bytes()))
		}
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	a, b := read("raw.jsonl"), read("text.jsonl")
	if len(a.Events) != 3 || !cmp.Equal(a.Events, b.Events, cmp.Comparer(sameValue), cmpopts.IgnoreFields(handlers.Event{}, "Time")) {
		t.Errorf("raw events and text differ: %d and %d events", len(a.Events), len(b.Events))
	}
	if !sameValue(a.Args[0], b.Args[0]) || len(a.Outputs) != 1 || !sameValue(a.Outputs[0], b.Outputs[0]) {
		t.Error("arguments or results differ")
	}

	dir["raw.jsonl"].WriteString(strings.Join(lines, "\n"))
	h := parse(t, "replay:raw.jsonl", dir.env())
	for i, x := range operands {
		out := tensor.New(tensor.F32, x.Shape())
		handle(t, h, call(site("h", hook.Call), []*tensor.Tensor{x}, []*tensor.Tensor{out}))
		for k, v := range tensor.View[float32](out) {
			if v != 2*tensor.View[float32](x)[k] {
				t.Fatalf("event %d element %d is %v", i, k, v)
			}
		}
	}

	// Broken files.
	line := lines[2] + "\n"
	for _, c := range []struct{ line, data, want string }{
		{line, "", "value 0: the file of large values ends before byte 20000"},
		{strings.ReplaceAll(line, `"at":0`, `"at":-1`), "x", "is not a value"},
		{strings.ReplaceAll(line, "[5000]", "[9000000000000000000,3]"), "x", "is not a value"},
		{strings.ReplaceAll(line, `"f32"`, `"f33"`), "x", `unknown element type "f33"`},
	} {
		_, err := handlers.ReadRecording(strings.NewReader(c.line), strings.NewReader(c.data))
		wantError(t, err, c.want)
	}
	_, err = handlers.ReadRecording(strings.NewReader(line), nil)
	wantError(t, err, "the recording's file of large values is missing: its name ends in .data")
	_, err = handlers.ReadRecording(strings.NewReader(`{"recording":4}`+"\n"), nil)
	wantError(t, err, "recording of version 4, this program reads versions 1 to 3")
	if _, err = handlers.ReadRecording(strings.NewReader(`{"recording":1,"module":"","backend":"","args":[{"dtype":"i1","shape":[],"data":[true]}]}`+"\n"), nil); err != nil {
		t.Error(err)
	}
	_, err = handlers.CreateRecord("-", 10, dir.env())
	wantError(t, err, "which standard output lacks")
}

// TestDataBelongsToItsRecording: a recording is read only with its own file of large values.
func TestDataBelongsToItsRecording(t *testing.T) {
	dir := files{}
	r, err := handlers.CreateRecord("a.jsonl", 4096, dir.env())
	if err != nil {
		t.Fatal(err)
	}
	recordSome(t, r)
	lines, data := dir["a.jsonl"].Bytes(), dir["a.jsonl.data"].Bytes()
	if _, err := handlers.ReadRecording(bytes.NewReader(lines), bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	other := bytes.Clone(data)
	other[len(other)/2] ^= 1
	for name, wrong := range map[string][]byte{"one bit": other, "shorter": data[:len(data)-1], "longer": append(bytes.Clone(data), 0)} {
		_, err := handlers.ReadRecording(bytes.NewReader(lines), bytes.NewReader(wrong))
		if err == nil || !strings.Contains(err.Error(), "the file of large values") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNamesOnTerminals: no character of a name can steer a terminal, and every name is read back as it was.
func TestNamesOnTerminals(t *testing.T) {
	name := "\u009b31m\x7f\u202eevil\u2066\x1b[0m\u00ad\U000e0001 ok é 损失"
	var out bytes.Buffer
	r := handlers.NewRecord(&out)
	handle(t, r, call(site(name, hook.Tap), nil, nil))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range strings.TrimSuffix(out.String(), "\n") {
		if !unicode.IsPrint(c) {
			t.Errorf("the event holds %U", c)
		}
	}
	read, err := handlers.ReadRecording(&out, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := read.Events[0].Hook; got != name {
		t.Errorf("the name is read as %q, expected %q", got, name)
	}
}

// program is a recording of hooks that fire in their order, each with its position as operand and answer.
func program(order [][2]hook.ID, sites ...hook.Site) *handlers.Recording {
	r := &handlers.Recording{Header: handlers.Header{Version: handlers.RecordingVersion, Manifest: &hook.Manifest{Sites: sites}}, Ended: true}
	for _, e := range order {
		r.Header.Manifest.Edges = append(r.Header.Manifest.Edges, hook.Edge{From: e[0], To: e[1]})
	}
	for i, s := range sites {
		e := handlers.Event{Seq: int64(i), Run: 1, Hook: s.Name, ID: s.ID, Kind: s.Kind, Operands: []*tensor.Tensor{i32s(nil, 1)}}
		if s.Kind == hook.Call {
			e.Results = []*tensor.Tensor{i32s(nil, int32(s.ID))}
		}
		r.Events = append(r.Events, e)
	}
	return r
}

// TestReplayFindsHooksByName: a recording whose ids only count equal hooks must not give one hook the answers of
// another.
func TestReplayFindsHooksByName(t *testing.T) {
	site := func(id hook.ID, name string, kind hook.Kind) hook.Site {
		return hook.Site{ID: id, Name: name, Kind: kind}
	}
	replay := program(nil, site(1, "lr", hook.Call), site(2, "temperature", hook.Call)).Replay()
	for name, want := range map[string]int32{"lr": 1, "temperature": 2} {
		s := site(hook.ID(3-want), name, hook.Call) // swapped
		if err := replay.CheckSite(&s); err != nil {
			t.Error(err)
		}
		r := i32s(nil, 0)
		handle(t, replay, call(&s, []*tensor.Tensor{i32s(nil, 1)}, []*tensor.Tensor{r}))
		if got := tensor.View[int32](r)[0]; got != want {
			t.Errorf("the answer of %s is %d, expected %d", name, got, want)
		}
	}
	added := site(9, "added", hook.Tap)
	if err := replay.CheckSite(&added); err != nil {
		t.Errorf("a new tap: %v", err)
	}
	handle(t, replay, call(&added, nil, nil))
	added.Kind = hook.Call
	wantError(t, replay.CheckSite(&added), `the recording does not have it; it has "lr", "temperature"`)
}
