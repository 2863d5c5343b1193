package ir

import (
	"hash/maphash"
	"math"
	"slices"
)

// LocTable makes locations and shares equal ones. The zero value is empty.
type LocTable struct {
	seed   maphash.Seed
	index  []uint32 // by hash: 1 + position in chunks; at most three quarters full
	chunks [][]Loc
	count  int
}

// locChunk is the number of locations per allocation.
const locChunk = 256

// File returns loc("file":line:col to endLine:endCol); without a range, the end is 0, 0.
func (t *LocTable) File(file string, line, col, endLine, endCol uint32) *Loc {
	return t.intern(&Loc{kind: LocFile, name: file, line: line, col: col, endLine: endLine, endCol: endCol, size: uint32(len(file)) + ownSize})
}

// Name returns loc("name"(child)); child may be nil.
func (t *LocTable) Name(name string, child *Loc) *Loc {
	l := Loc{kind: LocName, name: name}
	if child != nil {
		l.parts = &locParts{kids: []*Loc{child}}
	}
	return t.intern(&l)
}

// CallSite returns loc(callsite(callee at caller)).
func (t *LocTable) CallSite(callee, caller *Loc) *Loc {
	return t.intern(&Loc{kind: LocCallSite, parts: &locParts{kids: []*Loc{callee, caller}}})
}

// Fused returns loc(fused<metadata>[children...]). metadata may be nil; otherwise size is the approximate length in
// bytes of its text.
func (t *LocTable) Fused(metadata Attr, size int64, children []*Loc) *Loc {
	parts := &locParts{kids: slices.Clone(children), metadata: metadata}
	if metadata != nil {
		t.grow()
		parts.metadataSize, parts.metadataHash = uint32(min(size, math.MaxUint32)), t.metadataHash(metadata, size)
	}
	return t.intern(&Loc{kind: LocFused, parts: parts})
}

// Fuse returns the location of an op that replaces ops at all of locs, by MLIR's rule (FusedLoc::get). It flattens
// fused locations without metadata and drops duplicates and unknown locations. If none remains, it returns nil, the
// unknown location; if one remains, that location.
func (t *LocTable) Fuse(locs []*Loc) *Loc {
	var kids []*Loc
	var add func(list []*Loc)
	add = func(list []*Loc) {
		for _, l := range list {
			switch {
			case l.Kind() == LocUnknown:
			case l.Kind() == LocFused && l.Metadata() == nil:
				add(l.Children())
			case !slices.ContainsFunc(kids, func(k *Loc) bool { return k == l || k.String() == l.String() }):
				kids = append(kids, l)
			}
		}
	}
	add(locs)
	switch len(kids) {
	case 0:
		return nil
	case 1:
		return kids[0]
	}
	return t.Fused(nil, 0, kids)
}

// intern returns the location in the table that equals l. If there is none, it adds a copy of l.
func (t *LocTable) intern(l *Loc) *Loc {
	t.grow()
	mask := uint64(len(t.index) - 1)
	i := t.hash(l) & mask
	for ; t.index[i] != 0; i = (i + 1) & mask {
		if old := t.at(t.index[i] - 1); sameLoc(old, l) {
			return old
		}
	}
	if n := len(t.chunks); n == 0 || len(t.chunks[n-1]) == cap(t.chunks[n-1]) {
		size := locChunk
		if n == 0 {
			size = 8 // later chunks start at multiples of locChunk
		}
		t.chunks = append(t.chunks, make([]Loc, 0, size))
	}
	c := &t.chunks[len(t.chunks)-1]
	*c = append(*c, *l)
	l = &(*c)[len(*c)-1]
	if l.kind != LocFile {
		l.measure()
	}
	t.count++
	t.index[i] = t.last() + 1
	return l
}

// The first chunk has capacity for 8 locations, but positions count it as a full chunk of locChunk.
func (t *LocTable) at(i uint32) *Loc { return &t.chunks[i/locChunk][i%locChunk] }

func (t *LocTable) last() uint32 {
	n := len(t.chunks) - 1
	return uint32(n*locChunk + len(t.chunks[n]) - 1)
}

// grow ensures capacity for one more location.
func (t *LocTable) grow() {
	if 4*(t.count+1) <= 3*len(t.index) {
		return
	}
	if t.index == nil {
		t.seed = maphash.MakeSeed()
	}
	t.index = make([]uint32, max(16, 2*len(t.index)))
	mask := uint64(len(t.index) - 1)
	for c := range t.chunks {
		for k := range t.chunks[c] {
			i := t.hash(&t.chunks[c][k]) & mask
			for t.index[i] != 0 {
				i = (i + 1) & mask
			}
			t.index[i] = uint32(c*locChunk+k) + 1
		}
	}
}

func (t *LocTable) hash(l *Loc) uint64 {
	h := maphash.String(t.seed, l.name)
	mix := func(v uint64) { h = (h ^ v) * 0x9e3779b97f4a7c15; h ^= h >> 29 }
	mix(uint64(l.kind))
	mix(uint64(l.line)<<32 | uint64(l.col))
	mix(uint64(l.endLine)<<32 | uint64(l.endCol))
	if l.parts != nil {
		mix(l.parts.metadataHash)
		for _, c := range l.parts.kids {
			mix(maphash.Comparable(t.seed, c))
		}
	}
	return h
}

// longestMetadata is the maximum length in bytes of metadata that is compared as text. Longer metadata is compared by
// identity.
const longestMetadata = 1 << 10

// metadataHash returns a hash that identifies metadata. LocTable computes it only once, because a location in metadata
// may be resolved later.
func (t *LocTable) metadataHash(a Attr, size int64) uint64 {
	switch l, isLoc := a.(*LocAttr); {
	case isLoc:
		return maphash.Comparable(t.seed, l.loc)
	case size > longestMetadata:
		return maphash.Comparable(t.seed, a)
	}
	return maphash.String(t.seed, a.String())
}

func sameLoc(a, b *Loc) bool {
	if a.kind != b.kind || a.line != b.line || a.col != b.col || a.endLine != b.endLine || a.endCol != b.endCol || a.name != b.name {
		return false
	}
	if a.parts == nil || b.parts == nil {
		return a.parts == b.parts
	}
	return (a.parts.metadata == nil) == (b.parts.metadata == nil) && a.parts.metadataHash == b.parts.metadataHash &&
		a.parts.metadataSize == b.parts.metadataSize && slices.Equal(a.parts.kids, b.parts.kids)
}
