package endtoend_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
)

// dumpScript compiles the files of its arguments with XLA's CPU client, which dumps each module to a directory of its
// own. It prints the error of each file that does not compile: the dump has the module before the failing pass.
const dumpScript = `
import os, sys
out, files = sys.argv[1], sys.argv[2:]
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = f"--xla_dump_to={out} --xla_dump_hlo_as_text --xla_dump_hlo_as_proto --xla_dump_large_constants --xla_force_host_platform_device_count=4"
import json, jax
from jax._src.interpreters import mlir as jm
from jax._src import compiler, xla_bridge
from jax._src.lib import xla_client
from jaxlib.mlir import ir
import numpy as np
backend, errors = xla_bridge.get_backend(), {}
for i, file in enumerate(files):
    try:
        with jm.make_ir_context():
            m = ir.Module.parse(open(file).read())
            m.operation.attributes["sym_name"] = ir.StringAttr.get(f"p{i}")
            n = [m.operation.attributes[k].value if k in m.operation.attributes else 1 for k in ("mhlo.num_replicas", "mhlo.num_partitions")]
            options = compiler.get_compile_options(n[0], n[1], np.arange(n[0] * n[1]).reshape(n))
            devices = xla_client.DeviceList(tuple(backend.devices()[:n[0] * n[1]]))
            compiler.backend_compile_and_load(backend, m, devices, options, [])
    except Exception as e:
        errors[file] = str(e)[:300]
json.dump(errors, sys.stdout)
`

// TestSweep compiles programs with XLA, which dumps them before and after its optimizations, as text and as protos.
// hlocb reads every file, prints it to the same module, verifies its translation to StableHLO and writes the HLO back
// without a change. HLOCB_REAL adds the programs of JAX's libraries.
func TestSweep(t *testing.T) {
	label.Once(t)
	var programs []string
	small := []string{"softmax_loss.mlir", "top_k.mlir", "heat.mlir"}
	for _, file := range slices.Concat(testkit.Glob(t, "events/*.mlir"), testkit.Glob(t, "programs/*.mlir")) {
		name := filepath.Base(file)
		if label.Part(slices.Contains(small, name) || strings.HasPrefix(name, "jax_") && !strings.Contains(name, ".loc.")) {
			programs = append(programs, file)
		}
	}
	if dir := os.Getenv("HLOCB_REAL"); dir != "" && label.Part(false) {
		real, err := filepath.Glob(filepath.Join(dir, "*.mlir"))
		if err != nil || len(real) == 0 {
			t.Fatal(err, "no programs in HLOCB_REAL")
		}
		programs = append(programs, real...)
	}
	peer.Each(t, nil, func(t *testing.T, p *peer.Interpreter) {
		t.Parallel()
		dir := t.TempDir()
		var errors map[string]string
		if err := json.Unmarshal(p.Run(t, dumpScript, nil, append([]string{dir}, programs...)...), &errors); err != nil {
			t.Fatal(err)
		}
		for file, message := range errors {
			if !strings.Contains(message, "registered implementation") && !strings.Contains(message, "not found") { // callbacks of other frameworks
				t.Errorf("%s: XLA does not compile it: %s", file, message)
			}
		}
		files, err := filepath.Glob(filepath.Join(dir, "*optimizations*"))
		if err != nil {
			t.Fatal(err)
		}
		protos, err := filepath.Glob(filepath.Join(dir, "*.pb"))
		if err != nil {
			t.Fatal(err)
		}
		read := 0
		for _, file := range slices.Concat(files, protos) {
			if ext := filepath.Ext(file); ext != ".txt" && !strings.HasSuffix(file, ".hlo.pb") || strings.Contains(file, "buffer-assignment") || strings.Contains(file, "live-range") || strings.Contains(file, "memory-usage") {
				continue
			}
			sweepFile(t, file)
			read++
		}
		if read < 3*len(programs) { // text before, and text and proto after
			t.Errorf("%d files of %d programs", read, len(programs))
		}
		t.Logf("%d programs, %d files, %d programs that XLA does not compile", len(programs), read, len(errors))
	})
}

func sweepFile(t *testing.T, file string) {
	t.Helper()
	name := filepath.Base(file)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parse := hlo.Parse
	if strings.HasSuffix(name, ".pb") {
		parse = hlo.ParseProto
	}
	m, err := parse(diag.NewSource(name, data))
	if err != nil {
		t.Errorf("%s is refused: %v", name, err)
		return
	}
	text := m.AppendText(nil, hlo.TextOptions{})
	again, err := hlo.Parse(diag.NewSource(name, text))
	if err != nil || !bytes.Equal(again.AppendText(nil, hlo.TextOptions{}), text) {
		t.Errorf("%s is not read back as it was printed: %v", name, err)
	}
	translated, err := hlo.Import(m, ir.NewContext(testkit.Registry(t)))
	if err == nil {
		err = ir.Verify(translated)
	}
	if err != nil {
		t.Errorf("%s has no translation: %v", name, err)
		return
	}
	if out, err := hlo.Update(translated); err != nil || !bytes.Equal(out.AppendText(nil, hlo.TextOptions{}), text) {
		t.Errorf("%s changes when it is written back: %v", name, err)
	}
}
