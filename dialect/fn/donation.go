package fn

import "github.com/hlocb/hlocb/ir"

// Attributes of arguments and results that JAX writes.
const (
	AttrAliasingOutput = "tf.aliasing_output"  // the result that gets the argument's memory
	AttrToken          = "jax.token"           // the argument or result is a token
	AttrBufferDonor    = "jax.buffer_donor"    // the argument's memory may be reused for any result
	AttrArgInfo        = "jax.arg_info"        // the argument's path in the user's arguments
	AttrGlobalConstant = "jax.global_constant" // on an argument: _platform_index, or the variable of a dimension
	AttrResultInfo     = "jax.result_info"     // the result's path in the user's results
)

// Donation reports whether the function donates the memory of argument i, and to which of its results: -1 if the
// compiler chooses one, or none.
func (f FuncOp) Donation(i int) (result int, donated bool) {
	d := f.ArgAttrs(i)
	if d == nil {
		return -1, false
	}
	if n, ok := d.Get(AttrAliasingOutput).(*ir.IntegerAttr); ok {
		return int(n.Value()), true
	}
	donor, ok := d.Get(AttrBufferDonor).(*ir.IntegerAttr)
	return -1, ok && donor.Value() != 0
}
