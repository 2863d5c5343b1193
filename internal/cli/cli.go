package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/probe"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/opt"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/plugins"
)

// Exit codes of hlocb, in addition to the codes that every command has.
const (
	exitHandler = 3 // a handler failed
	exitTimeout = 4 // a handler did not return in time, or a run could not be stopped
	exitDiffer  = 5 // two compared things differ
)

// maxNameText limits how much of a hook's name an error message repeats, because the module chooses it.
const maxNameText = 500

// app holds the state that commands share: the streams, and the places to search for plugins.
type app struct {
	*command.Console
	env plugins.Environment

	ownLogLevel bool // this process set logLevel
}

// logLevel is the variable that XLA reads when a plugin is loaded. Without it XLA logs every client and compilation to
// standard error.
const logLevel = "TF_CPP_MIN_LOG_LEVEL"

func newApp(stdin io.Reader, stdout, stderr io.Writer) *app {
	return &app{Console: command.NewConsole(stdin, stdout, stderr, os.Getenv), env: plugins.System()}
}

// Main runs the command line args (without the program's name) and returns the exit code. Ctrl-C and SIGTERM stop it.
//
// A crash inside a plugin ends the process with one line, or with all stacks if HLOCB_TRACEBACK is set.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if os.Getenv("HLOCB_TRACEBACK") == "" {
		backends.ReportCrashes()
	}
	a := newApp(stdin, stdout, stderr)
	if os.Getenv(logLevel) == "" {
		a.ownLogLevel = true
		os.Setenv(logLevel, "2")
	}
	ctx, stop := a.Signals()
	defer stop()
	return a.run(ctx, args)
}

// Run is Main with a context that ends the command.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return newApp(stdin, stdout, stderr).run(ctx, args)
}

func (a *app) run(ctx context.Context, args []string) int {
	root := a.rootCommand()
	if len(args) > 0 {
		if c, _, err := root.Find(args[:1]); err == nil && c.Name() == "opt" {
			args = opt.LongFlags(c, args)
		}
	}
	return a.Execute(ctx, root, args, command.Policy{Code: exitCode, Hint: hint, Lost: func(err error) bool {
		return errors.As(err, new(*runtime.LostError))
	}})
}

// machineGroup is the title of the last group of commands in the help.
const machineGroup = "Plugins and machine:"

func (a *app) rootCommand() *cobra.Command {
	var version, quiet bool
	colour := "auto"
	root := &cobra.Command{
		Use:   "hlocb",
		Short: "Run StableHLO and HLO modules with your own callbacks, and rewrite their hooks",
		Long: `Run StableHLO and HLO modules with your own callbacks, and rewrite their hooks.

  Try:   hlocb run testdata/mlir/train_step.mlir --fill iota --print-callbacks
  Help:  hlocb COMMAND --help, hlocb help ` + strings.Join(topicNames(), "|") + `
  Exit:  0 ok, 1 bad input, 2 usage, 3 handler failed, 4 timeout, 5 differs, 130 interrupted (Ctrl-C), 143 terminated`,
		Args: command.NoArgs,
		RunE: command.Body(func(cmd *cobra.Command, _ []string) error {
			if version {
				return a.printVersion(false)
			}
			return cmd.Help()
		}),
	}
	root.Flags().BoolVarP(&version, "version", "v", false, "print the version")
	command.Group(root, "Flags")
	command.Everywhere(root, func(f *pflag.FlagSet) {
		f.BoolVarP(&quiet, "quiet", "q", false, "print no notes and no progress; warnings and errors stay")
		f.StringVar(&colour, "color", "auto", "`WHEN` colours: auto, always or never")
	})
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		if quiet {
			a.SetQuiet()
		}
		return a.Colour(colour)
	}
	cobra.EnableCommandSorting = false
	group := func(title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: title, Title: title})
		for _, c := range commands {
			c.GroupID = title
			root.AddCommand(c)
		}
	}
	group("Look at a module:", a.viewCommand(), a.hooksCommand(), a.explainCommand(), a.tapCommand(), a.infoCommand())
	group("Run it:", a.runCommand(), a.execCommand(), a.compileCommand())
	group("Compare runs:", a.compareCommand(), a.verifyCommand(), a.recordCommand(), a.replayCommand(), a.eventsCommand())
	group("Transform it:", a.rewriteCommand(), a.optCommand(), a.diffCommand(), a.reduceCommand(), a.translateCommand())
	group(machineGroup, a.pluginCommand(), a.benchCommand(), a.versionCommand())
	for name, words := range map[string][]string{"verify": {"check", "validate", "lint"}, "tap": {"trace", "print"}, "translate": {"format", "convert"},
		"exec": {"attach"}, "run": {"execute", "start"}, "plugin": {"cache", "backend"}} {
		c, _, _ := root.Find([]string{name})
		for _, w := range words {
			if !slices.Contains(c.SuggestFor, w) {
				c.SuggestFor = append(c.SuggestFor, w)
			}
		}
	}
	root.SetHelpCommand(a.helpCommand(root))
	root.SetHelpCommandGroupID(machineGroup)
	root.SetCompletionCommandGroupID(machineGroup)
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.Short = "Print a completion script for a shell"
		c.Long = "Print a completion script for a shell. 'hlocb completion bash --help' says how bash loads it."
		command.Parent(c)
		for _, shell := range c.Commands() {
			shell.Short = "Print the script for " + shell.Name()
			shell.RunE = command.Body(shell.RunE)
		}
	}
	return root
}

