"""JAX's callbacks on platforms that JAX refuses to lower them for.

JAX lowers jax.debug.print, jax.debug.callback, io_callback and pure_callback only for cpu, cuda, rocm and tpu. On any
other platform whose plugin runs under hlocb, enable() makes them work. 'python -m hlocb.callbacks PROGRAM [ARG...]' does so
for an unchanged program. The module does not change platforms that JAX knows.

JAX has no public interface for this, so the module uses names of jax._src. It is tested with JAX 0.10.2 and 0.12.0.
"""

import itertools
import weakref

from jax._src import callback, debugging
from jax._src.interpreters import mlir

KNOWN = {"cpu", "cuda", "rocm", "tpu"}

# A key has bit 62 set, which tells hlocb that the function is here and not in the list of the execution.
_keys = itertools.count(1 << 62)

# The functions of callbacks by key. The compiled program keeps them alive.
functions = weakref.WeakValueDictionary()


class _Calls:
    """The list of a module's functions, in which the last function has the index key."""

    def __init__(self, key):
        self.key = key

    def __len__(self):
        return self.key + 1


class _AsCPU:
    """A module's context that lowers callbacks as for the CPU."""

    platforms = ("cpu",)

    def __init__(self, context):
        self.context, self.key = context, next(_keys)
        self.host_callbacks = _Calls(self.key)

    def __getattr__(self, name):
        return getattr(self.context, name)

    def add_host_callback(self, function):
        functions[self.key] = function
        self.context.add_host_callback(function)  # which also keeps the program out of JAX's cache


def enable():
    """Makes callbacks work on platforms that JAX does not know. A second call does nothing."""
    emit = callback.emit_python_callback
    if getattr(emit, "hlocb", False):
        return

    def emit_python_callback(ctx, *args, **options):
        if not KNOWN.isdisjoint(ctx.module_context.platforms):
            return emit(ctx, *args, **options)
        return emit(ctx.replace(module_context=_AsCPU(ctx.module_context)), *args, **options)

    emit_python_callback.hlocb = True
    callback.emit_python_callback = emit_python_callback
    mlir.register_lowering(debugging.debug_callback_p, debugging.debug_callback_lowering)
    mlir.register_lowering(debugging.debug_print_p, debugging.debug_print_lowering_rule)


if __name__ == "__main__":
    import runpy
    import sys

    if len(sys.argv) < 2:
        sys.exit("usage: python -m hlocb.callbacks PROGRAM [ARG...]")
    # This module runs as __main__; the command reads functions of the module that is imported by its name.
    from hlocb.callbacks import enable as start

    del sys.argv[0]
    sys.path[0] = sys.argv[0].rpartition("/")[0]
    start()
    runpy.run_path(sys.argv[0], run_name="__main__")
