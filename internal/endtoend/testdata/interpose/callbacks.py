# Callbacks of every kind and many element types.
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import io_callback

@jax.jit
def prints(x):
    jax.debug.print("x = {}", x, ordered=True)
    jax.debug.print("sum = {}", x.sum(), ordered=True)
    return x + 1

print(prints(jnp.arange(3.0)))
jax.effects_barrier()

def swap(*values):
    return tuple(np.asarray(v)[::-1] for v in values)

types = [jnp.bool_, jnp.int8, jnp.uint16, jnp.int32, jnp.float16, jnp.bfloat16, jnp.float32, jnp.complex64, jnp.float8_e4m3fn, jnp.int4, jnp.uint4]
values = [jnp.arange(3).astype(t) for t in types]
shapes = tuple(jax.ShapeDtypeStruct((3,), t) for t in types)
for v in jax.jit(lambda *a: io_callback(swap, shapes, *a, ordered=True))(*values):
    print(v.dtype, np.asarray(v).astype(np.complex64).tolist())
print(jax.jit(lambda x: jax.pure_callback(lambda v: np.asarray(v) * 2, x, x, vmap_method="sequential"))(jnp.float32(21)))

kept = []
jax.jit(lambda x: jax.debug.callback(kept.append, x))(jnp.arange(4))
jax.effects_barrier()
print(kept)

# Empty values, no operands, no results.
print(jax.jit(lambda: io_callback(lambda: np.zeros((0, 2), np.float32), jax.ShapeDtypeStruct((0, 2), jnp.float32)))().shape)

# A callback that runs another program with a callback.
def inner(v):
    return np.asarray(jax.jit(lambda y: jax.pure_callback(lambda w: np.asarray(w) + 1, y, y))(jnp.asarray(v)))

print(jax.jit(lambda x: jax.pure_callback(inner, x, x))(jnp.float32(1)))

def fail(v):
    raise ValueError("not this value")

try:
    jax.jit(lambda x: jax.pure_callback(fail, x, x))(jnp.float32(1)).block_until_ready()
except Exception as e:
    print(type(e).__name__, "not this value" in str(e), "fail" in str(e))
