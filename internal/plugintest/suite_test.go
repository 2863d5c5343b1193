package plugintest

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/plugins"
)

func environment(t *testing.T) plugins.Environment {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("skip: no cache directory: %v", err)
	}
	return plugins.Environment{Getenv: os.Getenv, CacheDir: filepath.Join(cache, "hlocb", "plugins")}
}

func open(t *testing.T, name string) runtime.Backend {
	t.Helper()
	b, err := backends.Open(context.Background(), name, backends.Options{Plugins: environment(t)})
	var missing *plugins.NotFoundError
	if errors.As(err, &missing) || strings.HasPrefix(name, "cpu") && err != nil && strings.Contains(err.Error(), "needs cgo") {
		t.Skipf("skip: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func suite(t *testing.T, b, ref runtime.Backend, cases []Case) []Result {
	t.Helper()
	var out []Result
	if err := Run(context.Background(), b, ref, cases, func(r Result) { out = append(out, r) }); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestCPUPlugin: XLA's CPU plugin passes, except for types that it does not have.
func TestCPUPlugin(t *testing.T) {
	var cases []Case
	for i, c := range Suite() {
		if label.Part(i%6 == 0) {
			cases = append(cases, c)
		}
	}
	expectSuite(t, open(t, "cpu"), cases, "f6E")
}

// TestOtherCPUPlugin: the other version of the plugin passes, except for conversions that XLA fails to compile, in
// JAX 0.12 too.
func TestOtherCPUPlugin(t *testing.T) {
	label.Slow(t)
	expectSuite(t, open(t, peer.OtherPlugin), Suite(), "f6E2M3FN to f32", "f6E3M2FN to f32")
}

// expectSuite expects that a backend of XLA on CPUs passes, and fails only cases with one of the known names.
func expectSuite(t *testing.T, b runtime.Backend, cases []Case, known ...string) {
	t.Helper()
	for _, r := range suite(t, b, open(t, "interp"), cases) {
		if known := slices.ContainsFunc(known, func(name string) bool { return strings.Contains(r.Case.Name, name) }); r.Status == Failed && !known {
			t.Errorf("%s/%s: %s", r.Case.Group, r.Case.Name, r.Message)
		}
		if r.Status == Skipped {
			t.Logf("skipped %s/%s: %s", r.Case.Group, r.Case.Name, r.Message)
		}
	}
}

// farInput names the variable that makes the test binary the child of TestFarPlugin. It holds the plugin's path.
const farInput = "HLOCB_TEST_FAR"

// TestFarPlugin: the suite passes on a plugin whose memory the host cannot read. The plugin shares XLA's registry of
// handlers with the CPU plugin that it wraps, so it needs a process without that plugin.
func TestFarPlugin(t *testing.T) {
	if path := os.Getenv(farInput); path != "" {
		expectSuite(t, open(t, path), Suite(), "f6E")
		return
	}
	label.Slow(t)  // TestFarMemory of runtime/pjrt moves values to and from such memory
	open(t, "cpu") // skips if there is no plugin
	cpu, err := environment(t).Find("cpu")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"FAR", "CUDA"} { // memory that the plugin copies, and memory that the CUDA driver copies
		t.Run(kind, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "far_plugin.so")
			source := filepath.Join("..", "..", "runtime", "pjrt", "testdata", "far_plugin.c")
			out, err := peer.Command("cc", "-shared", "-fPIC", "-D"+kind, "-o", path, "-DPLUGIN=\""+cpu[0].Path+"\"", source, "-ldl").CombinedOutput()
			if errors.Is(err, exec.ErrNotFound) {
				t.Skip("skip: no C compiler to build a plugin with")
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			child := peer.Command(os.Args[0], "-test.run", "^TestFarPlugin$")
			child.Env = append(os.Environ(), farInput+"="+path, "HLOCB_CUDA_DRIVER="+path)
			if out, err := child.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		})
	}
}

// TestReferenceAgreesWithItself runs all cases on the engine. A case that fails there cannot judge a plugin.
func TestReferenceAgreesWithItself(t *testing.T) {
	b := open(t, "interp")
	for _, r := range suite(t, b, b, Suite()) {
		if r.Status == Failed {
			t.Errorf("%s/%s: %s", r.Case.Group, r.Case.Name, r.Message)
		}
	}
}

// wrong is a backend that computes the sine in place of the cosine.
type wrong struct{ runtime.Backend }

func (w wrong) Compile(ctx context.Context, p *runtime.Program, opts runtime.CompileOptions) (runtime.Executable, error) {
	q, err := program(ctx, "wrong", strings.ReplaceAll(print.String(p.Module, print.Options{}), "stablehlo.cosine", "stablehlo.sine"), hook.ChainState)
	if err != nil {
		return nil, err
	}
	return w.Backend.Compile(ctx, q, opts)
}

func TestReports(t *testing.T) {
	b := open(t, "interp")
	v := "tensor<2xf32>"
	cases := []Case{
		{Group: "ops", Name: "cosine", Text: oneOp(v, "%r = stablehlo.cosine %a : "+v, v)},
		{Group: "ops", Name: "sine", Text: oneOp(v, "%r = stablehlo.sine %a : "+v, v)},
		{Group: "other", Name: "skipped", Do: func(context.Context, runtime.Backend) error { return &SkipError{"not here"} }},
		{Group: "other", Name: "panics", Do: func(context.Context, runtime.Backend) error { panic("oh") }},
	}
	results := suite(t, wrong{b}, b, cases)
	var table bytes.Buffer
	if err := WriteTable(&table, results); err != nil {
		t.Fatal(err)
	}
	want := `GROUP  PASSED  FAILED  KNOWN  SKIPPED
ops    1       1       0      0
other  0       1       0      1
all    1       2       0      1
fail ops/cosine: result 0: element 0 is 0.12467473, expected 0.992197692
skip other/skipped: not here
fail other/panics: panic: oh
`
	if table.String() != want {
		t.Errorf("table is\n%sexpected\n%s", &table, want)
	}
	var junit bytes.Buffer
	if err := WriteJUnit(&junit, "plugin", results); err != nil {
		t.Fatal(err)
	}
	var doc junitSuites
	if err := xml.Unmarshal(junit.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Suites) != 2 || doc.Suites[0].Failures != 1 || doc.Suites[1].Skipped != 1 || doc.Suites[0].Cases[0].Failure == nil {
		t.Errorf("JUnit is\n%s", &junit)
	}
}

// isolatedInput names the variable that makes the test binary the child of TestIsolated. It holds the number of the
// first case.
const isolatedInput = "HLOCB_TEST_CONFORMANCE_FROM"

func TestIsolated(t *testing.T) {
	do := func(name string, f func() error) Case {
		return Case{Group: "g", Name: name, Do: func(context.Context, runtime.Backend) error { return f() }}
	}
	cases := []Case{
		do("fine", func() error { return nil }),
		do("crashes", func() error { os.Exit(7); return nil }),
		do("says why", func() error {
			fmt.Fprintln(os.Stderr, "F1126 08:26:55.000000 1 layout.cc:31] Check failed: a == b (1 vs. 2)\n"+strings.Repeat("stack\n", 2000))
			os.Exit(134)
			return nil
		}),
		do("fails", func() error { return errors.New("no") }),
		do("hangs", func() error { time.Sleep(time.Hour); return nil }),
		do("fine again", func() error { return nil }),
	}
	if from := os.Getenv(isolatedInput); from != "" {
		n, err := strconv.Atoi(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := Serve(context.Background(), os.Stdout, nil, nil, cases, n); err != nil {
			t.Fatal(err)
		}
		return
	}
	var got []string
	err := RunIsolated(context.Background(), cases, 2*time.Second, func(from int) *exec.Cmd {
		cmd := peer.Command(os.Args[0], "-test.run", "^TestIsolated$")
		cmd.Env = append(os.Environ(), isolatedInput+"="+strconv.Itoa(from))
		return cmd
	}, func(r Result) {
		first, _, _ := strings.Cut(r.Message, "\n")
		got = append(got, r.Case.Name+": "+string(r.Status)+" "+first)
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"fine: pass ", "crashes: fail the process crashed: exit status 7",
		"says why: fail the process crashed: Check failed: a == b (1 vs. 2)", "fails: fail no", "hangs: fail it did not end within 2s", "fine again: pass "}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestKnownFailures(t *testing.T) {
	known, err := ReadKnown(strings.NewReader("# types that it lacks\n\nops/abs f32\n  ops/abs f64  \nops/cosine f32\n"))
	if err != nil {
		t.Fatal(err)
	}
	var results []Result
	for _, c := range Suite()[:3] { // abs f64, f32, f16
		results = append(results, Result{Case: c, Status: Failed})
	}
	results[0].Status = Passed
	passing := ApplyKnown(results, known)
	if len(passing) != 1 || passing[0] != "ops/abs f64" {
		t.Errorf("%q pass unexpectedly, expected ops/abs f64", passing)
	}
	if results[1].Status != Known || results[2].Status != Failed {
		t.Errorf("the known failure is %q, the other %q", results[1].Status, results[2].Status)
	}
	if _, err := ReadKnown(strings.NewReader("ops/abs f32\nops/nothing\n")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a name that no case has: %v", err)
	}
}
