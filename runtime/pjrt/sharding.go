package pjrt

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/tensor"
)

// sharding says which part of a global value each partition holds.
type sharding struct {
	// tiles is into how many parts each dimension is cut; nil where every partition holds the whole value.
	tiles []int64
	// index holds, for each partition, which part of each dimension is its own.
	index [][]int64
}

// errManual says that a value's shards are the program's own business.
var errManual = errors.New("the value is sharded manually")

// shardShape returns the shape of one shard. Where a dimension cannot be cut into equal parts the shards are as large as
// the largest part, as XLA has it; the last ones are padded.
func (s *sharding) shardShape(global tensor.Shape) (tensor.Shape, error) {
	if s.tiles == nil {
		return global, nil
	}
	if len(s.tiles) > len(global) {
		return nil, fmt.Errorf("a sharding of %d dimensions does not fit a value of %d", len(s.tiles), len(global))
	}
	shard := global.Clone()
	for i, n := range s.tiles {
		if n <= 0 {
			return nil, fmt.Errorf("dimension %d of size %d cannot be cut into %d parts", i, global[i], n)
		}
		shard[i] = (global[i] + n - 1) / n
	}
	return shard, nil
}

// wholeShape returns the shape of the value whose shards have the given one, if none of them is padded.
func (s *sharding) wholeShape(shard tensor.Shape) tensor.Shape {
	whole := shard.Clone()
	for i, n := range s.tiles {
		if i < len(whole) {
			whole[i] *= n
		}
	}
	return whole
}

// split cuts a global value into one shard per partition. Shards may share memory with it and each other.
func (s *sharding) split(t *tensor.Tensor, partitions int) ([]*tensor.Tensor, error) {
	out := make([]*tensor.Tensor, partitions)
	shape, err := s.shardShape(t.Shape())
	if err != nil {
		return nil, err
	}
	if s.tiles == nil {
		for p := range out {
			out[p] = t
		}
		return out, nil
	}
	if len(s.index) != partitions {
		return nil, fmt.Errorf("a sharding over %d devices does not fit %d partitions", len(s.index), partitions)
	}
	for p := range out {
		out[p] = tensor.New(t.DType(), shape)
		copyShard(out[p], t, s.index[p], true)
	}
	return out, nil
}

// join assembles a global value from one shard per partition.
func (s *sharding) join(shards []*tensor.Tensor, global tensor.Shape) (*tensor.Tensor, error) {
	shape, err := s.shardShape(global)
	if err != nil {
		return nil, err
	}
	for _, t := range shards {
		if !t.Shape().Equal(shape) {
			return nil, fmt.Errorf("a shard has shape %v, expected %v of %v", t.Shape(), shape, global)
		}
	}
	if s.tiles == nil {
		return shards[0], nil
	}
	out := tensor.New(shards[0].DType(), global)
	for p, t := range shards {
		copyShard(t, out, s.index[p], false)
	}
	return out, nil
}

// copyShard copies between a shard and its place in the global value, whose parts are numbered by index. What of the
// shard lies outside of the global value is padding and left alone.
func copyShard(shard, global *tensor.Tensor, index []int64, toShard bool) {
	dims, full := shard.Shape(), global.Shape()
	size := int64(shard.DType().Size())
	if shard.NumElements() == 0 || global.NumElements() == 0 {
		return
	}
	if len(dims) == 0 {
		if toShard {
			copy(shard.Bytes(), global.Bytes())
		} else {
			copy(global.Bytes(), shard.Bytes())
		}
		return
	}
	var walk func(dim int, s, g int64)
	walk = func(dim int, s, g int64) {
		at := int64(0)
		if dim < len(index) {
			at = index[dim] * dims[dim]
		}
		n := min(dims[dim], full[dim]-at)
		if n <= 0 {
			return
		}
		if dim == len(dims)-1 {
			a, b := shard.Bytes()[s*dims[dim]*size:][:n*size], global.Bytes()[(g*full[dim]+at)*size:][:n*size]
			if toShard {
				copy(a, b)
			} else {
				copy(b, a)
			}
			return
		}
		for i := range n {
			walk(dim+1, s*dims[dim]+i, g*full[dim]+at+i)
		}
	}
	walk(0, 0, 0)
}

// mesh is an sdy.mesh: named axes, and the partition at each place, row-major.
type mesh struct {
	names []string
	sizes []int64
	ids   []int64 // nil: 0, 1, 2, ...
}

// parseMesh reads <["x"=2, "y"=4], device_ids=[...]>.
func parseMesh(text string) (*mesh, error) {
	r := reader{rest: text}
	m := &mesh{}
	r.expect("<")
	r.expect("[")
	for r.err == nil && !r.accept("]") {
		m.names = append(m.names, r.quoted())
		r.expect("=")
		m.sizes = append(m.sizes, r.integer())
		r.accept(",")
	}
	if r.accept(",") {
		r.expect("device_ids")
		r.expect("=")
		m.ids = r.integers()
	}
	r.expect(">")
	return m, r.finish("mesh", text)
}

