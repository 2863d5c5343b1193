//go:build cgo

package pjrt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// changer is an Interposer whose answers a test sets.
type changer struct {
	settings string
	compile  func(code []byte, format string, options []byte) (*Replacement, error)
	load     func(saved []byte) (*Replacement, error)
	targets  map[string]Target
	mu       sync.Mutex
	warnings []string
}

func (c *changer) Settings() string { return c.settings }

func (c *changer) Compile(code []byte, format string, options []byte) (*Replacement, error) {
	if c.compile == nil {
		return nil, nil
	}
	return c.compile(code, format, options)
}

func (c *changer) Load(saved []byte) (*Replacement, error) { return c.load(saved) }
func (c *changer) Targets() map[string]Target              { return c.targets }

func (c *changer) Warn(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.warnings = append(c.warnings, err.Error())
}

// warned returns the warnings since the last call, each up to a line end.
func (c *changer) warned() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, w := range c.warnings {
		line, _, _ := strings.Cut(w, "\n")
		out = append(out, line)
	}
	c.warnings = nil
	return strings.Join(out, "; ")
}

// picky is a handler that serves no hook.
type picky struct{}

func (picky) Handle(context.Context, *runtime.Call) error { return nil }
func (picky) CheckSite(*hook.Site) error                  { return errMine }

// wrapped holds the process's wrapped CPU plugin: a process has few copies of tables, and clients are expensive.
var wrapped struct {
	once sync.Once
	i    *changer
	b    *Backend
	err  error
}

// badPlugin compiles testdata/bad_plugin.c, the CPU plugin with a table of its own, or skips the test.
func badPlugin(t *testing.T) string {
	t.Helper()
	t.Setenv("REAL_PLUGIN", cpuPlugin(t))
	return sharedLibrary(t, "cc", "testdata/bad_plugin.c", "-ldl")
}

// framework returns a backend that stands for a framework whose plugin hlocb wraps, with the interposer.
func framework(t *testing.T) (*Backend, *changer) {
	t.Helper()
	wrapped.once.Do(func() {
		library := badPlugin(t)
		t.Setenv("BAD", "")
		i := &changer{settings: "; test", targets: map[string]Target{
			"test_double": func(c *TargetCall) error {
				for k, x := range tensor.View[float32](c.Operands[0]) {
					tensor.View[float32](c.Results[0])[k] = 2 * x
				}
				return nil
			},
		}}
		real, err := Load(library) // initializes the plugin
		if err != nil {
			wrapped.err = err
			return
		}
		address, err := InterposePlugin(library, i)
		if err != nil {
			wrapped.err = err
			return
		}
		if again, err := Interpose(real.API(), library, &changer{}); err != nil || again != address {
			t.Errorf("a second copy is %#x, expected %#x: %v", again, address, err)
		}
		if again, err := Interpose(address, library, &changer{}); err != nil || again != address {
			t.Errorf("a copy of the copy is %#x, expected %#x: %v", again, address, err)
		}
		p := &Plugin{path: library, attributes: real.attributes, registered: map[string]registration{}, build: "test"}
		*(*uintptr)(unsafe.Pointer(&p.api)) = address
		b := &Backend{plugin: p, name: "framework", delays: defaultDelays, gone: make(chan struct{}), clients: map[clientKey]*Client{}, executables: map[*Executable]struct{}{}}
		b.changed.L = &b.mu
		wrapped.i, wrapped.b = i, b
	})
	if wrapped.b == nil {
		cpuPlugin(t) // skips
		t.Fatal(wrapped.err)
	}
	i := wrapped.i
	i.compile, i.load = nil, nil
	i.warned()
	t.Cleanup(func() {
		i.compile, i.load = nil, nil
		left := func() int {
			interposed.mu.Lock()
			n := len(interposed.list)
			interposed.mu.Unlock()
			objects.Range(func(any, any) bool { n++; return true })
			contexts.Lock()
			defer contexts.Unlock()
			return n + len(contexts.live)
		}
		n := left()
		for end := time.Now().Add(10 * time.Second); n != 0 && time.Now().Before(end); n = left() {
			time.Sleep(time.Millisecond) // executions on several devices end later
		}
		if n != 0 {
			t.Errorf("%d programs, objects and contexts are left", n)
		}
	})
	return wrapped.b, i
}

