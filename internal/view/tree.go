package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
)

// Limits of boxes.
const (
	maxChildren = 240 // a box with more children gets parts
	partSize    = 120 // about so many children has a part
	maxArgs     = 24  // a block with more arguments folds them into a box
	maxScopes   = 32  // nesting of name scopes
)

// tree builds the boxes: it sets parent, children and count of all items, and then the layers of each box.
func (u *union) tree() {
	byOp := map[int32][]bodyKey{}
	for _, k := range u.keys {
		byOp[k.op] = append(byOp[k.op], k)
	}
	edges := u.edges()
	scopes := u.scopes(edges)
	uses := map[int32]int32{} // the last user of each item, to cut long blocks where few values are alive
	for _, e := range edges {
		uses[e[0]] = max(uses[e[0]], e[1])
	}
	for op := int32(0); int(op) < len(u.items); op++ {
		keys := byOp[op]
		if len(keys) == 0 {
			continue
		}
		regions := 0
		for i, k := range keys {
			if i == 0 || keys[i-1].region != k.region {
				regions++
			}
		}
		box, region := op, -1
		for i, k := range keys {
			if k.region != region && regions > 1 {
				box = u.box(regionItem, op, regionName(u.items[op].label, k.region))
			}
			region = k.region
			to := box
			if i+1 < len(keys) && keys[i+1].region == region || i > 0 && keys[i-1].region == region {
				to = u.box(blockItem, box, fmt.Sprintf("^bb%d", k.block))
			}
			u.fill(to, u.bodies[k], scopes, uses)
		}
	}
	u.unfold()
	u.count(0)
	u.layers(edges)
}

// unfold puts each function with a single call into the box of its call, where it is read.
func (u *union) unfold() {
	calls := map[int32][]int32{} // by function
	var functions []int32
	for _, s := range u.steps {
		graph := flow.Of(s.step.Module, func(*ir.Op) {})
		s.step.Module.Walk(func(op *ir.Op) bool {
			if f := graph.Callee(op); f != nil {
				i, call := s.items[f], s.items[op]
				if calls[i] == nil {
					functions = append(functions, i)
				}
				if !slices.Contains(calls[i], call) && len(calls[i]) < 2 {
					calls[i] = append(calls[i], call)
				}
			}
			return true
		})
	}
	for _, f := range functions {
		call, parent := calls[f][0], u.items[f].parent
		inside := false // a recursive call
		for i := call; i >= 0; i = u.items[i].parent {
			inside = inside || i == f
		}
		if len(calls[f]) > 1 || inside || parent < 0 || len(u.items[parent].children) < 2 || len(u.items[f].children) == 0 {
			continue
		}
		u.items[parent].children = slices.DeleteFunc(u.items[parent].children, func(i int32) bool { return i == f })
		u.put(f, call)
	}
}

// regionName names a region of an op.
func regionName(op string, i int) string {
	op, _, _ = strings.Cut(op, " ")
	switch op {
	case "while":
		return []string{"condition", "body"}[min(i, 1)]
	case "if":
		return []string{"true", "false"}[min(i, 1)]
	case "case":
		return fmt.Sprintf("branch %d", i)
	}
	return fmt.Sprintf("region %d", i)
}

// box adds an item for a box to parent.
func (u *union) box(k kind, parent int32, label string) int32 {
	b := u.newItem(k, parent)
	u.items[b].label = label
	u.items[parent].children = append(u.items[parent].children, b)
	return b
}

func (u *union) put(child, parent int32) {
	u.items[child].parent = parent
	u.items[parent].children = append(u.items[parent].children, child)
}

// fill puts a block's arguments and ops into a box.
func (u *union) fill(box int32, b *body, scopes map[int32][]string, uses map[int32]int32) {
	args := box
	if len(b.args) > maxArgs {
		args = u.box(partItem, box, "arguments")
	}
	for _, a := range b.args {
		u.put(a, args)
	}
	start := len(u.items[box].children)
	u.group(box, b.ops, scopes, 0)
	u.split(box, start, uses)
}

