// Package view writes a page that shows a module, the passes over it, its hooks and its values: one HTML file that
// needs no network.
//
// Go computes everything that needs the module: the boxes that ops fold into, the layers of each box and the order in
// each layer, the text with its values. The page computes positions of the boxes that are open. All steps of a module
// share one tree of boxes, the union of their ops; so an op keeps its place from pass to pass.
package view

import (
	"encoding/json"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// Document is what a page shows.
type Document struct {
	Title      string
	Steps      []Step // at least one; modules of one ir.Context. The page joins steps that are equal
	Hooks      *Hooks // nil if the module has no hooks
	Overlays   []Overlay
	Recordings []Recording
	Source     func(file string) []byte // the text of a file that a location names, nil if unknown; may be nil
	Live       string                   // URL of server-sent events, relative to the page; "" for a page without a server
	Beside     bool                     // show the first step beside the last one
}

// Step is the module at one moment.
type Step struct {
	Name   string // a file, or a pass in pipeline syntax
	Module *ir.Module
	Rules  []Rule   // rules that changed the module in this step
	Same   []string // passes after this step that changed nothing
	// Made names the rules that made or changed an op of Module.
	Made map[*ir.Op][]string
}

// Rule says how often a rule of a pass was applied.
type Rule struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Hooks are the hooks of the last step.
type Hooks struct {
	Manifest *hook.Manifest
	Data     []hook.Edge // the order that only data imposes
	Aliases  []hook.AliasReport
	Proof    string                 // the reason why the order does not hold; "" if it is proved
	Origins  map[hook.ID][]diag.Pos // the ops of each hook in the first step
}

// Overlay is a number for some ops.
type Overlay struct {
	Name    string
	Unit    string
	Numbers []Number
}

// Number is a number of Op or, if Op is nil, of the ops that At selects: an op's name, the symbol of a function, a
// value's name such as %3, a location as MLIR or as an event writes it, or FILE:LINE:COLUMN of the module's own text.
type Number struct {
	Op    *ir.Op  `json:"-"` // of one of the steps
	At    string  `json:"at"`
	Value float64 `json:"value"`
}

// Recording is a list of events in the form of docs/events.md.
type Recording struct {
	Name   string            `json:"name"`
	Events []json.RawMessage `json:"events"`
}