// coordinates returns the place of a partition along each axis, or nil where the mesh lacks it.
func (m *mesh) coordinates(partition int64) []int64 {
	if m.ids != nil {
		at := int64(-1)
		for i, id := range m.ids {
			if id == partition {
				at = int64(i)
			}
		}
		if partition = at; at < 0 {
			return nil
		}
	}
	out := make([]int64, len(m.sizes))
	for i := len(m.sizes) - 1; i >= 0; i-- {
		out[i] = partition % m.sizes[i]
		partition /= m.sizes[i]
	}
	if partition != 0 {
		return nil
	}
	return out
}

// parseShardy reads #sdy.sharding<@mesh, [{"x"}, {"y":(1)2, ?}], replicated={"z"}>. lookup finds a mesh by name.
func parseShardy(text string, partitions int, lookup func(name string) *mesh) (*sharding, error) {
	r := reader{rest: strings.TrimPrefix(text, "#sdy.sharding")}
	r.expect("<")
	var m *mesh
	if r.accept("@") {
		name := r.word()
		if m = lookup(name); m == nil {
			return nil, fmt.Errorf("no mesh @%s in the module", name)
		}
	} else {
		r.expect("mesh")
		inner := r.balanced()
		var err error
		if m, err = parseMesh(inner); err != nil {
			return nil, err
		}
	}
	type part struct {
		axis          int
		before, count int64
	}
	var dims [][]part
	r.expect(",")
	r.expect("[")
	for r.err == nil && !r.accept("]") {
		var parts []part
		r.expect("{")
		for r.err == nil && !r.accept("}") {
			if !r.accept("?") {
				name := r.quoted()
				p := part{axis: -1, before: 1}
				for i, n := range m.names {
					if n == name {
						p.axis, p.count = i, m.sizes[i]
					}
				}
				if p.axis < 0 && r.err == nil {
					return nil, fmt.Errorf("the mesh has no axis %q", name)
				}
				if r.accept(":") {
					r.expect("(")
					p.before = r.integer()
					r.expect(")")
					p.count = r.integer()
				}
				parts = append(parts, p)
			}
			r.accept(",")
		}
		if r.accept("p") { // priority
			r.integer()
		}
		dims = append(dims, parts)
		r.accept(",")
	}
	if r.err != nil {
		return nil, r.finish("sharding", text)
	}

	s := &sharding{}
	cut := false
	for _, parts := range dims {
		n := int64(1)
		for _, p := range parts {
			n *= p.count
		}
		s.tiles = append(s.tiles, n)
		cut = cut || n != 1
	}
	if !cut {
		return &sharding{}, nil
	}
	for partition := range partitions {
		at := m.coordinates(int64(partition))
		if at == nil {
			return nil, fmt.Errorf("the mesh has no device %d", partition)
		}
		index := make([]int64, len(dims))
		for d, parts := range dims {
			for _, p := range parts {
				if p.count <= 0 || p.before <= 0 || m.sizes[p.axis]%(p.before*p.count) != 0 {
					return nil, fmt.Errorf("sharding %s has an axis that does not divide the mesh", text)
				}
				index[d] = index[d]*p.count + at[p.axis]/(m.sizes[p.axis]/(p.before*p.count))%p.count
			}
		}
		s.index = append(s.index, index)
	}
	return s, nil
}

// parseGSPMD reads XLA's own notation: {replicated}, {devices=[2,1,2]<=[4] last_tile_dim_replicate},
// {devices=[2,2]<=[2,2]T(1,0)}, {devices=[4]0,1,2,3}.
func parseGSPMD(text string, partitions int) (*sharding, error) {
	r := reader{rest: text}
	r.expect("{")
	switch {
	case r.accept("replicated"), r.accept("maximal"):
		return &sharding{}, r.err
	case r.accept("manual"):
		return nil, errManual
	}
	r.expect("devices")
	r.expect("=")
	tiles := r.integers()
	if count(tiles) < 0 {
		return nil, fmt.Errorf("sharding %s has an impossible number of devices", text)
	}
	var ids []int64
	if r.accept("<=") {
		dims := r.integers()
		perm := make([]int64, len(dims))
		for i := range perm {
			perm[i] = int64(i)
		}
		if r.accept("T") {
			perm = r.list("(", ")")
		}
		if r.err == nil {
			var err error
			if ids, err = transposedIota(dims, perm); err != nil {
				return nil, fmt.Errorf("sharding %s: %w", text, err)
			}
		}
	} else {
		for r.err == nil {
			ids = append(ids, r.integer())
			if !r.accept(",") {
				break
			}
		}
	}
	extra := 0 // trailing tile dimensions that cut nothing
	switch {
	case r.accept("last_tile_dim_replicate"):
		extra = 1
	case r.accept("last_tile_dims"):
		r.expect("=")
		kinds := r.balanced()
		if strings.Contains(kinds, "manual") {
			return nil, errManual
		}
		extra = strings.Count(kinds, ",") + 1
	}
	r.expect("}")
	if err := r.finish("sharding", text); err != nil {
		return nil, err
	}
	out, err := newTiled(tiles, ids, extra, partitions)
	if err != nil {
		return nil, fmt.Errorf("sharding %s %w", text, err)
	}
	return out, nil
}

