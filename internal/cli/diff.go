package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/pass"
)

func (a *app) diffCommand() *cobra.Command {
	var html string
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare two modules op by op",
		Long: `Compare two modules op by op. Value names, locations and the order of independent functions do not count.

Lines with - are ops of A, lines with + ops of B, lines with > ops of B at another place in their block. A line with @@ says where the next lines are. The exit code is 5 if the modules differ.`,
		Example: `  hlocb diff before.mlir after.mlir`,
		Args:    command.Args("A", "B"),
		RunE: command.Body(func(_ *cobra.Command, args []string) error {
			d, err := a.viewModules(args)
			if err != nil {
				return err
			}
			if html != "" {
				if err := a.writePage(html, d); err != nil {
					return err
				}
			}
			c := pass.Compare(d.Steps[0].Module, d.Steps[1].Module)
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
	cmd.Flags().StringVar(&html, "html", "", "`FILE` also write a page that shows both modules")
	command.Group(cmd, "Output")
	return cmd
}
