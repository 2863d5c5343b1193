// Package jax measures JAX on the engine beside JAX's own CPU client. Both take turns, each time in a new process of
// Python. It needs jaxlib and the libraries in the root of the repository: 'make interposer'.
package jax

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/hlocb/hlocb/internal/bench/meter"
	"github.com/hlocb/hlocb/internal/launch"
	"github.com/hlocb/hlocb/internal/peer"
)

//go:embed measure.py
var script string

// figure is a measured figure: seconds of a clock and of all cores, or bytes.
type figure struct {
	Name            string
	Elapsed, Busy   float64
	Bytes           float64
	AtMost, AtLeast float64
}

// part is a part of the script that runs in a process of its own.
type part struct {
	name   string
	python string   // another Python; "" is jaxlib's
	module string   // a module that the part needs
	path   []string // folders for Python's modules
	args   []string
}

// Run measures, and returns the figures.
func Run(args []string) ([]meter.Row, error) {
	flags := flag.NewFlagSet("jax", flag.ContinueOnError)
	rounds := flags.Int("rounds", 5, "how often the sides take turns")
	libraries := flags.String("libraries", ".", "the `folder` of the engine's libraries")
	frameworks := flags.String("frameworks", "", "a `Python` with flax, optax and equinox ('make test-real' makes one)")
	source := flags.String("source", "", "a `checkout` of JAX at jaxlib's version, for its random_test.py")
	packages := flags.String("packages", "", "the `folder` of packages for JAX's tests ('make test-jax' makes it)")
	busy := flags.Bool("cpu", false, "print seconds of all cores, on which load has less effect")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	python := peer.Find()
	if python == "" {
		return nil, errors.New("jaxlib is not installed: 'make jaxlib'")
	}
	dir, err := filepath.Abs(*libraries)
	if err != nil {
		return nil, err
	}
	engine, err := launch.In(dir).OnEngine(0)
	if err != nil {
		return nil, err
	}
	sides := [2][]string{engine, {"PJRT_NAMES_AND_LIBRARY_PATHS=", "JAX_PLATFORMS=cpu"}}
	var rows []meter.Row
	for _, p := range []part{
		{name: "steps"},
		{name: "memory"},
		{name: "flax", python: *frameworks, module: "flax"},
		{name: "equinox", python: *frameworks, module: "equinox"},
		{name: "random", module: "pytest", path: []string{*packages}, args: []string{*source}},
	} {
		if p.name == "random" && *source == "" || p.module != "" && p.name != "random" && p.python == "" {
			fmt.Printf("%s: not measured: a flag names what it needs (-h)\n", p.name)
			continue
		}
		if p.python == "" {
			p.python = python
		}
		var best [2]map[string]figure
		var names []string
		for round := range *rounds {
			for k := range sides {
				side := (k + round) % 2
				list, err := p.run(sides[side])
				if err != nil {
					return rows, fmt.Errorf("%s, %s: %w", p.name, [...]string{"engine", "JAX's own client"}[side], err)
				}
				if best[side] == nil {
					best[side] = map[string]figure{}
				}
				for _, f := range list {
					old, ok := best[side][f.Name]
					if !ok {
						old = f
						if side == 0 {
							names = append(names, f.Name)
						}
					}
					f.Elapsed, f.Busy, f.Bytes = min(f.Elapsed, old.Elapsed), min(f.Busy, old.Busy), min(f.Bytes, old.Bytes)
					best[side][f.Name] = f
				}
			}
		}
		for _, name := range names {
			ours, theirs := best[0][name], best[1][name]
			if ours.Bytes > 0 {
				rows = append(rows, meter.Row{Name: name, Ours: ours.Bytes / 1e6, Peer: theirs.Bytes / 1e6, Unit: "MB", AtMost: ours.AtMost})
				continue
			}
			fmt.Printf("%s: elapsed %s beside %s, on all cores %s beside %s\n", name, seconds(ours.Elapsed), seconds(theirs.Elapsed), seconds(ours.Busy), seconds(theirs.Busy))
			row := meter.Row{Name: name, Ours: ours.Elapsed, Peer: theirs.Elapsed, AtMost: ours.AtMost, AtLeast: ours.AtLeast}
			if *busy {
				row.Ours, row.Peer = ours.Busy, theirs.Busy
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * 1e9).Round(time.Microsecond / 10) }

// run runs the part once. The last figure is the whole process's, if the part has a goal for it.
func (p part) run(env []string) ([]figure, error) {
	cmd := exec.Command(p.python, append([]string{"-c", script, p.name}, p.args...)...)
	cmd.Env = append(os.Environ(), env...)
	for _, dir := range p.path {
		cmd.Env = append(cmd.Env, "PYTHONPATH="+dir)
	}
	var messages bytes.Buffer
	cmd.Stderr = &messages
	start := time.Now()
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, messages.Bytes())
	}
	elapsed := time.Since(start)
	var list []figure
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var f figure
		if err := d.Decode(&f); err != nil {
			return nil, err
		}
		if f.Elapsed == 0 && f.Bytes == 0 { // a whole script
			f.Elapsed, f.Busy = elapsed.Seconds(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		}
		list = append(list, f)
	}
	return list, nil
}
