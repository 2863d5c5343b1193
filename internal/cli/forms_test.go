package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hlocb/hlocb/internal/testkit"
)

// place matches a position in a file, the source line with a caret that a message shows, locations,
// numbers of lines, and durations.
var place = regexp.MustCompile(`(?m)\bIN(:\d+:\d+|: offset \d+)|^.*\n *\^+$\n| *loc\(.*\)$|^#loc.*\n|^[ 0-9]+|"(ns|start)":\d+`)

// TestFormsEverywhere runs the commands that read a module on one module in all forms: text, bytecode, a portable
// artifact and the file of jax.export that holds it. The names of the files do not contain the form. The output is the
// same.
func TestFormsEverywhere(t *testing.T) {
	hooks, export := testkit.Testdata("mlir", "log.mlir"), testkit.Testdata("bytecode", "add_one.jaxexport")
	for source, commands := range map[string]string{
		hooks: `
			rewrite IN --hook-target host
			hooks IN --hook-target host --json
			explain IN --hook-target host
			tap IN --tap arg0
			run IN --hook-target host --fill iota --on scale=echo --print-callbacks --backend engine
			record IN -o OUT --hook-target host --fill iota --on scale=echo --backend engine
			compare IN IN --hook-target host --fill iota --on scale=echo --backend-a engine --backend-b engine
			translate IN --to hlo --verify=false`,
		export: `
			rewrite IN
			hooks IN
			tap IN --tap arg0
			verify IN
			verify IN IN
			run IN --fill iota --backend engine
			record IN -o OUT --fill iota --backend engine
			compare IN IN --fill iota --backend-a engine --backend-b engine
			opt IN --passes canonicalize,cse
			diff IN IN
			reduce IN --test true
			plugin check IN
			translate IN
			translate IN --to generic
			translate IN --to bytecode --strip-locations -o OUT
			translate IN --to vhlo --strip-locations -o OUT
			translate IN --to hlo`,
	} {
		for line := range strings.Lines(strings.TrimSpace(commands)) {
			line = strings.TrimSpace(line)
			t.Run(line+" of "+filepath.Base(source), func(t *testing.T) {
				if why := missingPlugin(); why != "" && strings.HasPrefix(line, "plugin ") {
					t.Skip(why)
				}
				forms := []string{"mlir", "bytecode", "vhlo"}
				if source == export {
					forms = []string{"generic", "bytecode", "vhlo", "export"}
				}
				dir := t.TempDir()
				var paths []string
				for _, form := range forms {
					path := filepath.Join(dir, form)
					if code, _, errs := runCLI(t, time.Minute, "translate", source, "--to", form, "--strip-locations", "-o", path); code != 0 {
						t.Fatal(errs)
					}
					paths = append(paths, path)
				}
				sameOutput(t, line, paths)
			})
		}
	}
	for _, path := range []string{hooks, testkit.Testdata("bytecode", "corpus_order_t16_cond", "1.17.0.vhlo")} {
		code, _, errs := runCLI(t, time.Minute, "translate", path, "--to", "export")
		if code != 1 || !strings.Contains(errs, "export") {
			t.Errorf("%s to an export: exit code %d: %s", path, code, errs)
		}
	}
}

// TestTargets writes a file of jax.export for other versions. A flag that the output form does not have is a mistake.
func TestTargets(t *testing.T) {
	export := testkit.Testdata("bytecode", "add_one.jaxexport")
	for _, tt := range []struct{ to, flag, value, want string }{
		{"export", "--target", "1.9.0", "StableHLO version: 1.9.0"},
		{"export", "--target", "auto", "StableHLO version: 0.9.0"},
		{"export", "--strip-locations=true", "", "StableHLO version: 1.15.0"},
		{"vhlo", "--target", "1.9", "error: --target 1.9: expected a version such as 1.13.0, or current, WEEK_4, WEEK_12, MAX or auto"},
		{"mlir", "--target", "1.9.0", "error: --target: the form mlir has none"},
		{"bytecode", "--route", "xla", "error: --route: the form bytecode has none"},
		{"vhlo", "--bytecode-version", "3", "error: --bytecode-version: the form vhlo has none"},
	} {
		out := filepath.Join(t.TempDir(), "out")
		args := []string{"translate", export, "-o", out, "--to", tt.to, tt.flag}
		if tt.value != "" {
			args = append(args, tt.value)
		}
		code, _, got := runCLI(t, time.Minute, args...)
		if code == 0 {
			code, got, _ = runCLI(t, time.Minute, "info", out)
		}
		if wantCode := map[bool]int{true: 2}[strings.HasPrefix(tt.want, "error")]; code != wantCode || !strings.Contains(got, tt.want) {
			t.Errorf("%q: exit code %d: %s, want %q", args, code, got, tt.want)
		}
	}
}

