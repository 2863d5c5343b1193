package handlers_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/tensorio"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
)

func f32s(shape tensor.Shape, values ...float32) *tensor.Tensor {
	t := tensor.New(tensor.F32, shape)
	copy(tensor.View[float32](t), values)
	return t
}

func i32s(shape tensor.Shape, values ...int32) *tensor.Tensor {
	t := tensor.New(tensor.I32, shape)
	copy(tensor.View[int32](t), values)
	return t
}

func site(name string, kind hook.Kind) *hook.Site {
	return &hook.Site{ID: 0x4d65822107fcfd52, Name: name, Kind: kind, Loc: `"train.py":12:3`}
}

func call(s *hook.Site, operands, results []*tensor.Tensor) *runtime.Call {
	return &runtime.Call{Site: s, Run: 1, Operands: operands, Results: results}
}

func handle(t *testing.T, h runtime.Handler, c *runtime.Call) {
	t.Helper()
	if err := h.Handle(context.Background(), c); err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("error is %v, want one with %q", err, part)
	}
}

func TestPrint(t *testing.T) {
	var out bytes.Buffer
	p := handlers.NewPrint(&out, 0)
	handle(t, p, call(site("loss", hook.Tap), []*tensor.Tensor{f32s(tensor.Shape{}, 1.5), i32s(tensor.Shape{2, 2}, 1, 2, 3, 40)}, nil))
	c := call(&hook.Site{Name: "evil\x1b[31m\nname", Kind: hook.Call}, nil, nil)
	c.Seq, c.Device = 7, 2
	handle(t, p, c)
	long := tensor.New(tensor.F32, tensor.Shape{5000})
	handle(t, p, call(site("long", hook.Tap), []*tensor.Tensor{long}, nil))
	want := `#0 loss (tap) at train.py:12:3
   tensor<f32>: 1.5
   tensor<2x2xi32>:
     [[ 1  2]
      [ 3 40]]
#7 evil\x1b[31m\x0aname (call) on device 2
#0 long (tap) at train.py:12:3
   tensor<5000xf32>: [0. 0. 0. … 0. 0. 0.]
`
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}

// TestPrintHead: with head, only the first elements are asked for and printed.
func TestPrintHead(t *testing.T) {
	var out bytes.Buffer
	h, _, err := handlers.Parse("print:head=3", &handlers.Env{Out: &out})
	if err != nil {
		t.Fatal(err)
	}
	if use := runtime.UseOf(h); use != (runtime.MemoryUse{Head: 3}) {
		t.Errorf("print:head=3 needs %+v", use)
	}
	handle(t, h, call(site("x", hook.Tap), []*tensor.Tensor{i32s(tensor.Shape{2, 2}, 1, 2, 3, 40), i32s(tensor.Shape{1}, 5)}, nil))
	want := "#0 x (tap) at train.py:12:3\n   tensor<2x2xi32>: [1 2 3] ...\n   tensor<1xi32>: [5]\n"
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}

