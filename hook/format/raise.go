package format

import (
	"context"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/dialect/interpreter"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
)

// RaiseOptions controls which ops are hooks.
type RaiseOptions struct {
	Formats List     // nil: Builtin
	Targets []string // additional custom-call targets to treat as hooks

	Context context.Context // ends the work with its error; nil never does
}

// Raised describes the hooks that Raise found.
type Raised struct {
	Hooks int // number of hooks in the module
	// Origins maps each hook to the source positions of its ops.
	Origins map[hook.ID][]diag.Pos
}

// Raise replaces every hook of m with an hlocb.hook op. Tokens stay: the hooks use and return them as the source's ops
// did. An error is a *diag.Diagnostic at the op that cannot be read.
func Raise(m *ir.Module, opts RaiseOptions) (*Raised, error) {
	r, err := raise(m, opts, false)
	if err != nil {
		return nil, err
	}
	out := &Raised{Hooks: r.hooks, Origins: make(map[hook.ID][]diag.Pos, r.hooks)}
	for _, o := range r.origins {
		if o.hook.Block() != nil { // not merged with another hook
			out.Origins[hookop.HookOp{Op: o.hook}.ID()] = o.places
		}
	}
	return out, nil
}

// raise implements Raise. If written is true, it also records the ops of each hook.
func raise(m *ir.Module, opts RaiseOptions, written bool) (*Raiser, error) {
	if opts.Formats == nil {
		opts.Formats = Builtin()
	}
	r := &Raiser{Module: m, targets: map[string]bool{}, written: written, unit: ir.NewUnit(), noID: ir.NewUnit()}
	for _, t := range opts.Targets {
		r.targets[t] = true
	}
	r.formats = opts.Formats.Readers()
	candidates, err := r.candidates()
	if err != nil {
		return nil, err
	}
	for _, op := range candidates {
		if opts.Context != nil && opts.Context.Err() != nil {
			return nil, opts.Context.Err()
		}
		if op.Block() == nil { // part of a hook that is already raised
			continue
		}
		for _, f := range r.byRow[op.Def()] {
			r.format = f
			done, err := f.Reader.Read(r, op)
			if err != nil {
				return nil, err
			}
			if done {
				break
			}
		}
	}
	for _, f := range r.formats {
		if f.Reader.Finish != nil {
			r.format = f
			if err := f.Reader.Finish(r); err != nil {
				return nil, err
			}
		}
	}
	if r.found == 0 {
		return r, nil
	}
	markPIDs(m, r.pids)
	if r.pure {
		r.merged = mergePure(m)
	}
	r.hooks, err = r.identify()
	return r, err
}

// CheckRaised returns an error at the first hook of m that is not an hlocb.hook op.
func CheckRaised(m *ir.Module, opts RaiseOptions) error {
	return checkForeign(m, opts, "hook is not raised")
}

// CheckOwn returns an error at the first hook of m that is not hlocb's own call. It does not read the calls
// themselves, because only the proof of order can follow every form of their chain.
func CheckOwn(m *ir.Module, opts RaiseOptions) error {
	return checkForeign(m, opts.withoutOwn(), "hook is not hlocb's own call")
}

// withoutOwn returns the options without hlocb's own format.
func (o RaiseOptions) withoutOwn() RaiseOptions {
	if o.Formats == nil {
		o.Formats = Builtin()
	}
	o.Formats = slices.DeleteFunc(slices.Clone(o.Formats), func(f *Format) bool { return f == own })
	return o
}

// Unraised returns the positions of the ops of m that belong to hooks with an identity that depends on the function
// they are in: all but hlocb.hook ops and hlocb's own call. It does not change m.
func Unraised(m *ir.Module, opts RaiseOptions) (map[diag.Pos]bool, error) {
	opts = opts.withoutOwn()
	starts := (&Raiser{formats: opts.Formats.Readers()}).startingWith
	none, rows := true, map[*ir.Def]bool{}
	m.Walk(func(op *ir.Op) bool {
		is, known := rows[op.Def()]
		if !known {
			is = len(starts(op.Def())) > 0
			rows[op.Def()] = is
		}
		none = none && !is
		return none
	})
	if none {
		return nil, nil
	}
	r, err := raise(m.Clone(), opts, false)
	if err != nil {
		return nil, err
	}
	out := map[diag.Pos]bool{}
	for _, o := range r.origins {
		if o.format != "" {
			for _, p := range o.places {
				out[p] = true
			}
		}
	}
	return out, nil
}

