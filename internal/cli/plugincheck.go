package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/plugincheck"
	"github.com/hlocb/hlocb/internal/plugintest"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
)

// The time limits for compiling and running one piece, and the whole module.
const (
	pieceTimeout = time.Minute
	wholeTimeout = 10 * time.Minute
)

// levels are the values of --level.
var levels = []string{"static", "compile", "run"}

// checkReport is the output of 'hlocb plugin check --json'.
type checkReport struct {
	Plugin   string                `json:"plugin"`
	Level    string                `json:"level"`
	Verdict  plugincheck.Verdict   `json:"verdict"` // of the whole report: no if anything is refused, else maybe if anything may be
	Findings []plugincheck.Finding `json:"findings"`
	Module   *pieceVerdict         `json:"module,omitempty"` // the whole module, compiled
	Pieces   []pieceVerdict        `json:"pieces,omitempty"`
}

// pieceVerdict is the verdict of the plugin on one op alone.
type pieceVerdict struct {
	Name    string              `json:"name"`
	Loc     string              `json:"loc,omitempty"`
	Verdict plugincheck.Verdict `json:"verdict"`
	Why     string              `json:"why"`
}

func (a *app) pluginCheckCommand() *cobra.Command {
	var flags rewriteFlags
	var level string
	var asWritten, asJSON, forExec bool
	c := &cobra.Command{
		Use:   "check IN [NAME|PATH]",
		Short: "Say whether a plugin can run a module, or what exec can do",
		Long: `Say whether a plugin can run a module: yes, no or maybe for each kind of op, element type and custom-call target, and why.

--exec needs no module: it says what 'hlocb exec' can do on the plugin.

Hooks are converted first, as by 'hlocb run'. If the module compiles as a whole, a refused part becomes a maybe. The exit code is 1 if something is refused.

Levels:
  static   looks them up in tables and compiles nothing
  compile  also compiles the module, and each kind of op alone, in a child process that may crash
  run      also runs each kind of op once, on zeros`,
		Example: "  hlocb plugin check train.mlir cpu\n  hlocb plugin check train.mlir ./plugin.so --level run --json\n  hlocb plugin check --exec ./plugin.so",
		Args: func(cmd *cobra.Command, args []string) error {
			if forExec {
				return command.Args("[NAME|PATH]")(cmd, args)
			}
			return command.Args("IN", "[NAME|PATH]")(cmd, args)
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return a.completePlugins(c, args, text)
		},
		RunE: command.Body(func(cmd *cobra.Command, args []string) error {
			if err := oneOf("--level", level, levels); err != nil {
				return err
			}
			if err := command.Exclusive(cmd, "as-written", conversionFlags()...); err != nil {
				return err
			}
			if forExec {
				return a.checkExec(cmd.Context(), args, asJSON)
			}
			opts, err := flags.options()
			if err != nil {
				return err
			}
			m, err := a.checkInput(cmd.Context(), args[0], asWritten, opts)
			if err != nil {
				return err
			}
			plugin := pluginName(args[1:])
			b, err := a.openPlugin(cmd.Context(), args[1:])
			if err != nil {
				return err
			}
			platform, ffi := backends.Traits(b)
			report := checkReport{Plugin: b.Describe(), Level: level, Findings: plugincheck.Static(m, plugincheck.Target{Platform: platform, FFI: ffi})}
			if err := b.Close(); err != nil {
				return err
			}
			if level != "static" {
				if err := a.tryModule(cmd.Context(), plugin, m, &report); err != nil {
					return err
				}
			}
			report.settle()
			return a.showCheck(&report, asJSON)
		}),
	}
	c.Flags().StringVar(&level, "level", "static", "`LEVEL` static, compile or run")
	c.Flags().BoolVar(&forExec, "exec", false, "say what 'hlocb exec' can do on the plugin; there is no IN")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	command.Group(c, "Check")
	c.Flags().BoolVar(&asWritten, "as-written", false, "do not convert hooks")
	flags.add(c)
	command.CompleteFixed(c, "level", levels...)
	return c
}

