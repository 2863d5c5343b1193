# No callbacks. Every program runs once.
import jax, jax.numpy as jnp, numpy as np

x, w = np.arange(12, dtype=np.float32).reshape(3, 4) / 7, np.ones((4, 5), np.float32) / 3
print(np.round(np.asarray(jax.jit(lambda x, w: jax.nn.softmax(jnp.tanh(x @ w)))(x, w)), 4))
print(np.asarray(jax.jit(lambda x: jax.lax.fori_loop(0, 3, lambda i, s: s * 2 + i, x))(x)).sum())
