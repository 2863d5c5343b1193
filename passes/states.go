package passes

import (
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// States of a module that the passes on hooks require.
var (
	// raisedHooks: every hook is an hlocb.hook op.
	raisedHooks = &pass.State{Name: "raised hooks", By: RaiseHooks{}, Check: func(m *ir.Module) error { return format.CheckRaised(m, format.RaiseOptions{}) }}
	// orderedHooks: the tokens are gone, and a chain orders the hooks. Check cannot detect a module that is not
	// ordered, because hooks without order have no chain.
	orderedHooks = &pass.State{Name: "ordered hooks", By: OrderHooks{}, Check: raisedHooks.Check}
	// placedHooks: the hooks of a partitioned module name the devices on which they fire.
	placedHooks = &pass.State{Name: "placed hooks", By: PlaceHooks{}}
	// loweredHooks: every hook is a call in hlocb's own form.
	loweredHooks = &pass.State{Name: "hooks in hlocb's own form", By: LowerHooks{}, Check: checkLowered}
)

func checkLowered(m *ir.Module) error {
	if hooks := hookop.HooksOf(m); len(hooks) > 0 {
		return m.Errorf(hooks[0].Op, "hook is raised, but not lowered")
	}
	return format.CheckOwn(m, format.RaiseOptions{})
}
