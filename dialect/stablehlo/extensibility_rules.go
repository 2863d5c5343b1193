package stablehlo

import (
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// inferTuple: the tuple of the operands' types (tuple C1).
func inferTuple(s *subject) ([]ir.Type, error) {
	return []ir.Type{s.ctx.Tuple(slices.Clone(s.types(0, len(s.operands))))}, nil
}

// inferGetTupleElement: get_tuple_element C1, C2.
func inferGetTupleElement(s *subject) ([]ir.Type, error) {
	t, ok := s.typ(0).(*ir.TupleType)
	if !ok {
		return nil, fail("operand must be a tuple")
	}
	i := s.int("index", 0)
	if i < 0 || i >= int64(len(t.Elems())) {
		return nil, fail("index %d is out of bounds of operand with size %d", i, len(t.Elems()))
	}
	return []ir.Type{t.Elems()[i]}, nil
}

// configRule checks that the configuration has the form that the version asks for.
func configRule(s *subject) error {
	version := s.int("api_version", APIOriginal)
	switch config := s.attr("backend_config"); {
	case config == nil:
	case version == APITypedFFI && !ods.IsDict(config):
		return opFail("backend_config for api_version %s must be a dictionary attribute.", apiVersionNames[version])
	case version != APITypedFFI && !ods.IsString(config):
		return opFail("backend_config for api_version %s must be a string attribute.", apiVersionNames[version])
	}
	return nil
}

// layoutsRule checks operand_layouts and result_layouts: both or neither, one per value, each a permutation. The layout
// of a value that is not a tensor is empty.
func layoutsRule(s *subject) error {
	in, ok1 := s.attr("operand_layouts").(*ir.ArrayAttr)
	out, ok2 := s.attr("result_layouts").(*ir.ArrayAttr)
	if !ok1 && !ok2 {
		return nil
	}
	if ok1 != ok2 {
		return opFail("Layout attributes should be specified for either both operands and results or none.")
	}
	check := func(types []ir.Type, layouts []ir.Attr, side string) error {
		if len(types) != len(layouts) {
			return opFail("Number of %ss must match the number of %s layouts, %d != %d", side, side, len(types), len(layouts))
		}
		for i, t := range types {
			perm := view.Elements(layouts[i])
			switch tt := t.(type) {
			case *ir.TupleType:
				return opFail("Tuple types are not fully supported with layout constraints yet")
			case *ir.TensorType:
				if !tt.Ranked() {
					continue
				}
				ok, _ := unique(perm)
				ok = ok && len(perm) == tt.Rank()
				for _, d := range perm {
					ok = ok && d >= 0 && d < int64(tt.Rank())
				}
				if !ok {
					return opFail("incorrect layout %s for type '%s', layout must be a permutation of [0, %d)", layouts[i], t, tt.Rank())
				}
			default:
				if len(perm) > 0 {
					return opFail("Only tensor types can have non-empty layout: %s #%d of type '%s' has layout %s", side, i, t, layouts[i])
				}
			}
		}
		return nil
	}
	if err := check(s.types(0, len(s.operands)), in.Elems(), "operand"); err != nil {
		return err
	}
	results := s.results
	if len(results) == 1 {
		if t, ok := results[0].(*ir.TupleType); ok {
			results = t.Elems()
		}
	}
	return check(results, out.Elems(), "result")
}

// part follows tuple indices into a type. It returns nil if they are invalid.
func part(t ir.Type, indices []int64) ir.Type {
	for _, i := range indices {
		tt, ok := t.(*ir.TupleType)
		if !ok || i < 0 || i >= int64(len(tt.Elems())) {
			return nil
		}
		t = tt.Elems()[i]
	}
	return t
}

// aliasesRule checks output_operand_aliases. Several results count as one tuple.
func aliasesRule(s *subject) error {
	arr, _ := s.attr("output_operand_aliases").(*ir.ArrayAttr)
	if arr == nil {
		return nil
	}
	if len(arr.Elems()) > 0 && len(s.results) == 0 {
		return opFail("output_operand_alias attribute of a custom_call without results")
	}
	// Several results count as a tuple, which is built only if a path refers to all of it.
	resultPart := func(path []int64) ir.Type {
		switch {
		case len(s.results) == 1:
			return part(s.results[0], path)
		case len(path) == 0:
			return s.ctx.Tuple(slices.Clone(s.results))
		case path[0] < 0 || path[0] >= int64(len(s.results)):
			return nil
		}
		return part(s.results[path[0]], path[1:])
	}
	var usedOut, usedIn map[string]int // of buffers; most programs have none
	for _, e := range arr.Elems() {
		a, ok := ir.DataOf[OutputOperandAlias](e)
		if !ok {
			continue
		}
		if a.OperandIndex < 0 || a.OperandIndex >= int64(len(s.operands)) {
			return opFail("expects operandIndex in the output_operand_alias attribute to be in range [0, %d); got: %d.", len(s.operands), a.OperandIndex)
		}
		in := part(s.typ(int(a.OperandIndex)), a.OperandTupleIndices)
		if in == nil {
			return opFail("operand_tuple_indices in the output_operand_alias attribute out of bounds")
		}
		out := resultPart(a.OutputTupleIndices)
		if out == nil {
			return opFail("output_tuple_indices in the output_operand_alias attribute out of bounds")
		}
		if in != out {
			return opFail("shapes mismatch in the output_operand_alias attribute: operand part has type '%s' and output part has type '%s'", in, out)
		}
		if isBuffer(in) {
			if usedOut == nil {
				usedOut, usedIn = map[string]int{}, map[string]int{}
			}
			usedOut[listed(a.OutputTupleIndices)]++
			usedIn[listed([]int64{a.OperandIndex})[1:]+listed(a.OperandTupleIndices)]++
		}
	}
	return bufferUsesRule(s, usedOut, usedIn)
}

func isBuffer(t ir.Type) bool {
	m, ok := t.(*ir.ShapedType)
	return ok && m.Kind() == ir.MemRef
}

// bufferUsesRule: each buffer among the operands is aliased at most once, and each buffer among the results exactly
// once, unless the call creates or ends buffers.
func bufferUsesRule(s *subject, out, in map[string]int) error {
	if target, ok := s.attr("call_target_name").(*ir.StringAttr); ok && bufferTargets[target.Value()] {
		return nil
	}
	mayHold := func(t ir.Type) bool {
		_, isTuple := t.(*ir.TupleType)
		return isTuple || isBuffer(t)
	}
	if !slices.ContainsFunc(s.results, mayHold) && !slices.ContainsFunc(s.operands, func(v *ir.Value) bool { return mayHold(v.Type()) }) {
		return nil
	}
	var walk func(t ir.Type, path []int64, visit func(path []int64) error) error
	walk = func(t ir.Type, path []int64, visit func(path []int64) error) error {
		if isBuffer(t) {
			return visit(path)
		}
		if tt, ok := t.(*ir.TupleType); ok {
			for i, e := range tt.Elems() {
				if err := walk(e, append(append([]int64{}, path...), int64(i)), visit); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for i, v := range s.operands {
		err := walk(v.Type(), nil, func(path []int64) error {
			if in[listed([]int64{int64(i)})[1:]+listed(path)] > 1 {
				return opFail("buffer operand %d%s is used in output_operand_alias more than once", i, listed(path))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for i, t := range s.results {
		var path []int64
		if len(s.results) > 1 {
			path = []int64{int64(i)}
		}
		err := walk(t, path, func(path []int64) error {
			switch n := out[listed(path)]; {
			case n > 1:
				return opFail("buffer output %s is used in output_operand_alias more than once", listed(path))
			case n == 0:
				return opFail("buffer output %s is not used in output_operand_alias", listed(path))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

var bufferTargets = map[string]bool{"CreateBuffer": true, "Pin": true, "Unpin": true}

// bufferTargetsRule checks the calls that create a buffer or convert between tensors and buffers.
func bufferTargetsRule(s *subject) error {
	target, _ := s.attr("call_target_name").(*ir.StringAttr)
	if target == nil || !bufferTargets[target.Value()] {
		return nil
	}
	name := target.Value()
	want := 1
	if name == "CreateBuffer" {
		want = 0
	}
	if len(s.operands) != want {
		if want == 0 {
			return opFail("CreateBuffer custom_call shouldn't have any inputs")
		}
		return opFail("%s custom_call should have one input", name)
	}
	if len(s.results) != 1 {
		return opFail("%s custom_call should have one output", name)
	}
	if name != "Unpin" && !isBuffer(s.results[0]) {
		return opFail("%s custom_call should have a memref output", name)
	}
	if name == "CreateBuffer" {
		return nil
	}
	in, out := s.typ(0), s.results[0]
	if name == "Unpin" && !isBuffer(in) {
		return opFail("Unpin custom_call should have a memref input")
	}
	si, ei := shapeAndElem(in)
	so, eo := shapeAndElem(out)
	if !sameDims(si, so) || ei != eo {
		return opFail("%s custom_call should have compatible input and output types", name)
	}
	return nil
}

func shapeAndElem(t ir.Type) ([]int64, ir.Type) {
	switch t := t.(type) {
	case *ir.TensorType:
		return t.Shape(), t.Elem()
	case *ir.ShapedType:
		return t.Shape(), t.Elem()
	}
	return nil, nil
}

// compositeRule checks the name (composite C1), that the decomposition is a function (C2), and that operands and
// results match the function's (C3, C4).
func compositeRule(s *subject) error {
	name, _ := s.attr("name").(*ir.StringAttr)
	if name == nil || !namespaced(name.Value()) {
		return fail("name must be a valid namespaced op name, i.e. it must match the following regular expression: ^[a-zA-Z][a-zA-Z0-9_]*([.][a-zA-Z0-9_$]+)+$ e.g. \"my_namespace.my_op\"")
	}
	for _, r := range s.regions {
		if b := r.Entry(); b == nil || b.Last() == nil {
			return fail("empty block: expect at least a terminator")
		}
	}
	ref, ok := s.attr("decomposition").(*ir.SymbolRefAttr)
	if !ok || s.op == nil {
		return nil
	}
	f := s.lookup(ref.Root())
	if f == nil || f.Name() != "func.func" {
		return fail("'%s' does not reference a valid function", ref.Root())
	}
	ta, _ := f.Attr("function_type").(*ir.TypeAttr)
	if ta == nil {
		return nil
	}
	ft, ok := ta.Type().(*ir.FunctionType)
	if !ok {
		return nil
	}
	for _, side := range [...]struct {
		name       string
		have, want []ir.Type
	}{{"operand", s.types(0, len(s.operands)), ft.Inputs()}, {"result", s.results, ft.Results()}} {
		if len(side.have) != len(side.want) {
			return fail("has %d %s(s), but decomposition has %d", len(side.have), side.name, len(side.want))
		}
		for i, t := range side.want {
			if side.have[i] != t {
				return fail("%s at index %d has type '%s', but decomposition has type '%s'", side.name, i, side.have[i], t)
			}
		}
	}
	return nil
}

// namespaced reports whether s has the form of chlo.top_k: two or more identifiers joined by dots.
func namespaced(s string) bool {
	parts := strings.Split(s, ".")
	if len(parts) < 2 {
		return false
	}
	for i, p := range parts {
		if p == "" || i == 0 && !letter(p[0]) {
			return false
		}
		for k := range len(p) {
			if c := p[k]; !letter(c) && (c < '0' || c > '9') && (c != '$' || i == 0) {
				return false
			}
		}
	}
	return true
}

func letter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// lookup returns the symbol in the nearest symbol table around the op, or nil.
func (s *subject) lookup(name string) *ir.Op {
	for p := s.op.Parent(); p != nil; p = p.Parent() {
		if p.Has(ir.SymbolTable) {
			return s.symbols(p)[name]
		}
	}
	return nil
}
