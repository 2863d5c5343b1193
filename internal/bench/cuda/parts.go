package cuda

import (
	"context"
	"fmt"
	"math"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/bench/meter"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
)

// A loop has trips iterations, a turn steps training steps. A side takes at most about turn seconds in a round.
const trips, steps, turn = 1000, 200, 1.0

var (
	sizes   = []string{"1KiB", "4MiB", "32MiB", "128MiB"}
	bytesOf = map[string]int{"1KiB": 1 << 10, "4MiB": 4 << 20, "32MiB": 32 << 20, "128MiB": 128 << 20}
)

var parts = []part{
	{"empty", "a program without hooks, which shows the cost of a run", []string{"run"}, (*bench).empty},
	{"identity", "io_callback of x; a Go function that reads x returns it, or handlers.Echo does, or x is read and written back in place. The share is of the rate of plain copies", sizes, (*bench).identity},
	{"add", "io_callback of x + 1; a Go function answers (call), or changes a donated argument (inout)", sizes, (*bench).add},
	{"pointer", "a tap whose observer asks for device pointers only, by the size of the value", []string{"tap"}, (*bench).pointer},
	{"loop", fmt.Sprintf("a hook of a float in each of %d iterations on the device; hlocb counts. The first columns are without the loop's own time", trips),
		[]string{"io_callback", "debug.callback"}, (*bench).loop},
	{"step", fmt.Sprintf("a training step with donated parameters, in turns of %d steps on the device", steps), []string{"step"}, (*bench).step},
}

func (b *bench) empty(string) []cell {
	jax := b.inJAX("loop", "", 1)
	t := b.measure(1000, turn, b.inHlocb().run, jax)
	return []cell{{"hlocb", t[0], "s"}, {"JAX", t[1], "s"}}
}

func (b *bench) identity(size string) []cell {
	read := func(_ context.Context, c *runtime.Call) error {
		if x := tensor.View[float32](c.Operands[0]); x[0] != 0 || x[len(x)-1] != float32((len(x)-1)%1000) {
			return fmt.Errorf("the operand starts with %v and ends with %v", x[0], x[len(x)-1])
		}
		if c.Site.Kind == hook.InOut {
			return nil // the result is the operand
		}
		return c.Return(0, c.Operands[0])
	}
	b.inJAX("inout", "", bytesOf[size])
	inPlace := b.inHlocb(hlocb.Answer("*", runtime.HandlerFunc(read)))
	b.inJAX("callback", "identity", bytesOf[size])
	p := b.inHlocb(hlocb.Answer("*", runtime.HandlerFunc(read)))
	echo := b.inHlocb(hlocb.Answer("*", handlers.Echo()))
	cells := b.callbacks("identity", size, turn, []string{"Go", "echo", "in place"}, p, echo, inPlace)
	b.check(p, 0)
	b.check(echo, 0)
	if size == "4MiB" || size == "32MiB" {
		took := cells[4].Value
		b.rows = append(b.rows, meter.Row{Name: size + " beside io_callback", Ours: took, Peer: took * cells[5].Value, AtLeast: 3},
			meter.Row{Name: size + " beside plain copies", Ours: took, Peer: took * cells[7].Value, AtLeast: 0.8})
	}
	return cells
}

func (b *bench) add(size string) []cell {
	plusOne := hlocb.Answer("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		out := tensor.View[float32](c.Results[0])
		for i, x := range tensor.View[float32](c.Operands[0]) {
			out[i] = x + 1
		}
		return nil
	}))
	b.inJAX("inout", "", bytesOf[size])
	inout := b.inHlocb(plusOne)
	b.inJAX("callback", "add", bytesOf[size])
	call := b.inHlocb(plusOne)
	cells := b.callbacks("add", size, turn/2, []string{"call", "inout"}, call, inout)
	b.check(call, 1)
	b.check(inout, inout.calls)
	return cells
}

