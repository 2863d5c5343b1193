package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/internal/testkit"
)

// place matches a position in a file, the source line with a caret that a message shows, locations,
// numbers of lines, and durations.
var place = regexp.MustCompile(`(?m)\bIN(:\d+:\d+|: offset \d+)|^.*\n *\^+$\n| *loc\(.*\)$|^#loc.*\n|^[ 0-9]+|"ns":\d+`)

// TestFormsEverywhere runs the commands that read a module on one module in all forms: text, bytecode, a portable
// artifact and the file of jax.export that holds it. The names of the files do not tell the form. The output is the
// same.
func TestFormsEverywhere(t *testing.T) {
	hooks, export := testkit.Testdata("mlir", "log.mlir"), testkit.Testdata("bytecode", "add_one.jaxexport")
	for source, commands := range map[string]string{
		hooks: `
			rewrite IN --hook-target host
			hooks IN --hook-target host --json
			explain IN --hook-target host
			tap IN --at arg0
			run IN --hook-target host --fill iota --on scale=echo --print-callbacks --backend engine
			record IN -o OUT --hook-target host --fill iota --on scale=echo --backend engine
			compare IN IN --hook-target host --fill iota --on scale=echo --backend-a engine --backend-b engine
			translate IN --to hlo --verify=false`,
		export: `
			rewrite IN
			hooks IN
			tap IN --at arg0
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
				dir := t.TempDir()
				want := ""
				forms := []string{"mlir", "bytecode", "vhlo"}
				if source == export {
					forms = []string{"generic", "bytecode", "vhlo", "export"}
				}
				for i, form := range forms {
					path, out := filepath.Join(dir, form), filepath.Join(dir, form+"-out")
					if code, _, errs := runCLI(t, time.Minute, "translate", source, "--to", form, "--strip-locations", "-o", path); code != 0 {
						t.Fatal(errs)
					}
					var args []string
					for _, a := range strings.Fields(line) {
						args = append(args, strings.NewReplacer("IN", path, "OUT", out).Replace(a))
					}
					code, stdout, stderr := runCLI(t, time.Minute, args...)
					if code != 0 {
						t.Errorf("%s: exit code %d: %s%s", form, code, stdout, stderr)
					}
					written, _ := os.ReadFile(out)
					got := strings.NewReplacer(out, "OUT", path, "IN").Replace(stdout + stderr + string(written))
					got = place.ReplaceAllString(got, "")
					if i == 0 {
						want = got
					} else if got != want {
						t.Errorf("%s gives\n%s\nwant, as from text,\n%s", form, got, want)
					}
				}
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

// TestSuffixes writes the form that the suffix of --output names. --to wins over the suffix.
func TestSuffixes(t *testing.T) {
	export := testkit.Testdata("bytecode", "add_one.jaxexport")
	for _, tt := range []struct{ suffix, to, starts string }{
		{".mlir", "", "module @jit"}, {".mlirbc", "", "ML\xefR\x0dhlocb"}, {".bc", "", "ML\xefR\x0dhlocb"}, {".vhlo", "", "ML\xefR\x0dStableHLO_v1.16.2"},
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
