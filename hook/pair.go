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

// Find returns the counterpart of s: the hook with the same id, unless the module names both differently, and otherwise
// the hook with the same name. It returns nil if there is none.
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

// Unnamed reports whether the hook's name is a name that hlocb generates: hook0, train.py:41, either with #2.
func (s *Site) Unnamed() bool {
	name, _, _ := strings.Cut(s.Name, "#")
	if rest, ok := strings.CutPrefix(name, "hook"); ok {
		return rest != "" && strings.Trim(rest, "0123456789") == ""
	}
	file, line, ok := strings.Cut(name, ":")
	if !ok || file == "" || line == "" || strings.Trim(line, "0123456789") != "" {
		return false
	}
	place, ok := PlaceOf(s.Loc)
	return s.Loc == "" || ok && place.HookName() == name
}
