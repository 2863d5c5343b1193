package interp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/tensor"
)

// smallScript computes element-wise ops on all codes, and on all pairs of codes of up to 8 bits. It computes in f64,
// and ml_dtypes rounds once. All codes of NaN are written as one code.
const smallScript = `
import json, sys, numpy as np, ml_dtypes
np.seterr(all='ignore')
f64 = np.float64

def codes(t, n):
    return np.arange(2**n, dtype=np.uint16 if n > 8 else np.uint8).view(t)

def wide(x):
    return x.astype(f64)

unary = {
    'abs': np.abs, 'negate': np.negative, 'ceil': np.ceil, 'floor': np.floor, 'round_nearest_even': np.rint, 'sqrt': np.sqrt,
    'round_nearest_afz': lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    'exponential': np.exp, 'exponential_minus_one': np.expm1, 'log': np.log, 'log_plus_one': np.log1p, 'sine': np.sin, 'cosine': np.cos,
    'tan': np.tan, 'tanh': np.tanh, 'cbrt': np.cbrt, 'rsqrt': lambda x: 1 / np.sqrt(x), 'logistic': lambda x: 1 / (1 + np.exp(-x)), 'sign': lambda x: np.where(x == 0, x, np.sign(x)),
}
binary = {
    'add': np.add, 'subtract': np.subtract, 'multiply': np.multiply, 'divide': np.divide, 'remainder': np.fmod,
    # -0 is less than +0.
    'maximum': lambda x, y: np.where(x == y, np.where(np.signbit(x), y, x), np.maximum(x, y)),
    'minimum': lambda x, y: np.where(x == y, np.where(np.signbit(x), x, y), np.minimum(x, y)), 'atan2': np.arctan2,
}

def store(t, v):
    # ml_dtypes converts through f32. Round to odd in f32, so that the result is rounded only once.
    a = v.astype(np.float32)
    beyond = np.abs(a.astype(f64)) > np.abs(v)
    a = np.where(beyond, np.nextafter(a, np.float32(0)), a)
    odd = (a.view(np.uint32) | 1).view(np.float32)
    a = np.where((a.astype(f64) != v) & ~np.isnan(v), odd, a)
    # A type without NaN may convert NaN to any value.
    return a.astype(t).view(np.uint8).copy(), np.isnan(v)

def answer(c):
    t = np.float16 if c['Type'] == 'float16' else getattr(ml_dtypes, c['Type'])
    x = codes(t, c['Bits'])
    if c['Op'] == 'convert':
        o = c['To']
        if o in ('float32', 'float64', 'float16'):
            v = x.astype(getattr(np, o))
            return v.view(np.uint8).tobytes().hex(), np.isnan(v.astype(f64)).tolist()
        b, nan = store(getattr(ml_dtypes, o), wide(x))
        return b.tobytes().hex(), nan.tolist()
    if c['Op'] in unary:
        b, nan = store(t, unary[c['Op']](wide(x)))
    else:
        n = len(x)
        l, r = np.repeat(wide(x), n), np.tile(wide(x), n)
        b, nan = store(t, binary[c['Op']](l, r))
    return b.tobytes().hex(), nan.tolist()

json.dump([answer(c) for c in json.load(sys.stdin)], sys.stdout)
`

