//go:build cgo

package pjrt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/hlocb/hlocb/internal/sharding"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestCopyMemory: a whole value moves between devices without the host; other values move through it. Each copy has its
// own memory.
func TestCopyMemory(t *testing.T) {
	b, err := Open(cpuPlugin(t), Options{Name: "two", Devices: 2})
	if err != nil {
		t.Fatal(err)
	}
	halves, err := sharding.NewTiled([]int64{2}, []int64{0, 1}, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]runtime.Placement{
		"default": {},
		"on 1":    {Devices: []int{1}},
		"on both": {Devices: []int{0, 1}},
		"halves":  {Devices: []int{0, 1}, Partitions: 2, Sharding: halves},
		"reverse": {Devices: []int{1, 0}, Partitions: 2, Sharding: halves},
	}
	x := f32(tensor.Shape{4}, 1, 2, 3, 4)
	read := func(m runtime.Memory) string {
		v, err := m.Read()
		if err != nil {
			return err.Error()
		}
		var seen string
		if err := m.View(func(v *tensor.Tensor) error { seen = floats(v); return nil }); err != nil || seen != floats(v) {
			t.Errorf("a view has %s, the value is %s: %v", seen, floats(v), err)
		}
		if err := m.View(func(*tensor.Tensor) error { return errMine }); !errors.Is(err, errMine) {
			t.Errorf("the error of a view is %v", err)
		}
		return floats(v)
	}
	for from, place := range places {
		m, err := b.Upload(t.Context(), x, place)
		if err != nil {
			t.Fatal(err)
		}
		for to, place := range places {
			c, err := b.CopyMemory(t.Context(), m, place)
			if err != nil {
				t.Errorf("%s to %s: %v", from, to, err)
				continue
			}
			v := c.(*value)
			var pieces []string
			for i := range v.pieces {
				p, err := v.piece(i)
				if err != nil {
					t.Error(err)
				}
				pieces = append(pieces, fmt.Sprint(tensor.View[float32](p)))
			}
			want := "[[1 2 3 4]]"
			switch to {
			case "on both":
				want = "[[1 2 3 4] [1 2 3 4]]"
			case "halves", "reverse":
				want = "[[1 2] [3 4]]"
			}
			if got := read(c); got != "tensor<4xf32>[1 2 3 4]" || fmt.Sprint(pieces) != want {
				t.Errorf("%s to %s: the copy is %s in the pieces %v, expected %s", from, to, got, pieces, want)
			}
			if !v.client.readable(v.pieces[0].ptr, v.part) {
				t.Errorf("%s to %s: the copy cannot be read", from, to)
			}
			c.Release()
		}
		m.Release()
	}
	m, err := b.Upload(t.Context(), x, runtime.Placement{})
	if err != nil {
		t.Fatal(err)
	}
	fails := func(what string, err error, want string) {
		t.Helper()
		if err == nil || err.Error() != want {
			t.Errorf("%s: error is %v, expected %s", what, err, want)
		}
	}
	const missing = "two has no device 2: it has 2"
	_, err = b.CopyMemory(t.Context(), m, runtime.Placement{Devices: []int{2}})
	fails("a copy to no device", err, missing)
	_, err = b.Upload(t.Context(), x, runtime.Placement{Devices: []int{2}})
	fails("a value on no device", err, missing)
	if _, err = b.Upload(t.Context(), f32(nil), places["halves"]); err == nil {
		t.Error("a number has two halves")
	}
	_, err = backend(t).CopyMemory(t.Context(), m, runtime.Placement{})
	fails("a copy by another backend", err, "the value belongs to another backend")
	_, err = b.CopyMemory(t.Context(), nil, runtime.Placement{})
	fails("a copy of nothing", err, "the value belongs to another backend")

	// Whatever is open keeps the backend open.
	fails("a close", b.Close(), "1 buffers of backend two are not closed")
	e, err := b.Compile(t.Context(), doubled(), runtime.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	fails("a close", b.Close(), "1 executables of backend two are not closed")
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	c, err := b.Client()
	if err != nil {
		t.Fatal(err)
	}
	major, minor := b.Plugin().Version()
	if got, want := b.Describe(), fmt.Sprintf("two: %s, PJRT API %d.%d, platform cpu, 2 devices", b.Plugin().Path(), major, minor); got != want {
		t.Errorf("the description is %s, expected %s", got, want)
	}
	fails("a device", deviceError(c, 7), "no device has the ordinal 7")
	m.Release()
	for range 2 {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := b.Describe(); got != "two: closed" {
		t.Errorf("the description is %s", got)
	}
	const closed = "the backend is closed"
	_, err = b.CopyMemory(t.Context(), m, runtime.Placement{})
	fails("a copy", err, closed)
	_, err = b.Upload(t.Context(), x, runtime.Placement{})
	fails("a value", err, closed)
	_, err = b.Compile(t.Context(), doubled(), runtime.CompileOptions{})
	fails("a program", err, closed)
}

func deviceError(c *Client, ordinal int) error {
	_, err := c.device(ordinal)
	return err
}

// TestDevicesByOrdinal: the default device is the first one, also if its ordinal is not 0.
func TestDevicesByOrdinal(t *testing.T) {
	c := &Client{devices: []Device{{LocalID: 4}, {LocalID: 5}}}
	for ordinal, want := range map[int]int{0: 4, 4: 4, 5: 5} {
		if d, err := c.device(ordinal); err != nil || d.LocalID != want {
			t.Errorf("device %d is %v: %v", ordinal, d, err)
		}
	}
	for _, ordinal := range []int{1, -1} {
		if err := deviceError(c, ordinal); err == nil {
			t.Errorf("there is a device %d", ordinal)
		}
	}
	for _, c := range []struct {
		s       *session
		ordinal int32
		want    string
	}{
		{&session{devices: make([]deviceState, 2)}, 0, "0 true"},
		{&session{devices: make([]deviceState, 2)}, 1, "1 true"},
		{&session{devices: make([]deviceState, 2)}, 2, "0 false"},
		{&session{devices: make([]deviceState, 2)}, -1, "0 false"},
		{&session{devices: make([]deviceState, 1), anywhere: true}, 5, "0 true"},
		{&session{devices: make([]deviceState, 2), position: positions([]Device{{LocalID: 3}, {LocalID: 1}})}, 3, "0 true"},
		{&session{devices: make([]deviceState, 2), position: positions([]Device{{LocalID: 3}, {LocalID: 1}})}, 1, "1 true"},
		{&session{devices: make([]deviceState, 2), position: positions([]Device{{LocalID: 3}, {LocalID: 1}})}, 0, "0 false"},
		{&session{devices: make([]deviceState, 2), position: positions([]Device{{LocalID: 3}, {LocalID: 1}})}, 4, "0 false"},
		{&session{devices: make([]deviceState, 2), position: positions([]Device{{LocalID: 3}, {LocalID: 1}})}, -1, "0 false"},
	} {
		device, known := c.s.device(c.ordinal)
		if got := fmt.Sprint(device, known); got != c.want {
			t.Errorf("positions %v: device %d is %s, expected %s", c.s.position, c.ordinal, got, c.want)
		}
	}
}

// TestHostMemory: the functions of the host's memory are those that a device's memory has.
func TestHostMemory(t *testing.T) {
	a, b := f32(tensor.Shape{3}, 1, 2, 3), f32(tensor.Shape{3}, 4, 5, 6)
	var m hostMemory
	at := func(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }
	step := func(what string, err error, want string) {
		t.Helper()
		if got := fmt.Sprint(tensor.View[float32](a), tensor.View[float32](b)); err != nil || got != want {
			t.Errorf("%s: %s, expected %s: %v", what, got, want, err)
		}
	}
	step("copy of two elements", m.Within(nil, at(a.Bytes()), at(b.Bytes()), 8), "[4 5 3] [4 5 6]")
	step("one zero", m.Clear(nil, at(b.Bytes()[4:]), 4), "[4 5 3] [4 0 6]")
	step("from the host", m.FromHost(nil, at(b.Bytes()[8:]), a.Bytes()[:4]), "[4 5 3] [4 0 4]")
	step("to the host", m.ToHost(nil, a.Bytes()[4:8], at(b.Bytes()[4:])), "[4 0 3] [4 0 4]")
	if !m.Readable() || m.Kind() != runtime.HostMemory || m.Wait(nil) != nil || m.pool(0) != nil {
		t.Error("the host's memory is not the host's")
	}
}

// TestClientOptions: an option of a client reaches a plugin with its type: hlocb reads it back as it reads a plugin's
// attributes.
func TestClientOptions(t *testing.T) {
	for _, v := range []any{"text", "", true, false, int64(-7), []int64{1, -2, 3}, []int64{}, float32(0.25)} {
		var pin goruntime.Pinner
		o, err := namedOption("name", v, &pin)
		if err != nil {
			t.Fatal(err)
		}
		if got := namedValue(&o); !reflect.DeepEqual(got, v) && fmt.Sprint(got) != fmt.Sprint(v) {
			t.Errorf("option %#v is read as %#v", v, got)
		}
		if name := goText(o.name, o.name_size); name != "name" {
			t.Errorf("its name is %q", name)
		}
		pin.Unpin()
	}
	for _, n := range []int{-1, 2049} {
		want := fmt.Sprintf("a client of %d devices is requested, expected 0 to 2048", n)
		if _, err := backend(t).Plugin().NewClient(n); err == nil || err.Error() != want {
			t.Errorf("error is %v, expected %s", err, want)
		}
	}
}

// TestPluginFacts: what the CPU plugin says of itself.
func TestPluginFacts(t *testing.T) {
	p := backend(t).Plugin()
	var names []string
	for _, e := range p.Extensions() {
		names = append(names, fmt.Sprintf("%d %s", e.Type, e.Name))
	}
	for _, want := range []string{"4 layouts", "5 ffi", "6 memory descriptions"} {
		if !slices.Contains(names, want) {
			t.Errorf("the extensions %v lack %s", names, want)
		}
	}
	if !p.UserData() {
		t.Error("the FFI extension attaches no data")
	}
	if v, ok := p.attribute(attrXLA).(int64); !ok || v <= 0 || p.attribute("no attribute") != nil {
		t.Errorf("XLA's version is %d", v)
	}
	v, stated := p.StableHLO()
	if want := "portable artifacts of StableHLO " + v.String() + ", else MLIR text"; !stated || p.Programs() != want {
		t.Errorf("programs are %s, expected %s", p.Programs(), want)
	}
	for _, list := range []any{nil, []int64{1, 2}, []int64{1, 2, 3, 4}, "1.2.3"} {
		q := &Plugin{attributes: []Attribute{{attrStableHLO, list}}}
		if v, stated := q.StableHLO(); stated || q.Programs() != "portable artifacts of StableHLO "+v.String()+" (the plugin states no version)" {
			t.Errorf("version %v: programs are %s", list, q.Programs())
		}
	}
	for version, want := range map[[3]int64]string{{0, 5, 1}: "0.5.1", {99, 0, 0}: v.String()} {
		q := &Plugin{attributes: []Attribute{{attrStableHLO, version[:]}}}
		if v, stated := q.StableHLO(); !stated || want == "0.5.1" && v.String() != want || v.Major == 99 {
			t.Errorf("version %v is %s", version, v)
		}
	}
}

// TestForeignProcessor: a plugin for another processor is named as one. The loader says that the file does not exist.
func TestForeignProcessor(t *testing.T) {
	own, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Skip("skip: no /proc")
	}
	dir := t.TempDir()
	for _, c := range []struct {
		name   string
		change func(header []byte) []byte
		want   string
	}{
		{"machine.so", func(h []byte) []byte { h[18], h[19] = 2, 0; return h }, "it is built for another processor, EM_SPARC instead of EM_"},
		{"text.so", func([]byte) []byte { return []byte("no library") }, ""},
		{"same.so", func(h []byte) []byte { return h[:64] }, ""},
	} {
		path := filepath.Join(dir, c.name)
		header := slices.Clone(own[:4096])
		clear(header[40:48]) // without sections
		clear(header[60:64])
		if err := os.WriteFile(path, c.change(header), 0o777); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadDir("/proc/self/fd")
		got := openFailure(path, "the loader's message")
		if after, _ := os.ReadDir("/proc/self/fd"); len(after) > len(before) {
			t.Errorf("%s: %d files stay open", c.name, len(after)-len(before))
		}
		if !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "the loader's message") {
			t.Errorf("%s: %s, expected %s", c.name, got, c.want)
		}
		if _, err := Load(path); err == nil || c.want != "" && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, expected %s", c.name, err, c.want)
		}
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none.so"): "no such file or directory",
		dir:                           "it is not a regular file",
	} {
		_, err := Load(path)
		refused := (*LoadError)(nil)
		if !errors.As(err, &refused) || refused.Path != path || !strings.HasSuffix(refused.LoadReason(), want) {
			t.Errorf("%s: error is %v, expected %s", path, err, want)
		}
	}
}

