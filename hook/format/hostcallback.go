package format

import (
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// hcbMagic is the first word of a host_callback header. The second word is the consumer's id.
const hcbMagic = 271828

// hostCallback is JAX's host_callback (2020-07 to 2024-10) in outfeed mode: a header tensor<2xui32> {271828, consumer},
// then one outfeed of all leaves, then, for a call, an infeed of the results. Consumer 0 ends the stream and has no
// leaves.
var hostCallback = &Format{
	Name:   "jax-hcb-outfeed",
	Doc:    "JAX host_callback: an outfeed of the header {271828, consumer}, an outfeed of the leaves, an infeed if the host answers",
	Reader: &Reader{Starts: []*ir.Def{stablehlo.Outfeed}, Read: readHostCallback},
	Writer: &Writer{
		Name:    "outfeed",
		Doc:     "outfeeds and infeeds in JAX's host_callback protocol; for XLA clients in the same process",
		Ordered: OrderedByToken,
		Places:  true,
		Begin:   (*Lowerer).keepConsumers,
		Write:   writeHostCallback,
	},
}

func readHostCallback(r *Raiser, op *ir.Op) (bool, error) {
	consumer, ok := hcbHeader(op)
	if !ok {
		return false, nil
	}
	headerIn, _ := irutil.SplitTokens(op.OperandList())
	if consumer == 0 {
		r.skip(op)
		return true, nil
	}
	payload := next(op.Result(0), stablehlo.Outfeed)
	if payload == nil {
		return false, r.Module.Errorf(op, "host_callback header of consumer %d is not followed by an outfeed of its tensors", consumer)
	}
	if _, isHeader := hcbHeader(payload); isHeader {
		return false, r.Module.Errorf(payload, "host_callback header of consumer %d is followed by another header", consumer)
	}
	more, data := irutil.SplitTokens(payload.OperandList())
	s := &Match{
		At:         payload,
		Kind:       hook.Tap,
		SourceID:   "consumer " + strconv.FormatInt(consumer, 10),
		SideEffect: true,
		Tokens:     append(headerIn, irutil.Without(more, op.Result(0))...),
		Operands:   irutil.Unpack(r.Module.Before(payload), nil, data...),
		Results:    []*ir.Value{payload.Result(0)},
		Mark:       op,
		Erase:      []*ir.Op{payload, op},
	}
	if reply, join := hcbReply(payload); reply != nil {
		// The host replies once it has the operands. The reply may also wait for other tokens.
		s.At, s.Kind = reply, callKind(len(s.Operands), irutil.DataLeaves(reply.ResultList()), true)
		s.Erase = []*ir.Op{reply}
		if join != nil {
			s.Erase = append(s.Erase, join)
			s.Tokens = append(s.Tokens, irutil.Without(join.OperandList(), payload.Result(0))...)
		}
		s.Erase = append(s.Erase, payload, op)
		s.Results = append(s.Results, reply.ResultList()...)
		s.Results = append(s.Results[1:], s.Results[0])
		if join != nil {
			s.Results = append(s.Results, join.Result(0))
		}
	}
	r.Add(s)
	return true, nil
}

// hcbHeader returns the consumer of a host_callback header.
func hcbHeader(op *ir.Op) (consumer int64, ok bool) {
	_, data := irutil.SplitTokens(op.OperandList())
	if len(data) != 1 || !irutil.HasType(data[0], tensor.UI32, 2) {
		return 0, false
	}
	words, ok := irutil.Integers(data[0])
	if !ok || len(words) != 2 || words[0] != hcbMagic {
		return 0, false
	}
	return words[1], true
}

// next returns the op of the given kind in the same block that uses token.
func next(token *ir.Value, kind *ir.Def) *ir.Op {
	for u := range token.Uses() {
		op := u.Owner()
		if op.IsOrMirrors(kind) && op.Block() == token.ParentBlock() {
			return op
		}
	}
	return nil
}

// hcbReply returns the infeed that replies to payload and the after_all between them. Each is nil if it does not exist.
func hcbReply(payload *ir.Op) (reply, join *ir.Op) {
	tok := payload.Result(0)
	if reply = next(tok, stablehlo.Infeed); reply != nil {
		return reply, nil
	}
	for u := range tok.Uses() {
		join = u.Owner()
		if join.IsOrMirrors(stablehlo.AfterAll) && join.Block() == tok.ParentBlock() {
			if reply = next(join.Result(0), stablehlo.Infeed); reply != nil {
				return reply, join
			}
		}
	}
	return nil, nil
}

func writeHostCallback(w *Lowerer, h hookop.HookOp) error {
	m, ctx := w.Module, w.Module.Context()
	b := m.Before(h.Op)
	header := tensor.New(tensor.UI32, tensor.Shape{2})
	words := tensor.View[uint32](header)
	words[0], words[1] = hcbMagic, w.consumer(h)
	config := ir.NamedAttr{Name: stablehlo.AttrOutfeedConfig, Attr: ir.NewString("")}
	first := ir.Must(b.Build(stablehlo.Outfeed, []*ir.Value{irutil.Constant(b, ctx.DenseFromTensor(header)), w.Token(h)}, config))
	setMarks(first, h)
	second := ir.Must(b.Build(stablehlo.Outfeed, append(data(h), first.Result(0)), config))
	if err := w.Shard(h, first, second); err != nil {
		return err
	}
	results, isTap := tapResults(h)
	last := second.Result(0)
	if !isTap && h.NumResultData() > 0 {
		reply := b.Create(stablehlo.Infeed, []*ir.Value{last}, append(dataTypes(h), stablehlo.TokenType(ctx)),
			ir.NamedAttr{Name: stablehlo.AttrInfeedConfig, Attr: ir.NewString("")})
		if err := w.Shard(h, reply); err != nil {
			return err
		}
		results = reply.ResultList()
		last = results[len(results)-1]
	}
	w.Replace(h, last, results)
	return nil
}

// keepConsumers reserves the ids of the consumers that the source named.
func (w *Lowerer) keepConsumers() error {
	for _, h := range w.Hooks {
		if n, ok := sourceConsumer(h); ok {
			w.consumers[n] = true
		}
	}
	return nil
}

// consumer returns the consumer id for a hook. It keeps the source's id if the source used this protocol, and otherwise
// takes 32 bits of the hook's id, nonzero and unused.
func (w *Lowerer) consumer(h hookop.HookOp) uint32 {
	if n, ok := sourceConsumer(h); ok {
		return n
	}
	id := h.ID()
	n := uint32(id>>32) ^ uint32(id)
	for n == 0 || w.consumers[n] {
		n++
	}
	w.consumers[n] = true
	return n
}

// sourceConsumer returns the consumer id that h had in its source.
func sourceConsumer(h hookop.HookOp) (uint32, bool) {
	text, ok := strings.CutPrefix(h.SourceID(), "consumer ")
	if !ok || h.Format() != "jax-hcb-outfeed" {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), err == nil
}
