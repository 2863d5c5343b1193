// Package lapack computes the LAPACK calls that JAX's CPU programs contain (jax.numpy.linalg, jax.scipy.linalg) with
// OpenBLAS, a shared library opened at run time, or, for real types only, with Gonum. It also computes jaxlib's product
// of a sparse and a dense matrix.
package lapack
