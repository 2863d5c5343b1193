package format

import (
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/dialect/view"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
)

// rawOutfeed is an outfeed that belongs to no protocol: a tap named by its outfeed_config.
var rawOutfeed = &Format{
	Name:   "raw-outfeed",
	Doc:    "an outfeed that belongs to no protocol; its outfeed_config is the hook's name",
	Reader: &Reader{Starts: []*ir.Def{stablehlo.Outfeed}, Read: readRawOutfeed},
}

func readRawOutfeed(r *Raiser, op *ir.Op) (bool, error) {
	tokens, data := irutil.SplitTokens(op.OperandList())
	r.Add(&Match{
		At:         op,
		Kind:       hook.Tap,
		Name:       view.String(op.Attr(stablehlo.AttrOutfeedConfig)),
		SideEffect: true,
		Tokens:     tokens,
		Operands:   irutil.Unpack(r.Module.Before(op), nil, data...),
		Results:    op.ResultList(),
		Erase:      []*ir.Op{op},
	})
	return true, nil
}

// rawInfeed is an infeed that belongs to no protocol: a feed named by its infeed_config.
var rawInfeed = &Format{
	Name:   "raw-infeed",
	Doc:    "an infeed that belongs to no protocol; its infeed_config is the hook's name",
	Reader: &Reader{Starts: []*ir.Def{stablehlo.Infeed}, Read: readRawInfeed},
}

func readRawInfeed(r *Raiser, op *ir.Op) (bool, error) {
	tokens, _ := irutil.SplitTokens(op.OperandList())
	r.Add(&Match{
		At:         op,
		Kind:       hook.Feed,
		Name:       view.String(op.Attr(stablehlo.AttrInfeedConfig)),
		SideEffect: true,
		Tokens:     tokens,
		Results:    op.ResultList(),
		Erase:      []*ir.Op{op},
	})
	return true, nil
}
