// Package foreign lists the operations of MLIR's dialects cf, math and scf. hlocb knows their inherent attributes, so
// that it reads and writes them as bytecode, and keeps them otherwise as unknown operations.
package foreign

import "github.com/hlocb/hlocb/ir"

// Dialects returns the dialects.
func Dialects() []*ir.Dialect {
	return []*ir.Dialect{
		{Name: "cf", Foreign: ir.ForeignOps("cf", cf)},
		{Name: "math", Foreign: ir.ForeignOps("math", math)},
		{Name: "scf", Foreign: ir.ForeignOps("scf", scf)},
	}
}

const cf = `
assert msg
br
cond_br branch_weights? operands:3
switch case_operand_segments case_values? operands:3
`

const math = `
absf fastmath?
absi
acos fastmath?
acosh fastmath?
asin fastmath?
asinh fastmath?
atan fastmath?
atan2 fastmath?
atanh fastmath?
cbrt fastmath?
ceil fastmath?
clampf fastmath?
copysign fastmath?
cos fastmath?
cosh fastmath?
ctlz
ctpop
cttz
erf fastmath?
erfc fastmath?
exp fastmath?
exp2 fastmath?
expm1 fastmath?
floor fastmath?
fma fastmath? roundingmode?
fpowi fastmath?
ipowi
isfinite fastmath?
isinf fastmath?
isnan fastmath?
isnormal fastmath?
log fastmath?
log10 fastmath?
log1p fastmath?
log2 fastmath?
powf fastmath?
round fastmath?
roundeven fastmath?
rsqrt fastmath?
sin fastmath?
sincos fastmath?
sinh fastmath?
sqrt fastmath?
tan fastmath?
tanh fastmath?
trunc fastmath?
`

const scf = `
condition
execute_region no_inline?
for unsignedCmp?
forall mapping? staticLowerBound staticStep staticUpperBound operands:4
forall.in_parallel
if
index_switch cases
parallel operands:4
reduce
reduce.return
while
yield
`
