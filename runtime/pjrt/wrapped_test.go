//go:build cgo

package pjrt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/sharding"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// badLoader returns a function that loads the CPU plugin with one of the faults of testdata/bad_plugin.c.
func badLoader(t *testing.T) func(bad string) (*Plugin, string, error) {
	t.Helper()
	source, err := os.ReadFile(badPlugin(t))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return func(bad string) (*Plugin, string, error) {
		t.Helper()
		t.Setenv("BAD", bad)
		path := filepath.Join(dir, strings.ReplaceAll(bad, " ", "_")+".so")
		if _, err := os.Stat(path); err != nil { // a file that is loaded must stay as it is
			if err := os.WriteFile(path, source, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		p, err := Load(path)
		return p, path, err
	}
}

// TestInterposeRefuses: a file without a plugin, or a plugin of another version, is an error that says it.
func TestInterposeRefuses(t *testing.T) {
	load := badLoader(t)
	refused := func(path, want string) {
		t.Helper()
		_, err := InterposePlugin(path, &changer{})
		if e := (*LoadError)(nil); !errors.As(err, &e) || e.Path != path || !strings.Contains(e.Reason, want) {
			t.Errorf("error is %v, expected %s", err, want)
		}
	}
	refused(filepath.Join(t.TempDir(), "none.so"), "No such file")
	text := filepath.Join(t.TempDir(), "text.so")
	if err := os.WriteFile(text, []byte("text"), 0o666); err != nil {
		t.Fatal(err)
	}
	refused(text, "file too short")
	refused(sharedLibrary(t, "cc", "testdata/trim.c"), "GetPjrtApi")
	for bad, want := range map[string]string{
		"no table":   "GetPjrtApi returned no table",
		"too old":    "its PJRT API is 0.53, 0.54 or later is needed",
		"next major": "its PJRT API is 1.",
	} {
		_, path, _ := load(bad)
		refused(path, want)
	}
	if _, path, err := load("oldest"); err != nil {
		t.Error(err)
	} else if _, err := InterposePlugin(path, &changer{}); err != nil {
		t.Errorf("the oldest version is refused: %v", err)
	}
}

// TestInterposedClients: what a new client of a framework's plugin lacks is a warning, and so is a plugin without hooks
// if the interposer has settings. Programs with hooks are then not changed, others are.
func TestInterposedClients(t *testing.T) {
	t.Setenv(cudaDriver, filepath.Join(t.TempDir(), "none.so"))
	load := badLoader(t)
	c, err := backend(t).Client()
	if err != nil {
		t.Fatal(err)
	}
	const beyond = `values on platform "tpu" are not in the host's memory; its programs run untapped`
	for _, test := range []struct{ bad, settings, want string }{
		{"", "", ""},
		{"", "set", ""},
		{"no text", "", "platform name: "},
		{"tpu", "", ""},
		{"tpu", "set", beyond},
		{"oldest", "", ""},
		{"oldest", "set", "the layout of handler registration in PJRT API 0.54 is not known; its programs run untapped"},
		{"cuda", "", "none.so"},
		{"cuda", "set", "none.so"},
	} {
		p, _, err := load(test.bad)
		if err != nil {
			t.Fatal(err)
		}
		i := &changer{settings: test.settings}
		w := &wrappedPlugin{plugin: p, interposer: i}
		err = w.opened(c.ptr)
		if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error is %v", test, err)
		}
		hooks := test.bad == ""
		if w.clients != 1 || test.bad != "no text" && w.hookless.Load() == hooks || (w.memory != nil) != hooks || hooks && w.platform != "cpu" {
			t.Errorf("%+v: %d clients, without hooks is %t, the memory is %v", test, w.clients, w.hookless.Load(), w.memory)
		}
	}
}

// TestInterposedChanges: which programs of an interposer are used. A plugin that cannot call hooks gets no program with
// hooks.
func TestInterposedChanges(t *testing.T) {
	sites := []hook.Site{hookSite(1, "a", hook.Tap, nil, nil), hookSite(2, "b", hook.Tap, nil, nil)}
	refusing := &runtime.Bindings{}
	refusing.Answer("*", picky{})
	for i, c := range []struct {
		hookless bool
		sites    int // of the replacement, or -1
		handlers *runtime.Bindings
		err      error
		changed  bool
	}{
		{false, -1, nil, nil, false},
		{true, -1, nil, nil, false},
		{false, -1, nil, errMine, false},
		{false, 0, nil, errMine, false},
		{false, 0, nil, nil, true},
		{false, 1, nil, nil, true},
		{false, 2, nil, nil, true},
		{true, 0, nil, nil, true},
		{true, 1, nil, nil, false},
		{true, 2, nil, nil, false},
		{false, 1, refusing, errMine, false},
	} {
		var code []byte
		if i%2 == 0 {
			code = []byte("code")
		}
		w := &wrappedPlugin{interposer: &changer{compile: func(got []byte, format string, options []byte) (*Replacement, error) {
			if string(got) != "program" || format != "mlir" || string(options) != "options" {
				t.Errorf("the interposer gets %q, %q, %q", got, format, options)
			}
			if c.handlers == nil && c.err != nil && c.sites < 0 || c.sites < 0 {
				return nil, c.err
			}
			r := &Replacement{Code: code, Manifest: &hook.Manifest{Sites: sites[:c.sites]}, Handlers: c.handlers, Replicas: 1, Partitions: 1}
			if c.handlers != nil {
				return r, nil // the handlers refuse their hooks
			}
			return r, c.err
		}}}
		w.hookless.Store(c.hookless)
		n, got, err := w.compile([]byte("program"), "mlir", []byte("options"))
		if !errors.Is(err, c.err) || (n != 0) != c.changed || c.changed && string(got) != string(code) || !c.changed && got != nil {
			t.Errorf("case %d: program %d, %q, %v", i, n, got, err)
		}
		if n != 0 {
			hlocbInterposeDrop(numbered(hlocbInterposeFind(nil), n))
		}
	}
}

// TestInterposedNames: a target that the plugin has stays the plugin's. The first that cannot be registered is a
// warning, and the others after it are not tried.
func TestInterposedNames(t *testing.T) {
	load := badLoader(t)
	p, _, err := load("")
	if err != nil {
		t.Fatal(err)
	}
	c, err := backend(t).Client()
	if err != nil {
		t.Fatal(err)
	}
	nothing := func(*TargetCall) error { return nil }
	for _, name := range []string{"a_own", "b_own"} {
		if err := c.RegisterTarget(name, nothing); err != nil {
			t.Fatal(err)
		}
	}
	const python = "xla_ffi_python_cpu_callback"
	i := &changer{targets: map[string]Target{"a_own": nothing, hook.Target: nothing, python: nothing}}
	w := &wrappedPlugin{plugin: p, interposer: i}
	if err := w.register("cpu", c.ptr); err != nil {
		t.Error(err)
	}
	if got, want := i.warned(), fmt.Sprintf("custom-call target %q of %s already has another handler", hook.Target, p.path); got != want {
		t.Errorf("warnings are %q, expected %q", got, want)
	}
	for target, registered := range map[string]bool{"a_own": true, hook.Target: true, python: true, "xla_ffi_partitioned_python_cpu_callback": true, "other": false} {
		if _, ok := p.registered[target+"\x00cpu"]; ok != registered {
			t.Errorf("%s is registered: %t", target, ok)
		}
	}
	for _, name := range []string{"a_own", hook.Target, python} { // they stay
		if err := w.registerPython(name, unsafe.Pointer(new(int)), "cpu"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	handler := loadForeign(t, sharedLibrary(t, "cc", "../../internal/ffi/testdata/handlers.c"), "").Address()
	if err := w.registerPython("b_own", handler, "cpu"); err != nil { // the plugin has it
		t.Error(err)
	}
	if old, _, err := load("oldest"); err != nil {
		t.Error(err)
	} else if err := (&wrappedPlugin{plugin: old}).registerPython("c_own", handler, "cpu"); !errors.As(err, new(*NoFFIError)) {
		t.Errorf("error is %v", err)
	}
	if err := w.registerPython("several", nil, "cpu"); err == nil || err.Error() != "custom-call target several has functions for several stages; a plugin accepts a handler for the stage execute" {
		t.Errorf("error is %v", err)
	}
	for _, memory := range []DeviceMemory{nil, remote{}, hostMemory{}} { // this process has no Python
		w.memory = memory
		if err := w.registerTargets([]byte("a_own")); err != nil {
			t.Error(err)
		}
	}

	// Values of other platforms may be in the host's memory.
	for bad, want := range map[string]string{"": "", "no place of buffers": "", "no devices": "devices: ", "no upload": "copy argument to device: "} {
		p, _, err := load(bad)
		if err != nil {
			t.Fatal(err)
		}
		onHost, err := (&Client{plugin: p, ptr: c.ptr}).onHost()
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) || err == nil && onHost != (bad == "") {
			t.Errorf("%s: the values are on the host: %t, %v", bad, onHost, err)
		}
		if bad == "no devices" || bad == "no upload" {
			if err := (&wrappedPlugin{plugin: p, interposer: i}).register("other", c.ptr); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error is %v", bad, err)
			}
		}
	}
}

// releases counts the calls of Release.
type releases struct {
	remote
	n *int
}

func (r releases) Release() { *r.n++ }

// TestInterposedClientsEnd: the last client of a framework frees the host memory for copies.
func TestInterposedClientsEnd(t *testing.T) {
	n := 0
	w := &wrappedPlugin{memory: releases{n: &n}, clients: 2}
	if w.closed(); n != 0 {
		t.Error("a client remains, but its memory is freed")
	}
	if w.closed(); n != 1 {
		t.Errorf("the memory is freed %d times", n)
	}
	(&wrappedPlugin{memory: hostMemory{}, clients: 1}).closed()
	(&wrappedPlugin{clients: 1}).closed()
}

// TestInterposedDevices: the devices of a framework's program come from the plugin, and their number from the options
// if they say it.
func TestInterposedDevices(t *testing.T) {
	e := compileTimeout(t, doubled(), 0, runtime.CompileOptions{Devices: []int{2, 0}, Replicas: 2})
	loaded := e.programs[clientKey{devices: 0}]
	for key, l := range e.programs {
		if key.level == 0 && !key.spare {
			loaded = l
		}
	}
	w := &wrappedPlugin{plugin: e.backend.plugin}
	for _, c := range [][4]int{{1, 1, 2, 1}, {1, 2, 1, 2}, {2, 1, 2, 1}, {2, 2, 2, 2}} {
		p := &interposedProgram{Replacement: &Replacement{Replicas: c[0], Partitions: c[1]}, owner: w}
		if err := p.findDevices(loaded.ptr); err != nil {
			t.Error(err)
		}
		if got := [4]int{c[0], c[1], p.Replicas, p.Partitions}; got != c || fmt.Sprint(p.position) != "[1 -1 0]" {
			t.Errorf("%v: %v, the positions are %v", c, got, p.position)
		}
	}
	load := badLoader(t)
	for bad, want := range map[string]string{"no device list of programs": "devices of executable: ", "no ordinal": "device ordinal: "} {
		b, _, err := load(bad)
		if err != nil {
			t.Fatal(err)
		}
		p := &interposedProgram{Replacement: &Replacement{Replicas: 1, Partitions: 1}, owner: &wrappedPlugin{plugin: b}}
		if err := p.findDevices(loaded.ptr); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v", bad, err)
		}
	}
	if got := positions(nil); len(got) != 0 {
		t.Errorf("no devices have positions %v", got)
	}
}

