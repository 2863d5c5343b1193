package print

import (
	"hash/maphash"
	"strconv"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// locAliases are the aliases of locations. Most ops have a source position as location; locAliases makes no ir.Loc for
// it. The layout is compact, because each op has a location if locations are written.
type locAliases struct {
	p      *printer
	places map[diag.Pos]int32
	known  map[*ir.Loc]int32 // by each location seen
	hashes map[uint64]int32  // by structure; if two hashes collide, at the next free number
	seed   maphash.Seed
	list   chunkList[locAlias]
	locs   chunkList[*ir.Loc] // of the entries that are not source positions
}

// locAlias is the alias of a set of equal locations.
type locAlias struct {
	place uint32 // the position or, if loc is not a position, its index in locs
	rank
}

// chunkList is a list that grows without copying.
type chunkList[T any] struct {
	chunks [][]T
	count  int32
}

const locChunk = 1 << 10

func (c *chunkList[T]) at(i int32) *T { return &c.chunks[i/locChunk][i%locChunk] }

// add appends x and returns its index.
func (c *chunkList[T]) add(x T) int32 {
	if c.count%locChunk == 0 {
		size := locChunk
		if c.count == 0 {
			size = 16
		}
		c.chunks = append(c.chunks, make([]T, 0, size))
	}
	last := &c.chunks[len(c.chunks)-1]
	*last = append(*last, x)
	c.count++
	return c.count - 1
}

func (t *locAliases) at(i int32) *locAlias { return t.list.at(i) }

// loc returns the location of x, or nil if it is a source position.
func (t *locAliases) loc(x *locAlias) *ir.Loc {
	if !x.is(isLoc) {
		return nil
	}
	return *t.locs.at(int32(x.place))
}

// appendName appends #loc, #loc1, ...
func (t *locAliases) appendName(b []byte, i int32) []byte {
	b = append(b, "#loc"...)
	if n := t.at(i).seq; n > 0 {
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return b
}

// of returns the entry of l or, if l is nil, of pos.
func (t *locAliases) of(l *ir.Loc, pos diag.Pos) int32 {
	if l != nil || !t.p.hasPosition(pos) {
		return t.canonical(l)
	}
	return t.place(pos)
}

func (t *locAliases) place(pos diag.Pos) int32 {
	i, ok := t.places[pos]
	if !ok {
		if t.places == nil {
			t.places = map[diag.Pos]int32{}
		}
		i = t.list.add(locAlias{place: uint32(pos)})
		t.places[pos] = i
	}
	return i
}

// canonical returns the entry shared by all locations equal to l.
func (t *locAliases) canonical(l *ir.Loc) int32 {
	if i, ok := t.known[l]; ok {
		return i
	}
	if t.known == nil {
		t.known, t.hashes, t.seed = map[*ir.Loc]int32{}, map[uint64]int32{}, maphash.MakeSeed()
	}
	i, ok := t.inSource(l)
	if !ok {
		i = t.equal(l)
	}
	t.known[l] = i
	return i
}

// inSource returns the entry of the source position that l represents.
func (t *locAliases) inSource(l *ir.Loc) (i int32, ok bool) {
	if l.Kind() != ir.LocFile || t.p.m.Source() == nil || l.Name() != t.p.m.Source().Name() {
		return 0, false
	}
	line, col := l.Start()
	endLine, endCol := l.End()
	pos := t.p.m.Source().PosAt(int(line), int(col))
	if pos == 0 || endLine != 0 || endCol != 0 {
		return 0, false
	}
	return t.place(pos), true
}

// equal returns the entry of a location with the same structure as l.
func (t *locAliases) equal(l *ir.Loc) int32 {
	h := maphash.Hash{}
	h.SetSeed(t.seed)
	h.WriteByte(byte(l.Kind()))
	if l.Kind() != ir.LocUnknown {
		h.WriteString(l.Name())
		line, col := l.Start()
		endLine, endCol := l.End()
		if l.Kind() == ir.LocFile {
			maphash.WriteComparable(&h, [4]uint32{line, col, endLine, endCol})
		}
		if m := l.Metadata(); m != nil {
			h.WriteString(m.String())
		}
		for _, c := range l.Children() {
			maphash.WriteComparable(&h, t.canonical(c))
		}
	}
	for sum := h.Sum64(); ; sum++ {
		i, ok := t.hashes[sum]
		if !ok {
			i = t.list.add(locAlias{place: uint32(t.locs.add(l)), rank: rank{bits: isLoc}})
			t.hashes[sum] = i
			return i
		}
		if t.sameLoc(t.loc(t.at(i)), l) {
			return i
		}
	}
}

// sameLoc reports whether two locations are equal. Their children must be in the table.
func (t *locAliases) sameLoc(a, b *ir.Loc) bool {
	if a.Kind() != b.Kind() {
		return false
	}
	if a.Kind() == ir.LocUnknown {
		return true
	}
	x, y := a.Children(), b.Children()
	if a.Name() != b.Name() || len(x) != len(y) || (a.Metadata() == nil) != (b.Metadata() == nil) {
		return false
	}
	if a.Kind() == ir.LocFile {
		line, col := a.Start()
		endLine, endCol := a.End()
		line2, col2 := b.Start()
		endLine2, endCol2 := b.End()
		if line != line2 || col != col2 || endLine != endLine2 || endCol != endCol2 {
			return false
		}
	}
	for i := range x {
		if t.canonical(x[i]) != t.canonical(y[i]) {
			return false
		}
	}
	return a.Metadata() == nil || a.Metadata().String() == b.Metadata().String()
}
