package bytecode

import (
	"hash/maphash"
	"math/bits"

	"github.com/hlocb/hlocb/ir"
)

// keyTable numbers byte strings from 0. Equal strings get the same number. The zero value is an empty table.
type keyTable struct {
	seed  maphash.Seed
	index []int32 // by hash: 1 + number; at most three quarters full
	keys  []keySpan
	bytes []byte
}

type keySpan struct {
	hash     uint64
	pos, end uint32
}

// number returns the number of key, and whether key was already in the table.
func (t *keyTable) number(key []byte) (n int32, old bool) {
	if 4*(len(t.keys)+1) > 3*len(t.index) {
		t.grow()
	}
	h := maphash.Bytes(t.seed, key)
	mask := uint64(len(t.index) - 1)
	i := h & mask
	for ; t.index[i] != 0; i = (i + 1) & mask {
		if s := &t.keys[t.index[i]-1]; s.hash == h && string(t.bytes[s.pos:s.end]) == string(key) {
			return t.index[i] - 1, true
		}
	}
	pos := uint32(len(t.bytes))
	t.bytes = append(t.bytes, key...)
	t.keys = append(t.keys, keySpan{h, pos, uint32(len(t.bytes))})
	t.index[i] = int32(len(t.keys))
	return int32(len(t.keys) - 1), false
}

func (t *keyTable) grow() {
	if t.index == nil {
		t.seed = maphash.MakeSeed()
	}
	t.index = make([]int32, max(256, 4*len(t.index)))
	mask := uint64(len(t.index) - 1)
	for n, s := range t.keys {
		i := s.hash & mask
		for t.index[i] != 0 {
			i = (i + 1) & mask
		}
		t.index[i] = int32(n + 1)
	}
}

// locTable holds the ids of places in files.
type locTable struct {
	index []uint64 // upper half of the hash, then 1 + id; at most half full
	len   int
}

// newLocTable returns a table that holds n places without growing.
func newLocTable(n int) locTable {
	return locTable{index: make([]uint64, 1<<bits.Len(uint(2*n+64)))}
}

// number returns the id of l among items, and whether l was already in the table. A new location gets the id of the
// next item.
func (t *locTable) number(l *ir.Loc, items []item) (id int32, old bool) {
	if 2*(t.len+1) > len(t.index) {
		t.grow(items)
	}
	h, i := hashLoc(l)
	mask := uint64(len(t.index) - 1)
	for i &= mask; t.index[i] != 0; i = (i + 1) & mask {
		if x := t.index[i]; x>>32 == h>>32 {
			if id := int32(uint32(x)) - 1; samePlace(items[id].x.(*ir.Loc), l) {
				return id, true
			}
		}
	}
	t.len++
	t.index[i] = h>>32<<32 | uint64(len(items)+1)
	return int32(len(items)), false
}

func (t *locTable) grow(items []item) {
	old := t.index
	t.index = make([]uint64, 2*len(old))
	mask := uint64(len(t.index) - 1)
	for _, x := range old {
		if x == 0 {
			continue
		}
		_, i := hashLoc(items[uint32(x)-1].x.(*ir.Loc))
		for i &= mask; t.index[i] != 0; i = (i + 1) & mask {
		}
		t.index[i] = x
	}
}

// hashLoc returns the hash of a place and its preferred position in a table. Places in consecutive lines are next to
// each other in the table, as in a module.
func hashLoc(l *ir.Loc) (hash, at uint64) {
	line, col := l.Start()
	endLine, endCol := l.End() // 0, 0 without a range
	h := (uint64(col) ^ uint64(max(endLine, line)-line)<<40 ^ uint64(endCol)<<20 ^ uint64(len(l.Name()))<<12) * 0x9E3779B97F4A7C15
	at = h>>32 + uint64(line)
	h = (h ^ uint64(line)) * 0xBF58476D1CE4E5B9
	return h ^ h<<29, at
}

func samePlace(a, b *ir.Loc) bool {
	la, ca := a.Start()
	lb, cb := b.Start()
	if la != lb || ca != cb || a.Name() != b.Name() {
		return false
	}
	ea, fa := a.End()
	eb, fb := b.End()
	return ea == eb && fa == fb
}
