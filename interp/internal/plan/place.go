package plan

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// The planner places the results of kernels in one arena per frame. Two values share bytes of the arena if they are
// never live at the same time, or if a kernel overwrites one with the other. The arena of a called function is a part
// of its caller's arena. Values that leave their block come from the pool, because the plan does not know when they
// die: results, operands of calls, values that a loop carries, and operands of hooks.

const alignment = 64 // bytes of a cache line

// maxBytes limits the sizes that are added up. Sums of two never overflow.
const maxBytes = 1 << 61

// unit is memory that holds one value after another: values that overwrite each other or share their payload.
type unit struct {
	size       int // in the arena
	bytes      int // of a value
	begin, end int // positions of the first and the last instruction that need it
	lasting    int // number of values whose last use is at end
	pool       bool
	carried    bool   // by a loop
	sure       bool   // a run needs it: a kernel in the body of the function makes it
	at         int    // offset in the arena
	op         *ir.Op // makes the first value
	typ        string
	dtype      tensor.DType
}

// placer places the values of one function.
type placer struct {
	f     *exec.Function
	args  map[int32]kernel.Type // the function's arguments by slot
	now   int                   // position: the number of the instruction, or of the end of an instruction with blocks
	ends  []int                 // by slot: the position of the last use
	home  []*exec.Block
	stack []*level
	units []*unit
	of    []*unit // by slot; nil: the memory belongs to somebody else
	at    map[*exec.Instr]span
	frame map[*exec.Instr]*unit // the arenas of calls
	pool  []int64               // by position: bytes from the pool, at most
}

// span is the first and the last position of an instruction.
type span struct{ begin, end int }

// level is a block whose instructions are visited.
type level struct {
	block    *exec.Block
	captured []int32 // slots of the block that blocks of its current instruction use
}

// place gives the results of f's kernels their places, and states the memory that f needs. limit is the memory limit of
// a run, or 0. reusable says whether a call may overwrite argument i.
func place(f *exec.Function, limit int64, reusable func(i int) bool) {
	p := &placer{f: f, ends: make([]int, f.Nslots), home: make([]*exec.Block, f.Nslots), of: make([]*unit, f.Nslots),
		at: map[*exec.Instr]span{}, frame: map[*exec.Instr]*unit{}, args: map[int32]kernel.Type{}}
	for i, s := range f.Body.Args {
		if i < len(f.Args) && reusable(i) {
			p.args[s] = f.Args[i]
		}
	}
	p.lifetimes(f.Body)
	p.pool = make([]int64, p.now+1)
	p.share(f.Body, true)
	p.escape(f.Body.Ret)
	f.Memory.Arena = p.assign()
	p.set(f.Body)
	p.count()
	p.peak(limit)
	f.Memory.Known = true
}

// lifetimes finds the last use of each slot.
func (p *placer) lifetimes(b *exec.Block) {
	l := &level{block: b}
	p.stack = append(p.stack, l)
	p.define(b, b.Args)
	for i := range b.Instrs {
		ins := &b.Instrs[i]
		p.now++
		begin := p.now
		p.use(ins.In)
		p.use(ins.Captures)
		if ins.Scalars != nil {
			for _, o := range ins.Scalars.Outside {
				p.use([]int32{o.Slot})
			}
		}
		if ins.Effect == exec.Nests {
			for _, inner := range ins.Blocks {
				p.lifetimes(inner)
			}
			p.now++
			p.use(ins.Captures)
			for _, s := range l.captured {
				p.ends[s] = p.now
			}
			l.captured = l.captured[:0]
		}
		p.at[ins] = span{begin, p.now}
		p.define(b, ins.Out)
	}
	p.now++
	p.use(b.Ret)
	p.stack = p.stack[:len(p.stack)-1]
}

// define notes that b defines the slots here.
func (p *placer) define(b *exec.Block, slots []int32) {
	for _, s := range slots {
		p.home[s], p.ends[s] = b, max(p.ends[s], p.now)
	}
}

