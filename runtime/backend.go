package runtime

import (
	"context"
	"time"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Program is a module that is ready to be compiled: with every hook in hlocb's own form, or as written.
type Program struct {
	Module   *ir.Module
	Manifest *hook.Manifest // its hooks; nil or empty if it has none
}

// Backend executes programs on some devices. It is safe for concurrent use.
type Backend interface {
	// Name returns the name that the user wrote or would write: "engine", "cpu", "cuda", a path.
	Name() string
	// Describe returns one line about the engine or plugin: version, devices.
	Describe() string
	// Compile compiles the program and binds its hooks to handlers. Executables of the same module with different
	// handlers do not see each other's events. Compile returns when ctx ends.
	Compile(ctx context.Context, p *Program, opts CompileOptions) (Executable, error)
	// Upload copies a value to devices, or lends it to them. Callers use Put. The value must not change before the
	// memory is released.
	Upload(ctx context.Context, t *tensor.Tensor, place Placement) (Memory, error)
	// Stats returns numbers about the runs in progress.
	Stats() Stats
	// Close releases the backend. Executables and buffers must be closed before.
	Close() error
}

// Stats are numbers about a backend.
type Stats struct {
	Clients int   // instances of the plugin: one, and one for each level of handlers that run programs
	Runs    int   // in progress
	Waiting int   // runs that have reached no hook while the handler of another run is busy on their client
	Pinned  int64 // bytes of host memory that are kept for copies to and from devices
}

// CompileOptions configure the execution of a program.
type CompileOptions struct {
	Handlers *Bindings // nil binds nothing
	// Timeout bounds one call of a hook's handlers and, on engines that can end a program, the time between two hooks.
	// 0 means no limit.
	Timeout time.Duration
	// Reentrant says that a handler of another run may wait for a run of this program on a goroutine that does not know
	// the handler's context. A run that waits for such a handler starts a second time, on another client, and the attempt
	// that reaches a hook first is the run. A run that donates arguments starts once.
	Reentrant bool
	// Devices lists the ordinals of the devices that the program runs on: the partitions of the first replica, then of the
	// next. nil lets the backend choose its first devices. The embedded engine has no devices to choose from.
	Devices []int
	// Options are options of the plugin's compiler by name, such as those that XLA_FLAGS sets for all programs. Values
	// are of type string, bool, int64 or float64. The embedded engine has none.
	Options map[string]any
	// Replicas times Partitions is the number of devices that the program runs on. 0 means the module's own number
	// (mhlo.num_replicas, mhlo.num_partitions), else 1.
	Replicas, Partitions int
}

// Executable is a compiled program. Run may be called concurrently.
type Executable interface {
	// Run executes the program once. The arguments are row-major host values and are never changed. The results belong
	// to the caller. If a handler fails, the error is a *HookError.
	Run(ctx context.Context, args []*tensor.Tensor) ([]*tensor.Tensor, error)
	// Signature describes arguments and results on the devices.
	Signature() *Signature
	// RunMemory executes the program once on values of its backend that have the right types and places, and leaves the
	// results there. Callers use Execute. The program may overwrite the memory of donated arguments.
	RunMemory(ctx context.Context, args []Memory, donated []bool) ([]Memory, error)
	// Close refuses new runs, waits for the runs in progress and releases the executable.
	Close() error
}

// Dispatcher is an Executable that can run without a wait for the end; see ExecuteOptions.NoWait.
type Dispatcher interface {
	Executable
	// DispatchMemory is RunMemory, but may return before the run has ended. The results then wait for their values.
	DispatchMemory(ctx context.Context, args []Memory, donated []bool) ([]Memory, error)
}
