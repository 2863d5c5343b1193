package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// Source loads one side of a comparison repeatedly, because each search step adds probes to a new module.
type Source struct {
	Load    func(ctx context.Context) (*hlocb.Program, error) // a fresh module
	Backend runtime.Backend
	Options func() ([]hlocb.CompileOption, error) // new handlers
}

// Difference is the first op whose value differs between two sides.
type Difference struct {
	A, B             *ir.Op
	ModuleA, ModuleB *ir.Module
	Result           int // index of the result
	Execution        int // how often the op had run before on its device
	Value            *Comparison
	Probed           int // probed values, in all steps
}

// probeBytes limits the size of the values that one search step probes; each op counts once.
const probeBytes = 256 << 20

// scope is a list of blocks to search, found by a path from the module or from a function.
type scope struct {
	path []int // the position of an op in its block and of the region in the op, alternately
	fn   string
}

// Bisect finds the first op, in the order of execution, whose value differs: first in main, then in the region or
// function of that op, and so on. It returns nil if no observable value differs.
//
// Bisect pairs ops by position if both blocks have equally many ops with the same result types, otherwise by kind,
// result types and position among ops of that kind. It skips hooks. A probe keeps a compiler from fusing across its
// value, so a difference that fusion causes can vanish.
func Bisect(ctx context.Context, a, b *Source, args []*tensor.Tensor, tol Tolerance) (*Difference, error) {
	at := [2]scope{}
	var best *Difference
	probed := 0
	for depth := 0; ; depth++ {
		found, n, err := search(ctx, [2]*Source{a, b}, at, args, tol)
		if err != nil {
			return nil, err
		}
		probed += n
		if found == nil {
			break
		}
		best = found
		next, ok := inside([2]*ir.Op{found.A, found.B}, at)
		if !ok || depth > 1000 {
			break
		}
		at = next
	}
	if best != nil {
		best.Probed = probed
	}
	return best, nil
}

// blocks returns the blocks of a scope.
func (s scope) blocks(m *ir.Module) ([]*ir.Block, error) {
	var f fn.FuncOp
	var err error
	if s.fn == "" {
		f, err = fn.Entry(m)
	} else {
		var ok bool
		if f, ok = fn.Lookup(m, s.fn); !ok {
			err = fmt.Errorf("the module has no function @%s", s.fn)
		}
	}
	if err != nil {
		return nil, err
	}
	regions := f.Regions()
	for i := 0; i+1 < len(s.path); i += 2 {
		op := regions[s.path[i]].Entry().First()
		for range s.path[i+1] {
			op = op.Next()
		}
		regions = op.Regions()
	}
	var out []*ir.Block
	for _, r := range regions {
		if e := r.Entry(); e != nil {
			out = append(out, e)
		}
	}
	return out, nil
}

// inside returns the scopes that two ops execute, their regions or callees. ok is false if no op there can be observed.
func inside(op [2]*ir.Op, at [2]scope) (next [2]scope, ok bool) {
	for i, op := range op {
		switch {
		case op.Is(fn.Call):
			next[i].fn = fn.Callee(op)
		case len(op.Regions()) > 0 && op.Region(0).Entry() != nil && flow.InOrder(op.Region(0).Entry()):
			region := slices.Index(op.Block().Parent().Regions(), op.Block().Region())
			next[i].fn = at[i].fn
			next[i].path = append(slices.Clone(at[i].path), region, sourcePosition(op))
		default:
			return next, false
		}
	}
	return next, true
}

// sourcePosition returns the position of op in its block, without counting probes.
func sourcePosition(op *ir.Op) int {
	n := 0
	for o := op.Block().First(); o != op; o = o.Next() {
		if !isProbe(o) {
			n++
		}
	}
	return n
}

const probeMark = "verify"

func isProbe(op *ir.Op) bool {
	cfg, _ := op.Attr(stablehlo.AttrBackendConfig).(*ir.DictAttr)
	s, _ := cfg.Get(format.AttrProbe).(*ir.StringAttr)
	return s != nil && s.Value() == probeMark
}

