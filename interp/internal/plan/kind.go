package plan

import (
	"github.com/hlocb/hlocb/ir"
)

// OpKind returns the row that identifies an op to kernels. An MHLO op that mirrors a StableHLO op has the StableHLO
// op's row.
func OpKind(o *ir.Op) *ir.Def { return o.Def().Original() }
