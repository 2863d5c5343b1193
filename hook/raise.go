package hook

import (
	"strconv"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/hlocb"
	"github.com/hlocb/hlocb/ir"
)

// RaiseOptions says what counts as a hook.
type RaiseOptions struct {
	Targets []string // further custom-call targets to treat as hooks
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
	Origins map[hlocb.ID][]diag.Pos
	// Parts are the same ops with their values, for engines that execute them as they are.
	Parts []hlocb.Part
}

// Raise replaces every hook of m, whatever format it is in, by an hlocb.hook op. Tokens stay: the hooks take and
// give them as the source did.
func Raise(m *ir.Module, opts RaiseOptions) (*Raised, error) {
	r := &raiser{m: m, targets: map[string]bool{}, byOp: map[string][]Format{}, origins: map[*ir.Op][]diag.Pos{}, parts: map[*ir.Op][]hlocb.Part{}}
	for _, t := range opts.Targets {
		r.targets[t] = true
	}
	for _, f := range Formats() {
		for _, op := range f.ops {
			r.byOp[op] = append(r.byOp[op], f)
		}
	}
	var err error
	if r.pids, err = tokenizeChains(m); err != nil {
		return nil, err
	}
	// A format may erase ops ahead of the one it is given, so the candidates are gathered first.
	var candidates []*ir.Op
	m.Walk(func(op *ir.Op) bool {
		if len(r.byOp[stable(op)]) > 0 {
			candidates = append(candidates, op)
		}
		return true
	})
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
	merged := mergePure(m)
	n, err := identify(m)
	if err != nil {
		return nil, err
	}
	out := &Raised{Hooks: n, Origins: map[hlocb.ID][]diag.Pos{}}
	for op, places := range r.origins {
		if op.Block() != nil { // not merged with another since
			out.Origins[hlocb.HookOp{Op: op}.ID()] = places
		}
	}
	r.listParts(out, merged)
	return out, nil
}

