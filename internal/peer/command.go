package peer

import (
	"context"
	"os/exec"
)

// Command returns exec.Command's command. On Linux it ends with this process, also if a signal ends this process.
func Command(name string, args ...string) *exec.Cmd { return tie(exec.Command(name, args...)) }

// CommandContext returns exec.CommandContext's command. On Linux it ends with this process, as Command's.
func CommandContext(ctx context.Context, name string, args ...string) *exec.Cmd {
	return tie(exec.CommandContext(ctx, name, args...))
}
