package ops

import (
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/plan"
)

// planCustomCall compiles custom_call (spec, "custom_call") by its target. Targets that annotate (shardings,
// placements) return their operands. Of the other targets, the engine supports only those implemented here.
func (h *Host) planCustomCall(p *plan.Planner, s *plan.Spec) (exec.Runner, error) {
	target := plan.StringAttr(s.Op, stablehlo.AttrCallTargetName)
	switch target {
	case hook.Target:
		return h.planOwnCall(p, s)
	case stablehlo.TargetShapeAssertion:
		return planShapeAssertion(s)
	case "SPMDFullToShardShape":
		return planFullToShard(p, s)
	case "SPMDShardToFullShape":
		return planShardToFull(p, s)
	case "Sharding", "annotate_device_placement", "LayoutConstraint", "xla.sdy.FuncResultSharding":
		if len(s.In) == len(s.Out) {
			return plan.PlanForward(p, s)
		}
	}
	if ctl := h.planWritten(p, s, nil); ctl != nil {
		return ctl, nil
	}
	if len(s.In) > 0 {
		if c, ok := checkTarget(target, s.In[0]); ok {
			return planExpect(s, c)
		}
	}
	if h.Targets != nil {
		if plan, err := h.Targets(target); err != nil {
			return nil, err
		} else if plan != nil {
			return plan(p, s)
		}
	}
	return nil, &PluginError{target}
}
