package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/plugins"
)

func (a *app) pluginCommand() *cobra.Command {
	return command.Parent(&cobra.Command{
		Use:   "plugin",
		Short: "Find, install, check and test PJRT plugins",
		Long: `Find, install, check and test PJRT plugins. A PJRT plugin is the shared library of a compiler such as XLA.

NAME is a platform such as cpu or cuda; PATH is a plugin's file.`,
	}, a.pluginListCommand(), a.pluginInfoCommand(), a.pluginInstallCommand(), a.pluginRemoveCommand(), a.pluginCleanCommand(), a.pluginCheckCommand(), a.pluginTryCommand(), a.pluginTestCommand(), a.pluginProbeCommand())
}

func (a *app) pluginListCommand() *cobra.Command {
	var asJSON, places bool
	c := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the plugins on this machine",
		Long: `List the plugins on this machine, the preferred one first. Nothing is loaded.

hlocb searches HLOCB_CPU_PLUGIN and HLOCB_CUDA_PLUGIN, the places that other PJRT programs use, the packages of Python environments, and its own cache. --places shows each place and what is there.`,
		Example: "  hlocb plugin list\n  hlocb plugin list --places\n  hlocb plugin list --json | jq -r '.plugins[0].path'",
		Args:    command.Args(),
		RunE: command.Body(func(*cobra.Command, []string) error {
			found := a.env.List()
			if asJSON {
				return writeJSON(a.Out, struct {
					Plugins []plugins.Plugin `json:"plugins"`
					Places  []plugins.Place  `json:"places"`
				}{append([]plugins.Plugin{}, found...), a.env.Places()}) // [] for no plugins
			}
			w := tabwriter.NewWriter(a.Out, 0, 8, 2, ' ', 0)
			if len(found) > 0 {
				fmt.Fprintln(w, "NAME\tVERSION\tFOUND\tPATH")
			}
			for _, p := range found {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", diag.Escape(p.Name), diag.Escape(cmp.Or(p.Version, "-")), diag.Escape(p.Origin), diag.Escape(p.Path))
			}
			if err := w.Flush(); err != nil {
				return err
			}
			if places {
				if len(found) > 0 {
					fmt.Fprintln(a.Out)
				}
				fmt.Fprintln(w, "PLACE\tHOLDS")
				for _, p := range a.env.Places() {
					fmt.Fprintf(w, "%s\t%s\n", diag.Escape(p.Name), diag.Escape(p.State))
				}
				if err := w.Flush(); err != nil {
					return err
				}
			}
			if len(found) == 0 {
				a.note("no plugin found; 'hlocb plugin install cpu' installs XLA's CPU plugin, 'hlocb plugin list --places' shows the places searched")
			}
			return nil
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&places, "places", false, "also print every place searched, and its plugins")
	return c
}

func (a *app) pluginInfoCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "info [NAME|PATH]",
		Short: "Load a plugin and describe it",
		Long: `Load a plugin and print its versions of the PJRT API and of StableHLO, its platform, devices and extensions.

If several plugins have one name, hlocb uses the first that loads, and shows the loader's errors for the plugins before it. Without an argument it describes cpu.`,
		Example:           "  hlocb plugin info cpu\n  hlocb plugin info ./pjrt_c_api_cpu_plugin.so\n  hlocb plugin info cpu --json",
		Args:              command.Args("[NAME|PATH]"),
		ValidArgsFunction: a.completePlugins,
		RunE: command.Body(func(cmd *cobra.Command, args []string) error {
			b, err := a.openPlugin(cmd.Context(), args)
			if err != nil {
				return err
			}
			defer b.Close()
			info, err := backends.InfoOf(b)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(a.Out, info)
			}
			w := tabwriter.NewWriter(a.Out, 0, 8, 2, ' ', 0)
			for _, line := range info.Lines() {
				fmt.Fprintf(w, "%s\t%s\n", diag.Escape(line[0]), diag.Escape(line[1]))
			}
			return w.Flush()
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// pluginName returns the plugin named in the arguments, cpu by default.
func pluginName(args []string) string {
	if len(args) == 0 {
		return "cpu"
	}
	return args[0]
}

// openPlugin opens the plugin named in the arguments.
func (a *app) openPlugin(ctx context.Context, args []string) (runtime.Backend, error) {
	name := pluginName(args)
	if name != "auto" && name != backends.Engine && name != "interp" {
		b, err := backends.Open(ctx, name, a.backendOptions())
		if !errors.As(err, new(*backends.UnknownError)) {
			return b, err
		}
	}
	known := append(a.pluginNames(), "cpu", "cuda")
	return nil, usagef("no plugin %q%s; 'hlocb plugin list' shows the installed plugins", name, command.Suggest(name, known))
}

// completePlugins completes the names of installed plugins, and files.
func (a *app) completePlugins(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return slices.Compact(slices.Sorted(slices.Values(a.pluginNames()))), cobra.ShellCompDirectiveDefault
}

// pluginNames returns the names of the installed plugins, the preferred one first.
func (a *app) pluginNames() []string {
	return namesOf(a.env.List(), func(p plugins.Plugin) string { return p.Name })
}

// isVersion reports whether the name of a package chooses a version.
func isVersion(name string) bool { return strings.Contains(name, "@") }

func (a *app) pluginInstallCommand() *cobra.Command {
	names := plugins.PackageNames()
	var wheel string
	var force bool
	c := &cobra.Command{
		Use:   "install " + strings.Join(slices.DeleteFunc(slices.Clone(names), isVersion), "|"),
		Short: "Install a plugin into the user's cache",
		Long: `Install a plugin into the user's cache. pip downloads the Python wheel that contains it, or --wheel names a file.

hlocb refuses a wheel whose SHA-256 is not the pinned one.

Of a plugin with several versions the first one is the default:
` + "  " + strings.Join(slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !isVersion(name) }), "\n  "),
		Example:   "  hlocb plugin install cpu\n  hlocb plugin install cpu@0.0.1 --wheel ./xla_cpu_pjrt-0.0.1.whl",
		Args:      command.Args("NAME"),
		ValidArgs: names,
		RunE: command.Body(func(cmd *cobra.Command, args []string) error {
			if err := oneOf("unknown plugin", args[0], names); err != nil {
				return err
			}
			if wheel != "" {
				if _, err := os.Stat(wheel); err != nil {
					return err
				}
			}
			_, err := plugins.Install(cmd.Context(), args[0], plugins.InstallOptions{CacheDir: a.env.CacheDir, Wheel: wheel, Force: force, Progress: a.Err, Terminal: a.Terminal()})
			if errors.Is(err, plugins.ErrNoPip) {
				return fmt.Errorf("%w (--wheel FILE)", err)
			}
			return err
		}),
	}
	c.Flags().StringVar(&wheel, "wheel", "", "`FILE` use this wheel instead of downloading one")
	c.Flags().BoolVar(&force, "force", false, "install again")
	command.Group(c, "Flags")
	return c
}
