//go:build cgo

package goxla

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gomlx/go-xla/pjrt"

	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/interpose"
	"github.com/hlocb/hlocb/tensor"
)

// hookProgram returns a program with a hook of a kind between two other ops.
func hookProgram(kind, operands, types, results string) string {
	call := fmt.Sprintf(`stablehlo.custom_call @hlocb_hook(%s) {api_version = 4 : i32, has_side_effect = true, %s
  backend_config = {abi = 1 : i64, id = 7 : i64, name = "host", kind = "%s", chained = false}} : (%s) -> %s`,
		operands, map[bool]string{true: "output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>],"}[kind == "inout"],
		kind, types, results)
	value := "%y"
	if results != "()" {
		call, value = "%z = "+call, "%z"
	}
	return `func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = stablehlo.multiply %x, %x : tensor<3xf32>
  ` + call + `
  %r = stablehlo.add ` + value + `, %x : tensor<3xf32>
  return %r : tensor<3xf32>
}`
}

// TestInterposedProgram runs a program of go-xla with a hook of each kind and a tap, whose handlers are Go functions.
func TestInterposedProgram(t *testing.T) {
	path := cpuPluginPath(t)
	var mu sync.Mutex
	var seen []string
	var failure error
	var b runtime.Bindings
	b.Observe("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		mu.Lock()
		defer mu.Unlock()
		line := c.Site.Name + " " + c.Site.Kind.String()
		for _, o := range c.Operands {
			line += fmt.Sprint(" ", tensor.View[float32](o))
		}
		seen = append(seen, line)
		return failure
	}))
	b.Answer("host", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		for i := range c.Results {
			out := tensor.View[float32](c.Results[i])
			for k := range out {
				out[k] = 10 * float32(k)
			}
		}
		return nil
	}))
	var warnings strings.Builder
	i, err := interpose.New(interpose.Config{Taps: []string{"stablehlo.add=print"}}, interpose.Host{Out: io.Discard, Err: &warnings, Handlers: &b})
	if err != nil {
		t.Fatal(err)
	}
	p, err := InterposedPlugin("hlocb-interposed", path, i)
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.NewClient(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Destroy()
	const v = "tensor<3xf32>"
	for _, test := range []struct{ name, program, result, events string }{
		{"tap", hookProgram("tap", "%y", v, "()"), "[2 6 12]", "host tap [1 4 9], r tap [2 6 12]"},
		{"inout", hookProgram("inout", "%y", v, v), "[1 12 23]", "host inout [1 4 9], r tap [1 12 23]"},
		{"call", hookProgram("call", "%y", v, v), "[1 12 23]", "host call [1 4 9], r tap [1 12 23]"},
		{"feed", hookProgram("feed", "", "", v), "[1 12 23]", "host feed, r tap [1 12 23]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, err := c.Compile().WithStableHLO([]byte(test.program)).Done()
			if err != nil {
				t.Fatal(err)
			}
			defer e.Destroy()
			for range 3 {
				seen = nil
				got, err := execute(t, c, e, 0, 1, 2, 3)
				if err != nil || fmt.Sprint(got) != test.result {
					t.Errorf("result is %v, %v, expected %s", got, err, test.result)
				}
				if events := strings.Join(seen, ", "); events != test.events {
					t.Errorf("events are %s, expected %s", events, test.events)
				}
			}
		})
	}
	t.Run("failure", func(t *testing.T) {
		failure = errors.New("boom")
		defer func() { failure = nil }()
		e, err := c.Compile().WithStableHLO([]byte(hookProgram("tap", "%y", v, "()"))).Done()
		if err != nil {
			t.Fatal(err)
		}
		defer e.Destroy()
		if _, err := execute(t, c, e, 0, 1, 2, 3); err == nil || !strings.Contains(err.Error(), "boom") {
			t.Errorf("the run gave %v, expected the handler's error", err)
		}
	})
	t.Run("HLO", func(t *testing.T) {
		m, err := testkit.TryParse("program.mlir", []byte(hookProgram("call", "%y", v, v)))
		if err != nil {
			t.Fatal(err)
		}
		h, err := hlo.Export(m)
		if err != nil {
			t.Fatal(err)
		}
		proto, err := h.AppendProto(nil)
		if err != nil {
			t.Fatal(err)
		}
		e, err := c.Compile().WithHLO(proto).Done()
		if err != nil {
			t.Fatal(err)
		}
		defer e.Destroy()
		seen = nil
		got, err := execute(t, c, e, 0, 1, 2, 3)
		if err != nil || fmt.Sprint(got) != "[1 12 23]" {
			t.Errorf("result is %v, %v", got, err)
		}
		if events := strings.Join(seen, ", "); events != "host call [1 4 9], add.1 tap [1 12 23]" {
			t.Errorf("events are %s", events)
		}
	})
	t.Run("many", func(t *testing.T) { runConcurrently(t, c) })
	if !strings.Contains(warnings.String(), "boom") || strings.Contains(warnings.String(), "warning") {
		t.Errorf("warnings: %s", warnings.String())
	}
}

// runConcurrently runs two executables of equal programs from several goroutines.
func runConcurrently(t *testing.T, c *pjrt.Client) {
	var group sync.WaitGroup
	for range 2 {
		e, err := c.Compile().WithStableHLO([]byte(hookProgram("call", "%y", "tensor<3xf32>", "tensor<3xf32>"))).Done()
		if err != nil {
			t.Fatal(err)
		}
		defer e.Destroy()
		for range 4 {
			group.Go(func() {
				for range 100 {
					if got, err := execute(t, c, e, 0, 1, 2, 3); err != nil || fmt.Sprint(got) != "[1 12 23]" {
						t.Errorf("result is %v, %v", got, err)
						return
					}
				}
			})
		}
		defer group.Wait()
	}
}

// TestInterposedVersions runs a tapped program on plugins whose tables are longer and shorter than the one that this
// package knows.
func TestInterposedVersions(t *testing.T) {
	t.Setenv("VARIANT_OF", cpuPluginPath(t))
	for _, kind := range []string{"newer", "older"} {
		variant := filepath.Join(t.TempDir(), kind+".so")
		if out, err := peer.Command("cc", "-shared", "-fPIC", "-o", variant, "../../internal/endtoend/testdata/traps/variant.c", "-ldl").CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
			t.Skip("skip: no C compiler")
		} else if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		t.Setenv("VARIANT", kind)
		var events, warnings strings.Builder
		i, err := interpose.New(interpose.Config{Taps: []string{"stablehlo.multiply=stats", "multiply=stat"}}, interpose.Host{Out: &events, Err: &warnings})
		if err != nil {
			t.Fatal(err)
		}
		p, err := InterposedPlugin("hlocb-"+kind, variant, i)
		if err != nil {
			t.Fatal(err)
		}
		c, err := p.NewClient(nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Destroy()
		e, err := c.Compile().WithStableHLO([]byte(hookProgram("tap", "%y", "tensor<3xf32>", "()"))).Done()
		if err != nil {
			t.Fatal(err)
		}
		defer e.Destroy()
		got, err := execute(t, c, e, 0, 1, 2, 3)
		i.Flush()
		if err != nil || fmt.Sprint(got) != "[2 6 12]" || !strings.Contains(events.String(), "max 9") ||
			warnings.String() != "hlocb: warning: tap multiply=stat matches no value\n" {
			t.Errorf("%s: result %v, %v, events %q, warnings %q", kind, got, err, events.String(), warnings.String())
		}
	}
}
