package docs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/cli"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/runtime/plugins"
)

// TestTestedWith: "Tested with" in CHANGELOG.md names the versions that tests run with: those of the Makefile and of
// the plugins that hlocb installs. The peers on this machine have these versions.
func TestTestedWith(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	_, table, _ := strings.Cut(read("CHANGELOG.md"), "\n## Tested with\n")
	rows := map[string]string{}
	for line := range strings.Lines(table) {
		if cells := strings.Split(strings.TrimSpace(line), " | "); len(cells) == 2 {
			rows[strings.TrimPrefix(cells[0], "| ")] = strings.TrimSuffix(cells[1], " |")
		}
	}
	expect := func(system, want string) {
		if !strings.HasPrefix(rows[system], want) {
			t.Errorf("CHANGELOG.md says of %s %q, expected %q", system, rows[system], want)
		}
	}
	both := peer.MainVersion + " and " + peer.TodayVersion
	expect("jaxlib and JAX", both)
	expect("Shardy", "the dialects sdy and mpmd of jaxlib "+both)
	goVersion := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read("go.mod"))
	if goVersion == nil {
		t.Fatal("go.mod names no version of Go")
	}
	expect("Go", goVersion[1])
	makefile := read("Makefile")
	for _, version := range []string{peer.MainVersion, peer.TodayVersion} {
		if !strings.Contains(makefile, "'jaxlib=="+version+"'") {
			t.Errorf("the Makefile does not install jaxlib %s", version)
		}
	}
	peer.Each(t, nil, func(t *testing.T, p *peer.Interpreter) {
		got := string(p.Run(t, "import importlib.metadata as m; print('jax', m.version('jaxlib'), end='')", nil))
		if want := t.Name()[strings.LastIndexByte(t.Name(), '/')+1:]; got != strings.ReplaceAll(want, "_", " ") {
			t.Errorf("the environment has %s, expected %s", got, want)
		}
	})
	t.Run("plugins", func(t *testing.T) {
		var cpu, api []string
		for _, p := range plugins.Packages() {
			if p.Name != "cpu" {
				continue
			}
			var out, stderr bytes.Buffer
			if code := cli.Main([]string{"plugin", "info", p.Name + "@" + p.Version, "--json"}, strings.NewReader(""), &out, &stderr); code != 0 {
				t.Skipf("skip: %s %s: %s", p.Distribution, p.Version, &stderr)
			}
			var info struct {
				PJRT       string `json:"pjrt_api"`
				Attributes []struct{ Name, Value string }
			}
			if err := json.Unmarshal(out.Bytes(), &info); err != nil {
				t.Fatal(err)
			}
			for _, a := range info.Attributes {
				if a.Name == "stablehlo_current_version" {
					cpu = append(cpu, fmt.Sprintf("`%s` %s: PJRT API %s, StableHLO %s", p.Distribution, p.Version, info.PJRT, a.Value))
					api = append(api, info.PJRT)
				}
			}
		}
		expect("XLA's CPU plugin", strings.Join(cpu, "; "))
		expect("PJRT API", strings.Join(api, " and ")+" tested")
	})
}
