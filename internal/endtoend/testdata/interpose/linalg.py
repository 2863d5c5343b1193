# Calls of jaxlib's own libraries, which other clients lack.
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import sparse

@jax.jit
def solve(a, b):
    values, vectors = jnp.linalg.eigh(a)
    return values, jnp.abs(vectors), jnp.linalg.solve(a, b), jnp.linalg.svd(b, compute_uv=False)

a = jnp.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
for v in solve(a, jnp.arange(6.0).reshape(3, 2)):
    print(np.round(np.asarray(v), 3).tolist())

rows = sparse.BCSR.fromdense(jnp.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]]))
print(jax.jit(lambda m, x: m @ x)(rows, jnp.arange(6.0).reshape(3, 2)))