// sameOutput runs a command on several files of one module. IN stands for the file, and OUT or OUT.hlo for the
// command's output. Everything that the command prints and writes is the same, except for places in the file.
func sameOutput(t *testing.T, line string, paths []string) {
	want := ""
	for i, path := range paths {
		out := path + "-out"
		var args []string
		for _, a := range strings.Fields(line) {
			args = append(args, strings.NewReplacer("IN", path, "OUT", out).Replace(a))
		}
		os.Remove(out) // of the command before this one
		os.Remove(out + ".hlo")
		code, stdout, stderr := runCLI(t, time.Minute, args...)
		if code != 0 {
			t.Errorf("%s: exit code %d: %s%s", path, code, stdout, stderr)
		}
		written, _ := os.ReadFile(out)
		text, _ := os.ReadFile(out + ".hlo")
		got := strings.NewReplacer(out, "OUT", path, "IN").Replace(stdout + stderr + string(written) + string(text))
		got = place.ReplaceAllString(got, "")
		if i == 0 {
			want = got
		} else if got != want {
			t.Errorf("%s gives\n%s\nwant, as from text,\n%s", path, got, want)
		}
	}
}

// TestHLOEverywhere runs every command that takes a module on one module in all forms of HLO: text in the long and the
// short form, a module as a proto, and the other messages that hold a module. The output is the same.
func TestHLOEverywhere(t *testing.T) {
	source := testkit.Testdata("events", "jax_io_ordered_pair.hlo")
	dir := t.TempDir()
	var paths []string
	write := func(form string, data []byte) []byte {
		paths = append(paths, filepath.Join(dir, form))
		if err := os.WriteFile(paths[len(paths)-1], data, 0o666); err != nil {
			t.Fatal(err)
		}
		return data
	}
	translate := func(form string) []byte {
		code, stdout, errs := runCLI(t, time.Minute, "translate", source, "--to", form)
		if code != 0 {
			t.Fatal(errs)
		}
		return write(form, []byte(stdout))
	}
	translate("hlo")
	translate("hlo-short")
	module := translate("hlo-proto")
	wrap := func(form string, data []byte, more ...byte) []byte {
		return write(form, append(protowire.AppendBytes([]byte{1<<3 | 2}, data), more...))
	}
	inner := wrap("HloProto", module)
	wrap("HloSnapshot", inner, 4<<3|2, 1, 'x')                                               // a platform
	versioned := wrap("HloUnoptimizedSnapshot", module, 3<<3, 1)                             // a version
	write("dump", append(protowire.AppendVarint(nil, uint64(len(versioned))), versioned...)) // with its length, as XLA writes it
	for i, want := range []string{"HLO text", "HLO text", "HloModuleProto", "HloProto", "HloSnapshot", "HloUnoptimizedSnapshot", "HloUnoptimizedSnapshot"} {
		if _, stdout, errs := runCLI(t, time.Minute, "info", paths[i]); !strings.HasSuffix(stdout, ": "+want+"\n") {
			t.Errorf("info of %s: %s%s", paths[i], stdout, errs)
		}
	}
	protos := paths[2:]
	for line := range strings.Lines(strings.TrimSpace(`
		hooks IN --json
		tap IN --list
		tap IN --tap add.1 --output OUT.hlo
		verify IN
		verify IN IN --on *=echo --backend-a engine --backend-b engine
		run IN --fill iota --on *=echo --print-callbacks --backend engine
		record IN -o OUT --fill iota --on *=echo --backend engine
		compare IN IN --fill iota --on *=echo --backend-a engine --backend-b engine
		compile IN -o OUT.exe
		diff IN IN
		reduce IN --test true --output OUT
		plugin check IN
		translate IN --to mlir --strip-locations
		translate IN --to generic --strip-locations
		translate IN --to hlo
		translate IN --to hlo-short
		translate IN --to hlo-proto -o OUT
		rewrite IN --output OUT.hlo
		opt IN --passes canonicalize,cse --output OUT.hlo
		explain IN`)) {
		line = strings.TrimSpace(line)
		t.Run(line, func(t *testing.T) {
			if why := missingPlugin(); why != "" && (strings.HasPrefix(line, "plugin ") || strings.HasPrefix(line, "compile ")) {
				t.Skip(why)
			}
			if strings.HasPrefix(line, "explain ") { // shows an instruction as its file spells it
				sameOutput(t, line, protos)
				for _, path := range paths {
					if code, stdout, errs := runCLI(t, time.Minute, "explain", path); code != 0 || !strings.Contains(stdout, "recognized as jax-ffi") {
						t.Errorf("explain %s: %s%s", path, stdout, errs)
					}
				}
				return
			}
			sameOutput(t, line, paths)
		})
	}
}

