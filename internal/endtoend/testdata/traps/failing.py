# Four devices: a value that is not finite, and a callback that raises, each on the first device only, before a
# collective. The program continues after both.
import os
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:4]), ("x",))

def attempt(name, f, x):
    try:
        print(name, f(x))
    except Exception as e:
        print(name, type(e).__name__, flush=True)

@jax.jit
def log_sum(x):
    return jnp.sum(jnp.log(x))

def refuse(x):
    if x[0] < 0:
        raise ValueError("negative")
    return x

@jax.jit
@jax.shard_map(mesh=mesh, in_specs=P("x"), out_specs=P())
def callback_sum(x):
    return lax.psum(jax.pure_callback(refuse, jax.ShapeDtypeStruct(x.shape, x.dtype), x).sum(), "x")

for first in -1.0, 1.0:
    x = jax.device_put(jnp.ones(8).at[0].set(first), NamedSharding(mesh, P("x")))
    attempt("log", log_sum, x)
    attempt("callback", callback_sum, x)
