package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/jaxexport"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/internal/view"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
)

// form is a form that translate writes, with the flags that it has among target, route and bytecode-version.
type form struct {
	reader.Form
	flags []string
	// write writes the module; nil: translateHLO writes the form.
	write func(a *app, t *translation, src *diag.Source, m *ir.Module) error
}

// translation holds the flags of translate.
type translation struct {
	out, to, from, target, route string
	html                         string
	version                      int
	keep, strip, verify          bool
}

func forms() []form {
	text := func(o print.Options) func(a *app, t *translation, src *diag.Source, m *ir.Module) error {
		return func(a *app, t *translation, _ *diag.Source, m *ir.Module) error {
			return a.WriteFile(t.out, func(w io.Writer) error { return print.Print(w, m, reader.Written(m, o)) })
		}
	}
	own := map[string]form{
		"mlir":     {write: text(print.Options{})},
		"generic":  {write: text(print.Options{Generic: true})},
		"bytecode": {flags: []string{"bytecode-version"}, write: (*app).writeBytecode},
		"vhlo":     {flags: []string{"target", "route"}, write: (*app).writeArtifact},
		"export":   {flags: []string{"target"}, write: (*app).writeExport},
	}
	var list []form
	for _, f := range reader.Forms() {
		x := own[f.Name]
		x.Form = f
		if f.Name == "vhlo" {
			x.Doc += ", for --target"
		}
		list = append(list, x)
	}
	return list
}

func (a *app) translateCommand() *cobra.Command {
	t := &translation{version: -1}
	names := formNames()
	docs := namesOf(forms(), func(f form) string { return fmt.Sprintf("  %-9s  %s", f.Name, f.Doc) })
	c := &cobra.Command{
		Use:   "translate IN",
		Short: "Convert between MLIR, bytecode, portable artifacts and HLO",
		Long: "Read a module, verify it and write it in another form. The content of IN shows its form: MLIR or HLO text,\n" +
			"MLIR bytecode, a portable artifact, a file of jax.export or an HLO proto.\n\nForms (--to; default: the suffix of --output):\n" + strings.Join(docs, "\n"),
		Example: "  hlocb translate in.mlir --to generic\n  hlocb translate in.mlir --to vhlo --target WEEK_12 -o out.vhlo",
		Args:    command.Args("IN"),
		RunE: command.Body(func(cmd *cobra.Command, args []string) error {
			f, err := t.form()
			if err != nil {
				return err
			}
			for _, name := range []string{"target", "route", "bytecode-version"} {
				if cmd.Flags().Changed(name) && !slices.Contains(f.flags, name) {
					return usagef("--%s: the form %s has none", name, f.Name)
				}
			}
			src, err := a.source(args[0])
			if err != nil {
				return err
			}
			if t.html != "" {
				if err := a.translationPage(t.html, src); err != nil {
					return err
				}
			}
			if f.write == nil {
				return a.translateHLO(cmd.Context(), src, t.out, f.Name, t.verify)
			}
			m, err := a.translateInput(src, t)
			if err != nil {
				return err
			}
			if t.strip {
				m = m.Clone()
				if err := (passes.StripDebugInfo{}).Run(pass.NewContext(cmd.Context(), m), m.Op()); err != nil {
					return err
				}
			}
			return f.write(a, t, src, m)
		}),
	}
	f := c.Flags()
	f.StringVar(&t.to, "to", "", "`FORM` "+strings.Join(names, ", "))
	f.StringVarP(&t.out, "output", "o", "", "`FILE` write to FILE instead of standard output")
	f.StringVar(&t.html, "html", "", "`FILE` also write a page that shows the module")
	f.StringVar(&t.target, "target", "", "`VERSION` StableHLO version of an artifact: x.y.z, current, WEEK_4, WEEK_12, MAX, or auto for the oldest possible (default WEEK_12; for export: the version of each module)")
	f.StringVar(&t.route, "route", "", "`ROUTE` dialects that an artifact may hold: "+strings.Join(artifact.Routes(), ", ")+" (default strict, or the dialects of IN if IN is an artifact)")
	f.IntVar(&t.version, "bytecode-version", -1, "`N` version of the bytecode, 0 to 6 (default 6, or 4 if JAX 0.10 and 0.12 read version 6 of the module differently)")
	f.BoolVar(&t.strip, "strip-locations", false, "leave out locations: they can name the user's source files")
	f.BoolVar(&t.keep, "keep-vhlo", false, "leave the VHLO of an artifact as it is")
	command.Group(c, "Output")
	f.StringVar(&t.from, "from", "", "`FORM` form of IN: mlir, bytecode or export (default: as its content shows)")
	f.BoolVar(&t.verify, "verify", false, "infer the types of HLO and compare them with the stated types, also from HLO to HLO; other output is always verified")
	command.Group(c, "Input")
	command.CompleteFixed(c, "to", names...)
	command.CompleteFixed(c, "route", artifact.Routes()...)
	return c
}

// form returns the form to write, which --to or else the suffix of the output names.
func (t *translation) form() (form, error) {
	name := t.to
	if name == "" {
		name = "mlir"
		if f, ok := reader.FormOf(t.out); ok {
			name = f.Name
		}
	}
	for _, f := range forms() {
		if f.Name == name {
			return f, nil
		}
	}
	return form{}, oneOf("--to", t.to, formNames())
}

