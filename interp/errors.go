package interp

import (
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/ops"
)

type (
	// OpError is an error located at an op. It occurs during compilation or execution. It unwraps to the diagnostic and
	// to the cause.
	OpError = exec.OpError
	// UnsupportedError reports that the engine does not support an op.
	UnsupportedError = kernel.UnsupportedError
	// PluginError reports that a custom call needs a plugin, because only XLA's own libraries implement it.
	PluginError = ops.PluginError
	// CheckError reports that a value fails one of the program's expectations.
	CheckError = kernel.CheckError
	// Profile collects the time that the ops of runs take.
	Profile = exec.Profile
	// OpTime is the time that one op took.
	OpTime = exec.OpTime
	// Progress describes the state of a run.
	Progress = exec.Progress
)

// KnowsTarget reports whether the engine, or a library of another device, implements the custom call target.
func KnowsTarget(target string) bool { return ops.Knows(target) }
