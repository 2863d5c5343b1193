"""Looking into JAX code while it runs."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import os
import shutil
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from hlocb import _cells, _events, _jax
from hlocb._command import Error
from hlocb._events import Event, Events

_numbers = itertools.count(1)
_one = threading.Lock()  # the engine has one setting at a time


class Tap(contextlib.ContextDecorator):
    """The values of JAX code in a with statement: see tap."""

    def __init__(self, settings: dict[str, Any], show: bool | str | Callable[[Event], None], files: Sequence[str] = ()):
        self._settings, self._show, self._sinks = settings, show, list(files)
        self._events: list[Event] = []
        self._messages: list[dict[str, Any]] = []
        self._files: dict[str, tuple[Any, list[bytes]]] = {}
        self._read = threading.Lock()
        self._stack: contextlib.ExitStack | None = None

    def __enter__(self) -> Tap:
        _jax.require()
        if not _one.acquire(blocking=False):
            raise Error("another tap is active; taps do not nest: give one tap several places")
        try:
            with contextlib.ExitStack() as stack:
                stack.callback(_one.release)
                self._begin(stack)
                self._stack = stack.pop_all()
        except BaseException:
            self._stack = None
            raise
        return self

    def _begin(self, stack: contextlib.ExitStack) -> None:
        import jax

        device = _jax.device()
        directory = tempfile.mkdtemp(prefix="hlocb-")
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        paths = {name: os.path.join(directory, name) for name in ("events", "report")}
        for name in self._sinks:
            if not name.startswith("tb:"):
                with contextlib.suppress(FileNotFoundError):
                    os.remove(name.removeprefix("trace:"))
        _jax.configure({**self._settings, "events": [paths["events"], *self._sinks], "report": paths["report"]})
        for name, path in paths.items():
            self._files[name] = (stack.enter_context(open(path, "rb")), [])
        stack.callback(self._poll)
        if self._show:
            stack.callback(self._watch())
        stack.callback(_jax.configure, None)  # it waits for the runs
        stack.enter_context(_jax.compiled_apart(f"{os.getpid()}.{next(_numbers)}"))
        stack.enter_context(jax.default_device(device))
        cached = jax.config.jax_enable_compilation_cache
        jax.config.update("jax_enable_compilation_cache", False)
        stack.callback(jax.config.update, "jax_enable_compilation_cache", cached)

    def __exit__(self, kind, error, trace) -> None:
        stack, self._stack = self._stack, None
        if kind is None:
            import jax

            with contextlib.suppress(Exception):  # the program's own error arrives at its own line
                jax.effects_barrier()
        stack.close()
        idle = [m["text"] for m in self._messages if m["kind"] == "idle"]
        for m in self._messages:
            if m["kind"] not in ("nan", "idle"):
                warnings.warn("hlocb: " + m["text"], stacklevel=2)
        if idle and kind is None:
            raise Error("; ".join(idle))

    @property
    def events(self) -> Events:
        """The events so far, in the order in which they happened. After the with statement they are complete."""
        self._poll()
        with self._read:
            return Events(self._events)

    def _poll(self) -> list[Event]:
        """Reads what the engine has written since the last call."""
        with self._read:
            new = [_events.parse(line) for line in self._lines("events")]
            self._events += new
            self._messages += [json.loads(_cells.shown(line.decode())) for line in self._lines("report")]
            return new

    def _lines(self, name: str) -> list[bytes]:
        file, rest = self._files.get(name, (None, []))
        if file is None or file.closed:
            return []
        *lines, last = b"".join([*rest, file.read()]).split(b"\n")
        rest[:] = [last]
        return lines

    def _watch(self) -> Callable[[], None]:
        """Shows events while they arrive, until the returned function is called."""
        show = self._show if callable(self._show) else _print
        progress = _Progress() if self._show == "progress" else None
        stop = threading.Event()

        def work():
            shown = 0
            while True:
                last = stop.wait(0.05)
                self._poll()
                with self._read:
                    new, shown = self._events[shown:], len(self._events)
                if progress:
                    progress.update(shown, new[-1] if new else None, last)
                else:
                    for e in new:
                        show(e)
                if last:
                    return

        thread = threading.Thread(target=work, name="hlocb", daemon=True)
        thread.start()

        def end():
            stop.set()
            thread.join()

        return end

    def __repr__(self) -> str:
        return repr(self.events)

    def _repr_html_(self) -> str:
        return self.events._repr_html_()


def _print(e: Event) -> None:
    print(e, flush=True)


class _Progress:
    """A line on standard error that is written again five times a second: the time, the events, the last event."""

    def __init__(self):
        self._start = time.monotonic()
        self._next, self._length, self._event = 0.0, 0, ""

    def update(self, events: int, event: Event | None, last: bool) -> None:
        seconds = time.monotonic() - self._start
        if event:
            self._event = f", run {event.run}: {event.hook}: {_events._short(event.value) if event.values else event.value}"
        if seconds < self._next and not last:
            return
        self._next = seconds + 0.2
        line = f"hlocb: {seconds:.1f} s, {events} event{'s' * (events != 1)}{self._event}"[:110].partition("\n")[0]
        sys.stderr.write("\r" + line.ljust(self._length) + "\n" * last)
        sys.stderr.flush()
        self._length = len(line)


def tap(
    *places: str,
    stats: bool = False,
    every: int = 1,
    first: int = 0,
    show: bool | str | Callable[[Event], None] = False,
    strict: bool = False,
    passes: str = "",
    events: str | os.PathLike | Sequence[str | os.PathLike] = (),
) -> Tap:
    """Looks into JAX code, which stays as it is.

        with hlocb.tap("train.py:10", every=100) as t:
            for batch in data:
                params = step(params, batch)
        t.events.pandas()

    Functions that are compiled in the with statement run on hlocb's engine, on the machine's CPU. Arrays that are not
    committed to a device move there by themselves. A tap is also a decorator.

    Args:
      *places: regular expressions that select values: "train.py:10" selects the operations of a line, "tanh" those of a
        name, "In[2]:10" those of a line of a notebook's cell, "." all. They match against name, operation, function and
        location.
      stats: compute count, min, max, mean, NaN and infinities where the value is, instead of copying it. Use it for
        large arrays.
      every: look only at every Nth execution of a value.
      first: look at no more than this many executions of a value; 0 means all.
      show: print each event while the code runs, or call this function with it (in another thread). "progress" shows
        one line instead, with the time, the number of events and the last event.
      strict: a failing tap is an exception where JAX waits for the value.
      passes: a pipeline of hlocb's passes that changes each program first, such as "canonicalize,cse".
      events: files that get the events, too: "run.parquet", "tb:DIRECTORY" for TensorBoard, "trace:FILE" for Perfetto, or
        another file for lines of JSON.

    Raises:
      Error: a place is no regular expression, JAX is missing or too old, or hlocb has no engine on this platform. At the
        end of the with statement: a place selects no value of the programs that were compiled.
    """
    kind = "=stats" if stats else ""
    if not places:
        raise Error("tap needs a place: hlocb.tap('train.py:10'), or '.' for every value")
    if isinstance(show, str) and show != "progress":
        raise Error(f'show={show!r}: expected True, False, "progress" or a function')
    return Tap({"taps": [_cells.pattern(p) + kind for p in places], "every": 0 if every == 1 else every, "first": first, "strict": strict, "passes": passes}, show, _paths(events))


def _paths(events) -> list[str]:
    return [os.path.abspath(e) if isinstance(e, os.PathLike) else e for e in ([events] if isinstance(events, (str, os.PathLike)) else events)]


@dataclasses.dataclass(frozen=True)
class NaN:
    """Where a NaN comes from."""

    place: str  #: "train.py:10:11 loss": file, line, column and function of the user's source
    op: str  #: the operation, such as "stablehlo.log"; "" if an argument of the program holds the NaN
    value: str  #: the value's name
    holds: str  #: "nan" or "inf"
    step: int  #: the run of its program, from 1
    device: int
    constant: bool  #: the NaN is a literal of the program
    iterations: tuple[tuple[str, int], ...]  #: the loops around the operation, the innermost first: place and iteration, from 1
    text: str  #: all of it in a line

    def __str__(self) -> str:
        return self.text


def bisect_nan(f: Callable, *args, inf: bool = False, **kwargs) -> NaN | None:
    """Calls f, which runs JAX, and finds the first operation whose result has a NaN while its operands have none.

    It returns None if there is no NaN. With inf, infinite elements count, too.

    Raises:
      Error: as tap.
    """
    t = Tap({"bisect_nan": True, "inf": inf}, False)
    with t:
        import jax

        with contextlib.suppress(FloatingPointError):
            jax.block_until_ready(f(*args, **kwargs))
    for m in t._messages:
        if n := m.get("nan"):
            loops = tuple((a["place"], a["iteration"]) for a in n.get("around", ()) if a.get("iteration"))
            return NaN(n["place"], n["op"], n["value"], n["holds"], n["step"], n["device"], n["constant"], loops, m["text"])
    return None