// checkForeign raises a copy of m and returns an error at the first hook that it finds.
func checkForeign(m *ir.Module, opts RaiseOptions, message string) error {
	r, err := raise(m.Clone(), opts, false)
	if err != nil {
		return err
	}
	for _, o := range r.origins {
		if o.format != "" && len(o.places) > 0 {
			return diag.Errorf(m.Source(), o.places[0], "%s: it is in the format %s", message, o.format)
		}
	}
	return nil
}

// candidates returns the ops that hooks may start with, in program order. Reading a hook may erase later ones. It turns
// chains that are not tokens into tokens.
func (r *Raiser) candidates() ([]*ir.Op, error) {
	r.byRow = map[*ir.Def][]*Format{}
	var out []*ir.Op
	var chains chainOps
	parallel := false
	var last *ir.Def
	starts := false // whether hooks may start with ops of row last
	r.Module.Walk(func(op *ir.Op) bool {
		if row := op.Def(); row != last {
			last = row
			formats, known := r.byRow[row]
			if !known {
				formats = r.startingWith(row)
				r.byRow[row] = formats
			}
			starts = len(formats) > 0
			parallel = parallel || row == interpreter.RunParallel
		}
		if starts {
			out = append(out, op)
			if r.isChainLink(op) {
				chains.links = append(chains.links, op)
			} else if irutil.IsAnnotation(op) {
				chains.annotations = append(chains.annotations, op)
			}
		}
		return true
	})
	if parallel {
		out = withoutParallel(r.Module, out)
	}
	pids, err := r.tokenizeChains(chains)
	r.pids = pids
	return out, err
}

// startingWith returns the formats whose hooks may start with an op of row.
func (r *Raiser) startingWith(row *ir.Def) []*Format {
	var out []*Format
	for _, f := range r.formats {
		for _, s := range f.Reader.Starts {
			if s == row || s == row.Base || !row.Known() && s.Name == row.Name {
				out = append(out, f)
				break
			}
		}
	}
	return out
}

// Raiser is the state that the readers share while they raise a module.
type Raiser struct {
	Module *ir.Module

	formats []*Format
	byRow   map[*ir.Def][]*Format
	format  *Format // of the current hook
	targets map[string]bool
	found   int // hooks read
	hooks   int // hooks left after merging equal ones

	origins  []origin
	exla     bool        // the module uses EXLA's outfeed protocol
	endFlags []*ir.Op    // outfeeds of 0, which ends EXLA's stream if the module uses EXLA's protocol
	pids     []*ir.Value // operands that are PIDs of EXLA's server
	pure     bool        // some hook has no side effects
	merged   map[*ir.Op]*ir.Op
	marked   map[hook.ID]bool

	written bool // record the ops of each hook

	unit    ir.Attr
	noID    ir.Attr // placeholder for the id of a hook until identify computes it
	strings map[string]ir.Attr
}

// origin records the ops of a hook.
type origin struct {
	hook   *ir.Op
	format string
	places []diag.Pos
	parts  []part // if the raiser records them
}

// Match is a hook that a reader recognized.
type Match struct {
	At         *ir.Op // the hlocb.hook op is inserted before it and takes its location
	Kind       hook.Kind
	Name       string // the module's name for the hook, empty for none
	SourceID   string // the hook's identity in its source, for reports only
	SideEffect bool
	Tokens     []*ir.Value // tokens that the hook waits for
	Operands   []*ir.Value // values that the host receives
	Results    []*ir.Value // values that the results of the hlocb.hook op replace: data, tokens, tuples of both
	Aliases    []int       // as in hookop.HookOp.Aliases, over the data leaves of Results; nil for none
	Attrs      ir.AttrList // further attributes, for handlers
	Layouts    bool        // the source specifies layouts
	Orders     orders      // those layouts, unless all are row-major
	EachDevice bool        // fires on every device with its shard
	ID         *hook.ID    // set by the source; nil: computed
	Mark       *ir.Op      // op whose frontend attributes may hold name, id and kind, see setMarks; nil for none
	Erase      []*ir.Op    // the ops of the hook, users before producers
}

// call returns the match of a hook that is one custom call with row-major values: everything but its kind and names.
func (r *Raiser) call(op *ir.Op) (*Match, error) {
	s, err := r.anyCall(op)
	if err == nil {
		err = r.checkRowMajor(op, s.Orders)
	}
	return s, err
}

