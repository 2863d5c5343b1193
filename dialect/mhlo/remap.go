package mhlo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/internal/wire"
	"github.com/hlocb/hlocb/ir"
)

// frontendSharding is the frontend attribute in which XLA keeps the shardings of results, in Shardy's syntax.
const frontendSharding = "xla.sdy.sharding"

// SplitSharding returns the shardings of the leaves of a tuple, {{replicated}, {maximal device=0}}. tuple is false if
// text is the sharding of one value, or of every leaf. The leaves of an encoded sharding are encoded.
func SplitSharding(text string) (leaves []string, tuple bool) {
	if isEncoded(text) {
		kind, leaves, _ := decode(text)
		return leaves, kind == kindTuple && len(leaves) > 0
	}
	inner, ok := strings.CutPrefix(strings.TrimSpace(text), "{")
	if !ok || !strings.HasPrefix(strings.TrimSpace(inner), "{") {
		return nil, false
	}
	inner, ok = strings.CutSuffix(inner, "}")
	if !ok {
		return nil, false
	}
	return splitList(inner), true
}

// JoinSharding returns the sharding of a value with the given leaves.
func JoinSharding(leaves []string) string {
	if len(leaves) == 1 {
		return leaves[0]
	}
	if len(leaves) > 0 && isEncoded(leaves[0]) {
		b := protowire.AppendVarint(protowire.AppendTag(nil, fieldKind, protowire.VarintType), kindTuple)
		for _, leaf := range leaves {
			b = protowire.AppendString(protowire.AppendTag(b, fieldLeaves, protowire.BytesType), leaf)
		}
		return string(b)
	}
	return "{" + strings.Join(leaves, ",") + "}"
}

// An encoded sharding is an OpSharding (xla/xla_data.proto), as XLA's translation to MHLO writes it.
const (
	fieldKind    = 1
	fieldDevices = 4
	fieldLeaves  = 5
	fieldNamed   = 14

	kindReplicated = 0
	kindMaximal    = 1
	kindTuple      = 2
	kindManual     = 4
)

// encodedReplicated is {replicated}. Writers leave out a field of 0, so a leaf may also be empty.
const encodedReplicated = "\x08\x00"

// isEncoded reports whether a sharding is encoded. Each text of a sharding starts with a brace.
func isEncoded(text string) bool {
	return text != "" && !strings.HasPrefix(strings.TrimSpace(text), "{")
}

// decode returns the kind of an encoded sharding, the leaves of a tuple, and the devices. The kind is -1 if text does
// not encode a sharding, or one that has no kind: a named sharding.
func decode(text string) (kind int64, leaves []string, devices []int64) {
	err := wire.Decode(text, func(c *wire.Coder) {
		c.Int(fieldKind, &kind)
		c.Ints(fieldDevices, &devices)
		c.Strs(fieldLeaves, &leaves)
		if c.Has(fieldNamed) {
			kind = -1
		}
	})
	if err != nil {
		return -1, nil, nil
	}
	for i, leaf := range leaves {
		leaves[i] = cmp.Or(leaf, encodedReplicated)
	}
	return kind, leaves, devices
}

// PlainSharding returns the text of an encoded sharding that is replicated, manual, or on one device. It returns other
// shardings as they are.
func PlainSharding(text string) string {
	if !isEncoded(text) {
		return text
	}
	switch kind, _, devices := decode(text); {
	case kind == kindReplicated:
		return "{replicated}"
	case kind == kindMaximal && len(devices) == 1:
		return fmt.Sprintf("{maximal device=%d}", devices[0])
	case kind == kindManual:
		return "{manual}"
	}
	return text
}

