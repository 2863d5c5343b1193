package order_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
)

func read(t testing.TB, text string) *ir.Module {
	t.Helper()
	m := testkit.Parse(t, "test.mlir", text)
	if err := ir.Verify(m); err != nil {
		t.Fatal(err)
	}
	return m
}

// call is a lowered hook: name = @hlocb_hook(chain, value) -> (chain, value).
func call(name, chain, value string, id int) string {
	return fmt.Sprintf(`%%%s:2 = stablehlo.custom_call @hlocb_hook(%s, %s) {api_version = 4 : i32, has_side_effect = true,
    backend_config = {abi = 1 : i64, chained = true, id = %d : i64, kind = "call", name = "%s"}} : (tensor<ui64>, tensor<2xi32>) -> (tensor<ui64>, tensor<2xi32>)
`, name, chain, value, id, name)
}

// between is a program of two hooks, with ops between them that make %chain and %value, which the second hook receives.
func between(ops string) string {
	return `
func.func private @same(%a: tensor<ui64>) -> tensor<ui64> { return %a : tensor<ui64> }
func.func private @other(%a: tensor<ui64>) -> tensor<ui64> { %z = stablehlo.constant dense<0> : tensor<ui64> return %z : tensor<ui64> }
func.func public @main(%x: tensor<2xi32>, %p: tensor<i1>, %i: tensor<i32>) -> tensor<2xi32> {
  %start = stablehlo.constant dense<0> : tensor<ui64>
  %zero = stablehlo.constant dense<0> : tensor<2xi32>
  %one = stablehlo.constant dense<1> : tensor<2xi32>
  %ones = stablehlo.constant dense<-1> : tensor<2xi32>
  %all = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
  %true = stablehlo.constant dense<true> : tensor<i1>
  ` + call("a", "%start", "%x", 1) + ops + call("b", "%chain", "%value", 2) + `
  return %x : tensor<2xi32>
}`
}

// start makes the second hook start a new chain: then only %value can order it.
const start = "%chain = stablehlo.constant dense<0> : tensor<ui64>\n"

// sameArgument passes the argument of the program to the second hook.
const sameArgument = "%value = stablehlo.add %x, %x : tensor<2xi32>\n"

