package runtime

import (
	"context"
	"time"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Program is a module ready to be compiled: every hook in hlocb's own form, or as written.
type Program struct {
	Module   *ir.Module     // what the embedded engine executes
	Text     []byte         // the same module as MLIR text, for plugins
	Manifest *hook.Manifest // its hooks; empty where it has none
}

// Backend executes programs on some devices. It is safe for concurrent use.
type Backend interface {
	// Name is what the user wrote or would write: "interp", "cpu", "cuda", a path.
	Name() string
	// Describe says in one line what executes: engine or plugin, version, devices.
	Describe() string
	// Compile binds the program to its handlers. Programs compiled from the same module with different
	// handlers do not see each other's events.
	Compile(ctx context.Context, p *Program, opts CompileOptions) (Executable, error)
	// Close releases the backend. Executables must be closed before.
	Close() error
}

// CompileOptions says how a program is executed.
type CompileOptions struct {
	Handlers *Bindings // nil binds nothing
	// Timeout is how long one hook may take and, on engines that can end a program, the program between two hooks; 0 is for
	// ever.
	Timeout time.Duration
	// Replicas and Partitions say on how many devices the program runs, Replicas times Partitions; 0 is what the
	// module says of itself (mhlo.num_replicas, mhlo.num_partitions), else 1.
	Replicas, Partitions int
}

// Executable is a compiled program. Run may be called concurrently.
type Executable interface {
	// Run executes the program once. The arguments are row-major host values and are never changed; the
	// results belong to the caller. An error of a handler is a *HookError.
	Run(ctx context.Context, args []*tensor.Tensor) ([]*tensor.Tensor, error)
	// Close releases the executable; it waits for runs that are under way.
	Close() error
}
