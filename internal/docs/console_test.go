package docs_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hlocb/hlocb/internal/cli"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/words"
)

// console is a block of a document that shows commands and what they print.
type console struct {
	file string
	line int
	mark string // the comment in the line before it, or ""
	text []string
	root string // of the repository
}

// notRun begins the comment before a block that TestDocumentsShowWhatIsPrinted does not run, followed by the reason.
const notRun = "<!-- not run: "

// consoles returns the console blocks of a document.
func consoles(file string, text []byte) (blocks []console) {
	lines := strings.Split(string(text), "\n")
	for i := 0; i < len(lines); i++ {
		if lines[i] != "```console" {
			continue
		}
		b := console{file: filepath.Base(file), line: i + 1}
		if i > 0 && strings.HasPrefix(lines[i-1], "<!-- ") {
			b.mark = lines[i-1]
		}
		for i++; i < len(lines) && lines[i] != "```"; i++ {
			b.text = append(b.text, lines[i])
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// script matches a block of Python or Go in a document that names its file.
var script = regexp.MustCompile("(?ms)^```(?:python|go)\n((?:#|//) (\\w+\\.(?:py|go))\n.*?)^```$")

// writeScripts writes the scripts of a document to dir. It returns their number.
func writeScripts(t *testing.T, text []byte, dir string) int {
	scripts := script.FindAllSubmatch(text, -1)
	for _, s := range scripts {
		if err := os.WriteFile(filepath.Join(dir, string(s[2])), s[1], 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return len(scripts)
}

// command is a command of a block, and the lines that the document shows after it.
type command struct {
	line  int
	text  string
	shown []string
}

// commands returns the commands of a block.
func (b *console) commands(t *testing.T) (out []command) {
	for i := 0; i < len(b.text); {
		text, ok := strings.CutPrefix(b.text[i], "$ ")
		if !ok {
			t.Fatalf("line %d is not a command: %s", b.line+i+1, b.text[i])
		}
		c := command{line: b.line + i + 1, text: text}
		for i++; i < len(b.text) && !strings.HasPrefix(b.text[i], "$ "); i++ {
			c.shown = append(c.shown, b.text[i])
		}
		out = append(out, c)
	}
	return out
}

// compare reports an error if the document does not show what the command printed.
func (b *console) compare(t *testing.T, c command, printed string) {
	var want, got []string
	if len(c.shown) > 0 {
		want = strings.Split(asShown(strings.Join(c.shown, "\n")), "\n")
	}
	if printed != "" {
		got = strings.Split(strings.TrimSuffix(asShown(printed), "\n"), "\n")
	}
	if !shows(want, got) {
		t.Errorf("%s:%d: %s prints\n%s\nthe document shows\n%s", b.file, c.line, c.text, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// terminal collects standard output and standard error together, as a terminal shows them.
type terminal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *terminal) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

var (
	// The backend that runs a program, and its number of devices, depend on the machine.
	runningOn = regexp.MustCompile(`(?m)^hlocb: running on .*$`)
	devices   = regexp.MustCompile(`platform cpu, \d+ devices`)
)

// asShown removes the differences between machines from printed text.
func asShown(text string) string {
	if home, err := os.UserHomeDir(); err == nil {
		text = strings.ReplaceAll(text, home, "~")
	}
	text = runningOn.ReplaceAllString(text, "hlocb: running on ...")
	return devices.ReplaceAllString(text, "platform cpu, N devices")
}

// showsLine reports whether a line of a document shows a printed line: "..." inside the line stands for any characters.
func showsLine(doc, printed string) bool {
	first, rest, wild := strings.Cut(doc, "...")
	printed, ok := strings.CutPrefix(printed, first)
	for wild && ok && rest != "" {
		first, rest, wild = strings.Cut(rest, "...")
		if !wild {
			return strings.HasSuffix(printed, first)
		}
		_, printed, ok = strings.Cut(printed, first)
	}
	return ok && (wild || printed == "")
}

// shows reports whether the lines of a document match the printed lines: a line "..." stands for any lines.
func shows(doc, printed []string) bool {
	switch {
	case len(doc) == 0:
		return len(printed) == 0
	case doc[0] == "...":
		for i := 0; i <= len(printed); i++ {
			if shows(doc[1:], printed[i:]) {
				return true
			}
		}
		return false
	case len(printed) == 0 || !showsLine(doc[0], printed[0]):
		return false
	}
	return shows(doc[1:], printed[1:])
}

func TestShows(t *testing.T) {
	for _, c := range []struct {
		doc, printed string
		want         bool
	}{
		{"a b", "a b", true}, {"a b", "a", false}, {"a", "a b", false}, {"a ...", "a b c", true}, {"... c", "a b c", true}, {"a ... c", "a b", false}, {"...", "", true},
		{"a...c", "abc", true}, {"a...c", "abd", false}, {"a...c...", "abcd", true}, {"a...", "abc", true}, {"...b", "ab", true},
		{"...b", "ba", false}, {"a", "ab", false}, {"a...b...c", "abxc", true}, {"a...b...c", "axc", false},
	} {
		if got := shows(strings.Fields(c.doc), strings.Fields(c.printed)); got != c.want {
			t.Errorf("%q shows %q: %t", c.doc, c.printed, got)
		}
	}
}

// TestDocumentsShowWhatIsPrinted runs every command of the console blocks in a directory with the repository's testdata
// and examples, and compares its output with the block.
func TestDocumentsShowWhatIsPrinted(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	// The documents show only plugins that 'hlocb plugin install' installed.
	for _, name := range []string{"HLOCB_CPU_PLUGIN", "HLOCB_CUDA_PLUGIN", "PJRT_NAMES_AND_LIBRARY_PATHS", "PJRT_PLUGIN_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX"} {
		t.Setenv(name, "")
	}
	ran := 0
	for _, file := range append(files, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md"), filepath.Join(root, "examples", "README.md")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		shared := t.TempDir() // the directory of all blocks of a document with a script
		scripts := writeScripts(t, text, shared)
		python := false // an earlier block ran the scripts, and wrote the files of the later ones
		for _, block := range consoles(file, text) {
			if strings.HasPrefix(block.mark, notRun) || strings.HasPrefix(block.text[0], "$ hlocb exec ") {
				continue // 'hlocb exec' replaces this process; TestInterposed runs such blocks
			}
			ran++
			python = python || scripts > 0 && slices.ContainsFunc(block.text, func(s string) bool { return strings.HasPrefix(s, "$ python ") })
			t.Run(block.file+":"+strconv.Itoa(block.line), func(t *testing.T) {
				if python {
					peer.Python(t)
				}
				dir := t.TempDir()
				if scripts > 0 {
					dir = shared
				}
				for _, name := range []string{"testdata", "examples"} {
					if err := os.Symlink(filepath.Join(root, name), filepath.Join(dir, name)); err != nil && !os.IsExist(err) {
						t.Fatal(err)
					}
				}
				t.Chdir(dir)
				block.root = root
				block.check(t)
			})
		}
	}
	if ran < 8 {
		t.Errorf("only %d blocks were found", ran)
	}
}

func (b *console) check(t *testing.T) {
	code := 0
	for _, c := range b.commands(t) {
		args, err := words.Split(strings.Replace(c.text, "go run ./cmd/hlocb", "hlocb", 1))
		if err != nil {
			t.Fatal(err)
		}
		var out terminal
		switch {
		case c.text == "echo $?":
			out.text.WriteString(strconv.Itoa(code) + "\n")
		case args[0] == "hlocb":
			if _, err := exec.LookPath("python3"); err != nil && strings.Contains(c.text, "exec:python3 ") {
				t.Skip("skip: no Python")
			}
			ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
			code = cli.Run(ctx, args[1:], strings.NewReader(""), &out, &out)
			stop()
		case args[0] == "python":
			peer.Python(t)
			text, err := peer.Command(peer.Find(), args[1:]...).CombinedOutput()
			out.Write(text)
			if code = 0; err != nil {
				code = 1
			}
		case args[0] == "go":
			cmd := peer.Command("go", args[1:]...)
			cmd.Dir = b.root
			text, err := cmd.CombinedOutput()
			out.Write(text)
			if code = 0; err != nil {
				code = 1
			}
		case args[0] == "cc":
			if _, err := exec.LookPath("cc"); err != nil {
				t.Skip("skip: no C compiler")
			}
			text, err := peer.Command("cc", args[1:]...).CombinedOutput()
			out.Write(text)
			code = 0
			if err != nil {
				code = 1
			}
		default:
			t.Fatalf("line %d: cannot run %q", c.line, c.text)
		}
		printed := out.text.String()
		printed = strings.ReplaceAll(printed, b.root+"/", "") // the loader prints absolute paths
		if strings.Contains(printed, "no PJRT plugin for") || strings.Contains(printed, "no plugin found") || strings.Contains(printed, "needs cgo") || strings.Contains(printed, "need cgo") || strings.Contains(printed, "build constraints exclude") {
			t.Skip("skip: no CPU plugin")
		}
		b.compare(t, c, printed)
	}
}
