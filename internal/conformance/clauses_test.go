package conformance_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/testkit"
)

var updateClauses = flag.Bool("update-clauses", false, "write what the verifier says into testdata/clauses.txt")

// violation is one line of testdata/clauses.txt: a module that breaks one clause of an operation.
type violation struct {
	op, clause string
	valid      string // the module without the violation
	text       string
	message    string // the expected message
	line       int    // of the file, from 1
}

var (
	blockName  = regexp.MustCompile(`"(stablehlo\.)\{([^}]*)\}"`)
	blockOp    = regexp.MustCompile(`(?m)^"(stablehlo\.[\w-]+)"\(([^)]*)\)`)
	clauseLine = regexp.MustCompile(`^(C\d+)\t(.*)$`)
	decomposed = "func.func private @decomposition(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }\n"
)

// violations reads testdata/clauses.txt; see its head.
func violations(t *testing.T) (out []violation, lines []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "clauses.txt"))
	if err != nil {
		t.Fatal(err)
	}
	lines = strings.Split(string(text), "\n")
	var block []string
	open := true // the block accepts more lines
	for i, l := range lines {
		m := clauseLine.FindStringSubmatch(l)
		switch {
		case strings.HasPrefix(l, "#") || strings.HasPrefix(l, "\t"):
		case l == "":
			block, open = nil, true
		case m == nil && open:
			block = append(block, l)
		case m == nil:
			t.Fatalf("testdata/clauses.txt:%d: neither an operation nor a violation", i+1)
		default:
			open = false
			message := ""
			if i+1 < len(lines) && strings.HasPrefix(lines[i+1], "\t") {
				message = lines[i+1][1:]
			}
			for _, b := range expand(strings.Join(block, "\n")) {
				v := violation{clause: m[1], message: message, line: i + 1}
				v.op, v.valid = wrap(t, b)
				for _, r := range strings.Split(m[2], " ; ") {
					old, new, ok := strings.Cut(r, " => ")
					if !ok || !strings.Contains(b, old) {
						t.Fatalf("testdata/clauses.txt:%d: %q is not in the block", i+1, old)
					}
					b = strings.Replace(b, old, strings.ReplaceAll(new, `\n`, "\n"), 1)
				}
				_, v.text = wrap(t, b)
				out = append(out, v)
			}
		}
	}
	return out, lines
}

// expand returns a block for each operation in braces.
func expand(block string) []string {
	m := blockName.FindStringSubmatch(block)
	if m == nil {
		return []string{block}
	}
	var out []string
	for _, name := range strings.Split(m[2], ",") {
		out = append(out, strings.Replace(block, m[0], `"`+m[1]+name+`"`, 1))
	}
	return out
}

// wrap makes a module of a block. The function's arguments are the operands that the block does not define.
func wrap(t *testing.T, block string) (op, module string) {
	m := blockOp.FindStringSubmatch(block)
	if m == nil {
		t.Fatalf("no operation in\n%s", block)
	}
	sig := block[strings.LastIndex(block, ": (")+2:]
	types := splitTypes(sig[1:strings.Index(sig, ") ->")])
	var args []string
	for i, name := range strings.Split(m[2], ", ") {
		if name != "" && !strings.Contains(block, name+" = ") && i < len(types) {
			args = append(args, name+": "+types[i])
		}
	}
	return m[1], "func.func @f(" + strings.Join(args, ", ") + ") {\n" + block + "\nreturn\n}\n" + decomposed
}

// splitTypes splits a list of types at its outermost commas.
func splitTypes(list string) []string {
	var out []string
	depth, start := 0, 0
	for i, c := range list {
		switch c {
		case '<', '(', '{':
			depth++
		case '>', ')', '}':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(list[start:i]))
				start = i + 1
			}
		}
	}
	return append(out, strings.TrimSpace(list[start:]))
}

