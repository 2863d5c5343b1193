package view

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/internal/probe"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/tensor"
)

func itoa(i int) string { return strconv.Itoa(i) }

// maxLoc is the length in bytes of a location that the page shows.
const maxLoc = 1200

// pageData is the part of the page's data that all steps share. Lists of one length are columns of a table. Strings
// are numbers of entries of Strings.
type pageData struct {
	Title   string     `json:"title"`
	Live    string     `json:"live,omitempty"`
	Beside  bool       `json:"beside,omitempty"`
	Strings []string   `json:"strings"`
	Items   itemTable  `json:"items"`
	Locs    locTable   `json:"locs"`
	Steps   []stepHead `json:"steps"`
	Hooks   *hookData  `json:"hooks,omitempty"`

	Overlays   []overlayData `json:"overlays,omitempty"`
	Recordings []Recording   `json:"recordings,omitempty"`
}

// itemTable is the table of items.
type itemTable struct {
	Kind   []int32 `json:"kind"`
	Parent []int32 `json:"parent"`
	Layer  []int32 `json:"layer"`
	Order  []int32 `json:"order"`
	Label  []int32 `json:"label"`
	Count  []int32 `json:"count"`
	Value  []int32 `json:"value"` // the first value
	Wide   []int32 `json:"wide"`  // characters of the first result's type, written short
	Values int32   `json:"values"`
	// Edges are pairs of items of one box: the second uses a value of the first. The page needs them to place the items.
	Edges []int32 `json:"edges"`
}

// locTable is the table of locations. Number 0 is the unknown location.
type locTable struct {
	Text  []int32 `json:"text"`  // as MLIR writes it
	Place []int32 `json:"place"` // file:line:column
	Name  []int32 `json:"name"`  // the name stack
	Line  []int32 `json:"line"`  // the line of the source, if its file is known
}

type stepHead struct {
	Name   string   `json:"name"`
	Rules  []Rule   `json:"rules,omitempty"`
	Same   []string `json:"same,omitempty"`
	Counts string   `json:"counts,omitempty"`
	Ops    int      `json:"ops"`
}

// stepData is the part of the page's data that belongs to one step.
type stepData struct {
	Items    []int32    `json:"items"` // of ops and arguments, in program order
	Name     []int32    `json:"name"`  // of the op; of an argument: its name, or 0
	Results  []int32    `json:"results"`
	Types    []int32    `json:"types"` // of the results of all items
	Uses     []int32    `json:"uses"`  // number of operands
	Operands []int32    `json:"operands"`
	Loc      []int32    `json:"loc"`
	Line     []int32    `json:"line"`  // -1: none of its own
	State    []int32    `json:"state"` // 0 as before, 1 added, 2 changed, 3 moved
	Hook     []int32    `json:"hook"`  // number of the hook, -1: none
	Callee   [][2]int32 `json:"callee"`
	Detail   [][2]int32 `json:"detail"`         // a short text for some items
	Made     [][2]int32 `json:"made,omitempty"` // an added or changed item and a rule that made it
	Removed  []int32    `json:"removed"`
	Flow     []int32    `json:"flow"` // pairs of values: the first becomes the second, unchanged
	Chain    []int32    `json:"chain"`
	Lines    []int32    `json:"lines"`
	Values   []int32    `json:"values"`
	NameOf   []int32    `json:"nameOf"`  // pairs of a value and its name
	Written  []int32    `json:"written"` // pairs of a value and its name in the file, if that is another one; 0 for none
}

type hookData struct {
	Sites   []siteData  `json:"sites"`
	Order   [][2]int32  `json:"order"` // pairs of sites
	Data    [][2]int32  `json:"data"`
	Aliases []aliasData `json:"aliases"`
	Proof   string      `json:"proof"`
	byID    map[hook.ID]int32
	origins map[int32]int32 // of items of the first step
}

type siteData struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	Format  string   `json:"format"`
	Loc     string   `json:"loc"`
	Place   string   `json:"place"`
	Types   []string `json:"types"`
	Chained bool     `json:"chained"`
}

