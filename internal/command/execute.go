package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hlocb/hlocb/diag"
)

// Exit codes that every command has.
const (
	OK    = 0
	Input = 1 // bad input, a missing file, a failed verification
	Usage = 2 // the command line is wrong
)

// bodyError marks an error returned by the body of a command, to distinguish it from an error of the command line.
type bodyError struct{ error }

func (e bodyError) Unwrap() error { return e.error }

// UsageError is a mistake in the command line that only the body of a command can detect.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the mistake.
func (e *UsageError) Unwrap() error { return e.Err }

// Usagef returns a *UsageError.
func Usagef(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// PipelineUsage returns the usage error for a mistake in the pipeline of --passes, with the column in the flag's value.
func PipelineUsage(err error) error {
	return Usagef("--passes:%s", strings.Replace(strings.TrimPrefix(err.Error(), "pipeline:"), ": error: ", ": ", 1))
}

// Body makes run the body of a cobra command.
func Body(run func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := run(cmd, args); err != nil {
			return bodyError{err}
		}
		return nil
	}
}

// Args accepts the named arguments. A name in brackets may be missing: "[IN]".
func Args(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		need := 0
		for _, n := range names {
			if n[0] != '[' {
				need++
			}
		}
		if len(args) < need {
			return fmt.Errorf("%s: missing %s", cmd.CommandPath(), strings.Join(names[len(args):need], " "))
		}
		if len(args) > len(names) {
			extra := args[len(names)]
			return fmt.Errorf("%s: unexpected argument %q%s", cmd.CommandPath(), extra, cmp.Or(valueHint(cmd, extra), hookHint(cmd, extra)))
		}
		return nil
	}
}

// valueHint returns a hint if an unexpected argument may be the value of a flag that needs a '=' before its value.
func valueHint(cmd *cobra.Command, arg string) string {
	hint := ""
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if optionalValue(f) && f.Value.String() == f.NoOptDefVal {
			hint = fmt.Sprintf("; the value of --%s follows a '=': --%s=%s", f.Name, f.Name, arg)
		}
	})
	return hint
}

// hookHint returns a hint if an unexpected argument may be the name of a value or of a hook.
func hookHint(cmd *cobra.Command, arg string) string {
	if cmd.Flags().Lookup("tap") == nil || cmd.Flags().Lookup("on") == nil || strings.ContainsAny(arg, "/.= ") {
		return ""
	}
	return fmt.Sprintf("; did you mean --tap %s, or --on %s=print?", arg, arg)
}

// Exclusive returns a usage error if the user gave flag and one of the others.
func Exclusive(cmd *cobra.Command, flag string, others ...string) error {
	for _, other := range others {
		if cmd.Flags().Changed(flag) && cmd.Flags().Changed(other) {
			return Usagef("--%s and --%s cannot be combined", flag, other)
		}
	}
	return nil
}

// Parent makes c a command that has subcommands only: alone, it prints its help.
func Parent(c *cobra.Command, subcommands ...*cobra.Command) *cobra.Command {
	c.Args = NoArgs
	c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	c.AddCommand(subcommands...)
	return c
}

// NoArgs refuses arguments of a command that has subcommands only, and suggests a subcommand.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return UnknownCommand(cmd, args)
}

// UnknownCommand returns an error for args that do not name a subcommand, and suggests a subcommand or one of names.
func UnknownCommand(cmd *cobra.Command, args []string, names ...string) error {
	for _, c := range cmd.Commands() {
		for _, sub := range c.Commands() {
			if c.IsAvailableCommand() && sub.Name() == args[0] && sub.Name() != "help" {
				return fmt.Errorf("unknown command %q for %q; did you mean '%s'?", args[0], cmd.CommandPath(), sub.CommandPath())
			}
		}
		if slices.Contains(c.SuggestFor, args[0]) {
			return fmt.Errorf("unknown command %q for %q; did you mean %s?", args[0], cmd.CommandPath(), c.Name())
		}
		if c.IsAvailableCommand() || c.Hidden && len(c.Aliases) > 0 {
			names = append(append(names, c.Name()), c.Aliases...)
		}
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), Suggest(args[0], names))
}

