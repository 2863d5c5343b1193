# A training step of a small transformer in flax, with optax. RATE is the learning rate.
import sys

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Block(nn.Module):
    dim: int
    heads: int

    @nn.compact
    def __call__(self, x):
        y = nn.LayerNorm()(x)
        mask = nn.make_causal_mask(jnp.ones(x.shape[:-1]))
        x = x + nn.MultiHeadDotProductAttention(self.heads)(y, y, mask=mask)
        y = nn.LayerNorm()(x)
        return x + nn.Dense(self.dim)(nn.gelu(nn.Dense(4 * self.dim)(y)))


class Model(nn.Module):
    vocabulary: int = 32
    dim: int = 32

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(self.vocabulary, self.dim)(tokens)
        for _ in range(2):
            x = Block(self.dim, 4)(x)
        return nn.Dense(self.vocabulary)(nn.LayerNorm()(x))


model = Model()
tokens = jax.random.randint(jax.random.key(0), (8, 17), 0, 32)
params = model.init(jax.random.key(1), tokens[:, :-1])
optimizer = optax.adamw(float(sys.argv[1]) if len(sys.argv) > 1 else 1e-3)
state = optimizer.init(params)


def loss_of(params, tokens):
    logits = model.apply(params, tokens[:, :-1])
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:])
    return losses.mean()


@jax.jit
def step(params, state, tokens):
    loss, grads = jax.value_and_grad(loss_of)(params, tokens)
    grads = jax.tree.map(lambda g: jax.lax.clamp(-1.0, g, 1.0), grads)
    norm = optax.global_norm(grads)
    updates, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss, norm


for i in range(4):
    params, state, loss, norm = step(params, state, tokens)
    print(f"step {i}: loss {loss:.4f}, gradient {norm:.4f}")