// newTiled makes the sharding whose tiles, row-major, belong to the devices ids; the last dimensions of tiles, extra of
// them, cut nothing.
func newTiled(tiles, ids []int64, extra, partitions int) (*sharding, error) {
	if int64(len(ids)) != count(tiles) || len(ids) != partitions || extra > len(tiles) {
		return nil, fmt.Errorf("is over %d devices, the program has %d partitions", len(ids), partitions)
	}
	s := &sharding{tiles: tiles[:len(tiles)-extra], index: make([][]int64, partitions)}
	for at, id := range ids {
		if id < 0 || id >= int64(partitions) || s.index[id] != nil {
			return nil, fmt.Errorf("names device %d twice or out of range", id)
		}
		index := make([]int64, len(tiles))
		rest := int64(at)
		for i := len(tiles) - 1; i >= 0; i-- {
			index[i] = rest % tiles[i]
			rest /= tiles[i]
		}
		s.index[id] = index[:len(s.tiles)]
	}
	if count(s.tiles) == 1 {
		return &sharding{}, nil
	}
	return s, nil
}

// count returns the number of tiles, -1 where that is out of all bounds.
func count(tiles []int64) int64 {
	total := int64(1)
	for _, n := range tiles {
		if n <= 0 || total > 1<<20/n {
			return -1
		}
		total *= n
	}
	return total
}

// transposedIota returns 0, 1, 2, ... in the given shape with its dimensions permuted, flattened.
func transposedIota(dims, perm []int64) ([]int64, error) {
	if len(dims) != len(perm) {
		return nil, errors.New("a transposition of another rank")
	}
	total := int64(1)
	strides := make([]int64, len(dims))
	for i := len(dims) - 1; i >= 0; i-- {
		strides[i] = total
		if dims[i] <= 0 || total > 1<<20/dims[i] {
			return nil, errors.New("an impossible number of devices")
		}
		total *= dims[i]
	}
	seen := make([]bool, len(perm))
	for _, p := range perm {
		if p < 0 || p >= int64(len(perm)) || seen[p] {
			return nil, errors.New("no permutation")
		}
		seen[p] = true
	}
	out := make([]int64, total)
	at := make([]int64, len(dims))
	for i := range out {
		for d, p := range perm {
			out[i] += at[d] * strides[p]
		}
		for d := len(at) - 1; d >= 0; d-- {
			if at[d]++; at[d] < dims[perm[d]] {
				break
			}
			at[d] = 0
		}
	}
	return out, nil
}

// reader takes a notation apart; after the first mistake it reads nothing more.
type reader struct {
	rest string
	err  error
}

func (r *reader) skip() { r.rest = strings.TrimLeft(r.rest, " \t\n") }

func (r *reader) accept(token string) bool {
	r.skip()
	if r.err != nil || !strings.HasPrefix(r.rest, token) {
		return false
	}
	r.rest = r.rest[len(token):]
	return true
}

func (r *reader) expect(token string) {
	if !r.accept(token) && r.err == nil {
		r.err = fmt.Errorf("expected %q at %q", token, r.rest)
	}
}

func (r *reader) integer() int64 {
	r.skip()
	n := 0
	for n < len(r.rest) && (r.rest[n] >= '0' && r.rest[n] <= '9' || n == 0 && r.rest[n] == '-') {
		n++
	}
	v, err := strconv.ParseInt(r.rest[:n], 10, 64)
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("expected an integer at %q", r.rest)
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) integers() []int64 { return r.list("[", "]") }

func (r *reader) list(open, close string) []int64 {
	r.expect(open)
	out := []int64{}
	for r.err == nil && !r.accept(close) {
		out = append(out, r.integer())
		r.accept(",")
	}
	return out
}

func (r *reader) quoted() string {
	r.expect(`"`)
	s, rest, ok := strings.Cut(r.rest, `"`)
	if !ok && r.err == nil {
		r.err = errors.New("a string is not closed")
	}
	r.rest = rest
	return s
}

func (r *reader) word() string {
	n := strings.IndexAny(r.rest, ",> ")
	if n < 0 {
		n = len(r.rest)
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return strings.Trim(s, `"`)
}

// balanced reads from an opening bracket to the one that closes it.
func (r *reader) balanced() string {
	r.skip()
	depth := 0
	for i := range len(r.rest) {
		switch r.rest[i] {
		case '<', '[', '{', '(':
			depth++
		case '>', ']', '}', ')':
			if depth--; depth == 0 {
				s := r.rest[:i+1]
				r.rest = r.rest[i+1:]
				return s
			}
		}
		if depth == 0 {
			break
		}
	}
	if r.err == nil {
		r.err = fmt.Errorf("expected a bracketed text at %q", r.rest)
	}
	return ""
}

func (r *reader) finish(what, text string) error {
	if r.err != nil {
		return fmt.Errorf("%s %s: %w", what, text, r.err)
	}
	return nil
}
