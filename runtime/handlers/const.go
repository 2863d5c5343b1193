package handlers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// Const returns a handler that answers with constants: each result gets the first value of its type. It fails for a
// result without such a value.
func Const(values ...*tensor.Tensor) runtime.Handler {
	return constants(values)
}

type constants []*tensor.Tensor

// MemoryUse implements runtime.MemoryUser.
func (constants) MemoryUse() runtime.MemoryUse { return runtime.MemoryUse{} }

// Handle implements runtime.Handler.
func (values constants) Handle(_ context.Context, c *runtime.Call) error {
	for i, r := range c.Results {
		k := slices.IndexFunc(values, func(v *tensor.Tensor) bool { return sameType(v, r) })
		if k < 0 {
			return fmt.Errorf("const has no value for result %d of type %s", i, hook.TypeOf(r))
		}
		if err := c.Return(i, values[k]); err != nil {
			return err
		}
	}
	return nil
}

// splat answers with one number in every element of every result.
type splat struct{ text string }

func (s splat) Handle(_ context.Context, c *runtime.Call) error {
	for i, r := range c.Results {
		text := s.text
		if _, err := strconv.ParseInt(text, 10, 64); err == nil && (r.DType().IsFloat() || r.DType().IsComplex()) {
			text += ".0" // an integer is a number for every type
		}
		if r.DType().IsComplex() && !strings.HasPrefix(text, "(") {
			text = "(" + text + ",0.0)"
		}
		v, single, err := tensor.DecodeDense([]byte(text), r.DType(), r.Shape())
		if err != nil {
			return fmt.Errorf("const for result %d of type %s: %w", i, hook.TypeOf(r), err)
		}
		size := r.DType().Size()
		if !single {
			size = len(v.Bytes())
		}
		for at := 0; at < len(r.Bytes()); at += size {
			copy(r.Bytes()[at:], v.Bytes())
		}
	}
	return nil
}

func newConst(args string, _ *Env) (runtime.Handler, error) {
	switch {
	case args == "":
		return nil, errors.New("needs a value: const:0 or const:dense<...> : tensor<...>")
	case strings.HasPrefix(args, "dense"):
		v, err := tensor.ParseLiteral(args)
		if err != nil {
			return nil, err
		}
		return Const(v), nil
	}
	return splat{args}, nil
}
