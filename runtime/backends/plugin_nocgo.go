//go:build !cgo

package backends

import (
	"errors"

	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/plugins"
)

const havePlugins = false

func openPlugins(string, []plugins.Plugin, Options) (runtime.Backend, error) {
	return nil, errors.New("plugins need cgo, and this build has none")
}

// ReportCrashes does nothing without cgo.
func ReportCrashes() {}

// TryRegistration needs cgo.
func TryRegistration(string, string, bool) error {
	return errors.New("plugins need cgo, and this build has none")
}

// LoadHandler needs cgo.
func LoadHandler(string, string) (runtime.Handler, error) {
	return nil, &HandlerError{errors.New("handlers in shared libraries need cgo, and this build has none")}
}
