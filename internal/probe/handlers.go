package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
)

// Handlers makes the handlers of probes. They only observe, and write at most to Env.Out, because the module chooses
// among them. It is safe for concurrent use.
type Handlers struct {
	Env  *handlers.Env
	mu   sync.Mutex
	made map[string]runtime.Handler // by kind; all probes of a kind share its output
}

// KindOf returns the kind of the probe that a hook is, or the text of its Sample if the hook asks whether a probe runs.
// It returns "" for other hooks.
func KindOf(s *hook.Site) string {
	kind, err := strconv.Unquote(s.Attrs[format.AttrProbe])
	if err != nil || !slices.Contains(Kinds(), kind) && !strings.HasPrefix(kind, samplePrefix) {
		return ""
	}
	return kind
}

// For returns the handler of a probe: an observer, or a responder if answer is set. It returns nil for a hook that is no
// probe.
func (h *Handlers) For(s *hook.Site) (handler runtime.Handler, answer bool, err error) {
	kind := KindOf(s)
	switch kind {
	case "":
		return nil, false, nil
	case Print, Record:
		handler, err = h.shared(kind)
		return handler, false, err
	case Stats, Finite:
		text, err := strconv.Unquote(s.Attrs[attrValues])
		if err != nil { // a probe that was not reduced
			handler, err := h.shared(kind)
			return handler, false, err
		}
		values, err := decodeValues(text)
		if err != nil {
			return nil, false, fmt.Errorf("probe %q: %w", s.Name, err)
		}
		if kind == Finite {
			return finite{values}, false, nil
		}
		t, shape, err := tensor.ParseType(values[0].typ)
		if err != nil {
			return nil, false, fmt.Errorf("probe %q: %w", s.Name, err)
		}
		inner, err := h.shared(kind)
		if err != nil {
			return nil, false, err
		}
		return stats{inner.(*handlers.Stats), hook.TensorType{DType: t, Shape: shape}}, false, nil
	}
	sample, err := parseSample(kind)
	return &sampler{Sample: sample, seen: map[int]int64{}}, true, err
}

// shared returns the one handler of a kind.
func (h *Handlers) shared(kind string) (runtime.Handler, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.made[kind] != nil {
		return h.made[kind], nil
	}
	spec := kind
	if kind == Record {
		spec = "record:-"
	}
	made, _, err := handlers.Parse(spec, h.Env)
	if err != nil {
		return nil, err
	}
	if h.made == nil {
		h.made = map[string]runtime.Handler{}
	}
	h.made[kind] = made
	return made, nil
}

// Flush writes what the handlers hold back.
func (h *Handlers) Flush() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r, ok := h.made[Record].(*handlers.Record); ok {
		return r.Flush()
	}
	return nil
}

