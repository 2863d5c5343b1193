"""Events: what a tap or a hook delivered."""

from __future__ import annotations

import dataclasses
import html
import json
import re
from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from hlocb import _cells

# NumPy's types by the names of element types in events (docs/events.md). The others come from ml_dtypes, if installed.
_TYPES = {
    "i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "ui8": "uint8", "ui16": "uint16",
    "ui32": "uint32", "ui64": "uint64", "f16": "float16", "f32": "float32", "f64": "float64",
    "complex<f32>": "complex64", "complex<f64>": "complex128",
}
_ML_TYPES = {"bf16": "bfloat16", "i2": "int2", "i4": "int4", "ui2": "uint2", "ui4": "uint4", "tf32": "float32"}


def _dtype(name: str) -> np.dtype:
    if name in _TYPES:
        return np.dtype(_TYPES[name])
    try:
        import ml_dtypes
    except ImportError:
        return np.dtype("float64")  # holds each of these types' values
    other = _ML_TYPES.get(name) or re.sub("^f(?=[0-9])", "float", name).lower().replace("float8e", "float8_e").replace("float6e", "float6_e").replace("float4e", "float4_e")
    return np.dtype(getattr(ml_dtypes, other, "float64"))


def _array(value: dict[str, Any]) -> np.ndarray:
    dtype = _dtype(value["dtype"])
    data = value["data"]
    if dtype.kind == "c":
        data = [complex(float(re), float(im)) for re, im in data]
    elif dtype.kind not in "iub":
        data = [float(x) for x in data]  # nan and inf are strings
    return np.array(data, dtype).reshape(value["shape"])


@dataclasses.dataclass(frozen=True)
class Statistics:
    """The statistics of a value, computed where the value is (the probe "stats")."""

    type: str  #: of the value, such as "tensor<4x3xf32>"
    count: int  #: elements
    min: float  #: of the elements that are not NaN
    max: float
    mean: float
    nan: int  #: elements that are NaN
    inf: int  #: elements that are infinite

    def __str__(self) -> str:
        return f"{self.type}: count {self.count} min {self.min:g} max {self.max:g} mean {self.mean:g} nan {self.nan} inf {self.inf}"


@dataclasses.dataclass(frozen=True)
class Event:
    """One execution of a tap or a hook."""

    hook: str  #: its name
    place: str  #: "train.py:10:11 step": file, line, column and function of the user's source, or ""
    run: int  #: of its program, from 1
    seq: int  #: its position in the run, from 0
    device: int
    kind: str  #: "tap", "inout", "call" or "feed"
    id: str
    values: tuple[np.ndarray, ...]  #: the operands
    statistics: Statistics | None  #: of a probe "stats", whose values are ()

    @property
    def value(self) -> np.ndarray | Statistics | None:
        """The first operand, or the statistics; None for a hook without operands."""
        if self.statistics:
            return self.statistics
        return self.values[0] if self.values else None

    def __str__(self) -> str:
        where = f" at {self.place}" if self.place else ""
        return f"#{self.seq} {self.hook}{where}: " + (str(self.statistics) if self.statistics else ", ".join(map(_short, self.values)))


def _short(a: np.ndarray) -> str:
    if a.ndim == 0:
        return str(a)
    return f"{a.dtype}{list(a.shape)} " + np.array2string(a, threshold=8, edgeitems=2, precision=6).replace("\n", "")


def _place(event: dict[str, Any]) -> str:
    name = _cells.shown(event.get("place", "")).replace("\\", "/").rpartition("/")[2]
    return name + (f" {event['function']}" if name and "function" in event else "")


def parse(line: str | bytes) -> Event:
    """Reads a line of the file that --events names (docs/events.md)."""
    e = json.loads(line)
    values, statistics = tuple(map(_array, e["operands"])), None
    if e.get("probe") == "stats" and "of" in e:
        low, high, total, nan, inf = map(float, values[0])
        sizes = re.match(r"tensor<((?:\d+x)*)", e["of"])
        count = int(np.prod([int(n) for n in sizes[1].split("x") if n], dtype=np.int64)) if sizes else 0
        valid = count - int(nan)
        statistics = Statistics(e["of"], count, low, high, total / valid if valid else float("nan"), int(nan), int(inf))
        values = ()
    return Event(e["hook"], _place(e), e["run"], e["seq"], e["device"], e["kind"], e["id"], values, statistics)


