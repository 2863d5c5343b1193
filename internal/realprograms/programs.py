"""Writes programs of JAX's libraries with JAX's results and callbacks.

usage: programs.py DIR [NAME ...]
       programs.py --check DIR

Each program becomes NAME.mlir, NAME.loc.mlir (with locations), NAME.npz and NAME.json. The archive has the arrays 0, 1,
... (arguments), r0, r1, ... (results) and, for callback K, eK.o0, ... (operands) and eK.r0, ... (results). The
JSON file has the number of each and says for each callback whether it is ordered. The script keeps existing programs.

With --check it runs the programs of DIR again, on JAX's CPU client or on a plugin in its place, and prints a line for
each: ok, or what differs from the results and callbacks in DIR.
"""
import functools, json, os, re, sys
os.environ["JAX_PLATFORMS"] = "cpu"
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax._src import callback as callbacks

f32 = np.float32
made = {}
events = []

# JAX lowers every callback with this function, so replacing it records all callbacks.
emit = callbacks.emit_python_callback


def recorded(ctx, callback, token, *args, **kwargs):
    def call(*operands):
        results = callback(*operands)
        events.append((token is not None, [np.array(x) for x in operands], [np.array(x) for x in results]))
        return results
    return emit(ctx, call, token, *args, **kwargs)


callbacks.emit_python_callback = recorded


def program(make):
    """Marks a function that returns a function and its arguments."""
    made[make.__name__] = make
    return make


# Programs that decide by small differences (step sizes, line searches) diverge if the rounding differs. In f64 such
# programs agree.
DOUBLE = {"diffrax_tsit5", "jaxopt_projected_gradient"}


def write(d, name):
    jax.config.update("jax_enable_x64", name in DOUBLE)
    f, args = made[name]()
    if name in DOUBLE: args = jax.tree.map(lambda x: np.asarray(x, np.float64), args)
    events.clear()
    lowered = jax.jit(f, keep_unused=True).lower(*args)
    compiled = lowered.compile()
    results = jax.tree.leaves(jax.block_until_ready(compiled(*args)))
    jax.effects_barrier()
    args = jax.tree.leaves(args)
    arrays = {str(i): x for i, x in enumerate(args)} | {f"r{i}": x for i, x in enumerate(results)}
    for k, (_, operands, answers) in enumerate(events):
        arrays |= {f"e{k}.o{i}": x for i, x in enumerate(operands)} | {f"e{k}.r{i}": x for i, x in enumerate(answers)}
    np.savez(os.path.join(d, name + ".npz"), **{k: np.asarray(x) for k, x in arrays.items()})
    for suffix, info in ((".mlir", False), (".loc.mlir", True)):
        with open(os.path.join(d, name + suffix), "w") as out:
            out.write(lowered.as_text(debug_info=info))
    with open(os.path.join(d, name + ".json"), "w") as out:  # the last file: it marks the program as complete
        json.dump({"args": len(args), "results": len(results), "temporaries": compiled.memory_analysis().temp_size_in_bytes,
                   "events": [{"ordered": o, "operands": len(x), "results": len(y)} for o, x, y in events]}, out)


def unlike(got, want, tolerance):
    """what differs; parts of floats may differ by tolerance times the largest magnitude in the array or 1"""
    if want.dtype.kind == "V": want = want.view(got.dtype)  # NumPy's files have no narrow floats
    if got.dtype != want.dtype or got.shape != want.shape: return f"{got.dtype}{got.shape}, JAX has {want.dtype}{want.shape}"
    if not jnp.issubdtype(got.dtype, jnp.inexact): return "" if np.array_equal(got, want) else "differs"
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    parts = lambda x: np.ravel(x.astype(wide)).view(np.float64)
    got, want = parts(got), parts(want)
    scale = max([1.0, *np.abs(want[np.isfinite(want)])])
    with np.errstate(invalid="ignore"):
        bad = np.flatnonzero(~((got == want) | np.isnan(got) & np.isnan(want) | (np.abs(got - want) <= tolerance * scale)))
    return f"element {bad[0]} is {got[bad[0]]}, JAX has {want[bad[0]]}" if bad.size else ""


