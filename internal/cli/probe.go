package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/runtime/backends"
)

// backendOptions is how every command opens backends.
func (a *app) backendOptions() backends.Options {
	return backends.Options{Plugins: a.env, Probe: probe, Skipped: func(t backends.Tried) { a.note("skipped a plugin that cannot be used: %s", t) }}
}

// probe tries a layout of handler registration on a plugin in a process of its own, since a wrong one crashes it.
func probe(path, platform string, versioned bool) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var stderr bytes.Buffer
	cmd := exec.Command(self, "plugin", "probe", path, platform, strconv.FormatBool(versioned))
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	return nil
}

// pluginProbeCommand is what probe runs.
func (a *app) pluginProbeCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "probe PATH PLATFORM VERSIONED",
		Short:  "Register a handler with a plugin, or crash",
		Hidden: true,
		Args:   exactArgs("PATH", "PLATFORM", "VERSIONED"),
		RunE: command(func(_ *cobra.Command, args []string) error {
			versioned, err := strconv.ParseBool(args[2])
			if err != nil {
				return usagef("%v", err)
			}
			return backends.TryRegistration(args[0], args[1], versioned)
		}),
	}
}
