package passes

import (
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/pass"
)

// Builtin returns the passes of this package. They support the given hook formats in addition to hlocb's own.
func Builtin(formats ...*format.Format) *pass.Table {
	list := append(format.Builtin(), formats...)
	t, err := pass.NewTable(
		RewriteHooks{Formats: list},
		RaiseHooks{Formats: list},
		OrderHooks{},
		PlaceHooks{},
		AliasHooks{},
		ListHooks{},
		LowerHooks{Formats: list},
		CheckOrder{},
		MHLOToStableHLO{},
	)
	if err != nil {
		panic(err) // two of the passes above have the same name
	}
	return t
}
