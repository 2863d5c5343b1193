package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/events"
	"github.com/hlocb/hlocb/internal/live"
	"github.com/hlocb/hlocb/internal/view"
	"github.com/hlocb/hlocb/runtime/handlers"
)

// sinkFlags say where events go.
type sinkFlags struct {
	events  []string
	metrics string
	view    bool
	server  *live.Server // of view

	recordings []view.Recording // that the page of view shows beside the run
}

func (f *sinkFlags) addSinks(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.events, "events", nil, "`FILE` write every callback: to FILE.parquet, tb:DIR, trace:FILE, or as a JSON line to any other FILE; may be repeated")
	c.Flags().StringVar(&f.metrics, "metrics", "", "`:PORT` serve counts and last values for Prometheus; HOST:PORT serves other machines")
}

// bindSinks lets the sinks observe all hooks.
func (f *bindFlags) bindSinks(a *app, env *handlers.Env) error {
	to := &events.Env{Create: env.Create, Directory: func(name string) string { return name }}
	for _, name := range f.events {
		if events.IsRecord(name) {
			file, err := env.Create(name)
			if err != nil {
				return err
			}
			r := handlers.NewRecord(file)
			f.closers = append(f.closers, r.Close)
			f.bindings.Observe("*", events.Events(r))
			continue
		}
		if events.File(name) == "-" {
			return usagef("--events %s: standard output gets lines of JSON only", name)
		}
		sink, err := events.Open(name, to)
		if err != nil {
			return sinkError(name, err)
		}
		f.observe(sink)
	}
	if f.metrics == "" {
		return nil
	}
	m, url, err := events.ServeMetrics(f.metrics)
	if err != nil {
		return usagef("--metrics %s: %w", f.metrics, err)
	}
	a.note("metrics at %s", url)
	f.observe(m)
	return nil
}

// observe lets a sink observe all hooks.
func (f *bindFlags) observe(s events.Sink) { f.observeAs(s, "") }

// observeAs is observe for events of a process.
func (f *bindFlags) observeAs(s events.Sink, process string) {
	o := events.NewObserver(s, process)
	f.closers = append(f.closers, o.Close)
	f.bindings.Observe("*", o)
}

// sinkError returns the error of a sink that cannot be opened.
func sinkError(name string, err error) error {
	if errors.As(err, new(*os.PathError)) {
		return err
	}
	return usagef("--events %s: %w", name, err)
}

// prepareSink finds mistakes in the name of a sink before a program starts, and removes its old file: a process of the
// program creates the file, and the next process another one beside it.
func prepareSink(name string, env *handlers.Env) error {
	file := events.File(name)
	if file == "-" {
		return usagef("--events %s: standard output gets lines of JSON only", name)
	}
	if file == "" {
		sink, err := events.Open(name, &events.Env{Create: env.Create, Directory: func(name string) string { return name }})
		if err != nil {
			return sinkError(name, err)
		}
		return sink.Close()
	}
	return prepareFile(file)
}

// prepareFile checks that a process of the program can create a file, and removes the old one.
func prepareFile(file string) error {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file", file)
	}
	f, err := command.CreateTemp(file, 0o666) // the directory can be written to
	if err != nil {
		return err
	}
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		return err
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