// TestInterposedShardings: if the plugin does not say how it partitions the arguments, none is read. Before, an
// argument was read beyond its end if the plugin had no executable to show.
func TestInterposedShardings(t *testing.T) {
	load := badLoader(t)
	e := compileTimeout(t, doubled(), 0, runtime.CompileOptions{})
	loaded := e.programs[clientKey{}].ptr
	const unknown = "the plugin does not report how it partitions the arguments, so they are not written"
	for _, c := range []struct {
		bad        string
		partitions int
		want       string
	}{
		{"", 1, ""},
		{"", 2, unknown}, // the program has no partitions
		{"no executable", 1, ""},
		{"no executable", 2, "executable: "},
		{"no optimized program", 2, unknown},
	} {
		b, _, err := load(c.bad)
		if err != nil {
			t.Fatal(err)
		}
		p := &interposedProgram{Replacement: &Replacement{Replicas: 1, Partitions: c.partitions, Arguments: &RunArguments{}}, owner: &wrappedPlugin{plugin: b}}
		if err := p.findShardings(loaded); (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error is %v", c, err)
		}
		if (p.Arguments == nil) != (c.want != "") {
			t.Errorf("%+v: the arguments are read: %t", c, p.Arguments != nil)
		}
	}
	halves, err := sharding.NewTiled([]int64{2}, []int64{0, 1}, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	took := false
	p := &interposedProgram{shards: []*sharding.Sharding{nil, halves}, owner: &wrappedPlugin{plugin: e.backend.plugin}, Replacement: &Replacement{Partitions: 2,
		Arguments: &RunArguments{Types: []hook.TensorType{{}, tt(tensor.F32)}, Take: func([]*tensor.Tensor) error { took = true; return nil }}}}
	if err := p.takeArguments(make([]*unsafe.Pointer, 2)); err == nil || !strings.HasPrefix(err.Error(), "argument 1: ") || took {
		t.Errorf("error is %v, the arguments are taken: %t", err, took)
	}
}

// begin calls hlocbInterposeBegin.
func begin[P ~int64, S ~uint64, B ~bool, L ~int32](f func(P, **unsafe.Pointer, S, S, *B) L, program int64, devices, arguments int) (launch int64, wait bool) {
	var w B
	lists := make([]*unsafe.Pointer, devices)
	launch = int64(f(P(program), &lists[0], S(devices), S(arguments), &w))
	return launch, bool(w)
}

// end calls hlocbInterposeEnd, and message hlocbInterposeFailure.
func end[L ~int32](f func(L), launch int64) { f(L(launch)) }

func message[L ~int32, T any](f func(L) *T, launch int64) string {
	text := f(L(launch))
	if text == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(text), n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(unsafe.Pointer(text)), n))
}

