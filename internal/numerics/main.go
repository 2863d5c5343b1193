// Command numerics measures how far the embedded engine and XLA's CPU plugin are apart, by op and type, and writes
// docs/numerics.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/internal/opgen"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/plugins"
)

func main() {
	out := flag.String("o", "-", "the file to write")
	n := flag.Int("n", 20000, "values per program of a wide type")
	seed := flag.Uint64("seed", 1, "what the values depend on")
	asked := flag.Int("asked", 30, "elements of each kind per function and type whose true value is computed")
	most := flag.Int("most", 60, "elements of each kind per program whose true value is computed where they exceed their bound")
	show := flag.String("show", "", "write samples of the ops whose name and type contain this, and no table")
	flag.Parse()
	if err := run(*out, *n, *seed, *asked, *most, *show); err != nil {
		fmt.Fprintln(os.Stderr, "numerics:", err)
		os.Exit(1)
	}
}

func run(out string, n int, seed uint64, asked, most int, show string) error {
	ctx := context.Background()
	xla, err := backends.Open(ctx, "cpu", backends.Options{Plugins: plugins.System()})
	if err != nil {
		return err
	}
	defer xla.Close()
	engine, err := backends.Open(ctx, backends.Engine, backends.Options{})
	if err != nil {
		return err
	}
	defer engine.Close()
	g, err := opgen.New(seed)
	if err != nil {
		return err
	}
	var lacking []string
	truth := findTruth()
	programs := g.Elementwise(n)
	if show != "" {
		programs = slices.DeleteFunc(programs, func(p *opgen.Program) bool { return !strings.Contains(p.Op+" "+p.DType.String()+" ", show) })
	}
	rows, refused, err := opgen.MeasureAll(ctx, programs, engine, xla, truth, asked, most, func(p *opgen.Program, err error) {
		lacking = append(lacking, fmt.Sprintf("%s on %s", p.Op, p.DType))
	})
	if err != nil {
		return err
	}
	if show != "" {
		opgen.WriteSamples(os.Stdout, rows)
		return nil
	}
	var w io.Writer = os.Stdout
	if out != "-" {
		f, err := os.Create(out)
		if err != nil {
			return err
		}
		defer f.Close()
		w = f
	}
	if truth == nil {
		asked = 0
	}
	missing := opgen.WriteReport(w, rows, refused, lacking, n, seed, asked, most)
	if len(missing) > 0 {
		return errors.New("differences without an explanation:\n" + strings.Join(missing, "\n"))
	}
	return nil
}

// findTruth returns the first Python that has mpmath: HLOCB_PYTHON, the Python of the cache, python3.
func findTruth() *opgen.Truth {
	tries := []string{os.Getenv("HLOCB_PYTHON")}
	if dir, err := os.UserCacheDir(); err == nil {
		tries = append(tries, filepath.Join(dir, "hlocb", "venv", "bin", "python"))
	}
	for _, p := range append(tries, "python3") {
		if t := opgen.NewTruth(p); t != nil {
			return t
		}
	}
	return nil
}
