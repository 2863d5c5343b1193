package transforms_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/filecheck"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/opt"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
)

// only restricts the test to some files and prints the failures of their parts:
//
//	go test ./internal/transforms -v -args -only legalize_deprecated
var only = flag.String("only", "", "run only files whose path contains this text, and show every failure in full")

// tools are the programs that RUN lines call.
var tools = map[string]filecheck.Tool{
	"stablehlo-opt": func(_ context.Context, args []string, in io.Reader, out, errs io.Writer) int {
		return opt.Main(args, opt.Streams{In: in, Out: out, Err: errs}, opt.Config{Name: "stablehlo-opt", Dialects: all.Dialects()})
	},
	"stablehlo-translate": translate,
}

// translate replaces stablehlo-translate: it writes portable artifacts, reads them, and runs programs.
func translate(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	if err := translated(ctx, args, in, out); err != nil {
		fmt.Fprintln(errs, err)
		return 1
	}
	return 0
}

func translated(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("stablehlo-translate", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	run := flags.Bool("interpret", false, "")
	write := flags.Bool("serialize", false, "")
	target := flags.String("target", "", "")
	read := flags.Bool("deserialize", false, "")
	locations := flags.Bool("mlir-print-debuginfo", false, "")
	if flags.Parse(args) != nil || !*run && !*write && !*read {
		return &filecheck.UnknownToolError{Name: "stablehlo-translate " + strings.Join(args, " ")}
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	m, err := reader.Read(diag.NewSource("<stdin>", text))
	switch {
	case err != nil:
		return err
	case *run:
		return interpret(ctx, m)
	case *read:
		_, err = io.WriteString(out, print.String(m, print.Options{DebugInfo: *locations}))
		return err
	}
	v, err := vhlo.ParseVersion(*target)
	if err != nil {
		return err
	}
	b, _, err := artifact.Append(nil, m, artifact.Options{Target: v})
	if err == nil {
		_, err = out.Write(b)
	}
	return err
}

// interpret runs every function that no other function calls.
func interpret(ctx context.Context, m *ir.Module) error {
	called := map[string]bool{}
	m.Walk(func(o *ir.Op) bool {
		if o.Is(fn.Call) {
			called[fn.Callee(o)] = true
		}
		return true
	})
	for _, f := range fn.Funcs(m) {
		if len(f.Type().Inputs()) > 0 || called[f.Symbol()] {
			continue
		}
		exe, err := interp.New(interp.Options{Entry: f.Symbol()}).Compile(ctx, &runtime.Program{Module: m}, runtime.CompileOptions{})
		if err == nil {
			_, err = exe.Run(ctx, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// count is the tally of one file.
type count struct{ parts, passed, missing, excused int }

// missing matches the error of our opt for a pass that it does not have.
var missing = regexp.MustCompile(`unknown flag:? "?-*([a-z-]+)|unknown pass "([a-z-]+)"|no tool named "([^"]+)"`)

// TestUpstreamTransforms: each part of StableHLO's tests of passes produces the expected output. A part that needs a
// pass that hlocb lacks counts as missing. testdata/known.txt lists the remaining exceptions, each with its reason.
func TestUpstreamTransforms(t *testing.T) {
	label.Once(t)
	root := filepath.Join(testkit.Upstream(t), "stablehlo", "tests")
	known := exceptions(t)
	counts := map[string]*count{}
	lacking := map[string]int{}
	seen := map[string]bool{}
	for _, file := range files(t, root) {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		src := diag.NewSource(file, text)
		lines, err := filecheck.Lines(src)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		c := &count{}
		counts[file] = c
		parts := []*diag.Source{src}
		if bytes.Contains(text, []byte("split-input-file")) {
			parts = src.Split()
		}
		for i, part := range parts {
			if empty(part.Text()) {
				continue
			}
			c.parts++
			name := fmt.Sprintf("%s, part %d", file, i+1)
			err := run(t, lines, part, i == 0)
			switch lacks := missing.FindStringSubmatch(fmt.Sprint(err)); {
			case err == nil:
				c.passed++
				if known[name] != "" {
					t.Errorf("%s passes, but testdata/known.txt excuses it", name)
				}
			case lacks != nil:
				c.missing++
				lacking[lacks[1]+lacks[2]+lacks[3]]++
			case known[name] != "":
				c.excused++
			case *only != "":
				t.Errorf("%s: %v", name, err)
			default:
				t.Errorf("%s: %s", name, short(err))
			}
			seen[name] = true
		}
	}
	var all count
	for _, file := range slices.Sorted(maps.Keys(counts)) {
		c := counts[file]
		t.Logf("%-62s %3d parts: %3d pass, %3d excused, %3d fail, %3d lack a pass", file, c.parts, c.passed, c.excused, c.parts-c.passed-c.excused-c.missing, c.missing)
		all = count{all.parts + c.parts, all.passed + c.passed, all.missing + c.missing, all.excused + c.excused}
	}
	t.Logf("%-62s %3d parts: %3d pass, %3d excused, %3d fail, %3d lack a pass", "all", all.parts, all.passed, all.excused, all.parts-all.passed-all.excused-all.missing, all.missing)
	for _, name := range slices.Sorted(maps.Keys(lacking)) {
		t.Logf("missing: %s (%d parts)", name, lacking[name])
	}
	if *only == "" {
		for name := range known {
			if !seen[name] {
				t.Errorf("testdata/known.txt names %s, which does not exist", name)
			}
		}
	}
}

// files returns the files with a RUN line that runs a pass.
func files(t *testing.T, root string) []string {
	var out []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".mlir" {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if *only != "" && !strings.Contains(rel, *only) || strings.HasPrefix(rel, "vhlo") || strings.HasPrefix(rel, "interpret") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines, err := filecheck.Lines(diag.NewSource(rel, text))
		if err != nil {
			return nil // not a test of passes
		}
		if slices.ContainsFunc(lines, func(l filecheck.Line) bool { return runsPass.MatchString(l.Text) }) {
			out = append(out, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// runsPass matches RUN lines with a flag of a pass; the passes hlo-test-* test hooks of ops.
var runsPass = regexp.MustCompile(`stablehlo-opt.* -{1,2}(inline|canonicalize|pass-pipeline|chlo-[a-z-]+|shape-[a-z-]+|stablehlo-[a-z-]+|interpreter-[a-z-]+)`)

// empty reports whether a part of a file holds only comments without directives.
func empty(text []byte) bool {
	for _, l := range bytes.Split(text, []byte("\n")) {
		if l = bytes.TrimSpace(l); len(l) > 0 && !bytes.HasPrefix(l, []byte("//")) {
			return false
		}
	}
	return !bytes.Contains(text, []byte("CHECK"))
}

// run executes the RUN lines on one part of a file. In later parts a prefix may have no directives.
func run(t *testing.T, lines []filecheck.Line, part *diag.Source, first bool) error {
	dir := t.TempDir()
	path := filepath.Join(dir, "part.mlir")
	if err := os.WriteFile(path, part.Text(), 0o666); err != nil {
		t.Fatal(err)
	}
	r := &filecheck.Runner{Tools: maps.Clone(tools), Dir: dir}
	r.Tools["FileCheck"] = func(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
		var said bytes.Buffer
		code := filecheck.Main(ctx, append(args, "--allow-empty"), in, out, io.MultiWriter(errs, &said))
		if strings.Contains(said.String(), "no check strings found") {
			return 0
		}
		return code
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, l := range lines {
		if l.Commands[0].Not && !first {
			continue // the directive applies to the whole file
		}
		if err := r.Execute(ctx, l, path); err != nil {
			return fmt.Errorf("RUN: %s: %w", l.Text, err)
		}
	}
	return nil
}

// exceptions reads testdata/known.txt: a part, a tab, the reason.
func exceptions(t *testing.T) map[string]string {
	text, err := os.ReadFile(filepath.Join("testdata", "known.txt"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	out := map[string]string{}
	for l := range strings.Lines(string(text)) {
		if name, why, ok := strings.Cut(strings.TrimSpace(l), "\t"); ok && name[0] != '#' {
			out[name] = why
		}
	}
	return out
}

func short(err error) string {
	s := err.Error()
	if len(s) > 400 {
		s = s[:400] + " …"
	}
	return s
}
