package stablehlo

import (
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/ir"
)

// Rows of the operations that talk to the host or another device. Each has a token as its last operand and last result.

// hostEffects are the effects of an op that reads and changes the state of a queue or channel.
func hostEffects(*ir.Op) ir.Effects { return ir.Reads | ir.Writes }

// Infeed reads from the infeed.
var Infeed = &ir.Def{
	Name: "stablehlo.infeed", Doc: "Reads values from the infeed. Spec: infeed.",
	Effects:  hostEffects,
	Operands: []ir.Arg{{Name: "token", Type: ods.Token}},
	Results:  []ir.Arg{{Name: "results", Type: transferable, Mult: ir.Variadic}},
	Attrs:    []ir.AttrSpec{ods.Always("infeed_config", ods.StrAttr, ir.NewString("")), ods.Optional("layout", ods.ArrayAttr)},
	Verify:   verify(infeedRule),
	Clauses: ir.Clauses(`
		C1 there is at least one result
		C2 all results but the last are tensors
		C3 the last result is a token
	`),
}

// Outfeed writes to the outfeed.
var Outfeed = &ir.Def{
	Name: "stablehlo.outfeed", Doc: "Writes values to the outfeed. Spec: outfeed.",
	Effects:  hostEffects,
	Operands: []ir.Arg{{Name: "inputs", Type: ods.AnyQuantized, Mult: ir.Variadic}, {Name: "token", Type: ods.Token}},
	Results:  []ir.Arg{{Name: "result", Type: ods.Token}},
	Attrs:    []ir.AttrSpec{ods.Always("outfeed_config", ods.StrAttr, ir.NewString(""))},
	Infer:    infer(inferToken), Verify: verify(agrees(inferToken)),
}

// Recv receives from a channel.
var Recv = &ir.Def{
	Name: "stablehlo.recv", Doc: "Receives values from a channel. Spec: recv.",
	Effects:  hostEffects,
	Operands: []ir.Arg{{Name: "token", Type: ods.Token}},
	Results:  []ir.Arg{{Name: "results", Type: transferable, Mult: ir.Variadic}},
	Attrs: []ir.AttrSpec{
		ods.Required("channel_handle", channelHandle), ods.Defaulted("is_host_transfer", ods.BoolAttr, attrFalse), ods.Optional("source_target_pairs", ods.I64Elems),
	},
	Verify: verify(recvRule),
	Clauses: ir.Clauses(`
		C1 channel_type is HOST_TO_DEVICE for a transfer from the host, else DEVICE_TO_DEVICE
		C2 there is at least one result
		C3 all results but the last are tensors
		C4 the last result is a token
	`),
}

// Send sends to a channel.
var Send = &ir.Def{
	Name: "stablehlo.send", Doc: "Sends values to a channel. Spec: send.",
	Effects:  hostEffects,
	Operands: []ir.Arg{{Name: "inputs", Type: ods.AnyQuantized, Mult: ir.Variadic}, {Name: "token", Type: ods.Token}},
	Results:  []ir.Arg{{Name: "result", Type: ods.Token}},
	Attrs: []ir.AttrSpec{
		ods.Required("channel_handle", channelHandle), ods.Defaulted("is_host_transfer", ods.BoolAttr, attrFalse), ods.Optional("source_target_pairs", ods.I64Elems),
	},
	Infer: infer(inferSend), Verify: verify(agrees(inferSend)),
	Clauses: ir.Clauses(`
		C1 channel_type is DEVICE_TO_HOST for a transfer to the host, else DEVICE_TO_DEVICE
	`),
}
