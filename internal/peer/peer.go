// Package peer finds and runs the Python that tests compare with: jaxlib, ml_dtypes and numpy. Only tests and
// benchmarks use it. Without such a Python, tests are skipped with the reason.
package peer

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

// OtherPlugin is the name of the version of XLA's CPU plugin that is not the default. Events, orders, the conformance
// suite and the interposer are tested on both versions.
const OtherPlugin = "cpu@0.11.2"

// Interpreter is a Python that imports jaxlib, with its processes that wait for a script.
type Interpreter struct {
	path, version string
	mu            sync.Mutex
	free          []*server
}

// The two versions of JAX that tests compare with: the one of most comparisons, and the newest one, which needs
// Python 3.12.
const (
	MainVersion  = "0.10.2"
	TodayVersion = "0.12.0.1"
)

var (
	python = sync.OnceValue(func() *Interpreter { return interpreter(MainVersion, search("HLOCB_PYTHON", "venv", "python3")) })
	today  = sync.OnceValue(func() *Interpreter { return interpreter(TodayVersion, search("HLOCB_PYTHON_TODAY", "venv-today")) })
	tools  = sync.OnceValue(func() *Interpreter {
		return interpreter("", searchFor("import duckdb, pandas, pyarrow, tensorboard", "HLOCB_PYTHON_EVENTS", "venv-events"))
	})
)

func interpreter(version, path string) *Interpreter {
	return &Interpreter{version: version, path: path}
}

// search returns the Python that an environment variable names, or else the one of a virtual environment in hlocb's
// cache directory, or one of the others. It is empty if none imports jaxlib.
func search(variable, venv string, others ...string) string {
	return searchFor("import jaxlib, ml_dtypes, numpy", variable, venv, others...)
}

// searchFor is search with the script that must succeed.
func searchFor(script, variable, venv string, others ...string) string {
	var tries []string
	if p := os.Getenv(variable); p != "" {
		tries = []string{p}
	} else {
		if dir, err := os.UserCacheDir(); err == nil {
			tries = append(tries, filepath.Join(dir, "hlocb", venv, "bin", "python"))
		}
		tries = append(tries, others...)
	}
	for _, p := range tries {
		if Command(p, "-c", script).Run() == nil {
			return p
		}
	}
	return ""
}

// Find returns the path of a Python that imports jaxlib, empty if there is none.
func Find() string { return python().path }

// FindToday returns the path of a Python that imports today's jaxlib, empty if there is none.
func FindToday() string { return today().path }

// Python returns the interpreter, or skips the test if there is none: the one that the environment variable
// HLOCB_PYTHON names, or the virtual environment in hlocb's cache directory, or python3.
func Python(t testing.TB) *Interpreter {
	t.Helper()
	if p := python(); p.path != "" {
		return p
	}
	t.Skip("skip: jaxlib not installed")
	return nil
}

// Today returns the interpreter with today's jaxlib, or skips the test if there is none: the one that the environment
// variable HLOCB_PYTHON_TODAY names, or the virtual environment in hlocb's cache directory.
func Today(t testing.TB) *Interpreter {
	t.Helper()
	if p := today(); p.path != "" {
		return p
	}
	t.Skip("skip: jaxlib " + TodayVersion + " not installed: it needs Python 3.12 or newer")
	return nil
}

// Tools returns the interpreter with the tools that read files of events (duckdb, pandas, pyarrow and tensorboard), or
// skips the test if there is none: the one that the environment variable HLOCB_PYTHON_EVENTS names, or the virtual
// environment venv-events in hlocb's cache directory.
func Tools(t testing.TB) *Interpreter {
	t.Helper()
	if p := tools(); p.path != "" {
		return p
	}
	t.Skip("skip: duckdb, pandas, pyarrow and tensorboard not installed: 'make tools' installs them")
	return nil
}

// Each runs a test as a subtest with each version of JAX, named by the version. part selects the main version, or
// today's: label.Part leaves today's to 'make slow'. A nil part selects both.
func Each(t *testing.T, part func(first bool) bool, test func(t *testing.T, p *Interpreter)) {
	if part == nil || part(true) {
		t.Run("jax "+MainVersion, func(t *testing.T) { test(t, Python(t)) })
	}
	if part == nil || part(false) {
		t.Run("jax "+TodayVersion, func(t *testing.T) { test(t, Today(t)) })
	}
}

