package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/heap"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
)

func (a *app) compileCommand() *cobra.Command {
	var flags rewriteFlags
	var out, backend string
	var partitions, replicas int
	c := &cobra.Command{
		Use:   "compile IN -o PROGRAM",
		Short: "Compile a module ahead of time",
		Long: `Compile a module for a plugin and keep the machine code with the module and its hooks in one file, which
'hlocb run --program' runs. Handlers are bound when it is run. A program that was compiled by another plugin or for
another processor is compiled again, and that is said.`,
		Example: "  hlocb compile train.mlir -o train.hlocb\n  hlocb run --program train.hlocb --fill iota --print-callbacks --backend cpu",
		Args:    exactArgs("IN"),
		RunE: command(func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usagef("missing -o PROGRAM")
			}
			opts, err := flags.options()
			if err != nil {
				return err
			}
			p, err := a.program(cmd.Context(), args[0], append(opts, hlocb.Devices(replicas, partitions))...)
			if err != nil {
				return err
			}
			heap.Running()
			b, err := p.OpenBackend(cmd.Context(), backend, a.backendOptions())
			if err != nil {
				return err
			}
			defer b.Close()
			exe, err := p.Compile(cmd.Context(), hlocb.WithBackend(b), hlocb.Bind(placeholders(p.Manifest())))
			if err != nil {
				return err
			}
			file, err := exe.Save()
			if err == nil {
				err = a.write(out, file)
			} else if b.Name() == backends.Engine {
				err = &usageError{err}
			}
			return errors.Join(err, exe.Close())
		}),
	}
	flags.add(c)
	c.Flags().StringVarP(&out, "output", "o", "", "write the program to this `file`")
	c.Flags().StringVar(&backend, "backend", "cpu", "the plugin to compile for: cpu, cuda, or a `path`")
	c.Flags().IntVar(&partitions, "partitions", 0, "number of partitions; 0 is what the module says")
	c.Flags().IntVar(&replicas, "replicas", 0, "number of replicas; 0 is what the module says")
	return c
}

// placeholders binds every hook, since compiling checks that; nothing is run.
func placeholders(m *hook.Manifest) *runtime.Bindings {
	b := new(runtime.Bindings)
	for i := range m.Sites {
		b.Answer(m.Sites[i].ID.String(), runtime.HandlerFunc(func(context.Context, *runtime.Call) error {
			return fmt.Errorf("the program was only compiled")
		}))
	}
	return b
}
