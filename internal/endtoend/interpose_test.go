// The race detector does not see the programs that these tests start.
//go:build linux && cgo && !race

package endtoend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/launch"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/probe"
	"github.com/hlocb/hlocb/internal/values"
	"github.com/hlocb/hlocb/internal/words"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/interpose"
)

// startedProgram runs Python programs plainly and under the interposer.
type startedProgram struct {
	dir    string // of the libraries
	python string
	env    []string
	plain  map[plainRun]string // the output of plain JAX
	lock   *sync.Mutex         // of plain
}

// plainRun names a run of plain JAX.
type plainRun struct{ python, programs string }

func starter(t *testing.T) *startedProgram {
	t.Helper()
	python := peer.Find()
	if python == "" {
		t.Skip("skip: jaxlib not installed")
	}
	found, err := hlocb.DefaultBackends().Plugins.Find("cpu")
	if err != nil || len(found) == 0 {
		t.Skip("skip: no CPU plugin")
	}
	dir := t.TempDir()
	if err := launch.Build(context.Background(), dir); err != nil {
		t.Fatal(err)
	}
	if out, err := peer.Command("go", "build", "-o", filepath.Join(dir, "hlocb"), "../../cmd/hlocb").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	none := func(string) string { return "" }
	env, err := launch.In(dir).Environment(none)
	if err != nil {
		t.Fatal(err)
	}
	env = append(env, "PJRT_NAMES_AND_LIBRARY_PATHS=xcpu:"+found[0].Path, "JAX_PLATFORMS=xcpu,cpu")
	return &startedProgram{dir, python, env, map[plainRun]string{}, new(sync.Mutex)}
}

// engine returns the variables with which a program runs on the engine.
func (s *startedProgram) engine(t *testing.T) []string {
	t.Helper()
	env, err := launch.In(s.dir).OnEngine(0)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// run runs programs, all in one process, with further variables. It returns the results of finish.
func (s *startedProgram) run(t *testing.T, programs string, env ...string) (stdout, stderr string, code int) {
	t.Helper()
	args := strings.Fields(programs)
	if len(args) > 1 {
		args = append([]string{"testdata/traps/several.py"}, args...)
	}
	return finish(t, peer.Command(s.python, args...), env...)
}

// onJAX returns what programs print on JAX's own client, which runs them once for all parts of the test.
func (s *startedProgram) onJAX(t *testing.T, programs string) string {
	t.Helper()
	key := plainRun{s.python, programs}
	s.lock.Lock()
	out, ran := s.plain[key]
	s.lock.Unlock()
	if ran {
		return out
	}
	out, messages, code := s.run(t, programs, "JAX_PLATFORMS=cpu")
	if code != 0 {
		t.Fatalf("plain JAX: exit code %d\n%s", code, messages)
	}
	s.lock.Lock()
	s.plain[key] = out
	s.lock.Unlock()
	return out
}

// finish runs a command with further variables and returns its output, its messages and its exit code.
func finish(t *testing.T, c *exec.Cmd, env ...string) (stdout, stderr string, code int) {
	t.Helper()
	c.Env = append(os.Environ(), env...)
	var out, messages bytes.Buffer
	c.Stdout, c.Stderr = &out, &messages
	err := c.Run()
	if exit, ok := err.(*exec.ExitError); ok {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return out.String(), messages.String(), code
}

func (s *startedProgram) with(c interpose.Config, more ...string) []string {
	return append(append(append([]string(nil), s.env...), c.Environment()...), more...)
}

// TestInterposed runs JAX programs on a wrapped plugin. It builds the libraries, for which Go compiles every package
// again, as position-independent code.
func TestInterposed(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	s := starter(t)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *startedProgram)
	}{
		{"tapped programs", func(t *testing.T, s *startedProgram) { interposedPrograms(t, s, true, false) }},
		{"untapped programs", func(t *testing.T, s *startedProgram) { interposedPrograms(t, s, false, false) }},
		{"large programs, tapped", func(t *testing.T, s *startedProgram) { interposedPrograms(t, s, true, true) }},
		{"large programs, untapped", func(t *testing.T, s *startedProgram) { interposedPrograms(t, s, false, true) }},
		{"versions", interposedVersions},
		{"nan", interposedNaN},
		{"cache", interposedCache},
		{"documents", interposedDocuments},
		{"engine", onEngine},
		{"own targets", interposedTargets},
		{"without a plugin", interposedWithout},
		{"without FFI", interposedWithoutFFI},
		{"far memory", interposedFar},
		{"bounded sizes", interposedBounded},
		{"topology", interposedTopology},
		{"foreign platform", interposedForeign},
		{"processes", interposedProcesses},
		{"runtimes", interposedRuntimes},
		{"sharded failures", interposedShardedFailures},
		{"command", interposedCommand},
		{"mistakes", interposedMistakes},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, s) })
	}
}

