package events

import (
	"math"
	"math/cmplx"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/tensor"
)

// Site describes the hook of an event. All events of a hook share it.
type Site struct {
	Hook, ID, Kind     string
	Loc, Place         string // the location as MLIR writes it; file, line and column, or ""
	Function, Callback string
	Probe, Of          string // of a tap: its probe, and the type of the value that the probe reduced
	statisticsOf       hook.TensorType
	computesStatistics bool
	operandNames       []string // see tag
	fixed              []byte   // the part of its JSON that all events share
}

// newSite fills in the rest of s.
func newSite(s Site) *Site {
	if s.Probe == "stats" && s.Of != "" {
		if t, shape, err := tensor.ParseType(s.Of); err == nil {
			s.statisticsOf, s.computesStatistics = hook.TensorType{DType: t, Shape: shape}, true
		}
	}
	s.fixed = s.appendJSON(nil)
	return &s
}

// siteOf returns the description of a hook of a program.
func siteOf(s *hook.Site) *Site {
	out := Site{Hook: s.Name, ID: s.ID.String(), Kind: s.Kind.String(), Loc: s.Loc, Function: s.Function, Callback: s.Callback}
	if p, ok := hook.PlaceOf(s.Loc); ok && p.File != "" {
		out.Place = p.Position()
	}
	out.Probe, _ = strconv.Unquote(s.Attrs[hook.AttrProbe])
	out.Of, _ = strconv.Unquote(s.Attrs[hook.AttrOf])
	return newSite(out)
}

// location returns the place of the hook in the user's source, or else its location as MLIR writes it.
func (s *Site) location() string {
	if s.Place != "" {
		return s.Place
	}
	return s.Loc
}

// tag returns a name for an operand of the hook: the hook's name, and the operand's number if there are several.
func (s *Site) tag(operand, operands int) string {
	if operands <= 1 {
		return s.Hook
	}
	for len(s.operandNames) < operands {
		s.operandNames = append(s.operandNames, s.Hook+"/"+strconv.Itoa(len(s.operandNames)))
	}
	return s.operandNames[operand]
}

// Event is one event of a hook. It and its operands are valid until the function that gets it returns.
type Event struct {
	*Site
	Process                    string // names the process or the recording, if there are several
	Run, Seq                   int64  // as in docs/events.md
	Step                       int64  // counts the events of this hook on this device, from 0
	Device, Replica, Partition int
	Time                       int64 // Unix time in nanoseconds; 0 is unknown
	Took                       int64 // nanoseconds in the handlers of the event; 0 is unknown
	Operands                   []Operand
}

// Operand is a value of an event.
type Operand struct {
	DType tensor.DType
	Shape tensor.Shape
	// Value holds the elements. It is nil if only the statistics are known.
	Value *tensor.Tensor
	// Scalar says that the value has one element, Number, and no dimensions. A complex number has none.
	Scalar bool
	Number float64
	Statistics
}

// Statistics describes the elements of a value. Min, Max, Mean and the squares are of the finite elements, and NaN if
// there are none. Complex numbers count by their absolute values.
type Statistics struct {
	Count                            int64
	Min, Max, Mean                   float64
	NaN, Inf                         int64 // Inf counts both infinities
	NegInf, Negative, Zero, Positive int64 // known only with Signs
	Squares                          float64
	Signs                            bool
}

// add counts an element.
func (s *Statistics) add(v float64) {
	s.Count++
	switch {
	case v != v:
		s.NaN++
	case v > math.MaxFloat64:
		s.Inf++
	case v < -math.MaxFloat64:
		s.Inf++
		s.NegInf++
	default:
		switch {
		case v > 0:
			s.Positive++
		case v < 0:
			s.Negative++
		default:
			s.Zero++
		}
		if s.finite() == 1 {
			s.Min, s.Max = v, v
		}
		s.Min, s.Max = min(s.Min, v), max(s.Max, v)
		s.Mean += v // the sum, until end
		s.Squares += v * v
	}
}

// finite returns the number of finite elements.
func (s *Statistics) finite() int64 { return s.Count - s.NaN - s.Inf }

// end computes the mean after the last element.
func (s *Statistics) end() {
	s.Signs = true
	if n := s.finite(); n > 0 {
		s.Mean = (0 + s.Mean) / float64(n)
	} else {
		s.Min, s.Max, s.Mean, s.Squares = math.NaN(), math.NaN(), math.NaN(), math.NaN()
	}
}

// elements calls f with each element of t, complex numbers by their absolute values.
func elements(t *tensor.Tensor, f func(v float64)) {
	switch n := t.NumElements(); {
	case t.DType() == tensor.F32:
		for _, v := range tensor.View[float32](t) {
			f(float64(v))
		}
	case t.DType() == tensor.F64:
		for _, v := range tensor.View[float64](t) {
			f(v)
		}
	case t.DType().IsComplex():
		for i := range n {
			if v := t.ComplexAt(i); cmplx.IsNaN(v) {
				f(math.NaN())
			} else {
				f(cmplx.Abs(v))
			}
		}
	default:
		for i := range n {
			f(t.FloatAt(i))
		}
	}
}

// MaxSample is the number of elements in a sample of a value.
const MaxSample = 256

// AppendSample appends a sample of the operand's elements, for a histogram: every nth one. Scalars, complex numbers and
// values without elements have none.
func (o *Operand) AppendSample(to []float64) []float64 {
	if o.Value == nil || o.Scalar || o.DType.IsComplex() {
		return to
	}
	n := o.Value.NumElements()
	for k := 0; k < n; k += (n + MaxSample - 1) / MaxSample {
		to = append(to, o.Value.FloatAt(k))
	}
	return to
}

// operandOf describes a value of a hook.
func operandOf(s *Site, t *tensor.Tensor) (o Operand) {
	if s.computesStatistics && t.DType() == tensor.F64 && t.NumElements() == 5 {
		v := tensor.View[float64](t)
		o.DType, o.Shape = s.statisticsOf.DType, s.statisticsOf.Shape
		n := tensor.Shape(o.Shape).NumElements()
		o.Statistics = Statistics{Count: n, Min: v[0], Max: v[1], NaN: int64(v[3]), Inf: int64(v[4]), Squares: math.NaN()}
		if finite := o.finite(); finite > 0 {
			o.Mean = (0 + v[2]) / float64(finite)
		} else {
			o.Min, o.Max, o.Mean = math.NaN(), math.NaN(), math.NaN()
		}
		return o
	}
	o = Operand{DType: t.DType(), Shape: t.Shape(), Value: t}
	switch {
	case len(o.Shape) == 0 && !o.DType.IsComplex():
		o.Scalar, o.Number = true, t.FloatAt(0)
		o.Statistics.add(o.Number)
	default:
		elements(t, o.Statistics.add)
	}
	o.Statistics.end()
	return o
}

// shapeText returns a shape as JSON writes it: [4,3].
func shapeText(shape tensor.Shape) string {
	if len(shape) == 0 {
		return "[]"
	}
	var b strings.Builder
	for i, n := range shape {
		b.WriteByte("[,"[min(i, 1)])
		b.WriteString(strconv.FormatInt(n, 10))
	}
	b.WriteByte(']')
	return b.String()
}
