//go:build cgo

package pjrt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/ffi"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/xlatypes"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

func loadForeign(t *testing.T, library, symbol string) *ffi.Library {
	t.Helper()
	h, err := ffi.Load(library, symbol)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// foreignCall passes values to a handler as a backend does.
func foreignCall(h *ffi.Library, kind hook.Kind, attrs map[string]string, operands, results []*tensor.Tensor) error {
	site := &hook.Site{ID: 1, Name: "h", Kind: kind, Attrs: attrs}
	for _, o := range operands {
		site.Operands = append(site.Operands, hook.TensorType{DType: o.DType(), Shape: o.Shape()})
	}
	for _, r := range results {
		site.Results = append(site.Results, hook.TensorType{DType: r.DType(), Shape: r.Shape()})
	}
	var b runtime.Bindings
	b.Answer("h", h)
	bound, err := b.Bind(&hook.Manifest{Sites: []hook.Site{*site}})
	if err != nil {
		return err
	}
	return runtime.Deliver(context.Background(), &bound[0], &runtime.Call{Site: bound[0].Site(), Run: 7, Operands: operands, Results: results})
}

// TestForeignTypes: a C handler flips a bit of each element, for every type, alone and as the responder of a compiled
// program.
func TestForeignTypes(t *testing.T) {
	h := loadForeign(t, sharedLibrary(t, "cc", "../../internal/ffi/testdata/handlers.c"), "")
	for _, d := range boundaryTypes {
		for _, shape := range []tensor.Shape{{}, {5}, {0}, {3, 2}} {
			x := pattern(d, shape)
			want := x.Clone()
			for i, b := range want.Bytes() {
				want.Bytes()[i] = flip(d, b)
			}
			r := tensor.New(d, shape)
			if err := foreignCall(h, hook.Call, nil, []*tensor.Tensor{x}, []*tensor.Tensor{r}); err != nil || !bytes.Equal(r.Bytes(), want.Bytes()) {
				t.Errorf("%s%v: % x, %v, expected % x", d, shape, r.Bytes(), err, want.Bytes())
			}
			inout := x.Clone()
			if err := foreignCall(h, hook.InOut, nil, []*tensor.Tensor{inout}, []*tensor.Tensor{inout}); err != nil || !bytes.Equal(inout.Bytes(), want.Bytes()) {
				t.Errorf("%s%v in place: % x, %v, expected % x", d, shape, inout.Bytes(), err, want.Bytes())
			}
		}
	}
	var args []*tensor.Tensor
	var sites []hook.Site
	var params, types, values []string
	body, chain := "", "%c0"
	for i, d := range boundaryTypes {
		v, x, r := tt(d, 3), fmt.Sprintf("%%x%d", i), fmt.Sprintf("%%r%d", i)
		s := hookSite(uint64(0x1234+i), fmt.Sprint("h", i), hook.Call, []hook.TensorType{v}, []hook.TensorType{v})
		body, chain, sites = body+hookCall(r, s, chain, x), r+"#0", append(sites, s)
		args, params = append(args, pattern(d, tensor.Shape{3})), append(params, x+": "+v.String())
		types, values = append(types, v.String()), append(values, r+"#1")
	}
	all := strings.Join(types, ", ")
	var b runtime.Bindings
	b.Answer("*", h)
	e := compile(t, program("("+strings.Join(params, ", ")+") -> ("+all+")", body+"return "+strings.Join(values, ", ")+" : "+all+"\n", sites...), &b)
	for k, out := range run(t, e, args...) {
		d, x := boundaryTypes[k], args[k]
		if len(out.Bytes()) != len(x.Bytes()) {
			t.Errorf("%s: the result has %d bytes, expected %d", d, len(out.Bytes()), len(x.Bytes()))
			continue
		}
		for i, b := range out.Bytes() {
			if b != flip(d, x.Bytes()[i]) {
				t.Errorf("%s: element byte %d is %#x, expected %#x", d, i, b, flip(d, x.Bytes()[i]))
			}
		}
	}
}

func TestForeignAttributes(t *testing.T) {
	h := loadForeign(t, sharedLibrary(t, "cc", "../../internal/ffi/testdata/handlers.c"), "attributes")
	err := foreignCall(h, hook.Tap, map[string]string{
		"text": `"a \"b\"\0Ac"`, "i": "-2 : i32", "u": "7 : ui64", "f": "1.5 : f32", "d": "-0.0 : f64", "yes": "true",
		"list": "array<i64: 1, -2, 3>", "dense": "dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>", "splat": "dense<7> : tensor<3xi64>",
		"none": "array<i64>", "more": `{b = 2 : i64, a = "x"}`,
	}, nil, nil)
	const want = "d=12:8000000000000000 dense=5[4],1,2,3,4 f=11:3fc00000 i=4:fffffffe list=5[3],1,-2,3 more={a='x' b=5:2 } " +
		"none=5[0] splat=5[3],7,7,7 text='a \"b\"\nc' u=9:7 yes=1:1 "
	var failed *ffi.Error
	if !errors.As(err, &failed) || failed.Code != 9 || failed.Message != want {
		t.Errorf("the handler got\n%v\nexpected\n%s", err, want)
	}
	for _, bad := range []string{"unit", "[1, 2]", "i32", "@f", "1 : i4"} {
		err := foreignCall(h, hook.Tap, map[string]string{"x": bad}, nil, nil)
		var refused *runtime.BindError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "attribute x: ") {
			t.Errorf("%s: error is %v, expected to be refused when bound", bad, err)
		}
	}
}

