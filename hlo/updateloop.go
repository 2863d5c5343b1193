package hlo

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/ir"
)

// loopConfig returns the backend_config for op, which replaces the loop st.old: the facts about the number of
// iterations that are still true. They are true if the condition, and the parts of the state that it reads, are
// computed as before.
func (s *exportScope) loopConfig(op *ir.Op, st *state) string {
	text := attrOf[string](st.old.in, "backend_config")
	if !s.sameIterations(op, st) {
		return ""
	}
	if st.whole {
		return text
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &fields) != nil {
		return ""
	}
	var variable struct {
		Index json.RawMessage `json:"tuple_index"`
	}
	if v, ok := fields["known_induction_variable"]; ok {
		if json.Unmarshal(v, &variable) != nil {
			return ""
		}
		old, err := strconv.Atoi(strings.Trim(string(variable.Index), `"`))
		i := slices.Index(st.from, old)
		if len(variable.Index) == 0 { // the default is not written
			i, err = slices.Index(st.from, 0), nil
		}
		if err != nil || i < 0 {
			return ""
		}
		fields["known_induction_variable"] = json.RawMessage(`{"tuple_index":"` + strconv.Itoa(i) + `"}`)
	}
	// Other fields may name parts of the state.
	var parts []string
	for _, name := range []string{"known_trip_count", "known_init_step", "known_induction_variable"} {
		if v, ok := fields[name]; ok {
			parts = append(parts, `"`+name+`":`+string(v))
		}
	}
	if parts == nil {
		return ""
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// sameIterations reports whether op runs as often as the loop st.old: the condition, the next values of the parts
// of the state that it reads, and their first values are computed as before.
func (s *exportScope) sameIterations(op *ir.Op, st *state) bool {
	up, old := s.new.up, st.old.ops[0]
	cond, body := op.Region(0).Entry(), op.Region(1).Entry()
	read := map[int]bool{}
	var list []int
	c := &comparer{up: up, seen: map[*ir.Op]bool{}, read: func(v *ir.Value) {
		if v.Block() != cond && v.Block() != body {
			return
		}
		if i := v.Index(); !read[i] {
			read[i] = true
			list = append(list, i)
		}
	}}
	if !c.same(cond.Last().Operand(0), old.regions[0].results[0]) {
		return false
	}
	for len(list) > 0 {
		i := list[0]
		list = list[1:]
		j := st.from[i]
		if j < 0 || cond.Arg(i).Origin() != old.regions[0].args[j]+1 || !c.same(body.Last().Operand(i), old.regions[1].results[j]) || !c.same(op.Operand(i), old.operands[j]) {
			return false
		}
	}
	return true
}

// comparer compares values with old ones, with everything that they depend on.
type comparer struct {
	up   *update
	seen map[*ir.Op]bool
	read func(arg *ir.Value)
}

// same reports whether v is the old value with the given ID, computed as before from arguments of blocks.
func (c *comparer) same(v *ir.Value, id uint32) bool {
	op := v.DefiningOp()
	if op == nil {
		c.read(v)
		return v.Origin() == id+1
	}
	old := c.up.link.op(op.Origin())
	if old == nil || !sameOp(old, op) || old.result+uint32(v.Index()) != id {
		return false
	}
	if same, ok := c.seen[op]; ok {
		return same
	}
	same := c.up.sameCallees(op)
	for i, r := range old.regions {
		sum := &summary{}
		if len(op.Region(i).Blocks()) == 1 {
			sum = c.up.block(r, op.Region(i).Entry())
		}
		same = same && sum.same
		for _, x := range sum.outside {
			same = same && c.same(x.v, x.old)
		}
	}
	for i, x := range op.OperandList() {
		same = same && c.same(x, old.operands[i])
	}
	c.seen[op] = same
	return same
}
