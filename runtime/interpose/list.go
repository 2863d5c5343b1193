//go:build cgo

package interpose

import (
	"bytes"
	"cmp"
	"fmt"
	"text/tabwriter"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/probe"
	"github.com/hlocb/hlocb/ir"
)

// list writes the values of a program that can be tapped.
func (i *Interposer) list(m *ir.Module, name string) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "hlocb: values of %s:\n", diag.Escape(name))
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	for _, v := range probe.List(m) {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", diag.Escape(v.Op), diag.Escape(v.Type), diag.Escape(cmp.Or(hook.Frame(v.Loc), "-")))
	}
	w.Flush()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.host.Err.Write(b.Bytes())
}
