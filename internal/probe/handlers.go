package probe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/internal/reduction"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
)

// Handlers makes the handlers of probes. They only observe, and write at most to Env.Out, because the module chooses
// among them. It is safe for concurrent use.
type Handlers struct {
	Env    *handlers.Env
	mu     sync.Mutex
	byKind map[string]runtime.Handler // all probes of a kind share its output
	// searches are the searches for the origin of a NaN, by program.
	searches map[*hook.Manifest]*search
}

// KindOf returns the kind of the probe that a hook is, or the text of its Sample if the hook asks whether a probe runs.
// It returns "" for other hooks.
func KindOf(s *hook.Site) string {
	kind, err := strconv.Unquote(s.Attrs[format.AttrProbe])
	if err != nil || !slices.Contains(Kinds(), kind) && kind != originNaN && kind != originInf && !strings.HasPrefix(kind, samplePrefix) {
		return ""
	}
	return kind
}

// Asks reports whether s asks whether a probe runs now. The program has no such event.
func Asks(s *hook.Site) bool { return strings.HasPrefix(KindOf(s), samplePrefix) }

// SearchesOrigin reports whether s is a probe of AddOrigin. All such probes of a program share one handler.
func SearchesOrigin(s *hook.Site) bool {
	kind := KindOf(s)
	return kind == originNaN || kind == originInf
}

// For returns the handler of a probe of a program: an observer, or a responder if answer is set. It returns nil for a
// hook that is not a probe. The handler sees the events that the probe's Sample selects.
func (h *Handlers) For(m *hook.Manifest, s *hook.Site) (handler runtime.Handler, answer bool, err error) {
	kind := KindOf(s)
	switch {
	case kind == "":
		return nil, false, nil
	case SearchesOrigin(s):
		search := h.search(m)
		return search, false, search.add(s)
	case Asks(s):
		handler, err = newSampler(kind)
		return handler, true, err
	}
	if handler, err = h.observer(kind, s); err == nil {
		handler, err = Sampled(s, handler)
	}
	return handler, false, err
}

// Sampled returns the handler of a hook that sees the events that the probe's Sample selects, if the program does not
// select them itself.
func Sampled(s *hook.Site, h runtime.Handler) (runtime.Handler, error) {
	text, none := strconv.Unquote(s.Attrs[attrSample])
	if none != nil {
		return h, nil
	}
	every, err := newSampler(text)
	return &sampled{h, every}, err
}

// sampled forwards the events that a sampler selects.
type sampled struct {
	runtime.Handler
	every *sampler
}

// Handle implements runtime.Handler.
func (s *sampled) Handle(ctx context.Context, c *runtime.Call) error {
	if !s.every.next(c.Device) {
		return nil
	}
	return s.Handler.Handle(ctx, c)
}

// MemoryUse implements runtime.MemoryUser.
func (s *sampled) MemoryUse() runtime.MemoryUse { return runtime.UseOf(s.Handler) }

// CheckSite implements runtime.SiteChecker.
func (s *sampled) CheckSite(site *hook.Site) error { return runtime.CheckSite(s.Handler, site) }

// observer returns the handler of a probe of one of Kinds.
func (h *Handlers) observer(kind string, s *hook.Site) (runtime.Handler, error) {
	if text, err := strconv.Unquote(s.Attrs[attrValues]); err == nil && kind == Finite {
		values, err := decodeList(text, (*value).fields)
		if err != nil {
			return nil, fmt.Errorf("probe %q: %w", s.Name, err)
		}
		return finite{values}, nil
	}
	of, err := strconv.Unquote(s.Attrs[hook.AttrOf])
	if err != nil || kind != Stats { // the probe's operand is the value itself
		return h.shared(kind)
	}
	t, shape, err := tensor.ParseType(of)
	if err != nil {
		return nil, fmt.Errorf("probe %q: %w", s.Name, err)
	}
	inner, err := h.shared(kind)
	if err != nil {
		return nil, err
	}
	return stats{inner.(*handlers.Stats), hook.TensorType{DType: t, Shape: shape}}, nil
}

// search returns the search of a program.
func (h *Handlers) search(m *hook.Manifest) *search {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.searches == nil {
		h.searches = map[*hook.Manifest]*search{}
	}
	if h.searches[m] == nil {
		h.searches[m] = newSearch()
	}
	return h.searches[m]
}

// Origin returns where the first NaN of a program's runs came from, if no op made one of operands without NaN: an
// argument, or a constant. It returns nil if no value had a NaN.
func (h *Handlers) Origin(m *hook.Manifest) *OriginError {
	s := h.search(m)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.other
}

// shared returns the one handler of a kind.
func (h *Handlers) shared(kind string) (runtime.Handler, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byKind[kind] != nil {
		return h.byKind[kind], nil
	}
	spec := kind
	if kind == Record {
		spec = "record:-"
	}
	handler, _, err := handlers.Parse(spec, h.Env)
	if err != nil {
		return nil, err
	}
	if h.byKind == nil {
		h.byKind = map[string]runtime.Handler{}
	}
	h.byKind[kind] = handler
	return handler, nil
}

