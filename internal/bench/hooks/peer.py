import json, sys, time
import jax, jax.numpy as jnp

rounds = int(sys.argv[1])
count = [0]

def seen(a):
    count[0] += 1

def tapped(s):
    x = jnp.arange(1 << 24, dtype=jnp.float32) * s
    y = jnp.sin(x)
    jax.debug.callback(seen, y)
    return jnp.sum(y * y)

def loop(s):
    def body(i, x):
        jax.debug.callback(seen, x)
        return x + s
    return jax.lax.fori_loop(0, 1000, body, jnp.zeros((4,), jnp.float32))

def once(f, s):
    f(s).block_until_ready()
    jax.effects_barrier()

s = jnp.float32(0.001)
out = {"version": jax.__version__}
for name, f in (("tapped", tapped), ("loop", loop)):
    j = jax.jit(f)
    once(j, s)
    best = cpu = 1e9
    for _ in range(rounds):
        t, c = time.perf_counter(), time.process_time()
        once(j, s)
        best, cpu = min(best, time.perf_counter() - t), min(cpu, time.process_time() - c)
    out[name] = {"seconds": best, "processor": cpu, "text": j.lower(s).as_text()}
out["calls"] = count[0]
print(json.dumps(out))
