package format

import (
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
)

// rawOutfeed is an outfeed that belongs to no protocol: a tap named by its outfeed_config.
var rawOutfeed = &Format{
	Name:   "raw-outfeed",
	Doc:    "an outfeed that belongs to no protocol; its outfeed_config is the hook's name",
	Reader: &Reader{Starts: []*ir.Def{stablehlo.Outfeed}, Read: readRaw},
}

// rawInfeed is an infeed that belongs to no protocol: a feed named by its infeed_config.
var rawInfeed = &Format{
	Name:   "raw-infeed",
	Doc:    "an infeed that belongs to no protocol; its infeed_config is the hook's name",
	Reader: &Reader{Starts: []*ir.Def{stablehlo.Infeed}, Read: readRaw},
}

func readRaw(r *Raiser, op *ir.Op) (bool, error) {
	kind, name := hook.Tap, stablehlo.AttrOutfeedConfig
	if op.IsOrMirrors(stablehlo.Infeed) {
		kind, name = hook.Feed, stablehlo.AttrInfeedConfig
	}
	tokens, data := irutil.SplitTokens(op.OperandList())
	r.Add(&Match{
		At:         op,
		Kind:       kind,
		Name:       view.String(op.Attr(name)),
		SideEffect: true,
		Tokens:     tokens,
		Operands:   irutil.Unpack(r.Module.Before(op), nil, data...),
		Results:    op.ResultList(),
		Erase:      []*ir.Op{op},
	})
	return true, nil
}
