package cli

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/interp"
)

// limitFlags say what a run on the embedded engine may take, and whether it tells how far it is.
type limitFlags struct {
	memory  string
	verbose bool
}

// progressEvery is how often a long run tells how far it is.
const progressEvery = 5 * time.Second

func (f *limitFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.memory, "memory-limit", "", "what the values of a run may take on the embedded engine: a `size` such as 500MB or 2GiB, or none; without it, three quarters of the machine's memory")
	c.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "tell how far a long run on the embedded engine is, as is always done on a terminal")
}

// bytes returns the limit, 0 for none.
func (f *limitFlags) bytes() (int64, error) {
	if f.memory == "" {
		return int64(float64(machineMemory()) * 0.75), nil
	}
	n, err := parseSize(f.memory)
	if err != nil {
		return 0, usagef("--memory-limit %s: %w", f.memory, err)
	}
	return n, nil
}

// engine returns the engine's options.
func (f *limitFlags) engine(a *app) (interp.Options, error) {
	limit, err := f.bytes()
	opts := interp.Options{MemoryLimit: limit}
	if f.verbose || a.terminal != nil {
		opts.ProgressEvery = progressEvery
		opts.Progress = func(p interp.Progress) { a.note("%s", progressText(p)) }
	}
	return opts, err
}

func progressText(p interp.Progress) string {
	s := fmt.Sprintf("running for %s", p.Elapsed.Round(time.Second))
	if p.Op != "" {
		s += fmt.Sprintf(": '%s'", p.Op)
		if p.Source != nil && p.Pos.IsValid() {
			line, col := p.Source.LineColumn(p.Pos)
			s += fmt.Sprintf(" at %s:%d:%d", diag.Escape(p.Source.Name()), line, col)
		}
	}
	if p.Loops > 0 {
		s += fmt.Sprintf(", %d iterations of loops", p.Loops)
	}
	return s + fmt.Sprintf(", %s, %s in use", plural(int(p.Events), "callback"), sizeText(p.Held))
}

// sizeText writes a size with three digits or so.
func sizeText(n int64) string {
	v, unit := float64(n), "B"
	for _, u := range [...]string{"KiB", "MiB", "GiB", "TiB"} {
		if v < 1024 {
			break
		}
		v, unit = v/1024, u
	}
	if unit == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.3g %s", v, unit)
}

var sizeUnits = [...]struct {
	name  string
	bytes float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1}}

// parseSize reads a number of bytes with or without a unit; none is 0.
func parseSize(s string) (int64, error) {
	if s == "none" {
		return 0, nil
	}
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if err != nil || !(v > 0) || v*u.bytes >= math.MaxInt64 || v*u.bytes < 1 {
			break
		}
		return int64(v * u.bytes), nil
	}
	return 0, fmt.Errorf("expected a size such as 500MB or 2GiB, or none")
}

// terminalOf returns w where it is somebody's screen, else nil.
func terminalOf(w any) *os.File {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return f
}
