package layout_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/peer"
)

const module = "github.com/hlocb/hlocb"

// order lists the packages from the top down. A package may import packages of lower rows, but no packages of higher
// rows or of its own row, unless it is inside of them. A name covers the packages below its directory.
var order = [][]string{
	{"cmd", "examples", "runtime/goxla/example", "internal/bench", "internal/docs", "internal/mutants", "internal/numerics", "internal/testsummary", "internal/testlist"},
	{"internal/cli"},
	// Tests that run the whole: all packages directly below internal that no other row names.
	{"internal", "runtime/goxla"},
	{"runtime/interpose"},
	{"internal/live"},
	{"verify", "opt", "internal/events", "dialect/gen"},
	{"hlocb"}, // the root: the user API
	{"internal/plugintest", "internal/view", "internal/entry"},
	{"passes", "internal/plugincheck", "internal/command", "internal/probe"},
	{"pass"},
	{"hook/format"},
	{"internal/hook"},
	{"runtime/backends"},
	{"runtime/handlers", "runtime/pjrt", "runtime/plugins", "runtime/dlpack", "interp"},
	{"internal/ffi"},
	{"runtime", "internal/reader"},
	{"artifact"},
	{"internal/hook/order"}, // pjrt proves the order of the HLO that it writes
	{"internal/hook/irutil"},
	{"internal/shardy"},
	{"hlo"},
	{"dialect/all", "internal/legalize", "internal/reduction"},
	{"bytecode"},
	{"parse", "print", "internal/randprog"},
	{"dialect/mhlo", "dialect/vhlo"},
	{"dialect", "internal/dialect"}, // the dialects that no other one builds on
	{"dialect/stablehlo"},
	{"dialect/quant"},
	{"dialect/builtin", "dialect/fn", "dialect/hookop", "dialect/shape", "internal/dialect/tensors"},
	{"internal/dialect/arith"}, // folds of shapes create its constants
	{"dialect/view"},
	{"ir/flow", "rewrite", "internal/densebytes"},
	{"ir"},
	{"internal/xlatypes"},
	{"hook", "internal/sharding", "internal/lapack", "internal/values", "filecheck"},
	{"internal/mlirtext"},
	{"internal/tensorio"},
	{"tensor", "diag"},
	{"internal/peer", "internal/label", "internal/words", "internal/wire", "internal/heap", "internal/jaxexport", "internal/assembly", "internal/hashindex", "internal/offheap", "internal/parquet", "internal/cuda"},
}

// forbidden are edges that the order alone would allow. A name covers the packages below its directory, except those
// that have a name of their own in the order.
var forbidden = []struct{ from, to, why string }{
	{"passes", "runtime", "passes are used by other compilers, which have runtimes of their own"},
	{"passes", "parse", "a pass gets a module, not text"},
	{"passes", "print", "a pass gets a module, not text"},
	{"pass", "dialect", "the driver knows no particular op"},
	{"internal/hook", "runtime", "the hook model is data; runtimes read it"},
	{"runtime/pjrt", "interp", "the backends do not know of each other"},
	{"interp", "runtime/pjrt", "the backends do not know of each other"},
	{"interp/internal/kernel", "ir", "kernels know types and geometry, not ops"},
	{"interp/internal/kernel", "dialect", "kernels know types and geometry, not ops"},
	{"interp/internal/kernel", "runtime", "kernels are functions of tensors"},
	{"interp/internal/special", "tensor", "the special functions know only numbers"},
	{"runtime", "parse", "the contract knows no notation"},
	{"runtime", "print", "the contract knows no notation"},
	{"bytecode", "dialect", "bytecode stores any dialect in the form of its rows"},
	{"parse", "dialect", "the parser reads any dialect through the registry it is given"},
	{"print", "dialect", "the printer writes any dialect through its ops' definitions"},
}

// cgo lists the packages that may import C, themselves or through their imports outside of this module.
var cgo = []string{"runtime/pjrt", "internal/ffi", "internal/cuda", "runtime/dlpack", "runtime/goxla", "internal/lapack", "runtime/goxla/example", "cmd/hlocb", "cmd/libhlocb_pjrt", "internal/engineplugin"}

type pkg struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
	CgoFiles     []string
}

