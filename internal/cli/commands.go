package cli

import "github.com/spf13/cobra"

// group is a titled list of commands in the help.
type group struct {
	title    string
	commands []*cobra.Command
}

// machineGroup is the title of the last group.
const machineGroup = "Plugins and machine:"

// groups returns the subcommands in the order of the help.
func (a *app) groups() []group {
	return []group{
		{"Look at a module:", []*cobra.Command{a.hooksCommand(), a.explainCommand(), a.tapCommand(), a.infoCommand()}},
		{"Run it:", []*cobra.Command{a.runCommand(), a.execCommand(), a.compileCommand()}},
		{"Compare runs:", []*cobra.Command{a.compareCommand(), a.verifyCommand(), a.recordCommand(), a.replayCommand()}},
		{"Transform it:", []*cobra.Command{a.rewriteCommand(), a.optCommand(), a.diffCommand(), a.reduceCommand(), a.translateCommand()}},
		{machineGroup, []*cobra.Command{a.pluginCommand(), a.benchCommand(), a.versionCommand()}},
	}
}
