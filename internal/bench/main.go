// Command bench measures hlocb beside peers, in the root of the repository:
//
//	go run ./internal/bench NAME [flags]
//
// Each measurement writes its own tables as it goes. The last table has a row for each figure that has a peer: name,
// ours, peer, their ratio, and the goal. 'go run ./internal/bench NAME -h' lists the flags of a measurement.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/hlocb/hlocb/internal/bench/callbacks"
	"github.com/hlocb/hlocb/internal/bench/cuda"
	"github.com/hlocb/hlocb/internal/bench/engine"
	"github.com/hlocb/hlocb/internal/bench/hooks"
	"github.com/hlocb/hlocb/internal/bench/interposer"
	"github.com/hlocb/hlocb/internal/bench/jax"
	"github.com/hlocb/hlocb/internal/bench/meter"
	"github.com/hlocb/hlocb/internal/bench/parsing"
	"github.com/hlocb/hlocb/internal/bench/passes"
	"github.com/hlocb/hlocb/internal/bench/viewing"
)

// benchmark is a row of the table of measurements. run writes its tables to the standard output.
type benchmark struct {
	name, about string
	run         func(args []string) ([]meter.Row, error)
}

var benchmarks = []benchmark{
	{"parse", "read and print text, HLO and bytecode, beside MLIR and XLA", parsing.Run},
	{"callbacks", "hooks on the CPU plugin, beside a C handler, JAX's callbacks, a barrier and the disk", callbacks.Run},
	{"hooks", "a tap of a large value in each form, probes, and JAX's callbacks beside the rewritten ones", hooks.Run},
	{"interposer", "the interposer beside the plain plugin and JAX's own client", interposer.Run},
	{"jax", "JAX on the engine, beside JAX's own CPU client", jax.Run},
	{"passes", "pipelines of passes, beside MLIR's pass manager", passes.Run},
	{"engine", "the engine, beside XLA's CPU backend and StableHLO's reference interpreter", engine.Run},
	{"view", "a program that fires 100,000 events a second, beside the same program under run --view", viewing.Run},
	{"cuda", "hooks on a GPU, beside JAX on the same GPU", cuda.Run},
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run returns the exit code.
func run(args []string, out, errs io.Writer) int {
	for _, b := range benchmarks {
		if len(args) == 0 || b.name != args[0] {
			continue
		}
		rows, err := b.run(args[1:])
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		if len(rows) > 0 {
			fmt.Fprintln(out)
			err = errors.Join(err, meter.Table(out, rows))
		}
		if err != nil {
			fmt.Fprintf(errs, "bench %s: %v\n", b.name, err)
			return 1
		}
		return 0
	}
	fmt.Fprintln(errs, "usage: bench NAME [flags]")
	for _, b := range benchmarks {
		fmt.Fprintf(errs, "  %-10s  %s\n", b.name, b.about)
	}
	return 2
}
