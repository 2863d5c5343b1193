package shardy

import (
	"bytes"
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// Check checks the strings in which attributes hold shardings: mhlo.sharding in XLA's syntax, and the frontend
// attributes xla.sdy.meshes, xla.sdy.sharding, xla.sdy.in_shardings and xla.sdy.out_shardings in Shardy's. No verifier
// of MLIR reads them; XLA refuses or ignores a wrong one, or crashes. The error is a diag.List.
func Check(m *ir.Module) error {
	if src := m.Source(); src != nil && !src.Binary() && !bytes.Contains(src.Text(), []byte("shard")) && !bytes.Contains(src.Text(), []byte(attrMeshes)) {
		return nil
	}
	c := &checker{m: m, known: map[string]ir.Attr{}}
	if replicas, partitions := mhlo.Devices(m); partitions > 1 {
		c.devices = int64(partitions)
	} else if replicas > 1 {
		c.devices = int64(replicas)
	}
	c.meshes = map[string]*sdy.DeviceMesh{}
	for op := range m.Body().Ops() {
		if v, ok := sdy.AsMesh(op); ok {
			c.meshes[v.SymName()] = v.Mesh()
		}
	}
	if d, ok := m.Op().Attr(mhlo.AttrFrontendAttributes).(*ir.DictAttr); ok {
		c.addMeshes(m.Op(), d)
	}
	m.Walk(func(op *ir.Op) bool {
		if op.Def().Dialect() == "hlocb" {
			return true // until it is lowered, a hook keeps the source's shardings of its former results
		}
		if f, ok := fn.AsFunc(op); ok {
			for i, t := range f.Type().Inputs() {
				c.value(op, fmt.Sprintf("argument %d: ", i), f.ArgAttrs(i), t)
			}
			for i, t := range f.Type().Results() {
				c.value(op, fmt.Sprintf("result %d: ", i), f.ResultAttrs(i), t)
			}
			return true
		}
		if a, ok := op.Attr(mhlo.AttrSharding).(*ir.StringAttr); ok {
			types := op.ResultTypes()
			if op.IsOrMirrors(stablehlo.Outfeed) || op.IsOrMirrors(stablehlo.Send) || op.IsOrMirrors(stablehlo.Recv) {
				types = nil // HLO counts other values
			}
			c.gspmd(op, "", a.Value(), types)
		}
		if d, ok := op.Attr(mhlo.AttrFrontendAttributes).(*ir.DictAttr); ok && op != m.Op() {
			c.frontend(op, "", d, op.ResultTypes())
		}
		return true
	})
	return c.list.Err()
}

// checker reports wrong shardings of a module.
type checker struct {
	m       *ir.Module
	devices int64 // 0 if the module does not say how many there are
	meshes  map[string]*sdy.DeviceMesh
	known   map[string]ir.Attr // attributes by their text
	list    diag.List
}

func (c *checker) fail(op *ir.Op, what, format string, args ...any) {
	c.list.Add(c.m.Errorf(op, "%s%s", what, fmt.Sprintf(format, args...)))
}

// value checks the attributes of an argument or a result of a function.
func (c *checker) value(op *ir.Op, what string, attrs *ir.DictAttr, t ir.Type) {
	if attrs == nil {
		return
	}
	if a, ok := attrs.Get(mhlo.AttrSharding).(*ir.StringAttr); ok {
		c.gspmd(op, what, a.Value(), []ir.Type{t})
	}
	if d, ok := attrs.Get(mhlo.AttrFrontendAttributes).(*ir.DictAttr); ok {
		c.frontend(op, what, d, []ir.Type{t})
	}
}

// gspmd checks a sharding of values of the given types, nil if they are unknown.
func (c *checker) gspmd(op *ir.Op, what, text string, types []ir.Type) {
	if err := hlo.CheckSharding(text, ranks(nil, types), c.devices); err != nil {
		c.fail(op, what, "%s %.200s: %v", mhlo.AttrSharding, text, err)
	}
}

// ranks appends the ranks of the leaves of types: -1 for all but ranked tensors.
func ranks(list []int, types []ir.Type) []int {
	for _, t := range types {
		switch t := t.(type) {
		case *ir.TupleType:
			if list = ranks(list, t.Elems()); len(t.Elems()) == 0 { // XLA counts an empty tuple as one leaf
				list = append(list, -1)
			}
		case *ir.TensorType:
			if t.Ranked() {
				list = append(list, t.Rank())
			} else {
				list = append(list, -1)
			}
		default:
			list = append(list, -1)
		}
	}
	return list
}

// attr reads the attribute that a text is.
func (c *checker) attr(op *ir.Op, what, name, text string) ir.Attr {
	if a, ok := c.known[text]; ok {
		return a
	}
	a, err := parse.Attr(diag.NewSource(name, []byte(text)), c.m.Context())
	if err != nil {
		message := err.Error()
		if d, ok := err.(*diag.Diagnostic); ok {
			message = d.Message
		}
		c.fail(op, what, "%s cannot be read as an attribute of Shardy: %s", name, message)
		return nil
	}
	c.known[text] = a
	return a
}

// addMeshes reads the meshes of the module.
func (c *checker) addMeshes(op *ir.Op, d *ir.DictAttr) {
	text, ok := d.Get(attrMeshes).(*ir.StringAttr)
	if !ok {
		return
	}
	a := c.attr(op, "", attrMeshes, text.Value())
	if a == nil {
		return
	}
	list, ok := a.(*ir.DictAttr)
	if !ok {
		c.fail(op, "", "%s must be a dictionary of meshes", attrMeshes)
		return
	}
	for _, e := range list.Entries() {
		mesh, ok := ir.DataOf[sdy.DeviceMesh](e.Attr)
		if !ok {
			c.fail(op, "", "%s: '%s' must be a mesh", attrMeshes, e.Name)
			continue
		}
		c.meshes[e.Name] = mesh
	}
}

// frontend checks the frontend attributes of values of the given types, or of a call.
func (c *checker) frontend(op *ir.Op, what string, d *ir.DictAttr, types []ir.Type) {
	for _, name := range []string{attrSharding, attrInShardings, attrOutShardings} {
		text, ok := d.Get(name).(*ir.StringAttr)
		if !ok {
			continue
		}
		a := c.attr(op, what, name, text.Value())
		if a == nil {
			continue
		}
		var list []*sdy.Sharding
		if v, ok := ir.DataOf[sdy.PerValue](a); ok {
			list = v.Shardings
		} else if s, ok := ir.DataOf[sdy.Sharding](a); ok {
			list = []*sdy.Sharding{s}
		} else {
			c.fail(op, what, "%s must be a sharding of Shardy, found %.100s", name, a)
			continue
		}
		if name == attrSharding && len(types) > 0 && len(list) != len(types) {
			c.fail(op, what, "%s has %d shardings for %d values", name, len(list), len(types))
			continue
		}
		for i, s := range list {
			mesh := s.Inline
			if mesh == nil {
				mesh = c.meshes[s.Mesh]
			}
			if mesh == nil {
				c.fail(op, what, "%s names mesh @%s, which neither %s of the module nor an sdy.mesh defines", name, s.Mesh, attrMeshes)
				break
			}
			if name != attrSharding || len(types) == 0 {
				continue // the types are those of the manual computation
			}
			if fault := s.Fault(mesh, types[i]); fault != "" {
				c.fail(op, what, "%s: %s", name, fault)
				break
			}
		}
	}
}
