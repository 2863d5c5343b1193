package hooks

import (
	"slices"
	"strconv"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// toSendRecv writes host transfers as JAX does for TPU: a send per operand, a recv per result, one token through
// all. A hook without results gets a recv of a scalar, one without operands sends a zero, so that the runs of
// neighbours do not merge.
var toSendRecv = Output{
	Name:   "sendrecv",
	Doc:    "send and recv with pjrt_rendezvous, as JAX writes them for TPU; for plugins with host transfers, not the CPU's",
	needs:  needToken,
	places: true,
	lower:  lowerSendRecv,
}

func lowerSendRecv(w *lowerer, h hookop.HookOp) error {
	m, ctx := w.m, w.m.Context()
	b := m.Before(h.Op)
	operands := data(h)
	token := w.token(h)
	said := append(ir.AttrList{{Name: markOperands, Attr: ir.NewString(strconv.Itoa(len(operands)))}}, marks(h)...)
	if len(operands) == 0 {
		zero := ir.Must(b.Build(m.Def("stablehlo.constant"), nil,
			ir.NamedAttr{Name: "value", Attr: ctx.DenseFromTensor(tensor.New(tensor.F32, tensor.Shape{1}))}))
		operands = append(operands, zero.Result(0))
	}
	results, none := asSource(h)
	types := dataTypes(h)
	if none || len(types) == 0 {
		types = []ir.Type{ctx.StaticTensor(tensor.F32, nil)}
	}
	for i, v := range operands {
		op := w.transfer(b, "stablehlo.send", []*ir.Value{v, token}, []ir.Type{stablehlo.TokenType(ctx)}, stablehlo.ChannelDeviceToHost)
		if i == 0 {
			d, _ := op.Attr(attrFrontend).(*ir.DictAttr)
			op.SetAttr(attrFrontend, ir.NewDict(append(slices.Clone(d.Entries()), said...)))
		}
		if err := w.shard(h, op); err != nil {
			return err
		}
		token = op.Result(0)
	}
	for _, t := range types {
		op := w.transfer(b, "stablehlo.recv", []*ir.Value{token}, []ir.Type{t, stablehlo.TokenType(ctx)}, stablehlo.ChannelHostToDevice)
		if err := w.shard(h, op); err != nil {
			return err
		}
		token = op.Result(1)
		if !none {
			results = append(results, op.Result(0))
		}
	}
	w.finish(h, token, results)
	return nil
}

func (w *lowerer) transfer(b *ir.Builder, name string, operands []*ir.Value, types []ir.Type, direction int64) *ir.Op {
	ch := w.channel
	w.channel++
	key := strconv.FormatInt(ch, 10)
	front := ir.NewDict(ir.AttrList{
		{Name: "_xla_host_transfer_handler_name", Attr: ir.NewString("pjrt_rendezvous")},
		{Name: "_xla_host_transfer_rendezvous", Attr: ir.NewString(key)},
	})
	return b.Create(w.m.Def(name), operands, types,
		ir.NamedAttr{Name: "channel_handle", Attr: stablehlo.ChannelHandleAttr.New(&stablehlo.ChannelHandle{Handle: ch, Type: direction})},
		ir.NamedAttr{Name: "is_host_transfer", Attr: w.m.Context().Bool(true)},
		ir.NamedAttr{Name: attrFrontend, Attr: front})
}
