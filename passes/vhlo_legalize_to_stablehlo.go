package passes

import (
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// VHLOLegalizeToStableHLO converts VHLO of any version to current StableHLO.
type VHLOLegalizeToStableHLO struct{}

func (VHLOLegalizeToStableHLO) Info() *pass.Info {
	return &pass.Info{
		Name: "vhlo-legalize-to-stablehlo",
		Doc:  "Converts VHLO of any version to current StableHLO. Attributes with their default value are left out.",
	}
}

func (VHLOLegalizeToStableHLO) Run(_ *pass.Context, m *ir.Module) error { return upgrade(m) }

func upgrade(m *ir.Module) error {
	out, err := vhlo.Upgrade(m)
	if err != nil {
		return err
	}
	replaceModule(m, out)
	return nil
}
