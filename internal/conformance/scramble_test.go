package conformance_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// textPiece matches the pieces of text that a mutation moves.
var textPiece = regexp.MustCompile(`"[^"\n]*"|[#!%^@]?[A-Za-z_$][\w.$]*|-?\d+(\.\d+)?(e[-+]?\d+)?|\s+|->|::|.`)

// scramble changes a few tokens. It drops, doubles or swaps tokens, or replaces them by other tokens of the text or by
// odd numbers.
func scramble(r *rand.Rand, tokens []string) string {
	t := append([]string(nil), tokens...)
	for range 1 + r.IntN(4) {
		i, j := r.IntN(len(t)), r.IntN(len(t))
		switch r.IntN(6) {
		case 0:
			t[i] = ""
		case 1:
			t[i] += t[i]
		case 2:
			t[i], t[j] = t[j], t[i]
		case 3:
			t[i] = t[j]
		case 4:
			t[i] = [...]string{"-1", "0", "9223372036854775807", "?", "1", "-9223372036854775808", "100", "[]", "{}", "tensor<*xf32>", "f32", "unit", "index"}[r.IntN(13)]
		default:
			if n, err := strconv.Atoi(t[i]); err == nil {
				t[i] = strconv.Itoa(n + r.IntN(5) - 2)
			}
		}
	}
	out := ""
	for _, s := range t {
		out += s
	}
	return out
}

// TestScrambled reads, verifies and prints modules of upstream's tests with a few tokens changed. Nothing panics.
func TestScrambled(t *testing.T) {
	rounds := 3
	if s := os.Getenv("HLOCB_SCRAMBLES"); s != "" {
		rounds, _ = strconv.Atoi(s)
	}
	dir := testkit.Upstream(t)
	reg := testkit.Registry(t)
	r := rand.New(rand.NewPCG(7, uint64(rounds)))
	files, err := filepath.Glob(filepath.Join(dir, "stablehlo", "tests", "*.mlir"))
	if err != nil {
		t.Fatal(err)
	}
	valid, all := 0, 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, chunk := range chunks(string(text)) {
			if len(chunk) > 6000 {
				continue
			}
			tokens := textPiece.FindAllString(chunk, -1)
			if len(tokens) < 10 {
				continue
			}
			for range rounds {
				all++
				if tryText(t, reg, scramble(r, tokens)) {
					valid++
				}
			}
		}
	}
	t.Logf("%d of %d mutated modules are valid", valid, all)
}

// tryText reads, verifies and prints one text and reports whether it is valid.
func tryText(t *testing.T, reg *ir.Registry, text string) (valid bool) {
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("panic: %v\n%s", p, text)
		}
	}()
	m, err := parse.Parse(diag.NewSource("-", []byte(text)), ir.NewContext(reg), parse.Options{MaxErrors: 5})
	if err != nil {
		if list := listOf(err); len(list) == 0 || hasInternal(list) {
			t.Errorf("%v\n%s", err, text)
		}
		return false
	}
	verr := ir.Verify(m)
	if verr != nil && hasInternal(listOf(verr)) {
		t.Errorf("%v\n%s", verr, text)
	}
	pretty := print.String(m, print.Options{DebugInfo: true})
	generic := print.String(m, print.Options{Generic: true})
	if verr != nil {
		return false
	}
	again, err := parse.Parse(diag.NewSource("-", []byte(generic)), ir.NewContext(reg), parse.Options{})
	if err != nil {
		t.Errorf("generic text: %v\n%s", err, generic)
		return true
	}
	if got := print.String(again, print.Options{Generic: true}); got != generic {
		t.Errorf("generic text changes: %s\n%s", firstDiff(got, generic), fmt.Sprint(len(pretty)))
	}
	return true
}

func hasInternal(list diag.List) bool {
	for _, d := range list {
		if regexp.MustCompile("internal error").MatchString(d.Message) {
			return true
		}
	}
	return false
}
