# Four devices: pmap, shard_map with collectives, sharding by constraints, callbacks in each.
import os
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"
import functools
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import io_callback
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

devices = jax.devices()[:4]
print(jax.pmap(lambda x: lax.psum(x * 2, "i"), "i", devices=devices)(jnp.arange(4.0)))
mesh = Mesh(np.array(devices).reshape(2, 2), ("x", "y"))

def f(a, b):
    c = a @ b
    return lax.psum(c, "y"), lax.all_gather(c, "x"), lax.axis_index("x")[None]

a = jax.device_put(jnp.arange(16.0).reshape(4, 4), NamedSharding(mesh, P("x", "y")))
b = jax.device_put(jnp.ones((4, 2)), NamedSharding(mesh, P("y", None)))
for v in jax.jit(jax.shard_map(f, mesh=mesh, in_specs=(P("x", "y"), P("y", None)), out_specs=(P("x", None), P(None, "x", "y"), P("x")), check_vma=False))(a, b):
    print(v.shape, np.asarray(v).sum())

@functools.partial(jax.jit, out_shardings=NamedSharding(mesh, P("x")), donate_argnums=0)
def step(w, x):
    w = lax.with_sharding_constraint(w, NamedSharding(mesh, P("x", "y")))
    return (w * x).sum(1)

print(step(a, jnp.ones((4, 4))))

@jax.jit
def loss(w, x):
    h = jnp.tanh(x @ w)
    return (h ** 2).mean()

w = jax.device_put(jnp.ones((4, 8)) / 4, NamedSharding(mesh, P(None, "y")))
x = jax.device_put(jnp.arange(32.0).reshape(8, 4) / 32, NamedSharding(mesh, P("x", None)))
print(jax.value_and_grad(loss)(w, x)[0])
g = jax.jit(jax.grad(loss))(w, x)
print(g.sharding.is_equivalent_to(w.sharding, 2), np.asarray(g).sum().round(4))

seen = []
def loop(v):
    def body(i, s):
        jax.debug.callback(lambda s, i: seen.append((int(i), float(s.sum()))), s, i)
        return lax.ppermute(s, "x", [(0, 1), (1, 0)]) + 1
    return lax.fori_loop(0, 3, body, v)

z = jax.jit(jax.shard_map(loop, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"), check_vma=False))(jnp.ones((4, 4)))
z.block_until_ready()
jax.effects_barrier()
print(sorted(seen), np.asarray(z).sum())

print(jax.jit(jax.shard_map(lambda v: jax.pure_callback(lambda t: np.asarray(t) + 1, v, v), mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"), check_vma=False))(jnp.zeros((4, 4))).sum())
one = jax.jit(lambda v: io_callback(lambda t: np.float32(np.asarray(t).sum()), jax.ShapeDtypeStruct((), jnp.float32), v))(a_ := jax.device_put(jnp.arange(16.0).reshape(4, 4), NamedSharding(mesh, P("x", "y"))))
print(one)
y = jax.jit(lambda v: v * 2)(a_)
print(y.sharding.is_equivalent_to(a_.sharding, 2), jax.jit(lambda v: v.T)(a_).sharding.is_equivalent_to(NamedSharding(mesh, P("y", "x")), 2))
