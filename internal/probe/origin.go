package probe

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/internal/reduction"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/runtime"
)

// Kinds of the probes that AddOrigin adds.
const (
	originNaN = "origin-nan"
	originInf = "origin-inf"
)

// attrScope is the entry of such a probe's configuration that describes the block it is in.
const attrScope = "scope"

// Roles of a value in the search for the origin of a NaN.
const (
	roleOp       = "op"       // an op computes it
	roleFlow     = "flow"     // it comes through control flow
	roleConstant = "constant" // the program states it
	roleArgument = "argument" // the caller of the program supplies it
)

// trackedValue is a value that the search observes.
type trackedValue struct {
	value
	number   int
	role     string
	pos      diag.Pos
	operands []int // the numbers of the values that it is computed from
}

// Roles of a block.
const (
	blockFunction = "function"
	blockLoop     = "loop" // runs once per iteration
	blockTest     = "test" // the condition of a loop
	blockBranch   = "branch"
)

// scope is where a probe of the search is.
type scope struct {
	block  int
	parent int  // the block of the op that contains the block; -1 for a function
	first  bool // the probe is the first in the block
	role   string
	// op is the op that contains the block, next the one before which the probe is.
	op, next spot
}

// spot is an op for messages.
type spot struct {
	name, loc string
	pos       diag.Pos
}

func (s *scope) fields() []any {
	return []any{&s.block, &s.parent, &s.first, &s.role, &s.op.name, &s.op.loc, &s.op.pos, &s.next.name, &s.next.loc, &s.next.pos}
}

func (v *trackedValue) fields() []any {
	return append(v.value.fields(), &v.number, &v.role, &v.pos, &v.operands)
}

// AddOrigin adds probes that find the first op whose result has a NaN, or with inf a NaN or an infinite element, while
// its operands have none. Handlers serves them. It returns the ids of the probes.
//
// The probes look at every value of a float type that control flow orders. They deliver flags for many values at once,
// as those of Finite do.
func AddOrigin(m *ir.Module, inf bool) ([]hook.ID, error) {
	if leavesValues(m) {
		return nil, fmt.Errorf("the module switches between GSPMD and manual partitioning (SPMDFullToShardShape), where NaN cannot be searched")
	}
	prober, err := format.NewProber(m)
	if err != nil {
		return nil, err
	}
	a := &adder{m: m, Prober: prober}
	apart := unordered(m)
	var list []*ir.Value
	number := map[*ir.Value]int{}
	eachValue(m, func(v *ir.Value, op *ir.Op) {
		if !format.CanReduce(v) || apart[functionOf(v)] {
			return
		}
		if t := typeOf(v).DType(); !t.IsFloat() && !t.IsComplex() || samePresence(v) != nil {
			return
		}
		if bits, ok := constantBits(v); ok && bits == 0 {
			return
		}
		number[v] = len(list)
		list = append(list, v)
	})
	graph := flow.Of(m, nil)
	blocks := map[*ir.Block]int{}
	m.Walk(func(op *ir.Op) bool {
		for _, r := range op.Regions() {
			for _, b := range r.Blocks() {
				blocks[b] = len(blocks)
			}
		}
		return true
	})
	loops := func(b *ir.Block) bool { // directly in b
		for op := range b.Ops() {
			for i := range op.Regions() {
				if op.Def().Flow.Run(i) == ir.RunsRepeated {
					return true
				}
			}
		}
		return false
	}
	segments := a.segments(list, func(s segment, holds bool) bool {
		b := s.before.Block()
		if !holds || apart[flow.FunctionOf(s.before)] {
			return false
		}
		role := roleOf(b)
		return graph.Callee(s.before) != nil || s.first && (role == blockFunction || role == blockLoop || loops(b))
	})
	names := a.Names(slices.Repeat([]string{"origin"}, len(segments)))
	kind := originNaN
	if inf {
		kind = originInf
	}
	ids := make([]hook.ID, len(segments))
	for i, s := range segments {
		at := s.before.Block()
		b := m.Before(s.before).At(&ir.Loc{}, s.before.Pos())
		vector, where := flags(s.values, false, b, a.After)
		described := make([]trackedValue, len(s.values))
		for k, v := range s.values {
			described[k] = a.track(v, number, graph)
			described[k].at = where[k]
		}
		parent := at.Parent()
		in := scope{block: blocks[at], parent: -1, first: s.first, role: roleOf(at), op: a.spot(parent), next: a.spot(s.before)}
		if in.role != blockFunction {
			in.parent = blocks[parent.Block()]
		}
		_, ids[i] = a.Insert(b, hook.Tap, vector, names[i], ir.AttrList{
			{Name: format.AttrProbe, Attr: ir.NewString(kind)},
			{Name: attrScope, Attr: ir.NewString(encode(in.fields()))},
			{Name: attrValues, Attr: ir.NewString(encodeList(described, (*trackedValue).fields))},
		})
	}
	return ids, nil
}

