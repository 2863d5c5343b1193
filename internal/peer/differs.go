package peer

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
)

//go:embed differs.txt
var differsText string

// difference is a line of differs.txt.
type difference struct {
	version string
	what    *regexp.Regexp
	reason  string
}

var differences = sync.OnceValue(func() (list []difference) {
	for line := range strings.Lines(differsText) {
		if line[0] == '#' {
			continue
		}
		f := strings.SplitN(strings.TrimSpace(line), "\t", 3)
		list = append(list, difference{f[0], regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(f[1]), `\*`, ".*") + "$"), f[2]})
	}
	return list
})

// Differs returns why hlocb differs in something from this version of JAX, as differs.txt says; empty if it must not.
func (p *Interpreter) Differs(what string) string {
	for _, d := range differences() {
		if (d.version == p.version || d.version == "*") && d.what.MatchString(what) {
			return d.reason
		}
	}
	return ""
}
