package format_test

import (
	"context"
	"fmt"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
)

// acme is the format of a compiler that writes a tap as a custom call @acme_log with a token before and after it.
var acme = &format.Format{
	Name: "acme-log",
	Doc:  "a custom call @acme_log with the label as backend_config",
	Reader: &format.Reader{
		Starts: []*ir.Def{stablehlo.CustomCall},
		Read: func(r *format.Raiser, op *ir.Op) (bool, error) {
			if call, ok := stablehlo.AsCustomCall(op); !ok || call.CallTargetName() != "acme_log" {
				return false, nil
			}
			label, ok := op.Attr(stablehlo.AttrBackendConfig).(*ir.StringAttr)
			if !ok || op.NumOperands() != 2 || op.NumResults() != 1 {
				return false, r.Module.Errorf(op, "@acme_log has a label, a token and a value, and returns a token")
			}
			r.Add(&format.Match{
				At: op, Kind: hook.Tap, Name: label.Value(), SideEffect: true,
				Tokens:   []*ir.Value{op.Operand(0)},
				Operands: []*ir.Value{op.Operand(1)},
				Results:  []*ir.Value{op.Result(0)},
				Erase:    []*ir.Op{op},
			})
			return true, nil
		},
	},
	Writer: &format.Writer{
		Name:    "acme",
		Doc:     "custom calls @acme_log, ordered by a token; holds taps",
		Ordered: format.OrderedByToken,
		Write: func(w *format.Lowerer, h hookop.HookOp) error {
			if h.Kind() != hook.Tap || h.NumData() != 1 {
				return w.Cannot(h, "it is not a tap of one value")
			}
			m := w.Module
			op := m.Before(h.Op).Create(stablehlo.CustomCall, []*ir.Value{w.Token(h), h.Data(0)}, []ir.Type{stablehlo.TokenType(m.Context())},
				ir.NamedAttr{Name: stablehlo.AttrBackendConfig, Attr: ir.NewString(h.HookName())},
				ir.NamedAttr{Name: stablehlo.AttrCallTargetName, Attr: ir.NewString("acme_log")},
				ir.NamedAttr{Name: stablehlo.AttrHasSideEffect, Attr: m.Context().Bool(true)})
			var results []*ir.Value // of a tap that forwards its operand
			for range h.NumResultData() {
				results = append(results, h.Data(0))
			}
			w.Replace(h, op.Result(0), results)
			return nil
		},
	},
}

// A format of another compiler takes part in every conversion: append it to the list.
func Example() {
	formats := append(format.Builtin(), acme)
	rewrite := func(text, to string) (string, error) {
		m, err := testkit.TryParse("in.mlir", []byte(text))
		if err != nil {
			return "", err
		}
		r, err := passes.Rewrite(context.Background(), m, passes.RewriteHooks{To: to, Formats: formats})
		if err != nil {
			return "", err
		}
		for _, s := range r.Manifest.Sites {
			fmt.Println(s.Name, s.Kind, s.Format)
		}
		return print.String(m, print.Options{}), nil
	}
	own, err := rewrite(`func.func @main(%x: tensor<f32>) {
  %t = stablehlo.create_token : !stablehlo.token
  %u = stablehlo.custom_call @acme_log(%t, %x) {backend_config = "loss", has_side_effect = true} : (!stablehlo.token, tensor<f32>) -> !stablehlo.token
  %v = "stablehlo.outfeed"(%x, %u) {outfeed_config = "raw"} : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
  return
}`, "ffi")
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := rewrite(own, "acme")
	fmt.Println(text, err)
	// Output:
	// loss tap acme-log
	// raw tap raw-outfeed
	// loss tap hlocb
	// raw tap hlocb
	// module {
	//   func.func @main(%arg0: tensor<f32>) {
	//     %0 = stablehlo.create_token : !stablehlo.token
	//     %1 = stablehlo.custom_call @acme_log(%0, %arg0) {backend_config = "loss", has_side_effect = true} : (!stablehlo.token, tensor<f32>) -> !stablehlo.token
	//     %2 = stablehlo.custom_call @acme_log(%1, %arg0) {backend_config = "raw", has_side_effect = true} : (!stablehlo.token, tensor<f32>) -> !stablehlo.token
	//     return
	//   }
	// }
	//  <nil>
}
