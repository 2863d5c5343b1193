// Package probe selects values of a module by name, op or location, and adds probes to them.
package probe

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
)

// Kinds of probes. Stats and Finite reduce the value where the program runs; only a few bytes cross to the host.
const (
	Print  = "print"
	Stats  = "stats"
	Finite = "finite"
	Record = "record"
)

// Kinds returns the kinds of probes in the order of the help. The first is the default.
func Kinds() []string { return []string{Print, Stats, Finite, Record} }

// Split splits REGEX or REGEX=KIND. The kind is empty if there is none.
func Split(spec string) (pattern, kind string) {
	if i := strings.LastIndexByte(spec, '='); i >= 0 && slices.Contains(Kinds(), spec[i+1:]) {
		return spec[:i], spec[i+1:]
	}
	return spec, ""
}

// Under starts a pattern that selects values by any frame of their location: a line then selects all that its calls
// compute. Other patterns select values by name, op, scope or the innermost frame.
const Under = "under:"

// matcher is a pattern without Under.
type matcher struct {
	*regexp.Regexp
	under bool
}

func matchersOf(patterns []*regexp.Regexp) []matcher {
	out := make([]matcher, len(patterns))
	for i, p := range patterns {
		out[i] = matcher{p, false}
		if rest, ok := strings.CutPrefix(p.String(), Under); ok {
			re, err := regexp.Compile(rest)
			if err != nil {
				re = regexp.MustCompile(regexp.QuoteMeta(rest))
			}
			out[i] = matcher{re, true}
		}
	}
	return out
}

// Tap says which values to probe, and how.
type Tap struct {
	Patterns []*regexp.Regexp // see Under
	Kind     string           // one of Kinds; empty for a hook that no handler of a probe observes
	Sample
}

// Sample selects events of a probe: events 0, Every, 2 Every and so on, and at most First of them. An event is an
// execution of the value's definition, in any run of the executable, counted for each device. Zero means all.
type Sample struct{ Every, First int64 }

// Match says what a pattern selected.
type Match uint8

// Matches.
const (
	Nothing      Match = iota
	Unobservable       // only values that cannot be observed
	Observable
)

// Added describes the probes that Add added for a Tap.
type Added struct {
	IDs     []hook.ID
	Matches []Match // for each pattern
	Values  int     // probed values
	Skipped int     // selected values in functions where no hook can be ordered
}

// Add adds probes to the values that taps select and that can be observed. It returns what it did for each tap.
//
// Finite and the other kinds differ in where the event is: a value of print, stats or record has its own event, right
// after its definition. The values of finite in one block share an event, which comes before the block's next side
// effect, call or loop with probes, and at the latest at the end of the block. No event follows a value that is not
// finite.
func Add(m *ir.Module, taps []Tap) ([]Added, error) {
	prober, err := format.NewProber(m)
	if err != nil {
		return nil, err
	}
	out := make([]Added, len(taps))
	chosen := make([][]*ir.Value, len(taps))
	matchers := make([][]matcher, len(taps))
	for i := range taps {
		out[i].Matches = make([]Match, len(taps[i].Patterns))
		matchers[i] = matchersOf(taps[i].Patterns)
	}
	apart := unordered(m)
	eachValue(m, func(v *ir.Value, op *ir.Op) {
		can := format.CanTap(v) && !IsHook(op)
		inside := can && apart[functionOf(v)]
		can = can && !inside
		for i := range taps {
			matched := false
			for k, p := range matchers[i] {
				if !p.selects(m.Source(), v, op) {
					continue
				}
				matched = true
				if can {
					out[i].Matches[k] = Observable
				} else {
					out[i].Matches[k] = max(out[i].Matches[k], Unobservable)
				}
			}
			switch {
			case matched && can:
				chosen[i] = append(chosen[i], v)
				out[i].Values++
			case matched && inside:
				out[i].Skipped++
			}
		}
	})
	a := &adder{m: m, Prober: prober, whole: leavesValues(m)}
	for i := len(taps) - 1; i >= 0; i-- {
		if taps[i].Kind != Finite || a.whole {
			out[i].IDs = a.addEach(chosen[i], taps[i])
		}
	}
	for i := range taps {
		if taps[i].Kind == Finite && !a.whole {
			var static, bounded []*ir.Value
			for _, v := range chosen[i] {
				if format.CanReduce(v) {
					static = append(static, v)
				} else {
					bounded = append(bounded, v)
				}
			}
			out[i].IDs = append(a.finite(static, taps[i].Sample), a.addEach(bounded, taps[i])...)
		}
	}
	return out, nil
}

