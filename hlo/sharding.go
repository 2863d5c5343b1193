package hlo

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/internal/wire"
)

// shardingKind is the type of a sharding, with the numbers of OpSharding.Type.
type shardingKind int64

const (
	replicatedSharding shardingKind = iota
	maximalSharding
	tupleSharding
	tiledSharding
	manualSharding
	unknownSharding
	unreducedSharding
	namedShardingKind // has no number: a named sharding is a field of its own
)

// shardingWords are the words of the kinds that text names by a word.
var shardingWords = map[string]shardingKind{"replicated": replicatedSharding, "maximal": maximalSharding, "manual": manualSharding,
	"unknown": unknownSharding, "unreduced": unreducedSharding}

func (k shardingKind) word() string {
	for w, kind := range shardingWords {
		if kind == k {
			return w
		}
	}
	return ""
}

// sharding says how a value is partitioned over devices: HloSharding of XLA.
type sharding struct {
	kind     shardingKind
	elems    []*sharding // of a tuple
	tiles    tiles
	lastTile bool           // the last tile dimension replicates
	lastDims []shardingKind // the kinds of the last tile dimensions, if last_tile_dims states them
	group    shardGroup
	metadata []*metadata
	named    *namedSharding
	rest     wire.Rest
}

// tiles assigns devices to the tiles of a value: dims tiles, numbered by a list, or by a transposed iota.
type tiles struct {
	dims    []int64
	devices []int64
	iota    []int64 // nil: devices counts
	perm    []int64
}

// shardGroup ties the shardings of several values to each other.
type shardGroup struct {
	word string // shard_as, shard_like, or "" for none
	id   int64
}

// mesh is a named grid of devices.
type mesh struct {
	word   string // meshWord, singleDevice or maximalMesh
	device int64  // of a mesh of one device
	axes   []axis
	ids    tiles // device ids; without iota and devices they count up
	hasIDs bool
	byName map[string]int // indices of axes
}

// Words that start a mesh. A mesh of one device has no axes and no size: XLA calls it maximal_mesh until 0.10 and
// single_device since 0.11, which reads both.
const (
	meshWord     = "mesh"
	maximalMesh  = "maximal_mesh"
	singleDevice = "single_device"
)

// isMesh reports whether a mesh starts at the current token.
func (l *lexer) isMesh() bool { return l.word(meshWord) || l.word(singleDevice) || l.word(maximalMesh) }

// oneDevice reports whether m is a mesh of one device.
func (m *mesh) oneDevice() bool { return m.word == singleDevice || m.word == maximalMesh }

type axis struct {
	name string
	size int64
}

// axisRef is an axis of a mesh or a part of one.
type axisRef struct {
	axis      int64
	pre, size int64 // size 0: the whole axis
}

// dimSharding is how one dimension is partitioned.
type dimSharding struct {
	axes []axisRef
	open bool
}

// namedSharding is a sharding over a mesh.
type namedSharding struct {
	mesh                          mesh
	word                          string // replicated, unreduced or manual, if it applies to the whole sharding
	dims                          []dimSharding
	replicated, unreduced, manual []axisRef
	reduction                     string // sum, max, min; "" if not stated
}

// replicaGroups says which devices take part in a collective together: a list, iota tiles, or axes of a mesh.
type replicaGroups struct {
	lists [][]int64
	tiles *tiles
	mesh  *mesh
	axes  []axisRef
}

// sharding reads a sharding or, in two braces, a tuple of them.
func (p *parser) sharding() *sharding {
	p.expect('{')
	if !p.at('{') && !p.at('}') {
		return p.oneSharding()
	}
	s := &sharding{kind: tupleSharding}
	for !p.at('}') {
		p.expect('{')
		s.elems = append(s.elems, p.oneSharding())
		if !p.accept(',') {
			break
		}
	}
	p.expect('}')
	return s
}

