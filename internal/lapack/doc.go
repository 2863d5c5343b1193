// Package lapack computes the LAPACK calls that JAX's CPU programs contain (jax.numpy.linalg, jax.scipy.linalg) with
// OpenBLAS, a shared library that is opened at run time, or for real types with Gonum.
package lapack
