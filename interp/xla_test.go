package interp

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/tensor"
)

// xlaScript compiles each module of its input with XLA's CPU backend and executes it. The values stand in the
// module as constants; the results come back as bytes.
const xlaScript = `
import json, sys, re, numpy as np, jax
jax.config.update('jax_enable_x64', True)
from jaxlib import xla_client as xc
client = jax.devices('cpu')[0].client
devices = xc.DeviceList(tuple(jax.devices('cpu')))

def run(text):
    exe = client.compile_and_load(text.encode(), devices, xc.CompileOptions())
    out = []
    for x in exe.execute([]):
        x = np.asarray(x)
        if x.dtype.name == 'int4':
            x = x.astype(np.int8)
        out.append(x.tobytes().hex())
    return out

def group(texts):
    # Compiling is slow, so many cases are functions of one module.
    body, calls, names, types = [], [], [], []
    for i, t in enumerate(texts):
        res = re.search(r'@main\(\) -> \((.*)\) \{', t).group(1)
        n = len(re.findall(r'tensor<', res))
        body.append(t.replace('func.func @main', 'func.func private @f%d' % i))
        calls.append('%%r%d:%d = call @f%d() : () -> (%s)' % (i, n, i, res))
        names += ['%%r%d#%d' % (i, k) for k in range(n)]
        types.append(res)
    main = 'func.func @main() -> (%s) {\n%s\nreturn %s : %s\n}\n' % (', '.join(types), '\n'.join(calls), ', '.join(names), ', '.join(types))
    flat = run('\n'.join(body) + main)
    out = []
    for t in types:
        n = len(re.findall(r'tensor<', t))
        out.append({'results': flat[:n]})
        flat = flat[n:]
    return out

def one(text):
    try:
        return {'results': run(text)}
    except Exception as e:
        return {'error': str(e)[:300]}

texts, out = json.load(sys.stdin), []
for i in range(0, len(texts), 25):
    part = texts[i:i + 25]
    try:
        out += group(part)
    except Exception as e:
        print(str(e)[:400], file=sys.stderr)
        out += [one(t) for t in part]
json.dump(out, sys.stdout)
`

// xlaCase is one module, executed by XLA and by the engine.
type xlaCase struct {
	name string
	text string
	ulps uint64 // how far apart results may be
}

// compareWithXLA runs all cases in one process of the peer.
func compareWithXLA(t *testing.T, cases []xlaCase) {
	python := peer.Python(t)
	texts := make([]string, len(cases))
	for i, c := range cases {
		texts[i] = c.text
	}
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	var got []struct {
		Results []string
		Error   string
	}
	if err := json.Unmarshal(python.Run(t, xlaScript, in), &got); err != nil {
		t.Fatal(err)
	}
	compared, refused := 0, 0
	worst := map[string]uint64{}
	for i, c := range cases {
		if got[i].Error != "" {
			refused++
			if strings.Contains(got[i].Error, "MLIR") || testing.Verbose() {
				t.Logf("%s: XLA refuses it: %s", c.name, got[i].Error)
			}
			continue
		}
		out, err := tryRun(t, c.text)
		if err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, c.text)
			continue
		}
		if len(out) != len(got[i].Results) {
			t.Errorf("%s: %d results, XLA has %d", c.name, len(out), len(got[i].Results))
			continue
		}
		compared++
		for k, r := range out {
			want, err := fromHex(r, got[i].Results[k])
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				break
			}
			bad := false
			for e := range r.NumElements() {
				d := ulpDistance(r, want, e)
				worst[c.name] = max(worst[c.name], d)
				if d > c.ulps {
					t.Errorf("%s: element %d of result %d is %s, XLA has %s (%d ULP)", c.name, e, k, elementText(r, e), elementText(want, e), d)
					bad = true
					break
				}
			}
			if bad {
				break
			}
		}
	}
	t.Logf("%d programs compared, %d refused by XLA", compared, refused)
	for _, c := range cases {
		if worst[c.name] > 0 {
			t.Logf("%s: up to %d ULP", c.name, worst[c.name])
			delete(worst, c.name)
		}
	}
	if compared < len(cases)*3/4 {
		t.Errorf("only %d of %d programs were compared", compared, len(cases))
	}
}

