package passes_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
)

// counter is a context that counts how often a pass asks whether it has ended. It ends after limit questions, if limit
// is not 0.
type counter struct {
	context.Context
	asked atomic.Int64
	limit int64
}

func (c *counter) Err() error {
	if n := c.asked.Add(1); c.limit > 0 && n > c.limit {
		return context.Canceled
	}
	return nil
}

// lines returns n lines of format, whose arguments are i and i-1.
func lines(n int, format string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, format+"\n", i, i-1)
	}
	return b.String()
}

// items returns n items of format, whose argument is i, with commas between them.
func items(n int, format string) string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(out, ", ")
}

// numbers returns n times the type of a number.
func numbers(n int) string { return strings.TrimSuffix(strings.Repeat("tensor<f32>, ", n), ", ") }

// shapes are programs that grow with n. Each once took more than linear time in a pass.
var shapes = map[string]func(n int) string{
	"chain": func(n int) string {
		return "func.func @main(%v0: tensor<f32>) -> tensor<f32> {\n" + lines(n, "  %%v%d = stablehlo.add %%v%[2]d, %%v%[2]d : tensor<f32>") + fmt.Sprintf("  return %%v%d : tensor<f32>\n}", n)
	},
	"equal": func(n int) string {
		return "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n" + lines(n, "  %%v%d = stablehlo.sine %%x : tensor<f32>  // %d") + fmt.Sprintf("  return %%v%d : tensor<f32>\n}", n)
	},
	"results": func(n int) string {
		return "func.func @main(%v0: tensor<f32>) -> (" + numbers(n) + ") {\n" + lines(n, "  %%v%d = stablehlo.sine %%v0 : tensor<f32>  // %d") +
			"  return " + items(n, "%%v%d") + " : " + numbers(n) + "\n}"
	},
	"carried": func(n int) string {
		return "func.func @main(%p: tensor<i1>, " + items(n, "%%a%d: tensor<f32>") + ") -> tensor<f32> {\n  %r:" + fmt.Sprint(n) + " = stablehlo.while(" + items(n, "%%c%d = %%a%[1]d") + ") : " + numbers(n) +
			"\n  cond {\n    stablehlo.return %p : tensor<i1>\n  } do {\n    stablehlo.return " + items(n, "%%c%d") + " : " + numbers(n) + "\n  }\n  return %r#0 : tensor<f32>\n}"
	},
	"concatenates": func(n int) string {
		var b strings.Builder
		for i := 1; i <= n; i++ {
			fmt.Fprintf(&b, "  %%v%d = stablehlo.concatenate %%v%d, %%v0, dim = 0 : (tensor<%dxf32>, tensor<1xf32>) -> tensor<%dxf32>\n", i, i-1, i, i+1)
		}
		return fmt.Sprintf("func.func @main(%%v0: tensor<1xf32>) -> tensor<%dxf32> {\n%s  return %%v%d : tensor<%dxf32>\n}", n+1, &b, n, n+1)
	},
	"branches": func(n int) string {
		return "func.func @main(%i: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {\n  %r = \"stablehlo.case\"(%i) (" + items(n, "{\n    %%v = stablehlo.sine %%x : tensor<f32> // %d\n    stablehlo.return %%v : tensor<f32>\n  }") +
			") : (tensor<i32>) -> tensor<f32>\n  return %r : tensor<f32>\n}"
	},
	"functions": func(n int) string {
		return "func.func private @f0(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }\n" +
			lines(n, "func.func private @f%d(%%x: tensor<f32>) -> tensor<f32> {\n  %%y = func.call @f%d(%%x) : (tensor<f32>) -> tensor<f32>\n  return %%y : tensor<f32>\n}") +
			fmt.Sprintf("func.func @main(%%x: tensor<f32>) -> tensor<f32> {\n  %%y = func.call @f%d(%%x) : (tensor<f32>) -> tensor<f32>\n  return %%y : tensor<f32>\n}", n)
	},
	"loops": func(n int) string {
		return "func.func @main(%v0: tensor<i32>) -> tensor<i32> {\n  %c0 = stablehlo.constant dense<0> : tensor<i32>\n  %c1 = stablehlo.constant dense<1> : tensor<i32>\n" +
			lines(n, "  %%v%d:2 = stablehlo.while(%%i = %%c0, %%a = %%v0) : tensor<i32>, tensor<i32>\n  cond {\n    %%p = stablehlo.compare LT, %%i, %%c1 : (tensor<i32>, tensor<i32>) -> tensor<i1> // %d\n    stablehlo.return %%p : tensor<i1>\n  } do {\n"+
				"    %%j = stablehlo.add %%i, %%c1 : tensor<i32>\n    %%k = stablehlo.add %%c1, %%c1 : tensor<i32>\n    %%b = stablehlo.multiply %%a, %%k : tensor<i32>\n    stablehlo.return %%j, %%b : tensor<i32>, tensor<i32>\n  }") +
			fmt.Sprintf("  return %%v%d#1 : tensor<i32>\n}", n)
	},
	"trips": func(n int) string { // one loop of n trips
		return fmt.Sprintf(`func.func @main(%%x: tensor<i32>) -> tensor<i32> {
  %%c0 = stablehlo.constant dense<0> : tensor<i32>
  %%c1 = stablehlo.constant dense<1> : tensor<i32>
  %%n = stablehlo.constant dense<%d> : tensor<i32>
  %%w:2 = stablehlo.while(%%i = %%c0, %%a = %%x) : tensor<i32>, tensor<i32>
  cond {
    %%p = stablehlo.compare LT, %%i, %%n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %%p : tensor<i1>
  } do {
    %%j = stablehlo.add %%i, %%c1 : tensor<i32>
    %%b = stablehlo.multiply %%a, %%a : tensor<i32>
    stablehlo.return %%j, %%b : tensor<i32>, tensor<i32>
  }
  return %%w#1 : tensor<i32>
}`, n)
	},
	"calls": func(n int) string { // hooks as hlocb's own calls
		return "func.func @main(%x: tensor<f32>) {\n" + lines(n, "  stablehlo.custom_call @hlocb_hook(%%x) {api_version = 4 : i32, "+
			"backend_config = {abi = 1 : i64, chained = false, id = %[1]d : i64, kind = \"tap\", name = \"h%[1]d\"}, has_side_effect = true} : (tensor<f32>) -> () // %[2]d") + "  return\n}"
	},
	"lowered": func(n int) string { // and ordered
		return "func.func @main(%x: tensor<f32>) {\n  %v0 = stablehlo.constant dense<0> : tensor<ui64>\n" + lines(n, "  %%v%d = stablehlo.custom_call @hlocb_hook(%%v%d, %%x) {api_version = 4 : i32, "+
			"backend_config = {abi = 1 : i64, chained = true, id = %[1]d : i64, kind = \"tap\", name = \"h%[1]d\"}, has_side_effect = true} : (tensor<ui64>, tensor<f32>) -> tensor<ui64>") + "  return\n}"
	},
	"devices": func(n int) string { // hooks of a partitioned module
		return "module attributes {mhlo.num_partitions = 2 : i32} {\nfunc.func @main(%x: tensor<f32>) {\n" +
			lines(n, "  \"hlocb.hook\"(%%x) <{format = \"hlocb\", has_side_effect, id = %[1]d : i64, kind = \"tap\", name = \"h%d\"}> : (tensor<f32>) -> () // %d") + "  return\n}\n}"
	},
	"tuples": func(n int) string {
		return "func.func @main(%v0: tuple<tensor<f32>, tensor<f32>>) -> tuple<tensor<f32>, tensor<f32>> {\n" +
			lines(n, "  %%a%d = stablehlo.get_tuple_element %%v%[2]d[0] : (tuple<tensor<f32>, tensor<f32>>) -> tensor<f32>\n"+
				"  %%v%[1]d = stablehlo.tuple %%a%[1]d, %%a%[1]d : tuple<tensor<f32>, tensor<f32>>") +
			fmt.Sprintf("  return %%v%d : tuple<tensor<f32>, tensor<f32>>\n}", n)
	},
	"hooks": func(n int) string {
		return "func.func @main(%x: tensor<f32>) {\n" + lines(n, "  \"hlocb.hook\"(%%x) <{format = \"hlocb\", has_side_effect, id = %[1]d : i64, kind = \"tap\", name = \"h%d\"}> : (tensor<f32>) -> () // %d") + "  return\n}"
	},
}

