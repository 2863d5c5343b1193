# Callbacks in loops and branches, donated arguments, and a large program that runs asynchronously.
import functools
import jax, jax.numpy as jnp

@jax.jit
def count(n):
    def body(i, s):
        jax.lax.cond(i % 2 == 0, lambda: jax.debug.print("even {}", i, ordered=True), lambda: None)
        return s + i
    return jax.lax.fori_loop(0, n, body, 0)

print(count(5))

@functools.partial(jax.jit, donate_argnums=0)
def step(w, i):
    jax.debug.print("{} {:.3f}", i, w.mean(), ordered=True)
    return jnp.tanh(w @ w.T) * 0.5 + 0.1

w = jnp.ones((256, 256)) / 256
for i in range(5):
    w = step(w, i)
jax.effects_barrier()
print(float(w[0, 0]) < 1)