// Close flushes and closes the handlers. Call it after the last run.
func (h *Handlers) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c, ok := h.made[Record].(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// samplePrefix starts the kind of a hook that asks whether a probe runs.
const samplePrefix = "sample:"

// String returns sample:every=N,first=N.
func (s Sample) String() string {
	return fmt.Sprintf("%severy=%d,first=%d", samplePrefix, s.Every, s.First)
}

func parseSample(kind string) (s Sample, err error) {
	if _, err := fmt.Sscanf(kind, samplePrefix+"every=%d,first=%d", &s.Every, &s.First); err != nil {
		return s, fmt.Errorf("probe %q: %w", kind, err)
	}
	return s, nil
}

// sampler answers whether a probe runs. It is safe for concurrent devices.
type sampler struct {
	Sample
	mu   sync.Mutex
	seen map[int]int64 // events, by device
}

func (s *sampler) Handle(_ context.Context, c *runtime.Call) error {
	s.mu.Lock()
	n := s.seen[c.Device]
	s.seen[c.Device]++
	s.mu.Unlock()
	every := max(s.Every, 1)
	yes := n%every == 0 && (s.First <= 0 || n/every < s.First)
	answer := tensor.New(tensor.I1, nil)
	if yes {
		answer.Bytes()[0] = 1
	}
	return c.SetResult(0, answer)
}

// stats prints what emitter.stats computed.
type stats struct {
	to  *handlers.Stats
	typ hook.TensorType // of the value
}

func (s stats) Handle(_ context.Context, c *runtime.Call) error {
	if len(c.Operands) != 1 || c.Operands[0].DType() != tensor.F64 || c.Operands[0].NumElements() != numStats {
		return errors.New("the probe's operand holds no statistics")
	}
	v := tensor.View[float64](c.Operands[0])
	n := handlers.Summary{Count: int(tensor.Shape(s.typ.Shape).NumElements()), Min: v[0], Max: v[1], NaN: int(v[3]), Inf: int(v[4])}
	if finite := n.Count - n.NaN - n.Inf; finite > 0 {
		n.Mean = v[2] / float64(finite)
	} else {
		n.Min, n.Max, n.Mean = math.NaN(), math.NaN(), math.NaN()
	}
	return s.to.Write(c, 0, s.typ, n)
}

// NotFiniteError names the first value of several that is not finite.
type NotFiniteError struct {
	Value string  // name, op and location
	Holds string  // nan, inf, -inf; "nan and inf" if the positions are unknown
	Index []int64 // of the first such element; nil if unknown
}

func (e *NotFiniteError) Error() string {
	at := ""
	if e.Index != nil {
		at = " at " + strings.ReplaceAll(fmt.Sprint(e.Index), " ", ", ")
	}
	return diag.Escape(e.Value) + " holds " + e.Holds + at
}

// finite fails at the first value that is not finite.
type finite struct{ values []value }

func (f finite) Handle(_ context.Context, c *runtime.Call) error {
	flags, err := readFlags(c)
	if err != nil {
		return err
	}
	for i := range f.values {
		v := &f.values[i]
		bits, first, err := flags.at(v.at)
		if err != nil {
			return err
		}
		if bits == 0 {
			continue
		}
		e := &NotFiniteError{Value: v.text(), Holds: names(bits)}
		if first < 0 {
			return e
		}
		_, shape, err := tensor.ParseType(v.typ)
		if err != nil {
			return err
		}
		e.Index, e.Holds = shape.Index(int(first/classes)), [...]string{"nan", "inf", "-inf"}[first%classes]
		if len(f.values) == 1 { // the hook has the value's name and location
			return &handlers.NotFiniteError{Index: e.Index, Value: e.Holds}
		}
		return e
	}
	return nil
}

// names returns what a value holds, for messages.
func names(bits int) string {
	switch bits {
	case bitNaN:
		return "nan"
	case bitInf:
		return "inf"
	}
	return "nan and inf"
}

// flagVector is the operand of a probe of several values: places or masks.
type flagVector struct {
	places []int64
	masks  []int32
}

func readFlags(c *runtime.Call) (f flagVector, err error) {
	if len(c.Operands) == 1 {
		switch t := c.Operands[0]; t.DType() {
		case tensor.I64:
			return flagVector{places: tensor.View[int64](t)}, nil
		case tensor.I32:
			return flagVector{masks: tensor.View[int32](t)}, nil
		}
	}
	return f, errors.New("the probe has no flags")
}

// at returns what value i of the vector holds. first is the place of its first element that is not finite, or -1.
func (f flagVector) at(i int) (bits int, first int64, err error) {
	switch {
	case i >= 0 && i < len(f.places):
		switch p := f.places[i]; {
		case p == math.MaxInt64:
			return 0, -1, nil
		case p%classes == classNaN:
			return bitNaN, p, nil
		default:
			return bitInf, p, nil
		}
	case i >= 0 && i/perWord < len(f.masks):
		return int(uint32(f.masks[i/perWord])>>(maskBits*(i%perWord))) & (1<<maskBits - 1), -1, nil
	}
	return 0, -1, fmt.Errorf("the probe has no flag %d", i)
}
