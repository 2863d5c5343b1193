package verify

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
)

// HookComparison is the result of CompareRecordings for one hook, for the order of hooks, or for the program's results.
type HookComparison struct {
	Name     string `json:"name"`              // the hook's, "order" or "results"
	Events   int    `json:"events"`            // events in both recordings
	OnlyA    int    `json:"only_a"`            // further events of A
	OnlyB    int    `json:"only_b"`            // further events of B
	Missing  bool   `json:"missing,omitempty"` // B does not have the hook
	Added    bool   `json:"added,omitempty"`   // A does not have the hook
	Largest  uint64 `json:"largest_ulps"`      // difference in ULPs, tensor.NoDistance for a NaN against a number
	Elements int    `json:"elements"`          // elements that differ by more than the tolerance
	First    string `json:"first,omitempty"`   // the first difference, empty for none
}

// Differs reports whether there is a difference beyond the tolerance.
func (c *HookComparison) Differs() bool {
	return c.First != "" || c.OnlyA > 0 || c.OnlyB > 0 || c.Missing || c.Added
}

// orderName is the name of the comparison of the order of hooks.
const orderName = "order"

// String returns one line of text.
func (c *HookComparison) String() string {
	name := diag.Escape(c.Name)
	switch {
	case c.Missing:
		return fmt.Sprintf("%s: missing in the second, %s in the first", name, count(c.OnlyA, "event"))
	case c.Added:
		return fmt.Sprintf("%s: added in the second, %s", name, count(c.OnlyB, "event"))
	case c.Name == orderName:
		return fmt.Sprintf("%s: moved, first %s", name, c.First)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", name)
	if c.Events > 0 || c.OnlyA+c.OnlyB == 0 {
		fmt.Fprintf(&b, "%d compared, ", c.Events)
		switch {
		case c.First != "":
			fmt.Fprintf(&b, "differ in %s, first %s, largest difference %s", count(c.Elements, "element"), c.First, ulpText(c.Largest))
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
	if n == tensor.NoDistance {
		return "NaN against a number"
	}
	return count(n, "ULP")
}

// count returns a number with its noun: "1 event", "2 events".
func count[T int | uint64](n T, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// CompareRecordings aligns two recordings by run, device, hook and occurrence. It compares operands, answers if both
// have them, the order of hooks that both programs order, and the programs' results. Hooks are aligned as hook.Pair
// does, and listed in the order of their first event. A difference in the order of hooks and the results come last.
func CompareRecordings(a, b *handlers.Recording, tol Tolerance) []HookComparison {
	sitesA, ofA := a.Sites()
	sitesB, ofB := b.Sites()
	pair := hook.Pair(sitesA, sitesB)
	back := inverse(pair)
	inA, order := streams(a.Events, func(e *handlers.Event) stream { return stream{ofA(e), e.Run, e.Device} })
	inB, more := streams(b.Events, func(e *handlers.Event) stream { return stream{ofB(e), e.Run, e.Device}.of(back) })
	for _, k := range more {
		if inA[k] == nil {
			order = append(order, k)
		}
	}
	var out []HookComparison
	at := map[*hook.Site]int{}
	for _, k := range order {
		i, ok := at[k.site]
		if !ok {
			i = len(out)
			at[k.site] = i
			inFirst := slices.Contains(sitesA, k.site)
			out = append(out, HookComparison{Name: k.site.Name, Missing: inFirst && pair[k.site] == nil, Added: !inFirst})
		}
		c, ea, eb := &out[i], inA[k], inB[k]
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
			c.values(where+" operand", x.Operands, y.Operands, tol)
			if len(x.Results) > 0 && len(y.Results) > 0 {
				c.values(where+" answer", x.Results, y.Results, tol)
			}
		}
	}
	if c := compareRecordedOrder(a, b, pair, inA, inB, order); c != nil {
		out = append(out, *c)
	}
	if a.Ended && b.Ended {
		c := HookComparison{Name: "results", Events: min(len(a.Outputs), len(b.Outputs))}
		c.OnlyA, c.OnlyB = len(a.Outputs)-c.Events, len(b.Outputs)-c.Events
		c.values("result", a.Outputs[:c.Events], b.Outputs[:c.Events], tol)
		out = append(out, c)
	}
	return out
}

// compareRecordedOrder compares the order in which the events of two hooks alternate, for each pair of hooks that
// both programs order directly. It returns the first difference, or nil if there is none.
func compareRecordedOrder(a, b *handlers.Recording, pair map[*hook.Site]*hook.Site, inA, inB map[stream][]int, order []stream) *HookComparison {
	ma, mb := a.Header.Manifest, b.Header.Manifest
	if ma == nil || mb == nil {
		return nil
	}
	of, back := bySite(order), inverse(pair)
	both := map[[2]*hook.Site]bool{}
	for from, to := range mb.Ordered(func(s *hook.Site) bool { return of[back[s]] != nil }) {
		both[[2]*hook.Site{from, to}] = true
	}
	c := &HookComparison{Name: orderName}
	first := len(a.Events)
	for from, to := range ma.Ordered(func(s *hook.Site) bool { return of[s] != nil }) {
		x, y := pair[from], pair[to]
		if from == to || x == nil || y == nil || !both[[2]*hook.Site{x, y}] && !both[[2]*hook.Site{y, x}] {
			continue
		}
		for _, k := range of[from] {
			other := stream{to, k.run, k.device}
			i, j, ok := reversal(inA[k], inA[other], inB[k], inB[other])
			if !ok {
				continue
			}
			c.Events++
			i, j = inA[k][i], inA[other][j]
			if at := min(i, j); at < first {
				first = at
				names := [2]string{from.Name, to.Name}
				if i > j {
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
func (c *HookComparison) values(kind string, a, b []*tensor.Tensor, tol Tolerance) {
	differ := func(elements int, format string, args ...any) {
		c.Elements += elements
		if c.First == "" {
			c.First = fmt.Sprintf(format, args...)
		}
	}
	if len(a) != len(b) {
		differ(0, "%ss: %d against %d", kind, len(a), len(b))
		return
	}
	for i := range a {
		if x, y := hook.TypeOf(a[i]), hook.TypeOf(b[i]); x.String() != y.String() {
			differ(0, "%s %d: type %s against %s", kind, i, x, y)
			continue
		}
		if bytes.Equal(a[i].Bytes(), b[i].Bytes()) {
			continue
		}
		for k := range a[i].NumElements() {
			d := tensor.Distance(a[i], b[i], k)
			c.Largest = max(c.Largest, d)
			if !tol.Accepts(a[i], b[i], k) {
				where := fmt.Sprintf("%s %d", kind, i)
				if at := a[i].Shape().Index(k); len(at) > 0 {
					where += fmt.Sprintf(" at %v", at)
				}
				differ(1, "%s: %s against %s (%s)", where, a[i].ElementText(k), b[i].ElementText(k), ulpText(d))
			}
		}
	}
}
