package parse_test

import (
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// TestAllErrors reads a module with several mistakes: each is reported once, and none because of another.
func TestAllErrors(t *testing.T) {
	const in = `"a.m"() ({
  %0 = "a.one"() {x = dense<[1, 2]> : tensor<3xi8>} : () -> i32
  %1:2 = "a.two"(%0) : (i32) -> i32
  "a.three"(%1#1, %0) ({
    %2 = "a.four"( : () -> i1
    "a.five"(%2) : (i1) -> ()
    "a.six"() {y = } : () -> ()
  }) : (f32, i8) -> ()
  "a.seven"(%nowhere, %1#0) : (i1, i1) -> ()
  "a.eight"() {z = @, w} : () -> ()
  %ok = "a.nine"() : () -> i1
  "a.ten"(%ok) : (i8) -> ()
}) : () -> ()
`
	want := []string{
		"2:23: error: inferred shape of elements literal ([2]) does not match type ([3])",
		"3:3: error: operation defines 1 results but was provided 2 to bind",
		"5:19: error: expected ')' to end operand list",
		"7:19: error: expected attribute value",
		"10:21: error: @ identifier expected to start with letter or '_'",
		"12:11: error: use of value '%ok' expects different type than prior uses: 'i8' vs 'i1'",
		"9:13: error: use of undeclared SSA value name",
	}
	_, err := parse.Parse(diag.NewSource("f", []byte(in)), ir.NewContext(nil), parse.Options{MaxErrors: 50})
	got := strings.ReplaceAll(err.Error(), "f:", "")
	if got != strings.Join(want, "\n") {
		t.Errorf("got\n%s", got)
	}
	_, err = parse.Parse(diag.NewSource("f", []byte(in)), ir.NewContext(nil), parse.Options{MaxErrors: 2})
	if got := strings.ReplaceAll(err.Error(), "f:", ""); got != strings.Join(want[:2], "\n") {
		t.Errorf("with a limit of 2 got\n%s", got)
	}
	_, err = parse.Parse(diag.NewSource("f", []byte(in)), ir.NewContext(nil), parse.Options{})
	if got := strings.ReplaceAll(err.Error(), "f:", ""); got != want[0] {
		t.Errorf("with no limit given got\n%s", got)
	}
}
