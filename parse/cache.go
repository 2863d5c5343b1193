package parse

import (
	"encoding/binary"

	"github.com/hlocb/hlocb/ir"
)

// Programs repeat themselves: a module of a thousand ops has a dozen types. The parser therefore remembers the values
// of short texts, and reads a repeated text with one lookup. Texts of at most
// longestCached bytes without aliases are kept until the parser is done. A full bucket replaces its first entry. Each
// use of an alias is counted, see limits.

// longestCached is the length in bytes of the longest text that is remembered.
const longestCached = 512

// caches maps the texts read so far to their types and attributes.
type caches struct {
	types textCache[ir.Type] // tensor<...>, !dialect.name<...>
	attrs textCache[ir.Attr] // #dialect.name<...>, array<...>, and by their type dense<...> and [1, 2]
}

// textCache maps texts to values. It is a hash table: an entry is in one of the probes slots from that of its hash on.
// If all of them are taken, a new entry replaces the first.
type textCache[V any] struct {
	table []cacheEntry[V]
	count int // of entries, half the table at most
}

const probes = 4

type cacheEntry[V any] struct {
	text  []byte
	typ   ir.Type // of the value, if the text does not say it
	value V
}

// slot returns the slot of the text, which has type t: the slot that holds it, else the first empty one, else the slot
// of its hash. The hash is of the text's length, its end and its middle.
func (c *textCache[V]) slot(text []byte, t ir.Type) *cacheEntry[V] {
	const odd = 0x9E3779B97F4A7C15
	h := uint64(len(text))
	if n := len(text); n < 8 {
		for _, b := range text {
			h = h<<8 | uint64(b)
		}
	} else {
		h = (h^binary.LittleEndian.Uint64(text[n-8:]))*odd ^ binary.LittleEndian.Uint64(text[n/2-4:])
		h ^= h >> 32
	}
	h = h * odd >> 32
	for i := range uint64(probes) {
		e := &c.table[(h+i)&uint64(len(c.table)-1)]
		if e.text == nil || string(e.text) == string(text) && e.typ == t {
			return e
		}
	}
	return &c.table[h&uint64(len(c.table)-1)]
}

// get returns the value of text, which has type t; ok is false if the text is not known.
func (c *textCache[V]) get(text []byte, t ir.Type) (value V, ok bool) {
	if len(text) == 0 || len(c.table) == 0 {
		return value, false
	}
	e := c.slot(text, t)
	return e.value, string(e.text) == string(text) && e.typ == t
}

// put remembers the value of text, which has type t. The text must be part of the source.
func (c *textCache[V]) put(text []byte, t ir.Type, value V) {
	if len(text) == 0 || len(text) > longestCached {
		return
	}
	if old := c.table; 2*c.count >= len(old) {
		c.table, c.count = make([]cacheEntry[V], max(32, 2*len(old))), 0
		for _, e := range old {
			c.put(e.text, e.typ, e.value)
		}
	}
	e := c.slot(text, t)
	if e.text == nil {
		c.count++
	}
	*e = cacheEntry[V]{text, t, value}
}

// attrTexts remembers the texts that one use of a directive read last, if all arguments of the directive are attributes
// of its op: the directive then reads equal attributes from equal texts. Only the directive knows where such a text
// ends, so the parser compares the texts with the source one by one.
type attrTexts struct {
	list []attrText
	turn int // the entry to replace next
}

// attrText is a text up to and including the punctuation after it, and the attributes it stands for.
type attrText struct {
	text  []byte
	punct int // offset of the punctuation in text
	attrs []ir.Attr
}

// get returns the entry whose text src starts with, nil if there is none.
func (c *attrTexts) get(src []byte) *attrText {
	for i := range c.list {
		e := &c.list[i]
		// The last byte of the text must be a whole token, not a part of '->', '::' or '{-#'.
		if n := len(e.text); len(src) > n && string(src[:n]) == string(e.text) && src[n] != '>' && src[n] != ':' && src[n] != '-' && src[n] != '#' {
			return e
		}
	}
	return nil
}

// put remembers that the text before the punctuation tok stands for the attributes of args.
func (c *attrTexts) put(src []byte, start int, tok token, args []ir.DirectiveArg) {
	if tok.kind != tokPunct || tok.end-tok.start != 1 || tok.end-start > longestCached {
		return
	}
	e := attrText{text: src[start:tok.end], punct: tok.start - start}
	for i := range args {
		e.attrs = append(e.attrs, args[i].Attr)
	}
	if len(c.list) < 8 {
		c.list = append(c.list, e)
		return
	}
	c.list[c.turn] = e
	c.turn = (c.turn + 1) % len(c.list)
}
