// Package tensor holds the values that compiled programs compute with: element types, shapes, and dense
// arrays in row-major order.
//
// A Tensor's payload is one contiguous byte slice with typed views over it (View), so that an engine works on
// typed slices, a plugin borrows the same memory, and nothing is boxed per element. Element types narrower
// than a byte (i1, i2, i4, f4E2M1FN, ...) take one byte per element here; packing is the business of whoever
// needs it. The package imports nothing of this module.
package tensor
