package hlo

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/ir"
)

// callFacts are the attributes of a custom call that StableHLO's op lacks. In MLIR they are discardable attributes with
// the prefix "mhlo." and the text of HLO, so that passes see whether two calls are equal. The literal, if it is an
// array, is a dense attribute, as jaxlib's importer writes it.
var callFacts = []string{"window", "dim_labels", "feature_group_count", "batch_group_count", "operand_precision", "padding_type", "literal"}

// HasCallFacts reports whether a custom call has attributes of HLO that StableHLO's op lacks.
func HasCallFacts(op *ir.Op) bool {
	return slices.ContainsFunc(mhlo.CallFacts(), func(name string) bool { return op.Attr(name) != nil })
}

// callFacts returns the attributes of the op for the custom call in that StableHLO's op lacks.
func (im *importer) callFacts(in *instr) []ir.NamedAttr {
	var list []ir.NamedAttr
	for _, name := range callFacts {
		_, spec := in.lookup(name)
		v := in.get(spec)
		if v == nil || spec.omit != nil && spec.omit(v) {
			continue
		}
		if l, ok := v.(*literal); ok && l.shape.isArray() && !l.elided {
			list = append(list, ir.NamedAttr{Name: "mhlo." + name, Attr: im.dense(in, l)})
			continue
		}
		list = append(list, ir.NamedAttr{Name: "mhlo." + name, Attr: ir.NewString(string((&writer{elide: -1}).appendAttr(nil, spec, v)))})
	}
	if v := attrOf[int64](in, "schedule"); v != 0 {
		list = append(list, ir.NamedAttr{Name: mhlo.AttrCustomCallSchedule, Attr: ir.NewEnum(mhlo.CustomCallScheduleEnum, int(v))})
	}
	return list
}

// callFacts returns the attributes of the custom call for op that StableHLO's op lacks.
func (s *exportScope) callFacts(op *ir.Op) []attr {
	var list []attr
	for _, name := range callFacts {
		spec := opCustomCall.spec(opCustomCall.byName[name])
		switch a := op.Attr("mhlo." + name).(type) {
		case *ir.StringAttr:
			v, err := parseAttr(spec, a.Value())
			if err != nil {
				s.ex.fail(op, "mhlo.%s cannot be read: %v", name, mistakeOf(err))
			}
			list = append(list, attr{spec, v})
		case *ir.DenseAttr:
			if name == "literal" {
				sh := s.ex.shapeOf(op, a.Type())
				t, splat, err := a.Elements()
				if err != nil {
					s.ex.fail(op, "mhlo.literal cannot be read: %v", err)
				}
				data := t.Bytes()
				if splat {
					data = bytes.Repeat(data, int(sh.numElements()))
				}
				list = append(list, attr{spec, &literal{shape: sh, data: data}})
			}
		}
	}
	if a, ok := op.Attr(mhlo.AttrCustomCallSchedule).(*ir.EnumAttr); ok && a.Code() < len(schedules) {
		list = append(list, named(opCustomCall, "schedule", int64(a.Code())))
	}
	return list
}

// parseAttr reads the value of an attribute of an instruction from its text.
func parseAttr(spec *attrSpec, text string) (v any, err error) {
	defer catch(&err)
	p := &parser{lexer: &lexer{src: diag.NewSource(spec.name, []byte(text)), text: text}, m: &Module{}, shapes: map[string]*shape{}}
	p.next()
	v = p.attrValue(nil, spec)
	if !p.at(eofToken) {
		p.failToken("expected the end of %s, found %s", spec.name, p.found())
	}
	return v, nil
}

// groupsCollectives reports whether in starts a group of collectives: several may run at once.
func (in *instr) groupsCollectives(c *computation) bool {
	marked := false
	for _, f := range attrOf[[]pair](in, "frontend_attributes") {
		marked = marked || f.key == "_collectives_group"
	}
	for _, x := range c.instrs {
		switch {
		case x.op == opParameter, x.op == opTuple, strings.HasPrefix(x.op.name, "all-"), strings.HasPrefix(x.op.name, "collective-"),
			x.op == opReduceScatter, x.op.name == "ragged-all-to-all":
		default:
			return false
		}
	}
	return marked
}
