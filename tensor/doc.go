// Package tensor implements the values of compiled programs: element types, shapes, and dense arrays in row-major
// order.
//
// The payload of a Tensor is one contiguous byte slice with typed views (View). Engines work on typed slices, plugins
// borrow the same memory, and no element is boxed. Element types narrower than a byte (i1, i2, i4, f4E2M1FN, ...) take
// one byte per element; packing is left to the code that needs it. The package imports no other package of this module.
package tensor
