// Command bench measures hlocb side by side with jaxlib, in one run on one machine: reading and writing a large module. What is
// missing (jaxlib, the corpus) is left out by name. The commands below it measure other things.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

//go:embed peer.py
var peerScript string

func main() {
	corpus := flag.String("corpus", "../shared/corpus", "`directory` of the corpus")
	rounds := flag.Int("rounds", 15, "how often each measurement is repeated")
	flag.Parse()
	debug.SetGCPercent(400) // as the command line does
	if err := run(os.Stdout, *corpus, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// peerTimes is what peer.py answers, in seconds.
type peerTimes struct {
	Version               string
	Parse, Print, Generic float64
	PrintBytes, GenBytes  int
}

func run(w io.Writer, corpus string, rounds int) error {
	fmt.Fprintf(w, "%s, %s/%s, %d cores, load %s\n", goruntime.Version(), goruntime.GOOS, goruntime.GOARCH, goruntime.NumCPU(), load())
	module := filepath.Join(corpus, "transformer_grad.mlir")
	text, err := os.ReadFile(module)
	if errors.Is(err, os.ErrNotExist) {
		fmt.Fprintln(w, "skipped: parse and print, the corpus is not found at", corpus)
		text = nil
	} else if err != nil {
		return err
	}
	theirs, err := measurePeer(module, text != nil, rounds)
	if err != nil {
		return err
	}
	if theirs == nil {
		fmt.Fprintln(w, "skipped: jaxlib is not installed")
	}
	if text != nil {
		if err := textSpeed(w, text, theirs, rounds); err != nil {
			return err
		}
	}
	return nil
}

func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:1], " ")
}

// measurePeer runs the same measurements in jaxlib; nil where there is none.
func measurePeer(module string, withText bool, rounds int) (*peerTimes, error) {
	python := peer.Find()
	if python == "" {
		return nil, nil
	}
	if !withText {
		module = ""
	}
	cmd := exec.Command(python, "-c", peerScript, module, fmt.Sprint(rounds))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("jaxlib: %w", err)
	}
	t := &peerTimes{}
	return t, json.Unmarshal(out, t)
}

// best returns the shortest of several times of f.
func best(rounds int, f func() error) (time.Duration, error) {
	shortest := time.Duration(1<<63 - 1)
	for range rounds {
		goruntime.GC()
		start := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		shortest = min(shortest, time.Since(start))
	}
	return shortest, nil
}

func textSpeed(w io.Writer, text []byte, theirs *peerTimes, rounds int) error {
	reg, err := all.Registry()
	if err != nil {
		return err
	}
	var m *ir.Module
	parseTime, err := best(rounds, func() (err error) {
		m, err = parse.Parse(diag.NewSource("transformer_grad.mlir", text), ir.NewContext(), reg, parse.Options{})
		return err
	})
	if err != nil {
		return err
	}
	verifyTime, err := best(rounds, func() error { return ir.Verify(m) })
	if err != nil {
		return err
	}
	var pretty, generic []byte
	printTime, _ := best(rounds, func() error { pretty = print.Append(pretty[:0], m, print.Options{}); return nil })
	genericTime, _ := best(rounds, func() error {
		generic = print.Append(generic[:0], m, print.Options{Generic: true})
		return nil
	})
	if !bytes.Equal(bytes.TrimSpace(pretty), bytes.TrimSpace(text)) {
		fmt.Fprintln(w, "note: the printed module is not the text that was read")
	}
	fmt.Fprintf(w, "\ntransformer_grad.mlir, %d bytes, best of %d\n", len(text), rounds)
	table := newTable(w, "", "hlocb", "jaxlib "+version(theirs), "")
	row := func(name string, ours time.Duration, size int, theirs float64, theirSize int) {
		a := float64(size) / ours.Seconds() / 1e6
		if theirs == 0 {
			table.row(name, fmt.Sprintf("%.1f MB/s", a), "-", "")
			return
		}
		b := float64(theirSize) / theirs / 1e6
		table.row(name, fmt.Sprintf("%.1f MB/s", a), fmt.Sprintf("%.1f MB/s", b), fmt.Sprintf("%.1fx", a/b))
	}
	if theirs == nil {
		theirs = &peerTimes{}
	}
	row("parse", parseTime+verifyTime, len(text), theirs.Parse, len(text))
	row("print", printTime, len(pretty), theirs.Print, theirs.PrintBytes)
	row("print generic", genericTime, len(generic), theirs.Generic, theirs.GenBytes)
	fmt.Fprintln(w, "(parse verifies, in both; a module and its context are made anew each time in hlocb, the module in jaxlib)")
	return table.flush()
}

func version(t *peerTimes) string {
	if t == nil {
		return "(none)"
	}
	return t.Version
}

// table prints aligned columns.
type table struct {
	w    io.Writer
	rows [][]string
}

func newTable(w io.Writer, head ...string) *table { return &table{w: w, rows: [][]string{head}} }

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) flush() error {
	var width []int
	for _, r := range t.rows {
		for i, c := range r {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], len([]rune(c)))
		}
	}
	for _, r := range t.rows {
		line := ""
		for i, c := range r {
			pad := strings.Repeat(" ", width[i]-len([]rune(c)))
			if i == 0 {
				line += c + pad
			} else {
				line += "  " + pad + c
			}
		}
		if _, err := fmt.Fprintln(t.w, strings.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}
