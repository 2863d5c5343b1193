// Package launch prepares a program whose PJRT plugins hlocb wraps. It preloads a small C library, which loads the
// library of cmd/libhlocb_pjrt at the first plugin. Package launch builds both libraries once, with Go and a C
// compiler, into the cache.
package launch

import (
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
	"strings"
)

// The files of both libraries.
const (
	PluginFile  = "libhlocb_pjrt.so"
	PreloadFile = "libhlocb_preload.so"
)

//go:embed c/preload.c
var preloadSource []byte

// exportsMap keeps every symbol but GetPjrtApi inside.
//
//go:embed c/exports.map
var exportsMap []byte

const (
	module  = "github.com/hlocb/hlocb"
	command = module + "/cmd/libhlocb_pjrt"
)

// Libraries are the files that Environment names.
type Libraries struct{ Plugin, Preload string }

// Find returns the libraries: beside the running command, as in a release, or from the cache. It builds missing
// libraries in the cache and reports this on log.
func Find(ctx context.Context, log io.Writer) (Libraries, error) {
	if runtime.GOOS != "linux" {
		return Libraries{}, fmt.Errorf("programs can be started this way on Linux only, not on %s", runtime.GOOS)
	}
	self, err := os.Executable()
	if err != nil {
		return Libraries{}, err
	}
	if l := in(filepath.Dir(self)); l.exist() {
		return l, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return Libraries{}, err
	}
	key, err := hash(self)
	if err != nil {
		return Libraries{}, err
	}
	l := in(filepath.Join(cache, "hlocb", "interposer", key))
	if l.exist() {
		return l, nil
	}
	fmt.Fprintln(log, "hlocb: building the libraries that programs are started with; this happens once")
	return l, Build(ctx, filepath.Dir(l.Plugin))
}

func in(dir string) Libraries {
	return Libraries{filepath.Join(dir, PluginFile), filepath.Join(dir, PreloadFile)}
}

func (l Libraries) exist() bool {
	for _, f := range []string{l.Plugin, l.Preload} {
		if _, err := os.Stat(f); err != nil {
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

// Build builds both libraries into dir.
func Build(ctx context.Context, dir string) error {
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
	source, exports := filepath.Join(work, "preload.c"), filepath.Join(work, "exports.map")
	if err := errors.Join(os.WriteFile(source, preloadSource, 0o666), os.WriteFile(exports, exportsMap, 0o666)); err != nil {
		return err
	}
	plugin, preload := filepath.Join(work, PluginFile), filepath.Join(work, PreloadFile)
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	if err := run(ctx, work, cc, "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-o", preload, source, "-ldl", "-lpthread"); err != nil {
		return err
	}
	tree, target, err := sourceTree(ctx, work)
	if err != nil {
		return err
	}
	flags := "-s -w -extldflags '-Wl,--version-script=" + exports + "'"
	if err := run(ctx, tree, "go", "build", "-buildmode=c-shared", "-ldflags", flags, "-o", plugin, target); err != nil {
		return err
	}
	return errors.Join(os.Rename(plugin, filepath.Join(dir, PluginFile)), os.Rename(preload, filepath.Join(dir, PreloadFile)))
}

// sourceTree returns the directory and the target of 'go build': the tree that this command was built from if it still
// exists, else a new module that requires this version. A command without a version and without paths (go run
// -trimpath) uses the tree around the working directory.
func sourceTree(ctx context.Context, work string) (dir, target string, err error) {
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		if root := filepath.Dir(filepath.Dir(filepath.Dir(file))); isTree(root) {
			return root, "./cmd/libhlocb_pjrt", nil
		}
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || !strings.HasPrefix(info.Main.Version, "v") {
		root, err := os.Getwd()
		for ; err == nil && root != filepath.Dir(root); root = filepath.Dir(root) {
			if isTree(root) {
				return root, "./cmd/libhlocb_pjrt", nil
			}
		}
		return "", "", fmt.Errorf("this command does not know its sources; build %s and %s with 'make interposer' and put them beside it", PluginFile, PreloadFile)
	}
	dir = filepath.Join(work, "module")
	if err := os.Mkdir(dir, 0o777); err != nil {
		return "", "", err
	}
	if err := run(ctx, dir, "go", "mod", "init", "build"); err != nil {
		return "", "", err
	}
	return dir, command, run(ctx, dir, "go", "get", command+"@"+info.Main.Version)
}

// isTree reports whether dir holds hlocb's sources.
func isTree(dir string) bool {
	b, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && strings.HasPrefix(string(b), "module "+module+"\n")
}

func run(ctx context.Context, dir, name string, args ...string) error {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "CGO_ENABLED=1")
	out, err := c.CombinedOutput()
	if err == nil {
		return nil
	}
	line := name + " " + strings.Join(args, " ")
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%s is missing; it is needed once to run: %s", name, line)
	}
	return fmt.Errorf("%s: %w\n%s", line, err, strings.TrimSpace(string(out)))
}

// Environment returns the variables to add to a program's environment. lookup is os.Getenv.
func (l Libraries) Environment(lookup func(string) string) []string {
	preload := l.Preload
	if old := lookup("LD_PRELOAD"); old != "" {
		preload += ":" + old
	}
	return []string{"LD_PRELOAD=" + preload, "HLOCB_LIBRARY=" + l.Plugin}
}

// NeedsCPUPlugin reports whether JAX would use its own CPU client, which is not a plugin: the machine has no
// accelerator, and the user has not chosen platforms.
func NeedsCPUPlugin(lookup func(string) string) bool {
	return lookup("PJRT_NAMES_AND_LIBRARY_PATHS") == "" && lookup("JAX_PLATFORMS") == "" && !accelerator()
}

// ForJAX returns the variables that let JAX use a CPU plugin instead of its own client. JAX_PLATFORMS keeps JAX's CPU
// client too: JAX's callbacks put their operands there.
func ForJAX(plugin string) []string {
	return []string{"PJRT_NAMES_AND_LIBRARY_PATHS=xcpu:" + plugin, "JAX_PLATFORMS=xcpu,cpu"}
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