// TestSignature: the types of a program's arguments and results, and the arguments that it overwrites.
func TestSignature(t *testing.T) {
	p := program("(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<2xi32>) -> (tensor<4xf32>, tensor<2xi32>)", "return %x, %y : tensor<4xf32>, tensor<2xi32>\n")
	e := compile(t, p, nil)
	s := e.Signature()
	var got []string
	for _, v := range append(slices.Clone(s.Arguments), s.Results...) {
		got = append(got, fmt.Sprintf("%s %t %v", v.Type, v.Donor, v.Place.Whole()))
	}
	want := "[tensor<4xf32> true true tensor<2xi32> false true tensor<4xf32> false true tensor<2xi32> false true]"
	if fmt.Sprint(got) != want || s.Backend != runtime.Backend(e.backend) {
		t.Errorf("the signature is %v, expected %s", got, want)
	}
	const bounded = "tensor<?xf32, #stablehlo.bounds<4>>"
	dynamic := compile(t, program("(%x: tensor<4xf32>, %n: tensor<i32>) -> ("+bounded+", tensor<i32>)", `%r = "stablehlo.set_dimension_size"(%x, %n) {dimension = 0 : i64} : (tensor<4xf32>, tensor<i32>) -> `+bounded+"\nreturn %r, %n : "+bounded+", tensor<i32>\n"), nil)
	if s := dynamic.Signature(); s.Results[0].Type.String() != "tensor<?xf32>" || s.Results[1].Type.String() != "tensor<i32>" {
		t.Errorf("the results are %v and %v", s.Results[0].Type, s.Results[1].Type)
	}
	want = "argument 1 is tensor<f32>, the program expects "
	if _, err := dynamic.Run(t.Context(), []*tensor.Tensor{f32(tensor.Shape{4}), f32(nil)}); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error is %v, expected %s", err, want)
	}
	empty := compile(t, program("() -> ()", "return\n"), nil)
	if s := empty.Signature(); s.Arguments == nil || len(s.Arguments)+len(s.Results) != 0 {
		t.Errorf("the signature of a program without values is %v", s)
	}
}

