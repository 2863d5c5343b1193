package bytecode_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/ir"
)

func cpu() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Sec+u.Stime.Sec)*1e3 + float64(u.Utime.Usec+u.Stime.Usec)/1e3
}

func BenchmarkAll(b *testing.B) {
	reg, _ := all.Registry()
	plain, err := os.ReadFile(os.Getenv("BCPLAIN"))
	if err != nil {
		b.Skip()
	}
	src := diag.NewSource("x", plain)
	m, err := artifact.Read(src, ir.NewContext(), reg)
	if err != nil {
		b.Fatal(err)
	}
	art, _, err := artifact.Append(nil, m, artifact.Options{Target: vhlo.Version{Major: 1, Minor: 17}})
	if err != nil {
		b.Fatal(err)
	}
	asrc := diag.NewSource("y", art)
	b.Run("read", func(b *testing.B) {
		start := cpu()
		defer func() { b.ReportMetric((cpu()-start)/float64(b.N), "cpu-ms/op") }()
		for b.Loop() {
			artifact.Read(src, ir.NewContext(), reg)
		}
	})
	b.Run("write", func(b *testing.B) {
		start := cpu()
		defer func() { b.ReportMetric((cpu()-start)/float64(b.N), "cpu-ms/op") }()
		for b.Loop() {
			bytecode.Append(nil, m, bytecode.Options{})
		}
	})
	b.Run("deserialize", func(b *testing.B) {
		start := cpu()
		defer func() { b.ReportMetric((cpu()-start)/float64(b.N), "cpu-ms/op") }()
		for b.Loop() {
			artifact.Read(asrc, ir.NewContext(), reg)
		}
	})
	b.Run("serialize", func(b *testing.B) {
		start := cpu()
		defer func() { b.ReportMetric((cpu()-start)/float64(b.N), "cpu-ms/op") }()
		for b.Loop() {
			artifact.Append(nil, m, artifact.Options{Target: vhlo.Version{Major: 1, Minor: 17}})
		}
	})
}
