"""Writes the programs of this directory: python make.py. Each is one function of JAX 0.10.2 on small random arguments."""
import os
import jax, jax.numpy as jnp
from jax import lax

f32 = jnp.float32
S = lambda *shape, dtype=f32: jax.ShapeDtypeStruct(shape, dtype)


def norm(x):
    return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def attention(q, k, v):
    s = jnp.einsum('bhqd,bhkd->bhqk', q, k) / jnp.sqrt(q.shape[-1] * 1.0)
    return jnp.einsum('bhqk,bhkd->bhqd', jax.nn.softmax(s), v)


def transformer(x, wq, wk, wv, wo, w1, w2):
    b, t, d = x.shape
    y = norm(x)
    split = lambda w: (y @ w).reshape(b, t, 8, d // 8).transpose(0, 2, 1, 3)
    a = attention(split(wq), split(wk), split(wv)).transpose(0, 2, 1, 3).reshape(b, t, d)
    x = x + a @ wo
    return x + jax.nn.gelu(norm(x) @ w1) @ w2


def conv(x, w, stride=1):
    return lax.conv_general_dilated(x, w, (stride, stride), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))


def conv_net(x, w1, w2, w3, wd):
    x = jax.nn.relu(conv(x, w1))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), 'SAME')
    x = jax.nn.relu(conv(x, w2))
    x = jax.nn.relu(conv(x, w3, 2))
    return jax.nn.log_softmax(x.mean((1, 2)) @ wd)


def conv_net_gradient(x, w1, w2, w3, wd):
    return jax.grad(lambda ws: conv_net(x, *ws).sum())((w1, w2, w3, wd))


