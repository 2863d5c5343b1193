package cli

import (
	_ "embed"
	"fmt"
	goruntime "runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/command"
)

//go:embed version.txt
var releaseText string // the number of the release that this tree becomes

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of hlocb and of its call",
		Args:  command.Args(),
		RunE:  command.Body(func(*cobra.Command, []string) error { return a.printVersion(asJSON) }),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (a *app) printVersion(asJSON bool) error {
	version, revision := "v"+strings.TrimSpace(releaseText), ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if strings.HasPrefix(info.Main.Version, "v") { // by go install
			version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				revision = " " + s.Value[:12]
			}
		}
	}
	if asJSON {
		return writeJSON(a.Out, struct {
			Version  string `json:"version"`
			Revision string `json:"revision,omitempty"`
			Call     int    `json:"call"`
			Go       string `json:"go"`
			Platform string `json:"platform"`
		}{version, strings.TrimSpace(revision), hook.ABI, goruntime.Version(), goruntime.GOOS + "/" + goruntime.GOARCH})
	}
	_, err := fmt.Fprintf(a.Out, "hlocb %s%s, call version %d, %s %s/%s\n", version, revision, hook.ABI, goruntime.Version(), goruntime.GOOS, goruntime.GOARCH)
	return err
}
