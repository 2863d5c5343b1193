package pass

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// ChangeKind says how two modules differ in an op.
type ChangeKind uint8

const (
	Removed ChangeKind = iota // only in the first module
	Added                     // only in the second module
	Changed                   // other operands, attributes or types
	Moved                     // at another place among the ops of its block
)

func (k ChangeKind) String() string { return [...]string{"removed", "added", "changed", "moved"}[k] }

// Change is one difference of two modules.
type Change struct {
	Kind          ChangeKind
	Before, After *ir.Op // nil if the op is only in the other module
}

// Comparison matches the ops and values of two modules.
type Comparison struct {
	Before, After *ir.Module
	Changes       []Change // in the order of the second module, removed ops before the op that follows them

	ops    map[*ir.Op]*ir.Op
	blocks map[*ir.Block]*ir.Block
	hashes map[*ir.Value]uint64
	fresh  uint64
}

// Compare matches the ops of two modules of one ir.Context. Functions match by name. Ops match if they compute the same
// from matched operands, then if they agree in all but their operands, then if they are of one kind; ops that match in
// a weaker way keep their order. It takes about as long as printing both modules.
func Compare(before, after *ir.Module) *Comparison {
	c := &Comparison{Before: before, After: after, ops: map[*ir.Op]*ir.Op{}, blocks: map[*ir.Block]*ir.Block{}, hashes: map[*ir.Value]uint64{}}
	c.pair(before.Op(), after.Op())
	c.hashes = nil
	c.report(before.Op(), after.Op())
	return c
}

// Op returns the op of the second module that matches op of the first one, or nil.
func (c *Comparison) Op(op *ir.Op) *ir.Op { return c.ops[op] }

// Value returns the value of the second module that matches v of the first one, or nil.
func (c *Comparison) Value(v *ir.Value) *ir.Value {
	if op := v.DefiningOp(); op != nil {
		if to := c.ops[op]; to != nil && v.Index() < to.NumResults() {
			return to.Result(v.Index())
		}
		return nil
	}
	if to := c.blocks[v.Block()]; to != nil && v.Index() < len(to.Args()) {
		return to.Arg(v.Index())
	}
	return nil
}

// pair matches two ops and the ops inside them.
func (c *Comparison) pair(a, b *ir.Op) {
	c.ops[a] = b
	for i := range min(len(a.Regions()), len(b.Regions())) {
		from, to := a.Region(i).Blocks(), b.Region(i).Blocks()
		for k := range min(len(from), len(to)) {
			c.blocks[from[k]] = to[k]
			for _, b := range []*ir.Block{from[k], to[k]} {
				for n, v := range b.Args() {
					c.hashes[v] = mix(c.fresh+uint64(n), 1)
				}
			}
			c.fresh += uint64(max(len(from[k].Args()), len(to[k].Args())))
		}
		for k := range min(len(from), len(to)) {
			c.block(from[k], to[k])
		}
	}
}

