"""Each mistake of an installation or a program is one sentence, an hlocb.Error."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import hlocb

STEP = """
import hlocb
try:
    {}
except hlocb.Error as e:
    print(e)
"""


def message(code, **more):
    """Returns what an hlocb.Error says in a Python of its own."""
    r = subprocess.run([sys.executable, "-c", STEP.format(code)], env=os.environ | more, capture_output=True, text=True)
    assert r.returncode == 0 and r.stdout.count("\n") == 1, r.stdout + r.stderr
    return r.stdout


@pytest.fixture
def alone(tmp_path):
    """The command without libraries, as on a platform that has none."""
    (tmp_path / "bin").mkdir()
    return shutil.copy(hlocb.find_bin(), tmp_path / "bin")


@pytest.fixture
def old_jax(tmp_path):
    (tmp_path / "jax").mkdir()
    (tmp_path / "jax" / "__init__.py").write_text("__version__, __version_info__ = '0.4.30', (0, 4, 30)")
    return str(tmp_path)


def test_platform_without_libraries(alone):
    pytest.importorskip("jax", reason="skip: no JAX")
    for code in ("hlocb.engine_path()", "hlocb.tap('.').__enter__()", "hlocb.bisect_nan(abs, 1.0)"):
        assert message(code, HLOCB_BIN=str(alone)).startswith("hlocb has no engine library on this platform (")
    env = os.environ | {"HLOCB_BIN": str(alone), "JAX_PLATFORMS": "hlocb"}
    r = subprocess.run([sys.executable, "-c", "import jax; jax.devices()"], env=env, capture_output=True, text=True)
    last = r.stderr.strip().splitlines()[-1]
    assert r.returncode == 1 and "hlocb has no engine library on this platform" in last, r.stderr
    assert hlocb.run("func.func @main() {\n return\n}\n").results == []  # the command needs none


def test_old_and_missing_jax(old_jax):
    for code in ("hlocb.tap('.').__enter__()", "hlocb.bisect_nan(abs, 1.0)", "hlocb.run(abs, 1.0)", "hlocb.hooks(abs, 1.0)"):
        assert message(code, PYTHONPATH=old_jax) == "hlocb needs JAX 0.6 or newer, this is 0.4.30\n"
        missing = "import sys; sys.modules['jax'] = None; " + code
        assert message(missing) == "this function needs JAX: pip install jax\n"


def test_missing_command(tmp_path):
    none = str(tmp_path / "none")
    for code in ("hlocb.run('module {\\n}')", "hlocb.opt(b'module {}', 'cse')"):
        assert message(code, HLOCB_BIN=none) == f"{none}: No such file or directory; it should be the command hlocb\n"
    r = subprocess.run([sys.executable, "-m", "hlocb", "version"], env=os.environ | {"HLOCB_BIN": none}, capture_output=True, text=True)
    assert r.returncode == 1 and r.stderr == f"error: {none}: No such file or directory; it should be the command hlocb\n"
    moved = tmp_path / "moved"  # a copy of the package without its scripts
    shutil.copytree(pathlib.Path(hlocb.__file__).parent, moved / "hlocb")
    code = f"import sysconfig; sysconfig.get_path = lambda *_: {none!r}; hlocb.find_bin()"
    assert message(code, PYTHONPATH=str(moved), PATH=none).startswith("the command hlocb is not installed; ")


def test_functions_that_cannot_be_lowered():
    pytest.importorskip("jax", reason="skip: no JAX")
    code = "hlocb.{}(lambda x: x if x > 0 else -x, 1.0)"
    for name in ("run", "hooks", "module"):
        assert message(code.format(name)).startswith("JAX cannot lower <lambda>: Attempted boolean conversion of traced array")  # no file
    assert message("hlocb.compare(lambda x: x + 'a', abs, 1.0)").startswith("JAX cannot lower <lambda>: ")
