package verify

import (
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/hook"
)

// EventComparison describes how the events of two runs differ.
type EventComparison struct {
	Compared int              `json:"compared"` // events of the first side that have a counterpart
	First    *EventDifference `json:"first,omitempty"`
}

// EventDifference is the first difference of the events.
type EventDifference struct {
	Hook   string `json:"hook"`
	Loc    string `json:"loc,omitempty"`
	Device int    `json:"device"`
	// Number counts the events of the hook on the device, from 0.
	Number  int         `json:"number"`
	Operand int         `json:"operand"` // -1 if the difference is not in an operand
	Message string      `json:"what"`
	Value   *Comparison `json:"value,omitempty"`

	site *hook.Site
}

// Site returns the hook of the first side, nil if only the second side has it.
func (d *EventDifference) Site() *hook.Site { return d.site }

// Equal reports whether the events agree.
func (c *EventComparison) Equal() bool { return c.First == nil }

// pairSites maps each hook of a to its counterpart in b, as hook.Pair does. If both sides have equally many hooks left,
// it pairs the remaining hooks by position.
func pairSites(a, b []*hook.Site) map[*hook.Site]*hook.Site {
	pair := hook.Pair(a, b)
	if len(a) != len(b) {
		return pair
	}
	taken := map[*hook.Site]bool{}
	for _, y := range pair {
		taken[y] = true
	}
	b = slices.DeleteFunc(slices.Clone(b), func(y *hook.Site) bool { return taken[y] })
	for _, x := range a {
		if pair[x] == nil {
			pair[x], b = b[0], b[1:]
		}
	}
	return pair
}

// sitesOf returns the hooks of a manifest, then the hooks that only events mention: ops such as interpreter.print,
// which are hooks only on the embedded engine.
func sitesOf(m *hook.Manifest, events []Event) []*hook.Site {
	var out []*hook.Site
	seen := map[*hook.Site]bool{}
	add := func(s *hook.Site) {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	for i := range m.Sites {
		add(&m.Sites[i])
	}
	for _, e := range events {
		add(e.Site)
	}
	return out
}

// stream identifies the events of a hook on a device in a run.
type stream struct {
	site   *hook.Site
	run    int64
	device int
}

// of returns the stream of the counterpart of the stream's hook, or the stream itself if there is none.
func (s stream) of(pair map[*hook.Site]*hook.Site) stream {
	if other := pair[s.site]; other != nil {
		s.site = other
	}
	return s
}

// streams returns the indices of the events of each stream, and the streams in the order of their first event.
func streams[E any](events []E, of func(*E) stream) (lists map[stream][]int, order []stream) {
	lists = map[stream][]int{}
	for i := range events {
		k := of(&events[i])
		if lists[k] == nil {
			order = append(order, k)
		}
		lists[k] = append(lists[k], i)
	}
	return lists, order
}

func inverse(pair map[*hook.Site]*hook.Site) map[*hook.Site]*hook.Site {
	back := map[*hook.Site]*hook.Site{}
	for x, y := range pair {
		back[y] = x
	}
	return back
}

// reversal takes the indices of the events of two hooks on side A and on side B. It returns the numbers of the first
// events, one of each hook, that come in one order on side A and in the other on side B.
func reversal(fromA, toA, fromB, toB []int) (from, to int, ok bool) {
	for from < min(len(fromA), len(fromB)) && to < min(len(toA), len(toB)) {
		first := fromA[from] < toA[to]
		switch {
		case first != (fromB[from] < toB[to]):
			return from, to, true
		case first:
			from++
		default:
			to++
		}
	}
	return 0, 0, false
}

// CompareEvents compares events by hook and device: both sides must have equally many events, with equal operands. Then
// it compares the order that the first program requires: for each edge of its manifest, the events of the two hooks
// must alternate in the same way. It ignores hooks without side effects, which either side may merge, repeat or remove.
func CompareEvents(ma, mb *hook.Manifest, a, b []Event, tol Tolerance) *EventComparison {
	out := &EventComparison{}
	pair := pairSites(sitesOf(ma, a), sitesOf(mb, b))
	back := inverse(pair)
	la, oa := streams(a, func(e *Event) stream { return stream{site: e.Site, device: e.Device} })
	lb, ob := streams(b, func(e *Event) stream { return stream{site: e.Site, device: e.Device}.of(back) })
	for _, k := range oa {
		if !k.site.SideEffect {
			continue
		}
		if pair[k.site] == nil {
			out.First = eventDifference(k, 0, "the second program has no such hook")
			return out
		}
		x, y := la[k], lb[k]
		for n := range min(len(x), len(y)) {
			if d := compareEvent(k, n, &a[x[n]], &b[y[n]], tol); d != nil {
				out.First = d
				return out
			}
			out.Compared++
		}
		if len(x) != len(y) {
			out.First = eventDifference(k, min(len(x), len(y)), fmt.Sprintf("%d events against %d", len(x), len(y)))
			return out
		}
	}
	for _, k := range ob {
		if k.site.SideEffect && la[k] == nil {
			out.First = eventDifference(k, 0, fmt.Sprintf("no events against %d", len(lb[k])))
			if pair[k.site] == nil {
				out.First.site = nil // the first side does not have the hook
			}
			return out
		}
	}
	out.First = compareOrder(ma, la, lb, oa)
	return out
}

func eventDifference(k stream, number int, message string) *EventDifference {
	return &EventDifference{Hook: k.site.Name, Loc: k.site.Loc, Device: k.device, Number: number, Operand: -1, Message: message, site: k.site}
}

func compareEvent(k stream, n int, x, y *Event, tol Tolerance) *EventDifference {
	if len(x.Operands) != len(y.Operands) {
		return eventDifference(k, n, fmt.Sprintf("%d operands against %d", len(x.Operands), len(y.Operands)))
	}
	for i := range x.Operands {
		if c := Compare(x.Operands[i], y.Operands[i], tol); !c.Equal() {
			d := eventDifference(k, n, c.Summary())
			d.Operand, d.Value = i, c
			return d
		}
	}
	return nil
}

// compareOrder returns the first pair of events whose order the first program fixes and the second run reverses.
func compareOrder(m *hook.Manifest, a, b map[stream][]int, order []stream) *EventDifference {
	of := bySite(order)
	for from, to := range m.Ordered(func(s *hook.Site) bool { return of[s] != nil }) {
		if from == to {
			continue
		}
		for _, k := range of[from] {
			other := stream{to, k.run, k.device}
			i, j, ok := reversal(a[k], a[other], b[k], b[other])
			if !ok {
				continue
			}
			if a[k][i] > a[other][j] {
				k, other, i = other, k, j
			}
			return eventDifference(k, i, fmt.Sprintf("comes before an event of %q in the first run and after it in the second", other.site.Name))
		}
	}
	return nil
}

// bySite returns the streams of each hook, in order.
func bySite(order []stream) map[*hook.Site][]stream {
	of := map[*hook.Site][]stream{}
	for _, k := range order {
		of[k.site] = append(of[k.site], k)
	}
	return of
}
