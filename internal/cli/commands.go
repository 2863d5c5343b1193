package cli

import "github.com/spf13/cobra"

// group is a part of the help, with its commands.
type group struct {
	id, title string
	commands  []*cobra.Command
}

// groups returns the subcommands as the help shows them.
func (a *app) groups() []group {
	return []group{
		{"modules", "Modules and their hooks:", []*cobra.Command{
			a.hooksCommand(), a.explainCommand(), a.rewriteCommand(), a.tapCommand(), a.optCommand(), a.translateCommand(),
		}},
		{"programs", "Running them:", []*cobra.Command{
			a.runCommand(), a.compileCommand(), a.verifyCommand(), a.recordCommand(), a.replayCommand(), a.compareCommand(),
		}},
		{"about", "About hlocb and what it runs on:", []*cobra.Command{
			a.pluginCommand(), a.benchCommand(), a.versionCommand(),
		}},
	}
}
