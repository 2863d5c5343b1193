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

// recordSome records three events of a hook that answers with the operand doubled, and returns their operands.
func recordSome(t *testing.T, r *handlers.Record) []*tensor.Tensor {
	t.Helper()
	recording, err := handlers.NewRecording(r, handlers.Header{Module: "abc", Backend: "none"}, []*tensor.Tensor{f32s(tensor.Shape{1000}, 7)})
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

// TestRawRecording: large values go to a file of their own, bit by bit, and are read back, replayed and compared like others.
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

	read := func(name string) *handlers.Recorded {
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
	for _, c := range handlers.Compare(a, b, 0) {
		if c.Differs() || c.Name == "h" && c.Events != 3 {
			t.Errorf("raw against text: %s", c.String())
		}
	}
	if !bytes.Equal(a.Args[0].Bytes(), b.Args[0].Bytes()) || len(a.Outputs) != 1 {
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
		{strings.ReplaceAll(line, `"at":0`, `"at":-1`), "x", "is no value"},
		{strings.ReplaceAll(line, "[5000]", "[9000000000000000000,3]"), "x", "is no value"},
		{strings.ReplaceAll(line, `"f32"`, `"f33"`), "x", `unknown element type "f33"`},
	} {
		_, err := handlers.ReadRecording(strings.NewReader(c.line), strings.NewReader(c.data))
		wantError(t, err, c.want)
	}
	_, err = handlers.ReadRecording(strings.NewReader(line), nil)
	wantError(t, err, "the value lies in a file beside the recording, its name followed by .data, which is missing")
	_, err = handlers.ReadRecording(strings.NewReader(`{"recording":3}`+"\n"), nil)
	wantError(t, err, "recording of version 3, this program reads versions 1 to 2")
	if _, err = handlers.ReadRecording(strings.NewReader(`{"recording":1,"module":"","backend":"","args":[{"dtype":"i1","shape":[],"data":[true]}]}`+"\n"), nil); err != nil {
		t.Error(err)
	}
	_, err = handlers.CreateRecord("-", 10, dir.env())
	wantError(t, err, "standard output has none")
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
