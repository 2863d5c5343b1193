package bytecode_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/ir"
)

// TestArtifacts reads portable artifacts of jaxlib and writes them again byte for byte, as VHLO and by way of StableHLO.
func TestArtifacts(t *testing.T) {
	dir := os.Getenv("HLOCB_BYTECODE")
	if dir == "" {
		t.Skip("HLOCB_BYTECODE is not set")
	}
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(dir + "/*" + os.Getenv("BCONLY") + "*/vhlo/*.bc")
	bad := 0
	differ := func(f, how string, got, want []byte) {
		if bytes.Equal(got, want) {
			return
		}
		i := 0
		for i < len(got) && i < len(want) && got[i] == want[i] {
			i++
		}
		t.Errorf("%s: %s: %d bytes, want %d; first differs at %d", f, how, len(got), len(want), i)
		os.WriteFile("/tmp/out.bc", got, 0o644)
		bad++
	}
	for _, f := range files {
		if bad > 30 {
			break
		}
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		producer, version, _ := bytecode.Producer(data)
		m, err := bytecode.Read(diag.NewSource(f, data), ir.NewContext(), reg)
		if err != nil {
			if !strings.Contains(f, "invalid_vhlo_future") {
				t.Error(err)
				bad++
			}
			continue
		}
		o := bytecode.Options{Version: version, Versioned: true, Producer: producer}
		out, err := bytecode.Append(nil, m, o)
		if err != nil {
			t.Error(err)
			bad++
			continue
		}
		differ(f, "as VHLO", out, data)
		up, err := vhlo.Upgrade(m)
		if err != nil {
			t.Error(err)
			bad++
			continue
		}
		v, ok := vhlo.ProducerVersion(producer)
		if !ok {
			v, _ = vhlo.ParseVersion(strings.TrimSuffix(filepath.Base(f), ".bc"))
		}
		down, err := vhlo.Downgrade(up, vhlo.Options{Target: v})
		if err != nil {
			t.Error(err)
			bad++
			continue
		}
		if out, err = bytecode.Append(nil, down, o); err != nil {
			t.Error(err)
			bad++
			continue
		}
		differ(f, "through StableHLO", out, data)
	}
	t.Logf("%d files, %d bad", len(files), bad)
}
