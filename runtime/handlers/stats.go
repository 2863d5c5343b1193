package handlers

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
)

// Stats prints a line per operand of each event: the number of elements, their minimum, maximum and mean, and the
// numbers of NaN and infinite elements. It is safe for concurrent devices.
type Stats struct {
	w  io.Writer
	mu sync.Mutex
}

// NewStats returns a handler that prints to w.
func NewStats(w io.Writer) *Stats { return &Stats{w: w} }

func newStats(_ string, env *Env) (runtime.Handler, error) { return NewStats(env.Out), nil }

// MemoryUse implements runtime.MemoryUser.
func (s *Stats) MemoryUse() runtime.MemoryUse { return runtime.MemoryUse{Statistics: true} }

// Handle prints the statistics of one event.
func (s *Stats) Handle(_ context.Context, c *runtime.Call) error {
	var b strings.Builder
	for i, t := range c.Operands {
		v, err := c.Statistics(i)
		if err != nil {
			return err
		}
		appendStatistics(&b, c, i, hook.TypeOf(t), v)
	}
	return s.print(b.String())
}

// Write prints statistics that the program itself computed for a value of type t, as the statistics of operand i of c.
func (s *Stats) Write(c *runtime.Call, i int, t hook.TensorType, v runtime.Statistics) error {
	var b strings.Builder
	appendStatistics(&b, c, i, t, v)
	return s.print(b.String())
}

func appendStatistics(b *strings.Builder, c *runtime.Call, i int, t hook.TensorType, v runtime.Statistics) {
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
