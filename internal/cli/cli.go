package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/plugins"
)

// Exit codes.
const (
	exitOK          = 0
	exitInput       = 1   // bad input, a missing file, a failed verification
	exitUsage       = 2   // the command line is wrong
	exitHandler     = 3   // a handler failed
	exitTimeout     = 4   // a handler did not return in time, or a run could not be stopped
	exitDiffer      = 5   // two things that were compared differ
	exitInterrupted = 130 // Ctrl-C, as shells count it
)

// app is what the commands share: the streams and where plugins are looked for.
type app struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	env    plugins.Environment

	terminal *os.File // stderr where it is somebody's screen, else nil
}

// Main runs the command line args (without the program's name) and returns the exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return Run(ctx, args, stdin, stdout, stderr)
}

// Run is Main with a context that ends the command.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: &syncWriter{w: stderr}, env: plugins.System(), terminal: terminalOf(stderr)}
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	ran, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	a.report(err, ran)
	code := exitCode(err)
	var lost *runtime.LostError
	if code != exitUsage && ctx.Err() != nil && !errors.As(err, &lost) {
		return exitInterrupted
	}
	return code
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "hlocb",
		Short: "Host callbacks of HLO and StableHLO modules, in one form that runs everywhere",
		Long: `hlocb reads HLO and StableHLO modules whose frameworks talk to their host by outfeed, infeed, host transfers or
custom calls, turns all of these into one custom call with aliases and an order that the compiler keeps, and runs
the modules on the embedded engine or on a PJRT plugin with handlers for the callbacks.

Exit codes: 0 fine, 1 bad input or failed verification, 2 usage, 3 a handler failed, 4 timed out, 5 two things
that were compared differ.`,
		Args:          noSubcommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.HiddenDefaultCmd = false
	for _, g := range a.groups() {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	root.SetHelpCommand(helpCommand(root))
	root.SetHelpCommandGroupID("about")
	root.SetCompletionCommandGroupID("about")
	return root
}

// commandError marks an error that a command returned, to tell it from one of the command line itself.
type commandError struct{ err error }

func (e *commandError) Error() string { return e.err.Error() }
func (e *commandError) Unwrap() error { return e.err }

// usageError is a mistake in the command line that only the command could see.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// differError says that two things which were compared differ; what differs is already printed.
type differError struct{ text string }

func (e *differError) Error() string { return e.text }

// command makes run the body of a cobra command.
func command(run func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := run(cmd, args); err != nil {
			return &commandError{err}
		}
		return nil
	}
}

func exitCode(err error) int {
	var (
		ran     *commandError
		usage   *usageError
		unbound *runtime.UnboundError
		unknown *backends.UnknownError
		timeout *runtime.TimeoutError
		lost    *runtime.LostError
		hook    *runtime.HookError
		differ  *differError
	)
	switch {
	case !errors.As(err, &ran), errors.As(err, &usage), errors.As(err, &unbound), errors.As(err, &unknown):
		return exitUsage
	case errors.As(err, &timeout), errors.As(err, &lost):
		return exitTimeout
	case errors.As(err, &hook):
		return exitHandler
	case errors.As(err, &differ):
		return exitDiffer
	}
	return exitInput
}

// report prints an error for a person: diagnostics with the source line and a caret, everything with the names
// that came from a module escaped.
func (a *app) report(err error, cmd *cobra.Command) {
	var d *diag.Diagnostic
	var list diag.List
	var differ *differError
	switch {
	case errors.As(err, &differ) && differ.text == "":
	case errors.As(err, &list):
		list.Render(a.stderr)
	case errors.As(err, &d):
		d.Render(a.stderr)
	default:
		fmt.Fprintf(a.stderr, "error: %s%s\n", diag.EscapeLines(err.Error()), diag.EscapeLines(hint(err)))
		if exitCode(err) == exitUsage {
			var ran *commandError
			if !errors.As(err, &ran) {
				fmt.Fprintf(a.stderr, "run '%s --help' for usage\n", cmd.CommandPath())
			}
		}
	}
}

// hint returns what to do about an error of the libraries, which know no flags.
func hint(err error) string {
	var unbound *runtime.UnboundError
	if errors.As(err, &unbound) {
		// The name must be one that a shell and a terminal accept as it is.
		name := unbound.Site.Name
		if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune("'=*?[\\", r) }) || name == "" {
			name = unbound.Site.ID.String()
		}
		return fmt.Sprintf(": bind one with --on '%s=HANDLER'", name)
	}
	var compiled *reader.CompiledError
	if errors.As(err, &compiled) {
		return fmt.Sprintf("; it contains machine code: if you trust it, use 'hlocb run --program %s'", compiled.Name)
	}
	return ""
}

// note prints a line about what the command does, to standard error.
func (a *app) note(format string, args ...any) {
	fmt.Fprintf(a.stderr, "hlocb: %s\n", diag.EscapeLines(fmt.Sprintf(format, args...)))
}

// exactArgs is cobra.ExactArgs with a message that says what is expected.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return fmt.Errorf("%s: missing %s", cmd.CommandPath(), strings.Join(names[len(args):], " "))
		}
		if len(args) > len(names) {
			return fmt.Errorf("%s: unexpected argument %q", cmd.CommandPath(), args[len(names)])
		}
		return nil
	}
}

// helpCommand is cobra's, but for a command that there is not, which is an error.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			c, _, err := root.Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, sub := range c.Commands() {
				if sub.IsAvailableCommand() {
					names = append(names, sub.Name())
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return noSubcommand(c, rest)
			}
			return c.Help()
		},
	}
}

// noSubcommand refuses the arguments of a command that has subcommands only.
func noSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	cmd.SuggestionsMinimumDistance = 2
	if list := cmd.SuggestionsFor(args[0]); len(list) > 0 {
		hint = fmt.Sprintf("; did you mean %s?", oneOf(list))
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), hint)
}

// oneOf lists what may be given: "a, b or c".
func oneOf(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
	return strings.Join(names, "")
}
