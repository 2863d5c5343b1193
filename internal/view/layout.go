package view

import (
	"cmp"
	"slices"
)

// sweeps is the number of passes over the layers that reduce crossings.
const sweeps = 4

// layers places n nodes, in program order, in layers, and orders each layer. Edges lead from earlier to later nodes;
// others are ignored. early nodes are in the first layer, late nodes in the layer before their first user, and last
// nodes in a layer of their own at the end. The result is the layer and the position in it of each node. It takes
// linear memory, and linear time except for sorting.
func layers(n int, edges [][2]int32, early, late, last func(i int) bool) (layer, order []int32) {
	layer, order = make([]int32, n), make([]int32, n)
	edges = slices.DeleteFunc(slices.Clone(edges), func(e [2]int32) bool { return e[0] >= e[1] })
	slices.SortFunc(edges, func(a, b [2]int32) int { return slices.Compare(a[:], b[:]) })
	edges = slices.Compact(edges)
	out := adjacency(n, edges, 0)
	in := adjacency(n, edges, 1)
	base := int32(0)
	for i := range n {
		if early(i) {
			base = 1
		}
	}
	deepest := int32(0)
	for i := range n {
		if !early(i) {
			layer[i] = base
		}
		for _, p := range in.of(i) {
			layer[i] = max(layer[i], layer[p]+1)
		}
		deepest = max(deepest, layer[i])
	}
	for i := n - 1; i >= 0; i-- {
		if users := out.of(i); late(i) && len(users) > 0 {
			layer[i] = layer[users[0]] - 1
			for _, u := range users {
				layer[i] = min(layer[i], layer[u]-1)
			}
			layer[i] = max(layer[i], 0)
		}
		if last(i) {
			layer[i] = deepest
			for _, p := range in.of(i) {
				layer[i] = max(layer[i], layer[p]+1)
			}
		}
	}
	slots := make([][]int32, deepest+2)
	for i := range n {
		order[i] = int32(len(slots[layer[i]]))
		slots[layer[i]] = append(slots[layer[i]], int32(i))
	}
	place := make([]float64, n) // centred, so that layers of different widths compare
	centre := func(list []int32) {
		for k, i := range list {
			order[i], place[i] = int32(k), float64(k)-float64(len(list)-1)/2
		}
	}
	for _, list := range slots {
		centre(list)
	}
	weight := make([]float64, n)
	sweep := func(list []int32, neighbours *lists) {
		for _, i := range list {
			weight[i] = place[i]
			if near := neighbours.of(int(i)); len(near) > 0 {
				sum := 0.0
				for _, k := range near {
					sum += place[k]
				}
				weight[i] = sum / float64(len(near))
			}
		}
		slices.SortStableFunc(list, func(a, b int32) int { return cmp.Compare(weight[a], weight[b]) })
		centre(list)
	}
	for range sweeps {
		for _, list := range slots {
			sweep(list, in)
		}
		for _, list := range slices.Backward(slots) {
			sweep(list, out)
		}
	}
	return layer, order
}

// lists holds a list of nodes per node.
type lists struct {
	start []int32
	nodes []int32
}

func (l *lists) of(i int) []int32 { return l.nodes[l.start[i]:l.start[i+1]] }

// adjacency returns the other ends of the edges whose end number side is a node.
func adjacency(n int, edges [][2]int32, side int) *lists {
	l := &lists{start: make([]int32, n+1), nodes: make([]int32, len(edges))}
	for _, e := range edges {
		l.start[e[side]+1]++
	}
	for i := range n {
		l.start[i+1] += l.start[i]
	}
	fill := slices.Clone(l.start)
	for _, e := range edges {
		l.nodes[fill[e[side]]] = e[1-side]
		fill[e[side]]++
	}
	return l
}
