package golden

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/opt"
)

// Opt returns options with which Run runs only the commands 'hlocb opt' of the cases. The packages that the passes use
// test themselves with these cases: a test binary with the whole command line takes seconds to link.
func Opt(testdata string) Options {
	main := func(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
		console := command.NewConsole(stdin, stdout, stderr, func(string) string { return "" })
		ctx, stop := console.Signals()
		defer stop()
		c := opt.Command(console, opt.Config{Dialects: all.Dialects()})
		root := &cobra.Command{Use: "hlocb"}
		root.AddCommand(c)
		return console.Execute(ctx, root, append([]string{"opt"}, opt.LongFlags(c, args[1:])...), command.Policy{})
	}
	return Options{
		Programs: map[string]Main{"hlocb": main},
		Select:   func(command []string) bool { return len(command) > 1 && command[0] == "hlocb" && command[1] == "opt" },
		Testdata: testdata,
	}
}