func (a *adder) spot(op *ir.Op) spot { return spot{op.Name(), locText(nil, op), op.Pos()} }

// roleOf returns the role of a block.
func roleOf(b *ir.Block) string {
	op := b.Parent()
	f := op.Def().Flow
	if f != nil && f.Function {
		return blockFunction
	}
	for i, r := range op.Regions() {
		if r != b.Region() {
			continue
		}
		switch f.Run(i) {
		case ir.RunsRepeated:
			return blockLoop
		case ir.RunsTest:
			return blockTest
		}
	}
	return blockBranch
}

// track describes v and the values that it is computed from.
func (a *adder) track(v *ir.Value, number map[*ir.Value]int, g *flow.Graph) trackedValue {
	t := trackedValue{value: a.describe(v), number: number[v]}
	t.name = cmp.Or(NameOf(a.m.Source(), v), t.name)
	_, t.pos = place(v)
	op := v.DefiningOp()
	if op == nil {
		if v.Pos().IsValid() {
			t.pos = v.Pos()
		}
		t.role = roleFlow
		if f := v.ParentBlock().Parent(); roleOf(v.ParentBlock()) == blockFunction && len(g.Callers(f)) == 0 {
			t.role = roleArgument
		}
		return t
	}
	switch {
	case op.Is(stablehlo.Constant):
		t.role = roleConstant
	case ordered(op) || g.Callee(op) != nil:
		t.role = roleFlow
	default:
		t.role = roleOp
	}
	operands := op.OperandList()
	for _, r := range op.Regions() {
		operands = append(operands, flow.Captures(r)...)
	}
	for _, x := range operands {
		for from := samePresence(x); from != nil; from = samePresence(x) {
			x = from
		}
		if n, ok := number[x]; ok {
			t.operands = append(t.operands, n)
		}
	}
	return t
}

// ordered reports whether op has a region whose ops are observed themselves.
func ordered(op *ir.Op) bool {
	for i := range op.Regions() {
		if op.Def().Flow.Run(i) != ir.RunsUnordered {
			return true
		}
	}
	return false
}

// Around is an op around the origin: a loop or a call.
type Around struct {
	Op        string
	Loc       string // as MLIR text
	Pos       diag.Pos
	Iteration int64 // of a loop, from 1; 0 for a call
}

// String says which iteration or call it is, and where.
func (r Around) String() string {
	text := "called by " + r.Op
	if r.Iteration > 0 {
		text = fmt.Sprintf("iteration %d of %s", r.Iteration, r.Op)
	}
	if r.Loc != "" {
		text += " at " + diag.Escape(hook.Frame(r.Loc))
	}
	return text
}

// OriginError says where a program makes its first NaN.
type OriginError struct {
	Inf    bool // infinite elements count too
	Name   string
	Op     string // empty for an argument of the program
	Loc    string // as MLIR text
	Pos    diag.Pos
	Holds  string
	Run    int64 // of the executable, from 1
	Device int
	Around []Around // the innermost first
	// Constant says that the NaN comes from a literal. The error then names the first value that has a NaN because of
	// the literal.
	Constant bool
}

// Error names the op, its location, the step and the iterations.
func (e *OriginError) Error() string {
	var b strings.Builder
	b.WriteString(diag.Escape(e.Name))
	if e.Op != "" {
		b.WriteString(" of " + e.Op)
	}
	if e.Loc != "" {
		b.WriteString(" at " + diag.Escape(hook.Frame(e.Loc)))
	}
	b.WriteString(" holds " + e.Holds)
	switch {
	case e.Constant:
		b.WriteString(" from a constant")
	case e.Op == "":
		b.WriteString(", an argument of the program")
	default:
		b.WriteString(", its operands hold none")
	}
	fmt.Fprintf(&b, "; step %d", e.Run)
	for _, r := range e.Around {
		b.WriteString(", " + r.String())
	}
	if e.Device > 0 {
		fmt.Fprintf(&b, ", device %d", e.Device)
	}
	return b.String()
}