// group puts ops into the boxes of their name scopes below depth.
func (u *union) group(box int32, ops []int32, scopes map[int32][]string, depth int) {
	name := func(op int32) string {
		if list := scopes[op]; depth < len(list) && depth < maxScopes {
			return list[depth]
		}
		return ""
	}
	for { // a scope that all ops with a scope share, and most ops have, needs no box
		shared, named, all := "", 0, true
		for _, op := range ops {
			if n := name(op); n != "" {
				named++
				all = all && (shared == "" || n == shared)
				shared = n
			}
		}
		if !all || 2*named <= len(ops) || shared == "" || strings.HasPrefix(shared, fusionScope) {
			break
		}
		depth++
	}
	members, size := map[string][]int32{}, map[string]int{} // size does not count constants
	for _, op := range ops {
		members[name(op)] = append(members[name(op)], op)
		if !u.items[op].late {
			size[name(op)]++
		}
	}
	done := map[string]bool{"": true}
	for _, op := range ops {
		n := name(op)
		switch {
		case n == "" || size[n] < 2:
			u.put(op, box)
		case !done[n]:
			done[n] = true
			u.group(u.box(scopeItem, box, n), members[n], scopes, depth+1)
		}
	}
}

// split puts the children of a box after the first start into parts if they are many. A part ends where few values are
// alive.
func (u *union) split(box int32, start int, uses map[int32]int32) {
	for _, c := range slices.Clone(u.items[box].children[start:]) {
		if u.items[c].kind == scopeItem {
			u.split(c, 0, uses)
		}
	}
	list := slices.Clone(u.items[box].children[start:])
	if len(list) <= maxChildren {
		return
	}
	alive := make([]int, len(list)) // values that are used after child i and defined up to it
	place := make(map[int32]int, len(list))
	for i, c := range list {
		place[c] = i
	}
	for i, c := range list {
		end, ok := place[uses[c]]
		for k := i; ok && k < min(end, i+2*partSize); k++ {
			alive[k]++
		}
	}
	u.items[box].children = u.items[box].children[:start]
	for from, n := 0, 1; from < len(list); n++ {
		to := len(list)
		if to-from > partSize*3/2 {
			to = from + partSize/2
			for k := to; k < from+partSize*3/2; k++ {
				if alive[k] < alive[to] {
					to = k
				}
			}
			to++
		}
		part := u.box(partItem, box, fmt.Sprintf("part %d", n))
		for _, c := range list[from:to] {
			u.put(c, part)
		}
		from = to
	}
	u.split(box, start, uses)
}

// count sets and returns the number of ops in an item, itself included.
func (u *union) count(i int32) int {
	n := 0
	for _, c := range u.items[i].children {
		n += u.count(c)
	}
	if u.items[i].kind == opItem {
		n++
	}
	u.items[i].count = int32(n)
	return n
}