// doubled is a framework's program; tapped is the same with a hook.
func doubled() *runtime.Program {
	return program("(%x: tensor<2xf32>) -> tensor<2xf32>", "%y = stablehlo.add %x, %x : tensor<2xf32>\nreturn %y : tensor<2xf32>\n")
}

func tapped(kind hook.Kind) *runtime.Program {
	v := tt(tensor.F32, 2)
	s := hookSite(0x501, "h", kind, []hook.TensorType{v}, []hook.TensorType{v})
	s.Aliases = []int{0}
	return program("(%x: tensor<2xf32>) -> tensor<2xf32>", "%y = stablehlo.add %x, %x : tensor<2xf32>\n"+hookCall("%r", s, "%c0", "%y")+"return %r#1 : tensor<2xf32>\n", s)
}

// replaced returns a replacement by a program.
func replaced(t *testing.T, b *Backend, p *runtime.Program, h *runtime.Bindings) *Replacement {
	t.Helper()
	code, err := b.plugin.code(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return &Replacement{Code: code.bytes, Manifest: p.Manifest, Handlers: h, Replicas: 1, Partitions: 1}
}

func floats(list ...*tensor.Tensor) string {
	var out []string
	for _, v := range list {
		out = append(out, fmt.Sprintf("%s%v", hook.TypeOf(v), tensor.View[float32](v)))
	}
	return strings.Join(out, " ")
}

// compiled compiles a framework's program.
func compiled(t *testing.T, b *Backend, p *runtime.Program, opts runtime.CompileOptions) *Executable {
	t.Helper()
	e, err := b.Compile(context.Background(), p, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e.(*Executable)
}

// TestInterposed: a framework's program gets a hook. It receives the events of each run, also after the framework has
// saved the program and loaded it, and the arguments of the run that it asks for. Without programs nothing is left.
func TestInterposed(t *testing.T) {
	b, i := framework(t)
	var events []string
	h := observe(func(c *runtime.Call) {
		events = append(events, fmt.Sprintf("%s run %d device %d seq %d %s", c.Site.Name, c.Run, c.Device, c.Seq, floats(c.Operands[0])))
	})
	var taken string
	var formats []string
	i.compile = func(code []byte, format string, options []byte) (*Replacement, error) {
		replicas, partitions := DeviceCounts(options)
		formats = append(formats, fmt.Sprintf("%s %t %d %d", format, strings.Contains(string(code), "StableHLO"), replicas, partitions))
		r := replaced(t, b, tapped(hook.Tap), h)
		r.Saved = []byte("what\x00was saved")
		r.Arguments = &RunArguments{Run: 2, Types: []hook.TensorType{tt(tensor.F32, 2)}, Take: func(args []*tensor.Tensor) error {
			taken += floats(args...)
			return errMine
		}}
		return r, nil
	}
	i.load = func(saved []byte) (*Replacement, error) {
		if string(saved) != "what\x00was saved" {
			return nil, fmt.Errorf("saved is %q", saved)
		}
		return &Replacement{Manifest: tapped(hook.Tap).Manifest, Handlers: h, Replicas: 1, Partitions: 1}, nil
	}
	e := compiled(t, b, doubled(), runtime.CompileOptions{})
	if want := "[mlir true 1 1]"; fmt.Sprint(formats) != want {
		t.Errorf("the interposer got %v, expected %s", formats, want)
	}
	for n := 1; n <= 3; n++ {
		events = nil
		x := float32(n)
		out := run(t, e, f32(tensor.Shape{2}, x, 3))
		if got, want := floats(out...), fmt.Sprintf("tensor<2xf32>[%v 6]", 2*x); got != want {
			t.Errorf("run %d gives %s, expected %s", n, got, want)
		}
		if got, want := fmt.Sprint(events), fmt.Sprintf("[h run %d device 0 seq 0 tensor<2xf32>[%v 6]]", n, 2*x); got != want {
			t.Errorf("events are %s, expected %s", got, want)
		}
		warning := map[int]string{2: errMine.Error()}[n]
		if got := i.warned(); got != warning {
			t.Errorf("run %d: warnings are %q, expected %q", n, got, warning)
		}
	}
	if want := "tensor<2xf32>[2 3]"; taken != want {
		t.Errorf("the arguments are %s, expected %s", taken, want)
	}
	saved, err := e.Save()
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := b.Load(context.Background(), saved, runtime.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	events = nil
	out := run(t, loaded.(*Executable), f32(tensor.Shape{2}, 4, 5))
	if got, want := fmt.Sprintf("%s %v %s", floats(out...), events, i.warned()), "tensor<2xf32>[8 10] [h run 1 device 0 seq 0 tensor<2xf32>[8 10]] "; got != want {
		t.Errorf("the loaded program: %s, expected %s", got, want)
	}
	i.load = func([]byte) (*Replacement, error) { return nil, errMine }
	again, err := b.Load(context.Background(), saved, runtime.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	if got := i.warned(); got != errMine.Error() {
		t.Errorf("warnings are %q", got)
	}
	if c, err := b.Client(); err != nil || !strings.HasSuffix(c.PlatformVersion(), "; test") {
		t.Errorf("the platform's version %q lacks the settings: %v", c.PlatformVersion(), err)
	}
}

// TestInterposedArgumentsDiffer: a run whose arguments are not those that the interposer expects runs, with a warning.
func TestInterposedArgumentsDiffer(t *testing.T) {
	b, i := framework(t)
	var taken []string
	for _, c := range []struct {
		types []hook.TensorType
		want  string
	}{
		{[]hook.TensorType{{}, {}}, "the program runs with 1 arguments on 1 devices, so they are not written"},
		{nil, "the program runs with 1 arguments on 1 devices, so they are not written"},
		{[]hook.TensorType{{}}, ""},
	} {
		taken = nil
		i.compile = func([]byte, string, []byte) (*Replacement, error) {
			r := replaced(t, b, doubled(), nil)
			r.Manifest = &hook.Manifest{}
			r.Arguments = &RunArguments{Run: 1, Types: c.types, Take: func(args []*tensor.Tensor) error {
				taken = append(taken, fmt.Sprint(args[0] == nil))
				return nil
			}}
			return r, nil
		}
		e := compiled(t, b, doubled(), runtime.CompileOptions{})
		run(t, e, f32(tensor.Shape{2}, 1, 2))
		if got := i.warned(); got != c.want {
			t.Errorf("%v: warnings are %q, expected %q", c.types, got, c.want)
		}
		if got := fmt.Sprint(taken); (c.want == "") != (got == "[true]") {
			t.Errorf("%v: taken %s", c.types, got)
		}
	}
}

// TestInterposedUnchanged: whatever the interposer answers, the framework's program runs.
func TestInterposedUnchanged(t *testing.T) {
	b, i := framework(t)
	for _, c := range []struct {
		name    string
		compile func() (*Replacement, error)
		want    string // the start of the warning
	}{
		{"nothing", func() (*Replacement, error) { return nil, nil }, ""},
		{"error", func() (*Replacement, error) { return nil, errMine }, errMine.Error()},
		{"panic", func() (*Replacement, error) { panic("here") }, "internal error: here"},
		{"error beside a program", func() (*Replacement, error) {
			return replaced(t, b, tapped(hook.InOut), answer(func(_ context.Context, c *runtime.Call) error { return errors.New("called") })), errMine
		}, errMine.Error()},
		{"bad code", func() (*Replacement, error) {
			return &Replacement{Code: []byte("no program"), Manifest: &hook.Manifest{}, Replicas: 1, Partitions: 1}, nil
		}, "the plugin refuses the program with probes, so it runs untapped: "},
		{"unbound", func() (*Replacement, error) {
			h := &runtime.Bindings{}
			h.Answer("h", picky{})
			return replaced(t, b, tapped(hook.InOut), h), nil
		}, `hook "h"`},
		{"no code", func() (*Replacement, error) {
			return &Replacement{Manifest: &hook.Manifest{}, Replicas: 1, Partitions: 1}, nil
		}, ""},
	} {
		i.compile = func([]byte, string, []byte) (*Replacement, error) { return c.compile() }
		e := compiled(t, b, doubled(), runtime.CompileOptions{})
		if got := floats(run(t, e, f32(tensor.Shape{2}, 1, 2))...); got != "tensor<2xf32>[2 4]" {
			t.Errorf("%s: result is %s", c.name, got)
		}
		if got := i.warned(); !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: warnings are %q, expected %q", c.name, got, c.want)
		}
	}
}

// TestInterposedFailure: a handler that fails ends the run of the framework, on one device by the hook's error, and on
// several devices by the execution's, if the interposer says that a handler may fail.
func TestInterposedFailure(t *testing.T) {
	b, i := framework(t)
	for _, c := range []struct {
		devices int
		mayFail bool
		fails   bool // the run
	}{{1, false, true}, {1, true, true}, {2, false, false}, {2, true, true}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			var mu sync.Mutex
			var failures []error
			failing := true
			devices := map[int]int{}
			h := answer(func(_ context.Context, call *runtime.Call) error {
				mu.Lock()
				defer mu.Unlock()
				devices[call.Replica]++
				if failing && call.Device == c.devices-1 {
					return errMine
				}
				return nil
			})
			i.compile = func([]byte, string, []byte) (*Replacement, error) {
				r := replaced(t, b, tapped(hook.InOut), h)
				r.Replicas, r.MayFail = c.devices, c.mayFail
				r.OnFailure = func(err error) { mu.Lock(); failures = append(failures, err); mu.Unlock() }
				return r, nil
			}
			e := compiled(t, b, doubled(), runtime.CompileOptions{Replicas: c.devices})
			_, err := e.Run(context.Background(), []*tensor.Tensor{f32(tensor.Shape{2}, 1, 2)})
			if c.fails != (err != nil) || err != nil && !strings.Contains(err.Error(), errMine.Error()) {
				t.Errorf("error is %v", err)
			}
			e.Close()
			failed := func() bool {
				mu.Lock()
				defer mu.Unlock()
				return len(failures) > 0
			}
			for end := time.Now().Add(10 * time.Second); !failed() && time.Now().Before(end); time.Sleep(time.Millisecond) {
			} // a run of several devices may end after its execution has returned
			var he *runtime.HookError
			mu.Lock()
			if len(failures) != 1 || !errors.As(failures[0], &he) || he.Device != c.devices-1 || he.Hook != "h" || !errors.Is(he, errMine) {
				t.Errorf("failures are %v", failures)
			}
			failing = false
			clear(devices)
			mu.Unlock()
			e = compiled(t, b, doubled(), runtime.CompileOptions{Replicas: c.devices})
			if got := floats(run(t, e, f32(tensor.Shape{2}, 1, 2))...); got != "tensor<2xf32>[2 4]" {
				t.Errorf("result is %s", got)
			}
			mu.Lock()
			defer mu.Unlock()
			if len(devices) != c.devices || len(failures) != 1 {
				t.Errorf("hooks of %v, failures %v", devices, failures)
			}
			if got := i.warned(); got != "" {
				t.Errorf("warnings are %q", got)
			}
		})
	}
}

// TestInterposedPartitions: the arguments of a partitioned run are whole, and hooks say their partitions.
func TestInterposedPartitions(t *testing.T) {
	b, i := framework(t)
	text := `module @m attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main(%%x: tensor<4xf32> {mhlo.sharding = "{devices=[2]0,1}"}, %%y: tensor<2xf32> {mhlo.sharding = "{replicated}"}) -> (tensor<4xf32> {mhlo.sharding = "{devices=[2]0,1}"}) {
%%r = stablehlo.add %%x, %%x : tensor<4xf32>
return %%r : tensor<4xf32>
}
}
`
	p := &runtime.Program{Module: mustParse(strings.ReplaceAll(text, "%%", "%"))}
	var taken string
	for types, want := range map[int]string{2: "", 1: "the plugin does not report how it partitions the arguments, so they are not written"} {
		i.compile = func(code []byte, _ string, options []byte) (*Replacement, error) {
			replicas, partitions := DeviceCounts(options)
			r := &Replacement{Manifest: &hook.Manifest{}, Replicas: replicas, Partitions: partitions}
			list := []hook.TensorType{tt(tensor.F32, 4), tt(tensor.F32, 2)}
			r.Arguments = &RunArguments{Run: 1, Types: list[:types], Take: func(args []*tensor.Tensor) error { taken += floats(args...); return nil }}
			return r, nil
		}
		e := compiled(t, b, p, runtime.CompileOptions{})
		out := run(t, e, f32(tensor.Shape{4}, 1, 2, 3, 4), f32(tensor.Shape{2}, 5, 6))
		if got := floats(out...); got != "tensor<4xf32>[2 4 6 8]" {
			t.Errorf("result is %s", got)
		}
		if got := i.warned(); got != want {
			t.Errorf("%d types: warnings are %q, expected %q", types, got, want)
		}
	}
	if want := "tensor<4xf32>[1 2 3 4] tensor<2xf32>[5 6]"; taken != want {
		t.Errorf("the arguments are %s, expected %s", taken, want)
	}
}

// TestInterposedTargets: programs call the targets that the interposer computes. JAX's own callbacks say why they
// cannot call Python. Before, an execution without a context was a crash.
func TestInterposedTargets(t *testing.T) {
	b, i := framework(t)
	call := func(target, config string) *runtime.Program {
		return program("(%x: tensor<2xf32>) -> tensor<2xf32>", fmt.Sprintf("%%y = stablehlo.custom_call @%s(%%x) {api_version = 4 : i32, has_side_effect = true, backend_config = {%s}} : (tensor<2xf32>) -> tensor<2xf32>\nreturn %%y : tensor<2xf32>\n", target, config))
	}
	for _, c := range []struct{ target, config, want, err string }{
		{"test_double", "", "tensor<2xf32>[2 4]", ""},
		{"xla_ffi_python_cpu_callback", "index = 0 : ui64", "", "the caller attached no Python functions to this execution; only JAX does"},
		{"xla_ffi_partitioned_python_cpu_callback", "index = 7 : ui64", "", "the caller attached no Python functions to this execution; only JAX does"},
		{"xla_ffi_python_cpu_callback", "other = 1 : i64", "", "the callback has no integer attribute 'index'"},
	} {
		e := compiled(t, b, call(c.target, c.config), runtime.CompileOptions{})
		out, err := e.Run(context.Background(), []*tensor.Tensor{f32(tensor.Shape{2}, 1, 2)})
		if got := floats(out...); got != c.want || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %s, %v, expected %s %s", c.target, got, err, c.want, c.err)
		}
	}
	if got := i.warned(); got != "" {
		t.Errorf("warnings are %q", got)
	}
	if list, err := PythonHandlers("cpu"); err != nil || len(list) != 0 {
		t.Errorf("handlers of Python: %v %v", list, err)
	}
	if err := (PythonCallback{}).Handle(context.Background(), &runtime.Call{}); err == nil || !strings.Contains(err.Error(), "outside of a plugin's run") {
		t.Errorf("error is %v", err)
	}
}

// TestExecutionContexts: a context is destroyed once, by its owner or after the last execution that uses it.
func TestExecutionContexts(t *testing.T) {
	at := unsafe.Pointer(new(int))
	for _, c := range []struct{ steps, want string }{ // k: kept by an execution, r: released by one, d: destroyed by the owner
		{"d", "d"}, {"krd", "..d"}, {"kdr", "..r"}, {"kkdrr", "....r"}, {"kkrdr", "....r"}, {"kkrrd", "....d"}, {"krkdr", "....r"},
	} {
		got := ""
		for _, step := range c.steps {
			now := false
			switch step {
			case 'k':
				hlocbInterposeKeep(at)
			case 'r':
				now = bool(hlocbInterposeRelease(at))
			case 'd':
				now = bool(hlocbInterposeDestroy(at))
			}
			if now {
				got += string(step)
			} else {
				got += "."
			}
		}
		if got != c.want || len(contexts.live) != 0 {
			t.Errorf("%s: destroyed at %s, expected %s; %d contexts are left", c.steps, got, c.want, len(contexts.live))
		}
	}
}