// pairOps pairs the ops of two lists of blocks, in the order of the first list.
func pairOps(a, b []*ir.Block) [][2]*ir.Op {
	type kind struct {
		block   int
		name    string
		results string
		number  int
	}
	list := func(blocks []*ir.Block) (ops []*ir.Op, kinds []kind) {
		count := map[kind]int{}
		for i, block := range blocks {
			for op := range block.Ops() {
				if !probeable(op) {
					continue
				}
				k := kind{block: i, name: op.Name()}
				for _, r := range op.Results() {
					k.results += r.Type().String() + " "
				}
				n := count[k]
				count[k]++
				k.number = n
				ops, kinds = append(ops, op), append(kinds, k)
			}
		}
		return ops, kinds
	}
	oa, ka := list(a)
	ob, kb := list(b)
	// Pair blocks of the same shape by position, even if their ops differ.
	alike := len(ka) == len(kb)
	for i := 0; alike && i < len(ka); i++ {
		alike = ka[i].block == kb[i].block && ka[i].results == kb[i].results
	}
	of := map[kind]*ir.Op{}
	for i, k := range kb {
		of[k] = ob[i]
	}
	var out [][2]*ir.Op
	for i, k := range ka {
		if alike {
			out = append(out, [2]*ir.Op{oa[i], ob[i]})
		} else if of[k] != nil {
			out = append(out, [2]*ir.Op{oa[i], of[k]})
		}
	}
	return out
}

// probeable reports whether op computes a value worth a probe: hooks and constants do not.
func probeable(op *ir.Op) bool {
	switch op.Def().Original() {
	case stablehlo.Constant, stablehlo.Iota, stablehlo.Infeed, stablehlo.Recv, hookop.Hook:
		return false
	case stablehlo.CustomCall:
		if t, _ := op.Attr(stablehlo.AttrCallTargetName).(*ir.StringAttr); t != nil && t.Value() == hook.Target {
			return false
		}
	}
	return slices.ContainsFunc(op.ResultList(), format.CanTap)
}

// search probes the ops directly in a scope, as many per run as fit, and returns the first that differs.
func search(ctx context.Context, src [2]*Source, at [2]scope, args []*tensor.Tensor, tol Tolerance) (*Difference, int, error) {
	for from := 0; ; {
		var programs [2]*hlocb.Program
		var blocks [2][]*ir.Block
		for i, s := range src {
			var err error
			if programs[i], err = s.Load(ctx); err != nil {
				return nil, from, err
			}
			if blocks[i], err = at[i].blocks(programs[i].Module()); err != nil {
				return nil, from, err
			}
		}
		pairs := pairOps(blocks[0], blocks[1])
		to, size := from, int64(0)
		for to < len(pairs) && (to == from || size < probeBytes) {
			size += probedBytes(pairs[to][0])
			to++
		}
		if to == from {
			return nil, from, nil
		}
		found, err := searchPart(ctx, src, programs, pairs[from:to], args, tol)
		if found != nil || err != nil {
			return found, to, err
		}
		from = to
	}
}

// probe is the value that a tap observes.
type probe struct {
	op     int // among the pairs
	result int
}

func searchPart(ctx context.Context, src [2]*Source, programs [2]*hlocb.Program, pairs [][2]*ir.Op, args []*tensor.Tensor, tol Tolerance) (*Difference, error) {
	events, sites, err := runProbes(ctx, src, programs, pairs, args)
	if err != nil {
		return nil, err
	}
	return firstDifferent(programs, pairs, sites, events, tol), nil
}

