package conformance_test

import (
	"testing"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
)

// bracketTexts returns attributes and types of an unregistered dialect with all short sequences of brackets, arrows,
// comparisons and strings, which determine the end of such a text.
func bracketTexts() []string {
	parts := []string{"<", ">", "(", ")", "[", "]", "{", "}", "->", ">=", `">"`, "a", ","}
	bodies, last := []string{""}, []string{""}
	for range 3 {
		var next []string
		for _, b := range last {
			for _, part := range parts {
				next = append(next, b+part)
			}
		}
		bodies, last = append(bodies, next...), next
	}
	var texts []string
	for i, b := range bodies {
		symbol := []string{"#x.y", "!x.y", "#x", "!x"}[i%4]
		texts = append(texts, "module attributes {a.b = "+symbol+"<"+b+"} {}", "module attributes {a.b = "+symbol+"<"+b+">} {}")
	}
	return texts
}

// TestBracketsAsMLIR checks that hlocb refuses the texts of unknown dialects that jaxlib refuses, with jaxlib's
// messages.
func TestBracketsAsMLIR(t *testing.T) {
	peer.Each(t, label.Part, checkBracketsAsMLIR)
}

func checkBracketsAsMLIR(t *testing.T, p *peer.Interpreter) {
	py := p
	texts := bracketTexts()
	if refused := sameRefusals(t, texts, openVerdicts(t, py, texts)); refused == 0 || refused == len(texts) {
		t.Error("all are alike")
	}
}
