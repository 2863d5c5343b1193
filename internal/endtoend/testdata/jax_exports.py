# Exports programs with jax.export and runs them with JAX. Writes one line of JSON per program: its name, its file in
# hexadecimal digits, arguments and results. A program whose dimensions are symbols has no arguments.
import json, os, sys
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
try:
    import flatbuffers
except ImportError:
    print(json.dumps({"Missing": "flatbuffers"}))
    sys.exit()
import jax, jax.numpy as jnp, numpy as np
from jax import export, lax
from jax.sharding import NamedSharding, PartitionSpec as P
jax.config.update("jax_enable_x64", True)
rng = np.random.RandomState(0)
f = lambda *shape: rng.randn(*shape).astype(np.float32)


def value(x):
    x = np.asarray(x)
    flat = x.ravel()
    data = [float(v) for v in flat] if x.dtype.kind not in "iu" else [int(v) for v in flat]
    return {"dtype": str(x.dtype), "shape": list(x.shape), "data": data}


def show(name, exported, *args):
    out = {"Name": name, "File": bytes(exported.serialize(vjp_order=1 if name == "vjp" else 0)).hex()}
    if args:
        leaves = jax.tree.leaves(args)
        index = [np.int64(0)] if len(exported.platforms) > 1 else []  # of the platform
        out["Args"] = [value(x) for x in index + [leaves[i] for i in exported.module_kept_var_idx]]
        out["Results"] = [value(x) for x in jax.tree.leaves(exported.call(*args))]
    print(json.dumps(out), flush=True)


x4 = f(4)
show("add_one", export.export(jax.jit(lambda x: x + 1))(x4), x4)
show("vjp", export.export(jax.jit(lambda x: jnp.sin(x) * x))(x4), x4)
m = f(4, 4)
show("composite", export.export(jax.jit(lambda x: lax.composite(lambda y: jnp.sin(y) + 1, "my.sine")(x)))(m), m)
big = f(64, 64)
show("const_big", export.export(jax.jit(lambda x: x @ big))(big), big)
alg = lambda a, b: lax.dot_general(a, b, (((1,), (0,)), ((), ())), precision=lax.DotAlgorithmPreset.F32_F32_F32)
show("dot_algorithm", export.export(jax.jit(alg))(m, m), m, m)
h = f(5, 3).astype(jnp.bfloat16)
show("gather_scatter_bf16", export.export(jax.jit(lambda x, i: (x[i], x.at[i].add(1), x[:, 0])))(h, np.array([3, 0])), h, np.array([3, 0]))
key = np.array([1, 2], np.uint32)
show("random", export.export(jax.jit(lambda k: (jax.random.normal(k, (4,)), jax.random.split(k))))(key), key)
show("unused", export.export(jax.jit(lambda x, y: y * 2))(x4, m), x4, m)
mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
a, b = f(16, 8), f(8, 4)
put = lambda v, *spec: jax.device_put(v, NamedSharding(mesh, P(*spec)))
jit = jax.jit(lambda a, b: a @ b, in_shardings=(NamedSharding(mesh, P("x", "y")), NamedSharding(mesh, P(None, "y"))))
show("sharded", export.export(jit)(a, b), put(a, "x", "y"), put(b, None, "y"))
psum = jax.jit(jax.shard_map(lambda v: lax.psum(v, "x"), mesh=mesh, in_specs=P("x", None), out_specs=P(None, None)))
show("shard_map", export.export(psum)(a), put(a, "x"))
multi = export.export(jax.jit(jnp.cos), platforms=["cpu", "cuda"])(x4)
show("multi_platform", multi, x4)
(n,) = export.symbolic_shape("n")
show("symbolic", export.export(jax.jit(lambda x: x * 2))(jax.ShapeDtypeStruct((n,), np.float32)))