// TestClauses breaks every clause of the specification that a row lists, and expects the verifier's message.
func TestClauses(t *testing.T) {
	reg := testkit.Registry(t)
	all, lines := violations(t)
	broken := map[string]bool{}
	said := map[int]string{}
	for _, v := range all {
		broken[v.op+" "+v.clause] = true
		if list := findings(reg, diag.NewSource("valid", []byte(v.valid))); len(list) > 0 {
			t.Errorf("testdata/clauses.txt:%d: the block is not valid: %s\n%s", v.line, list[0].Message, v.valid)
			continue
		}
		list := findings(reg, diag.NewSource("violation", []byte(v.text)))
		if len(list) == 0 {
			t.Errorf("testdata/clauses.txt:%d: %s %s: the violation is taken\n%s", v.line, v.op, v.clause, v.text)
			continue
		}
		got := strings.ReplaceAll(list[0].Message, "'"+v.op+"'", "")
		if said[v.line] == "" {
			said[v.line] = strings.TrimSpace(strings.TrimPrefix(got, " op "))
		}
		if !*updateClauses && !strings.Contains(list[0].Message, v.message) {
			t.Errorf("testdata/clauses.txt:%d: %s %s: got %q, want %q; -update-clauses writes what the verifier says", v.line, v.op, v.clause, list[0].Message, v.message)
		}
	}
	numbered, checked := 0, 0
	for _, d := range reg.Dialect("stablehlo").Ops {
		for i, c := range d.Clauses {
			numbered++
			if want := "C" + strconv.Itoa(i+1); c.No != want {
				t.Errorf("%s: clause %d has the number %q", d.Name, i+1, c.No)
			}
			if broken[d.Name+" "+c.No] {
				checked++
			} else if c.Unchecked == "" {
				t.Errorf("%s %s: %s: nothing in testdata/clauses.txt breaks it: add a line there, or set Unchecked in the row to the reason", d.Name, c.No, c.Text)
			}
		}
	}
	for name, n := range specification {
		def := reg.Lookup("stablehlo." + name)
		if def == nil || len(def.Clauses) != n {
			t.Errorf("stablehlo.%s: the specification has %d constraints, the row %d", name, n, len(def.Clauses))
		}
	}
	t.Logf("%d constraints of %d operations; each of %d is broken by a module, which is refused; of the others the rows say why not", numbered, len(specification), checked)
	if *updateClauses && !t.Failed() {
		var out []string
		for i, l := range lines {
			if !strings.HasPrefix(l, "\t") {
				out = append(out, l)
			}
			if s := said[i+1]; s != "" {
				out = append(out, "\t"+s)
			}
		}
		if err := os.WriteFile(filepath.Join("testdata", "clauses.txt"), []byte(strings.Join(out, "\n")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// specification holds the number of constraints in the StableHLO specification, by operation.
var specification = map[string]int{
	"abs": 2, "add": 7, "all_gather": 6, "all_reduce": 7, "all_to_all": 9, "and": 1, "async_done": 1, "async_start": 2, "atan2": 1,
	"batch_norm_grad": 5, "batch_norm_inference": 7, "batch_norm_training": 7, "bitcast_convert": 2, "broadcast_in_dim": 6,
	"case": 4, "cbrt": 1, "ceil": 1, "cholesky": 3, "clamp": 4, "collective_broadcast": 3, "collective_permute": 5,
	"collective_reduce": 6, "compare": 3, "complex": 3, "composite": 4, "concatenate": 6, "constant": 1, "convert": 1,
	"convolution": 34, "cosine": 1, "count_leading_zeros": 1, "divide": 1, "dot_general": 24, "dynamic_broadcast_in_dim": 10,
	"dynamic_conv": 34, "dynamic_gather": 14, "dynamic_iota": 2, "dynamic_pad": 4, "dynamic_reshape": 4, "dynamic_slice": 5,
	"dynamic_update_slice": 6, "exponential": 1, "exponential_minus_one": 1, "fft": 5, "floor": 1, "gather": 23,
	"get_dimension_size": 1, "get_tuple_element": 2, "if": 3, "imag": 2, "infeed": 3, "iota": 1, "is_finite": 1, "log": 1,
	"log_plus_one": 1, "logistic": 1, "map": 4, "maximum": 1, "minimum": 1, "multiply": 1, "negate": 1, "not": 1,
	"optimization_barrier": 1, "or": 1, "pad": 4, "popcnt": 1, "power": 1, "real": 2, "recv": 4, "reduce": 8,
	"reduce_precision": 3, "reduce_scatter": 9, "reduce_window": 16, "remainder": 1, "reshape": 3, "reverse": 3, "rng": 3,
	"rng_bit_generator": 2, "round_nearest_afz": 1, "round_nearest_even": 1, "rsqrt": 1, "scatter": 25, "select": 2,
	"select_and_scatter": 12, "send": 1, "shift_left": 1, "shift_right_arithmetic": 1, "shift_right_logical": 1, "sign": 1,
	"sine": 1, "slice": 5, "sort": 5, "sqrt": 1, "subtract": 1, "tan": 1, "tanh": 1, "transpose": 4, "triangular_solve": 4,
	"tuple": 1, "uniform_dequantize": 2, "uniform_quantize": 2, "while": 3, "xor": 1,
}

// TestClausesAsMLIR checks that jaxlib refuses the violations too, except for the violations in stricter.
func TestClausesAsMLIR(t *testing.T) {
	peer.Each(t, label.Part, checkClausesAsMLIR)
}

func checkClausesAsMLIR(t *testing.T, p *peer.Interpreter) {
	py := p
	all, _ := violations(t)
	var texts []string
	for _, v := range all {
		texts = append(texts, v.valid, v.text)
	}
	theirs := verdicts(t, py, texts)
	reg := testkit.Registry(t)
	refused, newer, beyond := 0, 0, 0
	for i, v := range all {
		valid, said := theirs[2*i], theirs[2*i+1]
		switch {
		case strings.Contains(valid, "unregistered operation") || strings.Contains(valid, "unregistered dialect"):
			newer++ // jaxlib has no quant dialect, and an older StableHLO
		case valid != "":
			t.Errorf("testdata/clauses.txt:%d: jaxlib does not take the block: %s\n%s", v.line, valid, v.valid)
		case said != "" && said != "crash":
			refused++
		default:
			if list := findings(reg, diag.NewSource("violation", []byte(v.text))); len(list) > 0 && isStricter(list[0].Message) {
				beyond++
				continue
			}
			t.Errorf("testdata/clauses.txt:%d: %s %s: jaxlib takes the violation\n%s", v.line, v.op, v.clause, v.text)
		}
	}
	t.Logf("%d violations: jaxlib refuses %d, knows %d operations not yet, and takes %d that the specification forbids", len(all), refused, newer, beyond)
}
