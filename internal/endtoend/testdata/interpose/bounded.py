# A primitive whose value has a size that the program sets, up to a bound. JAX sees the value's sum only.
import jax
import jax.extend
import jax.numpy as jnp
from jax.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

first_sum = jax.extend.core.Primitive("first_sum")
first_sum.def_abstract_eval(lambda x, n: jax.core.ShapedArray((), x.dtype))


def lower(ctx, x, n):
    element = ir.RankedTensorType(x.type).element_type
    rows = ir.RankedTensorType(x.type).shape[0]
    bounded = ir.Type.parse(f"tensor<?x{element}, #stablehlo.bounds<{rows}>>")
    dimension = {"dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)}
    first = ir.Operation.create("stablehlo.set_dimension_size", [bounded], [x, n], dimension).result
    doubled = ir.Operation.create("stablehlo.add", [bounded], [first, first]).result
    zero = mlir.ir_constant(jnp.zeros((), ctx.avals_in[0].dtype).__array__())
    scalar = ir.RankedTensorType.get([], element)
    reduce = stablehlo.ReduceOp([scalar], [doubled], [zero], ir.DenseI64ArrayAttr.get([0]))
    block = reduce.regions[0].blocks.append(scalar, scalar)
    with ir.InsertionPoint(block):
        stablehlo.return_([stablehlo.add(*block.arguments)])
    return reduce.results


mlir.register_lowering(first_sum, lower)


@jax.jit
def f(x, n):
    return first_sum.bind(x, n)


for n in 3, 1, 5:
    print(f(jnp.arange(5.0) + 1, jnp.int32(n)))
