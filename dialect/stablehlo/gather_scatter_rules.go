package stablehlo

import (
	"cmp"
	"slices"

	"github.com/hlocb/hlocb/ir"
)

// inRange checks that each of dims is in [0, n).
func inRange(dims []int64, name, of string, n int) error {
	for _, d := range dims {
		if d < 0 || d >= int64(n) {
			return fail("Expects each element of %s to be in range [0, %s) i.e. [0, %d). got: %d.", name, of, n, d)
		}
	}
	return nil
}

// disjoint checks that no dimension is in both lists or repeated in one.
func disjoint(a, b []int64, nameA, nameB string) error {
	if ok, d := unique(append(append(make([]int64, 0, 16), a...), b...)); !ok {
		return fail("has duplicated dimension from %s and %s: %d", nameA, nameB, d)
	}
	return nil
}

// sortedUnique checks that dims increase strictly. sortedForScatter does so with MLIR's wording for scatter.
func sortedUnique(dims []int64, name string) error {
	return increasing(dims, "expects %s to %s, got: [%s]", name)
}

func sortedForScatter(dims []int64, name string) error {
	return increasing(dims, "Expects %s to %s; got: [%s].", name)
}

func increasing(dims []int64, format, name string) error {
	if !slices.IsSorted(dims) {
		return fail(format, name, "be sorted", joined(dims))
	}
	if ok, _ := unique(dims); !ok {
		return fail(format, name, "not repeat", joined(dims))
	}
	return nil
}

// inferGatherOf checks gather and dynamic_gather. sizes are the slice sizes, nil if unknown. The constraint numbers are
// gather's.
func inferGatherOf(s *subject, sizes []int64, known bool, sizesLen int64) ([]ir.Type, error) {
	t, start := s.tensor(0), s.tensor(1)
	g, ok := ir.DataOf[GatherDims](s.attr("dimension_numbers"))
	if !ok {
		return nil, opFail("requires attribute 'dimension_numbers'")
	}
	if n := len(g.OffsetDims) + len(g.CollapsedSliceDims) + len(g.OperandBatchingDims); n != t.Rank() { // (C1)
		return nil, fail("offset_dims size (%d) plus collapse_slice_dims size (%d) plus operand_batching_dims size (%d) is not equal to operand rank (%d)",
			len(g.OffsetDims), len(g.CollapsedSliceDims), len(g.OperandBatchingDims), t.Rank())
	}
	if g.IndexVectorDim < 0 || g.IndexVectorDim > int64(start.Rank()) { // (C2)
		return nil, fail("Expects index_vector_dim to be in range [0, rank-of('start_indices')] i.e. [0, %d]. got: %d.", start.Rank(), g.IndexVectorDim)
	}
	batch := start.Rank() // the batch dimensions of start_indices
	size := int64(1)
	if g.IndexVectorDim < int64(start.Rank()) {
		batch--
		size = start.Shape()[g.IndexVectorDim]
	}
	rank := len(g.OffsetDims) + batch
	if err := cmp.Or(
		sortedUnique(g.OffsetDims, "offset_dims"),                                                              // (C4)
		inRange(g.OffsetDims, "offset_dims", "implied-result-rank", rank),                                      // (C5)
		disjoint(g.CollapsedSliceDims, g.OperandBatchingDims, "collapsed_slice_dims", "operand_batching_dims"), // (C6)
		sortedUnique(g.CollapsedSliceDims, "collapsed_slice_dims"),                                             // (C7)
		inRange(g.CollapsedSliceDims, "collapsed_slice_dims", "rank-of('operand')", t.Rank()),                  // (C8)
		sortedUnique(g.OperandBatchingDims, "operand_batching_dims"),                                           // (C10)
		inRange(g.OperandBatchingDims, "operand_batching_dims", "rank-of('operand')", t.Rank()),                // (C11)
		startBatching(g.StartIndicesBatchingDims, g.IndexVectorDim, start, "start_indices_batching_dims", "start_indices"),
	); err != nil {
		return nil, err
	}
	if len(g.OperandBatchingDims) != len(g.StartIndicesBatchingDims) { // (C16)
		return nil, fail("operand_batching_dims and start_indices_batching_dims should have the same size")
	}
	for i, d := range g.OperandBatchingDims { // (C17)
		a, b := t.Shape()[d], start.Shape()[g.StartIndicesBatchingDims[i]]
		if !sameSize(a, b) {
			return nil, fail("operand_batching_dims[%d] and start_indices_batching_dims[%d] must have compatible sizes, but got %d and %d", i, i, a, b)
		}
	}
	if size != ir.Dynamic && int64(len(g.StartIndexMap)) != size { // (C3)
		return nil, fail("start_index_map size (%d) is not equal to size of index dimension (%d) of start_indices (%d)", len(g.StartIndexMap), g.IndexVectorDim, size)
	}
	if err := cmp.Or(
		disjoint(g.StartIndexMap, g.OperandBatchingDims, "start_index_map", "operand_batching_dims"), // (C18)
		inRange(g.StartIndexMap, "start_index_map", "rank-of('operand')", t.Rank()),                  // (C19)
	); err != nil {
		return nil, err
	}
	if sizesLen != ir.Dynamic && sizesLen != int64(t.Rank()) { // (C20)
		return nil, fail("slice_sizes size (%d) not equal to operand rank (%d)", sizesLen, t.Rank())
	}
	if known {
		for _, f := range [...]struct {
			name string
			dims []int64
		}{{"collapsed_slice_dims", g.CollapsedSliceDims}, {"operand_batching_dims", g.OperandBatchingDims}} { // (C9, C12)
			for _, d := range f.dims {
				if sizes[d] > 1 {
					return nil, fail("Expects that for each dim in %s, slice_sizes[dim] should be <= 1, but got %d", f.name, sizes[d])
				}
			}
		}
		for i, n := range sizes { // (C21)
			if d := t.Shape()[i]; n < 0 || d != ir.Dynamic && n > d {
				return nil, fail("slice size (%d) is out of bounds for operand dimension (%d) at index %d", n, d, i)
			}
		}
	}
	// (C22): batch dimensions of start_indices and slice sizes, interleaved by offset_dims.
	dims := make([]dim, rank)
	next, offset := 0, 0
	for i := range dims {
		dims[i] = dim{ir.Dynamic, ir.Dynamic}
		if slices.Contains(g.OffsetDims, int64(i)) {
			for slices.Contains(g.CollapsedSliceDims, int64(offset)) || slices.Contains(g.OperandBatchingDims, int64(offset)) {
				offset++
			}
			if known {
				dims[i].size = sizes[offset]
			}
			offset++
			continue
		}
		if next == int(g.IndexVectorDim) {
			next++
		}
		dims[i] = dimOf(start, next)
		next++
	}
	return []ir.Type{dimsType(s.ctx, dims, t.Elem())}, nil // (C23)
}

