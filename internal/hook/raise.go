package hooks

import (
	"strconv"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// RaiseOptions says what counts as a hook.
type RaiseOptions struct {
	Targets []string // further custom-call targets to treat as hooks
	Parts   bool     // list the parts of the hooks, see Raised
}

// Format is one notation of hooks.
type Format struct {
	Name string
	Doc  string // what it looks like and who writes it
	// ops lists the mnemonics of the ops that start a hook of this format.
	ops []string
	// raise turns the hook that starts at op into hlocb.hook and reports whether it was one.
	raise func(r *raiser, op *ir.Op) (bool, error)
}

// Formats returns the input formats. Where several formats start with the same kind of op, the first that
// recognizes it takes it.
func Formats() []Format {
	return []Format{
		fromHlocb,
		fromJAXHostCallback,
		fromJAXHostCallback2020,
		fromEXLALazyInfeed,
		fromEXLAOutfeed,
		fromRawOutfeed,
		fromRawInfeed,
		fromJAXFFI,
		fromJAXHostCallbackCall,
		fromJAXDescriptor,
		fromEXLACallback,
		fromEXLAIOCallback,
		fromSendRecv,
		fromTarget,
	}
}

// Raised says what Raise found.
type Raised struct {
	Hooks int // how many hooks the module has
	// Origins are the places in the source of the ops that each hook was made of.
	Origins map[hook.ID][]diag.Pos
	// Parts are the same ops with their values, for engines that execute them as they are; empty unless asked for.
	Parts []hook.Part
}

// Raise replaces every hook of m, whatever format it is in, by an hlocb.hook op. Tokens stay: the hooks take and
// give them as the source did.
func Raise(m *ir.Module, opts RaiseOptions) (*Raised, error) {
	r := &raiser{m: m, targets: map[string]bool{}, byOp: map[string][]Format{}, unit: ir.NewUnit(), noID: ir.NewUnit(), wantParts: opts.Parts}
	for _, t := range opts.Targets {
		r.targets[t] = true
	}
	for _, f := range Formats() {
		for _, op := range f.ops {
			r.byOp[op] = append(r.byOp[op], f)
		}
	}
	// A format may erase ops ahead of the one it is given, so the candidates are gathered first.
	var candidates, links, annotations []*ir.Op
	starts := map[*ir.Def]bool{} // whether hooks start with ops of the kind
	var last *ir.Def
	parallel := false
	m.Walk(func(op *ir.Op) bool {
		if def := op.Def(); def != last {
			last = def
			parallel = parallel || def.Name == runParallel
			if _, ok := starts[def]; !ok {
				starts[def] = len(r.byOp[stable(op)]) > 0
			}
		}
		if starts[last] {
			candidates = append(candidates, op)
			if isChainLink(op) {
				links = append(links, op)
			} else if isAnnotation(op) {
				annotations = append(annotations, op)
			}
		}
		return true
	})
	if parallel {
		candidates = withoutParallel(m, candidates)
	}
	var err error
	if r.pids, err = tokenizeChains(m, links, annotations); err != nil {
		return nil, err
	}
	for _, op := range candidates {
		if op.Block() == nil { // part of a hook that was raised before
			continue
		}
		for _, f := range r.byOp[stable(op)] {
			r.format = f.Name
			done, err := f.raise(r, op)
			if err != nil {
				return nil, err
			}
			if done {
				break
			}
		}
	}
	if err := r.endStreams(); err != nil {
		return nil, err
	}
	if r.found == 0 {
		return &Raised{}, nil
	}
	markPIDs(m, r.pids)
	var merged map[*ir.Op]*ir.Op
	if r.pure {
		merged = mergePure(m)
	}
	n, err := r.identify()
	if err != nil {
		return nil, err
	}
	out := &Raised{Hooks: n, Origins: make(map[hook.ID][]diag.Pos, n)}
	for _, o := range r.origins {
		if o.hook.Block() != nil { // not merged with another since
			out.Origins[hookop.HookOp{Op: o.hook}.ID()] = o.places
		}
	}
	r.listParts(out, merged)
	return out, nil
}

// listParts fills in the parts. merged has the hooks that were replaced by an equal one.
func (r *raiser) listParts(out *Raised, merged map[*ir.Op]*ir.Op) {
	for i, parts := range r.parts {
		for _, p := range parts {
			first := r.origins[i].hook
			for merged[first] != nil {
				first, p.Repeat = merged[first], true
			}
			if first.Block() != nil {
				p.Hook = hookop.HookOp{Op: first}.ID()
			} else {
				p.Repeat = false
			}
			out.Parts = append(out.Parts, p)
		}
	}
}

// raiser holds what the formats share while a module is raised.
type raiser struct {
	m       *ir.Module
	targets map[string]bool
	byOp    map[string][]Format
	format  string // of the hook being raised
	found   int

	origins  []origin
	parts    [][]hook.Part // of the hooks in origins, where they are wanted
	exla     bool          // the module speaks EXLA's outfeed protocol
	endFlags []*ir.Op      // outfeeds of EXLA's flag 0, if that is what they are
	pids     []*ir.Value   // PIDs of EXLA's server that hooks took
	pure     bool          // a hook has no side effect
	marked   map[hook.ID]bool

	wantParts bool

	unit    ir.Attr
	noID    ir.Attr // stands for the id of a hook until identify computes it
	strings map[string]ir.Attr
}

// origin says where in the source the ops were that a hook was made of.
type origin struct {
	hook   *ir.Op
	places []diag.Pos
}

// site is what a format found out about one hook.
type site struct {
	at         *ir.Op // the new op goes in front of it and takes over its location
	kind       hook.Kind
	label      string // the source's name for it, empty where it has none
	sourceID   string
	sideEffect bool
	tokens     []*ir.Value // that the hook waits for
	operands   []*ir.Value // what the host sees
	results    []*ir.Value // replaced by the new op's results: data, tokens, tuples of both
	aliases    []int       // as hookop.HookOp.Aliases, over the data leaves of results; nil for none
	attrs      ir.AttrList // further attributes, for handlers
	layouts    bool
	partition  bool     // fires on every device with its shard
	id         *hook.ID // given by the source; nil: to be computed
	mark       *ir.Op   // may say name, id and kind, see readMarks; nil for none
	erase      []*ir.Op // the ops that the hook was made of, users before producers
}

// add replaces the ops of s by an hlocb.hook.
func (r *raiser) add(s *site) *ir.Op {
	if s.mark != nil {
		r.readMarks(s)
	}
	m := r.m
	b := m.Before(s.at)
	var types []ir.Type
	tokens := false
	var buf [4]ir.Type
	for _, v := range s.results {
		for _, t := range leaves(buf[:0], v.Type()) {
			if stablehlo.IsToken(t) {
				tokens = true
			} else {
				types = append(types, t)
			}
		}
	}
	tokens = tokens || len(s.tokens) > 0
	operands := s.operands
	if tokens {
		token := joinTokens(b, s.tokens)
		operands = prepend(token, operands)
		types = prepend(token.Type(), types)
	}
	op := b.Insert(&ir.OpState{Def: m.Def(hookop.Hook.Name), Operands: operands, Types: types, Attrs: r.attrs(s, tokens)})
	places := make([]diag.Pos, 0, len(s.erase))
	for i := len(s.erase) - 1; i >= 0; i-- { // producers first
		places = append(places, s.erase[i].Pos())
	}
	r.origins = append(r.origins, origin{op, places})
	if r.wantParts {
		r.parts = append(r.parts, s.parts())
	}
	r.replace(b, s, op, tokens)
	r.found++
	r.pure = r.pure || !s.sideEffect
	return op
}

// attrs returns the attributes of the hook, sorted by name.
func (r *raiser) attrs(s *site, tokens bool) ir.AttrList {
	list := make(ir.AttrList, 0, 8)
	set := func(name string, a ir.Attr) { list = append(list, ir.NamedAttr{Name: name, Attr: a, Inherent: true}) }
	flag := func(name string, set bool) {
		if set {
			list = append(list, ir.NamedAttr{Name: name, Attr: r.unit, Inherent: true})
		}
	}
	carry := func(name string) {
		if a := s.at.Attr(name); a != nil {
			list = append(list, ir.NamedAttr{Name: name, Attr: a})
		}
	}
	if a := hookop.AliasAttr(r.m.Context(), s.aliases); a != nil {
		set(hookop.AttrAliases, a)
	}
	if len(s.attrs) > 0 {
		set(hookop.AttrAttrs, ir.NewDict(s.attrs))
	}
	flag(hookop.AttrChained, tokens)
	set(hookop.AttrFormat, r.string(r.format))
	flag(hookop.AttrSideEffect, s.sideEffect)
	if s.id != nil {
		set(hookop.AttrID, ir.NewInteger(int64(*s.id), r.m.Context().I64()))
	} else {
		set(hookop.AttrID, r.noID)
	}
	set(hookop.AttrKind, r.string(s.kind.String()))
	flag(hookop.AttrLayouts, s.layouts)
	carry(attrMhloSharding)
	set(hookop.AttrName, r.string(s.label))
	flag(hookop.AttrPartitioned, s.partition)
	carry(attrSdySharding)
	if s.sourceID != "" {
		set(hookop.AttrSourceID, ir.NewString(s.sourceID))
	}
	return list
}

// string returns a string attribute; hooks share theirs.
func (r *raiser) string(s string) ir.Attr {
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

// replace makes the users of the old results use the hook's and erases the ops that the hook was made of.
func (r *raiser) replace(b *ir.Builder, s *site, op *ir.Op, tokens bool) {
	next := 0
	if tokens {
		next = 1
	}
	for _, v := range s.results {
		if _, isTuple := v.Type().(*ir.TupleType); !isTuple {
			if stablehlo.IsToken(v.Type()) {
				v.ReplaceAllUsesWith(op.Result(0))
			} else {
				v.ReplaceAllUsesWith(op.Result(next))
				next++
			}
			continue
		}
		var flat []*ir.Value
		for _, t := range leaves(nil, v.Type()) {
			if stablehlo.IsToken(t) {
				flat = append(flat, op.Result(0))
			} else {
				flat = append(flat, op.Result(next))
				next++
			}
		}
		w, _ := pack(b, v.Type(), flat)
		v.ReplaceAllUsesWith(w)
		foldTuples(w)
	}
	var operands []*ir.Value
	for _, e := range s.erase {
		operands = append(operands, e.OperandList()...)
		e.Erase()
	}
	for _, v := range operands {
		if def := v.DefiningOp(); def != nil && def.Block() != nil && removable(def) {
			eraseDead(def)
		}
	}
}

// joinTokens returns one token that waits for all of tokens.
func joinTokens(b *ir.Builder, tokens []*ir.Value) *ir.Value {
	m := b.Module()
	switch len(tokens) {
	case 0:
		return ir.Must(b.Build(m.Def("stablehlo.create_token"), nil)).Result(0)
	case 1:
		return tokens[0]
	}
	return ir.Must(b.Build(m.Def("stablehlo.after_all"), tokens)).Result(0)
}

// errorf returns an error at op.
func (r *raiser) errorf(op *ir.Op, format string, args ...any) *diag.Diagnostic {
	return r.m.Errorf(op, format, args...)
}

// rowMajor checks the layouts of a custom call: each must be row-major. It reports whether there are any.
func (r *raiser) rowMajor(op *ir.Op) (bool, error) {
	any := false
	for _, name := range [...]string{"operand_layouts", "result_layouts"} {
		list, ok := op.Attr(name).(*ir.ArrayAttr)
		if !ok {
			continue
		}
		any = true
		for i, e := range list.Elems() {
			d, ok := e.(*ir.DenseAttr)
			if !ok {
				continue
			}
			perm, err := d.Int64s()
			if err != nil {
				return false, r.errorf(op, "cannot read %s of the hook: %v", name, err)
			}
			for k, p := range perm {
				if p != int64(len(perm)-1-k) {
					return false, r.errorf(op, "hook needs row-major layouts, but %s has %v at position %d", name, perm, i)
				}
			}
		}
	}
	return any, nil
}

// mayHold reports whether a hook may stand in a region of op: where control flow says when it runs.
func mayHold(op *ir.Op) bool {
	switch stable(op) {
	case "while", "if", "case":
		return true
	}
	switch op.Name() {
	case "func.func", "sdy.manual_computation":
		return true
	}
	return false
}

// outside returns the op around op whose region is no part of the program's control flow, nil where there is none.
func outside(m *ir.Module, op *ir.Op) *ir.Op {
	for p := op.Parent(); p != nil && p != m.Op(); p = p.Parent() {
		if !mayHold(p) || p.Name() == "func.func" && p.Parent() != m.Op() {
			return p
		}
	}
	return nil
}

// notDefined is why a hook in some regions is refused.
const notDefined = "how often and in which order the region runs is not defined"

// checkPlace returns an error where a hook stands in a region that is no part of the program's control flow.
func checkPlace(m *ir.Module, op *ir.Op) error {
	switch p := outside(m, op); {
	case p == nil:
		return nil
	case p.Name() == "func.func":
		return m.Errorf(op, "hook in a nested module is not supported")
	default:
		return m.Errorf(op, "hook inside a region of '%s' cannot be delivered in order", p.Name()).Note(p.Pos(), notDefined)
	}
}

// checkCalls returns an error where one of the calls, each from a region that is no part of the program's control flow, reaches a
// hook.
func checkCalls(m *ir.Module, calls []*ir.Op) error {
	if len(calls) == 0 {
		return nil
	}
	hook := m.Def(hookop.Hook.Name)
	r := reachOf(m, func(op *ir.Op) bool { return op.Is(hook) })
	for _, call := range calls {
		p := outside(m, call)
		if f, ok := r.calls.callee(call); ok && r.ops[f.Op] && p.Name() != "func.func" { // a nested module has functions of its own
			return m.Errorf(call, "function @%s has hooks, which cannot be delivered in order from inside a region of '%s'", f.Symbol(), p.Name()).Note(p.Pos(), notDefined)
		}
	}
	return nil
}

// identify gives every hook its name and id and returns the number of hooks.
func (r *raiser) identify() (int, error) {
	type entry struct {
		op   hookop.HookOp
		path string
	}
	m := r.m
	hooks := make([]entry, 0, r.found)
	var err error
	hook, call := m.Def(hookop.Hook.Name), m.Def("func.call")
	var misplaced []*ir.Op // calls from where no hook may stand
	for fn := range m.Body().Ops() {
		path := stringAttr(fn.Attr(ir.SymbolName))
		fn.Walk(func(op *ir.Op) bool {
			switch {
			case op.Is(hook):
				if err = checkPlace(m, op); err != nil {
					return false
				}
				hooks = append(hooks, entry{hookop.HookOp{Op: op}, path})
			case op.Is(call) && outside(m, op) != nil:
				misplaced = append(misplaced, op)
			}
			return true
		})
		if err != nil {
			return 0, err
		}
	}
	if err := checkCalls(m, misplaced); err != nil {
		return 0, err
	}
	i64 := m.Context().I64()
	names := newNamer()
	ids := newIdentifier(len(hooks))
	for i, h := range hooks { // hooks that were named before keep their names and ids
		if h.op.Attr(hookop.AttrID) == r.noID {
			continue
		}
		if name := names.unique(label(h.op, i)); name != h.op.HookName() {
			h.op.SetAttr(hookop.AttrName, ir.NewString(name))
		}
		if first := ids.taken(h.op.ID(), h.op.Op); first != nil {
			return 0, m.Errorf(h.op.Op, "two hooks have the id %s", h.op.ID()).Note(first.Pos(), "the first one is here")
		}
	}
	for i, h := range hooks {
		list := h.op.Attrs() // made by attrs and not shared, so that it may be changed in place
		at := -1
		for k := range list {
			if list[k].Attr == r.noID {
				at = k
			}
		}
		if at < 0 {
			continue
		}
		list[at].Attr = ir.NewInteger(int64(ids.next(h.path, h.op)), i64)
		if old := label(h.op, i); names.unique(old) != old || h.op.HookName() == "" {
			for k := at; k < len(list); k++ {
				if list[k].Name == hookop.AttrName {
					list[k].Attr = ir.NewString(names.last)
				}
			}
		}
		h.op.SetAttrs(list)
	}
	return len(hooks), nil
}

// label returns the name that the source gave hook i, or one made from its place.
func label(h hookop.HookOp, i int) string {
	if name := h.HookName(); name != "" {
		return name
	}
	return "hook" + strconv.Itoa(i)
}

// isTarget reports whether op is a custom call of one of the given targets.
func isTarget(op *ir.Op, targets ...string) bool {
	t := stringAttr(op.Attr("call_target_name"))
	for _, s := range targets {
		if t == s {
			return true
		}
	}
	return false
}

// config returns the attributes that a custom call hands its handler, from backend_config or, as JAX writes
// them, from mhlo.backend_config; nil where it has none.
func config(op *ir.Op) *ir.DictAttr {
	if d, ok := op.Attr("mhlo.backend_config").(*ir.DictAttr); ok {
		return d
	}
	d, _ := op.Attr("backend_config").(*ir.DictAttr)
	return d
}

// splitTokens parts the tokens from the rest.
func splitTokens(vals []*ir.Value) (tokens, data []*ir.Value) {
	for _, v := range vals {
		if stablehlo.IsToken(v.Type()) {
			tokens = append(tokens, v)
		} else {
			data = append(data, v)
		}
	}
	return tokens, data
}

// dataLeaves counts the results of op, tuples taken apart, that are no tokens.
func dataLeaves(vals []*ir.Value) int {
	n := 0
	for _, v := range vals {
		for _, t := range leaves(nil, v.Type()) {
			if !stablehlo.IsToken(t) {
				n++
			}
		}
	}
	return n
}

// resultList returns the results of op.
func resultList(op *ir.Op) []*ir.Value {
	out := make([]*ir.Value, op.NumResults())
	for i := range out {
		out[i] = op.Result(i)
	}
	return out
}

// callKind is the kind of a hook whose host computes what it returns.
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
