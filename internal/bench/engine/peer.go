package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"github.com/hlocb/hlocb/internal/bench/meter"
	"github.com/hlocb/hlocb/tensor"
)

// script times jaxlib's engines. It reads one JSON object per line and answers each with one. The job load compiles a
// program and reads its arguments, time runs the program for a while, and reference runs it once on StableHLO's
// interpreter.
const script = `
import json, os, re, resource, sys, time
import numpy as np, ml_dtypes, jax
jax.config.update('jax_enable_x64', True)
from jaxlib import xla_client as xc
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo
from jax._src.interpreters import mlir
names = {'bf16': ml_dtypes.bfloat16, 'f16': np.float16, 'f32': np.float32, 'f64': np.float64, 'i1': np.bool_, 'complex<f32>': np.complex64, 'complex<f64>': np.complex128}
names.update({s + 'i' + str(n): np.dtype(('u' if s else '') + 'int' + str(n)) for s in ('', 'u') for n in (8, 16, 32, 64)})
client = jax.devices('cpu')[0].client
devices = xc.DeviceList(tuple(jax.devices('cpu')))
answers = os.fdopen(os.dup(1), 'w')
os.dup2(2, 1) # libraries write to standard output
def cpu():
    u = resource.getrusage(resource.RUSAGE_SELF)
    return u.ru_utime + u.ru_stime
def resident(name):
    return next(int(l.split()[1]) for l in open('/proc/self/status') if l.startswith(name)) * 1024
def run(): return [o.block_until_ready() for o in exe.execute(args)]
def answer(job):
    global exe, args, host
    if 'load' in job:
        with mlir.make_ir_context(), ir.Location.unknown():
            text = ir.Module.parse(job['load']).operation.get_asm(binary=False, enable_debug_info=False).encode()
        t = time.perf_counter()
        exe = client.compile_and_load(text, devices, xc.CompileOptions())
        seconds = time.perf_counter() - t
        host = [np.fromfile(a['file'], names[a['type']]).reshape(a['shape']) for a in job['args']]
        args = [jax.device_put(x) for x in host]
        run()
        return {'seconds': seconds, 'bytes': exe.get_compiled_memory_stats().temp_size_in_bytes}
    if 'time' in job:
        best, n, start, used = 1e9, 0, time.perf_counter(), cpu()
        while True:
            t = time.perf_counter(); run(); e = time.perf_counter(); best = min(best, e - t); n += 1
            if e - start > job['time']: return {'seconds': best, 'cpu': (cpu() - used) / n}
    if 'memory' in job:
        open('/proc/self/clear_refs', 'w').write('5')
        base = resident('VmRSS')
        for _ in range(5): run()
        return {'bytes': resident('VmHWM') - base}
    with mlir.make_ir_context(), ir.Location.unknown():
        m = ir.Module.parse(job['reference'])
        a = [ir.DenseElementsAttr.get(np.ascontiguousarray(x), type=ir.F32Type.get() if x.dtype == np.float32 else ir.IntegerType.get_signless(32), shape=x.shape) for x in host]
        t = time.perf_counter(); stablehlo.eval_module(m, a)
        return {'seconds': time.perf_counter() - t}
for line in sys.stdin:
    try: r = answer(json.loads(line))
    except Exception as e: r = {'error': str(e).splitlines()[0][:100]}
    answers.write(json.dumps(r) + '\n')
    answers.flush()
`

// peer is a process of jaxlib.
type peer struct {
	*meter.Peer
	dir string // of arguments
}

// reply is a peer's answer: seconds of a run or a compilation, processor seconds per run, bytes.
type reply struct {
	Seconds, CPU float64
	Bytes        int64
}

func startPeer(python string) (*peer, error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	p, err := meter.Start(python, script)
	return &peer{p, dir}, err
}

func (p *peer) close() error { return errors.Join(p.Close(), os.RemoveAll(p.dir)) }

// ask sends one job and reads the answer.
func (p *peer) ask(job map[string]any) (r reply, err error) { return r, p.Ask(job, &r) }

// load compiles a program and passes its arguments in files.
func (p *peer) load(text string, args []*tensor.Tensor) (reply, error) {
	list := []map[string]any{}
	for i, a := range args {
		file := filepath.Join(p.dir, strconv.Itoa(i))
		if err := os.WriteFile(file, a.Bytes(), 0o600); err != nil {
			return reply{}, err
		}
		shape := append([]int64{}, a.Shape()...)
		list = append(list, map[string]any{"file": file, "type": a.DType().String(), "shape": shape})
	}
	return p.ask(map[string]any{"load": text, "args": list})
}
