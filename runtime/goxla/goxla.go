//go:build cgo

package goxla

import (
	"context"
	"fmt"
	"sync"

	"github.com/gomlx/go-xla/pjrt"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime/interpose"
	hpjrt "github.com/hlocb/hlocb/runtime/pjrt"
)

// preloaded holds the plugins that Plugin registered with go-xla, by go-xla's name. go-xla's registry is global, too,
// and has no lock.
var preloaded struct {
	sync.Mutex
	byName map[string]*hpjrt.Plugin
}

// Plugin registers the plugin in a file with go-xla under a name and returns go-xla's view of it. go-xla itself finds
// plugins only in its own places and by its own names. A second call returns the same plugin.
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

// InterposedPlugin registers the plugin in a file with go-xla under a name, with i in between: i sees the programs that
// the client compiles and delivers their hooks. A name can be used once in a process.
func InterposedPlugin(name, path string, i *interpose.Interposer) (*pjrt.Plugin, error) {
	table, err := i.WrapPlugin(path)
	if err != nil {
		return nil, err
	}
	if err := pjrt.RegisterPreloadedPlugin(name, table); err != nil {
		return nil, err
	}
	return pjrt.GetPlugin(name)
}

// Attach binds the handlers of a program's hooks, which m lists, and registers hlocb's target with the client's plugin.
// Call it before compiling: XLA does not compile a program that calls an unknown target.
//
// If an execution fails, the attachment's Err returns the *runtime.HookError of the hook that failed; go-xla's error
// has only XLA's text.
func Attach(ctx context.Context, client *pjrt.Client, m *hook.Manifest, opts hpjrt.AttachOptions) (*hpjrt.Attachment, error) {
	p, err := pluginOf(client)
	if err != nil {
		return nil, err
	}
	if opts.Memory == nil {
		if opts.Memory, err = p.Memory(client.Platform()); err != nil {
			return nil, err
		}
	}
	if opts.Memory == nil {
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

// pluginOf returns hlocb's view of a client's plugin.
func pluginOf(client *pjrt.Client) (*hpjrt.Plugin, error) {
	p := client.Plugin()
	preloaded.Lock()
	defer preloaded.Unlock()
	if plugin := preloaded.byName[p.Name()]; plugin != nil {
		return plugin, nil
	}
	// go-xla loaded the file itself. Loading it again returns the same function table.
	return hpjrt.Load(p.Path())
}
