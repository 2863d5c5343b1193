package handlers

import (
	"fmt"
	"math"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/tensor"
)

// Comparison is what Compare found for one hook, or for the program's results.
type Comparison struct {
	Name     string `json:"name"`            // the hook's, or "results"
	Events   int    `json:"events"`          // that both have
	OnlyA    int    `json:"only_a"`          // further events of A
	OnlyB    int    `json:"only_b"`          // further events of B
	Largest  uint64 `json:"largest_ulps"`    // difference in ULPs, math.MaxUint64 for a NaN against a number
	Elements int    `json:"elements"`        // that differ by more than the tolerance
	First    string `json:"first,omitempty"` // the first of them, empty where there is none
}

// Differs reports whether there is a difference beyond the tolerance.
func (c *Comparison) Differs() bool { return c.First != "" || c.OnlyA > 0 || c.OnlyB > 0 }

// String says it in one line.
func (c *Comparison) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", diag.Escape(c.Name))
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

// Compare aligns two recordings by run, device, hook and occurrence and compares operands, the answers where both
// have them, and the programs' results. Elements may differ by tolerance ULPs. Hooks are listed in the order of
// their first event, the results last.
func Compare(a, b *Recorded, tolerance uint64) []Comparison {
	type stream struct {
		run    int64
		device int
		id     hook.ID
	}
	group := func(r *Recorded) (map[stream][]*RecordedEvent, []stream) {
		m := map[stream][]*RecordedEvent{}
		var order []stream
		for i := range r.Events {
			e := &r.Events[i]
			k := stream{e.Run, e.Device, e.ID}
			if m[k] == nil {
				order = append(order, k)
			}
			m[k] = append(m[k], e)
		}
		return m, order
	}
	inA, order := group(a)
	inB, more := group(b)
	for _, k := range more {
		if inA[k] == nil {
			order = append(order, k)
		}
	}
	var out []Comparison
	at := map[hook.ID]int{}
	for _, k := range order {
		ea, eb := inA[k], inB[k]
		i, ok := at[k.id]
		if !ok {
			i = len(out)
			at[k.id] = i
			name := ""
			if len(ea) > 0 {
				name = ea[0].Hook
			} else {
				name = eb[0].Hook
			}
			out = append(out, Comparison{Name: name})
		}
		c := &out[i]
		n := min(len(ea), len(eb))
		c.Events += n
		c.OnlyA += len(ea) - n
		c.OnlyB += len(eb) - n
		for j := range n {
			where := fmt.Sprintf("event %d", j)
			if k.device != 0 {
				where += fmt.Sprintf(" on device %d", k.device)
			}
			c.values(where+" operand", ea[j].Operands, eb[j].Operands, tolerance)
			if len(ea[j].Results) > 0 && len(eb[j].Results) > 0 {
				c.values(where+" answer", ea[j].Results, eb[j].Results, tolerance)
			}
		}
	}
	if a.Ended && b.Ended {
		c := Comparison{Name: "results", Events: min(len(a.Outputs), len(b.Outputs))}
		c.OnlyA, c.OnlyB = len(a.Outputs)-c.Events, len(b.Outputs)-c.Events
		c.values("result", a.Outputs[:c.Events], b.Outputs[:c.Events], tolerance)
		out = append(out, c)
	}
	return out
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
			differ(0, "%s %d: type %s against %s", what, i, appendType(nil, a[i]), appendType(nil, b[i]))
			continue
		}
		for k := range a[i].NumElements() {
			d := a[i].ULPs(b[i], k)
			c.Largest = max(c.Largest, d)
			if d > tolerance {
				c.Elements++
				if c.First == "" {
					c.First = fmt.Sprintf("%s %d at %v: %s against %s (%s)", what, i, indexOf(a[i].Shape(), k),
						a[i].ElementText(k), b[i].ElementText(k), ulpText(d))
				}
			}
		}
	}
}