// TestSmallFloatsExhaustively runs every element-wise op on every code of the floats of up to 16 bits, and on every
// pair of codes of the floats of up to 8 bits, and expects the exact result rounded once.
func TestSmallFloatsExhaustively(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	python := peer.Python(t) // one: ml_dtypes is of no version of jaxlib
	types := []struct {
		dt   tensor.DType
		name string
	}{
		{tensor.F16, "float16"}, {tensor.BF16, "bfloat16"},
		{tensor.F8E4M3FN, "float8_e4m3fn"}, {tensor.F8E5M2, "float8_e5m2"}, {tensor.F8E4M3, "float8_e4m3"}, {tensor.F8E3M4, "float8_e3m4"},
		{tensor.F8E4M3B11FNUZ, "float8_e4m3b11fnuz"}, {tensor.F8E4M3FNUZ, "float8_e4m3fnuz"}, {tensor.F8E5M2FNUZ, "float8_e5m2fnuz"},
		{tensor.F4E2M1FN, "float4_e2m1fn"}, {tensor.F6E2M3FN, "float6_e2m3fn"}, {tensor.F6E3M2FN, "float6_e3m2fn"}, {tensor.F8E8M0FNU, "float8_e8m0fnu"},
	}
	unary := strings.Fields("abs negate ceil floor round_nearest_even round_nearest_afz sqrt exponential exponential_minus_one log log_plus_one sine cosine tan tanh cbrt rsqrt logistic sign")
	binary := strings.Fields("add subtract multiply divide remainder maximum minimum atan2")
	type question struct {
		Op, Type, To string
		Bits         int
		dt, to       tensor.DType
	}
	var questions []question
	for _, ty := range types[:2] {
		for _, op := range unary {
			questions = append(questions, question{Op: op, Type: ty.name, Bits: 16, dt: ty.dt, to: ty.dt})
		}
		for _, to := range types[2:] {
			questions = append(questions, question{Op: "convert", Type: ty.name, To: to.name, Bits: 16, dt: ty.dt, to: to.dt})
		}
	}
	for _, ty := range types[2:] {
		if ty.dt != tensor.F8E8M0FNU { // it has neither zero nor sign, so programs only convert it
			for _, op := range append(append([]string{}, unary...), binary...) {
				questions = append(questions, question{Op: op, Type: ty.name, Bits: ty.dt.Bits(), dt: ty.dt, to: ty.dt})
			}
		}
		for _, to := range types[2:] {
			questions = append(questions, question{Op: "convert", Type: ty.name, To: to.name, Bits: ty.dt.Bits(), dt: ty.dt, to: to.dt})
		}
		for _, to := range []struct {
			dt   tensor.DType
			name string
		}{{tensor.F32, "float32"}, {tensor.F64, "float64"}, {tensor.F16, "float16"}, {tensor.BF16, "bfloat16"}} {
			questions = append(questions, question{Op: "convert", Type: ty.name, To: to.name, Bits: ty.dt.Bits(), dt: ty.dt, to: to.dt})
		}
	}
	in, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	var answers [][2]json.RawMessage
	if err := json.Unmarshal(python.Run(t, smallScript, in), &answers); err != nil {
		t.Fatal(err)
	}
	bad := 0
	for i, q := range questions {
		var text string
		var nan []bool
		if err := json.Unmarshal(answers[i][0], &text); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(answers[i][1], &nan); err != nil {
			t.Fatal(err)
		}
		n := 1 << q.Bits
		count, repeat := n, 1
		operands := 1
		for _, op := range binary {
			if op == q.Op {
				count, repeat, operands = n*n, n, 2
			}
		}
		var args []*tensor.Tensor
		var types []string
		for k := range operands {
			a := tensor.New(q.dt, tensor.Shape{int64(count)})
			for e := range count {
				code := e / repeat
				if k == 1 {
					code = e % repeat
				}
				a.SetBits(e, uint64(code))
			}
			args, types = append(args, a), append(types, typeText(a))
		}
		result := kernel.TensorType(q.to, int64(count)).String()
		names := []string{"%a", "%b"}[:operands]
		var params []string
		for k := range names {
			params = append(params, names[k]+": "+types[k])
		}
		out, err := tryRun(t, fmt.Sprintf("func.func @main(%s) -> %s {\n  %%r = \"stablehlo.%s\"(%s) : (%s) -> %s\n  return %%r : %s\n}",
			strings.Join(params, ", "), result, q.Op, strings.Join(names, ", "), strings.Join(types, ", "), result, result), args...)
		if err != nil {
			t.Errorf("%s %s: %v", q.Op, q.dt, err)
			continue
		}
		want, err := fromHex(out[0], text)
		if err != nil {
			t.Errorf("%s %s: %v", q.Op, q.dt, err)
			continue
		}
		near := 0
		for e := range count {
			got, exp := out[0].Bits(e), want.Bits(e)
			if q.Bits == 16 && q.Op != "convert" && (got-exp == 1 || exp-got == 1) {
				near++ // the engine computes in f32, and the error may cross the middle of two codes
				continue
			}
			if nan[e] && (isNaN(out[0], e) || !hasNaN(q.to)) || got == exp {
				continue
			}
			if bad++; bad < 40 {
				t.Errorf("%s of %s code %#x, %#x to %s: %#x (%v), ml_dtypes has %#x (%v)", q.Op, q.dt, e/repeat, e%repeat, q.to, got, out[0].FloatAt(e), exp, want.FloatAt(e))
			}
			break
		}
		if near > count/1000 {
			t.Errorf("%s of %s: %d codes are next to ml_dtypes' own", q.Op, q.dt, near)
		}
	}
	t.Logf("%d ops and conversions of all codes", len(questions))
}

// hasNaN reports whether a type has a code for NaN.
func hasNaN(d tensor.DType) bool {
	return d != tensor.F4E2M1FN && d != tensor.F6E2M3FN && d != tensor.F6E3M2FN
}

func isNaN(t *tensor.Tensor, i int) bool { v := t.FloatAt(i); return v != v }
