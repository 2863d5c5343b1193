package golden

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/randprog"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
)

// rewrites are the ways in which Hooks rewrites modules.
var rewrites = map[string]passes.RewriteHooks{
	"ffi":      {},
	"token":    {Chain: hook.ChainToken},
	"source":   {Order: hook.OrderSource},
	"none":     {Order: hook.OrderNone, Alias: hook.AliasNone},
	"once":     {PerDevice: hook.PerDeviceOnce, Alias: hook.AliasFree},
	"each":     {PerDevice: hook.PerDeviceEach},
	"exla":     {To: "exla"},
	"exla-io":  {To: "exla-io"},
	"jax":      {To: "jax"},
	"sendrecv": {To: "sendrecv"},
	"outfeed":  {To: "outfeed"},
	"strip":    {To: "strip", Default: "zeros"},
}

// Hooks compares the results of rewriting the hooks of all modules in testdata, and of random programs, with their
// fingerprints in testdata/fingerprints/hooks.txt: the module, the manifest and the origins, or the error. The packages
// that do the work test themselves with it.
func Hooks(t *testing.T) {
	Fingerprints(t, testkit.Testdata("fingerprints", "hooks.txt"), func(add func(name, text string)) {
		sources := testkit.Sources(t)
		for seed := range uint64(60) {
			p := randprog.New(seed, randprog.Options{Form: randprog.Form(seed % uint64(randprog.NumForms))})
			sources = append(sources, testkit.Source{Name: fmt.Sprint("random/", seed), Text: p.Text()})
			if seed%4 == 0 {
				p = randprog.New(seed+1000, randprog.Options{Form: p.Form, Depth: 2})
				sources = append(sources, testkit.Source{Name: fmt.Sprint("sharded/", seed), Text: p.Sharded(4)})
			}
		}
		for s, m := range testkit.Valid(sources) {
			for _, name := range sorted(rewrites) {
				p := rewrites[name]
				p.Targets = []string{randprog.TargetName, "host", "probe", "probe_cb", "my_hook", "hook", "report", "ask"}
				add(s.Name+"/"+name, rewritten(m.Clone(), p))
			}
		}
	})
}

// rewritten returns what the rewrite of a module yields.
func rewritten(m *ir.Module, p passes.RewriteHooks) string {
	r, err := passes.Rewrite(context.Background(), m, p)
	if err != nil {
		return err.Error()
	}
	about, err := json.MarshalIndent(map[string]any{"manifest": r.Manifest, "origins": r.Origins, "aliases": r.Aliases}, "", " ")
	if err != nil {
		return err.Error()
	}
	return print.String(m, print.Options{}) + string(about)
}
