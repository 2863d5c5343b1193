//go:build cgo

package pjrt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// foreignRun executes a compiled program as another binding of the plugin does: without a launch id.
func foreignRun(t *testing.T, e *Executable, x float32) (string, error) {
	t.Helper()
	l := e.programs[clientKey{}]
	out, err := l.execute(0, &request{values: []*value{{host: []*tensor.Tensor{f32(nil, x)}}}, donated: make([]bool, 1)})
	if err != nil {
		return "", err
	}
	var list []*tensor.Tensor
	for _, ptr := range out {
		v := &value{backend: e.backend, client: l.client, part: scalar, pieces: []buffer{{ptr: ptr}}}
		r, err := v.Read()
		if err != nil {
			t.Error(err)
		}
		list = append(list, r)
		l.client.release(v.pieces[0])
	}
	return floats(list...), nil
}

// TestAttach: a program that another binding executes reaches its handlers while it is attached. A failure ends the
// execution, and Err clears it.
func TestAttach(t *testing.T) {
	p := smallProgram()
	e := compile(t, p, nil)
	run := func(want string) {
		t.Helper()
		got, err := foreignRun(t, e, 5)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("the execution gives %s, expected %s", got, want)
		}
	}
	unknown := fmt.Sprintf("hook %s was called by a run that hlocb does not know", p.Manifest.Sites[0].ID)
	run(unknown)

	var events []string
	fail := false
	h := answer(func(_ context.Context, c *runtime.Call) error {
		if fail && c.Site.Name == "h1" {
			return errMine
		}
		events = append(events, fmt.Sprintf("%s %d/%d %d %s", c.Site.Name, c.Run, c.Seq, c.Device, floats(c.Operands...)))
		if n := level(context.Background()); n != 1 {
			t.Errorf("a program that the handler runs has level %d", n)
		}
		return nil
	})
	a, err := Attach(t.Context(), p.Manifest, AttachOptions{Handlers: h})
	if err != nil {
		t.Fatal(err)
	}
	run("tensor<f32>[5]")
	run("tensor<f32>[5]")
	if want := "[h0 0/0 0 tensor<f32>[5] h1 0/1 0 tensor<f32>[5] h2 0/2 0 tensor<f32>[5] h0 0/3 0 tensor<f32>[5] h1 0/4 0 tensor<f32>[5] h2 0/5 0 tensor<f32>[5]]"; fmt.Sprint(events) != want {
		t.Errorf("events are %v, expected %s", events, want)
	}
	if err := a.Err(); err != nil {
		t.Error(err)
	}

	other := hookSite(99, "other", hook.Tap, []hook.TensorType{scalar}, nil)
	both := &hook.Manifest{Sites: append([]hook.Site{other}, p.Manifest.Sites...)}
	want := fmt.Sprintf(`hook "h0" (id %s) is attached already; detach that program first`, p.Manifest.Sites[0].ID)
	if _, err := Attach(t.Context(), both, AttachOptions{Handlers: h}); err == nil || err.Error() != want {
		t.Errorf("error is %v, expected %s", err, want)
	}
	if findAttached(99) != nil {
		t.Error("a hook of the refused program stays attached")
	}
	run("tensor<f32>[5]")
	picks := &runtime.Bindings{}
	picks.Answer("*", picky{})
	if _, err := Attach(t.Context(), &hook.Manifest{Sites: []hook.Site{other}}, AttachOptions{Handlers: picks}); !errors.Is(err, errMine) {
		t.Errorf("error is %v, expected that a handler refuses its hook", err)
	}

	fail = true
	run(errMine.Error())
	run("the run has failed already")
	var failed *runtime.HookError
	if err := a.Err(); !errors.As(err, &failed) || failed.Hook != "h1" {
		t.Errorf("error is %v, expected that of h1", err)
	}
	fail = false
	run("tensor<f32>[5]")
	if err := a.Err(); err != nil {
		t.Errorf("the failure stays: %v", err)
	}
	a.Detach()
	a.Detach()
	run(unknown)
}

