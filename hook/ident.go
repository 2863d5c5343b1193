package hook

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/hlocb"
	"github.com/hlocb/hlocb/ir"
)

// namer makes names unique: a repeated one gets #2, #3.
type namer struct{ count map[string]int }

func newNamer() *namer { return &namer{map[string]int{}} }

func (n *namer) unique(label string) string {
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
	ordinal map[string]int
	used    map[hlocb.ID]*ir.Op
}

func newIdentifier() *identifier {
	return &identifier{map[string]int{}, map[hlocb.ID]*ir.Op{}}
}

// taken notes that op has the given id and returns the op that had it before.
func (d *identifier) taken(id hlocb.ID, op *ir.Op) *ir.Op {
	first := d.used[id]
	if first == nil {
		d.used[id] = op
	}
	return first
}

func (d *identifier) next(path string, h hlocb.HookOp) hlocb.ID {
	var b strings.Builder
	b.WriteString(path)
	b.WriteByte('\n')
	b.WriteString(h.Format())
	b.WriteString("\n(")
	for i := range h.NumData() {
		b.WriteString(h.Data(i).Type().String())
		b.WriteByte(',')
	}
	b.WriteString(")->(")
	for i := range h.NumResultData() {
		b.WriteString(h.ResultData(i).Type().String())
		b.WriteByte(',')
	}
	b.WriteString(")\n")
	key := b.String()
	for {
		sum := sha256.Sum256(strconv.AppendInt([]byte(key), int64(d.ordinal[key]), 10))
		d.ordinal[key]++
		id := hlocb.ID(binary.BigEndian.Uint64(sum[:8]))
		if d.taken(id, h.Op) == nil {
			return id
		}
	}
}
