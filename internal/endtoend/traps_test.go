// The race detector does not see the programs that these tests start.
//go:build linux && cgo && !race

package endtoend

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hlocb/hlocb/internal/launch"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/runtime/interpose"
)

// plugin returns the path of the CPU plugin.
func (s *startedProgram) plugin() string { return pluginOf(s.env) }

func pluginOf(env []string) string {
	for _, v := range env {
		if path, ok := strings.CutPrefix(v, "PJRT_NAMES_AND_LIBRARY_PATHS=xcpu:"); ok {
			return path
		}
	}
	return ""
}

// ownVariables returns the variables with which JAX loads the library itself as its plugin.
func (s *startedProgram) ownVariables(more ...string) []string {
	return append([]string{"PJRT_NAMES_AND_LIBRARY_PATHS=xcpu:" + filepath.Join(s.dir, launch.PluginFile), "JAX_PLATFORMS=xcpu,cpu", "HLOCB_PLUGIN=" + s.plugin()}, more...)
}

// messages returns hlocb's lines.
func messages(stderr string) (out []string) {
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, "hlocb: ") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

// cc builds a C file as a shared library, with further flags.
func cc(t *testing.T, source string, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "plugin.so")
	if text, err := peer.Command("cc", append([]string{"-shared", "-fPIC", "-o", out, source, "-ldl"}, flags...)...).CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
		t.Skip("skip: no C compiler")
	} else if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

// squares is the output of testdata/traps/program.c.
const squares = "1 4 9\n1 4 9\n"

// program builds testdata/traps/program.c, which starts in a tenth of the time that JAX takes, and returns a function
// that runs it on the library.
func (s *startedProgram) program(t *testing.T) func(env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program")
	if out, err := peer.Command("cc", "-I", filepath.Dir(s.plugin()), "-o", file, "testdata/traps/program.c", "-ldl").CombinedOutput(); err != nil {
		t.Skipf("skip: no C compiler or no pjrt_c_api.h: %v %s", err, out)
	}
	return func(env []string, args ...string) (string, string, int) {
		t.Helper()
		return finish(t, peer.Command(file, append([]string{filepath.Join(s.dir, launch.PluginFile)}, args...)...), env...)
	}
}

// interposedWithoutFFI: a plugin without FFI passes through, with one sentence.
func interposedWithoutFFI(t *testing.T, s *startedProgram) {
	run := s.program(t)
	got, stderr, code := run([]string{"HLOCB_TAP=.*", "VARIANT=without FFI", "VARIANT_OF=" + s.plugin(), "HLOCB_PLUGIN=" + cc(t, "testdata/traps/variant.c")})
	if got != squares || code != 0 {
		t.Errorf("exit code %d, output\n%s\n%s", code, got, stderr)
	}
	if m := messages(stderr); len(m) != 1 || !strings.HasSuffix(m[0], "plugin.so cannot call hooks: it has no FFI extension; its programs run untapped") {
		t.Errorf("messages %q", m)
	}
}

// interposedTopology: a program that is compiled for a topology is tapped when it is serialized, loaded and run, and
// when a plugin that is newer than our table loads it by a function of its own.
func interposedTopology(t *testing.T, s *startedProgram) {
	run, variant := s.program(t), cc(t, "testdata/traps/variant.c")
	for kind, mode := range map[string]string{"topology": "topology", "newer topology": "newest"} {
		got, stderr, code := run([]string{"VARIANT=" + kind, "VARIANT_OF=" + s.plugin(), "HLOCB_PLUGIN=" + variant, "HLOCB_TAP=multiply"}, mode)
		if n := strings.Count(stderr, "tensor<3xf32>: [1. 4. 9.]"); got != squares || code != 0 || n != 2 || len(messages(stderr)) > 0 {
			t.Errorf("%s: exit code %d, output %q, %d events\n%s", kind, code, got, n, stderr)
		}
	}
}

// ownProcess matches what differs between two processes with the same events.
var ownProcess = regexp.MustCompile(`,"process":"[^"]*","time":\d+`)

