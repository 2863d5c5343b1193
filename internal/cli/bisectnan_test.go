package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/cli"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/runtime/plugins"
)

// TestBisectNaN plants 0/0 deep inside the gradient of a transformer, in turn in main and in a function that main calls
// 24 times, and expects one command to find the op and its source line, on the engine and on the plugin.
func TestBisectNaN(t *testing.T) {
	text, err := os.ReadFile("../../testdata/transformer_grad_loc.mlir")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	// A dot product of the backward pass, and the last division of a function.
	plant := func(line int) (path string) {
		op := regexp.MustCompile(`^( *)(%\S+) = stablehlo\.\w+ (%\S+?),? .*: (tensor<[^>]*>)( loc\(#\w+\))$`).FindStringSubmatch(lines[line])
		if op == nil {
			t.Fatalf("line %d is %s", line+1, lines[line])
		}
		zero := fmt.Sprintf("%s%%planted = stablehlo.subtract %s, %s : %s", op[1], op[3], op[3], op[4])
		nan := fmt.Sprintf("%s%s = stablehlo.divide %%planted, %%planted : %s%s", op[1], op[2], op[4], op[5])
		changed := append(append(append([]string{}, lines[:line]...), zero, nan), lines[line+1:]...)
		path = filepath.Join(t.TempDir(), "planted.mlir")
		if err := os.WriteFile(path, []byte(strings.Join(changed, "\n")), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	find := func(from int) int {
		for i := from; ; i++ {
			if strings.Contains(lines[i], "= stablehlo.multiply ") && strings.Contains(lines[i], ": tensor<8x16x64xf32>") {
				return i
			}
		}
	}
	inner := 0
	for i, l := range lines {
		if strings.Contains(l, "func.func private @_var_2") {
			inner = i
		}
	}
	for _, backend := range []string{"engine", "cpu"} {
		if !label.Part(backend == "engine") { // compiling for the plugin takes seconds
			continue
		}
		if _, err := plugins.System().Find("cpu"); backend == "cpu" && (err != nil || !haveCgo) {
			t.Log("skip: no CPU plugin")
			continue
		}
		planted := []int{find(3000), find(inner)}
		if backend == "cpu" { // compiling takes seconds
			planted = planted[1:]
		}
		for _, line := range planted {
			path := plant(line)
			var out, errs bytes.Buffer
			code := cli.Main([]string{"run", path, "--backend", backend, "--fill", "zeros", "--bisect-nan"}, strings.NewReader(""), &out, &errs)
			first, _, _ := strings.Cut(errs.String(), "\n")
			want := fmt.Sprintf("%s:%d:", path, line+2)
			if code != 3 || !strings.HasPrefix(first, want) || !strings.Contains(first, "of stablehlo.divide at ") || !strings.Contains(first, ".py:") {
				t.Errorf("%s: exit code %d, %s\nwant %s", backend, code, first, want)
			}
		}
	}
}