// execBlock matches a block of 'hlocb exec' in a document. execCommand matches a command in it and the command's
// output.
var (
	execBlock   = regexp.MustCompile("(?ms)^```console\n(\\$ hlocb exec .*?)^```$")
	execCommand = regexp.MustCompile(`(?m)^\$ hlocb (exec [^\n]*)\n((?:[^$\n][^\n]*\n)*)`)
)

// interposedDocuments: the commands of the documents print the output in the documents, with the libraries beside the
// command.
func interposedDocuments(t *testing.T, s *startedProgram) {
	command := filepath.Join(s.dir, "hlocb")
	ran, dump, printed := 0, t.TempDir(), map[string]string{}
	packages := peer.Command(s.python, "-c", "import equinox, flax, optax").Run() == nil
	if !packages {
		t.Run("Equinox and flax", func(t *testing.T) { t.Skip("skip: equinox, flax or optax is not installed") })
	}
	for _, doc := range []string{"../../README.md", "../../docs/interposer.md", "../../docs/jax-without-xla.md"} {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range execBlock.FindAllStringSubmatch(string(text), -1) {
			for _, step := range execCommand.FindAllStringSubmatch(block[1], -1) {
				ran++
				args, err := words.Split(step[1])
				if err != nil {
					t.Fatal(err)
				}
				for i, arg := range args { // the documents write into and read from d
					if arg == "d" || strings.HasPrefix(arg, "d/") {
						args[i] = filepath.Join(dump, arg)
					}
				}
				c := peer.Command(command, args...)
				c.Dir = "testdata/interpose"
				if program := args[max(0, slices.Index(args, "python")+1)]; strings.HasSuffix(program, ".py") && missing(filepath.Join(c.Dir, program)) {
					if c.Dir = "../../examples/exec"; !packages {
						continue
					}
				}
				out, again := printed[step[1]]
				if !again {
					stdout, stderr, code := finish(t, c, "PATH="+filepath.Dir(s.python)+string(filepath.ListSeparator)+os.Getenv("PATH"), "JAX_PLATFORMS=", "PJRT_NAMES_AND_LIBRARY_PATHS=")
					if out = stdout + stderr; code != 0 {
						t.Errorf("%s: exit code %d\n%s", step[1], code, out)
					}
					printed[step[1]] = out
				}
				for line := range strings.Lines(step[2]) {
					pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(line)), `\.\.\.`, ".*")
					if !regexp.MustCompile(pattern).MatchString(out) {
						t.Errorf("%s: it does not print %s\n%s", step[1], line, out)
					}
				}
			}
		}
	}
	if ran < 3 {
		t.Errorf("only %d commands were found", ran)
	}
}

func missing(file string) bool {
	_, err := os.Stat(file)
	return err != nil
}

