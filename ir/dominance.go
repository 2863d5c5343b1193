package ir

// dominators is the dominator tree of a region. It contains the blocks that branches from the entry reach.
type dominators map[*Block]dominator

// dominator is the position of a block in the dominator tree.
type dominator struct {
	parent *Block // the immediate dominator; for the entry, the block itself
	order  int    // in reverse postorder: a dominator comes before the blocks that it dominates
}

// Dominates reports whether v is available to o by MLIR's rules. v must be defined before o, or before an op around o,
// in the same block or in a block that dominates that block. In a graph region the order within a block does not
// matter. Values from outside are not available inside an op that is IsolatedFromAbove.
func (v *Value) Dominates(o *Op) bool {
	from := v.ParentBlock()
	if from == nil {
		return false // v is erased, or its op is detached
	}
	for p := o; p != nil && p.Block() != nil; p = p.Parent() {
		switch {
		case p.block == from:
			return v.op == nil || v.op.order < p.order || graphRegion(from.region)
		case p.block.region == from.region && from.region != nil:
			return from.Dominates(p.block)
		}
		if parent := p.Parent(); parent == nil || parent.Has(IsolatedFromAbove) {
			return false
		}
	}
	return false
}

// graphRegion reports whether the order of ops in r does not matter: r has one block, and its op has the GraphRegion
// trait or an unknown kind.
func graphRegion(r *Region) bool {
	return r != nil && r.op != nil && len(r.blocks) == 1 && r.op.MightHave(GraphRegion)
}

// Dominates reports whether every path from the entry of their region to c passes through b. A block dominates itself.
// Every block dominates an unreachable block. An unreachable block dominates no reachable block.
func (b *Block) Dominates(c *Block) bool {
	if b == c {
		return true
	}
	if b.region != c.region || b.region == nil {
		return false
	}
	tree := b.region.dominators()
	at, ok := tree[c]
	if !ok {
		return true
	}
	top, ok := tree[b]
	if !ok {
		return false
	}
	for at.order > top.order {
		c, at = at.parent, tree[at.parent]
	}
	return b == c
}

// Reachable reports whether a path of branches leads from the entry of its region to b.
func (b *Block) Reachable() bool {
	if b.region == nil || b == b.region.Entry() {
		return true
	}
	_, ok := b.region.dominators()[b]
	return ok
}

// branched says that a block of r, or a branch between blocks, was added or removed.
func (r *Region) branched() {
	if r != nil && r.tree.Load() != nil {
		r.tree.Store(nil)
	}
}

// branches reports whether o, which may be nil, has successors.
func branches(o *Op) bool { return o != nil && o.parts != nil && len(o.parts.successors) > 0 }

// dominators returns the dominator tree of r (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", 2001).
// Goroutines that read r at the same time may each compute the tree.
func (r *Region) dominators() dominators {
	if t := r.tree.Load(); t != nil {
		return *t
	}
	order := postorder(r.Entry())
	number := map[*Block]int{} // in reverse postorder
	preds := make([][]int, len(order))
	for i, b := range order {
		number[b] = len(order) - 1 - i
	}
	for _, b := range order {
		for _, s := range b.successors() {
			if to, ok := number[s]; ok {
				preds[to] = append(preds[to], number[b])
			}
		}
	}
	parent := make([]int, len(order))
	for i := range parent {
		parent[i] = -1
	}
	parent[0] = 0
	for changed := true; changed; {
		changed = false
		for i := 1; i < len(parent); i++ {
			up := -1
			for _, p := range preds[i] {
				switch {
				case parent[p] < 0:
				case up < 0:
					up = p
				default:
					up = common(parent, up, p)
				}
			}
			if parent[i] != up {
				parent[i], changed = up, true
			}
		}
	}
	t := make(dominators, len(order))
	for b, i := range number {
		t[b] = dominator{order[len(order)-1-parent[i]], i}
	}
	r.tree.Store(&t)
	return t
}

// common returns the nearest common ancestor of two blocks.
func common(parent []int, a, b int) int {
	for a != b {
		if a > b {
			a = parent[a]
		} else {
			b = parent[b]
		}
	}
	return a
}

// postorder returns the blocks reachable from entry. Each block comes after its successors, except along loops back.
func postorder(entry *Block) []*Block {
	type visit struct {
		b    *Block
		next int
	}
	var out []*Block
	seen := map[*Block]bool{entry: true}
	stack := []visit{{entry, 0}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		list := top.b.successors()
		if top.next == len(list) {
			out = append(out, top.b)
			stack = stack[:len(stack)-1]
			continue
		}
		top.next++
		if s := list[top.next-1]; !seen[s] && s.region == entry.region {
			seen[s] = true
			stack = append(stack, visit{s, 0})
		}
	}
	return out
}

// successors returns the blocks that b may branch to.
func (b *Block) successors() []*Block {
	if b.last == nil {
		return nil
	}
	return b.last.Successors()
}
