// Package algebra computes kernels of linear algebra: factorizations, triangular solves and Fourier transforms.
package algebra
