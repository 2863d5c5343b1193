//go:build cgo

package goxla

import (
	"context"
	"fmt"
	"sync"

	"github.com/gomlx/go-xla/pjrt"

	"github.com/hlocb/hlocb/hook"
	hpjrt "github.com/hlocb/hlocb/runtime/pjrt"
)

// preloaded is the plugins that Plugin handed to go-xla, by the name it knows them by. go-xla's own registry
// belongs to the process as well and is not locked.
var preloaded struct {
	sync.Mutex
	byName map[string]*hpjrt.Plugin
}

// Plugin makes the plugin in a file known to go-xla under a name and returns go-xla's view of it. go-xla finds
// plugins only in its own places and by its own names; this hands it any that hlocb can load. It gives the
// same plugin when called again.
func Plugin(name, path string) (*pjrt.Plugin, error) {
	preloaded.Lock()
	defer preloaded.Unlock()
	p, err := hpjrt.Load(path)
	if err != nil {
		return nil, err
	}
	switch old := preloaded.byName[name]; {
	case old == nil:
		if err := pjrt.RegisterPreloadedPlugin(name, p.API()); err != nil {
			return nil, err
		}
		if preloaded.byName == nil {
			preloaded.byName = map[string]*hpjrt.Plugin{}
		}
		preloaded.byName[name] = p
	case old != p:
		return nil, fmt.Errorf("plugin %q of go-xla is %s already", name, old.Path())
	}
	return pjrt.GetPlugin(name)
}

// Attach binds the handlers of a program's hooks, which m lists, and makes hlocb's target known to the client's
// plugin. Attach before compiling: XLA refuses to compile a program that calls an unknown target.
//
// When an execution fails, the attachment's Err tells which hook failed and why, a *runtime.HookError; go-xla's
// error holds XLA's words for it.
func Attach(ctx context.Context, client *pjrt.Client, m *hook.Manifest, opts hpjrt.AttachOptions) (*hpjrt.Attachment, error) {
	p, err := pluginOf(client)
	if err != nil {
		return nil, err
	}
	if client.Platform() != "cpu" {
		return nil, &hpjrt.NoFFIError{Path: p.Path(), Reason: fmt.Sprintf("operands of hooks on platform %q are not in the host's memory", client.Platform())}
	}
	if err := p.RegisterHooks(client.Platform()); err != nil {
		return nil, err
	}
	if opts.Ordinals == 0 {
		opts.Ordinals = client.NumDevices()
	}
	return hpjrt.Attach(ctx, m, opts)
}

// pluginOf returns hlocb's view of the plugin that a client belongs to.
func pluginOf(client *pjrt.Client) (*hpjrt.Plugin, error) {
	p := client.Plugin()
	preloaded.Lock()
	defer preloaded.Unlock()
	if ours := preloaded.byName[p.Name()]; ours != nil {
		return ours, nil
	}
	// go-xla loaded the file itself. Loading it again gives the same function table.
	return hpjrt.Load(p.Path())
}