// packages lists the packages of the repository: runtime/goxla is a module of its own.
func packages(t *testing.T) []pkg {
	t.Helper()
	var all []pkg
	var out []byte
	for _, dir := range []string{"../..", "../../runtime/goxla"} {
		cmd := peer.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports,CgoFiles", "./...")
		cmd.Dir = dir
		listed, err := cmd.Output()
		if err != nil {
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				t.Fatalf("go list: %v\n%s", err, exit.Stderr)
			}
			t.Fatalf("go list: %v", err)
		}
		out = append(out, listed...)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// local returns a package's path inside the module, "hlocb" for the package at its root.
func local(path string) string {
	if path == module {
		return "hlocb"
	}
	return strings.TrimPrefix(path, module+"/")
}

// inside reports whether package p is in the directory name.
func inside(p, name string) bool { return p == name || strings.HasPrefix(p, name+"/") }

// row returns the row of a package: that of the longest name that covers it.
func row(p string) (index int, name string) {
	index = -1
	for i, names := range order {
		for _, n := range names {
			if inside(p, n) && len(n) > len(name) {
				index, name = i, n
			}
		}
	}
	return index, name
}

func TestImportsGoDown(t *testing.T) {
	all := packages(t)
	for _, f := range forbidden {
		if !slices.ContainsFunc(all, func(p pkg) bool { return inside(local(p.ImportPath), f.from) }) {
			t.Errorf("a rule forbids imports of %s, which has no packages", f.from)
		}
	}
	for _, p := range all {
		from := local(p.ImportPath)
		at, name := row(from)
		if at < 0 {
			t.Errorf("package %s is in no row of the order: add it to internal/layout/layout_test.go", from)
			continue
		}
		for _, i := range p.Imports {
			if i != module && !strings.HasPrefix(i, module+"/") {
				continue
			}
			to := local(i)
			below, other := row(to)
			if below < at || below == at && other != name {
				t.Errorf("%s imports %s, which internal/layout/layout_test.go does not list below it", from, to)
			}
			for _, f := range forbidden {
				if inside(from, f.from) && len(name) <= len(f.from) && inside(to, f.to) {
					t.Errorf("%s imports %s: %s", from, to, f.why)
				}
			}
		}
	}
}

// TestOnlyBindingsUseC: everything else builds and works without cgo.
func TestOnlyBindingsUseC(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if (len(p.CgoFiles) > 0 || slices.Contains(p.Imports, "C")) && !slices.Contains(cgo, name) {
			t.Errorf("%s imports C; only these packages may: %s", name, strings.Join(cgo, " "))
		}
		for _, i := range p.Imports {
			if strings.HasPrefix(i, "github.com/gomlx/") && !slices.Contains(cgo, name) {
				t.Errorf("%s imports %s, which needs cgo", name, i)
			}
		}
	}
}

// TestIRIsSafe: no handle of the IR can reach other memory.
func TestIRIsSafe(t *testing.T) {
	for _, p := range packages(t) {
		switch name := local(p.ImportPath); {
		case name != "print" && !inside(name, "ir") && name != "rewrite":
		case slices.Contains(p.Imports, "unsafe"):
			t.Errorf("%s imports unsafe; the packages of the IR must not", name)
		}
	}
}

// TestHelpersOfTests: only tests use their helpers; benchmarks also search for a Python.
func TestHelpersOfTests(t *testing.T) {
	for _, p := range packages(t) {
		if name := local(p.ImportPath); name == "internal/testkit" || name == "internal/golden" || name == "internal/abilayout" {
			continue
		}
		for _, i := range p.Imports {
			if i == module+"/internal/testkit" || i == module+"/internal/golden" || i == module+"/internal/abilayout" || i == module+"/internal/label" || i == module+"/internal/peer" && !strings.Contains(p.ImportPath+"/", "/internal/bench/") {
				t.Errorf("%s imports %s, which only tests may import", p.ImportPath, i)
			}
		}
	}
}

// TestCommandsOfTests: a command that a test starts ends with the test's process.
func TestCommandsOfTests(t *testing.T) {
	n := 0
	files(t, "_test.go", func(name string, text []byte) {
		if strings.Contains(string(text), "exec."+"Command") && !inside(name, "internal/peer") {
			t.Errorf("%s starts a command itself; call peer.Command", name)
		}
		n += strings.Count(string(text), "peer."+"Command")
	})
	if n < 20 {
		t.Errorf("only %d commands were found", n)
	}
}
