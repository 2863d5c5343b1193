package plugins

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
)

// Package is a plugin, or a library that programs call, that Install can install.
type Package struct {
	Name         string // its name for Install; NAME@VERSION chooses one of several versions
	Distribution string // the Python distribution that carries it
	Version      string
	Licence      string // as the distribution states it
	SHA256       string // of the wheel
	Member       string // the plugin's path in the wheel
	OS, Arch     string // the system it runs on: values of runtime.GOOS and GOARCH
	Needs        string // its requirements besides the C library, for messages
	Library      bool   // a library instead of a plugin
}

// Packages lists the plugins that Install can install. The first version of a name is the default.
func Packages() []Package {
	return []Package{
		{
			Name: "cpu", Distribution: "xla-cpu-pjrt", Version: "0.0.1", Licence: "none stated; XLA itself is Apache-2.0",
			SHA256: "55837b6b7b47daa717f2d9a5a03563ea0ceaa338d06a81a1e2d3f060d960decc",
			Member: "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so", OS: "linux", Arch: "amd64",
			Needs: "libstdc++",
		},
		{
			Name: "cpu", Distribution: "lammps-jax-pjrt-cpu", Version: "0.11.2", Licence: "Apache-2.0",
			SHA256: "1319390d948b39f69f7dade496b7c385149d9ca6097a6b62114da113216d9ad1",
			Member: "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so", OS: "linux", Arch: "amd64",
			Needs: "libstdc++",
		},
		{
			Name: "cuda12", Distribution: "jax-cuda12-pjrt", Version: "0.11.2", Licence: "Apache-2.0",
			SHA256: "2133b3afc63307c016ae4980f166b2b3de199759363ead74f7d550eaae953463",
			Member: "jax_plugins/xla_cuda12/xla_cuda_plugin.so", OS: "linux", Arch: "amd64",
			Needs: "an NVIDIA driver and the libraries of CUDA 12",
		},
		{
			Name: "cuda13", Distribution: "jax-cuda13-pjrt", Version: "0.11.2", Licence: "Apache-2.0",
			SHA256: "e5ff589d43064913bb74027682d89639c7ea48f9f81c2bae6fc75117e913f93e",
			Member: "jax_plugins/xla_cuda13/xla_cuda_plugin.so", OS: "linux", Arch: "amd64",
			Needs: "an NVIDIA driver and the libraries of CUDA 13",
		},
		{
			Name: "lapack", Distribution: "scipy-openblas32", Version: "0.3.34.481.3", Licence: "BSD-2-Clause",
			SHA256: "0595f94cd58c1f8a0d90c975621f4587337a003916b1979e834ebdf2cb5d9504",
			Member: "scipy_openblas32/lib/libscipy_openblas.so", OS: "linux", Arch: "amd64",
			Needs: "nothing else", Library: true,
		},
	}
}

// packageNamed returns the package called name, NAME or NAME@VERSION.
func packageNamed(name string) (Package, bool) {
	name, version, pinned := strings.Cut(name, "@")
	for _, p := range Packages() {
		if p.Name == name && (!pinned || p.Version == version) {
			return p, true
		}
	}
	return Package{}, false
}

// PackageNames returns the names for Install: NAME, and NAME@VERSION for each version of a package that has several.
func PackageNames() []string {
	var names []string
	for _, p := range Packages() {
		versions := 0
		for _, q := range Packages() {
			if q.Name == p.Name {
				versions++
			}
		}
		if !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
		if versions > 1 {
			names = append(names, p.Name+"@"+p.Version)
		}
	}
	return names
}

// InstallOptions configure Install.
type InstallOptions struct {
	CacheDir string    // where plugins are kept, as in Environment
	Wheel    string    // a wheel file; empty downloads one through pip
	Force    bool      // install again even if it is installed
	Progress io.Writer // gets a line per step; nil for none
	Terminal *os.File  // where pip shows the progress of its download; nil hides it
}

// ErrNoPip says that Install found no pip.
var ErrNoPip = errors.New(`no pip found: tried "python3 -I -m pip", "pip3" and "pip"; install Python's pip, or use the file of a wheel`)

// ChecksumError says that a file has another checksum than expected.
type ChecksumError struct{ File, Got, Want string }

func (e *ChecksumError) Error() string {
	return fmt.Sprintf("%s: SHA-256 is %s, expected %s", e.File, e.Got, e.Want)
}

