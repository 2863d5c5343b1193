package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/print"
)

func (a *app) diffCommand() *cobra.Command {
	var html string
	var asJSON bool
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
			if asJSON {
				if err := writeJSON(a.Out, changesOf(c)); err != nil {
					return err
				}
			}
			if len(c.Changes) == 0 {
				return nil
			}
			differ := &command.SilentError{Text: "the modules differ"}
			if asJSON {
				return differ
			}
			if err := c.Write(a.Out); err != nil {
				return err
			}
			if _, err := fmt.Fprintln(a.Out, c.Counts()); err != nil {
				return err
			}
			return differ
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&html, "html", "", "`FILE` also write a page that shows both modules")
	command.Group(cmd, "Output")
	return cmd
}

// changeLine is one change in the output of 'hlocb diff --json'.
type changeLine struct {
	Kind   string `json:"kind"` // removed, added, changed or moved
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// changesOf returns the changes with the first line of each op, as 'hlocb diff' prints it.
func changesOf(c *pass.Comparison) []changeLine {
	form := print.Options{LocalScope: true, ElideLarger: 32}
	before, after := print.NewOps(c.Before, form), print.NewOps(c.After, form)
	text := func(ops *print.Ops, op *ir.Op) string {
		if op == nil {
			return ""
		}
		first, _, _ := strings.Cut(strings.TrimSpace(ops.Text(op)), "\n")
		return first
	}
	list := []changeLine{}
	for _, x := range c.Changes {
		list = append(list, changeLine{x.Kind.String(), text(before, x.Before), text(after, x.After)})
	}
	return list
}
