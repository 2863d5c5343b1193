// Package dlpack passes the operands and results of a hook to other array libraries in the same process (numpy,
// PyTorch, JAX, ONNX Runtime, ...) without a copy. It uses DLPack, a small C struct that describes a tensor in memory.
//
//	func handle(ctx context.Context, c *runtime.Call) error {
//		m, err := dlpack.Export(c.Operands[0], dlpack.Options{})
//		if err != nil {
//			return err
//		}
//		C.consume(m.Pointer()) // a DLManagedTensor *
//		return m.Close()       // fails if the consumer still holds it
//	}
//
// The package needs cgo; without it the package is empty.
package dlpack