// oneSharding reads a sharding after its opening brace.
func (p *parser) oneSharding() *sharding {
	if p.isMesh() {
		return p.namedSharding()
	}
	at := p.tok.pos
	s := &sharding{kind: tiledSharding}
	var device []int64
	kinds := map[shardingKind]bool{}
	for !p.at('}') {
		kind, isKind := shardingWords[p.tok.text]
		switch {
		case p.tok.kind == identToken && isKind:
			kinds[kind] = true
			p.next()
		case p.acceptWord("last_tile_dim_replicate"):
			s.lastTile = true
		case p.word("shard_as") || p.word("shard_like"):
			s.group.word = p.tok.text
			p.next()
			s.group.id = p.int64()
		case p.at(attrToken):
			pos := p.tok.pos
			switch name := p.attrName(); name {
			case "device":
				device = []int64{p.int64()}
			case "devices":
				s.tiles = p.tiles(true)
			case "metadata":
				s.metadata = p.metadataList()
			case "last_tile_dims":
				s.lastDims = []shardingKind{}
				p.list('{', '}', func() {
					kind, ok := shardingWords[p.tok.text]
					if !ok || p.tok.kind != identToken || kind == unknownSharding {
						p.failToken("expected replicated, maximal, manual or unreduced, found %s", p.found())
					}
					s.lastDims = append(s.lastDims, kind)
					p.next()
				})
			default:
				p.fail(pos, "expected device=, devices=, metadata= or last_tile_dims= in a sharding, found %s=", shorten(name))
			}
		default:
			p.failToken("expected a sharding, found %s", p.found())
		}
	}
	for _, kind := range []shardingKind{replicatedSharding, maximalSharding, manualSharding, unknownSharding, unreducedSharding} {
		if kinds[kind] {
			s.kind = kind
			break
		}
	}
	switch {
	case s.kind == maximalSharding:
		if device == nil {
			device = s.tiles.devices
		}
		if len(device) != 1 {
			p.fail(at, "expected exactly one device in a maximal sharding")
		}
		s.tiles = tiles{devices: device}
	case s.kind != tiledSharding:
		if device != nil || s.tiles.devices != nil {
			p.fail(at, "a sharding that is %s has no devices", s.kind.word())
		}
		s.tiles = tiles{}
	default:
		p.checkTiles(at, s)
	}
	p.expect('}')
	return s
}

// checkTiles checks that a tiled sharding has tiles and devices. XLA compares their numbers only when it partitions.
func (p *parser) checkTiles(at int, s *sharding) {
	t := &s.tiles
	if len(t.dims) == 0 {
		p.fail(at, "expected devices=[...] in a sharding that is not maximal")
	}
	if t.iota == nil && len(t.devices) <= 1 {
		p.fail(at, "expected more than one device in a sharding that is not maximal")
	}
}

// CheckSharding says why text is wrong as the sharding of a value whose leaves have the given ranks: -1 for a leaf
// without dimensions, nil if the ranks are unknown. devices is the number of devices, 0 if it is unknown.
func CheckSharding(text string, ranks []int, devices int64) error {
	s, err := parseSharding(text)
	if err != nil {
		return errors.New(mistakeOf(err))
	}
	if s.kind != tupleSharding {
		rank := -1
		if len(ranks) == 1 {
			rank = ranks[0]
		}
		return s.check(rank, devices)
	}
	for i, e := range s.elems {
		rank := -1
		if len(ranks) == len(s.elems) { // else mhlo's verifier reports it, or some leaves are tokens
			rank = ranks[i]
		}
		if err := e.check(rank, devices); err != nil {
			return err
		}
	}
	return nil
}

// check checks the numbers of the sharding of one value.
func (s *sharding) check(rank int, devices int64) error {
	t := &s.tiles
	switch s.kind {
	case maximalSharding:
		return checkDevices(t.devices, devices)
	case namedShardingKind:
		n := s.named
		if n.word == "" && !n.mesh.oneDevice() && rank >= 0 && len(n.dims) > 0 && len(n.dims) != rank {
			return fmt.Errorf("%d dimensions for a value of rank %d", len(n.dims), rank)
		}
		return checkDevices(n.mesh.ids.devices, devices)
	case tiledSharding:
	default:
		return nil
	}
	tiles, ok := product(t.dims)
	count := int64(len(t.devices))
	if t.iota != nil {
		var known bool
		count, known = product(t.iota)
		ok = ok && known
	}
	if !ok || tiles != count {
		return fmt.Errorf("%d tiles, but %d devices", tiles, count)
	}
	extra := len(s.lastDims)
	if s.lastTile {
		extra++
	}
	if dims := len(t.dims) - extra; rank >= 0 && dims != rank {
		return fmt.Errorf("%d dimensions of tiles for a value of rank %d", dims, rank)
	}
	if t.iota != nil {
		if devices > 0 && count > devices {
			return fmt.Errorf("device %d, but there are %d", count-1, devices)
		}
		return nil
	}
	return checkDevices(t.devices, devices)
}

