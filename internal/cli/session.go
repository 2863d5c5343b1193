package cli

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/internal/heap"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
)

// moduleFlags say how a module is read.
type moduleFlags struct {
	rewrite    rewriteFlags
	asWritten  bool
	replicas   int // 0: as the module says
	partitions int
	// platform and index, which is negative if it was not given, choose the platform of a program that jax.export wrote
	// for several platforms.
	platform string
	index    int
}

func (f *moduleFlags) addDevices(c *cobra.Command) {
	c.Flags().IntVar(&f.replicas, "replicas", 0, "`N` number of replicas (default: as the module says)")
	c.Flags().IntVar(&f.partitions, "partitions", 0, "`N` number of partitions (default: as the module says)")
}

func (f *moduleFlags) addPlatform(c *cobra.Command) {
	c.Flags().StringVar(&f.platform, "platform", "", "`NAME` platform of a jax.export for several platforms: cpu, cuda, rocm or tpu")
	c.Flags().IntVar(&f.index, "platform-index", -1, "`N` the same for a bare module, by number")
}

func (f *moduleFlags) options() ([]hlocb.LoadOption, error) {
	if f.replicas < 0 || f.partitions < 0 {
		return nil, usagef("--replicas and --partitions must not be negative")
	}
	opts, err := f.rewrite.options()
	opts = append(opts, hlocb.Devices(f.replicas, f.partitions))
	switch {
	case err != nil:
		return nil, err
	case f.index < 0:
		opts = append(opts, hlocb.Platform(f.platform))
	case f.platform != "":
		return nil, usagef("--platform and --platform-index cannot be combined")
	default:
		opts = append(opts, hlocb.PlatformIndex(f.index))
	}
	if f.asWritten {
		opts = append(opts, hlocb.AsWritten())
	}
	return opts, nil
}

// session is a program and the backend that executes it.
type session struct {
	app     *app
	program *hlocb.Program
	backend runtime.Backend
	timeout time.Duration // to load a plugin, to compile on it, and per callback; 0 is none
	options []hlocb.CompileOption
}

// open opens the backend of a program. The caller closes it.
func (a *app) open(ctx context.Context, p *hlocb.Program, name string, opts backends.Options, timeout time.Duration) (*session, error) {
	heap.Running()
	if flags := xlaFlags(p, os.Getenv("XLA_FLAGS"), name, opts); flags != "" {
		_ = os.Setenv("XLA_FLAGS", flags)
	}
	opts.EndRuns, opts.Trim = true, true
	b, err := onPlugin(ctx, timeout, "loading", name, func(ctx context.Context) (runtime.Backend, error) {
		return p.OpenBackend(ctx, name, opts)
	})
	return &session{app: a, program: p, backend: b, timeout: timeout}, err
}

// compile compiles the program.
func (s *session) compile(ctx context.Context, b *runtime.Bindings) (*hlocb.Executable, error) {
	defer s.app.While("compiling on " + s.backend.Name())()
	return onPlugin(ctx, s.timeout, "compiling on", s.backend.Name(), func(ctx context.Context) (*hlocb.Executable, error) {
		return s.program.Compile(ctx, append(s.options, hlocb.OnBackend(s.backend), hlocb.Bind(b), hlocb.Timeout(s.timeout))...)
	})
}

// compileOnly compiles a program that will not run here, so its hooks need no handlers. use is the memory use of the
// handlers to come.
func (s *session) compileOnly(ctx context.Context, use runtime.MemoryUse) (*hlocb.Executable, error) {
	var b runtime.Bindings
	for _, site := range s.program.Hooks() {
		b.Answer(site.ID.String(), placeholder(use))
	}
	return s.compile(ctx, &b)
}

// placeholder is a handler that is never called, with a memory use.
type placeholder runtime.MemoryUse

// Handle implements runtime.Handler.
func (placeholder) Handle(context.Context, *runtime.Call) error {
	return errors.New("the program was only compiled")
}

// MemoryUse implements runtime.MemoryUser.
func (p placeholder) MemoryUse() runtime.MemoryUse { return runtime.MemoryUse(p) }
