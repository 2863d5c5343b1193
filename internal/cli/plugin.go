package cli

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/plugins"
)

func (a *app) pluginCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "plugin",
		Short: "Find, describe and install PJRT plugins",
		Args:  exactArgs(),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(a.pluginListCommand(), a.pluginInfoCommand(), a.pluginInstallCommand(), a.pluginCheckCommand(), a.pluginTryCommand(), a.pluginTestCommand(),
		a.pluginProbeCommand())
	return c
}

func (a *app) pluginListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the plugins that can be found, those to be preferred first",
		Long: `List the plugins that can be found, those to be preferred first. Nothing is loaded.

Looked at are HLOCB_CPU_PLUGIN and HLOCB_CUDA_PLUGIN, the places that other PJRT programs use, the packages of
Python environments, and hlocb's own cache.`,
		Args: exactArgs(),
		RunE: command(func(*cobra.Command, []string) error {
			found := a.env.List()
			if len(found) == 0 {
				a.note("no plugin found; 'hlocb plugin install cpu' gets XLA's CPU plugin")
				return nil
			}
			w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
			fmt.Fprintln(w, "NAME\tVERSION\tFOUND\tPATH")
			for _, p := range found {
				version := p.Version
				if version == "" {
					version = "-"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", diag.Escape(p.Name), diag.Escape(version), diag.Escape(p.Origin), diag.Escape(p.Path))
			}
			return w.Flush()
		}),
	}
}

func (a *app) pluginInfoCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "info NAME|PATH",
		Short:   "Load a plugin and say what it is: version, platform, devices, extensions",
		Example: "  hlocb plugin info cpu\n  hlocb plugin info ./pjrt_c_api_cpu_plugin.so",
		Args:    exactArgs("NAME|PATH"),
		RunE: command(func(cmd *cobra.Command, args []string) error {
			b, err := backends.Open(cmd.Context(), args[0], a.backendOptions())
			if err != nil {
				return err
			}
			defer b.Close()
			properties, err := backends.Properties(b)
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
			for _, p := range properties {
				fmt.Fprintf(w, "%s\t%s\n", diag.Escape(p.Name), diag.Escape(p.Value))
			}
			return w.Flush()
		}),
	}
}

func (a *app) pluginInstallCommand() *cobra.Command {
	var names []string
	for _, p := range plugins.Packages() {
		names = append(names, p.Name)
	}
	var wheel string
	var force bool
	c := &cobra.Command{
		Use:   "install " + strings.Join(names, "|"),
		Short: "Install a plugin into the user's cache",
		Long: `Install a plugin into the user's cache. The Python wheel that carries it is downloaded with pip, or taken from a
file, and its SHA-256 is compared with the one this version of hlocb was tested with.`,
		Example:   "  hlocb plugin install cpu\n  hlocb plugin install cpu --wheel ./xla_cpu_pjrt-0.0.1-py3-none-manylinux_2_27_x86_64.whl",
		Args:      exactArgs("NAME"),
		ValidArgs: names,
		RunE: command(func(cmd *cobra.Command, args []string) error {
			known := false
			for _, n := range names {
				known = known || n == args[0]
			}
			if !known {
				return usagef("unknown plugin %q: expected %s", args[0], strings.Join(names, " or "))
			}
			_, err := plugins.Install(cmd.Context(), args[0], plugins.InstallOptions{CacheDir: a.env.CacheDir, Wheel: wheel, Force: force, Progress: a.stderr})
			if errors.Is(err, plugins.ErrNoPip) {
				return fmt.Errorf("%w (--wheel FILE)", err)
			}
			return err
		}),
	}
	c.Flags().StringVar(&wheel, "wheel", "", "take this wheel instead of downloading one")
	c.Flags().BoolVar(&force, "force", false, "install again what is already there")
	return c
}