// TestInterposedRuns: a run of a framework has the devices of its program. Its failure is told once, at its end.
func TestInterposedRuns(t *testing.T) {
	i := &changer{}
	w := &wrappedPlugin{plugin: backend(t).plugin, interposer: i, memory: remote{}}
	one := []hook.Site{hookSite(1, "a", hook.Tap, nil, nil)}
	var failures []error
	add := func(r *Replacement, position ...int32) (int64, *interposedProgram) {
		t.Helper()
		n, err := w.add(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { hlocbInterposeDrop(numbered(hlocbInterposeFind(nil), n)) })
		p := programOf(numbered(hlocbInterposeFind(nil), n))
		p.position = position
		return n, p
	}
	for k, c := range []struct {
		replicas, partitions int
		mayFail              bool
		position             []int32
		devices              int // of the run
		wait                 bool
	}{
		{1, 1, true, []int32{0}, 1, false},
		{1, 1, true, nil, 1, false},
		{2, 2, true, []int32{0, 1, 2, 3}, 4, true},
		{2, 2, false, []int32{0, 1, 2, 3}, 4, false},
		{2, 1, true, []int32{0, 1}, 1, false}, // one process of several
	} {
		r := &Replacement{Manifest: &hook.Manifest{Sites: one}, Replicas: c.replicas, Partitions: c.partitions, MayFail: c.mayFail}
		if k%2 == 0 {
			r.OnFailure = func(err error) { failures = append(failures, err) }
		}
		n, _ := add(r, c.position...)
		for run := int64(1); run < 4; run++ {
			launch, wait := begin(hlocbInterposeBegin, n, c.devices, 0)
			s := find(launch)
			if s == nil || len(s.devices) != c.replicas*c.partitions || s.parts != c.partitions || s.number != run || wait != c.wait ||
				s.several != (c.devices > 1) || s.anywhere != (c.position == nil) || s.memory != (remote{}) {
				t.Fatalf("case %d: run %d is %+v, it waits is %t", k, run, s, wait)
			}
			failures = nil
			want := ""
			if run == 2 {
				s.fail(0, errMine)
				want = errMine.Error()
			}
			if got := message(hlocbInterposeFailure, launch); got != want {
				t.Errorf("case %d: the failure of run %d is %q", k, run, got)
			}
			end(hlocbInterposeEnd, launch)
			if told := len(failures) == 1 && failures[0] == errMine; told != (run == 2 && k%2 == 0) || find(launch) != nil {
				t.Errorf("case %d: the failures of run %d are %v", k, run, failures)
			}
		}
	}
	if end(hlocbInterposeEnd, 0); message(hlocbInterposeFailure, 0) != "" {
		t.Error("an unknown run has failed")
	}
	n, _ := add(&Replacement{Manifest: &hook.Manifest{}, Replicas: 1, Partitions: 1})
	if launch, wait := begin(hlocbInterposeBegin, n, 1, 0); launch != 0 || wait {
		t.Errorf("a run without hooks is %d and waits is %t", launch, wait)
	}
	taken := 0
	n, _ = add(&Replacement{Manifest: &hook.Manifest{}, Replicas: 1, Partitions: 2, Arguments: &RunArguments{Run: 2, Take: func([]*tensor.Tensor) error { taken++; return nil }}})
	for _, c := range []struct {
		devices, arguments, taken int
		warning                   string
	}{{2, 0, 0, ""}, {2, 0, 1, ""}, {2, 0, 1, ""}} {
		begin(hlocbInterposeBegin, n, c.devices, c.arguments)
		if got := i.warned(); got != c.warning || taken != c.taken {
			t.Errorf("%+v: warnings are %q, %d runs were taken", c, got, taken)
		}
	}
	n, _ = add(&Replacement{Manifest: &hook.Manifest{}, Replicas: 1, Partitions: 2, Arguments: &RunArguments{Run: 1, Take: func([]*tensor.Tensor) error { taken++; return nil }}})
	begin(hlocbInterposeBegin, n, 1, 0)
	if got := i.warned(); got != "the program runs with 0 arguments on 1 devices, so they are not written" {
		t.Errorf("warnings are %q", got)
	}

	// A run for which the table of runs is full continues without hooks.
	n, _ = add(&Replacement{Manifest: &hook.Manifest{Sites: one}, Replicas: 1, Partitions: 1})
	liveRuns.mu.Lock()
	free, used := liveRuns.free, liveRuns.used
	liveRuns.free, liveRuns.used = nil, slotCount-1
	liveRuns.mu.Unlock()
	launch, _ := begin(hlocbInterposeBegin, n, 1, 0)
	liveRuns.mu.Lock()
	liveRuns.free, liveRuns.used = free, used
	liveRuns.mu.Unlock()
	if got := i.warned(); launch != 0 || got != errTooManyRuns.Error() {
		t.Errorf("the run is %d, warnings are %q", launch, got)
	}
}

