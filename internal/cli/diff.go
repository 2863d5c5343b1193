package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

func (a *app) diffCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "diff A B",
		Short: "Compare two modules op by op",
		Long: `Compare two modules op by op. Value names, locations and the order of independent functions do not count.

Lines with - are ops of A, lines with + ops of B, lines with > ops of B at another place in their block. A line with @@ says where the next lines are. The exit code is 5 if the modules differ.`,
		Example: `  hlocb diff before.mlir after.mlir`,
		Args:    command.Args("A", "B"),
		RunE: command.Body(func(_ *cobra.Command, args []string) error {
			types := ir.NewContext()
			var modules [2]*ir.Module
			for i, path := range args {
				src, err := a.source(path)
				if err != nil {
					return err
				}
				if modules[i], err = reader.Parse(src, types, reader.Registry(), reader.MaxErrors); err != nil {
					return err
				}
				if err := reader.Verify(modules[i], reader.MaxErrors); err != nil {
					return err
				}
			}
			c := pass.Compare(modules[0], modules[1])
			if len(c.Changes) == 0 {
				return nil
			}
			if err := c.Write(a.Out); err != nil {
				return err
			}
			if _, err := fmt.Fprintln(a.Out, c.Counts()); err != nil {
				return err
			}
			return &command.SilentError{Text: "the modules differ"}
		}),
	}
}
