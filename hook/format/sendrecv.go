package format

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// hostTransfer is the format of JAX's callbacks on TPU and of TensorFlow's host compute. JAX chains the sends and then
// the receives on one token. TensorFlow's sends start from one token, and its receives start from the token that joins
// the sends; keys identify the transfers of one hook. hlocb writes JAX's form: a send per operand, a recv per result,
// all on one token. A hook without results receives a scalar and a hook without operands sends a zero, which keeps
// neighbouring hooks separate.
var hostTransfer = &Format{
	Name:   "host-sendrecv",
	Doc:    "send and recv with is_host_transfer: JAX on TPU (one token through all) and TensorFlow (keys K_dtoh_i, K_htod_i)",
	Reader: &Reader{Starts: []*ir.Def{stablehlo.Send, stablehlo.Recv}, Read: readTransfers},
	Writer: &Writer{
		Name:    "sendrecv",
		Doc:     "send and recv with pjrt_rendezvous, as JAX writes them for TPU; for plugins with host transfers, not the CPU's",
		Ordered: OrderedByToken,
		Places:  true,
		Write:   writeTransfers,
	},
}

// transfer is one send or recv.
type transfer struct {
	op      *ir.Op
	send    bool
	channel int64
	key     string // rendezvous key
	stem    string // key without _dtoh_i or _htod_i, or "" if it does not have that form
}

func readTransfer(op *ir.Op) (transfer, bool) {
	t := transfer{op: op, send: op.IsOrMirrors(stablehlo.Send)}
	if (!t.send && !op.IsOrMirrors(stablehlo.Recv)) || !view.Bool(op.Attr(stablehlo.AttrIsHostTransfer)) {
		return t, false
	}
	if c := view.Data[stablehlo.ChannelHandle](op.Attr(stablehlo.AttrChannelHandle)); c != nil {
		t.channel = c.Handle
	}
	t.key = mhlo.Frontend(op, "_xla_host_transfer_rendezvous")
	for _, mark := range [...]string{"_dtoh_", "_htod_"} {
		if i := strings.LastIndex(t.key, mark); i > 0 {
			if _, err := strconv.Atoi(t.key[i+len(mark):]); err == nil {
				t.stem = t.key[:i]
			}
		}
	}
	return t, true
}

func readTransfers(r *Raiser, op *ir.Op) (bool, error) {
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
	s := &Match{Kind: hook.Tap, Name: first.stem, SideEffect: true}
	if s.Name == "" && first.key != strconv.FormatInt(first.channel, 10) {
		s.Name = first.key
	}
	inside := map[*ir.Op]bool{}
	for _, t := range group {
		inside[t.op] = true
	}
	// The after_all ops between the parts also belong to the hook.
	var joins []*ir.Op
	for _, t := range group {
		tokens, _ := irutil.SplitTokens(t.op.OperandList())
		for _, tok := range tokens {
			if def := tok.DefiningOp(); def != nil && def.IsOrMirrors(stablehlo.AfterAll) && !inside[def] && waitsFor(def, inside) {
				inside[def] = true
				joins = append(joins, def)
			}
		}
	}
	outer := func(op *ir.Op) {
		tokens, _ := irutil.SplitTokens(op.OperandList())
		for _, tok := range tokens {
			if def := tok.DefiningOp(); def == nil || !inside[def] {
				s.Tokens = append(s.Tokens, tok)
			}
		}
	}
	var channels []string
	dummySend, dummyRecv := isDummySend(group), isDummyRecv(group)
	if kind, ok := markedKind(first.op); ok {
		dummySend = dummySend && mhlo.Frontend(first.op, markOperands) == "0"
		dummyRecv = dummyRecv && kind == hook.Tap
		s.Mark = first.op
	}
	for _, t := range group {
		outer(t.op)
		channels = append(channels, strconv.FormatInt(t.channel, 10))
		_, data := irutil.SplitTokens(t.op.OperandList())
		if t.send && !dummySend {
			s.Operands = irutil.Unpack(r.Module.Before(t.op), s.Operands, data...)
		}
		for _, v := range t.op.Results() {
			if dummyRecv && !t.send && !stablehlo.IsToken(v.Type()) {
				continue
			}
			s.Results = append(s.Results, v)
		}
		s.Erase = irutil.Prepend(t.op, s.Erase)
	}
	for _, j := range joins {
		outer(j)
		s.Results = append(s.Results, j.Result(0))
	}
	s.Tokens = irutil.Distinct(s.Tokens)
	s.Erase = eraseOrder(s.Erase, joins)
	s.SourceID = "channels " + strings.Join(channels, ",")
	s.Kind = callKind(len(s.Operands), irutil.DataLeaves(s.Results), true)
	// Insert the hook at its last part, where all its operands are defined.
	s.At = group[0].op
	for _, t := range group {
		if s.At.IsBefore(t.op) {
			s.At = t.op
		}
	}
	if user := usedBefore(s, inside); user != nil {
		return false, r.Module.Errorf(user, "a result of the transfer is used before all of the transfer is done")
	}
	r.Add(s)
	return true, nil
}

