// Package kernel has the functions of tensors that instructions execute. A kernel is made once, from the types of its
// operands and results and from the op's geometry. It reads and writes the typed payloads of tensors, without boxing
// elements, and splits large work over the cores. Kernels know no ops. Their comments cite the defining sections of the
// StableHLO specification.
package kernel
