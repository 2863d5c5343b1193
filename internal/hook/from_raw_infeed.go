package hooks

import (
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// fromRawInfeed reads an infeed that belongs to no protocol: a feed named by its infeed_config.
var fromRawInfeed = Format{
	Name:  "raw-infeed",
	Doc:   "an infeed that belongs to no protocol; its infeed_config is the hook's name",
	ops:   []string{"infeed"},
	raise: raiseRawInfeed,
}

func raiseRawInfeed(r *raiser, op *ir.Op) (bool, error) {
	tokens, _ := splitTokens(op.OperandList())
	r.add(&site{
		at:         op,
		kind:       hook.Feed,
		label:      stringAttr(op.Attr("infeed_config")),
		sideEffect: true,
		tokens:     tokens,
		results:    resultList(op),
		erase:      []*ir.Op{op},
	})
	return true, nil
}