func fromHex(like *tensor.Tensor, text string) (*tensor.Tensor, error) {
	want := tensor.New(like.DType(), like.Shape())
	b := want.Bytes()
	if len(text) != 2*len(b) {
		return nil, fmt.Errorf("%d bytes of result, XLA has %d", len(b), len(text)/2)
	}
	for i := range b {
		if _, err := fmt.Sscanf(text[2*i:2*i+2], "%x", &b[i]); err != nil {
			return nil, err
		}
	}
	return want, nil
}

// literal writes values as a dense literal in hexadecimal.
func literal(t *tensor.Tensor) string {
	if t.NumElements() == 0 {
		return "dense<>"
	}
	return fmt.Sprintf("dense<\"0x%X\">", t.Bytes())
}

// samples fills a tensor with edge values of its type and random ones.
func samples(rng *rand.Rand, dt tensor.DType, shape ...int64) *tensor.Tensor {
	t := tensor.New(dt, shape)
	n := t.NumElements()
	switch {
	case dt == tensor.I1:
		for i := range t.Bytes() {
			t.Bytes()[i] = uint8(rng.IntN(2))
		}
	case dt.IsFloat():
		edges := []float64{0, -1, 1, 0.5, -0.5, 2, -2, 3.5, -2.5, 1e-3, -7.25, 100, 1e9}
		v := make([]float64, n)
		for i := range v {
			switch rng.IntN(3) {
			case 0:
				v[i] = edges[rng.IntN(len(edges))]
			default:
				v[i] = rng.NormFloat64() * 4
			}
		}
		encode64(dt, t, 0, v)
	case dt.IsComplex():
		v := make([]complex128, n)
		for i := range v {
			v[i] = complex(rng.NormFloat64(), rng.NormFloat64())
		}
		encodeComplex(dt, t, 0, v)
	default:
		edges := []int64{0, 1, -1, 2, 3, 7, 127, -128, 31, 63, 1 << 40, -(1 << 62)}
		v := make([]int64, n)
		for i := range v {
			if v[i] = int64(rng.IntN(40)) - 15; rng.IntN(3) == 0 {
				v[i] = edges[rng.IntN(len(edges))]
			}
		}
		encodeInt(dt, t, 0, v)
	}
	return t
}

func typeText(t *tensor.Tensor) string { return typeOfTensor(t).String() }

// oneOp writes a module whose constants are the operands and whose body is one op in generic form.
func oneOp(op, attrs, regions string, operands []*tensor.Tensor, results ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "func.func @main() -> (%s) {\n", strings.Join(results, ", "))
	var names, types []string
	for i, t := range operands {
		fmt.Fprintf(&b, "  %%c%d = stablehlo.constant %s : %s\n", i, literal(t), typeText(t))
		// The barrier keeps XLA from folding the op with another arithmetic than it executes.
		fmt.Fprintf(&b, "  %%a%d = stablehlo.optimization_barrier %%c%d : %s\n", i, i, typeText(t))
		names = append(names, fmt.Sprintf("%%a%d", i))
		types = append(types, typeText(t))
	}
	var outs []string
	for i := range results {
		outs = append(outs, fmt.Sprintf("%%r#%d", i))
	}
	if attrs != "" {
		attrs = " <{" + attrs + "}>"
	}
	fmt.Fprintf(&b, "  %%r:%d = \"%s\"(%s)%s %s : (%s) -> (%s)\n", len(results), op, strings.Join(names, ", "), attrs, regions, strings.Join(types, ", "), strings.Join(results, ", "))
	fmt.Fprintf(&b, "  return %s : %s\n}\n", strings.Join(outs, ", "), strings.Join(results, ", "))
	return b.String()
}

