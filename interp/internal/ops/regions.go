package ops

import (
	"fmt"

	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
)

// regionOf compiles region i of an op, which must have the given numbers of arguments and results.
func regionOf(p *plan.Planner, op *ir.Op, i, args, results int) (*exec.Block, error) {
	body, err := p.Region(op, i)
	if err == nil {
		err = checkRegion(len(body.Args), len(body.Ret), args, results)
	}
	return body, err
}

func checkRegion(haveArgs, haveResults, args, results int) error {
	if haveArgs != args || haveResults != results {
		return fmt.Errorf("expects a region of %d arguments and %d results", args, results)
	}
	return nil
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
