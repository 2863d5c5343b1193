package ir

// SymbolName is the attribute that holds the name of a symbol.
const SymbolName = "sym_name"

// Symbols maps the names of the symbols directly in a symbol table op to their ops. It is a snapshot.
type Symbols map[string]*Op

// SymbolsOf returns the symbols in the first region of table.
func SymbolsOf(table *Op) Symbols {
	s := Symbols{}
	for _, r := range table.Regions() {
		for _, b := range r.blocks {
			for o := b.first; o != nil; o = o.next {
				if name, ok := o.Attr(SymbolName).(*StringAttr); ok {
					s[name.value] = o
				}
			}
		}
	}
	return s
}

// SymbolTableOf returns the op whose symbols o's attributes name: the innermost op around o that is a SymbolTable. It
// returns nil for the module op and in a tree of detached ops.
func SymbolTableOf(o *Op) *Op {
	for p := o.Parent(); p != nil; p = p.Parent() {
		if p.def.Has(SymbolTable) {
			return p
		}
	}
	return nil
}

// SymbolTables finds symbols by references. It remembers the symbols of each table at the first look into it. The zero
// value is ready to use.
type SymbolTables struct{ tables map[*Op]Symbols }

// Of returns the symbols of table as they were at the first call.
func (t *SymbolTables) Of(table *Op) Symbols {
	s, ok := t.tables[table]
	if !ok {
		if s = SymbolsOf(table); t.tables == nil {
			t.tables = map[*Op]Symbols{}
		}
		t.tables[table] = s
	}
	return s
}

// Path appends the symbols that ref names for an attribute of from, outermost first: one per part of the reference,
// fewer if the next symbol does not exist. The first is a symbol of SymbolTableOf(from).
//
// An op of an unknown kind may be a symbol table, and a symbol table may name its own symbols. If such an op is from or
// around it and holds a symbol of the name, then certain is false, and Path appends this symbol and the symbol that the
// reference names otherwise.
func (t *SymbolTables) Path(list []*Op, from *Op, ref *SymbolRefAttr) (path []*Op, certain bool) {
	certain = true
	for p := from; p != nil; p = p.Parent() {
		isTable := p.def.Has(SymbolTable)
		if p.parts == nil || !isTable && !p.def.unknown {
			continue
		}
		sure := isTable && p != from
		if o := t.Of(p)[ref.root]; o != nil {
			list = append(list, o)
			for _, name := range ref.nested {
				if o = t.Of(o)[name]; o == nil {
					break
				}
				list = append(list, o)
			}
			certain = certain && sure
		}
		if sure {
			break
		}
	}
	return list, certain
}

// Lookup returns the symbol that ref names for an attribute of from, or nil if there is none or it is not certain.
func (t *SymbolTables) Lookup(from *Op, ref *SymbolRefAttr) *Op {
	var buf [4]*Op
	path, certain := t.Path(buf[:0], from, ref)
	if !certain || len(path) != 1+len(ref.nested) {
		return nil
	}
	return path[len(path)-1]
}

// Unique returns base, or the first unused name of base_0, base_1, ..., and reserves it for o.
func (s Symbols) Unique(base string, o *Op) string {
	name := base
	for i := 0; s[name] != nil; i++ {
		name = base + "_" + itoa(i)
	}
	s[name] = o
	return name
}

// Namer finds names for many new symbols of one table. It takes time for the symbols of the table once.
type Namer struct {
	symbols Symbols
	next    map[string]int // the first number that may be free, by base
}

// NewNamer returns a Namer for table, to which nothing else adds symbols meanwhile.
func NewNamer(table *Op) *Namer { return &Namer{SymbolsOf(table), map[string]int{}} }

// Unique is Symbols.Unique.
func (n *Namer) Unique(base string, o *Op) string {
	name := base
	for n.symbols[name] != nil {
		name = base + "_" + itoa(n.next[base])
		n.next[base]++
	}
	n.symbols[name] = o
	return name
}
