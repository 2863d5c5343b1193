package hook

import (
	"fmt"
	"io"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/hlocb"
	"github.com/hlocb/hlocb/ir"
)

// WriteOrder writes the order of a module's hooks for people: each hook and those whose events may come right
// before its own. Names are escaped.
func WriteOrder(w io.Writer, m *hlocb.Manifest) error {
	names, before := make(map[hlocb.ID]string, len(m.Sites)), map[hlocb.ID][]string{}
	for i := range m.Sites {
		names[m.Sites[i].ID] = diag.Escape(m.Sites[i].Name)
	}
	for _, e := range m.Edges {
		before[e.To] = append(before[e.To], names[e.From])
	}
	for i := range m.Sites {
		s := &m.Sites[i]
		after := ""
		for k, name := range before[s.ID] {
			if k > 0 {
				after += ", "
			} else {
				after = " after "
			}
			after += name
		}
		if !s.Chained {
			after = " unordered"
		} else if after == "" {
			after = " first"
		}
		if _, err := fmt.Fprintf(w, "%s (%s)%s\n", diag.Escape(s.Name), s.Kind, after); err != nil {
			return err
		}
	}
	return nil
}

// WriteOrderDOT writes the order of a module's hooks as a graph in the language of Graphviz.
func WriteOrderDOT(w io.Writer, m *hlocb.Manifest) error {
	if _, err := fmt.Fprintln(w, "digraph order {"); err != nil {
		return err
	}
	for i := range m.Sites {
		s := &m.Sites[i]
		if _, err := fmt.Fprintf(w, "  %s [label=%s];\n", ir.Quote(s.ID.String()), ir.Quote(s.Name+" ("+s.Kind.String()+")")); err != nil {
			return err
		}
	}
	for _, e := range m.Edges {
		if _, err := fmt.Fprintf(w, "  %s -> %s;\n", ir.Quote(e.From.String()), ir.Quote(e.To.String())); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, "}")
	return err
}
