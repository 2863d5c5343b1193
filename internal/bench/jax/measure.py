"""Measures JAX on the platform that the environment names. It prints a JSON object for each figure.

usage: measure.py steps | memory | flax | equinox | random SOURCE
"""
import json, os, subprocess, sys, time


def figure(name, elapsed=0, busy=0, bytes=0, **goal):
    print(json.dumps({"name": name, "elapsed": elapsed, "busy": busy, "bytes": bytes, **goal}), flush=True)


def clocks():
    return time.perf_counter(), time.process_time()


def timed(run, times=1, rounds=1):
    """the least time of a call of run, on the clock and on all cores"""
    found = []
    for _ in range(rounds):
        (t, b), _ = clocks(), [run() for _ in range(times - 1)]
        jax.block_until_ready(run())
        end = clocks()
        found.append(((end[0] - t) / times, (end[1] - b) / times))
    return min(f[0] for f in found), min(f[1] for f in found)


def compiled(f, *args):
    lowered, out = jax.jit(f).lower(*args), []
    times = timed(lambda: out.append(lowered.compile()))
    return lambda: out[0](*args), times


def mlp_step(params, x, labels):
    def loss(params):
        for w, b in params[:-1]:
            y = jnp.tanh((x if w is params[0][0] else y) @ w + b)
        w, b = params[-1]
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(y @ w + b), labels[:, None], 1))
    value, slopes = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda a, g: a - 0.1 * g, params, slopes), value


def transformer_step(params, means, squares, tokens, heads=4):
    def norm(x, scale):
        mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(var + 1e-5) * scale

    def attention(x, layer):
        batch, length, width = x.shape
        q, k, v = ((x @ layer[n]).reshape(batch, length, heads, -1).transpose(0, 2, 1, 3) for n in "qkv")
        scores = q @ k.transpose(0, 1, 3, 2) / jnp.sqrt(width // heads)
        weights = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9), -1)
        return (weights @ v).transpose(0, 2, 1, 3).reshape(batch, length, width) @ layer["out"]

    def loss(params):
        x = params["embed"][tokens[:, :-1]]
        for layer in params["layers"]:
            x = x + attention(norm(x, layer["scale"]), layer)
            x = x + jax.nn.gelu(norm(x, layer["scale2"]) @ layer["up"]) @ layer["down"]
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x @ params["embed"].T), tokens[:, 1:, None], -1))
    value, slopes = jax.value_and_grad(loss)(params)
    means = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, means, slopes)
    squares = jax.tree.map(lambda a, b: 0.99 * a + 0.01 * b * b, squares, slopes)
    return jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), params, means, squares), means, squares, value


def steps():
    draw = lambda *shape: np.random.default_rng(0).standard_normal(shape).astype(np.float32) * np.float32(0.05)
    sizes = 784, 256, 128, 10
    params = jax.device_put([(draw(a, b), np.zeros(b, np.float32)) for a, b in zip(sizes, sizes[1:])])
    x, labels = jax.device_put((draw(128, 784), np.arange(128) % 10))
    step, compiling = compiled(mlp_step, params, x, labels)
    figure("compile the MLP step", *compiling, atLeast=20)
    width, hidden = 128, 512
    layer = lambda: {**{n: draw(width, width) for n in ("q", "k", "v", "out")}, "up": draw(width, hidden), "down": draw(hidden, width),
                     "scale": np.ones(width, np.float32), "scale2": np.ones(width, np.float32)}
    model = jax.device_put({"embed": draw(256, width), "layers": [layer() for _ in range(4)]})
    zeros, tokens = jax.tree.map(jnp.zeros_like, model), jax.device_put(np.arange(8 * 65).reshape(8, 65) % 251)
    large, compiling = compiled(transformer_step, model, zeros, zeros, tokens)
    figure("compile the transformer step", *compiling, atLeast=20)
    figure("MLP step", *timed(step, 20, 10), atMost=1.2)
    figure("transformer step", *timed(large, 3, 5), atMost=1.2)
    one, add = jnp.ones(8), jax.jit(lambda x: x + 1)
    figure("dispatch of x + 1", *timed(lambda: add(one), 2000, 10), atMost=1.3)
    scan = lambda c: jax.lax.scan(lambda c, _: (c * 1.0001 + jnp.sin(c) * 1e-3, c.sum()), c, None, length=1000)
    figure("scan of 1,000 small bodies", *timed(compiled(scan, jnp.ones(64))[0], 20, 10), atMost=3)