// TestAttachDevices: an attached program runs on the devices that the options say. An execution on several devices does
// not fail by itself, because the devices wait for each other.
func TestAttachDevices(t *testing.T) {
	var mu sync.Mutex
	var events []string
	h := answer(func(_ context.Context, c *runtime.Call) error {
		mu.Lock()
		defer mu.Unlock()
		if events = append(events, fmt.Sprintf("%s on %d", c.Site.Name, c.Device)); c.Device == 1 && c.Site.Name == "before" {
			return errMine
		}
		return nil
	})
	body, sites := reduceBody(2)
	replicas := compileTimeout(t, program("(%x: tensor<f32>) -> tensor<f32>", body, sites...), 0, runtime.CompileOptions{Replicas: 2})
	one := compileTimeout(t, smallProgram(), 0, runtime.CompileOptions{Devices: []int{1}})
	for _, c := range []struct {
		e      *Executable
		opts   AttachOptions
		want   string // the error of the execution, or its results
		events string
		err    string
	}{
		{replicas, AttachOptions{Devices: 2}, "tensor<f32>[8] tensor<f32>[8]", "[before on 1]", `hook "before" failed at event 0 on device 1`},
		{one, AttachOptions{Ordinals: 2}, "tensor<f32>[4]", "[h0 on 1 h1 on 1 h2 on 1]", ""},
		{one, AttachOptions{}, "was called on device ordinal 1, which is not one of the run's 1 devices", "[]", ""},
	} {
		events = nil
		c.opts.Handlers = h
		a, err := Attach(t.Context(), c.e.source.Manifest, c.opts)
		if err != nil {
			t.Fatal(err)
		}
		got, err := foreignRun(t, c.e, 4)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%+v: the execution gives %s, expected %s", c.opts, got, c.want)
		}
		seen := slices.DeleteFunc(events, func(e string) bool { return strings.HasSuffix(e, "on 0") }) // that device may be slower
		if fmt.Sprint(seen) != c.events {
			t.Errorf("%+v: events are %v, expected %s", c.opts, seen, c.events)
		}
		if err := a.Err(); (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%+v: error is %v, expected %s", c.opts, err, c.err)
		}
		a.Detach()
	}

	// The memory is the caller's to say.
	memory := &copyCounter{DeviceMemory: remote{}}
	e := compile(t, smallProgram(), nil)
	a, err := Attach(t.Context(), e.source.Manifest, AttachOptions{Handlers: observe(func(*runtime.Call) {}), Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Detach()
	if _, err := foreignRun(t, e, 4); err != nil || memory.read != 3 {
		t.Errorf("%d values were copied, expected 3: %v", memory.read, err)
	}
}

// TestAttachedTwice: the first session of a hook stays, and a second one that may share it is ignored.
func TestAttachedTwice(t *testing.T) {
	sites := sitesOf(t, runtime.MemoryUse{}, hookSite(1, "a", hook.Tap, nil, nil), hookSite(2, "b", hook.Tap, nil, nil))
	first, second := newSession(t.Context(), sites, 1, 1), newSession(t.Context(), sites, 1, 1)
	if err := attach(first, true); err != nil {
		t.Error(err)
	}
	if err := attach(second, true); err != nil {
		t.Error(err)
	}
	for _, id := range []uint64{1, 2} {
		if findAttached(id) != first {
			t.Errorf("hook %d has another session than the first", id)
		}
	}
	detach(second)
	if findAttached(1) != first {
		t.Error("the second session detaches the first")
	}
	detach(first)
	if findAttached(1) != nil || findAttached(2) != nil {
		t.Error("a session stays")
	}
}

// TestManySites: each of many hooks is found by its id, whatever the ids are, and an id that no hook has is not.
func TestManySites(t *testing.T) {
	for _, step := range []uint64{1, 64, 1 << 40} { // ids of one place in the table follow each other
		for n := range 20 {
			var sites []hook.Site
			for i := range n {
				sites = append(sites, hookSite(7+uint64(i)*step, fmt.Sprint("h", i), hook.Tap, nil, nil))
			}
			table := sitesOf(t, runtime.MemoryUse{}, sites...)
			if size := len(table.entries); size < 2*n || size > max(4, 4*n) || size&(size-1) != 0 {
				t.Errorf("a table of %d hooks has %d entries", n, size)
			}
			for i := range n {
				if s := table.find(7 + uint64(i)*step); s == nil || s.bound.Site().Name != fmt.Sprint("h", i) {
					t.Errorf("step %d: hook %d of %d is %v", step, i, n, s)
				}
			}
			for _, id := range []uint64{6, 7 + uint64(n)*step} {
				if s := table.find(id); s != nil {
					t.Errorf("step %d: id %d is hook %s", step, id, s.bound.Site().Name)
				}
			}
		}
	}
}
