package hlocb

import (
	"io"
	"maps"
	"os"
	"time"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/entry"
	"github.com/hlocb/hlocb/internal/probe"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/runtime"
)

// A LoadOption changes how a module is read and how its hooks are converted.
type LoadOption func(*loadConfig)

type loadConfig struct {
	rewrite              passes.RewriteHooks
	targets              []string // of HookTargets
	asWritten            bool
	replicas, partitions int
	warn                 func(*diag.Diagnostic)
	changes              []func(*ir.Module) error
	platform             string
	platformIndex        *int
	taps                 []*tap
}

// HookTargets makes custom calls of these targets hooks, too.
func HookTargets(targets ...string) LoadOption {
	return func(l *loadConfig) { l.targets = append(l.targets, targets...) }
}

// Rewrite sets the options of the conversion of hooks. The targets of HookTargets are targets, too.
func Rewrite(opts passes.RewriteHooks) LoadOption {
	return func(l *loadConfig) { l.rewrite = opts }
}

// AsWritten leaves the module unchanged. Only the embedded engine then delivers hooks in other formats than hlocb's
// own.
func AsWritten() LoadOption { return func(l *loadConfig) { l.asWritten = true } }

// Devices sets the module's number of replicas and of partitions. 0 keeps the module's own number.
func Devices(replicas, partitions int) LoadOption {
	return func(l *loadConfig) { l.replicas, l.partitions = replicas, partitions }
}

// OnWarning calls f for each warning about the module, such as a misspelled attribute.
func OnWarning(f func(*diag.Diagnostic)) LoadOption { return func(l *loadConfig) { l.warn = f } }

// BeforeConversion calls f with the module before its hooks are converted.
func BeforeConversion(f func(*ir.Module) error) LoadOption {
	return func(l *loadConfig) { l.changes = append(l.changes, f) }
}

// Platform chooses the platform of a program that jax.export wrote for several platforms: "cpu", "cuda", "rocm" or
// "tpu". Parse finds the platforms in the container of jax.export.
func Platform(name string) LoadOption { return func(l *loadConfig) { l.platform = name } }

// PlatformIndex chooses the platform of a module that jax.export wrote for several platforms, by its number.
func PlatformIndex(n int) LoadOption { return func(l *loadConfig) { l.platformIndex = &n } }

// PlatformError says that a platform was named for a bare module, which does not list its platforms.
type PlatformError = entry.PlatformError

// A TapOption says which executions of a value a Tap observes, and who sees them.
type TapOption func(*tap)

type tap struct {
	spec    string
	sample  probe.Sample
	out     io.Writer
	handler Handler
	ids     []hook.ID // of the hooks that were added
}

// Every observes only every nth execution of a value in an executable, from the first on.
func Every(n int64) TapOption { return func(t *tap) { t.sample.Every = n } }

// First observes at most n executions of a value in an executable.
func First(n int64) TapOption { return func(t *tap) { t.sample.First = n } }

// To lets h see the values, as an observer of hooks. Without To, the kind of the tap chooses the handler.
func To(h Handler) TapOption { return func(t *tap) { t.handler = h } }

// Output is where a tap without To prints; the default is standard output.
func Output(w io.Writer) TapOption { return func(t *tap) { t.out = w } }

// Tap observes values of a program that has no hooks for them. spec is REGEX or REGEX=KIND. REGEX selects values by the
// name of the value, op or scope, or by the innermost frame of the location (file:line:column); after "under:" by any
// frame. KIND is print (the default), stats or finite: stats and finite reduce the value where the program runs, and
// finite ends the run at a NaN or an infinity. With To there is no KIND. A tap that selects no value is an error.
func Tap(spec string, opts ...TapOption) LoadOption {
	return func(l *loadConfig) {
		t := &tap{spec: spec, out: os.Stdout}
		for _, o := range opts {
			o(t)
		}
		l.taps = append(l.taps, t)
	}
}

// A CompileOption binds handlers and says where and how a program runs.
type CompileOption func(*compileConfig)

type compileConfig struct {
	bindings *runtime.Bindings
	backend  runtime.Backend
	name     string
	runtime  runtime.CompileOptions
	ahead    int
	client   map[string]any // options of the backend's client
}

// Answer lets h compute the results of the hooks that pattern selects: a name, a glob or a hexadecimal id. An exact
// name beats a glob, a later option beats an earlier option.
func Answer(pattern string, h Handler) CompileOption {
	return func(c *compileConfig) { c.bindings.Answer(pattern, h) }
}

// Observe lets h see the operands of the hooks that pattern selects: a name, a glob or a hexadecimal id. Any number of
// handlers can observe a hook.
func Observe(pattern string, h Handler) CompileOption {
	return func(c *compileConfig) { c.bindings.Observe(pattern, h) }
}

// Bind binds handlers as b does, beside those of other options.
func Bind(b *runtime.Bindings) CompileOption {
	return func(c *compileConfig) { c.bindings.Add(b) }
}

// On chooses the backend that executes the program: "auto" (the default), "engine", a platform such as "cpu", or
// the path of a PJRT plugin. Executable.Close closes it.
func On(name string) CompileOption { return func(c *compileConfig) { c.name = name } }

// OnBackend executes the program on b, which stays open when the executable is closed.
func OnBackend(b runtime.Backend) CompileOption { return func(c *compileConfig) { c.backend = b } }

// Timeout limits how long one call of a handler may take and, on the embedded engine, the program between two calls.
func Timeout(d time.Duration) CompileOption { return func(c *compileConfig) { c.runtime.Timeout = d } }

// Reentrant says that a handler of another run may wait for a run of this program on a goroutine that does not know the
// handler's context. See runtime.CompileOptions.Reentrant.
func Reentrant() CompileOption { return func(c *compileConfig) { c.runtime.Reentrant = true } }

// Ahead limits the runs of Executable.Start that are in progress; Start waits while there are more. The default is 16.
func Ahead(runs int) CompileOption { return func(c *compileConfig) { c.ahead = runs } }

// Device executes a program for one device on device n of the backend, by ordinal; Backend.Describe lists them. Buffers
// move to it by Buffer.CopyTo.
func Device(n int) CompileOption { return DeviceAssignment(n) }

// DeviceAssignment executes a program for several devices on the devices with these ordinals: the partitions of the
// first replica, then of the next.
func DeviceAssignment(devices ...int) CompileOption {
	return func(c *compileConfig) { c.runtime.Devices = devices }
}

// CompilerOption sets an option of the plugin's compiler for this program, by the name that it has in XLA_FLAGS. The
// value is of type string, bool, int64 or float64.
func CompilerOption(name string, value any) CompileOption {
	return func(c *compileConfig) {
		c.runtime.Options = maps.Clone(c.runtime.Options)
		if c.runtime.Options == nil {
			c.runtime.Options = map[string]any{}
		}
		c.runtime.Options[name] = value
	}
}

// ClientOption sets an option of the plugin's client that Compile opens, by name, such as memory_fraction of a GPU's
// plugin. The value is of type string, bool, int64, []int64 or float32. It has no effect with OnBackend.
func ClientOption(name string, value any) CompileOption {
	return func(c *compileConfig) {
		if c.client == nil {
			c.client = map[string]any{}
		}
		c.client[name] = value
	}
}
