package hooks

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// namer makes names unique: a repeated one gets #2, #3.
type namer struct {
	count map[string]int
	last  string // what unique returned
}

func newNamer() *namer { return &namer{count: map[string]int{}} }

func (n *namer) unique(label string) string {
	n.last = n.pick(label)
	return n.last
}

func (n *namer) pick(label string) string {
	for {
		n.count[label]++
		if n.count[label] == 1 {
			return label
		}
		name := label + "#" + strconv.Itoa(n.count[label])
		if n.count[name] == 0 {
			n.count[name] = 1
			return name
		}
	}
}

// identifier computes ids: the first 64 bits of SHA-256 over symbol path, format name, operand and result types
// and the ordinal among hooks that agree in all of these. Nothing that differs between machines or runs enters.
type identifier struct {
	ordinal map[string]*int
	used    map[hook.ID]*ir.Op
	key     []byte
}

// newIdentifier returns an identifier of about n hooks.
func newIdentifier(n int) *identifier {
	return &identifier{ordinal: map[string]*int{}, used: make(map[hook.ID]*ir.Op, n)}
}

// taken notes that op has the given id and returns the op that had it before.
func (d *identifier) taken(id hook.ID, op *ir.Op) *ir.Op {
	first := d.used[id]
	if first == nil {
		d.used[id] = op
	}
	return first
}

func (d *identifier) next(path string, h hookop.HookOp) hook.ID {
	b := append(d.key[:0], path...)
	b = append(b, '\n')
	b = append(b, h.Format()...)
	b = append(b, "\n("...)
	for i := range h.NumData() {
		b = append(b, h.Data(i).Type().String()...)
		b = append(b, ',')
	}
	b = append(b, ")->("...)
	for i := range h.NumResultData() {
		b = append(b, h.ResultData(i).Type().String()...)
		b = append(b, ',')
	}
	b = append(b, ")\n"...)
	d.key = b
	n := d.ordinal[string(b)]
	if n == nil {
		n = new(int)
		d.ordinal[string(b)] = n
	}
	for {
		d.key = strconv.AppendInt(b, int64(*n), 10)
		sum := sha256.Sum256(d.key)
		*n++
		id := hook.ID(binary.BigEndian.Uint64(sum[:8]))
		if d.taken(id, h.Op) == nil {
			return id
		}
	}
}