// EachPart runs a test as Each, and passes it the part of its work to do: with MainVersion that is part, and with
// today's JAX all of the work, in 'make slow'.
func EachPart(t *testing.T, part func(first bool) bool, test func(t *testing.T, p *Interpreter, part func(first bool) bool)) {
	others := part(false)
	Each(t, func(main bool) bool { return main || others }, func(t *testing.T, p *Interpreter) {
		mine := part
		if p.version != MainVersion {
			mine = func(bool) bool { return true }
		}
		test(t, p, mine)
	})
}

// Version returns the version of JAX: MainVersion or TodayVersion.
func (p *Interpreter) Version() string { return p.version }

// Path returns the path of the interpreter.
func (p *Interpreter) Path() string { return p.path }

// Run runs a script with stdin and arguments and returns its standard output. A failure fails the test.
func (p *Interpreter) Run(t testing.TB, script string, stdin []byte, args ...string) []byte {
	t.Helper()
	if out, ok, err := p.serve(script, stdin, args); err != nil {
		t.Fatalf("%s: %v", p.path, err)
	} else if ok {
		return out
	}
	cmd := Command(p.path, append([]string{"-c", script}, args...)...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(stdin), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", p.path, err, stderr.Bytes())
	}
	return out
}

// Asm holds a text as MLIR prints it, in several forms, or MLIR's error.
type Asm struct{ Pretty, Generic, Debug, Local, Elided, Error string }

// mlirScript reads {name: text} as JSON and writes {name: Asm}.
const mlirScript = `
import json, sys
from jaxlib.mlir import ir
from jax._src.interpreters import mlir as jm
ctx = jm.make_ir_context()
ctx.allow_unregistered_dialects = sys.argv[1] == "true"
out = {}
with ctx:
    for name, text in json.load(sys.stdin).items():
        try:
            op = ir.Module.parse(text).operation
            out[name] = {"Pretty": op.get_asm(), "Generic": op.get_asm(print_generic_op_form=True),
                         "Debug": op.get_asm(enable_debug_info=True),
                         "Local": op.get_asm(enable_debug_info=True, use_local_scope=True),
                         "Elided": op.get_asm(large_elements_limit=4)}
        except Exception as e:
            out[name] = {"Error": str(e)}
json.dump(out, sys.stdout)
`

