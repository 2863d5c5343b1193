package alias_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/internal/hook/alias"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// short matches a hook of a case, 'tap name(operands) alias[0] : type', whose aliases may be absent, and long the
// attributes of the op that it stands for.
var (
	short = regexp.MustCompile(`\b(tap|call) (\w+)\((.*?)\)(?: alias\[(.*?)\])? :`)
	long  = regexp.MustCompile(`"hlocb.hook"\((.*)\) <\{(.*?)format = "target", has_side_effect, id = \d+ : i64, kind = "(\w+)", name = "(\w+)"\}> :`)
)

// TestDecide: the cases say which results share memory and why, and how taps change the program. The result is a line
// per result of a hook, then the program. The comment 'mode: free' or 'mode: none' sets the mode.
func TestDecide(t *testing.T) {
	golden.Texts(t, "testdata/*.txtar", func(t *testing.T, name, text string) string {
		mode := hook.AliasAll
		if _, after, ok := strings.Cut(text, "// mode: "); ok {
			word, _, _ := strings.Cut(after, "\n")
			if err := mode.UnmarshalText([]byte(word)); err != nil {
				t.Fatal(err)
			}
		}
		id := 0
		m := testkit.Parse(t, name, short.ReplaceAllStringFunc(text, func(s string) string {
			id++
			p := short.FindStringSubmatch(s)
			aliases := ""
			if p[4] != "" {
				aliases = "aliases = array<i64: " + p[4] + ">, "
			}
			return fmt.Sprintf(`"hlocb.hook"(%s) <{%sformat = "target", has_side_effect, id = %d : i64, kind = "%s", name = "%s"}> :`, p[3], aliases, id, p[1], p[2])
		}))
		var out strings.Builder
		reports, err := alias.Decide(t.Context(), m, mode)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range reports {
			fmt.Fprintf(&out, "%s result %d of %d bytes: operand %d, %s: %s", r.Name, r.Result, r.Bytes, r.Operand, r.Verdict, r.Reason)
			if r.Maybe {
				out.WriteString(" (perhaps not)")
			}
			out.WriteString("\n")
		}
		if err := ir.Verify(m); err != nil {
			t.Error(err)
		}
		out.WriteString(long.ReplaceAllString(print.String(m, print.Options{}), "$3 $4($1) {$2} :"))
		return out.String()
	})
}
