package format

import (
	"strconv"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
)

// reactant is the format of Reactant.jl's callbacks into Julia. The pointer refers to the process that wrote the
// module. The values are column-major, as Julia's arrays are.
var reactant = &Format{
	Name:   "reactant",
	Doc:    "a custom call @reactant_julia_callback with the pointer of a Julia function",
	Reader: &Reader{Starts: []*ir.Def{stablehlo.CustomCall}, Read: readReactant},
}

func readReactant(r *Raiser, op *ir.Op) (bool, error) {
	if !irutil.IsTarget(op, "reactant_julia_callback") {
		return false, nil
	}
	pointer, ok := view.OptionalInt(irutil.Config(op).Get("callback_ptr"))
	if !ok {
		return false, r.Module.Errorf(op, "Julia callback has no callback_ptr in its backend_config")
	}
	s, err := r.anyCall(op)
	if err != nil {
		return false, err
	}
	n := irutil.DataLeaves(s.Results)
	s.Kind = callKind(len(s.Operands), n, s.SideEffect)
	if n > 0 && s.SideEffect && allAliased(s.Aliases) {
		s.Kind = hook.InOut
	}
	s.SourceID = "callback_ptr " + strconv.FormatUint(uint64(pointer), 10)
	r.Add(s)
	return true, nil
}
