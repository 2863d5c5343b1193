// Package opgen generates programs of a few ops with random attributes, shapes, element types and arguments. It judges
// differences between the results of the engine and XLA. The ops' own rows infer the result types.
//
// The programs avoid cases in which XLA deviates from the specification, if no condition on the values of one element
// can describe the deviation (TestDeviations shows each):
//
//   - Update windows of scatter with more than one element stay inside the operand. XLA ignores the whole window
//     if it sticks out; the specification ignores only the part outside.
//   - In longer programs clamp has its bounds in order: XLA replaces clamp(a, x, b) with maximum(clamp(a, x, b), a).
//   - rng_bit_generator returns unsigned integers: XLA makes signed integers unsigned, and refuses the module.
//   - Loops add up f32, f64, complex numbers and integers: XLA keeps more digits of f16 and bf16 between iterations.
//   - Convolutions have no NaN. With three or more batch groups XLA multiplies elements outside a group by 0, and in f64
//     it does not multiply padding.
//   - Convolutions of f32 and narrower floats with a low padding below zero have no high padding above zero: XLA then
//     reads elements of the next batch element or row.
//   - Fresh memory is zero in the process of XLA: grouped convolutions of f16 read uninitialized memory.
//   - f6E2M3FN and f6E3M2FN are in no program. XLA had no such types until 2026, and cannot convert from them since.
package opgen
