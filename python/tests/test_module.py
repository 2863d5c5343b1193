"""hlocb.run, compare, hooks, opt and module."""

import html
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import hlocb

TEXT = """\
module @jit_f {
  func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.tanh %x : tensor<2xf32> loc("f.py":3:7)
    %1 = stablehlo.add %0, %0 : tensor<2xf32> loc("f.py":4:7)
    return %1 : tensor<2xf32>
  }
}
"""


def jax():
    return pytest.importorskip("jax", reason="skip: no JAX")


def test_text_and_file(tmp_path):
    r = hlocb.run(TEXT, np.array([0.5, 1.0]), tap="tanh")
    np.testing.assert_allclose(r.results[0], 2 * np.tanh([0.5, 1.0]), rtol=1e-6)
    (event,) = r.events
    assert event.place == "f.py:3:7" and event.hook == "tanh_0"
    np.testing.assert_allclose(event.value, np.tanh([0.5, 1.0]), rtol=1e-6)
    path = tmp_path / "f.mlir"
    path.write_text(TEXT)
    for x in (path, str(path), path.read_bytes()):
        np.testing.assert_array_equal(hlocb.run(x, np.array([0.5, 1.0], "f")).results[0], r.results[0])
    assert hlocb.module(path).text == TEXT
    page, shown = hlocb.module(path).page(), hlocb.module(path)._repr_html_()
    assert page.lstrip().lower().startswith("<!doctype html>") and "stablehlo.tanh" in page
    assert shown.startswith("<iframe sandbox=") and html.unescape(shown.split('srcdoc="')[1].rsplit('"', 1)[0]) == page


def test_text_in_one_line(tmp_path, monkeypatch):
    """A str is text if it has a brace or a line break, and no file has its name."""
    line = "module { func.func @main() -> tensor<i32> { %0 = stablehlo.constant dense<7> : tensor<i32> return %0 : tensor<i32> } }"
    assert hlocb.run(line).results == [7]
    assert hlocb.module(line).text == line
    with pytest.raises(hlocb.Error, match=r"^module:1:\d+: error: "):
        hlocb.run("module { func.func @main( }")
    monkeypatch.chdir(tmp_path)
    for name in ("{a}.mlir", "a\nb.mlir", "a"):  # names that could be text
        (tmp_path / name).write_text(line)
        assert hlocb.run(name).results == [7]
    for name in ("b", "func.mlir", "module", ""):
        with pytest.raises(hlocb.Error, match=f"^{name}: (No such file|Is a directory)"):
            hlocb.module(name)


def test_functions_have_jax_s_results():
    jnp = jax().numpy

    def f(params, x, unused=None):
        return {"y": params["w"] @ x, "z": (x.astype("bfloat16") * 2, params["n"] + 1)}

    args = {"w": jnp.arange(6.0).reshape(2, 3), "n": jnp.int32(3)}, jnp.arange(3.0)
    want, got = f(*args), hlocb.run(f, *args).results
    assert jax().tree.structure(want) == jax().tree.structure(got)
    for a, b in zip(jax().tree.leaves(want), jax().tree.leaves(got)):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(np.asarray(a), b)
    lowered = jax().jit(lambda x, y: x * 2).lower(1.0, jnp.ones(3))  # JAX drops y
    np.testing.assert_array_equal(hlocb.run(lowered, 4.0, np.ones(3)).results, 8)
    exported = jax().export.export(jax().jit(jnp.sin))(jnp.float32(1)) if hasattr(jax(), "export") else None
    if exported:
        np.testing.assert_allclose(hlocb.run(exported, np.float32(1)).results[0], np.sin(1), rtol=1e-6)


