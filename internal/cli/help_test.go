package cli_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/cli"
)

// commandNames matches the names of the commands that a help lists.
var commandNames = regexp.MustCompile(`(?m)^  ([a-z]+) {2,}\S`)

// TestHelp prints the help of every command and topic. Its lines fit a terminal of 80 columns; every flag is in a
// group; no text shows the quotes by which libraries name the values of flags. docs/cli.md shows all of it.
func TestHelp(t *testing.T) {
	help := func(args ...string) string {
		var out, errs strings.Builder
		if code := cli.Run(context.Background(), append(args, "--help"), strings.NewReader(""), &out, &errs); code != 0 {
			t.Fatalf("%v: exit code %d: %s", args, code, &errs)
		}
		return out.String()
	}
	seen := 0
	var page strings.Builder // docs/cli.md
	var visit func(args []string)
	visit = func(args []string) {
		text := help(args...)
		seen++
		fmt.Fprintf(&page, "\n## %s\n\n```text\n%s```\n", strings.Join(append([]string{"hlocb"}, args...), " "), text)
		for _, line := range strings.Split(text, "\n") {
			if len([]rune(line)) > 80 {
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
		fmt.Fprintf(&page, "\n## hlocb help %s\n\n```text\n%s```\n", topic, &out)
		for _, line := range strings.Split(out.String(), "\n") {
			if len([]rune(line)) > 80 {
				t.Errorf("help %s: %d columns: %s", topic, len(line), line)
			}
		}
	}
	if text := help("run"); strings.Contains(text, "\nFlags:\n") {
		t.Errorf("flags of run are in no group:\n%s", text)
	}
	const path = "../../docs/cli.md"
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, old, _ := strings.Cut(string(have), cliMark)
	switch {
	case old == page.String():
	case flag.Lookup("update").Value.String() == "true":
		if err := os.WriteFile(path, []byte(head+cliMark+page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("docs/cli.md is not what the commands print; write it with 'go test ./internal/cli -run TestHelp -update'")
	}
}

// cliMark separates docs/cli.md's introduction from the help that this test writes.
const cliMark = "<!-- written by go test ./internal/cli -run TestHelp -update -->\n"
