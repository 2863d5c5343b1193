package handlers

import (
	"fmt"
	"math"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/tensor"
)

// Comparison is the result of Compare for one hook, for the order of hooks, or for the program's results.
type Comparison struct {
	Name     string `json:"name"`              // the hook's, "order" or "results"
	Events   int    `json:"events"`            // events that both have
	OnlyA    int    `json:"only_a"`            // further events of A
	OnlyB    int    `json:"only_b"`            // further events of B
	Missing  bool   `json:"missing,omitempty"` // B does not have the hook
	Added    bool   `json:"added,omitempty"`   // A does not have the hook
	Largest  uint64 `json:"largest_ulps"`      // difference in ULPs, math.MaxUint64 for a NaN against a number
	Elements int    `json:"elements"`          // elements that differ by more than the tolerance
	First    string `json:"first,omitempty"`   // the first difference, empty for none
}

// Differs reports whether there is a difference beyond the tolerance.
func (c *Comparison) Differs() bool {
	return c.First != "" || c.OnlyA > 0 || c.OnlyB > 0 || c.Missing || c.Added
}

// orderName is the name of the comparison of the order of hooks.
const orderName = "order"

// String returns one line of text.
func (c *Comparison) String() string {
	name := diag.Escape(c.Name)
	switch {
	case c.Missing:
		return fmt.Sprintf("%s: missing in the second, %d events in the first", name, c.OnlyA)
	case c.Added:
		return fmt.Sprintf("%s: added in the second, %d events", name, c.OnlyB)
	case c.Name == orderName:
		return fmt.Sprintf("%s: moved, first %s", name, c.First)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", name)
	if c.Events > 0 || c.OnlyA+c.OnlyB == 0 {
		fmt.Fprintf(&b, "%d compared, ", c.Events)
		switch {
		case c.First != "":
			fmt.Fprintf(&b, "differ in %d elements, first %s, largest difference %s", c.Elements, c.First, ulpText(c.Largest))
		case c.Largest > 0:
			fmt.Fprintf(&b, "within tolerance, largest difference %s", ulpText(c.Largest))
		default:
			b.WriteString("equal")
		}
	}
	for _, only := range []struct {
		n    int
		name string
	}{{c.OnlyA, "first"}, {c.OnlyB, "second"}} {
		if only.n > 0 {
			fmt.Fprintf(&b, ", %d more in the %s", only.n, only.name)
		}
	}
	return strings.Replace(b.String(), ": , ", ": ", 1)
}

func ulpText(n uint64) string {
	switch n {
	case math.MaxUint64:
		return "NaN against a number"
	case 1:
		return "1 ULP"
	}
	return fmt.Sprintf("%d ULPs", n)
}

// stream identifies the events of a hook on a device in a run. The hook is A's if A has it.
type stream struct {
	run    int64
	device int
	site   *hook.Site
}

// streams groups the indices of a recording's events. It replaces hooks that are keys of to.
func (r *Recorded) streams(of map[eventHook]*hook.Site, to map[*hook.Site]*hook.Site) (map[stream][]int, []stream) {
	lists := map[stream][]int{}
	var order []stream
	for i := range r.Events {
		e := &r.Events[i]
		k := stream{e.Run, e.Device, of[eventHook{e.ID, e.Hook}]}
		if s := to[k.site]; s != nil {
			k.site = s
		}
		if lists[k] == nil {
			order = append(order, k)
		}
		lists[k] = append(lists[k], i)
	}
	return lists, order
}

// Compare aligns two recordings by run, device, hook and occurrence. It compares operands, answers if both have them,
// the order of hooks that both programs order, and the programs' results. Hooks are aligned as hook.Pair does. Elements
// may differ by tolerance ULPs. Hooks are listed in the order of their first event; a difference in the order of hooks
// and the results come last.
func Compare(a, b *Recorded, tolerance uint64) []Comparison {
	sitesA, ofA := a.sites()
	sitesB, ofB := b.sites()
	pair := hook.Pair(sitesA, sitesB)
	back := map[*hook.Site]*hook.Site{}
	for x, y := range pair {
		back[y] = x
	}
	inA, order := a.streams(ofA, nil)
	inB, more := b.streams(ofB, back)
	for _, k := range more {
		if inA[k] == nil {
			order = append(order, k)
		}
	}
	var out []Comparison
	at := map[*hook.Site]int{}
	for _, k := range order {
		ea, eb := inA[k], inB[k]
		i, ok := at[k.site]
		if !ok {
			i = len(out)
			at[k.site] = i
			_, known := ofA[eventHook{k.site.ID, k.site.Name}]
			inFirst := known && ofA[eventHook{k.site.ID, k.site.Name}] == k.site
			out = append(out, Comparison{Name: k.site.Name, Missing: inFirst && pair[k.site] == nil, Added: !inFirst})
		}
		c := &out[i]
		n := min(len(ea), len(eb))
		c.Events += n
		c.OnlyA += len(ea) - n
		c.OnlyB += len(eb) - n
		for j := range n {
			x, y := &a.Events[ea[j]], &b.Events[eb[j]]
			where := fmt.Sprintf("event %d", j)
			if k.device != 0 {
				where += fmt.Sprintf(" on device %d", k.device)
			}
			c.values(where+" operand", x.Operands, y.Operands, tolerance)
			if len(x.Results) > 0 && len(y.Results) > 0 {
				c.values(where+" answer", x.Results, y.Results, tolerance)
			}
		}
	}
	if c := compareOrder(a, b, pair, inA, inB, order); c != nil {
		out = append(out, *c)
	}
	if a.Ended && b.Ended {
		c := Comparison{Name: "results", Events: min(len(a.Outputs), len(b.Outputs))}
		c.OnlyA, c.OnlyB = len(a.Outputs)-c.Events, len(b.Outputs)-c.Events
		c.values("result", a.Outputs[:c.Events], b.Outputs[:c.Events], tolerance)
		out = append(out, c)
	}
	return out
}

// compareOrder compares the order in which the events of two hooks alternate, for each pair of hooks that both
// programs order directly. It returns the first difference, or nil if there is none.
func compareOrder(a, b *Recorded, pair map[*hook.Site]*hook.Site, inA, inB map[stream][]int, order []stream) *Comparison {
	if a.Header.Manifest == nil || b.Header.Manifest == nil {
		return nil
	}
	both := map[[2]*hook.Site]bool{}
	for _, e := range b.Header.Manifest.Edges {
		both[[2]*hook.Site{b.Header.Manifest.Find(e.From), b.Header.Manifest.Find(e.To)}] = true
	}
	c := &Comparison{Name: orderName}
	first := len(a.Events)
	for _, e := range a.Header.Manifest.Edges {
		from, to := a.Header.Manifest.Find(e.From), a.Header.Manifest.Find(e.To)
		x, y := pair[from], pair[to]
		if from == to || x == nil || y == nil || !both[[2]*hook.Site{x, y}] && !both[[2]*hook.Site{y, x}] {
			continue
		}
		for _, k := range order {
			if k.site != from {
				continue
			}
			other := stream{k.run, k.device, to}
			fromA, toA, fromB, toB := inA[k], inA[other], inB[k], inB[other]
			n, m := min(len(fromA), len(fromB)), min(len(toA), len(toB))
			i, j := 0, 0
			for i < n && j < m && (fromA[i] < toA[j]) == (fromB[i] < toB[j]) {
				if fromA[i] < toA[j] {
					i++
				} else {
					j++
				}
			}
			if i == n || j == m {
				continue
			}
			c.Events++
			if at := min(fromA[i], toA[j]); at < first {
				first = at
				names := [2]string{from.Name, to.Name}
				if fromA[i] > toA[j] {
					names = [2]string{to.Name, from.Name}
				}
				c.First = fmt.Sprintf("event %d: %s before %s in the first, after it in the second", a.Events[at].Seq, diag.Escape(names[0]), diag.Escape(names[1]))
			}
		}
	}
	if c.First == "" {
		return nil
	}
	return c
}

// values compares two lists of values.
func (c *Comparison) values(what string, a, b []*tensor.Tensor, tolerance uint64) {
	differ := func(elements int, format string, args ...any) {
		c.Elements += elements
		if c.First == "" {
			c.First = fmt.Sprintf(format, args...)
		}
	}
	if len(a) != len(b) {
		differ(0, "%ss: %d against %d", what, len(a), len(b))
		return
	}
	for i := range a {
		if !sameType(a[i], b[i]) {
			differ(0, "%s %d: type %s against %s", what, i, hook.TypeOf(a[i]), hook.TypeOf(b[i]))
			continue
		}
		for k := range a[i].NumElements() {
			d := a[i].ULPs(b[i], k)
			c.Largest = max(c.Largest, d)
			if d > tolerance {
				c.Elements++
				if c.First == "" {
					c.First = fmt.Sprintf("%s %d at %v: %s against %s (%s)", what, i, a[i].Shape().Index(k),
						a[i].ElementText(k), b[i].ElementText(k), ulpText(d))
				}
			}
		}
	}
}
