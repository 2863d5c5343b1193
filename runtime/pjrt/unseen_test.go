//go:build cgo

package pjrt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/runtime"
)

// numbered returns id as a number of C.
func numbered[T ~int64](_ T, id int64) T { return T(id) }

// TestInterposedUnseen: a program that the plugin loads and runs by functions that are not wrapped reaches its handlers
// by the ids of its hooks. It stays until the process ends.
func TestInterposedUnseen(t *testing.T) {
	p := smallProgram()
	w := &wrappedPlugin{plugin: backend(t).Plugin(), interposer: &changer{}, memory: hostMemory{}}
	for _, c := range []struct {
		devices []int // of the program
		want    string
	}{{nil, "[h0 on 0 h1 on 0 h2 on 0]"}, {[]int{2}, "[h0 on 0 h1 on 0 h2 on 0]"}} { // one device may be any device
		var events []string
		var failure error
		h := answer(func(_ context.Context, c *runtime.Call) error {
			events = append(events, fmt.Sprintf("%s on %d", c.Site.Name, c.Device))
			return failure
		})
		id, err := w.add(&Replacement{Manifest: p.Manifest, Handlers: h, Replicas: 1, Partitions: 1})
		if err != nil {
			t.Fatal(err)
		}
		program := numbered(hlocbInterposeFind(nil), id)
		hlocbInterposeUnseen(program)
		hlocbInterposeUnseen(program) // loaded twice
		e := compileTimeout(t, p, 0, runtime.CompileOptions{Devices: c.devices})
		if got, err := foreignRun(t, e, 3); err != nil || got != "tensor<f32>[3]" || fmt.Sprint(events) != c.want {
			t.Errorf("devices %v: %s after %v, expected %s: %v", c.devices, got, events, c.want, err)
		}
		failure = errMine
		if _, err := foreignRun(t, e, 3); err == nil || !strings.Contains(err.Error(), errMine.Error()) {
			t.Errorf("error is %v", err)
		}
		for range 2 { // its own two objects are gone
			hlocbInterposeDrop(program)
			if programOf(program) == nil {
				t.Error("the program is gone")
			}
		}
		hlocbInterposeDrop(program)
		if programOf(program) != nil {
			t.Error("a program without objects stays")
		}
		detach(findAttached(uint64(p.Manifest.Sites[0].ID)))
	}
	if n := hlocbInterposeFind(nil); n != -1 {
		t.Errorf("no object is program %d", n)
	}
	if n := hlocbInterposeForget(nil); n != 0 {
		t.Errorf("no object is program %d", n)
	}
}

// TestInterposedPlatforms: a framework's programs run untapped if the host cannot read the platform's values.
func TestInterposedPlatforms(t *testing.T) {
	c, err := backend(t).Client()
	if err != nil {
		t.Fatal(err)
	}
	for platform, want := range map[string]string{
		"cpu":    "",
		"tpu":    `values on platform "tpu" are not in the host's memory; its programs run untapped`,
		"oneapi": `values on platform "oneapi" are not in the host's memory; its programs run untapped`,
		"other":  "", // its values are in the host's memory
	} {
		i := &changer{}
		w := &wrappedPlugin{plugin: c.plugin, interposer: i}
		err := w.register(platform, c.ptr)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, expected %q", platform, err, want)
		}
		none := (*NoFFIError)(nil)
		if missing := errors.As(err, &none); missing != strings.HasPrefix(want, "values on") {
			t.Errorf("%s: the plugin lacks the FFI: %t", platform, missing)
		}
		if (w.memory != nil) != (want == "") || i.warned() != "" {
			t.Errorf("%s: memory %v, warnings %q", platform, w.memory, i.warned())
		}
	}
	if onHost, err := (&Client{plugin: c.plugin, ptr: c.ptr}).onHost(); err != nil || !onHost {
		t.Errorf("the CPU's values are on the host: %t, %v", onHost, err)
	}
	if data := copied(nil, 5); data != nil {
		t.Errorf("no bytes are %v", data)
	}
	table := uintptr(0)
	if _, err := Interpose(table, "none.so", &changer{}); err == nil || err.Error() != "none.so is not a usable PJRT plugin: GetPjrtApi returned no table" {
		t.Errorf("error is %v", err)
	}
}
