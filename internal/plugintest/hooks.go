package plugintest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// probe returns a call of @probe, which becomes the hook name.
func probe(result, name, operands, types string) string {
	if result != "" {
		result += " = "
	}
	return fmt.Sprintf("%sstablehlo.custom_call @probe(%s) {api_version = 4 : i32, backend_config = {name = %q}, has_side_effect = true} : %s\n  ", result, operands, name, types)
}

// large returns a body that plugins with a concurrent executor execute concurrently. It computes %m0 ... %m9 from %a :
// tensor<f32>.
func large() string {
	var b strings.Builder
	b.WriteString("%m0 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<64x64xf32>\n  ")
	for i := 1; i < 10; i++ {
		fmt.Fprintf(&b, "%%m%d = stablehlo.dot_general %%m%d, %%m0, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>\n  ", i, i-1)
	}
	return b.String()
}

// small returns a program that delivers h0, h1, h2. big returns a large program that delivers them and executes
// concurrently.
func small() string {
	body := ""
	for i := range 3 {
		body += probe("", fmt.Sprintf("h%d", i), "%a", "(tensor<f32>) -> ()")
	}
	return oneOp("tensor<f32>", body+"%r = stablehlo.add %a, %a : tensor<f32>", "tensor<f32>")
}

func big() string {
	body := large()
	for i, v := range []string{"%m9", "%m1", "%m5"} {
		body += probe("", fmt.Sprintf("h%d", i), v, "(tensor<64x64xf32>) -> ()")
	}
	return oneOp("tensor<f32>", body+"%r = stablehlo.add %a, %a : tensor<f32>", "tensor<f32>")
}

func hookCases() []Case {
	var out []Case
	add := func(name, text string) { out = append(out, Case{Group: "hooks", Name: name, Text: text}) }
	do := func(name string, f func(context.Context, runtime.Backend) error) {
		out = append(out, Case{Group: "hooks", Name: name, Do: f})
	}
	for _, t := range []string{"i1", "i2", "i4", "i8", "i16", "i32", "i64", "ui2", "ui4", "ui8", "ui16", "ui32", "ui64", "f4E2M1FN", "f8E3M4", "f8E4M3", "f8E4M3FN",
		"f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E5M2", "f8E5M2FNUZ", "f8E8M0FNU", "f16", "bf16", "f32", "f64", "complex<f32>", "complex<f64>"} {
		v := "tensor<5x" + t + ">"
		add("tap of "+t, oneOp(v, probe("", "h", "%a", "("+v+") -> ()")+"%r = stablehlo.optimization_barrier %a : "+v, v))
		add("call with "+t, oneOp(v, probe("%r", "h", "%a", "("+v+") -> "+v), v))
	}
	for _, shape := range []string{"", "0x", "2x0x3x", "1x1x"} {
		v := "tensor<" + shape + "f32>"
		add("call with "+v, oneOp(v, probe("%r", "h", "%a", "("+v+") -> "+v), v))
	}
	add("no operands", oneOp("tensor<3xf32>", probe("%r", "h", "", "() -> tensor<3xf32>")))
	add("several results", oneOp("tensor<3xf32>", strings.Replace(probe("%c:2", "h", "%a, %b", "(tensor<3xf32>, tensor<2xi32>) -> (tensor<3xf32>, tensor<2xi32>)"), "%c:2", "%c:2", 1)+
		"%r = stablehlo.add %c#0, %a : tensor<3xf32>", "tensor<3xf32>", "tensor<2xi32>"))
	add("order, small program", small())
	add("order, large program", big())
	add("in a loop", oneOp("tensor<f32>", `%z = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<5> : tensor<i32>
  %w:2 = stablehlo.while(%i = %z, %s = %a) : tensor<i32>, tensor<f32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    `+probe("", "h", "%i, %s", "(tensor<i32>, tensor<f32>) -> ()")+`%one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %t = stablehlo.add %s, %s : tensor<f32>
    stablehlo.return %j, %t : tensor<i32>, tensor<f32>
  }
  %r = stablehlo.add %w#1, %a : tensor<f32>`, "tensor<f32>"))
	add("in a branch", oneOp("tensor<f32>", `%r = "stablehlo.if"(%a) ({
    `+probe("", "then", "%b", "(tensor<f32>) -> ()")+`stablehlo.return %b : tensor<f32>
  }, {
    `+probe("", "else", "%b", "(tensor<f32>) -> ()")+`stablehlo.return %b : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>`, "tensor<i1>", "tensor<f32>"))
	add("in a function called twice", "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n  %0 = call @f(%a) : (tensor<f32>) -> tensor<f32>\n  %r = call @f(%0) : (tensor<f32>) -> tensor<f32>\n  return %r : tensor<f32>\n}\n"+
		"func.func private @f(%a: tensor<f32>) -> tensor<f32> {\n  "+probe("", "h", "%a", "(tensor<f32>) -> ()")+"%r = stablehlo.add %a, %a : tensor<f32>\n  return %r : tensor<f32>\n}\n")

	do("order holds 50 times", func(ctx context.Context, b runtime.Backend) error {
		p, err := program(ctx, "case", big(), hook.ChainState)
		if err != nil {
			return err
		}
		return inOrder(ctx, b, p, 50)
	})
	do("an aliased result is its operand", func(ctx context.Context, b runtime.Backend) error {
		text := strings.ReplaceAll(oneOp("V", large()+probe("%s", "first", "%m9", "(V) -> V")+probe("%r", "second", "%s", "(V) -> V"), "tensor<f32>"), "V", "tensor<64x64xf32>")
		text = strings.ReplaceAll(text, "has_side_effect = true}", "has_side_effect = true, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]}")
		var seen []runtime.DevicePointer
		e, err := compile(ctx, b, text, runtime.CompileOptions{Handlers: respond(pointerHandler(func(c *runtime.Call) error {
			seen = append(seen, c.OperandPointers[0])
			return nil
		}))})
		if err != nil {
			return err
		}
		defer e.Close()
		if _, err := e.Run(ctx, []*tensor.Tensor{scalar(0.5)}); err != nil {
			return err
		}
		if len(seen) != 2 || seen[0] != seen[1] {
			return fmt.Errorf("two inout hooks in a row saw addresses %v, expected one", seen)
		}
		return nil
	})
	do("a chain of tokens", func(ctx context.Context, b runtime.Backend) error {
		p, err := program(ctx, "tokens", big(), hook.ChainToken)
		if err != nil {
			return err
		}
		return inOrder(ctx, b, p, 1)
	})
	for _, size := range []string{"small", "large"} {
		text := small()
		if size == "large" {
			text = big()
		}
		for _, how := range []string{"error", "panic"} {
			do(fmt.Sprintf("%s in a %s program", how, size), func(ctx context.Context, b runtime.Backend) error {
				return failure(ctx, b, text, how)
			})
		}
	}
	do("device pointers", func(ctx context.Context, b runtime.Backend) error {
		events := 0
		e, err := compile(ctx, b, big(), runtime.CompileOptions{Handlers: respond(pointerHandler(func(c *runtime.Call) error {
			events++
			if len(c.OperandPointers) != 1 || c.OperandPointers[0].Address == 0 || c.OperandPointers[0].Size != 64*64*4 {
				return fmt.Errorf("the operand's pointers are %+v", c.OperandPointers)
			}
			return nil
		}))})
		if err != nil {
			return err
		}
		defer e.Close()
		if _, err := e.Run(ctx, []*tensor.Tensor{scalar(0.5)}); err != nil {
			return err
		}
		if events != 3 {
			return fmt.Errorf("%d events, expected 3", events)
		}
		return nil
	})
	do("a handler that hangs", func(ctx context.Context, b runtime.Backend) error {
		release := make(chan bool)
		defer close(release)
		e, err := compile(ctx, b, big(), runtime.CompileOptions{Timeout: 50 * time.Millisecond, Handlers: answer(func(_ context.Context, c *runtime.Call) error {
			if c.Seq == 1 {
				<-release
			}
			return nil
		})})
		if err != nil {
			return err
		}
		defer e.Close()
		_, err = e.Run(ctx, []*tensor.Tensor{scalar(0.5)})
		if !errors.As(err, new(*runtime.TimeoutError)) {
			return fmt.Errorf("the run ended with %v, expected a timeout", err)
		}
		return nil
	})
	return out
}

