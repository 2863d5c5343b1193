package command

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// completed is the value of a flag whose values f completes.
type completed struct {
	pflag.Value
	f cobra.CompletionFunc
}

// Complete makes f complete the values of a flag. Execute gives f to cobra only if the shell asks for completions,
// because cobra never drops the flags of such functions, nor what their values hold. A process that ran a thousand
// commands held 280 MB by this, and spent two thirds of its time on collections.
func Complete(c *cobra.Command, flag string, f cobra.CompletionFunc) {
	l := c.Flags().Lookup(flag)
	l.Value = completed{l.Value, f}
}

// CompleteFixed completes the values of a flag with a list.
func CompleteFixed(c *cobra.Command, flag string, values ...string) {
	Complete(c, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// registerCompletions gives cobra the functions of Complete if a command line asks for completions.
func registerCompletions(c *cobra.Command, args []string) {
	if len(args) == 0 || !strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		return
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if v, ok := f.Value.(completed); ok {
			_ = c.RegisterFlagCompletionFunc(f.Name, v.f) // fails only for unknown flags and second functions
		}
	})
	for _, sub := range c.Commands() {
		registerCompletions(sub, args)
	}
}