// startBatching checks the batching dimensions of indices (gather C13, C14, C15).
func startBatching(dims []int64, vector int64, t *ir.TensorType, name, of string) error {
	if ok, _ := unique(dims); !ok {
		return fail("expects %s to not repeat, got: [%s]", name, joined(dims))
	}
	if err := inRange(dims, name, "rank-of('"+of+"')", t.Rank()); err != nil {
		return err
	}
	if slices.Contains(dims, vector) {
		return fail("expects %s not to include index_vector_dim %d", name, vector)
	}
	return nil
}

func inferGather(s *subject) ([]ir.Type, error) {
	sizes := s.ints("slice_sizes")
	return inferGatherOf(s, sizes, true, int64(len(sizes)))
}

func inferDynamicGather(s *subject) ([]ir.Type, error) {
	n := ir.Dynamic
	if t := s.tensor(2); t.Ranked() && t.Rank() == 1 {
		n = t.Shape()[0]
	}
	sizes := s.constantInts(2)
	return inferGatherOf(s, sizes, len(sizes) == s.tensor(0).Rank() && sizes != nil, n)
}

// inferScatter: the types of the inputs, with the element types that the computation returns (scatter C24, C25).
func inferScatter(s *subject) ([]ir.Type, error) {
	n := (len(s.operands) - 1) / 2
	if n < 1 || len(s.operands) != 2*n+1 {
		return nil, opFail("expected 3 or more operands, but found %d", len(s.operands))
	}
	_, ret, err := s.body(0)
	if err != nil {
		return nil, err
	}
	if err := reducerRule(s, 0, s.types(0, n), scalars(s.ctx, s.types(n+1, 2*n+1))); err != nil { // (C23)
		return nil, err
	}
	types := make([]ir.Type, n)
	for i := range types {
		types[i] = withElem(s.ctx, s.tensor(i), asTensor(s.ctx, ret[i]).Elem())
	}
	return types, nil
}

