package opt

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/print"
)

// passFlag is a flag that adds a pass to the pipeline. Its value is the pass's options.
type passFlag struct {
	o    *flags
	pass *pass.Info
}

func (f *passFlag) String() string { return "" }
func (f *passFlag) Type() string   { return "options" }

func (f *passFlag) Set(options string) error {
	text := f.pass.Name
	if strings.TrimSpace(options) != "" {
		text += "{" + options + "}"
	}
	if f.pass.Anchor != "" {
		text = f.pass.Anchor + "(" + text + ")"
	}
	p, err := pass.Parse(text, f.o.cfg.Passes)
	if err != nil {
		_, mistake, _ := strings.Cut(err.Error(), ": error: ") // the place is in a pipeline that the user did not write
		return errors.New(mistake)
	}
	f.o.passFlags = append(f.o.passFlags, p...)
	return nil
}

func (o *flags) run(ctx context.Context, path string) (err error) {
	pipeline := o.passFlags
	switch {
	case pipeline == nil:
		if pipeline, err = pass.Parse(o.pipeline, o.cfg.Passes); err != nil {
			return command.PipelineUsage(err)
		}
	case o.pipeline != "":
		return command.Usagef("--passes and flags named after passes cannot be combined")
	}
	if err := o.watch.check(o.cfg.Passes); err != nil {
		return err
	}
	if o.registry, err = ir.NewRegistry(o.cfg.Dialects...); err != nil {
		return err
	}
	name, text, err := o.console.ReadText(path)
	if err != nil {
		return err
	}
	src := diag.NewSource(name, text)
	chunks := []*diag.Source{src}
	if o.split {
		chunks = src.Split()
	}
	if err := o.watch.open(o, path, len(chunks)); err != nil {
		return err
	}
	defer o.watch.report()
	var failed diag.List // differences from the expected diagnostics
	next := func(chunk *diag.Source) (*ir.Module, error) {
		m, err := o.chunk(ctx, pipeline, chunk)
		if o.expect {
			failed = append(failed, expectationsOf(chunk, err)...)
			return m, nil
		}
		return m, err
	}
	// Read the first module before opening the output, because a mistake in it must leave the output unchanged.
	m, err := next(chunks[0])
	if err != nil {
		return err
	}
	err = o.console.WriteFile(o.out, func(out io.Writer) error {
		written := false
		for i, chunk := range chunks {
			if i > 0 {
				if m, err = next(chunk); err != nil {
					return err
				}
			}
			if m == nil {
				continue
			}
			if written {
				if _, err := io.WriteString(out, "\n// -----\n"); err != nil {
					return err
				}
			}
			written = true
			if err := o.write(ctx, out, m); err != nil {
				return err
			}
		}
		return nil
	})
	if failures := failed.Err(); failures != nil {
		return errors.Join(failures, err)
	}
	return err
}

// write writes m as MLIR if a flag says how to print MLIR, otherwise in the form that the output's suffix names.
// Without a suffix, a module of HLO stays HLO.
func (o *flags) write(ctx context.Context, out io.Writer, m *ir.Module) error {
	start := time.Now()
	defer func() { o.watch.spend("print", time.Since(start)) }()
	form := reader.Written(m, o.form)
	if form.Generic || form.LocalScope || form.ElideLarger > 0 {
		return print.Print(out, m, form)
	}
	return reader.Write(ctx, out, o.out, m, form)
}

// chunk reads one module and runs the pipeline over it. With --verify-diagnostics, it returns the remarks and warnings
// of a module without errors as the error, together with the module.
func (o *flags) chunk(ctx context.Context, p pass.Pipeline, src *diag.Source) (*ir.Module, error) {
	start := time.Now()
	m, err := reader.Parse(src, ir.NewContext(o.registry), o.maxErrors) // passes work on VHLO, too
	o.watch.spend("parse", time.Since(start))
	if err == nil {
		start = time.Now()
		err = reader.Verify(ctx, m, o.maxErrors)
		o.watch.spend("verify", time.Since(start))
	}
	if err != nil {
		return nil, err
	}
	if !o.expect { // MLIR's tools do not warn of misspelled attributes, and their tests expect no warning
		for _, d := range reader.Warnings(m) {
			o.console.Show(d)
		}
	}
	if err := o.watch.begin(m, p); err != nil {
		return nil, err
	}
	d := &pass.Driver{Workers: map[bool]int{true: 1}[o.oneThread], Instruments: o.watch.instruments()}
	if o.verifyEach {
		d.Verify = ir.VerifyContext
	}
	pc := pass.NewContext(ctx, m)
	var reported diag.List
	pc.Report = func(x *diag.Diagnostic) {
		if o.expect {
			reported.Add(x)
		} else {
			o.console.Show(x)
		}
	}
	if err := d.Run(pc, p); err != nil {
		err = errors.Join(err, o.watch.reproduce("error: "+err.Error()), o.watch.page(ctx))
		if list := diag.ListOf(err); len(reported) > 0 && list != nil {
			return nil, append(reported, list...)
		}
		return nil, err
	}
	if err := o.watch.end(ctx, m); err != nil {
		return nil, err
	}
	if len(reported) > 0 {
		return m, reported
	}
	return m, nil
}

// expectationsOf returns the differences between the reported diagnostics of a source and the diagnostics that its
// comments expect.
func expectationsOf(src *diag.Source, err error) diag.List {
	found := diag.ListOf(err)
	if err != nil && found == nil {
		return diag.List{diag.Errorf(src, diag.At(0), "%v", err)}
	}
	return diag.VerifyExpectations(src, found)
}
