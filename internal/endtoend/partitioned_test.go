package endtoend

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/randprog"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestRandomPartitioned runs random programs on four devices. With --per-device=once the hooks must deliver the same
// events as the program on one device, with whole values, and only on the first device.
func TestRandomPartitioned(t *testing.T) {
	n := uint64(20)
	if long() {
		n = 400
	}
	cpu, engine := open(t, "cpu"), open(t, "interp")
	for i := range n {
		if !label.Part(i < n/3) {
			continue
		}
		seed := firstSeed(t) + i
		p := randprog.New(seed+4e6, randprog.Options{Form: randprog.Form(seed % uint64(randprog.NumForms)), Depth: 2})
		chain := hook.ChainState
		if i%4 == 3 {
			chain = hook.ChainToken
		}
		for _, b := range []runtime.Backend{cpu, engine} {
			if err := partitioned(p, b, chain); err != nil {
				t.Fatalf("seed %d, %s, %s: %v\n-- the program:\n%s", p.Seed, p.Form, b.Name(), err, p.Sharded(4))
			}
		}
	}
}

func partitioned(p *randprog.Program, b runtime.Backend, chain hook.Chain) error {
	want, err := p.Eval()
	if err != nil {
		return err
	}
	opts := rewriteOptions(p)
	opts.Chain, opts.PerDevice = chain, hook.PerDeviceOnce
	prog, err := rewrite("random.mlir", []byte(p.Sharded(4)), opts)
	if err != nil {
		return err
	}
	rec := &recorder{answer: answerRandom(p)}
	e, err := b.Compile(context.Background(), prog, runtime.CompileOptions{Handlers: rec.bindings()})
	if err != nil {
		return fmt.Errorf("compile: %w\n%s", err, moduleText(prog))
	}
	defer e.Close()
	results, err := e.Run(context.Background(), p.Args)
	if err != nil {
		return fmt.Errorf("run: %w\n%s", err, moduleText(prog))
	}
	var got []randprog.Event
	for _, ev := range rec.take() {
		if ev.device != 0 {
			return fmt.Errorf("hook %q is delivered on device %d\n%s", ev.site.Name, ev.device, moduleText(prog))
		}
		if s := p.SiteOf(ev.site); !s.Pure {
			got = append(got, randprog.Event{Site: s, Operands: ev.operands})
		}
	}
	if err := compareEvents(got, want.Events, false); err != nil {
		return fmt.Errorf("%w\n%s", err, moduleText(prog))
	}
	for i, r := range want.Results {
		if !sameBits(results[i], r) {
			return fmt.Errorf("result %d is %s, expected %s\n%s", i, text(results[i]), text(r), moduleText(prog))
		}
	}
	return nil
}

func text(t *tensor.Tensor) string { return string(t.AppendLiteral(nil, 16)) }

// TestPartitionedResults: an answer from the host on one device must reach all devices bit for bit, for every type,
// including -0 and the payload of a NaN.
func TestPartitionedResults(t *testing.T) {
	b := open(t, "cpu")
	for i, d := range []tensor.DType{tensor.F32, tensor.F64, tensor.F16, tensor.BF16, tensor.F8E5M2, tensor.F8E4M3FN, tensor.Complex64, tensor.Complex128,
		tensor.I8, tensor.UI8, tensor.I16, tensor.I32, tensor.I64, tensor.UI64, tensor.I1} {
		if !label.Part(i%3 == 0) {
			continue
		}
		t.Run(d.String(), func(t *testing.T) {
			prog, err := rewrite("call.mlir", []byte(strings.ReplaceAll(`module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<4xTYPE> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xTYPE> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    %0 = stablehlo.custom_call @h(%a) {api_version = 4 : i32, has_side_effect = true} : (tensor<4xTYPE>) -> tensor<4xTYPE>
    return %0 : tensor<4xTYPE>
  }
}`, "TYPE", d.String())), passes.RewriteHooks{Targets: []string{"h"}, PerDevice: hook.PerDeviceOnce})
			if err != nil {
				t.Fatal(err)
			}
			want := tensor.New(d, tensor.Shape{4})
			n := d.Size()
			for i := range want.Bytes() {
				want.Bytes()[i] = byte(1 + i)
			}
			if d.IsFloat() || d.IsComplex() {
				clear(want.Bytes()[:2*n])
				want.Bytes()[n-1] = 0x80 // -0
			}
			if d == tensor.F32 {
				tensor.View[uint32](want)[2] = 0x7fc01234 // not a number
			}
			if d == tensor.I1 {
				copy(want.Bytes(), []byte{1, 0, 0, 1})
			}
			rec := &recorder{answer: func(c *runtime.Call) error {
				copy(c.Results[0].Bytes(), want.Bytes())
				return nil
			}}
			e, err := b.Compile(context.Background(), prog, runtime.CompileOptions{Handlers: rec.bindings()})
			if err != nil {
				t.Fatalf("%v\n%s", err, moduleText(prog))
			}
			defer e.Close()
			out, err := e.Run(context.Background(), []*tensor.Tensor{tensor.New(d, tensor.Shape{4})})
			if err != nil {
				t.Fatal(err)
			}
			if !sameBits(out[0], want) {
				t.Errorf("all devices got % x, expected % x", out[0].Bytes(), want.Bytes())
			}
		})
	}
}

// TestPartitionedDeepSum finds the sharding of a value at the end of a long chain of sums of two equal values.
func TestPartitionedDeepSum(t *testing.T) {
	var w strings.Builder
	w.WriteString("module attributes {mhlo.num_partitions = 4 : i32} {\nsdy.mesh @mesh = <[\"x\"=4]>\nfunc.func public @main(%v0: tensor<4xf32>) -> tensor<4xf32> {\n")
	const n = 200
	for i := range n {
		fmt.Fprintf(&w, "%%v%d = stablehlo.add %%v%d, %%v%d : tensor<4xf32>\n", i+1, i, i)
	}
	fmt.Fprintf(&w, "stablehlo.custom_call @h(%%v%d) {api_version = 4 : i32, has_side_effect = true} : (tensor<4xf32>) -> ()\nreturn %%v%d : tensor<4xf32>\n}\n}\n", n, n)
	if _, err := rewrite("deep.mlir", []byte(w.String()), passes.RewriteHooks{Targets: []string{"h"}, PerDevice: hook.PerDeviceEach}); err != nil {
		t.Fatal(err)
	}
}
