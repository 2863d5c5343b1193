package ops

import (
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
)

// regionOf compiles region i of an op, which must have the given numbers of arguments and results.
func regionOf(p *plan.Planner, op *ir.Op, i, args, results int) *exec.Block {
	body := p.Region(op, i)
	kernel.FailIf(len(body.Args) != args || len(body.Ret) != results, "expects a region of %d arguments and %d results", args, results)
	return body
}

// static reports whether all types are tensors of static shape.
func static(lists ...[]kernel.Type) bool {
	for _, list := range lists {
		for _, t := range list {
			if t.Class != kernel.ClassTensor || t.Dynamic() {
				return false
			}
		}
	}
	return true
}

// upTo returns the numbers 0 to n-1.
func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
