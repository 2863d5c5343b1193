package sdy_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// unreducedScript reads a list of pairs (text, our bytecode or null) and writes jaxlib's print of both, or its first
// error, and its bytecode of the text.
const unreducedScript = `
import base64, io, json, sys
from jaxlib.mlir import ir
from jax._src.interpreters import mlir as jm
out = []
with jm.make_ir_context():
    for text, ours in json.load(sys.stdin):
        try:
            op = ir.Module.parse(text).operation
            f = io.BytesIO()
            op.write_bytecode(f, desired_version=6)
            out.append([str(op), base64.b64encode(f.getvalue()).decode(), ours and str(ir.Module.parse(base64.b64decode(ours)).operation)])
        except Exception as e:
            out.append([str(e), "", ""])
json.dump(out, sys.stdout)
`

// TestUnreduced compares unreduced shardings and reductions with jaxlib, as text and as bytecode in both directions.
func TestUnreduced(t *testing.T) {
	const head = "sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]>\nfunc.func @f(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]"
	function := func(sharding, body string) string {
		return head + sharding + ">}) -> tensor<4x4xf32> {\n  " + body + "\n  return %0 : tensor<4x4xf32>\n}"
	}
	const copied = "%0 = stablehlo.abs %a : tensor<4x4xf32>"
	both := []string{function("", copied), function(`, unreduced={"x"}`, copied), function(`, replicated={"y"}, unreduced={"x"}`, copied),
		function(`, unreduced={"x", "y"}`, copied), function(`, unreduced={}`, copied), function(`, unreduced={"x"}, unreduced={"y"}`, copied),
		function("", `%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : tensor<4x4xf32>`),
		function("", `%0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}, {}], unreduced={"x"}>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x"} (%b: tensor<4x4xf32>) {
    sdy.return %b : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>`)}
	// The bytecode of an all-reduce has a field for the reduction since jaxlib 0.11, which jaxlib 0.10 does not read.
	// hlocb writes the field only if the reduction is not a sum.
	sum := function("", `%0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>`)
	today := []string{function(`, unreduced=max{"x"}`, copied), function(`, unreduced=min{"x"}`, copied), function(`, unreduced=sum{"x"}`, copied),
		function(`, unreduced=max {"x"}, replicated={"y"}`, copied), function(`, unreduced=prod{"x"}`, copied), function(`, unreduced=MAX{"x"}`, copied), function(`, unreduced=max{}`, copied),
		function("", `%0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced=max{"x"}>]>} : tensor<4x4xf32>`),
		function("", `%0 = sdy.all_reduce max {"x"} %a out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>`),
		function(`, unreduced=min{"x"}`, `%0 = sdy.all_reduce min {"x"} %a out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>`),
		function(`, unreduced=max{"x"}`, `%0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>`),
		function(`, unreduced=max{"x"}`, `%0 = sdy.reduce_scatter min [{"x"}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<4x4xf32>`),
		function("", `%0 = sdy.reduce_scatter max [{"x"}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<4x4xf32>`),
		function("", `%0 = "sdy.all_reduce"(%a) <{out_sharding = #sdy.sharding<@mesh, [{}, {}]>, reduction_axes = #sdy<axis_ref_list{"x"}>, reduction_op = 2 : i32}> : (tensor<4x4xf32>) -> tensor<4x4xf32>`),
		function("", `%0 = "sdy.all_reduce"(%a) <{out_sharding = #sdy.sharding<@mesh, [{}, {}]>, reduction_axes = #sdy<axis_ref_list{"x"}>, reduction_op = 3 : i32}> : (tensor<4x4xf32>) -> tensor<4x4xf32>`)}
	peer.Each(t, nil, func(t *testing.T, p *peer.Interpreter) {
		if p.Version() == peer.MainVersion {
			compareUnreduced(t, p, append(both, sum))
		} else {
			compareUnreduced(t, p, append(both, today...))
		}
	})
}

func compareUnreduced(t *testing.T, p *peer.Interpreter, texts []string) {
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	type result struct {
		print string
		err   error
	}
	var ours []result
	var input [][2]any
	for _, text := range texts {
		m, err := parse.Parse(diag.NewSource("in.mlir", []byte(text)), ir.NewContext(reg), parse.Options{})
		if err == nil {
			err = ir.Verify(m)
		}
		if err != nil {
			ours = append(ours, result{err: err})
			input = append(input, [2]any{text, nil})
			continue
		}
		data, err := bytecode.Append(nil, m, bytecode.Options{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		ours = append(ours, result{print: print.String(m, print.Options{})})
		input = append(input, [2]any{text, base64.StdEncoding.EncodeToString(data)})
	}
	in, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	var out [][3]string
	if err := json.Unmarshal(p.Run(t, unreducedScript, in), &out); err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		theirs, file := out[i][0], out[i][1]
		switch {
		case (ours[i].err != nil) != (file == ""):
			t.Errorf("%s\nhlocb: %v\njaxlib: %s", text, ours[i].err, theirs)
			continue
		case file == "":
			continue
		}
		theirs = strings.TrimSpace(theirs)
		if got := strings.TrimSpace(ours[i].print); got != theirs {
			t.Errorf("hlocb prints\n%s\njaxlib\n%s", got, theirs)
		}
		if got := strings.TrimSpace(out[i][2]); got != theirs {
			t.Errorf("jaxlib reads hlocb's bytecode as\n%s\nwant\n%s", got, theirs)
		}
		data, err := base64.StdEncoding.DecodeString(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := bytecode.Read(diag.NewSource("in.mlirbc", data), ir.NewContext(reg))
		if err != nil {
			t.Errorf("jaxlib's bytecode: %v\n%s", err, text)
		} else if got := strings.TrimSpace(print.String(m, print.Options{})); got != theirs {
			t.Errorf("hlocb reads jaxlib's bytecode as\n%s\nwant\n%s", got, theirs)
		}
	}
}