def check(d, name):
    """runs a program with JAX's arguments"""
    jax.config.update("jax_enable_x64", name in DOUBLE)
    with open(os.path.join(d, name + ".mlir")) as text: narrow = re.search(r"[x<](bf16|f16|f8\w+|f4\w+)>", text.read())
    tolerance = 2e-2 if narrow else 1e-4  # XLA may compute in a wider type between two ops of a narrow type
    saved = np.load(os.path.join(d, name + ".npz"))
    f, args = made[name]()
    if name in DOUBLE: args = jax.tree.map(lambda x: np.asarray(x, np.float64), args)
    leaves, tree = jax.tree.flatten(args)
    args = tree.unflatten([saved[str(i)] if saved[str(i)].dtype.kind != "V" else saved[str(i)].view(x.dtype) for i, x in enumerate(leaves)])
    events.clear()
    results = jax.tree.leaves(jax.block_until_ready(jax.jit(f, keep_unused=True)(*args)))
    jax.effects_barrier()
    for i, r in enumerate(results):
        if why := unlike(np.asarray(r), saved[f"r{i}"], tolerance): return f"result {i}: {why}"
    if f"r{len(results)}" in saved: return f"{len(results)} results, JAX has more"
    with open(os.path.join(d, name + ".json")) as text: expected = json.load(text)["events"]
    open_ = list(range(len(expected)))
    for ordered, operands, _ in events:  # ordered callbacks in order, others in any
        if ordered: candidates = [k for k in open_ if expected[k]["ordered"]][:1]
        else: candidates = [k for k in open_ if not expected[k]["ordered"]]
        same = lambda k: len(operands) == expected[k]["operands"] and not any(unlike(x, saved[f"e{k}.o{i}"], tolerance) for i, x in enumerate(operands))
        found = next(filter(same, candidates), None)
        if found is None: return f"JAX made no such callback, or not then: {operands}"
        open_.remove(found)
    return f"callback {open_[0]} of JAX's {len(expected)} did not come" if open_ else "ok"


def draw(*shape, seed=0): return np.random.RandomState(seed).randn(*shape).astype(f32)
def see(*xs): pass
def key(seed=0): return jax.random.key_data(jax.random.key(seed))
wrap = jax.random.wrap_key_data
LABELS = np.array([0, 3, 1, 2, 4, 1, 0, 2], np.int32)


# flax

def linen_step(model, x, optimizer, loss, watch=False, **apply):
    """A training step of a flax.linen model."""
    import optax
    params = jax.jit(model.init)(jax.random.key(0), x)
    state = optimizer.init(params)

    def step(params, state, x):
        def objective(p): return loss(model.apply(p, x, **apply))
        value, grads = jax.value_and_grad(objective)(params)
        if watch: jax.debug.callback(see, value, optax.global_norm(grads), ordered=True)
        updates, state_ = optimizer.update(grads, state, params)
        return value, optax.apply_updates(params, updates), state_
    return step, (params, state, x)


def cross_entropy(logits):
    import optax
    return optax.softmax_cross_entropy_with_integer_labels(logits, LABELS).mean()


@program
def flax_mlp_adam():
    import flax.linen as nn, optax
    return linen_step(nn.Sequential([nn.Dense(32), nn.gelu, nn.LayerNorm(), nn.Dense(5)]), draw(8, 16), optax.adam(1e-3), cross_entropy, True)


