package exec

import (
	"slices"
)

// Refs returns n empty references from the machine's stack; DropRefs pops the last n. If an error ends the run,
// DropRefs is not needed. Slices returned earlier stay valid when the stack grows.
func (m *Machine) Refs(n int) []*Buf {
	at := len(m.stack)
	m.stack = slices.Grow(m.stack, n)[:at+n]
	return m.stack[at : at+n : at+n]
}

func (m *Machine) DropRefs(n int) {
	at := len(m.stack) - n
	clear(m.stack[at:])
	m.stack = m.stack[:at]
}
