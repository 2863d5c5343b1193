package transforms_test

import (
	"cmp"
	"context"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
)

// commonPipelines lists the pipelines of one pass that both hlocb and jaxlib run, in the text form that both read.
var commonPipelines = []struct {
	pipeline string
	theirs   string // the pipeline of jaxlib, if the pass has another name there
	about    string // a regular expression: the modules that the pass may change, for a short run
	without  string // a regular expression: modules on which jaxlib's pass fails
}{
	{pipeline: "canonicalize"},
	{pipeline: "cse"},
	{pipeline: "symbol-dce", about: "private"},
	{pipeline: "inline", without: `\bcall @`}, // jaxlib registers no inliner for func.call: only the canonicalization is compared
	{pipeline: "sccp", about: "stablehlo.(while|if|case)|call"},
	{pipeline: "strip-debuginfo"},
	{pipeline: "remove-dead-values"},
	// jaxlib's loop-invariant-code-motion knows no loop of StableHLO and moves nothing.
	{pipeline: "func.func(chlo-legalize-to-stablehlo)", about: `chlo\.`},
	{pipeline: "func.func(shape-legalize-to-stablehlo)", about: "shape|tensor[.]|arith"},
	{pipeline: "stablehlo-refine-shapes", about: `\?|dynamic`},
	{pipeline: "func.func(stablehlo-canonicalize-dynamism)", about: `dynamic`},
	{pipeline: "func.func(stablehlo-check-shape-assertions)", about: "shape_assertion"},
	// jaxlib does not convert the values of constants and then refuses them.
	{pipeline: "stablehlo-convert-to-signless", about: `ui\d`, without: `constant.*[x<]ui\d`},
	{pipeline: "func.func(stablehlo-legalize-deprecated-ops)", about: `stablehlo\.(dot|einsum|unary_einsum|broadcast|create_token|cross-replica-sum|torch_index_select)\b`},
	{pipeline: "func.func(stablehlo-legalize-quant-to-math)", about: `quant`},
	{pipeline: "func.func(stablehlo-legalize-quantized-op-to-qdq)", about: `quant`},
	{pipeline: "func.func(stablehlo-legalize-qdq-to-quantized-op)", about: `quant`},
	{pipeline: "func.func(stablehlo-legalize-composite-to-call)", about: "composite"},
	{pipeline: "stablehlo-wrap-in-composite{op-names=stablehlo.add,stablehlo.reduce version=1}", about: `stablehlo\.(add|reduce)\b`},
	{pipeline: "func.func(stablehlo-complex-math-expander)", about: "complex"},
	{pipeline: "stablehlo-compatibility-expander{target=1.0.0}"},
	{pipeline: "mhlo-to-stablehlo", theirs: "hlo-legalize-to-stablehlo", about: `mhlo\.[a-z]`},
}

// shortRun is the number of modules that each pipeline changes in a short run. Half as many unchanged modules are
// added.
const shortRun = 40

// TestPassesAsJaxlib runs every pass that jaxlib also has, on the modules of testdata and of StableHLO's tests. Both
// texts must be equal after hlocb reads and prints them, which names the values by their order. testdata/unlike.txt
// lists the differences with their reasons. HLOCB_LONG=1 compares all modules.
func TestPassesAsJaxlib(t *testing.T) {
	label.Once(t)
	most := shortRun
	if label.Less() {
		most = shortRun / 8
	}
	peer.Each(t, func(main bool) bool { return main || label.Part(false) }, func(t *testing.T, python *peer.Interpreter) { checkPassesAsJaxlib(t, python, most) })
}

