package cli

import (
	"bytes"
	"context"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
)

func (a *app) verifyCommand() *cobra.Command {
	var one, two runFlags
	var targets, on, given []string
	var fill string
	var tolerance uint64
	var asWritten bool
	c := &cobra.Command{
		Use:   "verify A B",
		Short: "Run two modules with the same arguments and compare callbacks and results",
		Long: `Run two modules with the same arguments and compare what their hooks see, in each hook's order, and their results.
Hooks are matched by id. Differences are given in units in the last place (ULPs). Exit code 5 where they differ.

With --backend-a and --backend-b it compares engines: 'hlocb verify IN IN --backend-b cpu' shows where XLA and the
embedded engine part. Hooks that need an answer get 'echo' unless --on says otherwise.`,
		Example: "  hlocb verify before.mlir after.mlir --fill random:1\n  hlocb verify train.mlir train.mlir --backend-b cpu --ulps 4",
		Args:    exactArgs("A", "B"),
		RunE: command(func(cmd *cobra.Command, args []string) error {
			var recorded [2]*handlers.Recorded
			for i, f := range []*runFlags{&one, &two} {
				f.rewrite.targets, f.args, f.fill, f.bind.on = targets, given, fill, append([]string{"*=echo"}, on...)
				f.rewrite.order, f.rewrite.chain, f.rewrite.alias = "program", "state", "all"
				f.asWritten = asWritten && i == 0
				var err error
				if recorded[i], err = a.recordRun(cmd.Context(), args[i], f); err != nil {
					return err
				}
			}
			return a.compare(recorded[0], recorded[1], tolerance)
		}),
	}
	c.Flags().StringVar(&one.backend, "backend-a", "interp", "what executes A")
	c.Flags().StringVar(&two.backend, "backend-b", "interp", "what executes B")
	c.Flags().StringArrayVar(&given, "arg", nil, "an argument of main, in order: an MLIR `literal`, or @FILE.npy")
	c.Flags().StringVar(&fill, "fill", "random:0", "fill the arguments that --arg does not give: iota, zeros or random:SEED")
	c.Flags().StringArrayVar(&targets, "hook-target", nil, "treat calls to this custom-call `target` as hooks too")
	c.Flags().StringArrayVar(&on, "on", nil, "bind a handler: `NAME=HANDLER[:OPTIONS]`")
	c.Flags().BoolVar(&asWritten, "as-written", false, "do not rewrite A")
	c.Flags().Uint64Var(&tolerance, "ulps", 0, "how many units in the last place elements may differ by")
	return c
}

// recordRun runs a module and keeps the recording in memory.
func (a *app) recordRun(ctx context.Context, path string, f *runFlags) (*handlers.Recorded, error) {
	var buf bytes.Buffer
	f.begin = func(hash, backend string, args []*tensor.Tensor) (*handlers.Recording, error) {
		return handlers.NewRecording(&buf, handlers.Header{Module: hash, Backend: backend}, args)
	}
	if _, err := a.run(ctx, path, f); err != nil {
		return nil, err
	}
	return handlers.ReadRecording(&buf)
}
