package hooks

import (
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// fromRawOutfeed reads an outfeed that belongs to no protocol: a tap named by its outfeed_config.
var fromRawOutfeed = Format{
	Name:  "raw-outfeed",
	Doc:   "an outfeed that belongs to no protocol; its outfeed_config is the hook's name",
	ops:   []string{"outfeed"},
	raise: raiseRawOutfeed,
}

func raiseRawOutfeed(r *raiser, op *ir.Op) (bool, error) {
	tokens, data := splitTokens(op.OperandList())
	b := r.m.Before(op)
	var operands []*ir.Value
	for _, v := range data {
		operands = unpack(b, operands, v)
	}
	r.add(&site{
		at:         op,
		kind:       hook.Tap,
		label:      stringAttr(op.Attr("outfeed_config")),
		sideEffect: true,
		tokens:     tokens,
		operands:   operands,
		results:    resultList(op),
		erase:      []*ir.Op{op},
	})
	return true, nil
}