func TestRecord(t *testing.T) {
	var out bytes.Buffer
	r := handlers.NewRecord(&out)
	s := site("loss", hook.Tap)
	handle(t, r, call(s, []*tensor.Tensor{f32s(tensor.Shape{2, 2}, 0.5, 1, float32(math.NaN()), float32(math.Inf(-1)))}, nil))
	second := call(s, nil, nil)
	second.Seq, second.Device, second.Replica, second.Partition, second.Run = 1, 2, 1, 0, 3
	handle(t, r, second)
	if out.Len() != 0 {
		t.Errorf("%d bytes written before the flush", out.Len())
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	want := `{"seq":0,"run":1,"device":0,"replica":0,"partition":0,"hook":"loss","id":"4d65822107fcfd52","kind":"tap","loc":"\"train.py\":12:3","place":"train.py:12:3","operands":[{"dtype":"f32","shape":[2,2],"data":[0.5,1,"nan","-inf"]}]}
{"seq":1,"run":3,"device":2,"replica":1,"partition":0,"hook":"loss","id":"4d65822107fcfd52","kind":"tap","loc":"\"train.py\":12:3","place":"train.py:12:3","operands":[]}
`
	if out.String() != want {
		t.Errorf("recorded\n%s\nwant\n%s", out.String(), want)
	}
	wantError(t, r.Handle(context.Background(), second), "closed")
}

func TestEcho(t *testing.T) {
	a, b, n := f32s(tensor.Shape{2}, 1, 2), f32s(tensor.Shape{2}, 3, 4), i32s(tensor.Shape{}, 5)
	r0, r1, r2 := tensor.New(tensor.I32, nil), f32s(tensor.Shape{2}), f32s(tensor.Shape{2})
	handle(t, handlers.Echo(), call(site("h", hook.Call), []*tensor.Tensor{a, b, n}, []*tensor.Tensor{r0, r1, r2}))
	for i, pair := range [][2]*tensor.Tensor{{r0, n}, {r1, a}, {r2, b}} {
		if !bytes.Equal(pair[0].Bytes(), pair[1].Bytes()) {
			t.Errorf("result %d is %s, want %s", i, tensorio.AppendJSON(nil, pair[0]), tensorio.AppendJSON(nil, pair[1]))
		}
	}
	err := handlers.Echo().Handle(context.Background(), call(site("h", hook.Call), []*tensor.Tensor{a}, []*tensor.Tensor{r1, r2}))
	wantError(t, err, "no operand for result 1 of type tensor<2xf32>")
}

// TestEchoSharedMemory: result 0 gets operand 0 but shares its memory with operand 1, which result 1 gets.
func TestEchoSharedMemory(t *testing.T) {
	a, b := f32s(tensor.Shape{2}, 1, 2), f32s(tensor.Shape{2}, 3, 4)
	r0, err := tensor.FromBytes(tensor.F32, tensor.Shape{2}, b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	r1 := f32s(tensor.Shape{2})
	handle(t, handlers.Echo(), call(site("h", hook.Call), []*tensor.Tensor{a, b}, []*tensor.Tensor{r0, r1}))
	if got := string(tensorio.AppendJSON(nil, r0)) + string(tensorio.AppendJSON(nil, r1)); got != `{"dtype":"f32","shape":[2],"data":[1,2]}{"dtype":"f32","shape":[2],"data":[3,4]}` {
		t.Errorf("results are %s", got)
	}
}

func parse(t *testing.T, spec string, env *handlers.Env) runtime.Handler {
	t.Helper()
	h, _, err := handlers.Parse(spec, env)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestConst(t *testing.T) {
	r, n := f32s(tensor.Shape{2}), tensor.New(tensor.I32, tensor.Shape{3})
	c := call(site("h", hook.Call), nil, []*tensor.Tensor{r})
	handle(t, parse(t, "const:dense<[1.5, 2.5]> : tensor<2xf32>", &handlers.Env{}), c)
	if got := string(tensorio.AppendJSON(nil, r)); got != `{"dtype":"f32","shape":[2],"data":[1.5,2.5]}` {
		t.Errorf("result is %s", got)
	}
	handle(t, parse(t, "const:7", &handlers.Env{}), call(site("h", hook.Call), nil, []*tensor.Tensor{n}))
	if got := string(tensorio.AppendJSON(nil, n)); got != `{"dtype":"i32","shape":[3],"data":[7,7,7]}` {
		t.Errorf("result is %s", got)
	}
	for _, tt := range []struct{ text, dtype, want string }{
		{"2", "f32", `"data":[2,2]`}, {"-1.5", "bf16", `"data":[-1.5,-1.5]`}, {"3", "complex<f32>", `"data":[[3,0],[3,0]]`}, {"true", "i1", `"data":[true,true]`},
	} {
		d, ok := tensor.ParseDType(tt.dtype)
		if !ok {
			t.Fatalf("no type %s", tt.dtype)
		}
		v := tensor.New(d, tensor.Shape{2})
		handle(t, parse(t, "const:"+tt.text, &handlers.Env{}), call(site("h", hook.Call), nil, []*tensor.Tensor{v}))
		if got := string(tensorio.AppendJSON(nil, v)); !strings.Contains(got, tt.want) {
			t.Errorf("const:%s for %s gives %s", tt.text, tt.dtype, got)
		}
	}
	h := parse(t, "const:dense<0.0> : tensor<f32>", &handlers.Env{})
	wantError(t, h.Handle(context.Background(), c), "const has no value for result 0 of type tensor<2xf32>")
}

func TestCount(t *testing.T) {
	var out bytes.Buffer
	n := handlers.NewCount(&out)
	for range 3 {
		handle(t, n, call(site("b", hook.Tap), nil, nil))
	}
	handle(t, n, call(site("a", hook.Tap), nil, nil))
	n.Close()
	if want := "a: 1 event\nb: 3 events\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}

func TestStats(t *testing.T) {
	var out bytes.Buffer
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	handle(t, handlers.NewStats(&out), call(site("x", hook.Tap), []*tensor.Tensor{f32s(tensor.Shape{5}, 1, nan, -3, inf, 5), i32s(tensor.Shape{0})}, nil))
	want := "#0 x operand 0 tensor<5xf32> at train.py:12:3: count 5 min -3 max 5 mean 1 nan 1 inf 1\n#0 x operand 1 tensor<0xi32> at train.py:12:3: count 0 min - max - mean - nan 0 inf 0\n"
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}

func TestFinite(t *testing.T) {
	good := f32s(tensor.Shape{2, 3}, 1, 2, 3, 4, 5, 6)
	handle(t, handlers.Finite(), call(site("x", hook.Tap), []*tensor.Tensor{good}, nil))
	bad := f32s(tensor.Shape{2, 3}, 1, 2, 3, 4, float32(math.Inf(-1)), 6)
	err := handlers.Finite().Handle(context.Background(), call(site("x", hook.Tap), []*tensor.Tensor{good, bad}, nil))
	var nf *handlers.NotFiniteError
	if !errors.As(err, &nf) || nf.Operand != 1 || nf.Index[0] != 1 || nf.Index[1] != 1 || nf.Value != "-inf" {
		t.Errorf("error is %v", err)
	}
	for _, d := range []tensor.DType{tensor.F16, tensor.BF16, tensor.F64, tensor.F8E5M2, tensor.Complex64} {
		v := tensor.New(d, tensor.Shape{3})
		v.SetFloat(2, math.NaN())
		wantError(t, handlers.Finite().Handle(context.Background(), call(site("x", hook.Tap), []*tensor.Tensor{v}, nil)), "operand 0 holds nan at [2]")
	}
}

func TestSample(t *testing.T) {
	tests := []struct{ spec, want string }{
		{"sample:every=3,to=count", "x: 4 events\n"},
		{"sample:first=2,to=count", "x: 2 events\n"},
		{"sample:every=3,first=2,to=count", "x: 2 events\n"},
	}
	for _, tt := range tests {
		var out bytes.Buffer
		h := parse(t, tt.spec, &handlers.Env{Out: &out})
		for range 10 {
			handle(t, h, call(site("x", hook.Tap), nil, nil))
		}
		h.(io.Closer).Close()
		if out.String() != tt.want {
			t.Errorf("%s counted %q, want %q", tt.spec, out.String(), tt.want)
		}
	}
}

// TestSampleChecks: a sampled handler that does not fit a hook is refused when it is bound, as it is without Sample.
func TestSampleChecks(t *testing.T) {
	var b runtime.Bindings
	b.Observe("x", handlers.NewSample(2, 0, runtime.HandlerOf(func(int32) {})))
	s := site("x", hook.Tap)
	s.Operands = []hook.TensorType{{DType: tensor.F32}}
	if _, err := b.Bind(&hook.Manifest{Sites: []hook.Site{*s}}); !errors.As(err, new(*runtime.BindError)) {
		t.Errorf("error is %v, expected a BindError", err)
	}
}

func TestReplay(t *testing.T) {
	var file bytes.Buffer
	r := handlers.NewRecord(&file)
	double := runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		for i, v := range tensor.View[float32](c.Operands[0]) {
			tensor.View[float32](c.Results[0])[i] = 2 * v
		}
		return nil
	})
	s := site("h", hook.Call)
	recorder := r.Answers(double)
	for _, v := range []float32{1, 2} {
		handle(t, recorder, call(s, []*tensor.Tensor{f32s(tensor.Shape{1}, v)}, []*tensor.Tensor{f32s(tensor.Shape{1})}))
	}
	r.Close()
	p, err := handlers.NewReplay(&file, nil)
	if err != nil {
		t.Fatal(err)
	}
	result := f32s(tensor.Shape{1})
	for _, want := range []float32{2, 4} {
		handle(t, p, call(s, []*tensor.Tensor{f32s(tensor.Shape{1}, 9)}, []*tensor.Tensor{result}))
		if got := tensor.View[float32](result)[0]; got != want {
			t.Errorf("replayed %v, want %v", got, want)
		}
	}
	err = p.Handle(context.Background(), call(s, nil, []*tensor.Tensor{result}))
	wantError(t, err, "holds 2 events of this hook, this is number 3")
}

func TestParseErrors(t *testing.T) {
	env := &handlers.Env{Open: func(name string) (io.ReadCloser, error) { return os.Open(filepath.Join(t.TempDir(), name)) }}
	tests := []struct{ spec, want string }{
		{"prnt", `unknown handler "prnt": expected one of print, record`},
		{"echo:x", "accepts no options"},
		{"print:limit=3", `unknown option "limit"`},
		{"print:threshold=x", "expected a positive number"},
		{"print:head=0", "expected a positive number"},
		{"record", "needs a file"},
		{"record:f", "no files can be created"},
		{"record:raw=x,f", "expected a positive number of bytes"},
		{"record:raw=10", "needs a file"},
		{"const", "needs a value"},
		{"const:dense<1> : tensor<2xf33>", `unknown element type "f33"`},
		{"sample:every=0", "expected a positive number"},
		{"sample:to=echo", "only an observer"},
		{"replay:missing.jsonl", "missing.jsonl"},
		{"exec", "needs a command"},
		{"exec:timeout=x,cat", "expected a duration"},
		{"exec:cat 'x", "unterminated"},
	}
	for _, tt := range tests {
		_, _, err := handlers.Parse(tt.spec, env)
		wantError(t, err, tt.want)
	}
}

// TestTable checks that every row is complete and that names are unique.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, info := range handlers.Table() {
		if info.Name == "" || info.Doc == "" || info.New == nil || seen[info.Name] {
			t.Errorf("row %q is incomplete or repeated", info.Name)
		}
		seen[info.Name] = true
	}
}
