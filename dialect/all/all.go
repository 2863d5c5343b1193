// Package all lists every dialect of this module.
package all

import (
	"github.com/hlocb/hlocb/dialect/builtin"
	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/mpmd"
	"github.com/hlocb/hlocb/dialect/quant"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/shape"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/internal/dialect/arith"
	"github.com/hlocb/hlocb/internal/dialect/check"
	"github.com/hlocb/hlocb/internal/dialect/foreign"
	"github.com/hlocb/hlocb/internal/dialect/interpreter"
	"github.com/hlocb/hlocb/internal/dialect/tensors"
	"github.com/hlocb/hlocb/ir"
)

// Dialects returns every dialect of this module.
func Dialects() []*ir.Dialect {
	return append(foreign.Dialects(),
		builtin.Dialect(), fn.Dialect(), stablehlo.Dialect(), chlo.Dialect(), sdy.Dialect(), mpmd.Dialect(), hookop.Dialect(), mhlo.Dialect(),
		check.Dialect(), interpreter.Dialect(), quant.Dialect(), arith.Dialect(), shape.Dialect(), tensors.Dialect(), vhlo.Dialect(),
	)
}

// Registry returns a registry of every dialect of this module.
func Registry() (*ir.Registry, error) { return ir.NewRegistry(Dialects()...) }
