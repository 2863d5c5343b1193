//go:build cgo

package pjrt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// farInput names the variable with the path of the far plugin for the child process of TestFarMemory.
const farInput = "HLOCB_TEST_FAR"

// farPlugin compiles testdata/far_plugin.c.
func farPlugin(t *testing.T, flags ...string) string {
	t.Helper()
	cpu := cpuPlugin(t)
	return sharedLibrary(t, "cc", "testdata/far_plugin.c", append(flags, "-Wall", "-Werror", "-DPLUGIN=\""+cpu+"\"", "-ldl")...)
}

// movesValues lists tests that also pass if the host cannot read the plugin's memory. concurrently lists tests in which
// several threads move values. ends lists tests that wait long or fill the memory.
var (
	movesValues = []string{"ChainedOrder", "UnchainedHook", "FeedAndSeveralResults", "TapIsAliased", "HandlersOfExecutablesDoNotMix", "HandlerFails",
		"CancelStopsAtTheNextHook", "ArgumentsAreChecked", "UnwrittenResult", "HookOutsideTheManifest", "NoAllocationPerCall",
		"InternalPanicNamesTheHook", "GoexitNamesTheHook", "FailureOnOneDevice", "ShardyPartitions", "TimeoutOnSeveralDevices",
		"InOutWritesInPlace", "Needs", "Dispatch", "Targets"}
	concurrently = []string{"ConcurrentRuns", "Replicas", "SlowDevice", "ReentryOnSeveralDevices", "TimeoutKeepsValues", "DevicePointers"}
	ends         = []string{"Reentry", "Timeout", "TimeoutErrorsAndReentry", "NothingIsLeft", "HugeOperand"}
)

// TestFarMemory runs tests of this package in another process, on a plugin whose memory the host cannot read: an access
// without the plugin's copy function ends that process with a signal.
func TestFarMemory(t *testing.T) {
	label.Once(t)
	tests := append(slices.Clone(movesValues), concurrently...)
	if label.Less() {
		testFar(t, farPlugin(t), "[[]5?[]]", tests...)
	} else {
		testFar(t, farPlugin(t), "", append(tests, ends...)...)
	}
}

// TestNoEventsOnCUDA: executions on a GPU, which hlocb awaits actively, may have no events. Before, that was a crash.
func TestNoEventsOnCUDA(t *testing.T) {
	path := farPlugin(t, "-DCUDA", "-DHOLE")
	t.Setenv(cudaDriver, path)
	testFar(t, path, "[[]5[]]", "InOutWritesInPlace")
}

// TestOneCUDADriver: all clients of a plugin share one CUDA driver. Before, each client opened one and left it open.
func TestOneCUDADriver(t *testing.T) {
	t.Setenv(cudaDriver, farPlugin(t, "-DCUDA"))
	p := &Plugin{path: "cuda.so"}
	first, err := p.Memory("cuda")
	if err != nil {
		t.Fatal(err)
	}
	if second, err := p.Memory("cuda"); err != nil || second != first {
		t.Errorf("another client has %v, expected %v: %v", second, first, err)
	}
}

// TestTrim: only a command asks the allocator of the whole process to return its memory after a compilation.
func TestTrim(t *testing.T) {
	const variable = "HLOCB_TEST_TRIM"
	if trim := os.Getenv(variable); trim != "" {
		b, err := Open(cpuPlugin(t), Options{Trim: trim == "true"})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if _, err := b.Compile(t.Context(), program("(%x: tensor<f32>) -> tensor<f32>", "return %x : tensor<f32>\n"), runtime.CompileOptions{}); err != nil {
			t.Fatal(err)
		}
		return
	}
	cpuPlugin(t)
	library := sharedLibrary(t, "cc", "testdata/trim.c")
	for _, trim := range []bool{false, true} {
		cmd := peer.Command(os.Args[0], "-test.run=^TestTrim$", "-test.v")
		cmd.Env = append(os.Environ(), fmt.Sprint(variable, "=", trim), "LD_PRELOAD="+library)
		out, err := cmd.CombinedOutput()
		if trimmed := strings.Contains(string(out), "trimmed"); err != nil || !strings.Contains(string(out), "--- PASS") || trimmed != trim {
			t.Errorf("Trim: %v: %v\n%s", trim, err, out)
		}
	}
}

