package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// Texts tests a function from text to text. Each file NAME.EXT of a txtar archive that the pattern selects is an input,
// the file NAME.out after it the result that f must return. 'go test -update' writes the results.
func Texts(t *testing.T, pattern string, f func(t *testing.T, name, text string) string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("no file matches %q", pattern)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		updated := &txtar.Archive{Comment: archive.Comment}
		want := map[string]string{}
		for _, in := range archive.Files {
			want[in.Name] = string(in.Data)
		}
		for _, in := range archive.Files {
			base := strings.TrimSuffix(in.Name, filepath.Ext(in.Name))
			if in.Name == base+".out" {
				continue
			}
			out, ok := want[base+".out"]
			result := out // stays if -run leaves the text out
			t.Run(base, func(t *testing.T) {
				got := f(t, in.Name, string(in.Data))
				if got != "" && !strings.HasSuffix(got, "\n") {
					got += "\n"
				}
				result = got
				if !*update && (!ok || got != out) {
					t.Errorf("%s: the result of %s differs %s\n%s", file, in.Name, difference(got, out), updateCommand(t))
				}
			})
			updated.Files = append(updated.Files, in, txtar.File{Name: base + ".out", Data: []byte(result)})
		}
		if *update && !t.Failed() {
			if err := os.WriteFile(file, txtar.Format(updated), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