def lstm(xs, h, c, wx, wh, b):
    def step(s, x):
        h, c = s
        i, f, g, o = jnp.split(x @ wx + h @ wh + b, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    return lax.scan(step, (h, c), xs)


def ode(y, w):
    field = lambda y: jnp.tanh(y @ w) - 0.1 * y
    def step(_, y):
        k1 = field(y); k2 = field(y + 0.005 * k1); k3 = field(y + 0.005 * k2); k4 = field(y + 0.01 * k3)
        return y + 0.01 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return lax.fori_loop(0, 200, step, y)


def ode_adaptive(y):
    def body(s):
        t, y, h = s
        f = lambda y: jnp.stack([y[1], -jnp.sin(y[0]) - 0.1 * y[1]])
        k1 = f(y); k2 = f(y + h * k1); e = jnp.max(jnp.abs(k1 - k2)) * h
        return t + h, y + h / 2 * (k1 + k2), jnp.clip(h * 0.9 * jnp.sqrt(1e-3 / (e + 1e-9)), 1e-3, 0.1)
    return lax.while_loop(lambda s: s[0] < 20.0, body, (jnp.float32(0), y, jnp.float32(0.01)))


def nuts_step(q, p, x, t):
    logp = lambda q: -jnp.sum(jnp.logaddexp(0.0, -t * (x @ q))) - 0.5 * q @ q
    def leap(_, s):
        q, p = s
        p = p + 0.005 * jax.grad(logp)(q)
        q = q + 0.01 * p
        return q, p + 0.005 * jax.grad(logp)(q)
    r, m = lax.fori_loop(0, 32, leap, (q, p))
    return r, m, logp(r) - 0.5 * m @ m - logp(q) + 0.5 * p @ p


def fft_filter(x):
    return jnp.fft.irfft(jnp.fft.rfft(x) * jnp.exp(-jnp.arange(x.shape[-1] // 2 + 1) / 100.0))


def argsort(x):
    i = jnp.argsort(x)
    return x[i], i


def top_k(x):
    return lax.top_k(x, 16)


def conjugate_gradients(a, b):
    m = a @ a.T + 64 * jnp.eye(a.shape[0])
    def step(_, s):
        x, r, p = s
        ap = m @ p; rr = r @ r; k = rr / (p @ ap)
        x = x + k * p; n = r - k * ap
        return x, n, n + (n @ n) / rr * p
    return lax.fori_loop(0, 30, step, (jnp.zeros_like(b), b, b))[0]


def gram_schmidt(a):
    def column(j, q):
        v = q[:, j]
        v = v - q @ jnp.where(jnp.arange(q.shape[1]) < j, q.T @ v, 0.0)
        return q.at[:, j].set(v / jnp.linalg.norm(v))
    return lax.fori_loop(0, a.shape[1], column, a)


def power_iteration(a, v):
    def step(_, v):
        w = a @ v
        return w / jnp.linalg.norm(w)
    return lax.fori_loop(0, 100, step, v)


def mlp_gradient(x, y, w1, w2, w3):
    def loss(ws):
        h = jax.nn.silu(x @ ws[0]); h = jax.nn.silu(h @ ws[1])
        return jnp.mean((h @ ws[2] - y) ** 2)
    v, g = jax.value_and_grad(loss)((w1, w2, w3))
    return v, [w - 0.1 * d for w, d in zip((w1, w2, w3), g)]


def adam(p, g, m, v):
    m = 0.9 * m + 0.1 * g; v = 0.999 * v + 0.001 * g * g
    return p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), m, v


def kmeans(x, c):
    def step(_, c):
        d = jnp.sum(x ** 2, 1)[:, None] - 2 * x @ c.T + jnp.sum(c ** 2, 1)
        k = jax.nn.one_hot(jnp.argmin(d, 1), c.shape[0])
        return (k.T @ x) / (k.sum(0)[:, None] + 1e-6)
    return lax.fori_loop(0, 10, step, c)


def embedding_gradient(table, ids, g):
    return jnp.zeros_like(table).at[ids].add(g), table[ids].sum(0)


def heat(u):
    def step(_, u):
        return u + 0.1 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u)
    return lax.fori_loop(0, 20, step, u)


def softmax_loss(x, y):
    l = jax.nn.log_softmax(x)
    return -jnp.mean(jnp.sum(l * y, -1)), jnp.exp(l) - y


def monte_carlo(key):
    x = jax.random.uniform(key, (2, 200000))
    return 4 * jnp.mean((x ** 2).sum(0) < 1)


def bessel_sum(x):
    return jax.scipy.special.erf(x) + jnp.log1p(x ** 2) * jnp.power(jnp.abs(x) + 0.5, 1.5)


D = 128

# name: function and types of its arguments
programs = {
    'transformer': (transformer, S(4, 64, D), S(D, D), S(D, D), S(D, D), S(D, D), S(D, 4 * D), S(4 * D, D)),
    'conv_net': (conv_net, S(8, 32, 32, 3), S(3, 3, 3, 32), S(3, 3, 32, 64), S(3, 3, 64, 64), S(64, 10)),
    'conv_net_gradient': (conv_net_gradient, S(8, 32, 32, 3), S(3, 3, 3, 32), S(3, 3, 32, 64), S(3, 3, 64, 64), S(64, 10)),
    'lstm': (lstm, S(64, 16, 64), S(16, 128), S(16, 128), S(64, 512), S(128, 512), S(512)),
    'ode': (ode, S(64, 64), S(64, 64)),
    'ode_adaptive': (ode_adaptive, S(2)),
    'nuts_step': (nuts_step, S(32), S(32), S(1000, 32), S(1000)),
    'fft_filter': (fft_filter, S(64, 4096)),
    'argsort': (argsort, S(200000)),
    'top_k': (top_k, S(64, 4096)),
    'conjugate_gradients': (conjugate_gradients, S(256, 256), S(256)),
    'gram_schmidt': (gram_schmidt, S(128, 64)),
    'power_iteration': (power_iteration, S(512, 512), S(512)),
    'mlp_gradient': (mlp_gradient, S(256, 256), S(256, 16), S(256, 512), S(512, 512), S(512, 16)),
    'adam': (adam, S(1000000), S(1000000), S(1000000), S(1000000)),
    'kmeans': (kmeans, S(5000, 16), S(32, 16)),
    'embedding_gradient': (embedding_gradient, S(1000, 64), S(5000, dtype=jnp.int32), S(5000, 64)),
    'heat': (heat, S(256, 256)),
    'softmax_loss': (softmax_loss, S(2000, 256), S(2000, 256)),
    'monte_carlo': (monte_carlo, S(2, dtype=jnp.uint32)),
    'special': (bessel_sum, S(500000)),
}

if __name__ == '__main__':
    for name, (f, *args) in programs.items():
        text = jax.jit(f).lower(*args).as_text()
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name + '.mlir'), 'w') as out:
            out.write(text)
