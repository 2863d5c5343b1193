"""Lowers programs with JAX, runs them, and writes one JSON object a line: name, text, text with locations, arguments,
results and, for programs with callbacks, the operands of the callbacks, in order.

usage: jax_programs.py functions [STEP] | callbacks     (STEP 3: every third function)
"""
import json, os, sys
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import io_callback

events = []


def encode(a):
    a = np.asarray(a)
    flat = a.ravel()
    number = lambda x: float(x) if np.isfinite(x) else str(float(x))
    if a.dtype.kind == "c": data = [[number(x.real), number(x.imag)] for x in flat]
    elif a.dtype.kind == "b": data = [bool(x) for x in flat]
    elif a.dtype.kind in "iu" or "int" in str(a.dtype): data = [int(x) for x in flat]
    else: data = [number(x) for x in flat.astype(np.float64)]
    return {"dtype": str(a.dtype), "shape": list(a.shape), "data": data}


def lower(f, args):
    jitted = jax.jit(f, keep_unused=True)
    return jitted, jitted.lower(*args)


def emit(name, jitted, lowered, args):
    events.clear()
    results = jitted(*args)
    jax.effects_barrier()
    out = {"name": name, "text": lowered.as_text(), "located": lowered.as_text(debug_info=True),
           "args": [encode(x) for x in jax.tree.leaves(args)],
           "results": [encode(x) for x in jax.tree.leaves(jax.block_until_ready(results))],
           "events": [{"operands": e} for e in events]}
    print(json.dumps(out), flush=True)


f32 = np.float32
rng = np.random.RandomState(0)
A, B = rng.randn(4, 4).astype(f32), rng.randn(4, 4).astype(f32)
V, W = rng.randn(7).astype(f32), rng.rand(7).astype(f32) + f32(0.1)
S = (A @ A.T + 4 * np.eye(4)).astype(f32)
I, J = rng.randint(-9, 9, (3, 5)).astype(np.int32), rng.randint(1, 9, (3, 5)).astype(np.int32)
C = (rng.randn(5) + 1j * rng.randn(5)).astype(np.complex64)
P = rng.rand(6) > 0.5
IMG, KER = rng.randn(1, 8, 8, 3).astype(f32), rng.randn(3, 3, 3, 4).astype(f32)
SEED = np.uint32(7)


