package command

import "testing"

// TestClip: a line that a terminal would wrap is cut to its columns; escape sequences take none, and the line still
// ends what it began.
func TestClip(t *testing.T) {
	for _, c := range []struct {
		line    string
		columns int
		want    string
	}{
		{"abc\n", 3, "abc\n"},
		{"abcd\n", 3, "ab…\n"},
		{"größe", 5, "größe"},
		{"größer", 5, "größ…"},
		{"\x1b[1mname\x1b[0m kind\n", 9, "\x1b[1mname\x1b[0m kind\n"},
		{"\x1b[1mname\x1b[0m kind\n", 8, "\x1b[1mname\x1b[0m ki…\n"},
		{"\x1b[1mname\x1b[0m\n", 3, "\x1b[1mna\x1b[0m…\n"},
	} {
		if got := clip(c.line, c.columns); got != c.want {
			t.Errorf("clip(%q, %d) = %q, want %q", c.line, c.columns, got, c.want)
		}
	}
	var toFile Console
	if got := toFile.Clip("a line"); got != "a line" {
		t.Errorf("a line for a file is %q", got)
	}
}
