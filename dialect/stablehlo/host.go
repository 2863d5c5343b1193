package stablehlo

import "github.com/hlocb/hlocb/ir"

// Rows of the operations that talk to the host or another device. Each takes a token last and gives one last.

// Infeed reads from the infeed.
var Infeed = &ir.Def{
	Name: "stablehlo.infeed", Doc: "Reads values from the infeed. Spec: infeed.",
	Operands: []ir.Arg{{Name: "token", Type: Token}},
	Results:  []ir.Arg{{Name: "results", Type: transferable, Mult: ir.Variadic}},
	Attrs:    []ir.AttrSpec{always("infeed_config", StrAttr, ir.NewString("")), optional("layout", ArrayAttr)},
	Verify:   verify(infeedRule),
}

// Outfeed writes to the outfeed.
var Outfeed = &ir.Def{
	Name: "stablehlo.outfeed", Doc: "Writes values to the outfeed. Spec: outfeed.",
	Operands: []ir.Arg{{Name: "inputs", Type: anyTensorQ, Mult: ir.Variadic}, {Name: "token", Type: Token}},
	Results:  []ir.Arg{{Name: "result", Type: Token}},
	Attrs:    []ir.AttrSpec{always("outfeed_config", StrAttr, ir.NewString(""))},
	Infer:    infer(inferToken), Verify: verify(agrees(inferToken)),
}

// Recv receives from a channel.
var Recv = &ir.Def{
	Name: "stablehlo.recv", Doc: "Receives values from a channel. Spec: recv.",
	Operands: []ir.Arg{{Name: "token", Type: Token}},
	Results:  []ir.Arg{{Name: "results", Type: transferable, Mult: ir.Variadic}},
	Attrs: []ir.AttrSpec{
		required("channel_handle", channelHandle), defaulted("is_host_transfer", BoolAttr, attrFalse), optional("source_target_pairs", I64Elems),
	},
	Verify: verify(recvRule),
}

// Send sends to a channel.
var Send = &ir.Def{
	Name: "stablehlo.send", Doc: "Sends values to a channel. Spec: send.",
	Operands: []ir.Arg{{Name: "inputs", Type: anyTensorQ, Mult: ir.Variadic}, {Name: "token", Type: Token}},
	Results:  []ir.Arg{{Name: "result", Type: Token}},
	Attrs: []ir.AttrSpec{
		required("channel_handle", channelHandle), defaulted("is_host_transfer", BoolAttr, attrFalse), optional("source_target_pairs", I64Elems),
	},
	Infer: infer(inferSend), Verify: verify(agrees(inferSend)),
}