type aliasData struct {
	Hook    int32  `json:"hook"`
	Result  int    `json:"result"`
	Operand int    `json:"operand"`
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
	Bytes   int64  `json:"bytes"`
}

type overlayData struct {
	Name  string    `json:"name"`
	Unit  string    `json:"unit"`
	Items []int32   `json:"items"`
	Value []float64 `json:"value"`
	Lost  int       `json:"lost"` // numbers that select no op
}

// encoder interns the strings and the locations of a page.
type encoder struct {
	u       *union
	data    pageData
	strings map[string]int32
	locs    map[*ir.Loc]int32
	byText  map[string]int32
	source  func(file string) []byte
	files   map[string][]string // lines
	written map[written]string
}

// written is a result of an op in a file.
type written struct {
	file  *diag.Source
	at    diag.Pos
	index int
	hint  string
}

func newEncoder(u *union) *encoder {
	e := &encoder{u: u, strings: map[string]int32{}, locs: map[*ir.Loc]int32{nil: 0}, byText: map[string]int32{}, written: map[written]string{}}
	e.intern("")
	e.data.Locs = locTable{[]int32{0}, []int32{0}, []int32{0}, []int32{0}}
	return e
}

func (e *encoder) intern(s string) int32 {
	n, ok := e.strings[s]
	if !ok {
		n = int32(len(e.data.Strings))
		e.data.Strings = append(e.data.Strings, s)
		e.strings[s] = n
	}
	return n
}

func (e *encoder) loc(l *ir.Loc) int32 {
	if l.Kind() == ir.LocUnknown {
		return 0
	}
	if n, ok := e.locs[l]; ok {
		return n
	}
	text := ""
	if l.Size() < 16*maxLoc {
		text = strings.TrimSuffix(strings.TrimPrefix(l.String(), "loc("), ")")
	}
	n, ok := e.byText[text]
	if !ok || text == "" {
		place, _ := hook.PlaceOf(text)
		position := ""
		if place.File != "" {
			position = place.Position()
		}
		t := &e.data.Locs
		n = int32(len(t.Text))
		shown := text
		if len(shown) > maxLoc {
			shown = strings.ToValidUTF8(shown[:maxLoc], "") + "…"
		}
		t.Text = append(t.Text, e.intern(shown))
		t.Place = append(t.Place, e.intern(position))
		t.Name = append(t.Name, e.intern(nameOf(l)))
		t.Line = append(t.Line, e.intern(e.sourceLine(place)))
		e.byText[text] = n
	}
	e.locs[l] = n
	return n
}

// maxSource is the length in bytes of a line of the source that the page shows.
const maxSource = 240

// sourceLine returns the line of the source at a place, "" if it is not known.
func (e *encoder) sourceLine(p hook.Place) string {
	n, err := strconv.Atoi(p.Line)
	if e.source == nil || err != nil || p.File == "" {
		return ""
	}
	lines, ok := e.files[p.File]
	if !ok {
		lines = strings.Split(string(e.source(p.File)), "\n")
		e.files[p.File] = lines
	}
	if n < 1 || n > len(lines) {
		return ""
	}
	line := strings.TrimSpace(lines[n-1])
	if len(line) > maxSource {
		line = line[:maxSource] + "…"
	}
	return strings.ToValidUTF8(line, "")
}

// nameOf returns the outermost name of a location, such as JAX's stack of names.
func nameOf(l *ir.Loc) string {
	for depth := 0; l.Kind() != ir.LocUnknown && l.Kind() != ir.LocFile && depth < 100; depth++ {
		if l.Kind() == ir.LocName {
			return l.Name()
		}
		if len(l.Children()) == 0 {
			break
		}
		l = l.Children()[0]
	}
	return ""
}

