package stablehlo

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// inferBranches: the types that all branches return (case C3, C4; if C2, C3). If they differ in a size, the result has
// only a bound or an unknown size there.
func inferBranches(s *subject) ([]ir.Type, error) {
	if t := s.tensor(0); t.Rank() != 0 {
		return nil, fail("operand should be rank 0 tensor but got rank %d", t.Rank())
	}
	if len(s.regions) == 0 { // (case C1)
		return nil, fail("expect at least one branch")
	}
	n := max(len(s.regions), len(s.def.Regions))
	var first []ir.Type
	all := make([][]ir.Type, n)
	for i := range n {
		b, ret, err := s.body(i)
		if err != nil {
			return nil, err
		}
		if len(b.Args()) != 0 { // (if C1, case C2)
			return nil, fail("branch %d must have 0 arguments, but found %d", i, len(b.Args()))
		}
		all[i] = ret
		if i == 0 {
			first = ret
			continue
		}
		if !slices.EqualFunc(ret, first, Compatible) {
			return nil, fail("branch 0 and branch %d have mismatched return types: %s vs %s", i, ods.QuoteTypes(first), ods.QuoteTypes(ret))
		}
	}
	out := make([]ir.Type, len(first))
	for k := range out {
		var types []ir.Type
		for i := range all {
			types = append(types, all[i][k])
		}
		t, err := s.joinTypes(types, func(_ int, a, b dim) (dim, error) { return leastSpecific(a, b), nil })
		if err != nil {
			return nil, err
		}
		out[k] = t
	}
	return out, nil
}

func whileRule(s *subject) error {
	cond, ret, err := s.body(0)
	if err != nil {
		return err
	}
	body, loop, err := s.body(1)
	if err != nil {
		return err
	}
	ops := s.types(0, len(s.operands))
	if !allCompatible(view.Types(cond.Args()), ops) { // (C1)
		return fail("expect operands to be compatible with condition block arguments but got %s vs %s", ods.QuoteTypes(ops), ods.QuoteTypes(view.Types(cond.Args())))
	}
	if !allCompatible(view.Types(body.Args()), ops) { // (C2)
		return fail("expect operands to be compatible with body block arguments but got %s vs %s", ods.QuoteTypes(ops), ods.QuoteTypes(view.Types(body.Args())))
	}
	if !allCompatible(loop, ops) {
		return fail("expect operands to be compatible with body block return types but got %s vs %s", ods.QuoteTypes(ops), ods.QuoteTypes(loop))
	}
	if len(ret) != 1 {
		return fail("expect condition body returns a single value but got %d", len(ret))
	}
	if t, ok := ret[0].(*ir.TensorType); !ok || t.Elem() != ir.Type(i1) || t.Ranked() && t.Rank() != 0 {
		return fail("expect condition block return a zero-ranked tensor of i1 but got '%s'", ret[0])
	}
	return nil
}

func allCompatible(a, b []ir.Type) bool { return slices.EqualFunc(a, b, Compatible) }

// inferPairwise: each result has the type of its operand (optimization_barrier C1, while C3).
func inferPairwise(s *subject) ([]ir.Type, error) { return s.types(0, len(s.operands)), nil }

func pairwiseRule(s *subject) error {
	if len(s.operands) != len(s.results) {
		return opFail("requires the same number of operands and results")
	}
	for i, t := range s.results {
		if s.typ(i) != t {
			return opFail("requires the same type for operand and result at index %d", i)
		}
	}
	return nil
}
