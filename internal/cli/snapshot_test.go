package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/internal/testkit"
)

// TestSnapshots runs the files that XLA writes for replaying a program, dumped from JAX: they hold the arguments, of
// all widths of elements, and one of them the result.
func TestSnapshots(t *testing.T) {
	const reversed = `0: dense<[true, true, true, false, false, true, true, false, true]> : tensor<9xi1>
1: dense<[[4, 3, 2, 1, 0], [-4, -5, -6, -7, -8]]> : tensor<2x5xi4>
2: dense<[[5.000000e+00, 4.000000e+00, 3.000000e+00], [2.000000e+00, 1.000000e+00, 0.000000e+00]]> : tensor<2x3xf32>
3: dense<(1.000000e+00,2.000000e+00)> : tensor<1xcomplex<f32>>
4: dense<[-2.000000e+00, 1.500000e+00]> : tensor<2xbf16>
5: dense<-3> : tensor<i8>
6: dense<> : tensor<0x2xf64>
7: dense<[3, 2, 1, 0]> : tensor<4xui4>
8: dense<[9223372036854775808, 1]> : tensor<2xui64>
`
	for _, tt := range []struct{ file, info, stored string }{
		{"unoptimized.pb", "form: HLO proto\nmessage: HloUnoptimizedSnapshot\n", ""},
		{"unoptimized.txt", "form: HLO proto, text form\nmessage: HloUnoptimizedSnapshot\n", ""},
		{"snapshot.pb", "form: HLO proto\nmessage: HloSnapshot\n", "  A, stored result 8 tensor<2xui64>: equal\n"},
	} {
		path := testkit.Testdata("snapshots", tt.file)
		if code, stdout, errs := runCLI(t, time.Minute, "info", path); code != 0 || stdout != tt.info {
			t.Errorf("info %s: %s%s", tt.file, stdout, errs)
		}
		if code, stdout, errs := runCLI(t, time.Minute, "run", path, "--backend", "engine"); code != 0 || stdout != reversed {
			t.Errorf("run %s: %s%s", tt.file, stdout, errs)
		}
		code, stdout, errs := runCLI(t, time.Minute, "compare", path, path)
		if want := "the inputs stored in the file:\n  result 0 tensor<9xi1>: equal\n"; code != 0 || !strings.HasPrefix(stdout, want) || !strings.HasSuffix(stdout, tt.stored) {
			t.Errorf("compare %s: %s%s", tt.file, stdout, errs)
		}
		// Arguments on the command line win.
		_, stdout, errs = runCLI(t, time.Minute, "run", path, "--backend", "engine", "--arg", "5=dense<7> : tensor<i8>")
		if want := strings.Replace(reversed, "dense<-3>", "dense<7>", 1); stdout != want {
			t.Errorf("run %s with another argument: %s%s", tt.file, stdout, errs)
		}
		if code, stdout, errs := runCLI(t, time.Minute, "opt", path, "--passes", "canonicalize"); code != 0 || tt.file == "unoptimized.txt" && !strings.HasPrefix(stdout, "HloModule ") {
			t.Errorf("opt %s: %.100q%s", tt.file, stdout, errs)
		}
	}
	// A result that the program does not compute.
	data, err := os.ReadFile(testkit.Testdata("snapshots", "snapshot.pb"))
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.pb")
	at := strings.LastIndex(string(data), "\x00\x00\xa0\x40\x00\x00\x80\x40") // 5.0, 4.0 of result 2
	data[at+2] = 0xb0
	if err := os.WriteFile(other, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if code, stdout, _ := runCLI(t, time.Minute, "compare", other, other); code != 5 || !strings.Contains(stdout, "A, stored result 2 tensor<2x3xf32>: 1 of 6 elements differ, first at [0 0]: 5.000000e+00 against 5.500000e+00") {
		t.Errorf("compare with another result: exit code %d: %s", code, stdout)
	}
	for _, command := range []string{"info", "verify", "run"} {
		if code, stdout, errs := runCLI(t, time.Minute, command, testkit.Testdata("snapshots", "compile_options.pb")); code != 1 || !strings.Contains(errs, "these are XLA's compile options (CompileOptionsProto), not a module") {
			t.Errorf("%s of compile options: exit code %d: %s%s", command, code, stdout, errs)
		}
	}
}
