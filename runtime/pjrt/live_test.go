//go:build cgo

package pjrt

import (
	"context"
	"errors"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestObjectsAreDestroyed: however a request ends, no object of the plugin is left, and no memory of Go stays pinned.
func TestObjectsAreDestroyed(t *testing.T) {
	path := badPlugin(t)
	t.Setenv("BAD", "counts")
	b, err := Open(path, Options{Devices: 2})
	if err != nil {
		t.Fatal(err)
	}
	const only = "2 clients, 0 loaded, 0 executables, 0 buffers, 0 holds, 0 events" // the backend's and the one that asks
	live := func() string {
		c, err := b.plugin.NewClient(1)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		return c.version
	}
	compile := func(p *runtime.Program, opts runtime.CompileOptions) runtime.Executable {
		e, err := b.Compile(t.Context(), p, opts)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	small, large := f32(tensor.Shape{2}, 1, 2), tensor.New(tensor.F32, tensor.Shape{borrowAt / 4})
	put := func(x *tensor.Tensor) runtime.Memory {
		m, err := b.Upload(t.Context(), x, runtime.Placement{})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	read := func(m runtime.Memory) {
		if _, err := m.Read(); err != nil {
			t.Error(err)
		}
		if err := m.View(func(*tensor.Tensor) error { return errMine }); !errors.Is(err, errMine) {
			t.Error(err)
		}
		m.Release()
	}
	wide := program("(%x: tensor<16384xf32>, %y: tensor<3xi4>) -> (tensor<16384xf32>, tensor<3xi4>)", "%z = stablehlo.negate %x : tensor<16384xf32>\nreturn %z, %y : tensor<16384xf32>, tensor<3xi4>\n")
	packed := tensor.New(tensor.I4, tensor.Shape{3})
	for _, c := range []struct {
		name string
		do   func()
	}{
		{"nothing", func() {}},
		{"values", func() { read(put(small)); read(put(large)); read(put(packed)) }},
		{"copies", func() {
			m := put(large)
			for _, place := range []runtime.Placement{{}, {Devices: []int{1}}, {Devices: []int{0, 1}}} {
				c, err := b.CopyMemory(t.Context(), m, place)
				if err != nil {
					t.Fatal(err)
				}
				read(c)
			}
			m.Release()
		}},
		{"a spare client", func() {
			e := compile(doubled(), runtime.CompileOptions{})
			if _, err := e.(*Executable).program(t.Context(), &session{spare: true}); err != nil {
				t.Fatal(err)
			}
			b.freeSpare()
			run(t, e.(*Executable), small)
			e.Close()
		}},
		{"no device", func() {
			if _, err := b.Upload(t.Context(), large, runtime.Placement{Devices: []int{0, 7}}); err == nil {
				t.Error("there is a device 7")
			}
		}},
		{"runs", func() {
			e := compile(wide, runtime.CompileOptions{})
			for range 3 {
				run(t, e.(*Executable), large, packed)
			}
			e.Close()
		}},
		{"runs with values", func() {
			e := compile(wide, runtime.CompileOptions{})
			args := []runtime.Memory{put(large), put(packed)}
			out, err := e.RunMemory(t.Context(), args, []bool{false, false})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range out {
				read(m)
			}
			for _, m := range args {
				m.Release()
			}
			e.Close()
		}},
		{"wrong arguments", func() {
			e := compile(doubled(), runtime.CompileOptions{})
			index := tensor.New(tensor.Index, tensor.Shape{2})
			_, err := e.(*Executable).run(t.Context(), &request{values: []*value{{host: []*tensor.Tensor{index}}}})
			if err == nil || !strings.HasPrefix(err.Error(), "argument 0: ") {
				t.Errorf("error is %v", err)
			}
			e.Close()
		}},
		{"a failing handler", func() {
			for _, timeout := range []time.Duration{0, time.Minute} {
				e := compile(smallProgram(), runtime.CompileOptions{Timeout: timeout, Handlers: answer(func(_ context.Context, c *runtime.Call) error {
					if c.Seq == 1 {
						return errMine
					}
					return nil
				})})
				if _, err := e.Run(t.Context(), []*tensor.Tensor{f32(nil, 1)}); !errors.Is(err, errMine) {
					t.Error(err)
				}
				e.Close()
			}
		}},
		{"a failing handler on two devices", func() {
			v := tt(tensor.F32, 2)
			s := hookSite(1, "h", hook.Call, []hook.TensorType{v}, []hook.TensorType{v})
			e := compile(program("(%x: tensor<2xf32>) -> tensor<2xf32>", hookCall("%r", s, "%c0", "%x")+"return %r#1 : tensor<2xf32>\n", s),
				runtime.CompileOptions{Replicas: 2, Handlers: answer(func(context.Context, *runtime.Call) error { return errMine })})
			if _, err := e.Run(t.Context(), []*tensor.Tensor{small}); !errors.Is(err, errMine) {
				t.Error(err)
			}
			e.Close()
		}},
		{"a saved program", func() {
			e := compile(doubled(), runtime.CompileOptions{})
			s, err := e.(*Executable).Save()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.(*Executable).AliasUses(); err != nil {
				t.Error(err)
			}
			e.Close()
			l, err := b.Load(t.Context(), s, runtime.CompileOptions{})
			if err != nil {
				t.Fatal(err)
			}
			run(t, l.(*Executable), small)
			l.Close()
		}},
		{"a program that is refused", func() {
			p := doubled()
			e := &Executable{backend: b, devices: 2, name: "p", programs: map[clientKey]*loadedProgram{}}
			code, err := b.plugin.code(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			e.compile = func(ctx context.Context, c *Client) (*loadedProgram, error) {
				return c.compile(ctx, code, &compileOptions{replicas: 1, partitions: 1})
			}
			if _, err := e.program(t.Context(), &session{}); err == nil || err.Error() != "the program was compiled for 1 devices instead of 2" {
				t.Errorf("error is %v", err)
			}
		}},
		{"an interrupted compilation", func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if _, err := b.Compile(&endsInWait{Context: ctx, cancel: cancel}, bigProgram(), runtime.CompileOptions{Handlers: observe(func(*runtime.Call) {})}); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}},
	} {
		c.do()
		got := live()
		for end := time.Now().Add(5 * time.Second); got != only && time.Now().Before(end); got = live() {
			time.Sleep(50 * time.Millisecond) // threads of the plugin end
		}
		if got != only {
			t.Fatalf("%s: %s, expected %s", c.name, got, only)
		}
	}
	for range 3 { // finds memory that is still pinned
		goruntime.GC()
		time.Sleep(time.Millisecond)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	const last = "1 clients, 0 loaded, 0 executables, 0 buffers, 0 holds, 0 events"
	got := live()
	for end := time.Now().Add(5 * time.Second); got != last && time.Now().Before(end); got = live() {
		time.Sleep(50 * time.Millisecond) // the compilation may not have ended
	}
	if got != last {
		t.Errorf("after the end: %s, expected %s", got, last)
	}
}
