package hooks

import (
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/internal/hook/irutil"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// CheckOrder proves on a lowered module that its hooks with side effect are delivered in program order: that of
// any two that follow one another the later depends on the earlier by data flow. It knows nothing of how the
// chain was made; any data flow counts, but not through values without elements nor through an
// optimization_barrier, as XLA removes both before it schedules.
//
// Along a block every value carries the number of the last event it depends on. An event must depend on the one
// before it; by induction it then depends on all before. An op around events (a loop, a branch, a call) is one
// event from outside: its first events inside must depend on the event before it, and its results depend on it
// where they depend on its last events on every way through.
//
// Where each event uses a result of the one before it, as chains do, the ops in between need not be looked at; only where
// one does not, all data flow is followed.
func CheckOrder(m *ir.Module) error {
	c := &checker{m: m, itself: &flow{every: true}}
	c.events = reachOf(m, c.isEvent)
	if c.program() == nil {
		return nil
	}
	c.all = true
	return c.program()
}

type checker struct {
	m      *ir.Module
	events *reach           // of the lowered hooks with a side effect
	all    bool             // follow all data flow, not only from event to event
	memo   map[string]*flow // of private functions, by name and entry
	itself *flow            // of an event that is no region or function
}

// program checks the functions that are visible outside.
func (c *checker) program() error {
	c.memo = map[string]*flow{}
	for _, f := range c.events.calls.funcs {
		if c.events.ops[f.Op] && !f.Private() && !f.External() {
			if _, err := c.function(f, entry{first: true}); err != nil {
				return err
			}
		}
	}
	return nil
}

// entry says what a region or function may rely on when it is entered.
type entry struct {
	first   bool   // no event came before: nothing has to be waited for
	carries []bool // per argument: depends on the event before; nil where first
}

// flow says which results of a region or function depend on its last event.
type flow struct {
	carries []bool
	every   bool // all do
}

// carry reports whether result i depends on the last event.
func (f *flow) carry(i int) bool { return f.every || i < len(f.carries) && f.carries[i] }

// isEvent reports whether op is a lowered hook with a side effect.
func (c *checker) isEvent(op *ir.Op) bool {
	return irutil.Stable(op) == "custom_call" && irutil.IsTarget(op, hook.Target) && irutil.IsTrue(op.Attr("has_side_effect"))
}

// function checks f as entered by in and returns what its results carry.
func (c *checker) function(f fn.FuncOp, in entry) (*flow, error) {
	key := f.Symbol() + " " + strconv.FormatBool(in.first)
	for _, b := range in.carries {
		key += strconv.FormatBool(b)[:1]
	}
	if done, ok := c.memo[key]; ok {
		if done == nil {
			return nil, c.m.Errorf(f.Op, "function @%s calls itself: the order of its hooks cannot be proven", f.Symbol())
		}
		return done, nil
	}
	c.memo[key] = nil
	out, err := c.block(f.Body(), in, nil)
	c.memo[key] = out
	return out, err
}

// scope is the state of one block: for each value the number of the last event it depends on; 0 stands for the
// event before the block, and absence for none. Values from outside count through outer.
type scope struct {
	outer *scope
	first bool
	last  int
	after map[*ir.Value]int // nil where only the results of the last event count
	event *ir.Op            // the last one
	flow  *flow             // of its results
	block *ir.Block
	in    entry
}

// direct reports whether v is a result of the last event so far that depends on it, or where there is none yet, an
// argument that depends on the event before the block.
func (s *scope) direct(v *ir.Value) bool {
	if s.event != nil {
		return v.DefiningOp() == s.event && s.flow.carry(v.Index()) && !irutil.IsZeroSize(v.Type())
	}
	if v.Block() == s.block {
		return v.Index() < len(s.in.carries) && s.in.carries[v.Index()] && !irutil.IsZeroSize(v.Type())
	}
	return s.outer != nil && s.outer.holds(v)
}

// holds reports whether v depends on the last event so far.
func (s *scope) holds(v *ir.Value) bool {
	if s.last == 0 && s.first {
		return true // nothing came before
	}
	if s.after == nil {
		return s.direct(v)
	}
	if n, ok := s.after[v]; ok {
		return n == s.last
	}
	if s.last > 0 || s.outer == nil {
		return false
	}
	return s.outer.holds(v)
}

// level returns the last event that v depends on, -1 for none.
func (s *scope) level(v *ir.Value) int {
	if n, ok := s.after[v]; ok {
		return n
	}
	if s.outer != nil && s.outer.holds(v) {
		return 0
	}
	return -1
}

// set notes that v depends on event n.
func (s *scope) set(v *ir.Value, n int) {
	if n >= 0 && !irutil.IsZeroSize(v.Type()) {
		s.after[v] = n
	}
}

// block checks b and returns which operands of its terminator depend on its last event; of a block without
// events, on the event before it.
func (c *checker) block(b *ir.Block, in entry, outer *scope) (*flow, error) {
	s := &scope{outer: outer, first: in.first, block: b, in: in}
	if c.all {
		s.after = map[*ir.Value]int{}
		for i, a := range b.Args() {
			if i < len(in.carries) && in.carries[i] {
				s.set(a, 0)
			}
		}
	}
	between := b.First()
	for _, op := range c.events.at[b] {
		for ; c.all && between != op; between = between.Next() {
			c.pass(s, between)
		}
		if err := c.event(s, op); err != nil {
			return nil, err
		}
		between = op.Next()
	}
	for ; c.all && between != nil && between != b.Last(); between = between.Next() {
		c.pass(s, between)
	}
	out := &flow{}
	if t := b.Last(); t != nil && irutil.IsReturn(t) {
		for _, v := range t.Operands() {
			out.carries = append(out.carries, s.holds(v))
		}
	}
	return out, nil
}

// event checks an op that is, holds or calls events.
func (c *checker) event(s *scope, op *ir.Op) error {
	in := entry{first: s.first && s.last == 0}
	var out *flow
	var err error
	isEvent := c.isEvent(op)
	if !isEvent {
		for _, v := range op.Operands() {
			in.carries = append(in.carries, s.holds(v))
		}
	}
	switch {
	case isEvent:
		waits := in.first
		for _, v := range op.Operands() {
			waits = waits || s.holds(v)
		}
		if !waits {
			return c.unordered(op)
		}
		out = c.itself
	case op.Name() == "func.call":
		f, ok := c.events.calls.callee(op)
		if !ok {
			return c.m.Errorf(op, "call of an unknown function around a hook")
		}
		out, err = c.function(f, in)
	case op.Name() == "sdy.manual_computation":
		out, err = c.block(op.Region(0).Entry(), in, nil)
	case irutil.Stable(op) == "while":
		out, err = c.loop(s, op, in)
	case irutil.Stable(op) == "if" || irutil.Stable(op) == "case":
		out, err = c.branches(s, op, in)
	default:
		return c.m.Errorf(op, "order of the hooks inside '%s' cannot be proven", op.Name())
	}
	if err != nil {
		return err
	}
	s.last++
	s.event, s.flow = op, out
	if s.after != nil {
		for i, v := range op.Results() {
			if out.carry(i) {
				s.set(v, s.last)
			}
		}
	}
	return nil
}

// pass lets the results of an op without events depend on what its operands, and the values its regions use,
// depend on.
func (c *checker) pass(s *scope, op *ir.Op) {
	if irutil.Stable(op) == "optimization_barrier" {
		return
	}
	if irutil.Stable(op) == "while" || irutil.Stable(op) == "if" || irutil.Stable(op) == "case" || op.Name() == "func.call" {
		c.passThrough(s, op)
		return
	}
	n := -1
	for _, v := range op.Operands() {
		if !irutil.IsZeroSize(v.Type()) {
			n = max(n, s.level(v))
		}
	}
	for _, v := range op.Results() {
		s.set(v, n)
	}
}

// passThrough handles control flow without events: a result depends on an event only where it does on every
// way through, so it is taken to do so only where the same position comes in and is handed on.
func (c *checker) passThrough(s *scope, op *ir.Op) {
	switch irutil.Stable(op) {
	case "while":
		for _, t := range terminators(op.Region(1)) {
			for i, v := range op.Operands() {
				if t.Operand(i) == op.Region(1).Entry().Arg(i) {
					s.set(op.Result(i), s.level(v))
				}
			}
		}
	case "if", "case":
		for i, v := range op.Results() {
			n := int(^uint(0) >> 1)
			for _, r := range op.Regions() {
				for _, t := range terminators(r) {
					n = min(n, s.level(t.Operand(i)))
				}
			}
			s.set(v, n)
		}
	}
}

// loop checks a while op. Argument i carries the event before an iteration if the initial value does and if the
// body hands on one that depends on its own last event, given that; the set is found from above.
func (c *checker) loop(s *scope, op *ir.Op, in entry) (*flow, error) {
	if c.events.in(op.Region(0)) {
		return nil, c.m.Errorf(op, "hook in the condition of a loop: the order of its events cannot be proven")
	}
	carries := append([]bool(nil), in.carries...)
	if in.first {
		for i := range carries {
			carries[i] = true // nothing to wait for in the first trip
		}
	}
	for {
		// A value from outside depends on the event before the loop only in the first trip.
		body, err := c.block(op.Region(1).Entry(), entry{carries: carries}, nil)
		if err != nil {
			return nil, err
		}
		next, changed := make([]bool, len(carries)), false
		for i := range carries {
			next[i] = carries[i] && body.carry(i)
			changed = changed || next[i] != carries[i]
		}
		carries = next
		if !changed {
			return &flow{carries: carries}, nil
		}
	}
}

// branches checks an if or case op: each branch starts from the event before it.
func (c *checker) branches(s *scope, op *ir.Op, in entry) (*flow, error) {
	out := &flow{carries: make([]bool, op.NumResults())}
	for i := range out.carries {
		out.carries[i] = true
	}
	for _, r := range op.Regions() {
		b, err := c.block(r.Entry(), entry{first: in.first}, s)
		if err != nil {
			return nil, err
		}
		for i := range out.carries {
			out.carries[i] = out.carries[i] && b.carry(i)
		}
	}
	return out, nil
}

func (c *checker) unordered(op *ir.Op) error {
	name := strings.TrimSpace(irutil.StringAttr(irutil.Config(op).Get("name")))
	return c.m.Errorf(op, "hook %q does not depend on the hook before it, so the order of the two is not kept", name)
}