// encode returns the shared data and the data of each step.
func encode(d *Document) (pageData, []stepData, error) {
	if len(d.Steps) == 0 {
		return pageData{}, nil, fmt.Errorf("a page needs a module")
	}
	u := unionOf(d.Steps)
	u.tree()
	e := newEncoder(u)
	e.source, e.files = d.Source, map[string][]string{}
	e.data.Title, e.data.Live, e.data.Recordings, e.data.Beside = d.Title, d.Live, d.Recordings, d.Beside
	e.hooks(d)
	var steps []stepData
	for _, s := range u.steps {
		steps = append(steps, e.step(s))
		ops := 0
		s.step.Module.Walk(func(*ir.Op) bool { ops++; return true })
		e.data.Steps = append(e.data.Steps, stepHead{s.step.Name, s.step.Rules, s.step.Same, s.counts, ops})
	}
	t := &e.data.Items
	for i := range u.items {
		x := &u.items[i]
		t.Kind = append(t.Kind, int32(x.kind))
		t.Parent = append(t.Parent, x.parent)
		t.Layer = append(t.Layer, x.layer)
		t.Order = append(t.Order, x.order)
		t.Label = append(t.Label, e.intern(x.label))
		t.Count = append(t.Count, x.count)
		t.Value = append(t.Value, x.values)
		t.Wide = append(t.Wide, x.wide)
	}
	t.Values = u.values
	t.Edges = append([]int32{}, u.inside...)
	e.overlays(d)
	return e.data, steps, nil
}

// step encodes one step.
func (e *encoder) step(s *stepItems) stepData {
	d := stepData{ // a nil list would be null in JSON
		Types: []int32{}, Operands: []int32{}, Callee: [][2]int32{}, Detail: [][2]int32{}, Removed: []int32{}, Flow: []int32{},
		NameOf: []int32{}, Written: []int32{},
	}
	m := s.step.Module
	u := e.u
	t := u.textOf(s, e.intern)
	hooks := e.hookItems(s)
	graph := flow.Of(m, func(*ir.Op) {})
	var visit func(op *ir.Op)
	row := func(i, name, loc, line, state int32) {
		d.Items = append(d.Items, i)
		d.Name = append(d.Name, name)
		d.Loc = append(d.Loc, loc)
		d.Line = append(d.Line, line)
		d.State = append(d.State, state)
		n, ok := hooks[i]
		if !ok {
			n = -1
		}
		d.Hook = append(d.Hook, n)
	}
	visit = func(op *ir.Op) {
		i := s.items[op]
		line, ok := t.starts[i]
		if !ok {
			line = -1
		}
		row(i, e.intern(op.Name()), e.loc(op.Loc()), line, int32(s.states[op]))
		if s.states[op] != same {
			for _, rule := range s.step.Made[op] {
				d.Made = append(d.Made, [2]int32{i, e.intern(rule)})
			}
		}
		d.Results = append(d.Results, int32(op.NumResults()))
		for k, v := range op.Results() {
			text := typeText(v.Type())
			d.Types = append(d.Types, e.intern(text))
			if k == 0 { // f32[2,3] for tensor<2x3xf32>
				u.items[i].wide = max(u.items[i].wide, int32(min(len(text)-len("tensor"), 24)))
			}
		}
		d.Uses = append(d.Uses, int32(op.NumOperands()))
		for k, v := range op.Operands() {
			if v == nil {
				d.Operands = append(d.Operands, -1)
				continue
			}
			from := u.value(s, v)
			d.Operands = append(d.Operands, from)
			for w := range graph.Targets(op.OperandUse(k)) {
				d.Flow = append(d.Flow, from, u.value(s, w))
			}
		}
		if f := graph.Callee(op); f != nil {
			d.Callee = append(d.Callee, [2]int32{i, s.items[f]})
		}
		if text := detail(op); text != "" {
			d.Detail = append(d.Detail, [2]int32{i, e.intern(text)})
		}
		for r, region := range op.Regions() {
			for k, b := range region.Blocks() {
				body := u.bodies[bodyKey{i, r, k}]
				for n, v := range b.Args() {
					if name := t.names[u.value(s, v)]; name != "" && strings.HasPrefix(u.items[body.args[n]].label, "arg") {
						u.items[body.args[n]].label = name
					}
					row(body.args[n], e.intern(v.Name()), e.loc(v.Loc()), line, 0)
					d.Results = append(d.Results, 1)
					d.Types = append(d.Types, e.intern(typeText(v.Type())))
					d.Uses = append(d.Uses, 0)
				}
				for op := range b.Ops() {
					visit(op)
				}
			}
		}
	}
	visit(m.Op())
	d.Removed = append(d.Removed, s.removed...)
	d.Chain = append([]int32{}, e.chain(s)...)
	d.Lines, d.Values = t.lines, append([]int32{}, t.values...)
	values := make([]int32, 0, len(t.names))
	for v := range t.names {
		values = append(values, v)
	}
	slices.Sort(values)
	for _, v := range values {
		d.NameOf = append(d.NameOf, v, e.intern(t.names[v]))
	}
	for v, name := range e.writtenNames(s) {
		if name != t.names[v] {
			d.Written = append(d.Written, v, e.intern(name))
		}
	}
	return d
}

