package hooks

import (
	"strconv"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// fromEXLAOutfeed reads the hooks of EXLA before 0.13: an outfeed of a ui16 flag, then one of each leaf. Flag 0
// ends the stream.
var fromEXLAOutfeed = Format{
	Name:  "exla-outfeed",
	Doc:   "outfeeds of EXLA before 0.13: a ui16 flag, then each leaf; flag 0 ends the stream",
	ops:   []string{"outfeed"},
	raise: raiseEXLAOutfeed,
}

// fromEXLALazyInfeed reads EXLA's lazy transfers: an outfeed of a ui16 flag asks for an infeed.
var fromEXLALazyInfeed = Format{
	Name:  "exla-lazy-infeed",
	Doc:   "EXLA's lazy transfer: an outfeed of a ui16 flag, then an infeed",
	ops:   []string{"outfeed"},
	raise: raiseEXLALazyInfeed,
}

// exlaFlag returns the flag that an outfeed sends.
func exlaFlag(op *ir.Op) (int64, bool) {
	_, data := splitTokens(op.OperandList())
	if len(data) != 1 || !hasType(data[0], tensor.UI16) || stringAttr(op.Attr("outfeed_config")) != "" {
		return 0, false
	}
	v, ok := constant(data[0])
	if !ok || len(v) != 1 {
		return 0, false
	}
	return v[0], true
}

func raiseEXLAOutfeed(r *raiser, op *ir.Op) (bool, error) {
	flag, ok := exlaFlag(op)
	if !ok {
		return false, nil
	}
	if flag == 0 { // decided when it is known whether the module speaks this protocol
		r.endFlags = append(r.endFlags, op)
		return true, nil
	}
	tokens, _ := splitTokens(op.OperandList())
	s := &site{
		kind:       hook.Tap,
		sourceID:   "flag " + strconv.FormatInt(flag, 10),
		sideEffect: true,
		tokens:     tokens,
	}
	parts := []*ir.Op{op}
	for last := op; ; {
		leaf := next(last.Result(0), "outfeed")
		if leaf == nil || stringAttr(leaf.Attr("outfeed_config")) != "" {
			break
		}
		if _, again := exlaFlag(leaf); again {
			break
		}
		_, data := splitTokens(leaf.OperandList())
		if len(data) != 1 {
			break
		}
		s.operands = unpack(r.m.Before(leaf), s.operands, data[0])
		parts = append(parts, leaf)
		last = leaf
	}
	if len(parts) == 1 {
		return false, nil
	}
	s.at = parts[len(parts)-1]
	s.results = []*ir.Value{s.at.Result(0)}
	for i := len(parts) - 1; i >= 0; i-- {
		s.erase = append(s.erase, parts[i])
	}
	r.exla = true
	r.add(s)
	return true, nil
}

func raiseEXLALazyInfeed(r *raiser, op *ir.Op) (bool, error) {
	flag, ok := exlaFlag(op)
	if !ok || flag == 0 {
		return false, nil
	}
	feed := next(op.Result(0), "infeed")
	if feed == nil {
		return false, nil
	}
	tokens, _ := splitTokens(op.OperandList())
	r.exla = true
	r.add(&site{
		at:         feed,
		kind:       hook.Feed,
		sourceID:   "flag " + strconv.FormatInt(flag, 10),
		sideEffect: true,
		tokens:     tokens,
		results:    resultList(feed),
		erase:      []*ir.Op{feed, op},
	})
	return true, nil
}

// endStreams erases the outfeeds of flag 0 where the module speaks EXLA's protocol; elsewhere they are plain
// outfeeds of a number.
func (r *raiser) endStreams() error {
	for _, op := range r.endFlags {
		if !r.exla {
			r.format = fromRawOutfeed.Name
			if _, err := raiseRawOutfeed(r, op); err != nil {
				return err
			}
			continue
		}
		tokens, _ := splitTokens(op.OperandList())
		op.Result(0).ReplaceAllUsesWith(joinTokens(r.m.Before(op), tokens))
		eraseDead(op)
	}
	return nil
}
