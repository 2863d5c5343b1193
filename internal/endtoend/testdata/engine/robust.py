# What a program does beside computing: threads, callbacks that run JAX, exceptions, interrupts, fork, views of donated
# arrays, and an exit while runs are in progress. The output must be that of JAX's own CPU client.
import os
import signal
import sys
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def step(x):
    return jnp.tanh(x) @ x.T + 1

def on_threads(n, work):
    """runs work(0), work(1), ... on n threads, and returns what they raise"""
    failures = []
    def run(i):
        try:
            work(i)
        except BaseException as e:
            failures.append(e)
    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return failures

# 24 threads dispatch, compile and read.
def work(seed):
    for i in range(20):
        n = 8 + (seed + i) % 5
        x = jnp.full((n, n), seed / 24, jnp.float32)
        want = np.tanh(np.asarray(x)) @ np.asarray(x).T + 1
        np.testing.assert_allclose(step(x), want, rtol=1e-5)
print("threads", on_threads(24, work))

# A callback that fails is an exception, and the next run works.
fails = True
def callback(x):
    if fails:
        raise ValueError("the callback's own message")
    return np.asarray(x) * 2
called = jax.jit(lambda x: jax.pure_callback(callback, jax.ShapeDtypeStruct((3,), jnp.float32), x) + 1)
try:
    called(jnp.ones(3)).block_until_ready()
    print("no exception")
except Exception as e:
    print("exception", "the callback's own message" in str(e))
fails = False
print("again", called(jnp.ones(3)))

# Callbacks of 8 threads.
def call(i):
    np.testing.assert_array_equal(called(jnp.full(3, float(i))), np.full(3, 2.0 * i + 1))
print("callbacks", on_threads(8, call))

# A view of a donated array keeps its values.
x = jnp.arange(1000.0)
view = np.asarray(x)
y = jax.jit(lambda x: x * 0 - 1, donate_argnums=0)(x)
print("view", view[[0, 1, 999]], x.is_deleted(), y[5])
del x, y

# Ctrl-C in a loop of runs is a KeyboardInterrupt, and JAX works afterwards.
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        step(jnp.ones((8, 8))).block_until_ready()
    print("no interrupt")
except KeyboardInterrupt:
    print("interrupted", step(jnp.ones((2, 2)))[0, 0] > 2)

# A child of fork may end without harm.
sys.stdout.flush()
child = os.fork()
if child == 0:
    os._exit(7)
print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

# The process ends while runs are in progress.
big = jnp.ones((600, 600))
for _ in range(10):
    big = step(big) / 600
print("end")
