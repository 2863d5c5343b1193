package ir

import (
	"fmt"

	"github.com/hlocb/hlocb/internal/assembly"
)

// complete returns an error if ops of def can have a part that the text in the format f does not hold: attributes
// without attr-dict, operands or regions that f does not name, or types that it neither names nor can infer.
func complete(def *Def, f *assembly.Format) error {
	c := coverage{named: map[namedPart]bool{}}
	c.elems(f.Elems, false)
	if c.twice != "" {
		return fmt.Errorf("format of %s: '%s' is in the format twice", def.Name, c.twice)
	}
	lost := func(what, name string) error {
		return fmt.Errorf("format of %s: %s '%s' is not in the format, so its text would lose it", def.Name, what, name)
	}
	if !c.attrs {
		return fmt.Errorf("format of %s: attr-dict is not in the format, so its text would lose attributes", def.Name)
	}
	for i, a := range def.Operands {
		switch {
		case !c.has(assembly.Operand, i):
			return lost("operand", a.Name)
		case !c.has(assembly.OperandType, i) && def.Traits&SameType == 0 && !c.custom:
			return lost("the type of operand", a.Name)
		}
	}
	for i, a := range def.Results {
		if !c.has(assembly.ResultType, i) && def.Traits&SameType == 0 && def.Infer == nil && !c.custom {
			return lost("the type of result", a.Name)
		}
	}
	for i, a := range def.Regions {
		if !c.has(assembly.Region, i) {
			return lost("region", a.Name)
		}
	}
	return nil
}

// coverage is the set of parts of an op that a format names.
type coverage struct {
	named  map[namedPart]bool
	attrs  bool // attr-dict
	custom bool // a directive, which may fill in types
	twice  string
}

// namedPart is a part of an op by its position in the row; -1 stands for all parts of the kind.
type namedPart struct {
	kind  assembly.Kind
	index int
}

func (c *coverage) has(kind assembly.Kind, i int) bool {
	return c.named[namedPart{kind, i}] || c.named[namedPart{kind, -1}]
}

// elems adds the parts that list names. other says that list is the alternative of elements that were added before.
func (c *coverage) elems(list []assembly.Elem, other bool) {
	for i := range list {
		e := &list[i]
		add := func(kind assembly.Kind, index int) { c.named[namedPart{kind, index}] = true }
		switch e.Kind {
		case assembly.Operand, assembly.Region, assembly.Attr:
			if c.named[namedPart{e.Kind, e.Index}] && !other {
				c.twice = e.Text
			}
			add(e.Kind, e.Index)
		case assembly.OperandType, assembly.ResultType:
			add(e.Kind, e.Index)
		case assembly.Operands:
			add(assembly.Operand, -1)
		case assembly.OperandTypes:
			add(assembly.OperandType, -1)
		case assembly.ResultTypes:
			add(assembly.ResultType, -1)
		case assembly.Regions:
			add(assembly.Region, -1)
		case assembly.FunctionalType:
			add(assembly.OperandType, -1)
			add(assembly.ResultType, -1)
		case assembly.AttrDict, assembly.AttrDictKeyword:
			c.attrs = true
		case assembly.Custom:
			c.custom = true
			for _, a := range e.Args {
				if !a.Ref {
					add(a.Kind, a.Index)
					c.attrs = c.attrs || a.Kind == assembly.AttrDict
				}
			}
		}
		c.elems(e.Then, other)
		c.elems(e.Else, true)
	}
}
