// Package cuda measures hooks on a GPU beside JAX's callbacks on the same GPU, in one run: io_callback of values of
// several sizes beside plain pinned copies, a tap that asks for device pointers only, small hooks in a loop on the
// device, and a training step. hlocb runs the programs that JAX lowered. Both sides run in turn, and the medians of the
// rounds count. With -backend cpu all of it runs on the CPU, where the goals mean nothing. The binary needs the plugin
// and a Python with JAX, but not this repository.
package cuda

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	goruntime "runtime"
	"runtime/debug"
	"strings"
	"text/tabwriter"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/internal/bench/meter"
	"github.com/hlocb/hlocb/runtime/backends"
)

// Run measures, and returns the figures that have goals.
func Run(args []string) ([]meter.Row, error) {
	flags := flag.NewFlagSet("cuda", flag.ContinueOnError)
	only := regexp.MustCompile("")
	backend := flags.String("backend", "cuda", "the `backend`: a platform such as cuda or cpu, or the path of a plugin")
	python := flags.String("python", "python3", "a `command` that starts a Python with JAX for the backend's platform")
	flags.TextVar(only, "only", only, "measure the rows that a regular `expression` matches, such as identity/4MiB, add, pointer, loop/io_callback or step")
	rounds := flags.Int("rounds", 5, "how often the sides take turns")
	asJSON := flags.Bool("json", false, "print a JSON object per line: what is measured, then each table")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	debug.SetGCPercent(400) // like the command line
	return run(*backend, *python, only, *rounds, *asJSON)
}

// part is one table. Each row is measured by itself.
type part struct {
	name, title string
	rows        []string
	measure     func(b *bench, row string) []cell
}

// table is a measured part. Without rows it is a heading.
type table struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Rows  []row  `json:"rows,omitempty"`
}

type row struct {
	Name  string `json:"name"`
	Cells []cell `json:"cells"`
}

// cell is one figure of a row.
type cell struct {
	Column string  `json:"column"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit,omitempty"` // s, B/s, or empty for a ratio
}

func (c cell) String() string {
	switch c.Unit {
	case "s":
		return fmt.Sprintf("%.2f µs", c.Value*1e6)
	case "B/s":
		return fmt.Sprintf("%.2f GB/s", c.Value/1e9)
	}
	return fmt.Sprintf("%.3f", c.Value)
}

// String returns the title and the aligned figures.
func (t table) String() string {
	var text strings.Builder
	tw := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	for i, r := range t.Rows {
		head, line := "", r.Name
		for _, c := range r.Cells {
			head, line = head+"\t"+c.Column, line+"\t"+c.String()
		}
		if i == 0 {
			fmt.Fprintln(tw, head+"\t")
		}
		fmt.Fprintln(tw, line+"\t")
	}
	tw.Flush()
	return t.Title + "\n" + text.String()
}

func run(name, python string, only *regexp.Regexp, rounds int, asJSON bool) (rows []meter.Row, err error) {
	backend, err := backends.Open(context.Background(), name, hlocb.DefaultBackends())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, backend.Close()) }()
	platform, _ := backends.Traits(backend)
	jax, err := startPeer(python, platform)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, jax.Close()) }()
	show := func(t table) error { // at once: the run may be stopped
		if asJSON {
			return json.NewEncoder(os.Stdout).Encode(t)
		}
		_, err := fmt.Println(t)
		return err
	}
	found := false
	err = show(table{"about", fmt.Sprintf("hlocb: %s\nJAX %s: %s, %d cores; medians of %d rounds", backend.Describe(), jax.last.Version, jax.last.Device, goruntime.NumCPU(), rounds), nil})
	for _, p := range parts {
		t := table{p.name, p.title, nil}
		for _, r := range p.rows {
			if !only.MatchString(p.name + "/" + r) {
				continue
			}
			found = true
			b := &bench{backend: backend, jax: jax, rounds: max(1, rounds)}
			cells := p.measure(b, r)
			rows = append(rows, b.rows...)
			if failed := b.close(); failed != nil { // measure the other rows
				err = errors.Join(err, fmt.Errorf("%s/%s: %w", p.name, r, failed))
				continue
			}
			t.Rows = append(t.Rows, row{r, cells})
		}
		if t.Rows != nil {
			err = errors.Join(err, show(t))
		}
	}
	if !found {
		err = errors.New("-only matches no row")
	}
	return rows, err
}
