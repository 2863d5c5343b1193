package ir

// marks is what an op remembers of its last verification. The zero value: it never was verified.
type marks uint8

const (
	checked  marks = 1 << iota // it was found right, and nothing of its own changed since
	stirred                    // ops or arguments of its blocks came or went since
	moved                      // it or its blocks stand elsewhere since, with everything inside
	renamed                    // symbols of its table came, went or changed since
	relinked                   // it uses other values of the same types since
)

// touch notes that o itself changed.
func (o *Op) touch() { o.marks &^= checked }

// sameKind reports whether what v may be used for, w may be, too, as far as their types and definitions go.
func sameKind(v, w *Value) bool {
	return v != nil && w != nil && v.typ == w.typ && !constantLike(v) && !constantLike(w)
}

// constantLike reports whether v may be a constant, whose value some ops look at.
func constantLike(v *Value) bool { return v.op != nil && v.op.numOperands == 0 }

// touchUsers notes that what the users of v rely on changed.
func (v *Value) touchUsers() {
	for u := v.first; u != nil; u = u.next {
		u.owner.touch()
	}
}

// touchResults notes that what the users of o's results rely on changed.
func (o *Op) touchResults() {
	results := o.results()
	for i := range results {
		results[i].touchUsers()
	}
}

// touchConstant notes that attributes of o changed: some ops look at the constants they are given.
func (o *Op) touchConstant() {
	if o.numOperands == 0 {
		o.touchResults()
	}
}

// stir notes that o came into b or leaves it.
func (b *Block) stir(o *Op) {
	p := b.Parent()
	if p == nil {
		return
	}
	p.marks |= stirred
	if p.def.Has(SymbolTable) && o.attrs().Get(SymbolName) != nil {
		p.marks |= renamed
	}
}

// VerifyChanged is Verify less what an earlier VerifyChanged of the same module found right and what has not changed
// since: an op is checked again where its attributes, operands, results or blocks changed, where what it relies on
// (the definition of an operand, the op around it, a symbol) did, and where anything inside it was checked again. Unlike
// Verify it takes notes in the module and must be the only one to use it meanwhile.
func VerifyChanged(m *Module) error {
	if m.op.marks&checked == 0 { // never verified, or wrong the last time
		err := Verify(m)
		if err == nil {
			m.op.Walk(func(o *Op) bool {
				o.marks = checked
				return true
			})
		}
		return err
	}
	v := &verifier{r: Reporter{ctx: m.ctx, src: m.source, registry: m.registry, symbols: &symbolCache{}}}
	v.changed(m.op, false, symbolsChanged(m.op))
	return v.found()
}

// symbolsChanged reports whether a symbol of table, or of a table in it, came, went or changed.
func symbolsChanged(table *Op) bool {
	if table.marks&renamed != 0 {
		return true
	}
	for _, r := range table.regions() {
		for _, b := range r.blocks.all() {
			for o := b.first; o != nil; o = o.next {
				if o.marks&checked == 0 && o.attrs().Get(SymbolName) != nil || o.def.MightHave(SymbolTable) && symbolsChanged(o) {
					return true
				}
			}
		}
	}
	return false
}

// changed verifies o and what is inside where needed, and reports whether anything was. elsewhere says that something
// around o was moved, so that values from further outside may not be there any more; symbols that references to
// symbols have to be looked up again.
func (v *verifier) changed(o *Op, elsewhere, symbols bool) (any bool) {
	before := len(v.r.list)
	own := o.marks&checked == 0 || symbols && namesSymbol(o)
	around := own || o.marks&stirred != 0
	elsewhere = elsewhere || o.marks&moved != 0
	if own {
		v.namespaced(o)
	}
	if own && !o.def.unknown && len(v.r.list) == before {
		v.row(o)
	}
	if own && o.def.VerifyEntry != nil && len(v.r.list) == before {
		o.def.VerifyEntry(o, &v.r)
	}
	if (around || symbols) && o.def.Has(SymbolTable) {
		v.symbols(o)
	}
	any = around
	for i, r := range o.regions() {
		if around {
			v.blockCount(o, i, r)
		}
		for _, b := range r.blocks.all() {
			b.number()
		}
		for _, b := range r.blocks.all() {
			for n := b.first; n != nil; n = n.next {
				if n.marks&(checked|relinked) == checked && n.regions() == nil && !elsewhere && !symbols && (!around || n != b.last) {
					continue
				}
				found := len(v.r.list)
				if around {
					v.placed(n, b)
				}
				if elsewhere || n.marks&(checked|relinked) != checked {
					v.operandsDominate(n)
				}
				if around && n == b.last {
					n.touch() // what a terminator must look like is up to the op around it
				}
				if v.changed(n, elsewhere, symbols) {
					any = true
				}
				if len(v.r.list) > found {
					n.touch()
				}
			}
			if around {
				v.terminated(o, b)
			}
		}
	}
	if any && len(v.r.list) == before && o.def.Verify != nil {
		o.def.Verify(o, &v.r)
	}
	if len(v.r.list) == before {
		o.marks = checked
	} else {
		o.touch()
	}
	return any
}

// namesSymbol reports whether an attribute of o may name a symbol.
func namesSymbol(o *Op) bool {
	for _, a := range o.attrs() {
		if a.Name != SymbolName && mayName(a.Attr) {
			return true
		}
	}
	return false
}

func mayName(a Attr) bool {
	switch a := a.(type) {
	case *SymbolRefAttr, *DialectAttr, *StringAttr: // dialects and strings may hold the name as text
		return true
	case *ArrayAttr:
		for _, e := range a.elems {
			if mayName(e) {
				return true
			}
		}
	case *DictAttr:
		for _, e := range a.entries {
			if mayName(e.Attr) {
				return true
			}
		}
	}
	return false
}