// checkDevices checks the numbers of devices. count is how many there are, 0 if it is unknown.
func checkDevices(list []int64, count int64) error {
	seen := make(map[int64]bool, len(list))
	for _, d := range list {
		switch {
		case d < 0:
			return fmt.Errorf("device %d", d)
		case count > 0 && d >= count:
			return fmt.Errorf("device %d, but there are %d", d, count)
		case seen[d]:
			return fmt.Errorf("device %d twice", d)
		}
		seen[d] = true
	}
	return nil
}

// product multiplies dimensions; ok is false for negative ones and more than 2^40 elements.
func product(dims []int64) (n int64, ok bool) {
	if len(dims) > 0 && slices.Min(dims) == 0 {
		return 0, true
	}
	n = 1
	for _, d := range dims {
		if d < 0 || d > 1<<40 {
			return 0, false
		}
		if n *= d; n > 1<<40 {
			return 0, false
		}
	}
	return n, true
}

// tiles reads [2,2]<=[4] or, if devices is set, [2,2]0,1,2,3.
func (l *lexer) tiles(devices bool) tiles {
	var t tiles
	t.dims = l.ints('[', ']')
	if len(t.dims) == 0 {
		l.failToken("expected the dimensions of the tiles")
	}
	if l.accept(leqToken) {
		l.iota(&t)
		return t
	}
	if !devices {
		l.failToken("expected '<=', found %s", l.found())
	}
	for {
		t.devices = append(t.devices, l.int64())
		if !l.at(',') {
			return t
		}
		l.nextInList()
	}
}

// iota reads [2,2]T(1,0).
func (l *lexer) iota(t *tiles) {
	t.iota = l.ints('[', ']')
	switch {
	case len(t.iota) == 0:
		l.failToken("expected the dimensions of the devices")
	case len(t.iota) == 1:
		t.perm = []int64{0}
		return
	}
	if !l.word("T") {
		l.failToken("expected T and a permutation, found %s", l.found())
	}
	l.next()
	at := l.tok.pos
	t.perm = l.ints('(', ')')
	seen := make([]bool, len(t.iota))
	for _, d := range t.perm {
		if d < 0 || d >= int64(len(seen)) || seen[d] {
			l.fail(at, "expected a permutation of %d dimensions", len(seen))
		}
		seen[d] = true
	}
	if len(t.perm) != len(t.iota) {
		l.fail(at, "expected a permutation of %d dimensions", len(seen))
	}
}

// metadataList reads {op_name="a"} or {{...}, {...}}.
func (p *parser) metadataList() []*metadata {
	if !p.at('{') {
		p.failToken("expected '{', found %s", p.found())
	}
	ahead := *p.lexer
	ahead.next()
	if !ahead.at('{') {
		return []*metadata{p.metadata()}
	}
	var list []*metadata
	p.list('{', '}', func() { list = append(list, p.metadata()) })
	return list
}

// mesh reads mesh['x'=2,'y'=4], with device ids or not, or single_device[device_id=3].
func (l *lexer) mesh() mesh {
	m := mesh{word: l.tok.text}
	l.next()
	l.expect('[')
	if m.oneDevice() {
		at := l.tok.pos
		if l.attrName() != "device_id" {
			l.fail(at, "expected device_id= in %s", m.word)
		}
		m.device = l.int64()
		l.expect(']')
		return m
	}
	if l.accept(']') {
		return m
	}
	m.byName = map[string]int{}
	for {
		at := l.tok.pos
		name := l.str()
		l.expect('=')
		size := l.int64()
		if _, ok := m.byName[name]; ok {
			l.fail(at, "a mesh names axis '%s' twice", shorten(name))
		}
		if size <= 0 {
			l.fail(at, "expected a positive size of axis '%s'", shorten(name))
		}
		m.byName[name] = len(m.axes)
		m.axes = append(m.axes, axis{name, size})
		if !l.accept(',') {
			break
		}
	}
	l.expect(']')
	if !l.at(',') {
		return m
	}
	ahead := *l
	ahead.next()
	if ahead.tok.kind != attrToken || ahead.tok.text != "device_ids" {
		return m
	}
	*l = ahead
	at := l.tok.pos
	l.next()
	l.expect('(')
	m.hasIDs = true
	for _, a := range m.axes {
		m.ids.dims = append(m.ids.dims, a.size)
	}
	if l.at('[') {
		l.iota(&m.ids)
	} else {
		for !l.at(')') {
			m.ids.devices = append(m.ids.devices, l.int64())
			if !l.accept(',') {
				break
			}
		}
		if n, ok := product(m.ids.dims); !ok || n != int64(len(m.ids.devices)) {
			l.fail(at, "expected one device id for each of the devices of a mesh, found %d", len(m.ids.devices))
		}
	}
	l.expect(')')
	return m
}

