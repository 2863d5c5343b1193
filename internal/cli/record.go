package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
	"github.com/hlocb/hlocb/verify"
)

func (a *app) recordCommand() *cobra.Command {
	var flags runFlags
	var out string
	var raw int
	c := &cobra.Command{
		Use:   "record IN -o RECORDING",
		Short: "Run and save callbacks and results",
		Long: `Run a module as 'hlocb run' does and write a recording: the module's hash, the arguments, every callback with its operands, answer and time, and the results.

'hlocb replay' answers from a recording, 'hlocb compare' compares two. Values of 4096 bytes or more (--raw) are kept in RECORDING.data.`,
		Example: "  hlocb record train.mlir -o a.jsonl --fill iota --backend engine",
		Args:    command.Args("IN"),
		RunE: command.Body(func(cmd *cobra.Command, args []string) (err error) {
			if out == "" {
				return usagef("missing -o RECORDING")
			}
			if raw < 0 {
				return usagef("--raw must not be negative")
			}
			if out == "-" {
				raw = 0
			}
			flags.begin = a.recorder(&flags, out, raw, true)
			defer func() { err = errors.Join(err, flags.bind.endView(cmd.Context(), a)) }()
			return a.runModule(cmd.Context(), args[0], &flags)
		}),
	}
	flags.add(c, func() {
		c.Flags().StringVarP(&out, "output", "o", "", "`FILE` write the recording to FILE")
		c.Flags().IntVar(&raw, "raw", handlers.RawBytes, "`N` keep values of N bytes or more in RECORDING.data; 0 keeps all as text")
	})
	return c
}

func (a *app) replayCommand() *cobra.Command {
	var flags runFlags
	var tolerance string
	var asJSON bool
	c := &cobra.Command{
		Use:   "replay IN RECORDING",
		Short: "Run again with saved answers, and compare",
		Long: `Run a module with the arguments and answers of a recording, and compare operands and results with it.

Hooks are matched by id and name. The exit code is 5 if something differs.`,
		Example: "  hlocb replay train.mlir a.jsonl --backend cpu --tolerance 4",
		Args:    command.Args("IN", "RECORDING"),
		RunE: command.Body(func(cmd *cobra.Command, args []string) (err error) {
			tol, err := parseTolerance(cmp.Or(tolerance, "0"))
			if err != nil {
				return err
			}
			before, err := a.readRecording(args[1])
			if err != nil {
				return err
			}
			if before.Header.Version == 0 {
				return fmt.Errorf("%s holds events only; 'hlocb record' writes a recording", args[1])
			}
			dir, err := os.MkdirTemp("", "hlocb-replay-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(dir)
			tmp := filepath.Join(dir, "again.jsonl")
			flags.values = before.Args
			flags.bind.bindings.Answer("*", before.Replay())
			flags.bind.outputs.Inputs = append(flags.bind.outputs.Inputs, args[1], args[1]+handlers.DataSuffix)
			record := a.recorder(&flags, tmp, handlers.RawBytes, false)
			flags.begin = func(h handlers.Header, args []*tensor.Tensor) (*handlers.Recorder, error) {
				if h.Module != before.Header.Module {
					a.note("the module differs from the recorded module; hooks are matched by id and name")
				}
				return record(h, args)
			}
			if flags.bind.view { // the recording beside the run
				r, err := a.recordingEvents(args[1])
				if err != nil {
					return err
				}
				flags.bind.recordings = append(flags.bind.recordings, *r)
			}
			defer func() { err = errors.Join(err, flags.bind.endView(cmd.Context(), a)) }()
			if err := a.runModule(cmd.Context(), args[0], &flags); err != nil {
				return err
			}
			after, err := a.readRecording(tmp)
			if err != nil {
				return err
			}
			return a.compareRecordings(before, after, tol, asJSON)
		}),
	}
	flags.add(c, func() {
		addTolerance(c, &tolerance)
		c.Flags().BoolVar(&asJSON, "json", false, "print the comparison as JSON")
	})
	return c
}

// recorder returns a function that starts a recording of a run in a file. See handlerEnv for beside.
func (a *app) recorder(f *runFlags, path string, raw int, beside bool) func(handlers.Header, []*tensor.Tensor) (*handlers.Recorder, error) {
	return func(h handlers.Header, args []*tensor.Tensor) (*handlers.Recorder, error) {
		r, err := handlers.CreateRecord(path, raw, a.handlerEnv(&f.bind.outputs, beside))
		if err != nil {
			return nil, err
		}
		return handlers.NewRecorder(r, h, args)
	}
}

// endRecording writes the results of a run.
func endRecording(ctx context.Context, r *handlers.Recorder, out []*hlocb.Buffer) (err error) {
	results := make([]*tensor.Tensor, len(out))
	for i, b := range out {
		if results[i], err = b.Get(ctx); err != nil {
			return err
		}
	}
	return r.End(results)
}

// addTolerance adds the flag --tolerance, which is the same for every command that compares values.
func addTolerance(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "tolerance", "", "`TOLERANCE` accepted difference of floats: N ULPs, abs:X or rel:X (default 0)")
}

// parseTolerance reads the value of --tolerance. Callers that compare recordings give "0" for none: zeros of both signs
// are then equal.
func parseTolerance(text string) (verify.Tolerance, error) {
	tol, err := verify.ParseTolerance(text)
	if err != nil {
		err = usagef("--tolerance: %w", err)
	}
	return tol, err
}

func (a *app) readRecording(path string) (*handlers.Recording, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var data io.ReaderAt
	if d, err := os.Open(path + handlers.DataSuffix); err == nil {
		defer d.Close()
		data = d
	}
	if kind, err := kindOf(path); err != nil || kind == aModule {
		return nil, cmp.Or(err, fmt.Errorf("%s: not a recording", path))
	}
	r, err := handlers.ReadRecording(f, data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// The kinds of files that commands compare. An empty file is a file of --events if no hook fired.
const (
	aModule = iota
	anEmptyFile
	aRecording
)

// kindOf returns the kind of a file: a recording begins as lines of JSON do. Standard input is a module, because it can
// be read only once.
func kindOf(path string) (int, error) {
	if path == "-" {
		return aModule, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var head [2]byte
	switch n, err := io.ReadFull(f, head[:]); {
	case n == 0 && err != io.EOF:
		return 0, err
	case n == 0:
		return anEmptyFile, nil
	case string(head[:]) == `{"`:
		return aRecording, nil
	}
	return aModule, nil
}

// compareRecordings prints a line per hook and a line for the results, or an array with an object for each.
func (a *app) compareRecordings(x, y *handlers.Recording, tol verify.Tolerance, asJSON bool) error {
	differ := false
	found := verify.CompareRecordings(x, y, tol)
	for _, c := range found {
		differ = differ || c.Differs()
		if !asJSON {
			fmt.Fprintln(a.Out, c.String())
		}
	}
	if len(found) == 0 {
		a.note("nothing to compare: neither has an event or a result")
	}
	if asJSON {
		// Print an array even if it is empty.
		if err := writeJSON(a.Out, append([]verify.HookComparison{}, found...)); err != nil {
			return err
		}
	}
	if events := x.Header.Version == 0; events != (y.Header.Version == 0) {
		a.note("one of the files holds events only, so results are not compared")
	} else if x.Ended != y.Ended {
		return errors.New("one of the recordings ends before the program did")
	}
	if differ {
		return errDiffer
	}
	return nil
}