// interposedPrograms: JAX's programs print the same on a wrapped plugin, with and without taps on every value, and no
// program stays untapped. Programs without callbacks, which a replay can repeat, deliver as many events per run as the
// engine does. tapped says which; large selects the programs that take longest, or the others.
func interposedPrograms(t *testing.T, s *startedProgram, tapped, large bool) {
	files, err := filepath.Glob("testdata/interpose/*.py")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	groups := map[string][]string{}
	for _, file := range files {
		if slices.Contains(largePrograms, filepath.Base(file)) != large {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := "repeated"
		if bytes.Contains(text, []byte("callback")) || bytes.Contains(text, []byte("debug.print")) {
			name = "callbacks"
		}
		groups[name] = append(groups[name], file)
	}
	for name, files := range groups {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			programs := strings.Join(files, " ")
			want := s.onJAX(t, programs)
			dir := t.TempDir()
			var config interpose.Config
			if tapped {
				config = interpose.Config{Taps: []string{".*"}, Events: []string{filepath.Join(dir, "events")}, Dump: filepath.Join(dir, "dump"), DumpArgs: 1}
			}
			got, messages, code := s.run(t, programs, s.with(config)...)
			if got != want || code != 0 || !strings.Contains(got, filepath.Base(files[len(files)-1])) {
				t.Errorf("exit code %d, output\n%s\nexpected\n%s\nmessages\n%s", code, got, want, messages)
			}
			if strings.Contains(messages, "hlocb: ") {
				t.Errorf("messages\n%s", messages)
			}
			if !tapped {
				return
			}
			before, _ := filepath.Glob(filepath.Join(config.Dump, "*.before.mlir"))
			after, _ := filepath.Glob(filepath.Join(config.Dump, "*.after.mlir"))
			if len(before) == 0 || len(before) != len(after) {
				t.Errorf("%d programs were dumped before and %d after", len(before), len(after))
			}
			if name == "callbacks" {
				return // a replay lacks the results of callbacks
			}
			expected, delivered := 0, 0
			for _, file := range before {
				expected += countEvents(t, file)
			}
			for _, e := range readEvents(t, config.Events[0]) {
				if e.Run == 1 {
					delivered++
				}
			}
			if delivered != expected || expected == 0 {
				t.Errorf("the first runs have %d events, the dumped programs have %d on the engine with the dumped arguments", delivered, expected)
			}
		})
	}
}

// handlers returns the variable that names a library with handlers of XLA's FFI, and the output of a program that
// calls them on JAX's own client.
func (s *startedProgram) handlers(t *testing.T, program string) (library, want string) {
	t.Helper()
	include, err := peer.Command(s.python, "-c", "import jax.ffi; print(jax.ffi.include_dir())").Output()
	if err != nil {
		t.Fatal(err)
	}
	library = "FFI_LIBRARY=" + cc(t, "testdata/ffi/ffi.c", "-I", strings.TrimSpace(string(include)))
	want, stderr, code := s.run(t, program, library, "JAX_PLATFORMS=cpu")
	if code != 0 {
		t.Fatal(stderr)
	}
	return library, want
}

// interposedTargets: a plugin calls the handlers that a program registers with jax.ffi, also if they are built for a
// newer FFI than the plugin's. A handler that needs more than the plugin has is an error, not a crash.
func interposedTargets(t *testing.T, s *startedProgram) {
	const program = "testdata/ffi/ffi.py"
	library, want := s.handlers(t, program)
	for _, c := range []interpose.Config{{}, {Taps: []string{"multiply"}}} {
		got, stderr, code := s.run(t, program, s.with(c, library)...)
		if got != want || code != 0 || len(messages(stderr)) > 0 || strings.Contains(stderr, "multiply") != (len(c.Taps) > 0) {
			t.Errorf("%+v: exit code %d, output\n%s\nexpected\n%s\n%s", c, code, got, want, stderr)
		}
	}
	got, stderr, code := s.run(t, program, s.with(interpose.Config{}, library, "NEWEST=xcpu")...)
	if got != want+"newest UNIMPLEMENTED\nstaged NOT_FOUND\n" || code != 0 {
		t.Errorf("exit code %d, output\n%s\n%s", code, got, stderr)
	}
	if m := messages(stderr); len(m) != 1 || !strings.Contains(m[0], "custom-call target staged has functions for several stages") {
		t.Errorf("messages %q", m)
	}
}

