package opgen_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/opgen"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/tensor"
)

// notCompared lists the ops that no test of this package runs on both XLA's CPU plugin and the engine, each with the
// reason.
var notCompared = map[string]string{
	"stablehlo.rng":                  "what it gives is not specified",
	"stablehlo.custom_call":          "calls something else; hooks are compared in internal/endtoend",
	"stablehlo.outfeed":              "hangs on the plugin, and is rewritten first: internal/endtoend",
	"stablehlo.infeed":               "hangs on the plugin, and is rewritten first: internal/endtoend",
	"stablehlo.send":                 "does not compile on the plugin, and is rewritten first: internal/endtoend",
	"stablehlo.recv":                 "does not compile on the plugin, and is rewritten first: internal/endtoend",
	"stablehlo.all_gather":           "needs several devices: TestRandomCollectives of internal/endtoend",
	"stablehlo.all_reduce":           "needs several devices: TestRandomCollectives of internal/endtoend",
	"stablehlo.all_to_all":           "needs several devices: TestRandomCollectives of internal/endtoend",
	"stablehlo.reduce_scatter":       "needs several devices: TestRandomCollectives of internal/endtoend",
	"stablehlo.collective_permute":   "needs several devices: TestRandomCollectives of internal/endtoend",
	"stablehlo.collective_broadcast": "does not compile on the plugin",
	"stablehlo.collective_reduce":    "newer than the plugin, which does not know its name",
	"stablehlo.async_start":          "the plugin does not know the type of futures: TestRefused",
	"stablehlo.async_done":           "the plugin does not know the type of futures: TestRefused",
	"stablehlo.unary_einsum":         "the plugin does not translate it: TestRefused",
	"stablehlo.dynamic_conv":         "the plugin does not translate it: TestRefused",
	"stablehlo.uniform_quantize":     "the plugin does not translate it: TestRefused",
	"stablehlo.uniform_dequantize":   "the plugin does not translate it: TestRefused",
	"chlo.ragged_dot":                "the plugin has no code for it: TestRefused",
	"chlo.scan":                      "newer than the plugin, which does not know its name: TestRefused",
}

// TestCoverage: every op of StableHLO and CHLO is in a random program or in a program of one element-wise op, or
// notCompared gives the reason. The programs use every type.
func TestCoverage(t *testing.T) {
	g, err := opgen.New(1)
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]map[tensor.DType]bool{}
	zeros, programs := 0, g.Elementwise(4)
	for range 6000 {
		p, err := g.Random()
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, p)
	}
	for _, p := range programs {
		if slices.ContainsFunc(p.Args, func(a *tensor.Tensor) bool { return a.NumElements() == 0 }) {
			zeros++
		}
		p.Run.Module.Walk(func(op *ir.Op) bool {
			name := op.Name()
			if types[name] == nil {
				types[name] = map[tensor.DType]bool{}
			}
			for _, v := range append(slices.Collect(values(op.Operands())), slices.Collect(values(op.Results()))...) {
				if ty, ok := v.Type().(*ir.TensorType); ok && ty.DType() != tensor.Invalid {
					types[name][ty.DType()] = true
				}
			}
			return true
		})
	}
	seen := map[tensor.DType]int{}
	for _, def := range append(stablehlo.Ops(), chlo.Ops()...) {
		have, reason := types[def.Name], notCompared[def.Name]
		switch {
		case have != nil && reason != "":
			t.Errorf("%s is in the programs, but listed as not compared: remove it from notCompared", def.Name)
		case have == nil && reason == "":
			t.Errorf("%s is in no program: add a maker to structural.go, or the reason to notCompared", def.Name)
		}
		var list []string
		for _, d := range opgen.Types() {
			if have[d] {
				list = append(list, d.String())
				seen[d]++
			}
		}
		if have != nil {
			t.Logf("%s: %s", def.Name, strings.Join(list, " "))
		}
	}
	for _, d := range opgen.Types() {
		if seen[d] < 20 {
			t.Errorf("only %d ops are tried on %s", seen[d], d)
		}
	}
	if zeros < 600 {
		t.Errorf("only %d of %d programs have arguments without elements", zeros, len(programs))
	}
}

func values(seq func(yield func(int, *ir.Value) bool)) func(yield func(*ir.Value) bool) {
	return func(yield func(*ir.Value) bool) {
		for _, v := range seq {
			if !yield(v) {
				return
			}
		}
	}
}

// TestRefused: XLA still refuses the ops that are listed as refused, and the engine executes them.
func TestRefused(t *testing.T) {
	engine, xla := engines(t)
	g, err := opgen.New(9)
	if err != nil {
		t.Fatal(err)
	}
	programs, err := g.Refused()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		if _, err := p.Outcome(context.Background(), xla); err == nil {
			t.Errorf("XLA executes %s\n%s", p.Op, print.String(p.Run.Module, print.Options{}))
		}
		if _, err := p.Outcome(context.Background(), engine); err != nil {
			t.Errorf("%v\n%s", err, print.String(p.Run.Module, print.Options{}))
		}
	}
}