// TestCopyBehindHole: the function that copies is found if the plugin's table lacks a function before it.
func TestCopyBehindHole(t *testing.T) {
	for _, flags := range [][]string{nil, {"-DHOLE"}} {
		p, err := Load(farPlugin(t, flags...))
		if err != nil {
			t.Fatal(err)
		}
		if p.copy == nil {
			t.Errorf("%v: no function that copies", flags)
		}
	}
}

// TestCUDAMemory is TestFarMemory for CUDA's plugin and driver, which are made of the CPU plugin too. The race detector
// sees only the tests with several threads.
func TestCUDAMemory(t *testing.T) {
	path := farPlugin(t, "-DCUDA")
	t.Setenv(cudaDriver, path)
	tests := slices.Clone(concurrently)
	switch {
	case raceEnabled:
	case label.Less(): // TestFarMemory runs the others
		tests = append(tests, "Needs", "InOutWritesInPlace", "FeedAndSeveralResults", "HandlerFails", "FailureOnOneDevice", "Dispatch", "Targets", "UnwrittenResult", "InternalPanicNamesTheHook")
	default:
		tests = append(tests, movesValues...)
	}
	testFar(t, path, "[[]5[]]", tests...)
}

// testFar runs tests in another process, on the plugin in a file, and the subtests of TestTypesAtTheBoundary whose
// names match types.
func testFar(t *testing.T, path, types string, names ...string) {
	if os.Getenv(farInput) != "" {
		t.Skip("skip: this is the child process")
	}
	c := peer.Command(os.Args[0], "-test.v", "-test.run", "^Test("+strings.Join(names, "|")+")$|^TestTypesAtTheBoundary$/"+types)
	c.Env = append(os.Environ(), farInput+"="+path)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range append(names, "TypesAtTheBoundary") {
		if raceEnabled && name == "NoAllocationPerCall" {
			continue // skipped under the race detector
		}
		if !strings.Contains(string(out), "--- PASS: Test"+name+" ") {
			t.Errorf("Test%s did not run or was skipped", name)
		}
	}
}

// copyCounter counts the copies between host and device. The handlers of several devices copy at the same time; the
// counts may be read after the run.
type copyCounter struct {
	DeviceMemory
	mu            sync.Mutex
	read, written int
}

func (c *copyCounter) ToHost(queue unsafe.Pointer, dst []byte, src unsafe.Pointer) error {
	c.mu.Lock()
	c.read++
	c.mu.Unlock()
	return c.DeviceMemory.ToHost(queue, dst, src)
}

func (c *copyCounter) FromHost(queue, dst unsafe.Pointer, src []byte) error {
	c.mu.Lock()
	c.written++
	c.mu.Unlock()
	return c.DeviceMemory.FromHost(queue, dst, src)
}