// listParts fills in the parts. merged has the hooks that were replaced by an equal one.
func (r *raiser) listParts(out *Raised, merged map[*ir.Op]*ir.Op) {
	for _, op := range r.order {
		for _, p := range r.parts[op] {
			first := op
			for merged[first] != nil {
				first, p.Repeat = merged[first], true
			}
			if first.Block() != nil {
				p.Hook = hlocb.HookOp{Op: first}.ID()
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

	origins  map[*ir.Op][]diag.Pos // of the ops that each hook was made of
	parts    map[*ir.Op][]hlocb.Part
	order    []*ir.Op    // the hooks that were raised
	exla     bool        // the module speaks EXLA's outfeed protocol
	endFlags []*ir.Op    // outfeeds of EXLA's flag 0, if that is what they are
	pids     []*ir.Value // PIDs of EXLA's server that hooks took
}

// site is what a format found out about one hook.
type site struct {
	at         *ir.Op // the new op goes in front of it and takes over its location
	kind       hlocb.Kind
	label      string // the source's name for it, empty where it has none
	sourceID   string
	sideEffect bool
	tokens     []*ir.Value // that the hook waits for
	operands   []*ir.Value // what the host sees
	results    []*ir.Value // replaced by the new op's results: data, tokens, tuples of both
	aliases    []int       // as hlocb.HookOp.Aliases, over the data leaves of results; nil for none
	attrs      ir.AttrList // further attributes, for handlers
	layouts    bool
	partition  bool      // fires on every device with its shard
	id         *hlocb.ID // given by the source; nil: to be computed
	erase      []*ir.Op  // the ops that the hook was made of, users before producers
}

// add replaces the ops of s by an hlocb.hook.
func (r *raiser) add(s *site) *ir.Op {
	m := r.m
	b := m.Before(s.at)
	var types []ir.Type
	tokens := false
	for _, v := range s.results {
		for _, t := range leaves(nil, v.Type()) {
			if ir.IsToken(t) {
				tokens = true
			} else {
				types = append(types, t)
			}
		}
	}
	tokens = tokens || len(s.tokens) > 0
	operands := s.operands
	st := &ir.OpState{Def: m.Def(hlocb.Hook.Name)}
	if tokens {
		token := joinTokens(b, s.tokens)
		operands = prepend(token, operands)
		types = prepend(token.Type(), types)
		st.SetAttr(hlocb.AttrChained, ir.NewUnit())
	}
	st.Operands, st.Types = operands, types
	st.SetAttr(hlocb.AttrKind, ir.NewString(s.kind.String()))
	st.SetAttr(hlocb.AttrName, ir.NewString(s.label))
	st.SetAttr(hlocb.AttrFormat, ir.NewString(r.format))
	if s.sourceID != "" {
		st.SetAttr(hlocb.AttrSourceID, ir.NewString(s.sourceID))
	}
	if s.sideEffect {
		st.SetAttr(hlocb.AttrSideEffect, ir.NewUnit())
	}
	if s.layouts {
		st.SetAttr(hlocb.AttrLayouts, ir.NewUnit())
	}
	if s.partition {
		st.SetAttr(hlocb.AttrPartitioned, ir.NewUnit())
	}
	if len(s.attrs) > 0 {
		st.SetAttr(hlocb.AttrAttrs, ir.NewDict(s.attrs))
	}
	if s.id != nil {
		st.SetAttr(hlocb.AttrID, ir.NewInteger(int64(*s.id), m.Context().I64()))
	}
	for _, name := range [...]string{attrSdySharding, attrMhloSharding} {
		if a := s.at.Attr(name); a != nil {
			st.SetAttr(name, a)
		}
	}
	op := b.Insert(st)
	if s.aliases != nil {
		hlocb.HookOp{Op: op}.SetAliases(m.Context(), s.aliases)
	}
	for i := len(s.erase) - 1; i >= 0; i-- { // producers first
		r.origins[op] = append(r.origins[op], s.erase[i].Pos())
	}
	r.parts[op], r.order = s.parts(), append(r.order, op)
	r.replace(b, s, op, tokens)
	r.found++
	return op
}

// replace makes the users of the old results use the hook's and erases the ops that the hook was made of.
func (r *raiser) replace(b *ir.Builder, s *site, op *ir.Op, tokens bool) {
	next := 0
	if tokens {
		next = 1
	}
	for _, v := range s.results {
		var flat []*ir.Value
		for _, t := range leaves(nil, v.Type()) {
			if ir.IsToken(t) {
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
		if def := v.Def(); def != nil && def.Block() != nil && removable(def) {
			eraseDead(def)
		}
	}
}

// joinTokens returns one token that waits for all of tokens.
func joinTokens(b *ir.Builder, tokens []*ir.Value) *ir.Value {
	m := b.Module()
	types := []ir.Type{m.Context().Token()}
	switch len(tokens) {
	case 0:
		return b.Create(m.Def("stablehlo.create_token"), nil, types).Result(0)
	case 1:
		return tokens[0]
	}
	return b.Create(m.Def("stablehlo.after_all"), tokens, []ir.Type{tokens[0].Type()}).Result(0)
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

// checkPlace returns an error where a hook stands in a region that is no part of the program's control flow.
func checkPlace(m *ir.Module, op *ir.Op) error {
	for p := op.Parent(); p != nil && p != m.Op(); p = p.Parent() {
		if mayHold(p) {
			if p.Name() == "func.func" && p.Parent() != m.Op() {
				return m.Errorf(op, "hook in a nested module is not supported")
			}
			continue
		}
		return m.Errorf(op, "hook inside a region of '%s' cannot be delivered in order", p.Name()).
			Note(p.Pos(), "how often and in which order the region runs is not defined")
	}
	return nil
}

// identify gives every hook its name and id and returns the number of hooks.
func identify(m *ir.Module) (int, error) {
	type entry struct {
		op   hlocb.HookOp
		path string
	}
	var hooks []entry
	var err error
	for fn := range m.Body().Ops() {
		path := stringAttr(fn.Attr(ir.SymbolName))
		fn.Walk(func(op *ir.Op) bool {
			if h, ok := hlocb.AsHook(op); ok {
				if err = checkPlace(m, op); err != nil {
					return false
				}
				hooks = append(hooks, entry{h, path})
			}
			return true
		})
		if err != nil {
			return 0, err
		}
	}
	names := newNamer()
	for _, named := range [...]bool{true, false} { // hooks that were named before keep their names
		for i, h := range hooks {
			if named != (h.op.Attr(hlocb.AttrID) != nil) {
				continue
			}
			label := h.op.HookName()
			if label == "" {
				label = "hook" + strconv.Itoa(i)
			}
			h.op.SetAttr(hlocb.AttrName, ir.NewString(names.unique(label)))
		}
	}
	ids := newIdentifier()
	for _, h := range hooks {
		if h.op.Attr(hlocb.AttrID) == nil {
			continue
		}
		if first := ids.taken(h.op.ID(), h.op.Op); first != nil {
			return 0, m.Errorf(h.op.Op, "two hooks have the id %s", h.op.ID()).Note(first.Pos(), "the first one is here")
		}
	}
	for _, h := range hooks {
		if h.op.Attr(hlocb.AttrID) == nil {
			id := ids.next(h.path, h.op)
			h.op.SetAttr(hlocb.AttrID, ir.NewInteger(int64(id), m.Context().I64()))
		}
	}
	return len(hooks), nil
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
		if ir.IsToken(v.Type()) {
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
			if !ir.IsToken(t) {
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
func callKind(operands, results int, sideEffect bool) hlocb.Kind {
	switch {
	case !sideEffect:
		return hlocb.Call
	case results == 0:
		return hlocb.Tap
	case operands == 0:
		return hlocb.Feed
	}
	return hlocb.Call
}
