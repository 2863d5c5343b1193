# The measurements of internal/bench in jaxlib: prints one JSON object, times in seconds.
import json, sys, time
import jax, jax.numpy as jnp, jaxlib
from jax.experimental import io_callback
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir

module, rounds = sys.argv[1], int(sys.argv[2])
out = {"Version": jaxlib.__version__}


def best(f):
    shortest = 1e9
    for _ in range(rounds):
        t = time.perf_counter(); r = f(); shortest = min(shortest, time.perf_counter() - t)
    return shortest, r


if module:
    text = open(module).read()
    with jax_mlir.make_ir_context():
        out["Parse"], m = best(lambda: ir.Module.parse(text))
        out["Print"], s = best(lambda: str(m))
        out["Generic"], g = best(lambda: m.operation.get_asm(print_generic_op_form=True))
        out["PrintBytes"], out["GenBytes"] = len(s), len(g)

seen = {"debug": 0, "io": 0}


def on_debug(x): seen["debug"] += 1
def on_io(x): seen["io"] += 1; return x


trips = 1000
x = jnp.ones((4,), jnp.float32)


def loop(x):
    def body(i, v):
        v = v + 1
        jax.debug.callback(on_debug, v)
        return v
    return jax.lax.fori_loop(0, trips, body, x)


def done(f):
    r = f(x).block_until_ready(); jax.effects_barrier(); return r


loop = jax.jit(loop); done(loop)
t, _ = best(lambda: done(loop))
out["DebugCallback"] = t / trips

one = jax.jit(lambda x: io_callback(on_io, jax.ShapeDtypeStruct(x.shape, x.dtype), x)); done(one)
none = jax.jit(lambda x: x * 2); done(none)
n = 300
t, _ = best(lambda: [done(one) for _ in range(n)]); out["IOCallback"] = t / n
t, _ = best(lambda: [done(none) for _ in range(n)]); out["Empty"] = t / n
out["DebugPrinted"], out["IOCalled"] = seen["debug"], seen["io"]
assert seen["debug"] == trips * (rounds + 1) and seen["io"] == n * rounds + 1, seen
print(json.dumps(out))
