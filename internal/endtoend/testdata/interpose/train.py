import jax, jax.numpy as jnp, numpy as np

x = np.linspace(0, 1, 8, dtype=np.float32)

@jax.jit
def step(w):
    def loss(w):
        return jnp.mean((w * x - 3 * x) ** 2)
    value, slope = jax.value_and_grad(loss)(w)
    return w - slope

w = np.float32(0)
for _ in range(3):
    w = step(w)
print(w)
