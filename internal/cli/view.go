package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/events"
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/internal/live"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/internal/view"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/passes"
)

// maxRecorded limits the events of a recording that a page contains, in bytes.
const maxRecorded = 64 << 20

func (a *app) viewCommand() *cobra.Command {
	var flags rewriteFlags
	var out, source string
	var overlays, recordings []string
	c := &cobra.Command{
		Use:   "view IN...",
		Short: "Write a page that shows a module, its hooks and its values",
		Long: `Write a page that shows a module: one HTML file that needs no network. It has an outline, the graph and the text of the module, its hooks with their order and aliases, and values of recordings.

If IN has hooks, the page has two steps: the module, and the module after 'hlocb rewrite' with the same flags. Several files become the steps of one page, with matching ops at the same place.

--overlay writes numbers on ops. FILE is JSON, such as {"%3": 1.5, "stablehlo.dot_general": 2, "train.py:31": 0.1}, or CSV with an op or a location in the first column and the number in the last one, or the report of 'hlocb run --profile'.`,
		Example: `  hlocb view train.mlir
  hlocb view before.mlir after.mlir -o both.html
  hlocb view train.mlir --recording monday.jsonl --recording friday.jsonl
  hlocb view train.mlir --overlay times.txt`,
		Args: func(cmd *cobra.Command, args []string) error {
			return command.Args("IN")(cmd, args[:min(len(args), 1)])
		},
		RunE: command.Body(func(cmd *cobra.Command, args []string) error {
			opts, err := flags.conversion()
			if err != nil {
				return err
			}
			var d *view.Document
			if len(args) == 1 {
				d, err = a.viewModule(cmd.Context(), args[0], opts)
			} else {
				d, err = a.viewModules(args)
			}
			if err != nil {
				return err
			}
			if err := a.addNumbers(d, overlays); err != nil {
				return err
			}
			for _, path := range recordings {
				r, err := a.recordingEvents(path)
				if err != nil {
					return err
				}
				d.Recordings = append(d.Recordings, *r)
			}
			if source != "" {
				files, err := os.OpenRoot(source)
				if err != nil {
					return fmt.Errorf("--source: %w", err)
				}
				defer files.Close()
				d.Source = sourceBelow(files)
			}
			path := out
			if path == "" {
				base := filepath.Base(args[0])
				if args[0] == "-" {
					base = "module"
				}
				path = strings.TrimSuffix(base, filepath.Ext(base)) + ".html"
			}
			outputs := command.Outputs{Inputs: slices.Concat(args, overlays, recordings)}
			if path != "-" {
				outputs.Add(path, false, false)
			}
			if err := outputs.Check(); err != nil {
				return err
			}
			if err := a.writePage(path, d); err != nil {
				return err
			}
			if out == "" {
				_, err = fmt.Fprintln(a.Out, path)
			}
			return err
		}),
	}
	c.Flags().StringVarP(&out, "output", "o", "", "`FILE` write to FILE (default IN with the suffix .html, in the current directory)")
	c.Flags().StringVar(&source, "source", "", "`DIR` show the source lines of locations, of files below DIR")
	c.Flags().StringArrayVar(&overlays, "overlay", nil, "`FILE` write the numbers of FILE on ops; may be repeated")
	c.Flags().StringArrayVar(&recordings, "recording", nil, "`FILE` show the events of a recording, or of 'run --events', also of FILE.parquet; may be repeated")
	command.Group(c, "Page")
	flags.add(c)
	return c
}

// maxSourceFile limits the size of a source file, in bytes.
const maxSourceFile = 8 << 20

// sourceBelow returns a function that reads the files of locations below a directory: the file with the longest end of
// the location's path. A module can name any path, so nothing outside of the directory is read.
func sourceBelow(files *os.Root) func(string) []byte {
	return func(name string) []byte {
		parts := strings.Split(strings.ReplaceAll(name, "\\", "/"), "/")
		for i := range parts {
			end := filepath.Join(parts[i:]...)
			if info, err := files.Stat(end); end == "" || err != nil || !info.Mode().IsRegular() || info.Size() > maxSourceFile {
				continue
			}
			if text, err := files.ReadFile(end); err == nil {
				return text
			}
		}
		return nil
	}
}

// writePage writes a page to a file, or to standard output for "-".
func (a *app) writePage(path string, d *view.Document) error {
	return a.WriteFile(path, func(w io.Writer) error { return view.Page(w, d) })
}

// viewModule returns a page of one module. Hooks are converted in a second step.
func (a *app) viewModule(ctx context.Context, path string, opts passes.RewriteHooks) (*view.Document, error) {
	p, before, err := a.programBefore(ctx, path, opts)
	switch {
	case err != nil && before == nil:
		return nil, err
	case err != nil:
		a.note("the hooks cannot be converted: %v", err)
		return &view.Document{Title: filepath.Base(path), Steps: []view.Step{{Name: filepath.Base(path), Module: before}}}, nil
	}
	return viewProgram(filepath.Base(path), before, p, opts), nil
}

// programBefore reads a module and converts its hooks. It also returns the module before the conversion; if the
// conversion fails, with the error.
func (a *app) programBefore(ctx context.Context, path string, opts passes.RewriteHooks) (p *hlocb.Program, before *ir.Module, err error) {
	p, err = a.program(ctx, path, hlocb.Rewrite(opts), hlocb.BeforeConversion(func(m *ir.Module) error {
		before = m.Clone()
		return nil
	}))
	return p, before, err
}

