package hlo

import (
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/ir"
)

// originOf returns the origin of an instruction whose value has the given types, nil if v names a part that it lacks.
func originOf(v *mhlo.OriginalValue, types []ir.Type) *origin {
	if v.Synthetic {
		return &origin{synthetic: true}
	}
	tree := originTree(types)
	if len(types) == 1 {
		tree = tree.elems[0]
	}
	for _, e := range v.Elements {
		n := tree
		for _, i := range e.Index {
			if i < 0 || i >= int64(len(n.elems)) {
				return nil
			}
			n = n.elems[i]
		}
		if n.isTuple {
			return nil
		}
		if e.Array != nil {
			name, ok := e.Array.Name.(*ir.StringAttr)
			if !ok {
				return nil
			}
			n.leaf = &originArray{name: name.Value(), index: e.Array.Index}
		}
	}
	return &origin{tree: tree}
}

// originTree returns a tuple of parts without an array.
func originTree(types []ir.Type) *originNode {
	n := &originNode{isTuple: true}
	for _, t := range types {
		if t, ok := t.(*ir.TupleType); ok {
			n.elems = append(n.elems, originTree(t.Elems()))
		} else {
			n.elems = append(n.elems, &originNode{})
		}
	}
	return n
}