// Flush writes the buffered output of the handlers. Call it after the last run.
func (h *Handlers) Flush() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r, ok := h.byKind[Record].(*handlers.Record); ok {
		return r.Flush()
	}
	return nil
}

// samplePrefix starts the kind of a hook that asks whether a probe runs.
const samplePrefix = "sample:"

// String returns sample:every=N,first=N.
func (s Sample) String() string {
	return fmt.Sprintf("%severy=%d,first=%d", samplePrefix, s.Every, s.First)
}

// sampler answers whether a probe runs. It is safe for concurrent devices.
type sampler struct {
	Sample
	mu   sync.Mutex
	seen map[int]int64 // events, by device
}

// newSampler reads the text of a Sample.
func newSampler(text string) (*sampler, error) {
	s := &sampler{seen: map[int]int64{}}
	if _, err := fmt.Sscanf(text, samplePrefix+"every=%d,first=%d", &s.Every, &s.First); err != nil {
		return nil, fmt.Errorf("probe %q: %w", text, err)
	}
	return s, nil
}

// next counts an event on a device and reports whether it is selected.
func (s *sampler) next(device int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, every := s.seen[device], max(s.Every, 1)
	s.seen[device]++
	return n%every == 0 && (s.First <= 0 || n/every < s.First)
}

// Handle implements runtime.Handler.
func (s *sampler) Handle(_ context.Context, c *runtime.Call) error {
	answer := tensor.New(tensor.I1, nil)
	if s.next(c.Device) {
		answer.Bytes()[0] = 1
	}
	return c.SetResult(0, answer)
}

// stats prints the numbers that reduction.Emitter computed.
type stats struct {
	to  *handlers.Stats
	typ hook.TensorType // of the value
}

func (s stats) Handle(_ context.Context, c *runtime.Call) error {
	if len(c.Operands) != 1 || c.Operands[0].DType() != tensor.F64 || c.Operands[0].NumElements() != reduction.NumStats {
		return errors.New("the probe's operand holds no statistics")
	}
	v := tensor.View[float64](c.Operands[0])
	n := int(tensor.Shape(s.typ.Shape).NumElements())
	return s.to.Write(c, 0, s.typ, runtime.NewStatistics(n, v[0], v[1], v[2], int(v[3]), int(v[4])))
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
		bits, err := flags.bits(v.at)
		if err != nil {
			return err
		}
		if bits == 0 {
			continue
		}
		e := &NotFiniteError{Value: v.text(), Holds: names(bits)}
		if flags.places == nil {
			return e
		}
		_, shape, err := tensor.ParseType(v.typ)
		if err != nil {
			return err
		}
		if n := flags.places[v.at]; !(n >= 0 && n < float64(shape.NumElements())) {
			return fmt.Errorf("the probe has no element %g", n)
		}
		e.Index = shape.Index(int(flags.places[v.at]))
		if math.IsInf(flags.places[v.at+1], -1) {
			e.Holds = "-inf"
		}
		if len(f.values) == 1 { // the hook has the value's name and location
			return &handlers.NotFiniteError{Index: e.Index, Value: e.Holds}
		}
		return e
	}
	return nil
}

// names returns the words of messages for bits: nan, inf.
func names(bits int) string {
	switch bits {
	case reduction.BitNaN:
		return "nan"
	case reduction.BitInf:
		return "inf"
	}
	return "nan and inf"
}

// flagVector is the operand of a probe of several values: places or masks.
type flagVector struct {
	places []float64 // pairs of position and element
	masks  []int32
}

func readFlags(c *runtime.Call) (f flagVector, err error) {
	if len(c.Operands) == 1 {
		switch t := c.Operands[0]; t.DType() {
		case tensor.F64:
			return flagVector{places: tensor.View[float64](t)}, nil
		case tensor.I32:
			return flagVector{masks: tensor.View[int32](t)}, nil
		}
	}
	return f, errors.New("the probe has no flags")
}

// bits reports whether the value at position i of the vector has NaN and infinite elements.
func (f flagVector) bits(i int) (int, error) {
	switch {
	case i >= 0 && i+1 < len(f.places):
		switch x := f.places[i+1]; {
		case math.IsNaN(x):
			return reduction.BitNaN, nil
		case math.IsInf(x, 0):
			return reduction.BitInf, nil
		}
		return 0, nil
	case i >= 0 && i/reduction.PerWord < len(f.masks):
		return int(uint32(f.masks[i/reduction.PerWord])>>(reduction.MaskBits*(i%reduction.PerWord))) & (1<<reduction.MaskBits - 1), nil
	}
	return 0, fmt.Errorf("the probe has no flag %d", i)
}
