package opgen_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/opgen"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/tensor"
)

// XLA runs in a process of its own, because some programs end XLA's process instead of being refused, and because the
// content of new memory is set for a process. The next process then continues after such a program.

// outcome is XLA's result for a program.
type outcome struct {
	Number  int
	Results []value
	Err     string // XLA's reason for refusing the program
}

type value struct {
	DType tensor.DType
	Shape tensor.Shape
	Bytes []byte
}

func (o *outcome) tensors() []*tensor.Tensor {
	out := make([]*tensor.Tensor, len(o.Results))
	for i, v := range o.Results {
		out[i] = tensor.New(v.DType, v.Shape)
		copy(out[i].Bytes(), v.Bytes)
	}
	return out
}

// series is a sequence of programs. The test and its child process generate the same programs.
type series struct {
	kind  string // random, large, makers-first, makers-others, elementwise or unwritten
	seed  uint64
	count int
	// memory makes glibc fill newly allocated memory with the complement of this byte; 0 fills it with zeros.
	memory byte
}

func (s series) generator() (func() (*opgen.Program, error), error) {
	if s.kind == "unwritten" {
		return unwritten, nil
	}
	g, err := opgen.New(s.seed)
	if err != nil {
		return nil, err
	}
	var list []*opgen.Program
	switch s.kind {
	case "large":
		return g.Large, nil
	case "random":
		return g.Random, nil
	case "makers-first", "makers-others":
		list, err = makers(g, s.kind)
	case "elementwise":
		list = elementwise(g)
	}
	return func() (*opgen.Program, error) {
		p := list[0]
		list = list[1:]
		return p, nil
	}, err
}

// makers returns every third program of EveryMaker, or those between.
func makers(g *opgen.Generator, kind string) ([]*opgen.Program, error) {
	var out []*opgen.Program
	list, err := g.EveryMaker()
	for i, p := range list {
		if (i%3 == 0) == (kind == "makers-first") {
			out = append(out, p)
		}
	}
	return out, err
}

const childVariable = "HLOCB_OPGEN_CHILD"

// TestMain executes a series on XLA if a test has started this binary as its child process.
func TestMain(m *testing.M) {
	if spec := os.Getenv(childVariable); spec != "" {
		if err := execute(spec); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// execute executes the series in spec on XLA and writes the outcomes to file 3.
func execute(spec string) error {
	var s series
	var from int
	if _, err := fmt.Sscan(spec, &s.kind, &s.seed, &from, &s.count); err != nil {
		return err
	}
	xla, err := openXLA()
	if err != nil {
		return err
	}
	defer xla.Close()
	next, err := s.generator()
	if err != nil {
		return err
	}
	enc := gob.NewEncoder(os.NewFile(3, "results"))
	for i := range s.count {
		p, err := next()
		if err != nil {
			return err
		}
		if i < from {
			continue
		}
		o := outcome{Number: i}
		out, err := p.Outcome(context.Background(), xla)
		if err != nil {
			o.Err = err.Error()
		}
		for _, r := range out {
			o.Results = append(o.Results, value{r.DType(), r.Shape(), r.Bytes()})
		}
		if err := enc.Encode(o); err != nil {
			return err
		}
	}
	return nil
}

// onXLA calls f with each program of a series and XLA's outcome.
func (s series) onXLA(t *testing.T, f func(number int, p *opgen.Program, o *outcome)) {
	t.Helper()
	engines(t) // skips
	generate, err := s.generator()
	if err != nil {
		t.Fatal(err)
	}
	next := func() *opgen.Program {
		p, err := generate()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for from := 0; from < s.count; {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		cmd := peer.Command(os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d %d", childVariable, s.kind, s.seed, from, s.count),
			fmt.Sprintf("MALLOC_PERTURB_=%d", cmp.Or(s.memory, 255)))
		cmd.ExtraFiles, cmd.Stdout, cmd.Stderr = []*os.File{w}, &log, &log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		dec := gob.NewDecoder(r)
		var failed error
		for failed == nil {
			var o outcome
			if failed = dec.Decode(&o); failed == nil {
				f(o.Number, next(), &o)
				from = o.Number + 1
			}
		}
		r.Close()
		err = cmd.Wait()
		if from == s.count {
			return
		}
		if err == nil || !errors.Is(failed, io.EOF) && !errors.Is(failed, io.ErrUnexpectedEOF) {
			t.Fatalf("the process that asks XLA ended at program %d: %v, %v\n%s", from, failed, err, log.String())
		}
		f(from, next(), &outcome{Number: from, Err: "XLA ends the process: " + lastWords(log.String())})
		from++
	}
}

// lastWords returns the reason why a process of XLA ended.
func lastWords(log string) string {
	for _, line := range strings.Split(log, "\n") {
		if i := strings.Index(line, "Check failed"); i >= 0 {
			return strings.TrimSpace(line[i:])
		}
		if strings.HasPrefix(line, "LLVM ERROR") || strings.HasPrefix(line, "SIG") {
			return line
		}
	}
	return "without a word"
}

// unwritten returns a convolution for which XLA reads uninitialized memory.
func unwritten() (*opgen.Program, error) {
	return program(`func.func @main(%x: tensor<1x4x6xf16>, %k: tensor<2x3x6xf16>) -> tensor<1x2x6xf16> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], pad = [[-1, 2]], lhs_dilate = [1], rhs_dilate = [1]}
    {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x4x6xf16>, tensor<2x3x6xf16>) -> tensor<1x2x6xf16>
  return %0 : tensor<1x2x6xf16>
}`, ones(tensor.F16, tensor.Shape{1, 4, 6}), ones(tensor.F16, tensor.Shape{2, 3, 6}))
}

func ones(d tensor.DType, shape tensor.Shape) *tensor.Tensor {
	t := tensor.New(d, shape)
	for i := range t.NumElements() {
		t.SetFloat(i, 1)
	}
	return t
}

// TestUnwrittenMemory: XLA's result of a convolution depends on the previous content of its memory. Random programs are
// therefore compared with a process whose fresh memory is zero. XLA's result is right there, and the engine's result is
// always right.
func TestUnwrittenMemory(t *testing.T) {
	engine, _ := engines(t)
	sums := func(results []*tensor.Tensor) (first, second float64) {
		return results[0].FloatAt(0), results[0].FloatAt(6)
	}
	for _, memory := range []byte{0, 1} {
		series{kind: "unwritten", count: 1, memory: memory}.onXLA(t, func(_ int, p *opgen.Program, o *outcome) {
			if o.Err != "" {
				t.Fatal(o.Err)
			}
			if a, b := sums(o.tensors()); a != 6 || (b == 3) != (memory == 0) {
				t.Errorf("XLA, memory filled with the complement of %d, gives %v and %v", memory, a, b)
			}
			out, err := p.Outcome(context.Background(), engine)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := sums(out); a != 6 || b != 3 {
				t.Errorf("the engine gives %v and %v, not 6 and 3", a, b)
			}
		})
	}
}
