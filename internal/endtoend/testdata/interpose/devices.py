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
