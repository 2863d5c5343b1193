package sdy_test

import (
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/builtin"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// Shardy describes how values are sharded over a mesh of devices.
func Example() {
	reg, err := ir.NewRegistry(builtin.Dialect(), sdy.Dialect())
	if err != nil {
		panic(err)
	}
	m, err := parse.Parse(diag.NewSource("in.mlir", []byte(`sdy.mesh @mesh = <["x"=2, "y"=4]>`)), ir.NewContext(reg), parse.Options{})
	if err != nil {
		panic(err)
	}
	mesh, _ := sdy.AsMesh(m.Body().First())
	fmt.Println(mesh.SymName(), mesh.Mesh().Axes)
	// Output: mesh [{x 2} {y 4}]
}
