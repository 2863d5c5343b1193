# Measures JAX's callbacks in the same way as hlocb's, and prints one JSON object with times in seconds.
import json, resource, sys, time
import numpy as np
import jax, jax.numpy as jnp, jaxlib
from jax.experimental import io_callback

rounds = int(sys.argv[1])
sizes = json.loads(sys.argv[2])  # in elements of 4 bytes
seen = {"debug": 0, "io": 0}


def on_debug(x): seen["debug"] += 1
def on_io(x): seen["io"] += 1; return x


def done(f, x):
    r = f(x).block_until_ready(); jax.effects_barrier(); return r


def clock(f, n):
    out = []
    for _ in range(n):
        t = time.perf_counter(); f(); out.append(time.perf_counter() - t)
    return out


trips = 1000


def loop(hook):
    def body(i, v):
        v = v + 1
        if hook: jax.debug.callback(on_debug, v)
        return v
    return jax.jit(lambda x: jax.lax.fori_loop(0, trips, body, x))


x = jnp.ones((4,), jnp.float32)
with_hook, without = loop(True), loop(False)
done(with_hook, x); done(without, x)
base = min(clock(lambda: done(without, x), rounds))
debug = [(t - base) / trips for t in clock(lambda: done(with_hook, x), rounds)]

one = jax.jit(lambda x: io_callback(on_io, jax.ShapeDtypeStruct(x.shape, x.dtype), x))
none = jax.jit(lambda x: x * 2)
io, empty = [], []
for n in sizes:
    x = jnp.ones((n,), jnp.float32)
    done(one, x); done(none, x)
    repeats = max(5, min(500, int(2e7 // n)))
    io.append(sorted(clock(lambda: done(one, x), repeats)))
    empty.append(min(clock(lambda: done(none, x), repeats)))

# jnp.linalg.cholesky of 512x512 f64. It comes last, because it changes JAX's types.
def processor():
    u = resource.getrusage(resource.RUSAGE_SELF)
    return u.ru_utime + u.ru_stime


jax.config.update("jax_enable_x64", True)
x = jnp.eye(512, dtype=jnp.float64) * 512 + 1
factor = jax.jit(jnp.linalg.cholesky).lower(x)
text, factor = factor.as_text(), factor.compile()
factor(x).block_until_ready()
used = processor()
cholesky = clock(lambda: factor(x).block_until_ready(), 8 * rounds)
used = (processor() - used) / len(cholesky)
assert seen["debug"] == trips * (rounds + 1), seen


def q(t, p): return t[min(len(t) - 1, int(p * len(t)))]


print(json.dumps({"version": jaxlib.__version__, "debug": min(debug), "debug_p50": sorted(debug)[len(debug) // 2],
                  "io": [[t[0], q(t, .5), q(t, .99)] for t in io], "empty": empty,
                  "cholesky": {"text": text, "best": min(cholesky), "processor": used}}))
