package reduce_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/reduce"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
)

// parse reads and verifies a module.
func parse(text []byte) (*ir.Module, error) {
	m, err := testkit.TryParse("reduced.mlir", text)
	if err != nil {
		return nil, err
	}
	return m, ir.Verify(m)
}

// feeds reports whether an op of row to uses, through at most depth ops, a result of an op of row from.
func feeds(m *ir.Module, from, to *ir.Def, depth int) bool {
	var reaches func(op *ir.Op, depth int) bool
	reaches = func(op *ir.Op, depth int) bool {
		for _, v := range op.Operands() {
			if d := v.DefiningOp(); d != nil && (d.Is(from) || depth > 0 && reaches(d, depth-1)) {
				return true
			}
		}
		return false
	}
	found := false
	m.Walk(func(op *ir.Op) bool {
		found = found || op.Is(to) && reaches(op, depth)
		return !found
	})
	return found
}

// planted are bugs that a compiler could have; each tells which modules make the compiler fail.
var planted = map[string]func(m *ir.Module) bool{
	"product of a transposed value, added to a broadcast": func(m *ir.Module) bool {
		return feeds(m, stablehlo.Transpose, stablehlo.DotGeneral, 0) && feeds(m, stablehlo.DotGeneral, stablehlo.Add, 3) && feeds(m, stablehlo.BroadcastInDim, stablehlo.Add, 0)
	},
	"exponential of a difference from a maximum": func(m *ir.Module) bool {
		return feeds(m, stablehlo.Subtract, stablehlo.Exponential, 0) && feeds(m, stablehlo.Maximum, stablehlo.Subtract, 3)
	},
	"sum of a product with itself, of a dimension above one": func(m *ir.Module) bool {
		found := false
		m.Walk(func(op *ir.Op) bool {
			if op.Is(stablehlo.Reduce) && op.Operand(0).DefiningOp() != nil && op.Operand(0).DefiningOp().Is(stablehlo.Multiply) {
				for _, d := range op.Operand(0).Type().(*ir.TensorType).Shape() {
					found = found || d > 1
				}
			}
			return !found
		})
		return found
	},
}

// TestPlantedBugs: a module of 4,000 lines becomes one of at most 12 ops that still has the bug; no op can be removed
// from it.
func TestPlantedBugs(t *testing.T) {
	text, err := os.ReadFile(testkit.Testdata("transformer_grad.mlir"))
	if err != nil {
		t.Fatal(err)
	}
	for name, bug := range planted {
		t.Run(name, func(t *testing.T) {
			m, err := parse(text)
			if err != nil {
				t.Fatal(err)
			}
			test := func(_ context.Context, text []byte) (bool, error) {
				m, err := parse(text)
				if err != nil {
					t.Errorf("the test gets a bad module: %v", err)
					return false, nil
				}
				return bug(m), nil
			}
			out, s, err := reduce.Reduce(context.Background(), m, reduce.Options{Test: test, Parse: parse})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s\n%s", s, out)
			small, err := parse(out)
			if err != nil {
				t.Fatal(err)
			}
			if s.Ops > 12 || !bug(small) {
				t.Errorf("%d ops are left, with the bug: %v", s.Ops, bug(small))
			}
			again, s, err := reduce.Reduce(context.Background(), small, reduce.Options{Test: test, Parse: parse})
			if err != nil || string(again) != string(out) {
				t.Errorf("a second reduction goes on: %v, %v\n%s", s, err, again)
			}
		})
	}
}

// TestLoops: loops, branches and calls are removed if the bug does not need them.
func TestLoops(t *testing.T) {
	const text = `
func.func private @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>, %n: tensor<i32>) -> (tensor<4xf32>, tensor<i32>) {
  %c = stablehlo.constant dense<1> : tensor<i32>
  %w:3 = stablehlo.while(%i = %n, %a = %x, %b = %x) : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  cond {
    %p = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %c : tensor<i32>
    %y = func.call @step(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %z = stablehlo.cosine %b : tensor<4xf32>
    stablehlo.return %j, %y, %z : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  }
  return %w#1, %w#0 : tensor<4xf32>, tensor<i32>
}
`
	holds := func(rows ...*ir.Def) func(context.Context, []byte) (bool, error) {
		return func(_ context.Context, text []byte) (bool, error) {
			m, err := parse(text)
			if err != nil {
				return false, err
			}
			for _, row := range rows {
				found := false
				m.Walk(func(op *ir.Op) bool { found = found || op.Is(row); return !found })
				if !found {
					return false, nil
				}
			}
			return true, nil
		}
	}
	for _, c := range []struct {
		rows []*ir.Def
		want string
	}{
		{[]*ir.Def{stablehlo.Sine}, "module {\n  func.func @step(%arg0: tensor<1xf32>) {\n    %0 = stablehlo.sine %arg0 : tensor<1xf32>\n    return\n  }\n}\n"},
		{[]*ir.Def{stablehlo.While, stablehlo.Cosine}, `module {
  func.func @main(%arg0: tensor<1xf32>, %arg1: tensor<i32>, %arg2: tensor<i1>) {
    %0 = stablehlo.while(%iterArg = %arg1) : tensor<i32>
    cond {
      stablehlo.return %arg2 : tensor<i1>
    } do {
      %1 = stablehlo.cosine %arg0 : tensor<1xf32>
      stablehlo.return %iterArg : tensor<i32>
    }
    return
  }
}
`},
	} {
		m, err := parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		out, s, err := reduce.Reduce(context.Background(), m, reduce.Options{Test: holds(c.rows...), Parse: parse})
		if err != nil || string(out) != c.want {
			t.Errorf("%v: %v, %v\n%s\nexpected\n%s", c.rows[0].Name, s, err, out, c.want)
		}
	}
	m, err := parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := reduce.Reduce(context.Background(), m, reduce.Options{Test: holds(stablehlo.Abs), Parse: parse}); !errors.Is(err, reduce.NotInterestingError{}) {
		t.Errorf("error is %v", err)
	}
}
