package passes

import (
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// StableHLOLegalizeToVHLO converts StableHLO to the newest VHLO, the form that portable artifacts store.
type StableHLOLegalizeToVHLO struct {
	OtherDialects bool `pass:"allow-other-dialects" doc:"keep operations, types and attributes of other dialects"`
}

func (StableHLOLegalizeToVHLO) Info() *pass.Info {
	return &pass.Info{
		Name: "stablehlo-legalize-to-vhlo",
		Doc:  "Converts StableHLO to the newest VHLO. Operations of other dialects are errors unless allow-other-dialects keeps them.",
	}
}

func (p StableHLOLegalizeToVHLO) Run(_ *pass.Context, m *ir.Module) error {
	return downgrade(m, vhlo.Options{Target: vhlo.Current, KeepOthers: p.OtherDialects})
}

func downgrade(m *ir.Module, o vhlo.Options) error {
	out, err := vhlo.Downgrade(m, o)
	if err != nil {
		return err
	}
	replaceModule(m, out)
	return nil
}

// replaceModule replaces the body, attributes, location and resources of m by those of from, which is empty afterwards.
func replaceModule(m, from *ir.Module) {
	old, op := m.Body(), from.Op()
	m.Op().Region(0).TakeBlocks(op.Region(0))
	old.Erase()
	m.Op().SetAttrs(op.Attrs())
	m.Op().SetLoc(op.Loc())
	m.SetResources(from.Resources())
}
