package plan

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/simd/machine"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/tensor"
)

// Chains of element-wise ops are fused: they execute together, one block of elements at a time. Intermediate values
// stay in the cache and are never stored whole. Broadcasts of scalars, rows and columns are read directly from their
// operands.

const (
	fuseFrom   = 256  // elements of a value below which fusing does not pay
	fuseBlock  = 2048 // elements of a block
	fuseLength = 128  // maximum number of fused ops
)

// schedule returns the ops of b without its terminator, in execution order, with fused ops grouped. An op without side
// effects may execute later than its place in the text, but always before the ops that use it.
func (p *Planner) schedule(b *ir.Block) [][]*ir.Op {
	var out [][]*ir.Op
	var open []*ir.Op
	in := map[*ir.Op]bool{}
	n := 0
	flush := func() {
		if len(open) > 1 && !onlyLoads(open) {
			out = append(out, open)
		} else {
			out = slices.AppendSeq(out, slices.Chunk(open, 1))
		}
		open, n = nil, 0
		clear(in)
	}
	// connected reports whether o uses a result or an operand of the open chain.
	connected := func(o *ir.Op) bool {
		return slices.ContainsFunc(o.OperandList(), func(v *ir.Value) bool { return in[v.DefiningOp()] || usedBy(v, in) })
	}
	for o := b.First(); o != nil && o != b.Last(); o = o.Next() {
		size := p.fusible(o)
		switch {
		case p.absorbed[o]:
		case size == 0:
			if len(open) > 0 && (p.pinned(o) || p.usesAny(o, in)) {
				flush()
			}
			out = append(out, []*ir.Op{o})
		case len(open) > 0 && (size != n || len(open) >= fuseLength || !connected(o) && OpKind(o) != stablehlo.BroadcastInDim && !onlyLoads(open)):
			flush()
			fallthrough
		default:
			open, n = append(open, o), size
			in[o] = true
		}
	}
	flush()
	return out
}

func onlyLoads(ops []*ir.Op) bool {
	return !slices.ContainsFunc(ops, func(o *ir.Op) bool { return OpKind(o) != stablehlo.BroadcastInDim })
}

func (p *Planner) usesAny(o *ir.Op, in map[*ir.Op]bool) bool {
	values := p.operands(o)
	for _, r := range o.Regions() {
		values = append(values, flow.Captures(r)...)
	}
	return slices.ContainsFunc(values, func(v *ir.Value) bool { return in[v.DefiningOp()] })
}

// pinned reports whether all earlier ops must execute before o, because o has effects or is control flow.
func (p *Planner) pinned(o *ir.Op) bool {
	switch OpKind(o) {
	case stablehlo.Reduce, stablehlo.ReduceWindow, stablehlo.Map, stablehlo.Sort, stablehlo.Scatter:
		pure := true
		o.Walk(func(x *ir.Op) bool {
			pure = pure && (IsReturn(x) || p.Prog.table[OpKind(x)].Pure())
			return pure
		})
		return !pure
	case stablehlo.Constant, stablehlo.Reshape, stablehlo.BitcastConvert, stablehlo.Tuple, stablehlo.GetTupleElement:
		return false
	}
	r, ok := p.Prog.table[OpKind(o)]
	return !ok || r.control != nil || len(o.Regions()) > 0
}

// chained reports whether a group executes as a chain. A single op does if it reads a constant with equal elements, so
// that the constant is not stored whole, and if it computes on bf16, so that one loop widens, computes and rounds.
func (p *Planner) chained(ops []*ir.Op) bool {
	o := ops[0]
	return len(ops) > 1 || OpKind(o) != stablehlo.BroadcastInDim && (slices.ContainsFunc(o.OperandList(), isSplat) || p.brain(o)) && p.fusible(o) > 0
}

// brain reports whether o computes on operands of bf16. A conversion is one loop without a chain.
func (p *Planner) brain(o *ir.Op) bool {
	return p.wide == 0 && OpKind(o) != stablehlo.Convert && slices.ContainsFunc(o.OperandList(), func(v *ir.Value) bool { return p.TypeOf(v).DType == tensor.BF16 })
}

