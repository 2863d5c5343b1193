import jax, jax.numpy as jnp, numpy as np

@jax.jit
def step(p, x):
    def body(i, c):
        y = jnp.sin(c) * x
        return jnp.log(y - 0.5) + p
    return jax.lax.fori_loop(0, 3, body, p)

p = np.ones(4, dtype=np.float32)
for x in (2.0, 0.1, 0.1):
    p = step(p, np.float32(x))
print(p)
