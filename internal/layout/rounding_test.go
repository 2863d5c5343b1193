package layout_test

import (
	"bufio"
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
)

// roundedAlike are the functions of package math whose results are the same on every processor: they are exact or
// correctly rounded, or take numbers apart.
var roundedAlike = map[string]bool{
	"Abs": true, "Ceil": true, "Copysign": true, "FMA": true, "Float32bits": true, "Float32frombits": true, "Float64bits": true,
	"Float64frombits": true, "Floor": true, "Frexp": true, "Inf": true, "IsInf": true, "IsNaN": true, "Ldexp": true, "Max": true, "Min": true,
	"Mod": true, "Modf": true, "NaN": true, "Nextafter": true, "Nextafter32": true, "Round": true, "RoundToEven": true, "Signbit": true, "Sqrt": true,
	"Trunc": true,
}

// TestEngineRoundsAlike: the engine computes with nothing of packages math and math/cmplx that rounds differently from
// processor to processor.
func TestEngineRoundsAlike(t *testing.T) {
	calls := 0
	files(t, ".go", func(name string, text []byte) {
		if !strings.HasPrefix(name, "interp/") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "/_") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := sel.X.(*ast.Ident)
			if !ok || pkg.Obj != nil || !ast.IsExported(sel.Sel.Name) {
				return true
			}
			what := pkg.Name + "." + sel.Sel.Name
			switch {
			case pkg.Name == "cmplx" && what != "cmplx.IsNaN" && what != "cmplx.IsInf" && what != "cmplx.NaN" && what != "cmplx.Conj":
				t.Errorf("%s: %s rounds differently from processor to processor: use a function of interp/internal/special, or add one", name, what)
			case pkg.Name == "math" && !roundedAlike[sel.Sel.Name] && !isConstant(sel.Sel.Name):
				t.Errorf("%s: %s rounds differently from processor to processor: use a function of interp/internal/special or a loop of interp/internal/simd/vec, or add one", name, what)
			}
			calls++
			return true
		})
	})
	if calls == 0 {
		t.Error("no call was looked at")
	}
}

func isConstant(name string) bool {
	for _, p := range []string{"Max", "Min", "Pi", "Ln", "Log2E", "Sqrt2", "Smallest"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// TestNothingIsFused: compiled for a processor with fused multiply-adds, the packages that compute results have only
// the ones that their source requests with math.FMA. The compiler may fuse a product and a sum anywhere, even in
// different statements; a conversion of the product to its own type prevents it.
func TestNothingIsFused(t *testing.T) {
	label.Slow(t)
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("skip: no go command")
	}
	root := filepath.Join("..", "..")
	cmd := peer.Command(goTool, "build", "-gcflags=-S", "./interp", "./interp/internal/exec", "./interp/internal/kernel", "./interp/internal/kernel/algebra",
		"./interp/internal/ops", "./interp/internal/plan", "./interp/internal/special", "./interp/internal/simd/vec", "./tensor")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOARCH=arm64", "GOOS=linux", "CGO_ENABLED=0", "GOFLAGS=-trimpath")
	listing, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%.2000s", err, listing)
	}
	lines := map[string][]string{}
	files(t, ".go", func(name string, text []byte) {
		if strings.HasPrefix(name, "interp/") || strings.HasPrefix(name, "tensor/") {
			lines[name] = strings.Split(string(text), "\n")
		}
	})
	fused := regexp.MustCompile(`\(([^()\s]+\.go):(\d+)\)\s+FN?M(?:ADD|SUB)[SD]\b`)
	seen, asked := map[string]bool{}, 0
	scan := bufio.NewScanner(bytes.NewReader(listing))
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		m := fused.FindStringSubmatch(scan.Text())
		if m == nil {
			continue
		}
		_, name, _ := strings.Cut(m[1], "github.com/hlocb/hlocb/")
		n, _ := strconv.Atoi(m[2])
		switch text := lines[name]; {
		case n < 1 || n > len(text):
			t.Errorf("no line for %s", scan.Text())
		case strings.Contains(text[n-1], "math.FMA("):
			asked++
		case !seen[name+m[2]]:
			seen[name+m[2]] = true
			t.Errorf("%s:%d: fused where it was not asked for; convert the product to its own type, as in float64(x*y) + z: %s", name, n, strings.TrimSpace(text[n-1]))
		}
	}
	if asked < 20 {
		t.Errorf("only %d fused operations were found: the test looks for the wrong thing", asked)
	}
}
