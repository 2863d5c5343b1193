package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
)

func moduleHash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func (a *app) recordCommand() *cobra.Command {
	var flags runFlags
	var out string
	var raw int
	c := &cobra.Command{
		Use:   "record IN -o RECORDING",
		Short: "Run a module and keep its arguments, callbacks, answers and results",
		Long: `Run a module as 'hlocb run' does and write a recording: the module's hash, the arguments, each callback with its
operands, the handler's answer and the time, and the results. Values of 4096 bytes or more (--raw) are written as they are to
RECORDING.data, which belongs to it. 'hlocb replay' answers from it, 'hlocb compare' compares two.`,
		Example: "  hlocb record train.mlir -o a.jsonl --fill iota --backend interp",
		Args:    exactArgs("IN"),
		RunE: command(func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usagef("missing -o RECORDING")
			}
			flags.begin = func(h handlers.Header, args []*tensor.Tensor) (*handlers.Recording, error) {
				r, err := handlers.CreateRecord(out, raw, a.handlerEnv())
				if err != nil {
					return nil, err
				}
				return handlers.NewRecording(r, h, args)
			}
			if raw < 0 {
				return usagef("--raw must not be negative")
			}
			if out == "-" {
				raw = 0
			}
			_, err := a.run(cmd.Context(), args[0], &flags)
			return err
		}),
	}
	flags.add(c)
	c.Flags().StringVarP(&out, "output", "o", "", "write the recording to this `file`")
	c.Flags().IntVar(&raw, "raw", handlers.RawBytes, "keep values of at least so many `bytes` raw, in RECORDING.data; 0 keeps all of them as text")
	return c
}

func (a *app) replayCommand() *cobra.Command {
	var flags runFlags
	var tolerance uint64
	c := &cobra.Command{
		Use:   "replay IN RECORDING",
		Short: "Run a module with the arguments and answers of a recording, and compare",
		Long: `Run a module with the arguments that a recording holds, answer its hooks as the recording does, and compare what the hooks
saw and the results with it. Exit code 5 where they differ.`,
		Example: "  hlocb replay train.mlir a.jsonl --backend cpu --ulps 4",
		Args:    exactArgs("IN", "RECORDING"),
		RunE: command(func(cmd *cobra.Command, args []string) error {
			before, err := a.recording(args[1])
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
			flags.given = before.Args
			flags.bind.bindings.Answer("*", before.Replay())
			flags.begin = func(h handlers.Header, args []*tensor.Tensor) (*handlers.Recording, error) {
				if h.Module != before.Header.Module {
					a.note("the module is not the recorded one; hooks are matched by their ids and names")
				}
				r, err := handlers.CreateRecord(tmp, handlers.RawBytes, a.handlerEnv())
				if err != nil {
					return nil, err
				}
				return handlers.NewRecording(r, h, args)
			}
			if _, err := a.run(cmd.Context(), args[0], &flags); err != nil {
				return err
			}
			after, err := a.recording(tmp)
			if err != nil {
				return err
			}
			return a.compare(before, after, tolerance, false)
		}),
	}
	flags.add(c)
	c.Flags().Uint64Var(&tolerance, "ulps", 0, "how many units in the last place elements may differ by")
	return c
}

func (a *app) compareCommand() *cobra.Command {
	var tolerance uint64
	var asJSON bool
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two recordings, or two files of events",
		Long: `Compare two recordings, or two files that --events wrote. They are aligned by hook, device and occurrence. Differences are
given in units in the last place (ULPs). Exit code 5 where they differ.`,
		Example: "  hlocb compare interp.jsonl cpu.jsonl --ulps 4\n  hlocb compare monday.jsonl friday.jsonl --json",
		Args:    exactArgs("A", "B"),
		RunE: command(func(_ *cobra.Command, args []string) error {
			x, err := a.recording(args[0])
			if err != nil {
				return err
			}
			y, err := a.recording(args[1])
			if err != nil {
				return err
			}
			return a.compare(x, y, tolerance, asJSON)
		}),
	}
	c.Flags().Uint64Var(&tolerance, "ulps", 0, "how many units in the last place elements may differ by")
	c.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return c
}

func (a *app) recording(path string) (*handlers.Recorded, error) {
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
	r, err := handlers.ReadRecording(f, data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// compare prints a line per hook and one for the results, or an array with an object for each.
func (a *app) compare(x, y *handlers.Recorded, tolerance uint64, asJSON bool) error {
	differ := false
	found := handlers.Compare(x, y, tolerance)
	for _, c := range found {
		differ = differ || c.Differs()
		if !asJSON {
			fmt.Fprintln(a.stdout, c.String())
		}
	}
	if len(found) == 0 {
		a.note("there is nothing to compare: neither has an event or a result")
	}
	if asJSON {
		if found == nil {
			found = []handlers.Comparison{} // an array in any case
		}
		if err := a.writeJSON(found); err != nil {
			return err
		}
	}
	if x.Ended != y.Ended {
		return errors.New("one of the recordings ends before the program did")
	}
	if differ {
		return &differError{}
	}
	return nil
}
