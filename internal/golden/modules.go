package golden

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hlocb/hlocb/internal/randprog"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// Modules compares the events and results of the modules of testdata that have hooks or several devices with their
// fingerprints in testdata/fingerprints/modules.txt. The engine runs each module as it is and with its hooks in each
// format that it runs. The packages of the engine test themselves with it.
func Modules(t *testing.T) {
	Fingerprints(t, testkit.Testdata("fingerprints", "modules.txt"), func(add func(name, text string)) {
		sources := slices.DeleteFunc(testkit.Sources(t), func(s testkit.Source) bool {
			if strings.HasPrefix(s.Name, "order/big") || strings.HasPrefix(s.Name, "cli/limits") {
				return true // they need long or much
			}
			return strings.HasPrefix(s.Name, "programs/") || strings.HasPrefix(s.Name, "ops/") || len(s.Text) > 10_000
		})
		for seed := range uint64(10) {
			p := randprog.New(seed, randprog.Options{Form: randprog.Form(seed % uint64(randprog.NumForms))})
			sources = append(sources, testkit.Source{Name: fmt.Sprint("random/", seed), Text: p.Text()},
				testkit.Source{Name: fmt.Sprint("sharded/", seed), Text: p.Sharded(4)})
		}
		for s, m := range testkit.Valid(sources) {
			add(s.Name, rounded(events(m.Clone(), nil)))
			for _, to := range []string{"ffi", "sendrecv", "outfeed", "jax"} {
				p := rewrites[to]
				p.Targets = []string{randprog.TargetName, "host", "probe", "probe_cb", "my_hook", "hook", "report", "ask"}
				add(s.Name+"/"+to, rounded(events(m.Clone(), &p)))
			}
		}
	})
}

// machine matches the facts in a plan that depend on the number of cores.
var machine = regexp.MustCompile(`(?m), threads \d+|, \d+ bytes of scratch|^ *memory: .*\n|^ *the most at .*\n`)

var errEndless = errors.New("more than 200 calls of hooks")

// events rewrites the hooks of m, if p is not nil, runs m on the engine and returns its plan, the calls of its hooks,
// device by device, and its results or the error.
func events(m *ir.Module, p *passes.RewriteHooks) string {
	var plan strings.Builder
	program := &runtime.Program{Module: m}
	if p != nil {
		r, err := passes.Rewrite(context.Background(), m, *p)
		if err != nil {
			return err.Error()
		}
		program.Manifest = r.Manifest
	}
	var mu sync.Mutex // guards seen
	seen := map[int][]string{}
	var h runtime.Bindings
	h.Answer("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		text := fmt.Sprintf("%d %d %d %s %s", c.Device, c.Replica, c.Partition, c.Site.Kind, c.Site.Name)
		for _, v := range c.Operands {
			text += " " + string(v.AppendLiteral(nil, 50))
		}
		mu.Lock()
		seen[c.Device] = append(seen[c.Device], text+"\n")
		n := len(seen[c.Device])
		mu.Unlock()
		if n > 200 {
			return errEndless
		}
		for i, v := range c.Results {
			fill(v, n+i)
		}
		return nil
	}))
	exe, err := interp.New(interp.Options{Plan: &plan, MemoryLimit: 1 << 26}).Compile(context.Background(), program, runtime.CompileOptions{Handlers: &h, Timeout: 5 * time.Second})
	if err != nil {
		return err.Error()
	}
	defer exe.Close()
	var args []*tensor.Tensor
	for i, a := range exe.Signature().Arguments {
		args = append(args, argument(a.Type, i))
	}
	results, err := exe.Run(context.Background(), args)
	if errors.Is(err, errEndless) {
		return errEndless.Error()
	}
	var out strings.Builder
	out.WriteString(machine.ReplaceAllString(plan.String(), ""))
	if err != nil {
		return out.String() + fmt.Sprintf("error: %v\n", err) // how far the other devices came is chance
	}
	for d := range len(seen) {
		out.WriteString(strings.Join(seen[d], ""))
	}
	for i, r := range results {
		if r.DType() == tensor.Invalid {
			fmt.Fprintf(&out, "%d: no tensor\n", i)
			continue
		}
		fmt.Fprintf(&out, "%d: %s\n", i, r.AppendLiteral(nil, 200))
	}
	return out.String()
}
