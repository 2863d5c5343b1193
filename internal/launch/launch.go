// Package launch prepares a program whose PJRT plugins hlocb wraps. It preloads a small C library, which loads the
// library of cmd/libhlocb_pjrt at the first plugin. It also prepares a program that runs on the engine: another small C
// library loads the same one. A release has these libraries; else package launch builds them once, with Go and a C
// compiler, into the cache.
package launch

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The files of the libraries.
const (
	PluginFile  = "libhlocb_pjrt.so"
	PreloadFile = "libhlocb_preload.so"
	EngineFile  = "libhlocb_engine.so" // the embedded engine as a PJRT plugin; it loads PluginFile
)

// Files returns the files of all libraries. They stand in one directory.
func Files() []string { return []string{PluginFile, PreloadFile, EngineFile} }

//go:embed c/preload.c
var preloadSource []byte

//go:embed c/engine.c
var engineSource []byte

// exported are the symbols of PluginFile; it keeps all others inside.
const exported = "{ global: GetPjrtApi; hlocb_engine_api; hlocb_configure; local: *; };\n"

const module = "github.com/hlocb/hlocb"

// Libraries are the paths of the libraries.
type Libraries struct{ Plugin, Preload, Engine string }

// In returns the libraries in a directory.
func In(dir string) Libraries {
	return Libraries{filepath.Join(dir, PluginFile), filepath.Join(dir, PreloadFile), filepath.Join(dir, EngineFile)}
}

// Find returns the libraries: in lib/hlocb beside the running command's directory, as a release and a Python wheel
// install them, beside the command, or from the cache. Missing libraries come into the cache: those that a release
// embeds in the command are unpacked, others are built, which Find reports on log.
func Find(ctx context.Context, log io.Writer) (Libraries, error) {
	dir, err := find(ctx, log)
	return In(dir), err
}

