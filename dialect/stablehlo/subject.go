package stablehlo

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// subject is an operation under verification or type inference. The same rules read both.
type subject struct {
	ctx      *ir.Context
	def      *ir.Def
	operands []*ir.Value
	attrs    ir.AttrList
	regions  []*ir.Region
	results  []ir.Type // of the op under verification, nil during inference
	op       *ir.Op    // the op under verification, nil during inference
	readsOps bool      // whether a rule read the op that defines an operand: see constantInts
	symbols  func(table *ir.Op) ir.Symbols

	all    []ir.Type  // the types of operands and results, if op is set
	one    [1]ir.Type // buffer for single
	dimBuf []dim      // buffer for dims
	ret    []ir.Type  // returnTypes types of region 0, for body
	seen   []bool     // buffer for contains
}

// subjectOf returns the subject of op. It is valid until the next call with the same reporter.
func subjectOf(op *ir.Op, r *ir.Reporter) *subject {
	s, ok := (*r.Scratch()).(*subject)
	if !ok {
		s = &subject{ctx: r.Context(), symbols: r.Symbols}
		*r.Scratch() = s
	}
	s.readsOps = false
	s.op, s.def, s.attrs, s.regions = op, op.Def(), op.Attrs(), op.Regions()
	s.operands, s.all = s.operands[:0], s.all[:0]
	for i := range op.NumOperands() {
		v := op.Operand(i)
		s.operands, s.all = append(s.operands, v), append(s.all, v.Type())
	}
	for i := range op.NumResults() {
		s.all = append(s.all, op.Result(i).Type())
	}
	s.results = s.all[len(s.operands):]
	return s
}

// A rule checks a constraint that the row alone cannot express. The error is the message.
type rule func(s *subject) error

// An inference computes result types and checks the conditions that it relies on.
type inference func(s *subject) ([]ir.Type, error)

// verify creates a Verify hook from rules. It reports the first rule that fails.
func verify(rules ...rule) func(*ir.Op, *ir.Reporter) {
	return func(op *ir.Op, r *ir.Reporter) {
		s := subjectOf(op, r)
		for _, rule := range rules {
			if err := rule(s); err != nil {
				if of := (opError{}); errors.As(err, &of) {
					r.Errorf(op, "%s", err)
				} else {
					r.PlainErrorf(op, "%s", err)
				}
				if _, ok := err.(inferenceError); ok { // MLIR reports both
					r.Errorf(op, "failed to infer returned types")
				}
				return
			}
		}
		if !s.readsOps {
			r.ReadsTypes()
		}
	}
}

// infer creates the Infer hook of an inference.
func infer(f inference) func(*ir.Context, *ir.OpState) ([]ir.Type, error) {
	return func(c *ir.Context, st *ir.OpState) ([]ir.Type, error) {
		return f(&subject{ctx: c, def: st.Def, operands: st.Operands, attrs: st.Attrs, regions: st.Bodies})
	}
}

// agrees returns the rule that the result types are compatible with the types that f infers.
func agrees(f inference) rule {
	return func(s *subject) error {
		types, err := f(s)
		if err != nil {
			return inferenceError{err}
		}
		if !allCompatible(types, s.results) {
			return inferenceError{inferredMismatch(types, s.results)}
		}
		return nil
	}
}

// infers returns the rule that f succeeds, whatever types it infers.
func infers(f inference) rule {
	return func(s *subject) error {
		if _, err := f(s); err != nil {
			return inferenceError{err}
		}
		return nil
	}
}

// inferenceError is an error from inferring the result types to check them.
type inferenceError struct{ error }

func (e inferenceError) Unwrap() error { return e.error }

func inferredMismatch(want, got []ir.Type) error {
	return opFail("inferred type(s) %s are incompatible with return type(s) of operation %s", ods.QuoteTypes(want), ods.QuoteTypes(got))
}

// opError is a message that MLIR prefixes with the operation's name. MLIR does so for errors from rows and traits, but
// not for errors from inference.
type opError struct{ error }

func opFail(format string, args ...any) error { return opError{fail(format, args...)} }

// fail returns a message as an error.
func fail(format string, args ...any) error {
	if len(args) == 0 {
		return errors.New(format)
	}
	return fmt.Errorf(format, args...)
}

// typ returns the type of operand i.
func (s *subject) typ(i int) ir.Type { return s.operands[i].Type() }

// tensor returns the type of operand i as a tensor type. For a missing operand, or a value of another type, it returns
// an unranked tensor of type none.
func (s *subject) tensor(i int) *ir.TensorType {
	if i >= len(s.operands) {
		return asTensor(s.ctx, nil)
	}
	return asTensor(s.ctx, s.operands[i].Type())
}