// interposedFar: on plugins whose values the host cannot read, taps deliver the same values as on the CPU plugin. A
// function of the plugin copies the values, or the CUDA driver does.
func interposedFar(t *testing.T, s *startedProgram) {
	far := cc(t, "../../runtime/pjrt/testdata/far_plugin.c", `-DPLUGIN="`+s.plugin()+`"`)
	cuda := cc(t, "../../runtime/pjrt/testdata/far_plugin.c", `-DPLUGIN="`+s.plugin()+`"`, "-DCUDA")
	const program = "testdata/interpose/train.py"
	dir := t.TempDir()
	fronts := [][]string{s.env, s.ownVariables("HLOCB_PLUGIN="+cuda, "HLOCB_CUDA_DRIVER="+cuda),
		append(s.env, "PJRT_NAMES_AND_LIBRARY_PATHS=xcpu:"+far), s.ownVariables("HLOCB_PLUGIN=" + far)}
	events := make([]string, len(fronts))
	for i, front := range fronts {
		c := interpose.Config{Taps: []string{".*", "multiply=stats"}, Events: []string{filepath.Join(dir, fmt.Sprint(i, ".json"))}, Dump: filepath.Join(dir, fmt.Sprint(i)), DumpArgs: 1}
		_, stderr, code := finish(t, peer.Command(s.python, program), append(front, c.Environment()...)...)
		text, err := os.ReadFile(c.Events[0])
		if events[i] = ownProcess.ReplaceAllString(string(text), ""); err != nil || code != 0 || len(messages(stderr)) > 0 || len(events[i]) == 0 {
			t.Errorf("front %d: exit code %d, %v\n%s", i, code, err, stderr)
		}
		if args, _ := filepath.Glob(filepath.Join(c.Dump, "*.args.npz")); len(args) == 0 {
			t.Errorf("front %d: no arguments", i)
		}
	}
	for _, got := range events[1:] {
		if diff := cmp.Diff(strings.Split(events[0], "\n"), strings.Split(got, "\n")); diff != "" {
			t.Error(diff)
		}
	}
}

// interposedBounded: a tapped value whose size the program sets has that size, on a plugin, on plugins whose memory the
// host cannot read, and on the engine.
func interposedBounded(t *testing.T, s *startedProgram) {
	far := cc(t, "../../runtime/pjrt/testdata/far_plugin.c", `-DPLUGIN="`+s.plugin()+`"`)
	cuda := cc(t, "../../runtime/pjrt/testdata/far_plugin.c", `-DPLUGIN="`+s.plugin()+`"`, "-DCUDA")
	const program = "testdata/interpose/bounded.py"
	want, _, _ := s.run(t, program, "JAX_PLATFORMS=cpu")
	for name, env := range map[string][]string{
		"plugin": s.env, "far": s.ownVariables("HLOCB_PLUGIN=" + far), "cuda": s.ownVariables("HLOCB_PLUGIN="+cuda, "HLOCB_CUDA_DRIVER="+cuda),
		"engine": append(s.engine(t), "LD_PRELOAD="),
	} {
		for _, tap := range []string{"set_dimension_size", "set_dimension_size=stats"} {
			out, stderr, code := s.run(t, program, append(env, interpose.Config{Taps: []string{tap}}.Environment()...)...)
			var sizes []string
			for _, m := range regexp.MustCompile(`tensor<(\d+)xf32>`).FindAllStringSubmatch(stderr, -1) {
				sizes = append(sizes, m[1])
			}
			if out != want || code != 0 || strings.Join(sizes, " ") != "3 1 5" {
				t.Errorf("%s, %s: exit code %d, output\n%s\nexpected\n%s\n%s", name, tap, code, out, want, stderr)
			}
		}
	}
}

