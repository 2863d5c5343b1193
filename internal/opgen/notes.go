package opgen

const intro = `# Numerics

How far the embedded engine and XLA's CPU plugin are apart, measured by ` + "`go run ./internal/numerics -o docs/numerics.md`" + `
(%d values per program of a wide type, seed %d; all values, or all pairs of values, of types of up to 8 bits, and all values of
16-bit types for ops of one operand).

Entries are the largest distance in units in the last place (ULPs); of complex numbers, the distance over the unit of the
larger modulus. nN counts results that are infinite or NaN on one side only, zN zeros of different sign. Entries
with a star exceed what two good implementations differ by (0 where IEEE 754 or the specification gives the result; else 1 for narrow
types and bf16, 2 for f16, 4 for the others) and are explained below. NaNs are not told apart.

XLA's CPU code runs with denormals off: operands and results below the smallest normal number of bf16, f32 and f64 are zero.
The embedded engine follows the specification and keeps them. Elements with a denormal operand or result are not
counted.

`

const outro = ""

// Notes explains, op by op, what lies above the bounds.
func Notes() []Note { return nil }
