package stablehlo

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// groups returns the rule for replica groups: a matrix of unique ids from 0, with -1 only as padding if the groups may
// differ in size (all_gather C2, C4; all_reduce C1 to C3; reduce_scatter C3 to C5).
func groups(uniform bool) rule {
	return func(s *subject) error { return idsRule(s, uniform, s.has("use_global_device_ids"), true, 0) }
}

// idsRule checks replica groups. all requires that every id up to the greatest is present, and size is the required
// group size, 0 for any.
func idsRule(s *subject, uniform, global, all bool, size int64) error {
	a := s.attr("replica_groups")
	if r, ok := ir.DataOf[ReplicaGroupMeshAxes](a); ok {
		if mesh, ok := r.Mesh.(*ir.SymbolRefAttr); ok && s.op != nil && s.lookup(mesh.Root()) == nil {
			return opFail("replica_groups: mesh symbol '%s' not found", mesh.Root())
		}
		if mesh, ok := ir.DataOf[Mesh](r.Mesh); ok {
			for _, x := range r.AxisRefs() {
				if !slices.ContainsFunc(mesh.Axes, func(a MeshAxis) bool { return a.Name == x.Name }) {
					return opFail("replica_groups: axis '%s' not found in mesh definition", x.Name)
				}
			}
		}
		return nil
	}
	shape := shapeOf(a)
	if len(shape) != 2 {
		return fail("replica groups should be a rank 2 tensor,but instead it is of rank %d", len(shape))
	}
	ids := view.Elements(a)
	if global && (len(ids) == 0 || shape[0] == 0) { // (all_reduce C4)
		return fail("if `use_global_device_ids` is set, the replica groups cannot be empty")
	}
	seen := map[int64]bool{}
	for _, id := range ids {
		if id < 0 && !all { // (collective_broadcast C2)
			return fail("replica_groups values must be positive, but was given %d", id)
		}
		if id == -1 {
			if uniform {
				return fail("Invalid replica id %d", id)
			}
			continue
		}
		if seen[id] {
			return fail("replica id #%d seen more than once", id)
		}
		seen[id] = true
	}
	for id := range int64(len(seen)) {
		if all && !seen[id] {
			return fail("replica id #%d not seen in replica groups", id)
		}
	}
	if size > 0 && (len(ids) == 0 || shape[1] != size) {
		return fail("group size of replica_groups must be %d", size)
	}
	return nil
}

// channelRule checks the channel if device ids are global (all_gather C5, all_reduce C4, reduce_scatter C6).
func channelRule(s *subject) error {
	if !s.has("use_global_device_ids") {
		return nil
	}
	c, ok := ir.DataOf[ChannelHandle](s.attr("channel_handle"))
	if !ok {
		return fail("channel_id must be positive when useGlobalDeviceIds is set but got: 0")
	}
	if c.Handle <= 0 {
		return fail("channel_id must be positive when useGlobalDeviceIds is set but got: %d", c.Handle)
	}
	return nil
}

func allGatherRule(s *subject) error {
	d := int(s.int("all_gather_dim", 0))
	if c, ok := ir.DataOf[ChannelHandle](s.attr("channel_handle")); ok && c.Handle < 0 && s.has("use_global_device_ids") { // (C5)
		return fail("channel_id cannot be negative when useGlobalDeviceIds is set")
	}
	for i := range s.operands {
		t, r := s.tensor(i), s.result(i)
		if d >= t.Rank() { // (C1)
			return fail("all_gather_dim must be a valid index of operand")
		}
		if t.Rank() != r.Rank() { // (C6)
			return fail("operand and result must have the same rank")
		}
		for k := range t.Rank() {
			if k != d && !sameSize(t.Shape()[k], r.Shape()[k]) {
				return fail("operand and result should have the same shape except for the dimension size at 'all_gather_dim'")
			}
		}
		n, m := t.Shape()[d], r.Shape()[d]
		if n == 0 {
			return fail("dimension size of operand at 'all_gather_dim' cannot be zero")
		}
		if n != ir.Dynamic && m != ir.Dynamic && m%n != 0 {
			return fail("result gather dimension has size %d, expected to be a multiple of operand gather dimension size %d", m, n)
		}
	}
	return nil
}