// grow runs a pass on the shape with size n. It returns how often the pass asked its context, and its allocations.
func grow(t *testing.T, p pass.Pass, shape string, n int, limit int64) (asked, allocations int64, err error) {
	t.Helper()
	reg, regErr := all.Registry()
	if regErr != nil {
		t.Fatal(regErr)
	}
	m, parseErr := parse.Parse(diag.NewSource(shape, []byte(shapes[shape](n))), ir.NewContext(reg), parse.Options{})
	if parseErr == nil {
		parseErr = ir.Verify(m)
	}
	if parseErr != nil {
		t.Fatalf("%s: %v", shape, parseErr)
	}
	ctx := &counter{Context: t.Context(), limit: limit}
	c := pass.NewContext(ctx, m)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	switch p := p.(type) {
	case pass.ModulePass:
		err = p.Run(c, m)
	case pass.OpPass:
		err = p.Run(c, m.Op())
	default:
		t.Fatalf("%s runs on neither", p.Info().Name)
	}
	runtime.ReadMemStats(&after)
	return ctx.asked.Load(), int64(after.Mallocs - before.Mallocs), err
}

// unrollAll unrolls every loop.
var unrollAll = passes.Unroll{MaxTrips: pass.Set(1 << 30), MaxOps: pass.Set(1 << 30)}