// TestProve: values that XLA may compute without waiting for the first hook prove nothing; values that come from it
// unchanged do. TestProofHolds in internal/endtoend lets XLA run such programs.
func TestProve(t *testing.T) {
	refused := map[string]string{
		"or with ones":         sameArgument + "%chain = stablehlo.or %a#0, %all : tensor<ui64>\n",
		"or with an argument":  sameArgument + "%c1 = stablehlo.convert %i : (tensor<i32>) -> tensor<ui64>\n%chain = stablehlo.or %a#0, %c1 : tensor<ui64>\n",
		"or with ones, called": sameArgument + "%c1 = stablehlo.not %start : tensor<ui64>\n%c2 = func.call @same(%c1) : (tensor<ui64>) -> tensor<ui64>\n%chain = stablehlo.or %a#0, %c2 : tensor<ui64>\n",
		"multiply by zero":     start + "%value = stablehlo.multiply %a#1, %zero : tensor<2xi32>\n",
		"and with zero":        start + "%value = stablehlo.and %a#1, %zero : tensor<2xi32>\n",
		"or of data with ones": start + "%value = stablehlo.or %a#1, %ones : tensor<2xi32>\n",
		"subtract from itself": start + "%value = stablehlo.subtract %a#1, %a#1 : tensor<2xi32>\n",
		"xor with itself":      start + "%value = stablehlo.xor %a#1, %a#1 : tensor<2xi32>\n",
		"remainder by one":     start + "%value = stablehlo.remainder %a#1, %one : tensor<2xi32>\n",
		"clamp to one value":   start + "%value = stablehlo.clamp %zero, %a#1, %zero : tensor<2xi32>\n",
		"select the other":     start + "%value = stablehlo.select %true, %x, %a#1 : tensor<i1>, tensor<2xi32>\n",
		"compare with itself": start + `%c1 = stablehlo.compare EQ, %a#1, %a#1 : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
			%value = stablehlo.convert %c1 : (tensor<2xi1>) -> tensor<2xi32>
			`,
		"size of a dimension": start + `%d = stablehlo.get_dimension_size %a#1, dim = 0 : (tensor<2xi32>) -> tensor<i32>
			%value = stablehlo.broadcast_in_dim %d, dims = [] : (tensor<i32>) -> tensor<2xi32>
			`,
		"the other element of a tuple": start + `%t = stablehlo.tuple %a#1, %x : tuple<tensor<2xi32>, tensor<2xi32>>
			%value = stablehlo.get_tuple_element %t[1] : (tuple<tensor<2xi32>, tensor<2xi32>>) -> tensor<2xi32>
			`,
		"the other part of a concatenation": start + `%c1 = stablehlo.concatenate %a#1, %x, dim = 0 : (tensor<2xi32>, tensor<2xi32>) -> tensor<4xi32>
			%value = stablehlo.slice %c1 [2:4] : (tensor<4xi32>) -> tensor<2xi32>
			`,
		"negative pad": start + `%pz = stablehlo.constant dense<0> : tensor<i32>
			%pp = stablehlo.pad %a#1, %pz, low = [-2], high = [2], interior = [0] : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
			%value = stablehlo.add %pp, %x : tensor<2xi32>
			`,
		"a slice with one place to be": start + `%s1 = stablehlo.slice %a#1 [0:1] : (tensor<2xi32>) -> tensor<1xi32>
			%s = stablehlo.reshape %s1 : (tensor<1xi32>) -> tensor<i32>
			%value = stablehlo.dynamic_slice %x, %s, sizes = [2] : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
			`,
		"the other result of a barrier": sameArgument + "%o:2 = stablehlo.optimization_barrier %a#0, %start : tensor<ui64>, tensor<ui64>\n" +
			"%chain = func.call @same(%o#1) : (tensor<ui64>) -> tensor<ui64>\n",
		"a call that drops it": sameArgument + "%chain = func.call @other(%a#0) : (tensor<ui64>) -> tensor<ui64>\n",
		"one of two branches": sameArgument + `%chain = "stablehlo.if"(%p) ({
				stablehlo.return %a#0 : tensor<ui64>
			}, {
				stablehlo.return %start : tensor<ui64>
			}) : (tensor<i1>) -> tensor<ui64>
			`,
		"a loop that drops it": sameArgument + `%l:2 = stablehlo.while(%it = %a#0, %k = %i) : tensor<ui64>, tensor<i32>
			 cond {
				stablehlo.return %p : tensor<i1>
			} do {
				stablehlo.return %start, %k : tensor<ui64>, tensor<i32>
			}
			%chain = func.call @same(%l#0) : (tensor<ui64>) -> tensor<ui64>
			`,
		"a predicate that is always true": `%q = stablehlo.compare GE, %a#0, %start : (tensor<ui64>, tensor<ui64>) -> tensor<i1>
			%f = "stablehlo.if"(%q) ({
				` + call("in", "%start", "%x", 3) + `
				stablehlo.return %in#0 : tensor<ui64>
			}, {
				stablehlo.return %a#0 : tensor<ui64>
			}) : (tensor<i1>) -> tensor<ui64>
			%chain = func.call @same(%f) : (tensor<ui64>) -> tensor<ui64>
			` + sameArgument,
		"a predicate of two computed values": `%q = stablehlo.compare EQ, %a#0, %a#0 : (tensor<ui64>, tensor<ui64>) -> tensor<i1>
			%f = "stablehlo.if"(%q) ({
				` + call("in", "%start", "%x", 3) + `
				stablehlo.return %in#0 : tensor<ui64>
			}, {
				stablehlo.return %a#0 : tensor<ui64>
			}) : (tensor<i1>) -> tensor<ui64>
			%chain = func.call @same(%f) : (tensor<ui64>) -> tensor<ui64>
			` + sameArgument,
	}
	for name, ops := range refused {
		t.Run(name, func(t *testing.T) {
			err := order.Prove(t.Context(), read(t, between(ops)))
			if err == nil {
				t.Error("the order is not proven, but no error is returned")
			} else if !strings.Contains(err.Error(), "does not receive the chain") {
				t.Errorf("the error is %v", err)
			}
		})
	}
	accepted := map[string]string{
		"the chain": sameArgument + "%chain = func.call @same(%a#0) : (tensor<ui64>) -> tensor<ui64>\n",
		"an element of a tuple": sameArgument + `%t = stablehlo.tuple %x, %a#0 : tuple<tensor<2xi32>, tensor<ui64>>
			%chain = stablehlo.get_tuple_element %t[1] : (tuple<tensor<2xi32>, tensor<ui64>>) -> tensor<ui64>
			`,
		"the value": start + "%c1 = stablehlo.tuple %a#1 : tuple<tensor<2xi32>>\n" +
			"%value = stablehlo.get_tuple_element %c1[0] : (tuple<tensor<2xi32>>) -> tensor<2xi32>\n",
		"a barrier": sameArgument + "%o:2 = stablehlo.optimization_barrier %start, %a#0 : tensor<ui64>, tensor<ui64>\n" +
			"%chain = func.call @same(%o#1) : (tensor<ui64>) -> tensor<ui64>\n",
		"an or of an or": sameArgument + "%o = stablehlo.or %start, %a#0 : tensor<ui64>\n%chain = stablehlo.or %o, %start : tensor<ui64>\n",
		"another call with an effect": sameArgument + `%c1 = stablehlo.custom_call @other(%x) {has_side_effect = true} : (tensor<2xi32>) -> tensor<2xi32>
			%chain = func.call @same(%a#0) : (tensor<ui64>) -> tensor<ui64>
			`,
		"or of two chains": sameArgument + "%chain = stablehlo.or %start, %a#0 : tensor<ui64>\n",
		"both branches": sameArgument + `%chain = "stablehlo.if"(%p) ({
				stablehlo.return %a#0 : tensor<ui64>
			}, {
				%in = func.call @same(%a#0) : (tensor<ui64>) -> tensor<ui64>
				stablehlo.return %in : tensor<ui64>
			}) : (tensor<i1>) -> tensor<ui64>
			`,
		"a loop that keeps it": sameArgument + `%l:2 = stablehlo.while(%it = %a#0, %k = %i) : tensor<ui64>, tensor<i32>
			 cond {
				stablehlo.return %p : tensor<i1>
			} do {
				stablehlo.return %it, %k : tensor<ui64>, tensor<i32>
			}
			%chain = func.call @same(%l#0) : (tensor<ui64>) -> tensor<ui64>
			`,
		"a join in a loop": sameArgument + `%l:2 = stablehlo.while(%it = %a#0, %k = %i) : tensor<ui64>, tensor<i32>
			 cond {
				stablehlo.return %p : tensor<i1>
			} do {
				%o = stablehlo.or %it, %start : tensor<ui64>
				stablehlo.return %o, %k : tensor<ui64>, tensor<i32>
			}
			%chain = func.call @same(%l#0) : (tensor<ui64>) -> tensor<ui64>
			`,
		"a loop with a hook": sameArgument + `%l:2 = stablehlo.while(%it = %a#0, %k = %x) : tensor<ui64>, tensor<2xi32>
			 cond {
				stablehlo.return %p : tensor<i1>
			} do {
				` + call("in", "%it", "%k", 3) + `
				stablehlo.return %in#0, %in#1 : tensor<ui64>, tensor<2xi32>
			}
			%chain = func.call @same(%l#0) : (tensor<ui64>) -> tensor<ui64>
			`,
		"a predicate that depends on the hook": `%q = stablehlo.compare EQ, %a#0, %start : (tensor<ui64>, tensor<ui64>) -> tensor<i1>
			%f = "stablehlo.if"(%q) ({
				` + call("in", "%start", "%x", 3) + `
				stablehlo.return %in#0 : tensor<ui64>
			}, {
				stablehlo.return %a#0 : tensor<ui64>
			}) : (tensor<i1>) -> tensor<ui64>
			%chain = func.call @same(%f) : (tensor<ui64>) -> tensor<ui64>
			` + sameArgument,
		"a predicate that a hook returns": typed("d", "%a#0", "%p", "tensor<i1>", 4) + `%f = "stablehlo.if"(%d#1) ({
				` + call("in", "%start", "%x", 3) + `
				stablehlo.return %in#0 : tensor<ui64>
			}, {
				stablehlo.return %d#0 : tensor<ui64>
			}) : (tensor<i1>) -> tensor<ui64>
			%chain = func.call @same(%f) : (tensor<ui64>) -> tensor<ui64>
			` + sameArgument,
		"a predicate with the constant first": `%q = stablehlo.compare NE, %start, %a#0 : (tensor<ui64>, tensor<ui64>) -> tensor<i1>
			%f = "stablehlo.if"(%q) ({
				` + call("in", "%start", "%x", 3) + `
				stablehlo.return %in#0 : tensor<ui64>
			}, {
				stablehlo.return %a#0 : tensor<ui64>
			}) : (tensor<i1>) -> tensor<ui64>
			%chain = func.call @same(%f) : (tensor<ui64>) -> tensor<ui64>
			` + sameArgument,
	}
	for name, ops := range accepted {
		t.Run(name, func(t *testing.T) {
			if err := order.Prove(t.Context(), read(t, between(ops))); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestProveJoins: only chains of type ui64 join by or. The or of PIDs may be simplified as other data.
func TestProveJoins(t *testing.T) {
	text := `func.func public @main(%p: T, %x: tensor<2xi32>) -> tensor<2xi32> {
  %z = stablehlo.constant dense<0> : T
  %1:2 = stablehlo.custom_call @hlocb_hook(%p, %x) {api_version = 4 : i32, backend_config = {abi = 1 : i64, chained = true, id = 1 : i64, kind = "call", name = "a"}, has_side_effect = true} : (T, tensor<2xi32>) -> (T, tensor<2xi32>)
  %2 = stablehlo.or %z, %1#0 : T
  %3:2 = stablehlo.custom_call @hlocb_hook(%2, %x) {api_version = 4 : i32, backend_config = {abi = 1 : i64, chained = true, id = 2 : i64, kind = "call", name = "b"}, has_side_effect = true} : (T, tensor<2xi32>) -> (T, tensor<2xi32>)
  return %3#1 : tensor<2xi32>
}`
	for typ, proven := range map[string]bool{"tensor<ui64>": true, "tensor<8xui8>": false, "tensor<1xui64>": false, "tensor<i64>": false} {
		if err := order.Prove(t.Context(), read(t, strings.ReplaceAll(text, "T", typ))); (err == nil) != proven {
			t.Errorf("%s: the error is %v", typ, err)
		}
	}
}

// TestOrders: a module has an order to prove if a lowered hook has a chain.
func TestOrders(t *testing.T) {
	const without = "func.func public @main(%x: tensor<2xi32>, %s: tensor<ui64>) {\nHOOKreturn\n}"
	for ops, want := range map[string]bool{
		"":                       false,
		call("a", "%s", "%x", 1): true,
		strings.Replace(call("a", "%s", "%x", 1), "chained = true", "chained = false", 1):                                                 false,
		strings.Replace(call("a", "%s", "%x", 1), "@hlocb_hook", "@other", 1):                                                             false,
		"\"hlocb.hook\"(%x) {format = \"target\", has_side_effect, id = 1 : i64, kind = \"tap\", name = \"a\"} : (tensor<2xi32>) -> ()\n": false,
	} {
		if got := order.Orders(read(t, strings.Replace(without, "HOOK", ops, 1))); got != want {
			t.Errorf("%v for\n%s", got, ops)
		}
	}
}

// TestProveUnverified: an invalid module causes no panic.
func TestProveUnverified(t *testing.T) {
	text := between(start + `%t = stablehlo.tuple %x, %a#1 : tuple<tensor<2xi32>, tensor<2xi32>>
		%value = "stablehlo.get_tuple_element"(%t) <{index = 2 : i32}> : (tuple<tensor<2xi32>, tensor<2xi32>>) -> tensor<2xi32>
		`)
	if err := order.Prove(t.Context(), testkit.Parse(t, "test.mlir", text)); err == nil || !strings.Contains(err.Error(), "does not receive the chain") {
		t.Errorf("the error is %v", err)
	}
}

// TestProveRaised: a module with hooks that are not lowered proves nothing.
func TestProveRaised(t *testing.T) {
	m := read(t, `func.func public @main(%x: tensor<2xi32>) {
  "hlocb.hook"(%x) {format = "target", has_side_effect, id = 1 : i64, kind = "tap", name = "a"} : (tensor<2xi32>) -> ()
  return
}`)
	if err := order.Prove(t.Context(), m); err == nil || !strings.Contains(err.Error(), "not lowered yet") {
		t.Errorf("the error is %v", err)
	}
}

// TestProveComparesIntegers: the result of a hook decides a branch. XLA may know the outcome of a comparison of floats,
// because nothing equals NaN, so only a comparison of integers orders the hook in the branch.
func TestProveComparesIntegers(t *testing.T) {
	text := `func.func public @main(%x: tensor<2xf32>, %p: tensor<T>) -> tensor<2xf32> {
  %c = stablehlo.constant dense<0> : tensor<ui64>
  %n = stablehlo.constant dense<CONSTANT> : tensor<T>
  %1:2 = stablehlo.custom_call @hlocb_hook(%c, %p) {api_version = 4 : i32, backend_config = {abi = 1 : i64, chained = true, id = 1 : i64, kind = "call", name = "a"}, has_side_effect = true} : (tensor<ui64>, tensor<T>) -> (tensor<ui64>, tensor<T>)
  %q = stablehlo.compare EQ, %1#1, %n : (tensor<T>, tensor<T>) -> tensor<i1>
  "stablehlo.if"(%q) ({
    stablehlo.return
  }, {
    %b = stablehlo.custom_call @hlocb_hook(%c, %x) {api_version = 4 : i32, backend_config = {abi = 1 : i64, chained = true, id = 5 : i64, kind = "tap", name = "in"}, has_side_effect = true, output_operand_aliases = []} : (tensor<ui64>, tensor<2xf32>) -> tensor<ui64>
    stablehlo.return
  }) : (tensor<i1>) -> ()
  return %x : tensor<2xf32>
}`
	for _, c := range []struct {
		typ, constant string
		proven        bool
	}{{"i32", "7", true}, {"f32", "0x7FC00000", false}, {"f32", "1.0", false}} {
		m := read(t, strings.NewReplacer("<T>", "<"+c.typ+">", "CONSTANT", c.constant).Replace(text))
		if err := order.Prove(t.Context(), m); (err == nil) != c.proven {
			t.Errorf("%s %s: the error is %v", c.typ, c.constant, err)
		}
	}
}
