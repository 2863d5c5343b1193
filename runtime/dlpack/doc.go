// Package dlpack hands the operands and results of a hook to other array libraries in the same process (numpy, PyTorch, JAX, ONNX
// Runtime, ...) without a copy, by DLPack: a small C struct that says where the elements are and what they are.
//
//	func handle(ctx context.Context, c *runtime.Call) error {
//		m, err := dlpack.Export(c.Operands[0], dlpack.Options{})
//		if err != nil {
//			return err
//		}
//		C.consume(m.Pointer()) // a DLManagedTensor *
//		return m.Close()       // fails where the consumer still holds it
//	}
//
// It needs cgo; without it the package is empty.
package dlpack