// result is like tensor for result i.
func (s *subject) result(i int) *ir.TensorType {
	if i >= len(s.results) {
		return asTensor(s.ctx, nil)
	}
	return asTensor(s.ctx, s.results[i])
}

func asTensor(c *ir.Context, t ir.Type) *ir.TensorType {
	if tt, ok := t.(*ir.TensorType); ok {
		return tt
	}
	return c.UnrankedTensor(c.None())
}

// allTypes returns the types of the operands and the results. The caller must not change them.
func (s *subject) allTypes() []ir.Type {
	if s.op != nil {
		return s.all
	}
	return append(s.types(0, len(s.operands)), s.results...)
}

// single returns t as the result types, valid until the next call.
func (s *subject) single(t ir.Type) []ir.Type {
	s.one[0] = t
	return s.one[:]
}

// dimsOf returns the dimensions of t, valid until the next call of it or of dims.
func (s *subject) dimsOf(t *ir.TensorType) []dim {
	dims := s.dims(t.Rank())
	for i := range dims {
		dims[i] = dimOf(t, i)
	}
	return dims
}

// dims returns n dimensions to fill in, valid until the next call.
func (s *subject) dims(n int) []dim {
	if cap(s.dimBuf) < n {
		s.dimBuf = make([]dim, max(n, 8))
	}
	return s.dimBuf[:n]
}

// contains reports for each of n dimensions whether it is in a list. The result is valid until the next call.
func (s *subject) contains(n int, lists ...[]int64) []bool {
	if cap(s.seen) < n {
		s.seen = make([]bool, max(n, 8))
	}
	seen := s.seen[:n]
	clear(seen)
	for _, list := range lists {
		for _, d := range list {
			if d >= 0 && d < int64(n) {
				seen[d] = true
			}
		}
	}
	return seen
}

// resultType returns the tensor type with the given dimensions. If result i already has that type, it returns that type
// without creating or looking up one. This is nearly always the case during verification.
func (s *subject) resultType(i int, dims []dim, elem ir.Type) *ir.TensorType {
	if i < len(s.results) {
		if t, ok := s.results[i].(*ir.TensorType); ok && t.Ranked() && t.Encoding() == nil && t.Elem() == elem && len(t.Shape()) == len(dims) {
			same := true
			for k, d := range t.Shape() {
				same = same && d == dims[k].size && (d != ir.Dynamic || dims[k].bound == ir.Dynamic)
			}
			if same {
				return t
			}
		}
	}
	return dimsType(s.ctx, dims, elem)
}

// shaped returns t with another element type. If the only result has that type, shaped returns the result's type.
func (s *subject) shaped(t *ir.TensorType, elem ir.Type) *ir.TensorType {
	if t.Ranked() && t.Encoding() == nil && len(s.results) == 1 {
		if r, ok := s.results[0].(*ir.TensorType); ok && r.Ranked() && r.Encoding() == nil && r.Elem() == elem && slices.Equal(r.Shape(), t.Shape()) {
			return r
		}
	}
	return withElem(s.ctx, t, elem)
}

// types returns the types of the operands from i to j. The caller must not change them.
func (s *subject) types(i, j int) []ir.Type {
	if s.op != nil {
		return s.all[i:j:j]
	}
	out := make([]ir.Type, 0, j-i)
	for _, v := range s.operands[i:j] {
		out = append(out, v.Type())
	}
	return out
}

func (s *subject) attr(name string) ir.Attr { return s.attrs.Get(name) }

// has reports whether the attribute is present.
func (s *subject) has(name string) bool { return s.attrs.Get(name) != nil }

// ints returns the values of an array attribute, or nil if it is absent.
func (s *subject) ints(name string) []int64 { return view.Ints(s.attrs.Get(name)) }

// int returns the value of an integer attribute. If there is none, it returns absent.
func (s *subject) int(name string, absent int64) int64 {
	return view.IntOr(s.attrs.Get(name), absent)
}

func (s *subject) bool(name string) bool { return s.int(name, 0) != 0 }

// shapeOf returns the shape of a dense attribute, or nil if it has none.
func shapeOf(a ir.Attr) []int64 {
	if d, ok := a.(*ir.DenseAttr); ok {
		if t, ok := d.Type().(*ir.TensorType); ok {
			return t.Shape()
		}
	}
	return nil
}

// withElem returns t with another element type.
func withElem(c *ir.Context, t *ir.TensorType, elem ir.Type) *ir.TensorType {
	if t.Elem() == elem {
		return t
	}
	if !t.Ranked() {
		return c.UnrankedTensor(elem)
	}
	return c.Tensor(t.Shape(), elem, t.Encoding())
}
