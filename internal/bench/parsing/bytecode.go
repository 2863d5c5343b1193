package parsing

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/internal/bench/meter"
	"github.com/hlocb/hlocb/internal/heap"
	"github.com/hlocb/hlocb/ir"
)

// bytecodeTarget is the version of the artifacts: the newest version that jaxlib 0.10.2 knows.
var bytecodeTarget = vhlo.Version{Major: 1, Minor: 17}

// bytecodeRows measures bytecode and portable artifacts of the transformer's gradient and of a module of 50 copies.
// jaxlib first lowers their CHLO.
func bytecodeRows(dir, python string, o options) ([]meter.Row, error) {
	if python == "" {
		return nil, nil // jaxlib writes the files
	}
	fmt.Println()
	line("bytecode", "bytes", []string{"read ms (MB/s)", "write ms", "serialize ms", "deserialize ms"}, "peak MB")
	var goals []meter.Row
	for _, copies := range []int{1, 50} {
		base := filepath.Join(dir, "bytecode"+strconv.Itoa(copies))
		if out, err := exec.Command(python, "-c", bytecodeWrite, filepath.Join("testdata", "transformer_grad.mlir"), base, strconv.Itoa(copies)).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("jaxlib writes no bytecode: %w: %s", err, out)
		}
		o, name, writeGoal := o, "transformer_grad", 1.5
		if copies > 1 {
			o.rounds, o.turns = 3, 1
			name, writeGoal = strconv.Itoa(copies)+" times "+name, 2
		}
		hlocb, jaxlib, err := o.sides(base, "-bytecode", python, bytecodeScript)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(base + ".bc")
		if err != nil {
			return nil, err
		}
		rows(name, info.Size(), hlocb, jaxlib)
		for i, g := range []struct {
			name string
			goal float64
		}{{"bytecode read", 2}, {"bytecode write", writeGoal}, {"artifact serialize", 5}, {"artifact deserialize", 5}} {
			goals = append(goals, faster(name+" "+g.name, jaxlib.times[i], hlocb.times[i], g.goal))
		}
	}
	return goals, nil
}

// measureBytecode reads and writes base.bc and base.vhlo and writes the figures.
func measureBytecode(base string, o options) error {
	clock := o.clock()
	heap.Tune() // like cmd/hlocb
	plain, err := os.ReadFile(base + ".bc")
	if err != nil {
		return err
	}
	portable, err := os.ReadFile(base + ".vhlo")
	if err != nil {
		return err
	}
	reg, err := all.Registry()
	if err != nil {
		return err
	}
	heap.Reading(5 * len(plain)) // about the length of the text
	var best figures
	for range o.rounds {
		runtime.GC()
		a := clock()
		m, err := bytecode.Read(diag.NewSource(base, plain), ir.NewContext(reg))
		if err != nil {
			return err
		}
		b := clock()
		if _, err = bytecode.Append(nil, m, bytecode.Options{}); err != nil {
			return err
		}
		c := clock()
		if _, _, err = artifact.Append(nil, m, artifact.Options{Target: bytecodeTarget}); err != nil {
			return err
		}
		d := clock()
		runtime.GC()
		e := clock()
		if _, err = artifact.Read(diag.NewSource(base, portable), ir.NewContext(reg)); err != nil {
			return err
		}
		best.best(figures{times: []time.Duration{b - a, c - b, d - c, clock() - e}})
	}
	best.report()
	return nil
}

// bytecodeWrite lowers the CHLO of a module, copies its functions and writes it as bytecode and as an artifact.
const bytecodeWrite = `
import io, re, sys
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import stablehlo
from jax._src.interpreters import mlir as jm
stablehlo.register_stablehlo_passes()
with jm.make_ir_context() as ctx:
    m = ir.Module.parse(open(sys.argv[1]).read())
    passmanager.PassManager.parse("builtin.module(func.func(chlo-legalize-to-stablehlo))").run(m.operation)
    parts = [str(op) for op in m.body.operations]
    n = int(sys.argv[3])
    text = "\n".join(re.sub(r"@(\w+)", r"@\1_%d" % i if n > 1 else r"@\1", p) for i in range(n) for p in parts)
    m = ir.Module.parse(text)
    with open(sys.argv[2] + ".bc", "wb") as f:
        m.operation.write_bytecode(f)
    data = stablehlo.serialize_portable_artifact(m, "1.17.0")
    open(sys.argv[2] + ".vhlo", "wb").write(data)
`

// bytecodeScript measures the same with MLIR. serialize_portable_artifact changes its module, so each round reads a new
// module.
const bytecodeScript = `
import io, resource, sys, time
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo
from jax._src.interpreters import mlir as jm
plain, portable = open(sys.argv[1] + ".bc", "rb").read(), open(sys.argv[1] + ".vhlo", "rb").read()
best = [1 << 62] * 4
clock = time.process_time_ns if sys.argv[3] == "true" else time.perf_counter_ns
ctx = jm.make_ir_context()
with ctx:
    for _ in range(int(sys.argv[2])):
        a = clock()
        m = ir.Module.parse(plain)
        b = clock()
        f = io.BytesIO()
        m.operation.write_bytecode(f)
        c = clock()
        stablehlo.serialize_portable_artifact(m, "1.17.0")
        d = clock()
        stablehlo.deserialize_portable_artifact(ctx, portable)
        e = clock()
        best = [min(x, y) for x, y in zip(best, [b - a, c - b, d - c, e - d])]
print(*best, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
`