// fusible returns the number of elements of o's result if o may be fused, else 0.
func (p *Planner) fusible(o *ir.Op) int {
	r, ok := p.Prog.table[OpKind(o)]
	broadcast := OpKind(o) == stablehlo.BroadcastInDim
	if !ok || !r.elementwise && !broadcast || r.control != nil || o.NumResults() != 1 || len(o.Regions()) != 0 || o.NumOperands() == 0 {
		return 0
	}
	defer p.Prog.locate(o)
	in, out := p.typesOf(o.Operands()), p.typesOf(o.Results())
	n := out[0].N
	if !plain(out[0]) || n < fuseFrom || slices.ContainsFunc(in, func(t kernel.Type) bool { return !plain(t) || !broadcast && t.N != n }) {
		return 0
	}
	if broadcast {
		if newLoad(o, in[0], out[0]) == nil {
			return 0
		}
		return n
	}
	if r.maker(NewSpec(p, o, in, out)).Loop == nil {
		return 0
	}
	return n
}

// typesOf returns the types that values are compiled with.
func (p *Planner) typesOf(values func(func(int, *ir.Value) bool)) []kernel.Type {
	var out []kernel.Type
	for _, v := range values {
		out = append(out, p.TypeOf(v))
	}
	return out
}

// leastCut is the least number of equal elements of a load for which blocks of their own take less time than to fill
// blocks.
const leastCut = 1024

// cutOf returns the number at whose multiples the blocks of a chain end, so that all elements of a load of columns are
// equal in a block: the least one of the loads' columns that are long enough, or 0.
func (p *Planner) cutOf(ops []*ir.Op) int {
	cut := 0
	for _, o := range ops {
		if OpKind(o) != stablehlo.BroadcastInDim {
			continue
		}
		if l := newLoad(o, p.typesOf(o.Operands())[0], p.typesOf(o.Results())[0]); l.mod > 1 && l.div >= leastCut && (cut == 0 || l.div < cut) {
			cut = l.div
		}
	}
	return cut
}

func lcm(a, b int) int {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}

// load reads elements of a broadcast value: element i of the result is element i/div%mod of the operand.
type load struct{ div, mod int }

// newLoad returns the load that reads a broadcast_in_dim, or nil unless the op broadcasts a scalar, a row, a column or
// the middle dimension.
func newLoad(o *ir.Op, in, out kernel.Type) *load {
	dims := BroadcastDimensions(o)
	if in.DType != out.DType || len(dims) != len(in.Shape) {
		return nil
	}
	kernel.CheckDims("broadcast", dims, len(out.Shape))
	src := make([]int, len(out.Shape))
	st := kernel.Strides(in.Shape)
	for i, d := range dims {
		switch {
		case in.Shape[i] == 1:
		case in.Shape[i] != out.Shape[d]:
			return nil
		default:
			src[d] = st[i]
		}
	}
	switch c := kernel.NewStridedCopy(kernel.Ints(out.Shape), kernel.Strides(out.Shape), src); {
	case in.N == 1:
		return &load{1, 1}
	case len(c.Dims) == 2 && c.Src[0] == 0 && c.Src[1] == 1:
		return &load{1, c.Dims[1]}
	case len(c.Dims) == 2 && c.Src[0] == 1 && c.Src[1] == 0:
		return &load{c.Dims[1], c.Dims[0]}
	case len(c.Dims) == 3 && c.Src[0] == 0 && c.Src[1] == 1 && c.Src[2] == 0:
		return &load{c.Dims[2], c.Dims[1]}
	}
	return nil
}