// callbacks measures programs beside JAX, whose host part computes with arrays of JAX or of numpy, and beside plain
// copies. Each program adds four columns: time, ratio, bytes in and out by time, and share of the copies' rate.
func (b *bench) callbacks(function, size string, turn float64, names []string, programs ...*program) []cell {
	n, often := float64(bytesOf[size]), max(1, 100/b.rounds)
	if n < 1<<20 {
		often *= 10
	}
	sides := []side{b.inJAX("callback", function, bytesOf[size]), b.inJAX("callback", function+" in numpy", bytesOf[size]),
		b.inJAX("copy", "to the host", bytesOf[size]), b.inJAX("copy", "to the device", bytesOf[size])}
	for _, p := range programs {
		sides = append(sides, p.run)
	}
	t := b.measure(often, turn, sides...)
	cells := []cell{{"JAX", t[0], "s"}, {"JAX, numpy", t[1], "s"}, {"copy to host", n / t[2], "B/s"}, {"to device", n / t[3], "B/s"}}
	for i, took := range t[4:] {
		cells = append(cells, cell{names[i], took, "s"}, cell{"JAX/" + names[i], min(t[0], t[1]) / took, ""},
			cell{names[i] + " rate", 2 * n / took, "B/s"}, cell{names[i] + " share", (t[2] + t[3]) / took, ""})
	}
	return cells
}

// check compares the last call's result with the argument's first value plus a number.
func (b *bench) check(p *program, plus int) {
	b.last(p, func(got []float32) error {
		for i, v := range got {
			if want := float32(i%1000 + plus); v != want {
				return fmt.Errorf("element %d of hlocb's result is %v, expected %v", i, v, want)
			}
		}
		return nil
	})
}

// pointers is an observer that asks for device pointers only.
type pointers struct{ runtime.HandlerFunc }

func (pointers) MemoryUse() runtime.MemoryUse { return runtime.MemoryUse{DevicePointers: true} }

func (b *bench) pointer(string) (cells []cell) {
	var sides []side
	for _, size := range sizes {
		observer := pointers{func(_ context.Context, c *runtime.Call) error {
			if p := c.OperandPointers; len(p) != 1 || p[0].Address == 0 || p[0].Size != bytesOf[size] {
				return fmt.Errorf("the device pointers are %v, expected one to %s", p, size)
			}
			return nil
		}}
		b.inJAX("tap", "", bytesOf[size])
		sides = append(sides, b.inHlocb(hlocb.Observe("*", observer)).run)
	}
	t := b.measure(max(1, 5000/b.rounds), turn, sides...)
	for i, size := range sizes {
		cells = append(cells, cell{size, t[i], "s"})
	}
	b.rows = append(b.rows, meter.Row{Name: "pointers to 128 MiB beside 1 KiB", Ours: t[3], Peer: t[0], AtMost: 1.2})
	return append(cells, cell{"128MiB/1KiB", t[3] / t[0], ""})
}

func (b *bench) loop(callback string) []cell {
	events := 0
	count := runtime.HandlerFunc(func(context.Context, *runtime.Call) error { events++; return nil })
	jaxBare := b.inJAX("loop", "", trips)
	bare := b.inHlocb()
	jax := b.inJAX("loop", callback, trips)
	tap := b.inHlocb(hlocb.Observe("*", count))
	t := b.measure(max(1, 10/b.rounds), turn, bare.run, jaxBare, tap.run, jax)
	if want := tap.calls * trips; events != want {
		b.do(func() error { return fmt.Errorf("%d events arrived in %d runs, expected %d", events, tap.calls, want) })
	}
	each := func(i int) float64 { return max(1e-9, (t[2+i]-t[i])/trips) }
	b.rows = append(b.rows, meter.Row{Name: "a hook in a loop beside " + callback, Ours: each(0), Peer: each(1), AtLeast: 5})
	return []cell{{"hlocb", each(0), "s"}, {"JAX", each(1), "s"}, {"JAX/hlocb", each(1) / each(0), ""},
		{"iteration", t[2] / trips, "s"}, {"JAX iteration", t[3] / trips, "s"}, {"ratio", t[3] / t[2], ""},
		{"without hook", t[0] / trips, "s"}, {"JAX without", t[1] / trips, "s"}}
}

func (b *bench) step(string) []cell {
	jax := b.inJAX("step", "", 0)
	p := b.inHlocb()
	b.rounds = min(b.rounds, 3)
	t := b.measure(steps, 3600, p.run, jax)
	mine, others := 0.0, b.jax.last.Loss // after equally many steps
	b.last(p, func(loss []float32) error {
		if mine = float64(loss[0]); !(math.Abs(mine-others) <= 0.05*others) {
			return fmt.Errorf("after %d steps the loss is %v, in JAX %v", p.calls, mine, others)
		}
		return nil
	})
	b.rows = append(b.rows, meter.Row{Name: "a training step beside JAX", Ours: t[0], Peer: t[1], AtMost: 1.02})
	return []cell{{"hlocb", t[0], "s"}, {"JAX", t[1], "s"}, {"hlocb/JAX", t[0] / t[1], ""},
		{"loss", mine, ""}, {"JAX loss", others, ""}}
}
