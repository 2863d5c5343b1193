package pass

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/diag"
)

// Table finds passes by name.
type Table struct {
	passes []Pass
	byName map[string]Pass // by name and by alias
}

// NewTable returns a table of the given passes. The fields of a pass are the defaults of its options, unless the
// field's tag has a default. It is an error to repeat a name or an alias.
func NewTable(passes ...Pass) (*Table, error) {
	t := &Table{passes: slices.Clone(passes), byName: map[string]Pass{}}
	for _, p := range passes {
		i := p.Info()
		if err := checkOptions(p); err != nil {
			return nil, err
		}
		for _, name := range append([]string{i.Name}, i.Aliases...) {
			if t.byName[name] != nil {
				return nil, fmt.Errorf("pass %q is listed twice", name)
			}
			t.byName[name] = p
		}
	}
	return t, nil
}

// With returns a table with t's passes and further passes.
func (t *Table) With(passes ...Pass) (*Table, error) {
	return NewTable(slices.Concat(t.passes, passes)...)
}

// Passes returns the passes in the order in which they were added.
func (t *Table) Passes() []Pass { return slices.Clone(t.passes) }

// Names returns the names of the passes.
func (t *Table) Names() []string {
	names := make([]string, len(t.passes))
	for i, p := range t.passes {
		names[i] = p.Info().Name
	}
	return names
}

// Find returns the pass with the given name or alias and its default options. If there is none, the error suggests
// names.
func (t *Table) Find(name string) (Pass, error) {
	p := t.byName[name]
	if p == nil {
		return nil, fmt.Errorf("unknown pass %q%s", name, t.among(name))
	}
	return withOptions(p, nil)
}

// among suggests the name or alias closest to name, or lists all names.
func (t *Table) among(name string) string {
	known := t.Names()
	for _, p := range t.passes {
		known = append(known, p.Info().Aliases...)
	}
	if s := diag.Closest(name, known); s != "" {
		return fmt.Sprintf("; did you mean %s?", s)
	}
	return among(name, t.Names())
}

// among suggests the closest name, or lists all names if none is close.
func among(name string, names []string) string {
	if s := diag.Closest(name, names); s != "" {
		return fmt.Sprintf("; did you mean %s?", s)
	}
	if len(names) == 0 {
		return ""
	}
	return "; there are: " + strings.Join(names, ", ")
}
