package hooks

import (
	"fmt"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// fromJAXHostCallback2020 reads the first host_callback protocol: a header tensor<32xui32> with the magic word
// 2178, a consumer's id of 64 bits and the types of the tensors in msgpack, then one outfeed of the tensors.
var fromJAXHostCallback2020 = Format{
	Name:  "jax-hcb-outfeed-2020",
	Doc:   "JAX host_callback of early 2020: an outfeed of a ui32[32] header with magic 2178 and msgpack metadata, then one of the leaves",
	ops:   []string{"outfeed"},
	raise: raiseHostCallback2020,
}

func raiseHostCallback2020(r *raiser, op *ir.Op) (bool, error) {
	tokens, data := splitTokens(op.OperandList())
	if len(data) != 1 {
		return false, nil
	}
	t, ok := data[0].Type().(*ir.TensorType)
	if !ok || t.DType() != tensor.UI32 || t.Rank() != 1 {
		return false, nil
	}
	words, ok := constant(data[0])
	if !ok || len(words) == 0 || words[0] != hcb2020Magic {
		return false, nil
	}
	header := make([]uint32, len(words))
	for i, w := range words {
		header[i] = uint32(w)
	}
	h, err := decodeHeader2020(header)
	if err != nil {
		return false, r.errorf(op, "host_callback header: %v", err)
	}
	if h.Consumer == 0 {
		op.Result(0).ReplaceAllUsesWith(joinTokens(r.m.Before(op), tokens))
		eraseDead(op)
		return true, nil
	}
	s := &site{
		at:         op,
		kind:       hook.Tap,
		sourceID:   fmt.Sprintf("consumer %d", h.Consumer),
		sideEffect: true,
		tokens:     tokens,
		results:    []*ir.Value{op.Result(0)},
		erase:      []*ir.Op{op},
	}
	if payload := next(op.Result(0), "outfeed"); payload != nil && len(h.Tensors) > 0 {
		more, leaves := splitTokens(payload.OperandList())
		for _, tok := range more {
			if tok != op.Result(0) {
				s.tokens = append(s.tokens, tok)
			}
		}
		for _, v := range leaves {
			s.operands = unpack(r.m.Before(payload), s.operands, v)
		}
		s.at, s.results, s.erase = payload, []*ir.Value{payload.Result(0)}, []*ir.Op{payload, op}
	}
	if len(s.operands) != len(h.Tensors) {
		return false, r.errorf(op, "host_callback header announces %d tensors, but %d follow", len(h.Tensors), len(s.operands))
	}
	for i, v := range s.operands {
		if want := h.Tensors[i]; !hasType(v, want.DType, want.Shape...) {
			return false, r.errorf(s.at, "host_callback header announces %s as tensor %d, but %s follows", want, i, v.Type())
		}
	}
	r.add(s)
	return true, nil
}
