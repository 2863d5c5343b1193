package hlo

import (
	"encoding/json"
	"slices"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
)

// xlaLogTarget is the custom call from which XLA makes debug_attributes.
const xlaLogTarget = "xla.debug.Log"

// arrayLog is a request of debug_attributes to log an array.
type arrayLog struct {
	array string // the array's text in an origin
	DebugLog
}

// logKey says which request logs which value.
type logKey struct {
	log int
	v   *ir.Value
}

// requests returns the requests of debug_attributes.
func requests(entries []DebugEntry) []arrayLog {
	var list []arrayLog
	for _, e := range entries {
		for _, l := range e.Logs {
			list = append(list, arrayLog{arrayText(&originArray{name: e.Instruction, index: e.Index}), l})
		}
	}
	return list
}

func arrayText(a *originArray) string { return string(a.append(nil)) }

// arrays returns the text of each array of the value of in, empty for a part without one.
func (in *instr) arrays() []string {
	o := attrOf[*origin](in, "origin")
	if o == nil || o.tree == nil {
		return nil
	}
	var list []string
	for _, a := range o.tree.leaves(nil) {
		text := ""
		if a != nil {
			text = arrayText(a)
		}
		list = append(list, text)
	}
	return list
}

// leaves appends the arrays of n from left to right; nil stands for a part without an array.
func (n *originNode) leaves(list []*originArray) []*originArray {
	if !n.isTuple {
		return append(list, n.leaf)
	}
	for _, e := range n.elems {
		list = e.leaves(list)
	}
	return list
}

// addLogs restores the calls @xla.debug.Log that log the value of in: XLA removed them and wrote debug_attributes
// instead. If several instructions pass on one array, the first one is logged.
func (s *importScope) addLogs(in *instr, v value) {
	im := s.im
	var before []*instr // instructions that may compute the same array
	before = append(before, in.operands...)
	if in.op == opFusion {
		before = append(before, attrOf[*computation](in, "calls").instrs...)
	}
	parts := v.flat()
	for i, array := range in.arrays() {
		if i == len(parts) || parts[i] == nil || stablehlo.IsToken(parts[i].Type()) || array == "" {
			continue
		}
		computed := func(x *instr) bool { return slices.Contains(x.arrays(), array) }
		for log, l := range im.logs {
			k := logKey{log, parts[i]}
			if l.array != array || im.logged[k] || slices.ContainsFunc(before, computed) {
				continue
			}
			im.logged[k] = true
			s.addLog(in, parts[i], log)
		}
	}
}

func (s *importScope) addLog(in *instr, v *ir.Value, log int) {
	type attributes struct {
		Callback    int64  `json:"callback_id"`
		Mode        string `json:"log_mode,omitempty"`
		Op          int64  `json:"op_id,omitempty"`
		Partitioned bool   `json:"partitioned,omitempty"`
	}
	l := s.im.logs[log]
	config, err := json.Marshal(map[string]attributes{"debug_attributes_config": {l.Callback, l.Mode.protoName(), l.Op, l.Partitioned}})
	if err != nil {
		s.im.fail(in, "%v", err)
	}
	st := &ir.OpState{Def: stablehlo.CustomCall, Operands: []*ir.Value{v}, Loc: s.im.loc(in), Pos: in.pos}
	st.SetAttr(stablehlo.AttrCallTargetName, ir.NewString(xlaLogTarget))
	st.SetAttr(stablehlo.AttrAPIVersion, i32Attr(int64(stablehlo.APIStatusReturning)))
	st.SetAttr(stablehlo.AttrHasSideEffect, s.im.ctx.Bool(true))
	st.SetAttr(stablehlo.AttrBackendConfig, ir.NewString(string(config)))
	op := s.b.Insert(st)
	at := s
	for at.outer != nil {
		at = at.outer
	}
	o := s.im.link.add(op, nil, nil)
	o.log = log + 1
	at.link.ops = append(at.link.ops, o)
	at.link.logs = append(at.link.logs, o)
}

// keepsLog reports whether op stays a request of debug_attributes. It does if the instruction whose value it logs
// stays.
func (s *exportScope) keepsLog(op *ir.Op) bool {
	u := s.new
	old := u.up.link.op(op.Origin())
	if old == nil || old.log == 0 || !sameOp(old, op) {
		return false
	}
	if u.up.origin(op.Operand(0)) != old.operands[0]+1 {
		return false
	}
	if d := op.Operand(0).DefiningOp(); d != nil {
		x := s.instanceOf(d)
		return x != nil && s.check(x)
	}
	in := s.instrOf(op.Operand(0))
	return in != nil && slices.Contains(in.arrays(), requests(u.up.link.hlo.debug)[old.log-1].array)
}

// droppedLogs notes the calls of the computation that are gone or became instructions.
func (s *exportScope) droppedLogs(kept map[*linkedOp]bool) {
	if s.new.scope == nil {
		return
	}
	for _, o := range s.new.scope.logs {
		if !kept[o] {
			s.new.up.dropped[o.log] = true
		}
	}
}

// dropLogs removes the requests of debug_attributes whose calls are gone or became instructions.
func (up *update) dropLogs() {
	n := 0
	var list []DebugEntry
	for _, e := range up.link.hlo.debug {
		var logs []DebugLog
		for _, l := range e.Logs {
			if n++; !up.dropped[n] {
				logs = append(logs, l)
			}
		}
		if len(logs) > 0 || len(e.Logs) == 0 {
			list = append(list, DebugEntry{e.Instruction, e.Index, logs})
		}
	}
	up.ex.out.debug = list
}
