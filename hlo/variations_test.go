package hlo_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
)

// xlaScript reads a list of texts as JSON and writes for each text XLA's print, its error, or neither if XLA ends the
// process.
const xlaScript = `
import json, os, signal, sys
from jaxlib import _hlo
options = _hlo.HloPrintOptions()
options.print_large_constants = True
texts, out = json.load(sys.stdin), []
null = os.open(os.devnull, os.O_WRONLY)
while len(out) < len(texts):
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(null, 2)
        pipe = os.fdopen(w, "w")
        for text in texts[len(out):]:
            signal.alarm(20)
            try:
                v = {"Text": _hlo.hlo_module_from_text(text).to_string(options)}
            except Exception as e:
                v = {"Error": str(e)[:600]}
            pipe.write(json.dumps(v) + "\n")
            pipe.flush()
        pipe.close()
        os._exit(0)
    os.close(w)
    with os.fdopen(r) as pipe:
        out += [json.loads(l) for l in pipe if l.endswith("\n")]
    os.waitpid(pid, 0)
    if len(out) < len(texts):
        out.append({})
json.dump(out, sys.stdout)
`

// verdict is XLA's print of a text, or its error, or neither.
type verdict struct{ Text, Error string }

func xla(t *testing.T, p *peer.Interpreter, texts []string) []verdict {
	t.Helper()
	input, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	var out []verdict
	if len(texts) == 0 {
		return nil
	}
	if err := json.Unmarshal(p.Run(t, xlaScript, input), &out); err != nil || len(out) != len(texts) {
		t.Fatalf("%d answers for %d texts: %v", len(out), len(texts), err)
	}
	return out
}

// every keeps each nth text and the texts between as the first part and the other part.
func every(n int, texts []string, part func(first bool) bool) []string {
	var out []string
	for i, text := range texts {
		if part(i%n == 0) {
			out = append(out, text)
		}
	}
	return out
}

// compareWithXLA reports each text that hlocb reads and XLA refuses, or the reverse, or that they print differently.
func compareWithXLA(t *testing.T, p *peer.Interpreter, texts []string) {
	theirs := xla(t, p, texts)
	var prints []string
	var printed []int
	counts := map[string]int{}
	for i, text := range texts {
		m, err := hlo.Parse(diag.NewSource("test.hlo", []byte(text)))
		switch v := theirs[i]; {
		case v == (verdict{}):
			counts["XLA ends the process"]++
		case v.Error != "" && err != nil:
			counts["refused"]++
		case strings.Contains(v.Error, "bad_alloc"):
			counts["XLA runs out of memory"]++
		case strings.Contains(v.Error, "computation does not exist"):
			counts["named before its definition"]++
		case v.Error != "":
			t.Errorf("accepted, but XLA refuses it: %s\n%s", firstError(v.Error), text)
		case err != nil && strings.Contains(err.Error(), "the dimensions of a layout must be a permutation") ||
			err != nil && strings.Contains(err.Error(), "but the list has another number"):
			counts["layout or groups without meaning"]++
		case err != nil && strings.Contains(err.Error(), "expected ')', found '}'"): // XLA reads {1,0:E(4} as {1,0:E(4)}
			counts["parenthesis not closed in a layout"]++
		case err != nil && strings.Contains(text, `origin={{"a"}, {"b"}}`): // XLA 0.12 forgets the first
			counts["origin given twice"]++
		case err != nil && strings.Contains(err.Error(), "expected groups of more than one device"): // XLA 0.12 reads them
			counts["groups of one device"]++
		case err != nil:
			t.Errorf("refused, but XLA accepts it: %v\n%s", err, text)
		default:
			counts["accepted"]++
			prints = append(prints, string(m.AppendText(nil, hlo.TextOptions{})))
			printed = append(printed, i)
		}
	}
	for k, v := range xla(t, p, prints) {
		if v == (verdict{}) {
			counts["XLA takes too long"]++
			continue
		}
		if got, want := comparableText(v.Text), comparableText(theirs[printed[k]].Text); got != want {
			t.Errorf("XLA reads another module from hlocb's print: %s%s\n%s", v.Error, firstDifference(got, want), texts[printed[k]])
		}
	}
	t.Log(counts)
}

