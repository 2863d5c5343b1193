package golden

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// faults change an op so that it is likely invalid, and report whether they did.
var faults = []func(m *ir.Module, op *ir.Op) bool{
	func(m *ir.Module, op *ir.Op) bool { // an operand is missing
		if op.NumOperands() == 0 {
			return false
		}
		op.SetOperands(op.OperandList()[:op.NumOperands()-1])
		return true
	},
	func(m *ir.Module, op *ir.Op) bool { // one too many
		if op.NumOperands() == 0 {
			return false
		}
		op.SetOperands(append(slices.Clone(op.OperandList()), op.Operand(0)))
		return true
	},
	func(m *ir.Module, op *ir.Op) bool { // the first operand is the last
		if op.NumOperands() < 2 {
			return false
		}
		op.SetOperand(0, op.Operand(op.NumOperands()-1))
		return true
	},
	func(m *ir.Module, op *ir.Op) bool {
		return retype(op, func(t *ir.TensorType) ir.Type {
			return m.Context().Tensor(append(slices.Clone(t.Shape()), 2), t.Elem(), nil)
		})
	},
	func(m *ir.Module, op *ir.Op) bool {
		return retype(op, func(t *ir.TensorType) ir.Type {
			shape := slices.Clone(t.Shape())
			if len(shape) == 0 {
				return t
			}
			shape[len(shape)-1]++
			return m.Context().Tensor(shape, t.Elem(), nil)
		})
	},
	func(m *ir.Module, op *ir.Op) bool {
		return retype(op, func(t *ir.TensorType) ir.Type {
			other := tensor.F64
			if t.DType() == tensor.F64 {
				other = tensor.I8
			}
			if slices.Contains(t.Shape(), ir.Dynamic) {
				return t
			}
			return m.Context().StaticTensor(other, tensor.Shape(t.Shape()))
		})
	},
	func(m *ir.Module, op *ir.Op) bool { // no attributes
		done := false
		for _, a := range slices.Clone(op.Attrs()) {
			op.RemoveAttr(a.Name)
			done = true
		}
		return done
	},
	func(m *ir.Module, op *ir.Op) bool { return renumber(m, op, 7) },
	func(m *ir.Module, op *ir.Op) bool { return renumber(m, op, -1) },
	func(m *ir.Module, op *ir.Op) bool { return renumber(m, op, 0) },
}

// retype changes the type of the last result.
func retype(op *ir.Op, change func(*ir.TensorType) ir.Type) bool {
	if op.NumResults() == 0 {
		return false
	}
	v := op.Result(op.NumResults() - 1)
	t, ok := v.Type().(*ir.TensorType)
	if !ok || !t.Ranked() || change(t) == ir.Type(t) {
		return false
	}
	v.SetType(change(t))
	return true
}

// renumber sets the integers among the attributes to n.
func renumber(m *ir.Module, op *ir.Op, n int64) bool {
	done := false
	for _, a := range slices.Clone(op.Attrs()) {
		if i, ok := a.Attr.(*ir.IntegerAttr); ok && i.Value() != n {
			op.SetAttr(a.Name, ir.NewInteger(n, i.Type()))
			done = true
		}
	}
	return done
}

// Broken compares what the engine says about samples of ops with a fault with their fingerprints in
// testdata/fingerprints/broken.txt.
func Broken(t *testing.T) {
	Fingerprints(t, testkit.Testdata("fingerprints", "broken.txt"), func(add func(name, text string)) {
		for _, path := range testkit.Glob(t, "ops/*.mlir") {
			for i, s := range testkit.Samples(t, filepath.Base(path)) {
				m, err := testkit.TryParse(s.Op, s.Main(t))
				if err != nil {
					continue
				}
				var all strings.Builder
				for j, fault := range faults {
					m := m.Clone()
					main, ok := fn.Lookup(m, "main")
					if !ok {
						break
					}
					op := main.Body().Last().Prev()
					for op != nil && op.Name() != s.Op {
						op = op.Prev()
					}
					if op == nil || !fault(m, op) {
						continue
					}
					fmt.Fprintf(&all, "%d: %s\n", j, refusal(m))
				}
				add(fmt.Sprintf("%s.%d", s.Op, i), all.String())
			}
		}
	})
}

// refusal compiles a module and returns the error, or that there is none. The module is not run: it is not valid.
func refusal(m *ir.Module) string {
	exe, err := interp.New(interp.Options{}).Compile(context.Background(), &runtime.Program{Module: m}, runtime.CompileOptions{})
	if err != nil {
		return err.Error()
	}
	if err := exe.Close(); err != nil {
		return err.Error()
	}
	return "compiles"
}
