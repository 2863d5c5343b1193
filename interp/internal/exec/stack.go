package exec

import (
	"slices"
)

// Refs returns n empty references from the machine's stack; dropRefs pops the last n. References need no dropRefs if an
// error ends the run. Slices returned earlier stay valid when the stack grows.
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
