package mpmd_test

import (
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// check reads and verifies a module, and returns its text or error.
func check(t *testing.T, text string) string {
	t.Helper()
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	m, err := parse.Parse(diag.NewSource("in.mlir", []byte(text)), ir.NewContext(reg), parse.Options{})
	if err == nil {
		err = ir.Verify(m)
	}
	if err != nil {
		return err.Error()
	}
	return print.String(m, print.Options{})
}

// jaxlib 0.10.2 has the same messages.
func TestVerify(t *testing.T) {
	const on1 = `!mpmd.mesh_tensor<"m1", tensor<4xf32>>`
	in := func(attrs, body string) string {
		return "sdy.mesh @mesh = <[\"x\"=3]>\nfunc.func @f(%x: tensor<4xf32>, %m: " + on1 + ") attributes {" + attrs + "} {\n" + body + "\nreturn\n}\n"
	}
	const topology = `topology = #mpmd.topology<<"m1" : <["x"=3]>>, <"m2" : <["x"=4]>>>`
	for text, want := range map[string]string{
		in(topology, `%0 = mpmd.transfer %m : (`+on1+`) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>`):                                                                   "'mpmd.transfer' op dim 0 with size 4 is not divisible by its sharded size 3",
		in(topology, `%0 = mpmd.transfer %m : (`+on1+`) -> !mpmd.mesh_tensor<"m2", tensor<4xf64>>`):                                                                                              "global tensor types are different",
		in(topology, `%0 = mpmd.assign %x : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m3", tensor<4xf32>>`):                                                                                          "Topology doesn't have a mesh with name: m3",
		in("", `%0 = mpmd.assign %x : (tensor<4xf32>) -> `+on1):                                                                                                                                  "Function does not have a topology attribute: f",
		in(topology, `%0 = mpmd.assign %x : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m2", tensor<4xf32>, sharding=<@mesh, [{"x"}]>>`):                                                               "MeshTensorType should be fully replicated",
		in(topology, `%0 = mpmd.fragment<mesh="m2", origin=[]> (%m) (%a: tensor<4xf32>) { mpmd.return %a : tensor<4xf32> } : (`+on1+`) -> `+on1):                                                 "expected the mesh name of the operand to match that of the fragment op: m1 != m2",
		in(topology, `mpmd.fragment<mesh="m1", origin=[]> (%m) (%a: tensor<3xf32>) { mpmd.return } : (`+on1+`) -> ()`):                                                                           "expected the type of the block argument to be global tensor type operand: 'tensor<4xf32>', got: 'tensor<3xf32>'",
		in(topology, `mpmd.fragment<mesh="m1", origin=[]> (%m) () { mpmd.return } : (`+on1+`) -> ()`):                                                                                            "number of block arguments must match the number of operands respectively: 0 != 1",
		in(topology, `mpmd.fragment<mesh="m1", origin=[]> () () { } : () -> ()`):                                                                                                                 "region #0 ('region') failed to verify constraint: region with 1 blocks",
		in(topology, `"mpmd.fragment"() ({ "stablehlo.return"() : () -> () }) {mesh_name = "m1", origin = []} : () -> ()`):                                                                       "expects regions to end with 'mpmd.return', found 'stablehlo.return'",
		in(topology, `"mpmd.fragment"() ({ "mpmd.return"() : () -> () }) {mesh_name = "m1", origin = [1]} : () -> ()`):                                                                           "attribute 'origin' failed to satisfy constraint: array of origin infos",
		in(topology, `mpmd.named_computation<"f"> () () { mpmd.fragment<mesh="m1", origin=[]> () () { mpmd.return } : () -> () mpmd.return } : () -> ()`):                                        "expects parent op to be one of 'func.func, mpmd.for'",
		in(topology, `mpmd.named_computation<"f"> (%x) (%a: tensor<3xf32>) { mpmd.return } : (tensor<4xf32>) -> ()`):                                                                             "expected the type of the block argument to match the type of operand: 'tensor<3xf32>', got: 'tensor<4xf32>'",
		in(topology, `%0 = mpmd.fragment_call<mesh="m1", origin=[]> @g(%m) : (`+on1+`) -> `+on1):                                                                                                 "'g' does not reference a valid function",
		in(topology, `mpmd.fragment_call<mesh="m1", origin=[]> @g() : () -> ()`) + "func.func private @g() attributes {mesh_shape = #sdy.mesh<[\"x\"=4]>}":                                       `Expected mesh of fragment call and callee function to match: #sdy.mesh<["x"=3]> vs #sdy.mesh<["x"=4]>`,
		in(topology, `mpmd.fragment_call<mesh="m1", origin=[]> @g() : () -> ()`) + "func.func private @g()":                                                                                      "Function does not have a mesh_shape attribute: g",
		in(topology, `mpmd.call @f(%x, %m) : (tensor<4xf32>, `+on1+`) -> ()`):                                                                                                                    "MPMD CallOp callee with topology must also have visibility set to private",
		in(topology, `%0 = mpmd.for (%x) {iterations = 3 : ui32, unroll_factor = 2 : ui32} (%a: tensor<4xf32>, %i: tensor<ui32>) { mpmd.return %a : tensor<4xf32> } : tensor<4xf32>`):            "number of iterations 3 isn't divisible by unroll factor 2",
		in(topology, `%0 = mpmd.for (%x) {iterations = 0 : ui32} (%a: tensor<4xf32>, %i: tensor<i32>) { mpmd.return %a : tensor<4xf32> } : tensor<4xf32>`):                                       "number of iterations must be greater than zero",
		in(topology, `%0 = mpmd.for (%x) {iterations = 1 : ui32} (%a: tensor<4xf32>, %i: tensor<4xi32>) { mpmd.return %a : tensor<4xf32> } : tensor<4xf32>`):                                     "index must have a 32-bit integer rank-0 tensor type",
		in(topology, `%0 = mpmd.for (%x) {iterations = 1 : ui32} (%a: tensor<4xf32>) { mpmd.return %a : tensor<4xf32> } : tensor<4xf32>`):                                                        "wrong number of arguments for region",
		in(topology, `%0:2 = mpmd.for (%x, %m) {iterations = 1 : ui32} (%a: tensor<4xf32>, %b: `+on1+`, %i: tensor<i32>) { mpmd.return %a, %b : tensor<4xf32>, `+on1+` } : tensor<4xf32>, `+on1): "type ids in operands/results are not identical",
		in(topology, `%0 = mpmd.reduce<none> %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>`):                                                                                          "ReduceOp must have exactly one operand if the reduction type is none",
		in(topology, `%0 = mpmd.reduce<sub> %x : (tensor<4xf32>) -> tensor<4xf32>`):                                                                                                              "ReductionType to be one of: none, add, max, min, mul, or, and",
		"func.func @f(%x: !mpmd.mesh_tensor<\"m1\", tensor<*xf32>>) { return }":                                                                                                                  "invalid kind of type specified: expected builtin.tensor, but found 'tensor<*xf32>'",
	} {
		if got := check(t, text); !strings.Contains(got, want) {
			t.Errorf("%s\nwant %s\n got %s", text, want, got)
		}
	}
}

// Names are written so that they can be read again, in attributes of every form.
func TestNames(t *testing.T) {
	for _, attr := range []string{
		`#mpmd.user_origin<"a\22b"(2)>`, `#mpmd.user_origin<"f">`, `#mpmd.reduction<or>`, `#mpmd.meshes_with_origins<"a\22"["\\b", "c"], "d">`,
		`#mpmd.meshes_with_origins<>`, `#mpmd<mesh_with_origins"m"["a"]>`, `#mpmd<mesh_with_origins"m">`, `#mpmd<origin"a">`,
		`#mpmd.named_mesh<"a\0A" : <["x"=2]>>`, `#mpmd.topology<<"a" : <["x"=2]>>, <"b" : <[], device_ids=[3]>>>`,
	} {
		text := `func.func @f(%x: !mpmd.mesh_tensor<"a\22b", tensor<4xf32>, memory_kind="\22">) attributes {a = ` + attr + "} { return }"
		for range 2 {
			text = check(t, text)
		}
		if !strings.Contains(text, "{a = "+attr+"}") || !strings.Contains(text, `<"a\22b", tensor<4xf32>, memory_kind="\22">`) {
			t.Errorf("%s is written as\n%s", attr, text)
		}
	}
	full := `func.func @f() attributes {a = #mpmd.topology<#mpmd.named_mesh<"a" : #sdy.mesh<["x"=2]>>>} { return }`
	if got := check(t, full); !strings.Contains(got, `a = #mpmd.topology<<"a" : <["x"=2]>>>`) {
		t.Errorf("a whole attribute inside another: %s", got)
	}
}