// anyCall is call for values of any layout.
func (r *Raiser) anyCall(op *ir.Op) (*Match, error) {
	tokens, data := irutil.SplitTokens(op.OperandList())
	layouts, orders, err := r.layouts(op, data, op.ResultList())
	if err != nil {
		return nil, err
	}
	aliases, err := r.Aliases(op, data)
	return &Match{
		At: op, SideEffect: view.Bool(op.Attr(stablehlo.AttrHasSideEffect)) || len(tokens) > 0,
		Tokens: tokens, Operands: data, Results: op.ResultList(), Aliases: aliases, Layouts: layouts, Orders: orders, Erase: []*ir.Op{op},
	}, err
}

// Add replaces the ops of s with an hlocb.hook op and returns it.
func (r *Raiser) Add(s *Match) *ir.Op {
	if s.Mark != nil {
		r.readMarks(s)
	}
	m := r.Module
	b := m.Before(s.At)
	var types []ir.Type
	tokens := false
	var buf [4]ir.Type
	for _, v := range s.Results {
		for _, t := range irutil.Leaves(buf[:0], v.Type()) {
			if stablehlo.IsToken(t) {
				tokens = true
			} else {
				types = append(types, t)
			}
		}
	}
	tokens = tokens || len(s.Tokens) > 0
	operands := s.Operands
	if tokens {
		token := joinTokens(b, s.Tokens)
		operands = irutil.Prepend(token, operands)
		types = irutil.Prepend(token.Type(), types)
	}
	op := b.Insert(&ir.OpState{Def: m.Def(hookop.Hook.Name), Operands: operands, Types: types, Attrs: r.attrs(s, tokens)})
	o := origin{hook: op, format: r.format.Name, places: make([]diag.Pos, 0, len(s.Erase))}
	for i := len(s.Erase) - 1; i >= 0; i-- { // producers first
		o.places = append(o.places, s.Erase[i].Pos())
	}
	if r.written {
		o.parts = s.parts()
	}
	r.origins = append(r.origins, o)
	r.replace(b, s, op, tokens)
	r.found++
	r.pure = r.pure || !s.SideEffect
	return op
}

// attrs returns the attributes of the hook, sorted by name.
func (r *Raiser) attrs(s *Match, tokens bool) ir.AttrList {
	list := make(ir.AttrList, 0, 8)
	set := func(name string, a ir.Attr) { list = append(list, ir.NamedAttr{Name: name, Attr: a, Inherent: true}) }
	flag := func(name string, set bool) {
		if set {
			list = append(list, ir.NamedAttr{Name: name, Attr: r.unit, Inherent: true})
		}
	}
	carry := func(name string) {
		if a := s.At.Attr(name); a != nil {
			list = append(list, ir.NamedAttr{Name: name, Attr: a})
		}
	}
	if a := hookop.AliasAttr(s.Aliases); a != nil {
		set(hookop.AttrAliases, a)
	}
	if len(s.Attrs) > 0 {
		set(hookop.AttrAttrs, ir.NewDict(s.Attrs))
	}
	flag(hookop.AttrChained, tokens)
	set(hookop.AttrFormat, r.string(r.format.Name))
	flag(hookop.AttrSideEffect, s.SideEffect)
	if s.ID != nil {
		set(hookop.AttrID, ir.NewInteger(int64(*s.ID), ir.Int(64)))
	} else {
		set(hookop.AttrID, r.noID)
	}
	set(hookop.AttrKind, r.string(s.Kind.String()))
	flag(hookop.AttrLayouts, s.Layouts)
	if d := foreignFrontend(s.At); len(d) > 0 {
		list = append(list, ir.NamedAttr{Name: mhlo.AttrFrontendAttributes, Attr: ir.NewDict(d)})
	}
	carry(mhlo.AttrSharding)
	set(hookop.AttrName, r.string(s.Name))
	if s.Orders.operands != nil {
		set(hookop.AttrOperandLayouts, s.Orders.operands)
	}
	flag(hookop.AttrPartitioned, s.EachDevice)
	if s.Orders.results != nil {
		set(hookop.AttrResultLayouts, s.Orders.results)
	}
	carry(sdy.AttrValueSharding)
	if s.SourceID != "" {
		set(hookop.AttrSourceID, ir.NewString(s.SourceID))
	}
	if facts := factsOf(s.At); len(facts) > 0 {
		list = append(list, facts...)
		slices.SortFunc(list, func(a, b ir.NamedAttr) int { return strings.Compare(a.Name, b.Name) })
	}
	return list
}

