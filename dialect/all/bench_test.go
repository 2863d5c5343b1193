package all_test

import (
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// BenchmarkVerify verifies the samples of all operations.
func BenchmarkVerify(b *testing.B) {
	reg, err := all.Registry()
	if err != nil {
		b.Fatal(err)
	}
	var modules []*ir.Module
	ops := 0
	for name, text := range samples(b) {
		m, err := parse.Parse(diag.NewSource(name, []byte(text)), ir.NewContext(reg), parse.Options{})
		if err != nil {
			b.Fatal(err)
		}
		modules = append(modules, m)
		m.Walk(func(*ir.Op) bool { ops++; return true })
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, m := range modules {
			if err := ir.Verify(m); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(ops), "ns/op-verified")
}
