package all_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/tensor"
)

// TestInvalidOps makes ops of every kind with random operands, results, attributes and regions. Builders return an
// error instead of a panic, and the printer writes every op that the verifier refuses.
func TestInvalidOps(t *testing.T) {
	reg := registry(t)
	n := 100
	if label.Less() {
		n = 20
	}
	for _, d := range all.Dialects() {
		for _, def := range d.Ops {
			for seed := range n {
				func() {
					step := ""
					defer func() {
						if r := recover(); r != nil {
							t.Errorf("%s, seed %d, %s: %v", def.Name, seed, step, r)
						}
					}()
					rng := rand.New(rand.NewPCG(uint64(seed), 1))
					m := ir.NewModule(ir.NewContext(reg), nil)
					st := invalidState(m, def, rng)
					if def.Infer != nil {
						step = "infer"
						m.AtEnd(m.NewBlock()).Infer(&ir.OpState{Def: def, Operands: st.Operands, Attrs: st.Attrs, Regions: rng.IntN(3)})
					}
					op := m.AtEnd(m.Body()).Insert(st)
					step = "verify"
					ir.Verify(m)
					step = "print"
					print.Op(m, op, print.Options{})
					print.String(m, print.Options{Generic: true})
				}()
			}
		}
	}
}

// TestSingleBlock: the verdict on a region without blocks is jaxlib 0.10.2's.
func TestSingleBlock(t *testing.T) {
	for op, region := range map[string]string{
		`"builtin.module"() ({}) : () -> ()`:                                             "bodyRegion",
		`"stablehlo.while"(%a) ({}, {}) : (tensor<f32>) -> tensor<f32>`:                  "cond",
		`"stablehlo.if"(%p) ({}, {}) : (tensor<i1>) -> tensor<f32>`:                      "true_branch",
		`"stablehlo.case"(%i) ({}, {}) : (tensor<i32>) -> tensor<f32>`:                   "branches",
		`"stablehlo.sort"(%v) ({}) : (tensor<4xf32>) -> tensor<4xf32>`:                   "comparator",
		`"sdy.named_computation"(%a) <{name = "f"}> ({}) : (tensor<f32>) -> tensor<f32>`: "body",
		`"stablehlo.select_and_scatter"(%v, %s, %a) <{window_dimensions = array<i64: 4>}> ({}, {}) : (tensor<4xf32>, tensor<1xf32>, tensor<f32>) -> tensor<4xf32>`: "select",
	} {
		m, err := parse.Parse(diag.NewSource("in", []byte("func.func @f(%a: tensor<f32>, %v: tensor<4xf32>, %s: tensor<1xf32>, %i: tensor<i32>, %p: tensor<i1>) {\n"+op+"\nreturn\n}")), ir.NewContext(registry(t)), parse.Options{})
		if err != nil {
			t.Errorf("%s: %v", op, err)
			continue
		}
		want := "op region #0 ('" + region + "') failed to verify constraint: region with 1 blocks"
		if err := ir.Verify(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, want %s", op, err, want)
		}
	}
}

// TestNestedModules: "module {}" has an empty block, and a module inside a module needs no prefix, as in MLIR.
func TestNestedModules(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"module { module @a {} }", "module {\n  module @a {\n  }\n}\n"},
		{"module {}\nmodule {}", "module {\n  module {\n  }\n  module {\n  }\n}\n"},
	} {
		m, err := parse.Parse(diag.NewSource("in", []byte(c.text)), ir.NewContext(registry(t)), parse.Options{})
		if err == nil {
			err = ir.Verify(m)
		}
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if got := print.String(m, print.Options{}); got != c.want {
			t.Errorf("%s is printed as\n%s", c.text, got)
		}
	}
}

// invalidState describes an op of kind def that is rarely valid.
func invalidState(m *ir.Module, def *ir.Def, rng *rand.Rand) *ir.OpState {
	c := m.Context()
	f32, i64 := ir.ElementOf(tensor.F32), ir.Int(64)
	types := []ir.Type{c.Tensor([]int64{2, 3}, f32, nil), f32, c.UnrankedTensor(ir.Int(32)), c.Tensor([]int64{ir.Dynamic}, i64, nil),
		c.Tensor(nil, ir.Int(1), nil), c.Tuple(nil), stablehlo.Token.New(c, nil), c.Index(), c.None()}
	some := func() ir.Type { return types[rng.IntN(len(types))] }
	source := m.AtEnd(m.Body()).Create(m.Def("u.source"), nil, types)
	st := &ir.OpState{Def: def}
	for range rng.IntN(6) {
		st.Operands = append(st.Operands, source.Result(rng.IntN(len(types))))
	}
	for range rng.IntN(3) {
		st.Types = append(st.Types, some())
	}
	for _, a := range def.Attrs {
		values := []ir.Attr{nil, nil, a.Default, ir.NewUnit(), ir.NewString("x"), ir.NewInteger(int64(rng.IntN(5)-1), i64),
			ir.NewDenseArray(i64, []int64{int64(rng.IntN(4) - 1), 1, 0}[:rng.IntN(4)])}
		if v := values[rng.IntN(len(values))]; v != nil {
			st.SetAttr(a.Name, v)
		}
	}
	for range rng.IntN(3) {
		r := m.NewRegion()
		st.Bodies = append(st.Bodies, r)
		for range rng.IntN(3) {
			b := r.AddBlock()
			for range rng.IntN(3) {
				b.AddArg(some(), nil)
			}
			if rng.IntN(2) == 0 {
				m.AtEnd(b).Create(stablehlo.Return, b.Args(), nil)
			}
		}
	}
	return st
}
