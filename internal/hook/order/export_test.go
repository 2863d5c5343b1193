package order

import "github.com/hlocb/hlocb/hook"

// AllEdges returns the edges of the chains with those past loops and branches that Chain leaves out.
func (p *Paths) AllEdges() []hook.Edge {
	whole := *p
	whole.all = true
	return whole.Chain()
}

// Steps returns how many values the paths visited.
func (p *Paths) Steps() int { return p.steps }
