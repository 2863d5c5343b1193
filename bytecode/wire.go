package bytecode

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unsafe"
)

// magic starts every file.
const magic = "ML\xefR"

// maxVersion is the newest version of the format.
const maxVersion = 6

// Numbers of sections.
const (
	secStrings = iota
	secDialects
	secAttrTypes
	secAttrTypeOffsets
	secIR
	secResources
	secResourceOffsets
	secDialectVersions
	secProperties
	numSections
)

// pad fills the space before aligned data.
const pad = 0xCB

// Bits of the byte that says which parts an op has.
const (
	hasAttrs = 1 << iota
	hasResults
	hasOperands
	hasSuccessors
	hasRegions
	hasUseLists
	hasProperties
)

// fault is the panic value for a malformed file. Read recovers it.
type fault struct {
	off int
	msg string
}

// cursor reads the bytes of data from pos up to end.
type cursor struct {
	data     []byte
	pos, end int
}

func (c *cursor) fail(format string, args ...any) {
	panic(fault{c.pos, fmt.Sprintf(format, args...)})
}

// failAt fails at an earlier position.
func (c *cursor) failAt(pos int, format string, args ...any) {
	c.pos = pos
	c.fail(format, args...)
}

// short fails because n bytes are missing.
func (c *cursor) short(n uint64) {
	c.fail("expected %d bytes, %d are left", n, c.end-c.pos)
}

func (c *cursor) empty() bool { return c.pos >= c.end }

func (c *cursor) byte() byte {
	if c.pos >= c.end {
		c.short(1)
	}
	b := c.data[c.pos]
	c.pos++
	return b
}

// take returns the next n bytes.
func (c *cursor) take(n uint64) []byte {
	if n > uint64(c.end-c.pos) {
		c.short(n)
	}
	b := c.data[c.pos : c.pos+int(n) : c.pos+int(n)]
	c.pos += int(n)
	return b
}

// uint reads a varint. The low zero bits of the first byte count the bytes that follow it.
func (c *cursor) uint() uint64 {
	if c.pos < c.end {
		if b := c.data[c.pos]; b&1 != 0 {
			c.pos++
			return uint64(b >> 1)
		}
	}
	return c.longUint()
}

func (c *cursor) longUint() uint64 {
	b := c.byte()
	n := bits.TrailingZeros8(b)
	if n == 8 {
		return binary.LittleEndian.Uint64(c.take(8))
	}
	rest := c.take(uint64(n))
	v := uint64(b)
	for i, x := range rest {
		v |= uint64(x) << (8 * (i + 1))
	}
	return v >> (n + 1)
}

// int reads a signed varint, in zigzag form.
func (c *cursor) int() int64 {
	v := c.uint()
	return int64(v>>1) ^ -int64(v&1)
}

// flagged reads a varint whose lowest bit is a flag.
func (c *cursor) flagged() (v uint64, flag bool) {
	v = c.uint()
	return v >> 1, v&1 != 0
}

// count reads the length of a list. Each element needs at least one of the remaining bytes.
func (c *cursor) count() int {
	at := c.pos
	return c.atMost(at, c.uint(), "a list of %d elements")
}

// atMost returns n, the length of a list that was read at the given position, as an int. It fails if fewer than n bytes
// are left. noun describes the list.
func (c *cursor) atMost(at int, n uint64, noun string) int {
	if left := c.end - c.pos; n > uint64(left) {
		c.failAt(at, noun+", but %d bytes are left", n, c.end-at)
	}
	return int(n)
}

// index reads a number below limit.
func (c *cursor) index(limit int, noun string) int {
	at := c.pos
	return c.below(at, c.uint(), limit, noun)
}

// below returns i, a number that was read at the given position, as an int. It fails if i is not below limit.
func (c *cursor) below(at int, i uint64, limit int, noun string) int {
	if i >= uint64(limit) {
		c.failAt(at, "%s %d, but there are %d", noun, i, limit)
	}
	return int(i)
}

// str returns b, a part of the immutable source, as a string without copying it.
func str(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// appendUint appends the shortest varint of v.
func appendUint(b []byte, v uint64) []byte {
	if v < 1<<7 {
		return append(b, byte(v<<1|1))
	}
	if v < 1<<14 {
		return append(b, byte(v<<2|2), byte(v>>6))
	}
	n := 3
	for ; n < 9 && v>>(7*n) != 0; n++ {
	}
	if n == 9 {
		return binary.LittleEndian.AppendUint64(append(b, 0), v)
	}
	v = v<<n | 1<<(n-1)
	for range n {
		b = append(b, byte(v))
		v >>= 8
	}
	return b
}

func appendInt(b []byte, v int64) []byte { return appendUint(b, uint64(v)<<1^uint64(v>>63)) }

func appendFlagged(b []byte, v uint64, flag bool) []byte {
	v <<= 1
	if flag {
		v |= 1
	}
	return appendUint(b, v)
}