// Install puts the named plugin, one of PackageNames, into the cache directory and returns it. It downloads the wheel
// through pip, or uses the wheel that opts names, and checks the wheel's SHA-256 before it unpacks anything. It keeps
// an installed plugin whose SHA-256 has not changed since its installation. Several installs may run at the same time;
// a plugin appears in its place completely or not at all.
func Install(ctx context.Context, name string, opts InstallOptions) (Plugin, error) {
	pkg, ok := packageNamed(name)
	if !ok {
		return Plugin{}, fmt.Errorf("unknown plugin %q, expected one of %s", name, strings.Join(PackageNames(), ", "))
	}
	return install(ctx, pkg, opts)
}

func install(ctx context.Context, pkg Package, opts InstallOptions) (Plugin, error) {
	say := func(format string, args ...any) {
		if opts.Progress != nil {
			fmt.Fprintf(opts.Progress, format+"\n", args...)
		}
	}
	if pkg.OS != goruntime.GOOS || pkg.Arch != goruntime.GOARCH {
		return Plugin{}, fmt.Errorf("%s %s runs on %s/%s only, this is %s/%s", pkg.Distribution, pkg.Version, pkg.OS, pkg.Arch, goruntime.GOOS, goruntime.GOARCH)
	}
	if opts.CacheDir == "" {
		return Plugin{}, errors.New("no cache directory to install into")
	}
	dir := filepath.Join(opts.CacheDir, pkg.Name, pkg.Version)
	target := filepath.Join(dir, path.Base(pkg.Member))
	plugin := Plugin{Name: platformOf(pkg.Name), Path: target, Origin: "installed by hlocb", Version: pkg.Version}
	done := func() bool {
		if opts.Force || !isInstalled(target) {
			return false
		}
		say("%s %s is already installed and unchanged (force installs it again): %s", pkg.Distribution, pkg.Version, target)
		return true
	}
	if done() {
		return plugin, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Plugin{}, err
	}
	unlock, err := lock(ctx, filepath.Join(dir, ".lock"))
	if err != nil {
		return Plugin{}, err
	}
	defer unlock()
	if done() { // by another process
		return plugin, nil
	}

	wheel := opts.Wheel
	if wheel == "" {
		tmp, err := os.MkdirTemp("", "hlocb-plugin-")
		if err != nil {
			return Plugin{}, err
		}
		defer os.RemoveAll(tmp)
		if wheel, err = download(ctx, pkg, tmp, opts.Terminal, say); err != nil {
			return Plugin{}, err
		}
	}
	say("checking %s", filepath.Base(wheel))
	if err := checksum(wheel, pkg.SHA256); err != nil {
		return Plugin{}, err
	}
	say("unpacking %s", pkg.Member)
	if err := unpack(wheel, pkg, target); err != nil {
		return Plugin{}, err
	}
	say("installed %s %s: %s", pkg.Distribution, pkg.Version, target)
	say("it needs %s; its licence: %s", pkg.Needs, pkg.Licence)
	return plugin, nil
}

// Library returns the path of an installed library. It checks the file against the SHA-256 of its installation.
func (e Environment) Library(name string) (path string, ok bool) {
	pkg, known := packageNamed(name)
	if !known || !pkg.Library || e.CacheDir == "" {
		return "", false
	}
	path = filepath.Join(e.CacheDir, pkg.Name, pkg.Version, filepath.Base(pkg.Member))
	return path, isInstalled(path)
}

// receipt is a file in the directory of an installed plugin. Install writes it after the plugin.
type receipt struct {
	Distribution string `json:"distribution"`
	Version      string `json:"version"`
	WheelSHA256  string `json:"wheel_sha256"`
	File         string `json:"file"`
	Size         int64  `json:"size"`
	SHA256       string `json:"sha256"`
}

// receiptOf reads the receipt of an installed plugin.
func receiptOf(target string) (r receipt, err error) {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(target), "plugin.json"))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	return r, err
}

// isInstalled reports whether the plugin's file matches its receipt.
func isInstalled(target string) bool {
	r, err := receiptOf(target)
	return err == nil && CheckSize(target) == nil && checksum(target, r.SHA256) == nil
}

// CheckSize compares the size of a plugin's file with its receipt, if the plugin was installed. Loading a
// truncated file ends the process.
func CheckSize(path string) error {
	r, err := receiptOf(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && r.File != filepath.Base(path) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("its receipt plugin.json is damaged (%w); install the plugin again", err)
	}
	info, err := os.Stat(path)
	if err == nil && info.Size() != r.Size {
		err = fmt.Errorf("the file has %d bytes, its receipt states %d; install the plugin again", info.Size(), r.Size)
	}
	return err
}

