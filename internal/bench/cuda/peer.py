"""Runs JAX's side of the benchmark, and lowers the programs that hlocb runs.

Reads one JSON object per line and answers each with one. A job with "kind" prepares a subject; the answer has the texts
of its program and of a program that computes its arguments. A job with "time" runs a subject "calls" times; the answer
has the seconds. A job with "drop" forgets all subjects; a job with "about" asks for JAX's version and device.

usage: peer.py PLATFORM
"""
import ctypes, functools, json, os, sys, time

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # other output must not disturb the answers
platform = sys.argv[1]
os.environ["JAX_PLATFORMS"] = platform if platform == "cpu" else platform + ",cpu"  # callbacks need the CPU
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # hlocb needs memory, too
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import io_callback

device = jax.devices(platform)[0]
subjects = {}

# The host's part of a callback. JAX passes it an array of its own, on the CPU.
functions = {
    "identity": lambda x: x,
    "identity in numpy": lambda x: np.asarray(x),
    "add": lambda x: x + 1,
    "add in numpy": lambda x: np.asarray(x) + 1,
}


class Subject:
    """A function, the function that computes its arguments, and what to wait for after the last call of a turn."""

    def __init__(self, f, init, donate=(), finish=lambda: None):
        self.f, self.init, self.finish = jax.jit(f, donate_argnums=donate), jax.jit(init), finish
        self.donate, self.args = donate, None

    def texts(self):
        return {"text": self.f.lower(*jax.eval_shape(self.init)).as_text(), "init": self.init.lower().as_text()}

    def time(self, n):
        if self.args is None:
            self.args = self.init()
        start = time.perf_counter()
        for _ in range(n):
            out = self.f(*self.args)
            if self.donate:
                self.args = (out[0], *self.args[1:])
            else:
                jax.block_until_ready(out)
        jax.block_until_ready(out)
        self.finish()
        return {"seconds": time.perf_counter() - start, "loss": float(out[1]) if self.donate else 0}


def values(size):
    """Float values of some bytes: 0 to 999, repeated."""
    shape = (size >> 22, 1024, 1024) if size >> 22 else (size // 4,)
    return (jnp.arange(size // 4) % 1000).astype(jnp.float32).reshape(shape)


def noise(shape, first):
    """Numbers from -0.5 to 0.5 that look random: murmur3's finalizer of an element's number."""
    h = first + jnp.arange(np.prod(shape), dtype=jnp.uint32)
    h = (h ^ h >> 16) * jnp.uint32(0x85EBCA6B)
    h = (h ^ h >> 13) * jnp.uint32(0xC2B2AE35)
    return ((h ^ h >> 16) >> 8).astype(jnp.float32).reshape(shape) / (1 << 24) - 0.5


def callback(job):
    function = functions[job["function"]]
    return Subject(lambda x: io_callback(function, jax.ShapeDtypeStruct(x.shape, x.dtype), x), lambda: (values(job["size"]),))


def inout(job):
    """A call that may change its argument in place, for hlocb only."""
    call = lambda x: jax.ffi.ffi_call("host", jax.ShapeDtypeStruct(x.shape, x.dtype), has_side_effect=True, input_output_aliases={0: 0})(x)
    return Subject(call, lambda: (values(job["size"]),), donate=(0,))


def tap(job):
    """A tap of the argument. The result does not depend on the argument."""
    def f(x):
        jax.debug.callback(lambda x: None, x)
        return jnp.float32(0)
    return Subject(f, lambda: (values(job["size"]),), finish=jax.effects_barrier)


def loop(job):
    """A loop on the device that calls the host in each iteration, or not if the function is empty."""
    def body(i, v):
        v = v * 0.5 + 1
        if job["function"] == "io_callback":
            io_callback(lambda v: None, None, v, ordered=True)
        elif job["function"] == "debug.callback":
            jax.debug.callback(lambda v: None, v)
        return v
    return Subject(lambda v: jax.lax.fori_loop(0, job["size"], body, v), lambda: (jnp.float32(1),), finish=jax.effects_barrier)


def step(job):
    """A step of gradient descent of residual layers, in mixed precision on a GPU."""
    size, layers = (128, 2) if platform == "cpu" else (4096, 8)
    dtype = jnp.float32 if platform == "cpu" else jnp.bfloat16

    def loss(params, x):
        h = x.astype(dtype)
        for w in params:
            h = h + jnp.maximum(h @ w.astype(dtype), 0)
        return jnp.mean((h.astype(jnp.float32) - x) ** 2)

    def update(params, x):
        value, slopes = jax.value_and_grad(loss)(params, x)
        return [w - 0.01 * g for w, g in zip(params, slopes)], value

    def init():
        return [noise((size, size), k * size**2) * (12 / size) ** 0.5 for k in range(layers)], noise((size, size), layers * size**2)
    return Subject(update, init, donate=(0,))


@functools.cache
def driver():
    """A function that calls CUDA's driver, in the context that JAX uses."""
    lib, context, number = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_int()

    def call(name, *args):
        if code := getattr(lib, name)(*args):
            raise RuntimeError(f"{name} failed with code {code}")
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(number), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), number)
    call("cuCtxSetCurrent", context)
    return call


@functools.cache
def memory(size):
    """Pinned memory of the host, memory of the device, and their size."""
    host, far = ctypes.c_void_p(), ctypes.c_uint64()
    driver()("cuMemAllocHost_v2", ctypes.byref(host), ctypes.c_size_t(size))
    driver()("cuMemAlloc_v2", ctypes.byref(far), ctypes.c_size_t(size))
    ctypes.memset(host, 1, size)
    return host, far, ctypes.c_size_t(size)


class Copy:
    """Plain copies to or from the device, as cudaMemcpy does with pinned memory. On a CPU, copies between arrays."""

    def __init__(self, job):
        if platform == "cpu":
            x, y = np.ones(job["size"], np.uint8), np.zeros(job["size"], np.uint8)
            self.copy = lambda: np.copyto(y, x)
            return
        call, (host, far, size) = driver(), memory(job["size"])
        if job["function"] == "to the host":
            self.copy = lambda: call("cuMemcpyDtoH_v2", host, far, size)
        else:
            self.copy = lambda: call("cuMemcpyHtoD_v2", far, host, size)

    def texts(self):
        return {}

    def time(self, n):
        start = time.perf_counter()
        for _ in range(n):
            self.copy()
        return {"seconds": time.perf_counter() - start}


kinds = {"callback": callback, "inout": inout, "tap": tap, "loop": loop, "step": step, "copy": Copy}


def answer(job):
    if "about" in job:
        return {"version": jax.__version__, "device": device.device_kind}
    if "drop" in job:
        subjects.clear()
        return {}
    if "kind" in job:
        subjects[job["name"]] = kinds[job["kind"]](job)
        return subjects[job["name"]].texts()
    return subjects[job["time"]].time(job["calls"])


for line in sys.stdin:
    try:
        reply = answer(json.loads(line))
    except Exception as e:
        reply = {"error": f"{type(e).__name__}: {e}"}
    answers.write(json.dumps(reply) + "\n")
    answers.flush()