// interposedForeign: on a platform that JAX does not know, module hlocb.callbacks makes callbacks work, with and
// without taps.
func interposedForeign(t *testing.T, s *startedProgram) {
	const program = "testdata/interpose/callbacks.py"
	env := s.ownVariables("VARIANT=mychip", "VARIANT_OF="+s.plugin(), "HLOCB_PLUGIN="+cc(t, "testdata/traps/variant.c"), "PYTHONPATH=../../python",
		"PJRT_NAMES_AND_LIBRARY_PATHS=mychip:"+filepath.Join(s.dir, launch.PluginFile), "JAX_PLATFORMS=mychip,cpu")
	want, _, _ := s.run(t, program, "JAX_PLATFORMS=cpu")
	events := filepath.Join(t.TempDir(), "events")
	for _, c := range []interpose.Config{{}, {Taps: []string{".*"}, Events: []string{events}}} {
		out, stderr, code := finish(t, peer.Command(s.python, "-m", "hlocb.callbacks", program), append(env, c.Environment()...)...)
		if code != 0 || out != want || len(messages(stderr)) > 0 {
			t.Errorf("%+v: exit code %d, output\n%s\nexpected\n%s\n%s", c, code, out, want, stderr)
		}
	}
	if len(readEvents(t, events)) == 0 {
		t.Error("no events")
	}
}

// TestInterposedUnderASAN runs 1,000 asynchronous executions on four devices with callbacks, with and without taps, in
// a library that is built with the address sanitizer, and a program on the engine. The sanitizer finds nothing, and
// every context of an execution is destroyed.
func TestInterposedUnderASAN(t *testing.T) {
	if os.Getenv("HLOCB_LONG") == "" {
		t.Skip("skip: takes minutes; set HLOCB_LONG=1")
	}
	s := starter(t)
	library := func(name string) string {
		out, err := peer.Command("gcc", "-print-file-name="+name).Output()
		path := strings.TrimSpace(string(out))
		if err != nil || !filepath.IsAbs(path) {
			t.Skipf("skip: no %s: gcc's sanitizer is not installed", name)
		}
		return path
	}
	preload := library("libasan.so") + ":" + library("libstdc++.so.6")
	plugin := filepath.Join(t.TempDir(), launch.PluginFile)
	if out, err := peer.Command("go", "build", "-asan", "-buildmode=c-shared", "-o", plugin, "../../cmd/libhlocb_pjrt").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	env := s.ownVariables("VARIANT=counted", "VARIANT_OF="+s.plugin(), "HLOCB_PLUGIN="+cc(t, "testdata/traps/variant.c"), "LD_PRELOAD="+preload,
		"ASAN_OPTIONS=detect_leaks=0", "PJRT_NAMES_AND_LIBRARY_PATHS=xcpu:"+plugin)
	events := filepath.Join(t.TempDir(), "events")
	for _, c := range []interpose.Config{{}, {Taps: []string{"tanh"}, Events: []string{events}}} {
		out, stderr, code := s.run(t, "testdata/traps/async.py", append(env, c.Environment()...)...)
		_, report, _ := strings.Cut(stderr, "contexts: ")
		report, _, _ = strings.Cut(report, "\n")
		var created, destroyed int
		fmt.Sscanf(report, "%d created, %d destroyed", &created, &destroyed)
		if code != 0 || out != "[4000, 100]\n" || strings.Contains(stderr, "AddressSanitizer") || created < 1100 || created != destroyed {
			t.Errorf("%+v: exit code %d, output %q, contexts: %s\n%s", c, code, out, report, stderr)
		}
		t.Logf("%s; AddressSanitizer found nothing", report)
	}
	if n := len(readEvents(t, events)); n < 4000 {
		t.Errorf("%d events", n)
	}
	// The engine as JAX's client. Go's race detector does not start in a library that Python loads: it cannot map the
	// shadow memory of an address that high.
	text, err := os.ReadFile(filepath.Join(s.dir, launch.EngineFile))
	if err != nil {
		t.Fatal(err)
	}
	engine := filepath.Join(filepath.Dir(plugin), launch.EngineFile)
	if err := os.WriteFile(engine, text, 0o777); err != nil {
		t.Fatal(err)
	}
	const program = "testdata/engine/robust.py"
	want := s.onJAX(t, program)
	out, stderr, code := s.run(t, program, "PJRT_NAMES_AND_LIBRARY_PATHS=cpu:"+engine, "JAX_PLATFORMS=cpu", "LD_PRELOAD="+preload, "ASAN_OPTIONS=detect_leaks=0")
	if code != 0 || out != want || strings.Contains(stderr, "AddressSanitizer") {
		t.Errorf("engine: exit code %d, output\n%s\nwant\n%s\n%s", code, out, want, stderr)
	}
}