func mix(h, x uint64) uint64 {
	h = (h ^ x) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// shallowHash returns a hash of op without its operands and regions. The hash of a symbol depends only on its name.
func shallowHash(op *ir.Op) uint64 {
	if s := op.Attr(ir.SymbolName); s != nil && op.Has(ir.Symbol) {
		return mix(hashText(op.Name()), hashText(s.String()))
	}
	h := mix(hashText(op.Name()), uint64(len(op.Regions())))
	for _, a := range op.Attrs() {
		h = mix(mix(h, hashText(a.Name)), ir.HashAttr(a.Attr))
	}
	for _, v := range op.Results() {
		h = mix(h, hashText(v.Type().String()))
	}
	return h
}

func hashText(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// block matches the ops of two blocks.
func (c *Comparison) block(from, to *ir.Block) {
	type entry struct {
		op            *ir.Op
		deep, shallow uint64
		mate          int // index in the other list, or -1
	}
	list := func(b *ir.Block) []entry {
		var out []entry
		for op := range b.Ops() {
			e := entry{op: op, shallow: shallowHash(op), mate: -1}
			e.deep = e.shallow
			if !op.Has(ir.Symbol) {
				for _, v := range op.Operands() {
					e.deep = mix(e.deep, c.hashes[v])
				}
			}
			for i, v := range op.Results() {
				c.hashes[v] = mix(e.deep, uint64(i)+2)
			}
			out = append(out, e)
		}
		return out
	}
	a, b := list(from), list(to)
	where := map[uint64][]int{}
	for j := range b {
		where[b[j].deep] = append(where[b[j].deep], j)
	}
	for i := range a {
		if w := where[a[i].deep]; len(w) > 0 {
			a[i].mate, b[w[0]].mate = w[0], i
			where[a[i].deep] = w[1:]
		}
	}
	// The longest increasing run of matches anchors the lists; the ops between two anchors match in a weaker way.
	mates := make([]int, len(a))
	for i := range a {
		mates[i] = a[i].mate
	}
	anchors := longestIncreasing(mates)
	i0, j0 := 0, 0
	for _, i1 := range append(anchors, len(a)) {
		j1 := len(b)
		if i1 < len(a) {
			j1 = a[i1].mate
		}
		for _, weak := range [...]func(*entry) uint64{func(e *entry) uint64 { return e.shallow }, func(e *entry) uint64 { return hashText(e.op.Name()) }} {
			var x, y []int
			for i := i0; i < i1; i++ {
				if a[i].mate < 0 {
					x = append(x, i)
				}
			}
			for j := j0; j < j1; j++ {
				if b[j].mate < 0 {
					y = append(y, j)
				}
			}
			common(len(x), len(y), func(i, j int) bool { return weak(&a[x[i]]) == weak(&b[y[j]]) && !a[x[i]].op.Has(ir.Symbol) }, func(i, j int) {
				a[x[i]].mate, b[y[j]].mate = y[j], x[i]
			})
		}
		i0, j0 = i1+1, j1+1
	}
	for i := range a {
		if a[i].mate >= 0 {
			c.pair(a[i].op, b[a[i].mate].op)
		}
	}
}

// longestIncreasing returns the positions of a longest increasing sequence in list, without the negative numbers.
func longestIncreasing(list []int) []int {
	var tails []int // positions: tails[k] ends the sequence of length k+1 with the smallest end
	before := make([]int, len(list))
	for i, x := range list {
		if x < 0 {
			continue
		}
		k, _ := slices.BinarySearchFunc(tails, x, func(p, x int) int { return list[p] - x })
		before[i] = -1
		if k > 0 {
			before[i] = tails[k-1]
		}
		if k == len(tails) {
			tails = append(tails, i)
		} else {
			tails[k] = i
		}
	}
	if len(tails) == 0 {
		return nil
	}
	out := make([]int, len(tails))
	for k, i := len(tails)-1, tails[len(tails)-1]; k >= 0; k, i = k-1, before[i] {
		out[k] = i
	}
	return out
}

// common calls match for the pairs of a longest common subsequence of two lists. For long lists, which would take too
// long, it takes the first match of each entry.
func common(n, m int, equal func(i, j int) bool, match func(i, j int)) {
	if n == 0 || m == 0 {
		return
	}
	if n*m > 1<<20 {
		j0 := 0
		for i := 0; i < n && j0 < m; i++ {
			for j := j0; j < min(m, j0+64); j++ {
				if equal(i, j) {
					match(i, j)
					j0 = j + 1
					break
				}
			}
		}
		return
	}
	length := make([]int32, (n+1)*(m+1))
	at := func(i, j int) *int32 { return &length[i*(m+1)+j] }
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if equal(i, j) {
				*at(i, j) = *at(i+1, j+1) + 1
			} else {
				*at(i, j) = max(*at(i+1, j), *at(i, j+1))
			}
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case equal(i, j):
			match(i, j)
			i, j = i+1, j+1
		case *at(i+1, j) >= *at(i, j+1):
			i++
		default:
			j++
		}
	}
}

// report lists the changes in two matched ops.
func (c *Comparison) report(a, b *ir.Op) {
	for i := range max(len(a.Regions()), len(b.Regions())) {
		from, to := opsOf(a, i), opsOf(b, i)
		for k := range max(len(from), len(to)) {
			var olds, news []*ir.Op
			if k < len(from) {
				olds = from[k]
			}
			if k < len(to) {
				news = to[k]
			}
			c.reportBlock(olds, news)
		}
	}
}

// opsOf returns the ops of each block of region i of op. There are none if op has no such region.
func opsOf(op *ir.Op, i int) (blocks [][]*ir.Op) {
	if i < len(op.Regions()) {
		for _, b := range op.Region(i).Blocks() {
			blocks = append(blocks, slices.Collect(b.Ops()))
		}
	}
	return blocks
}

// reportBlock lists the changes from the ops of a block to those of its counterpart.
func (c *Comparison) reportBlock(olds, news []*ir.Op) {
	place := map[*ir.Op]int{}
	for i, op := range news {
		place[op] = i
	}
	mates := make([]int, len(olds))
	index := map[*ir.Op]int{} // of the matching op, by the op of the second module
	for i, op := range olds {
		mates[i] = -1
		if to := c.ops[op]; to != nil {
			mates[i], index[to] = place[to], i
		}
	}
	steady := map[int]bool{}
	for _, i := range longestIncreasing(mates) {
		steady[i] = true
	}
	next := 0
	removed := func(until int) {
		for ; next < until; next++ {
			if mates[next] < 0 {
				c.Changes = append(c.Changes, Change{Kind: Removed, Before: olds[next]})
			}
		}
	}
	for _, op := range news {
		i, ok := index[op]
		if !ok {
			c.Changes = append(c.Changes, Change{Kind: Added, After: op})
			continue
		}
		if steady[i] {
			removed(i)
		}
		old := olds[i]
		switch {
		case !c.sameOp(old, op):
			c.Changes = append(c.Changes, Change{Changed, old, op})
		case !steady[i]:
			c.Changes = append(c.Changes, Change{Moved, old, op})
		}
		c.report(old, op)
	}
	removed(len(olds))
}

