package golden

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Fingerprints compares many texts with their fingerprints in a file: a line for each text, with its name, the number
// of its lines and a hash. Such a file shows that a text changed; the golden cases show what texts must be.
//
// 'go test -update' writes the file. To see what changed, run 'go test -texts DIR' with the commits before and after
// the change, each with a directory of its own, and compare the directories. With -failfast the first other text ends
// the test.
func Fingerprints(t *testing.T, file string, each func(add func(name, text string))) {
	t.Helper()
	var out strings.Builder
	texts := map[string]string{}
	want, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	known := map[string]string{}
	for line := range strings.Lines(string(want)) {
		name, _, _ := strings.Cut(line, " ")
		known[name] = line
	}
	each(func(name, text string) {
		name = strings.ReplaceAll(name, " ", "_")
		if _, ok := texts[name]; ok {
			t.Errorf("two texts have the name %s", name)
		}
		texts[name] = text
		line := fmt.Sprintf("%s %d %.12x\n", name, strings.Count(text, "\n"), sha256.Sum256([]byte(text)))
		if known[name] != line && failFast() && !*update && *textsDir == "" {
			t.Fatalf("%s: another text: %s\n%s", file, name, head(text))
		}
		out.WriteString(line)
	})
	if *textsDir != "" {
		for name, text := range texts {
			if err := os.WriteFile(filepath.Join(*textsDir, url.PathEscape(name)), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if out.String() == string(want) {
		return
	}
	var changed, added []string
	for line := range strings.Lines(out.String()) {
		name, _, _ := strings.Cut(line, " ")
		if before, ok := known[name]; !ok {
			added = append(added, name)
		} else if before != line {
			changed = append(changed, name)
		}
		delete(known, name)
	}
	t.Errorf("%s: other texts: %s\nnew texts: %s\ntexts that are gone: %s\n%s", file, some(changed), some(added), some(sorted(known)), updateCommand(t))
	t.Log("To see a change, run the test with '-texts DIR' here and with the commit before, and compare the two directories.")
	for _, name := range slices.Concat(changed, added)[:min(2, len(changed)+len(added))] {
		t.Logf("the text of %s is\n%s", name, head(texts[name]))
	}
}

// failFast reports whether tests end with their first failure.
func failFast() bool {
	f := flag.Lookup("test.failfast")
	return f != nil && f.Value.String() == "true"
}

// some returns the number of names and the first of them.
func some(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d: %s", len(names), strings.Join(names[:min(8, len(names))], " ")) + strings.Repeat(" ...", min(1, len(names)/9))
}

// sorted returns the keys of a map in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
