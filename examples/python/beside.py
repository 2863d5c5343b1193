"""Finds one NaN and draws one curve with hlocb and with other tools, each in a process of its own.

    python beside.py

It prints, for each tool, the lines that are added to the program, the processor's seconds of the whole process beside
those of the plain program, and what the tool says. It needs jax, hlocb, equinox and tensorboardX.
"""

import resource
import subprocess
import sys

PROGRAM = """
import jax, jax.numpy as jnp
{imports}
x = jax.random.normal(jax.random.key(0), (256, 32))
y = x[:, 0] / 4
def loss_of(w, x, y):
    h = jnp.tanh(x @ w["a"])
    s = h @ w["b"] - y
    {inside}
    return jnp.sqrt(-jnp.mean(jnp.log(1.0 - s * s / 4)))
@jax.jit
def step(w, x, y):
    loss, g = jax.value_and_grad(loss_of)(w, x, y)
    {after}
    return jax.tree.map(lambda w, g: w - {rate} * g, w, g), loss
{wrap}
start = dict(a=jax.random.normal(jax.random.key(1), (32, 32)) / 6, b=jnp.zeros(32))
def train(steps=40):
    w = start
    for i in range(steps):
        w, loss = step(w, x, y)
        {each}
    return jax.block_until_ready((w, loss))
{run}
"""

NAN = {
    "the program alone": {},
    "hlocb.bisect_nan": {"imports": "import hlocb", "run": "print(hlocb.bisect_nan(train))"},
    "hlocb exec --bisect-nan": {"command": ["hlocb", "exec", "--backend", "engine", "--bisect-nan", "--", sys.executable, "-c"]},
    "jax_debug_nans": {
        "imports": 'jax.config.update("jax_debug_nans", True)',
        "run": "try:\n    train()\nexcept FloatingPointError as e:\n    print(str(e).splitlines()[0])",
    },
    "checkify": {
        "imports": "from jax.experimental import checkify",
        "wrap": "checked = jax.jit(checkify.checkify(step, errors=checkify.float_checks))\ndef step(w, x, y):\n    err, out = checked(w, x, y)\n    err.throw()\n    return out",
        "run": "try:\n    train()\nexcept checkify.JaxRuntimeError as e:\n    print(str(e).splitlines()[0])",
    },
    "equinox.error_if": {
        "imports": "import equinox",
        "inside": 's = equinox.error_if(s, s * s >= 4, "s is too large")',
        "run": "try:\n    train()\nexcept Exception as e:\n    print([l for l in str(e).splitlines() if 'large' in l][0])",
    },
}

CURVE = {
    "the program alone": {},
    "hlocb.tap": {
        "imports": "import hlocb",
        "run": 'with hlocb.tap("stablehlo.sqrt") as t:\n    train()\nprint(len(t.events), "values, the last %.5f" % t.events[-1].value)',
    },
    "jax.debug.callback": {"imports": "values = []", "after": "jax.debug.callback(values.append, loss, ordered=True)", "run": 'train()\njax.effects_barrier()\nprint(len(values), "values, the last %.5f" % values[-1])'},
    "tensorboardX": {
        "imports": "from tensorboardX import SummaryWriter\nwriter = SummaryWriter(__import__('tempfile').mkdtemp())",
        "each": 'writer.add_scalar("loss", float(loss), i)',
        "run": '_, loss = train()\nwriter.close()\nprint("40 values, the last %.5f" % loss)',
    },
}


def used():
    """Returns the processor's seconds of the processes that have ended; other work on the machine does not count."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(title, table, rate):
    print(title)
    base = None
    for name, parts in table.items():
        parts = dict(parts)
        command = parts.pop("command", [sys.executable, "-c"])
        fields = dict.fromkeys(("imports", "inside", "after", "wrap", "each"), "pass") | {"imports": "", "wrap": "", "run": "train()"}
        lines = sum(len(v.splitlines()) for v in parts.values())
        seconds = float("inf")  # the best of three
        for _ in range(3):
            start = used()
            r = subprocess.run([*command, PROGRAM.format(**(fields | {"rate": rate} | parts))], capture_output=True, text=True)
            seconds = min(seconds, used() - start)
        base = base or seconds
        said = (r.stdout.strip() or "\n".join(l for l in r.stderr.splitlines() if l.startswith("hlocb: ") and "holds" in l) or r.stderr.strip()[-300:] if name != "the program alone" else "")
        print(f"{name:26} {lines:2} lines {seconds:5.1f} s ({seconds / base:.2f} times)  {said}")


measure("A NaN", NAN, 2.0)
measure("A curve", CURVE, 0.1)
