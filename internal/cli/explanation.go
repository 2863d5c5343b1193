package cli

import (
	"fmt"
	"strings"

	hookformat "github.com/hlocb/hlocb/hook/format"

	"github.com/hlocb/hlocb/hook"
)

// explanation returns the reasons for the conversion of a hook, one sentence each. data is the order that only data
// imposes.
func explanation(s *hook.Site, m *hook.Manifest, data []hook.Edge, aliases []hook.AliasReport) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, f := range hookformat.Builtin().Readers() {
		if f.Name == s.Format {
			say("recognized as %s: %s", f.Name, f.Doc)
		}
	}
	switch s.Kind {
	case hook.Tap:
		say("a tap: the host only observes the operands")
	case hook.InOut:
		say("inout: each result is an operand, which the host may write in place")
	case hook.Call:
		say("a call: the host computes the results, so running needs a handler")
	case hook.Feed:
		say("a feed: the host supplies the results and gets no operands, so running needs a handler")
	}
	if strings.HasPrefix(s.Name, "hook") && s.Format != hookformat.OwnName {
		say("the name %s counts the hooks in program order, unless the source states it; hlocb keeps names of the source", s.Name)
	}
	if s.SourceID != "" {
		say("its source id %s is valid in the source's own process only, so the call does not contain it", s.SourceID)
	}
	if s.Format == hookformat.OwnName {
		say("its id %s is in the module and stays", s.ID)
	} else {
		say("its id %s is a hash of its function, format, types, stated name and place among equal hooks; it is the same on every machine", s.ID)
	}
	switch {
	case !s.SideEffect:
		say("not ordered: it has no side effect, so a compiler may move it, or remove it if nothing needs it")
	case !s.Chained:
		say("not chained: neither the source nor --order puts it after another hook")
	default:
		before := sources(m, m.Edges, s.ID)
		say("chained by operand 0 and result 0, because compilers reorder side effects that no data connects")
		if len(before) > 0 {
			say("its events come after the events of %s", strings.Join(before, ", "))
		} else {
			say("it is the first of its chain")
		}
	}
	if before := sources(m, data, s.ID); len(before) > 0 {
		say("it needs a value from %s, so its events follow theirs with every --order", strings.Join(before, ", "))
	}
	for _, a := range aliases {
		if a.Hook != s.ID {
			continue
		}
		switch {
		case a.Verdict == hook.AliasRefused:
			say("result %d has separate memory: %s", a.Result, a.Reason)
		case s.Kind == hook.Tap:
			say("operand %d is passed through as result %d, which later ops use; otherwise XLA computes it twice (%s)", a.Operand, a.Result, a.Reason)
		case a.Verdict == hook.AliasCopied:
			say("result %d shares the memory of operand %d after a copy: %s", a.Result, a.Operand, a.Reason)
		default:
			say("result %d shares the memory of operand %d for free: %s", a.Result, a.Operand, a.Reason)
		}
	}
	return out
}

// sources returns the names of the hooks from which an edge leads to a hook.
func sources(m *hook.Manifest, edges []hook.Edge, to hook.ID) []string {
	var names []string
	for _, e := range edges {
		if e.To == to {
			if from := m.Find(e.From); from != nil {
				names = append(names, from.Name)
			}
		}
	}
	return names
}