// interposedShardedFailures: a handler or callback that fails on one of four devices is an exception, which Python can
// catch, and the code of a strict program. Plain JAX ends the process a minute later, because the other devices wait.
func interposedShardedFailures(t *testing.T, s *startedProgram) {
	const program = "testdata/traps/failing.py"
	engine := append(s.engine(t), "LD_PRELOAD=")
	for _, test := range []struct {
		name   string
		config interpose.Config
		first  string // what log prints
		code   int
	}{
		{"nothing configured", interpose.Config{}, "log nan", 0},
		{"tolerant", interpose.Config{Taps: []string{"log=finite"}}, "log nan", 0},
		{"strict", interpose.Config{Taps: []string{"log=finite"}, Strict: true}, "log JaxRuntimeError", 3},
		{"strict search", interpose.Config{BisectNaN: true, Strict: true}, "log JaxRuntimeError", 3},
	} {
		for backend, env := range map[string][]string{"plugin": s.with(test.config), "engine": s.with(test.config, engine...)} {
			t.Run(test.name+", "+backend, func(t *testing.T) {
				out, messages, code := s.run(t, program, env...)
				want := test.first + "\ncallback JaxRuntimeError\nlog 0.0\ncallback 8.0\n"
				if out != want || code != test.code {
					t.Errorf("exit code %d, output\n%s\nexpected\n%s\nmessages\n%s", code, out, want, messages)
				}
				if found := strings.Contains(messages, "log") && strings.Contains(messages, "nan"); found != (test.name != "nothing configured") {
					t.Errorf("messages\n%s", messages)
				}
			})
		}
	}
}

// interposedCommand: 'hlocb exec' finds mistakes before the program starts, says at the end if nothing was observed,
// reports a failing place once, writes files where it was started, and works below paths with blanks and colons. XLA
// logs nothing that JAX would not print without it.
func interposedCommand(t *testing.T, s *startedProgram) {
	dir := filepath.Join(t.TempDir(), "a b:c,d")
	if err := os.MkdirAll(filepath.Join(dir, "elsewhere"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "bin"), os.DirFS(s.dir)); err != nil {
		t.Fatal(err)
	}
	const program = `import os
os.chdir("elsewhere")
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    def body(i, x):
        y = jnp.log(x)
        jax.debug.callback(lambda v: None, y)
        return y - 1
    return jax.lax.fori_loop(0, 50, body, x)
print(f(-jnp.ones(3)))
`
	for _, test := range []struct {
		name, flags, stdout, stderr string
		code                        int
		files                       string
		command                     []string // instead of the program
	}{
		{name: "nothing", stdout: "[nan nan nan]\n"},
		{name: "files", flags: "--on *=record:own.jsonl --events events.jsonl", stdout: "[nan nan nan]\n", files: "own.jsonl events.jsonl"},
		{name: "standard output", flags: "--tap %none --events - --on *=count", stdout: "50", stderr: "tap %none matches no value"},
		{name: "once per place", flags: "--on *=finite", stdout: "[nan nan nan]\n", stderr: "failed at event 0 on device 0: operand 0 holds nan"},
		{name: "idle tap", flags: "--strict --tap %none", stdout: "[nan nan nan]\n", stderr: "tap %none matches no value", code: 2},
		{name: "log level", flags: "--tap x", stdout: "[]\n", command: []string{"sh", "-c", "echo [$TF_CPP_MIN_LOG_LEVEL]"}}, // a shell leaves out what libraries do at the end
		{name: "no plugin", flags: "--tap x", stderr: "the program opened no PJRT plugin", command: []string{"true"}},
		{name: "no plugin, strict", flags: "--strict --tap x", stderr: "the program opened no PJRT plugin", code: 2, command: []string{"true"}},
		{name: "a child opens it", flags: "--on *=record:e", stdout: "[nan nan nan]\n", command: []string{"sh", "-c", `python -c "$0"; true`, program}, files: "e"},
		{name: "missing recording", flags: "--on *=replay:nofile", stderr: "open nofile: no such file", code: 1, command: []string{"echo", "started"}},
		{name: "missing library", flags: "--on *=plugin:./none.so", stderr: "none.so", code: 1, command: []string{"echo", "started"}},
		{name: "missing directory", flags: "--events none/e", stderr: "open none/e", code: 1, command: []string{"echo", "started"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := append([]string{"exec"}, strings.Fields(test.flags)...)
			if args = append(args, "--"); test.command != nil {
				args = append(args, test.command...)
			} else {
				args = append(args, "python", "-c", program)
			}
			c := peer.Command(filepath.Join(dir, "bin", "hlocb"), args...)
			c.Dir = dir
			out, messages, code := finish(t, c, "PATH="+filepath.Dir(s.python)+string(filepath.ListSeparator)+os.Getenv("PATH"), "JAX_PLATFORMS=", "PJRT_NAMES_AND_LIBRARY_PATHS=",
				"TF_CPP_MIN_LOG_LEVEL=") // which commands that ran in this process have set
			if code != test.code || test.stdout == "50" && strings.Count(out, "\n{")+1 != 50 || test.stdout != "50" && out != test.stdout {
				t.Errorf("exit code %d, output\n%s\nmessages\n%s", code, out, messages)
			}
			var lines []string
			for line := range strings.Lines(messages) {
				if !strings.Contains(line, "is experimental") { // of JAX
					lines = append(lines, line)
				}
			}
			if test.stderr == "" && len(lines) > 0 || test.stderr != "" && !strings.Contains(messages, test.stderr) || test.name == "once per place" && len(lines) != 1 {
				t.Errorf("messages\n%s", messages)
			}
			for _, name := range strings.Fields(test.files) {
				if events := readEvents(t, filepath.Join(dir, name)); len(events) != 50 {
					t.Errorf("%s has %d events", name, len(events))
				}
			}
		})
	}
}

