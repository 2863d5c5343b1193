package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/jaxexport"
	"github.com/hlocb/hlocb/internal/reader"
)

func (a *app) infoCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "info FILE",
		Short:   "Show the form and version of a program's file",
		Long:    "Show the form of a file, the versions in it and, for a file of jax.export, all its other fields.",
		Example: "  hlocb info prog.jaxexport",
		Args:    command.Args("FILE"),
		RunE: command.Body(func(_ *cobra.Command, args []string) error {
			name, text, err := a.ReadText(args[0])
			if err != nil {
				return err
			}
			if formOf(text) != "export" {
				return a.WriteFile("", func(w io.Writer) error { return showModule(w, "", text) })
			}
			f, err := artifact.Export(diag.NewSource(name, text))
			if err != nil {
				return err
			}
			return a.WriteFile("", func(w io.Writer) error { return showExport(w, text, f) })
		}),
	}
}

// showModule writes the form and the version of a module.
func showModule(w io.Writer, indent string, data []byte) error {
	producer, version, ok := bytecode.Producer(data)
	var err error
	switch message := hlo.ProtoName(data); {
	case message != "":
		_, err = fmt.Fprintf(w, "%sform: HLO proto\n%smessage: %s\n", indent, indent, message)
	case !ok && reader.IsHLO(data):
		_, err = fmt.Fprintf(w, "%sform: HLO text\n", indent)
	case !ok:
		_, err = fmt.Fprintf(w, "%sform: MLIR text\n", indent)
	case strings.HasPrefix(producer, "StableHLO_v"):
		_, err = fmt.Fprintf(w, "%sform: portable artifact\n%sStableHLO version: %s\n%sbytecode version: %d\n", indent, indent, strings.TrimPrefix(producer, "StableHLO_v"), indent, version)
	default:
		_, err = fmt.Fprintf(w, "%sform: MLIR bytecode\n%sproducer: %s\n%sbytecode version: %d\n", indent, indent, diag.Escape(producer), indent, version)
	}
	return err
}

// showExport writes the fields of a file of jax.export.
func showExport(w io.Writer, data []byte, f *jaxexport.File) error {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, diag.Escape(value))
		}
	}
	values := func(list []jaxexport.Value, shardings []string) string {
		parts := make([]string, len(list))
		for i, v := range list {
			parts[i] = v.String()
			if i < len(shardings) && shardings[i] != "" {
				parts[i] += " " + shardings[i]
			}
		}
		return strings.Join(parts, ", ")
	}
	b.WriteString("form: jax.export\n")
	line("serialization version", fmt.Sprint(f.Version))
	line("calling convention version", fmt.Sprint(f.ConventionVersion))
	line("function", f.Name)
	line("platforms", strings.Join(f.Platforms, ", "))
	line("devices", fmt.Sprint(f.Devices))
	line("inputs", values(f.Inputs, f.InShardings))
	line("outputs", values(f.Outputs, f.OutShardings))
	if len(f.Kept) < len(f.Inputs) {
		line("inputs that the module keeps", strings.Trim(fmt.Sprint(f.Kept), "[]"))
	}
	line("ordered effects", strings.Join(f.OrderedEffects, ", "))
	line("unordered effects", strings.Join(f.UnorderedEffects, ", "))
	line("disabled checks", strings.Join(f.DisabledChecks, ", "))
	if f.UsesGlobalConstants {
		line("global constants", "yes: sizes of dimensions or the index of the platform")
	}
	line("host callbacks", "none: jax.export cannot hold them")
	orders := 0
	for v := f.VJP; v != nil; v = v.VJP {
		orders++
	}
	line("derivatives", fmt.Sprint(orders))
	b.WriteString("module:\n")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return showModule(w, "  ", data[f.Module[0]:f.Module[1]])
}
