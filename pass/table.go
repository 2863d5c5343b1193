package pass

import (
	"fmt"
	"strings"

	"github.com/hlocb/hlocb/diag"
)

// Table finds passes by name.
type Table struct {
	passes []Pass
	byName map[string]Pass
}

// NewTable returns a table of the given passes. Their fields are the defaults of options, unless a field's tag gives one.
// A name that comes twice is an error.
func NewTable(passes ...Pass) (*Table, error) {
	t := &Table{byName: map[string]Pass{}}
	return t, t.add(passes)
}

func (t *Table) add(passes []Pass) error {
	for _, p := range passes {
		name := p.Info().Name
		if t.byName[name] != nil {
			return fmt.Errorf("pass %q is listed twice", name)
		}
		if _, err := with(p, nil); err != nil {
			return err
		}
		t.byName[name] = p
		t.passes = append(t.passes, p)
	}
	return nil
}

// With returns a table of t's passes and the given ones.
func (t *Table) With(passes ...Pass) (*Table, error) {
	return NewTable(append(append([]Pass(nil), t.passes...), passes...)...)
}

// Passes returns the passes in the order in which they were given.
func (t *Table) Passes() []Pass { return append([]Pass(nil), t.passes...) }

// Names returns the names of the passes.
func (t *Table) Names() []string {
	names := make([]string, len(t.passes))
	for i, p := range t.passes {
		names[i] = p.Info().Name
	}
	return names
}

// Find returns the pass of the given name with its default options. The error suggests names.
func (t *Table) Find(name string) (Pass, error) {
	p := t.byName[name]
	if p == nil {
		return nil, fmt.Errorf("unknown pass %q%s", name, among(name, t.Names()))
	}
	return with(p, nil)
}

// among suggests the name that is closest to a misspelled one, or lists all names if none is close.
func among(name string, names []string) string {
	if s := diag.Closest(name, names); s != "" {
		return fmt.Sprintf("; did you mean %s?", s)
	}
	if len(names) == 0 {
		return ""
	}
	return "; there are: " + strings.Join(names, ", ")
}
