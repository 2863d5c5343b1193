package meter_test

import (
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/bench/meter"
)

func TestTable(t *testing.T) {
	var out strings.Builder
	if err := meter.Table(&out, []meter.Row{
		{Name: "a read", Ours: 2e-3, Peer: 10e-3, AtLeast: 5},
		{Name: "a slow read", Ours: 2.1e-3, Peer: 10e-3, AtLeast: 5},
		{Name: "a hook", Ours: 110e-9, Peer: 100e-9, AtMost: 1.1},
		{Name: "a slow hook", Ours: 3e-6, Peer: 2e-6, AtMost: 1.1},
		{Name: "a step", Ours: 4, Peer: 2},
	}); err != nil {
		t.Fatal(err)
	}
	const want = `NAME         OURS    PEER    RATIO  GOAL
a read       2 ms    10 ms   5      at least 5: reached
a slow read  2.1 ms  10 ms   4.76   at least 5: MISSED
a hook       110 ns  100 ns  1.1    at most 1.1: reached
a slow hook  3 µs    2 µs    1.5    at most 1.1: MISSED
a step       4 s     2 s     2      
`
	if out.String() != want {
		t.Errorf("got\n%s\nexpected\n%s", &out, want)
	}
}
