# Users register their own handlers of XLA's FFI before and after the first program is compiled.
import ctypes
import os

import jax
import jax.numpy as jnp

library = ctypes.CDLL(os.environ["FFI_LIBRARY"])


def register(name, platform="cpu"):
    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(getattr(library, name)), platform=platform)


@jax.jit
def call(x):
    return jax.ffi.ffi_call("add_one", jax.ShapeDtypeStruct(x.shape, x.dtype))(x) * 2


register("add_one")
print(call(jnp.arange(3.0)))
register("add_ten")
print(jax.jit(lambda x: jax.ffi.ffi_call("add_ten", jax.ShapeDtypeStruct(x.shape, x.dtype))(x))(call(jnp.ones((2, 2)))))
register("add_index")
for aliases in {}, {0: 0}:
    for order in (0, 1), (1, 0):
        call = jax.ffi.ffi_call(
            "add_index",
            jax.ShapeDtypeStruct((2, 3), jnp.float32),
            input_layouts=[order],
            output_layouts=order,
            input_output_aliases=aliases,
        )
        print(jax.jit(lambda x: (call(x), x))(jnp.full((2, 3), 10.0)))
if os.environ.get("NEWEST"):
    register("newest", os.environ["NEWEST"])
    stages = {name: jax.ffi.pycapsule(library.add_one) for name in ("initialize", "execute")}
    jax.ffi.register_ffi_target("staged", stages, platform="cpu")
    for name in "newest", "staged":
        try:
            jax.ffi.ffi_call(name, jax.ShapeDtypeStruct((), jnp.float32))(jnp.float32(1)).block_until_ready()
            print(name, "ran")
        except jax.errors.JaxRuntimeError as error:
            print(name, str(error).partition("\n")[0].partition(":")[0])
