package events

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Summary describes many events.
type Summary struct {
	Events    int64     `json:"events"`
	Processes []string  `json:"processes"`
	Values    []Value   `json:"values"` // by hook and operand, in the order of the first event
	Arrivals  []Arrival `json:"late"`   // if several processes or devices reach a hook, the latest first
	Worst     []Delay   `json:"worst"`  // the steps with the longest delays, the longest first
	// Aligned says that the processes did not run at one time, so the times of each count from its first event.
	Aligned bool `json:"aligned"`

	values   map[valueKey]*Value
	order    []valueKey
	first    map[stepKey]*arrivals
	arrivals map[participant]*Arrival
	process  map[string]*span
}

// span is the time from the first to the last event of a process.
type span struct{ first, last int64 }

// Value summarizes an operand of a hook over all its events.
type Value struct {
	Hook     string `json:"hook"`
	ID       string `json:"id"`
	Location string `json:"location"`
	Operand  int    `json:"operand"`
	Type     string `json:"type"` // of the last value
	Events   int64  `json:"events"`
	// Min, Max and Mean are of all finite elements, Last is the last value or its mean: numbers in the form of
	// docs/events.md.
	Min  any   `json:"min"`
	Max  any   `json:"max"`
	Mean any   `json:"mean"`
	Last any   `json:"last"`
	NaN  int64 `json:"nan"`
	Inf  int64 `json:"inf"`
	// Bad is the first step with a NaN or an infinity, or -1.
	Bad int64 `json:"first_bad_step"`

	finite               int64
	least, most, sum, at float64
}

// Arrival says how late a process and device reaches a hook, after the first one that reaches the hook in the same
// step.
type Arrival struct {
	Hook    string `json:"hook"`
	ID      string `json:"id"`
	Process string `json:"process"`
	Device  int    `json:"device"`
	Steps   int64  `json:"steps"`   // that others reach, too
	Last    int64  `json:"last"`    // steps in which it was the last
	Mean    int64  `json:"mean_ns"` // delay
	Max     int64  `json:"max_ns"`
	Step    int64  `json:"max_step"`

	sum int64
}

// Delay is the time between the first and the last that reached a hook in a step.
type Delay struct {
	Hook    string `json:"hook"`
	Step    int64  `json:"step"`
	Delay   int64  `json:"ns"`
	Process string `json:"process"` // the last one
	Device  int    `json:"device"`
}

type valueKey struct {
	hook, id string
	operand  int
}

type stepKey struct {
	hook, id string
	step     int64
}

type participant struct {
	hook, id, process string
	device            int
}

// arrivals are the times at which a hook was reached in a step.
type arrivals struct {
	list []arrival
}

type arrival struct {
	at      int64
	process string
	device  int
}

// NewSummary returns the summary of no events.
func NewSummary() *Summary {
	return &Summary{values: map[valueKey]*Value{}, first: map[stepKey]*arrivals{}, arrivals: map[participant]*Arrival{}, process: map[string]*span{}}
}

// Add counts an event.
func (s *Summary) Add(e *Event) {
	s.Events++
	p := s.process[e.Process]
	if p == nil {
		p = &span{e.Time, e.Time}
		s.process[e.Process] = p
	}
	p.first, p.last = min(p.first, e.Time), max(p.last, e.Time)
	for i := range e.Operands {
		key := valueKey{e.Hook, e.ID, i}
		v := s.values[key]
		if v == nil {
			v = &Value{Hook: e.Hook, ID: e.ID, Location: e.location(), Operand: i, least: math.NaN(), most: math.NaN(), Bad: -1}
			s.values[key] = v
			s.order = append(s.order, key)
		}
		v.add(&e.Operands[i], e.Step)
	}
	if e.Time == 0 {
		return
	}
	key := stepKey{e.Hook, e.ID, e.Step}
	a := s.first[key]
	if a == nil {
		a = new(arrivals)
		s.first[key] = a
	}
	a.list = append(a.list, arrival{e.Time, e.Process, e.Device})
}

func (v *Value) add(o *Operand, step int64) {
	v.Events++
	v.Type = o.DType.String() + shapeText(o.Shape)
	v.NaN, v.Inf = v.NaN+o.NaN, v.Inf+o.Inf
	if o.NaN+o.Inf > 0 && v.Bad < 0 {
		v.Bad = step
	}
	if v.at = o.Mean; o.Scalar {
		v.at = o.Number
	}
	n := o.finite()
	if n <= 0 {
		return
	}
	if v.finite == 0 {
		v.least, v.most = o.Min, o.Max
	}
	v.least, v.most = min(v.least, o.Min), max(v.most, o.Max)
	v.sum += o.Mean * float64(n)
	v.finite += n
}

// worst is the number of delays that a summary lists.
const worst = 10

// End computes the rest after the last event.
func (s *Summary) End() {
	s.Processes = slices.Sorted(maps.Keys(s.process))
	s.Values = make([]Value, 0, len(s.order))
	for _, key := range s.order {
		v := s.values[key]
		mean := math.NaN()
		if v.finite > 0 {
			mean = v.sum / float64(v.finite)
		}
		v.Min, v.Max, v.Mean, v.Last = jsonNumber(v.least), jsonNumber(v.most), jsonNumber(mean), jsonNumber(v.at)
		s.Values = append(s.Values, *v)
	}
	s.Arrivals, s.Worst = []Arrival{}, []Delay{}
	for _, x := range s.process {
		for _, y := range s.process {
			s.Aligned = s.Aligned || x.first > 0 && y.first > 0 && x.first > y.last
		}
	}
	for key, a := range s.first {
		if len(a.list) < 2 {
			continue
		}
		for i := range a.list {
			if s.Aligned {
				a.list[i].at -= s.process[a.list[i].process].first
			}
		}
		slices.SortFunc(a.list, func(x, y arrival) int {
			return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.process, y.process), cmp.Compare(x.device, y.device))
		})
		for i, x := range a.list {
			p := participant{key.hook, key.id, x.process, x.device}
			l := s.arrivals[p]
			if l == nil {
				l = &Arrival{Hook: key.hook, ID: key.id, Process: x.process, Device: x.device, Step: -1}
				s.arrivals[p] = l
			}
			late := x.at - a.list[0].at
			l.Steps++
			l.sum += late
			if i == len(a.list)-1 {
				l.Last++
			}
			if late > l.Max || late == l.Max && (l.Step < 0 || key.step < l.Step) {
				l.Max, l.Step = late, key.step
			}
		}
		last := a.list[len(a.list)-1]
		s.Worst = append(s.Worst, Delay{key.hook, key.step, last.at - a.list[0].at, last.process, last.device})
	}
	for _, l := range s.arrivals {
		l.Mean = l.sum / l.Steps
		s.Arrivals = append(s.Arrivals, *l)
	}
	slices.SortFunc(s.Arrivals, func(a, b Arrival) int {
		return cmp.Or(cmp.Compare(b.Mean, a.Mean), cmp.Compare(a.Hook, b.Hook), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Process, b.Process), cmp.Compare(a.Device, b.Device))
	})
	slices.SortFunc(s.Worst, func(a, b Delay) int {
		return cmp.Or(cmp.Compare(b.Delay, a.Delay), cmp.Compare(a.Hook, b.Hook), cmp.Compare(a.Step, b.Step))
	})
	s.Worst = s.Worst[:min(len(s.Worst), worst)]
}
