package order

import (
	"fmt"
	"io"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/mlirtext"
)

// Write writes the order of hooks for people. Each hook has a line with the hooks whose events may come immediately
// before its own (see Paths.Chain), and the hooks that precede it only by data (see Paths.Data). Names are escaped.
func Write(w io.Writer, m *hook.Manifest, data []hook.Edge) error {
	names := make(map[hook.ID]string, len(m.Sites))
	for i := range m.Sites {
		names[m.Sites[i].ID] = diag.Escape(m.Sites[i].Name)
	}
	before := func(edges []hook.Edge) map[hook.ID][]string {
		out := map[hook.ID][]string{}
		for _, e := range edges {
			out[e.To] = append(out[e.To], names[e.From])
		}
		return out
	}
	chain, needed := before(m.Edges), before(data)
	for i := range m.Sites {
		s := &m.Sites[i]
		var after []string
		if list := chain[s.ID]; len(list) > 0 {
			after = append(after, "after "+strings.Join(list, ", "))
		}
		if list := needed[s.ID]; len(list) > 0 {
			after = append(after, "by data after "+strings.Join(list, ", "))
		}
		switch {
		case len(after) > 0:
		case s.Chained:
			after = append(after, "first")
		default:
			after = append(after, "unordered")
		}
		if _, err := fmt.Fprintf(w, "%s (%s) %s\n", diag.Escape(s.Name), s.Kind, strings.Join(after, ", ")); err != nil {
			return err
		}
	}
	return nil
}

// WriteDOT writes the order of a module's hooks as a graph in Graphviz's language. Data edges are dashed.
func WriteDOT(w io.Writer, m *hook.Manifest, data []hook.Edge) error {
	var b strings.Builder
	b.WriteString("digraph order {\n")
	for i := range m.Sites {
		s := &m.Sites[i]
		fmt.Fprintf(&b, "  %s [label=%s];\n", mlirtext.Quote(s.ID.String()), mlirtext.Quote(s.Name+" ("+s.Kind.String()+")"))
	}
	arrows := func(edges []hook.Edge, style string) {
		for _, e := range edges {
			fmt.Fprintf(&b, "  %s -> %s%s;\n", mlirtext.Quote(e.From.String()), mlirtext.Quote(e.To.String()), style)
		}
	}
	arrows(m.Edges, "")
	arrows(data, " [style=dashed]")
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}
