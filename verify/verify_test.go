package verify_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
	"github.com/hlocb/hlocb/verify"
)

func floats(d tensor.DType, values ...float64) *tensor.Tensor {
	t := tensor.New(d, tensor.Shape{int64(len(values))})
	for i, v := range values {
		t.SetFloat(i, v)
	}
	return t
}

func TestTolerance(t *testing.T) {
	next := float64(math.Nextafter32(1, 2))
	tests := []struct {
		tol  string
		d    tensor.DType
		a, b float64
		want bool
	}{
		{"", tensor.F32, 1, next, false},
		{"", tensor.F32, 0, math.Copysign(0, -1), false},
		{"", tensor.F32, math.NaN(), math.NaN(), true},
		{"0", tensor.F32, 0, math.Copysign(0, -1), true},
		{"0", tensor.F32, 1, next, false},
		{"1", tensor.F32, 1, next, true},
		{"1000", tensor.F32, math.NaN(), 1, false},
		{"abs:0.5", tensor.F32, 1, 1.5, true},
		{"abs:0.5", tensor.F32, 1, 1.75, false},
		{"abs:1e+30", tensor.F32, math.Inf(1), 1, false},
		{"rel:0.1", tensor.F32, 100, 109, true},
		{"rel:0.1", tensor.F32, 100, 112, false},
		{"rel:0.1", tensor.Complex64, 100, 109, true},
		{"rel:0.5", tensor.I32, 100, 101, false}, // integers are always exact
	}
	for _, tt := range tests {
		tol, err := verify.ParseTolerance(tt.tol)
		if err != nil {
			t.Fatal(err)
		}
		if got := tol.Accepts(floats(tt.d, tt.a), floats(tt.d, tt.b), 0); got != tt.want {
			t.Errorf("%q accepts %v and %v of %s: %v", tt.tol, tt.a, tt.b, tt.d, got)
		}
		if tol.String() != tt.tol {
			t.Errorf("%q is written as %q", tt.tol, tol)
		}
	}
	for _, bad := range []string{"-1", "abs:", "rel:-1", "rel:nan", "1.5", "x"} {
		if _, err := verify.ParseTolerance(bad); err == nil {
			t.Errorf("%q is accepted as a tolerance", bad)
		}
	}
}

func TestCompareCounts(t *testing.T) {
	a := floats(tensor.F32, 1, 2, 3, math.NaN(), 5)
	b := floats(tensor.F32, 1, 2, 3.5, 4, float64(math.Nextafter32(5, 6)))
	c := verify.Compare(a, b, verify.ULPs(1))
	if c.Different != 2 || c.NaN != 1 || c.First.Index[0] != 2 || c.MaxULP != 1<<21 || c.MaxAbs != 0.5 {
		t.Errorf("compared as %+v", c)
	}
	n := 0
	for _, h := range c.Histogram {
		n += h.Count
	}
	if n != 4 {
		t.Errorf("histogram %v counts %d elements, expected 4", c.Histogram, n)
	}
	if c := verify.Compare(a, floats(tensor.F64, 1), verify.ULPs(1)); c.Equal() {
		t.Error("tensors of different types are equal")
	}
}

// TestFillHasEdges: a tensor with enough elements has every edge value, and all codes are values of the type.
func TestFillHasEdges(t *testing.T) {
	for d := tensor.I1; d < tensor.Complex64; d++ {
		edges := verify.EdgeBits(d)
		v := tensor.New(d, tensor.Shape{64})
		verify.Fill(v, rand.New(rand.NewPCG(1, 2)), verify.Edges)
		have := map[uint64]bool{}
		for i := range 64 {
			have[v.Bits(i)] = true
		}
		for _, e := range edges {
			if !have[e] {
				t.Errorf("%s: edge value %#x is missing", d, e)
			}
		}
		if d.IsFloat() && d != tensor.F8E8M0FNU {
			// The smallest normal number has the spacing of the one before it, but not of the second binade.
			one := tensor.EncodeFloat(d, 2) - tensor.EncodeFloat(d, 1)
			normal := tensor.DecodeFloat(d, one)
			if frac, _ := math.Frexp(normal); frac != 0.5 {
				t.Errorf("%s: smallest normal number is %v", d, normal)
			}
		}
	}
}

