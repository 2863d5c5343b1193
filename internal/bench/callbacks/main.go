// Package callbacks measures the cost of hooks on the CPU plugin, compared with a C handler that does nothing and with
// JAX's callbacks, in one run on one machine. If jaxlib or the plugin is missing, the command says so and skips its
// part. To reduce the effect of other work on the machine, each round measures everything once, and ratios compare the
// shortest times.
package callbacks

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/hlocb/hlocb/internal/bench/meter"
)

type options struct {
	rounds int
	dir    string // on the disk to be measured
	volume int    // bytes to record
	only   string
}

// Run measures, and returns the figures that have goals.
func Run(args []string) ([]meter.Row, error) {
	var o options
	flags := flag.NewFlagSet("callbacks", flag.ContinueOnError)
	flags.IntVar(&o.rounds, "rounds", 25, "how often each measurement is repeated")
	flags.StringVar(&o.dir, "dir", ".", "`directory` on the disk that recordings are written to")
	flags.IntVar(&o.volume, "volume", 256<<20, "how many bytes are recorded")
	flags.StringVar(&o.only, "only", "", "loop, executions, steps, cholesky, large or record: measure that alone")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	debug.SetGCPercent(400) // like the command line
	return run(os.Stdout, o)
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
