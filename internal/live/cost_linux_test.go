package live

import (
	"runtime"
	"syscall"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/events"
	call "github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// BenchmarkCost measures the processor time that an event costs the thread of a program which fires one about every ten
// microseconds.
func BenchmarkCost(b *testing.B) {
	s := listen(b, Options{})
	o := events.NewObserver(s, "")
	c := &call.Call{Site: &hook.Site{ID: 1, Name: "loss", Loc: `"train.py":31:5`}, Run: 1, Operands: []*tensor.Tensor{tensor.New(tensor.F32, nil)}}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const thread = 1 // RUSAGE_THREAD
	spent := func() int64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(thread, &u); err != nil {
			b.Fatal(err)
		}
		return u.Utime.Nano() + u.Stime.Nano()
	}
	x := uint64(1)
	work := func() {
		for range 4000 {
			x = x*6364136223846793005 + 1442695040888963407
		}
	}
	start := spent()
	for range b.N {
		work()
	}
	plain := spent() - start
	start = spent()
	for range b.N {
		work()
		if err := o.Handle(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(spent()-start-plain)/float64(b.N), "cpu-ns/event")
	b.ReportMetric(float64(plain)/float64(b.N), "cpu-ns/work")
	b.ReportMetric(float64(s.dropped), "dropped")
	runtime.KeepAlive(x)
}