// checkExec says what 'hlocb exec' can do on a plugin.
func (a *app) checkExec(ctx context.Context, args []string, asJSON bool) error {
	b, err := a.openPlugin(ctx, args)
	if err != nil {
		return err
	}
	defer b.Close()
	info, err := backends.InfoOf(b)
	if err != nil {
		return err
	}
	t := plugincheck.Target{Platform: info.Platform, FFI: slices.Contains(info.Extensions, "ffi"), UserData: info.UserData, Copies: info.Memory == "copied"}
	for _, attr := range info.Attributes {
		if attr.Name == "stablehlo_current_version" {
			t.Artifact = attr.Value
		}
	}
	r := checkReport{Plugin: b.Describe(), Level: "static", Findings: plugincheck.Exec(t)}
	r.settle()
	return r.write(a.Out, asJSON)
}

// checkInput reads the module to check.
func (a *app) checkInput(ctx context.Context, path string, asWritten bool, opts []hlocb.LoadOption) (*ir.Module, error) {
	if asWritten {
		return a.module(path)
	}
	p, err := a.program(ctx, path, opts...)
	if err != nil {
		return nil, err
	}
	return p.Module(), nil
}

// tryModule lets the plugin compile the module and its pieces, and run the pieces at level run.
func (a *app) tryModule(ctx context.Context, plugin string, m *ir.Module, r *checkReport) error {
	end := a.While("compiling on " + plugin)
	whole, err := a.tryPieces(ctx, plugin, []plugincheck.Piece{plugincheck.Whole(m)}, false, wholeTimeout)
	end()
	if err != nil {
		return err
	}
	r.Module = &whole[0]
	pieces := plugincheck.Pieces(m)
	defer a.While(fmt.Sprintf("trying %d ops on %s", len(pieces), plugin))()
	r.Pieces, err = a.tryPieces(ctx, plugin, pieces, r.Level == "run", pieceTimeout)
	return err
}

// each calls f with the verdict and the reason of every line of the report.
func (r *checkReport) each(f func(v *plugincheck.Verdict, why *string)) {
	for i := range r.Findings {
		f(&r.Findings[i].Verdict, &r.Findings[i].Why)
	}
	for i := range r.Pieces {
		f(&r.Pieces[i].Verdict, &r.Pieces[i].Why)
	}
	if r.Module != nil {
		f(&r.Module.Verdict, &r.Module.Why)
	}
}

// settle sets the verdict of the whole report. If the module compiles, an op that the plugin or a table refuses alone
// becomes a maybe.
func (r *checkReport) settle() {
	compiled := r.Module != nil && r.Module.Verdict == plugincheck.Yes
	r.Verdict = plugincheck.Yes
	r.each(func(v *plugincheck.Verdict, why *string) {
		if *v == plugincheck.No && compiled {
			*v = plugincheck.Maybe
			*why += "; but the module compiles"
		}
		if *v == plugincheck.No || *v == plugincheck.Maybe && r.Verdict == plugincheck.Yes {
			r.Verdict = *v
		}
	})
}

// count returns how many lines of the report have a verdict.
func (r *checkReport) count(v plugincheck.Verdict) (n int) {
	r.each(func(w *plugincheck.Verdict, _ *string) {
		if *w == v {
			n++
		}
	})
	return n
}

func (a *app) showCheck(r *checkReport, asJSON bool) error {
	if err := r.write(a.Out, asJSON); err != nil {
		return err
	}
	switch {
	case r.count(plugincheck.No) > 0:
		return fmt.Errorf("the plugin cannot run the module; refused: %d of the above", r.count(plugincheck.No))
	case asJSON:
	case r.count(plugincheck.Maybe) > 0:
		a.note("nothing is refused for certain; perhaps refused: %d of the above", r.count(plugincheck.Maybe))
	case r.Level == "static":
		a.note("the tables refuse nothing")
	default:
		a.note("the plugin compiles the module")
	}
	return nil
}

