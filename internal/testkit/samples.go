package testkit

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/ir"
)

// A Sample is an op of a file of testdata/ops with its name.
type Sample struct{ Op, header, text string }

var (
	sampleOp   = regexp.MustCompile(`(?m)^    \S.*\n(?:^(?:      |    [})^]| {5}reducer).*\n)*`)
	sampleName = regexp.MustCompile(`"?(\w+\.[\w-]+)`)
	sampleOut  = regexp.MustCompile(`^    (%\w+)(?::\d+)? = `)
)

// Samples returns the ops of a file of testdata/ops whose operands are arguments of their function.
func Samples(t testing.TB, file string) []Sample {
	t.Helper()
	var out []Sample
	for _, text := range Texts(t, "ops/"+file) {
		for _, f := range strings.Split(text, "\n  func.func ")[1:] {
			header, body, _ := strings.Cut(f, "\n")
			if i := strings.LastIndex(header, " -> "); i > 0 {
				header = header[:i] + " {"
			}
			for _, o := range sampleOp.FindAllString(body, -1) {
				name := sampleName.FindStringSubmatch(o)
				if name == nil {
					continue
				}
				s := Sample{name[1], "func.func " + strings.TrimPrefix(header, "private "), o}
				if m, err := TryParse(file, s.Text()); err == nil && ir.Verify(m) == nil {
					out = append(out, s)
				}
			}
		}
	}
	return out
}

// Text returns a module with a function that executes the op and returns nothing.
func (s Sample) Text() string { return s.header + "\n" + s.text + "    return\n}\n" }

// Main returns a module whose public function main returns the op's results.
func (s Sample) Main(t testing.TB) string {
	t.Helper()
	name := regexp.MustCompile(`^func\.func @\w+`)
	var types, values []string
	if out := sampleOut.FindStringSubmatch(s.text); out != nil {
		op := Parse(t, "sample.mlir", s.Text()).Body().First().Region(0).Blocks()[0].First()
		for i, r := range op.Results() {
			types = append(types, r.Type().String())
			value := out[1]
			if op.NumResults() > 1 {
				value += "#" + string(rune('0'+i))
			}
			values = append(values, value)
		}
	}
	header := name.ReplaceAllString(strings.TrimSuffix(s.header, "{"), "func.func public @main")
	if len(types) == 0 {
		return header + "{\n" + s.text + "    return\n}\n"
	}
	return header + "-> (" + strings.Join(types, ", ") + ") {\n" + s.text + "    return " + strings.Join(values, ", ") + " : " + strings.Join(types, ", ") + "\n}\n"
}
