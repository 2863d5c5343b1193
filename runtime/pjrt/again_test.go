//go:build cgo

package pjrt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestCallsAreReused: a call of an earlier run leaves nothing to a later call: each has the pointers, heads and
// statistics of its own operands and results.
func TestCallsAreReused(t *testing.T) {
	b, memory := countingBackend(t)
	v := tt(tensor.F32, 4)
	s := hookSite(1, "h", hook.Call, []hook.TensorType{v, v}, []hook.TensorType{v})
	p := program("(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32>", hookCall("%r", s, "%c0", "%x", "%y")+"return %r#1 : tensor<4xf32>\n", s)
	for _, c := range []struct {
		memory DeviceMemory
		use    runtime.MemoryUse
		want   [4]int // pointers of operands and of results, heads, statistics
	}{
		{hostMemory{}, runtime.MemoryUse{HostViews: true}, [4]int{}},
		{hostMemory{}, runtime.MemoryUse{HostViews: true, DevicePointers: true}, [4]int{2, 1, 0, 0}},
		{remote{}, runtime.MemoryUse{HostViews: true, DevicePointers: true}, [4]int{2, 1, 0, 0}},
		{remote{}, runtime.MemoryUse{Head: 2}, [4]int{0, 0, 2, 0}},
		{remote{}, runtime.MemoryUse{HostViews: true, Head: 2}, [4]int{}},
		{remote{}, runtime.MemoryUse{Statistics: true}, [4]int{0, 0, 0, 2}},
		{remote{}, runtime.MemoryUse{Statistics: true, Head: 2}, [4]int{0, 0, 2, 2}},
	} {
		memory.DeviceMemory = c.memory
		var got [4]int
		h := &runtime.Bindings{}
		h.Answer("h", pointerHandler{c.use, func(call *runtime.Call) error {
			got = [4]int{len(call.OperandPointers), len(call.ResultPointers), len(call.Heads), len(call.Stats)}
			return call.Return(0, f32(tensor.Shape{4}, 5, 6, 7, 8))
		}})
		e, err := b.Compile(t.Context(), p, runtime.CompileOptions{Handlers: h})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			out := run(t, e.(*Executable), f32(tensor.Shape{4}, 1, 2, 3, 4), f32(tensor.Shape{4}, 4, 3, 2, 1))
			if got != c.want || floats(out...) != "tensor<4xf32>[5 6 7 8]" {
				t.Errorf("%T, %+v, run %d: the call has %v, expected %v; the result is %s", c.memory, c.use, i, got, c.want, floats(out...))
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestUsesOfAliases: an alias of a hook is lost in a call that has no alias for its result, or one of another operand.
func TestUsesOfAliases(t *testing.T) {
	v := tt(tensor.F32, 2)
	call := func(copied int, aliases ...int) compiledCall {
		c := compiledCall{aliases: map[int]int{}, copied: map[int]bool{copied: true}}
		for i := 0; i < len(aliases); i += 2 {
			c.aliases[aliases[i]] = aliases[i+1]
		}
		return c
	}
	for i, c := range []struct {
		chained bool
		results int
		aliases []int
		calls   []compiledCall
		want    string // calls, lost and copies of each alias
	}{
		{false, 1, nil, []compiledCall{call(9)}, ""},
		{false, 1, []int{-1}, []compiledCall{call(9)}, ""},
		{false, 1, []int{0}, nil, "0 0 0 0 0 "},
		{false, 1, []int{0}, []compiledCall{call(9)}, "0 0 1 1 0 "},
		{false, 1, []int{0}, []compiledCall{call(9, -1, 0)}, "0 0 1 0 0 "},
		{false, 1, []int{0}, []compiledCall{call(9, 0, 0)}, "0 0 1 1 0 "},
		{false, 1, []int{0}, []compiledCall{call(0, -1, 0), call(9, -1, 1), call(1, -1, 0)}, "0 0 3 1 1 "},
		{true, 1, []int{0}, []compiledCall{call(9, 1, 1)}, "0 0 1 0 0 "},
		{true, 1, []int{0}, []compiledCall{call(1, 1, 1), call(0, 1, 1), call(1, 1, 0), call(1, -1, 1), call(9)}, "0 0 5 3 1 "},
		{false, 2, []int{1, 0}, []compiledCall{call(9, 0, 1, 1, 0), call(1, 0, 1), call(0, 1, 0)}, "0 1 3 1 1 1 0 3 1 1 "},
		{true, 2, []int{-1, 1}, []compiledCall{call(2, 2, 2), call(2, 1, 2)}, "1 1 2 1 1 "},
	} {
		s := hookSite(1, "h", hook.InOut, []hook.TensorType{v, v}, []hook.TensorType{v, v}[:c.results])
		s.Chained, s.Aliases = c.chained, c.aliases
		got := ""
		for _, u := range usesOf(&s, c.calls) {
			got += fmt.Sprint(u.Result, u.Operand, u.Calls, u.Lost, u.Copies, " ")
			if u.Hook != 1 {
				t.Errorf("case %d: the hook is %s", i, u.Hook)
			}
		}
		if got != c.want {
			t.Errorf("case %d: %q, expected %q", i, got, c.want)
		}
	}
}

// TestUnreachableMemory: programs run on a platform whose memory the host does not reach; their hooks are refused.
func TestUnreachableMemory(t *testing.T) {
	b, _ := countingBackend(t)
	client, err := b.Client()
	if err != nil {
		t.Fatal(err)
	}
	client.memory = nil
	for _, p := range []*runtime.Program{doubled(), program("(%x: tensor<2xf32>) -> tensor<2xf32>", "%y = stablehlo.add %x, %x : tensor<2xf32>\nreturn %y : tensor<2xf32>\n")} {
		e, err := b.Compile(t.Context(), p, runtime.CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := floats(run(t, e.(*Executable), f32(tensor.Shape{2}, 1, 2))...); got != "tensor<2xf32>[2 4]" {
			t.Errorf("the result is %s", got)
		}
		m, err := b.Upload(t.Context(), f32(tensor.Shape{2}, 3, 4), runtime.Placement{})
		if err != nil {
			t.Fatal(err)
		}
		out, err := e.(*Executable).DispatchMemory(t.Context(), []runtime.Memory{m}, []bool{false})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := out[0].Read(); err != nil || floats(got) != "tensor<2xf32>[6 8]" {
			t.Errorf("the result is %v: %v", got, err)
		}
		out[0].Release()
		m.Release()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	_, err = b.Compile(t.Context(), smallProgram(), runtime.CompileOptions{Handlers: observe(func(*runtime.Call) {})})
	if refused := (*NoFFIError)(nil); !errors.As(err, &refused) || !strings.Contains(err.Error(), `operands of hooks on platform "cpu" are not in the host's memory`) {
		t.Errorf("error is %v, expected that hooks are refused", err)
	}
}

// TestQueuedRuns: only runs without hooks on memory that the host does not read return before they end, and their
// values wait.
func TestQueuedRuns(t *testing.T) {
	b, memory := countingBackend(t)
	plain, err := b.Compile(t.Context(), doubled(), runtime.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	v := tt(tensor.F32, 2)
	s := hookSite(1, "h", hook.Tap, []hook.TensorType{v}, nil)
	hooked, err := b.Compile(t.Context(), program("(%x: tensor<2xf32>) -> tensor<2xf32>", hookCall("%r", s, "%c0", "%x")+"%y = stablehlo.add %x, %x : tensor<2xf32>\nreturn %y : tensor<2xf32>\n", s),
		runtime.CompileOptions{Handlers: observe(func(*runtime.Call) {})})
	if err != nil {
		t.Fatal(err)
	}
	defer hooked.Close()
	for i, c := range []struct {
		memory DeviceMemory
		e      runtime.Executable
		run    func(e *Executable, args []runtime.Memory) ([]runtime.Memory, error)
		queued bool
	}{
		{hostMemory{}, plain, func(e *Executable, args []runtime.Memory) ([]runtime.Memory, error) {
			return e.DispatchMemory(t.Context(), args, []bool{false})
		}, false},
		{remote{}, plain, func(e *Executable, args []runtime.Memory) ([]runtime.Memory, error) {
			return e.DispatchMemory(t.Context(), args, []bool{false})
		}, true},
		{remote{}, plain, func(e *Executable, args []runtime.Memory) ([]runtime.Memory, error) {
			return e.DispatchMemory(context.Background(), args, nil)
		}, true},
		{remote{}, hooked, func(e *Executable, args []runtime.Memory) ([]runtime.Memory, error) {
			return e.DispatchMemory(t.Context(), args, []bool{false})
		}, false},
		{remote{}, plain, func(e *Executable, args []runtime.Memory) ([]runtime.Memory, error) {
			return e.RunMemory(t.Context(), args, []bool{false})
		}, false},
	} {
		memory.DeviceMemory = c.memory
		m, err := b.Upload(t.Context(), f32(tensor.Shape{2}, 1, 2), runtime.Placement{})
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.run(c.e.(*Executable), []runtime.Memory{m})
		if err != nil {
			t.Fatal(err)
		}
		result := out[0].(*value)
		if result.queued != c.queued {
			t.Errorf("case %d: queued is %t", i, result.queued)
		}
		if err := result.Wait(); err != nil {
			t.Error(err)
		}
		if got, err := result.Read(); err != nil || floats(got) != "tensor<2xf32>[2 4]" {
			t.Errorf("case %d: the result is %v: %v", i, got, err)
		}
		result.Release()
		m.Release()
	}
}

// TestSharedAttachments: a hook has the session that was attached first, until that one is detached.
func TestSharedAttachments(t *testing.T) {
	made := func(ids ...uint64) *session {
		table := &siteTable{}
		for _, id := range ids {
			s := hookSite(id, "h", hook.Tap, nil, nil)
			bound, err := observe(func(*runtime.Call) {}).Bind(&hook.Manifest{Sites: []hook.Site{s}})
			if err != nil {
				t.Fatal(err)
			}
			table.all = append(table.all, &site{id: id, bound: bound[0]})
		}
		return &session{sites: table}
	}
	const a, b, c = 0xfff1, 0xfff2, 0xfff3
	first, second, third := made(a, b), made(c, b), made(c)
	found := func(want ...*session) {
		t.Helper()
		for i, id := range []uint64{a, b, c} {
			if got := findAttached(id); got != want[i] {
				t.Errorf("hook %x has the session %p, expected %p", id, got, want[i])
			}
		}
	}
	found(nil, nil, nil)
	if err := attach(first, false); err != nil {
		t.Error(err)
	}
	found(first, first, nil)
	if err := attach(second, false); err == nil || !strings.Contains(err.Error(), "(id 000000000000fff2) is attached already") {
		t.Errorf("error is %v", err)
	}
	found(first, first, nil) // nothing of the second is left
	if err := attach(second, true); err != nil {
		t.Error(err)
	}
	found(first, first, second)
	if err := attach(third, true); err != nil {
		t.Error(err)
	}
	detach(third)
	found(first, first, second)
	detach(first)
	found(nil, nil, second)
	detach(second)
	found(nil, nil, nil)
}

// TestBuilder: a plugin's build is told by its size and by samples of its file.
func TestBuilder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plugin.so")
	of := func(data []byte) string {
		t.Helper()
		if err := os.WriteFile(file, data, 0o666); err != nil {
			t.Fatal(err)
		}
		p := &Plugin{path: file, api: backend(t).plugin.api}
		build, err := p.builder()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if again, err := p.builder(); err != nil || again != build {
			t.Errorf("the build is %s, then %s: %v", build, again, err)
		}
		return build
	}
	const size, step = 4 << 20, 16 << 10 // between the samples of 4 KiB
	data := make([]byte, size)
	first := of(data)
	for _, c := range []struct {
		at      int
		sampled bool
	}{{0, true}, {4095, true}, {4096, false}, {step, true}, {step - 1, false}, {step + 4095, true}, {size - step, true}, {size - step + 4095, true}, {size - 1, false}} {
		data[c.at] = 1
		if got := of(data); (got != first) != c.sampled {
			t.Errorf("byte %d: the build is %s, before %s; sampled is %t", c.at, got, first, c.sampled)
		}
		data[c.at] = 0
	}
	if !regexp.MustCompile(`^PJRT API 0\.\d+ build [0-9a-f]{16}$`).MatchString(first) {
		t.Errorf("the build is %s", first)
	}
	if m := machine(); !regexp.MustCompile(`^[a-z0-9]+-[0-9a-f]{16}$`).MatchString(m) && m != goruntime.GOARCH {
		t.Errorf("the machine is %s", m)
	}
	if of(data[:size-1]) == first || of(nil) == of(data[:1]) {
		t.Error("plugins of other sizes are the same build")
	}
	if _, err := (&Plugin{path: file}).builder(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error is %v, expected that there is no file", err)
	}
}

// TestRaceHasOneOwner: of two attempts, the first that reaches a hook delivers all events.
func TestRaceHasOneOwner(t *testing.T) {
	var r race
	first, second := &session{}, &session{}
	for i, c := range []struct {
		s    *session
		want bool
	}{{first, true}, {first, true}, {second, false}, {second, false}, {first, true}} {
		if got := r.claim(c.s); got != c.want {
			t.Errorf("claim %d is %t", i, got)
		}
	}
}

// TestCrowdedClient: a run shares its client with handlers if another run has at least one hook.
func TestCrowdedClient(t *testing.T) {
	hooked := func(n int) *session { return &session{sites: &siteTable{all: make([]*site, n)}} }
	for _, c := range []struct {
		others []*session
		want   bool
	}{{nil, false}, {[]*session{hooked(0)}, false}, {[]*session{hooked(1)}, true}, {[]*session{hooked(0), hooked(2), hooked(0)}, true}} {
		client := &Client{running: map[*session]struct{}{}}
		for _, s := range c.others {
			client.join(s)
		}
		s := hooked(3)
		if got := client.join(s); got != c.want {
			t.Errorf("%d others: crowded is %t", len(c.others), got)
		}
		if client.leave(s); len(client.running) != len(c.others) {
			t.Errorf("%d runs are left of %d", len(client.running), len(c.others))
		}
	}
}

// TestHooksOnAssignedDevices: a hook names its device by the position in the assignment, and by the device's ordinal.
func TestHooksOnAssignedDevices(t *testing.T) {
	for _, c := range []struct {
		devices []int
		want    string // device and ordinal of each call
	}{{[]int{0}, "[0 0]"}, {[]int{1}, "[0 1]"}, {[]int{2, 0}, "[0 2] [1 0]"}, {[]int{0, 1}, "[0 0] [1 1]"}} {
		var mu sync.Mutex
		var calls []string
		s := hookSite(1, "h", hook.Tap, []hook.TensorType{scalar}, nil)
		p := program("(%x: tensor<f32>) -> tensor<f32>", hookCall("%r", s, "%c0", "%x")+"return %x : tensor<f32>\n", s)
		e, err := backend(t).Compile(t.Context(), p, runtime.CompileOptions{Devices: c.devices, Replicas: len(c.devices), Handlers: observe(func(call *runtime.Call) {
			mu.Lock()
			defer mu.Unlock()
			calls = append(calls, fmt.Sprint([]int{call.Device, call.Ordinal}))
		})})
		if err != nil {
			t.Fatal(err)
		}
		run(t, e.(*Executable), f32(nil, 1))
		slices.Sort(calls)
		if got := strings.Join(calls, " "); got != c.want {
			t.Errorf("devices %v: the calls are on %s, expected %s", c.devices, got, c.want)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}
