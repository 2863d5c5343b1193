# Four devices: a callback for each device, and one with the whole value.
import os
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:4]), ("d",))
x = jax.device_put(jnp.arange(8.0), NamedSharding(mesh, P("d")))
seen = []

def shard(v):
    jax.debug.callback(lambda s: seen.append(np.asarray(s).tolist()), v)
    return v * 2

print(jax.jit(jax.shard_map(shard, mesh=mesh, in_specs=P("d"), out_specs=P("d")))(x))
jax.effects_barrier()
print(sorted(seen))
seen.clear()

def whole(v):
    jax.debug.callback(lambda s: seen.append(np.asarray(s).tolist()), v)
    return v.sum()

print(jax.jit(whole)(x))
jax.effects_barrier()
print(seen)

# Callbacks that run on every device with its shard. JAX does not write the shardings of these values.
from functools import partial
from jax import lax

each = partial(jax.debug.callback, lambda *v: seen.append([np.asarray(x).tolist() for x in v]), partitioned=True)

@jax.jit
def inner(v):
    each(v + 1)
    return v

def loop(v):
    return lax.fori_loop(0, 2, lambda i, s: (each(s), s * 2)[1], v)

def narrow(v):
    each(jnp.concatenate([v, v, v])[:8], v.T, v.reshape(-1), v.reshape(4, 1, 4, 1), v[:, None] + jnp.ones((3, 1)))

def computed(v):
    each(v @ v.T, v.sum(0), v.max(1), jnp.concatenate([v, v], 1), v > 3, lax.cond(v.sum() > 0, lambda: v, lambda: -v))

y = jax.device_put(jnp.arange(16.0).reshape(4, 4), NamedSharding(mesh, P("d")))
for f in (lambda v: each(v * 2), lambda v: each(v.sum()), jax.vmap(each, in_axes=1), inner, loop, narrow, computed):
    for v in (y, jax.device_put(y, NamedSharding(mesh, P(None, "d")))):
        seen.clear()
        jax.jit(f)(v)
        jax.effects_barrier()
        print(sorted(seen, key=str))
