"""hlocb.tap and hlocb.bisect_nan beside JAX's own client."""

import json
import re
import threading
import time

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="skip: no JAX")
jnp = jax.numpy

import hlocb  # noqa: E402


@jax.jit
def step(w, x):
    y = jnp.tanh(x @ w)  # the tapped line
    return w - 0.1 * y.sum(), y.mean()


LINE = f"test_tap.py:{step.__wrapped__.__code__.co_firstlineno + 2}:"


def values():
    return jnp.ones(3), jnp.arange(12.0).reshape(4, 3) / 12


def test_values_are_jax_s():
    w, x = values()
    want = []
    for _ in range(3):
        want.append(np.tanh(np.asarray(x @ w)))
        w, _ = step(w, x)
    w, x = values()
    with hlocb.tap("tanh") as t:
        for _ in range(3):
            w, mean = step(w, x)
    assert [e.hook for e in t.events] == ["tanh"] * 3
    for event, expected in zip(t.events, want):
        np.testing.assert_allclose(event.value, expected, rtol=1e-6)
        assert event.place.startswith(LINE) and event.place.endswith(" step")
    np.testing.assert_allclose(mean, want[-1].mean(), rtol=1e-6)
    assert "tanh at " + LINE in repr(t.events) and "<table>" in t._repr_html_()


def test_results_go_on_elsewhere():
    """What a tapped step returns is an argument of JAX's own client afterwards, and of the next tap."""
    w, x = values()
    with hlocb.tap(LINE) as t:
        w, _ = step(w, x)
    inside = len(t.events)
    _, mean = step(w, x)
    assert len(t.events) == inside == 2  # the product and tanh
    with hlocb.tap("tanh") as t:
        step(w, x)
    assert len(t.events) == 1
    np.testing.assert_allclose(t.events[0].value.mean(), mean, rtol=1e-6)


def test_statistics_and_samples():
    w, x = values()
    with hlocb.tap("tanh", stats=True, every=2) as t:
        for _ in range(4):
            w, mean = step(w, x)
    assert len(t.events) == 2
    s = t.events[0].statistics
    assert (s.count, s.nan, s.inf, s.type) == (4, 0, 0, "tensor<4xf32>")
    row = t.events.rows()[0]
    assert row["shape"] == (4,) and row["dtype"] == "f32" and row["mean"] == s.mean
    with hlocb.tap("tanh", first=1) as t:
        for _ in range(4):
            step(w, x)
    assert len(t.events) == 1


def test_show_and_events_while_it_runs():
    w, x = values()
    shown, arrived = [], threading.Event()

    def show(event):
        shown.append(event.hook)
        arrived.set()

    with hlocb.tap("tanh", show=show) as t:
        jax.block_until_ready(step(w, x))
        assert arrived.wait(30)
        assert len(t.events) == 1
        step(w, x)
    assert shown == ["tanh", "tanh"]


def test_progress_is_one_line(capfd):
    w, x = values()
    with hlocb.tap("tanh", show="progress"):
        w, _ = step(w, x)
        jax.block_until_ready(w)
        time.sleep(0.5)
        during = capfd.readouterr().err
        step(w, x)
    out, after = capfd.readouterr()
    assert out == "" and during.count("\r") >= 2 and "\n" not in during
    assert re.search(r"\rhlocb: \d\.\d s, 1 event, run 1: tanh: float32\[4\] \[", during), during
    assert re.search(r"\rhlocb: \d\.\d s, 2 events, run 2: tanh: float32\[4\] \[.*\n$", after), after
    with pytest.raises(hlocb.Error, match='show=\'line\': expected True, False, "progress" or a function'):
        hlocb.tap("tanh", show="line")


def test_callbacks_work_inside():
    got = []

    @jax.jit
    def f(x):
        jax.debug.callback(got.append, x, ordered=True)
        return jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x) * 2

    with hlocb.tap("multiply") as t:
        y = f(jnp.float32(1))
    np.testing.assert_allclose(y, 2 * np.sin(np.float32(1)), rtol=1e-6)
    (multiply,) = t.events.at("multiply")
    np.testing.assert_array_equal(multiply.value, y)
    assert len(t.events) == 3  # callbacks are hooks, too
    np.testing.assert_array_equal(got, [1])


def test_decorator_transformations_and_loops():
    t = hlocb.tap("sine")

    @t
    def f():
        return jax.grad(lambda x: jax.lax.scan(lambda c, _: (jnp.sin(c), None), x, None, length=3)[0])(1.0)

    f()
    assert len(t.events) >= 3


