package parse

import (
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// values holds the names of values and blocks that the text can use at the current token.
type values struct {
	scope   *scope             // the innermost one
	scopes  []*scope           // the open ones, from the outermost on, and others to use again
	open    int                // how many are open
	blocks  *blockScope        // nil before the first label of the innermost region
	guessed map[*ir.Value]bool // values whose types the text has not given yet
}

// scope holds the values that are visible in an isolated region and the regions nested in it.
type scope struct {
	nums     []binding // %0, %1, ...
	names    map[string]binding
	log      []string  // the names defined in nested regions; the end of a region removes the names it defined
	numLog   []int32   // the numbers defined in nested regions, and numbers far above the count of values
	unlogged int       // all numbers that are not in numLog are less
	bound    int       // count of bound numbers
	regions  []logMark // the open regions
	forward  map[use]*forwardValue
	uses     []use // uses of forward values, in the order of the text
	start    int   // offset in the text
}

// logMark is the length of the logs at the start of a region.
type logMark struct{ names, nums int }

// binding is the meaning of a name: n results of one op from val on, or a block argument.
type binding struct {
	val *ir.Value // nil if the definition was refused
	n   int32
	pos diag.Pos
}

// use names one value: %name#index.
type use struct {
	name  string
	index int
}

// forwardValue is a placeholder for a value that is used before its definition.
type forwardValue struct {
	val *ir.Value
	pos diag.Pos
}

// maxNums returns the largest size of the table of numbered values: the text cannot define more.
func (p *parser) maxNums() int { return len(p.src)/4 + 64 }

// number returns the value of a name that consists of decimal digits without leading zeros.
func number(name []byte) (n int, ok bool) {
	if len(name) > 9 || len(name) > 1 && name[0] == '0' {
		return 0, false
	}
	for _, c := range name {
		if c-'0' > 9 {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, len(name) > 0
}

// lookup returns the meaning of name, without its '%'.
func (s *scope) lookup(name []byte) (b binding, ok bool) {
	if n, isNum := number(name); isNum && n < len(s.nums) {
		b = s.nums[n]
		return b, b.n > 0
	}
	b, ok = s.names[string(name)]
	return b, ok
}

// bind makes b the meaning of name, which has no '%'.
func (p *parser) bind(name []byte, b binding) {
	s := p.values.scope
	n, isNum := number(name)
	if isNum && n < len(s.nums) && s.nums[n].n > 0 {
		p.redefined(name, b, s.nums[n])
	}
	nested := len(s.regions) > 1
	if isNum && n < p.maxNums() {
		if n >= cap(s.nums) {
			grown := make([]binding, len(s.nums), p.moreNums(n))
			copy(grown, s.nums)
			s.nums = grown
		}
		if n >= len(s.nums) {
			s.nums = s.nums[:n+1] // the new entries are zero: popScope clears the table
		}
		s.nums[n] = b
		if s.bound++; nested || n > 8*s.bound+1024 {
			s.numLog = append(s.numLog, int32(n))
		} else {
			s.unlogged = max(s.unlogged, n+1)
		}
	} else {
		key := str(name)
		if old, dup := s.names[key]; dup {
			p.redefined(name, b, old)
		}
		if s.names == nil {
			s.names = map[string]binding{}
		}
		if s.names[key] = b; nested {
			s.log = append(s.log, key)
		}
	}
	if len(s.forward) > 0 {
		p.resolveForward(name, b)
	}
}

// moreNums returns the capacity to give the table of numbered values if it needs more than n entries. For a large
// table it extrapolates to the end of the text, to avoid copying the table again and again.
func (p *parser) moreNums(n int) int {
	if n < 4096 {
		return max(16, 2*n, min(len(p.src)/80, 8192))
	}
	from := p.values.scope.start
	rate := float64(n) / float64(max(p.tok.start-from, 1))
	return max(n+n/4, min(p.maxNums(), int(1.02*rate*float64(len(p.src)-from))))
}

// redefined fails for a second definition of name.
func (p *parser) redefined(name []byte, b, old binding) {
	d := diag.Errorf(p.source, b.pos, "redefinition of SSA value '%%%s'", name)
	panic(bailout{d.Note(old.pos, "previously defined here")})
}

// resolveForward replaces the placeholders for the values of a new binding.
func (p *parser) resolveForward(name []byte, b binding) {
	s := p.values.scope
	for i := range int(b.n) {
		key := use{str(name), i}
		f := s.forward[key]
		if f == nil {
			continue
		}
		v := b.value(i)
		if v.Type() != f.val.Type() && !p.values.guessed[f.val] && !p.settleGuess(v, f.val.Type()) {
			d := diag.Errorf(p.source, f.pos, "definition of SSA value '%%%s#%d' has type '%s'", name, i, v.Type())
			panic(bailout{d.Note(f.pos, "previously used here with type %s", f.val.Type())})
		}
		f.val.ReplaceAllUsesWith(v)
		delete(s.forward, key)
	}
}

// value returns value i of the binding.
func (b *binding) value(i int) *ir.Value {
	if i == 0 {
		return b.val
	}
	return b.val.DefiningOp().Result(b.val.Index() + i)
}

// pushScope starts a region. An isolated region sees none of the values around it.
func (p *parser) pushScope(isolated bool) {
	if !isolated {
		s := p.values.scope
		s.regions = append(s.regions, logMark{len(s.log), len(s.numLog)})
		return
	}
	v := &p.values
	if v.open == len(v.scopes) {
		v.scopes = append(v.scopes, &scope{regions: make([]logMark, 0, 2)})
	}
	v.scope = v.scopes[v.open]
	v.open++
	v.scope.start = p.tok.start
	v.scope.regions = append(v.scope.regions, logMark{})
}

// leaveScope makes the scope around the innermost one the innermost.
func (v *values) leaveScope() {
	v.scope = nil
	if v.open--; v.open > 0 {
		v.scope = v.scopes[v.open-1]
	}
}

// leaveRegion removes the names that the innermost open region defined.
func (s *scope) leaveRegion() {
	mark := s.regions[len(s.regions)-1]
	s.regions = s.regions[:len(s.regions)-1]
	for _, name := range s.log[mark.names:] {
		delete(s.names, name)
	}
	for _, n := range s.numLog[mark.nums:] {
		s.nums[n] = binding{}
	}
	s.log, s.numLog = s.log[:mark.names], s.numLog[:mark.nums]
}

// popScope ends a region. At the end of an isolated one every value used must be defined.
func (p *parser) popScope() {
	s := p.values.scope
	s.leaveRegion()
	if len(s.regions) > 0 {
		return
	}
	if s.unlogged < 1<<15 {
		clear(s.nums[:s.unlogged])
		s.nums = s.nums[:0]
	} else {
		s.nums = nil // another function of this size is unlikely
	}
	s.unlogged, s.bound = 0, 0
	s.names = nil // faster than to remove the names one by one
	if len(s.forward) > 0 {
		for _, key := range s.uses {
			if f := s.forward[key]; f != nil {
				p.report(diag.Errorf(p.source, f.pos, "use of undeclared SSA value name"))
			}
		}
		clear(s.forward)
	}
	s.uses = s.uses[:0]
	p.values.leaveScope()
}

// ResolveOperand implements ir.AsmParser.
func (p *parser) ResolveOperand(o ir.Operand, t ir.Type) *ir.Value { return p.resolve(&o, t) }

// resolve returns the value that o names, which must have type t.
func (p *parser) resolve(o *ir.Operand, t ir.Type) *ir.Value {
	v, pos, _ := p.value(o, t)
	if v.Type() != t && !p.settleGuess(v, t) {
		d := diag.Errorf(p.source, o.Pos, "use of value '%%%s' expects different type than prior uses: '%s' vs '%s'", o.Name, t, v.Type())
		panic(bailout{d.Note(pos, "prior use here")})
	}
	return v
}

// value returns the value that o names, and the place of its definition or, if the definition comes later, of its first
// use. first is set if o is that first use; the value then has type t.
func (p *parser) value(o *ir.Operand, t ir.Type) (v *ir.Value, pos diag.Pos, first bool) {
	s := p.values.scope
	if b, ok := s.lookup(o.Name); ok {
		if b.val == nil {
			return p.forwardValue(t), b.pos, false // the definition was refused: any use fits
		}
		if o.Index >= int(b.n) {
			p.ErrorfAt(o.Pos, "reference to invalid result number")
		}
		return b.value(o.Index), b.pos, false
	}
	key := use{str(o.Name), o.Index}
	if f := s.forward[key]; f != nil {
		return f.val, f.pos, false
	}
	if s.forward == nil {
		s.forward = map[use]*forwardValue{}
	}
	f := &forwardValue{val: p.forwardValue(t), pos: o.Pos}
	s.forward[key] = f
	s.uses = append(s.uses, key)
	return f.val, f.pos, true
}

// forwardValue returns a placeholder of type t for a value whose definition was not read yet.
func (p *parser) forwardValue(t ir.Type) *ir.Value {
	return p.m.NewOp(&ir.OpState{Def: p.m.Def("builtin.unrealized_conversion_cast"), Types: []ir.Type{t}}).Result(0)
}

// blockScope holds the labels of one region.
type blockScope struct {
	labels map[string]*label
	order  []*label
}

// label is a block that is named somewhere in a region.
type label struct {
	block   *ir.Block
	defined bool
	pos     diag.Pos
	name    string
}

// label returns the block that the current token, ^name, names. It makes the block at its first use.
func (p *parser) label() *label {
	if p.values.blocks == nil {
		p.values.blocks = &blockScope{labels: map[string]*label{}}
	}
	bs := p.values.blocks
	name := str(p.text())
	l := bs.labels[name]
	if l == nil {
		l = &label{block: p.m.NewBlock(), pos: p.Pos(), name: name}
		bs.labels[name] = l
		bs.order = append(bs.order, l)
	}
	return l
}
