package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDifference(t *testing.T) {
	long := strings.Repeat("line\n", 100)
	for _, c := range []struct{ name, got, want, shown string }{
		{"one line", "a\nb\nc\nd\n", "a\nb\nx\nd\n", "from line 3 (- expected, + found):\n  a\n  b\n- x\n+ c\n  d\n "},
		{"a line more", "a\nb\nb\n", "a\nb\n", "from line 3 (- expected, + found):\n  a\n  b\n+ b\n "},
		{"nothing expected", "a\n", "", "from line 1 (- expected, + found):\n+ a\n "},
		{"nothing found", "", "a\nb\n", "from line 1 (- expected, + found):\n- a\n- b\n "},
		{"many lines", long, "", "from line 1 (- expected, + found):\n" + strings.Repeat("+ line\n", maxLines) + "+ ... 60 more lines\n "},
		{"bytes", "a\x00\xff", "b", "from line 1 (- expected, + found):\n- b\n+ \"a\\x00\\xff\""},
	} {
		if got := difference(c.got, c.want); strings.TrimSpace(got) != strings.TrimSpace(c.shown) {
			t.Errorf("%s: the difference is\n%s\nwant\n%s", c.name, got, c.shown)
		}
	}
	if got := plain(strings.Repeat("é", maxWidth)); got != strings.Repeat("é", maxWidth/2)+" ... 400 more bytes" {
		t.Errorf("a long line is %s", got)
	}
	if got := head(long); got != strings.Repeat("line\n", maxLines)+"... 60 more lines\n" {
		t.Errorf("the head of a long text is\n%s", got)
	}
}

func TestSome(t *testing.T) {
	for want, names := range map[string][]string{"none": nil, "2: a b": {"a", "b"}, "9: 1 2 3 4 5 6 7 8 ...": strings.Fields("1 2 3 4 5 6 7 8 9")} {
		if got := some(names); got != want {
			t.Errorf("some of %v are %q, want %q", names, got, want)
		}
	}
}

// TestUpdateCommand: the command names the package and the test, from any directory of the module.
func TestUpdateCommand(t *testing.T) {
	t.Run("case", func(t *testing.T) {
		want := "If you meant the change, write it and review the diff: go test ./internal/golden -run '^TestUpdateCommand$/^case$' -update"
		if got := updateCommand(t); got != want {
			t.Errorf("the command is %s, want %s", got, want)
		}
	})
}

// TestUpdateSome: a result that -run leaves out stays in the file.
func TestUpdateSome(t *testing.T) {
	file := filepath.Join(t.TempDir(), "case.txtar")
	text := "-- a.mlir --\na\n-- a.out --\nold\n-- b.mlir --\nb\n-- b.out --\nold\n"
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	before := *update
	*update = true
	defer func() { *update = before }()
	Texts(t, file, func(t *testing.T, name, text string) string {
		if name == "b.mlir" {
			t.Skip("skip: the test plays that -run leaves it out")
		}
		return "new"
	})
	got, err := os.ReadFile(file)
	if want := strings.Replace(text, "old", "new", 1); err != nil || string(got) != want {
		t.Errorf("the file is\n%s\nwant\n%s, %v", got, want, err)
	}
}
