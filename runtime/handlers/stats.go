package handlers

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/cmplx"
	"strconv"
	"strings"
	"sync"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// Summary describes the elements of one tensor. Min, Max and Mean are over the finite elements, for complex numbers
// over their absolute values. They are NaN if there is no finite element.
type Summary struct {
	Count          int
	Min, Max, Mean float64
	NaN, Inf       int
}

// Summarize reads t once.
func Summarize(t *tensor.Tensor) Summary {
	s := Summary{Count: t.NumElements(), Min: math.NaN(), Max: math.NaN(), Mean: math.NaN()}
	sum, finite := 0.0, 0
	add := func(v float64) {
		switch {
		case math.IsNaN(v):
			s.NaN++
			return
		case math.IsInf(v, 0):
			s.Inf++
			return
		}
		if finite == 0 || v < s.Min {
			s.Min = v
		}
		if finite == 0 || v > s.Max {
			s.Max = v
		}
		sum += v
		finite++
	}
	switch {
	case t.DType() == tensor.F32:
		for _, v := range tensor.View[float32](t) {
			add(float64(v))
		}
	case t.DType().IsComplex():
		for i := range s.Count {
			v := t.ComplexAt(i)
			if cmplx.IsNaN(v) {
				add(math.NaN())
			} else {
				add(cmplx.Abs(v))
			}
		}
	default:
		for i := range s.Count {
			add(t.FloatAt(i))
		}
	}
	if finite > 0 {
		s.Mean = sum / float64(finite)
	}
	return s
}

// Stats prints a line per operand of each event: the number of elements, their minimum, maximum and mean, and the
// numbers of NaN and infinite elements. It is safe for concurrent devices.
type Stats struct {
	w  io.Writer
	mu sync.Mutex
}

// NewStats returns a handler that prints to w.
func NewStats(w io.Writer) *Stats { return &Stats{w: w} }

func newStats(_ string, env *Env) (runtime.Handler, error) { return NewStats(env.Out), nil }

// Handle prints the statistics of one event.
func (s *Stats) Handle(_ context.Context, c *runtime.Call) error {
	var b strings.Builder
	for i, t := range c.Operands {
		appendSummary(&b, c, i, hook.TypeOf(t), Summarize(t))
	}
	return s.print(b.String())
}

// Write prints statistics that the program itself computed for a value of type t, as the statistics of operand i of c.
func (s *Stats) Write(c *runtime.Call, i int, t hook.TensorType, v Summary) error {
	var b strings.Builder
	appendSummary(&b, c, i, t, v)
	return s.print(b.String())
}

func appendSummary(b *strings.Builder, c *runtime.Call, i int, t hook.TensorType, v Summary) {
	at := ""
	if frame := hook.Frame(c.Site.Loc); frame != "" {
		at = " at " + diag.Escape(frame)
	}
	fmt.Fprintf(b, "#%d %s operand %d %s%s: count %d min %s max %s mean %s nan %d inf %d\n", c.Seq, diag.Escape(c.Site.Name), i,
		t, at, v.Count, number(v.Min), number(v.Max), number(v.Mean), v.NaN, v.Inf)
}

func (s *Stats) print(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := io.WriteString(s.w, text)
	return err
}

func number(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return strconv.FormatFloat(v, 'g', 7, 64)
}
