package passes

import (
	"errors"

	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// VHLOToVersion converts VHLO of any version to the form that one version of StableHLO reads.
type VHLOToVersion struct {
	Target string `pass:"target" doc:"a version of StableHLO, or current, WEEK_4, WEEK_12, MAX"`
}

func (VHLOToVersion) Info() *pass.Info {
	return &pass.Info{
		Name: "vhlo-to-version",
		Doc:  "Converts VHLO of any version to the form that one version of StableHLO reads. The error names the first operation that the version lacks.",
	}
}

func (p VHLOToVersion) Run(_ *pass.Context, m *ir.Module) error {
	if p.Target == "" {
		return errors.New("no target version: expected target=x.y.z")
	}
	v, err := vhlo.ParseVersion(p.Target)
	if err != nil {
		return err
	}
	if err := upgrade(m); err != nil {
		return err
	}
	return downgrade(m, vhlo.Options{Target: v, KeepOthers: true})
}
