// Command numerics measures how far the embedded engine and XLA's CPU plugin are apart, by op and type, and writes
// docs/numerics.md.
package main

import (
	"bytes"
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
	var report bytes.Buffer
	missing := opgen.WriteReport(&report, rows, refused, lacking, n, seed, asked, most)
	if _, err := io.WriteString(w, wrap(report.String())); err != nil {
		return err
	}
	if len(missing) > 0 {
		return errors.New("differences without an explanation:\n" + strings.Join(missing, "\n"))
	}
	return nil
}

// wrap breaks lines of prose after at most 120 columns, in the document's paragraphs and lists, not in tables.
func wrap(text string) string {
	lines := strings.Split(text, "\n")
	var out []string
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		cut := 0
		if len(line) > 120 && !strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "#") {
			cut = strings.LastIndexByte(line[:121], ' ')
		}
		if cut <= 2 {
			out = append(out, line)
			continue
		}
		indent := ""
		if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "  ") {
			indent = "  "
		}
		out = append(out, line[:cut])
		rest := indent + line[cut+1:]
		if i+1 < len(lines) && lines[i+1] != "" && strings.IndexByte("-|# ", lines[i+1][0]) < 0 {
			lines[i+1] = rest + " " + lines[i+1]
		} else {
			lines[i] = rest
			i--
		}
	}
	return strings.Join(out, "\n")
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
