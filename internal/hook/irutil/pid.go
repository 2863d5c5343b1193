package irutil

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/ir"
)

// AttrPID marks the argument of a raised module that holds the PID of EXLA's callback server.
const AttrPID = "hlocb.pid"

// PIDBytes is the size of a PID on the machines that EXLA runs on.
const PIDBytes = 8

// AddPID inserts the PID as argument 0 of f.
func AddPID(m *ir.Module, f fn.FuncOp, pid ir.Type) *ir.Value {
	args, results := f.ValueAttrs()
	mark := ir.NewDict(ir.AttrList{{Name: AttrPID, Attr: ir.NewUnit()}})
	t := f.Type()
	f.SetSignature(m.Context().Function(Prepend(pid, t.Inputs()), t.Results()), Prepend(mark, args), results)
	return f.Body().InsertArg(0, pid, f.Loc())
}

// PIDArg returns the argument of f that holds the PID, or nil.
func PIDArg(f fn.FuncOp) *ir.Value {
	for i := range f.Type().Inputs() {
		if f.ArgAttrs(i).Get(AttrPID) != nil {
			return f.Body().Arg(i)
		}
	}
	return nil
}
