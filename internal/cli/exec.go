package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/events"
	"github.com/hlocb/hlocb/internal/launch"
	"github.com/hlocb/hlocb/internal/probe"
	"github.com/hlocb/hlocb/opt"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/runtime/interpose"
)

func (a *app) execCommand() *cobra.Command {
	var cfg interpose.Config
	var step, backend, memory string
	c := &cobra.Command{
		Use:   "exec [flags] -- COMMAND [ARG...]",
		Short: "Run a framework's program and observe the modules that it compiles",
		Long: `Run a program that uses a PJRT plugin, such as a JAX script, and look at values inside the programs that it compiles. The program does not change.

--tap selects values whose op, name, function or location (file:line) matches a regular expression. A location is the line that computes the value; under:REGEX also selects what is computed inside the calls of a line. Probes print to standard error, so the program's own output stays as it is. JAX's Python callbacks work on plugins that lack them.

JAX's built-in CPU client is not a plugin. On a machine without an accelerator, and if neither JAX_PLATFORMS nor PJRT_NAMES_AND_LIBRARY_PATHS is set, JAX gets the installed CPU plugin under the name xcpu, or hlocb's embedded engine if no plugin is installed.

With --backend engine the program runs on the embedded engine, which needs no plugin and compiles many times faster than XLA. It serves JAX, GoMLX, and PyTorch/XLA beside hlocb's Python package.

--dump DIR --dump-args 1 writes each program with the arguments of its first run. --replay repeats such a step without the framework; --tap, --on and --events look into it.

The exit code is the program's. With --strict a failing probe ends the program with exit code 3, and a program in which nothing was observed ends with 2.`,
		Example: `  hlocb exec --tap 'train.py:41' -- python train.py
  hlocb exec --tap 'under:train.py:20=stats' -- python train.py
  hlocb exec --tap 'dot_general=stats' --tap 'tanh=finite' -- python train.py
  hlocb exec --bisect-nan -- python train.py
  hlocb exec --tap '.*' --events events.jsonl -- python train.py
  hlocb exec --dump d --dump-args 1 -- python train.py
  hlocb exec --backend engine -- python train.py
  hlocb exec --replay d/0002_jit_step --tap '.*=finite'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && step == "" {
				return usagef("missing a command: hlocb exec [flags] -- COMMAND")
			}
			return nil
		},
		RunE: command.Body(func(cmd *cobra.Command, args []string) error {
			if backend != "" && backend != "engine" {
				return usagef("--backend %s: expected engine; without the flag, the program chooses its plugin", backend)
			}
			if err := checkExecFlags(&cfg); err != nil {
				return err
			}
			if step != "" {
				return a.replayStep(cmd.Context(), step, args, &cfg)
			}
			program, err := exec.LookPath(args[0])
			if err != nil {
				return err
			}
			if err := a.prepare(&cfg); err != nil {
				return err
			}
			limit, err := parseSize(memory)
			if err != nil && memory != "" {
				return usagef("--memory-limit %s: %w", memory, err)
			}
			if limit != 0 && backend != "engine" {
				return usagef("--memory-limit needs --backend engine")
			}
			more, err := a.execBackend(cmd.Context(), backend, limit)
			if err != nil {
				return err
			}
			if backend == "" && cfg.Observes() {
				opened, err := launch.Watch()
				if err != nil {
					return err
				}
				more = append(more, opened)
			}
			env := append(append(os.Environ(), cfg.Environment()...), more...)
			if a.ownLogLevel { // the program sees all that XLA logs without hlocb
				env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, logLevel+"=") })
			}
			env = (&exec.Cmd{Env: env}).Environ() // the last value of each variable; a program would see the first
			return fmt.Errorf("%s: %w", program, syscall.Exec(program, args, env))
		}),
	}
	f := c.Flags()
	f.SetInterspersed(false)
	f.StringArrayVar(&cfg.Taps, "tap", nil, "`REGEX[=PROBE]` look at the values that REGEX selects; PROBE is print (default), stats, finite or record; may be repeated")
	f.Int64Var(&cfg.Every, "every", 0, "`N` look only at every Nth execution of a value, from the first on")
	f.Int64Var(&cfg.First, "first", 0, "`N` look at at most N executions of a value")
	f.BoolVar(&cfg.List, "list", false, "list the values that can be tapped on standard error")
	f.StringVar(&cfg.Passes, "passes", "", "`PIPELINE` run these passes over each program first")
	command.Group(c, "What to look at")
	f.BoolVar(&cfg.BisectNaN, "bisect-nan", false, "find the first op of each program whose result has a NaN while its operands have none")
	f.BoolVar(&cfg.Inf, "inf", false, "with --bisect-nan: find infinite elements too")
	command.Group(c, "Search")
	f.StringVar(&backend, "backend", "", "`NAME` engine: run the program on the embedded engine (default: on the program's plugin)")
	f.StringVar(&memory, "memory-limit", "", "`SIZE` with --backend engine: limit for all values of the program, such as 2GiB (default none)")
	command.Group(c, "Backend")
	f.StringArrayVar(&cfg.On, "on", nil, "`NAME=HANDLER` bind a handler; NAME is a name, glob or id; may be repeated")
	f.BoolVar(&cfg.Strict, "strict", false, "end the program when a handler fails")
	command.Group(c, "Handlers")
	f.StringArrayVar(&cfg.Events, "events", nil, "`FILE` write each event: to FILE.parquet, tb:DIR, trace:FILE, or as a line of JSON; taps without a PROBE then print nothing; may be repeated")
	f.BoolVar(&cfg.View, "view", false, "serve a page of the programs with their values while COMMAND runs")
	f.StringVar(&cfg.Metrics, "metrics", "", "`:PORT` serve counts and last values for Prometheus")
	f.StringVar(&cfg.Dump, "dump", "", "`DIR` write each program before and after, and its compile options, to files in DIR")
	f.Int64Var(&cfg.DumpArgs, "dump-args", 0, "`RUN` with --dump, also write the arguments of run RUN of each program; the first is 1")
	command.Group(c, "Output")
	f.StringVar(&step, "replay", "", "`STEP` repeat a dumped step with its arguments: STEP is DIR/NUMBER_NAME; there is no COMMAND")
	command.Group(c, "Instead of COMMAND")
	completeBindings(c, "on")
	command.Common(c, "tap", "every", "list", "bisect-nan", "backend", "on", "strict", "events", "dump", "dump-args")
	return c
}

// execBackend returns the variables that let a program run on a backend whose programs hlocb sees.
func (a *app) execBackend(ctx context.Context, backend string, limit int64) ([]string, error) {
	var plugin []string
	var instead bool // JAX runs on the engine, because there is no plugin
	if backend != "engine" && launch.NeedsCPUPlugin(os.Getenv) {
		if found, err := a.env.Find("cpu"); err == nil && len(found) > 0 {
			if plugin, err = launch.ForJAX(found[0].Path, a.ownLogLevel); err != nil {
				return nil, err
			}
		} else {
			a.note("no CPU plugin is installed, so JAX runs on the embedded engine; 'hlocb plugin install cpu' installs XLA's")
			instead = true
		}
	}
	libraries, err := launch.Find(ctx, a.Err)
	if err != nil {
		return nil, err
	}
	switch {
	case backend == "engine":
		return libraries.OnEngine(limit)
	case instead:
		return libraries.JAXOnEngine()
	}
	env, err := libraries.Environment(os.Getenv)
	return append(env, plugin...), err
}

// checkExecFlags reports mistakes in the flags. The plugin would report them only when the program opens it.
func checkExecFlags(cfg *interpose.Config) error {
	switch {
	case cfg.Inf && !cfg.BisectNaN:
		return usagef("--inf needs --bisect-nan")
	case cfg.DumpArgs < 0:
		return usagef("--dump-args must not be negative")
	case cfg.DumpArgs > 0 && cfg.Dump == "":
		return usagef("--dump-args needs --dump DIR")
	}
	if err := checkSample(probe.Sample{Every: cfg.Every, First: cfg.First}, len(cfg.Taps) > 0); err != nil {
		return err
	}
	for _, spec := range cfg.On {
		if _, handler, ok := handlers.CutBinding(spec); !ok {
			return usagef("--on %s: expected NAME=HANDLER", spec)
		} else if kind, _, _ := strings.Cut(handler, ":"); !slices.Contains(handlers.Names(), kind) {
			return usagef("--on %s: unknown handler %q%s", spec, kind, command.Suggest(kind, handlers.Names()))
		}
	}
	if _, err := pass.Parse(cfg.Passes, opt.Passes()); err != nil {
		return command.PipelineUsage(err)
	}
	if err := cfg.Check(); err != nil {
		return usagef("--%w", err)
	}
	return nil
}

// replayStep runs a dumped program with its dumped arguments, as 'hlocb run' does.
func (a *app) replayStep(ctx context.Context, step string, args []string, cfg *interpose.Config) (err error) {
	if len(args) > 0 || cfg.Passes != "" || cfg.Dump != "" || cfg.List || cfg.Strict {
		return usagef("--replay %s: cannot be combined with COMMAND, --passes, --dump, --list or --strict", step)
	}
	base := strings.TrimSuffix(strings.TrimSuffix(step, interpose.DumpedBefore), interpose.DumpedArgs)
	if _, err := os.Stat(base + interpose.DumpedBefore); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s is not a dumped step: %s does not exist%s", step, base+interpose.DumpedBefore, dumpedSteps(base))
	}
	var flags runFlags
	flags.add(&cobra.Command{}, func() {}) // sets the defaults
	flags.bisect, flags.inf = cfg.BisectNaN, cfg.Inf
	flags.taps, flags.sample = cfg.Taps, probe.Sample{Every: cfg.Every, First: cfg.First}
	_, missing := os.Stat(base + interpose.DumpedArgs)
	if missing == nil {
		flags.arguments.sets = []string{base + interpose.DumpedArgs}
	}
	flags.bind.on, flags.bind.events, flags.bind.metrics, flags.bind.view = cfg.On, cfg.Events, cfg.Metrics, cfg.View
	defer func() { err = errors.Join(err, flags.bind.endView(ctx, a)) }()
	w := a.resultWriter("", &flags)
	flags.result = w.write
	if err := a.runModule(ctx, base+interpose.DumpedBefore, &flags); err != nil {
		if missing != nil && errors.As(err, new(*command.UsageError)) {
			return fmt.Errorf("the arguments of %s are missing; dump it with --dump-args: %w", step, missing)
		}
		return err
	}
	return w.close()
}

// dumpedSteps says which steps are beside a step that does not exist, or how to dump one.
func dumpedSteps(base string) string {
	entries, _ := os.ReadDir(filepath.Dir(base))
	var found []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), interpose.DumpedBefore); ok {
			found = append(found, filepath.Join(filepath.Dir(base), name))
		}
	}
	if len(found) == 0 {
		return "; 'hlocb exec --dump DIR --dump-args 1' writes DIR/NUMBER_NAME"
	}
	if len(found) > 5 {
		found = append(found[:5], "...")
	}
	return "; there are: " + strings.Join(found, ", ")
}

// prepare creates the handlers once, to find mistakes before the program starts, and empties the files to which the
// processes of the program append.
func (a *app) prepare(cfg *interpose.Config) error {
	var created []string
	env := &handlers.Env{Out: io.Discard, Err: io.Discard, Library: backends.LoadHandler,
		Whole: func(name string) (io.WriteCloser, error) {
			if name == "-" {
				return command.KeepOpen(io.Discard), nil
			}
			return command.KeepOpen(io.Discard), prepareFile(name)
		},
		Create: func(name string) (io.WriteCloser, error) {
			if name == "-" {
				return command.KeepOpen(io.Discard), nil
			}
			created = append(created, name)
			return os.Create(name)
		},
		Open: func(name string) (io.ReadCloser, error) { return os.Open(name) },
	}
	var closers []io.Closer
	create := func(flag, spec string) error {
		h, _, err := handlers.Parse(spec, env)
		if c, ok := h.(io.Closer); ok && err == nil {
			closers = append(closers, c)
		}
		if err == nil || errors.As(err, new(*os.PathError)) || errors.As(err, new(*backends.HandlerError)) {
			return err
		}
		return usagef("--%s: %w", flag, err)
	}
	for _, spec := range cfg.On {
		_, handler, _ := handlers.CutBinding(spec)
		if err := create("on "+spec, handler); err != nil {
			return err
		}
	}
	for _, name := range cfg.Events {
		if events.IsRecord(name) {
			if err := create("events", "record:"+name); err != nil {
				return err
			}
			continue
		}
		if err := prepareSink(name, env); err != nil {
			return err
		}
	}
	for _, c := range closers {
		if err := c.Close(); err != nil {
			return err
		}
	}
	for _, name := range created { // a handler may have written the beginning of its file
		if err := os.Truncate(name, 0); err != nil {
			return err
		}
	}
	if cfg.Dump != "" {
		if err := os.MkdirAll(cfg.Dump, 0o777); err != nil {
			return err
		}
	}
	var err error
	cfg.Directory, err = os.Getwd()
	return err
}
