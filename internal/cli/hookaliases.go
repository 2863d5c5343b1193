package cli

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
)

// compiledAlias describes the alias in a compiled program, for comparison with the prediction.
type compiledAlias struct {
	Calls  int  `json:"calls"`  // of the hook in the compiled program
	Copies int  `json:"copies"` // calls before which the operand is copied
	Lost   int  `json:"lost"`   // calls that have no alias
	Agrees bool `json:"agrees"` // with the prediction
}

// aliasLine is one row of 'hlocb hooks --show aliases'.
type aliasLine struct {
	hook.AliasReport
	Compiled *compiledAlias `json:"compiled,omitempty"`
}

// String describes the compiled alias in a few words.
func (c *compiledAlias) String() string {
	switch {
	case c == nil:
		return "-"
	case c.Calls == 0:
		return "no call left"
	case c.Lost > 0:
		return fmt.Sprintf("lost in %d of %d calls", c.Lost, c.Calls)
	case c.Copies == 0:
		return "kept"
	case c.Copies == c.Calls:
		return "copy"
	}
	return fmt.Sprintf("copy in %d of %d calls", c.Copies, c.Calls)
}

// predictedAliases returns the predictions of p without compiled aliases.
func predictedAliases(p *hlocb.Program) []aliasLine {
	if p.Rewritten() == nil {
		return nil // a compiled program states its aliases only
	}
	reports := p.Rewritten().Aliases
	lines := make([]aliasLine, len(reports))
	for i, report := range reports {
		lines[i].AliasReport = report
	}
	return lines
}

// compiledAliases compiles a program and returns each predicted alias with the compiled one. A refused alias is not
// in the program, so it has no compiled one.
func (a *app) compiledAliases(ctx context.Context, plugin string, p *hlocb.Program) (lines []aliasLine, described string, err error) {
	lines = predictedAliases(p)
	if plugin == "" {
		return lines, "", nil
	}
	s, err := a.open(ctx, p, plugin, a.backendOptions(), 0)
	if err != nil {
		return nil, "", err
	}
	defer s.backend.Close()
	exe, err := s.compileOnly(ctx, runtime.MemoryUse{DevicePointers: true}) // with host views, calls would not share memory
	if err != nil {
		return nil, "", err
	}
	viewer, ok := exe.Runtime().(runtime.AliasViewer)
	if !ok {
		return nil, "", errors.Join(usagef("backend %s does not report the aliases of compiled programs", s.backend.Name()), exe.Close())
	}
	uses, err := viewer.AliasUses()
	if err := errors.Join(err, exe.Close()); err != nil {
		return nil, "", err
	}
	type key struct {
		hook   hook.ID
		result int
	}
	byResult := map[key]runtime.AliasUse{}
	for _, u := range uses {
		byResult[key{u.Hook, u.Result}] = u
	}
	for i := range lines {
		l := &lines[i]
		u, ok := byResult[key{l.Hook, l.Result}]
		if !ok || l.Operand < 0 {
			continue
		}
		l.Compiled = &compiledAlias{u.Calls, u.Copies, u.Lost, l.Holds(u.Calls, u.Copies, u.Lost)}
	}
	return lines, s.backend.Describe(), nil
}

// aliasTable writes the predictions and, if a plugin compiled the program, the compiled aliases.
func (a *app) aliasTable(lines []aliasLine, plugin string) error {
	if len(lines) == 0 {
		fmt.Fprintln(a.Out, "no results")
		return nil
	}
	w := tabwriter.NewWriter(a.Out, 0, 8, 2, ' ', 0)
	head := "HOOK\tRESULT\tOPERAND\tBYTES\tPREDICTED\tWHY"
	if plugin != "" {
		head = "HOOK\tRESULT\tOPERAND\tBYTES\tPREDICTED\tCOMPILED\t\tWHY"
	}
	fmt.Fprintln(w, head)
	var predicted, compiled int64
	differ, compared := 0, 0
	for _, l := range lines {
		operand := "-"
		if l.Operand >= 0 {
			operand = fmt.Sprint(l.Operand)
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%s\t", diag.Escape(l.Name), l.Result, operand, l.Bytes, l.Verdict)
		if plugin != "" {
			mark := ""
			if c := l.Compiled; c != nil {
				compared++
				if !c.Agrees {
					differ++
					mark = "differs"
				}
				if l.Bytes > 0 {
					compiled += l.Bytes * int64(c.Copies)
					if l.Verdict == hook.AliasCopied {
						predicted += l.Bytes * int64(c.Calls)
					}
				}
			}
			fmt.Fprintf(w, "%s\t%s\t", l.Compiled, mark)
		}
		fmt.Fprintln(w, diag.EscapeLines(l.Reason))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if plugin != "" {
		fmt.Fprintf(a.Out, "\n%d of %d as predicted; %d bytes copied once per call, %d predicted\n", compared-differ, compared, compiled, predicted)
	}
	return nil
}