// read fills dst with elements from position at on.
func (l *load) read(size int, dst, src []byte, at int) {
	if l.mod == 1 {
		kernel.Fill(dst, src[:size])
		return
	}
	n := len(dst) / size
	e, rest := at/l.div%l.mod, l.div-at%l.div
	if l.div == 1 && 2*l.mod <= n { // one row, then twice as many each time
		have := copy(dst, src[e*size:l.mod*size])
		have += copy(dst[have:], src[:e*size])
		for have < len(dst) {
			have += copy(dst[have:], dst[:have])
		}
		return
	}
	for i := 0; i < n; {
		if l.div > 1 {
			run := min(n-i, rest)
			kernel.Fill(dst[i*size:(i+run)*size], src[e*size:(e+1)*size])
			if i, rest, e = i+run, l.div, e+1; e == l.mod {
				e = 0
			}
			continue
		}
		run := min(n-i, l.mod-e)
		copy(dst[i*size:(i+run)*size], src[e*size:])
		i, e = i+run, 0
	}
}

// fusedStep is one op of a chain. Its operands and its result are indices into the views: the chain's operands first,
// then the chain's results, then the scratch blocks.
type fusedStep struct {
	loop  kernel.ElementLoop
	lanes *kernel.Lanes // the op as operations of a segment, or nil
	load  *load         // instead of loop
	in    []int
	out   int
	same  bool // of a load in fused.loads: the elements of a block are equal
	code  bool // of a load: only segments with code read its block
}

// fused is the executable form of a chain.
type fused struct {
	in, out  []kernel.Type
	steps    []fusedStep
	segments []segment
	scratch  []tensor.DType // type of each scratch block
	splats   []fusedStep    // loads of scalars, done once
	rows     []fusedStep    // loads of rows, done once: a block is a whole number of rows
	loads    []fusedStep    // other loads, done for each block before the steps
	block    int            // elements of a block
	cut      int            // a block ends at the multiples of cut, if it is not 0; see cutOf
	cost     int            // nanoseconds per element
	states   sync.Pool
	blocks   *sync.Pool // of *[]byte: memory for the scratch blocks of one chain on one core, shared by all chains
}

// fusedState is the state that one core needs to execute a chain.
type fusedState struct {
	views   []tensor.Tensor
	args    [][]*tensor.Tensor // operands of each step
	outs    [][]*tensor.Tensor
	shape   tensor.Shape
	scratch [][]byte
	table   []unsafe.Pointer // of the arrays of a segment
	rest    [][machine.MaxVector]byte
}

func (f *fused) state() *fusedState {
	if s, ok := f.states.Get().(*fusedState); ok {
		return s
	}
	s := &fusedState{views: make([]tensor.Tensor, len(f.in)+len(f.out)+len(f.scratch)), shape: tensor.Shape{0}}
	s.scratch = make([][]byte, len(f.scratch))
	for _, st := range f.steps {
		var args []*tensor.Tensor
		for _, i := range st.in {
			args = append(args, &s.views[i])
		}
		s.args = append(s.args, args)
		s.outs = append(s.outs, []*tensor.Tensor{&s.views[st.out]})
	}
	return s
}

// lend gives s the memory of its scratch blocks.
func (f *fused) lend(s *fusedState) *[]byte {
	size := 0
	for _, d := range f.scratch {
		size += fuseBlock * d.Size()
	}
	memory, _ := f.blocks.Get().(*[]byte)
	if memory == nil || len(*memory) < size {
		b := tensor.New(tensor.I8, tensor.Shape{int64(size)}).Bytes()
		memory = &b
	}
	at := 0
	for i, d := range f.scratch {
		s.scratch[i] = (*memory)[at : at+fuseBlock*d.Size()]
		at += fuseBlock * d.Size()
	}
	return memory
}

