package reader

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/jaxexport"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// Form is a form of a module's file.
type Form struct {
	Name, Doc string
	Suffixes  []string // of files in the form
	// write writes m, which was read from src; nil: the form is only for translate.
	write func(ctx context.Context, w io.Writer, src *diag.Source, m *ir.Module, o print.Options) error
}

// Forms returns all forms. The names are the arguments of translate --to.
func Forms() []Form {
	return []Form{
		{"mlir", "as MLIR prints it", []string{".mlir"}, writeMLIR},
		{"generic", "every op in its generic form", nil, nil},
		{"bytecode", "MLIR bytecode", []string{".mlirbc", ".bc"}, writeBytecode},
		{"vhlo", "a portable artifact: bytecode of VHLO", []string{".vhlo"}, writeArtifact},
		{"export", "the file of jax.export that was read, with its module written again", []string{".jaxexport"}, writeExport},
		{"hlo", "HLO text, as XLA prints it", []string{".hlo"}, writeHLO},
		{"hlo-short", "HLO text without types of programs and metadata", nil, nil},
		{"hlo-proto", "XLA's HloModuleProto", []string{".pb"}, writeProto},
	}
}

// FormOf returns the form that the suffix of a file names.
func FormOf(path string) (Form, bool) {
	for _, f := range Forms() {
		if slices.Contains(f.Suffixes, filepath.Ext(path)) {
			return f, true
		}
	}
	return Form{}, false
}

// formRead returns the form of a text that was read.
func formRead(src *diag.Source) string {
	switch text := src.Text(); {
	case bytecode.IsBytecode(text):
		if _, _, _, ok := artifact.Version(src); ok {
			return "vhlo"
		}
		return "bytecode"
	case jaxexport.Sniff(text):
		return "export"
	case hlo.IsProto(text):
		return "hlo-proto"
	case IsHLO(text):
		return "hlo"
	}
	return "mlir"
}

// Write writes m in the form that the suffix of path names. Without such a suffix it writes the form that was read:
// HLO, or, to a file, bytecode, an artifact or a file of jax.export. Bytecode and artifacts keep their version, and a
// file of jax.export keeps everything but its module. Parts of HLO that did not change since they were read stay as
// they were.
func Write(ctx context.Context, w io.Writer, path string, m *ir.Module, o print.Options) error {
	src := m.Source()
	if src == nil {
		src = diag.NewSource("", nil)
	}
	f, ok := FormOf(path)
	if !ok {
		f = Forms()[0]
		read := formRead(src)
		for _, g := range Forms() {
			if g.Name == read && (IsHLO(src.Text()) || path != "" && path != "-") {
				f = g
			}
		}
	}
	return f.write(ctx, w, src, m, o)
}

func writeMLIR(_ context.Context, w io.Writer, _ *diag.Source, m *ir.Module, o print.Options) error {
	return print.Print(w, m, Written(m, o))
}

// written writes data if there is no error.
func written(w io.Writer, data []byte, err error) error {
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}

func writeBytecode(_ context.Context, w io.Writer, src *diag.Source, m *ir.Module, _ print.Options) error {
	data, err := bytecode.Append(nil, m, bytecodeOptions(src.Text()))
	return written(w, data, err)
}

// bytecodeOptions returns the options to write a module in the version of bytecode that text has. If that is the newest
// version, the ops decide whether version 6 or 4 is written: see bytecode.Options.
func bytecodeOptions(text []byte) bytecode.Options {
	_, v, ok := bytecode.Producer(text)
	return bytecode.Options{Version: v, Versioned: ok && v < 6}
}

func writeArtifact(_ context.Context, w io.Writer, src *diag.Source, m *ir.Module, _ print.Options) error {
	o := artifact.Options{Target: vhlo.Week12, KeepOthers: artifact.Is(src.Text())}
	if v, _, _, ok := artifact.Version(src); ok {
		o.Target = v
	}
	data, _, err := artifact.Append(nil, m, o)
	return written(w, data, err)
}

// writeExport puts m into the file of jax.export that src is. The file states the types of main, which must not change.
func writeExport(_ context.Context, w io.Writer, src *diag.Source, m *ir.Module, _ print.Options) error {
	if !jaxexport.Sniff(src.Text()) {
		return fmt.Errorf("%s: only a file of jax.export can be written as a file of jax.export: a module alone lacks the types and shardings that JAX adds", src.Name())
	}
	f, err := artifact.Export(src)
	if err != nil {
		return err
	}
	old, err := artifact.Read(src, m.Context())
	if err != nil {
		return err
	}
	if a, b := mainType(old), mainType(m); a != b {
		return fmt.Errorf("%s: the file of jax.export says that main has type %s; now it has type %s", src.Name(), a, b)
	}
	part := src.Text()[f.Module[0]:f.Module[1]]
	var data []byte
	if v, _, _, ok := artifact.Version(src); ok {
		data, _, err = artifact.Append(nil, m, artifact.Options{Target: v, KeepOthers: true})
	} else {
		data, err = bytecode.Append(nil, m, bytecodeOptions(part))
	}
	if err == nil {
		data, err = jaxexport.Replace(src.Text(), f, data)
	}
	return written(w, data, err)
}

// mainType returns the type of main as text, "" if there is none.
func mainType(m *ir.Module) string {
	if f, ok := fn.Lookup(m, "main"); ok {
		return f.Type().String()
	}
	return ""
}

func writeHLO(ctx context.Context, w io.Writer, _ *diag.Source, m *ir.Module, _ print.Options) error {
	h, err := ToHLO(ctx, m)
	if err != nil {
		return err
	}
	return h.WriteText(w, hlo.TextOptions{})
}

func writeProto(ctx context.Context, w io.Writer, _ *diag.Source, m *ir.Module, _ print.Options) error {
	h, err := ToHLO(ctx, m)
	if err != nil {
		return err
	}
	data, err := h.AppendProto(nil)
	return written(w, data, err)
}
