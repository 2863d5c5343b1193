package lapack

import (
	"fmt"

	"github.com/hlocb/hlocb/tensor"
)

// sparseTarget is jaxlib's product of a sparse matrix in CSR form and a dense matrix or vector, as
// jax.experimental.sparse calls it. All its values are in row-major order.
const sparseTarget = "cpu_csr_sparse_dense_ffi"

// sparseDense computes a sparse product. The operands are the sparse elements, the first element of each row, the
// column of each element, and the dense matrix.
func sparseDense(_ Order, in, out []*tensor.Tensor) error {
	if len(in) != 4 || len(out) != 1 {
		return fmt.Errorf("%d operands and %d results given, expected 4 and 1", len(in), len(out))
	}
	data, starts, columns, dense, result := in[0], in[1], in[2], in[3], out[0]
	rank := len(dense.Shape())
	t := data.DType()
	if len(data.Shape()) != 1 || len(starts.Shape()) != 1 || len(columns.Shape()) != 1 || rank < 1 || rank > 2 || len(result.Shape()) != rank ||
		starts.NumElements() != int(result.Shape()[0])+1 || columns.NumElements() != data.NumElements() || rank == 2 && dense.Shape()[1] != result.Shape()[1] ||
		!starts.DType().IsInteger() || !columns.DType().IsInteger() || dense.DType() != t || result.DType() != t {
		return fmt.Errorf("the operands %v, %v, %v and %v do not fit the result %v", data.Shape(), starts.Shape(), columns.Shape(), dense.Shape(), result.Shape())
	}
	width := 1
	if rank == 2 {
		width = int(result.Shape()[1])
	}
	for row := range int(result.Shape()[0]) {
		first, end := starts.IntAt(row), starts.IntAt(row+1)
		if first < 0 || first > end || end > int64(data.NumElements()) {
			return fmt.Errorf("row %d has the elements %d to %d of %d", row, first, end, data.NumElements())
		}
		for k := first; k < end; k++ {
			if c := columns.IntAt(int(k)); c < 0 || c >= dense.Shape()[0] {
				return fmt.Errorf("element %d is in column %d of %d", k, c, dense.Shape()[0])
			}
		}
		for j := range width {
			at := func(k int64) int { return int(columns.IntAt(int(k)))*width + j }
			switch {
			case t.IsComplex():
				var sum complex128
				for k := first; k < end; k++ {
					sum += data.ComplexAt(int(k)) * dense.ComplexAt(at(k))
				}
				result.SetComplex(row*width+j, sum)
			case t.IsFloat():
				var sum float64
				for k := first; k < end; k++ {
					sum += data.FloatAt(int(k)) * dense.FloatAt(at(k))
				}
				result.SetFloat(row*width+j, sum)
			default:
				var sum int64
				for k := first; k < end; k++ {
					sum += data.IntAt(int(k)) * dense.IntAt(at(k))
				}
				result.SetBits(row*width+j, uint64(sum))
			}
		}
	}
	return nil
}