@program
def flax_cnn_sgd():
    import flax.linen as nn, optax

    class CNN(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.avg_pool(nn.relu(nn.Conv(8, (3, 3))(x)), (2, 2), (2, 2))
            x = nn.max_pool(nn.relu(nn.Conv(16, (3, 3), strides=2)(x)), (2, 2), (2, 2))
            return nn.Dense(5)(x.reshape(x.shape[0], -1))
    return linen_step(CNN(), draw(8, 16, 16, 3), optax.sgd(0.1, momentum=0.9, nesterov=True), cross_entropy, True)


@program
def flax_resnet_batchnorm():
    import flax.linen as nn

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            y = nn.BatchNorm(use_running_average=False)(nn.Conv(8, (3, 3), use_bias=False)(x))
            return nn.relu(x + nn.GroupNorm(4)(nn.Conv(8, (3, 3))(nn.relu(y))))
    model = nn.Sequential([nn.Conv(8, (1, 1)), Block(), Block()])
    x = draw(2, 8, 8, 3)
    variables = model.init(jax.random.key(1), x)
    return lambda v, x: model.apply(v, x, mutable=["batch_stats"]), (variables, x)


@program
def flax_lstm():
    import flax.linen as nn, optax
    return linen_step(nn.RNN(nn.OptimizedLSTMCell(12)), draw(3, 7, 5), optax.rmsprop(1e-2), lambda y: (y ** 2).mean())


@program
def flax_gru_bidirectional():
    import flax.linen as nn
    model = nn.Bidirectional(nn.RNN(nn.GRUCell(6)), nn.RNN(nn.GRUCell(6)))
    x, lengths = draw(3, 7, 5), np.array([7, 4, 2], np.int32)
    return lambda p, x, n: model.apply(p, x, seq_lengths=n), (model.init(jax.random.key(0), x), x, lengths)


@program
def flax_attention_decode():
    import flax.linen as nn
    model = nn.MultiHeadDotProductAttention(num_heads=2, qkv_features=8, decode=True)
    variables = model.init(jax.random.key(0), draw(2, 6, 8))
    def step(v, x):
        y, cache = model.apply(v, x, mutable=["cache"])
        jax.debug.callback(see, y, ordered=True)
        z, cache = model.apply({**v, **cache}, y, mutable=["cache"])
        return z, cache
    return step, (variables, draw(2, 1, 8))


@program
def flax_transformer_bf16():
    import flax.linen as nn, optax

    class Layer(nn.Module):
        @nn.compact
        def __call__(self, x):
            h = nn.LayerNorm(dtype=jnp.bfloat16)(x)
            x = x + nn.SelfAttention(num_heads=2, dtype=jnp.bfloat16)(h, mask=nn.make_causal_mask(jnp.ones(x.shape[:2])))
            return x + nn.Dense(16, dtype=jnp.bfloat16)(nn.silu(nn.Dense(32, dtype=jnp.bfloat16)(x)))
    return linen_step(nn.Sequential([Layer(), Layer()]), draw(2, 6, 16), optax.adafactor(1e-3), lambda y: (y.astype(f32) ** 2).mean(), True)


@program
def flax_dropout_remat_scan():
    import flax.linen as nn

    class Layer(nn.Module):
        @nn.compact
        def __call__(self, x, _):
            return nn.Dropout(0.3, deterministic=False)(jnp.tanh(nn.Dense(8)(x))), None
    model = nn.scan(nn.remat(Layer), variable_axes={"params": 0}, split_rngs={"params": True, "dropout": True}, length=3)()
    x = draw(4, 8)
    params = model.init({"params": jax.random.key(0), "dropout": jax.random.key(1)}, x, None)
    def loss(p, x, k): return (model.apply(p, x, None, rngs={"dropout": wrap(k)})[0] ** 2).sum()
    return jax.value_and_grad(loss), (params, x, key(3))


@program
def flax_nnx_autoencoder():
    from flax import nnx
    import optax
    rngs = nnx.Rngs(0)
    model = nnx.Sequential(nnx.Linear(12, 6, rngs=rngs), nnx.relu, nnx.Linear(6, 12, rngs=rngs))
    graph, params = nnx.split(model)
    pure = nnx.to_pure_dict(params)
    tx = optax.adamw(1e-3)
    def step(pure, state, x):
        def loss(p):
            s = jax.tree.map(lambda v: v, params)
            nnx.replace_by_pure_dict(s, p)
            return ((nnx.merge(graph, s)(x) - x) ** 2).mean()
        value, g = jax.value_and_grad(loss)(pure)
        jax.debug.print("loss {}", value, ordered=True)
        u, state = tx.update(g, state, pure)
        return optax.apply_updates(pure, u), state
    return step, (pure, tx.init(pure), draw(5, 12))


# optax

def optax_loop(optimizer, steps=20, extra=False):
    """Steps of an optimizer on Rosenbrock's function, in a loop on the device."""
    import optax
    def f(p): return jnp.sum(100 * (p["x"][1:] - p["x"][:-1] ** 2) ** 2 + (1 - p["x"][:-1]) ** 2) * p["s"]
    params = {"x": np.array([-0.3, 0.2, 0.5, 0.1], f32), "s": f32(0.1)}
    def run(params):
        def body(i, c):
            p, s = c
            v, g = jax.value_and_grad(f)(p)
            lax.cond(i % 5 == 0, lambda: jax.debug.callback(see, i, v, ordered=True), lambda: None)
            more = {"value": v, "grad": g, "value_fn": f} if extra else {}
            u, s = optimizer.update(g, s, p, **more)
            return optax.apply_updates(p, u), s
        return lax.fori_loop(0, steps, body, (params, optimizer.init(params)))[0]
    return run, (params,)


def optimizer(name, *args, extra=False, steps=20, **kwargs):
    def make():
        import optax
        return optax_loop(getattr(optax, name)(*args, **kwargs), steps, extra)
    made["optax_" + name] = make


for name in "adam adamw lion nadam radam yogi amsgrad lamb novograd adagrad adadelta rprop fromage adan adabelief noisy_sgd".split():
    optimizer(name, 1e-3)
optimizer("lbfgs", 1e-2, extra=False, steps=3, linesearch=None)


@program
def optax_chain_of_transforms():
    import optax
    schedule = optax.warmup_cosine_decay_schedule(0., 1e-2, 5, 20)
    return optax_loop(optax.chain(optax.clip_by_global_norm(1.), optax.add_noise(1e-3, 0.5, 0), optax.scale_by_adam(),
                                  optax.add_decayed_weights(1e-4), optax.scale_by_schedule(schedule), optax.scale(-1)))


@program
def optax_multisteps_skip():
    import optax
    return optax_loop(optax.MultiSteps(optax.apply_if_finite(optax.sgd(1e-3), 3), 4))


@program
def optax_losses():
    import optax
    def f(a, b, y):
        return (optax.huber_loss(a, b), optax.cosine_similarity(a, b), optax.sigmoid_focal_loss(a, (b > 0).astype(f32)), optax.l2_loss(a, b),
                optax.ctc_loss(a[None], jnp.zeros((1, 8)), y[None, :3], jnp.zeros((1, 3))), optax.kl_divergence(jax.nn.log_softmax(a), jax.nn.softmax(b)))
    return jax.grad(lambda *x: sum(v.sum() for v in f(*x))), (draw(8, 5), draw(8, 5, seed=1), LABELS % 4 + 1)


# equinox, lineax, optimistix, diffrax

@program
def equinox_mlp():
    import equinox as eqx
    model = eqx.nn.MLP(4, 3, 16, 2, key=jax.random.key(0))
    params, static = eqx.partition(model, eqx.is_array)
    def f(params, x):
        y = jax.vmap(eqx.combine(params, static))(x)
        jax.debug.callback(see, y)
        return y
    return f, (params, draw(5, 4))


@program
def equinox_error_if():
    import equinox as eqx
    def f(x):
        x = eqx.error_if(x, jnp.any(x < 0), "negative")
        return jnp.sqrt(x)
    return f, (np.array([1, 4, 9], f32),)


@program
def equinox_conv_norm_grad():
    import equinox as eqx
    k = jax.random.split(jax.random.key(0), 3)
    model = eqx.nn.Sequential([eqx.nn.Conv1d(3, 6, 3, key=k[0]), eqx.nn.GroupNorm(2, 6), eqx.nn.Lambda(jax.nn.silu),
                               eqx.nn.AdaptiveAvgPool1d(2), eqx.nn.Lambda(jnp.ravel), eqx.nn.Linear(12, 2, key=k[1])])
    params, static = eqx.partition(model, eqx.is_array)
    return jax.value_and_grad(lambda p, x: (jax.vmap(eqx.combine(p, static))(x) ** 2).sum()), (params, draw(4, 3, 10))


@program
def equinox_checkpointed_while():
    import equinox.internal as eqxi
    def f(x):
        def body(c):
            i, y = c
            jax.debug.callback(see, i)
            return i + 1, jnp.sin(y) * 1.1
        return eqxi.while_loop(lambda c: c[0] < 6, body, (0, x), kind="checkpointed", checkpoints=3, max_steps=8)[1].sum()
    return jax.value_and_grad(f), (draw(3),)


@program
def lineax_solvers():
    import lineax as lx
    a = draw(5, 5)
    spd = a @ a.T + 5 * np.eye(5, dtype=f32)
    def f(a, spd, b):
        op, pos = lx.MatrixLinearOperator(a), lx.MatrixLinearOperator(spd, lx.positive_semidefinite_tag)
        return (lx.linear_solve(op, b, lx.LU()).value, lx.linear_solve(pos, b, lx.Cholesky()).value,
                lx.linear_solve(pos, b, lx.CG(1e-5, 1e-5)).value, lx.linear_solve(op, b, lx.QR()).value,
                lx.linear_solve(op, b, lx.SVD()).value, lx.linear_solve(op, b, lx.GMRES(1e-5, 1e-5)).value)
    return f, (a + 3 * np.eye(5, dtype=f32), spd, draw(5, seed=2))


@program
def optimistix_newton_root():
    import optimistix as optx
    def f(y, a): return jnp.array([y[0] ** 2 + y[1] - a, jnp.tanh(y[1]) - 0.3 * y[0]])
    def run(y, a):
        s = optx.root_find(f, optx.Newton(1e-5, 1e-5), y, args=a)
        return s.value, s.stats["num_steps"]
    return run, (np.array([1, 0.5], f32), f32(2))


@program
def optimistix_levenberg():
    import optimistix as optx
    x = np.linspace(0, 1, 10, dtype=f32)
    def run(p, y):
        r = lambda p, y: p[0] * jnp.exp(p[1] * x) - y
        return jax.grad(lambda y: optx.least_squares(r, optx.LevenbergMarquardt(1e-4, 1e-4), p, args=y).value.sum())(y)
    return run, (np.array([1, 0.1], f32), (2 * np.exp(0.5 * x)).astype(f32))


def diffrax_solve(solver, adaptive=True, adjoint=False, **how):
    import diffrax
    def field(t, y, args):
        if how.get("watch"): jax.debug.callback(see, t, y)
        return jnp.stack([y[1], args * (1 - y[0] ** 2) * y[1] - y[0]])
    def run(y0, mu):
        control = diffrax.PIDController(1e-3, 1e-4) if adaptive else diffrax.ConstantStepSize()
        s = diffrax.diffeqsolve(diffrax.ODETerm(field), getattr(diffrax, solver)(), 0., 1., 0.1, y0, mu, max_steps=64,
                                stepsize_controller=control, saveat=diffrax.SaveAt(ts=jnp.linspace(0, 1, 4)))
        return s.ys, s.stats["num_steps"]
    if adjoint: return jax.grad(lambda y, m: run(y, m)[0].sum(), (0, 1)), (np.array([2, 0], f32), f32(1))
    return run, (np.array([2, 0], f32), f32(1))


for solver, how in {"Tsit5": {"watch": True}, "Dopri8": {}, "Heun": {"adjoint": True}, "Kvaerno3": {}, "Euler": {"adaptive": False, "watch": True}}.items():
    made["diffrax_" + solver.lower()] = functools.partial(diffrax_solve, solver, **how)


@program
def diffrax_sde():
    import diffrax
    def run(y, k):
        path = diffrax.VirtualBrownianTree(0., 1., 1e-2, (2,), wrap(k))
        terms = diffrax.MultiTerm(diffrax.ODETerm(lambda t, y, a: -y), diffrax.ControlTerm(lambda t, y, a: 0.1 * jnp.eye(2), path))
        return diffrax.diffeqsolve(terms, diffrax.Euler(), 0., 1., 0.05, y, saveat=diffrax.SaveAt(t1=True)).ys
    return run, (draw(2), key(5))


@program
def diffrax_event_interpolation():
    import diffrax
    def run(y):
        ev = diffrax.Event(lambda t, y, args, **kw: y[0] < 0)
        s = diffrax.diffeqsolve(diffrax.ODETerm(lambda t, y, a: jnp.stack([y[1], -9.8])), diffrax.Tsit5(), 0., 5., 0.1, y, event=ev, max_steps=100)
        return s.ts, s.ys
    return run, (np.array([3, 0], f32),)


# numpyro, blackjax, distrax

X, Y = draw(20, 3), (draw(20, 3) @ np.array([1, -2, 0.5], f32)).astype(f32)


def regression(x, y):
    import numpyro, numpyro.distributions as dist
    w = numpyro.sample("w", dist.Normal(0, 1).expand([3]).to_event(1))
    s = numpyro.sample("s", dist.HalfCauchy(1.))
    numpyro.sample("y", dist.Normal(x @ w, s), obs=y)


@program
def numpyro_svi():
    import numpyro
    from numpyro.infer import SVI, Trace_ELBO
    from numpyro.infer.autoguide import AutoMultivariateNormal
    svi = SVI(regression, AutoMultivariateNormal(regression), numpyro.optim.Adam(1e-2), Trace_ELBO())
    def run(k, x, y):
        s = svi.init(wrap(k), x, y)
        def body(s, _):
            s, loss = svi.update(s, x, y)
            jax.debug.callback(see, loss, ordered=True)
            return s, loss
        s, losses = lax.scan(body, s, None, length=5)
        return svi.get_params(s), losses
    return run, (key(), X, Y)


@program
def numpyro_hmc():
    from numpyro.infer import HMC
    from numpyro.infer.util import initialize_model
    info = initialize_model(jax.random.key(0), regression, model_args=(X, Y))
    kernel = HMC(potential_fn=info.potential_fn, step_size=0.01, num_steps=3, adapt_step_size=False, adapt_mass_matrix=False)
    def run(k):
        s = kernel.init(wrap(k), 0, info.param_info.z, model_args=(), model_kwargs={})
        s = lax.fori_loop(0, 4, lambda i, s: kernel.sample(s, (), {}), s)
        return s.z, s.potential_energy
    return run, (key(1),)


@program
def numpyro_distributions():
    import numpyro.distributions as dist
    def run(k, v):
        k = iter(jax.random.split(wrap(k), 16))
        p = jax.nn.softplus(v)
        ds = [dist.Gamma(p, 2.), dist.Beta(p, p + 1), dist.StudentT(3 + p, v, 1.), dist.VonMises(v, p + 1), dist.Poisson(p * 3), dist.Dirichlet(p),
              dist.Gumbel(v, p), dist.LKJCholesky(3, 1.5), dist.NegativeBinomial2(p, 2.), dist.InverseGamma(p + 2, 1.), dist.Weibull(p, 2.)]
        out = [d.sample(next(k)) for d in ds]
        return out, [d.log_prob(x) for d, x in zip(ds, out)]
    return run, (key(2), draw(4))


@program
def numpyro_hidden_markov():
    def run(trans, emit, ys):
        def step(alpha, y):
            alpha = jax.scipy.special.logsumexp(alpha[:, None] + jax.nn.log_softmax(trans), 0) + jax.nn.log_softmax(emit)[:, y]
            return alpha, alpha
        return jax.value_and_grad(lambda t: jax.scipy.special.logsumexp(lax.scan(lambda a, y: step(a, y), jnp.zeros(3), ys)[0]))(trans)
    return run, (draw(3, 3), draw(3, 5), LABELS)


def blackjax_steps(name, steps=4, **how):
    import blackjax
    target = lambda x: -0.5 * jnp.sum((x - 1) ** 2 / jnp.array([1., 2., 0.5]))
    kernel = getattr(blackjax, name)(target, **how)
    def run(k, x):
        s = kernel.init(x)
        def body(s, k):
            s, info = kernel.step(k, s)
            jax.debug.callback(see, s.position, ordered=True)
            return s, s.position
        return lax.scan(body, s, jax.random.split(wrap(k), steps))[1]
    return run, (key(4), draw(3))


for name, how in {"nuts": dict(step_size=0.1, inverse_mass_matrix=np.ones(3, f32), max_num_doublings=3),
                  "hmc": dict(step_size=0.1, inverse_mass_matrix=np.ones(3, f32), num_integration_steps=3), "mala": dict(step_size=0.05)}.items():
    made["blackjax_" + name] = functools.partial(blackjax_steps, name, **how)


@program
def distrax_mixture_flow():
    import distrax
    def run(k, v, x):
        d = distrax.MixtureSameFamily(distrax.Categorical(logits=v), distrax.Normal(v, 1.))
        flow = distrax.Transformed(distrax.MultivariateNormalDiag(v, jnp.ones(4)), distrax.Block(distrax.Tanh(), 1))
        y, lp = flow.sample_and_log_prob(seed=wrap(k))
        return d.log_prob(x), y, lp, jax.grad(lambda v: distrax.Normal(v, 2.).kl_divergence(distrax.Normal(0., 1.)).sum())(v)
    return run, (key(6), draw(4), draw(5, seed=1))


# haiku, jaxopt, chex

@program
def haiku_vit():
    import haiku as hk
    def net(x):
        x = hk.Conv2D(8, 4, 4)(x).reshape(x.shape[0], -1, 8)
        x = x + hk.MultiHeadAttention(2, 4, w_init=hk.initializers.VarianceScaling(1.), model_size=8)(x, x, x)
        return hk.nets.MLP([16, 5])(hk.LayerNorm(-1, True, True)(x).mean(1))
    model = hk.without_apply_rng(hk.transform(net))
    x = draw(8, 8, 8, 3)
    params = model.init(jax.random.key(0), x)
    return jax.value_and_grad(lambda p, x: cross_entropy(model.apply(p, x))), (params, x)


@program
def haiku_lstm_unroll():
    import haiku as hk
    model = hk.without_apply_rng(hk.transform(lambda x: hk.dynamic_unroll(hk.LSTM(6), x, hk.LSTM(6).initial_state(3))[0]))
    x = draw(5, 3, 4)
    return model.apply, (model.init(jax.random.key(0), x), x)


@program
def jaxopt_projected_gradient():
    import jaxopt
    solver = jaxopt.ProjectedGradient(lambda w, x, y: jnp.mean((x @ w - y) ** 2), jaxopt.projection.projection_simplex, maxiter=10, implicit_diff=False)
    return lambda w, x, y: solver.run(w, x=x, y=y).params, (np.full(3, 1 / 3, f32), X, Y)


# plain JAX

@program
def jax_kalman_filter():
    a, h = np.array([[1, .1], [0, 1]], f32), np.array([[1, 0]], f32)
    def run(m, p, zs):
        def step(c, z):
            m, p = a @ c[0], a @ c[1] @ a.T + 0.01 * jnp.eye(2)
            s = h @ p @ h.T + 0.1
            k = jnp.linalg.solve(s, h @ p).T
            m, p = m + k @ (z - h @ m), p - k @ h @ p
            jax.debug.callback(see, m, ordered=True)
            return (m, p), m
        return lax.scan(step, (m, p), zs)
    return run, (np.zeros(2, f32), np.eye(2, dtype=f32), draw(6, 1))


@program
def jax_gaussian_process():
    def run(x, y, z, l):
        def k(a, b): return jnp.exp(-0.5 * ((a[:, None] - b[None]) ** 2) / l ** 2)
        c = jax.scipy.linalg.cho_factor(k(x, x) + 0.1 * jnp.eye(8), lower=True)
        al = jax.scipy.linalg.cho_solve(c, y)
        return k(z, x) @ al, k(z, z) - k(z, x) @ jax.scipy.linalg.cho_solve(c, k(x, z)), 0.5 * y @ al + jnp.log(jnp.diag(c[0])).sum()
    return run, (np.linspace(0, 1, 8, dtype=f32), draw(8), np.linspace(0, 1, 5, dtype=f32), f32(0.3))


@program
def jax_pca_and_least_squares():
    def run(x, y):
        _, s, vt = jnp.linalg.svd(x - x.mean(0), full_matrices=False)
        return s, jnp.abs(vt), jnp.linalg.lstsq(x, y)[0], jnp.linalg.eigvalsh(x.T @ x), jnp.linalg.slogdet(x.T @ x)
    return run, (X, Y)


@program
def jax_beam_search():
    def run(logits):
        def step(c, l):
            scores, seqs, i = c
            s, ix = lax.top_k((scores[:, None] + jax.nn.log_softmax(l)[None]).ravel(), 3)
            seqs = seqs[ix // 7].at[:, i].set(ix % 7)
            jax.debug.callback(see, seqs)
            return (s, seqs, i + 1), None
        return lax.scan(step, (jnp.array([0., -1e9, -1e9]), jnp.zeros((3, 5), jnp.int32), 0), logits)[0]
    return run, (draw(5, 7),)


@program
def jax_host_in_the_loop():
    from jax.experimental import io_callback
    def host(i, x): return (np.asarray(x) * 0.5 + np.asarray(i)).astype(f32)
    def run(x):
        def body(i, x):
            y = io_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), i, x, ordered=True)
            return jnp.where(y > 1, jnp.cos(y), y * 1.5)
        return lax.fori_loop(0, 5, body, x)
    return run, (draw(4),)


