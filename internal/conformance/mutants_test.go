package conformance_test

import (
	"encoding/json"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// verdicts returns jaxlib's first error for each text: "" for none, "crash" if its process dies. Unknown dialects are
// errors.
func verdicts(t *testing.T, py *peer.Interpreter, texts []string) []string {
	t.Helper()
	return verdictsOf(t, py, texts, verdictScript)
}

// openVerdicts returns the verdicts with unknown dialects allowed.
func openVerdicts(t *testing.T, py *peer.Interpreter, texts []string) []string {
	t.Helper()
	return verdictsOf(t, py, texts, strings.Replace(verdictScript, "\ndef ", "\nctx.allow_unregistered_dialects = True\ndef ", 1))
}

func verdictsOf(t *testing.T, py *peer.Interpreter, texts []string, script string) []string {
	t.Helper()
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	var theirs []string
	if err := json.Unmarshal(py.Run(t, script, in), &theirs); err != nil {
		t.Fatal(err)
	}
	return theirs
}

// sameRefusals checks that hlocb refuses the same texts as jaxlib, and returns their number.
func sameRefusals(t *testing.T, texts, theirs []string) (refused int) {
	t.Helper()
	reg := testkit.Registry(t)
	same := 0
	for i, text := range texts {
		ours := ""
		if list := findings(reg, diag.NewSource("-", []byte(text))); len(list) > 0 {
			ours = list[0].Message
			refused++
			if strings.Contains(theirs[i], ours) {
				same++
			}
		}
		if (ours != "") != (theirs[i] != "") {
			t.Errorf("here: %q\njaxlib: %s\n%s", ours, theirs[i], text)
		}
	}
	t.Logf("%d texts: %d refused, as jaxlib does; %d of them with its words", len(texts), refused, same)
	return refused
}

// verdictScript reads a list of texts as JSON and writes jaxlib's first error for each: "" for none, "crash" if it
// dies. It reads each batch in a child process, which may die.
const verdictScript = `
import json, os, re, sys
from jaxlib.mlir import ir
from jax._src.interpreters import mlir as jm
ctx = jm.make_ir_context()
ctx.emit_error_diagnostics = False
def verdict(text):
    try:
        with ctx:
            ir.Module.parse(text)
        return ""
    except Exception as e:
        m = re.search(r"error: (.*)", str(e))
        return m.group(1) if m else str(e)
def batch(texts):
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(r)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        with os.fdopen(w, "w") as f:
            json.dump([verdict(t) for t in texts], f)
        os._exit(0)
    os.close(w)
    with os.fdopen(r) as f:
        data = f.read()
    _, status = os.waitpid(pid, 0)
    if status == 0:
        return json.loads(data)
    if len(texts) == 1:
        return ["crash"]
    half = len(texts) // 2
    return batch(texts[:half]) + batch(texts[half:])
texts = json.load(sys.stdin)
out = []
for i in range(0, len(texts), 100):
    out += batch(texts[i:i+100])
json.dump(out, sys.stdout)
`

// stricter lists messages of our verifier that follow the specification and that jaxlib's verifier lacks.
var stricter = []string{
	"is not equal to number of output dimensions",                   // dynamic_broadcast_in_dim: the shape has as many elements as the result dimensions
	"output shape is incompatible with return type of operation",    // dynamic_iota: likewise
	"does not divide into 2 groups of one size",                     // reduce: as many init_values as inputs
	"operand and result shapes must match except for the innermost", // bitcast_convert: equal widths keep the shape
}

var (
	tensorType = regexp.MustCompile(`tensor<[^<>]*(<[^<>]*>)?>`)
	number     = regexp.MustCompile(`\b\d+\b`)
)

// mutate changes all occurrences of a tensor type, or one number of the attributes, or calls restructure.
func mutate(r *rand.Rand, text string) string {
	if r.Intn(4) == 0 {
		return restructure(r, text)
	}
	if r.Intn(2) == 0 {
		types := tensorType.FindAllString(text, -1)
		if len(types) == 0 {
			return text
		}
		t := types[r.Intn(len(types))]
		return strings.ReplaceAll(text, t, mutateType(r, t))
	}
	i, j := strings.Index(text, "<{"), strings.Index(text, "}>")
	if i < 0 || j < i {
		return text
	}
	numbers := number.FindAllStringIndex(text[i:j], -1)
	if len(numbers) == 0 {
		return text
	}
	k := numbers[r.Intn(len(numbers))]
	return text[:i+k[0]] + [...]string{"0", "1", "2", "3", "4", "-1", "7", "64"}[r.Intn(8)] + text[i+k[1]:]
}

var (
	operandList = regexp.MustCompile(`(?m)^    (?:%\S+ = )?"[\w.-]+"\(([^)]*)\)`)
	scalarType  = regexp.MustCompile(`\b(index|i1|i32|i64|f32|none)\b`)
)

// restructure drops an attribute or changes the kind of its value, drops or doubles an operand, or changes a type
// other than a tensor.
func restructure(r *rand.Rand, text string) string {
	m := operandList.FindStringSubmatchIndex(text)
	if m == nil {
		return text
	}
	i, j := strings.Index(text[m[0]:], "<{"), strings.Index(text[m[0]:], "}>")
	if i >= 0 && j > i {
		i, j = i+m[0], j+m[0]
	}
	switch r.Intn(4) {
	case 0, 1:
		if i < 0 || j < i {
			return text
		}
		attrs := splitTypes(text[i+2 : j])
		k := r.Intn(len(attrs))
		name, _, _ := strings.Cut(attrs[k], " = ")
		if r.Intn(2) == 0 {
			attrs = append(attrs[:k:k], attrs[k+1:]...)
		} else {
			attrs[k] = name + " = " + [...]string{"unit", `"x"`, "1 : i32", "1 : i64", "-1 : i64", "[]", "@f", "true", "array<i64: 0>", "dense<0> : tensor<1xi64>", "f32"}[r.Intn(11)]
		}
		return text[:i+2] + strings.Join(attrs, ", ") + text[j:]
	case 2:
		at := strings.LastIndex(text[:strings.LastIndex(text, "func.return")], ": (")
		end := strings.Index(text[at:], ") ->")
		if at < m[3] || end < 0 {
			return text
		}
		names, types := strings.Split(text[m[2]:m[3]], ", "), splitTypes(text[at+3:at+end])
		if len(names) != len(types) || names[0] == "" {
			return text
		}
		k := r.Intn(len(names))
		if r.Intn(2) == 0 {
			names, types = append(names[:k:k], names[k+1:]...), append(types[:k:k], types[k+1:]...)
		} else {
			names, types = append(names, names[k]), append(types, types[k])
		}
		return text[:m[2]] + strings.Join(names, ", ") + text[m[3]:at+3] + strings.Join(types, ", ") + text[at+end:]
	}
	all := scalarType.FindAllString(text, -1)
	if len(all) == 0 {
		return text
	}
	t := all[r.Intn(len(all))]
	return regexp.MustCompile(`\b`+t+`\b`).ReplaceAllString(text, [...]string{"index", "i1", "i32", "i64", "f32", "tensor<2xi32>", "none"}[r.Intn(7)])
}

func mutateType(r *rand.Rand, t string) string {
	elems := []string{"complex<f32>", "bf16", "f32", "f64", "ui32", "i32", "i64", "i1", "i8"}
	body := strings.TrimSuffix(strings.TrimPrefix(t, "tensor<"), ">")
	switch r.Intn(4) {
	case 0: // one size
		parts := strings.SplitN(body, "x", 9)
		var dims []int
		for i, d := range parts {
			if _, err := strconv.Atoi(d); err == nil {
				dims = append(dims, i)
			}
		}
		if len(dims) == 0 {
			return t
		}
		parts[dims[r.Intn(len(dims))]] = [...]string{"0", "1", "2", "3", "4", "5", "8", "?"}[r.Intn(8)]
		return "tensor<" + strings.Join(parts, "x") + ">"
	case 1: // the element type
		for _, e := range elems {
			if strings.HasSuffix(body, e) {
				return "tensor<" + strings.TrimSuffix(body, e) + elems[r.Intn(len(elems))] + ">"
			}
		}
		return t
	case 2: // one dimension more
		return "tensor<2x" + body + ">"
	}
	if i := strings.Index(body, "x"); i > 0 && body[0] >= '0' && body[0] <= '9' { // one dimension less
		return "tensor<" + body[i+1:] + ">"
	}
	return t
}

// alone returns the generic text of a module with a function that has only op. The text is empty if the regions of op
// use values of the function around it.
func alone(m *ir.Module, op *ir.Op) string {
	out := ir.NewModule(m.Context(), nil)
	f := out.NewOp(&ir.OpState{Def: out.Def("func.func"), Regions: 1})
	body := f.Region(0).AddBlock()
	mapping := map[*ir.Value]*ir.Value{}
	var inputs []ir.Type
	for _, v := range op.Operands() {
		if mapping[v] != nil {
			continue
		}
		if c := v.DefiningOp(); c != nil && c.Name() == "stablehlo.constant" {
			out.AtEnd(body).Clone(c, mapping)
			continue
		}
		mapping[v] = body.AddArg(v.Type(), nil)
		inputs = append(inputs, v.Type())
	}
	captures := false
	op.Walk(func(o *ir.Op) bool {
		outside := func(b *ir.Block) bool {
			at := b.Parent()
			for at != nil && at != op {
				at = at.Parent()
			}
			return at == nil
		}
		for _, v := range o.Operands() {
			captures = captures || o != op && outside(v.ParentBlock())
		}
		captures = captures || slices.ContainsFunc(o.Successors(), outside)
		return true
	})
	if captures {
		return ""
	}
	out.AtEnd(body).Clone(op, mapping)
	body.Append(out.NewOp(&ir.OpState{Def: out.Def("func.return")}))
	f.SetAttr("sym_name", ir.NewString("f"))
	f.SetAttr("function_type", ir.NewTypeAttr(m.Context().Function(inputs, nil)))
	out.Body().Append(f)
	return print.String(out, print.Options{Generic: true})
}

// unknownThere lists the dialects that jaxlib does not know.
var unknownThere = map[string]bool{"check": true, "interpreter": true, "hlocb": true}

// mutants returns the sample of each operation and variations of it.
func mutants(t *testing.T, reg *ir.Registry, perOp int) []string {
	t.Helper()
	r := rand.New(rand.NewSource(1))
	var out []string
	for _, f := range testkit.Glob(t, "ops/*.mlir") {
		if base := filepath.Base(f); base == "sdy.mlir" || base == "mpmd.mlir" || strings.Contains(base, "newer") || strings.Contains(base, "quantized") {
			continue // jaxlib does not know these ops, or shardings_test.go tests them
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		m, err := parse.Parse(diag.NewSource(f, text), ir.NewContext(reg), parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		m.Walk(func(op *ir.Op) bool {
			if p := op.Parent(); p == nil || p.Name() != "func.func" || op.Has(ir.Terminator) || unknownThere[op.Def().Dialect()] || op.Name() == "func.call" || op.Name() == "func.constant" {
				return true
			}
			base := alone(m, op)
			if base == "" {
				return true
			}
			out = append(out, base)
			seen := map[string]bool{base: true}
			for range perOp {
				x := mutate(r, base)
				if r.Intn(3) == 0 {
					x = mutate(r, x)
				}
				if !seen[x] {
					seen[x] = true
					out = append(out, x)
				}
			}
			return true
		})
	}
	return out
}

// TestVerifierOnMutants changes types and attributes of the sample of each operation and checks that hlocb refuses the
// modules that jaxlib refuses.
func TestVerifierOnMutants(t *testing.T) {
	peer.Each(t, label.Part, checkVerifierOnMutants)
}

func checkVerifierOnMutants(t *testing.T, p *peer.Interpreter) {
	py := p
	reg := testkit.Registry(t)
	perOp, want := 25, 97
	if os.Getenv("HLOCB_LONG") != "" {
		perOp, want = 400, 95
	}
	texts := mutants(t, reg, perOp)
	theirs := verdicts(t, py, texts)
	refused, same, known, kinds := 0, 0, 0, 0
	for i, text := range texts {
		if theirs[i] == "crash" {
			continue
		}
		list := findings(reg, diag.NewSource("mutant", []byte(text)))
		if len(list) > 0 {
			refused++
		}
		if (len(list) > 0) == (theirs[i] != "") {
			switch {
			case len(list) > 0 && strings.Contains(theirs[i], list[0].Message):
				same++
			case strings.Contains(theirs[i], "invalid properties {"):
				kinds++ // MLIR then prints all attributes of the operation instead of the expected kind
			}
			continue
		}
		ours := "accepted"
		if len(list) > 0 {
			ours = list[0].Message
		}
		if isStricter(ours) {
			known++
			continue
		}
		t.Errorf("here: %s\njaxlib: %s\n%s", ours, theirs[i], text)
	}
	if worded := refused - kinds - known; same*100 < worded*want {
		t.Errorf("%d of %d with jaxlib's very message, want %d%%", same, worded, want)
	}
	t.Logf("%d modules: %d refused, %d of them with jaxlib's very message, %d for an attribute of another kind, %d by the specification alone", len(texts), refused, same, kinds, known)
}

func isStricter(message string) bool {
	for _, s := range stricter {
		if strings.Contains(message, s) {
			return true
		}
	}
	return false
}
