"""settings.py LIBRARY PLUGIN: a program that configures the interposer itself, before it imports JAX."""
import os, sys

os.environ.update({"PJRT_NAMES_AND_LIBRARY_PATHS": "xcpu:" + sys.argv[1], "JAX_PLATFORMS": "xcpu,cpu", "HLOCB_PLUGIN": sys.argv[2], "HLOCB_TAP": "tanh"})
import jax, jax.numpy as jnp

jax.jit(jnp.tanh)(0.0)