func formNames() []string { return namesOf(forms(), func(f form) string { return f.Name }) }

// translationPage writes a page of the module that is translated.
func (a *app) translationPage(path string, src *diag.Source) error {
	m, err := reader.Read(src)
	if err != nil {
		return err
	}
	name := filepath.Base(src.Name())
	return a.writePage(path, &view.Document{Title: name, Steps: []view.Step{{Name: name, Module: m}}})
}

// translateInput reads the module to write.
func (a *app) translateInput(src *diag.Source, t *translation) (*ir.Module, error) {
	if t.from != "" {
		if err := oneOf("--from", t.from, []string{"mlir", "bytecode", "export"}); err != nil {
			return nil, err
		}
		if is := formOf(src.Text()); is != t.from {
			return nil, fmt.Errorf("%s: expected %s, as --from says, found %s", src.Name(), t.from, is)
		}
	}
	if !t.keep {
		return a.read(src)
	}
	var m *ir.Module
	var err error
	if artifact.Is(src.Text()) {
		m, err = artifact.ReadVHLO(src, ir.NewContext(reader.Registry()))
	} else {
		m, err = reader.Parse(src, ir.NewContext(reader.Registry()), reader.MaxErrors)
	}
	if err == nil {
		err = reader.Verify(context.Background(), m, reader.MaxErrors)
	}
	return m, err
}

// formOf returns the form of a file.
func formOf(text []byte) string {
	switch {
	case bytecode.IsBytecode(text):
		return "bytecode"
	case jaxexport.Sniff(text):
		return "export"
	}
	return "mlir"
}

func (a *app) writeBytecode(t *translation, _ *diag.Source, m *ir.Module) error {
	o := bytecode.Options{Version: t.version, Versioned: t.version >= 0}
	if t.version > 6 {
		return usagef("--bytecode-version %d: expected 0 to 6", t.version)
	}
	data, err := bytecode.Append(nil, m, o)
	if err != nil {
		return err
	}
	return a.write(t.out, data)
}

// options returns the options of the artifact to write.
func (t *translation) options(src *diag.Source) (artifact.Options, error) {
	var o artifact.Options
	var err error
	if t.route == "" {
		o.KeepOthers = artifact.Is(src.Text())
	} else if o.Route, err = artifact.ParseRoute(t.route); err != nil {
		return o, usagef("--route %s: expected %s", t.route, strings.Join(artifact.Routes(), ", "))
	}
	switch t.target {
	case "auto":
	case "":
		o.Target = vhlo.Week12
	default:
		if o.Target, err = vhlo.ParseVersion(t.target); err != nil {
			return o, usagef("--target %s: expected a version such as 1.13.0, or current, WEEK_4, WEEK_12, MAX or auto", t.target)
		}
	}
	return o, nil
}

func (a *app) writeArtifact(t *translation, src *diag.Source, m *ir.Module) error {
	o, err := t.options(src)
	if err != nil {
		return err
	}
	if v, start, end, ok := artifact.Version(src); ok && v == o.Target && t.route == "" {
		data, err := writeModuleAgain(src, start, end, false, artifact.Options{StripLocations: t.strip})
		if err != nil {
			return err
		}
		return a.write(t.out, data)
	}
	data, _, err := artifact.Append(nil, m, o)
	if err != nil {
		return err
	}
	return a.write(t.out, data)
}

// writeExport writes a file of jax.export and its modules again. The modules are for the target, or else for the
// version that they had.
func (a *app) writeExport(t *translation, src *diag.Source, _ *ir.Module) error {
	if !jaxexport.Sniff(src.Text()) {
		return fmt.Errorf("%s: only a file of jax.export can be written as a file of jax.export: a module alone lacks the types and shardings that JAX adds", src.Name())
	}
	o, err := t.options(src)
	if err != nil {
		return err
	}
	o.StripLocations = t.strip
	data := src.Text()
	for order := 0; ; order++ {
		f, err := artifact.Export(diag.NewSource(src.Name(), data))
		if err != nil {
			return err
		}
		for range order {
			f = f.VJP
		}
		module, err := writeModuleAgain(diag.NewSource(src.Name(), data), f.Module[0], f.Module[1], t.target != "", o)
		if err != nil {
			return err
		}
		next := f.VJP
		if data, err = jaxexport.Replace(data, f, module); err != nil {
			return err
		}
		if next == nil {
			return a.write(t.out, data)
		}
	}
}

// writeModuleAgain returns the module at the given position of a file, written again: for the target of o if retarget
// is set, else in its version and with its producer.
func writeModuleAgain(src *diag.Source, start, end int, retarget bool, o artifact.Options) ([]byte, error) {
	m, err := bytecode.ReadPart(src, start, end, ir.NewContext(reader.Registry()))
	if err != nil {
		return nil, err
	}
	if retarget {
		data, _, err := artifact.Append(nil, m, o)
		return data, err
	}
	producer, version, _ := bytecode.Producer(src.Text()[start:end])
	return bytecode.Append(nil, m, bytecode.Options{Version: version, Versioned: true, Producer: producer, StripLocations: o.StripLocations})
}
