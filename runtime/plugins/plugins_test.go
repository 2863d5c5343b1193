package plugins

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func touch(t *testing.T, parts ...string) string {
	t.Helper()
	name := filepath.Join(parts...)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func env(vars map[string]string) func(string) string { return func(k string) string { return vars[k] } }

func TestFindEveryPlace(t *testing.T) {
	dir := t.TempDir()
	want := []Plugin{
		{Name: "cpu", Path: touch(t, dir, "named", "one.so"), Origin: "PJRT_NAMES_AND_LIBRARY_PATHS"},
		{Name: "cpu", Path: touch(t, dir, "cache", "cpu", "0.10.0", "xla_cpu_pjrt.so"), Origin: "installed by hlocb", Version: "0.10.0"},
		{Name: "cpu", Path: touch(t, dir, "cache", "cpu", "0.9.1", "xla_cpu_pjrt.so"), Origin: "installed by hlocb", Version: "0.9.1"},
		{Name: "cpu", Path: touch(t, dir, "libs", "pjrt_c_api_cpu_plugin.so"), Origin: filepath.Join(dir, "libs")},
		{Name: "tpu", Path: touch(t, dir, "libs", "pjrt_c_api_tpu_plugin.so"), Origin: filepath.Join(dir, "libs")},
		{Name: "cpu", Path: touch(t, dir, "home", ".local", "lib", "go-xla", "pjrt_c_api_cpu_v1_plugin.so"), Origin: filepath.Join(dir, "home", ".local", "lib", "go-xla")},
		{Name: "cuda", Path: touch(t, dir, "venv", "lib", "python3.11", "site-packages", "jax_plugins", "xla_cuda13", "xla_cuda_plugin.so"), Origin: "Python package jax_plugins.xla_cuda13"},
		{Name: "cpu", Path: touch(t, dir, "venv", "lib", "python3.11", "site-packages", "xla_plugins", "xla_cpu_pjrt", "xla_cpu_pjrt.so"), Origin: "Python package xla_plugins.xla_cpu_pjrt"},
	}
	touch(t, dir, "libs", "libother.so")
	touch(t, dir, "cache", "cpu", "0.9.1", "plugin.json")
	e := Environment{CacheDir: filepath.Join(dir, "cache"), HomeDir: filepath.Join(dir, "home"), Root: filepath.Join(dir, "root"), Getenv: env(map[string]string{
		"PJRT_NAMES_AND_LIBRARY_PATHS": "cpu:" + filepath.Join(dir, "named", "one.so"),
		"PJRT_PLUGIN_LIBRARY_PATH":     filepath.Join(dir, "libs"),
		"VIRTUAL_ENV":                  filepath.Join(dir, "venv"),
	})}
	got := e.List()
	if len(got) != len(want) {
		t.Fatalf("found %d plugins, expected %d: %v", len(got), len(want), got)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("plugin %d is %+v, expected %+v", i, got[i], want[i])
		}
	}
	cuda, err := e.Find("cuda")
	if err != nil || len(cuda) != 1 || cuda[0] != want[6] {
		t.Errorf("Find(cuda) = %v, %v", cuda, err)
	}
}

func TestFindChosenHasNoSubstitute(t *testing.T) {
	dir := t.TempDir()
	touch(t, dir, "libs", "pjrt_c_api_cpu_plugin.so")
	e := Environment{Root: dir, Getenv: env(map[string]string{"HLOCB_CPU_PLUGIN": "/missing.so", "PJRT_PLUGIN_LIBRARY_PATH": filepath.Join(dir, "libs")})}
	got, err := e.Find("cpu")
	if err != nil || len(got) != 1 || got[0].Path != "/missing.so" || !got[0].Chosen {
		t.Errorf("Find(cpu) = %v, %v, expected the chosen one alone", got, err)
	}
}

