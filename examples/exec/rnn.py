# A recurrent network in Equinox that tells in which direction a spiral turns. RATE is the learning rate.
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


def spirals(key, n):
    start_key, side_key = jax.random.split(key)
    start = jax.random.uniform(start_key, (n, 1), maxval=2 * jnp.pi)
    side = jax.random.bernoulli(side_key, shape=(n, 1))
    t = jnp.linspace(0, 2 * jnp.pi, 16)
    angle = start + jnp.where(side, t, -t)
    points = jnp.stack([jnp.sin(angle), jnp.cos(angle)], axis=-1) / (1 + t)[:, None]
    return points, side.astype(jnp.float32)


class Network(eqx.Module):
    cell: eqx.nn.GRUCell
    out: eqx.nn.Linear

    def __init__(self, key):
        cell_key, out_key = jax.random.split(key)
        self.cell = eqx.nn.GRUCell(2, 16, key=cell_key)
        self.out = eqx.nn.Linear(16, 1, key=out_key)

    def __call__(self, points):
        state, _ = jax.lax.scan(lambda s, p: (self.cell(p, s), None), jnp.zeros(16), points)
        return jax.nn.sigmoid(self.out(state))


def loss_of(network, points, side):
    p = jax.vmap(network)(points)
    return -jnp.mean(side * jnp.log(p) + (1 - side) * jnp.log(1 - p))


optimizer = optax.adam(float(sys.argv[1]) if len(sys.argv) > 1 else 1e-2)


@eqx.filter_jit
def step(network, state, points, side):
    loss, grads = eqx.filter_value_and_grad(loss_of)(network, points, side)
    grads = jax.tree.map(lambda g: jax.lax.clamp(-1.0, g, 1.0), grads)
    norm = optax.global_norm(grads)
    updates, state = optimizer.update(grads, state)
    return eqx.apply_updates(network, updates), state, loss, norm


network = Network(jax.random.key(0))
state = optimizer.init(eqx.filter(network, eqx.is_array))
for i in range(4):
    points, side = spirals(jax.random.key(i), 32)
    network, state, loss, norm = step(network, state, points, side)
    print(f"step {i}: loss {loss:.4f}, gradient {norm:.4f}")