// byToken collects the sends, and the receives after them, that follow one another on one token.
func byToken(t transfer) []transfer {
	group := []transfer{t}
	for {
		last := group[len(group)-1]
		tokens, _ := irutil.SplitTokens(last.op.ResultList())
		if len(tokens) != 1 {
			return group
		}
		var found *ir.Op
		if last.send {
			found = next(tokens[0], stablehlo.Send)
		}
		if found == nil {
			found = next(tokens[0], stablehlo.Recv)
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

// byKey collects the transfers of one block whose keys have the same stem: sends first, each group sorted by number.
func byKey(t transfer) []transfer {
	var group []transfer
	for op := t.op; op != nil; op = op.Next() {
		if n, ok := readTransfer(op); ok && n.stem == t.stem {
			group = append(group, n)
		}
	}
	number := func(t transfer) int {
		n, _ := strconv.Atoi(t.key[strings.LastIndexByte(t.key, '_')+1:])
		return n
	}
	slices.SortStableFunc(group, func(a, b transfer) int {
		switch {
		case a.send == b.send:
			return cmp.Compare(number(a), number(b))
		case a.send:
			return -1
		}
		return 1
	})
	return group
}

// waitsFor reports whether an after_all joins tokens of ops in inside.
func waitsFor(join *ir.Op, inside map[*ir.Op]bool) bool {
	return slices.ContainsFunc(join.OperandList(), func(v *ir.Value) bool { return inside[v.DefiningOp()] })
}

// isDummySend reports whether group sends only the zero that JAX sends for a callback without operands.
func isDummySend(group []transfer) bool {
	var sent []*ir.Value
	for _, t := range group {
		if t.send {
			_, data := irutil.SplitTokens(t.op.OperandList())
			sent = append(sent, data...)
		}
	}
	return len(sent) == 1 && isDummy(sent[0])
}

// isDummy reports whether v is the zero of type tensor<1xf32> that JAX sends for a callback without operands.
func isDummy(v *ir.Value) bool {
	if !irutil.HasType(v, tensor.F32, 1) {
		return false
	}
	def := v.DefiningOp()
	for def != nil && (def.IsOrMirrors(stablehlo.BroadcastInDim) || def.IsOrMirrors(stablehlo.Reshape)) {
		def = def.Operand(0).DefiningOp()
	}
	if def == nil || !def.IsOrMirrors(stablehlo.Constant) {
		return false
	}
	d, ok := def.Attr(stablehlo.AttrValue).(*ir.DenseAttr)
	if !ok {
		return false
	}
	value, _, err := d.Elements()
	return err == nil && value != nil && len(bytes.Trim(value.Bytes(), "\x00")) == 0
}

// isDummyRecv reports whether group receives, after its sends, only the unused tensor<f32> that JAX receives for a
// callback without results.
func isDummyRecv(group []transfer) bool {
	var received []*ir.Value
	sends := 0
	for _, t := range group {
		if t.send {
			sends++
			continue
		}
		_, data := irutil.SplitTokens(t.op.ResultList())
		received = append(received, data...)
	}
	return sends > 0 && len(received) == 1 && irutil.HasType(received[0], tensor.F32) && !received[0].HasUses()
}

// eraseOrder sorts ops so that users come before producers. All ops are in one block.
func eraseOrder(ops, joins []*ir.Op) []*ir.Op {
	all := slices.Concat(ops, joins)
	slices.SortFunc(all, func(a, b *ir.Op) int {
		switch {
		case a == b:
			return 0
		case b.IsBefore(a):
			return -1
		}
		return 1
	})
	return all
}

// usedBefore returns an op outside the hook that uses one of its results before the place of the hook.
func usedBefore(s *Match, inside map[*ir.Op]bool) *ir.Op {
	for _, v := range s.Results {
		for u := range v.Uses() {
			user := irutil.Around(u.Owner(), s.At.Block())
			if !inside[u.Owner()] && user != nil && user.IsBefore(s.At) {
				return u.Owner()
			}
		}
	}
	return nil
}

func writeTransfers(w *Lowerer, h hookop.HookOp) error {
	m, ctx := w.Module, w.Module.Context()
	b := m.Before(h.Op)
	operands := data(h)
	token := w.Token(h)
	attrs := append(ir.AttrList{{Name: markOperands, Attr: ir.NewString(strconv.Itoa(len(operands)))}}, marks(h)...)
	if len(operands) == 0 {
		operands = append(operands, irutil.Constant(b, ctx.DenseFromTensor(tensor.New(tensor.F32, tensor.Shape{1}))))
	}
	results, isTap := tapResults(h)
	types := dataTypes(h)
	if isTap || len(types) == 0 {
		types = []ir.Type{ctx.StaticTensor(tensor.F32, nil)}
	}
	for i, v := range operands {
		op := w.transfer(b, stablehlo.Send, []*ir.Value{v, token}, []ir.Type{stablehlo.TokenType(ctx)}, stablehlo.ChannelDeviceToHost)
		if i == 0 {
			d, _ := op.Attr(mhlo.AttrFrontendAttributes).(*ir.DictAttr)
			op.SetAttr(mhlo.AttrFrontendAttributes, ir.NewDict(append(slices.Clone(d.Entries()), attrs...)))
		}
		if err := w.Shard(h, op); err != nil {
			return err
		}
		token = op.Result(0)
	}
	for _, t := range types {
		op := w.transfer(b, stablehlo.Recv, []*ir.Value{token}, []ir.Type{t, stablehlo.TokenType(ctx)}, stablehlo.ChannelHostToDevice)
		if err := w.Shard(h, op); err != nil {
			return err
		}
		token = op.Result(1)
		if !isTap {
			results = append(results, op.Result(0))
		}
	}
	w.Replace(h, token, results)
	return nil
}

func (w *Lowerer) transfer(b *ir.Builder, kind *ir.Def, operands []*ir.Value, types []ir.Type, direction int64) *ir.Op {
	ch := w.channel
	w.channel++
	key := strconv.FormatInt(ch, 10)
	front := ir.NewDict(ir.AttrList{
		{Name: "_xla_host_transfer_handler_name", Attr: ir.NewString("pjrt_rendezvous")},
		{Name: "_xla_host_transfer_rendezvous", Attr: ir.NewString(key)},
	})
	return b.Create(kind, operands, types,
		ir.NamedAttr{Name: stablehlo.AttrChannelHandle, Attr: stablehlo.ChannelHandleAttr.New(&stablehlo.ChannelHandle{Handle: ch, Type: direction})},
		ir.NamedAttr{Name: stablehlo.AttrIsHostTransfer, Attr: w.Module.Context().Bool(true)},
		ir.NamedAttr{Name: mhlo.AttrFrontendAttributes, Attr: front})
}
