//go:build cgo

package pjrt

import (
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	goruntime "runtime"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
)

// Save implements runtime.Saver by the plugin's own serialization.
func (e *Executable) Save() (*runtime.Saved, error) {
	s := &session{}
	l, err := e.begin(context.Background(), s)
	if err != nil {
		return nil, err
	}
	defer e.finish(s)
	builder, err := e.backend.plugin.builder()
	if err != nil {
		return nil, err
	}
	code, err := l.serialize()
	if err != nil {
		return nil, err
	}
	source := e.text
	if source == nil {
		source = text(e.source)
	}
	m := e.source.Manifest
	if m == nil {
		m = &hook.Manifest{}
	}
	return &runtime.Saved{Backend: l.client.platform, Builder: builder, Machine: machine(), Replicas: e.devices / e.parts, Partitions: e.parts,
		Manifest: m, Text: source, Code: code}, nil
}

// Load implements runtime.Loader. It binds the handlers by the hooks' ids.
func (b *Backend) Load(ctx context.Context, s *runtime.Saved, opts runtime.CompileOptions) (runtime.Executable, error) {
	builder, err := b.plugin.builder()
	if err != nil {
		return nil, err
	}
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.leave()
	c, err := b.client(clientKey{level: level(ctx)}, 1)
	if err != nil {
		return nil, err
	}
	switch {
	case s.Backend != c.platform:
		return nil, &runtime.StaleError{Reason: fmt.Sprintf("it is for platform %q, this is %q", s.Backend, c.platform)}
	case s.Builder != builder:
		return nil, &runtime.StaleError{Reason: fmt.Sprintf("it was compiled by %s, this is %s", s.Builder, builder)}
	case s.Machine != machine():
		return nil, &runtime.StaleError{Reason: fmt.Sprintf("it was compiled for processor %s, this is %s", s.Machine, machine())}
	case s.Replicas < 1 || s.Partitions < 1:
		return nil, fmt.Errorf("the compiled program runs on %d replicas of %d partitions", s.Replicas, s.Partitions)
	}
	if len(opts.Devices) > 0 || len(opts.Options) > 0 {
		return nil, &runtime.StaleError{Reason: "other devices or compiler options are asked for"}
	}
	var shape moduleShape
	if s.Module != nil {
		shape = shapeOf(s.Module)
	}
	o := &compileOptions{replicas: s.Replicas, partitions: s.Partitions}
	sites, err := bind(s.Manifest, opts)
	if err != nil {
		return nil, err
	}
	e, err := b.build(ctx, &runtime.Program{Module: s.Module, Manifest: s.Manifest}, shape, o, sites, opts, func(ctx context.Context, c *Client) (*loadedProgram, error) { return c.load(ctx, s.Code) })
	if err != nil {
		return nil, err
	}
	e.text = s.Text
	return e, nil
}

var (
	_ runtime.Saver  = (*Executable)(nil)
	_ runtime.Loader = (*Backend)(nil)
)

// builder identifies the plugin's build, because a build crashes on code of another build. It hashes the build id that
// the linker wrote, and the size and samples of the file: hashing all 250 MB would take longer than compiling.
func (p *Plugin) builder() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.build != "" {
		return p.build, nil
	}
	f, err := os.Open(p.path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	const samples, length = 256, 4096
	h := sha256.New()
	binary.Write(h, binary.LittleEndian, info.Size())
	if library, err := elf.NewFile(f); err == nil {
		if note := library.Section(".note.gnu.build-id"); note != nil {
			id, _ := note.Data()
			h.Write(id)
		}
	}
	buf := make([]byte, length)
	for i := range int64(samples) {
		n, err := f.ReadAt(buf, info.Size()/samples*i)
		if err != nil && err != io.EOF {
			return "", err
		}
		h.Write(buf[:n])
	}
	major, minor := p.Version()
	p.build = fmt.Sprintf("PJRT API %d.%d build %s", major, minor, hex.EncodeToString(h.Sum(nil)[:8]))
	return p.build, nil
}

// machine identifies the processor by its architecture and features, which XLA compiles for.
func machine() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return goruntime.GOARCH
	}
	for _, line := range strings.Split(string(text), "\n") {
		key, value, _ := strings.Cut(line, ":")
		if key = strings.TrimSpace(key); key == "flags" || key == "Features" {
			flags := strings.Fields(value)
			slices.Sort(flags)
			sum := sha256.Sum256([]byte(strings.Join(flags, " ")))
			return goruntime.GOARCH + "-" + hex.EncodeToString(sum[:8])
		}
	}
	return goruntime.GOARCH
}