// inferAllReduce: the operands' shapes with the element types of the computation (all_reduce C6, C7).
func inferAllReduce(s *subject) ([]ir.Type, error) {
	if len(s.operands) == 0 {
		return nil, opFail("expected 1 or more operands, but found 0")
	}
	var out []ir.Type
	_, ret, err := s.body(0)
	for i := range s.operands {
		t := s.tensor(i)
		elem := t.Elem()
		if err == nil && len(ret) == 1 {
			if r, ok := ret[0].(*ir.TensorType); ok && promotable(elem, r.Elem()) {
				elem = r.Elem()
			}
		}
		out = append(out, withElem(s.ctx, t, elem))
	}
	return out, nil
}

// reducersRule checks a computation that is applied to each operand of data separately (all_reduce C5).
func reducersRule(s *subject) error {
	n := len(s.operands)
	if s.has("has_dynamic_root") {
		n--
	}
	for i := range n {
		t := []ir.Type{s.typ(i)}
		if err := reducerRule(s, 0, t, scalars(s.ctx, t)); err != nil {
			return err
		}
	}
	return nil
}

// inferAllToAll splits and joins (all_to_all C1 to C9).
func inferAllToAll(s *subject) ([]ir.Type, error) {
	split, concat, count := s.int("split_dimension", 0), s.int("concat_dimension", 0), s.int("split_count", 1)
	var out []ir.Type
	for i := range s.operands {
		t := s.tensor(i)
		if split >= int64(t.Rank()) { // (C1)
			return nil, fail("AllToAll split_dimension %d is out-of-bounds for input rank %d", split, t.Rank())
		}
		if concat >= int64(t.Rank()) { // (C3)
			return nil, fail("AllToAll concat_dimension %d is out-of-bounds for input rank %d", concat, t.Rank())
		}
		if err := idsRule(s, true, false, true, count); err != nil { // (C5, C7, C8)
			return nil, err
		}
		dims := s.dimsOf(t)
		if n := dims[split].size; n != ir.Dynamic && n%count != 0 { // (C2)
			return nil, fail("split dimension has size %d, expected to be a multiple of split_count %d", n, count)
		}
		div := func(n int64) int64 {
			if n == ir.Dynamic {
				return n
			}
			return n / count
		}
		mul := func(n int64) int64 {
			if n == ir.Dynamic {
				return n
			}
			return n * count
		}
		dims[split] = dim{div(dims[split].size), div(dims[split].bound)}
		dims[concat] = dim{mul(dims[concat].size), mul(dims[concat].bound)}
		out = append(out, dimsType(s.ctx, dims, t.Elem()))
	}
	if len(out) == 0 {
		return nil, opFail("expected 1 or more operands, but found 0")
	}
	return out, nil
}

// checkRoot checks the operands of a collective whose last operand may be its root, and returns the number of data
// operands.
func checkRoot(s *subject) (n int, err error) {
	name := s.def.Name[len(s.def.Dialect())+1:]
	n = len(s.operands)
	if !s.has("has_dynamic_root") {
		if n == 0 {
			return 0, fail("%s requires at least one data operand", name)
		}
		return n, nil
	}
	if n < 2 {
		return 0, fail("%s with has_dynamic_root=true requires at least two operands (data + root)", name)
	}
	root := s.tensor(n - 1)
	if !root.Ranked() || root.Rank() != 1 || root.Elem() != ir.Type(i32) {
		return 0, fail("last operand of %s with has_dynamic_root=true must be a rank-1 i32 tensor", name)
	}
	if d := root.Shape()[0]; d != ir.Dynamic && d != int64(n-1) {
		return 0, fail("last operand of %s with has_dynamic_root=true must have the same number of elements as data operands (%d), but got %d", name, n-1, d)
	}
	return n - 1, nil
}

// inferRooted: the types of the data operands (collective_broadcast C3, collective_reduce C5).
func inferRooted(s *subject) ([]ir.Type, error) {
	n, err := checkRoot(s)
	if err != nil {
		return nil, err
	}
	return s.types(0, n), nil
}

// inferCollectiveReduce: the data operands' shapes with the element type of the computation (collective_reduce C5, C6).
func inferCollectiveReduce(s *subject) ([]ir.Type, error) {
	n, err := checkRoot(s)
	if err != nil {
		return nil, err
	}
	types, err := inferAllReduce(s)
	if err != nil {
		return nil, err
	}
	return types[:n], nil
}

func collectiveBroadcastRule(s *subject) error { return idsRule(s, true, false, false, 0) } // (C1, C2)

