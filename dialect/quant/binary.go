package quant

import (
	"fmt"
	"strings"

	"github.com/hlocb/hlocb/ir"
)

// signedFlag is the flag of signed storage types.
const signedFlag = 1

// binary holds the bytecode forms of the types that hlocb reads (MLIR, QuantDialectBytecode.td).
func binary() []ir.Binary {
	form := func(code int, axis bool, is func(u *Uniform) bool) ir.Binary {
		b := ir.BinaryData(code, func(c ir.Coder, u *Uniform) {
			u.Code(c, &u.Storage, &u.Expressed, axis)
			u.complete(c)
		})[0]
		b.Is = func(data any) bool { return is(data.(*Uniform)) }
		return b
	}
	block := ir.BinaryData(6, func(c ir.Coder, u *Uniform) {
		u.codeTypes(c, &u.Storage, &u.Expressed)
		u.Axis = -1
		c.Int(&u.Min)
		c.Int(&u.Max)
		if u.blocks == nil {
			u.blocks = &blocks{}
		}
		u.blocks.code(c, u)
		u.complete(c)
	})[0]
	return []ir.Binary{
		form(4, false, func(u *Uniform) bool { return u.PerTensor() && u.blocks == nil }), form(5, true, (*Uniform).PerAxis), block,
	}
}

// Code codes the parameters of a type in bytecode, per axis or per tensor. The types can be another dialect's.
func (u *Uniform) Code(c ir.Coder, storage, expressed *ir.Type, axis bool) {
	u.codeTypes(c, storage, expressed)
	if !axis {
		u.Axis = -1
		if u.Scales == nil {
			u.Scales, u.ZeroPoints = make([]float64, 1), make([]int64, 1)
		}
		c.Float64(&u.Scales[0])
		c.Int(&u.ZeroPoints[0])
		c.Int(&u.Min)
		c.Int(&u.Max)
		return
	}
	dim := uint64(u.Axis)
	c.Uint(&dim)
	if u.Axis = int(dim); u.Axis < 0 {
		c.Failf("illegal quantized dimension: %d", dim)
	}
	c.Int(&u.Min)
	c.Int(&u.Max)
	n := len(u.Scales)
	if c.Len(&n); u.Scales == nil {
		u.Scales = make([]float64, n)
	}
	for i := range u.Scales {
		c.Float64(&u.Scales[i])
	}
	if c.Ints(&u.ZeroPoints); len(u.ZeroPoints) != n {
		c.Failf("%d scales and %d zero points", n, len(u.ZeroPoints))
	}
}

// codeTypes codes the common start of quantized types: flags, storage type, expressed type.
func (u *Uniform) codeTypes(c ir.Coder, storage, expressed *ir.Type) {
	u.codeFlags(c)
	c.Type(storage)
	c.Type(expressed)
}

func (u *Uniform) codeFlags(c ir.Coder) {
	flags := uint64(0)
	if u.Signed {
		flags = signedFlag
	}
	c.Uint(&flags)
	u.Signed = flags&signedFlag != 0
}

// Complete checks the parameters and sets the fields that the text of the type needs. Call it for a Uniform that was
// not read from text.
func (u *Uniform) Complete() error {
	if _, ok := u.Expressed.(*ir.FloatType); !ok {
		return fmt.Errorf("expressed type must be floating point, found %s", u.Expressed)
	}
	return u.completeStorage()
}

func (u *Uniform) completeStorage() error {
	s, ok := u.Storage.(*ir.IntegerType)
	if !ok || s.Width() < 1 || s.Width() > 32 {
		return fmt.Errorf("illegal storage type %s", u.Storage)
	}
	if u.spelling != "" {
		return nil
	}
	u.spelling = s.String()
	lo, hi := int64(-1)<<(s.Width()-1), int64(1)<<(s.Width()-1)-1
	if !u.Signed {
		if s.Signedness() == ir.Signless {
			u.spelling = "u" + strings.TrimPrefix(u.spelling, "i")
		}
		lo, hi = 0, int64(1)<<s.Width()-1
	}
	if u.Min < lo || u.Max > hi {
		return fmt.Errorf("illegal range %d:%d of storage type %s", u.Min, u.Max, u.spelling)
	}
	u.limited = u.Min != lo || u.Max != hi
	return nil
}

func (u *Uniform) complete(c ir.Coder) {
	if err := u.Complete(); err != nil {
		c.Failf("%s", err)
	}
}