// Listed is a value that a probe can observe.
type Listed struct {
	Name string `json:"name,omitempty"` // %name
	Op   string `json:"op"`             // or argument
	Type string `json:"type"`
	Loc  string `json:"loc,omitempty"`
}

// List returns the values of a module that a probe can observe and that a pattern selects. Without patterns it returns
// all of them.
func List(m *ir.Module, patterns ...*regexp.Regexp) []Listed {
	list := []Listed{}
	matchers := matchersOf(patterns)
	eachValue(m, func(v *ir.Value, op *ir.Op) {
		selected := func(p matcher) bool { return p.selects(m.Source(), v, op) }
		if !format.CanTap(v) || IsHook(op) || len(patterns) > 0 && !slices.ContainsFunc(matchers, selected) {
			return
		}
		l := Listed{NameOf(m.Source(), v), "argument", v.Type().String(), locText(v, op)}
		if op != nil {
			l.Op = op.Name()
		}
		list = append(list, l)
	})
	return list
}

// eachValue calls f for every value of a module, with its defining op or nil for a block argument.
func eachValue(m *ir.Module, f func(v *ir.Value, op *ir.Op)) {
	m.Walk(func(op *ir.Op) bool {
		for _, r := range op.Regions() {
			for _, b := range r.Blocks() {
				for _, v := range b.Args() {
					f(v, nil)
				}
			}
		}
		for _, v := range op.Results() {
			f(v, op)
		}
		return true
	})
}

// unordered returns the functions in which no hook can be ordered. Such a function is named by an op that does not
// call it, as in a custom call, or called from a region without a defined order, or called by another such function.
func unordered(m *ir.Module) map[*ir.Op]bool {
	out := map[*ir.Op]bool{}
	g := flow.Of(m, nil)
	for again := true; again; {
		again = false
		for _, f := range g.Functions() {
			if out[f] {
				continue
			}
			bad := g.NamedBy(f) != nil
			for _, c := range g.Callers(f) {
				bad = bad || out[flow.FunctionOf(c)] || !format.CanHold(c)
			}
			if bad {
				out[f], again = true, true
			}
		}
	}
	return out
}

// IsHook reports whether op is a call in hlocb's own format.
func IsHook(op *ir.Op) bool {
	if op == nil || !op.Is(stablehlo.CustomCall) {
		return false
	}
	s, _ := op.Attr(stablehlo.AttrCallTargetName).(*ir.StringAttr)
	return s != nil && s.Value() == hook.Target
}

// functionOf returns the function that a value is in.
func functionOf(v *ir.Value) *ir.Op {
	if op := v.DefiningOp(); op != nil {
		return flow.FunctionOf(op)
	}
	parent := v.ParentBlock().Parent()
	if f := parent.Def().Flow; f != nil && f.Function {
		return parent
	}
	return flow.FunctionOf(parent)
}

// LocText returns the location of a value as MLIR text.
func locText(v *ir.Value, op *ir.Op) string {
	if op != nil {
		return format.LocText(op.Loc())
	}
	return format.LocText(v.Loc())
}

// plainPositions turns the file positions of a location, "step.py":3:8, into step.py:3:8.
var plainPositions = regexp.MustCompile(`"([^"\\]*)":(\d+):(\d+)`)