// interposedProcesses: the library leaves forks, signals, faults and pipes to the program.
func interposedProcesses(t *testing.T, s *startedProgram) {
	start := func(mode string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		t.Cleanup(cancel)
		c := peer.CommandContext(ctx, s.python, "testdata/traps/process.py", filepath.Join(s.dir, launch.PluginFile), mode)
		c.Env = append(os.Environ(), "HLOCB_PLUGIN="+s.plugin())
		var out, stderr bytes.Buffer
		c.Stdout, c.Stderr = &out, &stderr
		return c, &out, &stderr
	}
	for mode, want := range map[string]string{
		"fork":      "child 7\nresult 499500\nsame table True\n",
		"interrupt": "KeyboardInterrupt\n",
		"dlclose":   "same table True\n",
	} {
		c, out, stderr := start(mode)
		if err := c.Run(); err != nil || out.String() != want {
			t.Errorf("%s: %v, output %q, expected %q\n%s", mode, err, out, want, stderr)
		}
	}
	// Variables that the program sets before it opens the plugin take effect.
	c, out, stderr := start("settings")
	if err := c.Run(); err != nil || out.String() != "same table True\n" || !strings.Contains(stderr.String(), "hlocb: tap (: ") {
		t.Errorf("settings: %v, output %q\n%s", err, out, stderr)
	}
	for mode, trace := range map[string]bool{"fault before": true, "fault after": true, "fault": false} {
		c, _, stderr := start(mode)
		var exit *exec.ExitError
		if err := c.Run(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGSEGV {
			t.Errorf("%s: %v, expected the end by SIGSEGV\n%s", mode, err, stderr)
		}
		if got := strings.Contains(stderr.String(), "Fatal Python error: Segmentation fault") && strings.Contains(stderr.String(), "process.py"); got != trace {
			t.Errorf("%s: Python's traceback is there: %v\n%s", mode, got, stderr)
		}
	}
	c, _, stderr = start("pipe")
	c.Stdout = nil
	pipe, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	pipe.Read(make([]byte, 10))
	pipe.Close()
	if err := c.Wait(); c.ProcessState.ExitCode() != 3 || !strings.Contains(stderr.String(), "BrokenPipeError") {
		t.Errorf("pipe: %v\n%s", err, stderr)
	}
}

// interposedRuntimes: a Go program that loads the library keeps its asynchronous preemption: beside a goroutine without
// calls it collects 20 times in under two seconds of processor time. Without preemption it hangs.
func interposedRuntimes(t *testing.T, s *startedProgram) {
	program := filepath.Join(t.TempDir(), "tworuntimes")
	if out, err := peer.Command("go", "build", "-o", program, "testdata/tworuntimes/main.go").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := peer.CommandContext(ctx, program, filepath.Join(s.dir, launch.PluginFile))
	c.Env = append(os.Environ(), "HLOCB_PLUGIN="+s.plugin())
	var stderr bytes.Buffer
	c.Stderr = &stderr
	if out, err := c.Output(); err != nil || string(out) != "20 collections in under two seconds\n" {
		t.Errorf("%v, output %q %q", err, out, &stderr)
	}
	t.Logf("20 collections took %s", strings.TrimSpace(stderr.String()))
}

// interposedMistakes: the library reports a mistake in one line. The program continues if it can, unless the settings
// are strict.
func interposedMistakes(t *testing.T, s *startedProgram) {
	run := s.program(t)
	plugin := "HLOCB_PLUGIN=" + s.plugin()
	foreign := filepath.Join(t.TempDir(), "foreign.so")
	data, err := os.ReadFile(filepath.Join(s.dir, launch.PreloadFile))
	if err != nil {
		t.Fatal(err)
	}
	data[18]++ // e_machine
	if err := os.WriteFile(foreign, data, 0o666); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty.c")
	if err := os.WriteFile(empty, []byte("int nothing;\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	const goesOn, ends = true, false
	tap := interpose.Config{Taps: []string{"multiply"}}
	tap.Events = []string{"/dev/full"}
	full := tap.Environment()
	tap.Events = []string{"/no such directory/events"}
	nowhere := tap.Environment()
	for _, test := range []struct {
		env    []string
		line   string
		goesOn bool
	}{
		{[]string{"HLOCB_PLUGIN="}, "HLOCB_PLUGIN is not set", ends},
		{[]string{"HLOCB_PLUGIN=/none.so"}, "/none.so is not a usable PJRT plugin: /none.so: cannot open shared object file: No such file or directory", ends},
		{[]string{"HLOCB_PLUGIN=" + foreign}, "it is built for another processor", ends},
		{[]string{"HLOCB_PLUGIN=" + cc(t, empty)}, "undefined symbol: GetPjrtApi", ends},
		{[]string{plugin, "HLOCB_TAP=("}, "tap (: error parsing regexp: missing closing )", goesOn},
		{[]string{plugin, "HLOCB_PASSES=nothing"}, "passes: ", goesOn},
		{[]string{plugin, "HLOCB_ON=x=nothing"}, "on x=nothing: ", goesOn},
		{[]string{plugin, "HLOCB_DUMP_ARGS=x"}, "dump-args: expected the number of a run", goesOn},
		{append(full, plugin), "/dev/full: no space left on device", goesOn},
		{append(nowhere, plugin), "/no such directory/events: no such file or directory", goesOn},
		{[]string{plugin, "HLOCB_TAP=multiply=finite", "HLOCB_ON=*=exec:false"}, "failed at event 0 on device 0: child ended", goesOn},
		{[]string{plugin, "HLOCB_TAP=multiply=finite", "HLOCB_ON=*=exec:timeout=1s,sleep 60"}, "failed at event 0 on device 0: child did not answer within 1s", goesOn},
	} {
		got, stderr, code := run(test.env)
		lines := messages(stderr)
		at := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, test.line) })
		if at < 0 || strings.Contains(stderr, "goroutine ") {
			t.Errorf("%q: messages %q, expected %q", test.env, lines, test.line)
		}
		if strings.Contains(test.line, "no space left") && len(lines) != 1 {
			t.Errorf("%q: messages %q, expected one", test.env, lines)
		}
		if test.goesOn && (got != squares || code != 0) || !test.goesOn && code == 0 {
			t.Errorf("%q: exit code %d, output %q\n%s", test.env, code, got, stderr)
		}
		if !test.goesOn {
			continue
		}
		expected := interpose.ExitFailed
		if strings.Contains(test.line, "within") {
			expected++ // a timeout adds an event
		}
		if _, stderr, code := run(append(test.env, "HLOCB_STRICT=1")); code != expected {
			t.Errorf("%q, strict: exit code %d, expected %d\n%s", test.env, code, expected, stderr)
		}
	}
}

// interposedWithout: without a CPU plugin, 'hlocb exec' reports this and runs the program.
func interposedWithout(t *testing.T, s *startedProgram) {
	home := t.TempDir()
	out, stderr, code := finish(t, peer.Command(filepath.Join(s.dir, "hlocb"), "exec", "--tap", "subtract", "--", "echo", "ran"),
		"HOME="+home, "XDG_CACHE_HOME="+home, "HLOCB_CPU_PLUGIN=", "VIRTUAL_ENV=", "JAX_PLATFORMS=", "PJRT_NAMES_AND_LIBRARY_PATHS=")
	if m := messages(stderr); code != 0 || out != "ran\n" || len(m) != 1 || !strings.Contains(m[0], "no CPU plugin is installed") {
		t.Errorf("exit code %d, messages %q, output %s", code, m, out)
	}
}
