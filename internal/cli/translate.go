package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) translateCommand() *cobra.Command {
	var out, to string
	var names, docs []string
	for _, f := range formats() {
		names = append(names, f.name)
		docs = append(docs, "  "+f.name+strings.Repeat(" ", max(1, 10-len(f.name)))+f.doc)
	}
	c := &cobra.Command{
		Use:     "translate IN",
		Short:   "Convert the notation of a module",
		Long:    "Read a module, verify it, and write it in another notation:\n" + strings.Join(docs, "\n"),
		Example: "  hlocb translate in.mlir --to generic",
		Args:    exactArgs("IN"),
		RunE: command(func(_ *cobra.Command, args []string) error {
			for _, f := range formats() {
				if f.name == to {
					m, err := a.module(args[0])
					if err != nil {
						return err
					}
					return a.writeModule(out, m, f.print)
				}
			}
			return usagef("--to %s: expected %s", to, strings.Join(names, " or "))
		}),
	}
	c.Flags().StringVarP(&out, "output", "o", "", "write to this `file` instead of standard output")
	c.Flags().StringVar(&to, "to", "mlir", "the notation: "+strings.Join(names, " or "))
	complete(c, "to", names...)
	return c
}
