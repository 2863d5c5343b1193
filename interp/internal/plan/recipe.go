package plan

import (
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/tensor"
)

// Recipe says how to execute one op kind. Elements, Kernel, Control and Expanded make recipes.
type Recipe struct {
	maker       Maker
	control     Controller
	expand      bool
	types       []tensor.DType // of the elements, if the ops on other types are expanded
	elementwise bool
	static      bool
	pure        bool
	shape       Shaper
	fold        Folder
}

// Maker builds the kernel of an op for operands and results of static shape.
type Maker func(s *Spec) kernel.Kernel

// Controller builds the instruction of an op that needs the machine.
type Controller func(p *Planner, s *Spec) exec.Runner

// Shaper sets the result shapes in s from the operands if the shapes are not static.
type Shaper func(s *Spec, in []*tensor.Tensor)

// Folder builds the kernel of an op that reads operand 0 block by block from a source. The source's operands take the
// place of operand 0. It returns false if the op cannot read a source.
type Folder func(s *Spec, source *kernel.Source) (kernel.Kernel, bool)

// Elements returns the recipe of an op whose result element i depends only on operand elements i. Its ops are fused and
// lifted.
func Elements(m Maker) Recipe { return Recipe{maker: m, elementwise: true, pure: true} }

// Kernel returns the recipe of another op that is a function of tensors.
func Kernel(m Maker) Recipe { return Recipe{maker: m, pure: true} }

// Flags describe a controller.
type Flags uint8

const (
	Static   Flags = 1 << iota // it needs static shapes; for other shapes it runs when the op executes
	Pure                       // the results depend only on the operands and the regions
	Liftable                   // the op may be lifted: its results do not depend on other elements
)

// Control returns the recipe of an op that needs the machine: control flow, calls, hooks, and other ops that are not
// functions of tensors.
func Control(c Controller, f Flags) Recipe {
	return Recipe{control: c, static: f&Static != 0, pure: f&Pure != 0, elementwise: f&Liftable != 0}
}

// Expanded returns the recipe of an op that package legalize replaces by simpler ops.
func Expanded() Recipe { return Recipe{expand: true, pure: true} }

// For returns the recipe for elements of some types. Package legalize replaces the ops on other types.
func (r Recipe) For(types ...tensor.DType) Recipe {
	r.types = types
	return r
}

// Shaped returns the recipe with the function of its result shapes. Without one, every result has the shape of the
// first operand.
func (r Recipe) Shaped(s Shaper) Recipe {
	r.shape = s
	return r
}

// Folding returns the recipe with a folder.
func (r Recipe) Folding(f Folder) Recipe {
	r.fold = f
	return r
}

// Stateful returns the recipe of an op whose results differ from execution to execution.
func (r Recipe) Stateful() Recipe {
	r.pure = false
	return r
}

// Pure reports whether the results depend only on the operands and the regions.
func (r Recipe) Pure() bool { return r.pure }

// ByTypes returns the maker of a kernel that depends only on the types.
func ByTypes(f func(*kernel.Signature) kernel.Kernel) Maker {
	return func(s *Spec) kernel.Kernel { return f(&s.Signature) }
}
