package ops

import (
	"strings"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
)

// Knows reports whether the engine implements a custom call target or replaces its calls by ops, or a library of
// another device implements it.
func Knows(target string) bool {
	return legalize.KnowsCall(target) || builtinTarget(target) != nil || strings.HasPrefix(target, "check.") || (&PluginError{target}).Backend() != ""
}

// builtinTarget returns the function that compiles calls to a target that the engine implements, or nil. Annotations,
// such as shardings and placements, return their operands.
func builtinTarget(target string) func(*Host, *plan.Planner, *plan.Spec) exec.Runner {
	switch target {
	case hook.Target:
		return (*Host).planOwnCall
	case stablehlo.TargetShapeAssertion:
		return func(_ *Host, _ *plan.Planner, s *plan.Spec) exec.Runner { return planShapeAssertion(s) }
	case "SPMDFullToShardShape":
		return func(_ *Host, p *plan.Planner, s *plan.Spec) exec.Runner { return planFullToShard(p, s) }
	case "SPMDShardToFullShape":
		return func(_ *Host, p *plan.Planner, s *plan.Spec) exec.Runner { return planShardToFull(p, s) }
	case "Sharding", "LayoutConstraint", "xla.sdy.FuncResultSharding", stablehlo.TargetPlacement, stablehlo.TargetMoveToHost, stablehlo.TargetMoveToDevice:
		return func(_ *Host, p *plan.Planner, s *plan.Spec) exec.Runner {
			if len(s.In) != len(s.Out) {
				kernel.Fail(&PluginError{target})
			}
			return plan.PlanForward(p, s)
		}
	}
	return planFactor(target)
}

// planCustomCall compiles custom_call (spec, "custom_call") by its target: a target that the engine implements, a hook
// as the module writes it, a test's expectation, or a target of Host.Targets.
func (h *Host) planCustomCall(p *plan.Planner, s *plan.Spec) exec.Runner {
	target := plan.Attrs[struct {
		Name string `attr:"call_target_name"`
	}](s.Op).Name
	if builtin := builtinTarget(target); builtin != nil {
		return builtin(h, p, s)
	}
	if ctl := h.planWritten(p, s, nil); ctl != nil {
		return ctl
	}
	if len(s.In) > 0 {
		if c, ok := checkTarget(target, s.In[0]); ok {
			return planExpect(s, c)
		}
	}
	if h.Targets != nil {
		if plan := h.Targets(target, s.Op); plan != nil {
			return plan(p, s)
		}
	}
	panic(kernel.Failure{Err: &PluginError{target}})
}