// sameOp reports whether two matched ops agree in operands, attributes, types and successors.
func (c *Comparison) sameOp(a, b *ir.Op) bool {
	if a.Def() != b.Def() && a.Name() != b.Name() || a.NumOperands() != b.NumOperands() || a.NumResults() != b.NumResults() ||
		len(a.Regions()) != len(b.Regions()) || len(a.Successors()) != len(b.Successors()) || !ir.EqualAttrLists(a.Attrs(), b.Attrs()) {
		return false
	}
	for i, v := range a.Operands() {
		if c.Value(v) != b.Operand(i) {
			return false
		}
	}
	for i, v := range a.Results() {
		if v.Type() != b.Result(i).Type() {
			return false
		}
	}
	for i, s := range a.Successors() {
		if c.blocks[s] != b.Successors()[i] {
			return false
		}
	}
	for i := range a.Regions() {
		from, to := a.Region(i).Blocks(), b.Region(i).Blocks()
		if len(from) != len(to) {
			return false
		}
		for k := range from {
			if !slices.EqualFunc(from[k].Args(), to[k].Args(), func(v, w *ir.Value) bool { return v.Type() == w.Type() }) {
				return false
			}
		}
	}
	return true
}

// Counts returns the number of changes of each kind as text: "2 removed, 1 changed".
func (c *Comparison) Counts() string {
	var n [Moved + 1]int
	for _, x := range c.Changes {
		n[x.Kind]++
	}
	var parts []string
	for k, n := range n {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, ChangeKind(k)))
		}
	}
	if len(parts) == 0 {
		return "no change"
	}
	return strings.Join(parts, ", ")
}

// Write writes the changes as lines, after a line '@@' with the ops around them. Removed and old ops follow '-', added
// and new ops '+', moved ops '>'. Write omits the regions of an op, and literals of more than 32 elements. Each line
// uses the value names of its module.
func (c *Comparison) Write(w io.Writer) error {
	if len(c.Changes) == 0 {
		return nil
	}
	form := print.Options{LocalScope: true, ElideLarger: 32}
	before, after := print.NewOps(c.Before, form), print.NewOps(c.After, form)
	var b strings.Builder
	line := func(mark string, ops *print.Ops, op *ir.Op) {
		text, _, _ := strings.Cut(ops.Text(op), "\n")
		fmt.Fprintf(&b, "%s %s\n", mark, text)
	}
	last := ""
	for _, x := range c.Changes {
		op := x.After
		if op == nil {
			op = x.Before
		}
		var path []string
		for p := op.Parent(); p != nil && p.Parent() != nil; p = p.Parent() {
			name := p.Name()
			if s, ok := p.Attr(ir.SymbolName).(*ir.StringAttr); ok {
				name += " @" + s.Value()
			}
			path = append(path, name)
		}
		slices.Reverse(path)
		if at := strings.Join(path, " / "); at != last && at != "" {
			fmt.Fprintf(&b, "@@ %s\n", at)
			last = at
		}
		switch x.Kind {
		case Removed:
			line("-", before, x.Before)
		case Added:
			line("+", after, x.After)
		case Moved:
			line(">", after, x.After)
		default:
			line("-", before, x.Before)
			line("+", after, x.After)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Snapshot is a module before and after a pass.
type Snapshot struct {
	Pass          string // with its anchors and options: "func.func(cse)"
	Outcome       Outcome
	Before, After *ir.Module // the same module if the pass reports that it changed nothing
}

// Compare matches the ops and values before the pass with the ops and values after it.
func (s *Snapshot) Compare() *Comparison { return Compare(s.Before, s.After) }

// Recorder is an instrument that keeps a copy of the module before and after each pass.
type Recorder struct {
	Snapshots []Snapshot
	last      *ir.Module
}

// Instrument returns the instrument.
func (r *Recorder) Instrument() Instrument {
	return Instrument{
		Before: func(s Step) {
			if r.last == nil {
				r.last = s.Module.Clone()
			}
		},
		After: func(s Step, o Outcome) {
			shot := Snapshot{Pass: s.Text(), Outcome: o, Before: r.last, After: r.last}
			if o.Changed {
				shot.After = s.Module.Clone()
			}
			r.last = shot.After
			r.Snapshots = append(r.Snapshots, shot)
		},
	}
}

// Text returns the step in pipeline syntax, inside its anchors: "func.func(cse)".
func (s Step) Text() string {
	out := Text(s.Pass)
	for _, a := range slices.Backward(s.Path) {
		out = a + "(" + out + ")"
	}
	return out
}
