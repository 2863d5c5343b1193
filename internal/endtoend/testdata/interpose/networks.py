# A convolutional and a recurrent network, the program's own linear algebra.
import jax, jax.numpy as jnp, numpy as np
from jax import lax
k = jax.random.key(1)
def net(params, x):
    for w in params["conv"]:
        x = lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = jax.nn.relu((x - x.mean((0, 1, 2))) * lax.rsqrt(x.var((0, 1, 2)) + 1e-5))
    return x.reshape(x.shape[0], -1) @ params["out"]
params = {"conv": [jax.random.normal(k, (3, 3, 3, 4)) * 0.3, jax.random.normal(k, (3, 3, 4, 8)) * 0.3], "out": jax.random.normal(k, (32, 5)) * 0.1}
X, Y = jax.random.normal(k, (6, 8, 8, 3)), jnp.arange(6) % 5
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
w = {"g": jax.random.normal(k, (7, 8)) * 0.4, "c": jax.random.normal(k, (7, 4)) * 0.4}
print(jax.jit(lambda w, xs: jax.grad(lambda w: (lax.scan(lambda h, x: gru(w, h, x), jnp.zeros(4), xs)[0] ** 2).sum())(w)["c"].sum())(w, jax.random.normal(k, (9, 3))).round(3))
print(jax.jit(lambda: jnp.einsum("ij,jk,kl->il", *[jnp.arange(4.0).reshape(2, 2)] * 3))())
