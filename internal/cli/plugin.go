package cli

import (
	"errors"
	"fmt"
	"slices"
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
		Long: `Find, describe and install PJRT plugins, say before compiling what they can run, and test them.

A PJRT plugin is the shared object by which a compiler such as XLA is used outside of its framework.`,
		Args: noSubcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(a.pluginListCommand(), a.pluginInfoCommand(), a.pluginInstallCommand(), a.pluginCheckCommand(), a.pluginTryCommand(), a.pluginTestCommand(),
		a.pluginProbeCommand())
	return c
}

// listedPlugin and listedPlace are what 'hlocb plugin list --json' writes.
type (
	listedPlugin struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
		Found   string `json:"found"`
		Path    string `json:"path"`
	}
	listedPlace struct {
		Name  string `json:"name"`
		State string `json:"state"`
	}
)

func (a *app) pluginListCommand() *cobra.Command {
	var asJSON, places bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the plugins that can be found, those to be preferred first",
		Long: `List the plugins that can be found, those to be preferred first. Nothing is loaded.

Looked at are HLOCB_CPU_PLUGIN and HLOCB_CUDA_PLUGIN, the places that other PJRT programs use, the packages of
Python environments, and hlocb's own cache; --places shows each of them and what is there.`,
		Example: "  hlocb plugin list\n  hlocb plugin list --places\n  hlocb plugin list --json | jq -r '.plugins[0].path'",
		Args:    exactArgs(),
		RunE: command(func(*cobra.Command, []string) error {
			found := a.env.List()
			if asJSON {
				var out struct {
					Plugins []listedPlugin `json:"plugins"`
					Places  []listedPlace  `json:"places"`
				}
				out.Plugins = []listedPlugin{}
				for _, p := range found {
					out.Plugins = append(out.Plugins, listedPlugin{p.Name, p.Version, p.Origin, p.Path})
				}
				for _, p := range a.env.Places() {
					out.Places = append(out.Places, listedPlace(p))
				}
				return a.writeJSON(out)
			}
			w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
			if len(found) > 0 {
				fmt.Fprintln(w, "NAME\tVERSION\tFOUND\tPATH")
			}
			for _, p := range found {
				version := p.Version
				if version == "" {
					version = "-"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", diag.Escape(p.Name), diag.Escape(version), diag.Escape(p.Origin), diag.Escape(p.Path))
			}
			if err := w.Flush(); err != nil {
				return err
			}
			if places {
				if len(found) > 0 {
					fmt.Fprintln(a.stdout)
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
				a.note("no plugin found; 'hlocb plugin install cpu' gets XLA's CPU plugin, 'hlocb plugin list --places' shows where it was looked for")
			}
			return nil
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	c.Flags().BoolVar(&places, "places", false, "show every place that was looked at, too, and what is there")
	return c
}

func (a *app) pluginInfoCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "info NAME|PATH",
		Short: "Load a plugin and say what it is: version, platform, devices, extensions",
		Long: `Load a plugin and say what it is: the version of the PJRT API and of StableHLO that it speaks, its platform, its
devices and its extensions. Where several plugins have the name, the first that can be loaded is taken; those tried
before it are shown with the loader's error.`,
		Example:           "  hlocb plugin info cpu\n  hlocb plugin info ./pjrt_c_api_cpu_plugin.so\n  hlocb plugin info cpu --json",
		Args:              exactArgs("NAME|PATH"),
		ValidArgsFunction: a.completePlugins,
		RunE: command(func(cmd *cobra.Command, args []string) error {
			b, err := backends.Open(cmd.Context(), args[0], a.backendOptions())
			if err != nil {
				return err
			}
			defer b.Close()
			info, err := backends.InfoOf(b)
			if err != nil {
				return err
			}
			if asJSON {
				return a.writeJSON(info)
			}
			w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
			for _, line := range info.Lines() {
				fmt.Fprintf(w, "%s\t%s\n", diag.Escape(line[0]), diag.Escape(line[1]))
			}
			return w.Flush()
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return c
}

// completePlugins offers the names of plugins that can be found; files are offered, too.
func (a *app) completePlugins(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, p := range a.env.List() {
		if !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return names, cobra.ShellCompDirectiveDefault
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
				return usagef("unknown plugin %q: expected %s", args[0], oneOf(names))
			}
			_, err := plugins.Install(cmd.Context(), args[0], plugins.InstallOptions{CacheDir: a.env.CacheDir, Wheel: wheel, Force: force, Progress: a.stderr, Terminal: a.terminal})
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
