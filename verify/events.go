package verify

import (
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/hook"
)

// EventComparison tells how the events of two runs differ.
type EventComparison struct {
	Compared int              `json:"compared"` // events of the first side that have one to compare with
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
	What    string      `json:"what"`
	Value   *Comparison `json:"value,omitempty"`

	site *hook.Site
}

// Site returns the hook of the first side, nil if only the second side has it.
func (d *EventDifference) Site() *hook.Site { return d.site }

// Equal reports whether no difference was found.
func (c *EventComparison) Equal() bool { return c.First == nil }

// pairSites finds for each hook of a the hook of b that stands for it, as hook.Pair does. If both sides have equally
// many hooks left, it pairs those by position.
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

// sitesOf returns the hooks of a manifest, then those that only events mention: ops such as interpreter.print, which
// are hooks of the embedded engine alone.
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

// key is a hook on a device.
type key struct {
	site   *hook.Site
	device int
}

func perHook(events []Event) (lists map[key][]*Event, order []key) {
	lists = map[key][]*Event{}
	for i := range events {
		k := key{events[i].Site, events[i].Device}
		if lists[k] == nil {
			order = append(order, k)
		}
		lists[k] = append(lists[k], &events[i])
	}
	return lists, order
}

// CompareEvents compares events by hook and device: both sides must have equally many, with equal operands. Then it
// compares the order that the first program asks for: for each edge of its manifest, the events of the two hooks must
// alternate in the same way. It ignores hooks without side effects, which either side may merge, repeat or remove.
func CompareEvents(ma, mb *hook.Manifest, a, b []Event, tol Tolerance) *EventComparison {
	out := &EventComparison{}
	pair := pairSites(sitesOf(ma, a), sitesOf(mb, b))
	back := map[*hook.Site]*hook.Site{}
	for x, y := range pair {
		back[y] = x
	}
	la, oa := perHook(a)
	lb, ob := perHook(b)
	for _, k := range oa {
		if !k.site.SideEffect {
			continue
		}
		other := pair[k.site]
		if other == nil {
			out.First = eventDifference(k, 0, "the second program has no such hook")
			return out
		}
		x, y := la[k], lb[key{other, k.device}]
		for n := range min(len(x), len(y)) {
			if d := compareEvent(k, n, x[n], y[n], tol); d != nil {
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
		first := back[k.site]
		if k.site.SideEffect && (first == nil || la[key{first, k.device}] == nil) {
			out.First = eventDifference(k, 0, fmt.Sprintf("no events against %d", len(lb[k])))
			out.First.site = first
			return out
		}
	}
	out.First = compareOrder(ma, pair, a, b)
	return out
}

func eventDifference(k key, number int, what string) *EventDifference {
	return &EventDifference{Hook: k.site.Name, Loc: k.site.Loc, Device: k.device, Number: number, Operand: -1, What: what, site: k.site}
}

func compareEvent(k key, n int, x, y *Event, tol Tolerance) *EventDifference {
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
func compareOrder(ma *hook.Manifest, pair map[*hook.Site]*hook.Site, a, b []Event) *EventDifference {
	devices := map[int]bool{}
	for _, e := range a {
		devices[e.Device] = true
	}
	for _, edge := range ma.Edges {
		from, to := ma.Find(edge.From), ma.Find(edge.To)
		if from == nil || to == nil || from == to {
			continue
		}
		for device := range len(devices) {
			x := interleaving(a, device, from, to)
			y := interleaving(b, device, pair[from], pair[to])
			for i := range min(len(x), len(y)) {
				if x[i] != y[i] {
					site, other := from, to
					if !x[i] {
						site, other = to, from
					}
					n := 0
					for _, v := range x[:i] {
						if v == x[i] {
							n++
						}
					}
					return eventDifference(key{site, device}, n, fmt.Sprintf("comes before an event of %q in the first run and after it in the second", other.Name))
				}
			}
		}
	}
	return nil
}

// interleaving returns, for each event of two hooks on a device, whether it belongs to the first hook.
func interleaving(events []Event, device int, first, second *hook.Site) []bool {
	var out []bool
	for i := range events {
		if e := &events[i]; e.Device == device && (e.Site == first || e.Site == second) {
			out = append(out, e.Site == first)
		}
	}
	return out
}
