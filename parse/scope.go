package parse

import (
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// scope holds the values that are visible in an isolated region and the regions nested in it.
type scope struct {
	parent  *scope
	nums    []binding // %0, %1, ...
	names   map[string]binding
	log     []string // names in the order of definition, to take back those of a nested region
	numLog  []int32  // of nested regions, and of numbers far above the count of values
	dense   int      // the other numbers are below
	bound   int      // how many numbers were bound
	order   []logMark
	forward map[use]*forwardValue
	fwdSeq  []use
	start   int // where in the text it begins
}

// logMark is the state of the logs where a nested region starts.
type logMark struct{ names, nums int }

// binding is what a name stands for: n values from val on, results of one op, or a block argument.
type binding struct {
	val *ir.Value
	n   int32
	pos diag.Pos
}

// use names one value: %name#index.
type use struct {
	name  string
	index int
}

// forwardValue stands for a value that is used in front of its definition.
type forwardValue struct {
	val *ir.Value
	pos diag.Pos
}

// maxNums bounds the table of numbered values by what the text can define.
func (p *parser) maxNums() int { return len(p.lexer.src)/4 + 64 }

// number returns the value of a name made of decimal digits only, without leading zeros.
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

func (s *scope) lookup(name []byte) (b binding, ok bool) {
	if n, isNum := number(name); isNum {
		if n < len(s.nums) {
			b = s.nums[n]
			return b, b.n > 0
		}
		b, ok = s.names[string(name)]
		return b, ok
	}
	b, ok = s.names[string(name)]
	return b, ok
}

func (p *parser) bind(name []byte, b binding) {
	s := p.scope
	n, isNum := number(name)
	if isNum && n < len(s.nums) && s.nums[n].n > 0 {
		p.redefined(name, b, s.nums[n])
	}
	if isNum && n < p.maxNums() {
		if n >= cap(s.nums) {
			grown := make([]binding, len(s.nums), p.moreNums(n))
			copy(grown, s.nums)
			s.nums = grown
		}
		if n >= len(s.nums) {
			s.nums = s.nums[:n+1] // what is behind the length is zero: popScope clears what was used
		}
		s.nums[n] = b
		if s.bound++; len(s.order) > 1 || n > 8*s.bound+1024 {
			s.numLog = append(s.numLog, int32(n))
		} else {
			s.dense = max(s.dense, n+1)
		}
	} else {
		key := str(name)
		if old, dup := s.names[key]; dup {
			p.redefined(name, b, old)
		}
		s.names[key] = b
		s.log = append(s.log, key)
	}
	if len(s.forward) > 0 {
		p.resolveForward(name, b)
	}
}

// moreNums returns how many numbered values to prepare for where there are n already: where there are many, as many as
// the rest of the text will have if it goes on like that, so that a large table is not copied again and again.
func (p *parser) moreNums(n int) int {
	if n < 4096 {
		return max(64, 2*n, min(len(p.lexer.src)/80, 8192))
	}
	from := p.scope.start
	rate := float64(n) / float64(max(p.tok.start-from, 1))
	return max(n+n/4, min(p.maxNums(), int(1.02*rate*float64(len(p.lexer.src)-from))))
}

func (p *parser) redefined(name []byte, b, old binding) {
	d := diag.Errorf(p.source, b.pos, "redefinition of SSA value '%%%s'", name)
	panic(bailout{d.Note(old.pos, "previously defined here")})
}

// resolveForward puts the values of a new binding in the place of those that stood for them.
func (p *parser) resolveForward(name []byte, b binding) {
	s := p.scope
	for i := range int(b.n) {
		key := use{str(name), i}
		f := s.forward[key]
		if f == nil {
			continue
		}
		v := b.value(i)
		if v.Type() != f.val.Type() && !p.guessed[f.val] && !p.adopt(v, f.val.Type()) {
			d := diag.Errorf(p.source, f.pos, "definition of SSA value '%%%s#%d' has type '%s'", name, i, v.Type())
			panic(bailout{d.Note(f.pos, "previously used here with type %s", f.val.Type())})
		}
		f.val.ReplaceAllUsesWith(v)
		delete(s.forward, key)
	}
}

func (b *binding) value(i int) *ir.Value {
	if i == 0 {
		return b.val
	}
	return b.val.DefiningOp().Result(b.val.Index() + i)
}

// pushScope starts a region: isolated ones see nothing of what is around.
func (p *parser) pushScope(isolated bool) {
	if !isolated {
		s := p.scope
		s.order = append(s.order, logMark{len(s.log), len(s.numLog)})
		return
	}
	var s *scope
	if n := len(p.free); n > 0 {
		s = p.free[n-1]
		p.free = p.free[:n-1]
	} else {
		s = &scope{names: map[string]binding{}}
	}
	s.parent, s.start = p.scope, p.tok.start
	s.order = append(s.order, logMark{})
	p.scope = s
}

// popScope ends a region. At the end of an isolated one every value used must be defined.
func (p *parser) popScope() {
	s := p.scope
	mark := s.order[len(s.order)-1]
	s.order = s.order[:len(s.order)-1]
	for _, name := range s.log[mark.names:] {
		delete(s.names, name)
	}
	for _, n := range s.numLog[mark.nums:] {
		s.nums[n] = binding{}
	}
	s.log, s.numLog = s.log[:mark.names], s.numLog[:mark.nums]
	if len(s.order) > 0 {
		return
	}
	if s.dense < 1<<15 {
		clear(s.nums[:s.dense])
		s.nums = s.nums[:0]
	} else {
		s.nums = nil // as likely as not the last function that is so large
	}
	s.dense, s.bound = 0, 0
	if len(s.forward) > 0 {
		for _, key := range s.fwdSeq {
			if f := s.forward[key]; f != nil {
				p.report(diag.Errorf(p.source, f.pos, "use of undeclared SSA value name"))
			}
		}
		clear(s.forward)
	}
	s.fwdSeq = s.fwdSeq[:0]
	p.scope = s.parent
	s.parent = nil
	p.free = append(p.free, s)
}

// ResolveOperand implements ir.AsmParser.
func (p *parser) ResolveOperand(o ir.Operand, t ir.Type) *ir.Value {
	b, ok := p.scope.lookup(o.Name)
	if ok && b.val == nil {
		return p.forwardValue(t) // the definition was refused: any use will do
	}
	if ok {
		if o.Index >= int(b.n) {
			p.ErrorfAt(o.Pos, "reference to invalid result number")
		}
		v := b.value(o.Index)
		if v.Type() != t && !p.adopt(v, t) {
			d := diag.Errorf(p.source, o.Pos, "use of value '%%%s' expects different type than prior uses: '%s' vs '%s'", o.Name, t, v.Type())
			panic(bailout{d.Note(b.pos, "prior use here")})
		}
		return v
	}
	s := p.scope
	key := use{str(o.Name), o.Index}
	if f := s.forward[key]; f != nil {
		if f.val.Type() != t && !p.adopt(f.val, t) {
			d := diag.Errorf(p.source, o.Pos, "use of value '%%%s' expects different type than prior uses: '%s' vs '%s'", o.Name, t, f.val.Type())
			panic(bailout{d.Note(f.pos, "prior use here")})
		}
		return f.val
	}
	if s.forward == nil {
		s.forward = map[use]*forwardValue{}
	}
	f := &forwardValue{val: p.forwardValue(t), pos: o.Pos}
	s.forward[key] = f
	s.fwdSeq = append(s.fwdSeq, key)
	return f.val
}

// forwardValue returns a value that stands for one of type t until its definition is read.
func (p *parser) forwardValue(t ir.Type) *ir.Value {
	return p.m.NewOp(&ir.OpState{Def: p.m.Def("builtin.unrealized_conversion_cast"), Types: []ir.Type{t}}).Result(0)
}

// blockScope holds the labels of one region.
type blockScope struct {
	parent *blockScope
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

// label returns the block of the current token, ^name, making it where it is new.
func (p *parser) label() *label {
	bs := p.blocks
	name := p.text()
	l := bs.labels[string(name)]
	if l == nil {
		l = &label{block: p.m.NewBlock(), pos: p.Pos(), name: string(name)}
		if bs.labels == nil {
			bs.labels = map[string]*label{}
		}
		bs.labels[l.name] = l
		bs.order = append(bs.order, l)
	}
	return l
}
