package ir

// Dominance determines which values are available to an op. It caches the dominator trees of regions with several
// blocks. After a change of blocks or branches, make a new Dominance.
type Dominance struct {
	trees map[*Region]map[*Block]dominator
}

// dominator is the position of a reachable block in the dominator tree of its region.
type dominator struct {
	parent *Block // the immediate dominator; for the entry, the block itself
	order  int    // in reverse postorder: a dominator comes before the blocks that it dominates
}

// NewDominance returns an empty Dominance.
func NewDominance() *Dominance { return &Dominance{trees: map[*Region]map[*Block]dominator{}} }

// Dominates reports whether v is available to o by MLIR's rules. v must be defined before o, or before an op around o,
// in the same block or in a block that dominates that block. In a graph region the order within a block does not
// matter. Values from outside are not available inside an op that is IsolatedFromAbove.
func (d *Dominance) Dominates(v *Value, o *Op) bool {
	from := v.ParentBlock()
	if from == nil {
		return false // v is erased, or its op is detached
	}
	for p := o; p != nil && p.block != nil; p = p.Parent() {
		switch {
		case p.block == from:
			return v.op == nil || v.op.order < p.order || graphRegion(from.region)
		case p.block.region == from.region && from.region != nil:
			return d.blockDominates(from, p.block)
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

// blockDominates reports whether every path from the entry of their region to b passes through a. A block dominates
// itself. Every block dominates an unreachable block. An unreachable block dominates no reachable block.
func (d *Dominance) blockDominates(a, b *Block) bool {
	if a == b {
		return true
	}
	if a.region != b.region || a.region == nil {
		return false
	}
	tree := d.tree(a.region)
	at, ok := tree[b]
	if !ok {
		return true
	}
	top, ok := tree[a]
	if !ok {
		return false
	}
	for at.order > top.order {
		b, at = at.parent, tree[at.parent]
	}
	return a == b
}

// Reachable reports whether a path of branches leads from the entry of its region to b.
func (d *Dominance) Reachable(b *Block) bool {
	if b.region == nil || b == b.region.Entry() {
		return true
	}
	_, ok := d.tree(b.region)[b]
	return ok
}

// tree returns the dominator tree of r (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", 2001).
func (d *Dominance) tree(r *Region) map[*Block]dominator {
	if t := d.trees[r]; t != nil {
		return t
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
	t := make(map[*Block]dominator, len(order))
	for b, i := range number {
		t[b] = dominator{order[len(order)-1-parent[i]], i}
	}
	d.trees[r] = t
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