// TestSuffixes writes the form that the suffix of --output names. --to wins over the suffix.
func TestSuffixes(t *testing.T) {
	export := testkit.Testdata("bytecode", "add_one.jaxexport")
	for _, tt := range []struct{ suffix, to, starts string }{
		{".mlir", "", "module @jit"}, {".mlirbc", "", "ML\xefR\x0dhlocb"}, {".bc", "", "ML\xefR\x0dhlocb"}, {".vhlo", "", "ML\xefR\x0dStableHLO_v1.16.3"},
		{".hlo", "", "HloModule"}, {".jaxexport", "", "<\x00\x00\x00"}, {".mlir", "bytecode", "ML\xefR\x0dhlocb"}, {".mlirbc", "mlir", "module @jit"},
		{".hlo", "vhlo", "ML\xefR\x0dStableHLO"}, {".vhlo", "generic", "\"builtin.module\""},
	} {
		out := filepath.Join(t.TempDir(), "out"+tt.suffix)
		args := []string{"translate", export, "-o", out}
		if tt.to != "" {
			args = append(args, "--to", tt.to)
		}
		code, _, errs := runCLI(t, time.Minute, args...)
		text, _ := os.ReadFile(out)
		if code != 0 || !strings.HasPrefix(string(text), tt.starts) {
			t.Errorf("%s, --to %q: exit code %d: %s; the file starts with %.30q, want %q", tt.suffix, tt.to, code, errs, text, tt.starts)
		}
	}
}

// TestFormStays: opt and rewrite write the form, the container and the version that they read, unless the suffix of the
// output names another form.
func TestFormStays(t *testing.T) {
	dir := t.TempDir()
	export := testkit.Testdata("bytecode", "add_one.jaxexport")
	artifact := testkit.Testdata("bytecode", "corpus_order_t16_cond", "1.17.0.vhlo")
	old := filepath.Join(dir, "old")
	if code, _, errs := runCLI(t, time.Minute, "translate", export, "--to", "bytecode", "--bytecode-version", "3", "-o", old); code != 0 {
		t.Fatal(errs)
	}
	for _, tt := range []struct{ in, out, want string }{
		{export, "a.bin", "form: file of jax.export\nserialization version: 3\n"},
		{export, "a.jaxexport", "form: file of jax.export\nserialization version: 3\n"},
		{artifact, "a.bin", "form: portable artifact\nStableHLO version: 1.17.0\n"},
		{artifact, "a.vhlo", "form: portable artifact\nStableHLO version: 1.17.0\n"},
		{artifact, "a.mlir", "form: MLIR text\n"},
		{old, "a", "form: MLIR bytecode\nproducer: hlocb\nbytecode version: 3\n"},
		{old, "a.bc", "form: MLIR bytecode\nproducer: hlocb\nbytecode version: 3\n"},
		{old, "a.pb", "form: HLO proto\n"},
	} {
		for _, command := range [][]string{{"opt", "--simplify"}, {"rewrite"}} {
			out := filepath.Join(t.TempDir(), tt.out)
			code, _, errs := runCLI(t, time.Minute, append(command, tt.in, "-o", out)...)
			_, info, more := runCLI(t, time.Minute, "info", out)
			if code != 0 || !strings.HasPrefix(info, tt.want) {
				t.Errorf("%s %s -o %s: exit code %d: %s%s; info says\n%s, want\n%s", command, filepath.Base(tt.in), tt.out, code, errs, more, info, tt.want)
			}
		}
	}
	if code, _, errs := runCLI(t, time.Minute, "opt", old, "-o", filepath.Join(dir, "b.jaxexport")); code == 0 || !strings.Contains(errs, "only a file of jax.export") {
		t.Errorf("bytecode became a file of jax.export: exit code %d: %s", code, errs)
	}
}