class Events(Sequence):
    """Events in the order in which they happened. rows, pandas and arrow hold one row for each operand of each event."""

    def __init__(self, events: Sequence[Event] = ()):
        self._events = list(events)

    @overload
    def __getitem__(self, i: int) -> Event: ...
    @overload
    def __getitem__(self, i: slice) -> Events: ...
    def __getitem__(self, i):
        return Events(self._events[i]) if isinstance(i, slice) else self._events[i]

    def __len__(self) -> int:
        return len(self._events)

    def __repr__(self) -> str:
        lines = [str(e) for e in self._events[:20]]
        if len(self) > 20:
            lines.append(f"... {len(self) - 20} more events")
        return "\n".join(lines) or "no events"

    def at(self, text: str) -> Events:
        """Returns the events whose name or place contains text, such as "train.py:10:"."""
        return Events([e for e in self._events if text in e.hook or text in e.place])

    def rows(self) -> list[dict[str, Any]]:
        """Returns one dictionary for each operand of each event.

        A scalar is the column value. An array, and a probe "stats", fill min, max, mean, nan and inf; an array is also
        the column value.
        """
        return [row for e in self._events for row in _rows(e)]

    def pandas(self):
        """Returns rows as a pandas.DataFrame. It needs pandas."""
        import pandas

        return pandas.DataFrame(self.rows(), columns=_COLUMNS)

    def arrow(self):
        """Returns rows as a pyarrow.Table, arrays as lists of their elements in row-major order. It needs pyarrow."""
        import pyarrow

        rows = self.rows()
        columns = {name: [row[name] for row in rows] for name in _COLUMNS}
        columns["value"] = [None if v is None else np.ravel(v).astype(float).tolist() for v in columns["value"]]
        return pyarrow.table(columns)

    def _repr_html_(self) -> str:
        rows = self.rows()
        head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(_cell(row[n]))}</td>" for n in _COLUMNS) + "</tr>" for row in rows[:200])
        more = f"<p>{len(rows) - 200} more rows</p>" if len(rows) > 200 else ""
        return f"<table><tr>{head}</tr>{body}</table>{more}"


_COLUMNS = ["run", "seq", "device", "hook", "place", "operand", "dtype", "shape", "value", "min", "max", "mean", "nan", "inf"]


def _cell(v: Any) -> str:
    if isinstance(v, np.ndarray):
        return _short(v)
    return "" if v is None else f"{v:.6g}" if isinstance(v, float) else str(v)


def _rows(e: Event):
    common = {"run": e.run, "seq": e.seq, "device": e.device, "hook": e.hook, "place": e.place}
    if s := e.statistics:
        shape, _, dtype = s.type.removeprefix("tensor<").removesuffix(">").rpartition("x")
        yield {**common, "operand": 0, "dtype": dtype, "shape": tuple(int(n) for n in shape.split("x") if n), "value": None,
               "min": s.min, "max": s.max, "mean": s.mean, "nan": s.nan, "inf": s.inf}
        return
    for i, v in enumerate(e.values):
        row = {**common, "operand": i, "dtype": str(v.dtype), "shape": v.shape, "value": v.item() if v.ndim == 0 else v,
               "min": None, "max": None, "mean": None, "nan": None, "inf": None}
        if v.dtype.kind != "c" and v.size:
            x = v.astype(np.float64)
            valid = x[~np.isnan(x)]
            row |= {"nan": int(x.size - valid.size), "inf": int(np.isinf(x).sum())}
            if valid.size:
                row |= {"min": float(valid.min()), "max": float(valid.max()), "mean": float(valid.mean())}
        yield row
