package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/internal/command"
)

func (a *app) translateCommand() *cobra.Command {
	var out, to string
	var names, docs []string
	for _, f := range formats() {
		names = append(names, f.name)
		docs = append(docs, "  "+f.name+strings.Repeat(" ", max(1, 10-len(f.name)))+f.doc)
	}
	names = append(names, hloForms...)
	docs = append(docs, "  hlo       HLO text, as XLA prints it", "  hlo-short HLO text without types of programs and metadata", "  hlo-proto XLA's HloModuleProto")
	c := &cobra.Command{
		Use:     "translate IN",
		Short:   "Convert between MLIR and HLO",
		Long:    "Read a module, verify it and print it.\n\nForms (--to):\n" + strings.Join(docs, "\n"),
		Example: "  hlocb translate in.mlir --to generic",
		Args:    command.Args("IN"),
		RunE: command.Body(func(_ *cobra.Command, args []string) error {
			if slices.Contains(hloForms, to) {
				return a.translateHLO(args[0], out, to)
			}
			for _, f := range formats() {
				if f.name == to {
					m, err := a.module(args[0])
					if err != nil {
						return err
					}
					return a.writeModule(out, m, f.print)
				}
			}
			return usagef("--to %s: expected %s%s", to, strings.Join(names, " or "), command.Suggest(to, names))
		}),
	}
	c.Flags().StringVarP(&out, "output", "o", "", "write to FILE instead of standard output")
	c.Flags().StringVar(&to, "to", "mlir", strings.Join(names, " or "))
	command.Group(c, "Output", "to FORM", "output FILE")
	complete(c, "to", names...)
	return c
}