func scatterRule(s *subject) error {
	n := (len(s.operands) - 1) / 2
	t, idx := s.tensor(0), s.tensor(n)
	for i := 1; i < n; i++ {
		if !sameDims(t.Shape(), s.tensor(i).Shape()) { // (C1)
			return fail("Not all inputs have compatible shapes.")
		}
	}
	u := s.tensor(n + 1)
	for i := n + 2; i < len(s.operands); i++ {
		if !sameDims(u.Shape(), s.tensor(i).Shape()) { // (C3)
			return fail("Not all updates have compatible shapes.")
		}
	}
	d, ok := ir.DataOf[ScatterDims](s.attr("scatter_dimension_numbers"))
	if !ok {
		return opFail("requires attribute 'scatter_dimension_numbers'")
	}
	if d.IndexVectorDim < 0 || d.IndexVectorDim > int64(idx.Rank()) { // (C22)
		return fail("Expects index_vector_dim to be in range [0, rank-of('scatter_indices')] i.e. [0, %d]. got: %d.", idx.Rank(), d.IndexVectorDim)
	}
	var batch []int64 // the sizes of scatter_indices without the index vector
	for i, n := range idx.Shape() {
		if int64(i) != d.IndexVectorDim {
			batch = append(batch, n)
		}
	}
	if want := len(batch) + len(d.UpdateWindowDims); u.Rank() != want { // (C4)
		return fail("expects updates tensor must be of rank %d ( == rank-of('scatter_indices') - 1 + size-of('update_window_dims'), where 'scatter_indices' is expanded by a trailing 1 dimension if 'index_vector_dim' == rank-of('scatter_indices')), but got %d.", want, u.Rank())
	}
	if k := len(d.UpdateWindowDims) + len(d.InsertedWindowDims) + len(d.InputBatchingDims); k != t.Rank() { // (C2)
		return fail("Expects rank-of operand to match size-of('update_window_dims') + size-of('inserted_window_dims') + size-of('input_batching_dims') i.e. %d but got %d.", k, t.Rank())
	}
	if err := cmp.Or(
		sortedForScatter(d.UpdateWindowDims, "update_window_dims"),                                         // (C7)
		inRange(d.UpdateWindowDims, "update_window_dims", "rank-of('updates')", u.Rank()),                  // (C8)
		disjoint(d.InsertedWindowDims, d.InputBatchingDims, "inserted_window_dims", "input_batching_dims"), // (C9)
		sortedForScatter(d.InsertedWindowDims, "inserted_window_dims"),                                     // (C10)
		inRange(d.InsertedWindowDims, "inserted_window_dims", "rank-of('operand')", t.Rank()),              // (C11)
		sortedForScatter(d.InputBatchingDims, "input_batching_dims"),                                       // (C12)
		inRange(d.InputBatchingDims, "input_batching_dims", "rank-of('operand')", t.Rank()),                // (C13)
	); err != nil {
		return err
	}
	if ok, _ := unique(d.ScatterIndicesBatchingDim); !ok { // (C14)
		return fail("Expects scatter_indices_batching_dims to not repeat; got: [%s].", joined(d.ScatterIndicesBatchingDim))
	}
	if err := inRange(d.ScatterIndicesBatchingDim, "scatter_indices_batching_dims", "rank-of('scatter_indices')", idx.Rank()); err != nil { // (C15)
		return err
	}
	if slices.Contains(d.ScatterIndicesBatchingDim, d.IndexVectorDim) { // (C16)
		return fail("expects scatter_indices_batching_dims not to include index_vector_dim %d.", d.IndexVectorDim)
	}
	if len(d.InputBatchingDims) != len(d.ScatterIndicesBatchingDim) { // (C17)
		return fail("input_batching_dims and scatter_indices_batching_dims should have the same size.")
	}
	for i, b := range d.InputBatchingDims { // (C18)
		x, y := t.Shape()[b], idx.Shape()[d.ScatterIndicesBatchingDim[i]]
		if !sameSize(x, y) {
			return fail("input_batching_dims[%d] and scatter_indices_batching_dims[%d] must have compatible sizes, but got %d and %d.", i, i, x, y)
		}
	}
	size := int64(1)
	if d.IndexVectorDim < int64(idx.Rank()) {
		size = idx.Shape()[d.IndexVectorDim]
	}
	if size != ir.Dynamic && int64(len(d.ScatterDimsToOperandDims)) != size { // (C19)
		return fail("Scatter op has %d elements in scatter_dims_to_operand_dims and the bound of dimension index_vector_dim=%d of scatter_indices is %d. These two numbers must be equal.", len(d.ScatterDimsToOperandDims), d.IndexVectorDim, size)
	}
	return cmp.Or(
		disjoint(d.ScatterDimsToOperandDims, d.InputBatchingDims, "scatter_dims_to_operand_dims", "input_batching_dims"), // (C20)
		inRange(d.ScatterDimsToOperandDims, "scatter_dims_to_operand_dims", "rank-of('operand')", t.Rank()),              // (C21)
		scatterUpdates(d, t, batch, u),
	)
}

