"""Running and comparing modules in a process of their own."""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hlocb import _events
from hlocb._command import Error, call
from hlocb._events import Events
from hlocb._module import Module, module


@dataclasses.dataclass(frozen=True)
class Run:
    """A run of a module."""

    results: Any  #: for a function, arrays in the structure of what it returns; else a list of arrays
    events: Events

    def __repr__(self) -> str:
        return f"{self.results}\n{self.events}"


def run(
    x: Any,
    *args,
    tap: str | Sequence[str] = (),
    on: Mapping[str, str] = {},
    backend: str = "engine",
    **kwargs,
) -> Run:
    """Runs a module, or the module of a function, without JAX, and returns its results and the events of its hooks.

    Args:
      x: as module.
      *args, **kwargs: the function's arguments. For a file, the arrays that main takes, in order.
      tap: values to look at, as in hlocb.tap.
      on: handlers by the name of a hook, as 'hlocb run --on' names them. A callback whose results the program needs must
        have one, such as {"*": "echo"} or {"scale": "const:0.5"}.
      backend: "engine", or the name or path of a PJRT plugin.

    Raises:
      Error: the module, an argument or a handler has a mistake, or a hook has no handler that answers.
    """
    m = module(x, *args, **kwargs)
    with m.file() as path, tempfile.TemporaryDirectory(prefix="hlocb-") as directory:
        results, events = os.path.join(directory, "results.npz"), os.path.join(directory, "events.jsonl")
        command = ["run", path, *_arguments(m, args, kwargs, directory), "--results", results, "--events", events, "--backend", backend]
        for pattern in [tap] if isinstance(tap, str) else tap:
            command += ["--tap", pattern if "=" in pattern else pattern + "=record"]
        for name, handler in on.items():
            command += ["--on", f"{name}={handler}"]
        call(*command)
        with open(events, "rb") as f:
            list_ = Events([_events.parse(line) for line in f])
        with np.load(results, allow_pickle=False) as f:
            arrays = [f[name] for name in f.files]
    return Run(_structured(m, arrays), list_)


def _arguments(m: Module, args, kwargs, directory: str) -> list[str]:
    """Writes the arguments and returns the flags that name them."""
    if m._lowered is None:
        if kwargs:
            raise Error("a module takes its arguments by position")
        leaves = list(args)
    elif args or kwargs:
        import jax

        leaves = jax.tree.leaves((args, kwargs))
        kept = getattr(m._lowered, "_lowering", None)
        kept = kept.compile_args.get("kept_var_idx") if kept is not None else None
        if kept is not None:
            leaves = [leaf for i, leaf in enumerate(leaves) if i in kept]
    else:
        leaves = []
    if not leaves:
        return []
    path = os.path.join(directory, "args.npz")
    np.savez(path, *map(_numpy, leaves))
    return ["--args", path, "--cast"]


def _numpy(leaf) -> np.ndarray:
    dtype = getattr(leaf, "dtype", None)
    if dtype is not None and not isinstance(dtype, np.dtype):  # a key of jax.random
        import jax

        leaf = jax.random.key_data(leaf)
    return np.asarray(leaf)


def _structured(m: Module, arrays: list[np.ndarray]) -> Any:
    if m._lowered is None:
        return arrays
    import jax

    infos = jax.tree.leaves(m._lowered.out_info)
    typed = [a.view(i.dtype) if a.dtype.kind == "V" and isinstance(i.dtype, np.dtype) else a for a, i in zip(arrays, infos, strict=True)]
    return jax.tree.unflatten(jax.tree.structure(m._lowered.out_info), typed)


@dataclasses.dataclass(frozen=True)
class Comparison:
    """How two runs differ. It is true if they do not."""

    equal: bool
    report: dict[str, Any]  #: as 'hlocb compare --json' prints it
    text: str  #: for people

    def __bool__(self) -> bool:
        return self.equal

    def __repr__(self) -> str:
        return self.text


def compare(
    f: Any,
    g: Any = None,
    *args,
    backends: tuple[str, str] = ("engine", "engine"),
    tolerance: str | int = 0,
    bisect: bool = False,
    **kwargs,
) -> Comparison:
    """Runs two modules or functions with the same arguments and compares results and events.

        hlocb.compare(f, lambda x: f(x.astype("bfloat16")).astype("float32"), x, tolerance="rel:0.01")
        hlocb.compare(f, None, x, backends=("engine", "cpu"))

    Args:
      f, g: as module. If g is None, f runs on both backends.
      *args, **kwargs: the arguments of both. Modules without arguments get generated values.
      backends: where each of them runs.
      tolerance: the accepted difference of floats: a number of ULPs, "abs:X" or "rel:X".
      bisect: find the first operation whose value differs.

    Raises:
      Error: the functions take or return different types, or a module has a mistake.
    """
    a = module(f, *args, **kwargs)
    b = a if g is None else module(g, *args, **kwargs)
    with a.file() as first, b.file() as second, tempfile.TemporaryDirectory(prefix="hlocb-") as directory:
        command = ["compare", first, second, "--backend-a", backends[0], "--backend-b", backends[1], "--tolerance", str(tolerance)]
        command += _arguments(a, args, kwargs, directory)
        if bisect:
            command.append("--bisect")
        code, text = call(*command, "--json", accept=(0, 5))
    report = json.loads(text)
    return Comparison(code == 0, report, _text(report))


def _text(report: dict[str, Any]) -> str:
    if report["equal"]:
        return "equal"
    lines = []
    for r in report["runs"]:
        for i, v in enumerate(r["results"]):
            if v["different"]:
                lines.append(f"{r['inputs']}: result {i} {v['type']}: {v['different']} of {v['elements']} elements differ, max {v['max_abs']:g}, {v['max_ulp']} ULP")
    return "\n".join(lines) or "the events differ"