func checkPassesAsJaxlib(t *testing.T, python *peer.Interpreter, most int) {
	texts := modules(t)
	table := passes.Builtin(passes.Host{Evaluator: interp.NewEvaluator(1 << 30)})
	unlike := differences(t)
	used := map[*difference]bool{}
	short := os.Getenv("HLOCB_LONG") == "" && *only == ""
	// The order of the names mixes the files, because a short run takes the first modules.
	names := slices.SortedFunc(maps.Keys(texts), func(a, b string) int {
		return cmp.Or(cmp.Compare(crc32.ChecksumIEEE([]byte(a)), crc32.ChecksumIEEE([]byte(b))), cmp.Compare(a, b))
	})
	for _, s := range commonPipelines {
		ours, theirs, about := s.pipeline, s.theirs, regexp.MustCompile(s.about)
		if theirs == "" {
			theirs = ours
		}
		if *only != "" && !strings.Contains(ours, *only) {
			continue
		}
		p, err := pass.Parse(ours, table)
		if err != nil {
			t.Logf("missing: %v", err)
			continue
		}
		t.Run(ours, func(t *testing.T) {
			got, want, left := map[string]string{}, map[string]string{}, 0
			changed, same := 0, 0
			for _, name := range names {
				if s.without != "" && regexp.MustCompile(s.without).MatchString(texts[name]) {
					continue
				}
				if short && (changed >= most && same >= most/2 || changed+same > 5*most || len(texts[name]) > 1<<16 || same >= most/2 && !about.MatchString(texts[name])) {
					continue
				}
				m, err := testkit.TryParse(name, texts[name])
				if err != nil || ir.Verify(m) != nil {
					left++
					continue
				}
				before := print.String(m, print.Options{})
				out := apply(m, p, name)
				if out == before {
					same++
				} else {
					changed++
				}
				if short && (out == before && same > most/2 || changed > most) {
					continue
				}
				got[name], want[name] = out, texts[name]
			}
			unread, listed, differ := 0, 0, 0
			result := python.Passes(t, "builtin.module("+theirs+")", false, want)
			for _, name := range slices.Sorted(maps.Keys(result)) {
				r := result[name]
				if r.Unread {
					unread++
					continue
				}
				theirs := "fails"
				if r.Error == "" {
					theirs = reprint(name, r.Text)
				}
				d := ""
				if got[name] != theirs && !bothRefuse(got[name], r.Error) {
					d = gocmp.Diff(theirs, got[name])
				}
				known := unlike.find(ours, name)
				switch {
				case d == "":
				case python.Differs(ours+" of "+name) != "":
					listed++
				case known != nil:
					used[known] = true
					listed++
				default:
					differ++
					if differ <= 5 {
						t.Errorf("%s (-jaxlib +hlocb):\n%s%s", name, d, r.Error)
					} else {
						t.Errorf("%s differs", name)
					}
				}
			}
			t.Logf("%4d modules: %4d the same, %3d differ, %3d differ as listed, %3d that jaxlib does not read (%d not valid here)",
				len(result)-unread, len(result)-unread-differ-listed, differ, listed, unread, left)
		})
	}
	if os.Getenv("HLOCB_LONG") != "" && *only == "" && python.Version() == peer.MainVersion {
		for i := range unlike {
			if !used[&unlike[i]] {
				t.Errorf("testdata/unlike.txt: no difference of %s on %s", unlike[i].pass, unlike[i].module)
			}
		}
	}
}

// apply runs p on m and returns the text of the result, or "fails".
func apply(m *ir.Module, p pass.Pipeline, name string) string {
	if err := (&pass.Driver{Verify: ir.VerifyContext}).Run(pass.NewContext(context.Background(), m), p); err != nil {
		if strings.Contains(err.Error(), "left an invalid module") || strings.Contains(err.Error(), "' failed: ") {
			return "fails: " + err.Error()
		}
		return "fails"
	}
	return reprint(name, print.String(m, print.Options{}))
}

// refusal matches the result of apply if the verifier refuses the result of a pass.
var refusal = regexp.MustCompile(`(?s)^fails: .*?: error: ([^\n]*)\n.*note: pass '[^']*' left an invalid module`)

// bothRefuse reports whether jaxlib's verifier refuses the result of jaxlib's pass with the text of our first error.
func bothRefuse(ours, theirs string) bool {
	said := refusal.FindStringSubmatch(ours)
	return said != nil && strings.Contains(theirs, said[1])
}

// reprint reads a text and prints it.
func reprint(name, text string) string {
	m, err := testkit.TryParse(name, text)
	if err != nil {
		return fmt.Sprintf("cannot be read: %v\n%s", err, text)
	}
	return print.String(m, print.Options{})
}

var (
	boundary = regexp.MustCompile(`(?m)^// -----.*$`)
	comment  = regexp.MustCompile(`(?m)^\s*//.*$`)
)

// modules returns the modules of testdata and of StableHLO's test files, by name: "tests/x.mlir#0".
func modules(t *testing.T) map[string]string {
	out := map[string]string{}
	add := func(root string) {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".mlir" {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil || len(text) > 1<<20 {
				return err
			}
			rel, err := filepath.Rel(filepath.Dir(root), path)
			for i, part := range boundary.Split(string(text), -1) {
				if strings.TrimSpace(comment.ReplaceAllString(part, "")) != "" {
					out[fmt.Sprintf("%s#%d", filepath.ToSlash(rel), i)] = part
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	add(testkit.Testdata())
	if dir := os.Getenv("HLOCB_UPSTREAM"); dir != "" || os.Getenv("HLOCB_LONG") != "" {
		root := filepath.Join(testkit.Upstream(t), "stablehlo")
		add(filepath.Join(root, "tests"))
		add(filepath.Join(root, "testdata"))
	}
	return out
}

// difference is a line of testdata/unlike.txt.
type difference struct{ pass, module, reason string }

type differenceList []difference

// find returns the line about a pass and a module, or nil.
func (l differenceList) find(pipeline, module string) *difference {
	for i, d := range l {
		if ok, _ := path.Match(d.module, module); ok && (d.pass == "*" || strings.Contains(pipeline, d.pass)) {
			return &l[i]
		}
	}
	return nil
}

// differences reads testdata/unlike.txt: a pass (* for all), a tab, a module (with * for any name), a tab, the reason.
func differences(t *testing.T) differenceList {
	text, err := os.ReadFile(filepath.Join("testdata", "unlike.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var out differenceList
	for l := range strings.Lines(string(text)) {
		if l = strings.TrimSpace(l); l == "" || l[0] == '#' {
			continue
		}
		f := strings.Split(l, "\t")
		if len(f) != 3 {
			t.Fatalf("testdata/unlike.txt: expected a pass, a module and a reason: %s", l)
		}
		out = append(out, difference{f[0], f[1], f[2]})
	}
	return out
}
