package command

import (
	"bytes"
	"context"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/spf13/cobra"
)

// options are the values of flags.
type options struct {
	kind  string
	names []string
}

// completing returns a command whose subcommand completes two flags, and their values.
func completing() (*cobra.Command, *options) {
	o := &options{}
	root := &cobra.Command{Use: "tool"}
	sub := &cobra.Command{Use: "do", RunE: func(*cobra.Command, []string) error { return nil }}
	sub.Flags().StringVar(&o.kind, "kind", "small", "")
	sub.Flags().StringArrayVar(&o.names, "name", nil, "")
	CompleteFixed(sub, "kind", "small", "large")
	Complete(sub, "name", func(_ *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
		return []string{text + "1", strings.Join(args, "+")}, cobra.ShellCompDirectiveNoSpace
	})
	root.AddCommand(sub)
	return root, o
}

func TestComplete(t *testing.T) {
	for line, want := range map[string]string{
		"__complete do --kind ":      "small\nlarge\n:4\n",
		"__complete do --kind=l":     "small\nlarge\n:4\n", // the shell keeps those that begin with the text
		"__complete do x y --name a": "a1\nx+y\n:2\n",
		"__complete do x --name ":    "1\nx\n:2\n",
	} {
		var out, errs bytes.Buffer
		console := NewConsole(strings.NewReader(""), &out, &errs, func(string) string { return "" })
		args := strings.Split(line, " ")
		root, _ := completing()
		if code := console.Execute(t.Context(), root, args, Policy{}); code != OK || out.String() != want {
			t.Errorf("%s: exit code %d: %q, want %q (%s)", line, code, out.String(), want, errs.String())
		}
	}
}

// TestNothingIsHeld: what a command uses can be collected after it ran.
func TestNothingIsHeld(t *testing.T) {
	run := func() weak.Pointer[options] {
		root, o := completing()
		console := NewConsole(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}, func(string) string { return "" })
		if code := console.Execute(context.Background(), root, []string{"do", "--kind", "large", "--name", "a", "--name", "b"}, Policy{}); code != OK {
			t.Errorf("exit code %d", code)
		}
		if o.kind != "large" || strings.Join(o.names, " ") != "a b" {
			t.Errorf("the flags are %+v", *o)
		}
		return weak.Make(o)
	}
	held := run()
	runtime.GC()
	runtime.GC()
	if held.Value() != nil {
		t.Error("something holds the values of the flags")
	}
}