var (
	minusZero  = regexp.MustCompile(`([ ({])-0([,)} ])`)
	complexNaN = regexp.MustCompile(`\((-?nan(?:\(0x[0-9a-f]+\))?), [^()]*(?:\(0x[0-9a-f]+\))?\)`)
)

// comparableText returns text without the parts of constants that XLA loses when it reads them: the sign of -0, the
// imaginary part after a NaN, E(n).
func comparableText(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "HloModule ") {
			lines[i] = elementBits.ReplaceAllString(l, "}")
		} else if head, value, ok := strings.Cut(l, " constant("); ok {
			value = complexNaN.ReplaceAllString(minusZero.ReplaceAllString(minusZero.ReplaceAllString(" "+value, "${1}0$2"), "${1}0$2"), "($1, nan)")
			lines[i] = elementBits.ReplaceAllString(head, "}") + " constant(" + value
		}
	}
	return strings.Join(lines, "\n")
}

var elementBits = regexp.MustCompile(`:E\(\d+\)\}`)

func firstError(s string) string {
	if i := strings.Index(s, "error: "); i >= 0 {
		s = s[i:]
	}
	line, _, _ := strings.Cut(s, "\n")
	return line
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d:\n got %s\nwant %s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

var pieces = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|/\*.*?\*/|%?[A-Za-z_][\w.-]*[=:]?|-?[0-9][\w.+-]*|\s+|.`)

// spellings are pieces that a mutation puts into a text.
var spellings = strings.Fields(`-0 -0.0 0 1 2 3 7 -1 00 1.5 .5 5. 1e2 1E+2 -1.e-1 nan -nan inf -inf nan(0x1) nan(0x0) -nan(0xfffffffffffff) 9223372036854775808
	18446744073709551615 18446744073709551616 1e400 1e-400 65520 0x10 1_1 1_1x0_0 1_1_1 -1_2 3x3 3x3x3 b01f_01io->b01f bf_io->bf ?bf_?io->?bf true false
	f32[] f32[2] f32[2,2] f32[2]{0} f32[2,2]{0,1} f32[<=2] f32[?] s4[2]{0:E(4)} u2[] s1[] f8e4m3fn[] f6e2m3fn[2] f4e2m1fn[2] f8e8m0fnu[] bf16[] c64[] c128[] pred[]
	token[] opaque[] token (f32[],s32[]) () b(f32[4]) f32[2]{0:T(2)} f32[2]{0:T(8,128)(2,1)S(1)} f32[]{:T(128)} f32[2]{0:S(1)} f32[2]{0:T(*,2)} f32[2]{0:L(8)} f32[2]{0:M(8)} f32[2]{0:SC(0:1)} f32[2]{0:D(D)}
	{ } ( ) [ ] , , = : ? * # + ~ < > <= -> ... ; @ ! % %x /**/ /* // {...} {} {{}} {0} {0,1} {{0,1}} {1,0} {{0},{1}}
	[2,1]<=[2] [1,2]<=[2]T(0) [2,2]<=[2,2]T(1,0) mesh['a'=2]{'a'} mesh['a'=2,'b'=2]{'a','b':(1)2}
	{replicated} {manual} {unknown} {unreduced} {maximal device=0} {devices=[2]<=[2]} {devices=[2]0,1} {devices=[2,1]0,1} {{replicated}} {mesh['a'=2],[{'a'}]} {maximal_mesh[device_id=0]}
	{mesh['a'=2],replicated} {mesh['a'=2],[{?}]} {shard_as 1} replicated maximal manual
	ROOT ENTRY HloModule FileNames x y a main "a" 'a' "\x41" "\101" "\n" "" "\q" "é" {a=1:i64} {"k":"}"} EQ LT FLOAT TOTALORDER SIGNED highest default kLoop
	dimensions={0} dimensions={} sharding={replicated} metadata={op_name="a"} metadata={} metadata={op_name="a",source_line=3} metadata={source_line=3} frontend_attributes={a="b"} frontend_attributes={a={b}}
	backend_config="x" backend_config={"a":1} control-predecessors={} control-predecessors={x} statistics={visualizing_index=0,a=1} origin={{"a"}} parameter_replication={true}
	channel_id=1 channel_id=0 is_scheduled=true is_stable=true result_accuracy={mode=highest} result_accuracy={tolerance={atol=1,rtol=0.5,ulps=2}} index=0 direction=EQ type=FLOAT
	window={size=2} window={size=2x2 stride=1x1} window={} window={size=1,stride=1} slice={[0:1]} slice={[0:1:1]} padding=0_0 padding=0_0_0 iota_dimension=0 execution_thread="a"
	operand_precision={highest,default} algorithm=dot_bf16_bf16_f32 replica_groups={} replica_groups={{0,1}} replica_groups=[1,2]<=[2] source_target_pairs={{0,1}} literal=f32[2]{1,2}
	custom_call_target="f" api_version=API_VERSION_TYPED_FFI api_version=API_VERSION_ORIGINAL schedule=SCHEDULE_LATEST custom_call_has_side_effect=true output_to_operand_aliasing={{}:(0,{})} use_global_device_ids=true`)

// mutate changes text in one of the ways that XLA's reader may or may not allow. others are texts to take pieces from.
func mutate(r *rand.Rand, text string, others []string) string {
	list := pieces.FindAllString(text, -1)
	if len(list) == 0 {
		return text
	}
	at := r.IntN(len(list))
	word := func() string {
		switch r.IntN(4) {
		case 0:
			return list[r.IntN(len(list))]
		case 1:
			o := pieces.FindAllString(others[r.IntN(len(others))], -1)
			return o[r.IntN(len(o))]
		}
		return spellings[r.IntN(len(spellings))]
	}
	switch r.IntN(20) {
	case 0:
		list = slices.Delete(list, at, at+1)
	case 1:
		list = slices.Insert(list, at, list[at])
	case 2, 3:
		list[at] = word()
	case 4:
		list = slices.Insert(list, at, word())
	case 5:
		list = slices.Insert(list, at, " "+word()+" ")
	case 6:
		if at+1 < len(list) {
			list[at], list[at+1] = list[at+1], list[at]
		}
	case 7:
		list = slices.Insert(list, at, []string{" ", "/* c */", " // c\n", "\n", "\t", "\r\n", "/**/"}[r.IntN(7)])
	case 8: // an attribute of another instruction
		o := attributes.FindAllString(others[r.IntN(len(others))], -1)
		lines := strings.Split(text, "\n")
		if k := r.IntN(len(lines)); len(o) > 0 && strings.Contains(lines[k], " = ") {
			lines[k] += o[r.IntN(len(o))]
		}
		return strings.Join(lines, "\n")
	case 9: // drop a type
		types := resultTypes.FindAllStringIndex(text, -1)
		if len(types) > 0 {
			k := types[r.IntN(len(types))]
			return text[:k[0]] + " = " + text[k[1]:]
		}
	case 10: // change a number
		numbers := digits.FindAllStringIndex(text, -1)
		if len(numbers) > 0 {
			k := numbers[r.IntN(len(numbers))]
			return text[:k[0]] + spellings[r.IntN(37)] + text[k[1]:]
		}
	case 11: // drop an attribute
		if a := attributes.FindAllStringIndex(text, -1); len(a) > 0 {
			k := a[r.IntN(len(a))]
			return text[:k[0]] + text[k[1]:]
		}
	case 12: // another type everywhere
		if old := types.FindString(text); old != "" {
			return strings.ReplaceAll(text, old, typeNames[r.IntN(len(typeNames))]+"[")
		}
	case 13: // attributes in another order
		lines := strings.Split(text, "\n")
		k := r.IntN(len(lines))
		if a := attributes.FindAllString(lines[k], -1); len(a) > 1 && strings.HasSuffix(lines[k], strings.Join(a, "")) {
			head := strings.TrimSuffix(lines[k], strings.Join(a, ""))
			r.Shuffle(len(a), func(i, j int) { a[i], a[j] = a[j], a[i] })
			lines[k] = head + strings.Join(a, "")
		}
		return strings.Join(lines, "\n")
	case 14: // comments and blanks everywhere
		for i, p := range list {
			if r.IntN(8) == 0 && strings.TrimSpace(p) == "" {
				list[i] = []string{" /* x=1 */ ", "  ", "\n", " // }\n", "\t/**/"}[r.IntN(5)]
			}
		}
	case 15:
		return strings.ReplaceAll(text, "%", "")
	case 16: // no header
		if _, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(text, "HloModule") {
			return rest
		}
	case 17: // one instruction
		lines := strings.Split(text, "\n")
		return lines[r.IntN(len(lines))]
	case 18, 19: // an attribute of the list
		lines := strings.Split(text, "\n")
		if k, a := r.IntN(len(lines)), spellings[r.IntN(len(spellings))]; strings.Contains(lines[k], " = ") && strings.Contains(a, "={") {
			lines[k] += ", " + a
		}
		return strings.Join(lines, "\n")
	}
	return strings.Join(list, "")
}

var typeNames = strings.Fields("pred s1 s2 s4 s8 s16 s32 s64 u1 u2 u4 u8 u16 u32 u64 f16 bf16 f32 f64 f8e5m2 f8e4m3 f8e4m3fn f8e4m3b11fnuz f8e3m4 f8e5m2fnuz f8e4m3fnuz f4e2m1fn f8e8m0fnu f6e3m2fn f6e2m3fn c64 c128")

var (
	types       = regexp.MustCompile(`\b[a-z]+[0-9]+[a-z0-9]*\[`)
	attributes  = regexp.MustCompile(`, [\w-]+=(?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|[^ ,{}]+)`)
	resultTypes = regexp.MustCompile(` = (?:\([^=]*?\)|[a-z0-9]+\[[^ ]*) `)
	digits      = regexp.MustCompile(`-?\b[0-9]+(?:\.[0-9]+)?\b`)
)

// TestVariations changes real texts at random and compares the outcome with XLA's.
func TestVariations(t *testing.T) {
	texts := seeds
	if dir := os.Getenv("HLOCB_HLO"); dir != "" {
		files, err := filepath.Glob(filepath.Join(dir, "*", "*.hlo"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if strings.Contains(f, "elided") {
				continue
			}
			if info, err := os.Stat(f); err == nil && info.Size() < 4000 {
				data, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				texts = append(texts, strings.ToValidUTF8(string(data), "?"))
			}
		}
	}
	n, _ := strconv.Atoi(os.Getenv("HLOCB_VARIATIONS"))
	seed, _ := strconv.ParseUint(os.Getenv("HLOCB_SEED"), 10, 64)
	r := rand.New(rand.NewPCG(seed, 17))
	var changed []string
	for range max(n, 400) {
		text := texts[r.IntN(len(texts))]
		for range 1 + r.IntN(2) {
			text = mutate(r, text, texts)
		}
		changed = append(changed, text)
	}
	peer.Each(t, label.Part, func(t *testing.T, p *peer.Interpreter) { compareWithXLA(t, p, changed) })
}

// TestInferredTypes compares the types that elementwise instructions of every element type have if the text omits them.
func TestInferredTypes(t *testing.T) {
	var texts []string
	for n, names := range []string{
		`abs acos acosh asin asinh atanh cbrt ceil copy cosine cosh count-leading-zeros erf exponential exponential-minus-one floor imag is-finite log log-plus-one logistic
		negate not popcnt real round-nearest-afz round-nearest-even rsqrt sign sine sinh sqrt tan tanh`,
		`add and atan2 complex divide maximum minimum mulhi multiply or power remainder shift-left shift-right-arithmetic shift-right-logical subtract xor`,
	} {
		for _, op := range strings.Fields(names) {
			for _, elem := range typeNames {
				texts = append(texts, fmt.Sprintf("HloModule m\nENTRY e { p = %s[2] parameter(0) ROOT r = %s(p%s) }", elem, op, strings.Repeat(", p", n)))
			}
		}
	}
	peer.EachPart(t, label.Part, func(t *testing.T, p *peer.Interpreter, part func(first bool) bool) {
		compareWithXLA(t, p, every(3, texts, part))
	})
}

// TestSpellingsAsXLA reads types, literals, attributes and modules in spellings that XLA's reader accepts, and in some
// that it refuses.
func TestSpellingsAsXLA(t *testing.T) {
	var texts []string
	each := func(format string, list ...string) {
		for _, s := range list {
			texts = append(texts, "HloModule m\n"+strings.ReplaceAll(format, "@", s))
		}
	}
	each("ENTRY e { ROOT c = @ parameter(0) }",
		"f32[8]{0:T(0)}", "f32[8]{0:T()}", "f32[8]{0:T(*)}", "f32[8,8]{1,0:T(*,8)(2,1)}", "f32[8]{0:T(8,128)(2,1)S(5)}", "f32[8]{0:S(-1)}", "f32[8]{0:E(32)}",
		"f32[8]{0:L(1)}", "f32[8]{0:L(64)}", "f32[8]{0:M(-3)}", "f32[8]{0:M(16)}", "f32[8]{0:SC(0:3)}", "f32[8,4]{1,0:SC(0:3,5)(1:2)}", "f32[8]{0:SC(0)}", "f32[8]{0:E(32)S(2)}",
		"f32[8]{0:S(2)E(32)}", "f32[8]{0: }", "f32[8]{0:}", "f32[]{}", "f32[]{:}", "f32[]{:S(1)}", "f32[]{:T(128)}", "token[]{}", "token[]", "token", "opaque[]", "f32[8] {0}", "f32 [8] {0}",
		"f32[ 8, 4 ]", "f32[8]{ 0}", "f32[8]{/* c */0}", "f32[8]/* c */{0}", "f32[8,4]{0, 1}", "f32[<= 8]", "f32[<=8,?]", "f32[?]", "f32[-1]", "F32[1]", "f32[0]", "f32[8]{0:D(D)}",
		"f32[8,4]{1,0:D(D,C)}", "f32[8]{0:D(D+)}", "f32[8]{0:D(D~)}", "f32[8]{0:D(X)}", "f32[8]{0:#(u32)*(u16)}", "f32[8]{0:#(s32)}", "f32[8]{0:#(f32)}", "f32[8]{0:P(f32[8]{0})}",
		"()", "(f32[])", "(f32[1], /*index=1*/ token[])", "((), (f32[], ()))", "(f32[1],)", "b(f32[4])", "b(f32[4]{0:S(1)})", "b((f32[4]))", "b(token[])", "(b(f32[4]), s32[])",
		"s4[8]{0:E(4)}", "s4[8]{0:T(2,8)E(4)}", "u1[8]", "s1[8]{0:E(1)}", "f4e2m1fn[2]", "f6e2m3fn[2]", "f6e3m2fn[2]", "f8e8m0fnu[2]", "f8e4m3b11fnuz[]", "c128[]", "f32", "f32[",
		"f32[9223372036854775807]", "f32[9223372036854775808]", "f32[4294967296,4294967296]", "pred[2]{0}S(1)", "pred[]{0}", "f32[2]{1}", "f32[2,2]{0}")
	for _, elem := range typeNames {
		each("ENTRY e { ROOT c = "+elem+"[] constant(@) }", "0", "-0", "1", "-1", "2", "7", "8", "15", "127", "128", "255", "256", "-128", "-129", "65535", "65536", "4294967296", "-9223372036854775808",
			"18446744073709551615", "18446744073709551616", "0.0", "-0.0", "1.5", ".5", "5.", "-.5", "1e2", "1E+2", "1e-2", "3.", "0x10", "1_1", "nan", "-nan", "inf", "-inf", "nan(0x1)",
			"-nan(0x7)", "nan(0x0)", "nan(0xfffffffffffff)", "nan(1)", "true", "false", "1e400", "1e-400", "65504", "65520", "65519.9", "3.4028235e38", "3.4028236e38", "448", "464", "465", "57344", "61440",
			"61441", "6", "7.5", "28", "30", "0.0625", "0.03", "(1, 2)", "(1,2.5)", "(nan, 1)", "(-inf, -0)", "(1 2)", "(1)", "{1}", "1 2", "\"1\"", "")
	}
	each("ENTRY e { ROOT c = @ }", "f32[2] constant({1, 2})", "f32[2] constant({1 2})", "f32[2] constant({1,,2})", "f32[2] constant({,1,2,})", "f32[2] constant({1})", "f32[2] constant({1,2,3})", "f32[2] constant(1)",
		"f32[2,1] constant({{1},{2}})", "f32[2,1] constant({{1}{2}})", "f32[2,1] constant({1,2})", "f32[0] constant({})", "f32[2,0] constant({{},{}})", "f32[2,0] constant({})", "f32[0,2] constant({})",
		"(f32[], s32[2]) constant((1, {2, 3}))", "(f32[], s32[2]) constant((1 {2, 3}))", "() constant(())", "((f32[]), f32[]) constant(((1), 2))", "f32[2]{0:S(1)} constant({1, 2})", "f32[2,2]{0,1} constant({{1,2},{3,4}})",
		"f32[1,1,1,1] constant({{{{1}}}})", "f32[1,1,1,1] constant({/*i0=0*/{/*i1=0*/{{1}}}})", "s4[3]{0:E(4)} constant({1,2,3})", "pred[3] constant({1, 0, true})", "pred[2] constant({true, 2})", "c64[2] constant({(1,2),(3, 4)})",
		"token[] constant(1)", "f32[2] constant({nan, -nan(0x3)})", "f32[2] constant({1, // one\n 2})", "s32[2] constant({1.0, 2})")
	each("ENTRY e { p = f32[4] parameter(0) ROOT c = f32[4] negate(p), @ }",
		"sharding={}", "sharding={replicated}", "sharding={ replicated }", "sharding={manual}", "sharding={unknown}", "sharding={unreduced}", "sharding={maximal device=3}", "sharding={maximal}", "sharding={maximal device=-1}",
		"sharding={devices=[2]0,1}", "sharding={devices=[2]<=[2]}", "sharding={devices=[1]0}", "sharding={devices=[1]<=[1]}", "sharding={devices=[2,2]<=[2,2]T(1,0) last_tile_dim_replicate}", "sharding={devices=[2,2]<=[2,2]}",
		"sharding={devices=[2,2]0,1,2,3 last_tile_dim_replicate}", "sharding={devices=[2,2]<=[4] last_tile_dims={manual}}", "sharding={devices=[2,2]<=[4] last_tile_dims={manual, replicated}}", "sharding={devices=[2,2]<=[4] last_tile_dims={}}",
		"sharding={devices=[2]<=[2] shard_as 1}", "sharding={replicated shard_like 2}", "sharding={shard_as 1 replicated}", "sharding={devices=[2]<=[2] metadata={op_name=\"a\"}}", "sharding={devices=[2]<=[2] metadata={{op_name=\"a\"}, {op_name=\"b\"}}}",
		"sharding={devices=[2]<=[2] metadata={}}", "sharding={{replicated}}", "sharding={{replicated}, {manual}}", "sharding={replicated, manual}", "sharding={replicated manual}", "sharding={devices=[2]<=[2], last_tile_dim_replicate}",
		"sharding={mesh['x'=4], [{'x'}]}", "sharding={mesh['x'=4],[{'x'}]}", "sharding={mesh['x'=4] [{'x'}]}", "sharding={mesh['x'=4,'y'=2], [{'x', 'y'}]}", "sharding={mesh['x'=4,'y'=2], [{'x', ?}], replicated={'y'}}",
		"sharding={mesh['x'=4], [{'x':(1)2}]}", "sharding={mesh['x'=4], [{'x':(2)2}]}", "sharding={mesh['x'=4], [{}], unreduced={'x'}}", "sharding={mesh['x'=4], [{}], manual={'x'}}", "sharding={mesh['x'=4], replicated}",
		"sharding={mesh['x'=4], manual}", "sharding={mesh['x'=4], unreduced}", "sharding={maximal_mesh[device_id=3]}", "sharding={maximal_mesh[device_id=3], metadata={op_name=\"a\"}}", "sharding={mesh['x'=4], device_ids=([4]), [{'x'}]}",
		"sharding={mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0)), [{'x'}]}", "sharding={mesh['x'=2], device_ids=(1,0), [{'x'}]}", "sharding={mesh['x'=4], [{'x'}], metadata={op_name=\"a\"}}", "sharding={mesh['x'=4], []}", "sharding={mesh[], []}", "sharding={mesh[\"x\"=4], [{\"x\"}]}",
		"metadata={}", "metadata={op_name=\"a\"}", "metadata={op_name='a' op_type='t'}", "metadata={op_name=\"a\",op_type=\"t\"}", "metadata={op_name=\"a\", source_line=3}", "metadata={source_line=3}", "metadata={source_file=\"f\" source_line=-1}",
		"metadata={op_name=\"a\" op_name=\"b\"}", "metadata={profile_type={1,2} op_name=\"a\"}", "metadata={profile_type={} op_name=\"a\"}", "metadata={deduplicated_name=\"d\"}", "metadata={scheduling_name=\"s\"}", "metadata={scheduling_name=\"a\\\"b\"}",
		"metadata={op_name=\"a\" source_line=3 source_end_line=4 source_column=5 source_end_column=6}", "metadata={stack_frame_id=1}", "metadata={op_name=\"a\" stack_frame_id=7}", "metadata={metadata_payload=\"p\"}", "metadata={op_name=\"a\" preserve_layout=true}",
		"metadata={op_name=\"\\x41\\101\\n\\t\\\\ é\"}", "metadata={op_name=\"\\q\"}", "metadata={op_name=\"\\'\\?\"}", "metadata={op_name=a}", "metadata={op_name= \"a\"}", "metadata= {op_name=\"a\"}", "metadata ={op_name=\"a\"}",
		"frontend_attributes={}", "frontend_attributes={a=\"b\"}", "frontend_attributes={a=\"b\",c=\"d\"}", "frontend_attributes={c=\"d\", a=\"b\"}", "frontend_attributes={a=\"b\" c=\"d\"}", "frontend_attributes={a={b}}", "frontend_attributes={a={\"}\"}}",
		"frontend_attributes={a={x=1:i64,{}}}", "frontend_attributes={a=b}", "frontend_attributes={a=\"b\",a=\"c\"}", "frontend_attributes={a.b-c=\"d\"}", "frontend_attributes={\"a\"=\"b\"}", "frontend_attributes={a='{\"k\":1}'}", "frontend_attributes={a={}}",
		"backend_config=\"\"", "backend_config=\"x\"", "backend_config={}", "backend_config={\"a\":{\"b\":[1]}}", "backend_config={ x = 1 : i64 }", "backend_config={'}'}", "backend_config={", "backend_config=\"{\\\"a\\\":1}\"", "backend_config=x",
		"control-predecessors={p}", "control-predecessors={%p}", "control-predecessors={}", "control-predecessors={p, p}", "control-predecessors={c}", "control-predecessors={q}", "control-predecessors={p,}",
		"statistics={visualizing_index=0,nan=3}", "statistics={visualizing_index=0, nan=3, b=1e-7}", "statistics={}", "statistics={nan=3}", "statistics={visualizing_index=1}", "statistics={visualizing_index=-1,a=1}", "statistics={visualizing_index=0,a=0.12345678}",
		"origin={}", "origin={{\"a\"}}", "origin={{\"a\" {0,1}}}", "origin={({\"a\"}, {})}", "origin={[synthetic_call]}", "origin={{}}", "origin={()}", "origin={{\"a\"}, {\"b\"}}",
		"parameter_replication={true}", "parameter_replication={true,false}", "parameter_replication={}", "result_accuracy={mode=highest}", "foo=1", "sharding={replicated}, sharding={replicated}", "")
	each("ENTRY e { p = f32[4] parameter(0) ROOT c = f32[4] exponential(p), @ }", "result_accuracy={mode=highest}", "result_accuracy={mode=HIGHEST}", "result_accuracy={mode=default}", "result_accuracy={tolerance={atol=1,rtol=0.5,ulps=2}}",
		"result_accuracy={tolerance={ulps=2}}", "result_accuracy={tolerance={atol=1e-7, rtol=1, ulps=2}}", "result_accuracy={}", "result_accuracy={mode=highest, tolerance={ulps=1}}", "result_accuracy={tolerance={}}")
	each("a { x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = f32[] add(x, y) }\nENTRY e { p = f32[4] parameter(0) ROOT c = f32[4] all-reduce(p), to_apply=a, @ }",
		"replica_groups={}", "replica_groups={{}}", "replica_groups={{0,1},{2,3}}", "replica_groups={{0,1},{2}}", "replica_groups={{0},{}}", "replica_groups=[2,2]<=[4]", "replica_groups=[2,2]<=[2,2]T(1,0)", "replica_groups=[2,2]<=[2,2]",
		"replica_groups=[4]<=[4]", "replica_groups=[2,2]<=[5]", "replica_groups=[1,1]<=[1]", "replica_groups=[2,2]0,1,2,3", "replica_groups=mesh['x'=2,'y'=4] {'x'}", "replica_groups=mesh['x'=2,'y'=4]{'x','y':(1)2}",
		"replica_groups=mesh['x'=2,'y'=4], device_ids=([2,4]T(1,0)) {'y'}", "replica_groups=mesh['x'=2] {}", "replica_groups=mesh['x'=2] {'z'}", "replica_groups={{0, 1}, {2, 3}}", "replica_groups={ {0,1} }", "channel_id=1", "channel_id=0", "channel_id=-1",
		"use_global_device_ids=true", "channel_id=1, use_global_device_ids=true", "constrain_layout=true", "mode=cross_replica", "mode=FLATTENED_ID", "mode=x", "constrain_layout=1")
	each("@", "ENTRY e { ROOT c = f32[] parameter(0) }", "ENTRY %e () -> f32[] { ROOT c = f32[] constant(1) }", "e { ROOT c = f32[] constant(1) }", "ENTRY e (x: f32[]) -> f32[] { ROOT c = f32[] constant(1) }", "ENTRY e () -> f32[2] { ROOT c = f32[] constant(1) }",
		"ENTRY e { c = f32[] constant(1) d = f32[] constant(2) }", "ENTRY e { ROOT c = f32[] constant(1) d = f32[] constant(2) }", "ENTRY e { ROOT c = f32[] constant(1) ROOT d = f32[] constant(2) }", "ENTRY e { c = f32[] constant(1) c = f32[] constant(2) }", "ENTRY e { }", "ENTRY e",
		"ENTRY e { c = f32[] constant(1) }, execution_thread=\"t\"", "ENTRY e { c = f32[] constant(1) }, execution_thread=\"main\"", "ENTRY e { c = f32[] constant(1) }, execution_thread=t", "ENTRY e { c = f32[] constant(1) }, foo=\"t\"", "ENTRY e { c = f32[] constant(1) } x",
		"a { c = f32[] constant(1) } ENTRY e { c = f32[] constant(1) } b { c = f32[] constant(1) }", "a { c = f32[] constant(1) } a { c = f32[] constant(1) }", "ENTRY a { c = f32[] constant(1) } ENTRY b { c = f32[] constant(1) }", "", "// nothing",
		"ENTRY e { f32 = f32[] constant(1) }", "ENTRY e { %f32 = f32[] constant(1) }", "ENTRY e { true = f32[] constant(1) }", "ENTRY e { %true = f32[] constant(1) }", "ENTRY e { __x = f32[] constant(1) }", "ENTRY e { __xla_x = f32[] constant(1) }", "ENTRY e { x-y.z_1 = f32[] constant(1) }",
		"ENTRY e { 1x = f32[] constant(1) }", "ENTRY e { x=f32[] constant(1) }", "ENTRY e { x: = f32[] constant(1) }", "ENTRY e { %x: = f32[] constant(1) }", "ENTRY e { % x = f32[] constant(1) }", "ENTRY e { x = f32[] constant (1) }", "ENTRY e { x = constant(1) }", "ENTRY e { maximal = f32[] constant(1) }",
		"ENTRY e { c = f32[] parameter(0) d = f32[] parameter(0) }", "ENTRY e { d = f32[] parameter(1) c = f32[] parameter(0) }", "ENTRY e { c = f32[] parameter(-1) }", "ENTRY e { c = f32[] parameter() }", "ENTRY e { c = f32[] add(c, c) }",
		"ENTRY e { c = f32[] negate(f32[] constant(2)) }", "ENTRY e { c = f32[] add(negate(negate(f32[] constant(2))), f32[] constant(3)) }",
		"ENTRY e { c = f32[] parameter(0) d = f32[2] negate(f32[2] c) }", "ENTRY e { c = f32[2]{0} parameter(0) d = f32[2] negate(f32[2]{0:S(1)} c) }", "ENTRY e { c = f32[2] parameter(0) d = f32[3] negate(c) }", "ENTRY e { c = s32[2] parameter(0) d = f32[2] negate(c) }")
	peer.EachPart(t, label.Part, func(t *testing.T, p *peer.Interpreter, part func(first bool) bool) {
		compareWithXLA(t, p, every(3, texts, part))
	})
}
