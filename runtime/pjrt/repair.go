//go:build cgo

package pjrt

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/rewrite"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// repair replaces ops that a plugin refuses, or compiles to something else than they say.
type repair struct {
	wants func(op *ir.Op) bool
	do    func(r *rewrite.Rewriter, op *ir.Op)
}

// repairs are for every plugin; placements is for devices that have one memory.
var (
	repairs = []repair{{callWithoutConfig, setConfig}, {untypedComparison, setComparisonType}, {signedBits, unsignedBits}, {calledCHLO, callCHLO},
		{legalize.IsModuleNote, (*rewrite.Rewriter).Erase}, {isResource, elementsInline}, {dropsImaginary, convertRealPart},
		{isFusion, inlineFusion}, {legalize.IsBitcast, legalize.Bitcast}, {orderOnly, forwardFirst}, {isAsyncDone, callNow},
		{legalize.IsSizeCall, legalize.SizeCall}}
	placements = repair{isPlacement, forwardOperands}
)

// repaired returns p with its ops repaired, in a copy of its module if one needs it.
func (c *Client) repaired(p *runtime.Program) *runtime.Program {
	if p.Module == nil {
		return p
	}
	list := repairs
	if c.platform == "cpu" {
		list = append(slices.Clip(list), placements)
	}
	wanted := func(op *ir.Op) int { return slices.IndexFunc(list, func(r repair) bool { return r.wants(op) }) }
	if p.Module.Op().Walk(func(op *ir.Op) bool { return wanted(op) < 0 }) {
		return p
	}
	m := p.Module.Clone()
	var ops []*ir.Op
	m.Walk(func(op *ir.Op) bool {
		if wanted(op) >= 0 {
			ops = append(ops, op)
		}
		return true
	})
	r := rewrite.New(m)
	for _, op := range ops {
		if op.Erased() {
			continue
		}
		if i := wanted(op); i >= 0 { // an earlier repair may have changed it
			list[i].do(r, op)
		}
	}
	return &runtime.Program{Module: m, Manifest: p.Manifest}
}

// ownConfig returns the configuration of a call of API version 4 that has it as mhlo.backend_config alone, or nil. XLA
// reads that attribute only on calls of version 1, and would call the handler without attributes.
func ownConfig(op *ir.Op) *ir.DictAttr {
	call, ok := stablehlo.AsCustomCall(op)
	if !ok || call.APIVersion() != stablehlo.APITypedFFI {
		return nil
	}
	if own, ok := call.BackendConfig().(*ir.DictAttr); ok && len(own.Entries()) > 0 {
		return nil
	}
	d, _ := op.Attr(mhlo.AttrBackendConfig).(*ir.DictAttr)
	return d
}

func callWithoutConfig(op *ir.Op) bool { return ownConfig(op) != nil }

func setConfig(_ *rewrite.Rewriter, op *ir.Op) {
	op.SetAttr(stablehlo.AttrBackendConfig, ownConfig(op))
	op.RemoveAttr(mhlo.AttrBackendConfig)
}

// untypedComparison reports whether op compares signed integers and states no type. XLA compares constants as unsigned
// numbers if the type is missing, as TensorFlow writes comparisons: -1 < 0 is then false.
func untypedComparison(op *ir.Op) bool {
	c, ok := stablehlo.AsCompare(op)
	if !ok || c.Attr(stablehlo.AttrCompareType) != nil {
		return false
	}
	t, ok := c.LHS().Type().(*ir.TensorType)
	return ok && t.DType().Kind() == tensor.KindSigned
}

func setComparisonType(_ *rewrite.Rewriter, op *ir.Op) {
	op.SetAttr(stablehlo.AttrCompareType, ir.NewEnum(stablehlo.ComparisonTypeEnum, int(stablehlo.ComparisonTypeSIGNED)))
}

// unsigned maps widths of elements in bits to unsigned types.
var unsigned = map[int]tensor.DType{8: tensor.UI8, 16: tensor.UI16, 32: tensor.UI32, 64: tensor.UI64}

// signedBits reports whether op makes random bits of a signed or floating-point type. XLA makes them unsigned, and the
// program continues with unsigned numbers.
func signedBits(op *ir.Op) bool {
	if _, ok := stablehlo.AsRngBitGenerator(op); !ok {
		return false
	}
	t, ok := op.Result(1).Type().(*ir.TensorType)
	return ok && t.DType().Kind() != tensor.KindUnsigned && unsigned[t.DType().Bits()] != 0
}

func unsignedBits(r *rewrite.Rewriter, op *ir.Op) {
	rng, _ := stablehlo.AsRngBitGenerator(op)
	t := op.Result(1).Type().(*ir.TensorType)
	b := r.Before(op)
	bits := op.Module().Context().Tensor(t.Shape(), ir.ElementOf(unsigned[t.DType().Bits()]), t.Encoding())
	made := ir.Must(stablehlo.BuildRngBitGenerator(b, rng.InitialState(), []ir.Type{op.Result(0).Type(), bits}, stablehlo.RngBitGeneratorAttrs{RngAlgorithm: rng.RngAlgorithm()}))
	for _, a := range op.Attrs() {
		if made.Attr(a.Name) == nil {
			made.SetAttr(a.Name, a.Attr) // a sharding
		}
	}
	r.Replace(op, made.Op.Result(0), ir.Must(stablehlo.BuildBitcastConvert(b, made.Op.Result(1), t)).Result(0))
}

// calledCHLO reports whether op calls an op of CHLO by its name in MHLO, which XLA does not know.
func calledCHLO(op *ir.Op) bool { return legalize.CallsCHLO(op) }

func callCHLO(r *rewrite.Rewriter, op *ir.Op) {
	made := r.Before(op).Insert(&ir.OpState{Def: legalize.CalledDef(op), Operands: op.OperandList(), Types: op.ResultTypes()})
	r.Replace(op, made.ResultList()...)
}

// isPlacement reports whether op only says in which memory of a device its operand lies.
func isPlacement(op *ir.Op) bool {
	call, ok := stablehlo.AsCustomCall(op)
	return ok && slices.Contains([]string{stablehlo.TargetPlacement, stablehlo.TargetMoveToHost, stablehlo.TargetMoveToDevice}, call.CallTargetName()) &&
		slices.EqualFunc(op.OperandList(), op.ResultTypes(), func(v *ir.Value, t ir.Type) bool { return v.Type() == t })
}

func forwardOperands(r *rewrite.Rewriter, op *ir.Op) { r.Replace(op, op.OperandList()...) }
