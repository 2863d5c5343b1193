package events

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"

	"github.com/hlocb/hlocb/internal/tensorio"
)

// JSONL writes an event as a line of JSON, in the form of docs/events.md. A value without elements has statistics.
type JSONL struct {
	w   *bufio.Writer
	c   io.Closer
	buf []byte
}

// NewJSONL returns a sink that writes to w. Close closes w.
func NewJSONL(w io.WriteCloser) *JSONL { return &JSONL{w: bufio.NewWriterSize(w, 1<<18), c: w} }

// Write implements Sink.
func (j *JSONL) Write(e *Event) error {
	j.buf = append(AppendJSON(j.buf[:0], e, nil), '\n')
	_, err := j.w.Write(j.buf)
	return err
}

// Flush implements Sink.
func (j *JSONL) Flush() error { return j.w.Flush() }

// Close implements Sink.
func (j *JSONL) Close() error { return errors.Join(j.w.Flush(), j.c.Close()) }

// AppendJSON appends an event. sample returns some elements of an operand that has statistics; it may be nil.
func AppendJSON(b []byte, e *Event, sample func(o *Operand) []float64) []byte {
	number := func(name string, n int64) {
		b = strconv.AppendInt(append(append(append(b, ',', '"'), name...), '"', ':'), n, 10)
	}
	b = strconv.AppendInt(append(b, `{"seq":`...), e.Seq, 10)
	number("run", e.Run)
	number("device", int64(e.Device))
	number("replica", int64(e.Replica))
	number("partition", int64(e.Partition))
	if e.fixed != nil {
		b = append(b, e.fixed...)
	} else {
		b = e.Site.appendJSON(b)
	}
	if e.Process != "" {
		b = appendString(append(b, `,"process":`...), e.Process)
	}
	number("step", e.Step)
	if e.Time != 0 {
		number("time", e.Time)
	}
	b = append(b, `,"operands":[`...)
	for i := range e.Operands {
		if i > 0 {
			b = append(b, ',')
		}
		b = e.Operands[i].appendJSON(b, sample)
	}
	return append(b, ']', '}')
}

// appendJSON appends the description of a hook.
func (s *Site) appendJSON(b []byte) []byte {
	b = appendString(append(b, `,"hook":`...), s.Hook)
	for _, x := range []struct{ name, text string }{{"id", s.ID}, {"kind", s.Kind}, {"loc", s.Loc}, {"place", s.Place}, {"function", s.Function}, {"callback", s.Callback}} {
		if x.text != "" {
			b = appendString(append(append(append(b, ',', '"'), x.name...), '"', ':'), x.text)
		}
	}
	return b
}

// lineStatistics are the statistics of a value as JSON writes them.
type lineStatistics struct {
	Count    int64  `json:"n"`
	Min      any    `json:"min"`
	Max      any    `json:"max"`
	Mean     any    `json:"mean"`
	NaN      int64  `json:"nan"`
	Inf      int64  `json:"inf"` // of the positive infinities if NegInf is there, or of both
	NegInf   *int64 `json:"ninf,omitempty"`
	Negative *int64 `json:"neg,omitempty"`
	Zero     *int64 `json:"zero,omitempty"`
	Positive *int64 `json:"pos,omitempty"`
}

func (o *Operand) appendJSON(b []byte, sample func(o *Operand) []float64) []byte {
	if o.Value != nil {
		return tensorio.AppendJSON(b, o.Value)
	}
	b = append(append(append(b, `{"dtype":"`...), o.DType.String()...), `","shape":`...)
	b = append(b, shapeText(o.Shape)...)
	if o.Scalar {
		b = append(b, `,"data":[`...)
		if o.DType.Bits() == 1 {
			return append(strconv.AppendBool(b, o.Number != 0), ']', '}')
		}
		return append(appendNumber(b, o.Number), ']', '}')
	}
	s := lineStatistics{Count: o.Count, Min: jsonNumber(o.Min), Max: jsonNumber(o.Max), Mean: jsonNumber(o.Mean), NaN: o.NaN, Inf: o.Inf}
	if o.Signs {
		s.Inf -= o.NegInf
		s.NegInf, s.Negative, s.Zero, s.Positive = &o.NegInf, &o.Negative, &o.Zero, &o.Positive
	}
	text, err := json.Marshal(&s)
	if err != nil {
		panic(err) // numbers and strings
	}
	b = append(append(b, `,"stats":`...), text...)
	if sample != nil {
		b = append(b, `,"sample":[`...)
		for i, v := range sample(o) {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendNumber(b, v)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

// statistics is the inverse of appendJSON.
func (l *lineStatistics) statistics() Statistics {
	number := func(v any) float64 {
		switch v := v.(type) {
		case float64:
			return v
		case string:
			if f, err := strconv.ParseFloat(v, 64); err == nil {
				return f
			}
		}
		return math.NaN()
	}
	s := Statistics{Count: l.Count, Min: number(l.Min), Max: number(l.Max), Mean: number(l.Mean), NaN: l.NaN, Inf: l.Inf, Squares: math.NaN()}
	if l.NegInf != nil && l.Negative != nil && l.Zero != nil && l.Positive != nil {
		s.Signs = true
		s.NegInf, s.Negative, s.Zero, s.Positive = *l.NegInf, *l.Negative, *l.Zero, *l.Positive
		s.Inf += s.NegInf
	}
	return s
}

// appendNumber appends v in the form of docs/events.md.
func appendNumber(b []byte, v float64) []byte {
	if v-v != 0 { // NaN or infinite
		return append(append(append(b, '"'), jsonNumber(v).(string)...), '"')
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

// appendString appends s as JSON, with '<' and other characters that HTML has a use for as escapes.
func appendString(b []byte, s string) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string never fails to encode
	}
	return append(b, text...)
}
