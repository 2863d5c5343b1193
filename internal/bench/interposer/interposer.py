"""Interleaved A/B in one process: plain plugin, and the same plugin through hlocb. Medians of rounds with a 95 % interval
of the ratio (bootstrap over rounds), of elapsed and of processor time. Load changes processor time less. It prints a
JSON object for each figure.

usage: interposer.py PLUGIN LIBHLOCB_PJRT ROUNDS          HLOCB_TAP=dot_general=stats: a tapped step instead
"""
import json, os, random, statistics, sys, time

plugin, library = sys.argv[1:3]
rounds = int(sys.argv[3])
os.environ |= {"HLOCB_PLUGIN": plugin, "JAX_PLATFORMS": "bare,hlocb,cpu", "PJRT_NAMES_AND_LIBRARY_PATHS": f"bare:{plugin},hlocb:{library}"}
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import io_callback


def measure(name, sides, limit):
    """sides are two functions, run in turn; limit is the goal of the ratio."""
    for run in sides:
        run()
    times, busy = [[], []], [[], []]
    for k in range(rounds):
        for i in (0, 1) if k % 2 else (1, 0):
            start, used = time.perf_counter(), time.process_time()
            sides[i]()
            times[i].append(time.perf_counter() - start)
            busy[i].append(time.process_time() - used)
    def ratio(of):
        """the ratio of the medians, with a 95 % interval"""
        one = lambda pick: statistics.median(of[1][k] for k in pick) / statistics.median(of[0][k] for k in pick)
        draws = sorted(one(random.choices(range(rounds), k=rounds)) for _ in range(2000))
        return f"{one(range(rounds)):.3f} (95 %: {draws[50]:.3f} to {draws[1950]:.3f})"
    print(json.dumps({"name": name, "peer": statistics.median(times[0]), "ours": statistics.median(times[1]), "atMost": limit,
                      "about": f"ratio {ratio(times)}, of processor time {ratio(busy)}"}), flush=True)


def on(platform, f, *args, times=1):
    device = jax.devices(platform)[0]
    args, g = [jax.device_put(a, device) for a in args], jax.jit(f)

    def run():
        for _ in range(times):
            out = g(*args)
        jax.block_until_ready(out)
    return run


def layer(p, x):
    q, k, v = (x @ p[i] for i in range(3))
    x = x + jax.nn.softmax(q @ k.T / 16) @ v @ p[3]
    return x + jax.nn.gelu(x @ p[4]) @ p[5]


def step(p, x):
    loss = lambda p: jnp.mean(layer(p, layer(p, x)) ** 2)
    value, slopes = jax.value_and_grad(loss)(p)
    return value, [a - 0.01 * b for a, b in zip(p, slopes)]


random.seed(0)
keys = jax.random.split(jax.random.key(0), 6)
with jax.default_device(jax.devices("cpu")[0]):
    params = [np.asarray(jax.random.normal(k, (256, 256))) / 16 for k in keys]
    x = np.ones((256, 256), np.float32)
if os.environ.get("HLOCB_TAP"):
    measure("transformer step, tapped", [on(p, lambda x, *p: step(p, x), x, *params) for p in ("bare", "hlocb")], 1.5)
else:
    measure("execute", [on(p, lambda x: x + 1, np.ones(4, np.float32), times=200) for p in ("bare", "hlocb")], 1.01)
    count = iter(range(10**9))

    def compile_on(platform):
        device = jax.devices(platform)[0]

        def run():
            n = next(count)
            with jax.default_device(device):
                jax.jit(lambda x: jnp.tanh(x) * n).lower(jnp.ones(4)).compile()
        return run
    measure("compile", [compile_on(p) for p in ("bare", "hlocb")], 1.01)
    for size, limit in ((4, 1.1), (1 << 20, 1.3)):
        call = lambda x: io_callback(lambda v: v, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
        data = np.ones(size, np.float32)
        measure(f"io_callback of {4 * size} bytes beside JAX's own client", [on(p, call, data, times=20 if size == 4 else 1) for p in ("cpu", "hlocb")], limit)