// use notes a use of the slots here. A use in an inner block lasts until the instruction with that block ends, because
// the block may execute again.
func (p *placer) use(slots []int32) {
	for _, s := range slots {
		p.ends[s] = max(p.ends[s], p.now)
		for _, l := range p.stack[:len(p.stack)-1] {
			if l.block == p.home[s] {
				l.captured = append(l.captured, s)
			}
		}
	}
}

// share finds the units. body says that b is the body of the function.
func (p *placer) share(b *exec.Block, body bool) {
	for i := range b.Instrs {
		ins := &b.Instrs[i]
		at := p.at[ins]
		switch {
		case ins.Kernel != nil:
			p.kernel(ins, at.begin, body)
			continue
		case ins.Fixed:
			continue
		case ins.Effect == exec.Forwards:
			for i, s := range ins.Out {
				if u := p.unit(ins.In[i]); u != nil {
					p.join(u, s)
				}
			}
			continue
		case ins.Effect == exec.Nests:
			p.nested(ins, at)
		default:
			p.escape(ins.Captures)
			for _, inner := range ins.Blocks {
				p.pool[at.begin] += valuesOf(inner)
			}
		}
		p.pool[at.begin] += ins.Scratch
		p.escape(ins.In)
		if f := ins.Callee; f != nil && f.Memory.Known {
			u := p.add(unit{size: f.Memory.Arena, begin: at.begin, end: at.begin, op: ins.Op, typ: "the frame"})
			p.frame[ins] = u
			p.pool[at.begin] += f.Memory.Pool
		}
		for i, s := range ins.Out {
			if i < len(ins.Types) && ins.Types[i].Class == kernel.ClassTensor && ins.Types[i].N >= 0 {
				u := p.add(unit{size: ins.Types[i].Bytes(), begin: at.end, end: at.end, pool: true, op: ins.Op, typ: ins.Types[i].String(), dtype: ins.Types[i].DType})
				p.join(u, s)
			}
		}
	}
}

// kernel finds the units of a kernel's results: the unit of an operand that the result overwrites, or a new one.
func (p *placer) kernel(ins *exec.Instr, at int, body bool) {
	p.pool[at] += ins.Kernel.Scratch
	taken := uint64(0)
	for i, s := range ins.Out {
		t := &ins.Types[i]
		fresh := unit{size: t.Bytes(), begin: at, end: at, op: ins.Op, typ: t.String(), dtype: t.DType, sure: body}
		var u *unit
		for j, o := range ins.In {
			if j >= 64 || ins.Kernel.Overwrites(i)&^taken&(1<<j) == 0 || !ins.Move[j] {
				continue
			}
			over := p.unit(o)
			if over == nil {
				// The caller may pass an argument that the result can overwrite.
				arg, ok := p.args[o]
				fresh.pool = fresh.pool || ok && arg.Bytes() == t.Bytes()
			} else if over.bytes == t.Bytes() && over.dtype == t.DType && p.ends[o] == at && (over.carried || over.end == at && over.lasting == 1) {
				u, taken = over, taken|1<<j
				over.sure = over.sure && body
				break
			}
		}
		if u == nil {
			u = p.add(fresh)
		}
		p.join(u, s)
	}
}

// valuesOf returns the bytes of all values of a block and its inner blocks.
func valuesOf(b *exec.Block) int64 {
	var size int64
	for i := range b.Instrs {
		for _, t := range b.Instrs[i].Types {
			if t.Class == kernel.ClassTensor && t.N > 0 {
				size += int64(t.Bytes())
			}
		}
		size += b.Instrs[i].Scratch
		if k := b.Instrs[i].Kernel; k != nil {
			size += k.Scratch
		}
		for _, inner := range b.Instrs[i].Blocks {
			size += valuesOf(inner)
		}
	}
	return size
}

