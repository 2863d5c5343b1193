package mpmd_test

import (
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/builtin"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/mpmd"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// A value of type mesh_tensor is on one mesh of the program's topology.
func Example() {
	reg, err := ir.NewRegistry(builtin.Dialect(), fn.Dialect(), sdy.Dialect(), mpmd.Dialect())
	if err != nil {
		panic(err)
	}
	text := `func.func @f(%x: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) attributes {topology = #mpmd.topology<<"m1" : <["x"=2]>>>} { return }`
	m, err := parse.Parse(diag.NewSource("in.mlir", []byte(text)), ir.NewContext(reg), parse.Options{})
	if err != nil {
		panic(err)
	}
	f, _ := fn.Lookup(m, "f")
	topology, _ := ir.DataOf[mpmd.Topology](f.Attr("topology"))
	value := f.Body().Arg(0).Type().(*ir.DialectType).Data().(*mpmd.MeshTensor)
	fmt.Println(value.Mesh, value.Shape(), topology.Meshes[0])
	// Output: m1 [4] <"m1" : <["x"=2]>>
}