// selects reports whether a pattern matches a value's name, its op's name, or its location: the innermost frame as MLIR
// writes it, with plain positions, or as lists show it. With Under, only the whole location counts.
func (p matcher) selects(src *diag.Source, v *ir.Value, op *ir.Op) bool {
	l := v.Loc()
	if op != nil {
		l = op.Loc()
	}
	loc := format.LocText(l)
	if p.under {
		return loc != "" && (p.MatchString(loc) || p.MatchString(plainPositions.ReplaceAllString(loc, "$1:$2:$3")))
	}
	name := NameOf(src, v)
	if name == "" && op == nil { // of a module in binary form, which has no names
		name = "%arg" + strconv.Itoa(v.Index())
	}
	if name != "" && p.MatchString(name) || op != nil && p.MatchString(op.Name()) {
		return true
	}
	if loc == "" {
		return false
	}
	inner := innermost(l)
	return p.MatchString(inner) || p.MatchString(plainPositions.ReplaceAllString(inner, "$1:$2:$3")) || p.MatchString(hook.Frame(loc))
}

// innermost returns a location as MLIR text without the frames that call others.
func innermost(l *ir.Loc) string {
	kids := l.Children()
	switch {
	case l.Kind() == ir.LocCallSite && len(kids) > 0:
		return innermost(kids[0])
	case l.Kind() == ir.LocName && len(kids) == 1:
		return strconv.Quote(l.Name()) + "(" + innermost(kids[0]) + ")"
	case l.Kind() == ir.LocFused:
		texts := make([]string, len(kids))
		for i, k := range kids {
			texts[i] = innermost(k)
		}
		return "fused[" + strings.Join(texts, ", ") + "]"
	}
	return format.LocText(l)
}

// NameOf returns %name for a value that has a name in the text it was read from, with #N for one of several results;
// otherwise "".
func NameOf(src *diag.Source, v *ir.Value) string {
	if name := valueName(src, v); name != "" {
		return "%" + name
	}
	return ""
}

// valueName returns the name that a value has in the text it was read from, with #N for one of several results.
func valueName(src *diag.Source, v *ir.Value) string {
	op := v.DefiningOp()
	if op == nil {
		return v.Name()
	}
	name := op.Result(0).Name()
	if name == "" {
		name = writtenName(src, op)
	}
	if name == "" || op.NumResults() == 1 {
		return name
	}
	if own := v.Name(); v.Index() > 0 && own != "" {
		return own
	}
	return name + "#" + strconv.Itoa(v.Index())
}

// results matches the text before an op's position: '%1 = ' or '%out:2 = ', and for ops positioned after their name
// '%1 = stablehlo.reduce'.
var results = regexp.MustCompile(`%([\w.$-]+)(?::\d+)?\s*=\s*(?:"|([\w.]+)\s*)?$`)

// writtenName returns the name of an op's first result in the text of the module. The model does not keep numbers.
func writtenName(src *diag.Source, op *ir.Op) string {
	if src == nil || !op.Pos().IsValid() {
		return ""
	}
	text := src.Text()
	at := min(op.Pos().Offset(), len(text))
	before := text[max(0, at-200):at]
	m := results.FindSubmatch(before[max(0, bytes.LastIndexByte(before, '%')):])
	if m == nil || len(m[2]) > 0 && string(m[2]) != op.Name() { // an op that a name implies, in its region
		return ""
	}
	return string(m[1])
}

// valueLabel returns the name of a probe on v: the value's name if it is not a number, otherwise its op's.
func valueLabel(src *diag.Source, v *ir.Value) string {
	name := valueName(src, v)
	if name != "" && (name[0] < '0' || name[0] > '9') {
		return name
	}
	if v.DefiningOp() == nil {
		return "arg" + strconv.Itoa(v.Index())
	}
	op := v.DefiningOp().Name()
	op = op[strings.LastIndexByte(op, '.')+1:]
	if name != "" {
		return op + "_" + name
	}
	if v.DefiningOp().NumResults() > 1 {
		return fmt.Sprintf("%s#%d", op, v.Index())
	}
	return op
}
