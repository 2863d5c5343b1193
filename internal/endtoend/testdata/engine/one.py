# What JAX's users do on one device. The output must be that of JAX's own CPU client.
import threading

import jax
import jax.numpy as jnp
import numpy as np


def show(name, *values):
    print(name, *(np.round(np.asarray(v, np.float64), 4).tolist() for v in values))


x = jnp.arange(8.0)
show("jit", jax.jit(lambda x: x * 2 + 1)(x))
show("random", jax.random.normal(jax.random.key(0), (3,)))
show("grad", jax.grad(lambda x: (jnp.sin(x) ** 2).sum())(x))
show("scan", jax.lax.scan(lambda c, x: (c + x, c * x), 0.0, x)[1])
show("linalg", jnp.linalg.eigh(jnp.eye(3) + 1)[0], jnp.linalg.solve(jnp.eye(3) + 1, jnp.ones(3)))
show("types", *(jnp.arange(-2, 4).astype(t).astype(jnp.float32) for t in (jnp.int4, jnp.uint4, jnp.float8_e4m3fn, jnp.bfloat16, bool)))
show("empty", jnp.zeros((0, 3)), jax.jit(lambda x: x[:0])(x))
show("strides", jnp.asarray(np.arange(12).reshape(3, 4).T[::2, ::-1]))
show("dlpack", np.from_dlpack(jax.jit(lambda x: x + 1)(x)))

# Callbacks: a value, an effect, an ordered effect, a call of JAX, an exception.
show("pure", jax.jit(lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x))(x))
jax.jit(lambda x: jax.debug.print("debug {}", x.sum()))(x)
jax.effects_barrier()


@jax.jit
def ordered(x):
    for i in range(3):
        jax.debug.print("ordered {} {}", i, x[i], ordered=True)
    return x + 1


show("tokens", ordered(x))
jax.effects_barrier()
show("inside", jax.jit(lambda x: jax.pure_callback(lambda a: np.asarray(jax.jit(jnp.cos)(a)), jax.ShapeDtypeStruct(x.shape, x.dtype), x))(x))


def fails(a):
    raise ValueError("the callback's own words")


try:
    jax.jit(lambda x: jax.pure_callback(fails, jax.ShapeDtypeStruct(x.shape, x.dtype), x))(x).block_until_ready()
except jax.errors.JaxRuntimeError as error:
    print("exception", "the callback's own words" in str(error))

# Donation: the argument is gone, views keep their bytes, one buffer is donated once.
step = jax.jit(lambda x, y: (x + 1, y), donate_argnums=0)
a = jnp.arange(1000.0)
view = np.asarray(a)
b, _ = step(a, x)
print("donated", a.is_deleted(), view.sum(), float(b.sum()))
both = jax.jit(lambda x, y: (x + 1, y + 1), donate_argnums=(0, 1))
try:
    both(b, b)
except Exception as error:  # ValueError or JaxRuntimeError
    print("twice", "donate the same buffer twice" in str(error))
try:
    a + 1
except RuntimeError as error:
    print("deleted", "deleted" in str(error))

# Many runs that depend on each other, and threads.
y = jnp.ones((256, 256)) / 256
for _ in range(50):
    y = y @ y / 256 + 0.5
show("chain", y[0, :3])
results = [None] * 8


def work(i):
    z = jnp.full((64, 64), float(i))
    for _ in range(50):
        z = jax.jit(lambda z: z * 0.5 + 1)(z)
    results[i] = float(z.sum())


threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print("threads", np.round(results, 3).tolist())
lowered = jax.jit(lambda x: x + 1).lower(x)
compiled = lowered.compile()
print("compiled", compiled(x).tolist(), compiled.memory_analysis() is not None, "add" in compiled.as_text())
try:
    lowered.compile(compiler_options={"no_such_option": True})
except Exception as error:
    print("option", "no_such_option" in str(error))
