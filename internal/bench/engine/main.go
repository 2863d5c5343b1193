// Command engine compares the speed of the embedded engine, StableHLO's reference interpreter and XLA's CPU backend
// (the latter two from jaxlib), on one machine in one run: 'make bench-engine'. The other engines run in
// subprocesses, because the reference interpreter exits on ops that it lacks.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// bench is one program. Its arguments are f32 in [-0.1, 0.1), i32 that count modulo 1000, or scalars of 20000.
type bench struct {
	name      string
	text      string
	reference bool // the reference interpreter can run it in reasonable time
}

func binary(op, ty string) string {
	return fmt.Sprintf("func.func @main(%%a: %s, %%b: %s) -> %s {\n %%r = stablehlo.%s %%a, %%b : %s\n return %%r : %s\n}", ty, ty, ty, op, ty, ty)
}

func unary(op, ty string) string {
	return fmt.Sprintf("func.func @main(%%a: %s) -> %s {\n %%r = stablehlo.%s %%a : %s\n return %%r : %s\n}", ty, ty, op, ty, ty)
}

var benches = []bench{
	{"matmul 256x256 f32", "func.func @main(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>) -> tensor<256x256xf32> {\n %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>\n return %r : tensor<256x256xf32>\n}", true},
	{"matmul 1024x1024 f32", "func.func @main(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {\n %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>\n return %r : tensor<1024x1024xf32>\n}", false},
	{"add 1M f32", binary("add", "tensor<1000000xf32>"), true},
	{"tanh 1M f32", unary("tanh", "tensor<1000000xf32>"), false},
	{"reduce add 1M f32", "func.func @main(%a: tensor<1000000xf32>) -> tensor<f32> {\n %z = stablehlo.constant dense<0.0> : tensor<f32>\n %r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<1000000xf32>, tensor<f32>) -> tensor<f32>\n return %r : tensor<f32>\n}", true},
	{"while 20000 iterations", `func.func @main(%n: tensor<i32>) -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.while(%i = %zero) : tensor<i32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j : tensor<i32>
    }
  return %r : tensor<i32>
}`, true},
	{"gelu 1M f32, 9 ops fused", `func.func @main(%a: tensor<1000000xf32>) -> tensor<1000000xf32> {
  %h = stablehlo.constant dense<0.5> : tensor<1000000xf32>
  %c = stablehlo.constant dense<0.797884583> : tensor<1000000xf32>
  %d = stablehlo.constant dense<0.044715> : tensor<1000000xf32>
  %o = stablehlo.constant dense<1.0> : tensor<1000000xf32>
  %0 = stablehlo.multiply %a, %a : tensor<1000000xf32>
  %1 = stablehlo.multiply %0, %a : tensor<1000000xf32>
  %2 = stablehlo.multiply %1, %d : tensor<1000000xf32>
  %3 = stablehlo.add %2, %a : tensor<1000000xf32>
  %4 = stablehlo.multiply %3, %c : tensor<1000000xf32>
  %5 = stablehlo.tanh %4 : tensor<1000000xf32>
  %6 = stablehlo.add %5, %o : tensor<1000000xf32>
  %7 = stablehlo.multiply %6, %h : tensor<1000000xf32>
  %8 = stablehlo.multiply %7, %a : tensor<1000000xf32>
  return %8 : tensor<1000000xf32>
}`, false},
	{"exponential 1M f32", unary("exponential", "tensor<1000000xf32>"), false},
	{"transpose 1024x1024 f32", "func.func @main(%a: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {\n %r = stablehlo.transpose %a, dims = [1, 0] : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>\n return %r : tensor<1024x1024xf32>\n}", false},
	{"convolution 8x32x32x32, 3x3x32x64", `func.func @main(%a: tensor<8x32x32x32xf32>, %b: tensor<3x3x32x64xf32>) -> tensor<8x32x32x64xf32> {
  %r = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x32x32x32xf32>, tensor<3x3x32x64xf32>) -> tensor<8x32x32x64xf32>
  return %r : tensor<8x32x32x64xf32>
}`, false},
	{"gather 10000 rows of 64", `func.func @main(%a: tensor<1000x64xf32>, %i: tensor<10000x1xi32>) -> tensor<10000x64xf32> {
  %r = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}> : (tensor<1000x64xf32>, tensor<10000x1xi32>) -> tensor<10000x64xf32>
  return %r : tensor<10000x64xf32>
}`, false},
	{"scatter add 10000 rows of 64", `func.func @main(%a: tensor<1000x64xf32>, %i: tensor<10000x1xi32>, %u: tensor<10000x64xf32>) -> tensor<1000x64xf32> {
  %r = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }) : (tensor<1000x64xf32>, tensor<10000x1xi32>, tensor<10000x64xf32>) -> tensor<1000x64xf32>
  return %r : tensor<1000x64xf32>
}`, false},
	{"sort 1M f32", `func.func @main(%a: tensor<1000000xf32>) -> tensor<1000000xf32> {
  %r = "stablehlo.sort"(%a) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %z : tensor<i1>
  }) : (tensor<1000000xf32>) -> tensor<1000000xf32>
  return %r : tensor<1000000xf32>
}`, false},
}