// pairsRule checks source_target_pairs (collective_permute C1 to C4).
func pairsRule(s *subject) error {
	a := s.attr("source_target_pairs")
	if a == nil {
		return nil
	}
	shape := shapeOf(a)
	if len(shape) != 2 {
		return fail("expect source_target_pairs attribute to be of rank 2, but got rank %d", len(shape))
	}
	if shape[1] != 2 { // (C1)
		return fail("expect source_target_pairs attribute of shape (N, 2), but got (%s)", joined(shape))
	}
	ids := view.Elements(a)
	sources, targets := map[int64]bool{}, map[int64]bool{}
	for i, id := range ids {
		if id < 0 { // (C4)
			return fail("replica ids in source_target_pairs must be >= 0.")
		}
		if i%2 == 0 {
			if sources[id] { // (C2)
				return fail("duplicate sources not allowed.")
			}
			sources[id] = true
		} else {
			if targets[id] { // (C3)
				return fail("duplicate targets not allowed.")
			}
			targets[id] = true
		}
	}
	return nil
}

func reduceScatterRule(s *subject) error {
	t, r, d := s.tensor(0), s.result(0), int(s.int("scatter_dimension", 0))
	if t.Rank() != r.Rank() {
		return fail("operand and result should have same rank")
	}
	if d >= t.Rank() { // (C2)
		return fail("scatter dim should be less than operand/result rank")
	}
	n, m := t.Shape()[d], r.Shape()[d]
	if n == 0 {
		return fail("operand dimension size at scatter_dimension cannot be zero")
	}
	if m == 0 {
		return fail("result dimension size at scatter_dimension cannot be zero")
	}
	if n != ir.Dynamic && m != ir.Dynamic && n%m != 0 { // (C8)
		return fail("operand scatter dimension has size %d, expected to be a multiple of result scatter dimension size %d", n, m)
	}
	for i := range t.Rank() {
		if i != d && !sameSize(t.Shape()[i], r.Shape()[i]) {
			return fail("non scatter dimensions should be same for operand (%d) and result (%d)", t.Shape()[i], r.Shape()[i])
		}
	}
	if _, ret, err := s.body(0); err == nil && len(ret) == 1 { // (C9)
		if want := asTensor(s.ctx, ret[0]).Elem(); want != r.Elem() {
			return fail("result element-type is expected to be '%s', but got '%s'", want, r.Elem())
		}
	}
	return nil
}

// asyncStartRule infers the future from the body, as MLIR does: one collective op or slice, whose result it returns.
func asyncStartRule(s *subject) error {
	bad := func(format string, args ...any) error { return inferenceError{opFail(format, args...)} }
	b, _, err := s.body(0)
	if err != nil {
		return err
	}
	inner := b.First()
	if inner == nil || inner.Next() == nil || inner.Next().Next() != nil {
		return bad("region must contain exactly one operation and a return")
	}
	if !slices.ContainsFunc(asynchronous(), inner.Is) {
		return bad("region must contain a collective or slice operation")
	}
	if len(b.Args()) != len(s.operands) {
		return bad("number of operands (%d) must match number of region arguments (%d)", len(s.operands), len(b.Args()))
	}
	for i, a := range b.Args() {
		if a.Type() != s.typ(i) {
			return bad("operand type '%s' at index %d must match region argument type '%s'", s.typ(i), i, a.Type())
		}
	}
	ret := returnTypes(b)
	if len(ret) != 1 {
		return bad("region must return exactly one value, but got %d", len(ret))
	}
	f, ok := s.results[0].(*ir.DialectType)
	if !ok {
		return nil
	}
	if d, ok := f.Data().(*Future); ok && !allCompatible(ret, d.Types) {
		return bad("inferred type(s) '!%s.future<%s>' are incompatible with return type(s) of operation %s", s.def.Dialect(), ret[0], ods.QuoteTypes(s.results))
	}
	return nil
}

// asynchronous returns the ops that async_start can start.
func asynchronous() []*ir.Def {
	return []*ir.Def{AllGather, AllReduce, AllToAll, CollectiveBroadcast, CollectivePermute, CollectiveReduce, DynamicSlice, DynamicUpdateSlice, ReduceScatter, Slice}
}

// inferAsyncDone: the types in the future.
func inferAsyncDone(s *subject) ([]ir.Type, error) {
	if f, ok := s.typ(0).(*ir.DialectType); ok {
		if d, ok := f.Data().(*Future); ok {
			return d.Types, nil
		}
	}
	return nil, fail("operand must be a future")
}

func asyncDoneRule(s *subject) error {
	if f, ok := s.typ(0).(*ir.DialectType); ok {
		if _, ok := f.Data().(*Future); !ok {
			return nil
		}
	}
	return agrees(inferAsyncDone)(s)
}
