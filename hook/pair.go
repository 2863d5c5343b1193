package hook

import "strings"

// Index finds the counterparts of hooks among the hooks of one program.
type Index struct {
	exact  map[identity]*Site
	byID   map[ID]*Site
	byName map[string]*Site
}

type identity struct {
	id   ID
	name string
}

// NewIndex returns an index of the sites of a program.
func NewIndex(sites []*Site) *Index {
	x := &Index{map[identity]*Site{}, map[ID]*Site{}, map[string]*Site{}}
	for _, s := range sites {
		x.exact[identity{s.ID, s.Name}] = s
		x.byID[s.ID] = s
		if !s.Unnamed() {
			x.byName[s.Name] = s
		}
	}
	return x
}

// Find returns the counterpart of s: the hook with the same id, unless both have different names of their own, and
// otherwise the hook with the same name. It returns nil if there is none.
func (x *Index) Find(s *Site) *Site {
	if y := x.exact[identity{s.ID, s.Name}]; y != nil {
		return y
	}
	if y := x.byID[s.ID]; y != nil && (s.Unnamed() || y.Unnamed()) {
		return y
	}
	if s.Unnamed() {
		return nil
	}
	return x.byName[s.Name]
}

// Pair maps each hook of a program to its counterpart in another program. A hook is the counterpart of at most one
// hook. A hook without a counterpart is not in the map.
func Pair(a, b []*Site) map[*Site]*Site {
	x := NewIndex(b)
	pair := map[*Site]*Site{}
	taken := map[*Site]bool{}
	for _, exact := range []bool{true, false} {
		for _, s := range a {
			if y := x.Find(s); y != nil && !taken[y] && pair[s] == nil && (!exact || y.ID == s.ID && y.Name == s.Name) {
				pair[s], taken[y] = y, true
			}
		}
	}
	return pair
}

// Unnamed reports whether the hook's name is a name that hlocb generates: hook0, hook1#2.
func (s *Site) Unnamed() bool {
	rest, ok := strings.CutPrefix(s.Name, "hook")
	rest, _, _ = strings.Cut(rest, "#")
	return ok && rest != "" && strings.Trim(rest, "0123456789") == ""
}
