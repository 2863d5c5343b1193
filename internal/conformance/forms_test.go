package conformance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// asMLIR checks that hlocb reads the texts that jaxlib reads, to the same module, and refuses the others. It returns
// how many both read. what says for the list of differences what the texts hold.
func asMLIR(t *testing.T, python *peer.Interpreter, what string, texts map[string]string) (read int) {
	t.Helper()
	reg := testkit.Registry(t)
	for name, want := range jaxlib(t, python, texts) {
		list := findings(reg, diag.NewSource("-", []byte(texts[name])))
		switch {
		case len(list) > 0 && want.Error == "":
			t.Errorf("%s: here: %s; jaxlib reads\n%s", name, list[0].Message, texts[name])
		case len(list) == 0 && want.Error != "" && python.Differs(what+" "+name) != "":
		case len(list) == 0 && want.Error != "":
			t.Errorf("%s: read here; jaxlib: %s\n%s", name, want.Error, texts[name])
		case len(list) == 0:
			m := testkit.Parse(t, "-", texts[name])
			same(t, name+" generic", print.String(m, print.Options{Generic: true}), want.Generic)
			same(t, name+" pretty", print.String(m, print.Options{}), want.Pretty)
			read++
		}
	}
	t.Logf("%d texts, both read %d", len(texts), read)
	return read
}

// TestFormsAsMLIR: forms of text that programs other than MLIR's printer write.
func TestFormsAsMLIR(t *testing.T) { peer.Each(t, label.Part, checkFormsAsMLIR) }

func checkFormsAsMLIR(t *testing.T, python *peer.Interpreter) {
	const f = "func.func private @f(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }\n"
	texts := map[string]string{}
	add := func(name string, list ...string) {
		for i, text := range list {
			texts[fmt.Sprintf("%s %d", name, i)] = text
		}
	}
	// A function type that goes on in the next line, once more with another end.
	for _, next := range []string{"tensor<2xi32>", "(tensor<2xi32>)", "// ->\ntensor<2xi32>"} {
		add("wrapped "+next, `func.func @main(%a: tensor<2xf32>) {
  %0 = "stablehlo.convert"(%a) : (tensor<2xf32>) ->
    `+next+`
  %1 = "stablehlo.convert"(%a) : (tensor<2xf32>) ->
    tensor<2xi64>
  %2 = stablehlo.custom_call @f(%a) : (tensor<2xf32>) ->
    tuple<tensor<2xf32>>
  %3 = stablehlo.custom_call @f(%a) : (tensor<2xf32>) -> tuple<tensor<2xf32>
    , tensor<2xi32>>
  %4 = stablehlo.custom_call @f(%a) : (tensor<2xf32>) -> tuple<tensor<2xf32>
    >
  return
}`)
	}
	// A generic op keeps the default dialect of the op around it.
	add("default dialect",
		f+`func.func @main(%p: tensor<i1>, %a: tensor<2xf32>) -> tensor<2xf32> {
  %r = "stablehlo.if"(%p) ({
    %c = call @f(%a) : (tensor<2xf32>) -> tensor<2xf32>
    stablehlo.return %c : tensor<2xf32>
  }, {
    "stablehlo.return"(%a) : (tensor<2xf32>) -> ()
  }) : (tensor<i1>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}`,
		f+`func.func @main(%p: tensor<i1>, %a: tensor<2xf32>) {
  %r = "stablehlo.while"(%a) ({
  ^bb0(%x: tensor<2xf32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%x: tensor<2xf32>):
    %k = "stablehlo.if"(%p) ({
      %c = call @f(%a) : (tensor<2xf32>) -> tensor<2xf32>
      stablehlo.return %c : tensor<2xf32>
    }, {
      stablehlo.return %a : tensor<2xf32>
    }) : (tensor<i1>) -> tensor<2xf32>
    stablehlo.return %k : tensor<2xf32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}`,
		f+`func.func @main(%p: tensor<i1>, %a: tensor<2xf32>) {
  %r = stablehlo.while(%x = %a) : tensor<2xf32> cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %c = call @f(%x) : (tensor<2xf32>) -> tensor<2xf32>
    stablehlo.return %c : tensor<2xf32>
  }
  return
}`,
		f+`func.func @main(%a: tensor<2xf32>) {
  "x.y"() ({
    %c = call @f(%a) : (tensor<2xf32>) -> tensor<2xf32>
  }, {
  }) : () -> ()
  return
}`,
		`"func.func"() <{function_type = () -> (), sym_name = "f"}> ({ return }) : () -> ()`,
		`"builtin.module"() ({ func.func private @f() }) : () -> ()`,
	)
	pairs := func(op, tail string) (out []string) {
		for _, p := range []string{"dense<> : tensor<0xi64>", "dense<> : tensor<0x2xi64>", "dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>", "dense<[0, 1]> : tensor<2xi64>", "dense<[[-1, 1]]> : tensor<1x2xi64>", "array<i64>"} {
			out = append(out, `func.func @main(%a: tensor<3x4xi32>, %t: !stablehlo.token) {
  %0`+op+`, is_host_transfer = true, source_target_pairs = `+p+`}> : `+tail+`
  return
}`)
		}
		return out
	}
	add("send", pairs(` = "stablehlo.send"(%a, %t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>`, `(tensor<3x4xi32>, !stablehlo.token) -> !stablehlo.token`)...)
	add("recv", pairs(`:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>`, `(!stablehlo.token) -> (tensor<3x4xi32>, !stablehlo.token)`)...)
	for _, dialect := range []string{"stablehlo", "mhlo"} {
		for _, w := range []string{"stride = [1, 1],", "stride = [1, 1], pad = [[1, 1], [1, 1]],", ",", "stride = [1, 1],,", "stride = [1, 1] pad = [[1, 1], [1, 1]]", ""} {
			add(dialect+" window "+w, `func.func @main(%a: tensor<1x4x4x2xf32>, %b: tensor<3x2x1x1xf32>) {
  %0 = `+dialect+`.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[o, i, 0, 1]->[b, 0, 1, f], window = {`+w+`} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x2x1x1xf32>) -> `+map[bool]string{true: "tensor<1x6x6x3xf32>", false: "tensor<1x4x4x3xf32>"}[strings.Contains(w, "pad")]+`
  return
}`)
		}
	}
	add("mhlo", `func.func @main(%a: tensor<4xf32>, %s: tensor<1xi64>) {
  %0 = mhlo.real_dynamic_slice %a, %s, %s, %s : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}`, `func.func @main(%a: tensor<2xf32>) {
  %0 = mhlo.composite "x.f" %a {composite_attributes = {a = 1 : i64}, decomposition = @f} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
`+f)
	for _, p := range []string{"4xi32", "2x2xi64", "3xi32", "1x2xi32", "?xi32", "2x2xf32"} {
		add("mhlo.dynamic_conv "+p, `func.func @main(%a: tensor<1x8x8x2xf32>, %b: tensor<3x3x2x4xf32>, %p: tensor<`+p+`>) {
  %0 = "mhlo.dynamic_conv"(%a, %b, %p) {batch_group_count = 1 : i64, dimension_numbers = #mhlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>, tensor<`+p+`>) -> tensor<1x?x?x4xf32>
  return
}`)
	}
	if read := asMLIR(t, python, "forms of", texts); read < len(texts)/2 {
		t.Errorf("only %d of %d texts are read", read, len(texts))
	}
}

