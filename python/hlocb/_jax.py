"""JAX: lowering, and hlocb's engine as one of its backends.

JAX has no public interface to add a backend to a running process, or to key compiled programs by an option, so this
module uses names of jax._src. It is tested with JAX 0.6.2, 0.10.2 and 0.12.0.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import json
import os
import traceback
from typing import Any

from hlocb import _cells
from hlocb._command import ENGINE, Error, engine_path

PLATFORM = "hlocb"


def initialize() -> None:
    """Lets JAX_PLATFORMS=hlocb run on the engine. JAX calls this function in every program (entry point jax_plugins).

    Alone, hlocb takes the place of JAX's CPU client. In a list of platforms it is a backend beside the others. Programs
    that do not name it do not change.
    """
    import jax

    for plugin in os.environ.get("PJRT_NAMES_AND_LIBRARY_PATHS", "").split(","):  # of hlocb exec
        name, _, path = plugin.partition(":")
        if os.path.basename(os.path.realpath(path)) == ENGINE or name == "xcpu" and "HLOCB_LIBRARY" in os.environ:
            _tested(name)
    platforms = (jax.config.jax_platforms or "").split(",")
    if PLATFORM not in platforms:
        return
    if platforms == [PLATFORM]:
        platform = "cpu"
        jax.config.update("jax_platforms", platform)
    else:
        platform = PLATFORM
    try:
        require()
        _register(platform)
    except Error as e:  # JAX would log it as an internal error and go on
        from jax._src import xla_bridge

        failure = e

        def fail():
            raise failure

        xla_bridge.register_backend_factory(platform, fail, priority=-1, fail_quietly=False)


def _tested(name: str) -> None:
    """Lets JAX start a platform without the warning that it is experimental."""
    from jax._src import xla_bridge

    getattr(xla_bridge, "_nonexperimental_plugins", set()).add(name)


def _register(name: str) -> None:
    from jax._src import xla_bridge

    _tested(name)
    xla_bridge.register_plugin(name, priority=-1, library_path=engine_path())


def device():
    """Returns the engine's first device in JAX. It adds the engine to the backends if it is not one of them."""
    from jax._src import xla_bridge

    backends = xla_bridge.backends()
    for client in backends.values():
        if "hlocb" in client.platform_version:
            return client.local_devices()[0]
    if PLATFORM not in xla_bridge._backend_factories:
        _register(PLATFORM)
    backends[PLATFORM] = xla_bridge._init_backend(PLATFORM)
    return backends[PLATFORM].local_devices()[0]


@functools.cache
def _taps_state():
    """Returns the option of JAX that holds the number of a tap, a part of the key of compiled programs; None in old JAX."""
    from jax._src import config

    try:
        return config.string_or_object_state(
            name="hlocb_taps", default=None, help="The tap that programs are compiled with.", include_in_jit_key=True, include_in_trace_context=True)
    except TypeError:  # before JAX 0.7
        return None


@contextlib.contextmanager
def compiled_apart(name: str):
    """Compiles functions anew in the with statement, and leaves what was compiled before and after it alone."""
    import jax

    if _taps_state() is not None:
        with _taps_state()(name):
            yield
        return
    jax.clear_caches()
    try:
        yield
    finally:
        jax.clear_caches()


def configure(settings: dict[str, Any] | None) -> None:
    """Gives the engine new settings, after the runs that have started; None restores those of the environment.

    Raises:
      Error: the settings have a mistake.
    """
    function = _library().hlocb_configure
    text = None if settings is None else json.dumps(settings).encode()
    if failure := function(text):
        message = ctypes.string_at(failure).decode()
        ctypes.CDLL(None).free(ctypes.c_void_p(failure))
        raise Error(message)


@functools.cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(engine_path())
    library.hlocb_configure.argtypes = [ctypes.c_char_p]
    library.hlocb_configure.restype = ctypes.c_void_p
    return library


def require() -> None:
    """Imports JAX.

    Raises:
      Error: JAX is missing or too old.
    """
    try:
        import jax
    except ImportError:
        raise Error("this function needs JAX: pip install jax") from None
    if jax.__version_info__ < (0, 6):
        raise Error(f"hlocb needs JAX 0.6 or newer, this is {jax.__version__}")


def lower(f, args, kwargs):
    """Lowers a function.

    Raises:
      Error: JAX cannot lower it.
    """
    require()
    import jax

    try:
        return jax.jit(f, keep_unused=True).lower(*args, **kwargs)
    except Exception as e:
        reason = str(e).strip().partition("\n")[0] or type(e).__name__
        raise Error(f"JAX cannot lower {getattr(f, '__name__', f)}{_line(e)}: {reason}") from e


def _line(error: Exception) -> str:
    """Returns " at train.py:10" for the user's innermost line that an exception passed, or ""."""
    import jax

    others = tuple(os.path.dirname(path) + os.sep for path in (__file__, jax.__file__))
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith((*others, "<")):
            return f" at {os.path.basename(_cells.shown(frame.filename))}:{frame.lineno}"
    return ""
