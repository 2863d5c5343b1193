package order

import (
	"context"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/ir"
)

// LostError says that HLO would not keep the order of the hooks of the module that it was written for. It wraps one
// diagnostic about the text of that module.
type LostError struct{ at *diag.Diagnostic }

func (e *LostError) Error() string { return e.at.Error() }

// Unwrap returns the diagnostic.
func (e *LostError) Unwrap() error { return e.at }

// ProveHLO proves the order of hooks once more on HLO that was written for m, as others will read it: program order if
// it is proven in m, else the order of the chains in m. If h does not keep the order, the error is a *LostError.
func ProveHLO(ctx context.Context, m *ir.Module, h *hlo.Module) error {
	if !Orders(m) {
		return nil
	}
	program := Prove(ctx, m) == nil
	again, err := hlo.Import(h, m.Context())
	switch {
	case err != nil:
	case program:
		err = Prove(ctx, again)
	default:
		edges, _ := chainsOf(m, true)
		got, ops := chainsOf(again, true)
		err = Source{edges}.keptBy(ctx, again, got, ops)
	}
	if err := ctx.Err(); err != nil { // an interrupted proof says nothing
		return err
	}
	if err == nil {
		return nil
	}
	at := diag.Errorf(m.Source(), 0, "%v", err)
	if list := diag.ListOf(err); len(list) > 0 {
		*at = *list[0]
	}
	at.Message = "HLO would not keep the order of the hooks: " + at.Message
	return &LostError{at}
}