// Policy configures how a set of commands handles errors at the end.
type Policy struct {
	// Code returns the exit code of an error of a command's body, 0 for no code of its own. It may be nil.
	Code func(error) int
	// Hint returns advice about an error, which is added to its text. It may be nil.
	Hint func(error) string
	// Lost reports whether an interrupted plugin is still busy. It may be nil.
	Lost func(error) bool
}

// code returns the exit code of an error.
func (p *Policy) code(err error) int {
	if !errors.As(err, new(bodyError)) || errors.As(err, new(*UsageError)) {
		return Usage
	}
	if p.Code != nil {
		if code := p.Code(err); code != 0 {
			return code
		}
	}
	return Input
}

// SilentError sets an exit code; its message has been printed already.
type SilentError struct{ Text string }

func (e *SilentError) Error() string { return e.Text }

// Execute runs a command line and returns the exit code. It reports an error, and fails if results could not be
// written.
func (c *Console) Execute(ctx context.Context, root *cobra.Command, args []string, p Policy) int {
	c.in.ctx = ctx
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetArgs(args)
	root.SetIn(c.In)
	root.SetOut(c.Out)
	root.SetErr(c.Err)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if askedShort(args) {
			WriteShortHelp(c.Out, cmd, c.Width())
			return
		}
		WriteHelp(c.Out, cmd, c.Width())
	})
	root.SetUsageFunc(func(cmd *cobra.Command) error { WriteHelp(c.Out, cmd, c.Width()); return nil })
	root.SetFlagErrorFunc(flagError)
	registerCompletions(root, args)
	ran, err := root.ExecuteContextC(ctx)
	c.Progress("")
	if failed := c.Failed(); failed != nil && !errors.Is(err, failed) {
		err = errors.Join(err, bodyError{fmt.Errorf("writing the output: %w", failed)})
	}
	if err == nil {
		return OK
	}
	code := p.code(err)
	if code != Usage && ctx.Err() != nil {
		fmt.Fprintln(c.Err, p.interrupted(err))
		if sig, ok := errors.AsType[*Signal](context.Cause(ctx)); ok {
			return sig.Code()
		}
		return interruptCode
	}
	c.report(err, ran, code, p.Hint)
	return code
}

// askedShort reports whether a command line asks for the short help.
func askedShort(args []string) bool {
	for _, a := range args {
		switch a {
		case "--":
			return false
		case "-h":
			return true
		}
	}
	return false
}

// report prints an error for a person: diagnostics with the source line and a caret. It escapes names that came from
// a module.
func (c *Console) report(err error, cmd *cobra.Command, code int, hint func(error) string) {
	if silent, ok := errors.AsType[*SilentError](err); ok && silent.Text == "" {
		return
	}
	more := ""
	if hint != nil {
		more = hint(err)
	}
	var text bytes.Buffer
	if list := diag.ListOf(err); list != nil {
		list.RenderWidth(&text, c.errWidth())
	} else {
		fmt.Fprintf(&text, "error: %s\n", diag.EscapeLines(err.Error()+more))
		more = ""
		if code == Usage && !errors.As(err, new(bodyError)) {
			if cmd.Name() == "help" {
				cmd = cmd.Parent()
			}
			fmt.Fprintf(&text, "run '%s --help' for usage\n", cmd.CommandPath())
		}
	}
	if more != "" {
		fmt.Fprintf(&text, "note: %s\n", diag.EscapeLines(strings.TrimLeft(more, ";: ")))
	}
	fmt.Fprint(c.Err, c.Paint(text.String()))
}

// Show prints a diagnostic.
func (c *Console) Show(d *diag.Diagnostic) {
	var text bytes.Buffer
	d.RenderWidth(&text, c.errWidth())
	fmt.Fprint(c.Err, c.Paint(text.String()))
}

// inOp finds the op that a run was stopped in.
var inOp = regexp.MustCompile(`^(\S+:\d+:\d+): error: ('[^']*') op`)

// interrupted returns the message about an interruption. It names the op that was running, if err does.
func (p *Policy) interrupted(err error) string {
	if m := inOp.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Sprintf("interrupted in %s (%s)", m[2], diag.EscapeLines(m[1]))
	}
	if p.Lost != nil && p.Lost(err) {
		return "interrupted; the plugin was still running the program"
	}
	return "interrupted"
}