// TestGrowth: the work of a pass on a program of twice the size is at most about twice as much, counted in allocations
// and in questions to the context, which stand for the ops that the pass visits.
func TestGrowth(t *testing.T) {
	for _, p := range []pass.Pass{passes.CSE{}, passes.DCE{}, passes.LICM{}, passes.Unroll{}, unrollAll, passes.SCCP{}, passes.Inline{}, passes.Canonicalize{}, passes.Simplify{},
		passes.RemoveDeadValues{}, passes.InstrumentWithProbe{}} {
		for shape := range shapes {
			switch shape {
			case "hooks", "calls", "lowered", "devices", "tuples":
				continue
			}
			const n = 300
			asked, allocs, err := grow(t, p, shape, n, 0)
			if err != nil {
				t.Errorf("%s on %s: %v", p.Info().Name, shape, err)
				continue
			}
			asked2, allocs2, err := grow(t, p, shape, 2*n, 0)
			if err != nil || asked2 > asked*5/2+50 || allocs2 > allocs*5/2+2000 {
				t.Errorf("%s on %s: %d questions and %d allocations for %d, %d and %d for twice as many: %v", p.Info().Name, shape, asked, allocs, n, asked2, allocs2, err)
			}
		}
	}
}

// TestVerifyStops: the verifier and the driver ask their context all the time, and end when it ends.
func TestVerifyStops(t *testing.T) {
	for _, shape := range []string{"chain", "loops", "functions"} {
		m := testkit.Parse(t, shape, shapes[shape](3000))
		ctx := &counter{Context: t.Context()}
		if err := ir.VerifyContext(ctx, m); err != nil || ctx.asked.Load() < 6 {
			t.Errorf("%s: the verifier asks %d times: %v", shape, ctx.asked.Load(), err)
		}
		m = testkit.Parse(t, shape, shapes[shape](3000))
		half := &counter{Context: t.Context(), limit: ctx.asked.Load() / 2}
		if err := ir.VerifyContext(half, m); err != context.Canceled {
			t.Errorf("%s: the verifier goes on after the end of its context: %v", shape, err)
		}
	}
}

// TestPassesStop: a pass asks its context all the time, and ends when the context ends.
func TestPassesStop(t *testing.T) {
	for _, c := range []struct {
		p     pass.Pass
		shape string
	}{
		{passes.CSE{}, "equal"}, {passes.CSE{}, "branches"}, {passes.DCE{}, "chain"}, {passes.LICM{}, "loops"}, {passes.Unroll{}, "loops"}, {unrollAll, "trips"},
		{passes.RemoveDeadValues{}, "chain"}, {passes.InstrumentWithProbe{}, "chain"},
		{passes.SCCP{}, "chain"}, {passes.Inline{}, "functions"}, {passes.Canonicalize{}, "equal"}, {passes.Simplify{}, "loops"}, {passes.OrderHooks{}, "hooks"},
		{passes.RaiseHooks{}, "calls"}, {passes.AliasHooks{}, "hooks"}, {passes.PlaceHooks{}, "devices"}, {passes.LowerHooks{}, "hooks"},
		{passes.CheckOrder{}, "lowered"}, {passes.FlattenTuples{}, "tuples"}, {passes.RefineShapes{}, "chain"},
	} {
		asked, _, err := grow(t, c.p, c.shape, 3000, 0)
		if err != nil || asked < 6 {
			t.Errorf("%s asks %d times on %s: %v", c.p.Info().Name, asked, c.shape, err)
			continue
		}
		stopped, _, err := grow(t, c.p, c.shape, 3000, asked/2)
		if err != context.Canceled || stopped > asked/2+4 {
			t.Errorf("%s asks %d times on %s, and %d times after its context ended: %v", c.p.Info().Name, asked, c.shape, stopped-asked/2, err)
		}
	}
}