// run executes elements [lo, hi) of the chain. The results in out start with element from.
func (f *fused) run(in, out []*tensor.Tensor, lo, hi, from int) {
	s := f.state()
	defer f.states.Put(s)
	memory := f.lend(s)
	defer f.blocks.Put(memory)
	base := len(f.in) + len(f.out)
	f.fillSplats(s, in, hi-lo)
	for _, st := range f.rows {
		size := f.scratch[st.out-base].Size()
		st.load.read(size, s.scratch[st.out-base][:size*min(f.block, hi-lo)], in[st.in[0]].Bytes(), lo)
	}
	view := func(i int, dt tensor.DType, b []byte) { s.views[i].Borrow(dt, s.shape, b) }
	for at, n := lo, 0; at < hi; at += n {
		n = min(f.block, hi-at)
		if f.cut > 0 {
			n = min(n, f.cut-at%f.cut)
		}
		s.shape[0] = int64(n)
		for i, t := range f.in {
			if b := in[i].Bytes(); len(b) == t.Bytes() && t.N == f.out[0].N {
				size := t.DType.Size()
				view(i, t.DType, b[at*size:(at+n)*size])
			}
		}
		for i, t := range f.out {
			size := t.DType.Size()
			view(len(f.in)+i, t.DType, out[i].Bytes()[(at-from)*size:(at-from+n)*size])
		}
		for i, d := range f.scratch {
			view(base+i, d, s.scratch[i][:n*d.Size()])
		}
		for _, st := range f.loads {
			size, b := f.scratch[st.out-base].Size(), s.scratch[st.out-base]
			if st.same && st.code {
				b = b[:machine.MaxVector]
			} else {
				b = b[:n*size]
			}
			if st.same {
				e := at / st.load.div % st.load.mod
				kernel.Fill(b, in[st.in[0]].Bytes()[e*size:(e+1)*size])
			} else {
				st.load.read(size, b, in[st.in[0]].Bytes(), at)
			}
		}
		for i := range f.segments {
			g := &f.segments[i]
			if g.run(s, n) {
				continue
			}
			for k := g.from; k < g.to; k++ {
				st := &f.steps[k]
				if st.load != nil {
					o := s.outs[k][0]
					st.load.read(o.DType().Size(), o.Bytes(), in[st.in[0]].Bytes(), at)
					continue
				}
				st.loop(s.args[k], s.outs[k], 0, n)
			}
		}
	}
	for i := range s.views {
		s.views[i].Borrow(tensor.Invalid, nil, nil)
	}
}

// fillSplats fills the blocks of scalars for n elements. Segments read the first vector of a block, and other steps
// read all elements.
func (f *fused) fillSplats(s *fusedState, in []*tensor.Tensor, n int) {
	base := len(f.in) + len(f.out)
	for _, st := range f.splats {
		size := f.scratch[st.out-base].Size()
		block, src := s.scratch[st.out-base], in[st.in[0]].Bytes()
		if !st.code {
			st.load.read(size, block[:size*min(fuseBlock, n)], src, 0)
			continue
		}
		st.load.read(size, block[:machine.MaxVector], src, 0)
	}
}

// fuse compiles a chain into instruction at of its block.
func (p *Planner) fuse(ops []*ir.Op, at int, b *ir.Block) exec.Instr {
	defer p.Prog.locate(ops[0])
	if last := ops[len(ops)-1]; p.fusible(last) == 0 {
		return p.fold(ops[:len(ops)-1], last, at, b)
	}
	f, ins, masks := p.chain(ops, at, b)
	n := f.out[0].N
	grain := max(20000/max(f.cost, 1), fuseBlock)
	k := kernel.Kernel{Inplace: masks[0], Others: masks[1:], Family: "fused elements", Parts: kernel.Parts{N: n, Grain: grain}, Run: func(in, out []*tensor.Tensor) {
		kernel.Parallel(n, grain, func(lo, hi int) { f.run(in, out, lo, hi, 0) })
	}}
	ins.Kernel, ins.Fused = &k, ops
	return ins
}

