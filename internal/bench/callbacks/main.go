// Command callbacks measures the cost of hooks on the CPU plugin, compared with a C handler that does nothing and with
// JAX's callbacks, in one run on one machine. If jaxlib or the plugin is missing, the command says so and skips its
// part. To reduce the effect of other work on the machine, each round measures everything once, and ratios compare the
// shortest times.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

type options struct {
	rounds int
	dir    string // on the disk to be measured
	volume int    // bytes to record
	only   string
}

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 25, "how often each measurement is repeated")
	flag.StringVar(&o.dir, "dir", ".", "`directory` on the disk that recordings are written to")
	flag.IntVar(&o.volume, "volume", 256<<20, "how many bytes are recorded")
	flag.StringVar(&o.only, "only", "", "loop, executions, steps, cholesky, large or record: measure that alone")
	flag.Parse()
	debug.SetGCPercent(400) // like the command line
	if err := run(os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench-callbacks:", err)
		os.Exit(1)
	}
}

// times are the times of one measurement.
type times []time.Duration

func (t times) quantile(q float64) time.Duration {
	sorted := slices.Clone(t)
	slices.Sort(sorted)
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

func (t times) best() time.Duration { return slices.Min(t) }

// micro formats a time in microseconds.
func micro(d time.Duration) string { return fmt.Sprintf("%.1f µs", float64(d.Nanoseconds())/1e3) }

// verdict says whether a goal was reached.
func verdict(ok bool, goal string) string {
	if ok {
		return "goal reached: " + goal
	}
	return "goal MISSED: " + goal
}

// table prints aligned columns, the first one left-aligned.
func table(rows [][]string) string {
	var width []int
	for _, r := range rows {
		for i, c := range r {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], len([]rune(c)))
		}
	}
	var b strings.Builder
	for _, r := range rows {
		line := ""
		for i, c := range r {
			pad := strings.Repeat(" ", width[i]-len([]rune(c)))
			if i == 0 {
				line += c + pad
			} else {
				line += "  " + pad + c
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}