// scatterUpdates checks the shape of updates (scatter C4): windows must not be larger than the inputs, and the other
// dimensions must match batch, the sizes of the indices.
func scatterUpdates(d *ScatterDims, t *ir.TensorType, batch []int64, u *ir.TensorType) error {
	var window []int64
	for i, n := range t.Shape() {
		if !slices.Contains(d.InsertedWindowDims, int64(i)) && !slices.Contains(d.InputBatchingDims, int64(i)) {
			window = append(window, n)
		}
	}
	for i, w := range d.UpdateWindowDims {
		if n := u.Shape()[w]; n != ir.Dynamic && window[i] != ir.Dynamic && n > window[i] {
			return fail("expects bounds of the window dimensions of updates to not exceed the bounds of the corresponding dimensions of operand. For dimension %d, updates bound is %d, operand bound is %d.", w, n, window[i])
		}
	}
	next := 0
	for i, n := range u.Shape() {
		if slices.Contains(d.UpdateWindowDims, int64(i)) {
			continue
		}
		if !sameSize(n, batch[next]) {
			return fail("expects bounds of the scatter dimensions of updates to be same as the bounds of the corresponding dimensions of scatter indices. For scatter dimension %d, updates bound is %d , scatter_indices bound is %d.", i, n, batch[next])
		}
		next++
	}
	return nil
}

// inferSelectAndScatter: the operand's shape with the element type that scatter returns (select_and_scatter C11, C12).
func inferSelectAndScatter(s *subject) ([]ir.Type, error) {
	_, ret, err := s.body(1)
	if err != nil || len(ret) != 1 {
		return []ir.Type{s.typ(0)}, nil
	}
	return s.elemOf(asTensor(s.ctx, ret[0]).Elem()), nil
}

func selectAndScatterRule(s *subject) error {
	t, src, init := s.tensor(0), s.tensor(1), s.tensor(2)
	if w := s.ints("window_dimensions"); len(w) != t.Rank() { // (C4)
		return fail("expects window-dimensions size == operand rank, but got window-dimensions size: %d and operand-type: '%s' with rank = %d.", len(w), t, t.Rank())
	}
	ws := s.ints("window_dimensions")
	if ws == nil {
		ws = slices.Repeat([]int64{1}, t.Rank())
	}
	windows, err := windowsOf(s, ws, s.ints("window_strides"), nil, nil, nil) // (C5 to C8)
	if err != nil {
		return err
	}
	if out := windowShape(t.Shape(), windows); !sameDims(out, src.Shape()) { // (C2)
		return fail("expects source-type to be '%s', but got'%s'", s.ctx.Tensor(out, src.Elem(), nil), src)
	}
	if err := selectRule(s, t); err != nil { // (C9)
		return err
	}
	return reducerRule(s, 1, []ir.Type{src}, []ir.Type{init}) // (C1, C3, C10)
}

// selectRule checks the computation that selects one of two elements of t.
func selectRule(s *subject, t *ir.TensorType) error {
	b, ret, err := s.body(0)
	if err != nil {
		return err
	}
	if len(b.Args()) != 2 {
		return fail("expects the select-region to take 2 parameters, but takes %d", len(b.Args()))
	}
	want := scalarOf(s.ctx, t)
	for i, a := range b.Args() {
		if !Compatible(a.Type(), want) {
			return fail("expects the type of select-region's parameter at index %d to be '%s', but got '%s'", i, want, a.Type())
		}
	}
	if len(ret) != 1 {
		return fail("expects select-region to return single value, but got: %d", len(ret))
	}
	if r, ok := ret[0].(*ir.TensorType); !ok || r.Rank() != 0 || r.Elem() != ir.Type(i1) {
		return fail("expects the return-type of select-region to be tensor<i1>, but got: '%s'", ret[0])
	}
	return nil
}