// countingBackend opens a backend for one test, whose copies are counted.
func countingBackend(t *testing.T) (*Backend, *copyCounter) {
	t.Helper()
	b, err := Open(cpuPlugin(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	client, err := b.Client()
	if err != nil {
		t.Fatal(err)
	}
	memory := &copyCounter{DeviceMemory: client.memory}
	client.memory = memory
	return b, memory
}

// pointerHandler is a handler that says how it reaches memory.
type pointerHandler struct {
	use    runtime.MemoryUse
	handle func(c *runtime.Call) error
}

func (p pointerHandler) MemoryUse() runtime.MemoryUse                    { return p.use }
func (p pointerHandler) Handle(_ context.Context, c *runtime.Call) error { return p.handle(c) }

// TestDevicePointers: handlers reach values by device pointers, and a value is copied to the host only if a handler has
// host views.
func TestDevicePointers(t *testing.T) {
	b, memory := countingBackend(t)
	far := !memory.Readable()

	v := tt(tensor.F32, 4)
	in, out := []hook.TensorType{v}, []hook.TensorType{v}
	arg := f32(tensor.Shape{4}, 1, 2, 3, 4)
	pointers := runtime.MemoryUse{DevicePointers: true}
	at := func(p runtime.DevicePointer) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p.Address)) }
	queue := func(c *runtime.Call) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&c.Stream)) }
	read := func(c *runtime.Call, p runtime.DevicePointer) string {
		values := f32(tensor.Shape{4})
		if p.Size != 16 || p.Memory != memory.Kind() {
			return fmt.Sprintf("%+v", p)
		}
		if err := errors.Join(memory.DeviceMemory.ToHost(queue(c), values.Bytes(), at(p)), memory.Wait(queue(c))); err != nil {
			return err.Error()
		}
		return fmt.Sprint(tensor.View[float32](values))
	}
	write := func(c *runtime.Call, p runtime.DevicePointer, values ...float32) error {
		return memory.DeviceMemory.FromHost(queue(c), at(p), f32(tensor.Shape{4}, values...).Bytes())
	}
	expect := func(what, got, want string) error {
		if got != want {
			return fmt.Errorf("%s %s, expected %s", what, got, want)
		}
		return nil
	}
	host := pointerHandler{runtime.MemoryUse{HostViews: true}, func(c *runtime.Call) error {
		return expect("the host sees", fmt.Sprint(tensor.View[float32](c.Operands[0])), "[1 2 3 4]")
	}}
	for _, c := range []struct {
		name          string
		kind          hook.Kind
		observers     []runtime.Handler
		answer        runtime.Handler
		result        string
		read, written int // copies if the memory is far
	}{
		{name: "observer with pointers", kind: hook.Tap, observers: []runtime.Handler{pointerHandler{pointers, func(c *runtime.Call) error {
			if far && len(c.Operands[0].Peek()) != 0 {
				return errors.New("there is a host view that no handler requested")
			}
			return expect("the operand is", read(c, c.OperandPointers[0]), "[1 2 3 4]")
		}}}, result: "[1 2 3 4]"},
		{name: "observers of both", kind: hook.Tap, observers: []runtime.Handler{host, pointerHandler{pointers, func(c *runtime.Call) error {
			return expect("the operand is", read(c, c.OperandPointers[0]), "[1 2 3 4]")
		}}}, result: "[1 2 3 4]", read: 1},
		{name: "responder with pointers", kind: hook.Call, answer: pointerHandler{pointers, func(c *runtime.Call) error {
			return errors.Join(expect("the operand is", read(c, c.OperandPointers[0]), "[1 2 3 4]"), write(c, c.ResultPointers[0], 5, 6, 7, 8))
		}}, result: "[5 6 7 8]"},
		{name: "responder with both", kind: hook.Call, answer: pointerHandler{runtime.MemoryUse{HostViews: true, DevicePointers: true}, func(c *runtime.Call) error {
			copy(tensor.View[float32](c.Results[0]), []float32{9, 9, 9, 9})
			return expect("the operand is", read(c, c.OperandPointers[0]), "[1 2 3 4]")
		}}, result: "[9 9 9 9]", read: 1, written: 1},
		{name: "inout with pointers", kind: hook.InOut, answer: pointerHandler{pointers, func(c *runtime.Call) error {
			if c.OperandPointers[0] != c.ResultPointers[0] {
				return errors.New("operand and result differ")
			}
			return write(c, c.ResultPointers[0], 5, 6, 7, 8)
		}}, result: "[5 6 7 8]"},
		{name: "observed inout", kind: hook.InOut, observers: []runtime.Handler{host}, result: "[1 2 3 4]", read: 1},
		{name: "host views", kind: hook.InOut, answer: pointerHandler{runtime.MemoryUse{HostViews: true}, func(c *runtime.Call) error {
			tensor.View[float32](c.Results[0])[0] = 7
			return nil
		}}, result: "[7 2 3 4]", read: 1, written: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := hookSite(1, "h", c.kind, in, out)
			p := program("(%x: tensor<4xf32>) -> tensor<4xf32>", hookCall("%r", s, "%c0", "%x")+"return %r#1 : tensor<4xf32>\n", s)
			var bindings runtime.Bindings
			for _, o := range c.observers {
				bindings.Observe("h", o)
			}
			if c.answer != nil {
				bindings.Answer("h", c.answer)
			}
			e, err := b.Compile(context.Background(), p, runtime.CompileOptions{Handlers: &bindings})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			memory.read, memory.written = 0, 0
			results, err := e.Run(context.Background(), []*tensor.Tensor{arg})
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(tensor.View[float32](results[0])); got != c.result {
				t.Errorf("result is %s, expected %s", got, c.result)
			}
			if want := [2]int{c.read, c.written}; far && [2]int{memory.read, memory.written} != want {
				t.Errorf("%d values read and %d written, expected %v", memory.read, memory.written, want)
			} else if !far && memory.read+memory.written != 0 {
				t.Errorf("%d copies of memory that the host reads", memory.read+memory.written)
			}
			if strings.Contains(c.name, "pointers") {
				_, err := b.Compile(context.Background(), p, runtime.CompileOptions{Handlers: &bindings, Timeout: handlerLimit})
				if refused := (*runtime.BindError)(nil); !errors.As(err, &refused) {
					t.Errorf("with a time limit: %v, expected a refusal", err)
				}
			}
		})
	}
}

