package artifact_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// FuzzRead reads any bytes as a program. A refusal names a position in the file.
func FuzzRead(f *testing.F) {
	for _, pattern := range []string{"v0.bc", "v6.bc", "1.0.0.vhlo"} {
		for _, path := range files(f, pattern, "none") {
			f.Add(readFile(f, path))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := artifact.Read(diag.NewSource("fuzz.bc", data), ir.NewContext(registry))
		if err == nil {
			print.String(m, print.Options{Generic: true})
			if ir.Verify(m) == nil {
				print.String(m, print.Options{})
			}
			return
		}
		d, ok := err.(*diag.Diagnostic)
		if !ok || d.Pos.Offset() > len(data) || strings.Contains(err.Error(), "internal error") {
			t.Fatal(err)
		}
	})
}

// FuzzRoundTrip writes what it can read in the version of the file. A second time gives the same bytes.
func FuzzRoundTrip(f *testing.F) {
	for _, pattern := range []string{"v*.bc", "1.0.0.vhlo"} {
		for _, path := range files(f, pattern, "none") {
			f.Add(readFile(f, path))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := artifact.ReadVHLO(diag.NewSource("fuzz.bc", data), ir.NewContext(registry))
		if err != nil {
			return
		}
		o := bytecode.Options{Versioned: true, Version: 6}
		if _, v, ok := bytecode.Producer(data); ok {
			o.Version = v
		}
		first, err := bytecode.Append(nil, m, o)
		if err != nil {
			return
		}
		if m, err = bytecode.Read(diag.NewSource("again.bc", first), ir.NewContext(registry)); err != nil {
			t.Fatal(err)
		}
		second, err := bytecode.Append(nil, m, o)
		if err != nil {
			t.Fatal(err)
		}
		differ(t, "fuzz.bc", "written twice", second, first)
	})
}

// FuzzUpgrade upgrades VHLO, in files or in text. The program is the same after it is downgraded to today's VHLO and
// upgraded again, and neither changes its input.
func FuzzUpgrade(f *testing.F) {
	for _, pattern := range []string{"0.*.vhlo", "1.0.0.vhlo", "1.17.0.vhlo"} {
		for _, path := range files(f, pattern, "none") {
			data := readFile(f, path)
			f.Add(data)
			m, err := artifact.ReadVHLO(diag.NewSource(path, data), ir.NewContext(registry))
			if err != nil {
				f.Fatal(err)
			}
			f.Add([]byte(print.String(m, print.Options{})))
		}
	}
	generic := print.Options{Generic: true}
	f.Fuzz(func(t *testing.T, data []byte) {
		src := diag.NewSource("fuzz", data)
		var m *ir.Module
		var err error
		if artifact.Is(data) {
			m, err = artifact.ReadVHLO(src, ir.NewContext(registry))
		} else {
			m, err = parse.Parse(src, ir.NewContext(registry), parse.Options{})
		}
		if err != nil || !vhlo.IsVHLO(m) {
			return
		}
		before := print.String(m, generic)
		up, err := vhlo.Upgrade(m)
		if print.String(m, generic) != before {
			t.Fatal("upgrading changed its input")
		}
		if err != nil || ir.Verify(up) != nil {
			return
		}
		want := print.String(up, generic)
		out, _, err := artifact.Append(nil, up, artifact.Options{Target: vhlo.Current, KeepOthers: true})
		if err != nil {
			return
		}
		if print.String(up, generic) != want {
			t.Fatal("downgrading changed its input")
		}
		again, err := artifact.Read(diag.NewSource("again.vhlo", out), ir.NewContext(registry))
		if err != nil {
			t.Fatal(err)
		}
		if got := print.String(again, generic); got != want {
			t.Fatalf("downgraded and upgraded:%s", firstLines(got, want))
		}
		if second, _, err := artifact.Append(nil, again, artifact.Options{Target: vhlo.Current, KeepOthers: true}); err != nil || !bytes.Equal(second, out) {
			t.Fatalf("written again: %d bytes, then %d, %v", len(out), len(second), err)
		}
	})
}