// foreignFrontend returns the frontend attributes of op that belong to no format of hooks, and are not the shardings of
// its results, which a hook has as attributes of its own.
func foreignFrontend(op *ir.Op) ir.AttrList {
	d, ok := op.Attr(mhlo.AttrFrontendAttributes).(*ir.DictAttr)
	if !ok {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(d.Entries()), func(a ir.NamedAttr) bool {
		for _, prefix := range []string{"_xla_host_transfer_", "_xla_send_recv_", "xla.sdy.", "hlocb_"} {
			if strings.HasPrefix(a.Name, prefix) {
				return true
			}
		}
		return false
	})
}

// string returns a string attribute. Hooks share equal attributes.
func (r *Raiser) string(s string) ir.Attr {
	a := r.strings[s]
	if a == nil {
		a = ir.NewString(s)
		if r.strings == nil {
			r.strings = map[string]ir.Attr{}
		}
		r.strings[s] = a
	}
	return a
}

// replace redirects the uses of the old results to the hook's results and erases the ops of the hook.
func (r *Raiser) replace(b *ir.Builder, s *Match, op *ir.Op, tokens bool) {
	next := 0
	if tokens {
		next = 1
	}
	for _, v := range s.Results {
		var flat []*ir.Value
		for _, t := range irutil.Leaves(nil, v.Type()) {
			if stablehlo.IsToken(t) {
				flat = append(flat, op.Result(0))
			} else {
				flat = append(flat, op.Result(next))
				next++
			}
		}
		w, _ := irutil.Pack(b, v.Type(), flat)
		v.ReplaceAllUsesWith(w)
		irutil.FoldTuples(w)
	}
	var operands []*ir.Value
	for _, e := range s.Erase {
		operands = append(operands, e.OperandList()...)
		e.Erase()
	}
	for _, v := range operands {
		if op := v.DefiningOp(); op != nil && op.Block() != nil && irutil.Removable(op) {
			irutil.EraseDead(op)
		}
	}
}

// joinTokens returns one token that waits for all tokens.
func joinTokens(b *ir.Builder, tokens []*ir.Value) *ir.Value {
	switch len(tokens) {
	case 0:
		return ir.Must(b.Build(stablehlo.CreateToken, nil)).Result(0)
	case 1:
		return tokens[0]
	}
	return ir.Must(b.Build(stablehlo.AfterAll, tokens)).Result(0)
}

// unorderedAround returns the innermost op around op that does not define when its region runs, or a function of a
// nested module. It returns nil if control flow determines when op runs.
func unorderedAround(m *ir.Module, op *ir.Op) *ir.Op {
	for in := op; ; {
		p := in.Parent()
		if p == nil || p == m.Op() {
			return nil
		}
		f := p.Def().Flow
		if f.Run(slices.Index(p.Regions(), in.Block().Region())) == ir.RunsUnordered || f.Function && p.Parent() != m.Op() {
			return p
		}
		in = p
	}
}

// reason explains why a hook in a region of p is refused.
func reason(p *ir.Op) string {
	if p.Def().Flow == nil {
		return "the definition of '" + p.Name() + "' does not say how often and in which order the region runs"
	}
	return "the op does not define how often and in which order the region runs"
}

// checkPlace returns an error if control flow does not determine when a hook runs.
func checkPlace(m *ir.Module, op *ir.Op) error {
	switch p := unorderedAround(m, op); {
	case p == nil:
		return nil
	case p.Def().Flow != nil && p.Def().Flow.Function:
		return m.Errorf(op, "hook in a nested module is not supported")
	default:
		return m.Errorf(op, "hook inside a region of '%s' cannot be delivered in order", p.Name()).Note(p.Pos(), "%s", reason(p))
	}
}

// checkCalls returns an error if one of the calls reaches a hook. Control flow does not determine when these calls run.
func checkCalls(m *ir.Module, calls []*ir.Op) error {
	if len(calls) == 0 {
		return nil
	}
	reach := flow.ReachOf(m, func(op *ir.Op) bool { _, ok := hookop.AsHook(op); return ok })
	for _, call := range calls {
		p := unorderedAround(m, call)
		if f := p.Def().Flow; f != nil && f.Function { // a nested module has its own functions
			continue
		}
		if f := reach.Callee(call); f != nil && reach.Holds(f) {
			return m.Errorf(call, "function @%s has hooks, which cannot be delivered in order from inside a region of '%s'", fn.FuncOp{Op: f}.Symbol(), p.Name()).Note(p.Pos(), "%s", reason(p))
		}
	}
	return nil
}

// callKind returns the kind of a hook whose results the host computes.
func callKind(operands, results int, sideEffect bool) hook.Kind {
	switch {
	case !sideEffect:
		return hook.Call
	case results == 0:
		return hook.Tap
	case operands == 0:
		return hook.Feed
	}
	return hook.Call
}