var (
	xlaInts   = []tensor.DType{tensor.I8, tensor.I16, tensor.I32, tensor.I64, tensor.UI8, tensor.UI16, tensor.UI32, tensor.UI64, tensor.I4, tensor.UI4}
	xlaFloats = []tensor.DType{tensor.F32, tensor.F64, tensor.F16, tensor.BF16, tensor.F8E4M3FN, tensor.F8E5M2}
)

// Element by element, every type, edge values among them.
func TestXLAElementwise(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	var cases []xlaCase
	add := func(ulps uint64, op, attrs string, result tensor.DType, operands ...*tensor.Tensor) {
		res := typeOfTensor(tensor.New(result, operands[len(operands)-1].Shape())).String()
		cases = append(cases, xlaCase{fmt.Sprintf("%s %s %s", op, operands[len(operands)-1].DType(), attrs), oneOp(op, attrs, "", operands, res), ulps})
	}
	shape := []int64{3, 40}
	all := append(append(append([]tensor.DType{tensor.I1}, xlaInts...), xlaFloats...), tensor.Complex64, tensor.Complex128)
	for _, dt := range all {
		x, y := samples(rng, dt, shape...), samples(rng, dt, shape...)
		arith := dt != tensor.I1
		numeric := dt.IsInteger() || dt.IsFloat()
		ulps := uint64(0)
		if dt.IsComplex() {
			ulps = 4096 // per part: XLA fuses the products of a part, which cancel
		}
		add(0, "stablehlo.add", "", dt, x, y)
		add(ulps, "stablehlo.multiply", "", dt, x, y)
		if arith {
			add(0, "stablehlo.subtract", "", dt, x, y)
			add(ulps, "stablehlo.divide", "", dt, x, y)
			add(0, "stablehlo.negate", "", dt, x)
		}
		if numeric {
			add(0, "stablehlo.maximum", "", dt, x, y)
			add(0, "stablehlo.minimum", "", dt, x, y)
			add(0, "stablehlo.remainder", "", dt, x, y)
			if dt.Kind() != tensor.KindUnsigned {
				add(0, "stablehlo.abs", "", dt, x)
				add(0, "stablehlo.sign", "", dt, x)
			}
			add(0, "stablehlo.clamp", "", dt, samples(rng, dt, shape...), x, samples(rng, dt, shape...))
			for _, dir := range []string{"EQ", "NE", "LT", "GE"} {
				add(0, "stablehlo.compare", "comparison_direction = #stablehlo<comparison_direction "+dir+">", tensor.I1, x, y)
			}
			if dt.IsFloat() {
				add(0, "stablehlo.compare", "comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type TOTALORDER>", tensor.I1, x, y)
			}
			for _, to := range all {
				if !to.IsComplex() {
					add(0, "stablehlo.convert", "", to, x)
				}
			}
		}
		if !dt.IsFloat() && !dt.IsComplex() {
			for _, op := range []string{"and", "or", "xor"} {
				add(0, "stablehlo."+op, "", dt, x, y)
			}
			add(0, "stablehlo.not", "", dt, x)
		}
		if dt.IsInteger() {
			for _, op := range []string{"shift_left", "shift_right_arithmetic", "shift_right_logical", "power"} {
				// XLA takes the exponent for signed, and shifts of ui4 and counts of i4 for 8 bits wide.
				if op == "power" && (dt.Bits() < 8 || dt.Kind() == tensor.KindUnsigned) {
					continue
				}
				if op == "power" {
					// XLA's gives up on exponents beyond a few hundred.
					z := tensor.New(dt, shape)
					v := make([]int64, z.NumElements())
					for i := range v {
						v[i] = int64(rng.IntN(60)) - 20
					}
					encodeInt(dt, z, 0, v)
					y = z
				}
				add(0, "stablehlo."+op, "", dt, x, y)
			}
			if dt != tensor.I4 {
				add(0, "stablehlo.popcnt", "", dt, x)
			}
			add(0, "stablehlo.count_leading_zeros", "", dt, x)
		}
		if dt.IsFloat() {
			for _, op := range []string{"ceil", "floor", "round_nearest_afz", "round_nearest_even", "sqrt"} {
				add(0, "stablehlo."+op, "", dt, x)
			}
			// XLA approximates these; the bound is what was measured.
			ulps := uint64(4)
			if dt.Size() < 4 {
				ulps = 2
			}
			for _, op := range []string{"exponential", "exponential_minus_one", "log", "log_plus_one", "logistic", "tanh", "rsqrt", "cbrt", "sine", "cosine", "tan", "power", "atan2"} {
				if op == "logistic" && dt == tensor.F16 {
					continue // XLA's overflows inside: 0 instead of 1.4e-5
				}
				operands := []*tensor.Tensor{x}
				if op == "power" || op == "atan2" {
					operands = append(operands, y)
				}
				bound := ulps
				if op == "power" && dt == tensor.F64 {
					bound = 64 // XLA's loses digits to large exponents
				}
				add(bound, "stablehlo."+op, "", dt, operands...)
			}
			add(0, "stablehlo.is_finite", "", tensor.I1, x)
			add(0, "stablehlo.reduce_precision", "exponent_bits = 5 : i32, mantissa_bits = 3 : i32", dt, x)
		}
		add(0, "stablehlo.select", "", dt, samples(rng, tensor.I1, shape...), x, y)
	}
	if os.Getenv("HLOCB_LONG") == "" {
		// XLA takes its time to compile: every sixth case, a set that covers every op and every type.
		var some []xlaCase
		for i := 0; i < len(cases); i += 6 {
			some = append(some, cases[i])
		}
		cases = some
	}
	compareWithXLA(t, cases)
}

