// Package viewing measures what 'run --view' costs a program on the engine that fires a hook about 100,000 times a
// second, while a browser reads, and whether memory grows.
package viewing

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	goruntime "runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/internal/bench/meter"
	"github.com/hlocb/hlocb/internal/events"
	"github.com/hlocb/hlocb/internal/live"
	"github.com/hlocb/hlocb/runtime"
)

// Run measures, and returns the figure that has a goal.
func Run(args []string) ([]meter.Row, error) {
	flags := flag.NewFlagSet("view", flag.ContinueOnError)
	seconds := flags.Float64("seconds", 60, "how long the viewed program runs")
	rate := flags.Float64("rate", 100_000, "events a second of the program without a view, at most")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	return run(context.Background(), os.Stdout, *seconds, *rate)
}

// loop is a program of n iterations, each with a hook and work on as many elements as given.
const loop = `func.func @main() -> tensor<f32> {
  %%x = stablehlo.iota dim = 0 : tensor<%[2]dxf32>
  %%zero = stablehlo.constant dense<0> : tensor<i32>
  %%one = stablehlo.constant dense<1> : tensor<i32>
  %%none = stablehlo.constant dense<0.0> : tensor<f32>
  %%n = stablehlo.constant dense<%[1]d> : tensor<i32>
  %%token = stablehlo.create_token : !stablehlo.token
  %%out:4 = stablehlo.while(%%i = %%zero, %%v = %%x, %%s = %%none, %%t = %%token) : tensor<i32>, tensor<%[2]dxf32>, tensor<f32>, !stablehlo.token
   cond {
    %%more = stablehlo.compare LT, %%i, %%n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %%more : tensor<i1>
  } do {
    %%y = stablehlo.sine %%v : tensor<%[2]dxf32>
    %%sum = stablehlo.reduce(%%y init: %%none) applies stablehlo.add across dimensions = [0] : (tensor<%[2]dxf32>, tensor<f32>) -> tensor<f32>
    %%t1 = "stablehlo.outfeed"(%%sum, %%t) {outfeed_config = "loss"} : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
    %%j = stablehlo.add %%i, %%one : tensor<i32>
    stablehlo.return %%j, %%y, %%sum, %%t1 : tensor<i32>, tensor<%[2]dxf32>, tensor<f32>, !stablehlo.token
  }
  return %%out#2 : tensor<f32>
}
`

const iterations = 50_000 // of one run

func compile(ctx context.Context, elements, n int, h runtime.Handler) (*hlocb.Executable, error) {
	p, err := hlocb.Parse(ctx, "loop.mlir", fmt.Appendf(nil, loop, n, elements))
	if err != nil {
		return nil, err
	}
	var b runtime.Bindings
	b.Observe("*", h)
	return p.Compile(ctx, hlocb.On("engine"), hlocb.Bind(&b))
}

// ignore is the handler of the program without a view.
type ignore struct{}

func (ignore) Handle(context.Context, *runtime.Call) error { return nil }

func run(ctx context.Context, w io.Writer, seconds, rate float64) (_ []meter.Row, err error) {
	elements := 64
	for ; ; elements += elements / 4 { // until an iteration takes long enough
		exe, err := compile(ctx, elements, 2000, ignore{})
		if err != nil {
			return nil, err
		}
		best := time.Hour
		for range 5 {
			start := time.Now()
			_, err = exe.Run(ctx)
			best = min(best, time.Since(start))
		}
		if err = errors.Join(err, exe.Close()); err != nil {
			return nil, err
		}
		if best.Seconds()/2000 >= 1/rate {
			break
		}
	}
	server, err := live.Listen(live.Options{Page: func(io.Writer, string, string, func(string) string) error { return nil }})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	resp, err := http.Get(strings.Replace(server.URL(), "/?", "/events?", 1))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var read atomic.Int64
	go func() { // the browser
		buf := make([]byte, 1<<16)
		for {
			n, err := resp.Body.Read(buf)
			read.Add(int64(n))
			if err != nil {
				return
			}
		}
	}()
	plain, err := compile(ctx, elements, iterations, ignore{})
	if err != nil {
		return nil, err
	}
	defer plain.Close()
	viewed, err := compile(ctx, elements, iterations, events.NewObserver(server, ""))
	if err != nil {
		return nil, err
	}
	defer viewed.Close()
	var times [2]time.Duration
	var heap [2]int64 // after a tenth of the time, and at the end
	rounds := 0
	for times[1].Seconds() < seconds {
		for i, exe := range []*hlocb.Executable{plain, viewed} { // in turn, because other work on the machine varies
			start := time.Now()
			if _, err := exe.Run(ctx); err != nil {
				return nil, err
			}
			times[i] += time.Since(start)
		}
		rounds++
		if heap[0] == 0 && times[1].Seconds() >= seconds/10 {
			heap[0] = heapSize()
		}
	}
	heap[1] = heapSize()
	load, _ := os.ReadFile("/proc/loadavg")
	each := float64(rounds * iterations)
	fmt.Fprintf(w, "%d elements; %.0f events a second without a view, %.0f with one, for %.0f s; the browser read %d MB; load %s", elements,
		each/times[0].Seconds(), each/times[1].Seconds(), times[1].Seconds(), read.Load()>>20, load)
	fmt.Fprintf(w, "heap after a tenth of the time %.1f MB, at the end %.1f MB\n", float64(heap[0])/1e6, float64(heap[1])/1e6)
	if heap[1]-heap[0] > 8<<20 {
		err = fmt.Errorf("the heap grew by %d bytes", heap[1]-heap[0])
	}
	return []meter.Row{{Name: "an event with --view, beside none", Ours: times[1].Seconds() / each, Peer: times[0].Seconds() / each, AtMost: 1.1}}, err
}

func heapSize() int64 {
	var m goruntime.MemStats
	goruntime.GC()
	goruntime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