// write writes JSON, or a line per finding, per kind of piece with one outcome, and for the module.
func (r *checkReport) write(out io.Writer, asJSON bool) error {
	if asJSON {
		return writeJSON(out, r)
	}
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "VERDICT\tOF\tNAME\tTIMES\tWHY")
	for _, f := range r.Findings {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", f.Verdict, f.Kind, diag.Escape(f.Name), f.Count, diag.Escape(f.Why))
	}
	type group struct {
		name    string
		verdict plugincheck.Verdict
		why     string
	}
	var order []group
	count, first := map[group]int{}, map[group]string{}
	for _, p := range r.Pieces {
		g := group{p.Name, p.Verdict, p.Why}
		if count[g]++; count[g] == 1 {
			order = append(order, g)
			first[g] = p.Loc
		}
	}
	for _, g := range order {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\tfirst at %s: %s\n", g.verdict, r.Level, diag.Escape(g.name), count[g], diag.Escape(first[g]), diag.Escape(g.why))
	}
	if m := r.Module; m != nil {
		fmt.Fprintf(w, "%s\tcompile\t%s\t1\t%s\n", m.Verdict, m.Name, diag.Escape(m.Why))
	}
	return w.Flush()
}

// pieceCases returns the pieces as cases of a test.
func pieceCases(pieces []plugincheck.Piece, run bool) []plugintest.Case {
	var out []plugintest.Case
	for _, p := range pieces {
		out = append(out, plugintest.Case{Name: p.Name, Do: func(ctx context.Context, b runtime.Backend) error {
			return plugincheck.Try(ctx, b, p, run)
		}})
	}
	return out
}

// tryPieces tries the pieces in child processes. If a child crashes or hangs, the next child continues after that
// piece.
func (a *app) tryPieces(ctx context.Context, plugin string, pieces []plugincheck.Piece, run bool, limit time.Duration) ([]pieceVerdict, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	out := make([]pieceVerdict, len(pieces))
	var pending []*pieceVerdict
	var tried []plugincheck.Piece
	for i, p := range pieces {
		out[i] = pieceVerdict{Name: p.Name, Loc: p.Loc, Verdict: plugincheck.Maybe, Why: p.Why}
		if p.Text != "" {
			pending, tried = append(pending, &out[i]), append(tried, p)
		}
	}
	input, err := json.Marshal(tried)
	if err != nil {
		return nil, err
	}
	done := "compiles"
	if run {
		done = "compiles and runs"
	}
	return out, plugintest.RunIsolated(ctx, pieceCases(tried, run), limit, func(from int) *exec.Cmd {
		cmd := exec.Command(self, "plugin", "try", plugin, "--from", strconv.Itoa(from), "--run="+strconv.FormatBool(run))
		cmd.Stdin = bytes.NewReader(input)
		return cmd
	}, func(r plugintest.Result) {
		p := pending[0]
		pending = pending[1:]
		p.Verdict, p.Why = plugincheck.No, refusal(r.Message)
		if reason, ok := strings.CutPrefix(p.Why, plugintest.Crashed); ok {
			p.Why = "crashes the plugin: " + reason
		}
		if r.Status == plugintest.Passed {
			p.Verdict, p.Why = plugincheck.Yes, done
		}
	})
}

// inPiece matches a position in the text of a piece, which the user does not see, and the form of the piece.
var inPiece = regexp.MustCompile(`^(compile: )?(UNKNOWN: )?((-|piece):\d+:\d+|<unknown>:0): error: | \(the plugin got .*\)$`)

// refusal returns the first line of the plugin's error.
func refusal(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimRight(inPiece.ReplaceAllString(line, ""), ": ")
}

// pluginTryCommand is the child of tryPieces: it reads the pieces as JSON and tries them as cases of a test.
func (a *app) pluginTryCommand() *cobra.Command {
	var run bool
	var from int
	c := &cobra.Command{
		Use:    "try PLUGIN",
		Short:  "Compile the pieces on standard input, or crash",
		Hidden: true,
		Args:   command.Args("PLUGIN"),
		RunE: command.Body(func(cmd *cobra.Command, args []string) error {
			b, err := backends.Open(cmd.Context(), args[0], a.backendOptions())
			if err != nil {
				return err
			}
			defer b.Close()
			var pieces []plugincheck.Piece
			if err := json.NewDecoder(a.In).Decode(&pieces); err != nil {
				return err
			}
			return plugintest.Serve(cmd.Context(), a.Out, b, nil, pieceCases(pieces, run), from)
		}),
	}
	c.Flags().BoolVar(&run, "run", false, "run them too")
	c.Flags().IntVar(&from, "from", 0, "the first piece to try")
	return c
}
