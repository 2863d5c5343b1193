package backends

import (
	"context"
	"errors"

	"github.com/hlocb/hlocb/runtime"
)

// errNoEngine says that this build has no embedded engine.
var errNoEngine = errors.New("this build has no embedded engine")

func openInterp(context.Context, Options) (runtime.Backend, error) { return nil, errNoEngine }
