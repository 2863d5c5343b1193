// Package all lists every dialect of this module.
package all

import (
	"github.com/hlocb/hlocb/dialect/builtin"
	"github.com/hlocb/hlocb/dialect/check"
	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hlocb"
	"github.com/hlocb/hlocb/dialect/interpreter"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/quant"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
)

// Dialects returns every dialect of this module.
func Dialects() []*ir.Dialect {
	return []*ir.Dialect{builtin.Dialect(), fn.Dialect(), stablehlo.Dialect(), sdy.Dialect(), hlocb.Dialect(), quant.Dialect(), mhlo.Dialect(), interpreter.Dialect(), check.Dialect(), chlo.Dialect()}
}

// Registry returns a registry of every dialect of this module.
func Registry() (*ir.Registry, error) { return ir.NewRegistry(Dialects()...) }
