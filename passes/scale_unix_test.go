//go:build unix

package passes_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/passes"
)

// manyHooks returns a module of about ops ops, every tenth a hook of some format, in main, a function and a loop.
func manyHooks(ops int) string {
	var b strings.Builder
	part := func(prefix string, n int, t string) string {
		last := t
		for i := range n {
			v := fmt.Sprintf("%%%sv%d", prefix, i)
			switch i % 10 {
			case 9:
				switch i / 10 % 3 {
				case 0:
					fmt.Fprintf(&b, "%s_t = stablehlo.create_token : !stablehlo.token\n%s_u = \"stablehlo.outfeed\"(%s, %s_t) {outfeed_config = \"o\"} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token\n", v, v, last, v)
				case 1:
					fmt.Fprintf(&b, "%s = stablehlo.custom_call @xla_ffi_python_cpu_callback(%s) {backend_config = \"\", has_side_effect = true, mhlo.backend_config = {index = 0 : ui64}} : (tensor<4xf32>) -> tensor<4xf32>\n", v, last)
					last = v
				case 2:
					fmt.Fprintf(&b, "stablehlo.custom_call @xla_ffi_python_cpu_callback(%s) {backend_config = \"\", has_side_effect = true, mhlo.backend_config = {index = 0 : ui64}} : (tensor<4xf32>) -> ()\n", last)
				}
			default:
				fmt.Fprintf(&b, "%s = stablehlo.add %s, %s : tensor<4xf32>\n", v, last, last)
				last = v
			}
		}
		return last
	}
	b.WriteString("func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n")
	r := part("m", ops/3, "%x")
	fmt.Fprintf(&b, "%%c = func.call @f(%s) : (tensor<4xf32>) -> tensor<4xf32>\n", r)
	b.WriteString("%false = stablehlo.constant dense<false> : tensor<i1>\n%w = stablehlo.while(%i = %c) : tensor<4xf32>\ncond {\nstablehlo.return %false : tensor<i1>\n} do {\n")
	r = part("w", ops/3, "%i")
	fmt.Fprintf(&b, "stablehlo.return %s : tensor<4xf32>\n}\nreturn %%w : tensor<4xf32>\n}\nfunc.func private @f(%%x: tensor<4xf32>) -> tensor<4xf32> {\n", r)
	r = part("f", ops/3, "%x")
	fmt.Fprintf(&b, "return %s : tensor<4xf32>\n}\n", r)
	return b.String()
}

func timeRewrite(tb testing.TB, text string) (parse, rewrite time.Duration, hooks int) {
	tb.Helper()
	start := processorTime(tb)
	m, err := testkit.TryParse("many.mlir", []byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	parse = processorTime(tb) - start
	start = processorTime(tb)
	r, err := passes.Rewrite(context.Background(), m, passes.RewriteHooks{})
	if err != nil {
		tb.Fatal(err)
	}
	return parse, processorTime(tb) - start, len(r.Manifest.Sites)
}

// processorTime is how long this process has computed.
func processorTime(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestRewriteBesideParse: a module with a hook in every ten ops is rewritten in about the time that reading it takes
// ('make bench-hooks' measures it; here other tests run meanwhile).
func TestRewriteBesideParse(t *testing.T) {
	text := manyHooks(50000)
	ratio := 100.0
	for range 8 {
		p, r, _ := timeRewrite(t, text)
		if ratio = min(ratio, float64(r)/float64(p)); ratio < 1 {
			break
		}
	}
	t.Logf("rewriting takes %.2f times as long as reading", ratio)
	if ratio > 2 {
		t.Errorf("rewriting takes %.2f times as long as reading", ratio)
	}
}

// TestRewriteIsLinear: ten times the ops take about ten times as long.
func TestRewriteIsLinear(t *testing.T) {
	// Processor time, as other processes of the machine do not count in it.
	best := func(text string, n int) time.Duration {
		low := time.Duration(1 << 62)
		for range n {
			_, d, _ := timeRewrite(t, text)
			low = min(low, d)
		}
		return low
	}
	small, large := manyHooks(5000), manyHooks(50000)
	// Other tests run beside this one: a machine that is busy once must not fail it, growth with the square (100 times)
	// must, each time.
	ratio := 0.0
	for range 4 {
		a, b := best(small, 5), best(large, 3)
		ratio = float64(b) / float64(a)
		t.Logf("5,000 ops: %v, 50,000 ops: %v", a, b)
		if ratio < 30 {
			return
		}
	}
	t.Errorf("ten times the ops take %.1f times as long", ratio)
}

func BenchmarkRewrite(b *testing.B) {
	for _, n := range []int{5000, 50000, 500000} {
		text := manyHooks(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for range b.N {
				p, r, hooks := timeRewrite(b, text)
				b.ReportMetric(float64(p.Milliseconds()), "parse-ms")
				b.ReportMetric(float64(r.Milliseconds()), "rewrite-ms")
				b.ReportMetric(float64(hooks), "hooks")
			}
		})
	}
}
