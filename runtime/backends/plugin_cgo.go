//go:build cgo

package backends

import (
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/pjrt"
	"github.com/hlocb/hlocb/runtime/plugins"
)

const havePlugins = true

// openPlugins opens the first plugin that can be used. One that the user chose is the only one in the list.
func openPlugins(name string, found []plugins.Plugin, opts Options) (runtime.Backend, error) {
	failed := &OpenError{Name: name}
	for _, p := range found {
		b, err := pjrt.Open(p.Path, pjrt.Options{Name: name, Devices: opts.Devices})
		if err == nil {
			return b, nil
		}
		failed.Tried = append(failed.Tried, Tried{p, err})
	}
	return nil, failed
}
