"""Runs a program with callbacks enabled."""

import runpy
import sys

import hlocb_jax

if len(sys.argv) < 2:
    sys.exit("usage: python -m hlocb_jax PROGRAM [ARG...]")
del sys.argv[0]
sys.path[0] = sys.argv[0].rpartition("/")[0]
hlocb_jax.enable()
runpy.run_path(sys.argv[0], run_name="__main__")
