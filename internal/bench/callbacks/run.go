//go:build cgo

package callbacks

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	goruntime "runtime"
	"strings"
	"time"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/internal/bench/meter"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/pjrt"
	"github.com/hlocb/hlocb/runtime/plugins"
	"github.com/hlocb/hlocb/tensor"
)

//go:embed peer.py
var peerScript string

// jaxTimes is the output of peer.py, in seconds.
type jaxTimes struct {
	Version  string
	Debug    float64
	DebugP50 float64 `json:"debug_p50"`
	IO       [][3]float64
	Empty    []float64
	Cholesky struct {
		Text            string // the program
		Best, Processor float64
	}
}

// sizes are the numbers of elements, 4 bytes each, of the measured values.
var sizes = []int{4, 256, 16 << 10, 256 << 10, 4 << 20, 16 << 20}

func run(w io.Writer, o options) ([]meter.Row, error) {
	fmt.Fprintf(w, "%s, %s/%s, %d cores, load %s\n", goruntime.Version(), goruntime.GOOS, goruntime.GOARCH, goruntime.NumCPU(), load())
	backend, err := backends.Open(context.Background(), "cpu", hlocb.DefaultBackends())
	if errors.As(err, new(*plugins.NotFoundError)) {
		fmt.Fprintln(w, "skipped: the CPU plugin is not installed ('hlocb plugin install cpu')")
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer backend.Close()
	b := &bench{w: w, o: o, backend: backend.(*pjrt.Backend)}
	if o.only == "" || o.only == "loop" || o.only == "executions" || o.only == "cholesky" { // the parts that compare with JAX
		if b.jax, err = measureJAX(o.rounds); err != nil {
			return nil, err
		}
	}
	if b.jax == nil {
		fmt.Fprintln(w, "skipped: JAX's callbacks, which need jaxlib")
	}
	for _, part := range []struct {
		name    string
		measure func() error
	}{{"loop", b.loop}, {"executions", b.executions}, {"steps", b.steps}, {"cholesky", b.cholesky}, {"large", b.large}, {"record", b.record}} {
		if o.only != "" && o.only != part.name {
			continue
		}
		if err := part.measure(); err != nil {
			return b.rows, errors.Join(err, b.close())
		}
	}
	return b.rows, b.close()
}

func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}

// measureJAX measures the same callbacks in JAX. It returns nil if JAX is missing.
func measureJAX(rounds int) (*jaxTimes, error) {
	python := peer.Find()
	if python == "" {
		return nil, nil
	}
	list, err := json.Marshal(sizes)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(python, "-c", peerScript, fmt.Sprint(rounds), string(list))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("jax: %w", err)
	}
	t := &jaxTimes{}
	return t, json.Unmarshal(out, t)
}

// bench holds the state that the parts share.
type bench struct {
	w       io.Writer
	o       options
	backend *pjrt.Backend
	jax     *jaxTimes
	rows    []meter.Row // the figures that have goals
	open    []runtime.Executable
	held    []*runtime.Buffer
}

func (b *bench) close() error {
	var errs []error
	for _, e := range b.open {
		errs = append(errs, e.Close())
	}
	for _, h := range b.held {
		h.Close()
	}
	b.open, b.held = nil, nil
	return errors.Join(errs...)
}

// program reads a module and turns its calls of @host into hooks.
func program(text string) (*runtime.Program, error) {
	p, err := hlocb.Parse(context.Background(), "bench.mlir", []byte(text), hlocb.HookTargets("host"))
	if err != nil {
		return nil, err
	}
	return p.Runtime(), nil
}

// subject is a program to be measured.
type subject struct {
	name string
	exe  runtime.Executable
	args []*tensor.Tensor
	held []*runtime.Buffer // the arguments of a run on buffers, instead of args
	t    times
}

// run runs the program once. The results of a run on buffers stay on the device.
func (s *subject) run() error {
	if s.held == nil {
		_, err := s.exe.Run(context.Background(), s.args)
		return err
	}
	results, err := runtime.Execute(context.Background(), s.exe, s.held, runtime.ExecuteOptions{})
	for _, r := range results {
		r.Close()
	}
	return err
}

// onDevice puts the arguments on the device, like JAX's arrays.
func (b *bench) onDevice(list ...*subject) error {
	for _, s := range list {
		for i, x := range s.args {
			held, err := runtime.Put(context.Background(), b.backend, x, s.exe.Signature().Arguments[i].Place)
			if err != nil {
				return err
			}
			b.held = append(b.held, held)
			s.held = append(s.held, held)
		}
	}
	return nil
}

func (b *bench) subject(name string, p *runtime.Program, opts runtime.CompileOptions, args ...*tensor.Tensor) (*subject, error) {
	exe, err := b.backend.Compile(context.Background(), p, opts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	b.open = append(b.open, exe)
	return &subject{name: name, exe: exe, args: args}, nil
}

// measure runs every subject once to warm up, then once per round.
func measure(rounds int, list ...*subject) error {
	for i := range rounds + 1 {
		for _, s := range list {
			start := time.Now()
			if err := s.run(); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if i > 0 {
				s.t = append(s.t, time.Since(start))
			}
		}
	}
	return nil
}

// vector returns n floats.
func vector(n int) *tensor.Tensor {
	t := tensor.New(tensor.F32, tensor.Shape{int64(n)})
	for i := range tensor.View[float32](t) {
		tensor.View[float32](t)[i] = float32(i%1000) / 1000
	}
	return t
}