// script times the other engines: one JSON object per program on stdin, seconds per run or null on stdout.
const script = `
import json, sys, time, re, numpy as np
def args(text):
    state, out = np.uint64(1), []
    rng = np.random.default_rng(0)
    sig = re.search(r'@main\((.*?)\) ->', text, re.S).group(1)
    for m in re.finditer(r'tensor<([^>]*)>', sig):
        p = m.group(1).split('x'); shape = [int(d) for d in p[:-1]]
        if p[-1] == 'i32': out.append(np.full(shape, 20000, np.int32) if not shape else (np.arange(int(np.prod(shape))) % 1000).astype(np.int32).reshape(shape))
        else: out.append(((rng.random(shape) - 0.5) / 5).astype(np.float32))
    return out
def best(f, limit):
    t0, b = time.perf_counter(), 1e9
    while True:
        t = time.perf_counter(); f(); b = min(b, time.perf_counter() - t)
        if time.perf_counter() - t0 > limit: return b
def resident(name):
    return next(int(l.split()[1]) for l in open('/proc/self/status') if l.startswith(name)) * 1024
job = json.load(sys.stdin)
if job['peer'] in ('xla', 'memory'):
    import jax
    from jaxlib import xla_client as xc
    c = jax.devices('cpu')[0].client
    exe = c.compile_and_load(job['text'].encode(), xc.DeviceList(tuple(jax.devices('cpu'))), xc.CompileOptions())
    a = [jax.device_put(x) for x in args(job['text'])]
    if job['peer'] == 'memory':
        [x.block_until_ready() for x in a]
        open('/proc/self/clear_refs', 'w').write('5')
        base = resident('VmRSS')
        for _ in range(5): [o.block_until_ready() for o in exe.execute(a)]
        print((resident('VmHWM') - base) / 1e9)
        sys.exit()
    print(best(lambda: [o.block_until_ready() for o in exe.execute(a)], 1.0))
else:
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo
    from jax._src.interpreters import mlir
    with mlir.make_ir_context(), ir.Location.unknown():
        m = ir.Module.parse(job['text'])
        a = [ir.DenseElementsAttr.get(np.ascontiguousarray(x), type=ir.F32Type.get() if x.dtype == np.float32 else ir.IntegerType.get_signless(32), shape=x.shape) for x in args(job['text'])]
        print(best(lambda: stablehlo.eval_module(m, a), 0.0))
`

func main() {
	growth := flag.Bool("growth", false, "print how many bytes resident memory grows by over five runs of the module on standard input, and no more")
	flag.Parse()
	if *growth {
		n, err := memoryGrowth(os.Stdin)
		if err != nil {
			fmt.Fprintln(os.Stderr, "engine:", err)
			os.Exit(1)
		}
		fmt.Println(n)
		return
	}
	text, err := os.ReadFile(filepath.Join("testdata", "transformer_grad.mlir"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "engine:", err)
		os.Exit(1)
	}
	transformer := string(text)
	benches = append(benches, bench{"transformer step", transformer, false})
	python := peer.Find()
	fmt.Println(interp.New(interp.Options{}).Describe())
	fmt.Printf("%-36s %12s %12s %9s %12s %9s\n", "program", "engine", "reference", "times", "XLA CPU", "times")
	for _, b := range benches {
		own, err := timeEngine(b.text)
		if err != nil {
			fmt.Printf("%-36s %v\n", b.name, err)
			continue
		}
		line := fmt.Sprintf("%-36s %12s", b.name, own)
		for _, p := range []string{"reference", "xla"} {
			d, ok := time.Duration(0), false
			if python != "" && (p == "xla" || b.reference) {
				d, ok = timePeer(python, p, b.text)
			}
			if ok {
				line += fmt.Sprintf(" %12s %9.2f", d, float64(d)/float64(own))
			} else {
				line += fmt.Sprintf(" %12s %9s", "-", "-")
			}
		}
		fmt.Println(line)
	}
	compareMemory(python, transformer)
	if python == "" {
		fmt.Println("skipped the peers: jaxlib not installed")
	}
}