func TestForeignFailures(t *testing.T) {
	library := sharedLibrary(t, "cc", "../../internal/ffi/testdata/handlers.c")
	x, y := f32(nil, 3), tensor.New(tensor.F64, nil)
	err := foreignCall(loadForeign(t, library, ""), hook.Call, nil, []*tensor.Tensor{x}, []*tensor.Tensor{y})
	if want := `hook "h" failed at event 0 on device 0: INVALID_ARGUMENT: types differ`; err == nil || err.Error() != want {
		t.Errorf("error is %v, expected %s", err, want)
	}
	err = foreignCall(loadForeign(t, library, "does_nothing"), hook.Call, nil, []*tensor.Tensor{x}, []*tensor.Tensor{f32(nil)})
	var unwritten *runtime.UnwrittenError
	if !errors.As(err, &unwritten) {
		t.Errorf("error is %v, expected an UnwrittenError", err)
	}
	err = foreignCall(loadForeign(t, library, "from_the_future"), hook.Call, nil, nil, nil)
	var lacking *ffi.Error
	if !errors.As(err, &lacking) || lacking.Code != xlatypes.Unimplemented {
		t.Errorf("error is %v, expected a function that hlocb lacks", err)
	}

	if _, err := ffi.Load(filepath.Join(t.TempDir(), "missing.so"), ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error is %v, expected a missing file", err)
	}
	for _, c := range []struct{ path, symbol, want string }{
		{"../../internal/ffi/testdata/handlers.c", "", "invalid ELF header"},
		{library, "no_such_symbol", "no_such_symbol"},
		{library, "tells_no_version", "does not report its version"},
	} {
		_, err := ffi.Load(c.path, c.symbol)
		var refused *ffi.LibraryError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, expected %q", c.symbol, err, c.want)
		}
	}
}

// TestForeignFuture: a call waits for a handler that completes it from another thread.
func TestForeignFuture(t *testing.T) {
	h := loadForeign(t, sharedLibrary(t, "cc", "../../internal/ffi/testdata/handlers.c"), "later")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := f32(nil)
			if err := foreignCall(h, hook.Call, nil, []*tensor.Tensor{f32(nil, float32(i))}, []*tensor.Tensor{r}); err != nil || tensor.View[float32](r)[0] != float32(2*i) {
				t.Errorf("%d gives %v, %v", i, tensor.View[float32](r), err)
			}
			err := foreignCall(h, hook.Call, nil, []*tensor.Tensor{f32(nil, -1)}, []*tensor.Tensor{r})
			if want := `OUT_OF_RANGE: negative, found out late`; err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("error is %v, expected %s", err, want)
			}
		}()
	}
	wg.Wait()
}