// axisRef reads 'x' or 'x':(1)2.
func (l *lexer) axisRef(m *mesh) axisRef {
	at := l.tok.pos
	name := l.str()
	i, ok := m.byName[name]
	if !ok {
		n, err := strconv.Atoi(name)
		if err != nil || n < 0 || n >= len(m.axes) {
			l.fail(at, "'%s' is not an axis of the mesh", shorten(name))
		}
		i = n
	}
	r := axisRef{axis: int64(i)}
	if l.accept(':') {
		l.expect('(')
		r.pre = l.int64()
		l.expect(')')
		r.size = l.int64()
		if full := m.axes[i].size; r.pre <= 0 || r.size <= 1 || r.pre > full || r.size > full || full%(r.pre*r.size) != 0 {
			l.fail(at, "axis '%s' has no part (%d)%d", shorten(name), r.pre, r.size)
		}
	}
	return r
}

func (l *lexer) axisRefs(m *mesh) []axisRef {
	list := []axisRef{}
	l.list('{', '}', func() { list = append(list, l.axisRef(m)) })
	return list
}

// namedSharding reads a sharding that starts with a mesh, after its opening brace.
func (p *parser) namedSharding() *sharding {
	n := &namedSharding{mesh: p.mesh()}
	s := &sharding{kind: namedShardingKind, named: n}
	metadata := func() {
		if p.accept(',') {
			if at := p.tok.pos; p.attrName() != "metadata" {
				p.fail(at, "expected metadata=")
			}
			s.metadata = p.metadataList()
		}
		p.expect('}')
	}
	if n.mesh.oneDevice() {
		metadata()
		return s
	}
	p.accept(',')
	switch {
	case p.acceptWord("replicated"):
		n.word = "replicated"
		metadata()
		return s
	case p.acceptWord("manual"):
		n.word = "manual"
		metadata()
		return s
	case p.word("unreduced"), p.at(attrToken) && p.tok.text == "unreduced":
		assigned := p.at(attrToken)
		p.next()
		n.word = "unreduced"
		if assigned {
			p.reduction(n)
		}
		if p.at('{') {
			n.word = ""
			n.dims = []dimSharding{}
			n.unreduced = p.axisRefs(&n.mesh)
		}
		metadata()
		return s
	}
	n.dims = []dimSharding{}
	p.list('[', ']', func() {
		var d dimSharding
		p.list('{', '}', func() {
			if d.open {
				p.failToken("expected '}' after '?'")
			}
			if d.open = p.accept('?'); !d.open {
				d.axes = append(d.axes, p.axisRef(&n.mesh))
			}
		})
		n.dims = append(n.dims, d)
	})
	for !p.at('}') {
		p.expect(',')
		at := p.tok.pos
		switch name := p.attrName(); name {
		case "replicated":
			n.replicated = p.axisRefs(&n.mesh)
		case "unreduced":
			if !p.at('{') {
				p.reduction(n)
			}
			n.unreduced = p.axisRefs(&n.mesh)
		case "manual":
			n.manual = p.axisRefs(&n.mesh)
		case "metadata":
			s.metadata = p.metadataList()
		default:
			p.fail(at, "expected replicated=, unreduced=, manual= or metadata=, found %s=", shorten(name))
		}
	}
	p.expect('}')
	n.normalize()
	return s
}

