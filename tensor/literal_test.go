package tensor_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/tensor"
)

// printScript prints attributes given as JSON list as MLIR does, without their types.
const printScript = `
import json, re, sys
from jaxlib.mlir import ir
from jax._src.interpreters import mlir as jm
out = []
with jm.make_ir_context():
    for text in json.load(sys.stdin):
        try:
            out.append(str(ir.Attribute.parse("[" + text + "]"))[1:].split(" : ")[0].rstrip("]") if not text.startswith("dense") else str(ir.Attribute.parse("[" + text + "]"))[1:].split(" : ")[0])
        except Exception as e:
            out.append("error: " + re.search('error: .*":[0-9]+:[0-9]+: (.*)', str(e)).group(1))
json.dump(out, sys.stdout)
`

func jaxPrints(t *testing.T, python *peer.Interpreter, texts []string) []string {
	t.Helper()
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	if err := json.Unmarshal(python.Run(t, printScript, in), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestAppendFloat prints floats of every type as MLIR: all of the small types, a sample of the others, chosen so that
// short, long and hexadecimal forms occur.
func TestAppendFloat(t *testing.T) {
	peer.Each(t, label.Part, checkAppendFloat)
}

func checkAppendFloat(t *testing.T, python *peer.Interpreter) {
	type value struct {
		d    tensor.DType
		bits uint64
	}
	var values []value
	var texts []string
	add := func(d tensor.DType, bits uint64) {
		values = append(values, value{d, bits})
		texts = append(texts, fmt.Sprintf("0x%X : %s", bits, d))
	}
	r := rand.New(rand.NewPCG(3, 4))
	for d := tensor.F4E2M1FN; d <= tensor.F64; d++ {
		switch {
		case d.Bits() <= 8:
			for b := range uint64(1) << d.Bits() {
				add(d, b)
			}
		case d.Bits() == 16:
			for range 6000 {
				add(d, r.Uint64()&0xffff)
			}
		default:
			for range 2500 {
				add(d, r.Uint64()>>(64-d.Bits()))
				v := math.Round(r.NormFloat64()*1000) / math.Pow10(r.IntN(8)) * math.Pow10(r.IntN(9)-2)
				add(d, tensor.EncodeFloat(d, v))
			}
		}
	}
	for i, want := range jaxPrints(t, python, texts) {
		if got := string(tensor.AppendFloat(nil, values[i].d, values[i].bits)); got != want {
			t.Errorf("%s prints as %s, MLIR prints %s", texts[i], got, want)
		}
	}
}

// TestDense reads dense literals and prints them as MLIR does, or refuses them with its words.
func TestDense(t *testing.T) {
	peer.Each(t, label.Part, checkDense)
}

func checkDense(t *testing.T, python *peer.Interpreter) {
	big := make([]string, 101)
	for i := range big {
		big[i] = fmt.Sprint(i)
	}
	cases := []struct {
		text  string
		d     tensor.DType
		shape tensor.Shape
	}{
		{"1", tensor.I32, tensor.Shape{}},
		{"[[1, -2], [3, 4]]", tensor.I8, tensor.Shape{2, 2}},
		{"[[[1], [2]], [[3], [4]]]", tensor.I8, tensor.Shape{2, 2, 1}},
		{"[7, 7, 7]", tensor.I64, tensor.Shape{3}},
		{"[ 1 ,2// two\n,3]", tensor.UI8, tensor.Shape{3}},
		{"255", tensor.I8, tensor.Shape{2}},
		{"256", tensor.I8, tensor.Shape{2}},
		{"-128", tensor.I8, tensor.Shape{2}},
		{"-129", tensor.I8, tensor.Shape{2}},
		{"-1", tensor.UI8, tensor.Shape{2}},
		{"18446744073709551615", tensor.UI64, tensor.Shape{1}},
		{"18446744073709551616", tensor.UI64, tensor.Shape{1}},
		{"9223372036854775808", tensor.Index, tensor.Shape{1}},
		{"[true, false]", tensor.I1, tensor.Shape{2}},
		{"[1, 0]", tensor.I1, tensor.Shape{2}},
		{"true", tensor.I32, tensor.Shape{2}},
		{"[-8, 7]", tensor.I4, tensor.Shape{2}},
		{"[15, 16]", tensor.UI4, tensor.Shape{2}},
		{"[0.1, 0.7, 1.0e10, 16777217.0]", tensor.F32, tensor.Shape{4}},
		{"[0.1, 3.14159, 65520.0]", tensor.F16, tensor.Shape{3}},
		{"0x7FC00000", tensor.F32, tensor.Shape{2}},
		{"0x17FC00000", tensor.F32, tensor.Shape{2}},
		{"1", tensor.F32, tensor.Shape{2}},
		{"1.5", tensor.I32, tensor.Shape{2}},
		{"[(1.0,2.0), (3.0,-4.5)]", tensor.Complex64, tensor.Shape{2}},
		{"(1.0, 2.0)", tensor.Complex128, tensor.Shape{3}},
		{"", tensor.F32, tensor.Shape{2, 0}},
		{"", tensor.F32, tensor.Shape{2}},
		{"[[], []]", tensor.F32, tensor.Shape{2, 0}},
		{"2.0", tensor.F32, tensor.Shape{2, 0}},
		{"[1, 2]", tensor.I8, tensor.Shape{3}},
		{"[[1, 2], [3]]", tensor.I8, tensor.Shape{2, 2}},
		{"[[1, 2], 3]", tensor.I8, tensor.Shape{2, 2}},
		{"[1, [2]]", tensor.I8, tensor.Shape{2}},
		{`"0x0102FF"`, tensor.I8, tensor.Shape{3}},
		{`"0x0a"`, tensor.I8, tensor.Shape{3}},
		{`"0x0102"`, tensor.I8, tensor.Shape{3}},
		{`"0x01000100"`, tensor.I1, tensor.Shape{4}},
		{`"0x12"`, tensor.I4, tensor.Shape{3}},
		{`"0x0000C03F000080BF"`, tensor.F32, tensor.Shape{2}},
		{"[" + strings.Join(big, ", ") + "]", tensor.I16, tensor.Shape{101}},
	}
	var texts []string
	for _, c := range cases {
		typ := "tensor<"
		for _, n := range c.shape {
			typ += fmt.Sprint(n) + "x"
		}
		texts = append(texts, "dense<"+c.text+"> : "+typ+c.d.String()+">")
	}
	for i, want := range jaxPrints(t, python, texts) {
		c := cases[i]
		got := ""
		if err := tensor.CheckDense([]byte(c.text), c.d, c.shape); err != nil {
			got = "error: " + err.Message
		}
		v, splat, err := tensor.DecodeDense([]byte(c.text), c.d, c.shape)
		if (err != nil) != (got != "") {
			t.Errorf("%s: checked %q, decoded %v", texts[i], got, err)
		}
		if err == nil {
			b := []byte("dense<")
			if splat {
				b = tensor.AppendElement(b, v, 0)
			} else {
				b = tensor.AppendDense(b, v, tensor.HexLarger)
			}
			got = string(append(b, '>'))
		}
		if got != want {
			t.Errorf("%s gives\n  %s\nMLIR gives\n  %s", texts[i], got, want)
		}
	}
}

// TestPackedBooleans reads the older form of booleans, a bit each.
func TestPackedBooleans(t *testing.T) {
	v, splat, err := tensor.DecodeDense([]byte(`"0x0D01"`), tensor.I1, tensor.Shape{9})
	if err != nil || splat {
		t.Fatal(v, splat, err)
	}
	if want := []byte{1, 0, 1, 1, 0, 0, 0, 0, 1}; !bytes.Equal(v.Bytes(), want) {
		t.Errorf("got %v", v.Bytes())
	}
}

// TestHexText keeps hexadecimal text only if the printer would write the same text.
func TestHexText(t *testing.T) {
	body := strings.Repeat("00FF", 101)
	for _, c := range []struct {
		text string
		ok   bool
	}{
		{`"0x` + body + `"`, true},
		{`"0x` + strings.ToLower(body) + `"`, false},
		{`"0x` + strings.Repeat("00FF", 100) + `"`, false},
		{`"0x` + strings.Repeat("00", 202) + `"`, false},
	} {
		text, ok := tensor.HexText([]byte(c.text), tensor.UI8, tensor.Shape{202}, tensor.HexLarger)
		if ok != c.ok || ok && string(text) != c.text {
			t.Errorf("%.40s...: %v", c.text, ok)
		}
		if v, _, err := tensor.DecodeDense([]byte(c.text), tensor.UI8, tensor.Shape{202}); ok && (err != nil || string(tensor.AppendDense(nil, v, tensor.HexLarger)) != c.text) {
			t.Errorf("%.40s... is not what is printed", c.text)
		}
	}
}
