package cli_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/cli"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/testkit"
)

// TestIDsAreTheSameEverywhere lists the hooks of modules in processes that have only the module in common: another path
// and directory, no file at all, another language, time zone, home, user, host name, number of processors and garbage
// collector, and with HLOCB_LONG a processor of 32 bits. The output must be the same to the byte. The golden cases
// contain ids, and so test that ids stay the same from version to version and on every system.
func TestIDsAreTheSameEverywhere(t *testing.T) {
	files := testkit.Glob(t, "mlir/*.mlir")
	others := map[string]string{"": os.Args[0]}
	if os.Getenv("HLOCB_LONG") != "" {
		program := filepath.Join(t.TempDir(), "hlocb")
		build := peer.Command("go", "build", "-o", program, "../../cmd/hlocb")
		build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH=386")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("building for 386: %v\n%s", err, out)
		}
		if err := peer.Command(program, "version").Run(); err != nil {
			t.Logf("skip: this machine runs no programs for 386: %v", err)
		} else {
			others["386"] = program
		}
	}
	hooks := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var want, stderr bytes.Buffer
		args := []string{"hooks", "--json", "--hook-target", "ask", "--hook-target", "host"}
		if code := cli.Main(append(args, file), strings.NewReader(""), &want, &stderr); code != 0 {
			t.Fatalf("%s: exit %d: %s", file, code, &stderr)
		}
		hooks += bytes.Count(want.Bytes(), []byte(`"id"`))
		elsewhere := t.TempDir()
		if err := os.WriteFile(filepath.Join(elsewhere, "x y.txt"), text, 0o644); err != nil {
			t.Fatal(err)
		}
		for arch, program := range others {
			for _, c := range []struct {
				name, path string
				stdin      io.Reader
				env        []string
			}{
				{"elsewhere", "x y.txt", nil, os.Environ()},
				{"from standard input", "-", bytes.NewReader(text), os.Environ()},
				{"another environment", filepath.Join(elsewhere, "x y.txt"), nil, []string{"LANG=tr_TR.UTF-8", "LC_ALL=tr_TR.UTF-8", "TZ=Asia/Kathmandu",
					"HOME=/nonexistent", "USER=nobody", "HOSTNAME=other", "GOMAXPROCS=1", "GOGC=5"}},
				{"many processors", "x y.txt", nil, append(os.Environ(), "GOMAXPROCS=16", "GOGC=off")},
			} {
				cmd := peer.Command(program, append(args, c.path)...)
				cmd.Dir, cmd.Stdin, cmd.Env = elsewhere, c.stdin, c.env
				got, err := cmd.Output()
				if err != nil || !bytes.Equal(got, want.Bytes()) {
					t.Errorf("%s, %s %s: %v\n%s\nhere:\n%s", file, c.name, arch, err, got, &want)
				}
			}
		}
	}
	if hooks < 10 {
		t.Errorf("only %d ids were compared", hooks)
	}
}