// normalize names a sharding without dimensions by a word if one word describes all axes, as XLA prints it.
func (n *namedSharding) normalize() {
	if len(n.dims) > 0 || len(n.replicated) > 0 || n.mesh.oneDevice() {
		return
	}
	all := func(refs []axisRef) bool {
		return len(refs) == len(n.mesh.axes) && !slices.ContainsFunc(refs, func(r axisRef) bool { return r.size != 0 })
	}
	switch {
	case len(n.unreduced) == 0 && len(n.manual) == 0:
		n.word = "replicated"
	case len(n.manual) == 0 && all(n.unreduced):
		n.word = "unreduced"
	case len(n.unreduced) == 0 && all(n.manual):
		n.word = "manual"
	}
}

// reduction reads the op of an unreduced sharding.
func (p *parser) reduction(n *namedSharding) {
	if p.word("sum") || p.word("max") || p.word("min") {
		n.reduction = p.tok.text
		p.next()
	} else if !p.at('{') {
		p.failToken("expected sum, max or min, found %s", p.found())
	}
}

// replicaGroups reads {{0,1},{2,3}}, [2,2]<=[4] or mesh['x'=2,'y'=2] {'x'}.
func (l *lexer) replicaGroups() *replicaGroups {
	g := &replicaGroups{}
	switch {
	case l.at('{'):
		g.lists = l.intLists()
	case l.isMesh():
		at := l.tok.pos
		m := l.mesh()
		g.mesh = &m
		g.axes = l.axisRefs(&m)
		if !slices.ContainsFunc(g.axes, func(r axisRef) bool { return r.size > 1 || r.size == 0 && m.axes[r.axis].size > 1 }) {
			l.fail(at, "expected groups of more than one device")
		}
	default:
		at := l.tok.pos
		t := l.tiles(false)
		if len(t.dims) != 2 {
			l.fail(at, "expected two dimensions of replica groups, found %d", len(t.dims))
		}
		if n, ok := product(t.dims); !ok {
			l.fail(at, "there are too many replica groups")
		} else if m, ok := product(t.iota); !ok || m != n {
			l.fail(at, "the replica groups hold %d devices, but the list has another number", n)
		}
		g.tiles = &t
	}
	return g
}

func (g *replicaGroups) append(b []byte) []byte {
	switch {
	case g.mesh != nil:
		b = g.mesh.append(b)
		b = append(b, ' ')
		return g.mesh.appendRefs(b, g.axes)
	case g.tiles != nil:
		return g.tiles.append(b)
	}
	return appendLists(b, g.lists)
}

func (t *tiles) append(b []byte) []byte {
	b = append(b, '[')
	b = appendInts(b, t.dims)
	b = append(b, ']')
	if t.iota == nil {
		return appendInts(b, t.devices)
	}
	b = append(b, "<="...)
	return t.appendIota(b)
}

func (t *tiles) appendIota(b []byte) []byte {
	b = append(b, '[')
	b = appendInts(b, t.iota)
	b = append(b, ']')
	if len(t.iota) > 1 {
		b = append(b, "T("...)
		b = appendInts(b, t.perm)
		b = append(b, ')')
	}
	return b
}

func (m *mesh) append(b []byte) []byte {
	if m.oneDevice() {
		b = append(append(b, m.word...), "[device_id="...)
		b = strconv.AppendInt(b, m.device, 10)
		return append(b, ']')
	}
	b = appendJoined(append(b, "mesh["...), ",", m.axes, func(b []byte, a axis) []byte {
		return strconv.AppendInt(append(appendAxisName(b, a.name), '='), a.size, 10)
	})
	b = append(b, ']')
	if m.hasIDs {
		b = append(b, ", device_ids=("...)
		if m.ids.iota != nil {
			b = m.ids.appendIota(b)
		} else {
			b = appendInts(b, m.ids.devices)
		}
		b = append(b, ')')
	}
	return b
}

func appendAxisName(b []byte, name string) []byte {
	return append(appendEscaped(append(b, '\''), name), '\'')
}

func (m *mesh) appendRef(b []byte, r axisRef) []byte {
	b = appendAxisName(b, m.axes[r.axis].name)
	if r.size != 0 {
		b = append(b, ":("...)
		b = strconv.AppendInt(b, r.pre, 10)
		b = append(b, ')')
		b = strconv.AppendInt(b, r.size, 10)
	}
	return b
}

func (m *mesh) appendRefs(b []byte, list []axisRef) []byte {
	return appendItems(b, ", ", list, m.appendRef)
}

