package runtime

import "github.com/hlocb/hlocb/hook"

// AliasUse describes how a compiled program treats one result of a hook that shares the memory of an operand.
type AliasUse struct {
	Hook    hook.ID
	Result  int // position among the results that the handler sees
	Operand int // position among the operands that the handler sees
	Calls   int // calls of the hook in the program: inlining may copy or remove calls
	Copies  int // calls before which XLA copies the operand
	Lost    int // calls without the alias
}

// AliasViewer is an Executable that reports how its compiler treated the aliases of hooks.
type AliasViewer interface {
	// AliasUses returns an entry per result with an alias, hooks in the manifest's order.
	AliasUses() ([]AliasUse, error)
}
