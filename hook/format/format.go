package format

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// Format is one way to write hooks in a module. A format without a Writer can only be read, and a format without a
// Reader can only be written.
type Format struct {
	Name   string // as in hook.Site.Format; the ids of hooks hash it
	Doc    string // the ops of a hook, and who writes them
	Reader *Reader
	Writer *Writer
}

// Reader recognizes the hooks of a format.
type Reader struct {
	// Starts lists the rows of the ops that a hook may start with. It includes the MHLO rows that mirror them.
	Starts []*ir.Def
	// Read raises the hook that starts at op, with Raiser.Add. It returns false if no hook of this format starts there.
	Read func(r *Raiser, op *ir.Op) (bool, error)
	// Finish runs after all ops are read. It may be nil.
	Finish func(r *Raiser) error
	// Chains reports whether op orders hooks by operand 0 and result 0 when these values are not tokens. hlocb turns
	// such chains into tokens before it reads the hooks. Nil: hooks of this format have no such chain.
	Chains func(op *ir.Op) bool
	// ReadsChain reports whether op, which Chains does not select, may read a chain as operand 0. Nil: no op may.
	ReadsChain func(op *ir.Op) bool
}

// Writer writes hooks in a format.
type Writer struct {
	Name string // as 'lower-hooks{to=NAME}' spells it
	Doc  string
	// Ordered is the kind of value that orders hooks of this format.
	Ordered Ordering
	// Places reports whether hooks of partitioned programs can fire on chosen devices.
	Places bool
	// Aliases reports whether a hook can declare that results share the memory of operands.
	Aliases bool
	// Proof reports whether the order of the hooks can be proven on the written module. Only hlocb's own format sets
	// it.
	Proof bool
	// Begin prepares the module. It may be nil.
	Begin func(w *Lowerer) error
	// Write replaces one hook.
	Write func(w *Lowerer, h hookop.HookOp) error
	// End runs after all hooks are written. It may be nil.
	End func(w *Lowerer) error
}

// Ordering is the kind of value that orders the hooks of a format.
type Ordering uint8

// Orderings.
const (
	OrderedByAny   Ordering = iota // a chain of type tensor<ui64>, or a token
	OrderedByToken                 // !stablehlo.token
	OrderedByPID                   // EXLA's PID, which each call returns for the next one
	Unordered                      // the format has no order
)

// Check returns an error if hooks cannot be written with the choice chain and order.
func (w *Writer) Check(order hook.Order, chain hook.Chain) error {
	switch {
	case chain == hook.ChainPID && w.Ordered != OrderedByPID:
		return fmt.Errorf("format %s has no chain of PIDs; only exla-io has", w.Name)
	case order == hook.OrderSource && w.Ordered == OrderedByPID:
		return fmt.Errorf("format %s keeps program order or none, but not the source's", w.Name)
	}
	return nil
}

// Chain returns the chain for hooks of the format: choice, if the format has several.
func (w *Writer) Chain(choice hook.Chain) hook.Chain {
	switch w.Ordered {
	case OrderedByToken:
		return hook.ChainToken
	case OrderedByPID:
		return hook.ChainPID
	}
	return choice
}

// Order returns the order that hooks of the format keep: choice, if the format keeps any.
func (w *Writer) Order(choice hook.Order) hook.Order {
	if w.Ordered == Unordered {
		return hook.OrderNone
	}
	return choice
}

// Alias returns the alias mode that hooks of the format can express: choice, if the format has aliases.
func (w *Writer) Alias(choice hook.AliasMode) hook.AliasMode {
	if !w.Aliases {
		return hook.AliasNone
	}
	return choice
}

// PerDevice reports whether hooks of partitioned programs are placed on devices. It returns an error if the user asked
// for devices that the format cannot name. Hooks of foreign formats keep their devices if the user chose
// PerDeviceSource.
func (w *Writer) PerDevice(choice hook.PerDevice) (place bool, err error) {
	switch {
	case w.Proof:
		return true, nil
	case choice == hook.PerDeviceSource:
		return false, nil
	case !w.Places:
		return false, fmt.Errorf("hooks written as %s have no devices to fire on, so they cannot fire %s", w.Name, choice)
	}
	return true, nil
}

// List is a list of formats. If several formats start with the same op, the first one that recognizes the hook reads
// it.
type List []*Format

// Builtin returns hlocb's formats. Append to the list to add a format.
func Builtin() List {
	return List{
		own,
		exlaCallback,
		exlaIOCallback,
		jaxFFI,
		hostCallbackCall,
		jaxDescriptor,
		hostTransfer,
		hostCallback,
		hostCallback2020,
		exlaLazyInfeed,
		exlaOutfeed,
		rawOutfeed,
		rawInfeed,
		reactant,
		xlaLog,
		target,
		strip,
	}
}

// Writers returns the writers of the formats. The first one is the default.
func (l List) Writers() []*Writer {
	var out []*Writer
	for _, f := range l {
		if f.Writer != nil {
			out = append(out, f.Writer)
		}
	}
	return out
}

// Readers returns the formats that hlocb reads.
func (l List) Readers() []*Format {
	return slices.DeleteFunc(slices.Clone(l), func(f *Format) bool { return f.Reader == nil })
}

// Writer returns the writer with the choice name. The error lists the known names.
func (l List) Writer(name string) (*Writer, error) {
	var names []string
	for _, w := range l.Writers() {
		if w.Name == name {
			return w, nil
		}
		names = append(names, w.Name)
	}
	return nil, fmt.Errorf("expected one of %s, but got %q", strings.Join(names, ", "), name)
}
