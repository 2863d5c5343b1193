package hooks

import (
	"context"
	"fmt"
	"io"
	goruntime "runtime"
	"strings"
	"time"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/internal/bench/meter"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/passes"
)

// manyHooks returns a module of about ops ops. Every tenth op is a hook in one of three formats: a third of the hooks
// are in main, a third in a function that main calls, a third in the body of a loop.
func manyHooks(ops int) []byte {
	var b strings.Builder
	part := func(prefix string, n int, last string) string {
		for i := range n {
			v := fmt.Sprintf("%%%s%d", prefix, i)
			switch {
			case i%10 != 9:
				fmt.Fprintf(&b, "    %s = stablehlo.add %s, %s : tensor<4xf32>\n", v, last, last)
				last = v
			case i/10%3 == 0:
				fmt.Fprintf(&b, "    %s_t = stablehlo.create_token : !stablehlo.token\n    %s = \"stablehlo.outfeed\"(%s, %s_t) {outfeed_config = \"loss\"} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token\n", v, v, last, v)
			case i/10%3 == 1:
				fmt.Fprintf(&b, "    %s = %s : (tensor<4xf32>) -> tensor<4xf32>\n", v, jaxCallback(last))
				last = v
			default:
				fmt.Fprintf(&b, "    %s : (tensor<4xf32>) -> ()\n", jaxCallback(last))
			}
		}
		return last
	}
	b.WriteString("func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n")
	r := part("m", ops/3, "%x")
	fmt.Fprintf(&b, "    %%c = func.call @f(%s) : (tensor<4xf32>) -> tensor<4xf32>\n", r)
	b.WriteString("    %false = stablehlo.constant dense<false> : tensor<i1>\n    %w = stablehlo.while(%i = %c) : tensor<4xf32>\n    cond {\n    stablehlo.return %false : tensor<i1>\n    } do {\n")
	r = part("w", ops/3, "%i")
	fmt.Fprintf(&b, "    stablehlo.return %s : tensor<4xf32>\n    }\n    return %%w : tensor<4xf32>\n}\nfunc.func private @f(%%x: tensor<4xf32>) -> tensor<4xf32> {\n", r)
	r = part("f", ops/3, "%x")
	fmt.Fprintf(&b, "    return %s : tensor<4xf32>\n}\n", r)
	return []byte(b.String())
}

func jaxCallback(operand string) string {
	return `stablehlo.custom_call @xla_ffi_python_cpu_callback(` + operand + `) {backend_config = "", has_side_effect = true, mhlo.backend_config = {index = 0 : ui64}}`
}

// scale compares the time to convert the hooks of large modules (convert, prove the order, verify the result) with the
// time to parse the text. Verifying the parsed module counts as neither, as in 'hlocb rewrite'. scale uses processor
// time, because other work may run on the machine.
func scale(ctx context.Context, w io.Writer) error {
	fmt.Fprintf(w, "\nconverting the hooks of a module, every tenth op a hook; processor time, best of several:\n  %9s  %8s  %10s  %10s  %10s  %22s  %s\n", "ops", "hooks", "parse", "verify", "rewrite", "rewrite beside parse", "rewrite per op")
	reg, err := all.Registry()
	if err != nil {
		return err
	}
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		text := manyHooks(n)
		var read, verify, rewrite time.Duration
		hooks, ops := 0, 0
		for range max(3, 1_000_000/n) {
			goruntime.GC()
			start := meter.ProcessorTime()
			m, err := parse.Parse(diag.NewSource("many.mlir", text), ir.NewContext(reg), parse.Options{})
			if err != nil {
				return err
			}
			parsed := meter.ProcessorTime()
			if err := ir.Verify(m); err != nil {
				return err
			}
			verified := meter.ProcessorTime()
			r, err := passes.Rewrite(ctx, m, passes.RewriteHooks{})
			if err != nil {
				return err
			}
			done := meter.ProcessorTime()
			if t := parsed - start; read == 0 || t < read {
				read = t
			}
			if t := verified - parsed; verify == 0 || t < verify {
				verify = t
			}
			if t := done - verified; rewrite == 0 || t < rewrite {
				rewrite = t
			}
			hooks, ops = len(r.Manifest.Sites), 0
			m.Walk(func(*ir.Op) bool { ops++; return true })
		}
		fmt.Fprintf(w, "  %9d  %8d  %7.1f ms  %7.1f ms  %7.1f ms  %22.2f  %.0f ns\n", ops, hooks, ms(read), ms(verify), ms(rewrite), float64(rewrite)/float64(read), float64(rewrite.Nanoseconds())/float64(ops))
	}
	return nil
}
