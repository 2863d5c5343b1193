import jax, jax.numpy as jnp, numpy as np

@jax.jit
def f(x):
    y = jnp.sin(x)
    z = jnp.log(y - 2)
    return z * 2

print(f(np.arange(4, dtype=np.float32)))
