package hook

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/hlocb/hlocb/tensor"
)

// Target is the custom-call target of hlocb's own call.
const Target = "hlocb_hook"

// AttrAttrs is the entry of hlocb's own call that holds the attributes of the source's call, for handlers.
const AttrAttrs = "attrs"

// ABI is the version of hlocb's own call that this Go module reads and writes.
const ABI = 1

// Kind says what a hook does with its operands and results. It alone determines the calling convention.
type Kind uint8

// Kinds of hooks.
const (
	Tap   Kind = iota + 1 // observes; its data results, if any, are its operands, never written
	InOut                 // results are the operands, aliased one to one; the handler may write in place
	Call                  // the host computes the results
	Feed                  // no operands; the host supplies the results
)

var kindNames = [...]string{Tap: "tap", InOut: "inout", Call: "call", Feed: "feed"}

// String returns the spelling used in the IR and in JSON.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// ParseKind returns the kind spelled s.
func ParseKind(s string) (Kind, bool) {
	for k, name := range kindNames {
		if k != 0 && name == s {
			return Kind(k), true
		}
	}
	return 0, false
}

// MarshalText makes JSON spell the kind as the IR does.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the output of MarshalText.
func (k *Kind) UnmarshalText(b []byte) error {
	v, ok := ParseKind(string(b))
	if !ok {
		return fmt.Errorf("unknown hook kind %q", b)
	}
	*k = v
	return nil
}

// ID identifies a hook. It is the first 64 bits of a SHA-256 over the hook's function, format, name and types, so it is
// the same on every machine and in every run. The IR stores it as a two's complement i64.
type ID uint64

// String returns the 16 hexadecimal digits that JSON and the command line use.
func (id ID) String() string { return fmt.Sprintf("%016x", uint64(id)) }

// ParseID parses the output of String.
func ParseID(s string) (ID, bool) {
	if len(s) != 16 {
		return 0, false
	}
	v, err := strconv.ParseUint(s, 16, 64)
	return ID(v), err == nil
}

// MarshalText makes JSON spell the id in hexadecimal, because a JSON number would lose bits.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads the output of MarshalText.
func (id *ID) UnmarshalText(b []byte) error {
	v, ok := ParseID(string(b))
	if !ok {
		return fmt.Errorf("%q is not a hook id (16 hexadecimal digits)", b)
	}
	*id = v
	return nil
}

// TensorType is the type of one operand or result as a handler sees it.
type TensorType struct {
	DType tensor.DType
	Shape tensor.Shape
}

// TypeOf returns the type of a tensor. It shares the tensor's shape.
func TypeOf(t *tensor.Tensor) TensorType { return TensorType{DType: t.DType(), Shape: t.Shape()} }

// String returns the MLIR spelling, tensor<2x3xf32>.
func (t TensorType) String() string {
	b := []byte("tensor<")
	for _, d := range t.Shape {
		if d < 0 { // unknown
			b = append(b, "?x"...)
			continue
		}
		b = strconv.AppendInt(b, d, 10)
		b = append(b, 'x')
	}
	b = append(b, t.DType.String()...)
	return string(append(b, '>'))
}

// Fits reports whether both types have the same element type and shape. A negative dimension equals every dimension.
func (t TensorType) Fits(u TensorType) bool {
	return t.DType == u.DType && slices.EqualFunc(t.Shape, u.Shape, func(d, e int64) bool { return d < 0 || e < 0 || d == e })
}

type tensorTypeJSON struct {
	DType string       `json:"dtype"`
	Shape tensor.Shape `json:"shape"`
}

// MarshalJSON writes {"dtype": "f32", "shape": [2, 3]}, the form used in events.
func (t TensorType) MarshalJSON() ([]byte, error) {
	shape := t.Shape
	if shape == nil {
		shape = tensor.Shape{}
	}
	return json.Marshal(tensorTypeJSON{t.DType.String(), shape})
}

// UnmarshalJSON reads the output of MarshalJSON.
func (t *TensorType) UnmarshalJSON(b []byte) error {
	var v tensorTypeJSON
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	d, ok := tensor.ParseDType(v.DType)
	if !ok {
		return fmt.Errorf("unknown element type %q", v.DType)
	}
	t.DType, t.Shape = d, v.Shape
	return nil
}

