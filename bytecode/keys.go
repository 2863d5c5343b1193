package bytecode

import "hash/maphash"

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
