package interp

import (
	"fmt"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// quantum says how the stored integers of a quantized tensor stand for reals.
type quantum struct{ storage tensor.DType }

func quantumOf(t ir.Type) (*quantum, error) {
	return nil, fmt.Errorf("elements of type %s are not executed", t)
}
