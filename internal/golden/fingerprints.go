package golden

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// Fingerprints compares many texts with their fingerprints in a file: a line for each text, with its name, the number
// of its lines and a hash. Such a file shows that a text changed; the golden cases show what texts must be. To see a
// change, make the text with the commit before it.
//
// 'go test -update' writes the file.
func Fingerprints(t *testing.T, file string, each func(add func(name, text string))) {
	t.Helper()
	var out strings.Builder
	texts := map[string]string{}
	each(func(name, text string) {
		name = strings.ReplaceAll(name, " ", "_")
		if _, ok := texts[name]; ok {
			t.Errorf("two texts have the name %s", name)
		}
		texts[name] = text
		fmt.Fprintf(&out, "%s %d %.12x\n", name, strings.Count(text, "\n"), sha256.Sum256([]byte(text)))
	})
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() == string(want) {
		return
	}
	known := map[string]string{}
	for line := range strings.Lines(string(want)) {
		name, _, _ := strings.Cut(line, " ")
		known[name] = line
	}
	shown := 0
	for line := range strings.Lines(out.String()) {
		name, _, _ := strings.Cut(line, " ")
		if known[name] != line && shown < 3 {
			shown++
			t.Errorf("%s: the text of %s is another one; now it is\n%s", file, name, texts[name])
		}
		delete(known, name)
	}
	for name := range known {
		t.Errorf("%s: there is no text of %s", file, name)
	}
	t.Errorf("%s differs: review the changes, then write it with 'go test -update'", file)
}

// sorted returns the keys of a map in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