// runProbes runs both programs with probes on the results of pairs of ops. It returns the events, and the probe of each
// site.
func runProbes(ctx context.Context, src [2]*Source, programs [2]*hlocb.Program, pairs [][2]*ir.Op, args []*tensor.Tensor) (events [2][]Event, sites [2]map[hook.ID]probe, err error) {
	for i := range src {
		sites[i] = map[hook.ID]probe{}
		if err := programs[i].Edit(func(m *ir.Module) error { return addProbes(m, pairs, i, sites[i]) }); err != nil {
			return events, sites, err
		}
		opts, err := src[i].Options()
		if err != nil {
			return events, sites, err
		}
		side := Side{Program: programs[i], Backend: src[i].Backend, Options: opts}
		exe, err := side.Compile(ctx)
		if err != nil {
			return events, sites, fmt.Errorf("with probes: %w", err)
		}
		out, err := exe.Run(ctx, args)
		if err = errors.Join(err, exe.Close()); err != nil {
			return events, sites, fmt.Errorf("with probes: %w", err)
		}
		events[i] = out.Events
	}
	return events, sites, nil
}

// addProbes taps the results of one side's ops and records in sites the value of each tap.
func addProbes(m *ir.Module, pairs [][2]*ir.Op, side int, sites map[hook.ID]probe) error {
	prober, err := format.NewProber(m)
	if err != nil {
		return err
	}
	for n := range pairs {
		op := pairs[n][side]
		for k := op.NumResults() - 1; k >= 0; k-- {
			if !format.CanTap(op.Result(k)) {
				continue
			}
			v := op.Result(k)
			_, id := prober.Insert(prober.After(v), hook.Tap, v, prober.Names([]string{"probe"})[0],
				ir.AttrList{{Name: format.AttrProbe, Attr: ir.NewString(probeMark)}})
			sites[id] = probe{n, k}
		}
	}
	return nil
}

// notExecuted replaces the type of a value that the second side computes less often than the first.
const notExecuted = "no execution"

// eachPair calls f with each event x of the first side, the number of executions of its op before, and the event y of
// the second side. y is nil if the second side executes the op less often. Ops that the second side never executes do
// not count: XLA removes the condition of a loop whose trips it has counted, so its values cannot be observed there. If
// only one side takes a branch, the branch's condition differs itself.
func eachPair(sites [2]map[hook.ID]probe, events [2][]Event, f func(p probe, execution int, x, y *Event)) {
	type place struct {
		device int
		probe
	}
	other := map[place][]*Event{}
	for i := range events[1] {
		e := &events[1][i]
		if p, ok := sites[1][e.Site.ID]; ok {
			k := place{e.Device, p}
			other[k] = append(other[k], e)
		}
	}
	count := map[place]int{}
	for i := range events[0] {
		e := &events[0][i]
		p, ok := sites[0][e.Site.ID]
		if !ok {
			continue
		}
		k := place{e.Device, p}
		n := count[k]
		count[k]++
		switch seen := other[k]; {
		case n < len(seen):
			f(p, n, e, seen[n])
		case len(seen) > 0:
			f(p, n, e, nil)
		}
	}
}

// firstDifferent returns the probe that differs in the earliest execution of its block and, among several, the first in
// the block.
func firstDifferent(programs [2]*hlocb.Program, pairs [][2]*ir.Op, sites [2]map[hook.ID]probe, events [2][]Event, tol Tolerance) *Difference {
	var best *Difference
	bestOp := 0
	eachPair(sites, events, func(p probe, n int, x, y *Event) {
		if best != nil && (n > best.Execution || n == best.Execution && p.op >= bestOp) {
			return
		}
		c := &Comparison{Type: hook.TypeOf(x.Operands[0]).String(), OtherType: notExecuted}
		if y != nil {
			c = Compare(x.Operands[0], y.Operands[0], tol)
		}
		if !c.Equal() {
			best = &Difference{A: pairs[p.op][0], B: pairs[p.op][1], ModuleA: programs[0].Module(), ModuleB: programs[1].Module(),
				Result: p.result, Execution: n, Value: c}
			bestOp = p.op
		}
	})
	return best
}
