package hooks

import (
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// toOutfeed writes JAX's host_callback protocol: an outfeed of the header {271828, consumer}, one of the
// operands, and an infeed of the results. The consumer is made from the hook's id.
var toOutfeed = Output{
	Name:   "outfeed",
	Doc:    "outfeeds and infeeds in JAX's host_callback protocol; for XLA clients in the same process",
	needs:  needToken,
	places: true,
	lower:  lowerOutfeed,
}

func lowerOutfeed(w *lowerer, h hookop.HookOp) error {
	m, ctx := w.m, w.m.Context()
	b := m.Before(h.Op)
	header := tensor.New(tensor.UI32, tensor.Shape{2})
	words := tensor.View[uint32](header)
	words[0], words[1] = hcbMagic, w.consumer(h)
	c := ir.Must(b.Build(m.Def("stablehlo.constant"), nil, ir.NamedAttr{Name: "value", Attr: ctx.DenseFromTensor(header)}))
	config := ir.NamedAttr{Name: "outfeed_config", Attr: ir.NewString("")}
	outfeed := m.Def("stablehlo.outfeed")
	first := ir.Must(b.Build(outfeed, []*ir.Value{c.Result(0), w.token(h)}, config))
	setMarks(first, h)
	second := ir.Must(b.Build(outfeed, append(data(h), first.Result(0)), config))
	if err := w.shard(h, first, second); err != nil {
		return err
	}
	results, none := asSource(h)
	last := second.Result(0)
	if !none && h.NumResultData() > 0 {
		reply := b.Create(m.Def("stablehlo.infeed"), []*ir.Value{last}, append(dataTypes(h), stablehlo.TokenType(ctx)),
			ir.NamedAttr{Name: "infeed_config", Attr: ir.NewString("")})
		if err := w.shard(h, reply); err != nil {
			return err
		}
		results = resultList(reply)
		last = results[len(results)-1]
	}
	w.finish(h, last, results)
	return nil
}

// consumer returns a consumer's id for a hook: the source's own where it was in this protocol, else 32 bits of the hook's
// id, not 0 and not taken.
func (w *lowerer) consumer(h hookop.HookOp) uint32 {
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

// sourceConsumer returns the id of the consumer that h was read with.
func sourceConsumer(h hookop.HookOp) (uint32, bool) {
	text, ok := strings.CutPrefix(h.SourceID(), "consumer ")
	if !ok || h.Format() != fromJAXHostCallback.Name {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), err == nil
}
