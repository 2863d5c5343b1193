package parse

import (
	"encoding/binary"

	"github.com/hlocb/hlocb/ir"
)

// Programs repeat themselves: a module of a thousand ops has a dozen types. The parser therefore remembers the values
// of short texts, and reads a repeated text with one lookup. There is one policy for all kinds of text: a text of at
// most longestCached bytes that holds no alias (each use of an alias is counted, see limits) is remembered until the
// parser is done.

// longestCached is the length in bytes of the longest text that is remembered.
const longestCached = 512

// caches maps the texts read so far to their types and attributes.
type caches struct {
	types textCache[ir.Type] // tensor<...>, !dialect.name<...>
	attrs textCache[ir.Attr] // #dialect.name<...>, array<...>, and by their type dense<...> and [1, 2]
}

// textCache maps texts to values. A small table of the texts used last comes before the map: a lookup in the table
// costs a comparison of the text.
type textCache[V any] struct {
	recent [128]cacheEntry[V]
	all    map[cacheKey]V
}

// cacheKey is a text, and the type that the value has if the text does not say it.
type cacheKey struct {
	text string
	typ  ir.Type
}

type cacheEntry[V any] struct {
	key   cacheKey
	value V
}

// get returns the value of text, which has type t; ok is false if the text is not known.
func (c *textCache[V]) get(text []byte, t ir.Type) (value V, ok bool) {
	if len(text) == 0 {
		return value, false
	}
	e := &c.recent[slot(text)]
	if e.key.text == string(text) && e.key.typ == t {
		return e.value, true
	}
	key := cacheKey{str(text), t}
	if value, ok = c.all[key]; ok {
		*e = cacheEntry[V]{key, value}
	}
	return value, ok
}

// put remembers the value of text, which has type t. The text must be part of the source.
func (c *textCache[V]) put(text []byte, t ir.Type, value V) {
	if len(text) == 0 || len(text) > longestCached {
		return
	}
	if c.all == nil {
		c.all = map[cacheKey]V{}
	}
	key := cacheKey{str(text), t}
	c.all[key] = value
	c.recent[slot(text)] = cacheEntry[V]{key, value}
}

// slot spreads texts over the table of those used last, by their length, their end and their middle.
func slot(text []byte) int {
	const odd = 0x9E3779B97F4A7C15
	n := len(text)
	h := uint64(n)
	if n < 8 {
		for _, c := range text {
			h = h<<8 | uint64(c)
		}
	} else {
		h = (h^binary.LittleEndian.Uint64(text[n-8:]))*odd ^ binary.LittleEndian.Uint64(text[n/2-4:])
		h ^= h >> 32
	}
	return int(h * odd >> (64 - 7))
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
