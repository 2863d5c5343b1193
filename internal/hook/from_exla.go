package hooks

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Custom-call targets of EXLA.
const (
	exlaTarget   = "exla_runtime_callback"
	exlaIOTarget = "exla_io_callback"
)

// fromEXLACallback reads EXLA's io_call and runtime_call (0.13). Operand 0 is the PID of the callback server; what
// is called is an Erlang reference in external term format, so no name survives.
var fromEXLACallback = Format{
	Name:  "exla-callback",
	Doc:   "a custom call @exla_runtime_callback; num_aliased_data_outputs tells io_call (N) from runtime_call (0)",
	ops:   []string{"custom_call"},
	raise: raiseEXLACallback,
}

// fromEXLAIOCallback reads the form of EXLA's proposal that hands the PID from call to call.
var fromEXLAIOCallback = Format{
	Name:  "exla-io-callback",
	Doc:   "a custom call @exla_io_callback, whose result 0 is the PID for the next one",
	ops:   []string{"custom_call"},
	raise: raiseEXLAIOCallback,
}

func raiseEXLACallback(r *raiser, op *ir.Op) (bool, error) {
	if !isTarget(op, exlaTarget) {
		return false, nil
	}
	id, err := exlaCallbackID(r, op)
	if err != nil {
		return false, err
	}
	aliased, ok := intAttr(config(op).Get("num_aliased_data_outputs"))
	if !ok {
		return false, r.errorf(op, "EXLA callback has no num_aliased_data_outputs in its backend_config")
	}
	if err := r.pid(op); err != nil {
		return false, err
	}
	if aliased != 0 && aliased != int64(op.NumResults()) {
		return false, r.errorf(op, "EXLA callback has %d results, but num_aliased_data_outputs is %d", op.NumResults(), aliased)
	}
	s, err := exlaSite(r, op, id)
	if err != nil {
		return false, err
	}
	if aliased > 0 {
		s.kind = hook.InOut
		if !allAliased(s.aliases) {
			return false, r.errorf(op, "EXLA callback says that its results are aliased, but output_operand_aliases does not")
		}
	} else if len(s.results) == 0 {
		s.kind = hook.Tap
	}
	r.pids = append(r.pids, op.Operand(0))
	r.add(s)
	return true, nil
}

func raiseEXLAIOCallback(r *raiser, op *ir.Op) (bool, error) {
	if !isTarget(op, exlaIOTarget) {
		return false, nil
	}
	id, err := exlaCallbackID(r, op)
	if err != nil {
		return false, err
	}
	if op.NumOperands() == 0 || op.NumResults() == 0 || !stablehlo.IsToken(op.Operand(0).Type()) {
		return false, r.errorf(op, "EXLA io_callback does not hand on its PID as operand 0 and result 0")
	}
	s, err := exlaSite(r, op, id)
	if err != nil {
		return false, err
	}
	s.kind, s.tokens, s.results = hook.InOut, []*ir.Value{op.Operand(0)}, resultList(op)
	if len(s.aliases) == 0 {
		s.kind = hook.Tap
	}
	r.add(s)
	return true, nil
}

// exlaSite fills in what both forms share.
func exlaSite(r *raiser, op *ir.Op, id []byte) (*site, error) {
	layouts, err := r.rowMajor(op)
	if err != nil {
		return nil, err
	}
	aliases, err := r.sourceAliases(op, op.OperandList())
	if err != nil {
		return nil, err
	}
	if isTarget(op, exlaIOTarget) { // the chain has been taken for a token
		aliases = aliases[:0]
		for i := 1; i < op.NumResults(); i++ {
			aliases = append(aliases, i-1)
		}
	} else {
		for i := range aliases { // the PID is no operand
			aliases[i] = max(aliases[i]-1, -1)
		}
	}
	return &site{
		at:         op,
		kind:       hook.Call,
		label:      etfName(id),
		sourceID:   "callback_id " + hex.EncodeToString(id),
		sideEffect: true,
		operands:   op.OperandList()[1:],
		results:    resultList(op),
		aliases:    aliases,
		layouts:    layouts,
		mark:       op,
		erase:      []*ir.Op{op},
	}, nil
}

// pid checks that operand 0 is the PID of the callback server.
func (r *raiser) pid(op *ir.Op) error {
	if op.NumOperands() > 0 {
		if t, ok := op.Operand(0).Type().(*ir.TensorType); stablehlo.IsToken(op.Operand(0).Type()) || ok && t.DType() == tensor.UI8 && t.Rank() == 1 {
			return nil
		}
	}
	return r.errorf(op, "EXLA callback does not take the server's PID, a tensor<Nxui8>, as operand 0")
}

// exlaCallbackID returns the bytes of callback_id.
func exlaCallbackID(r *raiser, op *ir.Op) ([]byte, error) {
	words, ok := config(op).Get("callback_id").(*ir.DenseArrayAttr)
	size, hasSize := intAttr(config(op).Get("callback_id_size"))
	if !ok || !hasSize {
		return nil, r.errorf(op, "EXLA callback has no callback_id and callback_id_size in its backend_config")
	}
	n := int64(len(words.Values()))
	if size < 0 || size > 8*n || size <= 8*(n-1) {
		return nil, r.errorf(op, "callback_id_size %d does not agree with the %d words of callback_id", size, n)
	}
	var b []byte
	for _, w := range words.Values() {
		b = binary.LittleEndian.AppendUint64(b, uint64(w))
	}
	return b[:size], nil
}