// inOrder runs a program several times and checks that each run delivers h0, h1, h2.
func inOrder(ctx context.Context, b runtime.Backend, p *runtime.Program, times int) error {
	var got []string
	e, err := b.Compile(ctx, p, runtime.CompileOptions{Handlers: answer(func(_ context.Context, c *runtime.Call) error {
		got = append(got, c.Site.Name)
		return nil
	})})
	if err != nil {
		return err
	}
	defer e.Close()
	for range times {
		got = nil
		if _, err := e.Run(ctx, []*tensor.Tensor{scalar(0.5)}); err != nil {
			return err
		}
		if fmt.Sprint(got) != "[h0 h1 h2]" {
			return fmt.Errorf("delivered %v, expected [h0 h1 h2]", got)
		}
	}
	return nil
}

// pointerHandler is a handler that uses only device pointers.
type pointerHandler func(*runtime.Call) error

func (pointerHandler) MemoryUse() runtime.MemoryUse { return runtime.MemoryUse{DevicePointers: true} }

func (h pointerHandler) Handle(_ context.Context, c *runtime.Call) error { return h(c) }

// failure makes the second of three hooks fail, several times, and checks the error and that the executable stays
// usable.
func failure(ctx context.Context, b runtime.Backend, text, how string) error {
	cause := errors.New("a handler's own error")
	fail, later := false, 0
	e, err := compile(ctx, b, text, runtime.CompileOptions{Handlers: answer(func(_ context.Context, c *runtime.Call) error {
		switch {
		case c.Seq == 2:
			later++
		case c.Seq == 1 && fail && how == "panic":
			panic(cause)
		case c.Seq == 1 && fail:
			return cause
		}
		return nil
	})})
	if err != nil {
		return err
	}
	defer e.Close()
	for i := range 6 {
		fail, later = i%2 == 0, 0
		_, err := e.Run(ctx, []*tensor.Tensor{scalar(0.5)})
		he, ok := errors.AsType[*runtime.HookError](err)
		switch {
		case !fail && (err != nil || later != 1):
			return fmt.Errorf("after a failed run: %v, %d events of the last hook", err, later)
		case fail && (!ok || he.Hook != "h1" || he.Seq != 1):
			return fmt.Errorf("run %d ended with %v, expected an error of hook h1", i, err)
		case fail && later != 0:
			return errors.New("a later hook fired")
		}
	}
	return nil
}

func compile(ctx context.Context, b runtime.Backend, text string, opts runtime.CompileOptions) (runtime.Executable, error) {
	p, err := program(ctx, "case", text, hook.ChainState)
	if err != nil {
		return nil, err
	}
	return b.Compile(ctx, p, opts)
}

func answer(f runtime.HandlerFunc) *runtime.Bindings { return respond(f) }

func respond(h runtime.Handler) *runtime.Bindings {
	var b runtime.Bindings
	b.Answer("*", h)
	return &b
}

func scalar(v float32) *tensor.Tensor {
	t := tensor.New(tensor.F32, nil)
	tensor.View[float32](t)[0] = v
	return t
}
