package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/cli"
)

// TestViewSource: a page has the source lines of files below --source, and of no other file that a location names.
func TestViewSource(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "src", "lib"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"src/lib/f.py": "def f(x):\n    return -x  # inside\n", "secret.py": "x = 1  # outside\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../secret.py", filepath.Join(dir, "src", "link.py")); err != nil {
		t.Fatal(err)
	}
	module := strings.ReplaceAll(`func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.negate %a : tensor<2xf32> loc("/home/u/lib/f.py":2:5)
  %1 = stablehlo.negate %0 : tensor<2xf32> loc("../secret.py":1:1)
  %2 = stablehlo.negate %1 : tensor<2xf32> loc("DIR/secret.py":1:1)
  %3 = stablehlo.negate %2 : tensor<2xf32> loc("link.py":1:1)
  return %3 : tensor<2xf32>
}`, "DIR", dir)
	var out, errs bytes.Buffer
	if code := cli.Main([]string{"view", "-", "--source", filepath.Join(dir, "src"), "-o", "-"}, strings.NewReader(module), &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	if !strings.Contains(out.String(), "return -x  # inside") {
		t.Error("the page lacks the source line of f.py")
	}
	if strings.Contains(out.String(), "# outside") {
		t.Error("the page has a line of a file outside of --source")
	}
}

// TestCompareHTML: the page of a comparison has both modules as steps, and the distances of the results on the ops that
// define them.
func TestCompareHTML(t *testing.T) {
	dir := t.TempDir()
	a, b, page := filepath.Join(dir, "a.mlir"), filepath.Join(dir, "b.mlir"), filepath.Join(dir, "page.html")
	for path, op := range map[string]string{a: "sine", b: "cosine"} {
		text := "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo." + op + " %x : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	if code := cli.Main([]string{"compare", a, b, "--fill", "iota", "--html", page}, strings.NewReader(""), &out, &errs); code != 5 {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, data, _ := bytes.Cut(text, []byte(`<script type="application/json" id="data">`))
	data, _, _ = bytes.Cut(data, []byte("</script>"))
	var got struct {
		Steps    []struct{ Name string }
		Overlays []struct {
			Unit  string
			Value []float64
			Lost  int
		}
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Steps) != 2 || got.Steps[0].Name != "a.mlir" || got.Steps[1].Name != "b.mlir" {
		t.Errorf("the steps are %v", got.Steps)
	}
	if len(got.Overlays) != 1 || got.Overlays[0].Unit != "ULP" || len(got.Overlays[0].Value) != 1 || got.Overlays[0].Value[0] < 1 || got.Overlays[0].Lost != 0 {
		t.Errorf("the numbers are %+v", got.Overlays)
	}
}

// TestViewRecordings: a page has the events of lines of JSON, of a recording with a file of large values, and of a
// table. A large value is statistics and a sample.
func TestViewRecordings(t *testing.T) {
	dir := t.TempDir()
	module := filepath.Join(dir, "m.mlir")
	if err := os.WriteFile(module, []byte("func.func @main(%x: tensor<2000xf32>) -> tensor<2000xf32> {\n  %y = stablehlo.negate %x : tensor<2000xf32> loc(\"m.py\":3:1)\n  return %y : tensor<2000xf32>\n}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	command := func(args ...string) {
		t.Helper()
		var out bytes.Buffer
		if code := cli.Main(args, strings.NewReader(""), &out, &out); code != 0 {
			t.Fatalf("%v: exit code %d: %s", args, code, &out)
		}
	}
	run := []string{"--fill", "iota", "--backend", "engine", "--tap", "%y=record"}
	command(append([]string{"record", module, "-o", at("a.jsonl")}, run...)...)
	command(append([]string{"run", module, "--events", at("b.jsonl"), "--events", at("c.parquet")}, run...)...)
	command("view", module, "--recording", at("a.jsonl"), "--recording", at("b.jsonl"), "--recording", at("c.parquet"), "-o", at("page.html"))
	text, err := os.ReadFile(at("page.html"))
	if err != nil {
		t.Fatal(err)
	}
	_, data, _ := bytes.Cut(text, []byte(`<script type="application/json" id="data">`))
	data, _, _ = bytes.Cut(data, []byte("</script>"))
	var got struct {
		Recordings []struct {
			Name   string
			Events []struct {
				Place    string
				Operands []struct {
					Data   []float64
					Stats  struct{ N, Min, Max float64 }
					Sample []float64
				}
			}
		}
	}
	if err := json.Unmarshal(data, &got); err != nil || len(got.Recordings) != 3 {
		t.Fatalf("%v: %d recordings", err, len(got.Recordings))
	}
	for _, r := range got.Recordings {
		if len(r.Events) != 1 || r.Events[0].Place != "m.py:3:1" || len(r.Events[0].Operands) != 1 {
			t.Errorf("%s: %+v", r.Name, r.Events)
			continue
		}
		o := r.Events[0].Operands[0]
		if o.Stats.N != 2000 || o.Stats.Max != 0 || o.Stats.Min != -1999 || len(o.Data) > 0 || (len(o.Sample) < 200) != (r.Name == "c.parquet") {
			t.Errorf("%s: %+v with %d samples", r.Name, o.Stats, len(o.Sample))
		}
	}
}