@program
def jax_scipy_on_the_host():
    def host(x): return np.sort(np.asarray(x), axis=-1)[..., ::-1].copy()
    def run(x):
        f = lambda r: jax.pure_callback(host, jax.ShapeDtypeStruct(r.shape, r.dtype), r, vmap_method="sequential")
        return jax.vmap(f)(x).cumsum(1)
    return run, (draw(3, 5),)


@program
def jax_checkify():
    from jax.experimental import checkify
    def f(x, i): return jnp.log(x)[i] / (x[0] - 1)
    checked = checkify.checkify(f, errors=checkify.float_checks | checkify.index_checks)
    def run(x, i):
        e, y = checked(x, i)
        return y, e.get is None
    return run, (np.array([2, 3, 4], f32), np.int32(1))


@program
def jax_graph_network():
    def run(nodes, w, senders, receivers):
        def layer(h, _):
            m = jax.ops.segment_sum(h[senders], receivers, 6)
            deg = jax.ops.segment_sum(jnp.ones(10), receivers, 6)
            h = jax.nn.leaky_relu((h + m / jnp.maximum(deg, 1)[:, None]) @ w)
            att = jax.ops.segment_max(h.sum(1)[senders], receivers, 6)
            return h * jax.nn.sigmoid(jnp.where(jnp.isfinite(att), att, 0))[:, None], att
        return jax.grad(lambda n, w: lax.scan(layer, n, None, length=3)[0].sum(), (0, 1))(nodes, w)
    r = np.random.RandomState(1)
    return run, (draw(6, 4), draw(4, 4), r.randint(0, 6, 10).astype(np.int32), r.randint(0, 6, 10).astype(np.int32))