// writtenNames returns the values of a step with their names in the file of the module, "" for none, such as those of
// ops that passes have added. Only these names are known to the user and to taps.
func (e *encoder) writtenNames(s *stepItems) iter.Seq2[int32, string] {
	src := s.step.Module.Source()
	if src != nil && src.Binary() {
		src = nil
	}
	return func(yield func(int32, string) bool) {
		more := true
		s.step.Module.Walk(func(op *ir.Op) bool {
			if op.NumResults() > 0 {
				for _, v := range op.Results() {
					key := written{src, op.Pos(), v.Index(), v.Name()}
					name, ok := e.written[key]
					if !ok {
						name = probe.NameOf(src, v)
						e.written[key] = name
					}
					more = more && yield(e.u.value(s, v), name)
				}
			}
			for _, r := range op.Regions() {
				for _, b := range r.Blocks() {
					for _, v := range b.Args() {
						more = more && yield(e.u.value(s, v), probe.NameOf(src, v))
					}
				}
			}
			return more
		})
	}
}

// maxType is the length in bytes of a type that the page shows.
const maxType = 300

func typeText(t ir.Type) string {
	s := t.String()
	if len(s) > maxType {
		s = strings.ToValidUTF8(s[:maxType], "") + "…"
	}
	return s
}

// detail returns a short text beside the name of an op: a symbol, a custom call's target, the value of a scalar, the
// op of a compact region.
func detail(op *ir.Op) string {
	if s, ok := op.Attr(ir.SymbolName).(*ir.StringAttr); ok {
		return "@" + s.Value()
	}
	if s, ok := op.Attr(stablehlo.AttrCallTargetName).(*ir.StringAttr); ok {
		return "@" + s.Value()
	}
	if f := op.Def().Flow; f != nil && f.Callee != "" {
		if s, ok := op.Attr(f.Callee).(*ir.SymbolRefAttr); ok {
			return s.String()
		}
	}
	if v, ok := op.Attr(stablehlo.AttrValue).(*ir.DenseAttr); ok && op.NumOperands() == 0 {
		if text := literal(v); text != "" {
			return text
		}
	}
	if d := op.Attr(stablehlo.AttrComparisonDirection); d != nil {
		text := d.String()
		return strings.Trim(text[strings.LastIndexAny(text, " .<")+1:], ">")
	}
	return ""
}

