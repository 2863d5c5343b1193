package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
)

// TestFreshMachine runs README's two commands that start with go, word for word, with an empty home directory and only
// Go on the PATH: no C compiler, no Python, no git, no plugin. The module and build caches are this machine's. Of the
// tests, it runs those of packages that start other programs or look for some.
func TestFreshMachine(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile("(?m)^```console\n\\$ (go [^\n]*)\n([^`]*)```$").FindAllStringSubmatch(string(text), -1)
	if len(commands) != 2 || !strings.HasPrefix(commands[0][1], "go run ./cmd/hlocb run ") || commands[1][1] != "go test -short ./..." {
		t.Fatalf("README.md has the commands %q, expected one that runs a module and one that runs the tests", commands)
	}
	var env []string
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, "GO") && !strings.HasPrefix(v, "GOPATH=") {
			env = append(env, v)
		}
	}
	where, err := peer.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	dirs := strings.Fields(string(where))
	env = append(env, "HOME="+t.TempDir(), "GOCACHE="+dirs[0], "GOMODCACHE="+dirs[1], "PATH="+filepath.Join(dirs[2], "bin"))
	run := func(command string) string {
		c := peer.Command(filepath.Join(dirs[2], "bin", "go"), strings.Fields(command)[1:]...)
		c.Dir, c.Env = filepath.Join("..", ".."), env
		out, err := c.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
		return string(out)
	}
	printed := strings.Split(run(commands[0][1]), "\n")
	for line := range strings.Lines(commands[0][2]) {
		if line = strings.TrimSuffix(line, "\n"); line != "..." && !slices.Contains(printed, line) {
			t.Errorf("%s does not print %q", commands[0][1], line)
		}
	}
	run(strings.Replace(commands[1][1], "./...", ". ./cmd/... ./examples/... ./internal/docs ./internal/peer ./internal/plugintest ./internal/testkit "+
		"./runtime/backends ./runtime/dlpack ./runtime/handlers ./runtime/plugins ./runtime/interpose", 1))
}
