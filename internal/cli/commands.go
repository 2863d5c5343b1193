package cli

import "github.com/spf13/cobra"

// commands returns the subcommands in the order of the help.
func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.pluginCommand(),
		a.versionCommand(),
	}
}
