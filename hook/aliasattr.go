package hook

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/ir"
)

const attrOutputAliases = "output_operand_aliases"

// outputAlias is one #stablehlo.output_operand_alias: the part output of the results shares the memory of an
// operand (or a part of it).
type outputAlias struct {
	output  []int64
	operand int64
	part    []int64
}

// readAlias reads what outputAlias.attr writes.
func readAlias(a ir.Attr) (outputAlias, bool) {
	d, ok := a.(*ir.DialectAttr)
	if !ok || d.Name() != "output_operand_alias" {
		return outputAlias{}, false
	}
	var out outputAlias
	body := strings.TrimSuffix(strings.TrimPrefix(d.Body(), "<"), ">")
	for body != "" {
		key, rest, ok := strings.Cut(body, "=")
		if !ok {
			return out, false
		}
		rest = strings.TrimSpace(rest)
		var value string
		if strings.HasPrefix(rest, "[") {
			value, body, ok = strings.Cut(rest[1:], "]")
			if !ok {
				return out, false
			}
		} else {
			value, body, _ = strings.Cut(rest, ",")
			body = "," + body
		}
		var ints []int64
		for _, f := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' }) {
			n, err := strconv.ParseInt(f, 10, 64)
			if err != nil {
				return out, false
			}
			ints = append(ints, n)
		}
		switch strings.TrimSpace(key) {
		case "output_tuple_indices":
			out.output = ints
		case "operand_tuple_indices":
			out.part = ints
		case "operand_index":
			if len(ints) != 1 {
				return out, false
			}
			out.operand = ints[0]
		default:
			return out, false
		}
		body = strings.TrimLeft(body, ", ")
	}
	return out, true
}

func (a outputAlias) attr() ir.Attr {
	body := fmt.Sprintf("<output_tuple_indices = %s, operand_index = %d, operand_tuple_indices = %s>",
		intList(a.output), a.operand, intList(a.part))
	return ir.NewDialectAttr("stablehlo", "output_operand_alias", body, nil)
}

func intList(list []int64) string {
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = strconv.FormatInt(v, 10)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// sourceAliases reads the aliases of a custom call: per data leaf of its results the index among data (its
// operands less the tokens) that it shares memory with, -1 for none. Aliases that could not be honoured are
// errors, as XLA crashes over some of them.
func (r *raiser) sourceAliases(op *ir.Op, data []*ir.Value) ([]int, error) {
	results := resultList(op)
	var out []ir.Type // all leaves, tokens too
	for _, v := range results {
		out = leaves(out, v.Type())
	}
	byLeaf := make([]int, len(out))
	for i := range byLeaf {
		byLeaf[i] = -1
	}
	list, _ := op.Attr(attrOutputAliases).(*ir.ArrayAttr)
	if list != nil {
		dataIndex := map[int]int{}
		for i, v := range op.Operands() {
			if !ir.IsToken(v.Type()) {
				dataIndex[i] = len(dataIndex)
			}
		}
		for _, e := range list.Elems() {
			a, ok := readAlias(e)
			if !ok {
				return nil, r.errorf(op, "cannot read the alias %s of the hook", e)
			}
			if len(results) == 0 {
				return nil, r.errorf(op, "hook without results has an output_operand_alias")
			}
			if a.operand < 0 || a.operand >= int64(op.NumOperands()) {
				return nil, r.errorf(op, "expects operand_index in the output_operand_alias attribute to be in range [0, %d); but got: %d.", op.NumOperands(), a.operand)
			}
			leaf, ok := aliasLeaf(results, a.output)
			from := op.Operand(int(a.operand)).Type()
			if !ok || len(a.part) > 0 || out[leaf] != from {
				return nil, r.errorf(op, "shapes mismatch in the output_operand_alias attribute: operand part has type '%s' and output part has type '%s'",
					from, aliasPartType(r.m.Context(), results, out, leaf, ok))
			}
			if i, isData := dataIndex[int(a.operand)]; isData {
				byLeaf[leaf] = i
			}
		}
	}
	aliases := make([]int, 0, len(out))
	for i, t := range out {
		if !ir.IsToken(t) {
			aliases = append(aliases, byLeaf[i])
		}
	}
	return aliases, nil
}

// aliasLeaf returns the leaf of the results that an output path selects.
func aliasLeaf(results []*ir.Value, path []int64) (leaf int, ok bool) {
	types := make([]ir.Type, len(results))
	for i, v := range results {
		types[i] = v.Type()
	}
	if len(results) == 1 { // the path indexes into the one result
		if tt, ok := types[0].(*ir.TupleType); ok {
			types = tt.Elems()
		} else {
			return 0, len(path) == 0
		}
	}
	for len(path) > 0 {
		i := path[0]
		if i < 0 || i >= int64(len(types)) {
			return 0, false
		}
		for _, t := range types[:i] {
			leaf += len(leaves(nil, t))
		}
		path = path[1:]
		tt, isTuple := types[i].(*ir.TupleType)
		if !isTuple {
			return leaf, len(path) == 0
		}
		types = tt.Elems()
	}
	return 0, false
}

func aliasPartType(c *ir.Context, results []*ir.Value, out []ir.Type, leaf int, ok bool) string {
	if ok {
		return out[leaf].String()
	}
	return c.Tuple(typeList(results)).String()
}

// channelHandle returns #stablehlo.channel_handle<handle = h, type = t>.
func channelHandle(h, t int64) ir.Attr {
	return ir.NewDialectAttr("stablehlo", "channel_handle", fmt.Sprintf("<handle = %d, type = %d>", h, t), nil)
}