// TestAnswerMayBeWrittenWhileReading: the result of a hook lies in the memory of its operand. A handler that asks for
// device pointers and for host views reads the operand's values while it writes the result. (If no handler asks for
// device pointers, the program is compiled without the alias.)
func TestAnswerMayBeWrittenWhileReading(t *testing.T) {
	v := tt(tensor.F32, 5)
	s := hookSite(1, "h", hook.Call, []hook.TensorType{v}, []hook.TensorType{v})
	s.Aliases = []int{0}
	const chain = "#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>"
	body := "%y = stablehlo.add %x, %x : tensor<5xf32>\n" + hookCall("%r", s, "%c0", "%y") + "return %r#1 : tensor<5xf32>\n"
	if !strings.Contains(body, chain) {
		t.Fatal("the call has no alias for its chain:", body)
	}
	body = strings.Replace(body, chain, chain+", "+strings.NewReplacer("[0]", "[1]", "index = 0", "index = 1").Replace(chain), 1)
	for _, use := range []runtime.MemoryUse{{HostViews: true}, {HostViews: true, DevicePointers: true}} {
		same := false
		var b runtime.Bindings
		b.Answer("h", pointerHandler{use, func(c *runtime.Call) error {
			same = use.DevicePointers && c.OperandPointers[0] == c.ResultPointers[0]
			x, y := tensor.View[float32](c.Operands[0]), tensor.View[float32](c.Results[0])
			for i := range x {
				y[i] = x[len(x)-1-i]
			}
			return nil
		}})
		e := compile(t, program("(%x: tensor<5xf32>) -> tensor<5xf32>", body, s), &b)
		results, err := e.Run(context.Background(), []*tensor.Tensor{f32(tensor.Shape{5}, 1, 2, 3, 4, 5)})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(tensor.View[float32](results[0])); got != "[10 8 6 4 2]" {
			t.Errorf("%+v: reversed is %s", use, got)
		}
		if use.DevicePointers && !same {
			t.Error("operand and result do not share memory: the test tests nothing")
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}
