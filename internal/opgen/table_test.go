package opgen_test

import (
	"context"
	"os"
	"strconv"
	"testing"

	"github.com/hlocb/hlocb/internal/opgen"
	"github.com/hlocb/hlocb/internal/peer"
)

// TestNumerics measures a sample of what docs/numerics.md has: no entry may exceed its bound, or the limit of the note
// that explains it, and where mpmath is installed no function may be further from the truth than EngineBound says.
func TestNumerics(t *testing.T) {
	engine, xla := engines(t)
	g, err := opgen.New(numericsSeed(t))
	if err != nil {
		t.Fatal(err)
	}
	n, asked, most := 1000, 3, 50
	if long() {
		n, asked, most = 20000, 100, 400
	}
	truth := opgen.NewTruth(peer.Find())
	programs := g.Elementwise(n)
	if !long() {
		// XLA takes its time to compile: every third program, which covers every op and every group of types.
		programs = sample(programs)
	}
	rows, _, err := opgen.MeasureAll(context.Background(), programs, engine, xla, truth, asked, most, func(*opgen.Program, error) {})
	if err != nil {
		t.Fatal(err)
	}
	notes, entries, judged := opgen.Notes(), 0, 0
	for _, r := range rows {
		for c, m := range r.Columns {
			if m == nil {
				continue
			}
			entries++
			if r.Truth[c] != nil {
				judged += r.Truth[c].Asked
			}
			if v := r.Violation(notes, c); v != "" {
				t.Error(v)
			}
		}
	}
	t.Logf("%d entries of %d ops, %d true values", entries, len(rows), judged)
	if len(rows) < 60 || entries < 300 {
		t.Errorf("only %d ops and %d entries were measured", len(rows), entries)
	}
	switch {
	case truth == nil:
		t.Skip("skip: mpmath not installed: engine and XLA were compared with each other, not with true values")
	case judged == 0:
		t.Error("no true value was computed")
	}
}

// sample keeps, of every op, one program for each group of types.
func sample(programs []*opgen.Program) []*opgen.Program {
	type entry struct {
		op     string
		column int
	}
	seen := map[entry]bool{}
	var out []*opgen.Program
	for _, p := range programs {
		e := entry{p.Op, opgen.Column(p.DType)}
		if seen[e] {
			continue
		}
		seen[e] = true
		out = append(out, p)
	}
	return out
}

// numericsSeed is HLOCB_SEED, else 11.
func numericsSeed(t *testing.T) uint64 {
	s := os.Getenv("HLOCB_SEED")
	if s == "" {
		return 11
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestNotesAreNeeded: a note that explains a column twice, or a column that its op lacks, is a mistake.
func TestNotesAreNeeded(t *testing.T) {
	type entry struct {
		op     string
		column int
	}
	seen := map[entry]bool{}
	for _, n := range opgen.Notes() {
		for _, c := range n.Columns {
			if seen[entry{n.Op, c}] {
				t.Errorf("%s on %s has two notes", n.Op, opgen.Columns()[c])
			}
			seen[entry{n.Op, c}] = true
		}
		if n.Why == "" {
			t.Errorf("%s: no reason", n.Op)
		}
	}
}
