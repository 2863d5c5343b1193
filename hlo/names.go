package hlo

import (
	"slices"
	"strings"
)

// nameTable finds instructions by name. Most names end in a number that is unique in the module or nearly so, such as
// add.12. They are found by the number: instructions that are near each other in the text are so in the table.
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

// newNameTable returns an empty table for text. As a rule an instruction has a line of its own.
func newNameTable(text string) nameTable {
	n := min(strings.Count(text, "\n"), len(text)/40) + 64
	return nameTable{limit: len(text)/8 + 64, others: map[string]*nameEntry{}, numbered: make([]int32, 0, n), entries: make([]numberedName, 0, n)}
}

// number returns the number that name ends in; ok is false if the table does not use it.
func (t *nameTable) number(name string) (n int, ok bool) {
	i := len(name)
	for i > 0 && len(name)-i < 9 && isDigit(name[i-1]) {
		i--
	}
	if i == len(name) || i < 2 || name[i-1] != '.' || name[i] == '0' {
		return 0, false
	}
	for _, c := range []byte(name[i:]) {
		n = n*10 + int(c-'0')
	}
	return n, n < t.limit
}

// find returns the entry of name, nil if there is none. It is valid until the next call of add.
func (t *nameTable) find(name string) *nameEntry {
	if n, ok := t.number(name); ok && n < len(t.numbered) {
		for i, k := t.numbered[n], 0; i != 0 && k < maxSame; k++ {
			e := &t.entries[i-1]
			if e.in.name == name {
				return &e.nameEntry
			}
			i = e.next
		}
	}
	if len(t.others) == 0 {
		return nil
	}
	return t.others[name]
}

// add adds name, which find did not find.
func (t *nameTable) add(name string, e nameEntry) {
	n, ok := t.number(name)
	if ok {
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
	t.others[name] = &e
}
