package ir

// BlockDominates exports blockDominates for tests.
func (d *Dominance) BlockDominates(a, b *Block) bool { return d.blockDominates(a, b) }

// Erased exports erased for tests.
func (r *Region) Erased() bool { return r.erased }

// Erased exports erased for tests.
func (b *Block) Erased() bool { return b.erased }