func event(s *hook.Site, values ...float64) verify.Event {
	return verify.Event{Site: s, Operands: []*tensor.Tensor{floats(tensor.F32, values...)}}
}

// TestCompareOrderPastSilentHooks: the order of two hooks counts if only a hook that does not fire stands between them.
func TestCompareOrderPastSilentHooks(t *testing.T) {
	m := &hook.Manifest{Sites: []hook.Site{{ID: 1, Name: "a", SideEffect: true}, {ID: 2, Name: "in the loop", SideEffect: true}, {ID: 3, Name: "b", SideEffect: true}},
		Edges: []hook.Edge{{From: 1, To: 2}, {From: 2, To: 2}, {From: 2, To: 3}}}
	a, in, b := &m.Sites[0], &m.Sites[1], &m.Sites[2]
	for _, c := range []struct {
		name          string
		first, second []verify.Event
		equal         bool
	}{
		{"the same", []verify.Event{event(a), event(b)}, []verify.Event{event(a), event(b)}, true},
		{"no trip", []verify.Event{event(a), event(b)}, []verify.Event{event(b), event(a)}, false},
		{"trips", []verify.Event{event(a), event(in), event(b)}, []verify.Event{event(a), event(b), event(in)}, false},
	} {
		if got := verify.CompareEvents(m, m, c.first, c.second, verify.Tolerance{}); got.Equal() != c.equal {
			t.Errorf("%s: equal is %v: %+v", c.name, got.Equal(), got.First)
		}
	}
	trip := func(list ...hook.Site) *handlers.Recording {
		r := program([][2]hook.ID{{1, 2}, {2, 3}}, m.Sites...)
		all := r.Events
		r.Events = nil
		for _, s := range list {
			r.Events = append(r.Events, all[s.ID-1])
		}
		return r
	}
	if got := compare(trip(*a, *b), trip(*b, *a)); !strings.Contains(got, "a before b in the first, after it in the second") {
		t.Errorf("recordings without trips: %s", got)
	}
}

func TestCompareEvents(t *testing.T) {
	sites := func() *hook.Manifest {
		return &hook.Manifest{Sites: []hook.Site{{ID: 1, Name: "a", SideEffect: true}, {ID: 2, Name: "b", SideEffect: true}, {ID: 3, Name: "pure"}},
			Edges: []hook.Edge{{From: 1, To: 2}}}
	}
	m, free := sites(), sites()
	free.Edges = nil
	other := sites()
	other.Sites[0].ID = 77 // paired by name
	a, b, pure := &m.Sites[0], &m.Sites[1], &m.Sites[2]
	oa, ob := &other.Sites[0], &other.Sites[1]
	run := []verify.Event{event(a, 1), event(pure, 9), event(b, 2), event(a, 3)}
	tests := []struct {
		name  string
		m     *hook.Manifest
		other []verify.Event
		equal bool
	}{
		{"same", m, []verify.Event{event(oa, 1), event(ob, 2), event(oa, 3)}, true},
		{"value", m, []verify.Event{event(oa, 1), event(ob, 2), event(oa, 4)}, false},
		{"order", m, []verify.Event{event(ob, 2), event(oa, 1), event(oa, 3)}, false},
		{"missing", m, []verify.Event{event(oa, 1), event(ob, 2)}, false},
		{"extra", m, []verify.Event{event(oa, 1), event(ob, 2), event(oa, 3), event(ob, 2)}, false},
	}
	for _, tt := range tests {
		if c := verify.CompareEvents(tt.m, other, run, tt.other, verify.Tolerance{}); c.Equal() != tt.equal {
			t.Errorf("%s: equal is %v: %+v", tt.name, c.Equal(), c.First)
		}
	}
	// If the program imposes no order, none is required.
	fa, fb := &free.Sites[0], &free.Sites[1]
	if c := verify.CompareEvents(free, other, []verify.Event{event(fa, 1), event(fb, 2)}, []verify.Event{event(ob, 2), event(oa, 1)}, verify.Tolerance{}); !c.Equal() {
		t.Errorf("order is required although none is imposed: %+v", c.First)
	}
}