// download fetches the wheel into dir, which is empty, with the first pip that it finds. It runs Python isolated and
// in dir: otherwise Python would run a pip.py of the user's current directory.
func download(ctx context.Context, pkg Package, dir string, terminal *os.File, say func(string, ...any)) (string, error) {
	bar := "off"
	if terminal != nil {
		bar = "on"
	}
	for _, pip := range [][]string{{"python3", "-I", "-m", "pip"}, {"pip3"}, {"pip"}} {
		version := exec.CommandContext(ctx, pip[0], append(pip[1:len(pip):len(pip)], "--version")...)
		version.Dir = dir
		if version.Run() != nil {
			if err := ctx.Err(); err != nil {
				return "", err
			}
			continue
		}
		args := append(pip[1:len(pip):len(pip)], "download", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check",
			"--no-input", "--progress-bar", bar, "--dest", dir, pkg.Distribution+"=="+pkg.Version)
		say("downloading %s %s with %s", pkg.Distribution, pkg.Version, strings.Join(pip, " "))
		var log bytes.Buffer
		cmd := exec.CommandContext(ctx, pip[0], args...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &log, &log
		if terminal != nil {
			cmd.Stdout = terminal // pip draws there only if it is a terminal itself
		}
		if err := cmd.Run(); err != nil {
			if ctx.Err() != nil {
				return "", ctx.Err()
			}
			return "", fmt.Errorf("%s download %s==%s: %w\n%s", strings.Join(pip, " "), pkg.Distribution, pkg.Version, err, tail(log.String(), 12))
		}
		wheels, _ := filepath.Glob(filepath.Join(dir, "*.whl"))
		if len(wheels) != 1 {
			return "", fmt.Errorf("%s download %s==%s left %d wheels, expected one", strings.Join(pip, " "), pkg.Distribution, pkg.Version, len(wheels))
		}
		return wheels[0], nil
	}
	return "", ErrNoPip
}

// tail returns the last n lines of a program's output.
func tail(s string, n int) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "\n")
}

func checksum(file, want string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		return &ChecksumError{file, got, want}
	}
	return nil
}

// unpackHeader writes the header of the PJRT C API beside the plugin if the wheel carries it: tests read it.
func unpackHeader(z *zip.Reader, dir string) error {
	for _, f := range z.File {
		if path.Base(f.Name) != "pjrt_c_api.h" {
			continue
		}
		in, err := f.Open()
		if err != nil {
			return err
		}
		defer in.Close()
		text, err := io.ReadAll(io.LimitReader(in, 1<<22))
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "pjrt_c_api.h"), text, 0o644)
	}
	return nil
}

// unpack writes the plugin in the wheel to target through a temporary file beside it.
func unpack(wheel string, pkg Package, target string) error {
	z, err := zip.OpenReader(wheel)
	if err != nil {
		return fmt.Errorf("%s: %w", wheel, err)
	}
	defer z.Close()
	in, err := z.Open(pkg.Member)
	if err != nil {
		return fmt.Errorf("%s: %w", wheel, err)
	}
	defer in.Close()

	dir := filepath.Dir(target)
	tmp, err := os.CreateTemp(dir, ".plugin-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	defer tmp.Close()
	h := sha256.New()
	size, err := io.Copy(io.MultiWriter(tmp, h), in)
	if err != nil {
		return fmt.Errorf("%s: %s: %w", wheel, pkg.Member, err)
	}
	if err := errors.Join(tmp.Chmod(0o755), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), target); err != nil {
		return err
	}

	if err := unpackHeader(&z.Reader, dir); err != nil {
		return err
	}

	text, err := json.MarshalIndent(receipt{pkg.Distribution, pkg.Version, pkg.SHA256, filepath.Base(target), size, hex.EncodeToString(h.Sum(nil))}, "", "  ")
	if err != nil {
		return err
	}
	note, err := os.CreateTemp(dir, ".receipt-*")
	if err != nil {
		return err
	}
	defer os.Remove(note.Name())
	_, werr := note.Write(append(text, '\n'))
	if err := errors.Join(werr, note.Chmod(0o644), note.Close()); err != nil {
		return err
	}
	return os.Rename(note.Name(), filepath.Join(dir, "plugin.json"))
}
