# A convolutional and a recurrent network, the program's own linear algebra.
import jax, jax.numpy as jnp, numpy as np
from jax import lax
rng = np.random.default_rng(1)
def normal(*shape, scale=1.0): # JAX would compile a program for each shape
    return jnp.asarray(rng.normal(0, scale, shape), jnp.float32)
def net(params, x):
    for w in params["conv"]:
        x = lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = jax.nn.relu((x - x.mean((0, 1, 2))) * lax.rsqrt(x.var((0, 1, 2)) + 1e-5))
    return x.reshape(x.shape[0], -1) @ params["out"]
params = {"conv": [normal(3, 3, 3, 4, scale=0.3), normal(3, 3, 4, 8, scale=0.3)], "out": normal(32, 5, scale=0.1)}
X, Y = normal(6, 8, 8, 3), jnp.arange(6) % 5
def loss(p):
    return -jnp.mean(jax.nn.log_softmax(net(p, X))[jnp.arange(6), Y])
@jax.jit
def step(p):
    l, g = jax.value_and_grad(loss)(p)
    return jax.tree.map(lambda p, g: p - 0.5 * g, p, g), l
for _ in range(3):
    params, l = step(params)
    print(f"{l:.3f}")
def gru(w, h, x):
    z, r = jnp.split(jax.nn.sigmoid(jnp.concatenate([h, x]) @ w["g"]), 2)
    return (1 - z) * h + z * jnp.tanh(jnp.concatenate([r * h, x]) @ w["c"]), h
w = {"g": normal(7, 8, scale=0.4), "c": normal(7, 4, scale=0.4)}
print(jax.jit(lambda w, xs: jax.grad(lambda w: (lax.scan(lambda h, x: gru(w, h, x), jnp.zeros(4), xs)[0] ** 2).sum())(w)["c"].sum())(w, normal(9, 3)).round(3))
print(jax.jit(lambda: jnp.einsum("ij,jk,kl->il", *[jnp.arange(4.0).reshape(2, 2)] * 3))())
