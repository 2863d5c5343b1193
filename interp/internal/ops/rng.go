package ops

import (
	"hash/fnv"
	"math/bits"
	"sync"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// makeRngBitGenerator compiles rng_bit_generator (spec, "rng_bit_generator"). The spec does not define the layout of
// the bits. The engine uses XLA's layout, bit for bit; DEFAULT is PHILOX.
func makeRngBitGenerator(s *plan.Spec) kernel.Kernel {
	a := plan.Attrs[struct {
		Algorithm string `attr:"rng_algorithm,DEFAULT"`
	}](s.Op)
	return kernel.BitsKernel(&s.Signature, a.Algorithm)
}

// rngStreams returns the key of each rng op of m: a hash of the function's name and of the op's position among the rng
// ops of the function. Nothing else in the program changes the numbers that an op generates.
func rngStreams(m *ir.Module) map[*ir.Op]uint64 {
	keys := map[*ir.Op]uint64{}
	ordinal := map[string]uint64{}
	m.Walk(func(op *ir.Op) bool {
		if plan.OpKind(op) == stablehlo.Rng {
			path := ""
			for f := op.Parent(); f != nil; f = f.Parent() {
				if name := view.String(f.Attr(ir.SymbolName)); name != "" {
					path = name + "." + path
				}
			}
			h := fnv.New64a()
			h.Write([]byte(path))
			keys[op] = (h.Sum64()+ordinal[path])*0x9E3779B97F4A7C15 + 1
			ordinal[path]++
		}
		return true
	})
	return keys
}

// makeRng compiles rng (spec, "rng"). The spec does not define the values. The engine uses a fixed stream per op, which
// makes runs repeatable; see rngStreams.
func (h *Host) makeRng(s *plan.Spec) kernel.Kernel {
	a := plan.Attrs[struct {
		Distribution string `attr:"rng_distribution"`
	}](s.Op)
	return kernel.RngKernel(&s.Signature, a.Distribution, h.streams()[s.Op])
}

// makeRngState compiles mhlo.xla.rng_get_and_update_state: an integer of 128 bits, low word first, to which each
// execution of the op adds delta. As in XLA's CPU compiler, each op has a state, which starts at the same value and
// outlives a run.
func makeRngState(s *plan.Spec) kernel.Kernel {
	kernel.FailIf(s.Out[0].DType != tensor.UI64 || s.Out[0].N != 2, "expects one result of type tensor<2xui64>")
	delta := uint64(plan.Attrs[struct {
		Delta int64 `attr:"delta"`
	}](s.Op).Delta)
	var mu sync.Mutex
	lo, hi := uint64(0x7012395), uint64(0)
	return kernel.Kernel{Family: "elements", Run: func(_, out []*tensor.Tensor) {
		mu.Lock()
		defer mu.Unlock()
		kernel.EncodeInt(tensor.UI64, out[0], 0, []int64{int64(lo), int64(hi)})
		var carry uint64
		lo, carry = bits.Add64(lo, delta, 0)
		hi += carry
	}}
}
