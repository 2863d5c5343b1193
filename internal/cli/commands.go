package cli

import "github.com/spf13/cobra"

// commands returns the subcommands in the order of the help.
func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.runCommand(),
		a.rewriteCommand(),
		a.hooksCommand(),
		a.explainCommand(),
		a.tapCommand(),
		a.optCommand(),
		a.translateCommand(),
		a.compileCommand(),
		a.verifyCommand(),
		a.recordCommand(),
		a.replayCommand(),
		a.compareCommand(),
		a.pluginCommand(),
		a.versionCommand(),
	}
}
