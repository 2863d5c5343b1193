package order

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
)

// Prove proves that the hooks with side effects of a lowered module are delivered in program order: each hook receives,
// unchanged, a value that the hook before it returned. It does not know how the chain was built.
//
// Only identity paths count. They lead through results of hooks, arguments and results of regions and calls, tuple
// elements by index, optimization barriers operand by operand, annotations of GSPMD's partitioner, joined tokens, and
// the bitwise or of two chains. That the results of a barrier wait for all its operands proves nothing, because XLA
// removes the barrier before it schedules. Arithmetic proves nothing, because XLA simplifies it away (x - x, a product
// with zero, a slice of a concatenation) and may then run the two hooks in any order. A branch waits for its predicate,
// so a predicate also counts if it is a hook's result or compares one with a constant for equality.
//
// In a module that was HLO, a hook also waits for a hook of its computation that precedes it by control predecessors or
// add-dependency: XLA keeps them. Those of calls, branches and loops prove nothing, because XLA inlines these.
//
// The proof is by induction along each block: if an event depends on the event before it, it depends on all earlier
// events. An op that contains events (a loop, a branch, a call) is one event from outside: its first inner events must
// depend on the event before the op, and its result depends on the op if it depends on the last inner events on
// every path.
func Prove(ctx context.Context, m *ir.Module) error {
	if err := checkLowered(m); err != nil {
		return err
	}
	p := &prover{ctx: ctx, m: m, memo: map[string]*dependents{}}
	p.events = flow.ReachOf(m, func(op *ir.Op) bool { return isLowered(op) && view.Bool(op.Attr(stablehlo.AttrHasSideEffect)) })
	p.joins.graph = p.events.Graph
	for _, op := range p.events.Functions() {
		f := fn.FuncOp{Op: op}
		if !p.events.Holds(op) {
			continue
		}
		if by := p.events.NamedBy(op); by != nil {
			return m.Errorf(by, "'%s' names function @%s, and the order of the hooks there cannot be proven", by.Name(), f.Symbol())
		}
		if !f.Private() {
			if _, err := p.function(op, entry{first: true}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Orders reports whether m has a lowered hook with a chain, whose order Prove can prove.
func Orders(m *ir.Module) bool {
	return !m.Op().Walk(func(op *ir.Op) bool {
		_, chained, _ := hookOf(op)
		return !chained || !isLowered(op)
	})
}

// checkLowered returns an error if the module has hooks that are not lowered. Prove cannot reason about them.
func checkLowered(m *ir.Module) error {
	if hooks := hookop.HooksOf(m); len(hooks) > 0 {
		return m.Errorf(hooks[0].Op, "hook %q is not lowered yet; the order of hooks is proven on the lowered module", hooks[0].HookName())
	}
	return nil
}

type prover struct {
	ctx    context.Context
	m      *ir.Module
	events *flow.Reach // of the lowered hooks with side effects
	joins  joins
	memo   map[string]*dependents // for private functions, by name and entry
}

// entry states the assumptions of a block when it is entered.
type entry struct {
	first   bool   // no event came before, so nothing has to wait
	decided bool   // the block runs only after the event before it
	carries []bool // per argument: whether it depends on the event before
}

// dependents lists the results of an op, or the values that a block returns, that depend on the last event.
type dependents struct {
	list []bool
	all  bool
}

func (h *dependents) at(i int) bool { return h != nil && (h.all || i < len(h.list) && h.list[i]) }

// scope is a block being proved. Values from outside the block count through outer until the block has its own event.
type scope struct {
	entry
	outer *scope
	block *ir.Block
	event *ir.Op        // the last event so far
	out   *dependents   // for the results of event
	hooks hooksByOrigin // of the block up to event
}

// function proves f for the entry in and returns which of its results depend on its last event.
func (p *prover) function(f *ir.Op, in entry) (*dependents, error) {
	name := fn.FuncOp{Op: f}.Symbol()
	key := name + " " + strconv.FormatBool(in.first) + strconv.FormatBool(in.decided)
	for _, b := range in.carries {
		key += strconv.FormatBool(b)[:1]
	}
	if done, ok := p.memo[key]; ok {
		if done == nil {
			return nil, p.m.Errorf(f, "function @%s calls itself: the order of its hooks cannot be proven", name)
		}
		return done, nil
	}
	p.memo[key] = nil
	out, err := p.region(f, 0, in, nil)
	p.memo[key] = out
	return out, err
}

// region proves region i of op and reports which of its returned values depend on its last event. In a region without
// events, it reports which of these values depend on the event before the region.
func (p *prover) region(op *ir.Op, i int, in entry, outer *scope) (*dependents, error) {
	blocks := op.Region(i).Blocks()
	if len(blocks) != 1 {
		return nil, p.m.Errorf(op, "a region of '%s' with hooks has %d blocks; their order cannot be proven", op.Name(), len(blocks))
	}
	s := &scope{entry: in, outer: outer, block: blocks[0], hooks: hooksByOrigin{}}
	for _, e := range p.events.At(s.block) {
		if err := p.ctx.Err(); err != nil {
			return nil, err
		}
		if err := p.event(s, e); err != nil {
			return nil, err
		}
	}
	out := &dependents{}
	if t := s.block.Last(); t != nil && t.Has(ir.ReturnLike) {
		for _, v := range t.Operands() {
			out.list = append(out.list, p.holds(s, v))
		}
	}
	return out, nil
}

// event proves an op that is, contains or calls events.
func (p *prover) event(s *scope, op *ir.Op) error {
	in := entry{first: s.first && s.event == nil, decided: s.decided && s.event == nil}
	var out *dependents
	var err error
	if isLowered(op) {
		waits := in.first || in.decided
		for i := 0; !waits && i < op.NumOperands(); i++ {
			waits = p.holds(s, op.Operand(i))
		}
		if !waits && !slices.Contains(s.hooks.before(p.m, op), s.event) {
			return p.orderError(op)
		}
		s.hooks.add(op)
		out = &dependents{all: true}
	} else if f := p.events.Callee(op); f != nil {
		for _, v := range op.Operands() {
			in.carries = append(in.carries, p.holds(s, v))
		}
		out, err = p.function(f, in)
	} else {
		out, err = p.regions(s, op, in)
	}
	s.event, s.out = op, out
	return err
}

// regions proves an op with events in its regions. For a loop, it finds the greatest set of arguments that depend on
// the event before each trip, consistent with the values that enter the loop and the values carried around it.
func (p *prover) regions(s *scope, op *ir.Op, in entry) (*dependents, error) {
	f := op.Def().Flow
	loop := false
	for i, r := range op.Regions() {
		_, threads := flow.Threads(op, i)
		switch {
		case !p.events.In(r):
		case f.Run(i) == ir.RunsUnordered:
			return nil, p.m.Errorf(op, "order of the hooks inside '%s' cannot be proven", op.Name())
		case f.Run(i) == ir.RunsTest && !threads:
			return nil, p.m.Errorf(op, "hook in the condition of a loop: the order of its events cannot be proven")
		}
		loop = loop || f.Run(i) == ir.RunsTest || f.Run(i) == ir.RunsRepeated
	}
	operands := make([]bool, op.NumOperands())
	for i, v := range op.Operands() {
		operands[i] = in.first || p.holds(s, v)
	}
	yields := make([]*dependents, len(op.Regions()))
	slots := map[*ir.Use]int{} // a use finds its index by a search
	indexOf := func(u *ir.Use) int {
		if i, ok := slots[u]; ok {
			return i
		}
		for i := range u.Owner().NumOperands() {
			slots[u.Owner().OperandUse(i)] = i
		}
		return slots[u]
	}
	depends := func(v *ir.Value) bool { // whether every source of v depends on the last event
		n := 0
		for u := range p.events.Sources(v) {
			n++
			if u.Owner() == op {
				if !operands[indexOf(u)] {
					return false
				}
			} else if i := slices.Index(op.Regions(), u.Owner().Block().Region()); yields[i] != nil && !yields[i].at(indexOf(u)) {
				return false
			}
		}
		return n > 0
	}
	waits := func(v *ir.Value) bool { // whether each region with events is a source of v
		from := map[*ir.Region]bool{}
		for u := range p.events.Sources(v) {
			from[u.Owner().Block().Region()] = true
		}
		return !slices.ContainsFunc(op.Regions(), func(r *ir.Region) bool { return p.events.In(r) && !from[r] })
	}
	inner := entry{decided: in.decided || p.decides(s, op)}
	if inner.first = in.first; loop {
		inner = entry{} // an outside value depends on the event before only in the first trip
	}
	for changed := true; changed; {
		changed = false
		next := make([]*dependents, len(yields))
		for i, r := range op.Regions() {
			next[i] = &dependents{}
			if _, threads := flow.Threads(op, i); r.Entry() == nil || !threads && !p.events.In(r) {
				continue
			}
			inner.carries = nil
			for _, a := range r.Entry().Args() {
				inner.carries = append(inner.carries, depends(a) && (!loop || waits(a)))
			}
			outer := s
			if loop || op.Has(ir.IsolatedFromAbove) {
				outer = nil
			}
			var err error
			if next[i], err = p.region(op, i, inner, outer); err != nil {
				return nil, err
			}
			for k, h := range next[i].list {
				changed = changed || loop && !h && (yields[i] == nil || yields[i].at(k))
			}
		}
		yields = next
	}
	out := &dependents{}
	for _, v := range op.Results() {
		out.list = append(out.list, depends(v) && waits(v))
	}
	return out, nil
}

// decides reports whether an operand that selects the region of a branch depends on the last event. The branch then
// runs after that event.
func (p *prover) decides(s *scope, op *ir.Op) bool {
	for i := range op.Def().Flow.Control {
		if p.holds(s, op.Operand(i)) {
			return true
		}
		if v := comparedValue(op.Operand(i)); v != nil && p.holds(s, v) {
			return true
		}
	}
	return false
}

// comparedValue returns the value that v compares with a constant for equality, or nil if v is not such a comparison.
// XLA cannot know the outcome without knowing the value.
func comparedValue(v *ir.Value) *ir.Value {
	op := v.DefiningOp()
	if op == nil || !op.IsOrMirrors(stablehlo.Compare) {
		return nil
	}
	direction, _ := op.Attr(stablehlo.AttrComparisonDirection).(*ir.EnumAttr)
	if direction == nil || direction.Case() != "EQ" && direction.Case() != "NE" {
		return nil
	}
	for i := range 2 {
		other := op.Operand(1 - i).DefiningOp()
		t, ok := op.Operand(i).Type().(*ir.TensorType)
		if ok && t.DType().IsInteger() && other != nil && other.IsOrMirrors(stablehlo.Constant) {
			return op.Operand(i)
		}
	}
	return nil
}

// holds reports whether v depends on the last event of s so far.
func (p *prover) holds(s *scope, v *ir.Value) bool {
	if s.first && s.event == nil {
		return true // nothing came before
	}
	t := trace{p: p, s: s, known: map[spot]verdict{}}
	ok, _ := t.value(v, "", nil)
	return ok
}

// trace follows a value back along identity paths. It visits each spot once, so a ladder of joined chains takes linear
// time. A spot that a cycle leads back to is assumed to depend on the last event, because a cycle adds no path.
type trace struct {
	p     *prover
	s     *scope
	known map[spot]verdict
	open  []spot // assumed to depend on the last event, in order of discovery
	depth int    // of the spot in progress
}

// verdict is what a trace knows about a spot. A failure is final, because assumptions can only help. A success may rest
// on the assumption that a spot in progress succeeds; assumes is the smallest depth of such a spot, or noDepth.
type verdict struct {
	ok      bool
	assumes int
}

// noDepth is the depth of no spot.
const noDepth = int(^uint(0) >> 1)

// spot is a value, or the tuple element at path, as seen from a call.
type spot struct {
	v    *ir.Value
	path string
	call *frame
}

// frame is a call of a function without events that the trace has entered.
type frame struct {
	call   *ir.Op
	callee *ir.Op
	outer  *frame
	depth  int
}

// maxCalls limits the nesting of calls that a trace enters, because a function may call itself.
const maxCalls = 10000

// value reports whether v, or its element at path, depends on the last event on every path, and the smallest depth of a
// spot in progress for which it assumes so.
func (t *trace) value(v *ir.Value, path string, c *frame) (ok bool, assumes int) {
	if irutil.IsZeroSize(v.Type()) {
		return false, noDepth
	}
	at := spot{v, path, c}
	if k, ok := t.known[at]; ok {
		return k.ok, k.assumes
	}
	op := v.DefiningOp()
	if op == nil {
		if c != nil && v.Block() == flow.Entry(c.callee) {
			return t.value(c.call.Operand(v.Index()), path, c.outer)
		}
		before := true // no scope has had an event since its block was entered
		for q := t.s; q != nil; q = q.outer {
			before = before && q.event == nil
			if q.block == v.Block() {
				return before && path == "" && v.Index() < len(q.carries) && q.carries[v.Index()], noDepth
			}
		}
	} else if t.p.events.Reaches(op) {
		for q := t.s; q != nil; q = q.outer {
			if q.event != nil {
				return q.event == op && path == "" && q.out.at(v.Index()), noDepth
			}
		}
		return false, noDepth
	}
	if op != nil && op.Def().Flow == nil && !t.p.mayForward(op) || op == nil && isFunction(v.Block().Parent()) {
		return false, noDepth
	}
	t.depth++
	first := len(t.open)
	t.known[at], t.open = verdict{true, t.depth}, append(t.open, at)
	ok, assumes = t.sources(v, path, c)
	depth := t.depth
	t.depth--
	for _, s := range t.open[first:] {
		switch {
		case !ok: // what was found may rest on at
			delete(t.known, s)
		case assumes >= depth: // nothing rests on a spot that is still in progress
			t.known[s] = verdict{true, noDepth}
		}
	}
	switch {
	case !ok:
		t.open, t.known[at] = t.open[:first], verdict{false, noDepth}
		return false, noDepth
	case assumes >= depth:
		t.open = t.open[:first]
		return true, noDepth
	}
	t.known[at] = verdict{true, assumes}
	return true, assumes
}

// sources is value for the sources of v.
func (t *trace) sources(v *ir.Value, path string, c *frame) (ok bool, assumes int) {
	op := v.DefiningOp()
	switch {
	case op == nil:
		return t.dependsOnAll(v, path, c)
	case op.IsOrMirrors(stablehlo.GetTupleElement):
		return t.value(op.Operand(0), strconv.Itoa(element(op))+" "+path, c)
	case op.IsOrMirrors(stablehlo.Tuple):
		first, rest, _ := strings.Cut(path, " ")
		i, err := strconv.Atoi(first)
		if err != nil || i >= op.NumOperands() {
			return false, noDepth
		}
		return t.value(op.Operand(i), rest, c)
	case irutil.IsAnnotation(op):
		return t.value(op.Operand(0), path, c)
	case op.IsOrMirrors(stablehlo.AfterAll), op.IsOrMirrors(stablehlo.Or):
		for _, v := range op.Operands() {
			if ok, assumes := t.value(v, "", c); ok {
				return true, assumes
			}
		}
		return false, noDepth
	}
	f := t.p.events.Callee(op)
	if f == nil {
		return t.dependsOnAll(v, path, c)
	}
	in, n := &frame{call: op, callee: f, outer: c}, 0
	if c != nil {
		in.depth = c.depth + 1
	}
	assumes = noDepth
	for ret := range flow.Returns(f.Region(0)) {
		n++
		if in.depth > maxCalls || v.Index() >= ret.NumOperands() {
			return false, noDepth
		}
		ok, a := t.value(ret.Operand(v.Index()), path, in)
		if !ok {
			return false, noDepth
		}
		assumes = min(assumes, a)
	}
	return n > 0, assumes
}

// mayForward reports whether an op without Flow may forward a chain.
func (p *prover) mayForward(op *ir.Op) bool {
	return op.IsOrMirrors(stablehlo.AfterAll) || op.IsOrMirrors(stablehlo.Tuple) || op.IsOrMirrors(stablehlo.GetTupleElement) ||
		irutil.IsAnnotation(op) || p.joins.isJoin(op)
}

// dependsOnAll reports whether every source of v depends on the last event.
func (t *trace) dependsOnAll(v *ir.Value, path string, c *frame) (ok bool, assumes int) {
	n := 0
	assumes = noDepth
	for u := range t.p.events.Sources(v) {
		n++
		ok, a := t.value(u.Value(), path, c)
		if !ok {
			return false, noDepth
		}
		assumes = min(assumes, a)
	}
	return n > 0, assumes
}

func isFunction(op *ir.Op) bool {
	f := op.Def().Flow
	return f != nil && f.Function
}

func (p *prover) orderError(op *ir.Op) error {
	c, _ := op.Attr(stablehlo.AttrBackendConfig).(*ir.DictAttr)
	return p.m.Errorf(op, "hook %q does not receive the chain of the hook before it, so the order of the two is not proven", strings.TrimSpace(view.String(c.Get(stablehlo.AttrName))))
}
