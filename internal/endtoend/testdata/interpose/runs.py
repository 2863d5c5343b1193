# How programs run: donation, asynchronous dispatch, threads, exceptions, compiled ahead, exported, buffers of any kind.
import functools, threading, io, contextlib
import jax, jax.numpy as jnp, numpy as np
from jax import export
from jax.experimental import io_callback

@functools.partial(jax.jit, donate_argnums=(0, 1))
def step(p, m, g):
    m = jax.tree.map(lambda m, g: 0.9 * m + g, m, g)
    return jax.tree.map(lambda p, m: p - 0.1 * m, p, m), m

p, m = {"w": jnp.ones((3, 3)), "b": jnp.zeros(3)}, {"w": jnp.zeros((3, 3)), "b": jnp.zeros(3)}
for i in range(4):
    p, m = step(p, m, jax.tree.map(jnp.ones_like, p))
print(p["w"][0], p["b"])

@jax.jit
def heavy(x):
    for _ in range(4):
        x = jnp.tanh(x @ x) + 0.01
    jax.debug.print("{:.4f}", x[0, 0], ordered=True)
    return x

x = jnp.eye(128) * 0.5
for _ in range(6):
    x = heavy(x)
x.block_until_ready()
jax.effects_barrier()

results = {}

def work(k):
    f = jax.jit(lambda x: jax.pure_callback(lambda v: np.asarray(v) * k, x, x) + 1)
    results[k] = [float(f(jnp.float32(i))) for i in range(20)]

threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
print({k: sum(v) for k, v in sorted(results.items())})

def fail(x):
    raise KeyError("no such key")

for name, call in {"pure": lambda x: jax.pure_callback(fail, x, x), "io": lambda x: io_callback(fail, x, x), "ordered": lambda x: io_callback(fail, x, x, ordered=True)}.items():
    try:
        jax.jit(call)(jnp.float32(1)).block_until_ready()
        print(name, "no exception")
    except Exception as e:
        print(name, type(e).__name__, "no such key" in str(e))
try:
    jax.effects_barrier()
except Exception as e:
    print("barrier", type(e).__name__)
print(jax.jit(lambda x: x + 1)(jnp.float32(1)))

def wrong(x):
    return np.zeros(7, np.float32)

try:
    jax.jit(lambda x: jax.pure_callback(wrong, x, x))(jnp.float32(1)).block_until_ready()
except Exception as e:
    print("shape", type(e).__name__)

compiled = jax.jit(lambda x, y: x @ y).lower(jnp.ones((2, 3)), jnp.ones((3, 2))).compile()
print(compiled(jnp.ones((2, 3)), jnp.ones((3, 2))), compiled.cost_analysis() is not None, len(compiled.as_text()) > 0)
blob = export.export(jax.jit(lambda x: jnp.sin(x) * 2), platforms=["cpu"])(jax.ShapeDtypeStruct((4,), jnp.float32)).serialize()
with jax.default_device(jax.devices("cpu")[0]):
    print(export.deserialize(blob).call(jnp.arange(4.0)))
shapes = export.symbolic_shape("n, 4")
print(export.export(jax.jit(lambda x: x.sum(0) / x.shape[0]), platforms=["cpu"])(jax.ShapeDtypeStruct(shapes, jnp.float32)).in_avals)

with jax.enable_x64(True):
    print(jax.jit(lambda x: jnp.linspace(0, x, 3))(jnp.float64(1)))
print(jax.jit(lambda: (jnp.int8(3), jnp.bool_(True), jnp.complex64(1 + 2j), jnp.bfloat16(1.5)))())
print(jax.jit(lambda x: x)(np.zeros((0, 3), np.float32)).shape, jax.jit(lambda *a: a[::-1])(1, 2.0, True))
print(jax.jit(lambda x: x[::-1], static_argnums=())(np.arange(5)), jnp.where(jnp.arange(6) % 2 == 0, 1, -1))
print(jax.eval_shape(lambda x: x @ x, jax.ShapeDtypeStruct((2, 2), jnp.float32)))
with jax.disable_jit():
    print(jnp.tanh(jnp.float32(0.5)))
with jax.debug_nans(True):
    try:
        jax.jit(lambda x: jnp.log(x))(-1.0)
    except FloatingPointError as e:
        print("FloatingPointError")