// expectedValues says what the values of flags look like, by the names of their types.
var expectedValues = map[string]string{
	"duration": "a duration such as 30s or 5m", "int": "a number", "int64": "a number", "uint64": "a number from 0 to 2^64-1", "bool": "true or false",
}

// flagError describes a mistake in a flag, and adds a suggestion to an unknown flag.
func flagError(cmd *cobra.Command, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		f := invalid.GetFlag()
		if expected := expectedValues[f.Value.Type()]; expected != "" {
			return fmt.Errorf("--%s %s: expected %s", f.Name, invalid.GetValue(), expected)
		}
		return fmt.Errorf("--%s=%s: %w", f.Name, invalid.GetValue(), invalid.Unwrap())
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return fmt.Errorf("--%s needs a value", missing.GetFlag().Name)
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if ok && len(unknown.GetSpecifiedName()) == 1 {
		return unknownShorthand(cmd, unknown.GetSpecifiedName())
	}
	if !ok || unknown.GetSpecifiedName() == "" {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Usage != "" { // the help hides flags that have one, too, such as opt's flags of passes
			names = append(names, f.Name)
		}
	})
	name := unknown.GetSpecifiedName()
	list := Closest(name, names)
	if len(list) == 0 || len(list) > 3 {
		return fmt.Errorf("unknown flag --%s", name)
	}
	return fmt.Errorf("unknown flag --%s; did you mean --%s?", name, OneOf(list))
}

// longName returns the flag that other commands have as a letter.
func longName(letter string) string {
	switch letter {
	case "o":
		return "results"
	case "a":
		return "args"
	case "n":
		return "steps"
	}
	return ""
}

// unknownShorthand describes a flag of one letter that a command does not have, and suggests a flag for it.
func unknownShorthand(cmd *cobra.Command, name string) error {
	meant := ""
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Usage == "" {
			return
		}
		if f.Name == longName(name) || meant == "" && strings.HasPrefix(f.Name, name) {
			meant = f.Name
		}
	})
	if f := cmd.Flags().Lookup(meant); f != nil {
		does, _, _ := strings.Cut(f.Usage, ":")
		return fmt.Errorf("unknown flag -%s; did you mean --%s (%s)?", name, f.Name, does)
	}
	return fmt.Errorf("unknown flag -%s", name)
}

// Signal is the cause of a context that Signals returned and a signal ended.
type Signal struct{ Signal os.Signal }

func (s *Signal) Error() string { return "interrupted" }

// interruptCode is the exit code of Ctrl-C, as shells count it.
const interruptCode = 130

// Code returns the exit code of a process that the signal ends: 130 for Ctrl-C, 143 for SIGTERM.
func (s *Signal) Code() int {
	if n, ok := s.Signal.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return interruptCode
}

// stopTime is how long a command may take to stop before the user is told how to end it at once.
const stopTime = 2 * time.Second

// lateTime is how long a command may take to stop after SIGTERM or SIGHUP before it is ended. timeout, systemd and
// Kubernetes send one SIGTERM.
const lateTime = 5 * time.Second

// Signals returns a context that Ctrl-C, SIGTERM and SIGHUP end. A second signal ends the process, and so does SIGTERM
// or SIGHUP after lateTime: a plugin may not let itself be interrupted.
func (c *Console) Signals() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	received := make(chan os.Signal, 2)
	signal.Notify(received, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		first, ok := <-received
		if !ok {
			return
		}
		cancel(&Signal{first})
		late := time.AfterFunc(stopTime, func() {
			fmt.Fprintln(c.Err, "hlocb: stopping; Ctrl-C again ends it at once")
		})
		if first != os.Interrupt {
			late.Stop()
			late = time.AfterFunc(lateTime, func() {
				fmt.Fprintln(c.Err, "hlocb: the command did not stop")
				os.Exit((&Signal{first}).Code())
			})
		}
		defer late.Stop()
		if second, ok := <-received; ok {
			fmt.Fprintln(c.Err, "interrupted")
			os.Exit((&Signal{second}).Code())
		}
	}()
	return ctx, func() {
		signal.Stop(received)
		close(received)
		cancel(nil)
	}
}
