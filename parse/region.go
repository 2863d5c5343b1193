package parse

import (
	"github.com/hlocb/hlocb/ir"
)

// ParseRegion implements ir.AsmParser.
func (p *parser) ParseRegion(args ...ir.Argument) *ir.Region {
	if !p.is('{') {
		p.Errorf("expected '{' to begin a region")
	}
	return p.region(args)
}

// ParseOptionalRegion implements ir.AsmParser.
func (p *parser) ParseOptionalRegion(args ...ir.Argument) *ir.Region {
	if !p.is('{') {
		return nil
	}
	return p.region(args)
}

// region reads { ... } whose entry block has the given arguments.
func (p *parser) region(args []ir.Argument) *ir.Region {
	p.deeper()
	defer func() { p.depth-- }()
	r := p.m.NewRegion()
	f := p.ops.frames[p.ops.level-1]
	def := f.st.Def
	p.next()
	if p.is('}') && len(args) == 0 {
		p.next()
		return r
	}
	isolated := def.Has(ir.IsolatedFromAbove)
	around := p.values.scope
	p.pushScope(isolated)
	outer := p.values.blocks
	p.values.blocks = nil
	if f.generic { // as in MLIR, a generic op keeps the default dialect
		p.ops.defaults = append(p.ops.defaults, p.ops.defaults[len(p.ops.defaults)-1])
	} else {
		p.ops.defaults = append(p.ops.defaults, def.DefaultDialect)
	}

	if p.tok.kind != tokCaret || len(args) > 0 {
		entry := r.AddBlock()
		for _, a := range args {
			_, dup := p.values.scope.lookup(a.Name)
			if !dup && isolated { // as in MLIR, the argument cannot hide a value
				_, dup = around.lookup(a.Name)
			}
			if dup {
				p.ErrorfAt(a.Pos, "region entry argument '%%%s' is already in use", a.Name)
			}
			p.defineArg(entry, a)
		}
		if p.tok.kind == tokCaret {
			if len(args) > 0 && entry.First() == nil {
				p.Errorf("invalid block name in region with named arguments")
			}
		}
		p.blockBody(entry)
	}
	for p.tok.kind == tokCaret {
		p.block(r)
	}
	if !p.is('}') {
		p.unexpected("expected '}' in region")
	}
	if labels := p.values.blocks; labels != nil {
		for _, l := range labels.order {
			if !l.defined {
				p.ErrorfAt(l.pos, "reference to an undefined block")
			}
		}
	}
	p.next()
	p.ops.defaults = p.ops.defaults[:len(p.ops.defaults)-1]
	p.values.blocks = outer
	p.popScope()
	return r
}

// defineArg adds an argument to b.
func (p *parser) defineArg(b *ir.Block, a ir.Argument) {
	v := b.AddArg(a.Type, a.Loc)
	v.SetPos(a.Pos)
	if c := a.Name[0]; c > '9' || c < '0' {
		v.SetName(str(a.Name))
	}
	p.bind(a.Name, binding{val: v, n: 1, pos: a.Pos})
}

// block reads ^name(%a: T, ...): and the ops after it.
func (p *parser) block(r *ir.Region) {
	l := p.label()
	if l.defined {
		p.Errorf("redefinition of block '%s'", l.name)
	}
	l.defined = true
	r.InsertBlock(len(r.Blocks()), l.block)
	p.next()
	if p.is('(') {
		p.next()
		for more := !p.is(')'); more; more = p.comma() {
			o := p.ParseOperand()
			p.expectIn(':', "expected ':' and type for SSA operand")
			a := ir.Argument{Operand: o, Type: p.ParseType()}
			a.Loc = p.ParseOptionalLoc()
			p.defineArg(l.block, a)
		}
		p.expectIn(')', "expected ')' to end argument list")
	}
	p.expectIn(':', "expected ':' after block name")
	p.blockBody(l.block)
}

// blockBody reads ops up to the next label or the end of the region.
func (p *parser) blockBody(b *ir.Block) {
	for p.tok.kind != tokCaret && !p.is('}') {
		if p.tok.kind == tokEOF {
			p.unexpected("expected operation name in quotes")
		}
		p.operationOrSkip(b)
	}
}

// ParseSuccessor implements ir.AsmParser.
func (p *parser) ParseSuccessor() *ir.Block {
	if p.tok.kind != tokCaret {
		p.Errorf("expected block name")
	}
	if len(p.ops.defaults) == 1 { // outside all regions
		p.Errorf("reference to an undefined block")
	}
	l := p.label()
	p.next()
	return l.block
}
