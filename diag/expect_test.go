package diag_test

import (
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
)

func TestSplit(t *testing.T) {
	src := diag.NewSource("f", []byte("a\nb\n// -----\nc\n// ----- rest\n\nd"))
	var got []string
	for _, p := range src.Split() {
		line, _ := p.LineColumn(diag.At(strings.IndexAny(string(p.Text()), "acd")))
		got = append(got, strings.TrimSpace(string(p.Text()))+string(rune('0'+line)))
	}
	if s := strings.Join(got, "|"); s != "a\nb1|c4|d7" {
		t.Errorf("got %q", s)
	}
}

func TestVerifyExpectations(t *testing.T) {
	src := diag.NewSource("f", []byte(`// expected-error @+1 {{bad thing}}
x
// expected-error-re@+2 {{got {{[0-9]+}} of (them)}}

y
z // expected-note {{here}}
// expected-warning @below {{w}}
// expected-error @above {{an e}}
v
// expected-error @unknown {{nowhere}}
`))
	at := func(s string) diag.Pos { return diag.At(strings.Index(string(src.Text()), "\n"+s+"\n") + 1) }
	z := diag.At(strings.Index(string(src.Text()), "\nz") + 1)
	found := diag.List{
		diag.Errorf(src, at("x"), "a bad thing happened"),
		diag.Errorf(src, at("y"), "got 17 of (them)").Note(z, "it is here"),
		{Source: src, Pos: at("v"), Severity: diag.Warning, Message: "w"},
		diag.Errorf(src, at("y"), "an e"),
		{Severity: diag.Error, Message: "came from nowhere"},
	}
	if out := diag.VerifyExpectations(src, found); len(out) != 0 {
		t.Errorf("all were expected: %v", out)
	}
	out := diag.VerifyExpectations(src, diag.List{found[0], found[0], diag.Errorf(src, at("y"), "got x of (them)")})
	want := []string{
		"f:2:1: error: unexpected error: a bad thing happened",
		"f:5:1: error: unexpected error: got x of (them)",
		`f:3:4: error: expected error "got {{[0-9]+}} of (them)" was not produced`,
		`f:6:6: error: expected note "here" was not produced`,
		`f:7:4: error: expected warning "w" was not produced`,
		`f:8:4: error: expected error "an e" was not produced`,
		`f:10:4: error: expected error "nowhere" was not produced`,
	}
	if out.Error() != strings.Join(want, "\n") {
		t.Errorf("got\n%v", out)
	}
}