// TestInterposedUnseenDevices: a run that hlocb does not see ends with the error of its hook, on any number of devices.
func TestInterposedUnseenDevices(t *testing.T) {
	w := &wrappedPlugin{plugin: backend(t).plugin, interposer: &changer{}, memory: remote{}}
	for _, c := range []struct {
		replicas, partitions int
		anywhere             bool
	}{{1, 1, true}, {2, 1, false}, {2, 2, false}} {
		failed := 0
		sites := []hook.Site{hookSite(0xabc0, "a", hook.Tap, nil, nil)}
		n, err := w.add(&Replacement{Manifest: &hook.Manifest{Sites: sites}, Replicas: c.replicas, Partitions: c.partitions, OnFailure: func(error) { failed++ }})
		if err != nil {
			t.Fatal(err)
		}
		program := numbered(hlocbInterposeFind(nil), n)
		hlocbInterposeUnseen(program)
		s := findAttached(0xabc0)
		if s == nil || len(s.devices) != c.replicas*c.partitions || s.parts != c.partitions || s.anywhere != c.anywhere || s.several || s.memory != (remote{}) || s.failed == nil {
			t.Errorf("%+v: the session is %+v", c, s)
		} else if err := s.skip(nil, 0, errMine); err != errMine {
			t.Errorf("%+v: error is %v", c, err)
		}
		hlocbInterposeDrop(program)
		hlocbInterposeDrop(program)
		detach(s)
	}
}

// TestPanicsAreWarnings: neither an error nor a panic of an interposer crosses into C.
func TestPanicsAreWarnings(t *testing.T) {
	i := &changer{}
	w := &wrappedPlugin{interposer: i}
	w.guard(func() error { return nil })
	if got := i.warned(); got != "" {
		t.Errorf("warnings are %q", got)
	}
	w.guard(func() error { return errMine })
	w.guard(func() error { panic("here") })
	if got, want := i.warned(), errMine.Error()+"; internal error: here"; got != want {
		t.Errorf("warnings are %q, expected %q", got, want)
	}
}
