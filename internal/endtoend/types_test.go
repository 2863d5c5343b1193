package endtoend

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// hookTypes are the element types that both backends pass to hooks.
var hookTypes = []tensor.DType{
	tensor.I1, tensor.I2, tensor.I4, tensor.I8, tensor.I16, tensor.I32, tensor.I64, tensor.UI2, tensor.UI4, tensor.UI8, tensor.UI16, tensor.UI32, tensor.UI64,
	tensor.F4E2M1FN, tensor.F8E3M4, tensor.F8E4M3, tensor.F8E4M3FN, tensor.F8E4M3FNUZ, tensor.F8E4M3B11FNUZ, tensor.F8E5M2, tensor.F8E5M2FNUZ, tensor.F8E8M0FNU,
	tensor.F16, tensor.BF16, tensor.F32, tensor.F64, tensor.Complex64, tensor.Complex128,
}

// filled returns a tensor of small values that every type has.
func filled(d tensor.DType, shape tensor.Shape, first int) *tensor.Tensor {
	t := tensor.New(d, shape)
	for i := range t.NumElements() {
		switch {
		case d == tensor.F8E8M0FNU:
			t.SetFloat(i, []float64{1, 2, 0.5, 4}[(i+first)%4])
		case d.IsComplex():
			t.SetComplex(i, complex(float64((i+first)%2), -float64((i+first+1)%2)))
		default:
			t.SetFloat(i, float64((i+first)%2))
		}
	}
	return t
}

// TestHookTypes passes values of every type (scalars, arrays and empty arrays) to taps, calls and feeds, and returns
// such values from them. Both engines must deliver the same bytes. A program has all shapes of a type.
func TestHookTypes(t *testing.T) {
	shapes := []tensor.Shape{{}, {3}, {0}, {2, 2}, {2, 0}}
	for _, backend := range backendNames() {
		b := open(t, backend)
		for _, d := range hookTypes {
			var args []*tensor.Tensor
			var params, types, body, results, want []string
			for i, shape := range shapes {
				typ := "tensor<"
				for _, n := range shape {
					typ += fmt.Sprintf("%dx", n)
				}
				typ += d.String() + ">"
				hook := func(name, operands, signature string) string {
					want = append(want, name+strconv.Itoa(i))
					return fmt.Sprintf("stablehlo.custom_call @host(%s) {api_version = 4 : i32, has_side_effect = true, backend_config = {name = %q}} : %s", operands, name+strconv.Itoa(i), signature)
				}
				n := strconv.Itoa(i)
				x, y, z := "%x"+n, "%y"+n, "%z"+n
				args = append(args, filled(d, shape, 0))
				params, types, results = append(params, x+": "+typ), append(types, typ, typ), append(results, y, z)
				body = append(body, hook("tap", x, "("+typ+") -> ()"), hook("nothing", "", "() -> ()"))
				// hlocb reads a result without elements as a chain and replaces it with its own chain, if an operand
				// has the same type.
				switch {
				case shape.NumElements() > 0:
					body = append(body, y+" = "+hook("call", x+", "+x, fmt.Sprintf("(%[1]s, %[1]s) -> %[1]s", typ)))
				case d == tensor.I1:
					body = append(body, fmt.Sprintf("%s = stablehlo.not %s : %s", y, x, typ))
				default:
					body = append(body, fmt.Sprintf("%s = stablehlo.add %s, %s : %s", y, x, x, typ))
				}
				body = append(body, z+" = "+hook("feed", "", "() -> "+typ))
			}
			p, err := rewrite("types.mlir", fmt.Appendf(nil, "func.func @main(%s) -> (%s) {\n%s\nreturn %s : %[2]s\n}\n",
				strings.Join(params, ", "), strings.Join(types, ", "), strings.Join(body, "\n"), strings.Join(results, ", ")), passes.RewriteHooks{Targets: []string{"host"}})
			if err != nil {
				t.Fatalf("%s: %v", d, err)
			}
			var seen []string
			var h runtime.Bindings
			h.Answer("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
				seen = append(seen, c.Site.Name)
				name, i := c.Site.Name[:len(c.Site.Name)-1], c.Site.Name[len(c.Site.Name)-1]-'0'
				for k, o := range c.Operands {
					if x := args[i]; o.DType() != d || !o.Shape().Equal(x.Shape()) || !bytes.Equal(o.Bytes(), x.Bytes()) {
						return fmt.Errorf("operand %d is %s%v % x, expected %v % x", k, o.DType(), o.Shape(), o.Bytes(), x.Shape(), x.Bytes())
					}
				}
				switch name {
				case "call":
					return c.SetResult(0, filled(d, shapes[i], 1))
				case "feed":
					return c.SetResult(0, filled(d, shapes[i], 2))
				}
				return nil
			}))
			e, err := b.Compile(context.Background(), p, runtime.CompileOptions{Handlers: &h})
			if err != nil {
				t.Fatalf("%s on %s: %v", d, backend, err)
			}
			r, err := e.Run(context.Background(), args)
			if err != nil {
				t.Errorf("%s on %s: %v", d, backend, err)
			}
			for i, got := range r {
				if want := filled(d, shapes[i/2], 1+i%2); !got.Shape().Equal(want.Shape()) || !bytes.Equal(got.Bytes(), want.Bytes()) {
					t.Errorf("%s on %s: result %d is %v % x, expected % x", d, backend, i, got.Shape(), got.Bytes(), want.Bytes())
				}
			}
			if !slices.Equal(seen, want) {
				t.Errorf("%s on %s: delivered %s, expected %s", d, backend, seen, want)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestHugeOperand makes the engine tap a value of more than 2 GiB; a test in runtime/pjrt does this with the plugin.
func TestHugeOperand(t *testing.T) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		t.Skipf("skip: %v", err)
	}
	_, rest, _ := strings.Cut(string(text), "MemAvailable:")
	var kb int
	fmt.Sscan(rest, &kb)
	if kb < 12<<20 {
		t.Skipf("skip: needs 12 GiB of memory, %d MiB are available", kb>>10)
	}
	const n = 1<<31 + 64
	p := hostProgram(t, fmt.Sprintf(`func.func @main(%%x: tensor<ui8>) -> tensor<ui8> {
  %%y = stablehlo.broadcast_in_dim %%x, dims = [] : (tensor<ui8>) -> tensor<%[1]dxui8>
  stablehlo.custom_call @host(%%y) {api_version = 4 : i32, has_side_effect = true, backend_config = {name = "huge"}} : (tensor<%[1]dxui8>) -> ()
  return %%x : tensor<ui8>
}
`, n))
	length := 0
	var first, last byte
	var h runtime.Bindings
	h.Observe("huge", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		data := c.Operands[0].Bytes()
		length, first, last = len(data), data[0], data[len(data)-1]
		return nil
	}))
	e, err := open(t, "interp").Compile(context.Background(), p, runtime.CompileOptions{Handlers: &h})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	x := tensor.New(tensor.UI8, nil)
	x.Bytes()[0] = 42
	if _, err := e.Run(context.Background(), []*tensor.Tensor{x}); err != nil || length != n || first != 42 || last != 42 {
		t.Errorf("the handler saw %d bytes, first %d, last %d; %v", length, first, last, err)
	}
}
