package randprog

import (
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/tensor"
)

// Form is the format of a program's hooks.
type Form uint8

// Forms.
const (
	Own         Form = iota // hlocb's own call, not chained
	Target                  // a custom call @probe_cb, read with --hook-target
	JAX                     // xla_ffi_python_cpu_callback, ordered ones by tokens
	Outfeed                 // raw outfeeds and infeeds
	HCB                     // JAX's host_callback in outfeed mode
	EXLA                    // exla_runtime_callback
	EXLAOutfeed             // EXLA's outfeeds after u16 flags
	SendRecv                // host transfers: JAX's chains of sends and receives, TensorFlow's that fan out
	Descriptor              // xla_python_cpu_callback with a pointer as operand 0 and a tuple as result
	Mixed                   // each hook in another format that can share a program
	NumForms
)

var formNames = [...]string{"own", "target", "jax", "outfeed", "hcb", "exla", "exla-outfeed", "sendrecv", "descriptor", "mixed"}

// mixable are the forms that Mixed chooses from. EXLA's two formats apply to a whole module: one adds an argument to
// main, the other an end flag.
var mixable = [...]Form{Own, Target, JAX, Outfeed, HCB, SendRecv, Descriptor}

func (f Form) String() string { return formNames[f] }

// TargetName is the custom-call target of programs of form Target.
const TargetName = "probe_cb"

// tokens reports whether the format orders its hooks with tokens.
func (f Form) tokens() bool {
	switch f {
	case JAX, Outfeed, HCB, EXLAOutfeed, SendRecv, Descriptor, Mixed:
		return true
	}
	return false
}

// Type is the type of a value: a tensor of i32, f32, ui8 or i1.
type Type struct {
	DType tensor.DType
	Shape tensor.Shape
}

func (t Type) equal(u Type) bool { return t.DType == u.DType && t.Shape.Equal(u.Shape) }

func (t Type) elements() int { return int(t.Shape.NumElements()) }

// String returns the MLIR spelling.
func (t Type) String() string {
	var b strings.Builder
	b.WriteString("tensor<")
	for _, d := range t.Shape {
		b.WriteString(strconv.FormatInt(d, 10) + "x")
	}
	return b.String() + t.DType.String() + ">"
}

// Site is one hook of the program's text.
type Site struct {
	Label    string // the test's name for it: "h0", "h1", ...
	Kind     hook.Kind
	Pure     bool // without side effect: may fire any number of times, and has no place in the order
	Operands []Type
	Results  []Type
	Stream   int  // of tokens, from 0; -1 if no token orders the hook
	InCond   bool // is in the condition of a loop, possibly through a call

	number   int
	form     Form // its format: the program's, or one of the mixed formats
	newToken bool // takes a token of its own instead of one of the streams
	fanOut   bool // sends and receives side by side, found by their keys
}

// is reports whether h, a raised hook, is this site. It compares the name, or the identification in the hook's
// format.
func (s *Site) is(h *hook.Site) bool {
	n := strconv.Itoa(s.number)
	switch s.form {
	case JAX:
		return h.SourceID == "index "+n
	case HCB:
		return h.SourceID == "consumer "+n
	case EXLAOutfeed:
		return h.SourceID == "flag "+n
	case EXLA:
		return h.SourceID == "callback_id "+hexWord(s.number)
	case Descriptor:
		return h.SourceID == "descriptor "+n
	case SendRecv:
		first, _, _ := strings.Cut(strings.TrimPrefix(h.SourceID, "channels "), ",")
		return first == strconv.Itoa(s.channel(0))
	}
	return h.Name == s.Label
}

// channel returns the number of the i-th of the site's transfers, counted from 0.
func (s *Site) channel(i int) int { return 100*s.number + i }

// hexWord spells the eight bytes of a little-endian word.
func hexWord(n int) string {
	const digits = "0123456789abcdef"
	var b [16]byte
	for i := range 8 {
		v := byte(uint64(n) >> (8 * i))
		b[2*i], b[2*i+1] = digits[v>>4], digits[v&15]
	}
	return string(b[:])
}

// Program is a random program.
type Program struct {
	Seed  uint64
	Form  Form
	Sites []*Site
	Args  []*tensor.Tensor

	streams int
	funcs   []*function // callees before callers, main last
}

// SiteOf returns the site of a raised hook, or nil if there is none.
func (p *Program) SiteOf(h *hook.Site) *Site {
	for _, s := range p.Sites {
		if s.is(h) {
			return s
		}
	}
	return nil
}

// function is a function of the program; every call reaches its hooks.
type function struct {
	name  string
	body  *block
	hooks bool // reaches hooks
}

// block is the content of a region or function.
type block struct {
	args  []*value
	stmts []*stmt
	ret   []*value
}

// value is an SSA value of the program; tokens are not values.
type value struct {
	typ Type
	at  int // index in an evaluation's frame
}

type stmtKind uint8

const (
	stConst stmtKind = iota
	stOp             // elementwise and other plain ops, by name
	stHook
	stWhile
	stIf // also case
	stCall
)

// stmt is one statement.
type stmt struct {
	kind   stmtKind
	op     string
	n      int64 // of a constant
	in     []*value
	out    []*value
	blocks []*block // while: condition, body; if: then, else; case: each
	fn     *function
	site   *Site
	hooks  bool // is or reaches a hook
}
