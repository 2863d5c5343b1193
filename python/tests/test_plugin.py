"""The engine as a platform of JAX, by the entry point of the installed package."""

import importlib.metadata
import os
import subprocess
import sys

import pytest

import hlocb

pytest.importorskip("jax", reason="skip: no JAX")

PROGRAM = """
import jax, jax.numpy as jnp
x = jax.jit(lambda x: jnp.linalg.cholesky(x @ x.T + 3 * jnp.eye(3)))(jnp.arange(9.0).reshape(3, 3))
jax.debug.print("{}", x.sum())
print(round(float(x.sum()), 3), "hlocb" in jax.devices()[0].client.platform_version)
"""


@pytest.fixture(scope="module", autouse=True)
def installed():
    try:
        importlib.metadata.version("hlocb")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("skip: hlocb is not installed, so JAX does not find it")


def run(*command, **more):
    env = {k: v for k, v in os.environ.items() if k != "JAX_PLATFORMS"} | more
    r = subprocess.run([*command, sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    return r.stdout, r.stderr


def test_jax_runs_on_the_engine_if_it_is_told_to():
    plain, _ = run()
    assert "False" in plain
    for platforms in ("hlocb", "hlocb,cpu"):
        out, err = run(JAX_PLATFORMS=platforms)
        assert out.split()[1:] == plain.replace("False", "True").split()[1:], out
        assert "experimental" not in err


def test_torch_xla_gets_the_engine_if_it_asks(tmp_path):
    """torch_xla loads the plugins of all packages, and asks one of them for its library. Here another module stands for it."""
    (tmp_path / "torch_xla" / "experimental").mkdir(parents=True)
    (tmp_path / "torch_xla" / "__init__.py").touch()
    (tmp_path / "torch_xla" / "experimental" / "plugins.py").write_text("class DevicePlugin: pass")
    code = """
import importlib.metadata, sys
(plugin,) = importlib.metadata.entry_points(group="torch_xla.plugins", name="hlocb")
p = plugin.load()()
assert "jax" not in sys.modules
print(p.library_path())
"""
    env = os.environ | {"PYTHONPATH": str(tmp_path)}
    r = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert r.stdout.strip() == hlocb.engine_path() and os.path.exists(hlocb.engine_path()), r.stderr


def test_exec_on_the_engine():
    """exec needs nothing of the program, and JAX prints nothing of its own; an engine that JAX finds is tapped once."""
    command = [hlocb.find_bin(), "exec", "--backend", "engine", "--tap", "^stablehlo.dot_general$"]
    out, err = run(*command)
    assert "True" in out and "experimental" not in err and err.count("(tap)") == 1, err
    del command[2:4]
    for platforms in ("hlocb", "hlocb,cpu"):
        out, err = run(*command, JAX_PLATFORMS=platforms)
        assert "True" in out and err.count("(tap)") == 1, err
