# 1,000 asynchronous runs on four devices, with callbacks of every device and of the whole value.
import os
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:4]), ("d",))
seen, runs = [0, 0], 1000

def count(k):
    def called(v):
        seen[k] += 1
    return called

def shard(v):
    jax.debug.callback(count(0), v)
    return jnp.tanh(v @ v.T) @ v

step = jax.jit(jax.shard_map(shard, mesh=mesh, in_specs=P("d"), out_specs=P("d")))

@jax.jit
def whole(x):
    jax.debug.callback(count(1), x.sum())
    return x

x = jax.device_put(jnp.ones((64, 32)) / 64, NamedSharding(mesh, P("d")))
kept = []
for i in range(runs):
    kept = kept[-20:] + [step(x)] # some are still running when they are dropped
    if i % 10 == 9:
        whole(kept[-1]).block_until_ready() # it meets on all devices, for which XLA has few threads
jax.block_until_ready(kept)
jax.effects_barrier()
print(seen)
assert seen == [4 * runs, runs // 10]
