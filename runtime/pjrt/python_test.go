//go:build cgo

package pjrt

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestPython runs TestInsidePython in a process that has the stand-in for Python.
func TestPython(t *testing.T) {
	cmd := peer.Command(os.Args[0], "-test.run=^TestInsidePython$")
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+sharedLibrary(t, "cc", "testdata/fake_python.c"), "FAKE_TARGETS=1048592 first\n0 several\n")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestInsidePython: what Python gets of a call, and which handlers of a Python program a plugin gets.
func TestInsidePython(t *testing.T) {
	if os.Getenv("FAKE_TARGETS") == "" {
		return // TestPython runs it
	}
	const key = 1 << 62 // the function of a number
	bytes := tensor.New(tensor.I8, tensor.Shape{2, 1})
	copy(bytes.Bytes(), []byte{1, 2})
	operands := []*tensor.Tensor{nil, f32(nil, 1), bytes, f32(tensor.Shape{0, 3})}
	one, two := f32(tensor.Shape{2}), tensor.New(tensor.UI8, nil)
	err := CallPython(nil, key|5, operands, []*tensor.Tensor{one, nil, two, f32(tensor.Shape{0})})
	const want = "CpuCallback error calling callback: 4000000000000005 none float32[]0000803f int8[2 1]0102 float32[0 3] -> float32[2]0000000000000000 none uint8[]00 float32[0]"
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, expected %s", err, want)
	}
	if one.Bytes()[7] != 7 || two.Bytes()[0] != 7 {
		t.Errorf("the results are %v and %v", one.Bytes(), two.Bytes())
	}
	if err := CallPython(nil, key, nil, nil); err != nil {
		t.Error(err)
	}

	list, err := PythonHandlers("cpu")
	if first, several := list["first"], list["several"]; err != nil || len(list) != 2 || uintptr(first) != 1048592 || several != nil {
		t.Errorf("the handlers are %v: %v", list, err)
	}
	for platform, want := range map[string]string{
		"odd":    `strconv.ParseUint: parsing "number": invalid syntax`,
		"broken": "the custom-call targets that the program registered with jaxlib are not known: told to fail",
	} {
		if _, err := PythonHandlers(platform); err == nil || err.Error() != want {
			t.Errorf("%s: error is %v, expected %s", platform, err, want)
		}
	}

	const stages = "custom-call target several has functions for several stages; a plugin accepts a handler for the stage execute"
	for _, c := range []struct {
		memory                  DeviceMemory
		platform, program, want string
	}{
		{hostMemory{}, "cpu", "calls first", ""},
		{hostMemory{}, "cpu", "calls several and first", stages},
		{hostMemory{}, "cpu", "calls others", ""},
		{remote{}, "cpu", "calls several", ""},
		{nil, "cpu", "calls several", ""},
		{hostMemory{}, "broken", "", "the custom-call targets that the program registered with jaxlib are not known: told to fail"},
	} {
		p := &Plugin{registered: map[string]registration{"first\x00cpu": {}}} // it stays
		w := &wrappedPlugin{plugin: p, memory: c.memory, platform: c.platform}
		if err := w.registerTargets([]byte(c.program)); (err != nil) != (c.want != "") || err != nil && err.Error() != c.want {
			t.Errorf("%+v: error is %v", c, err)
		}
	}
}

// TestBusyHandlersAreKnown: while a handler is busy, its client knows the hook, with and without a limit of its time.
func TestBusyHandlersAreKnown(t *testing.T) {
	c, err := backend(t).Client()
	if err != nil {
		t.Fatal(err)
	}
	for _, timeout := range []time.Duration{0, time.Minute} {
		var got []string
		e := compileTimeout(t, smallProgram(), timeout, runtime.CompileOptions{Handlers: answer(func(context.Context, *runtime.Call) error {
			var b blocker
			b.look(c, nil)
			got = append(got, b.hook+" of "+b.program)
			return nil
		})})
		run(t, e, f32(nil, 1))
		if list := strings.Join(got, ", "); list != "h0 of test.mlir, h1 of test.mlir, h2 of test.mlir" {
			t.Errorf("timeout %v: the busy handlers are %s", timeout, list)
		}
	}
}