func timePeer(python, peer, text string) (time.Duration, bool) {
	in, err := json.Marshal(map[string]string{"peer": peer, "text": text})
	if err != nil {
		return 0, false
	}
	cmd := exec.Command(python, "-c", script)
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	var seconds float64
	if _, scan := fmt.Sscan(string(out), &seconds); err != nil || scan != nil {
		return 0, false
	}
	return time.Duration(seconds * 1e9).Round(100 * time.Nanosecond), true
}

// compareMemory prints the peak growth of resident memory over steps of the transformer, after it is loaded and has
// its arguments. Each engine runs in its own process.
func compareMemory(python, text string) {
	self, err := os.Executable()
	if err != nil {
		return
	}
	cmd := exec.Command(self, "-growth")
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.Output()
	var own int64
	if _, scan := fmt.Sscan(string(out), &own); err != nil || scan != nil {
		fmt.Println("memory of transformer step: not measured here")
		return
	}
	line := fmt.Sprintf("%-36s %9.1f MiB", "memory of transformer step", float64(own)/(1<<20))
	if python != "" {
		if d, ok := timePeer(python, "memory", text); ok {
			line += fmt.Sprintf("   XLA CPU %9.1f MiB, engine by XLA %.2f", float64(d)/(1<<20), float64(own)/float64(d))
		}
	}
	fmt.Println(line)
}

// memoryGrowth compiles a module and returns the peak growth of the process's resident memory over five runs. It
// works on Linux only.
func memoryGrowth(r io.Reader) (int64, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return 0, err
	}
	exe, args, err := load(string(text))
	if err != nil {
		return 0, err
	}
	defer exe.Close()
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return 0, err
	}
	base, err := resident("VmRSS:")
	if err != nil {
		return 0, err
	}
	for range 5 {
		if _, err := exe.Run(context.Background(), args); err != nil {
			return 0, err
		}
	}
	peak, err := resident("VmHWM:")
	return peak - base, err
}

// resident returns the value of a line of the process's status, in bytes.
func resident(name string) (int64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, ok := strings.Cut(string(text), name)
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); err != nil || !ok {
		return 0, fmt.Errorf("no %s in the process's status", name)
	}
	return kib << 10, nil
}

// timeEngine returns the shortest of the runs that fit in about a second.
func timeEngine(text string) (time.Duration, error) {
	exe, args, err := load(text)
	if err != nil {
		return 0, err
	}
	defer exe.Close()
	ctx := context.Background()
	best := time.Duration(1 << 62)
	for start := time.Now(); time.Since(start) < time.Second; {
		t := time.Now()
		if _, err := exe.Run(ctx, args); err != nil {
			return 0, err
		}
		best = min(best, time.Since(t))
	}
	return best.Round(100 * time.Nanosecond), nil
}

// load compiles a module and makes its arguments.
func load(text string) (runtime.Executable, []*tensor.Tensor, error) {
	reg, err := all.Registry()
	if err != nil {
		return nil, nil, err
	}
	m, err := parse.Parse(diag.NewSource("bench", []byte(text)), ir.NewContext(), reg, parse.Options{})
	if err != nil {
		return nil, nil, err
	}
	exe, err := interp.New(interp.Options{}).Compile(context.Background(), &runtime.Program{Module: m}, runtime.CompileOptions{})
	if err != nil {
		return nil, nil, err
	}
	args, err := arguments(m)
	return exe, args, err
}

func arguments(m *ir.Module) ([]*tensor.Tensor, error) {
	f, ok := fn.Lookup(m, "main")
	if !ok {
		return nil, fmt.Errorf("no function main")
	}
	var args []*tensor.Tensor
	state := uint64(1)
	for _, t := range f.Type().Inputs() {
		tt, ok := t.(*ir.TensorType)
		if !ok || !tt.Static() {
			return nil, fmt.Errorf("argument of type %s", t)
		}
		x := tensor.New(tt.DType(), tt.Shape())
		switch tt.DType() {
		case tensor.F32:
			for i := range tensor.View[float32](x) {
				state = state*6364136223846793005 + 1442695040888963407
				tensor.View[float32](x)[i] = (float32(state>>40)/(1<<24) - 0.5) / 5
			}
		case tensor.I32:
			v := tensor.View[int32](x)
			for i := range v {
				v[i] = int32(i % 1000)
			}
			if tt.Rank() == 0 {
				v[0] = 20000
			}
		default:
			return nil, fmt.Errorf("argument of type %s", strings.TrimSpace(t.String()))
		}
		args = append(args, x)
	}
	return args, nil
}
