//go:build cgo

package pjrt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// remote is the host's memory as if the host could not read it, so that hlocb copies all values.
type remote struct{ hostMemory }

func (remote) Readable() bool { return false }

// backends calls f with a backend whose memory the host reads, and one whose values are copied. It counts the copies.
func backends(t *testing.T, f func(t *testing.T, b *Backend, copies *copyCounter)) {
	for _, memory := range []DeviceMemory{hostMemory{}, remote{}} {
		t.Run(fmt.Sprintf("%T", memory), func(t *testing.T) {
			b, counter := countingBackend(t)
			counter.DeviceMemory = memory
			f(t, b, counter)
		})
	}
}

// plainCall is a call of a hook without a chain, exactly as written.
func plainCall(id int, operands, types, attrs string) string {
	return fmt.Sprintf("stablehlo.custom_call @hlocb_hook(%s) {api_version = 4 : i32, has_side_effect = true, backend_config = {abi = 1 : i64, id = %d : i64, name = \"h\", kind = \"x\", chained = false}%s} : %s\n",
		operands, id, attrs, types)
}

const firstAlias = ", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]"

// TestFramesAreChecked: a call that is not as its manifest says ends the run with an error. A tap or inout whose result
// XLA did not put in the operand's memory has the operand's value all the same.
func TestFramesAreChecked(t *testing.T) {
	two, three := tt(tensor.F32, 2), tt(tensor.F32, 3)
	types := func(list ...hook.TensorType) []hook.TensorType { return list }
	b, memory := countingBackend(t)
	for _, c := range []struct {
		name    string
		kind    hook.Kind
		chained bool
		in, out []hook.TensorType
		aliases []int
		body    string
		want    string // the results, or the end of the error
	}{
		{"tap", hook.Tap, false, types(two), types(two), nil, "%r = " + plainCall(1, "%x", "(tensor<2xf32>) -> tensor<2xf32>", firstAlias) + "return %r, %x", "[1 2] [1 2]"},
		{"copied tap", hook.Tap, false, types(two), types(two), nil, "%r = " + plainCall(1, "%x", "(tensor<2xf32>) -> tensor<2xf32>", "") + "return %r, %x", "[1 2] [1 2]"},
		{"copied inout", hook.InOut, false, types(two), types(two), nil, "%r = " + plainCall(1, "%x", "(tensor<2xf32>) -> tensor<2xf32>", "") + "return %r, %x", "[10 20] [1 2]"},
		{"copied inouts", hook.InOut, false, types(two, two), types(two, two), []int{1, 0},
			"%s = stablehlo.negate %x : tensor<2xf32>\n%r:2 = " + plainCall(1, "%x, %s", "(tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)", "") + "return %r#0, %r#1", "[-10 -20] [10 20]"},
		{"part of the operands", hook.InOut, false, types(three, two), types(two), []int{1},
			"%k = stablehlo.constant dense<3.0> : tensor<3xf32>\n%r = " + plainCall(1, "%k, %x", "(tensor<3xf32>, tensor<2xf32>) -> tensor<2xf32>", "") + "return %r, %x", "[10 20] [1 2]"},
		{"call", hook.Call, false, types(two), types(two), nil, "%r = " + plainCall(1, "%x", "(tensor<2xf32>) -> tensor<2xf32>", "") + "return %r, %x", "[10 20] [1 2]"},
		{"no result", hook.Tap, false, types(two), nil, nil, plainCall(1, "%x", "(tensor<2xf32>) -> ()", "") + "return %x, %x", "[1 2] [1 2]"},
		{"chain without operands", hook.Feed, true, nil, types(two), nil, "%r = " + plainCall(1, "", "() -> tensor<2xf32>", "") + "return %r, %x", "the call is chained but has no chain"},
		{"chain without results", hook.Tap, true, types(two), nil, nil, plainCall(1, "%x", "(tensor<2xf32>) -> ()", "") + "return %x, %x", "the call is chained but has no chain"},
		{"another size", hook.Tap, false, types(three), types(three), nil,
			"%k = stablehlo.constant dense<3.0> : tensor<3xf32>\n%r = " + plainCall(1, "%k", "(tensor<3xf32>) -> tensor<2xf32>", "") + "return %r, %x", "result 0: a result that should be an operand's value differs from it in size"},
		{"another size later", hook.InOut, false, types(two, three), types(two, two), nil,
			"%k = stablehlo.constant dense<3.0> : tensor<3xf32>\n%r:2 = " + plainCall(1, "%x, %k", "(tensor<2xf32>, tensor<3xf32>) -> (tensor<2xf32>, tensor<2xf32>)", "") + "return %r#0, %r#1", "result 1: a result that should be an operand's value differs from it in size"},
		{"too many results", hook.Tap, false, types(two), types(two), nil,
			"%r:2 = " + plainCall(1, "%x", "(tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)", "") + "return %r#0, %r#1", "result 1 of a hook of kind tap is operand 1 of 1"},
		{"sizes", hook.Tap, false, types(tt(tensor.F32, -1)), types(tt(tensor.F32, -1)), nil,
			"%r = " + plainCall(1, "%x", "(tensor<2xf32>) -> tensor<2xf32>", "") + "return %r, %x", "the call lacks the sizes of its operands"},
	} {
		s := hookSite(1, "h", c.kind, c.in, c.out)
		s.Chained, s.Aliases = c.chained, c.aliases
		p := program("(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)", c.body+" : tensor<2xf32>, tensor<2xf32>\n", s)
		for _, timeout := range []bool{false, true} {
			opts := runtime.CompileOptions{Handlers: answer(func(_ context.Context, call *runtime.Call) error {
				for m, r := range call.Results {
					for i, x := range tensor.View[float32](call.Operands[max(0, len(call.Operands)-len(call.Results))+m]) {
						if c.aliases != nil {
							x = tensor.View[float32](r)[i] // an inout's result starts with the operand
						}
						tensor.View[float32](r)[i] = 10 * x
					}
				}
				return nil
			})}
			if timeout {
				opts.Timeout = handlerLimit
			}
			e, err := b.Compile(context.Background(), p, opts)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			for i := range 4 { // the second call repeats the first, and so with values that are copied
				memory.DeviceMemory = []DeviceMemory{hostMemory{}, remote{}}[i/2]
				out, err := e.Run(context.Background(), []*tensor.Tensor{f32(tensor.Shape{2}, 1, 2)})
				if !strings.HasPrefix(c.want, "[") {
					want := `hook "h" failed at event 0 on device 0: ` + c.want
					if err == nil || err.Error() != want {
						t.Errorf("%s: error is %v, expected %s", c.name, err, want)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s: %v", c.name, err)
				} else if got := fmt.Sprint(tensor.View[float32](out[0]), tensor.View[float32](out[1])); got != c.want {
					t.Errorf("%s, timeout %t: results are %s, expected %s", c.name, timeout, got, c.want)
				}
			}
			e.Close()
		}
	}
}

// TestBoundedOperands: a handler gets an operand of bounded shape in its size. A size beyond the bound ends the run.
func TestBoundedOperands(t *testing.T) {
	cut := func(result, value, size string, dimension int, from, to string) string {
		return fmt.Sprintf("%s = \"stablehlo.set_dimension_size\"(%s, %s) {dimension = %d : i64} : (%s, tensor<i32>) -> %s\n", result, value, size, dimension, from, to)
	}
	const (
		whole = "tensor<2x4xf32>"
		wide  = "tensor<2x?xf32, #stablehlo.bounds<?, 4>>"
		both  = "tensor<?x?xf32, #stablehlo.bounds<2, 4>>"
		line  = "tensor<?xi4, #stablehlo.bounds<3>>"
	)
	dynamic := func(d tensor.DType, shape ...int64) hook.TensorType { return tt(d, shape...) }
	s := hookSite(1, "h", hook.Tap, []hook.TensorType{dynamic(tensor.F32, 2, -1), tt(tensor.F32, 2, 4), dynamic(tensor.F32, -1, -1), dynamic(tensor.I4, -1)}, nil)
	s.Chained = false
	body := cut("%w", "%x", "%n", 1, whole, wide) + cut("%b0", "%x", "%m", 0, whole, "tensor<?x4xf32, #stablehlo.bounds<2, ?>>") +
		cut("%b", "%b0", "%n", 1, "tensor<?x4xf32, #stablehlo.bounds<2, ?>>", both) + cut("%l", "%i", "%n", 0, "tensor<3xi4>", line) +
		plainCall(1, "%w, %x, %b, %l", "("+strings.Join([]string{wide, whole, both, line}, ", ")+") -> ()", "") + "return\n"
	p := program("(%x: tensor<2x4xf32>, %i: tensor<3xi4>, %m: tensor<i32>, %n: tensor<i32>) -> ()", body, s)
	backends(t, func(t *testing.T, b *Backend, _ *copyCounter) {
		var got string
		e, err := b.Compile(context.Background(), p, runtime.CompileOptions{Handlers: observe(func(c *runtime.Call) {
			for _, o := range c.Operands {
				got += listing(o) + " "
			}
		})})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		x, i := f32(tensor.Shape{2, 4}, 1, 2, 3, 4, 5, 6, 7, 8), tensor.New(tensor.I4, tensor.Shape{3})
		for k := range 3 {
			i.SetInt(k, int64(k+1))
		}
		size := func(n int) *tensor.Tensor {
			v := tensor.New(tensor.I32, nil)
			v.SetInt(0, int64(n))
			return v
		}
		const all = "tensor<2x4xf32> [1 2 3 4 5 6 7 8] "
		for _, c := range []struct {
			m, n int
			want string
		}{
			{2, 3, "tensor<2x3xf32> [1 2 3 5 6 7] " + all + "tensor<2x3xf32> [1 2 3 5 6 7] tensor<3xi4> [1 2 3] "},
			{1, 2, "tensor<2x2xf32> [1 2 5 6] " + all + "tensor<1x2xf32> [1 2] tensor<2xi4> [1 2] "},
			{1, 0, "tensor<2x0xf32> [] " + all + "tensor<1x0xf32> [] tensor<0xi4> [] "},
			{0, 1, "tensor<2x1xf32> [1 5] " + all + "tensor<0x1xf32> [] tensor<1xi4> [1] "},
			{2, 5, "operand 0: the program set the size of dimension 1 beyond its bound of 4"},
			{2, -1, "operand 0: the program set the size of dimension 1 beyond its bound of 4"},
			{3, 1, "operand 2: the program set the size of dimension 0 beyond its bound of 2"},
			{2, 4, "operand 3: the program set the size of dimension 0 beyond its bound of 3"},
		} {
			got = ""
			_, err := e.Run(context.Background(), []*tensor.Tensor{x, i, size(c.m), size(c.n)})
			if err != nil {
				got = strings.TrimPrefix(err.Error(), `hook "h" failed at event 0 on device 0: `)
			}
			if got != c.want {
				t.Errorf("sizes %d and %d: %s, expected %s", c.m, c.n, got, c.want)
			}
		}
	})
}

// TestRemoteValues: a handler reads values that were not copied for it, and returns its operands and other values.
func TestRemoteValues(t *testing.T) {
	b, copies := countingBackend(t)
	copies.DeviceMemory = remote{}
	typ := tt(tensor.I4, 2, 3)
	s := hookSite(1, "h", hook.Call, []hook.TensorType{typ, typ}, []hook.TensorType{typ, typ})
	p := program("(%x: tensor<2x3xi4>, %y: tensor<2x3xi4>) -> (tensor<2x3xi4>, tensor<2x3xi4>)", hookCall("%r", s, "%c0", "%x", "%y")+"return %r#1, %r#2 : tensor<2x3xi4>, tensor<2x3xi4>\n", s)
	one, two, six := numbers(tensor.I4, 1, 2, 3, 4, 5, 6), numbers(tensor.I4, 7, 6, 5, 4, 3, 2), numbers(tensor.I4, 0, 0, 7, 0, 0, 0)
	for _, c := range []struct {
		name   string
		use    runtime.MemoryUse
		handle func(c *runtime.Call) error
		copies [2]int // read and written
		want   string
	}{
		{"swapped", runtime.MemoryUse{}, func(c *runtime.Call) error {
			return errors.Join(c.Return(0, c.Operands[1]), c.Return(1, c.Operands[0]))
		}, [2]int{},
			listing(two) + " " + listing(one)},
		{"a new value and an operand", runtime.MemoryUse{}, func(c *runtime.Call) error { return errors.Join(c.Return(0, six), c.Return(1, c.Operands[1])) }, [2]int{0, 1},
			listing(six) + " " + listing(two)},
		{"heads", runtime.MemoryUse{Head: 2}, func(c *runtime.Call) error {
			for i, want := range []string{"tensor<2xi4> [1 2]", "tensor<2xi4> [7 6]"} {
				if v, err := c.Head(i, 2); err != nil || listing(v) != want {
					return fmt.Errorf("head %d is %s, %v", i, listing(v), err)
				}
			}
			return errors.Join(c.Return(0, c.Operands[0]), c.Return(1, c.Operands[0]))
		}, [2]int{2, 0}, listing(one) + " " + listing(one)},
		{"heads of more", runtime.MemoryUse{Head: 9}, func(c *runtime.Call) error {
			if v, err := c.Head(1, 9); err != nil || listing(v) != "tensor<6xi4> [7 6 5 4 3 2]" {
				return fmt.Errorf("head is %s, %v", listing(v), err)
			}
			return errors.Join(c.Return(0, c.Operands[0]), c.Return(1, c.Operands[0]))
		}, [2]int{2, 0}, listing(one) + " " + listing(one)},
		{"written", runtime.MemoryUse{HostViews: true}, func(c *runtime.Call) error {
			for i, r := range c.Results {
				copy(r.Bytes(), c.Operands[1-i].Peek())
				r.SetInt(0, -1)
			}
			return nil
		}, [2]int{2, 2}, "tensor<2x3xi4> [-1 6 5 4 3 2] tensor<2x3xi4> [-1 2 3 4 5 6]"},
	} {
		h := &runtime.Bindings{}
		h.Answer("h", pointerHandler{c.use, c.handle})
		e, err := b.Compile(context.Background(), p, runtime.CompileOptions{Handlers: h})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			copies.read, copies.written = 0, 0
			out, err := e.Run(context.Background(), []*tensor.Tensor{one, two})
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if got := listing(out[0]) + " " + listing(out[1]); got != c.want {
				t.Errorf("%s: results are %s, expected %s", c.name, got, c.want)
			}
			if got := [2]int{copies.read, copies.written}; got != c.copies {
				t.Errorf("%s: copies are %v, expected %v", c.name, got, c.copies)
			}
		}
		e.Close()
	}
}