// TestForeignTasks: a handler's tasks run on at most 64 threads. Before, each had a thread of its own.
func TestForeignTasks(t *testing.T) {
	h := loadForeign(t, sharedLibrary(t, "cc", "../../internal/ffi/testdata/handlers.c"), "many_tasks")
	r := f32(nil)
	if err := foreignCall(h, hook.Feed, nil, nil, []*tensor.Tensor{r}); err != nil {
		t.Fatal(err)
	}
	if most := tensor.View[float32](r)[0]; most < 2 || most > 64 {
		t.Errorf("%v tasks ran at once, expected 2 to 64", most)
	}
}

// TestForeignAsXLACallsIt compiles a handler with XLA's C++ headers, which check the call frame, and compares its
// results for XLA with its results for hlocb.
func TestForeignAsXLACallsIt(t *testing.T) {
	python := peer.Find()
	if python == "" {
		t.Skip("skip: no jaxlib")
	}
	include, err := peer.Command(python, "-c", "import jaxlib, os; print(os.path.join(os.path.dirname(jaxlib.__file__), 'include'))").Output()
	if err != nil {
		t.Skipf("skip: no jaxlib: %v", err)
	}
	library := sharedLibrary(t, "c++", "../../internal/ffi/testdata/handlers.cc", "-std=c++17", "-I"+strings.TrimSpace(string(include)))
	h := loadForeign(t, library, "scale")
	if err := backend(t).Plugin().RegisterHandler("test_scale", loadForeign(t, library, "scale_for_plugin").Address(), "cpu"); err != nil {
		t.Fatal(err)
	}
	x := f32(tensor.Shape{5}, 1, 2, 3, 4, 5)
	for _, label := range []string{"fine", "refuse"} {
		attrs := map[string]string{"factor": "2.5 : f32", "label": fmt.Sprintf("%q", label), "shifts": "array<i64: 10, -20>"}
		native := compile(t, program("(%x: tensor<5xf32>) -> tensor<5xf32>", fmt.Sprintf("%%r = stablehlo.custom_call @test_scale(%%x) {api_version = 4 : i32, "+
			"backend_config = {factor = %s, label = %s, shifts = %s}} : (tensor<5xf32>) -> tensor<5xf32>\nreturn %%r : tensor<5xf32>\n", attrs["factor"], attrs["label"], attrs["shifts"])), nil)
		want, wantErr := native.Run(context.Background(), []*tensor.Tensor{x})

		s := hookSite(0x77, "h", hook.Call, []hook.TensorType{tt(tensor.F32, 5)}, []hook.TensorType{tt(tensor.F32, 5)})
		s.Attrs = attrs
		var b runtime.Bindings
		b.Answer("h", h)
		e := compile(t, program("(%x: tensor<5xf32>) -> tensor<5xf32>", hookCall("%r", s, "%c0", "%x")+"return %r#1 : tensor<5xf32>\n", s), &b)
		got, err := e.Run(context.Background(), []*tensor.Tensor{x})
		if label == "fine" {
			if wantErr != nil || err != nil || !bytes.Equal(got[0].Bytes(), want[0].Bytes()) || tensor.View[float32](got[0])[1] != -15 {
				t.Errorf("computed %v, %v; for XLA %v, %v", got, err, want, wantErr)
			}
			continue
		}
		if wantErr == nil || err == nil || !strings.Contains(wantErr.Error(), "refused as asked") || !strings.HasSuffix(err.Error(), "OUT_OF_RANGE: refused as asked") {
			t.Errorf("error is %v, for XLA %v", err, wantErr)
		}
	}
	// Unexpected attributes are an error of the handler, not a crash.
	err = foreignCall(h, hook.Call, map[string]string{"factor": "2.5 : f64"}, []*tensor.Tensor{x}, []*tensor.Tensor{f32(tensor.Shape{5})})
	var failed *ffi.Error
	if !errors.As(err, &failed) {
		t.Errorf("error is %v, expected the handler's", err)
	}

	r := f32(tensor.Shape{100})
	y := f32(tensor.Shape{100})
	for i := range tensor.View[float32](y) {
		tensor.View[float32](y)[i] = float32(i)
	}
	if err := foreignCall(loadForeign(t, library, "threads"), hook.Call, nil, []*tensor.Tensor{y}, []*tensor.Tensor{r}); err != nil || tensor.View[float32](r)[99] != 297 {
		t.Errorf("threads computed %v, %v", tensor.View[float32](r), err)
	}
}