// largePrograms are the programs in testdata/interpose that XLA compiles for seconds.
var largePrograms = []string{"linalg.py", "networks.py", "runs.py", "sharded.py", "transforms.py"}

// interposedVersions: the programs print the same under both versions of JAX on both versions of the CPU plugin, with a
// tap on every value. interposedPrograms has the default of both.
func interposedVersions(t *testing.T, s *startedProgram) {
	files, err := filepath.Glob("testdata/interpose/*.py")
	if err != nil {
		t.Fatal(err)
	}
	other := func(t *testing.T) string {
		found, err := hlocb.DefaultBackends().Plugins.Find(peer.OtherPlugin)
		if err != nil {
			t.Skipf("skip: no CPU plugin %s", peer.OtherPlugin)
		}
		return found[0].Path
	}
	peer.Each(t, nil, func(t *testing.T, p *peer.Interpreter) {
		jax := *s
		jax.python = p.Path()
		try := func(name string, plugin func(*testing.T) string) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var list []string
				for _, file := range files {
					if p.Differs("print of "+filepath.Base(file)+" on "+name) == "" {
						list = append(list, file)
					}
				}
				programs := strings.Join(list, " ")
				want := jax.onJAX(t, programs)
				config := interpose.Config{Taps: []string{".*"}, Events: []string{filepath.Join(t.TempDir(), "events")}}
				got, messages, code := jax.run(t, programs, jax.with(config, "PJRT_NAMES_AND_LIBRARY_PATHS=xcpu:"+plugin(t))...)
				if got != want || code != 0 || !strings.Contains(got, filepath.Base(list[len(list)-1])) {
					t.Errorf("exit code %d, output\n%s\nexpected\n%s\nmessages\n%s", code, got, want, messages)
				}
				if strings.Contains(messages, "hlocb: ") || len(readEvents(t, config.Events[0])) < 1000 {
					t.Errorf("%d events, messages\n%s", len(readEvents(t, config.Events[0])), messages)
				}
			})
		}
		if p.Path() != s.python {
			try("cpu", func(*testing.T) string { return s.plugin() })
		}
		try(peer.OtherPlugin, other)
	})
}

type interposedEvent struct {
	Hook, Loc string
	Run       int64
}

func readEvents(t *testing.T, file string) []interposedEvent {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []interposedEvent
	for line := range strings.Lines(string(text)) {
		var e interposedEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Hook == "" {
			t.Fatalf("%s: %v", line, err)
		}
		out = append(out, e)
	}
	return out
}

// countEvents taps every value of a dumped program and runs it on the engine with its dumped arguments.
func countEvents(t *testing.T, file string) int {
	t.Helper()
	p, err := hlocb.Load(context.Background(), file, hlocb.BeforeConversion(func(m *ir.Module) error {
		_, err := probe.Add(m, []probe.Tap{{Patterns: []*regexp.Regexp{regexp.MustCompile(".*")}, Kind: probe.Print}})
		return err
	}))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	e, err := p.Compile(context.Background(), hlocb.On("engine"), hlocb.Observe("*", hlocb.HandlerFunc(func(context.Context, *runtime.Call) error {
		n++
		return nil
	})))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	types, err := p.Parameters()
	if err != nil {
		t.Fatal(err)
	}
	var args []any
	set, err := values.Open(strings.TrimSuffix(file, interpose.DumpedBefore) + interpose.DumpedArgs)
	if errors.Is(err, fs.ErrNotExist) && len(types) > 0 {
		return 0 // it was compiled only
	}
	if len(types) > 0 {
		if err != nil {
			t.Fatal(err)
		}
		defer set.Close()
	}
	for i, typ := range types {
		v, err := set.Read(set.Find(i), typ.DType)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, v)
	}
	if _, err := e.Run(context.Background(), args...); err != nil {
		t.Fatal(err)
	}
	return n
}