def functions(step):
    """Yields functions of JAX's libraries, each on the arguments that it accepts, then longer programs."""
    sets = [(A,), (V,), (W,), (A, B), (V, W), (I,), (I, J), (C,), (P,), (A.astype(jnp.bfloat16),), (V.astype(np.float16),)]
    names = {
        jnp: """abs acos acosh add all amax angle any argmax argmin argsort around asinh atan atan2 average bitwise_count bitwise_xor block
            cbrt ceil clip concatenate convolve copysign corrcoef correlate cos cosh count_nonzero cov cumprod cumsum deg2rad diag diagonal diff
            divide divmod dot ediff1d exp exp2 expm1 flip float_power floor_divide fmax fmod frexp gcd gradient heaviside histogram hypot i0
            inner isclose isfinite kron lcm ldexp left_shift lexsort log log10 log1p log2 logaddexp logaddexp2 logical_not matmul
            maximum median minimum modf nan_to_num nanmean nextafter outer packbits percentile poly polyder polyval power prod ptp remainder
            right_shift rint rot90 searchsorted sign signbit sinc sinh sort spacing sqrt std tan tanh trace transpose tril unwrap vander var vdot""",
        lax: """bessel_i0e bessel_i1e bitwise_not clz complex cumlogsumexp cummax cumprod digamma erf erf_inv erfc igamma igammac lgamma logistic mulhi
            polygamma population_count pow random_gamma_grad rem round rsqrt shift_right_logical sort_key_val zeta""",
        jax.nn: "celu elu gelu glu log1mexp log_softmax logmeanexp logsumexp mish relu6 selu silu softmax softplus squareplus standardize",
        jnp.fft: "fft fft2 fftn fftshift hfft ifft ihfft irfft rfft rfft2",
        jax.scipy.special: """beta betaln boxcox dawsn entr exp1 expi fresnel gammainc gammaln i0e i1 kl_div log_ndtr logit ndtri owens_t rel_entr
            sici spence wofz xlog1py""",
        jnp.linalg: "matrix_norm norm outer tensordot vecdot cholesky det eigh inv qr solve svd",
        jax.scipy.stats.norm: "cdf logcdf logsf ppf",
    }
    cases = []
    for module, list in names.items():
        for name in list.split():
            for k, args in enumerate(sets):
                cases.append((f"{module.__name__.removeprefix('jax.')}.{name}/{k}", getattr(module, name), args))
    for name, f, args in cases[::step]:
        try:
            made = lower(f, args)
        except Exception:
            continue  # a function that takes other arguments
        emit(name, *made, args)
    window = lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    key = jax.random.key
    for name, f, args in [
        ("convolution", lambda x, k: lax.conv_general_dilated(x, k, (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), (IMG, KER)),
        ("transposed convolution", lambda x, k: lax.conv_transpose(x, k, (2, 2), "SAME"), (IMG, KER)),
        ("max pool", window, (IMG,)),
        ("gradient of max pool", jax.grad(lambda x: window(x).sum()), (IMG,)),
        ("resize", lambda x: jax.image.resize(x, (1, 5, 11, 3), "bilinear"), (IMG,)),
        ("resize by lanczos", lambda x: jax.image.resize(x, (1, 13, 6, 3), "lanczos3"), (IMG,)),
        ("gradient of a layer", jax.grad(lambda w, x: jnp.tanh(x @ w).sum()), (A, B)),
        ("hessian", jax.hessian(lambda x: jnp.sum(jnp.sin(x) ** 3)), (V,)),
        ("jacobian", jax.jacfwd(lambda x: jnp.exp(x) * x[::-1]), (V,)),
        ("attention", lambda q, k, v: jax.nn.softmax(q @ k.T / 2) @ v, (A, B, S)),
        ("causal attention", lambda q: jax.nn.dot_product_attention(q, q, q, is_causal=True), (rng.randn(1, 6, 2, 4).astype(f32),)),
        ("random normal", lambda s: jax.random.normal(key(s), (5,)), (SEED,)),
        ("random integers", lambda s: jax.random.randint(key(s), (9,), 0, 100), (SEED,)),
        ("random permutation", lambda s: jax.random.permutation(key(s), 11), (SEED,)),
        ("random gamma", lambda s: jax.random.gamma(key(s), 2.5, (5,)), (SEED,)),
        ("random poisson", lambda s: jax.random.poisson(key(s), 4.5, (5,)), (SEED,)),
        ("random categories", lambda s, x: jax.random.categorical(key(s), x), (SEED, A)),
        ("random bit generator", lambda s: jax.random.normal(key(s, impl="rbg"), (5,)), (SEED,)),
        ("random bits", lambda s: jax.random.bits(key(s, impl="unsafe_rbg"), (5,)), (SEED,)),
        ("top k", lambda x: lax.top_k(x, 3), (A,)),
        ("sort by key", lambda k, v: lax.sort((k, v), num_keys=1), (V, W)),
        ("segment sum", lambda x: jax.ops.segment_sum(x, jnp.array([0, 0, 1, 2, 2, 1, 0]), 4), (V,)),
        ("scatter add", lambda x: x.at[jnp.array([1, 1, 3])].add(2.0), (V,)),
        ("scatter max", lambda x: x.at[:, 1].max(0.5), (A,)),
        ("scatter multiply", lambda x: x.at[1:3, ::2].multiply(3), (A,)),
        ("gather with fill", lambda x: jnp.take(x, jnp.array([3, -1, 9]), axis=1, mode="fill"), (A,)),
        ("gather with clip", lambda x: jnp.take(x, jnp.array([3, -1, 9]), axis=0, mode="clip"), (A,)),
        ("einsum", lambda a, b: jnp.einsum("ij,jk,kl->il", a, b, a), (A, B)),
        ("triangle and running sum", lambda a: jnp.tril(a) + lax.cumsum(a, 1), (A,)),
        ("scan", lambda x: lax.scan(lambda c, y: (c * 0.5 + y, c), 0.0, x), (V,)),
        ("associative scan", lambda x: lax.associative_scan(jnp.multiply, x), (V,)),
        ("while", lambda x: lax.while_loop(lambda s: s.sum() < 100, lambda s: s * 1.5 + 1, x), (W,)),
        ("reduced precision", lambda x: lax.reduce_precision(x, 5, 7), (V,)),
        ("bitcast", lambda x: lax.bitcast_convert_type(x, jnp.int8), (V,)),
        ("i4", lambda x: x.astype(jnp.int4).astype(jnp.int32) * 3, (I,)),
        ("f8E4M3FN", lambda x: x.astype(jnp.float8_e4m3fn).astype(jnp.float32), (V,)),
        ("f8E5M2", lambda x: (x.astype(jnp.float8_e5m2) * 2).astype(jnp.float32), (V,)),
        ("ragged dot", lambda a, b: lax.ragged_dot(a, b, jnp.array([1, 3], jnp.int32)), (A, rng.randn(2, 4, 4).astype(f32))),
        ("dot of bf16", lambda a, b: lax.dot_general(a.astype(jnp.bfloat16), b.astype(jnp.bfloat16), (((1,), (0,)), ((), ())),
                                                     preferred_element_type=jnp.float32), (A, B)),
        ("dot of i8", lambda a, b: lax.dot_general(a.astype(jnp.int8), b.astype(jnp.int8).T, (((1,), (0,)), ((), ())),
                                                   preferred_element_type=jnp.int32), (I, J)),
        ("unique", lambda x: jnp.unique(x, size=6), (I,)),
        ("nonzero", lambda x: jnp.nonzero(x, size=4), (P,)),
        ("quantile", lambda x: jnp.quantile(x, 0.3), (V,)),
        ("complex functions", lambda x: (jnp.sin(x), jnp.tan(x), jnp.arcsin(x), jnp.sqrt(x), jnp.log(x), jnp.exp(x), jnp.tanh(x)), (C,)),
        ("incomplete beta", lambda x: jax.scipy.special.betainc(1.5, 2.5, x / 2), (W,)),
        ("Fourier transform there and back", lambda x: jnp.fft.irfft(jnp.fft.rfft(x), 7), (V,)),
    ]:
        emit(name, *lower(f, args), args)


def seen(*xs): events.append([encode(x) for x in xs])


def echo(*xs):
    seen(*xs)
    return xs[0] if len(xs) == 1 else xs


def like(x): return jax.ShapeDtypeStruct(jnp.shape(x), jnp.result_type(x))
def io(x, ordered=True): return io_callback(echo, like(x), x, ordered=ordered)
def pure(x, **how): return jax.pure_callback(echo, like(x), x, **how)
def debug(*xs): jax.debug.callback(seen, *xs, ordered=True)


def callbacks():
    """Yields programs with callbacks in every kind of control flow. All callbacks of a program have one effect, because
    JAX orders only callbacks of one kind."""
    x = np.arange(4, dtype=f32)
    m = np.arange(6, dtype=f32).reshape(2, 3)

    def program(f):
        emit(f.__name__, *lower(f, f.args), f.args)
        return f

    def on(*args):
        def mark(f):
            f.args = args
            return program(f)
        return mark

    @on(x)
    def debug_in_scan(x):
        def body(c, y):
            debug(c, y)
            return c + y, c * y
        return lax.scan(body, f32(0), x)

    @on(x)
    def debug_in_reversed_scan(x):
        def body(c, y):
            debug(c, y)
            return c + y, c
        return lax.scan(body, f32(0), x, reverse=True)

    @on(x)
    def debug_in_unrolled_scan(x):
        def body(c, y):
            debug(c)
            return c + y, y
        return lax.scan(body, f32(0), x, unroll=3)

    @on(x)
    def carried_through_the_host(x):
        def body(c, y):
            r = io(c + y)
            return r, r * 2
        return lax.scan(body, f32(0), x)

    @on(x, np.int32(3))
    def trips_known_late(x, n):
        return lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, io(s[1] + 1)), (jnp.int32(0), x))

    @on(np.int32(0))
    def no_trips(n):
        return lax.fori_loop(0, n, lambda i, c: io(c + i), jnp.int32(7))

    @on(f32(0))
    def in_a_condition(x):
        def condition(s):
            jax.debug.callback(seen, s)
            return s < 3
        return lax.while_loop(condition, lambda s: s + 1, x)

    @on(x)
    def loop_in_a_loop(x):
        return lax.fori_loop(0, 3, lambda i, c: lax.fori_loop(0, i, lambda j, c: io(c + j.astype(f32)), c), x)

    @on(x)
    def loop_in_a_branch_in_a_loop(x):
        inner = lambda c: lax.fori_loop(0, 2, lambda j, c: io(c + j.astype(f32)), c)
        return lax.fori_loop(0, 3, lambda i, c: lax.cond(i % 2 == 0, inner, lambda c: c * 2, c), x)

    @on(np.int32(1), x)
    def switch(i, x):
        return lax.switch(i, [io, lambda x: io(io(x) * 2), lambda x: x], x)

    @on(np.bool_(True), x)
    def one_branch_of_two(p, x):
        return io(lax.cond(p, lambda x: io(x * 3), lambda x: x, x) + 1)

    @on(x)
    def branch_in_a_scan(x):
        def body(c, y):
            c = lax.cond(y > 1, lambda c: io(c + 1), lambda c: c - 1, c)
            return c, c
        return lax.scan(body, f32(0), x)

    @on(x)
    def pure_once(x): return pure(x * 2) + 1

    @on(m)
    def pure_one_by_one(x): return jax.vmap(lambda r: pure(r * 2, vmap_method="sequential"))(x)

    @on(m)
    def pure_with_a_dimension(x): return jax.vmap(lambda r: pure(r * 2, vmap_method="expand_dims"))(x)

    @on(m)
    def pure_broadcast(x): return jax.vmap(lambda r: pure(r * 2, vmap_method="broadcast_all"))(x)

    @on(x)
    def functions_of_functions(x):
        g = jax.jit(lambda y: io(y * 2))
        return g(g(x)) + g(x)

    @on(x)
    def one_function_three_times(x):
        @jax.jit
        def g(y):
            debug(y)
            return y + 1
        return g(g(g(x)))

    @on(x)
    def gradient(x):
        def f(x):
            y = jnp.sin(x)
            debug(y)
            return (y * y).sum()
        return jax.grad(f)(x)

    @on(x)
    def gradient_of_its_own(x):
        @jax.custom_vjp
        def g(x): return x

        def forward(x):
            debug(x)
            return x, x

        def backward(r, t):
            debug(t, r)
            return (t * 2,)
        g.defvjp(forward, backward)
        return jax.value_and_grad(lambda x: (g(x) ** 2).sum())(x)

    @on(x)
    def computed_again(x):
        @jax.checkpoint
        def f(x):
            y = jnp.cos(x)
            debug(y)
            return jnp.sin(y).sum()
        return jax.grad(f)(x)

    @on(x)
    def several_values(x):
        shapes = (like(x), jax.ShapeDtypeStruct((), jnp.int32), jax.ShapeDtypeStruct((2,), jnp.bool_))
        return io_callback(echo, shapes, x, jnp.int32(5), jnp.array([True, False]), ordered=True)

    @on()
    def nothing_to_see():
        debug()
        debug(jnp.int32(1))
        return jnp.float32(3)

    @on(x)
    def constants(x):
        debug(jnp.arange(5))
        debug(np.eye(2, dtype=f32))
        return x

    @on(x)
    def one_value_twice(x):
        debug(x, x)
        debug(x)
        return x, x

    @on(np.zeros((0, 3), f32))
    def no_elements(x): return io(x), jnp.float32(1)

    @on(np.array([1, 2], np.float16), np.array([3], jnp.bfloat16), np.array([[1]], np.uint8), np.array([-5], np.int16),
        np.array([1 + 2j], np.complex64), np.array([True]), np.array([7], np.uint32), np.array([9], np.int8), np.array([4], np.uint16))
    def types(*xs): return [io(x) for x in xs]

    @on(np.array([1, -2, 7], jnp.int4), np.array([1, 3, 15], jnp.uint4), np.array([1.5, -2], jnp.float8_e4m3fn))
    def small_types(a, b, c):
        debug(a, b, c)
        return a.astype(jnp.int8), b.astype(jnp.uint8), c.astype(f32)

    @on(np.arange(12, dtype=f32).reshape(3, 4))
    def transposed(x):
        y = io(x.T)
        return io(y.T), y @ x

    @on(np.arange(64, dtype=f32).reshape(8, 8))
    def behind_a_product(x):
        a = x @ x
        b = io(a.sum())
        return (io(a[0]) * b).sum()

    @on(np.arange(3, dtype=np.int32))
    def mapped(x): return lax.map(lambda e: io(e * 2), x)

    @on(SEED)
    def random_numbers(seed): return io(jax.random.normal(key=jax.random.key(seed), shape=(4,)))

    @on(x)
    def chain_of_many(x):
        for i in range(24): x = io(x + i)
        return x

    @on(x)
    def many_independent(x):
        for i in range(12): debug(x * i)
        return x

    @on(x)
    def derivative(x):
        def f(x):
            debug(x)
            return x * x
        return jax.jvp(f, (x,), (x,))

    @on(x)
    def no_answer(x):
        io_callback(seen, None, x, ordered=True)
        return x + 1


if sys.argv[1] == "functions": functions(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
else: callbacks()
