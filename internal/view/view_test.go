package view

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/ir"
)

func module(t *testing.T, ctx *ir.Context, text string) *ir.Module {
	t.Helper()
	return moduleAt(t, ctx, "m.mlir", text)
}

func moduleAt(t *testing.T, ctx *ir.Context, path, text string) *ir.Module {
	t.Helper()
	m, err := reader.Parse(diag.NewSource(path, []byte(text)), ctx, reader.MaxErrors)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func page(t *testing.T, d *Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := Page(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestHostileNames: no name of a module, and no title, ends a script or starts an element.
func TestHostileNames(t *testing.T) {
	hostile := `</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>`
	m := module(t, ir.NewContext(reader.Registry()), `module {
  func.func @"`+hostile+`"(%a: tensor<f32>) -> tensor<f32> {
    %0 = "stablehlo.custom_call"(%a) {call_target_name = "`+hostile+`", backend_config = "`+hostile+`"} : (tensor<f32>) -> tensor<f32> loc("`+hostile+`/x"("`+hostile+`":1:2))
    return %0 : tensor<f32>
  }
}`)
	event, _ := json.Marshal(map[string]any{"hook": hostile, "operands": []any{}})
	got := page(t, &Document{Title: hostile, Steps: []Step{{Name: hostile, Module: m}}, Overlays: []Overlay{{Name: hostile}},
		Recordings: []Recording{{Name: hostile, Events: []json.RawMessage{event}}}})
	clean := page(t, &Document{Title: "t", Steps: []Step{{Name: "t", Module: module(t, ir.NewContext(reader.Registry()), "module {}")}}})
	tags := regexp.MustCompile(`<(/?script|img|!--)`)
	if g, c := tags.FindAllString(got, -1), tags.FindAllString(clean, -1); !slices.Equal(g, c) {
		t.Errorf("the names added tags: %d, without them %d", len(g), len(c))
	}
	if !strings.Contains(got, `\u003c/script\u003e`) {
		t.Error("the names are not in the page")
	}
}

// TestPageIsDeterministic: equal modules give equal pages, and a page needs nothing outside of it.
func TestPageIsDeterministic(t *testing.T) {
	text := `module {
  func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %a, %b : tensor<4xf32> loc("jit(f)/layer/add")
    %1 = stablehlo.multiply %0, %0 : tensor<4xf32> loc("jit(f)/layer/mul")
    %2 = stablehlo.negate %1 : tensor<4xf32> loc("jit(f)/head/neg")
    %3 = stablehlo.negate %2 : tensor<4xf32> loc("jit(f)/head/neg")
    return %3 : tensor<4xf32>
  }
}`
	var pages [2]string
	for i := range pages {
		pages[i] = page(t, &Document{Title: "t", Steps: []Step{{Name: "t", Module: module(t, ir.NewContext(reader.Registry()), text)}}})
	}
	if pages[0] != pages[1] {
		t.Error("two pages of one module differ")
	}
	if outside := regexp.MustCompile(`(?i)<(link|img|iframe)|\ssrc=|url\(|@import`).FindString(pages[0]); outside != "" {
		t.Errorf("the page refers to something outside: %q", outside)
	}
	if !strings.Contains(pages[0], "default-src 'none'") {
		t.Error("the page has no content security policy")
	}
}

// TestScopes: ops of one name scope share a box; a scope that all ops share has none.
func TestScopes(t *testing.T) {
	text := `module {
  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %c = stablehlo.constant dense<1.0> : tensor<4xf32>
    %0 = stablehlo.add %a, %c : tensor<4xf32> loc("jit(f)/a/b/add")
    %1 = stablehlo.multiply %0, %0 : tensor<4xf32> loc("jit(f)/a/mul")
    %2 = stablehlo.negate %1 : tensor<4xf32> loc("jit(f)/transpose(a/b)/neg")
    %3 = stablehlo.negate %2 : tensor<4xf32> loc("jit(f)/transpose(a/b)/neg")
    return %3 : tensor<4xf32>
  }
}`
	u := unionOf([]Step{{Module: module(t, ir.NewContext(reader.Registry()), text)}})
	u.tree()
	boxes := map[string][]string{}
	for i := range u.items {
		if p := u.items[i].parent; p >= 0 {
			boxes[u.items[p].label] = append(boxes[u.items[p].label], u.items[i].label)
		}
	}
	for box, want := range map[string][]string{"func @main": {"arg0", "return", "a", "transpose(a/b)"}, "a": {"constant 1", "add", "multiply"}, "transpose(a/b)": {"negate", "negate"}} {
		slices.Sort(want)
		slices.Sort(boxes[box])
		if !slices.Equal(boxes[box], want) {
			t.Errorf("%s has %v, want %v", box, boxes[box], want)
		}
	}
}

// TestLayers: a user is below its operands, a constant just above its user, and the terminator at the end.
func TestLayers(t *testing.T) {
	// 0 argument, 1 constant, 2 uses 0, 3 uses 2 and 1, 4 uses nothing, 5 terminator of 3
	edges := [][2]int32{{0, 2}, {2, 3}, {1, 3}, {3, 5}, {3, 5}, {5, 0}}
	none := func(int) bool { return false }
	layer, order := layers(6, edges, func(i int) bool { return i == 0 }, func(i int) bool { return i == 1 }, func(i int) bool { return i == 5 })
	if want := []int32{0, 1, 1, 2, 1, 3}; !slices.Equal(layer, want) {
		t.Errorf("layers %v, want %v", layer, want)
	}
	seen := map[[2]int32]bool{}
	for i := range layer {
		if k := [2]int32{layer[i], order[i]}; seen[k] {
			t.Errorf("two nodes at %v", k)
		} else {
			seen[k] = true
		}
	}
	// two crossing edges become parallel
	_, order = layers(4, [][2]int32{{0, 3}, {1, 2}}, none, none, none)
	if (order[0] < order[1]) != (order[3] < order[2]) {
		t.Errorf("the edges cross: order %v", order)
	}
}

// TestCallsUnfold: a function with one call is inside the box of its call; a function that several ops call, or that
// calls itself, stands for itself.
func TestCallsUnfold(t *testing.T) {
	m := module(t, ir.NewContext(reader.Registry()), `module {
  func.func @main(%a: tensor<f32>) -> tensor<f32> {
    %0 = call @once(%a) : (tensor<f32>) -> tensor<f32>
    %1 = call @twice(%0) : (tensor<f32>) -> tensor<f32>
    %2 = call @itself(%1) : (tensor<f32>) -> tensor<f32>
    return %2 : tensor<f32>
  }
  func.func private @once(%a: tensor<f32>) -> tensor<f32> {
    %0 = call @twice(%a) : (tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @twice(%a: tensor<f32>) -> tensor<f32> {
    return %a : tensor<f32>
  }
  func.func private @itself(%a: tensor<f32>) -> tensor<f32> {
    %0 = call @other(%a) : (tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @other(%a: tensor<f32>) -> tensor<f32> {
    %0 = call @itself(%a) : (tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}`)
	data, _, err := encode(&Document{Title: "t", Steps: []Step{{Name: "t", Module: m}}})
	if err != nil {
		t.Fatal(err)
	}
	label := func(i int32) string { return data.Strings[data.Items.Label[i]] }
	var got []string
	for i := range data.Items.Kind {
		if i := int32(i); strings.HasPrefix(label(i), "func ") {
			got = append(got, label(i)+" in "+label(data.Items.Parent[i]))
		}
	}
	want := []string{"func @main in ", "func @once in call @once", "func @twice in ", "func @itself in ", "func @other in call @other"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