// TestAttributesTwiceAsMLIR: each attribute of each sample, which its syntax writes or its properties hold, a second
// time in the op's dictionary.
func TestAttributesTwiceAsMLIR(t *testing.T) {
	peer.Each(t, label.Part, checkAttributesTwiceAsMLIR)
}

func checkAttributesTwiceAsMLIR(t *testing.T, python *peer.Interpreter) {
	texts := map[string]string{}
	const mark = "hlocb.mark"
	for _, file := range []string{"stablehlo_*.mlir", "chlo.mlir", "mhlo.mlir", "sdy.mlir", "others.mlir"} {
		for i, s := range testkit.Samples(t, file) {
			if s.Op == "interpreter.probe" || s.Op == "stablehlo.collective_reduce" || strings.HasPrefix(s.Op, "check.") {
				continue // jaxlib 0.10.2 lacks them
			}
			m := testkit.Parse(t, "-", s.Text())
			op := m.Body().First().Region(0).Entry().First()
			for op.Next() != nil && op.Name() != s.Op {
				op = op.Next()
			}
			attrs := slices.Clone(op.Attrs())
			op.SetAttr(mark, ir.NewUnit())
			for _, a := range attrs {
				if !a.Inherent {
					continue
				}
				for _, generic := range []bool{false, true} {
					text := print.String(m, print.Options{Generic: generic})
					again := a.Name + " = " + a.Attr.String()
					texts[fmt.Sprintf("%s %d %s %v", s.Op, i, a.Name, generic)] = strings.Replace(text, mark, again, 1)
				}
			}
		}
	}
	if read := asMLIR(t, python, "attributes given twice to", texts); read < len(texts)/2 {
		t.Errorf("only %d of %d texts are read", read, len(texts))
	}
}
