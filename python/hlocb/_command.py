"""The command hlocb and its libraries."""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

try:
    version = importlib.metadata.version("hlocb")
except importlib.metadata.PackageNotFoundError:
    version = "devel"  # a checkout


ENGINE = "libhlocb_engine.so"


class Error(Exception):
    """What hlocb cannot do, and why. The message names the place in the program if there is one."""


def find_bin() -> str:
    """Returns the path of the command hlocb: HLOCB_BIN, the one of this package, or the first on the PATH.

    Raises:
      Error: there is none.
    """
    if path := os.environ.get("HLOCB_BIN"):
        return path
    scripts = [sysconfig.get_path("scripts")]
    if scheme := sysconfig.get_preferred_scheme("user"):
        scripts.append(sysconfig.get_path("scripts", scheme))
    scripts.append(str(pathlib.Path(__file__).parents[1] / "bin"))  # pip install --target
    for directory in scripts:
        path = os.path.join(directory, "hlocb.exe" if sys.platform == "win32" else "hlocb")
        if os.access(path, os.X_OK):
            return path
    if path := shutil.which("hlocb"):
        return path
    raise Error("the command hlocb is not installed; set HLOCB_BIN to its path, or install the package with pip")


def engine_path() -> str:
    """Returns the path of libhlocb_engine.so, the engine as a PJRT plugin.

    Raises:
      Error: the package of this platform has none.
    """
    directory = pathlib.Path(find_bin()).resolve().parent
    for place in (directory.parent / "lib" / "hlocb", directory):
        path = place / ENGINE
        if path.exists():
            return str(path)
    raise Error(
        f"hlocb has no engine library on this platform ({sysconfig.get_platform()}), so it cannot tap JAX in this process; "
        "hlocb.run, hlocb.compare and the command work"
    )


def call(*args: str | os.PathLike, accept: tuple[int, ...] = (0,), stdin: bytes | None = None) -> tuple[int, bytes]:
    """Runs the command and returns its exit code and its standard output.

    Raises:
      Error: the exit code is not one to accept. The message is what the command says.
    """
    command = [find_bin(), *map(os.fspath, args)]
    try:
        result = subprocess.run(command, input=stdin, stdin=subprocess.DEVNULL if stdin is None else None, capture_output=True)
    except OSError as e:
        raise Error(f"{command[0]}: {e.strerror}; it should be the command hlocb") from None
    if result.returncode not in accept:
        text = result.stderr.decode(errors="replace").strip() or f"{command[0]} ended with exit code {result.returncode}"
        raise Error(text.removeprefix("error: "))
    return result.returncode, result.stdout