// edges returns the pairs of an item that defines a value and an item that uses it, of all steps, and of functions and
// the functions that they call.
func (u *union) edges() [][2]int32 {
	var out [][2]int32
	for i, s := range u.steps {
		graph := flow.Of(s.step.Module, func(*ir.Op) {})
		s.step.Module.Walk(func(op *ir.Op) bool {
			if i > 0 && s.states[op] != added && s.states[op] != changed {
				return true // it has the operands that it had
			}
			for _, v := range op.Operands() {
				if v != nil {
					out = append(out, [2]int32{u.definer(s, v), s.items[op]})
				}
			}
			if f := graph.Callee(op); f != nil {
				if from := flow.FunctionOf(op); from != nil && from != f {
					out = append(out, [2]int32{s.items[from], s.items[f]})
				}
			}
			return true
		})
	}
	slices.SortFunc(out, func(a, b [2]int32) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(out)
}

// layers sets the layer and the order of every item in its box.
func (u *union) layers(edges [][2]int32) {
	depth, at := make([]int32, len(u.items)), make([]int32, len(u.items)) // nesting; position among the children
	var walk func(i, d int32)
	walk = func(i, d int32) {
		depth[i] = d
		for k, c := range u.items[i].children {
			at[c] = int32(k)
			walk(c, d+1)
		}
	}
	walk(0, 0)
	inside := make([][][2]int32, len(u.items)) // by box: edges of its children
	for _, e := range edges {
		a, b := e[0], e[1]
		for depth[a] > depth[b] {
			a = u.items[a].parent
		}
		for depth[b] > depth[a] {
			b = u.items[b].parent
		}
		for a != b && u.items[a].parent != u.items[b].parent {
			a, b = u.items[a].parent, u.items[b].parent
		}
		if a != b && u.items[a].parent >= 0 {
			box := u.items[a].parent
			inside[box] = append(inside[box], [2]int32{at[a], at[b]})
		}
	}
	for i := range u.items {
		list := u.items[i].children
		if len(list) == 0 {
			continue
		}
		is := func(test func(x *item) bool) func(int) bool {
			return func(k int) bool { return test(&u.items[list[k]]) }
		}
		early := is(func(x *item) bool { return x.kind == argItem || x.kind == partItem && x.label == "arguments" })
		layer, order := layers(len(list), inside[i], early, is(func(x *item) bool { return x.late }), is(func(x *item) bool { return x.last }))
		for k, c := range list {
			u.items[c].layer, u.items[c].order = layer[k], order[k]
		}
		u.keep(list, inside[i])
	}
}

// keep stores the edges of a box with these children for the page.
func (u *union) keep(list []int32, edges [][2]int32) {
	slices.SortFunc(edges, func(a, b [2]int32) int { return slices.Compare(a[:], b[:]) })
	for _, e := range slices.Compact(edges) {
		u.inside = append(u.inside, list[e[0]], list[e[1]])
	}
}

// fusionScope starts the name of the scope of a fusion of HLO.
const fusionScope = "fusion "

// scopes returns the name scopes of ops, outermost first. A constant without a scope gets the scopes that its users
// share. A fusion of HLO is a scope inside of the scopes that its ops share.
func (u *union) scopes(edges [][2]int32) map[int32][]string {
	out := map[int32][]string{}
	memo := map[*ir.Loc][]string{}
	for _, s := range u.steps {
		fused := map[string][]int32{} // by fusion
		s.step.Module.Walk(func(op *ir.Op) bool {
			i := s.items[op]
			if _, ok := out[i]; ok {
				return true
			}
			list, ok := memo[op.Loc()]
			if !ok {
				list = scopesOf(op.Loc())
				memo[op.Loc()] = list
			}
			out[i] = list
			if f := hlo.FusionOf(s.step.Module, op); f != "" {
				fused[f] = append(fused[f], i)
			}
			return true
		})
		for name, items := range fused {
			common := out[items[0]]
			for _, i := range items[1:] {
				common = commonScopes(common, out[i])
			}
			list := append(slices.Clone(common), fusionScope+name)
			for _, i := range items {
				out[i] = list
			}
		}
	}
	for k := 0; k < len(edges); {
		i, first := edges[k][0], k
		for k < len(edges) && edges[k][0] == i {
			k++
		}
		if !u.items[i].late || len(out[i]) > 0 {
			continue
		}
		common := out[edges[first][1]]
		for _, e := range edges[first+1 : k] {
			common = commonScopes(common, out[e[1]])
		}
		out[i] = common
	}
	return out
}

// commonScopes returns the scopes at the start of both lists.
func commonScopes(a, b []string) []string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// scopesOf returns the name scopes of a location: the parts of a name such as "jit(f)/layer/dot", without the last,
// which names the op. Slashes inside of parentheses do not count.
func scopesOf(l *ir.Loc) []string {
	for depth := 0; l.Kind() != ir.LocUnknown && depth < 100; depth++ {
		switch l.Kind() {
		case ir.LocName:
			if list := splitScopes(l.Name()); len(list) > 1 {
				return list[:len(list)-1]
			}
		case ir.LocFile:
			return nil
		}
		if len(l.Children()) == 0 {
			return nil
		}
		l = l.Children()[0]
	}
	return nil
}

func splitScopes(name string) []string {
	var out []string
	open, start := 0, 0
	for i := range len(name) {
		switch name[i] {
		case '(', '[', '{':
			open++
		case ')', ']', '}':
			open--
		case '/':
			if open <= 0 {
				if i > start {
					out = append(out, name[start:i])
				}
				start = i + 1
			}
		}
	}
	return append(out, strings.TrimSuffix(name[start:], ":"))
}