@program
def jax_fft_poisson_solver():
    def run(f):
        k = jnp.fft.fftfreq(16) * 16
        k2 = (k[:, None] ** 2 + k[None] ** 2).at[0, 0].set(1)
        return jnp.fft.ifft2(-jnp.fft.fft2(f) / k2).real, jnp.abs(jnp.fft.rfft(f, axis=0))
    return run, (draw(16, 16),)


@program
def jax_quantized_matmul():
    def run(x, w):
        s, t = jnp.abs(x).max(1, keepdims=True) / 127, jnp.abs(w).max(0) / 127
        y = lax.dot_general(jnp.round(x / s).astype(jnp.int8), jnp.round(w / t).astype(jnp.int8), (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)
        return y.astype(f32) * s * t, (x.astype(jnp.float8_e4m3fn).astype(jnp.bfloat16) @ w.astype(jnp.bfloat16))
    return run, (draw(6, 32), draw(32, 5, seed=1))


# The training step for peak memory: 40 layers, 77 million parameters. The script writes it only if it is named.
def gpt_40_layers(layers=40, width=400, heads=8, length=64, words=512):
    r = np.random.RandomState(0)
    weight = lambda *s: (r.standard_normal(s, ) * 0.02).astype(f32)
    params = {"embed": weight(words, width), "layers": [
        {"qkv": weight(width, 3 * width), "out": weight(width, width), "up": weight(width, 4 * width), "down": weight(4 * width, width)} for _ in range(layers)]}
    def norm(x): return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
    def loss(p, tokens):
        x = p["embed"][tokens]
        for l in p["layers"]:
            q, k, v = jnp.split((norm(x) @ l["qkv"]).reshape(length, heads, -1), 3, -1)
            s = jnp.einsum("qhd,khd->hqk", q, k) / np.sqrt(width // heads) + jnp.where(jnp.tri(length, dtype=bool), 0, -1e9)
            x = x + jnp.einsum("hqk,khd->qhd", jax.nn.softmax(s), v).reshape(length, width) @ l["out"]
            x = x + jax.nn.gelu(norm(x) @ l["up"]) @ l["down"]
        logits = jax.nn.log_softmax(norm(x) @ p["embed"].T)
        return -jnp.mean(jnp.take_along_axis(logits[:-1], tokens[1:, None], 1))
    def step(p, tokens):
        value, g = jax.value_and_grad(loss)(p, tokens)
        return value, jax.tree.map(lambda a, b: a - 0.1 * b, p, g)
    return step, (params, r.randint(0, words, length).astype(np.int32))


if __name__ == "__main__":
    if sys.argv[1] == "--check":
        for name in made:
            if not os.path.exists(os.path.join(sys.argv[2], name + ".json")): continue
            try: print(f"{name}: {check(sys.argv[2], name)}", flush=True)
            except Exception as e: print(f"{name}: {type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}", flush=True)
        sys.exit()
    d, names = sys.argv[1], sys.argv[2:] or list(made)
    made["gpt_40_layers"] = gpt_40_layers
    os.makedirs(d, exist_ok=True)
    for name in names:
        if os.path.exists(os.path.join(d, name + ".json")): continue
        try: write(d, name)
        except Exception as e: print(f"{name}: not written: {type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}", file=sys.stderr)