// search is the handler of the probes that AddOrigin added to a program. It ends the run at the origin. It is safe for
// concurrent devices.
type search struct {
	mu     sync.Mutex
	want   int // bits
	probes map[hook.ID]*searchProbe
	loops  map[int][]int // blocks that loops repeat, by the block around the loop
	at     map[int]*searchState
	// constants holds the numbers of the constants.
	constants map[int]bool
	other     *OriginError // the first value that has a NaN from an argument or a constant
}

type searchProbe struct {
	scope
	values []trackedValue
}

// searchState is the state of a device.
type searchState struct {
	run       int64
	bits      map[int]int          // of values, by number
	iteration map[int]int64        // of loops, by the block that they repeat
	caller    map[int]*searchProbe // the probe before the call of a function, by the function's block
	scopes    map[int]*searchProbe // a probe of each block that ran
	last      *searchProbe
}

func newSearch() *search {
	return &search{probes: map[hook.ID]*searchProbe{}, loops: map[int][]int{}, at: map[int]*searchState{}, constants: map[int]bool{}}
}

// add adds a probe to the search.
func (s *search) add(site *hook.Site) error {
	p := &searchProbe{}
	scope, _ := strconv.Unquote(site.Attrs[attrScope]) // the empty text of an error is refused
	values, _ := strconv.Unquote(site.Attrs[attrValues])
	err := decode(scope, p.scope.fields())
	if err == nil {
		p.values, err = decodeList(values, (*trackedValue).fields)
	}
	if err != nil {
		return fmt.Errorf("probe %q: %w", site.Name, err)
	}
	s.want = reduction.BitNaN
	if KindOf(site) == originInf {
		s.want |= reduction.BitInf
	}
	s.probes[site.ID] = p
	if p.role == blockLoop && p.first {
		s.loops[p.parent] = append(s.loops[p.parent], p.block)
	}
	for _, v := range p.values {
		s.constants[v.number] = v.role == roleConstant
	}
	return nil
}

// Handle implements runtime.Handler.
func (s *search) Handle(_ context.Context, c *runtime.Call) error {
	flags, err := readFlags(c)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p, d := s.probes[c.Site.ID], s.at[c.Device]
	if d == nil || d.run != c.Run {
		d = &searchState{c.Run, map[int]int{}, map[int]int64{}, map[int]*searchProbe{}, map[int]*searchProbe{}, nil}
		s.at[c.Device] = d
	}
	if p.first {
		switch p.role {
		case blockLoop:
			d.iteration[p.block]++
		case blockFunction:
			d.caller[p.block] = d.last
		}
		for _, loop := range s.loops[p.block] {
			d.iteration[loop] = 0
		}
	}
	d.last, d.scopes[p.block] = p, p
	for i := range p.values {
		if d.bits[p.values[i].number], err = flags.bits(p.values[i].at); err != nil {
			return err
		}
	}
	for i := range p.values {
		v := &p.values[i]
		if d.bits[v.number]&s.want == 0 || v.role == roleFlow || v.role == roleConstant {
			continue
		}
		none, constant := true, true
		for _, n := range v.operands {
			if d.bits[n]&s.want != 0 {
				none, constant = false, constant && s.constants[n]
			}
		}
		if v.role == roleOp && none {
			return s.found(c, d, p, v)
		}
		if s.other == nil && (v.role == roleArgument || constant) {
			s.other = s.found(c, d, p, v)
			s.other.Constant = v.role == roleOp
		}
	}
	return nil
}

// maxAround limits the list of loops and calls around an origin.
const maxAround = 100

// found describes a value.
func (s *search) found(c *runtime.Call, d *searchState, p *searchProbe, v *trackedValue) *OriginError {
	e := &OriginError{Inf: s.want&reduction.BitInf != 0, Name: v.name, Op: v.op, Loc: v.loc, Pos: v.pos, Holds: names(d.bits[v.number] & s.want), Run: c.Run, Device: c.Device}
	for p != nil && len(e.Around) < maxAround {
		if p.role == blockFunction {
			if p = d.caller[p.block]; p != nil {
				e.Around = append(e.Around, Around{Op: p.next.name, Loc: p.next.loc, Pos: p.next.pos})
			}
			continue
		}
		if p.role == blockLoop {
			e.Around = append(e.Around, Around{p.op.name, p.op.loc, p.op.pos, d.iteration[p.block]})
		}
		p = d.scopes[p.parent]
	}
	return e
}
