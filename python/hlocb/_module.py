"""Modules: what the command reads and writes."""

from __future__ import annotations

import contextlib
import dataclasses
import html
import json
import os
import pathlib
import tempfile
from collections.abc import Sequence
from typing import Any

from hlocb import _jax
from hlocb._command import Error, call


class Module:
    """A module: MLIR text or bytecode, a portable artifact, a file of jax.export, or HLO. See module."""

    def __init__(self, data: str | bytes, *, name: str = "module", lowered: Any = None):
        self._name = name  # in messages
        self._data = data.encode() if isinstance(data, str) else bytes(data)
        self._lowered = lowered  # JAX's, if it comes from there; it knows the arguments that JAX dropped

    @property
    def data(self) -> bytes:
        """The module as it was read."""
        return self._data

    @property
    def text(self) -> str:
        """The module as MLIR text with its locations."""
        if self._data[:1].isascii() and b"\0" not in self._data[:512]:
            with contextlib.suppress(UnicodeDecodeError):
                if (text := self._data.decode()).lstrip().startswith(("module", "#", "func", "//", '"builtin.module"')):
                    return text
        with self.file() as path:
            return call("translate", path, "--to", "mlir")[1].decode()

    @contextlib.contextmanager
    def file(self):
        """Returns a context that holds the path of a file with the module. Its errors name the module's own file."""
        with tempfile.TemporaryDirectory(prefix="hlocb-") as directory:
            path = os.path.join(directory, "module")
            pathlib.Path(path).write_bytes(self._data)
            try:
                yield path
            except Error as e:
                raise Error(str(e).replace(path, self._name)) from None

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<hlocb.Module of {len(self._data)} bytes>"

    def page(self) -> str:
        """The page of hlocb view: the outline, the graph, the text and the hooks of the module, as one HTML document."""
        with self.file() as path:
            call("view", path, "--output", path + ".html")
            return pathlib.Path(path + ".html").read_text()

    def _repr_html_(self) -> str:
        # The page is a document of its own, without access to the notebook.
        return f'<iframe sandbox="allow-scripts" style="width: 100%; height: 36em; border: 0" srcdoc="{html.escape(self.page())}"></iframe>'


def module(x: Any, *args, **kwargs) -> Module:
    """Returns the module of x.

    Args:
      x: a function, which is lowered for the arguments; what jax.jit(f).lower(...) or jax.export.export(f)(...) returns;
        MLIR or HLO text; bytes of a module; the path of a file; or a Module. A str is text if it has a line break or a
        brace and no file has this name; any other str is a path.

    Raises:
      Error: x is none of these, or JAX cannot lower the function.
    """
    if isinstance(x, Module):
        return x
    if isinstance(x, (bytes, bytearray)):
        return Module(x)
    if isinstance(x, os.PathLike) or isinstance(x, str) and (os.path.exists(x) or not set("\n{") & set(x)):
        try:
            return Module(pathlib.Path(x).read_bytes(), name=os.fspath(x))
        except OSError as e:
            raise Error(f"{os.fspath(x)}: {e.strerror}") from None
    if isinstance(x, str):
        return Module(x)
    if hasattr(x, "mlir_module_serialized"):  # jax.export.Exported
        return Module(bytes(x.mlir_module_serialized))
    if hasattr(x, "as_text") and hasattr(x, "args_info"):  # jax.stages.Lowered, Compiled
        if not hasattr(x, "compile"):
            raise Error("a compiled function is XLA's own; give what jax.jit(f).lower(...) returns")
        return Module(x.as_text(debug_info=True), lowered=x)
    if hasattr(x, "jaxpr") and hasattr(x, "lower"):  # jax.stages.Traced
        return module(x.lower())
    if callable(x):
        lowered = _jax.lower(x, args, kwargs)
        return Module(lowered.as_text(debug_info=True), lowered=lowered)
    raise Error(f"expected a function, a lowered function, text, bytes or a path of a module, not {type(x).__name__}")


@dataclasses.dataclass(frozen=True)
class Hook:
    """A place where a module talks to its host."""

    name: str
    id: str
    kind: str  #: "tap", "inout", "call" or "feed"
    format: str  #: of the source: "jax-ffi", "raw-outfeed", "exla", ...
    operands: tuple[str, ...]  #: types, such as "tensor<3xf32>"
    results: tuple[str, ...]
    place: str  #: the location as MLIR text, or ""
    ordered: bool  #: it has a place in the order of hooks

    def __str__(self) -> str:
        return f"{self.name} ({self.kind}, {self.format}): ({', '.join(self.operands)}) -> ({', '.join(self.results)})"


class Hooks(Sequence[Hook]):
    """The hooks of a module. order holds pairs of ids: the second hook comes after the first."""

    def __init__(self, manifest: dict[str, Any]):
        self.manifest = manifest  #: as 'hlocb hooks --json' prints it
        self.order = [(e["from"], e["to"]) for e in manifest["order"] or ()]
        self._hooks = [
            Hook(h["name"], h["id"], h["kind"], h["format"], _types(h["operands"]), _types(h["results"]), h.get("loc", ""), h["chained"])
            for h in manifest["hooks"] or ()
        ]

    def __getitem__(self, i):
        return self._hooks[i]

    def __len__(self) -> int:
        return len(self._hooks)

    def __repr__(self) -> str:
        return "\n".join(map(str, self._hooks)) or "no hooks"


def _types(values) -> tuple[str, ...]:
    return tuple("tensor<" + "".join(f"{n}x" for n in v["shape"] or ()) + v["dtype"] + ">" for v in values or ())


def hooks(x: Any, *args, hook_targets: Sequence[str] = (), **kwargs) -> Hooks:
    """Returns the hooks of a module or a function: JAX's callbacks, outfeed, send and recv, and others.

    Args:
      x, *args, **kwargs: as module.
      hook_targets: also treat custom calls of these targets as hooks.

    Raises:
      Error: the module cannot be read, or its hooks cannot be converted.
    """
    flags = [f for t in hook_targets for f in ("--hook-target", t)]
    with module(x, *args, **kwargs).file() as path:
        return Hooks(json.loads(call("hooks", path, "--json", *flags)[1]))


def opt(x: Any, pipeline: str, *args, **kwargs) -> Module:
    """Runs a pipeline of passes over a module or a function, such as "canonicalize,cse", and returns the result.

    'hlocb help passes' lists the passes; they have MLIR's and StableHLO's names.

    Raises:
      Error: the pipeline or the module has a mistake.
    """
    m = module(x, *args, **kwargs)
    with m.file() as path:
        return Module(call("opt", path, "--passes", pipeline)[1])