def test_types():
    with hlocb.tap("add") as t:
        for dtype in ("bfloat16", "float16", "int8", "uint32", "bool", "complex64"):
            x = jnp.ones(2, dtype)
            jax.jit(lambda x: jnp.logical_or(x, x) if x.dtype == bool else x + x)(x)
    assert [str(e.value.dtype) for e in t.events] == ["bfloat16", "float16", "int8", "uint32", "complex64"]
    with hlocb.tap("log") as t:
        jax.jit(lambda x: jnp.log(x))(jnp.array([-1.0, 0.0, 1.0]))
    row = t.events.rows()[0]
    assert (row["nan"], row["inf"], row["max"]) == (1, 1, 0.0)


def test_frames_of_other_libraries():
    w, x = values()
    with hlocb.tap("tanh|reduce") as t:
        step(w, x)
    pandas = pytest.importorskip("pandas", reason="skip: no pandas")
    frame = t.events.pandas()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == len(t.events.rows()) == 3
    pytest.importorskip("pyarrow", reason="skip: no pyarrow")
    table = t.events.arrow()
    assert table.num_rows == 3 and len(table["value"][0].as_py()) == 4


def test_files_get_the_events_too(tmp_path):
    w, x = values()
    table, board, trace = tmp_path / "x.parquet", tmp_path / "tb", tmp_path / "t.json"
    for _ in range(2):  # the second tap writes new files
        with hlocb.tap("tanh|reduce", events=[table, f"tb:{board}", f"trace:{trace}"]) as t:
            step(w, x)
    assert len(t.events) > 0 and any(board.iterdir())
    assert len([e for e in json.loads(trace.read_text()) if e["ph"] == "X"]) == len(t.events)
    pandas = pytest.importorskip("pandas", reason="skip: no pandas")
    assert sorted(pandas.read_parquet(table).seq) == sorted(r["seq"] for r in t.events.rows())


def test_bisect_nan_finds_the_line_and_iteration():
    @jax.jit
    def f(x):
        return jax.lax.fori_loop(0, 5, lambda i, c: c + jnp.log(2.0 - i), x)  # log(-1) in iteration 4

    found = hlocb.bisect_nan(f, 1.0)
    assert found.op == "stablehlo.log" and found.holds == "nan" and found.step == 1
    assert re.search(r"test_tap.py:\d+:\d+ ", found.place) and found.iterations[0][1] == 4
    assert str(found.step) in str(found)
    assert hlocb.bisect_nan(jax.jit(lambda x: x + 1), 1.0) is None
    assert hlocb.bisect_nan(lambda: jnp.log(jnp.zeros(2)), inf=True).holds == "inf"


def test_bisect_nan_finds_what_jax_finds():
    def f(x):
        return jnp.sqrt(x) * 0 + jnp.log(x - 2) + x

    with jax.debug_nans(True), pytest.raises(FloatingPointError, match="in log"):
        jax.jit(f)(1.0)
    assert hlocb.bisect_nan(jax.jit(f), 1.0).op == "stablehlo.log"
    with jax.debug_nans(True):
        jax.jit(f)(3.0)
    assert hlocb.bisect_nan(jax.jit(f), 3.0) is None


def test_exceptions_leave_jax_as_it_was():
    w, x = values()
    with pytest.raises(ZeroDivisionError):
        with hlocb.tap("tanh"):
            step(w, x)
            1 / 0
    with hlocb.tap("tanh") as t:
        step(w, x)
    assert len(t.events) == 1 and jax.config.jax_enable_compilation_cache


def test_mistakes_are_sentences():
    w, x = values()
    with pytest.raises(hlocb.Error, match=r"tap \(: .*missing closing \)"):
        with hlocb.tap("("):
            pass
    with pytest.raises(hlocb.Error, match="tap needs a place"):
        hlocb.tap()
    with pytest.raises(hlocb.Error, match="taps do not nest"):
        with hlocb.tap("tanh"), hlocb.tap("tanh"):
            pass
    with pytest.raises(hlocb.Error, match="passes: "):
        with hlocb.tap("tanh", passes="canonicalise"):
            pass
    with pytest.raises(hlocb.Error, match="^tap cosine matches no value; tap sine matches no value$"):
        with hlocb.tap("cosine", "tanh", "sine") as t:
            step(w, x)
    assert len(t.events) == 1
    with pytest.raises(ZeroDivisionError):  # the program's own exception is worth more
        with hlocb.tap("cosine"):
            step(w, x)
            1 / 0
