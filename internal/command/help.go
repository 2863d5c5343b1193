package command

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hlocb/hlocb/diag"
)

// Annotations of flags: the title of their group in the help, and the name of their value.
const (
	groupKey = "hlocb_group"
	valueKey = "hlocb_value"
	// commonKey marks the flags of the short help.
	commonKey = "hlocb_common"
)

// Group puts the flags that were declared since the last Group under a title of the help. The help shows groups and
// flags in the order of their declaration, and each flag with the name of its value: "`FILE` write to FILE" declares
// a flag "--output FILE".
func Group(c *cobra.Command, title string) {
	c.Flags().SortFlags = false
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Annotations != nil || f.Hidden {
			return
		}
		value := ""
		if quoted, ok := strings.CutPrefix(f.Usage, "`"); ok {
			value, f.Usage, _ = strings.Cut(quoted, "` ")
		}
		f.Annotations = map[string][]string{groupKey: {title}, valueKey: {value}}
	})
}

// Everywhere declares flags of a command and of all its subcommands.
func Everywhere(c *cobra.Command, declare func(*pflag.FlagSet)) {
	f := c.PersistentFlags()
	declare(f)
	f.VisitAll(func(f *pflag.Flag) {
		value := ""
		if quoted, ok := strings.CutPrefix(f.Usage, "`"); ok {
			value, f.Usage, _ = strings.Cut(quoted, "` ")
		}
		f.Annotations = map[string][]string{groupKey: {"Everywhere"}, valueKey: {value}}
	})
}

// Common names the flags that the short help (-h) of a command shows. A command without common flags shows all.
func Common(c *cobra.Command, names ...string) {
	for _, name := range names {
		c.Flags().Lookup(name).Annotations[commonKey] = []string{""}
	}
}

// hasCommon reports whether a command has common flags.
func hasCommon(c *cobra.Command) (found bool) {
	c.Flags().VisitAll(func(f *pflag.Flag) { found = found || f.Annotations[commonKey] != nil })
	return found
}

// WriteShortHelp writes what a command does, its usage, examples and common flags.
func WriteShortHelp(w io.Writer, c *cobra.Command, width int) {
	if !hasCommon(c) {
		WriteHelp(w, c, width)
		return
	}
	lead, _, _ := strings.Cut(c.Long, "\n\n")
	fmt.Fprintf(w, "%s\n\nUsage: %s\n", Wrap(lead, width), usage(c))
	if c.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", c.Example)
	}
	fmt.Fprint(w, "\nCommon flags:\n")
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Annotations[commonKey] != nil {
			writeFlag(w, f, width)
		}
	})
	fmt.Fprintf(w, "\n%s\n", Wrap(fmt.Sprintf("'%s --help' explains more and lists all flags.", c.CommandPath()), width))
}

// grouped reports whether the help of a command shows groups of flags.
func grouped(c *cobra.Command) (found bool) {
	c.Flags().VisitAll(func(f *pflag.Flag) { found = found || f.Annotations[groupKey] != nil && !f.Hidden })
	return found
}

// flagColumn is the column of the descriptions of flags.
const flagColumn = 29

// writeFlags writes the groups of a command's flags.
func writeFlags(w io.Writer, c *cobra.Command, width int) {
	last := ""
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		if title := append(f.Annotations[groupKey], "Flags")[0]; title != last {
			fmt.Fprintf(w, "\n%s:\n", title)
			last = title
		}
		writeFlag(w, f, width)
	})
}

func writeFlag(w io.Writer, f *pflag.Flag, width int) {
	head := "      --"
	if f.Shorthand != "" {
		head = "  -" + f.Shorthand + ", --"
	}
	head += f.Name
	if v := f.Annotations[valueKey]; len(v) > 0 && v[0] != "" {
		if optionalValue(f) {
			head += "[=" + v[0] + "]"
		} else {
			head += " " + v[0]
		}
	}
	usage := f.Usage
	switch f.DefValue {
	case "", "[]", "0", "-1", "0s", "false":
	default:
		usage += " (default " + f.DefValue + ")"
	}
	rest := strings.Repeat(" ", flagColumn)
	if len(head) > flagColumn-2 {
		fmt.Fprintln(w, head)
		head = rest
	}
	for _, line := range hang(head+strings.Repeat(" ", flagColumn-len(head)), rest, strings.Fields(usage), width) {
		fmt.Fprintln(w, line)
	}
}

// optionalValue reports whether the value of a flag may be missing. A '=' then separates name and value.
func optionalValue(f *pflag.Flag) bool { return f.NoOptDefVal != "" && f.Value.Type() != "bool" }

// WriteHelp writes the help of a command: what it does, its usage, examples, subcommands and flags.
func WriteHelp(w io.Writer, c *cobra.Command, width int) {
	long := c.Long
	if long == "" {
		long = c.Short + "."
	}
	lead, more, _ := strings.Cut(long, "\n\n")
	fmt.Fprintf(w, "%s\n", Wrap(lead, width))
	if c.Runnable() || c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\nUsage: %s\n", usage(c))
	}
	if more != "" && !c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n%s\n", Wrap(more, width))
	}
	if c.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", c.Example)
	}
	writeCommands(w, c, width)
	if more != "" && c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n%s\n", Wrap(more, width))
	}
	writeFlags(w, c, width)
}

// usage returns the command line of a command: "hlocb run IN [flags]".
func usage(c *cobra.Command) string {
	if c.HasAvailableSubCommands() {
		return c.CommandPath() + " COMMAND [flags]"
	}
	if !grouped(c) {
		return strings.TrimSuffix(c.UseLine(), " [flags]")
	}
	return c.UseLine()
}

func writeCommands(w io.Writer, c *cobra.Command, width int) {
	if !c.HasAvailableSubCommands() {
		return
	}
	groups := c.Groups()
	if len(groups) == 0 {
		groups = []*cobra.Group{{Title: "Commands:"}}
	}
	fmt.Fprintln(w)
	for _, g := range groups {
		fmt.Fprintln(w, g.Title)
		for _, sub := range c.Commands() {
			if sub.GroupID == g.ID && (sub.IsAvailableCommand() || sub.Name() == "help") {
				head := fmt.Sprintf("  %-11s ", sub.Name())
				fmt.Fprintln(w, strings.Join(hang(head, strings.Repeat(" ", len(head)), strings.Fields(sub.Short), width), "\n"))
			}
		}
	}
}

// Closest returns the names that are most similar to name.
func Closest(name string, names []string) []string {
	var out []string
	best := min(max(1, len(name)/3)+1, len(name)) // closer than this
	for _, n := range names {
		d := diag.Distance(strings.ToLower(name), strings.ToLower(n), best+1)
		if len(name) > 2 && strings.HasPrefix(n, name) {
			d = min(d, 1)
		}
		switch {
		case d < best:
			best, out = d, []string{n}
		case d == best && len(out) > 0 && !slices.Contains(out, n):
			out = append(out, n)
		}
	}
	return out
}

// Suggest returns "; did you mean NAME?" for the closest names, or nothing.
func Suggest(name string, names []string) string {
	if list := Closest(name, names); len(list) > 0 && len(list) < 4 {
		return fmt.Sprintf("; did you mean %s?", OneOf(list))
	}
	return ""
}

// OneOf lists the alternatives: "a, b or c".
func OneOf(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
	return strings.Join(names, "")
}
