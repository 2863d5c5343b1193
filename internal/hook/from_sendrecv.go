package hooks

import (
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// fromSendRecv reads host transfers: JAX's callbacks on TPU (sends, then receives, on one token) and TensorFlow's
// host compute (sends fanned out from one token, receives from the token that joins them; the keys say which
// belong together).
var fromSendRecv = Format{
	Name:  "host-sendrecv",
	Doc:   "send and recv with is_host_transfer: JAX on TPU (one token through all) and TensorFlow (keys K_dtoh_i, K_htod_i)",
	ops:   []string{"send", "recv"},
	raise: raiseSendRecv,
}

// transfer is one send or recv.
type transfer struct {
	op      *ir.Op
	send    bool
	channel int64
	key     string // rendezvous key
	stem    string // key less _dtoh_i or _htod_i, empty where it is not of that form
}

func readTransfer(op *ir.Op) (transfer, bool) {
	t := transfer{op: op, send: stable(op) == "send"}
	if (!t.send && stable(op) != "recv") || !isTrue(op.Attr("is_host_transfer")) {
		return t, false
	}
	if d, ok := op.Attr("channel_handle").(*ir.DialectAttr); ok {
		if c, ok := d.Data().(*stablehlo.ChannelHandle); ok {
			t.channel = c.Handle
		}
	}
	front, _ := op.Attr(attrFrontend).(*ir.DictAttr)
	t.key = stringAttr(front.Get("_xla_host_transfer_rendezvous"))
	for _, mark := range [...]string{"_dtoh_", "_htod_"} {
		if i := strings.LastIndex(t.key, mark); i > 0 {
			if _, err := strconv.Atoi(t.key[i+len(mark):]); err == nil {
				t.stem = t.key[:i]
			}
		}
	}
	return t, true
}

func raiseSendRecv(r *raiser, op *ir.Op) (bool, error) {
	first, ok := readTransfer(op)
	if !ok {
		return false, nil
	}
	var group []transfer
	if first.stem != "" {
		group = byKey(first)
	} else {
		group = byToken(first)
	}
	s := &site{kind: hook.Tap, label: first.stem, sideEffect: true}
	if s.label == "" && first.key != strconv.FormatInt(first.channel, 10) {
		s.label = first.key
	}
	inside := map[*ir.Op]bool{}
	for _, t := range group {
		inside[t.op] = true
	}
	// after_all ops between the parts belong to the hook as well.
	var joins []*ir.Op
	for _, t := range group {
		tokens, _ := splitTokens(t.op.OperandList())
		for _, tok := range tokens {
			if def := tok.DefiningOp(); def != nil && stable(def) == "after_all" && !inside[def] && waitsFor(def, inside) {
				inside[def] = true
				joins = append(joins, def)
			}
		}
	}
	outer := func(op *ir.Op) {
		tokens, _ := splitTokens(op.OperandList())
		for _, tok := range tokens {
			if def := tok.DefiningOp(); def == nil || !inside[def] {
				s.tokens = append(s.tokens, tok)
			}
		}
	}
	var channels []string
	dummySend, dummyRecv := isDummySend(group), isDummyRecv(group)
	if kind, ok := markedKind(first.op); ok {
		dummySend = dummySend && frontend(first.op, markOperands) == "0"
		dummyRecv = dummyRecv && kind == hook.Tap
		s.mark = first.op
	}
	for _, t := range group {
		outer(t.op)
		channels = append(channels, strconv.FormatInt(t.channel, 10))
		_, data := splitTokens(t.op.OperandList())
		if t.send && !dummySend {
			for _, v := range data {
				s.operands = unpack(r.m.Before(t.op), s.operands, v)
			}
		}
		for _, v := range t.op.Results() {
			if dummyRecv && !t.send && !stablehlo.IsToken(v.Type()) {
				continue
			}
			s.results = append(s.results, v)
		}
		s.erase = prepend(t.op, s.erase)
	}
	for _, j := range joins {
		outer(j)
		s.results = append(s.results, j.Result(0))
	}
	s.tokens = distinct(s.tokens)
	s.erase = eraseOrder(s.erase, joins)
	s.sourceID = "channels " + strings.Join(channels, ",")
	s.kind = callKind(len(s.operands), dataLeaves(s.results), true)
	// The hook goes where its last part stands: everything it takes is there by then.
	s.at = group[0].op
	for _, t := range group {
		if s.at.IsBefore(t.op) {
			s.at = t.op
		}
	}
	if user := usedBefore(s, inside); user != nil {
		return false, r.errorf(user, "a result of the transfer is used before all of the transfer is done")
	}
	r.add(s)
	return true, nil
}

// byToken gathers the run of sends and then receives that follow one another on one token.
func byToken(t transfer) []transfer {
	group := []transfer{t}
	for {
		last := group[len(group)-1]
		tokens, _ := splitTokens(resultList(last.op))
		if len(tokens) != 1 {
			return group
		}
		var found *ir.Op
		if last.send {
			found = next(tokens[0], "send")
		}
		if found == nil {
			found = next(tokens[0], "recv")
		}
		if found == nil {
			return group
		}
		n, ok := readTransfer(found)
		if _, marked := markedKind(found); !ok || n.stem != "" || marked {
			return group
		}
		group = append(group, n)
	}
}

// byKey gathers the transfers of the same block whose keys have one stem, sends first, each by number.
func byKey(t transfer) []transfer {
	var sends, recvs []transfer
	for op := t.op; op != nil; op = op.Next() {
		if n, ok := readTransfer(op); ok && n.stem == t.stem {
			if n.send {
				sends = append(sends, n)
			} else {
				recvs = append(recvs, n)
			}
		}
	}
	sortByKey(sends)
	sortByKey(recvs)
	return append(sends, recvs...)
}

func sortByKey(list []transfer) {
	number := func(t transfer) int {
		n, _ := strconv.Atoi(t.key[strings.LastIndexByte(t.key, '_')+1:])
		return n
	}
	for i := range list {
		for k := i; k > 0 && number(list[k]) < number(list[k-1]); k-- {
			list[k], list[k-1] = list[k-1], list[k]
		}
	}
}

// waitsFor reports whether an after_all joins tokens of ops inside.
func waitsFor(join *ir.Op, inside map[*ir.Op]bool) bool {
	for _, v := range join.Operands() {
		if v.DefiningOp() != nil && inside[v.DefiningOp()] {
			return true
		}
	}
	return false
}

// isDummySend reports whether all that is sent is the zero that JAX sends where a callback has no operands.
func isDummySend(group []transfer) bool {
	var sent []*ir.Value
	for _, t := range group {
		if t.send {
			_, data := splitTokens(t.op.OperandList())
			sent = append(sent, data...)
		}
	}
	return len(sent) == 1 && isDummy(sent[0])
}

// isDummy reports whether v is what JAX sends where a callback has no operands: a zero of type tensor<1xf32>.
func isDummy(v *ir.Value) bool {
	if !hasType(v, tensor.F32, 1) {
		return false
	}
	def := v.DefiningOp()
	for def != nil && (stable(def) == "broadcast_in_dim" || stable(def) == "reshape") {
		def = def.Operand(0).DefiningOp()
	}
	if def == nil || stable(def) != "constant" {
		return false
	}
	d, ok := def.Attr("value").(*ir.DenseAttr)
	if !ok {
		return false
	}
	value, _, err := d.Elements()
	if err != nil || value == nil {
		return false
	}
	for _, b := range value.Bytes() {
		if b != 0 {
			return false
		}
	}
	return true
}

// isDummyRecv reports whether all that is received, after sends, is the unused tensor<f32> that JAX receives
// where a callback has no results.
func isDummyRecv(group []transfer) bool {
	var got []*ir.Value
	sends := 0
	for _, t := range group {
		if t.send {
			sends++
			continue
		}
		_, data := splitTokens(resultList(t.op))
		got = append(got, data...)
	}
	return sends > 0 && len(got) == 1 && hasType(got[0], tensor.F32) && !got[0].HasUses()
}

// eraseOrder puts ops into an order in which users go before producers; all stand in one block.
func eraseOrder(ops, joins []*ir.Op) []*ir.Op {
	all := append(append([]*ir.Op(nil), ops...), joins...)
	for i := range all {
		for k := i; k > 0 && all[k-1].IsBefore(all[k]); k-- {
			all[k], all[k-1] = all[k-1], all[k]
		}
	}
	return all
}

// usedBefore returns an op outside the hook that uses a result of it and stands before the place of the hook.
func usedBefore(s *site, inside map[*ir.Op]bool) *ir.Op {
	for _, v := range s.results {
		for u := range v.Uses() {
			user := u.Owner()
			if inside[user] {
				continue
			}
			for user != nil && user.Block() != s.at.Block() {
				user = user.Parent()
			}
			if user != nil && user.IsBefore(s.at) {
				return u.Owner()
			}
		}
	}
	return nil
}