// TestLentMemory: the plugin reads large values that are aligned where the caller has them, if the host can read its
// memory. It copies other values.
func TestLentMemory(t *testing.T) {
	backends(t, func(t *testing.T, b *Backend, memory *copyCounter) {
		const size = borrowAt / 4 // elements
		room := make([]float32, size+64)
		start := 0
		for uintptr(unsafe.Pointer(&room[start]))%64 != 0 {
			start++
		}
		for _, c := range []struct {
			name     string
			first, n int
			lent     bool
		}{{"large", start, size, true}, {"larger", start, size + 16, true}, {"small", start, size - 1, false}, {"not aligned", start + 1, size, false}} {
			data := room[c.first:][:c.n]
			x, err := tensor.FromBytes(tensor.F32, tensor.Shape{int64(c.n)}, unsafe.Slice((*byte)(unsafe.Pointer(&data[0])), 4*c.n))
			if err != nil {
				t.Fatal(err)
			}
			data[0], data[c.n-1] = 7, 8
			m, err := b.Upload(t.Context(), x, runtime.Placement{})
			if err != nil {
				t.Fatal(err)
			}
			data[0] = 9
			v, err := m.Read()
			if err != nil {
				t.Fatal(err)
			}
			got := tensor.View[float32](v)
			if lent := c.lent && memory.Readable(); (got[0] == 9) != lent || got[c.n-1] != 8 {
				t.Errorf("%s: the value is %v to %v, lent is %t", c.name, got[0], got[c.n-1], lent)
			}
			m.Release()
			if m.(*value).pieces != nil {
				t.Errorf("%s: pieces are left", c.name)
			}
		}
		d := tensor.New(tensor.Index, tensor.Shape{2})
		if _, err := b.Upload(t.Context(), d, runtime.Placement{}); err == nil || !strings.HasSuffix(err.Error(), "has no counterpart in PJRT") {
			t.Errorf("error is %v, expected that indices are not known", err)
		}
		for _, shape := range []tensor.Shape{{0}, {2, 0, 3}} {
			m, err := b.Upload(t.Context(), tensor.New(tensor.F32, shape), runtime.Placement{})
			if err != nil {
				t.Fatal(err)
			}
			if v, err := m.Read(); err != nil || !v.Shape().Equal(shape) {
				t.Errorf("shape %v: %v", shape, err)
			}
			m.Release()
		}
	})
}
