package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	goruntime "runtime"
	"runtime/pprof"
	"time"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/runtime/backends"
)

// inspection is the state of --print-plan, --profile and --threads for one command.
type inspection struct {
	a       *app
	cores   int // to restore
	plan    *os.File
	profile *interp.Profile
	cpu     *os.File
}

// inspect prepares the engine for the flags.
func (f *runFlags) inspect(a *app, opts *backends.Options) (*inspection, error) {
	i := &inspection{a: a}
	if f.plan != "" || f.profile != "" || f.threads > 0 {
		if f.backend == "auto" {
			f.backend = "engine"
		}
		if f.backend != "engine" {
			return nil, usagef("--print-plan, --profile and --threads: only the engine has them, not %s", f.backend)
		}
	}
	if f.threads > 0 {
		i.cores = goruntime.GOMAXPROCS(f.threads)
	}
	var err error
	switch f.plan {
	case "":
	case "-":
		opts.Engine.Plan = a.Out
	default:
		if i.plan, err = os.Create(f.plan); err != nil {
			return nil, errors.Join(err, i.close(false))
		}
		opts.Engine.Plan = io.Writer(i.plan)
	}
	if f.profile != "" {
		i.profile = &interp.Profile{}
		opts.Engine.Profile = i.profile
		if f.profile != "-" {
			if i.cpu, err = os.Create(f.profile); err == nil {
				err = pprof.StartCPUProfile(i.cpu)
			}
			if err != nil {
				return nil, errors.Join(err, i.close(false))
			}
		}
	}
	return i, nil
}

// close ends the inspection. It reports the profile if the run has ended well.
func (i *inspection) close(ok bool) (err error) {
	if i.cores > 0 {
		goruntime.GOMAXPROCS(i.cores)
	}
	if i.plan != nil {
		err = i.plan.Close()
	}
	if i.cpu != nil {
		pprof.StopCPUProfile()
		err = errors.Join(err, i.cpu.Close())
	}
	if i.profile != nil && ok {
		err = errors.Join(err, writeProfile(i.a.Err, i.profile.Ops()))
	}
	return err
}

// writeProfile writes one line per op, the longest time first.
func writeProfile(w io.Writer, ops []interp.OpTime) error {
	total := time.Duration(0)
	for _, o := range ops {
		total += o.Time
	}
	if _, err := fmt.Fprintf(w, "%12s %7s %8s  op\n", "time", "share", "count"); err != nil {
		return err
	}
	for _, o := range ops {
		at := o.Op
		if o.Fused > 0 {
			at += fmt.Sprintf(" and %d fused", o.Fused)
		}
		if o.Source != nil && o.Pos.IsValid() {
			line, column := o.Source.LineColumn(o.Pos)
			at += fmt.Sprintf(" (%s:%d:%d)", diag.Escape(filepath.Base(o.Source.Name())), line, column)
		}
		share := 100 * float64(o.Time) / float64(max(total, 1))
		if _, err := fmt.Fprintf(w, "%12s %6.1f%% %8d  %s\n", o.Time.Round(time.Microsecond), share, o.Count, at); err != nil {
			return err
		}
	}
	return nil
}