// literal returns the text of a splat or of a short list of numbers.
func literal(v *ir.DenseAttr) string {
	if len(v.Text()) > 64 {
		return ""
	}
	t, _, err := v.Elements()
	if err != nil || t.NumElements() == 0 || t.NumElements() > 4 || t.DType().IsComplex() {
		return ""
	}
	var parts []string
	for i := range t.NumElements() {
		switch d := t.DType(); {
		case d == tensor.I1:
			parts = append(parts, strconv.FormatBool(t.IntAt(i) != 0))
		case d.IsFloat():
			parts = append(parts, strconv.FormatFloat(t.FloatAt(i), 'g', 6, 64))
		default:
			parts = append(parts, strconv.FormatInt(t.IntAt(i), 10))
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// hooks encodes the hooks.
func (e *encoder) hooks(d *Document) {
	if d.Hooks == nil || d.Hooks.Manifest == nil || len(d.Hooks.Manifest.Sites) == 0 {
		return
	}
	h := &hookData{Proof: d.Hooks.Proof, byID: map[hook.ID]int32{}, origins: map[int32]int32{}}
	for i := range d.Hooks.Manifest.Sites {
		s := &d.Hooks.Manifest.Sites[i]
		h.byID[s.ID] = int32(i)
		place, _ := hook.PlaceOf(s.Loc)
		x := siteData{ID: s.ID.String(), Name: s.Name, Kind: s.Kind.String(), Format: s.Format, Loc: s.Loc, Place: place.String(), Chained: s.Chained}
		for _, t := range s.Operands {
			x.Types = append(x.Types, t.String())
		}
		h.Sites = append(h.Sites, x)
	}
	pairs := func(edges []hook.Edge) [][2]int32 {
		out := make([][2]int32, 0, len(edges))
		for _, x := range edges {
			out = append(out, [2]int32{h.byID[x.From], h.byID[x.To]})
		}
		return out
	}
	h.Aliases = []aliasData{}
	h.Order, h.Data = pairs(d.Hooks.Manifest.Edges), pairs(d.Hooks.Data)
	for _, a := range d.Hooks.Aliases {
		verdict, _ := json.Marshal(a.Verdict)
		h.Aliases = append(h.Aliases, aliasData{h.byID[a.Hook], a.Result, a.Operand, strings.Trim(string(verdict), `"`), a.Reason, a.Bytes})
	}
	first := e.u.steps[0]
	first.step.Module.Walk(func(op *ir.Op) bool {
		for id, list := range d.Hooks.Origins {
			if op.Pos().IsValid() && slices.Contains(list, op.Pos()) {
				h.origins[first.items[op]] = h.byID[id]
			}
		}
		return true
	})
	e.data.Hooks = h
}

// hookItems returns the hook of each op of a step that is one.
func (e *encoder) hookItems(s *stepItems) map[int32]int32 {
	h := e.data.Hooks
	if h == nil {
		return nil
	}
	out := map[int32]int32{}
	if s == e.u.steps[0] {
		for i, n := range h.origins {
			out[i] = n
		}
	}
	s.step.Module.Walk(func(op *ir.Op) bool {
		id, ok := hookID(op)
		if n, known := h.byID[id]; ok && known {
			out[s.items[op]] = n
		}
		return true
	})
	return out
}

// hookID returns the id of a raised or lowered hook.
func hookID(op *ir.Op) (hook.ID, bool) {
	if h, ok := hookop.AsHook(op); ok {
		return h.ID(), true
	}
	if !op.IsOrMirrors(stablehlo.CustomCall) || !irutil.IsTarget(op, hook.Target) {
		return 0, false
	}
	c, _ := op.Attr(stablehlo.AttrBackendConfig).(*ir.DictAttr)
	return hook.ID(view.Int(c.Get("id"))), c != nil
}

// chain returns the values that order the hooks of a step: the first result of a chained hook, and all values that it
// becomes.
func (e *encoder) chain(s *stepItems) []int32 {
	if e.data.Hooks == nil {
		return nil
	}
	graph := flow.Of(s.step.Module, func(*ir.Op) {})
	seen := map[*ir.Value]bool{}
	var queue []*ir.Value
	push := func(v *ir.Value) {
		if v != nil && !seen[v] {
			seen[v] = true
			queue = append(queue, v)
		}
	}
	s.step.Module.Walk(func(op *ir.Op) bool {
		id, ok := hookID(op)
		n, known := e.data.Hooks.byID[id]
		if ok && known && e.data.Hooks.Sites[n].Chained && op.NumResults() > 0 && op.NumOperands() > 0 {
			push(op.Result(0))
			push(op.Operand(0))
		}
		return true
	})
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		for use := range v.Uses() {
			for w := range graph.Targets(use) {
				push(w)
			}
		}
		for use := range graph.Sources(v) {
			push(use.Value())
		}
	}
	var out []int32
	for v := range seen {
		out = append(out, e.u.value(s, v))
	}
	slices.Sort(out)
	return out
}
