package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/jaxexport"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/runtime"
)

func (a *app) infoCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "info FILE",
		Short:   "Show the form and version of a program's file",
		Long:    "Show the form of a file, the versions in it and, for a file of jax.export, all its other fields.",
		Example: "  hlocb info prog.jaxexport",
		Args:    command.Args("FILE"),
		RunE: command.Body(func(_ *cobra.Command, args []string) error {
			src, err := a.source(args[0])
			if errors.As(err, new(*reader.CompiledError)) && args[0] != "-" {
				return a.showCompiled(args[0], asJSON)
			}
			if err != nil {
				return err
			}
			if formOf(src.Text()) != "export" {
				info, err := moduleInfo(src, src.Text())
				if err != nil {
					return err
				}
				return a.showInfo(info, nil, asJSON)
			}
			f, err := artifact.Export(src)
			if err != nil {
				return err
			}
			module, err := moduleInfo(src, src.Text()[f.Module[0]:f.Module[1]])
			if err != nil {
				return err
			}
			return a.showInfo(exportInfo(f), module, asJSON)
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// showCompiled describes a program of 'hlocb compile'. It runs none of its machine code.
func (a *app) showCompiled(path string, asJSON bool) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	s, err := runtime.DecodeSaved(data)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	hooks := []string{}
	for _, h := range s.Manifest.Sites {
		hooks = append(hooks, h.Name)
	}
	info := []property{{"form", "compiled program"}, {"platform", s.Backend}, {"compiled by", s.Builder}, {"processor", s.Machine},
		{"replicas", s.Replicas}, {"partitions", s.Partitions}, {"machine code", len(s.Code)}, {"hooks", hooks}}
	module, err := moduleInfo(diag.NewSource(path, s.Text), s.Text)
	if err != nil {
		return err
	}
	return a.showInfo(info, module, asJSON)
}

// property is a line of 'hlocb info'. The value is a string, a number or a list of strings.
type property struct {
	name  string
	value any
}

// text returns the value in a line.
func (p property) text() string {
	if list, ok := p.value.([]string); ok {
		return strings.Join(list, ", ")
	}
	return fmt.Sprint(p.value)
}

// showInfo prints the properties of a file and of the module in it: one per line, or as an object.
func (a *app) showInfo(info, module []property, asJSON bool) error {
	if asJSON {
		object := func(list []property) map[string]any {
			out := map[string]any{}
			for _, p := range list {
				out[strings.ReplaceAll(p.name, " ", "_")] = p.value
			}
			return out
		}
		out := object(info)
		if module != nil {
			out["module"] = object(module)
		}
		return writeJSON(a.Out, out)
	}
	var b strings.Builder
	for _, p := range info {
		fmt.Fprintf(&b, "%s: %s\n", p.name, diag.Escape(p.text()))
	}
	if module != nil {
		b.WriteString("module:\n")
	}
	for _, p := range module {
		fmt.Fprintf(&b, "  %s: %s\n", p.name, diag.Escape(p.text()))
	}
	_, err := io.WriteString(a.Out, b.String())
	return err
}

// moduleInfo returns the form and the version of a module, which is src or a part of it.
func moduleInfo(src *diag.Source, data []byte) ([]property, error) {
	producer, version, ok := bytecode.Producer(data)
	switch message := hlo.ProtoName(data); {
	case message != "":
		form := "HLO proto"
		if hlo.IsProtoText(data) {
			form += ", text form"
		}
		return []property{{"form", form}, {"message", message}}, nil
	case !ok && reader.IsHLO(data):
		return []property{{"form", "HLO text"}}, nil
	case !ok && bytecode.IsBytecode(data):
		return nil, diag.Errorf(src, diag.At(0), "damaged MLIR bytecode: the header has no version and producer")
	case !ok:
		return []property{{"form", "MLIR text"}}, reader.CheckStart(src)
	case strings.HasPrefix(producer, "StableHLO_v"):
		return []property{{"form", "portable artifact"}, {"StableHLO version", strings.TrimPrefix(producer, "StableHLO_v")}, {"bytecode version", version}}, nil
	}
	return []property{{"form", "MLIR bytecode"}, {"producer", producer}, {"bytecode version", version}}, nil
}

// exportInfo returns the fields of a file of jax.export that are not empty.
func exportInfo(f *jaxexport.File) []property {
	values := func(list []jaxexport.Value, shardings []string) []string {
		parts := make([]string, len(list))
		for i, v := range list {
			parts[i] = v.String()
			if i < len(shardings) && shardings[i] != "" {
				parts[i] += " " + shardings[i]
			}
		}
		return parts
	}
	var kept []string
	constants, orders := "", 0
	if len(f.Kept) < len(f.Inputs) {
		kept = strings.Fields(strings.Trim(fmt.Sprint(f.Kept), "[]"))
	}
	if f.UsesGlobalConstants {
		constants = "yes: sizes of dimensions or the index of the platform"
	}
	for v := f.VJP; v != nil; v = v.VJP {
		orders++
	}
	return slices.DeleteFunc([]property{
		{"form", "file of jax.export"},
		{"serialization version", f.Version},
		{"calling convention version", f.ConventionVersion},
		{"function", f.Name},
		{"platforms", f.Platforms},
		{"devices", f.Devices},
		{"inputs", values(f.Inputs, f.InShardings)},
		{"outputs", values(f.Outputs, f.OutShardings)},
		{"inputs that the module keeps", kept},
		{"ordered effects", f.OrderedEffects},
		{"unordered effects", f.UnorderedEffects},
		{"disabled checks", f.DisabledChecks},
		{"global constants", constants},
		{"host callbacks", "none: jax.export cannot hold them"},
		{"derivatives", orders},
	}, func(p property) bool { return p.text() == "" })
}