// chain compiles a chain into its executable form, the operands and results of its instruction, and the operands that
// each result may overwrite.
func (p *Planner) chain(ops []*ir.Op, at int, b *ir.Block) (f *fused, ins exec.Instr, masks []uint64) {
	ins.Op = ops[len(ops)-1]
	f = &fused{blocks: &p.Prog.blocks}
	// Operands defined outside the chain and results used outside it.
	place := map[*ir.Value]int{}
	lastRead := map[*ir.Value]int{}
	wholly := map[*ir.Value]bool{} // operands that are read element by element, never as a broadcast
	for k, o := range ops {
		types := p.typesOf(o.Operands())
		for i, v := range o.Operands() {
			lastRead[v] = k
			if slices.Contains(ops, v.DefiningOp()) {
				continue
			}
			if _, ok := place[v]; !ok {
				place[v] = len(f.in)
				wholly[v] = true
				f.in = append(f.in, types[i])
				ins.In = append(ins.In, p.slot(v))
				ins.Move = append(ins.Move, p.dies(v, at, b))
				if p.dies(v, at, b) {
					ins.Dead = append(ins.Dead, p.slot(v))
				}
			}
			if OpKind(o) == stablehlo.BroadcastInDim || isSplat(v) {
				wholly[v] = false
			}
		}
	}
	outAt := map[*ir.Value]int{}
	for _, o := range ops {
		v := o.Result(0)
		if !p.stored(v) && v.HasUses() {
			continue
		}
		outAt[v] = len(f.out)
		f.out = append(f.out, p.typesOf(o.Results())...)
		ins.Out = append(ins.Out, p.slot(v))
		if !v.HasUses() {
			ins.Dead = append(ins.Dead, p.slot(v))
		}
	}
	ins.Types = f.out
	base := len(f.in) + len(f.out)
	masks = make([]uint64, len(f.out))
	free := map[tensor.DType][]int{}
	splat := map[*ir.Value]int{}
	same := map[int]bool{} // scratch blocks of equal elements
	kept := map[int]bool{} // scratch blocks that only loads write
	f.block, f.cut = fuseBlock, p.cutOf(ops)
	period := 1
	for k, o := range ops {
		v, types := o.Result(0), p.typesOf(o.Results())
		out := types[0]
		st := fusedStep{out: -1}
		var inplace uint64
		if OpKind(o) == stablehlo.BroadcastInDim {
			st.load = newLoad(o, f.in[place[o.Operand(0)]], out)
			st.in = []int{place[o.Operand(0)]}
			f.cost++
		} else {
			kern := p.kernel(p.Prog.table[OpKind(o)].maker, NewSpec(p, o, p.typesOf(o.Operands()), types))
			st.loop, st.lanes, inplace = kern.Loop, kern.Lanes, kern.Inplace
			f.cost += kern.Cost
			for _, a := range o.Operands() {
				at := place[a]
				if at < len(f.in) && isSplat(a) {
					// Read it from a block that holds copies of its one number for the whole run.
					if _, ok := splat[a]; !ok {
						splat[a] = base + len(f.scratch)
						kept[splat[a]], same[splat[a]] = true, true
						f.splats = append(f.splats, fusedStep{load: &load{1, 1}, in: []int{at}, out: splat[a]})
						f.scratch = append(f.scratch, f.in[at].DType)
					}
					at = splat[a]
				}
				st.in = append(st.in, at)
			}
		}
		if i, ok := outAt[v]; ok {
			st.out = len(f.in) + i
			// The result may overwrite an operand that no later op reads, if this op's kernel allows it.
			for a, at := range place {
				if at >= len(f.in) || !wholly[a] || lastRead[a] > k || at >= 64 {
					continue
				}
				safe := true
				for j, x := range o.Operands() {
					safe = safe && (x != a || inplace&(1<<j) != 0)
				}
				if safe {
					masks[i] |= 1 << at
				}
			}
		} else {
			// Reuse the block of a value that dies here if the kernel works in place.
			for j, a := range o.Operands() {
				at := place[a]
				if st.load == nil && at >= base && lastRead[a] == k && inplace&(1<<j) != 0 && f.scratch[at-base] == out.DType && !kept[at] {
					st.out = at
				}
			}
			if list := free[out.DType]; st.out < 0 && len(list) > 0 && st.load == nil {
				st.out = list[len(list)-1]
				free[out.DType] = list[:len(list)-1]
			}
			if st.out < 0 {
				st.out = base + len(f.scratch)
				f.scratch = append(f.scratch, out.DType)
			}
		}
		place[v] = st.out
		if st.load != nil && st.out >= base {
			kept[st.out] = true
			switch l, rows := st.load, lcm(period, st.load.mod); {
			case l.mod == 1:
				same[st.out] = true
				f.splats = append(f.splats, st)
			case f.cut > 0 && l.div%f.cut == 0:
				st.same, same[st.out] = true, true
				f.loads = append(f.loads, st)
			case f.cut == 0 && l.div == 1 && 2*rows <= fuseBlock:
				period, f.block = rows, fuseBlock/rows*rows
				f.rows = append(f.rows, st)
			default:
				f.loads = append(f.loads, st)
			}
		} else {
			f.steps = append(f.steps, st)
		}
		seen := map[int]bool{st.out: true}
		for _, a := range o.Operands() {
			if at := place[a]; at >= base && lastRead[a] == k && !kept[at] && !seen[at] {
				seen[at] = true
				free[f.scratch[at-base]] = append(free[f.scratch[at-base]], at)
			}
		}
	}
	f.split(same)
	return f, ins, masks
}

