//go:build cgo

package pjrt

import (
	"context"
	"errors"
	"fmt"
	"os"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestMain looks for memory that is pinned but no longer reachable: the garbage collector then ends the process.
func TestMain(m *testing.M) {
	code := m.Run()
	for range 3 {
		goruntime.GC()
		time.Sleep(time.Millisecond)
	}
	os.Exit(code)
}

// TestLastCallClosesClients: the clients of a closed backend end with the last call, run or value that uses them.
func TestLastCallClosesClients(t *testing.T) {
	for i, c := range []struct {
		closed, lost                     bool
		users, abandoned, buffers, still int // users and the others beside the call
		want                             bool
	}{
		{true, false, 0, 0, 0, 0, true},
		{false, false, 0, 0, 0, 0, false},
		{true, true, 0, 0, 0, 0, false},
		{true, false, 1, 0, 0, 0, false},
		{true, false, 0, 1, 0, 0, false},
		{true, false, 0, 0, 1, 0, false},
		{true, false, 0, 0, 0, 1, false},
		{true, false, 1, 1, 0, 0, false},
		{true, false, 0, 1, 1, 0, false},
		{true, false, 0, 0, 1, 1, false},
	} {
		client := &Client{abandoned: 1} // the end of its compilation would destroy it
		b := &Backend{clients: map[clientKey]*Client{{}: client, {level: 1}: nil}, executables: map[*Executable]struct{}{}}
		if err := b.enter(); err != nil {
			t.Fatal(err)
		}
		b.closed, b.abandoned, b.buffers = c.closed, c.abandoned, c.buffers
		b.users += c.users
		if c.lost {
			b.lost = errMine
		}
		if c.still > 0 {
			b.executables[&Executable{}] = struct{}{}
		}
		b.leave()
		if client.closing != c.want {
			t.Errorf("case %d: the client is closed is %t", i, client.closing)
		}
		if err := b.enter(); c.closed != errors.Is(err, errClosed) {
			t.Errorf("case %d: error of a call is %v", i, err)
		}
	}
}

// TestFreeSpare: an unused spare client is destroyed with its programs, but not while a run or a value uses one, nor on
// a backend that is lost or closed.
func TestFreeSpare(t *testing.T) {
	for i, c := range []struct {
		spare        int
		lost, closed bool
		want         bool
	}{{0, false, false, true}, {1, false, false, false}, {2, false, false, false}, {0, true, false, false}, {0, false, true, false}} {
		spare, plain := &Client{abandoned: 1}, &Client{abandoned: 1}
		b := &Backend{spare: c.spare, closed: c.closed, clients: map[clientKey]*Client{{spare: true}: spare, {}: plain}}
		if c.lost {
			b.lost = errMine
		}
		b.freeSpare()
		if _, has := b.clients[clientKey{spare: true}]; spare.closing != c.want || has == c.want || plain.closing || b.clients[clientKey{}] != plain {
			t.Errorf("case %d: the spare client is closed is %t, the other's is %t", i, spare.closing, plain.closing)
		}
	}
	freed := &Client{abandoned: 1}
	b := &Backend{delays: delays{idle: time.Millisecond}, clients: map[clientKey]*Client{{spare: true}: freed}}
	steps := []int{1, 1, -1, -1}
	for i, n := range steps {
		b.mu.Lock()
		b.useSpare(n)
		b.mu.Unlock()
		ended := func() bool {
			freed.mu.Lock()
			defer freed.mu.Unlock()
			return freed.closing
		}
		for end := time.Now().Add(10 * time.Second); i == len(steps)-1 && !ended() && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		if ended() != (i == len(steps)-1) {
			t.Errorf("after step %d the spare client is closed: %t", i, ended())
		}
	}
}

// TestAbandonedCompilation: a client outlives a compilation whose caller has returned. Close leaves its end to that
// compilation.
func TestAbandonedCompilation(t *testing.T) {
	p := backend(t).plugin
	for _, closes := range []bool{false, true} {
		c, err := p.NewClient(1)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		started, release := make(chan bool), make(chan bool)
		go func() { <-started; cancel() }()
		_, err = c.interruptible(ctx, "compile", func(*goruntime.Pinner) (ptr, e unsafe.Pointer) {
			close(started)
			<-release
			return nil, nil
		})
		if !errors.Is(err, context.Canceled) || c.pending() != 1 {
			t.Errorf("error is %v, %d compilations are abandoned", err, c.pending())
		}
		if closes {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
		close(release)
		for end := time.Now().Add(10 * time.Second); c.pending() != 0 && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		if closes {
			continue
		}
		var pin goruntime.Pinner
		b, err := c.upload(&c.devices[0], f32(nil, 1), &pin) // the client is not destroyed
		if err != nil {
			t.Fatal(err)
		}
		c.release(b)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestKeptArguments: a program that may overwrite its argument overwrites only one that the caller gives away.
func TestKeptArguments(t *testing.T) {
	e := compile(t, program("(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<4xf32> {tf.aliasing_output = 1 : i32}) -> (tensor<4xf32>, tensor<4xf32>)",
		"%a = stablehlo.add %x, %x : tensor<4xf32>\n%b = stablehlo.add %y, %y : tensor<4xf32>\nreturn %a, %b : tensor<4xf32>, tensor<4xf32>\n"), nil)
	var args []runtime.Memory
	for _, x := range []float32{1, 2} {
		m, err := backend(t).Upload(t.Context(), f32(tensor.Shape{4}, x), runtime.Placement{})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Release()
		args = append(args, m)
	}
	for range 3 {
		out, err := e.RunMemory(t.Context(), args, []bool{false, false})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{"tensor<4xf32>[2 0 0 0]", "tensor<4xf32>[4 0 0 0]"} {
			if got, err := out[i].Read(); err != nil || floats(got) != want {
				t.Errorf("result %d is %v, expected %s: %v", i, got, want, err)
			}
			out[i].Release()
		}
	}
	for i, want := range []string{"tensor<4xf32>[1 0 0 0]", "tensor<4xf32>[2 0 0 0]"} {
		if got, err := args[i].Read(); err != nil || floats(got) != want {
			t.Errorf("argument %d is %v, expected %s: %v", i, got, want, err)
		}
	}
}

// TestViewOfUnreadableMemory: a value whose memory the host cannot read as a tensor is copied for a view.
func TestViewOfUnreadableMemory(t *testing.T) {
	e := compile(t, doubled(), nil)
	m, err := backend(t).Upload(t.Context(), f32(tensor.Shape{2}, 1, 2), runtime.Placement{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Release()
	out, err := e.RunMemory(t.Context(), []runtime.Memory{m}, []bool{false})
	if err != nil {
		t.Fatal(err)
	}
	defer out[0].Release()
	v := out[0].(*value)
	at := func() (address *byte) {
		if err := v.View(func(x *tensor.Tensor) error {
			if floats(x) != "tensor<2xf32>[2 4]" {
				t.Errorf("the value is %s", floats(x))
			}
			address = unsafe.SliceData(x.Peek())
			return nil
		}); err != nil {
			t.Error(err)
		}
		return address
	}
	first := at()
	if at() != first || v.direct.Load() != readable {
		t.Error("a view of readable memory is a copy")
	}
	v.direct.Store(unreadable)
	if at() == first {
		t.Error("a view of memory that the host cannot read is no copy")
	}
}

// TestDispatchDoesNotWait: a run without hooks returns before it ends, if the host does not read its values.
func TestDispatchDoesNotWait(t *testing.T) {
	b, memory := countingBackend(t)
	memory.DeviceMemory = remote{}
	release := make(chan bool)
	b.opts.Targets = func(string) (Target, error) {
		return func(*TargetCall) error { <-release; return nil }, nil
	}
	body := bigBody() + "%y = stablehlo.custom_call @test_wait(%m9) {api_version = 4 : i32, has_side_effect = true} : (tensor<64x64xf32>) -> tensor<64x64xf32>\nreturn %y : tensor<64x64xf32>\n"
	e, err := b.Compile(t.Context(), program("(%x: tensor<f32>) -> tensor<64x64xf32>", body), runtime.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	m, err := b.Upload(t.Context(), f32(nil, 1), runtime.Placement{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Release()
	within(t, 20*time.Second, "DispatchMemory", func() {
		out, err := e.(*Executable).DispatchMemory(context.Background(), []runtime.Memory{m}, []bool{false})
		close(release)
		if err != nil {
			t.Error(err)
			return
		}
		if err := out[0].(*value).Wait(); err != nil {
			t.Error(err)
		}
		out[0].Release()
	})
}

// TestTargetsAreAsked: each target of a program is asked for once, up to the first that is refused.
func TestTargetsAreAsked(t *testing.T) {
	call := func(names ...string) *runtime.Program {
		body := ""
		for i, n := range names {
			body += fmt.Sprintf("%%r%d = stablehlo.custom_call @%s() {api_version = 4 : i32} : () -> tensor<f32>\n", i, n)
		}
		return parsed(t, "func.func @main() {\n"+body+"return\n}\n")
	}
	for _, c := range []struct{ names, want []string }{
		{[]string{"a", "b", "a", "c"}, []string{"a", "b", "c"}},
		{[]string{"a", "refused", "c"}, []string{"a", "refused"}},
		{nil, nil},
	} {
		var asked []string
		b := &Backend{opts: Options{Targets: func(name string) (Target, error) {
			if asked = append(asked, name); name == "refused" {
				return nil, errMine
			}
			return nil, nil
		}}}
		err := b.registerTargets(call(c.names...).Module, nil)
		if refused := slices.Contains(c.want, "refused"); !slices.Equal(asked, c.want) || errors.Is(err, errMine) != refused || !refused && err != nil {
			t.Errorf("%v: the targets %v are asked for: %v", c.names, asked, err)
		}
	}
	if err := (&Backend{opts: Options{Targets: func(string) (Target, error) { return nil, errMine }}}).registerTargets(nil, nil); err != nil {
		t.Error(err)
	}
}

// TestCallsHoldNoMemory: after a call its views hold nothing of XLA's memory, which XLA frees.
func TestCallsHoldNoMemory(t *testing.T) {
	v := tt(tensor.F32, 2)
	s := hookSite(1, "h", hook.Call, []hook.TensorType{v}, []hook.TensorType{v})
	var kept []*tensor.Tensor
	e := compile(t, program("(%x: tensor<2xf32>) -> tensor<2xf32>", hookCall("%r", s, "%c0", "%x")+"return %r#1 : tensor<2xf32>\n", s), answer(func(_ context.Context, c *runtime.Call) error {
		copy(c.Results[0].Bytes(), c.Operands[0].Peek())
		kept = append(kept, c.Operands[0], c.Results[0])
		return nil
	}))
	if got := floats(run(t, e, f32(tensor.Shape{2}, 1, 2))...); got != "tensor<2xf32>[1 2]" {
		t.Errorf("the result is %s", got)
	}
	for i, x := range kept {
		if n := len(x.Peek()); n != 0 {
			t.Errorf("value %d of the call has %d bytes after it", i, n)
		}
	}
	data := make([]byte, 8)
	made := func() view {
		w := view{raw: data, device: unsafe.Pointer(&data[0]), size: 8}
		w.Borrow(tensor.F32, tensor.Shape{2}, data)
		return w
	}
	for _, host := range []bool{true, false} {
		c := &call{readable: host, late: true, operands: []view{made()}, results: []view{made()}, sizes: []view{made()}, heads: []view{made()}, stats: made()}
		c.forget()
		views := []*view{&c.operands[0], &c.results[0], &c.sizes[0]}
		if !host { // a call whose memory the host reads has none of these
			views = append(views, &c.heads[0], &c.stats)
		}
		for i, w := range views {
			if w.raw != nil || w.device != nil || len(w.Peek()) != 0 {
				t.Errorf("readable %t: view %d holds memory", host, i)
			}
		}
		if c.late != host {
			t.Errorf("readable %t: a copy may not be done: %t", host, c.late)
		}
	}
}

// waits counts the calls of Wait.
type waits struct {
	remote
	n *int
}

func (w waits) Wait(unsafe.Pointer) error { *w.n++; return nil }

// TestCopiesAreAwaited: a call waits for its copies once, and only if it has any.
func TestCopiesAreAwaited(t *testing.T) {
	n := 0
	bound, err := observe(func(*runtime.Call) {}).Bind(&hook.Manifest{Sites: []hook.Site{hookSite(1, "h", hook.Tap, nil, nil)}})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{bound: bound[0], use: runtime.MemoryUse{HostViews: true}}
	c := &call{memory: waits{n: &n}}
	for i, late := range []bool{false, true, false, true} {
		n = 0
		if c.late = c.late || late; c.arrive(s) != nil || n != map[bool]int{true: 1}[late] || c.late {
			t.Errorf("arrival %d waits %d times, a copy may not be done: %t", i, n, c.late)
		}
	}
}

// TestSeparateOperands: a handler gets a copy of an operand that lies in the memory of a result, whatever its size, and
// the memory itself of other operands.
func TestSeparateOperands(t *testing.T) {
	memory := [3][]byte{{1}, {2, 3}, {4, 5}}
	made := func(data []byte, packed bool) view {
		v := view{raw: data, packed: packed}
		v.Borrow(tensor.UI8, tensor.Shape{int64(len(data))}, data)
		return v
	}
	c := &call{
		operands: []view{made(memory[0], false), made(memory[1], false), made(nil, false), made(memory[2], true)},
		results:  []view{made(memory[2], false), made(memory[0], false)},
	}
	for i := range c.operands {
		c.Operands = append(c.Operands, &c.operands[i].Tensor)
	}
	for i := range c.results {
		c.Results = append(c.Results, &c.results[i].Tensor)
	}
	c.separate()
	for i, copied := range []bool{true, false, false, false} {
		o := &c.operands[i]
		if got := c.Operands[i].Peek(); string(got) != string(o.raw) || len(got) > 0 && (unsafe.SliceData(got) != unsafe.SliceData(o.raw)) != copied {
			t.Errorf("operand %d is %v, a copy is %t", i, got, unsafe.SliceData(got) != unsafe.SliceData(o.raw))
		}
	}
}

// TestRepairsStay: ops that look like one that is repaired, and are not, stay.
func TestRepairsStay(t *testing.T) {
	for _, op := range []string{
		`"foo.bar"() {api_version = 4 : i32, mhlo.backend_config = {a = 1 : i64}} : () -> ()`,
		`stablehlo.custom_call @f() {api_version = 1 : i32, mhlo.backend_config = {a = 1 : i64}} : () -> ()`,
		`stablehlo.custom_call @f() {api_version = 4 : i32, backend_config = {a = 1 : i64}, mhlo.backend_config = {b = 1 : i64}} : () -> ()`,
		`"mhlo.fusion"() : () -> ()`,
		`"mhlo.async_done"() : () -> ()`,
		`%s = "mhlo.async_start"() : () -> tensor<f32>
"mhlo.async_done"(%s) : (tensor<f32>) -> ()`,
		`%s = stablehlo.constant dense<1> : tensor<2xui64>
%a, %b = "stablehlo.rng_bit_generator"(%s) {rng_algorithm = #stablehlo<rng_algorithm DEFAULT>} : (tensor<2xui64>) -> (tensor<2xui64>, !stablehlo.token)`,
		`%c = stablehlo.constant dense<(1.0, 0.0)> : tensor<2xcomplex<f32>>
%r = "stablehlo.convert"(%c) : (tensor<2xcomplex<f32>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>`,
	} {
		p := parsed(t, "func.func @main() {\n"+op+"\nreturn\n}\n")
		if got := (&Client{platform: "cpu"}).repaired(p); got != p {
			t.Errorf("%s becomes\n%s", op, text(got))
		}
	}
}

// TestAttemptsShareNoHook: of two attempts of a run, the one that did not reach a hook first delivers none.
func TestAttemptsShareNoHook(t *testing.T) {
	made := func(r *race) *session {
		s := newSession(t.Context(), sitesOf(t, runtime.MemoryUse{}), 1, 1)
		s.race = r
		return s
	}
	both := &race{}
	for i, c := range []struct {
		s       *session
		refused bool
	}{{made(nil), false}, {made(both), false}, {made(both), true}, {made(&race{}), false}} {
		err := c.s.hook(nil, 99, 0)
		if c.refused != errors.Is(err, errStopped) || !c.refused && err.Error() != "the program calls hook 0000000000000063, which is not in its manifest" {
			t.Errorf("attempt %d: error is %v", i, err)
		}
	}
}

// TestDeviceLimits: a program runs on at most 2,048 devices.
func TestDeviceLimits(t *testing.T) {
	for _, c := range []struct {
		replicas, partitions int
		allowed              bool
	}{{2048, 1, true}, {1, 2048, true}, {2, 1024, true}, {2049, 1, false}, {1, 2049, false}, {2, 1025, false}, {3, 683, false}, {1 << 40, 1 << 40, false}} {
		_, err := backend(t).Compile(t.Context(), doubled(), runtime.CompileOptions{Replicas: c.replicas, Partitions: c.partitions, Devices: []int{-1}})
		want := fmt.Sprintf("%d replicas of %d partitions are more than 2048 devices", c.replicas, c.partitions)
		if c.allowed {
			want = "device -1 is negative or named twice" // the next check
		}
		if err == nil || err.Error() != want {
			t.Errorf("error is %v, expected %s", err, want)
		}
	}
}

// TestUnevenShards: a result with shards of different sizes has the size that main states.
func TestUnevenShards(t *testing.T) {
	const halves = `{mhlo.sharding = "{devices=[2]0,1}"}`
	p := &runtime.Program{Module: mustParse(`module @m attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main(%x: tensor<3xf32> ` + halves + `) -> (tensor<3xf32> ` + halves + `) {
%r = stablehlo.add %x, %x : tensor<3xf32>
return %r : tensor<3xf32>
}
}
`)}
	e := compileTimeout(t, p, 0, runtime.CompileOptions{})
	s := e.Signature()
	if got := s.Results[0].Type.String() + s.Arguments[0].Type.String(); got != "tensor<3xf32>tensor<3xf32>" {
		t.Errorf("the signature has %s", got)
	}
	if saved, err := e.Save(); err != nil || saved.Replicas != 1 || saved.Partitions != 2 {
		t.Errorf("the program is saved for %d replicas of %d partitions: %v", saved.Replicas, saved.Partitions, err)
	}
	if got := floats(run(t, e, f32(tensor.Shape{3}, 1, 2, 3))...); got != "tensor<3xf32>[2 4 6]" {
		t.Errorf("the result is %s", got)
	}
}

// TestChecksOfInvalidOps: ops that the verifier refuses are not what Check looks for.
func TestChecksOfInvalidOps(t *testing.T) {
	for _, region := range []string{"", "({})", "({}, {})", `({
^bb0(%a: tensor<f32>, %b: tensor<f32>):
  "foo.bar"() : () -> ()
})`, `({
^bb0(%a: tensor<f32>, %b: tensor<f32>):
})`} {
		p := parsed(t, "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n%r = \"stablehlo.sort\"(%x) "+region+" {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>\nreturn %r : tensor<4xf32>\n}\n")
		if err := Check(p.Module); err != nil {
			t.Errorf("%q: %v", region, err)
		}
	}
	for _, types := range []string{"(!stablehlo.token) -> tensor<i1>", "(tensor<i1>) -> !stablehlo.token", "(!stablehlo.token) -> !stablehlo.token"} {
		from, to, _ := strings.Cut(types, " -> ")
		p := parsed(t, "func.func @main(%x: "+strings.Trim(from, "()")+") -> "+to+" {\n%r = \"stablehlo.bitcast_convert\"(%x) : "+types+"\nreturn %r : "+to+"\n}\n")
		if err := Check(p.Module); err != nil {
			t.Errorf("%s: %v", types, err)
		}
	}
}

// frameOf returns an empty frame, and bufferOf an empty buffer.
func frameOf[F any](func(*F, int, error) error) *F { return new(F) }
func bufferOf[B any](**B) *B                       { return new(B) }

// TestSkippedHooks: on several devices a run continues after a hook has failed. The hook's results are zeros, but a
// result in the memory of an operand stays.
func TestSkippedHooks(t *testing.T) {
	for n, want := range map[int]bool{1: false, 2: true, 3: true} {
		if got := newSession(t.Context(), nil, n, 1).several; got != want {
			t.Errorf("a run on %d devices runs on several: %t", n, got)
		}
	}
	for _, several := range []bool{false, true} {
		s := newSession(t.Context(), sitesOf(t, runtime.MemoryUse{}), 2, 1)
		s.several = several
		own, shared, dims := []byte{1, 2}, []byte{3, 4}, []int64{2}
		frame := frameOf(s.skip)
		frame.operands.n, frame.results.n = 1, 2
		first, second := bufferOf(frame.results.items), bufferOf(frame.results.items)
		first.data, second.data = unsafe.Pointer(&own[0]), unsafe.Pointer(&shared[0])
		first.dtype, second.dtype = 6, 6 // ui8
		first.rank, second.rank = 1, 1
		*(*unsafe.Pointer)(unsafe.Pointer(&first.dims)) = unsafe.Pointer(&dims[0])
		second.dims = first.dims
		list := append(unsafe.Slice(&second, 1), first)
		frame.operands.items, frame.results.items = &list[0], &list[0]
		err := s.skip(frame, 0, errMine)
		if want := map[bool]string{false: "[1 2] [3 4]", true: "[0 0] [3 4]"}[several]; fmt.Sprint(own, " ", shared) != want || (err == errMine) == several || several && err != nil {
			t.Errorf("several %t: the results are %v and %v: %v", several, own, shared, err)
		}
	}
}
