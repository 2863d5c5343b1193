package parquet

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

var errPage = errors.New("a page of the Parquet file is damaged")

// appendPacked appends the lowest width bits of each value, the first value in the lowest bits.
func appendPacked(b []byte, values []uint64, width int) []byte {
	var acc uint64
	n := 0
	for _, v := range values {
		acc |= v << n
		if n += width; n >= 64 {
			b = binary.LittleEndian.AppendUint64(b, acc)
			n -= 64
			acc = v >> (width - n)
		}
	}
	for ; n > 0; n -= 8 {
		b = append(b, byte(acc))
		acc >>= 8
	}
	return b
}

// unpacked reads values of width bits into to. b has their bytes.
func unpacked(to []uint64, b []byte, width int) {
	mask := uint64(1)<<width - 1
	for i := range to {
		at := i * width
		var word [9]byte
		copy(word[:], b[at>>3:])
		shift := at & 7
		to[i] = (binary.LittleEndian.Uint64(word[:])>>shift | uint64(word[8])<<(64-shift)) & mask
	}
}

// The blocks of DELTA_BINARY_PACKED: blockValues differences in parts of partValues, each part with its own width.
const (
	blockValues = 128
	partValues  = 32
)

// appendDelta appends integers of 32 or 64 bits as DELTA_BINARY_PACKED.
func appendDelta(b []byte, values []int64, size int) []byte {
	b = binary.AppendUvarint(b, blockValues)
	b = binary.AppendUvarint(b, blockValues/partValues)
	b = binary.AppendUvarint(b, uint64(len(values)))
	if len(values) == 0 {
		return binary.AppendVarint(b, 0)
	}
	b = binary.AppendVarint(b, values[0])
	previous, values := values[0], values[1:]
	var deltas [blockValues]int64
	var words [blockValues]uint64
	for len(values) > 0 {
		n := min(len(values), blockValues)
		least := int64(math.MaxInt64)
		for i, v := range values[:n] {
			deltas[i] = wrap(v-previous, size)
			previous = v
			least = min(least, deltas[i])
		}
		values = values[n:]
		b = binary.AppendVarint(b, least)
		var widths [blockValues / partValues]byte
		clear(words[:])
		for i, d := range deltas[:n] {
			words[i] = uint64(d) - uint64(least)
			if size == 4 {
				words[i] = uint64(uint32(words[i]))
			}
			widths[i/partValues] = max(widths[i/partValues], byte(bits.Len64(words[i])))
		}
		b = append(b, widths[:]...)
		for i, width := range widths {
			if i*partValues < n {
				b = appendPacked(b, words[i*partValues:][:partValues], int(width))
			}
		}
	}
	return b
}

// wrap returns an integer of 32 or 64 bits.
func wrap(v int64, size int) int64 {
	if size == 4 {
		return int64(int32(v))
	}
	return v
}

// readDelta reads as many integers as to holds.
func readDelta(to []int64, b []byte, size int) error {
	r := reader{b: b}
	block, parts, total, previous := r.uvarint(), r.uvarint(), r.uvarint(), wrap(r.varint(), size)
	if r.err != nil || block != blockValues || parts != blockValues/partValues || total != uint64(len(to)) {
		return errPage
	}
	if len(to) == 0 {
		return nil
	}
	to[0] = previous
	to = to[1:]
	var words [partValues]uint64
	for len(to) > 0 {
		least := r.varint()
		if len(r.b) < blockValues/partValues {
			return errPage
		}
		widths := r.b[:blockValues/partValues]
		r.b = r.b[len(widths):]
		for _, width := range widths {
			n := partValues / 8 * int(width)
			if len(to) == 0 {
				return nil // the rest of the block is not written
			}
			if width > 64 || n > len(r.b) {
				return errPage
			}
			unpacked(words[:], r.b[:n], int(width))
			r.b = r.b[n:]
			part := to[:min(len(to), partValues)]
			for i := range part {
				previous = wrap(previous+least+int64(words[i]), size)
				part[i] = previous
			}
			to = to[len(part):]
		}
	}
	return nil
}

// appendRuns appends values of width bits as a mix of runs of one value and of packed values.
func appendRuns(b []byte, values []uint64, width int) []byte {
	for len(values) > 0 {
		if n := run(values); n >= 8 || n == len(values) {
			b = binary.AppendUvarint(b, uint64(n)<<1)
			for k := 0; k < width; k += 8 {
				b = append(b, byte(values[0]>>k))
			}
			values = values[n:]
			continue
		}
		n := 8
		for n < len(values) && run(values[n:]) < 8 {
			n += 8
		}
		groups := uint64(n / 8)
		b = binary.AppendUvarint(b, groups<<1|1)
		n = min(n, len(values))
		b = appendPacked(b, values[:n], width)
		for k := (n*width + 7) / 8; k < int(groups)*width; k++ {
			b = append(b, 0)
		}
		values = values[n:]
	}
	return b
}

// run returns how often the first value repeats.
func run(values []uint64) int {
	n := 1
	for n < len(values) && values[n] == values[0] {
		n++
	}
	return n
}

// readRuns reads as many values of width bits as to holds.
func readRuns(to []uint64, b []byte, width int) error {
	r := reader{b: b}
	for len(to) > 0 {
		head := r.uvarint()
		n := head >> 1
		if r.err != nil || n == 0 {
			return errPage
		}
		if head&1 == 0 {
			var v uint64
			for k := 0; k < width; k += 8 {
				v |= uint64(r.byte()) << k
			}
			if r.err != nil || n > uint64(len(to)) {
				return errPage
			}
			for i := range to[:n] {
				to[i] = v
			}
			to = to[n:]
			continue
		}
		if width > 0 && n > uint64(len(r.b)/width) || n > MaxRows {
			return errPage
		}
		size := int(n) * width
		part := to[:min(len(to), 8*int(n))]
		unpacked(part, r.b[:size], width)
		r.b, to = r.b[size:], to[len(part):]
	}
	return nil
}

// appendSplit appends floats as BYTE_STREAM_SPLIT: the lowest byte of each, then the next byte of each.
func appendSplit(b []byte, values []float64) []byte {
	start := len(b)
	b = append(b, make([]byte, 8*len(values))...)
	to, n := b[start:], len(values)
	for i, v := range values {
		w := math.Float64bits(v)
		for k := range 8 {
			to[k*n+i] = byte(w >> (8 * k))
		}
	}
	return b
}

// readSplit reads as many floats as to holds.
func readSplit(to []float64, b []byte) error {
	n := len(to)
	if len(b) != 8*n {
		return errPage
	}
	for i := range to {
		var w uint64
		for k := range 8 {
			w |= uint64(b[k*n+i]) << (8 * k)
		}
		to[i] = math.Float64frombits(w)
	}
	return nil
}