def test_hooks_and_passes():
    def f(x):
        jax().debug.print("{}", x, ordered=True)
        return x + 0

    hooks = hlocb.hooks(f, 1.0)
    assert [(h.kind, h.operands, h.ordered) for h in hooks] == [("tap", ("tensor<f32>",), True)]
    assert "test_module.py" in hooks[0].name and "tap" in repr(hooks)
    assert "stablehlo.add" not in hlocb.opt(lambda x: x + 0 * x, "func.func(stablehlo-aggressive-simplification)", np.int32(1)).text
    assert not hlocb.hooks(TEXT) and repr(hlocb.hooks(TEXT)) == "no hooks"


def test_compare():
    jnp = jax().numpy
    f, x = lambda x: jnp.exp(x).sum(), jnp.linspace(0, 1, 64)
    assert hlocb.compare(f, f, x)
    half = hlocb.compare(f, lambda x: jnp.exp(x.astype("bfloat16")).astype("float32").sum(), x)
    assert not half and "result 0 tensor<f32>: 1 of 1 elements differ" in str(half)
    assert hlocb.compare(f, lambda x: jnp.exp(x.astype("bfloat16")).astype("float32").sum(), x, tolerance="rel:0.01")


def test_passes_keep_jax_s_results():
    jnp = jax().numpy
    f, x = lambda x: jnp.tanh(x) * 2 + jnp.tanh(x), jnp.linspace(-2, 2, 9)
    m = hlocb.opt(f, "canonicalize,cse,dce", x)
    assert m.text.count("stablehlo.tanh") == 1
    np.testing.assert_allclose(hlocb.run(m, x).results[0], f(x), rtol=1e-6)


def test_a_comparison_measures_jax_s_difference():
    jnp = jax().numpy
    f, g, x = lambda x: x / 3, lambda x: (x.astype("bfloat16") / 3).astype("float32"), jnp.linspace(1, 2, 50)
    difference = np.abs(np.asarray(f(x)) - np.asarray(g(x)))
    (run,) = hlocb.compare(f, g, x).report["runs"]
    (result,) = run["results"]
    assert result["different"] == np.count_nonzero(difference)
    np.testing.assert_allclose(result["max_abs"], difference.max(), rtol=1e-5)


def test_hooks_get_what_jax_s_callbacks_get():
    got = []

    def f(x):
        jax().debug.callback(lambda v: got.append(np.asarray(v)), x * 2, ordered=True)
        return x + 1

    x = jax().numpy.arange(3.0)
    jax().jit(f)(x)
    jax().effects_barrier()
    r = hlocb.run(f, x)
    (hook,), (event,) = hlocb.hooks(f, x), r.events
    assert event.hook == hook.name
    np.testing.assert_array_equal(event.value, got[0])
    np.testing.assert_array_equal(r.results, x + 1)


def test_mistakes_are_sentences(tmp_path):
    with pytest.raises(hlocb.Error, match=r"f.mlir: No such file"):
        hlocb.module(tmp_path / "f.mlir")
    with pytest.raises(hlocb.Error, match=r"expected a function.*not int"):
        hlocb.module(3)
    with pytest.raises(hlocb.Error, match=r"^module:2:1: error: "):
        hlocb.run("modul {\n}")
    with pytest.raises(hlocb.Error, match="argument"):
        hlocb.run(TEXT)
    with pytest.raises(hlocb.Error, match="unknown pass"):
        hlocb.opt(TEXT, "canonicalise")

    def broken(x):
        return jax().numpy.sin(x) + "a"  # the second line

    line = broken.__code__.co_firstlineno + 1
    with pytest.raises(hlocb.Error, match=rf"^JAX cannot lower broken at test_module.py:{line}: "):
        hlocb.run(broken, 1.0)
    with pytest.raises(hlocb.Error, match=rf"^JAX cannot lower <lambda> at test_module.py:{line}: "):
        hlocb.hooks(lambda x: broken(x) * 2, 1.0)


def test_the_command_and_a_plain_import():
    assert subprocess.run([sys.executable, "-m", "hlocb", "version"], capture_output=True, text=True, check=True).stdout.startswith("hlocb v")
    assert pathlib.Path(hlocb.find_bin()).exists()
    code = "import sys, hlocb; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
