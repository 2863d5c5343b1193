package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/runtime/backends"
)

// backendOptions returns the options with which every command opens backends.
func (a *app) backendOptions() backends.Options {
	limit, _ := new(limitFlags).bytes()
	return backends.Options{Plugins: a.env, Probe: probeLayout, Engine: interp.Options{MemoryLimit: limit},
		Skipped: func(t backends.Candidate) { a.note("skipped a plugin that cannot be used: %s", t) }}
}

// limitedOptions returns backendOptions with the limits that the command line sets.
func (a *app) limitedOptions(f *limitFlags) (backends.Options, error) {
	opts := a.backendOptions()
	var err error
	opts.Engine, err = f.engine(a)
	return opts, err
}

// probeLayout tries a layout of handler registration on a plugin in a child process, because a wrong one crashes it.
func probeLayout(path, platform string, versioned bool) error {
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

// pluginProbeCommand is the child process of probeLayout.
func (a *app) pluginProbeCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "probe PATH PLATFORM VERSIONED",
		Short:  "Register a handler with a plugin, or crash",
		Hidden: true,
		Args:   command.Args("PATH", "PLATFORM", "VERSIONED"),
		RunE: command.Body(func(_ *cobra.Command, args []string) error {
			versioned, err := strconv.ParseBool(args[2])
			if err != nil {
				return usagef("%v", err)
			}
			return backends.TryRegistration(args[0], args[1], versioned)
		}),
	}
}