// splitList splits a list at its commas. Commas in brackets and in strings do not count.
func splitList(text string) []string {
	var out []string
	depth, start := 0, 0
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '<' && strings.HasPrefix(text[i+1:], "="): // [2]<=[2]
		case strings.IndexByte("{[(<", c) >= 0:
			depth++
		case strings.IndexByte("}])>", c) >= 0:
			depth--
		case c == ',' && depth == 0:
			out = append(out, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	return append(out, strings.TrimSpace(text[start:]))
}

// leafTypes appends the types of the leaves of t: a tuple has those of its elements. XLA counts an empty tuple as one
// leaf.
func leafTypes(list []ir.Type, t ir.Type) []ir.Type {
	tuple, ok := t.(*ir.TupleType)
	if !ok || len(tuple.Elems()) == 0 {
		return append(list, t)
	}
	for _, e := range tuple.Elems() {
		list = leafTypes(list, e)
	}
	return list
}

// remapAttr keeps mhlo.sharding, Shardy's shardings in the frontend attributes, and layouts in step with the results.
func remapAttr(op *ir.Op, name string, a ir.Attr, types []ir.Type, from []int) ir.Attr {
	if op.Def().Dialect() == "hlocb" {
		return a // until it is lowered, a hook keeps the source's shardings of its former results
	}
	switch name {
	case view.ResultLayouts:
		return view.RemapLayouts(op, name, a, types, from)
	case AttrSharding:
		s, ok := a.(*ir.StringAttr)
		if !ok {
			return a
		}
		text := remapSharding(op, s.Value(), types, from)
		if text == "" {
			return nil
		}
		return ir.NewString(text)
	case AttrFrontendAttributes:
		d, ok := a.(*ir.DictAttr)
		if !ok {
			return a
		}
		s, ok := d.Get(frontendSharding).(*ir.StringAttr)
		if !ok {
			return a
		}
		if text := remapPerValue(s.Value(), types, from); text != "" {
			return ir.NewDict(d.Entries().Set(frontendSharding, ir.NewString(text), false))
		}
		if rest := d.Entries().Without(frontendSharding); len(rest) > 0 {
			return ir.NewDict(rest)
		}
		return nil
	}
	return a
}

// remapSharding returns the mhlo.sharding of new results, or "" if there are none.
func remapSharding(op *ir.Op, text string, types []ir.Type, from []int) string {
	if len(types) == 0 && op.NumResults() > 0 {
		return ""
	}
	leaves, tuple := SplitSharding(text)
	counts, total := make([]int, op.NumResults()), 0 // leaves of each result
	var old [][]ir.Type
	for i, r := range op.Results() {
		list := leafTypes(nil, r.Type())
		old = append(old, list)
		counts[i] = len(list)
		total += len(list)
	}
	if !tuple {
		plain := PlainSharding(text)
		anywhere := strings.HasPrefix(plain, "{replicated") || strings.HasPrefix(plain, "{maximal") // also for a new value
		grows := slices.ContainsFunc(from, func(i int) bool { return i < 0 })
		if anywhere || !grows && (total > 1 || strings.HasPrefix(plain, "{manual")) { // for every leaf
			return text
		}
		leaves = slices.Repeat([]string{text}, max(1, total))
	}
	if len(leaves) != max(1, total) || tuple && total == 0 {
		return text // Verify reports it
	}
	added := Beside(leaves)
	starts := make([]int, len(counts))
	for i := 1; i < len(counts); i++ {
		starts[i] = starts[i-1] + counts[i-1]
	}
	next := make([]int, len(counts)) // the first leaf of each result that no new result has yet
	var out []string
	for i, t := range types {
		k, list := from[i], leafTypes(nil, t)
		for _, leaf := range list {
			if k < 0 {
				out = append(out, added)
				continue
			}
			n := next[k]
			if len(list) != counts[k] { // part of a tuple: the next leaf of its type
				for n < counts[k] && old[k][n] != leaf {
					n++
				}
			}
			if n == counts[k] {
				out = append(out, added)
				continue
			}
			out = append(out, leaves[starts[k]+n])
			next[k] = n + 1
		}
	}
	return JoinSharding(out)
}

// Beside returns the sharding of a new value beside values with the given shardings: the device on which all are, and
// otherwise {replicated}. This is also right in a manual computation: a new value comes from outside, where it is
// whole, and XLA ends the process if a loop says {manual} and its body takes the value for a whole one.
func Beside(leaves []string) string {
	same := strings.HasPrefix(PlainSharding(leaves[0]), "{maximal")
	for _, s := range leaves {
		same = same && s == leaves[0]
	}
	switch {
	case same:
		return leaves[0]
	case isEncoded(leaves[0]):
		return encodedReplicated
	}
	return "{replicated}"
}

// remapPerValue returns #sdy.sharding_per_value<[...]> for new results, or "" if there are none. A new result is
// replicated on the mesh of the first entry.
func remapPerValue(text string, types []ir.Type, from []int) string {
	inner, isList := strings.CutPrefix(text, "#sdy.sharding_per_value<[")
	inner, isWhole := strings.CutSuffix(inner, "]>")
	if !isList || !isWhole {
		return text
	}
	if len(types) == 0 {
		return ""
	}
	old := splitList(inner)
	mesh, _, _ := strings.Cut(strings.TrimPrefix(old[0], "<"), ",")
	out := make([]string, len(types))
	for i, k := range from {
		if k >= 0 && k < len(old) {
			out[i] = old[k]
			continue
		}
		rank := 0
		if t, ok := types[i].(*ir.TensorType); ok {
			rank = t.Rank()
		}
		out[i] = "<" + mesh + ", [" + strings.TrimSuffix(strings.Repeat("{}, ", rank), ", ") + "]>"
	}
	return "#sdy.sharding_per_value<[" + strings.Join(out, ", ") + "]>"
}

// verifyAttr checks that mhlo.sharding has an entry for each leaf of the results, and result_layouts for each result.
func verifyAttr(op *ir.Op, name string, a ir.Attr, r *ir.Reporter) {
	view.VerifyLayouts(op, name, a, r)
	s, ok := a.(*ir.StringAttr)
	if name != AttrSharding || !ok || op.Def().Dialect() == "hlocb" {
		return
	}
	leaves, tuple := SplitSharding(s.Value())
	if !tuple {
		return
	}
	n := 0
	for _, v := range op.Results() {
		n += len(leafTypes(nil, v.Type()))
	}
	if op.IsOrMirrors(stablehlo.Outfeed) || op.IsOrMirrors(stablehlo.Send) || op.IsOrMirrors(stablehlo.Recv) {
		return // HLO counts other values: an outfeed's operands, more results of transfers
	}
	if n = max(n, 1); len(leaves) != n { // in HLO, no results are an empty tuple
		r.Errorf(op, "expects mhlo.sharding to have one sharding for each value, which are %d, but it has %d", n, len(leaves))
	}
}