// TestRemoteStatistics: the device computes the statistics of a whole value, so that only they are copied. A handler of
// a shard computes them from the values.
func TestRemoteStatistics(t *testing.T) {
	b, copies := countingBackend(t)
	b.opts.Devices = 2
	c, err := b.clientWith(clientKey{}, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.memory = copies
	copies.DeviceMemory = remote{}
	typ := tt(tensor.F32, 4)
	s := hookSite(1, "h", hook.Tap, []hook.TensorType{typ, typ}, []hook.TensorType{typ, typ})
	s.Chained = false
	call := strings.Replace(plainCall(1, "%x, %y", "(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)", ""), "has_side_effect = true", "has_side_effect = false", 1) // the partitioner wants no sharding
	body := "%y = stablehlo.negate %x : tensor<4xf32>\n%r:2 = " + call + "return %r#0 : tensor<4xf32>\n"
	p := program("(%x: tensor<4xf32>) -> tensor<4xf32>", body, s)
	for _, partitions := range []int{1, 2} {
		var mu sync.Mutex
		var got []string
		h := &runtime.Bindings{}
		h.Answer("h", pointerHandler{runtime.MemoryUse{Statistics: true}, func(c *runtime.Call) error {
			for i := range c.Operands {
				s, err := c.Statistics(i)
				if err != nil {
					return err
				}
				mu.Lock()
				got = append(got, fmt.Sprint(s))
				mu.Unlock()
			}
			return nil
		}})
		e, err := b.Compile(context.Background(), p, runtime.CompileOptions{Handlers: h, Partitions: partitions})
		if err != nil {
			t.Fatal(err)
		}
		copies.read = 0
		if _, err := e.Run(context.Background(), []*tensor.Tensor{f32(tensor.Shape{4}, 1, 2, 3, 10)}); err != nil {
			t.Fatal(err)
		}
		if want := "[{4 1 10 4 0 0} {4 -10 -1 -4 0 0}]"; partitions == 1 && (fmt.Sprint(got) != want || copies.read != 1) {
			t.Errorf("statistics are %v after %d copies, expected %s after one", got, copies.read, want)
		}
		if partitions == 2 && (len(got) == 0 || copies.read < len(got)) {
			t.Errorf("partitions have the statistics %v after %d copies", got, copies.read)
		}
		e.Close()
	}
}