// Ops that move, contract, reduce and sort. Integers make products and sums exact.
func TestXLAStructure(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	var cases []xlaCase
	add := func(ulps uint64, name, attrs, region string, results []string, operands ...*tensor.Tensor) {
		cases = append(cases, xlaCase{fmt.Sprintf("%s %s %v", name, operands[0].DType(), operands[0].Shape()), oneOp("stablehlo."+name, attrs, region, operands, results...), ulps})
	}
	region := func(op, ty string) string {
		return fmt.Sprintf("({ ^bb0(%%x: tensor<%s>, %%y: tensor<%s>): %%z = stablehlo.%s %%x, %%y : tensor<%s> \n stablehlo.return %%z : tensor<%s> })", ty, ty, op, ty, ty)
	}
	small := func(dt tensor.DType, shape ...int64) *tensor.Tensor {
		x := tensor.New(dt, shape)
		v := make([]float64, x.NumElements())
		for i := range v {
			v[i] = float64(rng.IntN(13) - 6)
		}
		encode64(dt, x, 0, v)
		return x
	}
	for range 5 {
		dt := []tensor.DType{tensor.F32, tensor.F64, tensor.BF16}[rng.IntN(3)]
		ty := dt.String()
		a, b, c, d := int64(1+rng.IntN(9)), int64(1+rng.IntN(40)), int64(1+rng.IntN(20)), int64(1+rng.IntN(5))
		// XLA takes initial values for neutral: how often they enter is open.
		identity := func(op string) *tensor.Tensor {
			x := tensor.New(dt, nil)
			encode64(dt, x, 0, []float64{map[string]float64{"multiply": 1, "maximum": -100, "minimum": 100}[op]})
			return x
		}
		res := func(shape ...int64) []string { return []string{tensorType(dt, shape...).String()} }
		add(0, "transpose", "permutation = array<i64: 2, 0, 1>", "", res(c, a, b), samples(rng, dt, a, b, c))
		add(0, "reverse", "dimensions = array<i64: 0, 2>", "", res(a, b, c), samples(rng, dt, a, b, c))
		add(0, "broadcast_in_dim", "broadcast_dimensions = array<i64: 1, 2>", "", res(d, a, b), samples(rng, dt, a, b))
		add(0, "slice", "start_indices = array<i64: 0, 1>, limit_indices = array<i64: "+fmt.Sprint(a)+", "+fmt.Sprint(b+1)+">, strides = array<i64: 1, 2>", "", res(a, (b+1)/2), samples(rng, dt, a, b+2))
		add(0, "pad", "edge_padding_low = array<i64: 2, -1>, edge_padding_high = array<i64: -1, 3>, interior_padding = array<i64: 1, 2>", "", res(2*(a+1)-1+1, 3*(b+1)-2+2), samples(rng, dt, a+1, b+1), samples(rng, dt))
		add(0, "concatenate", "dimension = 1 : i64", "", res(a, b+c), samples(rng, dt, a, b), samples(rng, dt, a, c))
		add(0, "dot_general", "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [1], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [2]>", "",
			res(a, c, d), small(dt, b, a, c), small(dt, a, d, b))
		for _, op := range []string{"add", "maximum", "minimum", "multiply"} {
			x := small(dt, a, b, c)
			if op == "multiply" {
				x = small(dt, a, 3, c)
			}
			add(0, "reduce", "dimensions = array<i64: 1>", region(op, ty), res(a, c), x, identity(op))
		}
		add(0, "reduce", "dimensions = array<i64: 0, 2>", region("add", ty), res(b), small(dt, 3, b, c), identity("add"))
		add(0, "reduce_window", "window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>, base_dilations = array<i64: 1, 2>, window_dilations = array<i64: 1, 2>, padding = dense<[[0, 0], [1, 2]]> : tensor<2x2xi64>",
			region("add", ty), res(a, (2*(b+5)-1+3-5)/2+1), small(dt, a, b+5), identity("add"))
		compare := fmt.Sprintf("({ ^bb0(%%x: tensor<%s>, %%y: tensor<%s>, %%i: tensor<i32>, %%j: tensor<i32>): %%z = stablehlo.compare LT, %%x, %%y, TOTALORDER : (tensor<%s>, tensor<%s>) -> tensor<i1> \n stablehlo.return %%z : tensor<i1> })", ty, ty, ty, ty)
		idx := tensor.New(tensor.I32, tensor.Shape{a, b})
		for i := range idx.NumElements() {
			tensor.View[int32](idx)[i] = int32(i)
		}
		add(0, "sort", "dimension = 1 : i64, is_stable = true", compare, []string{tensorType(dt, a, b).String(), tensorType(tensor.I32, a, b).String()}, small(dt, a, b), idx)
		start := samples(rng, tensor.I32, d, 2)
		add(0, "gather", fmt.Sprintf("dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, %d>", b), "",
			res(d, b), samples(rng, dt, a, b+3), start)
		add(0, "scatter", "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false", region("add", ty),
			res(a, b), small(dt, a, b), samples(rng, tensor.I32, d, 1), small(dt, d, b))
		k := int64(1 + rng.IntN(3))
		add(0, "convolution", fmt.Sprintf("window_strides = array<i64: 2, 1>, padding = dense<[[1, 2], [0, 1]]> : tensor<2x2xi64>, lhs_dilation = array<i64: 1, 2>, rhs_dilation = array<i64: 2, 1>, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = %d : i64, batch_group_count = 1 : i64", k), "",
			res(d, (a+6+3-3)/2+1, 2*(c+3)-1+1-2+1, 2*k), small(dt, d, a+6, c+3, 2*k), small(dt, 2, 2, 2, 2*k))
	}
	compareWithXLA(t, cases)
}
