package cli

import (
	"fmt"
	"path/filepath"
	goruntime "runtime"
	"runtime/pprof"
	"time"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/runtime/backends"
)

// inspect prepares the engine for --print-plan, --profile and --threads.
func (f *runFlags) inspect(a *app, opts *backends.Options) error {
	engine := f.backend == "engine" || f.backend == "interp"
	if f.limits.memory != "" && f.backend != "auto" && !engine {
		return usagef("--memory-limit: only the engine has it, not %s", f.backend)
	}
	if len(f.devices.devices) > 0 && engine {
		return usagef("--device: only plugins have devices to choose from, not the engine")
	}
	if f.plan == "" && f.profile == "" && f.threads == 0 {
		return nil
	}
	if f.backend == "auto" {
		f.backend, engine = "engine", true
	}
	if !engine {
		return usagef("--print-plan, --profile and --threads: only the engine has them, not %s", f.backend)
	}
	if f.threads > 0 {
		before := goruntime.GOMAXPROCS(f.threads)
		f.bind.closers = append(f.bind.closers, func() error { goruntime.GOMAXPROCS(before); return nil })
	}
	create := a.handlerEnv(&f.bind.outputs, false).Create
	if f.plan != "" {
		file, err := create(f.plan)
		if err != nil {
			return err
		}
		opts.Engine.Plan = file
		f.bind.closers = append(f.bind.closers, file.Close)
	}
	if f.profile == "" {
		return nil
	}
	opts.Engine.Profile = &interp.Profile{}
	if f.profile == "-" {
		return nil
	}
	file, err := create(f.profile)
	if err != nil {
		return err
	}
	f.bind.closers = append(f.bind.closers, func() error {
		pprof.StopCPUProfile()
		return file.Close()
	})
	return pprof.StartCPUProfile(file)
}

// showProfile prints a line per op, the longest time first.
func (a *app) showProfile(ops []interp.OpTime) {
	total := time.Duration(0)
	for _, o := range ops {
		total += o.Time
	}
	fmt.Fprintf(a.Err, "%12s %7s %8s  op\n", "time", "share", "count")
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
		fmt.Fprintf(a.Err, "%12s %6.1f%% %8d  %s\n", o.Time.Round(time.Microsecond), share, o.Count, at)
	}
}