// nested finds the units of a loop or a branch.
func (p *placer) nested(ins *exec.Instr, at span) {
	for i := range ins.In {
		if i >= len(ins.Blocks[0].Args) { // the index of a branch
			break
		}
		t := ins.Types[i]
		if t.Class != kernel.ClassTensor || t.N < 0 {
			continue
		}
		carried := p.add(unit{size: t.Bytes(), begin: at.begin + 1, end: at.end - 1, pool: true, carried: true, op: ins.Op, typ: t.String(), dtype: t.DType})
		for _, b := range ins.Blocks {
			p.join(carried, b.Args[i])
		}
	}
	for _, b := range ins.Blocks {
		p.share(b, false)
		p.escape(b.Ret)
	}
}

func (p *placer) add(u unit) *unit {
	u.bytes = u.size
	p.units = append(p.units, &u)
	return &u
}

// unit returns the unit of a slot, or nil.
func (p *placer) unit(s int32) *unit { return p.of[s] }

// join makes the value of slot s a part of u.
func (p *placer) join(u *unit, s int32) {
	p.of[s] = u
	switch end := p.ends[s]; {
	case end > u.end || u.lasting == 0:
		u.end, u.lasting = max(u.end, end), 1
	case end == u.end:
		u.lasting++
	}
}

// escape makes the slots' values come from the pool.
func (p *placer) escape(slots []int32) {
	for _, s := range slots {
		if u := p.unit(s); u != nil {
			u.pool = true
		}
	}
}

// set writes the places of the results into the instructions.
func (p *placer) set(b *exec.Block) {
	for i := range b.Instrs {
		ins := &b.Instrs[i]
		if u := p.frame[ins]; u != nil {
			ins.Frame = u.at
		}
		if ins.Effect == exec.Nests {
			for _, inner := range ins.Blocks {
				p.set(inner)
			}
		}
		if ins.Kernel == nil {
			continue
		}
		places := make([]exec.Place, len(ins.Out))
		placed := false
		for k, s := range ins.Out {
			u := p.unit(s)
			places[k] = exec.Place{Over: -1, At: -1}
			if u.pool {
				continue
			}
			placed = true
			for j, o := range ins.In {
				if p.unit(o) == u {
					places[k].Over = j
				}
			}
			if places[k].Over < 0 {
				places[k].At = u.at
			}
		}
		if placed {
			ins.Places = places
		}
	}
}

// assign gives each unit of the arena its offset, the largest unit first, in the smallest gap between the units that
// are live at the same time. It returns the size of the arena.
func (p *placer) assign() int {
	var units []*unit
	for _, u := range p.units {
		if !u.pool && u.size > 0 {
			u.size = (min(u.size, maxBytes) + alignment - 1) &^ (alignment - 1)
			units = append(units, u)
		}
	}
	t := newTimeline(units)
	slices.SortStableFunc(units, func(a, b *unit) int { return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.begin, b.begin)) })
	size := 0
	var live []extent
	for _, u := range units {
		live = t.live(live[:0], u)
		slices.SortFunc(live, func(a, b extent) int { return a.at - b.at })
		u.at = -1
		free, gap := 0, 0
		for _, o := range live {
			if n := o.at - free; n >= u.size && (u.at < 0 || n < gap) {
				u.at, gap = free, n
			}
			free = max(free, o.at+o.size)
		}
		if u.at < 0 {
			u.at = free
		}
		kernel.FailIf(u.at > maxBytes, "needs more memory than there can be")
		size = max(size, u.at+u.size)
		t.add(u)
	}
	return size
}

// extent is the memory of a unit in the arena.
type extent struct{ at, size int }

// timeline finds the units that are live at the same time as another: a tree over the units by their begin, whose nodes
// have the latest end of the units that were added.
type timeline struct {
	units []*unit // by begin
	index map[*unit]int
	ends  []int // node i has the children 2i and 2i+1
	first int   // the node of units[0]
}

func newTimeline(units []*unit) *timeline {
	t := &timeline{units: slices.Clone(units), index: map[*unit]int{}, first: 1}
	slices.SortStableFunc(t.units, func(a, b *unit) int { return cmp.Compare(a.begin, b.begin) })
	for i, u := range t.units {
		t.index[u] = i
	}
	for t.first < len(units) {
		t.first *= 2
	}
	t.ends = make([]int, 2*t.first) // positions begin at 1
	return t
}

