package hlo

import (
	"math"

	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// carrier is the op of an instruction with the same operands and results. Each attribute of one is an attribute of the
// other.
type carrier struct {
	opcode *opcode
	def    *ir.Def
	fields []carried
}

// carried is an attribute by both names. toMLIR reads it from an instruction, toHLO from the current op.
type carried struct {
	hlo, mlir string
	toMLIR    func(s *importScope, in *instr, name string) ir.Attr
	toHLO     func(s *exportScope, name string) any
}

// carriers are the instructions that only carry attributes, besides the simple ones.
var carriers = []carrier{
	{opcodes["iota"], stablehlo.Iota, []carried{carriedInt("iota_dimension", "iota_dimension", 64)}},
	{opcodes["reverse"], stablehlo.Reverse, []carried{carriedInts("dimensions", "dimensions")}},
	{opcodes["reduce-precision"], stablehlo.ReducePrecision,
		[]carried{carriedInt("exponent_bits", "exponent_bits", 32), carriedInt("mantissa_bits", "mantissa_bits", 32)}},
	{opcodes["fft"], stablehlo.Fft, []carried{carriedEnum("fft_type", stablehlo.FftTypeEnum, fftTypes), carriedInts("fft_length", "fft_length")}},
	{opcodes["cholesky"], stablehlo.Cholesky, []carried{carriedBool("lower")}},
	{opcodes["triangular-solve"], stablehlo.TriangularSolve, []carried{carriedBool("left_side"), carriedBool("lower"), carriedBool("unit_diagonal"),
		carriedEnum("transpose_a", stablehlo.TransposeEnum, transposes)}},
	{opcodes["batch-norm-training"], stablehlo.BatchNormTraining, []carried{carriedEpsilon, carriedInt("feature_index", "feature_index", 64)}},
	{opcodes["batch-norm-inference"], stablehlo.BatchNormInference, []carried{carriedEpsilon, carriedInt("feature_index", "feature_index", 64)}},
	{opcodes["batch-norm-grad"], stablehlo.BatchNormGrad, []carried{carriedEpsilon, carriedInt("feature_index", "feature_index", 64)}},
	{opcodes["rng-get-and-update-state"], mhlo.RngGetAndUpdateState, []carried{carriedInt("delta", "delta", 64)}},
	{opcodes["get-dimension-size"], stablehlo.GetDimensionSize, []carried{carriedDimension}},
	{opcodes["set-dimension-size"], stablehlo.SetDimensionSize, []carried{carriedDimension}},
}

// importCarriers and exportCarriers find the row of an instruction and of an op.
var importCarriers, exportCarriers = func() (map[*opcode]*carrier, map[*ir.Def]*carrier) {
	byOpcode, byDef := map[*opcode]*carrier{}, map[*ir.Def]*carrier{}
	for i := range carriers {
		c := &carriers[i]
		byOpcode[c.opcode], byDef[c.def] = c, c
	}
	return byOpcode, byDef
}()

func carriedInt(hlo, mlir string, bits int) carried {
	return carried{hlo, mlir, func(_ *importScope, in *instr, name string) ir.Attr {
		return ir.NewInteger(attrOf[int64](in, name), ir.Int(bits))
	}, func(s *exportScope, name string) any { return s.int(name) }}
}

func carriedInts(hlo, mlir string) carried {
	return carried{hlo, mlir, func(_ *importScope, in *instr, name string) ir.Attr { return i64sAttr(attrOf[[]int64](in, name)) },
		func(s *exportScope, name string) any { return s.ints(name) }}
}

func carriedBool(name string) carried {
	return carried{name, name, func(s *importScope, in *instr, name string) ir.Attr { return s.im.ctx.Bool(attrOf[bool](in, name)) },
		func(s *exportScope, name string) any { return s.bool(name) }}
}

// carriedEnum is an enumeration with the same codes on both sides.
func carriedEnum(name string, row *ir.EnumDef, words []string) carried {
	return carried{name, name, func(_ *importScope, in *instr, name string) ir.Attr { return in.enum(name, name, row).Attr },
		func(s *exportScope, name string) any {
			code, _ := s.enum(name, words, "")
			return code
		}}
}

// carriedDimension is the one dimension of a list.
var carriedDimension = carried{"dimensions", "dimension", func(s *importScope, in *instr, _ string) ir.Attr { return i64Attr(s.oneDim(in)) },
	func(s *exportScope, name string) any { return []int64{s.int(name)} }}

// carriedEpsilon is an f32 in StableHLO.
var carriedEpsilon = carried{"epsilon", "epsilon", func(_ *importScope, in *instr, name string) ir.Attr {
	return ir.NewFloatBits(uint64(math.Float32bits(float32(attrOf[float64](in, name)))), ir.Float(tensor.F32))
}, func(s *exportScope, name string) any { return s.float(name) }}

// carry makes the op of c.
func (s *importScope) carry(in *instr, c *carrier) value {
	attrs := make([]ir.NamedAttr, len(c.fields))
	for i, f := range c.fields {
		attrs[i] = inherent(f.mlir, f.toMLIR(s, in, f.hlo))
	}
	return s.make(in, c.def, s.operands(in), nil, attrs...)
}

// carry makes the instruction of c.
func (s *exportScope) carry(op *ir.Op, c *carrier) {
	attrs := make([]any, 0, 2*len(c.fields))
	for _, f := range c.fields {
		attrs = append(attrs, f.hlo, f.toHLO(s, f.mlir))
	}
	s.makeWith(op, c.opcode, nil, attrs...)
}
