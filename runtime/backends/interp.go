package backends

import (
	"context"

	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/runtime"
)

// openInterp makes the embedded engine, which every build has.
func openInterp(_ context.Context, opts Options) (runtime.Backend, error) {
	return interp.New(opts.Engine), nil
}
