package kernel

import (
	"slices"

	"github.com/hlocb/hlocb/interp/internal/simd/expr"
	"github.com/hlocb/hlocb/interp/internal/simd/vec"
	"github.com/hlocb/hlocb/tensor"
)

// Lanes is an elementwise op as operations of package expr. A chain of such ops becomes one loop of machine code. A
// lane holds a bf16 as f32.
type Lanes struct {
	Width int // bytes of a lane; 0 if the op computes on lanes of any width
	Apply func(p *expr.Program, x ...*expr.Node) *expr.Node
	Wider bool    // operands and result are f32, and lanes f64: for loops on single values
	Limit float64 // of the magnitudes of operands; 0: none
}

func (k Kernel) with(l *Lanes) Kernel {
	k.Lanes = l
	return k
}

// Format returns the format of a type's elements in lanes of a width, or "" if they have none.
func Format(dt tensor.DType, width int) string {
	format := map[tensor.DType]string{tensor.F32: "f32", tensor.F64: "f64", tensor.BF16: "bf16", tensor.I1: "i1",
		tensor.I32: "i32", tensor.UI32: "i32", tensor.I64: "i64", tensor.UI64: "i64"}[dt]
	if format == "i1" || format == "bf16" && width == 4 || dt.Size() == width {
		return format
	}
	return ""
}

// lanesOf returns the function of a loop on lanes. It returns nil if lanes are wider than elements, which would round
// once instead of once for each op.
func lanesOf(l *vec.Loop) *Lanes {
	if l == nil {
		return nil
	}
	f := l.Function()
	for _, format := range append(slices.Clone(f.Formats), f.Format) {
		if format != "i1" && expr.Size(format) != f.Width {
			return nil
		}
	}
	return &Lanes{Width: f.Width, Apply: f.Apply}
}

// singleOf returns the function of a loop as an op on single values, of magnitudes below limit if it is not 0. The
// op's lanes may be wider than its elements.
func singleOf(l *vec.Loop, limit float64) *Lanes {
	if l == nil {
		return nil
	}
	f := l.Function()
	wider := f.Format == "f32" && f.Width == 8
	for _, format := range f.Formats {
		if expr.Size(format) != f.Width && (format != "f32" || !wider) {
			return nil
		}
	}
	return &Lanes{Width: f.Width, Apply: f.Apply, Wider: wider, Limit: limit}
}

// rounded returns an op on f32 that rounds its result to bf16.
func rounded(l *Lanes) *Lanes {
	if l == nil {
		return nil
	}
	round := vec.BF16FromF32Loop.Function()
	return &Lanes{Width: l.Width, Apply: func(p *expr.Program, x ...*expr.Node) *expr.Node { return round.Apply(p, l.Apply(p, x...)) }}
}

// unchanged returns the op that copies elements.
func unchanged(dt tensor.DType) *Lanes {
	width := dt.Size()
	switch {
	case dt == tensor.BF16:
		width = 4
	case Format(dt, width) == "" || dt == tensor.I1:
		return nil
	}
	return &Lanes{Width: width, Apply: func(p *expr.Program, x ...*expr.Node) *expr.Node { return p.Copy(x[0]) }}
}

// selectLanes returns select on lanes, or nil.
func selectLanes(dt tensor.DType) *Lanes {
	width := max(dt.Size(), 4)
	switch {
	case dt == tensor.I1:
		return &Lanes{Apply: (*expr.Program).SelectFlag}
	case Format(dt, width) == "":
		return nil
	}
	return &Lanes{Width: width, Apply: (*expr.Program).Select}
}

// The ops on flags.
var (
	both     = &Lanes{Apply: (*expr.Program).And}
	either   = &Lanes{Apply: (*expr.Program).Or}
	inverse  = &Lanes{Apply: (*expr.Program).Not}
	numbered = &Lanes{Width: 4, Apply: (*expr.Program).Number}
)