// interposedNaN: a finite tap names the first value with a NaN, with its line in the program. The search for a NaN
// names the op that makes the NaN, once. With Strict the program ends with code 3.
func interposedNaN(t *testing.T, s *startedProgram) {
	const program, origin, result = "testdata/interpose/nan.py", "log of stablehlo.log at ", "nan nan nan nan"
	out, messages, code := s.run(t, program, s.with(interpose.Config{Taps: []string{".*=finite"}})...)
	_, report, found := strings.Cut(messages, "hlocb: hook ")
	first, _, _ := strings.Cut(report, "\n")
	if !found || !strings.Contains(first, origin) || !strings.Contains(first, "nan.py:6:8") || code != 0 || !strings.Contains(out, result) {
		t.Errorf("expected %s…nan.py:6:8 first, got exit code %d, output %s\n%s", origin, code, out, messages)
	}
	const report1 = "nan.py:6:8 f holds nan, its operands hold none; step 1"
	if _, messages, code := s.run(t, program, s.with(interpose.Config{BisectNaN: true, Strict: true})...); code != 3 || !strings.Contains(messages, report1) {
		t.Errorf("strict: expected %q and exit code 3, got %d\n%s", report1, code, messages)
	}
	// loop.py's second execution makes the NaN in the first iteration of its loop; the third has it in its argument.
	out, messages, code = s.run(t, program+" testdata/interpose/search/loop.py", s.with(interpose.Config{BisectNaN: true, Inf: true})...)
	for _, part := range []string{report1, "stablehlo.log at ", "loop.py:7:15 ", "holds nan, its operands hold none; step 2,", "iteration 1 of stablehlo.while at "} {
		if !strings.Contains(messages, part) {
			t.Errorf("expected %q, got\n%s", part, messages)
		}
	}
	if n := strings.Count(messages, "hlocb: "); n != 2 || code != 0 || !strings.Contains(out, result) {
		t.Errorf("%d messages, exit code %d, output %s\n%s", n, code, out, messages)
	}
}

// interposedCache: with the same settings, JAX's cache of compiled programs finds a program again, which delivers the
// same events. With other settings it does not find the program.
func interposedCache(t *testing.T, s *startedProgram) {
	dir := t.TempDir()
	cache := []string{"JAX_COMPILATION_CACHE_DIR=" + filepath.Join(dir, "cache"), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES=-1"}
	run := func(taps string) (events []interposedEvent, compiled int) {
		c := interpose.Config{Taps: []string{taps}, Events: []string{filepath.Join(dir, "events")}, Dump: filepath.Join(dir, "dump")}
		os.Remove(c.Events[0])
		os.RemoveAll(c.Dump)
		if _, messages, code := s.run(t, "testdata/interpose/plain.py", s.with(c, cache...)...); code != 0 || strings.Contains(messages, "hlocb: ") {
			t.Fatalf("exit code %d\n%s", code, messages)
		}
		dumped, _ := filepath.Glob(filepath.Join(c.Dump, "*.before.mlir"))
		return readEvents(t, c.Events[0]), len(dumped)
	}
	first, compiled := run("tanh")
	if len(first) != 1 || compiled == 0 {
		t.Fatalf("%d events, %d programs compiled", len(first), compiled)
	}
	again, compiled := run("tanh")
	if compiled != 0 || len(again) != 1 || again[0] != first[0] {
		t.Errorf("second run: %d programs compiled, events %v, expected %v", compiled, again, first)
	}
	if other, compiled := run("exponential"); compiled == 0 || len(other) != 1 || hook.Frame(other[0].Loc) == hook.Frame(first[0].Loc) {
		t.Errorf("other settings: %d programs compiled, events %v", compiled, other)
	}
}
