package ir

// Dominates exports dominates for tests.
func (b *Block) Dominates(c *Block) bool { return b.dominates(c) }

// Erased exports erased for tests.
func (r *Region) Erased() bool { return r.erased }

// Erased exports erased for tests.
func (b *Block) Erased() bool { return b.erased }

// CloneOp returns a detached copy of o and everything in its regions.
func (m *Module) CloneOp(o *Op, mapping map[*Value]*Value) *Op {
	return (&cloner{m: m, values: mapping}).copyTree(o)
}
