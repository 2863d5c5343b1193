package events

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

func float(shape []int64, list ...float32) *tensor.Tensor {
	t := tensor.New(tensor.F32, shape)
	copy(tensor.View[float32](t), list)
	return t
}

// loss and grads are two hooks of a program.
func sites() (loss, grads *hook.Site) {
	return &hook.Site{ID: 1, Name: "loss", Kind: hook.Tap, Loc: `"train.py":31:5`},
		&hook.Site{ID: 2, Name: `grads "<b>`, Kind: hook.Tap, Loc: `"train.py":32:5`, Function: "step"}
}

// deliver lets handlers observe n steps of two hooks on two devices, as a backend does.
func deliver(t testing.TB, n int, handlers ...runtime.Handler) {
	t.Helper()
	loss, grads := sites()
	bounds := map[*hook.Site]*runtime.Bound{loss: runtime.NewBound(loss, nil, handlers...), grads: runtime.NewBound(grads, nil, handlers...)}
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for i := range n {
		for device := range 2 {
			for k, c := range []*runtime.Call{
				{Site: loss, Operands: []*tensor.Tensor{float(nil, float32(i)/4)}},
				{Site: grads, Operands: []*tensor.Tensor{float([]int64{2, 3}, -1, 0, 2, nan, inf, -inf), float(nil, float32(device))}},
			} {
				c.Run, c.Seq, c.Device = int64(i/10+1), int64(2*i+k), device
				if err := runtime.Deliver(t.Context(), bounds[c.Site], c); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func create(t testing.TB, name string) (path string, f *os.File) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, f
}

// read returns the events of a file as lines of JSON.
func read(t testing.TB, path string) []string {
	t.Helper()
	var lines []string
	if err := Read(path, "", func(e *Event) error {
		lines = append(lines, string(AppendJSON(nil, e, nil)))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return lines
}

// checkedFile calls a function after every write.
type checkedFile struct {
	*os.File
	wrote func()
}

func (f checkedFile) WriteAt(p []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(p, at)
	f.wrote()
	return n, err
}

// TestParquetIsValidAfterEveryWrite: a table of a process that ends between two writes can be read. Before, a table
// whose first group was written had no footer.
func TestParquetIsValidAfterEveryWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.parquet")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	writes := 0
	o := NewObserver(NewParquet(checkedFile{file, func() {
		writes++
		if err := Read(path, "", func(*Event) error { return nil }); err != nil {
			t.Errorf("after %d writes: %v", writes, err)
		}
	}}), "")
	for range 3 {
		deliver(t, 5, o)
		if err := o.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Close(); err != nil || writes < 6 {
		t.Errorf("%d writes: %v", writes, err)
	}
}

// TestParquetIsValidAfterEveryFlush reads a file after each of many flushes, and cut at any place between two flushes.
func TestParquetIsValidAfterEveryFlush(t *testing.T) {
	path, f := create(t, "x.parquet")
	sink := NewParquet(f)
	site := newSite(Site{Hook: "h", ID: "1", Place: "a.py:1:1"})
	rng := rand.New(rand.NewPCG(1, 2))
	n, before := int64(0), int64(0)
	var old []byte
	for range 30 {
		for range rng.IntN(3000) {
			o := Operand{DType: tensor.F32, Scalar: true, Number: float64(n)}
			if err := sink.Write(&Event{Site: site, Seq: n, Time: n, Operands: []Operand{o}}); err != nil {
				t.Fatal(err)
			}
			n++
		}
		if err := sink.Flush(); err != nil {
			t.Fatal(err)
		}
		check := func(want int64) {
			t.Helper()
			i := int64(0)
			if err := Read(path, "", func(e *Event) error {
				if e.Seq != i || e.Operands[0].Number != float64(i) || e.Place != "a.py:1:1" {
					return fmt.Errorf("event %d is %d with %v at %s", i, e.Seq, e.Operands[0].Number, e.Place)
				}
				i++
				return nil
			}); err != nil || i != want {
				t.Fatalf("%d events, expected %d: %v", i, want, err)
			}
		}
		check(n)
		now, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if rng.IntN(6) == 0 && len(now) > len(old)+1 && len(old) > 0 { // killed while the footer was appended
			whole := slices.Clone(now)
			if err := os.WriteFile(path, now[:len(old)+rng.IntN(len(now)-len(old)-1)+1], 0o666); err != nil {
				t.Fatal(err)
			}
			check(before)
			if _, err := f.WriteAt(whole, 0); err != nil {
				t.Fatal(err)
			}
		}
		old, before = now, n
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 12*n {
		t.Errorf("%d events are %d bytes: the places of older footers are not used again", n, info.Size())
	}
}

// TestSinksAgree writes the same events to Parquet, CSV and JSON, and reads them.
func TestSinksAgree(t *testing.T) {
	pqPath, pqFile := create(t, "x.parquet")
	csvPath, csvFile := create(t, "x.csv")
	jsonPath, jsonFile := create(t, "x.jsonl")
	var observers []runtime.Handler
	var all []*Observer
	for _, s := range []Sink{NewParquet(pqFile), NewCSV(csvFile), NewJSONL(jsonFile)} {
		o := NewObserver(s, "p")
		observers, all = append(observers, o), append(all, o)
	}
	deliver(t, 3, observers...)
	for _, o := range all {
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(csvPath)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != 1+3*2*3 || !slices.Equal(rows[0], Columns()) {
		t.Fatalf("%d rows, %v: %v", len(rows), rows[0], err)
	}
	got := map[string]string{}
	for i, name := range rows[0] {
		got[name] = rows[2][i]
	}
	for name, want := range map[string]string{"process": "p", "run": "1", "seq": "1", "step": "0", "device": "0", "hook": `grads "<b>`, "kind": "tap",
		"location": "train.py:32:5", "function": "step", "operand": "0", "dtype": "f32", "shape": "[2,3]", "value": "", "min": "-1", "max": "2",
		"mean": "0.3333333333333333", "nan": "1", "inf": "2"} {
		if got[name] != want {
			t.Errorf("%s is %q, expected %q", name, got[name], want)
		}
	}
	if at, err := time.Parse(time.RFC3339Nano, got["time"]); err != nil || time.Since(at) > time.Hour {
		t.Errorf("time is %q: %v", got["time"], err)
	}
	table, lines := read(t, pqPath), read(t, jsonPath)
	if len(table) != 12 || len(lines) != 12 {
		t.Fatalf("%d and %d events, expected 12", len(table), len(lines))
	}
	for i := range table {
		var a, b line
		if json.Unmarshal([]byte(table[i]), &a) != nil || json.Unmarshal([]byte(lines[i]), &b) != nil {
			t.Fatalf("no JSON: %s, %s", table[i], lines[i])
		}
		if a.Hook != b.Hook || a.Seq != b.Seq || a.Run != b.Run || *a.Step != *b.Step || a.Device != b.Device || a.Place != b.Place ||
			a.Function != b.Function || len(a.Operands) != len(b.Operands) || a.Process != "p" || b.Process != "p" {
			t.Errorf("Parquet has\n%s\nJSON has\n%s", table[i], lines[i])
		}
	}
}

// TestTrace checks a trace field by field, also that of a killed process.
func TestTrace(t *testing.T) {
	path, f := create(t, "x.json")
	o := NewObserver(NewTrace(f, "p"), "p")
	before := float64(time.Now().UnixMicro())
	slow := runtime.HandlerFunc(func(context.Context, *runtime.Call) error { time.Sleep(3 * time.Millisecond); return nil })
	loss, _ := sites()
	for i := range 2 {
		if err := runtime.Deliver(t.Context(), runtime.NewBound(loss, slow, o), &runtime.Call{Site: loss, Run: 7, Seq: int64(i), Device: 3,
			Operands: []*tensor.Tensor{float(nil, float32(math.Inf(-1)))}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Flush(); err != nil {
		t.Fatal(err)
	}
	killed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range [][]byte{killed, whole} {
		var list []map[string]any
		if err := json.Unmarshal(text, &list); err != nil || len(list) != 4 {
			t.Fatalf("%d events: %v\n%s", len(list), err, text)
		}
		if m := list[0]; m["ph"] != "M" || m["name"] != "process_name" || m["args"].(map[string]any)["name"] != "p" {
			t.Errorf("the process is %v", m)
		}
		if m := list[1]; m["ph"] != "M" || m["name"] != "thread_name" || m["args"].(map[string]any)["name"] != "device 3" || m["tid"] != 3.0 {
			t.Errorf("the thread is %v", m)
		}
		end := before
		for i, e := range list[2:] {
			args := e["args"].(map[string]any)
			if e["ph"] != "X" || e["name"] != "loss" || e["cat"] != "tap" || e["pid"] != float64(os.Getpid()) || e["tid"] != 3.0 ||
				args["run"] != 7.0 || args["seq"] != float64(i) || args["step"] != float64(i) || args["operand 0"] != "-inf" || args["location"] != "train.py:31:5" {
				t.Errorf("event %d is %v", i, e)
			}
			ts, dur := e["ts"].(float64), e["dur"].(float64)
			if ts < end-1 || dur < 3000 || ts+dur > float64(time.Now().UnixMicro())+1 {
				t.Errorf("event %d starts at %.0f and takes %.0f; the event before it ends at %.0f", i, ts, dur, end)
			}
			end = ts + dur
		}
	}
}

// record reads the next record of a file of TensorBoard.
func record(t *testing.T, r io.Reader) []byte {
	t.Helper()
	var head [12]byte
	if _, err := io.ReadFull(r, head[:]); err == io.EOF {
		return nil
	} else if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, binary.LittleEndian.Uint64(head[:]))
	if _, err := io.ReadFull(r, data); err != nil {
		t.Fatal(err)
	}
	var sum [4]byte
	if _, err := io.ReadFull(r, sum[:]); err != nil {
		t.Fatal(err)
	}
	return data
}

// TestTensorBoard reads events with TensorBoard.
func TestTensorBoard(t *testing.T) {
	dir := t.TempDir()
	sink, err := NewTensorBoard(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	o := NewObserver(sink, "")
	deliver(t, 5, o)
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "events.out.tfevents.*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v: %v", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for r := bytes.NewReader(data); record(t, r) != nil; n++ {
	}
	if n != 1+2*5 {
		t.Errorf("%d records, expected 11", n)
	}
	const script = `
import json, sys
from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
from tensorboard.util import tensor_util
m = EventMultiplexer(tensor_size_guidance={"histograms": 0, "scalars": 0}).AddRunsFromDirectory(sys.argv[1])
m.Reload()
out = {}
for run in m.Runs():
    a = m.GetAccumulator(run)
    for tag in a.Tags()["tensors"]:
        out[run + " " + tag] = [[e.step, tensor_util.make_ndarray(e.tensor_proto).tolist(), e.wall_time] for e in a.Tensors(tag)]
json.dump(out, sys.stdout)
`
	var got map[string][][]any
	if err := json.Unmarshal(peer.Tools(t).Run(t, script, nil, dir), &got); err != nil {
		t.Fatal(err)
	}
	for run, device := range map[string]float64{".": 0, "device-1": 1} {
		if list := got[run+" loss"]; len(list) != 5 || list[4][0] != 4.0 || list[4][1] != 1.0 {
			t.Errorf("loss of %s is %v", run, list)
		}
		grads := run + ` grads "<b>/`
		if list := got[grads+"1"]; len(list) != 5 || list[0][1] != device {
			t.Errorf("operand 1 of %s is %v", run, list)
		}
		if list := got[grads+"0/nan"]; len(list) != 5 || list[0][1] != 1.0 {
			t.Errorf("the NaN of %s are %v", run, list)
		}
		list := got[grads+"0"]
		if len(list) != 5 {
			t.Fatalf("the histograms of %s are %v", run, list)
		}
		total := 0.0
		for _, bin := range list[0][1].([]any) { // left, right, count
			total += bin.([]any)[2].(float64)
		}
		if total != 3 {
			t.Errorf("a histogram of 3 finite elements has %v", list[0][1])
		}
	}
}

// TestMetrics reads metrics as Prometheus does, and lets promtool check them.
func TestMetrics(t *testing.T) {
	m, url, err := ServeMetrics(":0")
	if err != nil {
		t.Fatal(err)
	}
	o := NewObserver(m, "")
	deliver(t, 5, o)
	get := func(host string) (int, string) {
		r, err := http.NewRequest("GET", url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	code, text := get("localhost:1")
	for _, want := range []string{
		"# TYPE hlocb_events_total counter\n",
		`hlocb_events_total{hook="loss",id="0000000000000001",device="1"} 5`,
		`hlocb_value{hook="loss",id="0000000000000001",device="0",operand="0"} 1` + "\n",
		`hlocb_nan_total{hook="grads \"<b>",id="0000000000000002",device="0",operand="0"} 5`,
		`hlocb_inf_total{hook="grads \"<b>",id="0000000000000002",device="0",operand="0"} 10`,
		`hlocb_max{hook="grads \"<b>",id="0000000000000002",device="0",operand="0"} 2`,
	} {
		if code != 200 || !strings.Contains(text, want) {
			t.Errorf("status %d, no %q in\n%s", code, want, text)
		}
	}
	if code, text := get("evil.example:80"); code != http.StatusForbidden || strings.Contains(text, "loss") {
		t.Errorf("a page of another site gets status %d and %q", code, text)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if resp, err := http.Get(url); err == nil {
		resp.Body.Close()
		t.Error("the server runs on after Close")
	}
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("skip: promtool not installed")
	}
	check := peer.Command(promtool, "check", "metrics")
	check.Stdin = strings.NewReader(text)
	if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}

func TestOnlyHosts(t *testing.T) {
	l := httptest.NewServer(nil)
	defer l.Close()
	h := OnlyHosts(l.Listener.Addr(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	for host, want := range map[string]int{"127.0.0.1": 200, "127.0.0.1:80": 200, "localhost": 200, "[::1]:1": 200, "::1": 200, "": 403, "a.b": 403,
		"127.0.0.1.a.b:80": 403, "10.0.0.1": 403, "localhost.a.b": 403} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("host %q gets %d, expected %d", host, w.Code, want)
		}
	}
}

// TestStatisticsProbe: the operand of a probe "stats" holds the statistics of a value.
func TestStatisticsProbe(t *testing.T) {
	path, f := create(t, "x.parquet")
	o := NewObserver(NewParquet(f), "")
	site := &hook.Site{ID: 3, Name: "s", Kind: hook.Tap, Attrs: map[string]string{hook.AttrProbe: `"stats"`, hook.AttrOf: `"tensor<4x3xbf16>"`}}
	v := tensor.New(tensor.F64, []int64{5})
	copy(tensor.View[float64](v), []float64{-1, 2, 5, 1, 1})
	if err := o.Handle(t.Context(), &runtime.Call{Site: site, Operands: []*tensor.Tensor{v}}); err != nil {
		t.Fatal(err)
	}
	ask := &hook.Site{ID: 4, Name: "s.sample", Kind: hook.Call, Attrs: map[string]string{hook.AttrProbe: `"sample:every=2,first=0"`}}
	if err := o.Handle(t.Context(), &runtime.Call{Site: ask}); err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	want := `"operands":[{"dtype":"bf16","shape":[4,3],"stats":{"n":12,"min":-1,"max":2,"mean":0.5,"nan":1,"inf":1}}]}`
	if got := read(t, path); len(got) != 1 || !strings.HasSuffix(got[0], want) {
		t.Errorf("%d events: %s", len(got), got)
	}
}

// TestAMillionEvents measures a table of a million events: its size, and how long DuckDB and pandas take.
func TestAMillionEvents(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	path, f := create(t, "x.parquet")
	o := NewObserver(NewParquet(f), "")
	loss, _ := sites()
	v := float(nil, 0)
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 1000000 {
		tensor.View[float32](v)[0] = rng.Float32()
		if err := o.Handle(t.Context(), &runtime.Call{Site: loss, Run: int64(i/100 + 1), Seq: int64(i % 100), Operands: []*tensor.Tensor{v}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("a million events are %d bytes", info.Size())
	if info.Size() > 15e6 {
		t.Errorf("a million events are %d bytes, expected at most 15 MB", info.Size())
	}
	const script = `
import duckdb, pandas, sys, time
duckdb.sql("SELECT 1").fetchall()
best = 9e9
for _ in range(5):
    start = time.process_time()
    rows = duckdb.sql(f"SELECT hook, device, count(*), avg(value), max(step) FROM '{sys.argv[1]}' GROUP BY ALL").fetchall()
    best = min(best, time.process_time() - start)
assert len(rows) == 1 and rows[0][2] == 1000000 and rows[0][4] == 999999, rows
frame = pandas.read_parquet(sys.argv[1])
assert len(frame) == 1000000 and str(frame.time.dtype).startswith("datetime64[ns"), frame.dtypes
print(best)
`
	seconds, err := strconv.ParseFloat(strings.TrimSpace(string(peer.Tools(t).Run(t, script, nil, path))), 64)
	t.Logf("DuckDB groups them in %.2f s of CPU time", seconds)
	if err != nil || seconds > 0.5 {
		t.Errorf("DuckDB takes %.2f s of CPU time, expected at most 0.5: %v", seconds, err)
	}
}

// TestMerge merges files of two processes. The second one is late.
func TestMerge(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for k, name := range []string{"a.parquet", "b.jsonl"} {
		files = append(files, filepath.Join(dir, name))
		f, err := os.Create(files[k])
		if err != nil {
			t.Fatal(err)
		}
		var sink Sink = NewJSONL(f)
		if k == 0 {
			sink = NewParquet(f)
		}
		site := newSite(Site{Hook: "h", ID: "01", Place: "a.py:1:1"})
		for step := range int64(4) {
			at := 1000*(step+1) + int64(k)*(10+step) // b is late by 10 to 13 ns
			e := &Event{Site: site, Run: 1, Seq: step, Step: step, Time: at, Operands: []Operand{
				{DType: tensor.F32, Scalar: true, Number: float64(step), Statistics: Statistics{Count: 1, Min: float64(step), Max: float64(step), Mean: float64(step)}},
				{DType: tensor.F32, Shape: tensor.Shape{2}, Statistics: Statistics{Count: 2, NaN: step / 2, Min: -1, Max: 1}}}}
			if err := sink.Write(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := sink.Close(); err != nil {
			t.Fatal(err)
		}
	}
	summarize := func(f Filter) *Summary {
		t.Helper()
		s, last := NewSummary(), int64(0)
		if err := Merge(files, func(e *Event) error {
			if e.Time < last || len(e.Operands) != 2 {
				return fmt.Errorf("an event at %d after %d, with %d operands", e.Time, last, len(e.Operands))
			}
			last = e.Time
			if f.Selects(e) {
				s.Add(e)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		s.End()
		return s
	}
	s := summarize(Filter{Device: -1})
	if s.Events != 8 || !slices.Equal(s.Processes, []string{"a", "b"}) || len(s.Values) != 2 || s.Aligned {
		t.Fatalf("the summary is %+v", s)
	}
	if v := s.Values[0]; v.Events != 8 || v.Min != 0.0 || v.Max != 3.0 || v.Mean != 1.5 || v.Last != 3.0 || v.Bad != -1 || v.Type != "f32[]" {
		t.Errorf("the scalar is %+v", v)
	}
	if v := s.Values[1]; v.NaN != 4 || v.Bad != 2 || v.Type != "f32[2]" || v.Min != -1.0 {
		t.Errorf("the tensor is %+v", v)
	}
	if len(s.Arrivals) != 2 || s.Arrivals[0].Process != "b" || s.Arrivals[0].Steps != 4 || s.Arrivals[0].Last != 4 || s.Arrivals[0].Mean != 11 ||
		s.Arrivals[0].Max != 13 || s.Arrivals[0].Step != 3 || s.Arrivals[1].Max != 0 {
		t.Errorf("late are %+v", s.Arrivals)
	}
	if len(s.Worst) != 4 || s.Worst[0] != (Delay{"h", 3, 13, "b", 0}) {
		t.Errorf("the longest delays are %+v", s.Worst)
	}
	for name, c := range map[string]struct {
		f    Filter
		want int64
	}{
		"hook": {Filter{Device: -1, Hooks: []*regexp.Regexp{regexp.MustCompile("^a.py:1:")}}, 8}, "no hook": {Filter{Device: -1, Hooks: []*regexp.Regexp{regexp.MustCompile("x")}}, 0},
		"bad": {Filter{Device: -1, Bad: true}, 4}, "steps": {Filter{Device: -1, From: 1, To: 3}, 4}, "rest": {Filter{Device: -1, From: 1}, 6}, "device": {Filter{Device: 1}, 0},
	} {
		if got := summarize(c.f).Events; got != c.want {
			t.Errorf("%s: %d events, expected %d", name, got, c.want)
		}
	}
	files = append(files, filepath.Join(dir, "missing.jsonl"))
	if err := Merge(files, func(*Event) error { return nil }); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file is %v", err)
	}
}

// TestDocumentedQueries runs the lines of docs/events.md.
func TestDocumentedQueries(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	text, err := os.ReadFile("../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	_, script, _ := strings.Cut(string(text), "```python\n")
	script, _, _ = strings.Cut(script, "```")
	path, f := create(t, "run.parquet")
	o := NewObserver(NewParquet(f), "")
	deliver(t, 5, o)
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	out := string(peer.Tools(t).Run(t, "import os, sys\nos.chdir(sys.argv[1])\n"+script, nil, filepath.Dir(path)))
	for _, want := range []string{"│ loss       │           10 │          0.5 │", "│ grads \"<b> │     0 │ train.py:32:5 │", "\n4    1.0"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// TestReadLinesOfAKilledProcess: the last line may be a part of a line.
func TestReadLinesOfAKilledProcess(t *testing.T) {
	path, f := create(t, "x.jsonl")
	w := bufio.NewWriter(f)
	w.WriteString(`{"seq":0,"run":1,"device":0,"hook":"a","id":"01","kind":"tap","loc":"","operands":[{"dtype":"f32","shape":[],"data":["nan"]}]}` + "\n" + `{"seq":1,"ru`)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); len(got) != 1 || !strings.Contains(got[0], `"data":["nan"]`) {
		t.Errorf("events %s", got)
	}
	for text, want := range map[string]string{
		"{\"seq\":0}\n": "line 1: neither",
		"{}}\n":         "line 1: expected an event",
		"PAR1\x00PAR1":  "no footer",
		`{"id":"1","operands":[{"dtype":"f99","shape":[]}]}` + "\n":             "unknown element type",
		`{"id":"1","operands":[{"dtype":"f32","shape":[-1],"at":0}]}` + "\n":    "data",
		`{"id":"1","operands":[{"dtype":"f32","shape":[2],"data":[1]}]}` + "\n": "line 1: value 0",
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := Read(path, "", func(*Event) error { return nil }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %s", text, err, want)
		}
	}
}