// MLIR returns the texts, given by name, as jaxlib prints them after it parsed and verified them. unregistered allows
// ops of unknown dialects. Without jaxlib the test is skipped.
func (p *Interpreter) MLIR(t testing.TB, texts map[string]string, unregistered bool) map[string]Asm {
	t.Helper()
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]Asm
	if err := json.Unmarshal(p.Run(t, mlirScript, in, strconv.FormatBool(unregistered)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// writeScript defines write(run, texts), which writes {name: run(text)}. It works in a child process and starts another
// one if an assertion of MLIR ends it.
const writeScript = `
import json, os, sys
def write(run, texts):
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    out, names = {}, list(texts)
    while len(out) < len(names):
        r, w = os.pipe()
        if os.fork() == 0:
            os.close(r)
            with os.fdopen(w, "w") as f:
                for name in names[len(out):]:
                    f.write(json.dumps(run(texts[name])) + "\n")
                    f.flush()
            os._exit(0)
        os.close(w)
        with os.fdopen(r) as f:
            for line in f:
                out[names[len(out)]] = json.loads(line)
        os.wait()
        if len(out) < len(names):
            out[names[len(out)]] = {"Error": "MLIR crashed", "Unread": True}
    json.dump(out, sys.stdout)
`

// bytecodeScript reads {name: text} and writes {name: Bytecode}.
const bytecodeScript = `
import base64, io
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo
from jax._src.interpreters import mlir as jm
ctx = jm.make_ir_context()
ctx.allow_unregistered_dialects = True
with ctx: # which loads the dialect quant with the first artifact
    stablehlo.deserialize_portable_artifact(ctx, stablehlo.serialize_portable_artifact(ir.Module.parse(""), "1.0.0"))
def run(text):
    with ctx:
        try:
            op = ir.Module.parse(text).operation
        except Exception as e:
            return {"Error": str(e)}
        files = []
        for v in range(7):
            f = io.BytesIO()
            op.write_bytecode(f, desired_version=v)
            files.append(base64.b64encode(f.getvalue()).decode())
        return {"Generic": op.get_asm(print_generic_op_form=True, enable_debug_info=True), "Files": files}
write(run, json.load(sys.stdin))
`

// Bytecode is a module as MLIR writes it: its text in generic form with locations, and the files of every version of
// bytecode.
type Bytecode struct {
	Generic string
	Files   [][]byte
	Error   string
}

// WriteBytecode returns the files that jaxlib writes for the texts, given by name, after it parsed and verified them.
func (p *Interpreter) WriteBytecode(t testing.TB, texts map[string]string) map[string]Bytecode {
	t.Helper()
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]Bytecode
	if err := json.Unmarshal(p.Run(t, writeScript+bytecodeScript, in), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// readBytecodeScript reads {name: base64} and writes {name: error} for the files that MLIR refuses.
const readBytecodeScript = `
import base64, json, sys
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo
from jax._src.interpreters import mlir as jm
ctx = jm.make_ir_context()
ctx.allow_unregistered_dialects = True
out = {}
with ctx:
    # The first artifact loads the dialect quant.
    stablehlo.deserialize_portable_artifact(ctx, stablehlo.serialize_portable_artifact(ir.Module.parse(""), "1.0.0"))
    for name, data in json.load(sys.stdin).items():
        try:
            ir.Module.parse(base64.b64decode(data))
        except Exception as e:
            out[name] = str(e)
json.dump(out, sys.stdout)
`

// ReadBytecode returns the error of each file of MLIR bytecode, given by name, that jaxlib does not read.
func (p *Interpreter) ReadBytecode(t testing.TB, files map[string][]byte) map[string]string {
	t.Helper()
	in, err := json.Marshal(files)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]string
	if err := json.Unmarshal(p.Run(t, readBytecodeScript, in), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// artifactScript reads {"target": version, "texts": {name: text}} and writes {name: base64}.
const artifactScript = `
import base64
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import stablehlo
from jax._src.interpreters import mlir as jm
job = json.load(sys.stdin)
ctx = jm.make_ir_context()
ctx.allow_unregistered_dialects = True
def run(text):
    with ctx:
        m = ir.Module.parse(text)
        passmanager.PassManager.parse("builtin.module(strip-debuginfo)").run(m.operation)
        return base64.b64encode(stablehlo.serialize_portable_artifact(m, job["target"], True)).decode()
write(run, job["texts"])
`

// WriteArtifacts returns the portable artifacts that jaxlib writes for texts, given by name. They have no locations and
// keep operations of other dialects. Texts that jaxlib cannot write as target are left out.
func (p *Interpreter) WriteArtifacts(t testing.TB, target string, texts map[string]string) map[string][]byte {
	t.Helper()
	in, err := json.Marshal(map[string]any{"target": target, "texts": texts})
	if err != nil {
		t.Fatal(err)
	}
	var answers map[string]json.RawMessage
	if err := json.Unmarshal(p.Run(t, writeScript+artifactScript, in), &answers); err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for name, answer := range answers {
		var data []byte
		if json.Unmarshal(answer, &data) == nil { // else jaxlib refused the text
			out[name] = data
		}
	}
	return out
}

// passesScript reads {"pipeline": p, "debug": bool, "texts": {name: text}} and writes {name: {"Text": t} or {"Error":
// e, "Unread": b}}.
const passesScript = `
from jaxlib.mlir import ir, passmanager
from jax._src.interpreters import mlir as jm
from jaxlib.mlir._mlir_libs import _stablehlo, _mlirHlo
_stablehlo.register_stablehlo_passes()
_mlirHlo.register_mhlo_passes()
job = json.load(sys.stdin)
ctx = jm.make_ir_context()
ctx.allow_unregistered_dialects = True
with ctx: # loads the dialect quant, which has no other entry
    passmanager.PassManager.parse("builtin.module(vhlo-legalize-to-stablehlo)").run(ir.Module.parse("").operation)
def run(text):
    with ctx:
        try:
            m = ir.Module.parse(text)
        except Exception as e:
            return {"Error": str(e), "Unread": True}
        try:
            passmanager.PassManager.parse(job["pipeline"]).run(m.operation)
        except Exception as e:
            return {"Error": str(e)}
        return {"Text": m.operation.get_asm(enable_debug_info=job["debug"])}
write(run, job["texts"])
`

// Passed is the result of MLIR's pass manager for one text.
type Passed struct {
	Text, Error string
	Unread      bool // MLIR cannot read the text, or crashed
}

// Passes returns the results of MLIR's pass manager for texts. The pipeline may name passes of MLIR, StableHLO and
// MHLO.
func (p *Interpreter) Passes(t testing.TB, pipeline string, debug bool, texts map[string]string) map[string]Passed {
	t.Helper()
	in, err := json.Marshal(map[string]any{"pipeline": pipeline, "debug": debug, "texts": texts})
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]Passed
	if err := json.Unmarshal(p.Run(t, writeScript+passesScript, in), &out); err != nil {
		t.Fatal(err)
	}
	return out
}
