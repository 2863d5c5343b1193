package hooks

import (
	"strconv"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// hcbMagic is the first word of a host_callback header, the second is the consumer's id.
const hcbMagic = 271828

// fromJAXHostCallback reads JAX's host_callback (2020-07 to 2024-10) in outfeed mode: a header
// tensor<2xui32> {271828, consumer}, then one outfeed of all leaves, then, for a call, an infeed of the
// results. Consumer 0 ends the stream and has no payload.
var fromJAXHostCallback = Format{
	Name:  "jax-hcb-outfeed",
	Doc:   "JAX host_callback: an outfeed of the header {271828, consumer}, one of the leaves, an infeed where the host answers",
	ops:   []string{"outfeed"},
	raise: raiseHostCallback,
}

func raiseHostCallback(r *raiser, op *ir.Op) (bool, error) {
	consumer, ok := hcbHeader(op)
	if !ok {
		return false, nil
	}
	headerIn, _ := splitTokens(op.OperandList())
	if consumer == 0 {
		op.Result(0).ReplaceAllUsesWith(joinTokens(r.m.Before(op), headerIn))
		eraseDead(op)
		return true, nil
	}
	payload := next(op.Result(0), "outfeed")
	if payload == nil {
		return false, r.errorf(op, "host_callback header of consumer %d is not followed by an outfeed of its tensors", consumer)
	}
	if _, again := hcbHeader(payload); again {
		return false, r.errorf(payload, "host_callback header of consumer %d is followed by another header", consumer)
	}
	more, data := splitTokens(payload.OperandList())
	s := &site{
		at:         payload,
		kind:       hook.Tap,
		sourceID:   "consumer " + strconv.FormatInt(consumer, 10),
		sideEffect: true,
		tokens:     headerIn,
		results:    []*ir.Value{payload.Result(0)},
		mark:       op,
		erase:      []*ir.Op{payload, op},
	}
	for _, t := range more {
		if t != op.Result(0) {
			s.tokens = append(s.tokens, t)
		}
	}
	b := r.m.Before(payload)
	for _, v := range data {
		s.operands = unpack(b, s.operands, v)
	}
	if reply, join := hcbReply(payload); reply != nil {
		// The host answers once it has the operands, and the reply may wait for further tokens.
		s.at, s.kind = reply, callKind(len(s.operands), dataLeaves(resultList(reply)), true)
		s.erase = []*ir.Op{reply}
		if join != nil {
			s.erase = append(s.erase, join)
			for _, t := range join.Operands() {
				if t != payload.Result(0) {
					s.tokens = append(s.tokens, t)
				}
			}
		}
		s.erase = append(s.erase, payload, op)
		s.results = append(s.results, resultList(reply)...)
		s.results = append(s.results[1:], s.results[0])
		if join != nil {
			s.results = append(s.results, join.Result(0))
		}
	}
	r.add(s)
	return true, nil
}

// hcbHeader returns the consumer of a host_callback header.
func hcbHeader(op *ir.Op) (consumer int64, ok bool) {
	_, data := splitTokens(op.OperandList())
	if len(data) != 1 || !hasType(data[0], tensor.UI32, 2) {
		return 0, false
	}
	words, ok := constant(data[0])
	if !ok || len(words) != 2 || words[0] != hcbMagic {
		return 0, false
	}
	return words[1], true
}

// next returns the op of the given mnemonic in the same block that takes token.
func next(token *ir.Value, mnemonic string) *ir.Op {
	for u := range token.Uses() {
		op := u.Owner()
		if stable(op) == mnemonic && op.Block() == token.ParentBlock() {
			return op
		}
	}
	return nil
}

// hcbReply returns the infeed that answers payload and the after_all between them, nil where there is none.
func hcbReply(payload *ir.Op) (reply, join *ir.Op) {
	tok := payload.Result(0)
	if reply = next(tok, "infeed"); reply != nil {
		return reply, nil
	}
	for u := range tok.Uses() {
		join = u.Owner()
		if stable(join) == "after_all" && join.Block() == tok.ParentBlock() {
			if reply = next(join.Result(0), "infeed"); reply != nil {
				return reply, join
			}
		}
	}
	return nil, nil
}
