package interp

import (
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
)

// planCustomCall compiles custom_call (spec, "custom_call") by its target. Targets that annotate (shardings,
// placements) return their operands. Of the other targets, the engine supports only those implemented here.
func (h *host) planCustomCall(p *planner, s *spec) (control, error) {
	target := stringAttr(s.op, stablehlo.AttrCallTargetName)
	switch target {
	case hook.Target:
		return h.planOwnCall(p, s)
	case "SPMDFullToShardShape":
		return planFullToShard(p, s)
	case "SPMDShardToFullShape":
		return planShardToFull(p, s)
	case "Sharding", "annotate_device_placement", "LayoutConstraint", "xla.sdy.FuncResultSharding":
		if len(s.in) == len(s.out) {
			return planForward(p, s)
		}
	}
	if ctl := h.planWritten(p, s, nil); ctl != nil {
		return ctl, nil
	}
	if len(s.in) > 0 {
		if c, ok := checkTarget(target, s.in[0]); ok {
			return planExpect(s, c)
		}
	}
	return nil, &PluginError{target}
}
