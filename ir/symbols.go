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

// Unique returns base, or the first unused name of base_0, base_1, ..., and reserves it for o.
func (s Symbols) Unique(base string, o *Op) string {
	name := base
	for i := 0; s[name] != nil; i++ {
		name = base + "_" + itoa(i)
	}
	s[name] = o
	return name
}