def memory():
    """200 results of 40 MB, of which 20 live at once at the end"""
    import resource
    add, x = jax.jit(lambda x, i: x + i), jnp.ones(10_000_000)
    for i in range(200):
        y = add(x, float(i))
    y.block_until_ready()
    peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    figure("peak memory of 200 results of 40 MB", bytes=peak(), atMost=1.3)
    live = jax.block_until_ready([add(x, float(i)) for i in range(20)])
    del live, y
    time.sleep(2)  # the engine returns memory within a second
    with open("/proc/self/statm") as f:
        figure("memory after their deletion", bytes=int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE"), atMost=1.3)


def flax():
    import flax.linen as nn, optax

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            mask = nn.make_causal_mask(jnp.ones(x.shape[:2]))
            x = x + nn.MultiHeadDotProductAttention(4)(nn.LayerNorm()(x), mask=mask)
            return x + nn.Dense(64)(nn.gelu(nn.Dense(256)(nn.LayerNorm()(x))))

    class Model(nn.Module):
        @nn.compact
        def __call__(self, tokens):
            x = nn.Embed(128, 64)(tokens) + self.param("place", nn.initializers.normal(0.02), (tokens.shape[1], 64))
            for _ in range(2):
                x = Block()(x)
            return nn.Dense(128)(nn.LayerNorm()(x))
    model, key = Model(), jax.random.key(0)
    tokens = jax.random.randint(key, (8, 33), 0, 128)
    params, optimizer = model.init(key, tokens[:, :-1]), optax.adamw(1e-3)
    state = optimizer.init(params)

    @jax.jit
    def step(params, state, tokens):
        loss = lambda p: optax.softmax_cross_entropy_with_integer_labels(model.apply(p, tokens[:, :-1]), tokens[:, 1:]).mean()
        value, slopes = jax.value_and_grad(loss)(params)
        updates, state = optimizer.update(slopes, state, params)
        return optax.apply_updates(params, updates), state, value
    for _ in range(20):
        params, state, value = step(params, state, tokens)
    float(value)
    figure("flax language model, 20 steps, whole script", atLeast=3)


def equinox():
    import equinox as eqx, optax
    keys = jax.random.split(jax.random.key(0), 3)
    model = eqx.nn.MLP(8, 1, 64, 3, key=keys[0])
    x, optimizer = jax.random.normal(keys[1], (256, 8)), optax.adam(1e-3)
    y, state = jnp.sin(x.sum(-1, keepdims=True)), optimizer.init(eqx.filter(model, eqx.is_array))

    @eqx.filter_jit
    def step(model, state):
        value, slopes = eqx.filter_value_and_grad(lambda m: jnp.mean((jax.vmap(m)(x) - y) ** 2))(model)
        updates, state = optimizer.update(slopes, state)
        return eqx.apply_updates(model, updates), state, value
    for _ in range(100):
        model, state, value = step(model, state)
    float(value)
    figure("equinox MLP, 100 steps, whole script", atLeast=3)


def random():
    os.environ |= {"JAX_SKIP_SLOW_TESTS": "1", "JAX_NUM_GENERATED_CASES": "5", "JAX_ENABLE_COMPILATION_CACHE": "0"}
    subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/random_test.py"], cwd=sys.argv[2],
                   check=True, stdout=sys.stderr)
    figure("JAX's random_test.py", atLeast=3)


part = {f.__name__: f for f in (steps, memory, flax, equinox, random)}[sys.argv[1]]
if part is not random:
    import jax, jax.numpy as jnp, numpy as np
part()
