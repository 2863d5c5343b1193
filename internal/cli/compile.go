package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/entry"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
)

func (a *app) compileCommand() *cobra.Command {
	flags := moduleFlags{index: -1} // no platform is chosen
	var out, backend string
	c := &cobra.Command{
		Use:   "compile IN -o PROGRAM",
		Short: "Compile ahead of time",
		Long: `Compile a module for a plugin. 'hlocb run --program PROGRAM' runs it and binds handlers.

PROGRAM holds the machine code, the module and its hooks. Running it executes that code, so accept a program only from people whom you trust. A program for another plugin or processor is compiled again from its module, and hlocb says so.`,
		Example: "  hlocb compile train.mlir -o train.hlocb\n  hlocb run --program train.hlocb --fill iota --print-callbacks --backend cpu",
		Args:    command.Args("IN"),
		RunE: command.Body(func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usagef("missing -o PROGRAM")
			}
			if err := keepInput(args[0], out); err != nil {
				return err
			}
			opts, err := flags.options()
			if err != nil {
				return err
			}
			p, err := a.program(cmd.Context(), args[0], opts...)
			if err != nil {
				return err
			}
			if err := noDynamicArguments(p); err != nil {
				return err
			}
			s, err := a.open(cmd.Context(), p, backend, a.backendOptions(), 0)
			if err != nil {
				return err
			}
			defer s.backend.Close()
			exe, err := s.compileOnly(cmd.Context(), runtime.MemoryUse{HostViews: true})
			if err != nil {
				return err
			}
			file, err := exe.Save()
			if err == nil {
				err = a.write(out, file)
			} else if s.backend.Name() == backends.Engine {
				err = &command.UsageError{Err: err}
			}
			return errors.Join(err, exe.Close())
		}),
	}
	c.Flags().StringVarP(&out, "output", "o", "", "`FILE` write the program to FILE")
	command.Group(c, "Output")
	c.Flags().StringVar(&backend, "backend", "cpu", "`NAME|PATH` plugin to compile for")
	flags.addDevices(c)
	command.Group(c, "Where it runs")
	flags.rewrite.add(c)
	command.CompleteFixed(c, "backend", "cpu", "cuda")
	return c
}

// noDynamicArguments refuses a program with an argument of dynamic size, which plugins compile only for known sizes.
func noDynamicArguments(p *hlocb.Program) error {
	types, err := p.Parameters()
	if err != nil {
		return err
	}
	for i, t := range types {
		if entry.IsDynamic(t) {
			return fmt.Errorf("argument %d of main, %s, has a dynamic shape; 'hlocb opt --passes specialize{args=...}' writes a module for known shapes", i, t)
		}
	}
	return nil
}