func TestFindNothingNamesThePlaces(t *testing.T) {
	dir := t.TempDir()
	_, err := Environment{CacheDir: filepath.Join(dir, "cache"), HomeDir: dir, Root: dir}.Find("cpu")
	var missing *NotFoundError
	if !errors.As(err, &missing) {
		t.Fatalf("error is %v, expected a NotFoundError", err)
	}
	for _, part := range []string{"HLOCB_CPU_PLUGIN: not set", filepath.Join(dir, "cache") + ": no such directory", filepath.Join(dir, ".local/lib/go-xla"), "hlocb plugin install cpu"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error does not mention %q:\n%v", part, err)
		}
	}
}

// fakePackage makes a wheel and its row in the table.
func fakePackage(t *testing.T, dir string) (Package, string, []byte) {
	t.Helper()
	content := bytes.Repeat([]byte("plugin"), 1<<16)
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	w, err := z.Create("pkg/pjrt_fake.so")
	if err != nil {
		t.Fatal(err)
	}
	w.Write(content)
	z.Close()
	wheel := filepath.Join(dir, "fake.whl")
	if err := os.WriteFile(wheel, buf.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(buf.Bytes())
	return Package{Name: "cpu", Distribution: "fake", Version: "1", SHA256: hex.EncodeToString(sum[:]), Member: "pkg/pjrt_fake.so", Needs: "nothing", OS: goruntime.GOOS, Arch: goruntime.GOARCH}, wheel, content
}

func TestInstallConcurrently(t *testing.T) {
	dir := t.TempDir()
	pkg, wheel, content := fakePackage(t, dir)
	cache := filepath.Join(dir, "cache")
	var wg sync.WaitGroup
	unpacked := make([]bytes.Buffer, 8)
	for i := range unpacked {
		wg.Add(1)
		go func() {
			defer wg.Done()
			p, err := install(context.Background(), pkg, InstallOptions{CacheDir: cache, Wheel: wheel, Progress: &unpacked[i]})
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := os.ReadFile(p.Path); err != nil || !bytes.Equal(got, content) {
				t.Errorf("the installed file differs from the wheel's (%v)", err)
			}
		}()
	}
	wg.Wait()
	n := 0
	for i := range unpacked {
		n += strings.Count(unpacked[i].String(), "unpacking")
	}
	if n != 1 {
		t.Errorf("unpacked %d times, expected once", n)
	}
	left, _ := filepath.Glob(filepath.Join(cache, "cpu", "1", ".*-*"))
	if len(left) > 0 {
		t.Errorf("temporary files left: %v", left)
	}
	found, err := Environment{CacheDir: cache, Root: dir}.Find("cpu")
	if err != nil || len(found) != 1 || found[0].Version != "1" {
		t.Errorf("Find after Install = %v, %v", found, err)
	}
}

func TestInstallRepairs(t *testing.T) {
	dir := t.TempDir()
	pkg, wheel, content := fakePackage(t, dir)
	opts := InstallOptions{CacheDir: dir, Wheel: wheel}
	p, err := install(context.Background(), pkg, opts)
	if err != nil {
		t.Fatal(err)
	}
	for name, damaged := range map[string][]byte{"truncated": content[:10], "of the same size": append([]byte("x"), content[1:]...)} {
		if err := os.WriteFile(p.Path, damaged, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := CheckSize(p.Path); (name == "truncated") != (err != nil) {
			t.Errorf("a damaged plugin, %s: CheckSize returned %v", name, err)
		}
		if _, err := install(context.Background(), pkg, opts); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(p.Path); !bytes.Equal(got, content) {
			t.Errorf("a damaged plugin, %s, was taken for an installed one", name)
		}
	}
	var progress bytes.Buffer
	opts.Progress = &progress
	for _, opts.Force = range []bool{false, true} {
		progress.Reset()
		if _, err := install(context.Background(), pkg, opts); err != nil {
			t.Fatal(err)
		}
		said, unpacked := strings.Contains(progress.String(), "(force installs it again)"), strings.Contains(progress.String(), "unpacking")
		if said == opts.Force || unpacked != opts.Force {
			t.Errorf("force %t: install said %q", opts.Force, progress.String())
		}
	}
}

func TestInstallChecksTheWheel(t *testing.T) {
	dir := t.TempDir()
	pkg, wheel, _ := fakePackage(t, dir)
	pkg.SHA256 = strings.Repeat("0", 64)
	_, err := install(context.Background(), pkg, InstallOptions{CacheDir: dir, Wheel: wheel})
	var sum *ChecksumError
	if !errors.As(err, &sum) {
		t.Fatalf("error is %v, expected a ChecksumError", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "cpu", "1", "pjrt_fake.so")); err == nil {
		t.Error("a wheel with a wrong checksum was unpacked")
	}
}

func TestInstallWithoutPip(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	pkg, _, _ := fakePackage(t, t.TempDir())
	_, err := install(context.Background(), pkg, InstallOptions{CacheDir: t.TempDir()})
	if !errors.Is(err, ErrNoPip) {
		t.Errorf("error is %v, expected ErrNoPip", err)
	}
}

// TestInstallRunsNoCodeOfTheDirectory: the current directory may hold a hostile pip.py and other modules.
func TestInstallRunsNoCodeOfTheDirectory(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("skip: no python3")
	}
	dir, here := t.TempDir(), t.TempDir()
	ran := filepath.Join(dir, "ran")
	for _, name := range []string{"pip.py", "json.py"} {
		if err := os.WriteFile(filepath.Join(here, name), []byte("open("+strconv.Quote(ran)+", 'w').close()\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(here)
	t.Setenv("PYTHONPATH", here)
	t.Setenv("PIP_INDEX_URL", "http://127.0.0.1:1/")
	t.Setenv("PIP_RETRIES", "0")
	pkg, _, _ := fakePackage(t, dir)
	_, err := install(context.Background(), pkg, InstallOptions{CacheDir: dir})
	if err == nil {
		t.Error("a distribution that does not exist was installed")
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("Install ran a module of the current directory")
	}
}

func TestInstallShowsPipsWords(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n[ \"$3\" = --version ] && exit 0\necho 'ERROR: no route' >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(dir, "pip"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/bin")
	if _, err := os.Stat("/bin/python3"); err == nil {
		t.Setenv("PATH", dir)
	}
	pkg, _, _ := fakePackage(t, t.TempDir())
	_, err := install(context.Background(), pkg, InstallOptions{CacheDir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "ERROR: no route") {
		t.Errorf("error is %v, expected pip's own words", err)
	}
}

// TestVersions: the default version of a plugin comes first, then the newest one. NAME@VERSION finds one version.
func TestVersions(t *testing.T) {
	dir := t.TempDir()
	usual, ok := packageNamed("cpu")
	if !ok {
		t.Fatal("no package is called cpu")
	}
	for _, version := range []string{"9.0.0", usual.Version, "99.0.0"} {
		touch(t, dir, "cpu", version, "xla_cpu_pjrt.so")
	}
	e := Environment{CacheDir: dir, Root: dir}
	for name, want := range map[string]string{"cpu": usual.Version + " 99.0.0 9.0.0", "cpu@9.0.0": "9.0.0", "cpu@" + usual.Version: usual.Version} {
		found, err := e.Find(name)
		var got []string
		for _, p := range found {
			got = append(got, p.Version)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: versions %v, %v, expected %s", name, got, err, want)
		}
	}
	_, err := e.Find("cpu@1.0.0")
	if !errors.As(err, new(*NotFoundError)) || strings.Contains(err.Error(), "plugin install") {
		t.Errorf("a version that does not exist: %v", err)
	}
	_, err = Environment{Root: dir}.Find("cpu@0.11.2")
	if err == nil || !strings.Contains(err.Error(), "'hlocb plugin install cpu@0.11.2' installs one") {
		t.Errorf("a version that is not installed: %v", err)
	}
}

func TestInstallUnknown(t *testing.T) {
	_, err := Install(context.Background(), "abacus", InstallOptions{CacheDir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "expected one of cpu, cpu@0.0.1, cpu@0.11.2, cuda12, cuda13, lapack") {
		t.Errorf("error is %v", err)
	}
}
