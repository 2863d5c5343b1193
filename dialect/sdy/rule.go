package sdy

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// Rule is #sdy.op_sharding_rule<([i, j])->([ij]) {i=2, j=4}>. It names the factors that the dimensions of an
// operation's operands and results share. Shardings propagate along shared factors.
type Rule struct {
	Operands, Results []Mapping
	Sizes             []int64 // of the factors
	Reduction         []int64 // factors that are summed over
	NeedReplication   []int64
	Permutation       []int64
	Blocked           []int64 // factors along which nothing propagates
	Custom            bool    // set by the user, not derived from the operation
}

// Mapping holds the factors of each dimension of a tensor.
type Mapping [][]int64

// lastLetter is the index of the factor z. The factors after it are z_1, z_2, ...
const lastLetter = 'z' - 'i'

func factor(i int64) string {
	if i <= lastLetter {
		return string(rune('i' + i))
	}
	return "z_" + strconv.FormatInt(i-lastLetter, 10)
}

type factorGroup struct {
	name string
	list *[]int64
}

// groups returns the lists of special factors in textual order.
func (r *Rule) groups() []factorGroup {
	return []factorGroup{
		{"reduction", &r.Reduction}, {"need_replication", &r.NeedReplication}, {"permutation", &r.Permutation}, {"blocked_propagation", &r.Blocked},
	}
}

// text is <([i, j])->([ij]) {i=2, j=4} reduction={i}, custom>.
func (r *Rule) text(t *view.Text) {
	t.Lit("<")
	mappingsText(t, &r.Operands)
	t.Lit("->")
	mappingsText(t, &r.Results)
	if t.Next(len(r.Sizes) > 0, " {") {
		next := int64(0)
		view.Items(t, "{", "}", &r.Sizes, func(n *int64) {
			r.sizeText(t, next, n)
			next++
		})
	}
	for _, g := range r.groups() {
		if t.Opt(len(*g.list) > 0, " "+g.name+"=") && t.Next(true, "{") {
			view.Items(t, "{", "}", g.list, func(f *int64) {
				if t.P == nil {
					t.Lit(factor(*f))
				} else {
					*f, _ = takeFactor(t.P, t.P.ParseKeyword())
				}
			})
		}
	}
	r.Custom = t.Opt(r.Custom, ", custom")
	t.Lit(">")
}

// sizeText is i=2, the size of the given factor.
func (r *Rule) sizeText(t *view.Text, want int64, n *int64) {
	if t.P == nil {
		t.Lit(factor(want))
	} else {
		word, pos := t.P.ParseKeyword(), t.Pos()
		f, rest := takeFactor(t.P, word)
		if f != want {
			t.Failf(pos, "expecting factor indices to be ordered like an iota ([0,1,2,...], e.g. {i=#, j=#, ...}). Expecting factor index symbol '%s', received: '%s'", factor(want), factor(f))
		}
		if rest != "" {
			t.Failf(pos, "expecting single factor symbol: %s", rest)
		}
	}
	t.Lit("=")
	pos := t.Pos()
	if t.Int(n); *n != int64(int32(*n)) {
		t.Failf(pos, "integer value too large")
	}
}

// mappingsText is ([i, j], [jk]): at least one tensor.
func mappingsText(t *view.Text, list *[]Mapping) {
	view.Some(t, "(", ")", list, func(m *Mapping) { m.text(t) })
}

// text is [i, jk].
func (m *Mapping) text(t *view.Text) {
	view.Items(t, "[", "]", (*[][]int64)(m), func(dim *[]int64) { factorsText(t, dim) })
}

// factorsText is jk: factors without separators.
func factorsText(t *view.Text, list *[]int64) {
	if t.P == nil {
		for _, f := range *list {
			t.Lit(factor(f))
		}
		return
	}
	for word := t.P.ParseOptionalKeyword(); word != ""; {
		var f int64
		f, word = takeFactor(t.P, word)
		*list = append(*list, f)
	}
}

