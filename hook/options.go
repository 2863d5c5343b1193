package hook

import (
	"fmt"
	"strings"
)

// Order says which hooks a rewritten module delivers in order.
type Order uint8

// Orders.
const (
	OrderProgram Order = iota // all hooks in program order
	OrderSource               // only the partial order of the source's tokens and data
	OrderNone                 // no order except by data
)

var orderNames = []string{OrderProgram: "program", OrderSource: "source", OrderNone: "none"}

// String returns the spelling that UnmarshalText reads.
func (o Order) String() string { return orderNames[o] }

// MarshalText returns the spelling that UnmarshalText reads.
func (o Order) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads program, source or none.
func (o *Order) UnmarshalText(b []byte) error { return parse(o, b, orderNames) }

// Chain is the type of the value that orders hooks in a rewritten module.
type Chain uint8

// Chains.
const (
	ChainState Chain = iota // a scalar tensor<ui64>
	ChainToken              // !stablehlo.token
	ChainPID                // EXLA's PID, an argument of the program; only for the format exla-io, which requires it
)

var chainNames = []string{ChainState: "state", ChainToken: "token", ChainPID: "pid"}

// String returns the spelling that UnmarshalText reads.
func (c Chain) String() string { return chainNames[c] }

// MarshalText returns the spelling that UnmarshalText reads.
func (c Chain) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads state, token or pid.
func (c *Chain) UnmarshalText(b []byte) error { return parse(c, b, chainNames) }

// PerDevice says how often a hook of a partitioned program fires.
type PerDevice uint8

// Modes of hooks in partitioned programs.
const (
	PerDeviceSource PerDevice = iota // as in the source: once, or on each device if the source says so
	PerDeviceOnce                    // once, with the whole value, on device 0
	PerDeviceEach                    // on every device, with its shard
)

var perDeviceNames = []string{PerDeviceSource: "source", PerDeviceOnce: "once", PerDeviceEach: "each"}

// String returns the spelling that UnmarshalText reads.
func (p PerDevice) String() string { return perDeviceNames[p] }

// MarshalText returns the spelling that UnmarshalText reads.
func (p PerDevice) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads source, once or each.
func (p *PerDevice) UnmarshalText(b []byte) error { return parse(p, b, perDeviceNames) }

// AliasMode says which results of hooks may share the memory of operands.
type AliasMode uint8

// Alias modes.
const (
	AliasAll  AliasMode = iota // whenever operand and result types agree
	AliasFree                  // if XLA need not copy the operand first
	AliasNone                  // never, except for taps and inout hooks, whose results are operands by definition
)

var aliasNames = []string{AliasAll: "all", AliasFree: "free", AliasNone: "none"}

// String returns the spelling that UnmarshalText reads.
func (a AliasMode) String() string { return aliasNames[a] }

// MarshalText returns the spelling that UnmarshalText reads.
func (a AliasMode) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads all, free or none.
func (a *AliasMode) UnmarshalText(b []byte) error { return parse(a, b, aliasNames) }

// parse sets *v to the index of b in names.
func parse[T ~uint8](v *T, b []byte, names []string) error {
	for i, name := range names {
		if name == string(b) {
			*v = T(i)
			return nil
		}
	}
	last := len(names) - 1
	return fmt.Errorf("expected %s or %s, but got %q", strings.Join(names[:last], ", "), names[last], b)
}

// Verdict is the decision on one result of a hook.
type Verdict uint8

// Verdicts on aliases.
const (
	AliasKept    Verdict = iota // shares its operand's memory without a copy
	AliasCopied                 // shares it after XLA copies the operand
	AliasRefused                // has its own memory
)

var verdictNames = [...]string{AliasKept: "kept", AliasCopied: "copy", AliasRefused: "refused"}

// String returns the spelling used in JSON.
func (v Verdict) String() string { return verdictNames[v] }

// MarshalText makes JSON spell the verdict.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// AliasReport says whether one result of a hook shares the memory of an operand, and why.
type AliasReport struct {
	Hook    ID      `json:"hook"`
	Name    string  `json:"name"`
	Result  int     `json:"result"`  // as the host counts results
	Operand int     `json:"operand"` // -1 if refused
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason"`
	Bytes   int64   `json:"bytes"` // of the result, -1 if its size is unknown
	// Maybe marks a predicted copy that XLA may avoid: it may compute the operand twice or, for an argument of a
	// partitioned program, pass the hook the value gathered from the shards.
	Maybe bool `json:"maybe,omitempty"`
}

// Holds reports whether a compiled program agrees with r. calls is the number of calls of the hook in the program,
// copies the number of calls before which XLA copies the operand, and lost the number of calls whose alias XLA drops. A
// copy is predicted if any of the calls needs it.
func (r *AliasReport) Holds(calls, copies, lost int) bool {
	switch {
	case r.Verdict == AliasRefused || lost > 0:
		return r.Verdict == AliasRefused && lost == calls
	case r.Verdict == AliasKept:
		return copies == 0
	}
	return copies > 0 || r.Maybe || calls == 0
}
