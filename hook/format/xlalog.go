package format

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
)

// xlaLogTarget is the custom-call target with which XLA logs values since 2026.
const xlaLogTarget = "xla.debug.Log"

// xlaLog is the format of XLA's own value logging. XLA's compiler removes the call and records the logged values in the
// debug_attributes of the module; in mode GUARANTEED it keeps the call. Only a runtime with a callback of the given
// number delivers the values; XLA's CPU compiler has no implementation of the call.
var xlaLog = &Format{
	Name:   "xla-log",
	Doc:    "a custom call @xla.debug.Log, with the number of its callback and its log mode as JSON",
	Reader: &Reader{Starts: []*ir.Def{stablehlo.CustomCall}, Read: readXLALog},
	Writer: &Writer{
		Name:    "xla-log",
		Doc:     "custom calls @xla.debug.Log in mode GUARANTEED; holds taps, and keeps no order",
		Ordered: Unordered,
		Write:   writeXLALog,
	},
}

// xlaLogOp is the attribute of a hook that holds the op_id of its call: the number by which a debugger knows the op
// whose value is logged.
const xlaLogOp = "op_id"

// xlaLogConfig is the JSON in the backend_config of a call.
type xlaLogConfig struct {
	Attributes *xlaLogAttributes `json:"debug_attributes_config"`
}

type xlaLogAttributes struct {
	CallbackID  protoInt `json:"callback_id"`
	LogMode     string   `json:"log_mode"`
	OpID        protoInt `json:"op_id,omitempty"`
	Partitioned bool     `json:"partitioned,omitempty"`
}

// protoInt is an integer of protobuf's JSON, which may be a string.
type protoInt int64

func (n *protoInt) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseInt(strings.Trim(string(b), `"`), 10, 64)
	*n = protoInt(v)
	return err
}

func readXLALog(r *Raiser, op *ir.Op) (bool, error) {
	if !irutil.IsTarget(op, xlaLogTarget) {
		return false, nil
	}
	s, err := r.anyCall(op)
	if err != nil {
		return false, err
	}
	if n := irutil.DataLeaves(s.Results); n > 0 {
		return false, r.Module.Errorf(op, "@%s has %d results, but it only logs its operands", xlaLogTarget, n)
	}
	cfg, err := readXLALogConfig(op)
	if err != nil {
		return false, r.Module.Errorf(op, "cannot read the backend_config of @%s: %v", xlaLogTarget, err)
	}
	s.Kind, s.SideEffect, s.Mark = hook.Tap, true, op // the call exists only for its effect
	if cfg != nil {
		s.SourceID = "log " + strconv.FormatInt(int64(cfg.CallbackID), 10)
		s.EachDevice = cfg.Partitioned
		s.Attrs = ir.AttrList{{Name: "log_mode", Attr: ir.NewString(cfg.LogMode)}}
		if cfg.OpID != 0 {
			s.Attrs = append(s.Attrs, ir.NamedAttr{Name: xlaLogOp, Attr: ir.NewInteger(int64(cfg.OpID), ir.Int(64))})
		}
		if place, ok := hook.PlaceOf(LocText(op.Loc())); !ok || place.HookName() == "" {
			s.Name = "log" + strconv.FormatInt(int64(cfg.CallbackID), 10)
		}
	}
	r.Add(s)
	return true, nil
}

// readXLALogConfig returns the configuration of a call, or nil if it has none.
func readXLALogConfig(op *ir.Op) (*xlaLogAttributes, error) {
	text := view.String(op.Attr(stablehlo.AttrBackendConfig))
	if text == "" {
		return nil, nil
	}
	var c xlaLogConfig
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return nil, err
	}
	if c.Attributes == nil {
		return nil, nil
	}
	switch c.Attributes.LogMode {
	case "": // protobuf leaves out defaults
		c.Attributes.LogMode = "DEFAULT"
	case "DEFAULT", "FUSION_DEBUGGER", "NO_FUSION", "GUARANTEED":
	default:
		return nil, fmt.Errorf("unknown log_mode %q", c.Attributes.LogMode)
	}
	return c.Attributes, nil
}

func writeXLALog(w *Lowerer, h hookop.HookOp) error {
	if err := w.checkDevice(h); err != nil {
		return err
	}
	results, ok := tapResults(h)
	switch {
	case !ok:
		return w.Cannot(h, "it is not a tap, and the format only logs values")
	case !h.SideEffect():
		return w.Cannot(h, "it has no side effects, and the format has no such calls")
	}
	id := w.logCallback(h)
	attrs := &xlaLogAttributes{CallbackID: protoInt(id), LogMode: "GUARANTEED", Partitioned: h.Attr(hookop.AttrPartitioned) != nil}
	if h.Format() == "xla-log" {
		attrs.LogMode = cmp.Or(view.String(h.SourceAttrs().Get("log_mode")), attrs.LogMode)
		attrs.OpID = protoInt(view.IntOr(h.SourceAttrs().Get(xlaLogOp), 0))
	}
	cfg, err := json.Marshal(xlaLogConfig{attrs})
	if err != nil {
		return err
	}
	op := ir.Must(stablehlo.BuildCustomCall(w.Module.Before(h.Op), data(h), nil, stablehlo.CustomCallAttrs{
		CallTargetName: xlaLogTarget, APIVersion: new(int64(stablehlo.APIStatusReturning)), HasSideEffect: true, BackendConfig: ir.NewString(string(cfg)),
	})).Op
	setMarks(op, h)
	w.Replace(h, nil, results)
	return nil
}

// logCallback returns the number of the callback of h: its number in the source, or the first one that no other hook
// has. XLA refuses a module that has a number twice.
func (w *Lowerer) logCallback(h hookop.HookOp) int64 {
	if w.logs == nil {
		w.logs = map[int64]hook.ID{}
		for _, other := range w.Hooks {
			if n, ok := xlaCallback(other); ok && w.logs[n] == 0 {
				w.logs[n] = other.ID()
			}
		}
	}
	if n, ok := xlaCallback(h); ok && w.logs[n] == h.ID() {
		return n
	}
	for ; w.logs[w.nextLog] != 0; w.nextLog++ {
	}
	w.logs[w.nextLog] = h.ID()
	return w.nextLog
}

// xlaCallback returns the number of the callback that XLA's source of h names.
func xlaCallback(h hookop.HookOp) (n int64, ok bool) {
	if h.Format() != "xla-log" {
		return 0, false
	}
	text, ok := strings.CutPrefix(h.SourceID(), "log ")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}