// Entries of Site.Attrs of a probe.
const (
	AttrProbe = "probe" // the probe's kind
	AttrOf    = "of"    // the type of the value whose statistics the operand holds
)

// Site is one hook of a module as the runtime and the user see it. Its operands and results never include the chain or
// a token.
type Site struct {
	ID         ID                `json:"id"`
	Name       string            `json:"name"`
	Kind       Kind              `json:"kind"`
	Format     string            `json:"format"`              // the format of the source: "raw-outfeed", "jax-ffi", "hlocb", ...
	SourceID   string            `json:"source_id,omitempty"` // its identity in the source (consumer id, index, callback_id), for reports only
	Loc        string            `json:"loc,omitempty"`       // the MLIR location as text, empty if unknown
	Function   string            `json:"function,omitempty"`  // the function of the user's source around it, from the location
	Callback   string            `json:"callback,omitempty"`  // JAX's callback as the location names it: "io_callback"
	Chained    bool              `json:"chained"`             // operand 0 and result 0 of the call are the chain
	SideEffect bool              `json:"side_effect"`
	Operands   []TensorType      `json:"operands"`
	Results    []TensorType      `json:"results"`
	Aliases    []int             `json:"aliases"`         // for each result, the operand whose memory it shares, or -1
	Attrs      map[string]string `json:"attrs,omitempty"` // the source's other attributes, printed, for handlers
	// The layouts that the source asks for: the dimensions of each operand and result from minor to major. They are nil
	// if all are row-major. Only handlers that ask for layouts get values in them; see runtime.Layouts.
	OperandLayouts [][]int64 `json:"operand_layouts,omitempty"`
	ResultLayouts  [][]int64 `json:"result_layouts,omitempty"`
}

// Manifest lists the hooks of a module in program order.
type Manifest struct {
	Sites []Site `json:"hooks"`
	Edges []Edge `json:"order"`
	// AsWritten says that the program's hooks are unchanged from the source. Their ops are marked as parts of hooks.
	AsWritten bool `json:"-"`
	// HiddenArgs and HiddenResults list, for a program as written, the arguments and results of main that only order
	// hooks: tokens in the form of tensors, and PIDs. Tokens are not counted.
	HiddenArgs    []int `json:"-"`
	HiddenResults []int `json:"-"`
}

// Edge requires that an event of hook From is delivered before the next event of hook To. An order that follows from
// other edges has no edge of its own if a loop or a branch has the hook between the two: a loop without trips skips it.
type Edge struct {
	From ID `json:"from"`
	To   ID `json:"to"`
}

// Ordered yields the pairs of hooks whose order the edges fix: the two ends of each edge, and the two ends of each path
// through hooks that did not fire.
func (m *Manifest) Ordered(fired func(*Site) bool) iter.Seq2[*Site, *Site] {
	return func(yield func(from, to *Site) bool) {
		sites := make(map[ID]*Site, len(m.Sites))
		for i := range m.Sites {
			sites[m.Sites[i].ID] = &m.Sites[i]
		}
		next := map[ID][]ID{}
		var order []ID
		for _, e := range m.Edges {
			if next[e.From] == nil {
				order = append(order, e.From)
			}
			next[e.From] = append(next[e.From], e.To)
		}
		for _, from := range order {
			if s := sites[from]; s == nil || !fired(s) {
				continue
			}
			seen := map[ID]bool{}
			work := slices.Clone(next[from])
			for len(work) > 0 {
				to := work[0]
				work = work[1:]
				if seen[to] || sites[to] == nil {
					continue
				}
				seen[to] = true
				if !fired(sites[to]) {
					work = append(work, next[to]...)
				} else if !yield(sites[from], sites[to]) {
					return
				}
			}
		}
	}
}

// Find returns the site with the given id, or nil.
func (m *Manifest) Find(id ID) *Site {
	for i := range m.Sites {
		if m.Sites[i].ID == id {
			return &m.Sites[i]
		}
	}
	return nil
}
