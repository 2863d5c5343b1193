package all

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/corpus"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// read parses and verifies text and returns what is wrong with it.
func read(reg *ir.Registry, name string, text []byte) (*ir.Module, diag.List) {
	src := diag.NewSource(name, text)
	m, err := parse.Parse(src, ir.NewContext(), reg, parse.Options{MaxErrors: 50})
	if err == nil {
		err = ir.Verify(m)
	}
	switch err := err.(type) {
	case nil:
		return m, nil
	case diag.List:
		return nil, err
	case *diag.Diagnostic:
		return nil, diag.List{err}
	default:
		return nil, diag.List{{Source: src, Message: err.Error()}}
	}
}

func registry(t *testing.T) *ir.Registry {
	t.Helper()
	reg, err := Registry()
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

// fixpoint reports where text does not survive being printed and read again, in both forms.
func fixpoint(reg *ir.Registry, name string, text []byte) error {
	m, errs := read(reg, name, text)
	if errs != nil {
		return errs[0]
	}
	for _, o := range []print.Options{{}, {Generic: true}} {
		one := print.String(m, o)
		m2, errs := read(reg, name+" printed", []byte(one))
		if errs != nil {
			return errs[0]
		}
		if two := print.String(m2, o); one != two {
			return fmt.Errorf("%s: printed again it differs (generic: %v)", name, o.Generic)
		}
	}
	return nil
}

// TestTestdata reads, verifies, prints and reads again every file of StableHLO's testdata.
func TestTestdata(t *testing.T) {
	root := filepath.Join(corpus.StableHLO(t, "../.."), "stablehlo", "testdata")
	reg := registry(t)
	n, bad := 0, 0
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".mlir" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n++
		name, _ := filepath.Rel(root, path)
		if err := fixpoint(reg, name, text); err != nil {
			bad++
			t.Error(err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files, %d of them fail", n, bad)
}

// TestPrintIdentical prints the files that MLIR printed, and must give them byte for byte, less their comments.
func TestPrintIdentical(t *testing.T) {
	dir := corpus.StableHLO(t, "../..")
	list, err := os.Open(filepath.Join(dir, "print_identical.txt"))
	if err != nil {
		t.Skip("skip: corpus not found: no print_identical.txt in it")
	}
	defer list.Close()
	reg := registry(t)
	n := 0
	for s := bufio.NewScanner(list); s.Scan(); n++ {
		text, err := os.ReadFile(filepath.Join(dir, s.Text()))
		if err != nil {
			t.Fatal(err)
		}
		m, errs := read(reg, s.Text(), text)
		if errs != nil {
			t.Error(errs[0])
			continue
		}
		var want []byte
		for _, line := range bytes.SplitAfter(text, []byte("\n")) {
			if !bytes.HasPrefix(line, []byte("//")) {
				want = append(want, line...)
			}
		}
		if got := print.String(m, print.Options{}); strings.TrimSpace(got) != strings.TrimSpace(string(want)) {
			t.Errorf("%s: prints in another way", s.Text())
		}
	}
	t.Logf("%d files", n)
}

// expectation is one // expected-error comment.
type expectation struct {
	line    int
	pattern *regexp.Regexp
}

var expectedError = regexp.MustCompile(`expected-error(-re)? ?(?:@([+-]?\d+))? *\{\{(.*)\}\}`)

// expectations returns the errors that the comments of a chunk announce.
func expectations(chunk []byte) []expectation {
	var out []expectation
	for i, line := range strings.Split(string(chunk), "\n") {
		m := expectedError.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		at := i + 1
		if m[2] != "" {
			k, _ := strconv.Atoi(m[2])
			if m[2][0] == '+' || m[2][0] == '-' {
				at += k
			} else {
				at = k
			}
		}
		text := m[3]
		var re strings.Builder
		if m[1] != "" { // in the -re form {{...}} inside holds a regular expression
			for {
				a := strings.Index(text, "{{")
				b := strings.Index(text, "}}")
				if a < 0 || b < a {
					break
				}
				re.WriteString(regexp.QuoteMeta(text[:a]) + text[a+2:b])
				text = text[b+2:]
			}
		}
		re.WriteString(regexp.QuoteMeta(text))
		out = append(out, expectation{at, regexp.MustCompile(re.String())})
	}
	return out
}

// onlyReads lists the test files whose command only parses, verifies and infers.
var onlyReads = []string{
	"tests/canonicalize.mlir", "tests/future_type.mlir", "tests/infer_chlo.mlir", "tests/infer_stablehlo.mlir", "tests/ops_broadcasting.mlir",
	"tests/ops_chlo.mlir", "tests/ops_chlo_roundtrip.mlir", "tests/ops_dot_general_algorithms.mlir", "tests/ops_interpreter.mlir",
	"tests/ops_sparse.mlir", "tests/ops_speculatability.mlir", "tests/ops_stablehlo.mlir", "tests/ops_stablehlo_bounded_dynamism.mlir",
	"tests/ops_stablehlo_quantized.mlir", "tests/ops_stablehlo_roundtrip.mlir", "tests/print_reduce.mlir", "tests/print_stablehlo.mlir",
	"tests/print_types_invalid.mlir", "tests/print_while.mlir", "tests/replica_groups_mesh_axes.mlir",
}

// chunks calls f for the parts of a file that // ----- separates.
func chunks(t *testing.T, path string, f func(name string, chunk []byte)) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line := 1
	for _, c := range bytes.Split(text, []byte("// -----")) {
		f(fmt.Sprintf("%s@%d", filepath.Base(path), line), c)
		line += bytes.Count(c, []byte("\n"))
	}
}

// TestExpectedErrors compares what is rejected, where and with which message, with what StableHLO's tests announce.
func TestExpectedErrors(t *testing.T) {
	dir := filepath.Join(corpus.StableHLO(t, "../.."), "stablehlo")
	reg := registry(t)
	wrong, onLine, matching := 0, 0, 0
	for _, f := range onlyReads {
		if strings.Contains(f, "ops_broadcasting") {
			continue // its errors are those of a test pass
		}
		chunks(t, filepath.Join(dir, f), func(name string, chunk []byte) {
			want := expectations(chunk)
			if len(want) == 0 {
				return
			}
			wrong++
			_, errs := read(reg, name, chunk)
			line, match := false, false
			for _, w := range want {
				for _, e := range errs {
					l := 0
					if e.Source != nil && e.Pos.IsValid() {
						l, _ = e.Source.LineColumn(e.Pos)
					}
					if l == w.line {
						line = true
						match = match || w.pattern.MatchString(e.Message)
					}
				}
			}
			if line {
				onLine++
			}
			if match {
				matching++
				return
			}
			got := "accepted"
			if len(errs) > 0 {
				got = errs[0].Error()
			}
			t.Logf("%s: line %v\n\twant +%d: %s\n\tgot %s", name, line, want[0].line, want[0].pattern, got)
		})
	}
	t.Logf("%d chunks with errors: %d rejected on the line, %d with the message", wrong, onLine, matching)
	if onLine*100 < wrong*98 {
		t.Errorf("%d of %d rejected on the expected line, want 98 %%", onLine, wrong)
	}
	if matching*100 < wrong*90 {
		t.Errorf("%d of %d rejected with a matching message, want 90 %%", matching, wrong)
	}
}

// accepted lists the chunks that TestValidChunks lets fail, with the reason.
var accepted = map[string]string{
	"infer_stablehlo.mlir@1646":                       "MLIR's pretty form of while cannot show results of other types than the operands",
	"ops_stablehlo_quantized.mlir@363":                "MLIR's pretty form of while cannot show arguments of other types than the operands",
	"stablehlo_legalize_quantized_op_to_qdq.mlir@539": "MLIR's pretty form of while cannot show arguments of other types than the operands",
	"mesh_axes_replica_group_compatibility.mlir@1":    "sdy.mesh without a mesh: the file is for a tool that does not know the dialect",
	"stablehlo_convert_to_signless.mlir@1":            "memref.cast in pretty form, which is no row here",
}

// TestValidChunks reads every chunk of StableHLO's tests that announces no error; none may be rejected, and each must
// survive being printed.
func TestValidChunks(t *testing.T) {
	dir := filepath.Join(corpus.StableHLO(t, "../.."), "stablehlo", "tests")
	reg := registry(t)
	n, bad := 0, 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".mlir" || strings.Contains(path, "vhlo") {
			return err
		}
		chunks(t, path, func(name string, chunk []byte) {
			if bytes.Contains(chunk, []byte("expected-error")) {
				return
			}
			n++
			if err := fixpoint(reg, name, chunk); err != nil && accepted[name] == "" {
				bad++
				t.Errorf("%s", err)
			} else if err == nil && accepted[name] != "" {
				t.Errorf("%s is in the list of accepted failures and does not fail", name)
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d chunks, %d of them fail", n, bad)
}
