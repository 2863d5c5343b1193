package hlo

import (
	"slices"
	"strings"
)

// nameTable finds instructions by name. Most names end in a number that is unique in the module or nearly so, such as
// add.12. They are found by the number: instructions that are near each other in the text are near each other in the
// table.
type nameTable struct {
	limit    int     // numbers from here on are not used
	numbered []int32 // index in entries, plus one, of the last entry with a number
	entries  []numberedName
	others   map[string]*nameEntry
}

// nameEntry is an instruction and the scope in which it has its name.
type nameEntry struct {
	scope *scope
	in    *instr
}

type numberedName struct {
	nameEntry
	next int32 // the previous entry with this number, as in numbered
}

// maxSame limits how many names with one number are compared.
const maxSame = 8

// likelyInstrs estimates the number of instructions in text. Most instructions have a line of their own.
func likelyInstrs(text string) int { return min(strings.Count(text, "\n"), len(text)/40) + 64 }

// newNameTable returns an empty table for text with about n instructions.
func newNameTable(text string, n int) nameTable {
	return nameTable{limit: len(text)/8 + 64, others: map[string]*nameEntry{}, numbered: make([]int32, 0, n), entries: make([]numberedName, 0, n)}
}

// number returns the number that name ends in, -1 if the table does not use it.
func (t *nameTable) number(name string) int {
	n, scale := 0, 1
	i := len(name)
	for ; i > 0 && len(name)-i < 9 && isDigit(name[i-1]); i-- {
		n += int(name[i-1]-'0') * scale
		scale *= 10
	}
	if i == len(name) || i < 2 || name[i-1] != '.' || name[i] == '0' || n >= t.limit {
		return -1
	}
	return n
}

// find returns the entry of name, nil if there is none, and the number of name. The entry is valid until the next
// call of add.
func (t *nameTable) find(name string) (*nameEntry, int) {
	n := t.number(name)
	if n >= 0 && n < len(t.numbered) {
		for i, k := t.numbered[n], 0; i != 0 && k < maxSame; k++ {
			e := &t.entries[i-1]
			if e.in.name == name {
				return &e.nameEntry, n
			}
			i = e.next
		}
	}
	if len(t.others) == 0 {
		return nil, n
	}
	return t.others[name], n
}

// add adds name, which find did not find. n is the number that find returned.
func (t *nameTable) add(name string, n int, e nameEntry) {
	if n >= 0 {
		if n >= len(t.numbered) {
			t.numbered = slices.Grow(t.numbered, n+1-len(t.numbered))
			for len(t.numbered) <= n {
				t.numbered = append(t.numbered, 0)
			}
		}
		same := 0
		for i := t.numbered[n]; i != 0; i = t.entries[i-1].next {
			same++
		}
		if same < maxSame {
			t.entries = append(t.entries, numberedName{e, t.numbered[n]})
			t.numbered[n] = int32(len(t.entries))
			return
		}
	}
	t.others[name] = &nameEntry{e.scope, e.in}
}