// viewProgram returns a page of a program and of the module before the conversion of its hooks.
func viewProgram(title string, before *ir.Module, p *hlocb.Program, opts passes.RewriteHooks) *view.Document {
	d := &view.Document{Title: title, Steps: []view.Step{{Name: title, Module: before}}}
	if len(p.Hooks()) == 0 {
		return d
	}
	d.Steps = append(d.Steps, view.Step{Name: "hooks converted", Module: p.Module()})
	d.Hooks = hooksOf(p, opts)
	return d
}

// hooksOf returns the hooks of a program for a page.
func hooksOf(p *hlocb.Program, opts passes.RewriteHooks) *view.Hooks {
	h := &view.Hooks{Manifest: p.Manifest(), Data: dataOrder(p.Module(), opts)}
	if r := p.Rewritten(); r != nil {
		h.Aliases, h.Origins = r.Aliases, r.Origins
	}
	if err := order.Prove(context.Background(), p.Module()); err != nil {
		h.Proof = err.Error()
	}
	return h
}

// viewModules returns a page whose steps are modules.
func (a *app) viewModules(paths []string) (*view.Document, error) {
	var sources []*diag.Source
	for _, path := range paths {
		src, err := a.source(path)
		if err != nil {
			return nil, err
		}
		sources = append(sources, src)
	}
	return viewSources(sources)
}

func viewSources(sources []*diag.Source) (*view.Document, error) {
	types := ir.NewContext(reader.Registry())
	d := &view.Document{Beside: true}
	var names []string
	for _, src := range sources {
		m, err := reader.Parse(src, types, reader.MaxErrors)
		if err == nil {
			err = reader.Verify(context.Background(), m, reader.MaxErrors)
		}
		if err != nil {
			return nil, err
		}
		name := filepath.Base(src.Name())
		d.Steps = append(d.Steps, view.Step{Name: name, Module: m})
		names = append(names, name)
	}
	d.Title = strings.Join(names, " → ")
	return d, nil
}

// sidesDocument returns a page of both modules of a comparison.
func sidesDocument(sides *verifySides) (*view.Document, error) {
	return viewSources([]*diag.Source{diag.NewSource(sides[0].name, sides[0].text), diag.NewSource(sides[1].name, sides[1].text)})
}

// compareView starts the server of 'compare --view', which gets the events of both sides.
func (a *app) compareView(sides *verifySides) (*live.Server, error) {
	d, err := sidesDocument(sides)
	if err != nil {
		return nil, err
	}
	s, err := a.serve(d, "in 'hlocb run'")
	if err != nil {
		return nil, err
	}
	for _, side := range sides {
		side.watch = s
	}
	return s, nil
}

// comparePage writes a page of both modules of a comparison. Its numbers are the distances of the values of each op.
func (a *app) comparePage(path string, sides verifySides, report *verifyReport) error {
	d, err := sidesDocument(&sides)
	if err != nil {
		return err
	}
	for _, run := range report.Runs {
		ulp, differ := view.Overlay{Name: "largest distance, " + run.Inputs, Unit: "ULP"}, view.Overlay{Name: "different elements, " + run.Inputs}
		for _, x := range run.distances {
			line, column := x.ModuleA.Source().LineColumn(x.A.Pos())
			at := fmt.Sprintf("%s:%d:%d", x.ModuleA.Source().Name(), line, column)
			ulp.Numbers = append(ulp.Numbers, view.Number{At: at, Value: float64(x.Value.MaxULP)})
			differ.Numbers = append(differ.Numbers, view.Number{At: at, Value: float64(x.Value.Different)})
		}
		d.Overlays = append(d.Overlays, ulp, differ)
	}
	return a.writePage(path, d)
}

// addNumbers reads the files of --overlay.
func (a *app) addNumbers(d *view.Document, paths []string) error {
	for _, path := range paths {
		name, text, err := a.ReadText(path)
		if err != nil {
			return err
		}
		list, err := view.ReadOverlays(filepath.Base(name), text)
		if err != nil {
			return err
		}
		d.Overlays = append(d.Overlays, list...)
	}
	return nil
}

// maxWhole is the number of elements up to which a page has all elements of a value. Of others it has statistics and a
// sample.
const maxWhole = 1024

// recordingEvents reads the events of a recording, or of a file of 'run --events'.
func (a *app) recordingEvents(path string) (*view.Recording, error) {
	r := &view.Recording{Name: filepath.Base(path)}
	size := 0
	full := errors.New("the page is full")
	var samples [][]float64
	err := events.Read(path, "", func(e *events.Event) error {
		samples = samples[:0]
		for i := range e.Operands {
			o := &e.Operands[i]
			var sample []float64
			if o.Value != nil && o.Value.NumElements() > maxWhole {
				sample = o.AppendSample(nil)
				o.Value = nil
			}
			samples = append(samples, sample)
		}
		line := events.AppendJSON(nil, e, func(o *events.Operand) []float64 {
			for i := range e.Operands {
				if o == &e.Operands[i] {
					return samples[i]
				}
			}
			return nil
		})
		if size += len(line); size > maxRecorded {
			return full
		}
		r.Events = append(r.Events, line)
		return nil
	})
	if errors.Is(err, full) {
		a.note("%s: the page has only the first %d events", path, len(r.Events))
		err = nil
	}
	return r, err
}