// takeFactor reads the first factor of word, a sequence of factors, and returns the rest.
func takeFactor(p ir.AsmParser, word string) (f int64, rest string) {
	digits, long := strings.CutPrefix(word, "z_")
	if !long {
		if c := word[0]; c < 'i' || c > 'z' {
			p.Errorf("expecting symbol from 'i' to 'z'. Received: '%c'", c)
		}
		return int64(word[0] - 'i'), word[1:]
	}
	rest = strings.TrimLeft(digits, "0123456789")
	number := digits[:len(digits)-len(rest)]
	switch {
	case number == "":
		p.Errorf("expecting integer after 'z_'. Received: '%s'", word)
	case number[0] == '0':
		p.Errorf("expecting positive integer without leading zeros. Received: '%s'", number)
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n > math.MaxInt64-lastLetter {
		p.Errorf("expecting symbol index <=2^63-1. Received: '%s'", number)
	}
	return n + lastLetter, rest
}

// check checks the rule of op.
func (r *Rule) check(op *ir.Op, f fault) {
	used := make([]bool, len(r.Sizes))
	if !r.checkMappings("operand", r.Operands, view.Types(op.OperandList()), used, f) || !r.checkMappings("result", r.Results, op.ResultTypes(), used, f) {
		return
	}
	if i := slices.Index(used, false); i >= 0 {
		f("has factor %s=%d that isn't used in operand and result mappings", factor(int64(i)), r.Sizes[i])
		return
	}
	special := map[int64]bool{}
	n := 0
	for i, g := range r.groups() {
		if i == 3 { // blocked factors may also be special
			break
		}
		if !r.checkIndices(*g.list, f) {
			return
		}
		n += len(*g.list)
		for _, k := range *g.list {
			special[k] = true
		}
	}
	if len(special) != n {
		f("a factor can only be in one of the reduction, need replication, or permutation factor sets")
		return
	}
	if !r.checkIndices(r.Blocked, f) {
		return
	}
	for _, m := range r.Results {
		for _, d := range m {
			for _, k := range d {
				if slices.Contains(r.Reduction, k) {
					f("reduction factor cannot be in result mappings")
					return
				}
			}
		}
	}
}

func (r *Rule) checkIndices(list []int64, f fault) bool {
	switch {
	case len(list) == 0:
		return true
	case !slices.IsSorted(list):
		f("indices of special factors must be sorted")
	case len(slices.Compact(slices.Clone(list))) < len(list):
		f("indices of special factors must be unique")
	case list[len(list)-1] >= int64(len(r.Sizes)):
		f("index must be less than %d, got: %d", len(r.Sizes), list[len(list)-1])
	default:
		return true
	}
	return false
}

func (r *Rule) checkMappings(side string, list []Mapping, types []ir.Type, used []bool, f fault) bool {
	if len(types) != len(list) {
		return f.no("number of %ss and mappings must match: %d != %d", side, len(types), len(list))
	}
	for i, m := range list {
		v := f.of(side + " - ")
		if len(types) != 1 {
			v = f.of(fmt.Sprintf("%s %d - ", side, i))
		}
		t, ok := types[i].(*ir.TensorType)
		if !ok || !t.Static() {
			return v.no("expected a ranked tensor with a static shape. type: '%s'", types[i])
		}
		if len(m) != t.Rank() {
			return v.no("mapping rank must match: %d != %d", len(m), t.Rank())
		}
		own := make([]bool, len(r.Sizes))
		for _, d := range m {
			if len(d) == 0 {
				return v.no("dim mapping must have at least one factor")
			}
			for _, k := range d {
				switch {
				case k < 0 || k >= int64(len(r.Sizes)):
					v("expecting factor indices to be within 0<=...<num_factors; received: %d, num_factors: %d", k, len(r.Sizes))
				case own[k]:
					v("cannot reuse factors for the same tensor value")
				case r.Sizes[k] == 1 && len(d) > 1:
					v("dim mapping can't have a factor of size 1 if there are multiple factors")
				default:
					own[k], used[k] = true, true
					continue
				}
				return false
			}
		}
	}
	return true
}
