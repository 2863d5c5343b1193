"""See, record and compare the values inside a compiled program.

    import hlocb

    with hlocb.tap("train.py:10") as t:
        params, loss = step(params, batch)
    print(t.events)

tap looks into JAX code while it runs; bisect_nan finds the operation that makes the first NaN. run, compare, hooks and
opt take a function and its arguments, what jax.jit(f).lower(...) or jax.export returns, or a file with a module.

Taps and bisect_nan run the code on hlocb's own engine, on the machine's CPU. On another device, use the command:
hlocb exec --tap 'train.py:10' -- python train.py.
"""

from hlocb._command import Error, engine_path, find_bin, version
from hlocb._events import Event, Events, Statistics
from hlocb._module import Hook, Hooks, Module, hooks, module, opt
from hlocb._run import Comparison, Run, compare, run
from hlocb._tap import NaN, Tap, bisect_nan, tap

__all__ = [
    "Comparison", "Error", "Event", "Events", "Hook", "Hooks", "Module", "NaN", "Run", "Statistics", "Tap",
    "bisect_nan", "compare", "engine_path", "find_bin", "hooks", "module", "opt", "run", "tap", "version",
]
__version__ = version
