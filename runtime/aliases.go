package runtime

import "github.com/hlocb/hlocb/hook"

// AliasUse says what a compiled program does about one result of a hook that shares the memory of an operand.
type AliasUse struct {
	Hook    hook.ID
	Result  int // as the host counts them
	Operand int // likewise
	Calls   int // how many calls of the hook the program holds: inlining may make several of one, or none
	Copies  int // in front of how many of them the operand is copied
	Lost    int // how many of them do not have the alias
}

// AliasViewer is an Executable that can tell what its compiler made of the aliases that it was given.
type AliasViewer interface {
	// AliasUses returns an entry per result with an alias, hooks in the manifest's order.
	AliasUses() ([]AliasUse, error)
}