// shrink finds the constants with equal elements that only chains use, element by element: a chain reads one element.
func (p *Planner) shrink(groups [][]*ir.Op) {
	chained := map[*ir.Op]bool{}
	for _, ops := range groups {
		for i, o := range ops {
			before, seen := chained[o]
			chained[o] = (before || !seen) && p.chained(ops) && OpKind(o) != stablehlo.BroadcastInDim && (i < len(ops)-1 || p.fusible(o) > 0)
		}
	}
	for _, ops := range groups {
		if o := ops[0]; o.NumResults() == 1 && isSplat(o.Result(0)) {
			p.single[o] = true
			for u := range o.Result(0).Uses() {
				p.single[o] = p.single[o] && chained[u.Owner()]
			}
		}
	}
}

// filled reports whether o is a constant with equal elements that a kernel writes when the run needs it. The plan does
// not hold the elements, and the value dies at its last use like any other.
func (p *Planner) filled(o *ir.Op) bool {
	return p.wide == 0 && o.NumResults() == 1 && !p.single[o] && isSplat(o.Result(0)) && plain(p.TypeOf(o.Result(0))) && p.TypeOf(o.Result(0)).N >= fuseFrom
}

// sink moves filled constants to the first group that uses them.
func (p *Planner) sink(groups [][]*ir.Op) [][]*ir.Op {
	waiting := map[*ir.Op]bool{}
	var out [][]*ir.Op
	emit := func(v *ir.Value) {
		if d := v.DefiningOp(); waiting[d] {
			delete(waiting, d)
			out = append(out, []*ir.Op{d})
		}
	}
	for _, ops := range groups {
		if len(ops) == 1 && p.filled(ops[0]) {
			waiting[ops[0]] = true
			continue
		}
		for _, o := range ops {
			for _, v := range p.operands(o) {
				emit(v)
			}
			for _, r := range o.Regions() {
				for _, v := range flow.Captures(r) {
					emit(v)
				}
			}
		}
		out = append(out, ops)
	}
	for _, ops := range groups { // only the terminator uses them, or nothing
		if waiting[ops[0]] {
			out = append(out, ops)
		}
	}
	return out
}

// isSplat reports whether v is a constant with equal elements.
func isSplat(v *ir.Value) bool {
	o := v.DefiningOp()
	if o == nil || OpKind(o) != stablehlo.Constant {
		return false
	}
	a, ok := o.Attr(stablehlo.AttrValue).(*ir.DenseAttr)
	if !ok {
		return false
	}
	_, splat, err := a.Elements()
	return splat && err == nil
}