// find returns the directory of the libraries.
func find(ctx context.Context, log io.Writer) (string, error) {
	switch {
	case runtime.GOOS != "linux":
		return "", fmt.Errorf("programs can be started this way on Linux only, not on %s", runtime.GOOS)
	case static:
		return "", errors.New("this hlocb is built for any Linux and has no libraries to look into programs with; the package and the archive for Linux with glibc have them")
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if resolved, err := filepath.EvalSymlinks(self); err == nil {
		self = resolved
	}
	bin, files := filepath.Dir(self), Files()
	for _, dir := range []string{filepath.Join(filepath.Dir(bin), "lib", "hlocb"), bin} {
		if exist(dir, files) {
			return dir, nil
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	key, err := hash(self)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "hlocb", "interposer", key)
	if exist(dir, files) {
		return dir, nil
	}
	if holds(embedded, files) {
		return dir, unpack(embedded, files, dir)
	}
	fmt.Fprintf(log, "hlocb: building the libraries %s; this happens once and takes a minute or two\n", strings.Join(files, ", "))
	stop := progress(log, 10*time.Second)
	defer stop()
	return dir, Build(ctx, dir)
}

// progress reports on log every so often that hlocb builds, until the returned function is called.
func progress(log io.Writer, every time.Duration) (stop func()) {
	start, done, ended := time.Now(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				fmt.Fprintf(log, "hlocb: building for %s\n", time.Since(start).Round(every))
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// Stale returns the directories of libraries that other builds of the command made in the cache.
func Stale() ([]string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	key, err := hash(self)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Join(cache, "hlocb", "interposer"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() && e.Name() != key {
			out = append(out, filepath.Join(cache, "hlocb", "interposer", e.Name()))
		}
	}
	return out, err
}

func exist(dir string, files []string) bool {
	for _, f := range files {
		if _, err := os.Stat(filepath.Join(dir, f)); err != nil {
			return false
		}
	}
	return true
}

// hash identifies the running command. The libraries must be built for the same command.
func hash(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// Build builds the libraries for this machine into dir.
func Build(ctx context.Context, dir string) error {
	return Compile(ctx, append(os.Environ(), "CGO_ENABLED=1"), cmp.Or(os.Getenv("CC"), "cc"), dir)
}

// Compile builds the libraries into dir, with the C compiler cc and the environment env of Go's command.
func Compile(ctx context.Context, env []string, cc, dir string) error {
	c := compiler{cc, env}
	return inside(dir, func(work string) error {
		if err := c.small(ctx, work, PreloadFile, preloadSource); err != nil {
			return err
		}
		if err := c.small(ctx, work, EngineFile, engineSource); err != nil {
			return err
		}
		if err := c.plugin(ctx, work); err != nil {
			return err
		}
		for _, file := range Files() {
			if err := os.Rename(filepath.Join(work, file), filepath.Join(dir, file)); err != nil {
				return err
			}
		}
		return nil
	})
}

// compiler builds libraries.
type compiler struct {
	cc  string
	env []string
}

// small builds a library of one C file into the directory work.
func (c compiler) small(ctx context.Context, work, file string, text []byte) error {
	source := filepath.Join(work, file+".c")
	if err := os.WriteFile(source, text, 0o666); err != nil {
		return err
	}
	return c.run(ctx, work, c.cc, "-O2", "-fPIC", "-shared", "-s", "-fvisibility=hidden", "-o", filepath.Join(work, file), source, "-ldl", "-lpthread")
}

// inside calls f with a new directory in dir, which it removes afterwards.
func inside(dir string, f func(work string) error) error {
	dir, err := filepath.Abs(dir) // commands run in other directories
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	work, err := os.MkdirTemp(dir, "build")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	return f(work)
}

// plugin builds cmd/libhlocb_pjrt as a shared library into the directory work.
func (c compiler) plugin(ctx context.Context, work string) error {
	exports := filepath.Join(work, "exports.map")
	if err := os.WriteFile(exports, []byte(exported), 0o666); err != nil {
		return err
	}
	tree, target, err := c.sourceTree(ctx, work, "libhlocb_pjrt")
	if err != nil {
		return err
	}
	flags := "-s -w -buildid= -extldflags '-Wl,--version-script=" + exports + "'"
	return c.run(ctx, tree, "go", "build", "-buildmode=c-shared", "-ldflags", flags, "-o", filepath.Join(work, PluginFile), target)
}

// sourceTree returns the directory and the target of 'go build': the tree that this command was built from if it still
// exists, else a new module that requires this version. A command without a version and without paths (go run
// -trimpath) uses the tree around the working directory.
func (c compiler) sourceTree(ctx context.Context, work, name string) (dir, target string, err error) {
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		if root := filepath.Dir(filepath.Dir(filepath.Dir(file))); isTree(root) {
			return root, "./cmd/" + name, nil
		}
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || !strings.HasPrefix(info.Main.Version, "v") {
		root, err := os.Getwd()
		for ; err == nil && root != filepath.Dir(root); root = filepath.Dir(root) {
			if isTree(root) {
				return root, "./cmd/" + name, nil
			}
		}
		return "", "", errors.New("this command does not know its sources; build the libraries with 'make interposer' and put them beside it")
	}
	dir = filepath.Join(work, "module")
	if err := os.Mkdir(dir, 0o777); err != nil {
		return "", "", err
	}
	if err := c.run(ctx, dir, "go", "mod", "init", "build"); err != nil {
		return "", "", err
	}
	target = module + "/cmd/" + name
	return dir, target, c.run(ctx, dir, "go", "get", target+"@"+info.Main.Version)
}

// isTree reports whether dir holds hlocb's sources: a module of its name with this command's source of the library that
// is preloaded.
func isTree(dir string) bool {
	b, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || !strings.HasPrefix(string(b), "module "+module+"\n") {
		return false
	}
	source, err := os.ReadFile(filepath.Join(dir, "internal", "launch", "c", "preload.c"))
	return err == nil && bytes.Equal(source, preloadSource)
}

func (c compiler) run(ctx context.Context, dir, name string, args ...string) error {
	return Run(ctx, dir, c.env, name, args...)
}

// Run runs a command in a directory with an environment. Its error holds what the command printed.
func Run(ctx context.Context, dir string, env []string, name string, args ...string) error {
	command := exec.CommandContext(ctx, name, args...)
	command.Dir, command.Env = dir, env
	out, err := command.CombinedOutput()
	if err == nil {
		return nil
	}
	line := name + " " + strings.Join(args, " ")
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%s is missing; it is needed once to run: %s", name, line)
	}
	return fmt.Errorf("%s: %w\n%s", line, err, strings.TrimSpace(string(out)))
}

// Environment returns the variables to add to the environment of the program that replaces this process. lookup is
// os.Getenv.
func (l Libraries) Environment(lookup func(string) string) ([]string, error) {
	preload, err := without(" :", l.Preload)
	if err != nil {
		return nil, err
	}
	if old := lookup("LD_PRELOAD"); old != "" {
		preload += ":" + old
	}
	return []string{"LD_PRELOAD=" + preload, "HLOCB_LIBRARY=" + l.Plugin}, nil
}

// without returns a path of a file that contains none of some characters: path itself, or a path of the file that this
// process opens and leaves open for the program that replaces it.
func without(characters, path string) (string, error) {
	if !strings.ContainsAny(path, characters) {
		return path, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return inherited(f)
}

// inherited returns the path of an open file, which stays open in the program that replaces this process. The processes
// that the program starts can open the path while the program runs.
func inherited(f *os.File) (string, error) {
	fd, err := syscall.Dup(int(f.Fd()))
	return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), fd), err
}

// Watch returns the variable that lets the program report at its end that no plugin was opened, in no process.
func Watch() (string, error) {
	f, err := os.CreateTemp("", "hlocb-opened-")
	if err != nil {
		return "", err
	}
	defer f.Close()
	path, err := inherited(f)
	return "HLOCB_OPENED=" + path, errors.Join(err, os.Remove(f.Name()))
}

// NeedsCPUPlugin reports whether JAX would use its own CPU client, which is not a plugin: the machine has no
// accelerator, and the user has not chosen platforms.
func NeedsCPUPlugin(lookup func(string) string) bool {
	return lookup("PJRT_NAMES_AND_LIBRARY_PATHS") == "" && lookup("JAX_PLATFORMS") == "" && !accelerator()
}

// JAXOnEngine returns the variables that let JAX run on the engine in place of its own CPU client. JAX then treats it
// as that client: it lowers callbacks, LAPACK and random numbers as for a CPU.
func (l Libraries) JAXOnEngine() ([]string, error) {
	path, err := without(",:", l.Engine)
	return jaxOn(path), err
}

func jaxOn(engine string) []string {
	return []string{"PJRT_NAMES_AND_LIBRARY_PATHS=cpu:" + engine, "JAX_PLATFORMS=cpu"}
}

// OnEngine returns the variables that let a program run on the engine: with JAX, with GoMLX, or with PyTorch/XLA, which
// finds the engine by hlocb's Python package and then keeps the lines of the program. limit is the limit for all values
// in bytes; 0 means none.
func (l Libraries) OnEngine(limit int64) ([]string, error) {
	path, err := without(",:", l.Engine)
	env := append(jaxOn(path), "GOMLX_BACKEND=xla:"+path, "PJRT_DEVICE=HLOCB", "XLA_IR_DEBUG=1", "XLA_HLO_DEBUG=1")
	if limit > 0 {
		env = append(env, "HLOCB_ENGINE_MEMORY="+strconv.FormatInt(limit, 10))
	}
	return env, err
}

// ForJAX returns the variables that let JAX use a CPU plugin instead of its own client. JAX_PLATFORMS keeps JAX's CPU
// client too: JAX's callbacks put their operands there.
//
// A quiet plugin is loaded with a log level that leaves out XLA's errors: JAX's own client logs none of them.
func ForJAX(plugin string, quiet bool) ([]string, error) {
	plugin, err := without(",:", plugin)
	env := []string{"PJRT_NAMES_AND_LIBRARY_PATHS=xcpu:" + plugin, "JAX_PLATFORMS=xcpu,cpu"}
	if quiet {
		env = append(env, "HLOCB_QUIET="+plugin)
	}
	return env, err
}

// accelerator reports whether this machine has a GPU or TPU.
func accelerator() bool {
	for _, device := range []string{"/dev/nvidiactl", "/dev/kfd", "/dev/accel0"} {
		if _, err := os.Stat(device); err == nil {
			return true
		}
	}
	return false
}
