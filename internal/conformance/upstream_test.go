package conformance_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// mlirFiles returns the MLIR files below dir with their paths relative to it, in order.
func mlirFiles(t testing.TB, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".mlir") {
			rel, _ := filepath.Rel(dir, path)
			out = append(out, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(out)
	return out
}

// chunks splits a file at its // ----- lines.
func chunks(text string) []string {
	var out []string
	start := 0
	for i := 0; i < len(text); {
		end := strings.IndexByte(text[i:], '\n')
		next := len(text)
		if end >= 0 {
			next = i + end + 1
		}
		if strings.HasPrefix(text[i:next], "// -----") {
			out = append(out, text[start:i])
			start = next
		}
		i = next
	}
	return append(out, text[start:])
}

// tally counts the passed chunks of each directory and lists the failed chunks.
type tally struct {
	names    []string
	ok, all  map[string]int
	failures []string
	known    map[string]string // known failures with their reasons, see testdata/known.txt
	seen     map[string]bool

	files, spoilt map[string]bool // the files with counted chunks, and the files with a chunk that did not pass
}

// knownFailures reads testdata/known.txt. A line has a chunk, a tab and the reason of its failure.
func knownFailures(t testing.TB) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "known.txt"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, l := range strings.Split(string(text), "\n") {
		if name, why, ok := strings.Cut(l, "\t"); ok && !strings.HasPrefix(l, "#") {
			out[name] = why
		}
	}
	return out
}

func (c *tally) add(group, chunk string, err error) {
	if c.all == nil {
		c.ok, c.all = map[string]int{}, map[string]int{}
	}
	if c.all[group] == 0 {
		c.names = append(c.names, group)
	}
	c.all[group]++
	if file, _, chunked := strings.Cut(chunk, ", chunk "); chunked {
		if c.files == nil {
			c.files, c.spoilt = map[string]bool{}, map[string]bool{}
		}
		c.files[file] = true
		if err != nil {
			c.spoilt[file] = true
		}
	}
	if err == nil {
		c.ok[group]++
		return
	}
	if c.known[chunk] != "" {
		c.seen[chunk] = true
		return
	}
	c.failures = append(c.failures, fmt.Sprintf("%s: %v", chunk, err))
}

