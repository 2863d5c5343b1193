package verify_test

import (
	"math"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
	"github.com/hlocb/hlocb/verify"
)

// program is a recording of hooks that fire in their order.
func program(order [][2]hook.ID, sites ...hook.Site) *handlers.Recording {
	r := &handlers.Recording{Header: handlers.Header{Version: handlers.RecordingVersion, Manifest: &hook.Manifest{Sites: sites}}, Ended: true}
	for _, e := range order {
		r.Header.Manifest.Edges = append(r.Header.Manifest.Edges, hook.Edge{From: e[0], To: e[1]})
	}
	for i, s := range sites {
		e := handlers.Event{Seq: int64(i), Run: 1, Hook: s.Name, ID: s.ID, Kind: s.Kind, Operands: []*tensor.Tensor{floats(tensor.F32, 1)}}
		r.Events = append(r.Events, e)
	}
	return r
}

func compare(a, b *handlers.Recording) string {
	var lines []string
	for _, c := range verify.CompareRecordings(a, b, verify.ULPs(0)) {
		if c.Differs() {
			lines = append(lines, c.String())
		}
	}
	return strings.Join(lines, "\n")
}

// TestCompareHooks: hooks that are missing, added or moved are named.
func TestCompareHooks(t *testing.T) {
	site := func(id hook.ID, name string) hook.Site { return hook.Site{ID: id, Name: name, Kind: hook.Tap} }
	open, commit, other := site(1, "open"), site(2, "commit"), site(3, "other")
	chain := [][2]hook.ID{{1, 2}}
	for _, c := range []struct {
		what string
		a, b *handlers.Recording
		want string
	}{
		{"the same", program(chain, open, commit), program(chain, open, commit), ""},
		{"moved", program(chain, open, commit), program([][2]hook.ID{{2, 1}}, commit, open), "order: moved, first event 0: open before commit in the first, after it in the second"},
		{"not ordered by both", program(chain, open, commit), program(nil, commit, open), ""},
		{"missing and added", program(chain, open, commit), program(nil, commit, other), "open: missing in the second, 1 event in the first\nother: added in the second, 1 event"},
		{"ids by position", program(chain, open, commit), program([][2]hook.ID{{1, 2}}, site(1, "commit"), site(2, "open")), "order: moved, first event 0: open before commit in the first, after it in the second"},
	} {
		if got := compare(c.a, c.b); got != c.want {
			t.Errorf("%s:\n%s\nexpected\n%s", c.what, got, c.want)
		}
	}
}

// TestCompareValues: a recording is compared by any tolerance.
func TestCompareValues(t *testing.T) {
	recorded := func(d tensor.DType, values ...float64) *handlers.Recording {
		return &handlers.Recording{Ended: true, Outputs: []*tensor.Tensor{floats(d, values...)}}
	}
	a := recorded(tensor.F64, 1, 100, 0)
	for _, c := range []struct {
		b    *handlers.Recording
		tol  verify.Tolerance
		want string
	}{
		{recorded(tensor.F64, 1, 101, 0), verify.Relative(0.01), ""},
		{recorded(tensor.F64, 1, 101, 0), verify.Absolute(0.5), "results: 1 compared, differ in 1 element, first result 0 at [1]: 100. against 101. (70368744177664 ULPs), largest difference 70368744177664 ULPs"},
		{recorded(tensor.F64, 1, 100, math.Copysign(0, -1)), verify.ULPs(0), ""},
		{recorded(tensor.F64, 1, 100, math.Copysign(0, -1)), verify.Tolerance{}, "results: 1 compared, differ in 1 element, first result 0 at [2]: 0. against -0. (0 ULPs), largest difference 0 ULPs"},
		{recorded(tensor.F64, 1, math.NaN(), 0), verify.Relative(1), "results: 1 compared, differ in 1 element, first result 0 at [1]: 100. against nan (NaN against a number), largest difference NaN against a number"},
		{recorded(tensor.F32, 1, 100, 0), verify.Relative(1), "results: 1 compared, differ in 0 elements, first result 0: type tensor<3xf64> against tensor<3xf32>, largest difference 0 ULPs"},
	} {
		got := ""
		for _, r := range verify.CompareRecordings(a, c.b, c.tol) {
			if r.Differs() {
				got += r.String()
			}
		}
		if got != c.want {
			t.Errorf("%s:\n%s\nexpected\n%s", c.tol, got, c.want)
		}
	}
}
