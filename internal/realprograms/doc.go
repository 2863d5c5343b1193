// Package realprograms runs programs that people write with JAX's libraries (flax, optax, equinox, diffrax, numpyro and
// others) and compares texts, results and callbacks with JAX's own. 'make test-real' makes the programs and runs its
// tests.
package realprograms
