package interp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
)

// mainsScript compiles modules with XLA's CPU backend, one after the other, and executes them.
const mainsScript = `
import json, sys, numpy as np, jax
jax.config.update('jax_enable_x64', True)
from jaxlib import xla_client as xc
client = jax.devices('cpu')[0].client
devices = xc.DeviceList(tuple(jax.devices('cpu')))
for line in sys.stdin:
    try:
        exe = client.compile_and_load(json.loads(line).encode(), devices, xc.CompileOptions())
        out = []
        for x in exe.execute([]):
            x = np.asarray(x)
            if x.dtype.name in ('int4', 'uint4', 'int2', 'uint2'):
                x = x.astype(np.int8)
            out.append(x.tobytes().hex())
        print(json.dumps({'results': out}))
    except Exception as e:
        print(json.dumps({'error': str(e)[:300]}))
`

// withoutFolding returns the text of a module whose main computes on what @inputs gives, without expectations. XLA folds constants
// with other arithmetic than it executes, so a barrier hides them.
func withoutFolding(m *ir.Module) (string, error) {
	dropChecks(m)
	main, ok := fn.Lookup(m, "main")
	if !ok {
		return "", fmt.Errorf("no main")
	}
	for o := range main.Body().Ops() {
		if o.Name() != "func.call" || fn.Callee(o) != "inputs" || o.NumResults() == 0 {
			continue
		}
		var types []ir.Type
		var vals []*ir.Value
		for _, v := range o.Results() {
			types = append(types, v.Type())
			vals = append(vals, v)
		}
		barrier := m.After(o).Create(m.Def("stablehlo.optimization_barrier"), vals, types)
		for i, v := range vals {
			b := barrier.Result(i)
			v.ReplaceAllUsesWith(b)
			barrier.OperandUse(i).Set(v)
		}
	}
	return string(print.Append(nil, m, print.Options{})), nil
}

// The main function of every upstream test, executed by XLA's CPU plugin and by the engine: of a sample, or of all with
// HLOCB_LONG.
func TestMainsAgainstXLA(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(upstream(t), "testdata", "*.mlir"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	step := 23
	if os.Getenv("HLOCB_LONG") != "" {
		step = 1
	}
	python := peer.Python(t)
	type program struct {
		name string
		op   string
		m    *ir.Module
	}
	var programs []program
	var in []byte
	for i := 0; i < len(files); i += step {
		text, err := os.ReadFile(files[i])
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(files[i])
		m := parseModule(t, name, text)
		plain, err := withoutFolding(m)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		line, err := json.Marshal(plain)
		if err != nil {
			t.Fatal(err)
		}
		in = append(append(in, line...), '\n')
		programs = append(programs, program{name, name, m})
	}
	answers := strings.Split(strings.TrimSpace(string(python.Run(t, mainsScript, in))), "\n")
	if len(answers) != len(programs) {
		t.Fatalf("%d answers for %d programs", len(answers), len(programs))
	}
	refused := map[string][]string{}
	far := map[uint64][]string{}
	for i, p := range programs {
		var a struct {
			Results []string
			Error   string
		}
		if err := json.Unmarshal([]byte(answers[i]), &a); err != nil {
			t.Fatal(err)
		}
		exe, err := New(Options{}).Compile(t.Context(), &runtime.Program{Module: p.m}, runtime.CompileOptions{})
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
			continue
		}
		out, err := exe.Run(t.Context(), nil)
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
			continue
		}
		if a.Error != "" {
			refused[a.Error] = append(refused[a.Error], p.name)
			continue
		}
		worst := uint64(0)
		for k, r := range out {
			want, err := fromHex(r, a.Results[k])
			if err != nil {
				t.Errorf("%s: %v", p.name, err)
				break
			}
			for e := range r.NumElements() {
				worst = max(worst, ulpDistance(r, want, e))
			}
		}
		far[worst] = append(far[worst], p.name)
	}
	var keys []uint64
	for k := range far {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i] < keys[j] })
	for _, k := range keys {
		t.Logf("%d ULP: %d %v", k, len(far[k]), far[k][:min(len(far[k]), 200)])
	}
	for k, v := range refused {
		t.Logf("refused: %s: %v", k, v)
	}
}