// append appends s as XLA prints it.
func (s *sharding) append(b []byte) []byte {
	switch s.kind {
	case tupleSharding:
		b = append(b, '{')
		for i, e := range s.elems {
			b = appendIndexComment(b, i)
			b = e.append(b)
		}
		return append(b, '}')
	case namedShardingKind:
		b = s.named.append(append(b, '{'))
		if len(s.metadata) > 0 {
			b = appendItems(append(b, ", metadata="...), ", ", s.metadata, func(b []byte, m *metadata) []byte { return m.append(b) })
		}
		return append(b, '}')
	}
	b = append(b, '{')
	switch s.kind {
	case maximalSharding:
		b = append(b, "maximal device="...)
		b = strconv.AppendInt(b, s.tiles.devices[0], 10)
	case tiledSharding:
		b = s.tiles.append(append(b, "devices="...))
		if s.lastTile {
			b = append(b, " last_tile_dim_replicate"...)
		}
		if s.lastDims != nil {
			b = append(b, " last_tile_dims="...)
			b = appendItems(b, ", ", s.lastDims, func(b []byte, k shardingKind) []byte { return append(b, k.word()...) })
		}
	default:
		b = append(b, s.kind.word()...)
	}
	if s.group.word != "" {
		b = append(append(append(b, ' '), s.group.word...), ' ')
		b = strconv.AppendInt(b, s.group.id, 10)
	}
	if len(s.metadata) > 0 {
		b = appendMetadataList(append(b, " metadata="...), s.metadata)
	}
	return append(b, '}')
}

func appendMetadataList(b []byte, list []*metadata) []byte {
	if len(list) == 1 {
		return list[0].append(b)
	}
	return appendItems(b, ", ", list, func(b []byte, m *metadata) []byte { return m.append(b) })
}

func (n *namedSharding) append(b []byte) []byte {
	b = n.mesh.append(b)
	if n.mesh.oneDevice() {
		return b
	}
	b = append(b, ", "...)
	if n.word != "" {
		b = append(b, n.word...)
		if n.reduction != "" {
			b = append(append(b, '='), n.reduction...)
		}
		return b
	}
	b = appendJoined(append(b, '['), ", ", n.dims, func(b []byte, d dimSharding) []byte {
		b = appendJoined(append(b, '{'), ", ", d.axes, n.mesh.appendRef)
		if d.open {
			if len(d.axes) > 0 {
				b = append(b, ", "...)
			}
			b = append(b, '?')
		}
		return append(b, '}')
	})
	b = append(b, ']')
	for _, part := range []struct {
		name string
		refs []axisRef
	}{{"replicated", n.replicated}, {"unreduced", n.unreduced}, {"manual", n.manual}} {
		if len(part.refs) == 0 {
			continue
		}
		b = append(append(append(b, ", "...), part.name...), '=')
		if part.name == "unreduced" {
			b = append(b, n.reduction...)
		}
		b = n.mesh.appendRefs(b, part.refs)
	}
	return b
}

// elemAt returns the sharding of the given part of a tuple, or s itself if s is not a tuple sharding.
func (s *sharding) elemAt(i int) *sharding {
	if s == nil || s.kind != tupleSharding {
		return s
	}
	if i < len(s.elems) {
		return s.elems[i]
	}
	return nil
}

// of returns s for the result of in. A tuple has a sharding for each part, and the empty tuple has one. A recv has a
// part that the op's results do not show.
func (s *sharding) of(in *instr) *sharding {
	if !in.shape.isTuple() {
		return s
	}
	n := max(1, in.shape.leaves())
	switch {
	case s.kind != tupleSharding:
		return &sharding{kind: tupleSharding, elems: slices.Repeat([]*sharding{s}, n)}
	case in.op == opRecv && len(s.elems) == n-1:
		return &sharding{kind: tupleSharding, elems: slices.Insert(slices.Clone(s.elems), n-2, s.elems[0])}
	case in.op == opWhile && len(s.elems) < n: // the last parts are values that the regions use from outside
		return &sharding{kind: tupleSharding, elems: append(slices.Clone(s.elems), slices.Repeat([]*sharding{{kind: replicatedSharding}}, n-len(s.elems))...)}
	}
	return s
}

// String returns s as text.
func (s *sharding) String() string { return strings.Clone(string(s.append(nil))) }
