package hook

import "testing"

func TestPair(t *testing.T) {
	site := func(id ID, name string) *Site { return &Site{ID: id, Name: name} }
	for _, c := range []struct {
		what string
		a, b []*Site
		want []int // per hook of a the position in b, -1 for none
	}{
		{"the same", []*Site{site(1, "lr"), site(2, "loss")}, []*Site{site(1, "lr"), site(2, "loss")}, []int{0, 1}},
		{"ids by position only, names swapped", []*Site{site(1, "lr"), site(2, "loss")}, []*Site{site(1, "loss"), site(2, "lr")}, []int{1, 0}},
		{"another type", []*Site{site(1, "lr")}, []*Site{site(3, "lr")}, []int{0}},
		{"renamed", []*Site{site(1, "lr")}, []*Site{site(1, "rate")}, []int{-1}},
		{"named since", []*Site{site(1, "hook0")}, []*Site{site(1, "rate")}, []int{0}},
		{"another place", []*Site{site(1, "hook0"), site(2, "hook1")}, []*Site{site(7, "hook0"), site(1, "hook1"), site(2, "hook2")}, []int{1, 2}},
		{"added and removed", []*Site{site(1, "a"), site(2, "b")}, []*Site{site(2, "b"), site(3, "c")}, []int{-1, 0}},
	} {
		pair := Pair(c.a, c.b)
		for i, x := range c.a {
			var want *Site
			if c.want[i] >= 0 {
				want = c.b[c.want[i]]
			}
			if pair[x] != want {
				t.Errorf("%s: the counterpart of %q is %+v, expected %+v", c.what, x.Name, pair[x], want)
			}
		}
	}
}
