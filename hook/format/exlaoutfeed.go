package format

import (
	"strconv"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// exlaOutfeed is the format of EXLA's hooks before 0.13: an outfeed of a ui16 flag, then one outfeed per leaf. Flag 0
// ends the stream.
var exlaOutfeed = &Format{
	Name: "exla-outfeed",
	Doc:  "outfeeds of EXLA before 0.13: a ui16 flag, then each leaf; flag 0 ends the stream",
	Reader: &Reader{
		Starts: []*ir.Def{stablehlo.Outfeed},
		Read:   readEXLAOutfeed,
		Finish: (*Raiser).endStreams,
	},
}

// exlaLazyInfeed is EXLA's lazy transfer: an outfeed of a ui16 flag requests an infeed.
var exlaLazyInfeed = &Format{
	Name:   "exla-lazy-infeed",
	Doc:    "EXLA's lazy transfer: an outfeed of a ui16 flag, then an infeed",
	Reader: &Reader{Starts: []*ir.Def{stablehlo.Outfeed}, Read: readEXLALazyInfeed},
}

// exlaFlag returns the flag that an outfeed sends.
func exlaFlag(op *ir.Op) (int64, bool) {
	_, data := irutil.SplitTokens(op.OperandList())
	if len(data) != 1 || !irutil.HasType(data[0], tensor.UI16) || view.String(op.Attr(stablehlo.AttrOutfeedConfig)) != "" {
		return 0, false
	}
	v, ok := irutil.Integers(data[0])
	if !ok || len(v) != 1 {
		return 0, false
	}
	return v[0], true
}

func readEXLAOutfeed(r *Raiser, op *ir.Op) (bool, error) {
	flag, ok := exlaFlag(op)
	if !ok {
		return false, nil
	}
	if flag == 0 { // endStreams decides once all ops are read
		r.endFlags = append(r.endFlags, op)
		return true, nil
	}
	tokens, _ := irutil.SplitTokens(op.OperandList())
	s := &Match{
		Kind:       hook.Tap,
		SourceID:   "flag " + strconv.FormatInt(flag, 10),
		SideEffect: true,
		Tokens:     tokens,
	}
	parts := []*ir.Op{op}
	for last := op; ; {
		leaf := next(last.Result(0), stablehlo.Outfeed)
		if leaf == nil || view.String(leaf.Attr(stablehlo.AttrOutfeedConfig)) != "" {
			break
		}
		if _, isFlag := exlaFlag(leaf); isFlag {
			break
		}
		_, data := irutil.SplitTokens(leaf.OperandList())
		if len(data) != 1 {
			break
		}
		s.Operands = irutil.Unpack(r.Module.Before(leaf), s.Operands, data[0])
		parts = append(parts, leaf)
		last = leaf
	}
	if len(parts) == 1 {
		return false, nil
	}
	s.At = parts[len(parts)-1]
	s.Results = []*ir.Value{s.At.Result(0)}
	for i := len(parts) - 1; i >= 0; i-- {
		s.Erase = append(s.Erase, parts[i])
	}
	r.exla = true
	r.Add(s)
	return true, nil
}

func readEXLALazyInfeed(r *Raiser, op *ir.Op) (bool, error) {
	flag, ok := exlaFlag(op)
	if !ok || flag == 0 {
		return false, nil
	}
	feed := next(op.Result(0), stablehlo.Infeed)
	if feed == nil {
		return false, nil
	}
	tokens, _ := irutil.SplitTokens(op.OperandList())
	r.exla = true
	r.Add(&Match{
		At:         feed,
		Kind:       hook.Feed,
		SourceID:   "flag " + strconv.FormatInt(flag, 10),
		SideEffect: true,
		Tokens:     tokens,
		Results:    feed.ResultList(),
		Erase:      []*ir.Op{feed, op},
	})
	return true, nil
}

// endStreams erases the outfeeds of flag 0 if the module uses EXLA's protocol. In other modules they are plain outfeeds
// of a number.
func (r *Raiser) endStreams() error {
	for _, op := range r.endFlags {
		if !r.exla {
			r.format = rawOutfeed
			if _, err := readRaw(r, op); err != nil {
				return err
			}
			continue
		}
		r.skip(op)
	}
	return nil
}

// skip erases an outfeed that ends a stream. Ops that waited for it wait for its own tokens.
func (r *Raiser) skip(op *ir.Op) {
	tokens, _ := irutil.SplitTokens(op.OperandList())
	op.Result(0).ReplaceAllUsesWith(joinTokens(r.Module.Before(op), tokens))
	irutil.EraseDead(op)
}
