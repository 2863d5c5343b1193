package words

import (
	"slices"
	"testing"
)

func TestSplit(t *testing.T) {
	for text, want := range map[string][]string{
		"":                       nil,
		" a  b\tc ":              {"a", "b", "c"},
		`run 'a b' "it's" x'y'z`: {"run", "a b", "it's", "xyz"},
		`a '' b`:                 {"a", "", "b"},
	} {
		if got, err := Split(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("Split(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
	if _, err := Split(`a 'b`); err == nil || err.Error() != "unterminated ' in the command" {
		t.Errorf("an open quote: %v", err)
	}
}
