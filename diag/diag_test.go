package diag_test

import (
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
)

func TestRender(t *testing.T) {
	tests := []struct {
		name, text string
		off        int
		want       string
	}{
		{"plain", "a\nbcd\n", 3, "f:2:2: error: m\nbcd\n ^\n"},
		{"first byte", "x", 0, "f:1:1: error: m\nx\n^\n"},
		{"end of text", "ab\ncd", 5, "f:2:3: error: m\ncd\n  ^\n"},
		{"past the end", "ab", 99, "f:1:3: error: m\nab\n  ^\n"},
		{"empty", "", 0, "f:1:1: error: m\n"},
		{"tab", "\tx", 1, "f:1:2: error: m\n x\n ^\n"},
		{"carriage return", "ab\r\ncd", 1, "f:1:2: error: m\nab\n ^\n"},
		{"escape sequence", "a\x1b[31mb", 2, "f:1:3: error: m\na\uFFFD[31mb\n  ^\n"},
		{"no utf-8", "\xff\xfeab", 3, "f:1:4: error: m\n\uFFFD\uFFFDab\n   ^\n"},
		{"no text", "ML\xefR\x00\n", 4, "f: offset 4: error: m\n"},
		{"wide letters", "äöü x", 7, "f:1:8: error: m\näöü x\n    ^\n"},
	}
	for _, tt := range tests {
		var b strings.Builder
		diag.Errorf(diag.NewSource("f", []byte(tt.text)), diag.At(tt.off), "m").Render(&b)
		if b.String() != tt.want {
			t.Errorf("%s: rendered\n%q\nwant\n%q", tt.name, b.String(), tt.want)
		}
	}
}

// TestRenderLongLine: an excerpt stays short, and its caret stays under the byte.
func TestRenderLongLine(t *testing.T) {
	text := strings.Repeat("a", 5000) + "X" + strings.Repeat("b", 5000)
	var b strings.Builder
	diag.Errorf(diag.NewSource("f", []byte(text)), diag.At(5000), "m").Render(&b)
	lines := strings.Split(b.String(), "\n")
	if len(lines[1]) > 200 {
		t.Errorf("excerpt has %d bytes", len(lines[1]))
	}
	if at := strings.IndexByte(lines[2], '^'); lines[1][at] != 'X' {
		t.Errorf("caret is under %q", lines[1][at])
	}
	if !strings.HasPrefix(b.String(), "f:1:5001: error: m\n") {
		t.Errorf("rendered %s", lines[0])
	}
}

// TestRenderWidth: an excerpt fits the terminal, and its caret is under the byte, wherever that is in the line.
func TestRenderWidth(t *testing.T) {
	for _, width := range []int{20, 40, 80, 120} {
		for _, off := range []int{0, 1, width / 2, width, 4999, 5000 - width, 2500} {
			line := []byte(strings.Repeat("a", 5000))
			line[off] = 'X'
			var b strings.Builder
			diag.Errorf(diag.NewSource("f", line), diag.At(off), "m").RenderWidth(&b, width)
			lines := strings.Split(b.String(), "\n")
			if len(lines[1]) > width {
				t.Errorf("width %d, byte %d: excerpt has %d bytes", width, off, len(lines[1]))
			}
			if at := strings.IndexByte(lines[2], '^'); lines[1][at] != 'X' {
				t.Errorf("width %d, byte %d: caret is under %q", width, off, lines[1][at])
			}
		}
	}
}

func TestRenderNotes(t *testing.T) {
	src := diag.NewSource("f", []byte("one\ntwo\n"))
	d := diag.Errorf(src, diag.At(4), "redefinition of \x1b%s", "x").Note(diag.At(0), "first here")
	var b strings.Builder
	d.Render(&b)
	want := "f:2:1: error: redefinition of \\x1bx\ntwo\n^\nf:1:1: note: first here\none\n^\n"
	if b.String() != want {
		t.Errorf("rendered\n%s\nwant\n%s", b.String(), want)
	}
}

func TestEscape(t *testing.T) {
	tests := []struct{ in, want string }{
		{"loss", "loss"},
		{"Größe 3 µs", "Größe 3 µs"},
		{"a\x1b[0m\n", `a\x1b[0m\x0a`},
		{"\xff", `\xff`},
		{"a\u202eb", `a\u{202e}b`},
		{"\u0085", `\u{85}`},
		{"\U000e0001", `\u{e0001}`},
	}
	for _, tt := range tests {
		if got := diag.Escape(tt.in); got != tt.want {
			t.Errorf("Escape(%q) = %s, want %s", tt.in, got, tt.want)
		}
	}
	if got := diag.EscapeLines("a\n\tb\x07"); got != "a\n\tb\\x07" {
		t.Errorf("EscapeLines = %q", got)
	}
}

func TestListErr(t *testing.T) {
	var l diag.List
	if l.Err() != nil {
		t.Error("an empty list is an error")
	}
	l.Add(&diag.Diagnostic{Severity: diag.Remark, Message: "r"})
	if l.Err() != nil {
		t.Error("a remark is an error")
	}
	l.Add(diag.Errorf(nil, 0, "e"))
	if err := l.Err(); err == nil || err.Error() != "remark: r\nerror: e" {
		t.Errorf("Err = %v", err)
	}
}