// report logs the counts of each group and the known failures with their reasons. Other failures fail the test. unit
// names the counted things: "files".
func (c *tally) report(t *testing.T, unit string) {
	t.Helper()
	line := func(name string, in func(string) bool) {
		ok, all, files, whole := 0, 0, 0, 0
		for _, g := range c.names {
			if in(g) {
				ok, all = ok+c.ok[g], all+c.all[g]
			}
		}
		for f := range c.files {
			if in(filepath.Dir(f)) {
				files++
				if !c.spoilt[f] {
					whole++
				}
			}
		}
		text := fmt.Sprintf("%-30s %5d of %5d %s", name, ok, all, unit)
		if files > 0 {
			text += fmt.Sprintf(" in %5d of %5d files", whole, files)
		}
		t.Log(text)
	}
	for _, g := range c.names {
		line(g, func(s string) bool { return s == g })
	}
	for _, top := range [...]string{"stablehlo/testdata", "stablehlo/tests"} {
		line("all of "+top, func(s string) bool { return s == top || strings.HasPrefix(s, top+"/") })
	}
	for _, name := range slices.Sorted(maps.Keys(c.known)) {
		if c.seen[name] {
			t.Logf("excused: %s: %s", name, c.known[name])
		} else {
			t.Errorf("passes now, and testdata/known.txt excuses it: %s", name)
		}
	}
	if path := os.Getenv("HLOCB_FAILURES"); path != "" {
		if err := os.WriteFile(path, []byte(strings.Join(c.failures, "\n")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for i, f := range c.failures {
		if i == 60 {
			t.Errorf("... and %d more", len(c.failures)-i)
			break
		}
		if len(f) > 600 {
			f = f[:600]
		}
		t.Error(f)
	}
}

// roundTrip reads, verifies, prints in both forms and reads again until the text does not change.
func roundTrip(t testing.TB, reg *ir.Registry, text string, verify bool) error {
	m, err := read(t, reg, text)
	if err != nil {
		return err
	}
	if verify {
		if err := ir.Verify(m); err != nil {
			return err
		}
	}
	for _, o := range []print.Options{{}, {Generic: true}} {
		first := print.String(m, o)
		again, err := read(t, reg, first)
		if err != nil {
			return fmt.Errorf("printed text (generic %v): %w", o.Generic, err)
		}
		if second := print.String(again, o); second != first {
			return fmt.Errorf("printed text (generic %v) changes: %s", o.Generic, firstDiff(second, first))
		}
	}
	return nil
}

func firstDiff(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			return fmt.Sprintf("line %d is\n  %s\nwant\n  %s", i+1, line(g, i), line(w, i))
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// TestUpstreamFiles reads, verifies and prints every chunk of StableHLO's test files that expects no error.
func TestUpstreamFiles(t *testing.T) {
	dir := testkit.Upstream(t)
	reg := testkit.Registry(t)
	c := tally{known: knownFailures(t), seen: map[string]bool{}}
	for _, f := range mlirFiles(t, dir) {
		text, err := os.ReadFile(filepath.Join(dir, f))
		if err != nil {
			t.Fatal(err)
		}
		for i, chunk := range chunks(string(text)) {
			if strings.Contains(chunk, "expected-error") {
				continue
			}
			c.add(filepath.Dir(f), fmt.Sprintf("%s, chunk %d", f, i+1), roundTrip(t, reg, chunk, true))
		}
	}
	c.report(t, "chunks")
}

// TestPrintIdentical prints the listed files, which are MLIR's own print, byte for byte.
func TestPrintIdentical(t *testing.T) {
	dir := testkit.Upstream(t)
	list, err := os.ReadFile(filepath.Join(dir, "print_identical.txt"))
	if err != nil {
		t.Fatal(err)
	}
	reg := testkit.Registry(t)
	var c tally
	for _, f := range strings.Fields(string(list)) {
		text, err := os.ReadFile(filepath.Join(dir, f))
		if err != nil {
			t.Fatal(err)
		}
		var want []byte
		for _, l := range bytes.SplitAfter(text, []byte("\n")) {
			if !bytes.HasPrefix(l, []byte("//")) {
				want = append(want, l...)
			}
		}
		m, err := read(t, reg, string(text))
		if err == nil {
			got := strings.TrimSpace(print.String(m, print.Options{}))
			if w := strings.TrimSpace(string(want)); got != w {
				err = fmt.Errorf("%s", firstDiff(got, w))
			}
		}
		c.add(filepath.Dir(f), f, err)
	}
	c.report(t, "files")
}

// fileChunks returns the chunks of all files below dir by name, and the names in order.
func fileChunks(t *testing.T, dir string) (names []string, texts map[string]string) {
	t.Helper()
	texts = map[string]string{}
	for _, f := range mlirFiles(t, dir) {
		text, err := os.ReadFile(filepath.Join(dir, f))
		if err != nil {
			t.Fatal(err)
		}
		for i, chunk := range chunks(string(text)) {
			name := fmt.Sprintf("%s, chunk %d", f, i+1)
			texts[name] = chunk
			names = append(names, name)
		}
	}
	return names, texts
}

// TestUpstreamAsMLIR compares hlocb's print of every chunk that jaxlib reads with jaxlib's print, byte for byte.
func TestUpstreamAsMLIR(t *testing.T) {
	label.Slow(t)
	peer.Each(t, nil, checkUpstreamAsMLIR)
}

func checkUpstreamAsMLIR(t *testing.T, python *peer.Interpreter) {
	dir := testkit.Upstream(t)
	reg := testkit.Registry(t)
	names, texts := fileChunks(t, dir)
	names = slices.DeleteFunc(names, func(n string) bool { return strings.Contains(texts[n], "expected-error") })
	maps.DeleteFunc(texts, func(_, text string) bool { return strings.Contains(text, "expected-error") })
	less := withoutTestDialects(t)
	want := jaxlib(t, python, texts)
	c := tally{seen: map[string]bool{}, known: map[string]string{
		"stablehlo/tests/infer_stablehlo.mlir, chunk 106": "MLIR prints the pretty form of a loop whose results have other types than its operands, and does not read it back",
	}}
	refused := 0
	for _, name := range names {
		w := want[name]
		if w.Error != "" || strings.Contains(w.Generic, "\"scf.") { // jaxlib has a dialect for which hlocb has no rows
			refused++
			continue
		}
		reg := reg
		if strings.Contains(w.Generic, "\"check.") || strings.Contains(w.Generic, "\"interpreter.") {
			reg = less
		}
		file, _, _ := strings.Cut(name, ", ")
		c.add(filepath.Dir(file), name, printedAs(t, reg, texts[name], w))
	}
	t.Logf("%d of %d chunks are not read by jaxlib", refused, len(names))
	c.report(t, "chunks")
}

// withoutTestDialects returns hlocb's dialects without the two that jaxlib does not know.
func withoutTestDialects(t *testing.T) *ir.Registry {
	t.Helper()
	reg, err := ir.NewRegistry(slices.DeleteFunc(all.Dialects(), func(d *ir.Dialect) bool { return d.Name == "check" || d.Name == "interpreter" })...)
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

// printedAs returns an error with the difference of hlocb's and MLIR's print of a text.
func printedAs(t *testing.T, reg *ir.Registry, text string, want peer.Asm) error {
	t.Helper()
	m, err := read(t, reg, text)
	if err != nil {
		return err
	}
	for _, f := range forms {
		if got := print.String(m, f.options); got != f.of(want) {
			return fmt.Errorf("%s: %s", f.name, firstDiff(got, f.of(want)))
		}
	}
	return nil
}

// TestShardyAsMLIR compares every chunk of Shardy's tests of its dialects, sdy and mpmd, with jaxlib. hlocb reads the
// chunks that jaxlib reads, prints the same text byte for byte, and refuses the chunks that jaxlib refuses.
func TestShardyAsMLIR(t *testing.T) {
	peer.Each(t, label.Part, checkShardyAsMLIR)
}

func checkShardyAsMLIR(t *testing.T, python *peer.Interpreter) {
	dir := os.Getenv("HLOCB_SHARDY")
	if dir == "" {
		t.Skip("skip: HLOCB_SHARDY does not name Shardy's sources")
	}
	reg := withoutTestDialects(t)
	names, texts := fileChunks(t, filepath.Join(dir, "shardy", "dialect"))
	want := jaxlib(t, python, texts)
	c := tally{seen: map[string]bool{}}
	refused, lacking := 0, 0
	for _, name := range names {
		var err error
		switch w := want[name]; {
		case w.Error == "":
			err = printedAs(t, reg, texts[name], w)
		case strings.Contains(w.Error, "Dialect `check' not found") || strings.Contains(w.Error, "!quant."):
			lacking++ // jaxlib does not know check, and has not loaded quant
			t.Logf("not compared: %s: %s", name, w.Error)
		default:
			refused++
			m, rerr := read(t, reg, texts[name])
			if rerr == nil {
				rerr = ir.Verify(m)
			}
			if rerr == nil {
				err = fmt.Errorf("jaxlib refuses it: %s", w.Error)
			}
		}
		file, _, _ := strings.Cut(name, ", ")
		c.add(filepath.Dir(file), name, err)
	}
	t.Logf("jaxlib refuses %d of %d chunks, and does not know a dialect of %d more", refused, len(names), lacking)
	c.report(t, "chunks")
}
