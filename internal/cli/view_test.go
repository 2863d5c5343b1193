package cli_test

import (
	"bytes"
	"encoding/json"
	"maps"
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

// TestCompareHTML: the page of a comparison has both modules as steps, and the distances of the values of all ops, also
// of those in called functions and loops.
func TestCompareHTML(t *testing.T) {
	dir := t.TempDir()
	a, b, page := filepath.Join(dir, "a.mlir"), filepath.Join(dir, "b.mlir"), filepath.Join(dir, "page.html")
	for path, op := range map[string]string{a: "sine", b: "cosine"} {
		text := `func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>) {
  %n = stablehlo.negate %x : tensor<4xf32>
  %f = call @f(%n) : (tensor<4xf32>) -> tensor<4xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %w:2 = stablehlo.while(%i = %zero, %v = %f) : tensor<i32>, tensor<4xf32>
   cond {
    %c = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %e = stablehlo.exponential %v : tensor<4xf32>
    stablehlo.return %j, %e : tensor<i32>, tensor<4xf32>
  }
  return %w#1, %w#0 : tensor<4xf32>, tensor<i32>
}
func.func private @f(%y: tensor<4xf32>) -> tensor<4xf32> {
  %s = stablehlo.OP %y : tensor<4xf32>
  return %s : tensor<4xf32>
}
`
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "OP", op)), 0o666); err != nil {
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
		Strings  []string
		Items    struct{ Label []int }
		Steps    []struct{ Name string }
		Overlays []struct {
			Name, Unit string
			Items      []int
			Value      []float64
			Lost       int
		}
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Steps) != 2 || got.Steps[0].Name != "a.mlir" || got.Steps[1].Name != "b.mlir" {
		t.Errorf("the steps are %v", got.Steps)
	}
	if len(got.Overlays) != 2 || got.Overlays[0].Unit != "ULP" || got.Overlays[0].Lost != 0 || got.Overlays[1].Name != "different elements, the inputs given" {
		t.Fatalf("the numbers are %+v", got.Overlays)
	}
	different := map[string]bool{}
	for k, i := range got.Overlays[0].Items {
		different[got.Strings[got.Items.Label[i]]] = got.Overlays[0].Value[k] > 0 && got.Overlays[1].Value[k] == 4
	}
	if want := map[string]bool{"negate": false, "call @f": true, "while": true, "sine": true, "compare LT": false, "add": false, "exponential": true}; !maps.Equal(different, want) {
		t.Errorf("the ops with numbers, and whether the values differ, are %v, want %v", different, want)
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
