package cli_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/cli"
)

// commandNames matches the names of the commands that a help lists.
var commandNames = regexp.MustCompile(`(?m)^  ([a-z]+) {2,}\S`)

// TestHelp prints the help of every command and topic. Its lines fit a terminal of 80 columns, but for examples,
// which are lines to be copied; every flag stands in a group; no text shows the quotes by which libraries name the
// values of flags.
func TestHelp(t *testing.T) {
	help := func(args ...string) string {
		var out, errs strings.Builder
		if code := cli.Run(context.Background(), append(args, "--help"), strings.NewReader(""), &out, &errs); code != 0 {
			t.Fatalf("%v: exit code %d: %s", args, code, &errs)
		}
		return out.String()
	}
	seen := 0
	var visit func(args []string)
	visit = func(args []string) {
		text := help(args...)
		seen++
		example := false
		for _, line := range strings.Split(text, "\n") {
			example = line == "Examples:" || example && line != ""
			if !example && len([]rune(line)) > 80 {
				t.Errorf("%v: %d columns: %s", args, len(line), line)
			}
		}
		if strings.Contains(text, "`") {
			t.Errorf("%v: the help shows a backquote:\n%s", args, text)
		}
		list, _, _ := strings.Cut(text, "Examples:")
		if !strings.Contains(text, "COMMAND [flags]") || len(args) > 1 {
			return
		}
		for _, m := range commandNames.FindAllStringSubmatch(list, -1) {
			if m[1] != "completion" && m[1] != "help" {
				visit(append(args[:len(args):len(args)], m[1]))
			}
		}
	}
	visit(nil)
	if seen < 20 {
		t.Errorf("only %d commands were found", seen)
	}
	for _, topic := range []string{"handlers", "faults", "order", "environment"} {
		var out, errs strings.Builder
		if code := cli.Run(context.Background(), []string{"help", topic}, strings.NewReader(""), &out, &errs); code != 0 || len(out.String()) < 300 {
			t.Errorf("help %s: exit code %d: %s%s", topic, code, &out, &errs)
		}
		for _, line := range strings.Split(out.String(), "\n") {
			if len([]rune(line)) > 80 {
				t.Errorf("help %s: %d columns: %s", topic, len(line), line)
			}
		}
	}
	if text := help("run"); strings.Contains(text, "\nFlags:\n") {
		t.Errorf("flags of run stand in no group:\n%s", text)
	}
}