func (t *timeline) add(u *unit) {
	for i := t.first + t.index[u]; i > 0; i /= 2 {
		t.ends[i] = max(t.ends[i], u.end)
	}
}

// live appends the memory of the added units that are live at the same time as u to out.
func (t *timeline) live(out []extent, u *unit) []extent {
	n := sort.Search(len(t.units), func(i int) bool { return t.units[i].begin > u.end })
	var visit func(node, from, size int)
	visit = func(node, from, size int) {
		switch {
		case from >= n || t.ends[node] < u.begin:
		case size == 1:
			out = append(out, extent{t.units[from].at, t.units[from].size})
		default:
			visit(2*node, from, size/2)
			visit(2*node+1, from+size/2, size/2)
		}
	}
	visit(1, 0, t.first)
	return out
}

// count adds up the values that come from the pool.
func (p *placer) count() {
	for i, n := range p.sum(func(u *unit) bool { return u.pool }) {
		p.pool[i] += n
	}
	m := &p.f.Memory
	m.Pool = slices.Max(p.pool)
	m.Least = int64(m.Arena) + slices.Max(p.sum(func(u *unit) bool { return u.pool && u.sure }))
}

// sum returns the bytes of the units that counts selects, by position.
func (p *placer) sum(counts func(*unit) bool) []int64 {
	more := make([]int64, p.now+2) // than at the position before
	for _, u := range p.units {
		if counts(u) {
			size := int64(min(u.size, maxBytes/(len(p.units)+1)))
			more[u.begin] += size
			more[u.end+1] -= size
		}
	}
	for i := 1; i < len(more); i++ {
		more[i] += more[i-1]
	}
	return more[:p.now+1]
}

// shown is the number of values that describe the peak.
const shown = 3

// peak finds the op at which the values need the most memory, or more than a limit that a run surely exceeds, and the
// largest of these values.
func (p *placer) peak(limit int64) {
	total := p.sum(func(u *unit) bool { return !u.pool })
	for i, n := range p.pool {
		total[i] += n
	}
	m := &p.f.Memory
	most := 0
	for i, n := range total {
		if n > total[most] {
			most = i
		}
		if limit > 0 && m.Least > limit && total[most] > limit {
			break // here the run would end
		}
	}
	var live []*unit
	for _, u := range p.units {
		if u.begin <= most && most <= u.end && u.size > 0 {
			live = append(live, u)
			if m.At == nil || u.begin == most {
				m.At = u.op
			}
		}
	}
	slices.SortStableFunc(live, func(a, b *unit) int { return cmp.Compare(b.size, a.size) })
	m.Others = max(0, len(live)-shown)
	for _, u := range live[:min(shown, len(live))] {
		m.Largest = append(m.Largest, exec.Live{Op: u.op, Type: u.typ, Bytes: u.bytes})
	}
}

// CheckMemory fails if a run of f surely needs more than the memory limit.
func (prog *Compiler) CheckMemory(f *exec.Function) {
	m := &f.Memory
	need := m.Least + prog.Constants
	if prog.limit <= 0 || need <= prog.limit || m.At == nil {
		return
	}
	defer prog.locate(m.At)
	kernel.Fail(fmt.Errorf("needs %d bytes for live values and constants: %s; the memory limit is %d", need, describe(m), prog.limit))
}

// describe lists the largest values at the peak, with the lines of their ops.
func describe(m *exec.Memory) string {
	var b strings.Builder
	for i, v := range m.Largest {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s of %s", v.Type, v.Op.Name())
		if line := lineOf(v.Op); line > 0 {
			fmt.Fprintf(&b, " in line %d", line)
		}
		fmt.Fprintf(&b, " (%d bytes)", v.Bytes)
	}
	if m.Others > 0 {
		fmt.Fprintf(&b, " and %d more", m.Others)
	}
	return b.String()
}

// lineOf returns the line of an op in its file, or 0.
func lineOf(o *ir.Op) int {
	src := o.Module().Source()
	if src == nil || !o.Pos().IsValid() || src.Binary() {
		return 0
	}
	line, _ := src.LineColumn(o.Pos())
	return line
}
