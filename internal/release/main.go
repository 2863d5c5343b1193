// Command release builds what users install: Python wheels, and archives for users of other languages. The files do not
// depend on the machine or the time of the build.
//
//	go run ./internal/release [-o DIR] [-zig COMMAND] wheels|archives [PLATFORM...]
//
// Without platforms it builds all of them. For Linux with glibc it needs Zig, whose C compiler links against an old
// glibc; without Zig, only the platform "native" is built, by the C compiler of this machine and for its glibc.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/internal/launch"
)

// platform is a system on which hlocb is installed.
type platform struct {
	name     string
	os, arch string   // as Go names them
	target   string   // as Zig names it; "" builds without cgo, and without the libraries
	tags     []string // of the wheel
	archive  bool     // there is an archive of it, too
}

// oldestGlibc is older than the glibc that jaxlib itself requires (2.27).
const oldestGlibc = "2.17"

func platforms() []platform {
	return []platform{
		{"linux-amd64", "linux", "amd64", "x86_64-linux-gnu." + oldestGlibc, []string{"manylinux_2_17_x86_64", "manylinux2014_x86_64"}, true},
		{"linux-arm64", "linux", "arm64", "aarch64-linux-gnu." + oldestGlibc, []string{"manylinux_2_17_aarch64", "manylinux2014_aarch64"}, true},
		{"musl-amd64", "linux", "amd64", "", []string{"musllinux_1_1_x86_64"}, false},
		{"musl-arm64", "linux", "arm64", "", []string{"musllinux_1_1_aarch64"}, false},
		{"macos-amd64", "darwin", "amd64", "", []string{"macosx_12_0_x86_64"}, true},
		{"macos-arm64", "darwin", "arm64", "", []string{"macosx_12_0_arm64"}, true},
	}
}

// native is the platform of this machine, with its own C compiler.
func native() platform {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	return platform{"native", runtime.GOOS, runtime.GOARCH, "native", []string{runtime.GOOS + "_" + arch}, false}
}

// build is a set of the files that one platform gets.
type build struct {
	platform
	command   string            // the path of hlocb
	libraries map[string]string // paths by file name
}

func main() {
	out := flag.String("o", "dist", "the `directory` of the files")
	zig := flag.String("zig", "", "the `command` that starts Zig, such as 'python -m ziglang'")
	flag.Parse()
	if err := run(*out, *zig, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(out, zig string, args []string) error {
	text, err := os.ReadFile("internal/cli/version.txt")
	if err != nil {
		return err
	}
	version := strings.TrimSpace(string(text))
	if len(args) == 0 {
		return fmt.Errorf("expected wheels or archives")
	}
	var pack func(*build, string, string) (string, error)
	switch args[0] {
	case "wheels":
		pack = wheel
	case "archives":
		pack = archive
	default:
		return fmt.Errorf("%q: expected wheels or archives", args[0])
	}
	work, err := os.MkdirTemp("", "hlocb-release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	list := platforms()
	if names := args[1:]; len(names) > 0 {
		list = slices.DeleteFunc(append(list, native()), func(p platform) bool { return !slices.Contains(names, p.name) })
		if len(list) != len(names) {
			return fmt.Errorf("unknown platform in %v", names)
		}
	}
	var files []string
	for _, p := range list {
		if args[0] == "archives" && !p.archive {
			continue
		}
		if p.target != "" && p.target != "native" && zig == "" {
			return fmt.Errorf("%s needs Zig: -zig 'python -m ziglang' (pip install ziglang)", p.name)
		}
		b, err := compile(context.Background(), p, zig, filepath.Join(work, p.name), args[0] == "archives")
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		file, err := pack(b, out, version)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		size := float64(info.Size()) / 1e6
		fmt.Printf("%s  %.1f MB\n", file, size)
		if args[0] == "wheels" && size > largestWheel {
			return fmt.Errorf("%s has %.1f MB; a wheel has at most %d", file, size, largestWheel)
		}
		files = append(files, file)
	}
	if args[0] == "archives" {
		return errors.Join(checksums(out, files), notes(out, version))
	}
	return nil
}

// compile builds the command and the libraries of a platform in dir. The command embeds the libraries if it may be used
// alone.
func compile(ctx context.Context, p platform, zig, dir string, alone bool) (*build, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	b := &build{platform: p, command: filepath.Join(dir, "hlocb"), libraries: map[string]string{}}
	env := append(os.Environ(), "GOOS="+p.os, "GOARCH="+p.arch, "GOFLAGS=-trimpath -buildvcs=false", "CGO_ENABLED=0", "CGO_CFLAGS=-O2 -g0")
	var cc []string
	switch p.target {
	case "":
	case "native":
		cc = []string{"cc"}
	default:
		script := filepath.Join(dir, "cc")
		if err := os.WriteFile(script, []byte("#!/bin/sh\nexec "+zig+" cc -target "+p.target+" \"$@\"\n"), 0o777); err != nil {
			return nil, err
		}
		cc = []string{script}
	}
	flags := []string{"build", "-ldflags", "-s -w -buildid=", "-o", b.command}
	switch {
	case cc != nil:
		env = append(env, "CGO_ENABLED=1", "CC="+cc[0])
		if err := launch.Compile(ctx, env, cc[0], dir); err != nil {
			return nil, err
		}
		for _, name := range launch.Files() {
			b.libraries[name] = filepath.Join(dir, name)
		}
		if alone {
			overlay, err := b.overlay(dir)
			if err != nil {
				return nil, err
			}
			flags = append(flags, "-overlay", overlay)
		}
	case p.os == "linux":
		flags = append(flags, "-tags", "static") // it opens no shared library, so it runs with any C library
	}
	if err := launch.Run(ctx, "", env, "go", append(flags, "./cmd/hlocb")...); err != nil {
		return nil, err
	}
	if cc != nil && p.target != "native" {
		for _, path := range append(slices.Collect(maps.Values(b.libraries)), b.command) {
			if err := checkGlibc(path, oldestGlibc); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// overlay compresses the libraries in dir and writes an overlay of 'go build' that puts them where package launch
// embeds them. It returns the overlay's path.
func (b *build) overlay(dir string) (string, error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for name, path := range b.libraries {
		data, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		var out bytes.Buffer
		z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
		if err != nil {
			return "", err
		}
		_, err = z.Write(data)
		if err := errors.Join(err, z.Close(), os.WriteFile(path+".gz", out.Bytes(), 0o666)); err != nil {
			return "", err
		}
		if replace[filepath.Join(root, "internal", "launch", launch.Embedded, name+".gz")], err = filepath.Abs(path + ".gz"); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, text, 0o666)
}
