package conformance_test

import (
	"fmt"
	"testing"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
)

// TestDotGeneralAsMLIR checks that hlocb accepts the result types of dot_general that jaxlib accepts. The batching
// dimensions of either operand are static, open or bounded; the more specific dimension counts.
func TestDotGeneralAsMLIR(t *testing.T) {
	peer.Each(t, label.Part, checkDotGeneralAsMLIR)
}

func checkDotGeneralAsMLIR(t *testing.T, p *peer.Interpreter) {
	sizes := []struct{ size, bound string }{{"4", ""}, {"7", ""}, {"?", ""}, {"?", "3"}, {"?", "4"}, {"?", "7"}}
	typeOf := func(batch int, rest string) string {
		s := sizes[batch]
		if s.bound != "" {
			return fmt.Sprintf("tensor<%sx%sxf32, #stablehlo.bounds<%s, ?, ?>>", s.size, rest, s.bound)
		}
		return fmt.Sprintf("tensor<%sx%sxf32>", s.size, rest)
	}
	var texts []string
	for l := range sizes {
		for r := range sizes {
			for out := range sizes {
				texts = append(texts, fmt.Sprintf(`func.func @f(%%a: %[1]s, %%b: %[2]s) -> %[3]s {
  %%0 = stablehlo.dot_general %%a, %%b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (%[1]s, %[2]s) -> %[3]s
  return %%0 : %[3]s
}`, typeOf(l, "2x3"), typeOf(r, "3x5"), typeOf(out, "2x5")))
			}
		}
	}
	sameRefusals(t, texts, verdicts(t, p, texts))
}
