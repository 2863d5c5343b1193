package ir

// BlockDominates exports blockDominates for tests.
func (d *Dominance) BlockDominates(a, b *Block) bool { return d.blockDominates(a, b) }
