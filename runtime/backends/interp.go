package backends

import (
	"context"

	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/runtime"
)

// openInterp opens the embedded engine, which every build has.
func openInterp(_ context.Context, opts Options) (runtime.Backend, error) {
	engine := opts.Engine
	if engine.Targets == nil {
		engine.Targets = lapackTargets(opts.Plugins)
	}
	return interp.New(engine), nil
}
