//go:build cgo

package pjrt

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestCompiledCalls: the calls of hooks in HLO, with their aliases and the operands that are copies.
func TestCompiledCalls(t *testing.T) {
	const text = `HloModule m

on {
  a = f32[2]{0} parameter(0)
  ROOT h = f32[2]{0} custom-call(a), custom_call_target="hlocb_hook", backend_config="{abi = 1 : i64, id = 7 : i64, name = \"id = 3 \"}", output_to_operand_aliasing={{}: (0, {})}
}

off {
  a = f32[2]{0} parameter(0)
  ROOT h = f32[2]{0} custom-call(a), custom_call_target="hlocb_hook", backend_config="{name = \"{id = 4 \\\" id = 5 \", id = 8 : i64}"
}

ENTRY main {
  x = f32[2]{0} parameter(0)
  p = pred[] parameter(1)
  s = u64[] parameter(2)
  c = f32[2]{0} copy(x)
  b = f32[2]{0} bitcast(c)
  t = (f32[2]{0}, f32[2]{0}) tuple(x, b)
  e0 = f32[2]{0} get-tuple-element(t), index=0
  e1 = f32[2]{0} get-tuple-element(t), index=1
  n = f32[2]{0} negate(c)
  h = (u64[], f32[2]{0}, f32[2]{0}) custom-call(s, e0, e1, n), custom_call_target="hlocb_hook", backend_config="{id = 5 : i64}", output_to_operand_aliasing={{1}: (2, {}), {2}: (1, {})}
  pair = (f32[2]{0}, f32[2]{0}) tuple(c, x)
  first = f32[2]{0} get-tuple-element(pair), index=0
  second = f32[2]{0} get-tuple-element(pair), index=1
  pairs = ((f32[2]{0}, f32[2]{0}), f32[2]{0}) tuple(pair, c)
  inner = (f32[2]{0}, f32[2]{0}) get-tuple-element(pairs), index=0
  deep = f32[2]{0} get-tuple-element(inner), index=0
  far = u64[] custom-call(s, first, second, deep, x), custom_call_target="hlocb_hook", backend_config="{id = 9 : i64}"
  again = u64[] custom-call(s), custom_call_target="hlocb_hook", backend_config="{id = 5 : i64}"
  other = f32[2]{0} custom-call(c), custom_call_target="other", backend_config="{id = 6 : i64}"
  whole = u64[] custom-call(s, pair), custom_call_target="hlocb_hook", backend_config="{id = 10 : i64}"
  unnamed = f32[2]{0} custom-call(c), custom_call_target="hlocb_hook", backend_config="{kind = 3 : i64}"
  ROOT k = f32[2]{0} conditional(p, c, x), true_computation=on, false_computation=off
}
`
	m, err := hlo.Parse(diag.NewSource("m.hlo", []byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	data, err := m.AppendProto(nil)
	if err != nil {
		t.Fatal(err)
	}
	calls, err := compiledCalls(data)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, id := range slices.Sorted(maps.Keys(calls)) {
		for _, c := range calls[id] {
			var copies []int
			for i := range len(c.copied) {
				if c.copied[i] {
					copies = append(copies, i)
				}
			}
			fmt.Fprintf(&got, "%d: aliases %v, %d operands, copies %v\n", int64(id), c.aliases, len(c.copied), copies)
		}
	}
	want := `5: aliases map[1:2 2:1], 4 operands, copies [2]
5: aliases map[], 1 operands, copies []
7: aliases map[-1:0], 1 operands, copies [0]
8: aliases map[], 1 operands, copies []
9: aliases map[], 5 operands, copies [1]
10: aliases map[], 2 operands, copies []
`
	if got.String() != want {
		t.Errorf("the calls are\n%s\nwant\n%s", got.String(), want)
	}
	for at, n := 0, 0; at < len(data); at += n { // without one of the computations
		if _, _, n = protowire.ConsumeField(data[at:]); n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		if calls, err := compiledCalls(slices.Concat(data[:at], data[at+n:])); err != nil || len(calls) < 4 && len(calls[hook.ID(5)]) != 0 {
			t.Errorf("without the bytes from %d to %d: %v, %v", at, at+n, calls, err)
		}
	}
	for i := range data { // a part of it is an error or has fewer calls
		if calls, err := compiledCalls(data[:i]); err == nil && len(calls[hook.ID(5)]) > 2 {
			t.Errorf("%d bytes have %d calls", i, len(calls[hook.ID(5)]))
		}
	}
}

// TestUsesOf: an alias of a hook was kept in a call, needed a copy there, or was lost. The chain is the first operand
// and the first result of a call; an only result has no number.
func TestUsesOf(t *testing.T) {
	v := tt(tensor.F32, 2)
	site := func(chained bool, results int, aliases ...int) *hook.Site {
		s := hookSite(3, "h", hook.Call, []hook.TensorType{v, v, v}, slices.Repeat([]hook.TensorType{v}, results))
		s.Chained, s.Aliases = chained, aliases
		return &s
	}
	call := func(aliases map[int]int, copies ...int) compiledCall {
		c := compiledCall{aliases: aliases, copied: map[int]bool{}}
		for _, i := range copies {
			c.copied[i] = true
		}
		return c
	}
	use := func(result, operand, calls, lost, copies int) runtime.AliasUse {
		return runtime.AliasUse{Hook: 3, Result: result, Operand: operand, Calls: calls, Lost: lost, Copies: copies}
	}
	for i, c := range []struct {
		site  *hook.Site
		calls []compiledCall
		want  []runtime.AliasUse
	}{
		{site(true, 2), []compiledCall{call(map[int]int{1: 1})}, nil},
		{site(true, 2, -1, 2), []compiledCall{call(map[int]int{2: 3})}, []runtime.AliasUse{use(1, 2, 1, 0, 0)}},
		{site(true, 2, 0, 2), []compiledCall{call(map[int]int{1: 1, 2: 3}, 3), call(map[int]int{1: 1}, 1), call(map[int]int{1: 2, 2: 3})},
			[]runtime.AliasUse{use(0, 0, 3, 1, 1), use(1, 2, 3, 1, 1)}},
		{site(true, 1, 0), []compiledCall{call(map[int]int{1: 1}, 0)}, []runtime.AliasUse{use(0, 0, 1, 0, 0)}},
		{site(false, 2, 1, 0), []compiledCall{call(map[int]int{0: 1, 1: 0}, 1)}, []runtime.AliasUse{use(0, 1, 1, 0, 1), use(1, 0, 1, 0, 0)}},
		{site(false, 1, 2), []compiledCall{call(map[int]int{-1: 2}), call(map[int]int{0: 2})}, []runtime.AliasUse{use(0, 2, 2, 1, 0)}},
		{site(false, 1, 2), nil, []runtime.AliasUse{use(0, 2, 0, 0, 0)}},
	} {
		if got := usesOf(c.site, c.calls); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("case %d: %v, expected %v", i, got, c.want)
		}
	}
}

// TestCompileOptions writes the fields of the proto by number, as xla/pjrt/proto/compile_options.proto numbers them.
func TestCompileOptions(t *testing.T) {
	for _, c := range []struct {
		options compileOptions
		set     map[string]any
		want    string
	}{
		{compileOptions{replicas: 1, partitions: 1}, nil, "3{1:-1 4:1 5:1}"},
		{compileOptions{replicas: 1, partitions: 2, shardy: true}, nil, "3{1:-1 4:1 5:2 6:1 19:1}"},
		{compileOptions{replicas: 2, partitions: 3, assignment: []int{5, 4, 3, 2, 1, 0}}, nil,
			"3{1:-1 4:2 5:3 6:1 9{1:2 2:3 3{1[5 2]} 3{1[4 1]} 3{1[3 0]}}}"},
		{compileOptions{replicas: 1, partitions: 1, overrides: []override{{"a", true}, {"b", false}}},
			map[string]any{"b": int64(7), "c": "text", "d": 0.5}, `3{1:-1 4:1 5:1} 7{"a" 2:1} 7{"b" 3:7} 7{"c" "text"} 7{"d" 0.5}`},
	} {
		if err := c.options.override(c.set); err != nil {
			t.Fatal(err)
		}
		data := c.options.encode()
		if got := compileFields(data); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
		if r, p := DeviceCounts(data); r != c.options.replicas || p != c.options.partitions {
			t.Errorf("%d replicas and %d partitions", r, p)
		}
	}
	if err := (&compileOptions{}).override(map[string]any{"a": 3}); err == nil || !strings.Contains(err.Error(), "option a of the compiler is a int") {
		t.Errorf("the error is %v", err)
	}
	if r, p := DeviceCounts([]byte{0xff}); r != 0 || p != 0 {
		t.Errorf("%d replicas and %d partitions of a damaged proto", r, p)
	}
}

// compileFields writes the fields of a message. path holds the numbers of the messages around it, outermost first.
func compileFields(b []byte, path ...protowire.Number) string {
	var out []string
	for len(b) > 0 {
		field, typ, n := protowire.ConsumeTag(b)
		b = b[n:]
		at := fmt.Sprint(append(slices.Clone(path), field))
		switch typ {
		case protowire.VarintType:
			v, n := protowire.ConsumeVarint(b)
			out, b = append(out, fmt.Sprintf("%d:%d", field, int64(v))), b[n:]
		case protowire.Fixed64Type:
			v, n := protowire.ConsumeFixed64(b)
			out, b = append(out, fmt.Sprint(math.Float64frombits(v))), b[n:]
		case protowire.BytesType:
			v, n := protowire.ConsumeBytes(b)
			b = b[n:]
			switch at {
			case "[3]", "[3 9]", "[3 9 3]", "[7]":
				out = append(out, fmt.Sprintf("%d{%s}", field, compileFields(v, append(slices.Clone(path), field)...)))
			case "[7 2]":
				out = append(out, compileFields(v, append(slices.Clone(path), field)...))
			case "[3 9 3 1]":
				var ids []uint64
				for len(v) > 0 {
					id, n := protowire.ConsumeVarint(v)
					ids, v = append(ids, id), v[n:]
				}
				out = append(out, fmt.Sprintf("%d%v", field, ids))
			default:
				out = append(out, fmt.Sprintf("%q", v))
			}
		default:
			return fmt.Sprintf("wire type %d", typ)
		}
	}
	return strings.Join(out, " ")
}