// exitCode returns hlocb's own exit code for an error, or 0 if the error has none.
func exitCode(err error) int {
	switch {
	case errors.As(err, new(*runtime.UnboundError)), errors.As(err, new(*backends.UnknownError)):
		return command.Usage
	case errors.As(err, new(*runtime.TimeoutError)), errors.As(err, new(*runtime.LostError)):
		return exitTimeout
	case errors.As(err, new(*runtime.HookError)), errors.As(err, new(*probe.OriginError)):
		return exitHandler
	case errors.As(err, new(*command.SilentError)):
		return exitDiffer
	}
	return 0
}

// hint returns advice about flags for an error of the libraries.
func hint(err error) string {
	if unbound, ok := errors.AsType[*runtime.UnboundError](err); ok {
		// The name must be short, and safe for a shell and a terminal without quoting.
		name := unbound.Site.Name
		if len(name) > maxNameText || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune("'=*?[\\", r) }) || name == "" {
			name = unbound.Site.ID.String()
		}
		return fmt.Sprintf(": bind one with --on '%s=HANDLER'", name)
	}
	if target, ok := errors.AsType[*interp.PluginError](err); ok && !strings.HasPrefix(target.Target, "lapack_") {
		return fmt.Sprintf("; to call a handler of your own instead, add --hook-target %s", target.Target)
	}
	if library, ok := errors.AsType[*backends.LibraryError](err); ok {
		return fmt.Sprintf(": run 'hlocb plugin install %s'", library.Library)
	}
	if errors.As(err, new(*hlocb.PlatformError)) {
		return ": use --platform-index N"
	}
	if compiled, ok := errors.AsType[*reader.CompiledError](err); ok {
		return fmt.Sprintf("; it contains machine code: if you trust it, use 'hlocb run --program %s'", compiled.Name)
	}
	return ""
}

// errDiffer says that two compared things differ. The command has printed the differences.
var errDiffer error = &command.SilentError{}

func usagef(format string, args ...any) error { return command.Usagef(format, args...) }

// note prints a line about the command's work to standard error.
func (a *app) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	line := "hlocb: " + diag.EscapeLines(text)
	if strings.HasPrefix(text, "warning:") {
		fmt.Fprintln(a.Err, line)
		return
	}
	a.Note(line)
}

// topic is a page of help that does not belong to a command.
type topic struct{ name, short, text string }

func topicNames() []string { return namesOf(topics(), func(t topic) string { return t.name }) }

// namesOf returns the name of each element of a list.
func namesOf[T any](list []T, name func(T) string) []string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = name(e)
	}
	return out
}

// helpCommand returns the command that prints the help of a command or a topic.
func (a *app) helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND|TOPIC]",
		Short: "Help about a command or a topic",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			found, _, err := root.Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, sub := range found.Commands() {
				if sub.IsAvailableCommand() {
					names = append(names, sub.Name())
				}
			}
			if len(args) == 0 {
				names = append(names, topicNames()...)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				for _, t := range topics() {
					if t.name == args[0] {
						fmt.Fprintf(a.Out, "%s\n", command.Wrap(t.text, a.Width()))
						return nil
					}
				}
			}
			found, rest, err := root.Find(args)
			if len(rest) > 0 || err != nil {
				err := command.UnknownCommand(found, rest, topicNames()...)
				if found == root && !strings.Contains(err.Error(), "did you mean") {
					err = fmt.Errorf("%w; topics are %s", err, strings.Join(topicNames(), ", "))
				}
				return err
			}
			return found.Help()
		},
	}
}
