// Package interposer measures the interposer beside the plain plugin and JAX's own client, in one process of Python,
// and a tapped transformer step. It needs jaxlib, the CPU plugin, and the library in the root of the repository: 'make
// interposer'.
package interposer

import (
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/hlocb/hlocb/internal/bench/meter"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/runtime/plugins"
)

//go:embed interposer.py
var script string

// Run measures, and returns the figures.
func Run(args []string) ([]meter.Row, error) {
	flags := flag.NewFlagSet("interposer", flag.ContinueOnError)
	rounds := flags.Int("rounds", 60, "how often the sides take turns")
	library := flags.String("library", "libhlocb_pjrt.so", "the interposer's `file`")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	python := peer.Find()
	if python == "" {
		return nil, errors.New("jaxlib is not installed: 'make jaxlib'")
	}
	found, err := plugins.System().Find("cpu")
	if err != nil {
		return nil, err
	}
	file, err := filepath.Abs(*library)
	if err != nil {
		return nil, err
	}
	var rows []meter.Row
	for _, tap := range []string{"", "HLOCB_TAP=dot_general=stats"} {
		cmd := exec.Command(python, "-c", script, found[0].Path, file, fmt.Sprint(*rounds))
		if tap != "" {
			cmd.Env = append(os.Environ(), tap)
		}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			return rows, err
		}
		var failed error
		for d := json.NewDecoder(out); failed == nil; {
			var r struct {
				meter.Row
				About string
			}
			if failed = d.Decode(&r); failed == nil {
				fmt.Printf("%s: %s\n", r.Name, r.About)
				rows = append(rows, r.Row)
			}
		}
		if failed == io.EOF {
			failed = nil
		}
		if err := errors.Join(failed, cmd.Wait()); err != nil {
			return rows, fmt.Errorf("JAX: %w; without HLOCB_TAP and with it, the script needs %s", err, file)
		}
	}
	return rows, nil
}
