# What JAX's users do on eight devices. The output must be that of JAX's own CPU client.
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto, AxisType.Auto))


def put(value, *spec):
    return jax.device_put(value, NamedSharding(mesh, P(*spec)))


def show(name, value):
    print(name, value.sharding.spec, np.asarray(value).tolist())
    print([s.data.shape for s in value.addressable_shards], [s.device.id for s in value.addressable_shards])


print(len(jax.devices()))
a = put(jnp.arange(16.0).reshape(8, 2), "x", "y")
show("annotated", jax.jit(lambda a: a * 2, out_shardings=NamedSharding(mesh, P("y", None)))(a))
show("whole", jax.jit(lambda a: a.sum(0), out_shardings=NamedSharding(mesh, P()))(a))
show("manual", jax.jit(jax.shard_map(lambda a: a + jax.lax.psum(a, "x"), mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y")))(a))
show("gathered", jax.jit(jax.shard_map(lambda a: jax.lax.all_gather(a, "x", tiled=True), mesh=mesh, in_specs=P("x", "y"), out_specs=P(None, "y"), check_vma=False))(a))
print(np.asarray(jax.pmap(lambda a: jax.lax.psum(a, "i"), axis_name="i")(jnp.arange(8.0))).tolist())
on = jax.device_put(jnp.arange(3.0), jax.devices()[5])
print((on + 1).devices(), np.asarray(on + 1).tolist())
jax.jit(jax.shard_map(lambda a: jax.debug.print("shard {}", a.shape), mesh=mesh, in_specs=P("x", "y"), out_specs=None, check_vma=False))(a)
jax.effects_barrier()
