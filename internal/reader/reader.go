// Package reader reads the text of a module, whatever its form, and verifies it.
package reader

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"regexp"
	"sync"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/builtin"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/internal/shardy"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// MaxErrors is the number of mistakes of a text that Read reports by default.
const MaxErrors = 20

// MaxText is the size in bytes of the largest text that positions can point into.
const MaxText = math.MaxUint32 - 1

// Registry returns the registry of every dialect. It is made once: making it takes longer than reading a small module.
var Registry = sync.OnceValue(func() *ir.Registry {
	r, err := all.Registry()
	if err != nil {
		panic(err) // two rows have one name: a mistake in the source that every start would show
	}
	return r
})

// CompiledError says that a file is a compiled program, which contains machine code. Text refuses it, because only the
// user can decide to trust it: see hlocb.Decode.
type CompiledError struct{ Name string }

func (e *CompiledError) Error() string { return e.Name + ": a compiled program, expected a module" }

// Text reads at most limit bytes of r. It refuses longer input, and binary input as soon as it sees the first bytes of
// it, because a device such as /dev/zero never ends.
func Text(name string, r io.Reader, limit int64) ([]byte, error) {
	limit = min(limit, MaxText)
	var head [8000]byte
	n, err := io.ReadFull(r, head[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if err := refuseBinary(name, head[:n]); err != nil {
		return nil, err
	}
	if n < len(head) {
		return bytes.Clone(head[:n]), nil
	}
	var text bytes.Buffer
	if s, ok := r.(interface{ Size() int64 }); ok && s.Size() < limit {
		text.Grow(int(s.Size()) + bytes.MinRead)
	}
	text.Write(head[:n])
	if _, err := text.ReadFrom(io.LimitReader(r, limit-int64(n)+1)); err != nil {
		return nil, err
	}
	if int64(text.Len()) > limit {
		return nil, fmt.Errorf("%s: more than %d bytes, the most that can be read here", name, limit)
	}
	return text.Bytes(), nil
}

// refuseBinary returns an error if the first bytes of a file are not those of a text.
func refuseBinary(name string, head []byte) error {
	switch i := bytes.IndexByte(head, 0); {
	case artifact.Is(head):
		return nil
	case bytes.HasPrefix(head, []byte("hlocb program ")):
		return &CompiledError{name}
	case i >= 0 && hlo.IsProto(head):
		return nil
	case i >= 0 && hlo.IsCompileOptions(head):
		return diag.Errorf(diag.NewSource(name, head), diag.At(0), "these are XLA's compile options (CompileOptionsProto), not a module")
	case i >= 0:
		return diag.Errorf(diag.NewSource(name, head), diag.At(i), "this is a binary file; modules are read as text")
	}
	return nil
}

// Read parses and verifies a module and reports at most MaxErrors mistakes. It upgrades VHLO to current StableHLO and
// restores Shardy's ops from the form in which XLA keeps them in HLO. Errors about the text are a *diag.Diagnostic or a
// diag.List.
func Read(src *diag.Source) (*ir.Module, error) {
	m, err := Parse(src, ir.NewContext(Registry()), MaxErrors)
	if err == nil {
		err = Verify(context.Background(), m, MaxErrors)
	}
	if err == nil && vhlo.IsVHLO(m) {
		if m, err = vhlo.Upgrade(m); err == nil {
			err = Verify(context.Background(), m, MaxErrors)
		}
	}
	if err == nil {
		if err = shardy.Check(m); err != nil {
			list := diag.ListOf(err)
			err = list[:min(len(list), MaxErrors)]
		}
	}
	if err == nil && shardy.Exported(m) {
		if err = shardy.Import(m); err == nil {
			err = Verify(context.Background(), m, MaxErrors)
		}
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Parse is like Read but neither verifies the module nor upgrades VHLO. Types and rows belong to c.
func Parse(src *diag.Source, c *ir.Context, maxErrors int) (*ir.Module, error) {
	text := src.Text()
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, CheckStart(src)
	}
	if err := refuseBinary(src.Name(), text[:min(len(text), 8000)]); err != nil {
		return nil, err
	}
	if artifact.Is(text) {
		return artifact.Read(src, c)
	}
	if IsHLO(text) {
		h, err := ReadHLO(src)
		if err != nil {
			return nil, err
		}
		return hlo.Import(h, c)
	}
	m, err := parse.Parse(src, c, parse.Options{MaxErrors: maxErrors})
	if err != nil {
		return nil, cmp.Or(CheckStart(src), err)
	}
	return m, nil
}

// CheckStart returns an error if a text is empty, or begins as no MLIR does: as a document, or a program in another
// language.
func CheckStart(src *diag.Source) error {
	text := src.Text()
	at := firstWord(text)
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		// MLIR reads an empty file as an empty module. A user's empty file is probably the output of a tool that
		// failed.
		return diag.Errorf(src, diag.At(0), "expected a module, found an empty file")
	case at < len(text) && !startsModule(text[at:]):
		return diag.Errorf(src, diag.At(at), "not a module: expected MLIR (module, func.func or another op) or HLO (HloModule)")
	}
	return nil
}

// Verify reports at most maxErrors mistakes of a module. It stops with an error when ctx ends.
func Verify(ctx context.Context, m *ir.Module, maxErrors int) error {
	err := ir.VerifyContext(ctx, m)
	if list := diag.ListOf(err); len(list) > maxErrors {
		return list[:max(1, maxErrors)]
	}
	return err
}

// CheckElided returns an error at the first constant whose elements the text of m leaves out.
func CheckElided(m *ir.Module) error {
	var err error
	m.Walk(func(op *ir.Op) bool {
		if r, ok := op.Attr(stablehlo.AttrValue).(*ir.ResourceAttr); ok && r.Key() == ir.Elided && op.Has(ir.ConstantLike) {
			err = m.Errorf(op, "the elements of this constant are elided; dump HLO with --xla_dump_large_constants, print MLIR without a limit for elements")
		}
		return err == nil
	})
	return err
}

// ReadHLO reads a module of HLO: text or a proto.
func ReadHLO(src *diag.Source) (*hlo.Module, error) {
	if isProto(src.Text()) {
		return hlo.ParseProto(src)
	}
	return hlo.Parse(src)
}

// isProto reports whether a file is a proto of HLO, in binary or text form.
func isProto(text []byte) bool { return hlo.IsProto(text) || hlo.IsProtoText(text) }

// hloStart matches the start of HLO without a header: the entry, an instruction with its type, or a computation.
var hloStart = regexp.MustCompile(`^(ENTRY\s|(ROOT\s+)?%?[A-Za-z_][\w.-]*\s*=\s*\(*[a-z]\w*\[|[a-z]\w*\[[^\]]*\]\S*\s+[a-z-]+\(|%?[A-Za-z_][\w.-]*\s*\{)`)

// IsHLO reports whether a file is HLO, text or proto, and not MLIR.
func IsHLO(text []byte) bool {
	if isProto(text) {
		return true
	}
	start := text[firstWord(text):]
	if bytes.HasPrefix(start, []byte("HloModule")) {
		return true
	}
	return hloStart.Match(start[:min(len(start), 1000)]) && !startsMLIR(start)
}

// startsMLIR reports whether the text begins with MLIR's keyword of a module or with an alias.
func startsMLIR(text []byte) bool {
	for _, word := range []string{"module", builtin.Module.Name, "func"} {
		if rest, ok := bytes.CutPrefix(text, []byte(word)); ok && len(rest) > 0 && (rest[0] == ' ' || rest[0] == '.' || rest[0] == '\n' || rest[0] == '{') {
			return true
		}
	}
	return false
}

// HasLocations reports whether the text of m has locations. Otherwise the locations of the ops are their positions in
// that text: they serve diagnostics and events, and are not part of the module.
func HasLocations(m *ir.Module) bool {
	if src := m.Source(); src != nil && (src.Binary() || IsHLO(src.Text())) {
		found := false
		m.Walk(func(op *ir.Op) bool { found = op.Loc() != nil; return !found })
		return found
	}
	return m.Source() != nil && bytes.Contains(m.Source().Text(), []byte("loc("))
}

// Written returns o with the locations of m switched on if the text of m has locations.
func Written(m *ir.Module, o print.Options) print.Options {
	if !o.DebugInfo && HasLocations(m) {
		o.DebugInfo, o.OwnLocs = true, true
	}
	return o
}

// ToHLO translates m to HLO, which has Shardy's ops in XLA's form. If m was read from HLO, what did not change since
// stays as it was. HLO that does not keep the order of the hooks of m is an *order.LostError.
func ToHLO(ctx context.Context, m *ir.Module) (*hlo.Module, error) { return proven(ctx, m, translate) }

// proven translates m to HLO and proves the order of the hooks there.
func proven(ctx context.Context, m *ir.Module, translate func(*ir.Module) (*hlo.Module, error)) (*hlo.Module, error) {
	h, err := translate(m)
	if err == nil {
		err = order.ProveHLO(ctx, m, h)
	}
	if err != nil {
		return nil, err
	}
	return h, nil
}

func translate(m *ir.Module) (*hlo.Module, error) {
	if shardy.Used(m) {
		m = m.Clone()
		keepPartitions(m)
		if err := shardy.Export(m, func(op *ir.Op) shardy.Call {
			callee, take, join := hlo.CalleeOf(m, op.Origin())
			return shardy.Call{Callee: callee, Take: take, Join: join}
		}); err != nil {
			return nil, err
		}
	}
	return hlo.Update(m)
}

// keepPartitions undoes what shardy.Import does to the number of partitions: HLO that leaves it to the mesh of its
// manual computations is written so again, unless a number was stated since that does not follow from the mesh.
func keepPartitions(m *ir.Module) {
	old, ok := hlo.AttrOf(m, mhlo.AttrNumPartitions).(*ir.IntegerAttr)
	if !ok || old.Value() > 1 {
		return
	}
	now, ok := m.Op().Attr(mhlo.AttrNumPartitions).(*ir.IntegerAttr)
	if replicas, _ := mhlo.Devices(m); ok && replicas <= 1 && now.Value() == shardy.Partitions(m) {
		m.Op().SetAttr(mhlo.AttrNumPartitions, old)
	}
}

// firstWord returns the offset of the first word, after blanks and comments.
func firstWord(text []byte) int {
	at := 0
	for {
		at = len(text) - len(bytes.TrimLeft(text[at:], " \t\r\n"))
		if bytes.HasPrefix(text[at:], []byte("/*")) { // a comment of HLO
			end := bytes.Index(text[at:], []byte("*/"))
			if end < 0 {
				return at
			}
			at += end + 2
			continue
		}
		if !bytes.HasPrefix(text[at:], []byte("//")) {
			return at
		}
		end := bytes.IndexByte(text[at:], '\n')
		if end < 0 {
			return at
		}
		at += end
	}
}

// startsModule reports whether the text begins as a module can: with an op, a value, an alias, a resource section or a
// bracket. A document or a program in another language does not.
func startsModule(text []byte) bool {
	word := 0
	for word < len(text) && (text[word] == '_' || text[word] == '.' || text[word] == '$' || '0' <= text[word] && text[word] <= '9' ||
		'a' <= text[word]|0x20 && text[word]|0x20 <= 'z') {
		word++
	}
	if word > 0 {
		name := string(text[:word])
		return name == "module" || name == "func" || bytes.IndexByte(text[:word], '.') > 0
	}
	switch c := text[0]; c {
	case '%', '"', '!', '#':
		// '# Title' and '#!' begin documents and scripts; an alias is a word after its mark.
		return len(text) > 1 && text[1] != ' ' && text[1] != '!' && text[1] != '#'
	case '{':
		return len(text) > 1 && text[1] == '-' // not JSON
	case '}', '(', ')', '[', ']', '^', '@':
		return true
	}
	return text[0] < ' ' || text[0] >= 0x7f
}
