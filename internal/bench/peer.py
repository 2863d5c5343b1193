# The measurements of internal/bench in jaxlib: prints one JSON object, times in seconds.
import json, sys, time
import jaxlib
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir

module, rounds = sys.argv[1], int(sys.argv[2])
out = {"Version": jaxlib.__version__}


def best(f):
    shortest = 1e9
    for _ in range(rounds):
        t = time.perf_counter(); r = f(); shortest = min(shortest, time.perf_counter() - t)
    return shortest, r


if module:
    text = open(module).read()
    with jax_mlir.make_ir_context():
        out["Parse"], m = best(lambda: ir.Module.parse(text))
        out["Print"], s = best(lambda: str(m))
        out["Generic"], g = best(lambda: m.operation.get_asm(print_generic_op_form=True))
        out["PrintBytes"], out["GenBytes"] = len(s), len(g)

print(json.dumps(out))
