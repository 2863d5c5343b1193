package pass_test

import (
	"context"
	"fmt"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// count is a pass. Its fields with the tag pass are its options in the text of pipelines.
type count struct {
	Limit int `pass:"limit" doc:"the largest number of ops to accept"`
}

func (count) Info() *pass.Info {
	return &pass.Info{Name: "count-ops", Doc: "Counts the ops of a module."}
}

func (c count) Run(ctx *pass.Context, m *ir.Module) error {
	n := 0
	m.Walk(func(*ir.Op) bool { n++; return true })
	if n > c.Limit {
		return fmt.Errorf("%d ops, at most %d are expected", n, c.Limit)
	}
	fmt.Println(n, "ops")
	return nil
}

// A table holds passes by name, Parse reads the text of a pipeline, and a driver runs it.
func Example() {
	table, err := pass.NewTable(count{})
	if err != nil {
		panic(err)
	}
	p, err := pass.Parse("count-ops{limit=5}", table)
	if err != nil {
		panic(err)
	}
	m := ir.NewModule(ir.NewContext(nil), nil)
	driver := &pass.Driver{Verify: ir.VerifyContext}
	fmt.Println(p, driver.Run(pass.NewContext(context.Background(), m), p))
	// Output:
	// 0 ops
	// builtin.module(count-ops{limit=5}) <nil>
}
