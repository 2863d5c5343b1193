# Transformations: vmap, scan, grad through custom rules, checkpoints, loops with conditions that print.
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import io_callback

def body(c, x):
    jax.debug.print("scan {} {}", c, x, ordered=True)
    return c + x, c * x

print(jax.jit(lambda xs: lax.scan(body, 0.0, xs))(jnp.arange(4.0)))
print(jax.jit(lambda xs: lax.scan(body, 0.0, xs, reverse=True, unroll=2))(jnp.arange(4.0)))

@jax.custom_vjp
def clip(x):
    return x

def forward(x):
    jax.debug.print("forward {}", x, ordered=True)
    return x, x

def backward(r, g):
    jax.debug.print("backward {} {}", r, g, ordered=True)
    return (jnp.clip(g, -1, 1),)

clip.defvjp(forward, backward)
print(jax.jit(jax.grad(lambda x: clip(jnp.sin(x)) ** 3 * 100))(2.0))

@jax.checkpoint
def layer(x):
    y = jnp.cos(x)
    jax.debug.print("layer {:.4f}", y, ordered=False)
    return jnp.sin(y)

print(jax.jit(jax.grad(layer))(1.5))

state = {"n": 0}

def count(x):
    state["n"] += 1
    return np.float32(x + state["n"])

print(jax.jit(lambda x: lax.while_loop(lambda s: s < 20, lambda s: io_callback(count, jax.ShapeDtypeStruct((), jnp.float32), s, ordered=True), x))(jnp.float32(1)), state)
print(jax.jit(lambda x: lax.while_loop(lambda s: jax.pure_callback(lambda v: np.bool_(v < 5), jax.ShapeDtypeStruct((), jnp.bool_), s), lambda s: s + 1, x))(jnp.float32(1)))
for method in ["sequential", "expand_dims", "broadcast_all", "legacy_vectorized"]:
    try:
        print(method, jax.jit(jax.vmap(lambda v, w: jax.pure_callback(lambda a, b: np.asarray(a + b, np.float32), jax.ShapeDtypeStruct((), jnp.float32), v, w, vmap_method=method), in_axes=(0, None)))(jnp.arange(3.0), 1.0))
    except Exception as e:
        print(method, type(e).__name__)
jax.jit(jax.vmap(lambda v: jax.debug.print("one of three {}", v)))(jnp.arange(3))
print(jax.jit(jax.hessian(lambda x: jnp.sum(jnp.tanh(x) ** 3)))(jnp.arange(3.0)).round(4))
print(jax.jit(jax.jacfwd(lambda x: lax.fori_loop(0, 3, lambda i, s: jnp.sin(s) + i, x)))(jnp.float32(0.5)))
print(jax.jit(lambda x: lax.switch(x, [lambda: jax.debug.print("zero", ordered=True), lambda: jax.debug.print("one", ordered=True), lambda: None]))(1))
print(jax.jit(lambda x: lax.map(lambda y: y @ y.T, x, batch_size=2))(jnp.arange(24.0).reshape(4, 2, 3)).sum())
print(jax.jit(lambda a: (jnp.sort(a), jnp.argsort(a), lax.top_k(a, 2), jnp.cumsum(a), jnp.fft.rfft(a).real.round(3)))(jnp.array([3.0, 1.0, 2.0, 5.0])))
key = jax.random.key(0)
print(jax.jit(lambda k: (jax.random.normal(k, (3,)), jax.random.randint(k, (2,), 0, 9), jax.random.categorical(k, jnp.ones(4))))(key))
print(jax.jit(lambda a: lax.associative_scan(jnp.multiply, a))(jnp.arange(1.0, 6.0)))
print(jax.jit(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (2,), (1,), "VALID"))(jnp.arange(5.0)))
print(jax.jit(lambda x: lax.custom_root(lambda y: y ** 2 - x, 1.0, lambda f, y: lax.fori_loop(0, 20, lambda _, y: y - f(y) / (2 * y), y), lambda g, y: y / g(1.0)))(2.0))
