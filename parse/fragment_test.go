package parse_test

import (
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// TestFragments reads single attributes and types, and refuses texts that hold more or less.
func TestFragments(t *testing.T) {
	reg := testkit.Registry(t)
	attr := func(text string) (string, error) {
		a, err := parse.Attr(diag.NewSource("a", []byte(text)), ir.NewContext(), reg)
		if err != nil {
			return "", err
		}
		return a.String(), nil
	}
	typ := func(text string) (string, error) {
		v, err := parse.Type(diag.NewSource("t", []byte(text)), ir.NewContext(), reg)
		if err != nil {
			return "", err
		}
		return v.String(), nil
	}
	for _, c := range []struct {
		read             func(string) (string, error)
		text, want, fail string
	}{
		{attr, "[1, 2 : i8] // c", "[1, 2 : i8]", ""},
		{attr, "dense<[1, 2]> : tensor<2xi8>", "dense<[1, 2]> : tensor<2xi8>", ""},
		{typ, "(i1) -> !stablehlo.token", "(i1) -> !stablehlo.token", ""},
		{attr, "1 2", "", "a:1:3: error: expected the end of the text"},
		{attr, "", "", "a:1:1: error: expected attribute value"},
		{attr, "#nowhere", "", "a:1:9: error: undefined symbol alias id 'nowhere'"},
		{typ, "tensor<2x", "", "t:1:10: error: expected non-function type"},
	} {
		got, err := c.read(c.text)
		if err != nil && err.Error() != c.fail || err == nil && (c.fail != "" || got != c.want) {
			t.Errorf("%q: got %q, %v, want %q, %s", c.text, got, err, c.want, c.fail)
		}
	}
}
